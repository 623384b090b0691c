"""What the promise of histories costs: distortion over epochs of churn, with history kept and with free redraws.

    python benchmarks/locations_history.py      some minutes

2000 homes in a city. In each epoch a share of the devices cancels, as many newcomers sign up, and all cells are
drawn again. With history kept, newcomers join an atom of the cell that the rule sends them to, or wait until k of
them can form one. The price is the loss above that of free redraws of the same people. Writes
docs/tables/locations_history.md and docs/pictures/locations_history.svg.
"""

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from locations_common import AMBER, GREY, INK, TEAL, panels, save, vectors, write

from shoal.locations.drawing import (
    Demand,
    People,
    cheapest,
    costs_for,
    draw,
    kilometres,
    loss,
    redraw_freely,
    redraw_whole,
)

HOMES, EPOCHS = 2000, 40
CHURN = (0.02, 0.05, 0.1, 0.2)
DEMAND = Demand(5, 1, 3)
SHOWN = (1, 10, 40)


def city(n, rng):
    """Homes in a city with a dense centre and four suburbs."""
    which = rng.choice(5, n, p=[0.5, 0.2, 0.1, 0.1, 0.1])
    middle = np.array([[51.5, 0], [51.6, 0.1], [51.4, 0.2], [51.45, -0.2], [51.6, -0.1]])
    wide = np.array([0.04, 0.02, 0.03, 0.02, 0.03])
    return vectors(*(middle[which] + wide[which, None] * rng.normal(size=(n, 2)) * [1, 1.6]).T)


@dataclass
class City:
    """Devices with their atoms and cells; -1 for those without."""

    homes: np.ndarray
    atoms: np.ndarray
    cells: np.ndarray

    def people(self, rows):
        """Each device is a principal in a place of its own."""
        numbers = np.arange(len(self.homes))[rows]
        return People(self.homes[rows], numbers, numbers)

    def centres(self, rows):
        """Labels without gaps, and the mean of each cell."""
        labels = np.unique(self.cells[rows], return_inverse=True)[1]
        counts = np.bincount(labels)
        return labels, np.column_stack([np.bincount(labels, c) / counts for c in self.homes[rows].T])

    def change(self, gone, new):
        """Some devices cancel, others sign up."""
        self.homes = np.concatenate([self.homes[~gone], new])
        self.atoms, self.cells = (np.r_[a[~gone], np.full(len(new), -1)] for a in (self.atoms, self.cells))

    def admit(self, admission):
        """Newcomers join the smallest atom of their cell, or form one where there are k of them."""
        inside, waiting = np.flatnonzero(self.cells >= 0), np.flatnonzero(self.cells < 0)
        labels, centres = self.centres(inside)
        costs = costs_for(self.homes[inside], labels, centres)
        ids = np.unique(self.cells[inside])
        goal = ids[cheapest(self.homes[waiting], centres, costs)]
        for cell in np.unique(goal):
            new = waiting[goal == cell]
            if admission == "join":
                there, sizes = np.unique(self.atoms[self.cells == cell], return_counts=True)
                self.atoms[new], self.cells[new] = there[sizes.argmin()], cell
            elif len(new) >= DEMAND.k:
                self.atoms[new], self.cells[new] = self.atoms.max() + 1, cell

    def redraw(self):
        """With history kept."""
        rows = np.flatnonzero(self.cells >= 0)
        found = redraw_whole(self.people(rows), self.atoms[rows], self.cells[rows], DEMAND)
        moved = found.cells >= 0
        self.cells[rows[moved]] = self.cells.max() + 1 + found.cells[moved]
        self.atoms[rows] = found.parts
        return np.mean(moved)


def lived(churn, admission, seed=0):
    """For each epoch the loss with history, of free redraws and of a fresh drawing, and what else is told."""
    rng = np.random.default_rng(seed)
    homes = city(HOMES, rng)
    first = draw(People(homes, np.arange(HOMES), np.arange(HOMES)), DEMAND)
    kept = City(homes, first.cells.copy(), first.cells.copy())
    free, quantizer = first, (first.cells, first.centres, first.costs)
    told = []
    for _ in range(EPOCHS):
        gone = rng.random(len(kept.homes)) < churn
        kept.change(gone, city(int(gone.sum()), rng))
        kept.admit(admission)
        moved = kept.redraw()
        rows = np.flatnonzero(kept.cells >= 0)
        people = kept.people(rows)
        labels, centres = kept.centres(rows)
        assert np.bincount(labels).min() >= DEMAND.k
        free = redraw_freely(people, np.full(len(rows), -1), *quantizer[1:], DEMAND)
        quantizer = (free.cells, free.centres, free.costs)
        sizes = np.bincount(kept.atoms[rows])
        told.append((
            loss(people.homes, labels, centres), loss(people.homes, free.cells, free.centres),
            kilometres(people.homes, labels, centres), kilometres(people.homes, free.cells, free.centres),
            np.bincount(labels).mean(), len(rows) / len(kept.homes), (sizes < DEMAND.k).mean(), moved,
        ))  # fmt: skip
    return np.array(told)


def main():
    rows, runs = [], {}
    for admission in ("join", "cohort"):
        for churn in CHURN:
            begin = perf_counter()
            told = runs[admission, churn] = lived(churn, admission)
            price = 100 * (told[:, 0] / told[:, 1] - 1)
            last = told[-10:].mean(axis=0)
            rows.append([
                admission, f"{churn:.0%}", *(f"{price[epoch - 1]:.0f} %" for epoch in SHOWN),
                f"{last[2]:.3f}", f"{last[3]:.3f}", f"{last[4]:.1f}", f"{last[5]:.0%}", f"{last[6]:.0%}",
                f"{last[7]:.0%}",
            ])  # fmt: skip
            print(rows[-1], f"{perf_counter() - begin:.0f} s", flush=True)
    header = [
        "admission", "churn", *(f"price, epoch {epoch}" for epoch in SHOWN), "history kept, km",
        "free redraws, km", "devices in a cell", "answered", "atoms below k", "devices with a new cell",
    ]  # fmt: skip
    write("history", header, rows)
    figure, axes = panels(8.5, 3.4, 2)
    colours = (TEAL, AMBER, INK, GREY)
    for axis, admission in zip(axes, ("join", "cohort"), strict=True):
        for churn, colour in zip(CHURN, colours, strict=True):
            told = runs[admission, churn]
            price = 100 * (told[:, 0] / told[:, 1] - 1)
            axis.plot(np.arange(1, EPOCHS + 1), price, color=colour, lw=1.6, label=f"{churn:.0%} change an epoch")
        axis.set(xlabel="epochs", ylabel="loss above that of free redraws, %", title=admission, ylim=(0, None))
    axes[0].legend(frameon=False, fontsize=8)
    save(figure, "history")


if __name__ == "__main__":
    main()
