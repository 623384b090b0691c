"""What a release costs in information, and what it still gives away."""

from shoal.measures.figures import MEASURES, Figure, Known, figures_of, listed, measure, verified
from shoal.measures.homogeneity import l_e, l_sse
from shoal.measures.loss import AttributeLoss, InformationLoss, information_loss
from shoal.measures.untouched import Untouched, given_away

__all__ = [
    "MEASURES",
    "AttributeLoss",
    "Figure",
    "InformationLoss",
    "Known",
    "Untouched",
    "figures_of",
    "given_away",
    "information_loss",
    "l_e",
    "l_sse",
    "listed",
    "measure",
    "verified",
]
