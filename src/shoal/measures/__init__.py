"""What a release costs in information, and what it still gives away."""

from shoal.measures.homogeneity import l_e, l_sse
from shoal.measures.loss import AttributeLoss, InformationLoss, information_loss
from shoal.measures.untouched import Untouched, given_away

__all__ = ["AttributeLoss", "InformationLoss", "Untouched", "given_away", "information_loss", "l_e", "l_sse"]
