"""Information loss: how far the released values are from the original ones, against how far those spread."""

from collections.abc import Mapping
from dataclasses import dataclass

from shoal.attributes import CommonValues
from shoal.attributes.weighing import Weights
from shoal.space import Cells, Space


@dataclass(frozen=True)
class AttributeLoss:
    """The loss of one quasi-identifier, on its scaled values."""

    name: str
    weight: float
    sse: float
    sst: float

    @property
    def percent(self) -> float:
        """100 * SSE / SST, and 0 where the column is constant."""
        return 100.0 * self.sse / self.sst if self.sst > 0 else 0.0


@dataclass(frozen=True)
class InformationLoss:
    """The loss of a release, in all and for each quasi-identifier."""

    attributes: tuple[AttributeLoss, ...]

    @property
    def percent(self) -> float:
        """100 * SSE / SST over all quasi-identifiers, each with its weight."""
        sse = sum(part.weight * part.sse for part in self.attributes)
        sst = sum(part.weight * part.sst for part in self.attributes)
        return 100.0 * sse / sst if sst > 0 else 0.0


def information_loss(
    space: Space, common: Mapping[str, CommonValues], cells: Cells, weights: Weights | None = None
) -> InformationLoss:
    """The loss of the values as released, rounding included.

    `weights` are whole numbers, one for each record, that say how often it counts; some are above 0.
    """
    return InformationLoss(
        tuple(
            AttributeLoss(
                attribute.name,
                attribute.weight,
                *attribute.squared_errors(common[attribute.name], cells[attribute.name], weights),
            )
            for attribute in space.attributes
        )
    )
