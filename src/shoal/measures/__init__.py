"""What a release costs in information, and what it still gives away."""

from shoal.measures import promises as _promises  # noqa: F401 - its measures register themselves
from shoal.measures import survey as _survey  # noqa: F401
from shoal.measures.figures import (
    MEASURES,
    Figure,
    Figured,
    Known,
    by_name,
    classes,
    figures_of,
    measure,
    replaced,
    verified,
)
from shoal.measures.homogeneity import l_e, l_sse
from shoal.measures.loss import AttributeLoss, InformationLoss, information_loss
from shoal.measures.untouched import Asked, GivenAway, Untouched, given_away

__all__ = [
    "MEASURES",
    "Asked",
    "AttributeLoss",
    "Figure",
    "Figured",
    "GivenAway",
    "InformationLoss",
    "Known",
    "Untouched",
    "by_name",
    "classes",
    "figures_of",
    "given_away",
    "information_loss",
    "l_e",
    "l_sse",
    "measure",
    "replaced",
    "verified",
]
