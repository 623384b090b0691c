"""The live cells in memory, and the rule that sends a newcomer to one: the least distance + cost, both frozen.

The database counts changes of cells; only cells that were made or retired since the last look are read again.
Whoever asks holds the lock of writes, so that what is in memory is what the transaction sees; after a transaction
that saw changes and failed, everything is read anew.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.engine import Connection

from shoal.locations.database import Database
from shoal.locations.homes import points
from shoal.locations.schema import cells, service

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_FIRST_ROOM = 64  # cells that a class has room for at first
_ROUNDED = 1e-13  # centroids are rounded, so their points have length 1 but for some 1e-16


_CHANGE = sa.select(service.c.change)


@dataclass
class ClassCells:
    """The cells of one class, the oldest first; those that were retired cost infinitely much."""

    ids: Int = field(default_factory=lambda: np.zeros(_FIRST_ROOM, np.int64))
    centres: Float = field(default_factory=lambda: np.zeros((_FIRST_ROOM, 3), order="F"))
    costs: Float = field(default_factory=lambda: np.full(_FIRST_ROOM, np.inf))
    rows: dict[int, int] = field(default_factory=dict)  # where the live ones are
    used: int = 0

    def add(self, cell: int, centre: Float, cost: float) -> None:
        """One more cell."""
        if self.used == len(self.ids):
            self._make_room()
        row = self.used
        self.ids[row], self.centres[row], self.costs[row] = cell, centre, cost
        self.rows[cell] = row
        self.used += 1

    def drop(self, cell: int) -> None:
        """One less."""
        row = self.rows.pop(cell, None)
        if row is not None:
            self.costs[row] = np.inf

    def _make_room(self) -> None:
        live = np.flatnonzero(np.isfinite(self.costs[: self.used]))
        room = max(_FIRST_ROOM, 2 * len(live))
        fresh = ClassCells(np.zeros(room, np.int64), np.zeros((room, 3), order="F"), np.full(room, np.inf))
        fresh.used = len(live)
        fresh.ids[: fresh.used], fresh.centres[: fresh.used] = self.ids[live], self.centres[live]
        fresh.costs[: fresh.used] = self.costs[live]
        self.ids, self.centres, self.costs, self.used = fresh.ids, fresh.centres, fresh.costs, fresh.used
        self.rows = {int(cell): row for row, cell in enumerate(self.ids[: self.used])}

    def cheapest(self, home: Float) -> int | None:
        """The cell of a newcomer; between equals, the oldest."""
        if not self.rows:
            return None
        return self._least(self.costs[: self.used], home)

    def nearest(self, cell: int) -> int | None:
        """The live cell whose centroid is nearest to that of a cell; between equals, the oldest."""
        if cell not in self.rows or len(self.rows) < 2:
            return None
        row = self.rows[cell]
        alike = np.where(np.isfinite(self.costs[: self.used]), 0.0, np.inf)
        alike[row] = np.inf
        return self._least(alike, self.centres[row])

    def _least(self, costs: Float, place: Float) -> int:
        """The cell with the least squared chord + cost. A scalar product leaves out nearly all; the rest is exact.

        It is written out by columns: the product of a matrix would wake threads for a task of half a millisecond.
        """
        nearly = costs.copy()
        for column, part in zip(self.centres.T, place, strict=True):
            nearly -= column[: self.used] * (2 * part)
        rows = np.flatnonzero(nearly <= nearly.min() + _ROUNDED)
        paid = np.square(self.centres[rows] - place).sum(axis=1) + costs[rows]
        return int(self.ids[rows[np.argmin(paid)]])


class LiveCells:
    """The live cells of all classes."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Read everything anew next time."""
        self.seen = -1
        self._classes: dict[int, ClassCells] = {}

    def refresh(self, connection: Connection) -> int:
        """See what was made and retired since the last look; returns the number of the last change."""
        change = int(connection.execute(_CHANGE).scalar_one())
        if change == self.seen:
            return change
        columns = cells.c.id, cells.c.k, cells.c.latitude, cells.c.longitude, cells.c.cost
        if self.seen >= 0:
            gone = sa.select(cells.c.id, cells.c.k).where(cells.c.retired > self.seen)
            for cell, k in connection.execute(gone):
                self.of(k).drop(cell)
        # Asked for live cells among the new ones, or for an order, SQLite would go through all cells each time.
        new = cells.c.retired.is_(None) if self.seen < 0 else cells.c.made > self.seen
        made = connection.execute(sa.select(*columns, cells.c.retired).where(new))
        rows: list[Any] = sorted((row for row in made if row.retired is None), key=lambda row: row.id)
        if rows:
            places = points(np.array([[row.latitude, row.longitude] for row in rows]))
            for row, place in zip(rows, places, strict=True):
                self.of(row.k).add(row.id, place, row.cost)
        self.seen = change
        return change

    @contextmanager
    def write(self, database: Database) -> Iterator[Connection]:
        """A write; if it fails, at its commit or before, the changes that it saw may be none and are forgotten."""
        with database.turn:
            before = self.seen
            try:
                with database.write() as connection:
                    yield connection
            except BaseException:
                if self.seen != before:
                    self.forget()
                raise

    def of(self, k: int) -> ClassCells:
        """The cells of one class."""
        return self._classes.setdefault(k, ClassCells())
