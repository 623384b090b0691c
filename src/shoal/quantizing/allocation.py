"""People to places that are where they are, each within its capacity, at the least distance in all."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import ShoalError
from shoal.quantizing.assignment import Costs, assign_within, central_prices, checked_sizes, least_total
from shoal.quantizing.distortions import Distortion, GreatCircle, distortion_of
from shoal.quantizing.quantizer import Quantizer, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Allocation:
    """Who goes where, and what it costs.

    Attributes
    ----------
    labels : the site of each point
    sizes : the number of points of each site
    capacities : what each site has room for
    distances : the distance of each point to its site
    costs : what is added to the distance of each site; a point goes where the sum is least
    bound : what the costs prove: no allocation within the capacities has a lower total
    quantizer : the rule, for points to come
    """

    labels: Int
    sizes: Int
    capacities: Int
    distances: Float
    bound: float
    quantizer: Quantizer
    points: Float = field(repr=False)

    @property
    def costs(self) -> Float:
        """The cost of each site."""
        return self.quantizer.costs

    @property
    def total(self) -> float:
        """The sum of all distances."""
        return float(self.distances.sum())

    @property
    def mean(self) -> float:
        """The mean distance."""
        return float(self.distances.mean())

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """A map: points in the colours of their sites. Two dimensions only; returns Matplotlib's axes."""
        if self.points.shape[1] != 2:
            raise ShoalError(f"only two dimensions can be drawn, and the points have {self.points.shape[1]}")
        axes = new_axes() if ax is None else ax
        globe = isinstance(self.quantizer.distortion, GreatCircle)
        across, up = (1, 0) if globe else (0, 1)
        sites = self.quantizer.centroids
        size = float(np.clip(2e4 / len(self.points), 0.3, 20))
        axes.scatter(
            self.points[:, across], self.points[:, up], s=size, c=self.labels % 20, cmap="tab20", vmin=0, vmax=19,
            lw=0, rasterized=len(self.points) > 1000,
        )  # fmt: skip
        axes.plot(sites[:, across], sites[:, up], "P", color="white", mec="black", ms=9)
        axes.set_aspect(1 / np.cos(np.radians(sites[:, 0].mean())) if globe else "equal")
        return axes


def allocate(
    points: ArrayLike, sites: ArrayLike, capacities: ArrayLike, distortion: object = "euclidean"
) -> Allocation:
    """Send every point to a site, no site beyond its capacity, at the least total distance.

    The sites stay where they are and only their costs are found (the allocation of workloads of Rebollo-Monedero,
    Forné, Pallarès and Parra-Arnau 2013). The result is exact, and `Allocation.bound` proves it.

    Parameters
    ----------
    points : array of shape (n, m)
        People, or whatever is to be served.
    sites : array of shape (c, m)
        Hospitals, agents: where they are served.
    capacities : c whole numbers
        How many points each site has room for. If they add up to n, every site is filled exactly.
    distortion : "euclidean", "squared", "manhattan", "great-circle", a table or a function
        The distance from a point to a site, as in `Quantizer`.
    """
    kind: Distortion = distortion_of(distortion)
    people, places = kind.check(points), kind.check(sites)
    if people.shape[1] != places.shape[1]:
        raise ShoalError(f"points have {people.shape[1]} columns, but sites have {places.shape[1]}")
    room = checked_sizes(capacities, len(places), "capacities")
    if room.sum() < len(people):
        raise ShoalError(
            f"capacities add up to {room.sum()}, but there are {len(people)} points; make room for all"
        )
    costs = Costs(kind, people, places)
    least = room if room.sum() == len(people) else np.zeros_like(room)
    room = np.minimum(room, len(people))
    labels, prices = assign_within(costs, least, room)
    prices = central_prices(costs, labels, least, room, prices)
    distances = np.empty(len(people))
    for rows, chunk in costs.chunks():
        distances[rows] = np.take_along_axis(chunk, labels[rows, None], axis=1)[:, 0]
    return Allocation(
        labels=labels,
        sizes=np.bincount(labels, minlength=len(places)),
        capacities=checked_sizes(capacities, len(places), "capacities"),
        distances=distances,
        bound=least_total(costs, least, room, prices),
        quantizer=Quantizer(places, prices, kind),
        points=people,
    )
