"""What a release costs in information."""

from shoal.measures.homogeneity import l_e, l_sse
from shoal.measures.loss import AttributeLoss, InformationLoss, information_loss

__all__ = ["AttributeLoss", "InformationLoss", "information_loss", "l_e", "l_sse"]
