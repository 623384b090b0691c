"""What happens to cells within a transaction: they are drawn, merged with a neighbour, or withdrawn.

A cell that a cancellation leaves with too few principals or places is merged at once, in the transaction of the
cancellation, so that no moment exists in which fewer than k share a centroid.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from shoal.locations.database import Row, in_chunks
from shoal.locations.keys import KeyRing
from shoal.locations.members import Member, members_of, principals_of
from shoal.locations.policy import Policy
from shoal.locations.rule import LiveCells
from shoal.locations.schema import atom_cells, atoms, cell_batches, cells, devices, regions, service
from shoal.locations.sums import Sums

# What every arrival and every cancellation asks is put together once.
_WANTED: sa.BindParameter[Any] = sa.bindparam("wanted")
_INSIDE = (
    sa.select(sa.func.count(devices.c.principal_id.distinct()), sa.func.count(devices.c.place.distinct()))
    .select_from(devices.join(atoms))
    .where(atoms.c.cell_id == _WANTED)
)
_SMALLEST_ATOM = (
    sa.select(atoms.c.id)
    .join(devices)
    .where(atoms.c.cell_id == _WANTED)
    .group_by(atoms.c.id)
    .order_by(sa.func.count(devices.c.principal_id.distinct()), atoms.c.id)
    .limit(1)
)
_NEXT_CHANGE = sa.update(service).values(change=service.c.change + 1).returning(service.c.change)
_JOIN = sa.update(devices).where(devices.c.id == _WANTED).values(atom_id=sa.bindparam("atom"))
_CHANGED = (
    sa.update(regions)
    .where(regions.c.id == sa.select(cells.c.region_id).where(cells.c.id == _WANTED).scalar_subquery())
    .values(changes=regions.c.changes + 1)
)


class NewCell(NamedTuple):
    """A cell to be drawn: its atoms and members, its cost and region, and the cells that its members come from."""

    k: int
    atoms: Sequence[int]
    members: Sequence[Member]
    cost: float
    region: int
    before: Sequence[Row]


class Cells:
    """The cells of a database, within one write."""

    def __init__(self, connection: Connection, ring: KeyRing, policy: Policy, live: LiveCells) -> None:
        self.connection, self.policy, self.live = connection, policy, live
        self.sums = Sums(connection, ring)

    def settle(self, k: int, cell: int) -> None:
        """After a cancellation: merge the cell with its neighbour until it may go on, or withdraw it."""
        while True:
            principals, places = self.connection.execute(_INSIDE, {"wanted": cell}).one()
            if principals >= self.policy.kept_with(k) and places >= self.policy.places_of(k):
                return
            self.live.refresh(self.connection)
            other = self.live.of(k).nearest(cell)
            if other is None:
                if principals < k or places < self.policy.places_of(k):
                    self.withdraw(cell)
                return
            cell = self.merge(k, cell, other)

    def merge(self, k: int, cell: int, other: int) -> int:
        """Two cells as one, with a new centroid; each keeps its atoms whole."""
        rows = self.rows_of([cell, other])
        members = self.sums.enter(k, members_of(self.connection, [cell, other]))
        counts = Counter(member.cell_id for member in members)
        cost = sum(row.cost * counts[row.id] for row in rows) / max(1, len(members))
        region = next(row.region_id for row in rows if row.id == other)
        inside = sorted({member.atom_id for member in members if member.atom_id is not None})
        number = self.draw(NewCell(k, inside, members, cost, region, rows))
        waiting = sa.update(devices).where(devices.c.waits_for.in_([cell, other]))
        self.connection.execute(waiting.values(waits_for=number))
        self.retire([cell, other])
        return number

    def draw(self, new: NewCell) -> int:
        """A new cell, to which its atoms move."""
        return self.draw_each([new])[0]

    def draw_each(self, some: Sequence[NewCell]) -> list[int]:
        """New cells, to which their atoms move. There may be a thousand: a few statements are for all of them."""
        if not some:
            return []
        change = self._next_change()
        found = self.sums.centres([new.members for new in some], self.policy.digits)
        rows = []
        for new, (place, _) in zip(some, found, strict=True):
            if place is None:  # no home in it is in a sum yet: what was published before tells nothing new
                place = new.before[0].latitude, new.before[0].longitude
            values = {"k": new.k, "latitude": place[0], "longitude": place[1], "cost": new.cost}
            rows.append({**values, "region_id": new.region, "drawn": principals_of(new.members), "made": change})
        numbers = self._insert_each(cells, rows)
        behind = [
            {"cell_id": number, "batch_id": batch, "weight": weight}
            for number, (_, weights) in zip(numbers, found, strict=True)
            for batch, weight in weights.items()
        ]
        if behind:
            self.connection.execute(sa.insert(cell_batches), behind)
        self._move_each({atom: number for new, number in zip(some, numbers, strict=True) for atom in new.atoms})
        return numbers

    def retire(self, old: Sequence[int]) -> None:
        """Cells that nobody gets any more; what was published of them stays in the table."""
        change = self._next_change()
        for chunk in in_chunks(list(old)):
            self.connection.execute(sa.update(cells).where(cells.c.id.in_(chunk)).values(retired=change))

    def withdraw(self, cell: int) -> None:
        """The last cell of a class, now too small: its devices get no answer until it is drawn anew."""
        self.connection.execute(sa.update(atoms).where(atoms.c.cell_id == cell).values(cell_id=None))
        waiting = sa.update(devices).where(devices.c.waits_for == cell)
        self.connection.execute(waiting.values(waits_for=None))
        self.retire([cell])

    def form(self, k: int, members: Sequence[Member], parent: int | None = None) -> int:
        """A new atom of these devices, with its parent's history."""
        return self.form_each(k, [members], [parent])[0]

    def form_each(
        self, k: int, groups: Sequence[Sequence[Member]], parents: Sequence[int | None] | None = None
    ) -> list[int]:
        """The same for several atoms."""
        parents = [None] * len(groups) if parents is None else parents
        rows = [
            {"k": k, "parent_id": parent, "formed": principals_of(members), "left": 0}
            for members, parent in zip(groups, parents, strict=True)
        ]
        numbers = self._insert_each(atoms, rows)
        put = [
            {"device": member.id, "atom": number}
            for number, members in zip(numbers, groups, strict=True)
            for member in members
        ]
        if put:
            update = sa.update(devices).where(devices.c.id == sa.bindparam("device"))
            self.connection.execute(update.values(atom_id=sa.bindparam("atom"), waits_for=None), put)
        for number, parent in zip(numbers, parents, strict=True):
            if parent is not None:
                self._inherit(number, parent)
        return numbers

    def _inherit(self, atom: int, parent: int) -> None:
        """An atom begins with its parent's history."""
        past = sa.select(sa.literal(atom), atom_cells.c.step, atom_cells.c.cell_id)
        own = past.where(atom_cells.c.atom_id == parent)
        self.connection.execute(sa.insert(atom_cells).from_select(["atom_id", "step", "cell_id"], own))

    def join(self, device: int, cell: int) -> None:
        """A newcomer joins the smallest atom of its cell: it hides those that cancellations have left alone."""
        atom = self.connection.execute(_SMALLEST_ATOM, {"wanted": cell}).scalar_one()
        self.connection.execute(_JOIN, {"wanted": device, "atom": atom})

    def move(self, some_atoms: Iterable[int], cell: int) -> None:
        """Atoms as a whole to another cell, which becomes part of their history."""
        self._move_each(dict.fromkeys(some_atoms, cell))

    def _move_each(self, goal: Mapping[int, int]) -> None:
        """Every atom to its own cell."""
        update = sa.update(atoms).where(atoms.c.id == sa.bindparam("atom")).values(cell_id=sa.bindparam("cell"))
        for chunk in in_chunks(list(goal)):
            self.connection.execute(update, [{"atom": atom, "cell": goal[atom]} for atom in chunk])
            steps = sa.select(atom_cells.c.atom_id, sa.func.max(atom_cells.c.step))
            last = steps.where(atom_cells.c.atom_id.in_(chunk)).group_by(atom_cells.c.atom_id)
            past = {row[0]: row[1] for row in self.connection.execute(last)}
            rows = [{"atom_id": atom, "step": past.get(atom, 0) + 1, "cell_id": goal[atom]} for atom in chunk]
            self.connection.execute(sa.insert(atom_cells), rows)

    def detach(self, some_atoms: Sequence[int]) -> None:
        """Atoms without devices belong to no cell."""
        for chunk in in_chunks(some_atoms):
            self.connection.execute(sa.update(atoms).where(atoms.c.id.in_(chunk)).values(cell_id=None))

    def rows_of(self, some_cells: Sequence[int]) -> list[Row]:
        """The rows of cells."""
        found: list[Row] = []
        for chunk in in_chunks(list(some_cells)):
            found += self.connection.execute(sa.select(cells).where(cells.c.id.in_(chunk)).order_by(cells.c.id))
        return found

    def changed(self, cell: int) -> None:
        """An arrival or a cancellation in the region of a cell."""
        self.connection.execute(_CHANGED, {"wanted": cell})

    def insert(self, table: sa.Table, values: Mapping[str, object]) -> int:
        """A new row; returns its number."""
        key = self.connection.execute(sa.insert(table).values(**values)).inserted_primary_key
        assert key is not None
        return int(key[0])

    def _insert_each(self, table: sa.Table, rows: Sequence[Mapping[str, object]]) -> list[int]:
        """New rows; returns their numbers, in the order of the rows."""
        if not rows:
            return []
        returned = sa.insert(table).returning(table.c.id, sort_by_parameter_order=True)
        return [int(row[0]) for row in self.connection.execute(returned, rows)]

    def _next_change(self) -> int:
        return int(self.connection.execute(_NEXT_CHANGE).scalar_one())
