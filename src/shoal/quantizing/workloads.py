"""Cells whose sizes are measured in weights: shares of the work, not numbers of records.

A record counts w for the distortion and v for the size of its cell, and the rule becomes q(x) = argmin
w d(x, c_q) + v cost_q (the two measures of Section 4.2 in Rebollo-Monedero, Forne, Pallares and Parra-Arnau 2013).
Records are whole, so that a cell may miss its measure: to meet any measure exactly is a knapsack problem. At least
k records are in every cell in any case.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalError
from shoal.quantizing.assignment import Listed, assign_within
from shoal.quantizing.distortions import Distortion
from shoal.quantizing.lloyd import Assign
from shoal.quantizing.record_weights import RecordWeights

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_MOST = 1 << 26  # records times cells
_SWEEPS = 20


@dataclass(frozen=True)
class Measure:
    """How much of the size weights each cell is to have, and the least number of records of each.

    Half a mean record is let pass. After an assignment no move of a record brings the measures nearer. So no cell
    misses its own by more than the largest weight, but where `low` forbids it: a cell that has so much too much
    holds `low` records; where one has so much too little, all that have too much hold `low`.
    """

    weights: RecordWeights
    wanted: Float
    low: Int

    def off(self, labels: Int) -> Float:
        """How much more than it should each cell has."""
        assert self.weights.size is not None
        return np.bincount(labels, self.weights.size, len(self.wanted)) - self.wanted

    @property
    def slack(self) -> float:
        """Half a mean record."""
        assert self.weights.size is not None
        return float(self.weights.size.mean()) / 2

    def missed(self, labels: Int) -> float:
        """How far the cells are off in all, beyond the slack."""
        return round(float(np.maximum(np.abs(self.off(labels)) - self.slack, 0).sum()), 9)

    def solver(self, distortion: Distortion) -> "MeasuredSolver":
        """The assignment for it."""
        return MeasuredSolver(self, distortion)


@dataclass(frozen=True)
class MeasuredSolver:
    """Prices cell by cell, then whole records."""

    measure: Measure
    distortion: Distortion

    def __call__(self, X: Float) -> Assign:
        """Keeps the last assignment, which the next one may not be worse than."""
        from shoal.kernels.transport.measure import fit_prices, improve, mend

        weights, wanted, low = self.measure.weights, self.measure.wanted, self.measure.low
        size, cells = weights.size, len(wanted)
        assert size is not None
        if len(X) * cells > _MOST:
            raise ShoalError(
                f"size weights of {len(X)} records in {cells} cells need too much memory; use hierarchy"
            )
        slack, everyone = self.measure.slack, np.arange(len(X))
        last: list[Int] = []

        def assign(centres: Float, _: Int, costs: Float) -> tuple[Int, Float]:
            paid = self.distortion.costs(X, centres)
            if weights.distortion is not None:
                paid *= weights.distortion[:, None]
            price = costs.copy()
            fit_prices(paid, size, wanted, price, _SWEEPS)
            price -= price.mean()
            most = np.full(cells, len(X))
            found = [assign_within(Listed(paid + size[:, None] * price), low, most)[0], *last]
            for labels in found:
                off, counts = self.measure.off(labels), np.bincount(labels, minlength=cells)
                for step in (mend, improve, mend):
                    step(paid, size, off, labels, counts, low, slack)
            best = min(found, key=lambda labels: (self.measure.missed(labels), paid[everyone, labels].sum()))
            last[:] = [best.copy()]
            return best, price

        return assign
