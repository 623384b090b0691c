"""A quantizer: centroids with a cost each, and the rule that sends any point to one of them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import ShoalError, some
from shoal.quantizing.distortions import Distortion, Squared, cost_chunks, distortion_of
from shoal.quantizing.record_weights import record_weights_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_FORM = 1  # of the JSON


@dataclass(frozen=True, eq=False, init=False)
class Quantizer:
    """Centroids and costs, one pair for each cell: a point goes where distortion + cost is least.

    The costs shift the borders between cells, so that each has as many points as it should
    (Rebollo-Monedero, Forné, Pallarès and Parra-Arnau 2013). With squared distances the cells are convex
    polytopes, whatever the costs (Theorem 3).

    Parameters
    ----------
    centroids : array of shape (c, m)
        The point that stands for each cell.
    costs : array of shape (c,)
        What is added to the distortion of each cell.
    distortion : "squared", "euclidean", "manhattan", "great-circle", a table or a function
        What a point costs at a centroid; great-circle points are (latitude, longitude) in degrees, a table has
        the distances between categories whose codes are the points, and a function takes two vectors.
    """

    centroids: Float
    costs: Float
    distortion: Distortion

    def __init__(self, centroids: ArrayLike, costs: ArrayLike, distortion: object = "squared") -> None:
        kind = distortion_of(distortion)
        places = np.array(kind.check(centroids))
        try:
            added = np.array(costs, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ShoalError(f"costs must be numbers: {error}") from error
        if added.shape != (len(places),):
            raise ShoalError(f"costs have the shape {added.shape}, but there are {len(places)} centroids")
        if not np.isfinite(added).all():
            raise ShoalError(f"costs must be finite, not {some(added[~np.isfinite(added)])}")
        for array in (places, added):
            array.flags.writeable = False
        object.__setattr__(self, "centroids", places)
        object.__setattr__(self, "costs", added)
        object.__setattr__(self, "distortion", kind)

    def predict(self, points: ArrayLike, weights: object = None) -> Int:
        """The cell of each point; between equals, the first.

        With weights (of the distortion, or a dictionary of those of "distortion" and "size", as for `PCL`) a point
        goes where w * distortion + v * cost is least; their mean over the points is taken as 1.
        """
        rows = self._checked(points)
        cells = np.empty(len(rows), np.int64)
        counts = record_weights_of(weights, len(rows))
        if not counts.equal:
            w, v = (np.ones(len(rows)) if each is None else each for each in (counts.distortion, counts.size))
            for some_rows, costs in cost_chunks(self.distortion, rows, self.centroids):
                paid = w[some_rows, None] * costs + v[some_rows, None] * self.costs
                cells[some_rows] = np.argmin(paid, axis=1)
            return cells
        if isinstance(self.distortion, Squared):
            from shoal.kernels.transport.cells import cheapest_cells

            cheapest_cells(rows, np.ascontiguousarray(self.centroids.T), self.costs, cells)
            return cells
        for some_rows, costs in cost_chunks(self.distortion, rows, self.centroids):
            cells[some_rows] = np.argmin(costs + self.costs, axis=1)
        return cells

    def transform(self, points: ArrayLike) -> Float:
        """The centroid of each point's cell."""
        return np.asarray(self.centroids[self.predict(points)])

    def _checked(self, points: ArrayLike) -> Float:
        rows = self.distortion.check(points)
        if rows.shape[1] != self.centroids.shape[1]:
            raise ShoalError(
                f"points have {rows.shape[1]} columns, but the centroids have {self.centroids.shape[1]}"
            )
        return rows

    def cells(self, bounds: Sequence[Sequence[float]]) -> list[Float]:
        """The corners of each cell in the plane, counterclockwise; none where a cell has no area in the box.

        bounds is the box that is looked at, ((lowest x, highest x), (lowest y, highest y)). Only squared
        distances have cells with straight borders.
        """
        from shoal.kernels.transport.cells import power_cells

        self._check_plane()
        if not isinstance(self.distortion, Squared):
            raise ShoalError(f"only squared distances have straight borders, not {self.distortion.name!r}")
        box = np.asarray(bounds, dtype=np.float64)
        if box.shape != (2, 2) or not np.isfinite(box).all() or not (box[:, 0] < box[:, 1]).all():
            raise ShoalError(f"bounds must be ((lowest x, highest x), (lowest y, highest y)), not {bounds!r}")
        (left, right), (bottom, top) = box
        corners = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
        return power_cells(self.centroids, self.costs, corners)

    def _check_plane(self) -> None:
        if self.centroids.shape[1] != 2:
            raise ShoalError(f"only two dimensions can be drawn, and the centroids have {self.centroids.shape[1]}")

    def plot(
        self, points: ArrayLike | None = None, labels: ArrayLike | None = None, ax: "Axes | None" = None
    ) -> "Axes":
        """Draw the cells and centroids, and points in the colours of their cells.

        Squared distances in two dimensions only. labels are the cells of the points, those of `predict` if not
        given; ax are Matplotlib's axes, new ones if not given. Returns the axes.
        """
        from matplotlib.patches import Polygon

        self._check_plane()
        rows = None if points is None else self._checked(points)
        cells = None if rows is None else self._cells_of(rows, labels)
        axes = new_axes() if ax is None else ax
        polygons = self.cells(around(self.centroids if rows is None else np.concatenate([rows, self.centroids])))
        for cell, corners in enumerate(polygons):
            if len(corners):
                axes.add_patch(Polygon(corners, facecolor=f"C{cell % 10}", edgecolor="white", alpha=0.25, lw=1.2))
        if rows is not None and cells is not None:
            colours = [f"C{cell % 10}" for cell in cells]
            axes.scatter(rows[:, 0], rows[:, 1], s=4, c=colours, lw=0, rasterized=len(rows) > 1000)
        axes.plot(*self.centroids.T, "k.", ms=4)
        axes.set_aspect("equal")
        axes.autoscale_view()
        return axes

    def _cells_of(self, rows: Float, labels: ArrayLike | None) -> Int:
        if labels is None:
            return self.predict(rows)
        cells = np.asarray(labels)
        if cells.shape != (len(rows),):
            raise ShoalError(f"labels have the shape {cells.shape}, but there are {len(rows)} points")
        return cells

    def to_json(self) -> str:
        """The quantizer as JSON, without any rounding; a distance function cannot be written."""
        whole = {
            "quantizer": _FORM,
            "distortion": self.distortion.form(),
            "costs": self.costs.tolist(),
            "centroids": self.centroids.tolist(),
        }
        return json.dumps(whole, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Quantizer":
        """The quantizer that `to_json` wrote, bit for bit."""
        try:
            whole: Any = json.loads(text)
        except ValueError as error:
            raise ShoalError(f"this is no quantizer: not JSON, {error}") from error
        if not isinstance(whole, dict) or not {"quantizer", "distortion", "costs", "centroids"} <= set(whole):
            raise ShoalError("this is no quantizer: it needs quantizer, distortion, costs and centroids")
        if whole["quantizer"] != _FORM:
            raise ShoalError(
                f"this quantizer has the form {whole['quantizer']!r}, and this version of Shoal reads {_FORM} only"
            )
        try:
            return cls(whole["centroids"], whole["costs"], whole["distortion"])
        except (TypeError, ValueError) as error:
            raise ShoalError(f"this is no quantizer: {error}") from error

    def save(self, path: str | PathLike[str], overwrite: bool = False) -> None:
        """Write the JSON to a file, whole or not at all."""
        from shoal.files.atomic import atomically

        text = self.to_json()
        with atomically(Path(path), overwrite) as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Quantizer":
        """The quantizer that `save` wrote."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ShoalError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
        return cls.from_json(text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quantizer):
            return NotImplemented
        return (
            self.distortion == other.distortion
            and np.array_equal(self.centroids, other.centroids)
            and np.array_equal(self.costs, other.costs)
        )

    def __hash__(self) -> int:
        return hash(((self.centroids + 0.0).tobytes(), (self.costs + 0.0).tobytes()))


def around(points: Float) -> list[tuple[float, float]]:
    """A box around points, with a margin."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.05 * np.where(high > low, high - low, 1.0)
    return [(float(a), float(b)) for a, b in zip(low - margin, high + margin, strict=True)]


def new_axes() -> "Axes":
    """Axes on a figure of their own."""
    from matplotlib.figure import Figure

    return Figure(figsize=(6, 6), layout="constrained").subplots()
