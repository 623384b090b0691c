"""Arrivals, first drawings and redraws.

What is drawn is computed on a picture of the database, while look-ups and changes go on, and then put into force
in one transaction, if what happened meanwhile still allows it; otherwise it is computed anew. So a first drawing
of a million devices holds up nobody for longer than the drawing of one region takes to be written.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.engine import Connection

from shoal.locations import drawing
from shoal.locations.cells import Cells, NewCell
from shoal.locations.database import Database, Row, Select
from shoal.locations.drawing import Demand, Drawn, People
from shoal.locations.homes import opened, points, rounded_costs
from shoal.locations.keys import KeyRing
from shoal.locations.members import (
    Arrays,
    Member,
    arrays_of,
    joined,
    members_among,
    members_of,
    places_of,
    principals_of,
    read,
    read_some,
    unanswered,
    waiting_for,
)
from shoal.locations.policy import Policy
from shoal.locations.rule import LiveCells
from shoal.locations.schema import atoms, cells, classes, devices, regions, requests

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_TRIES = 5  # drawings of a region that changes meanwhile
_LOOK = 0.05  # the share of a region that must have changed before its drift is looked at
_AT_A_TIME = 500  # devices that are admitted in one transaction after a first drawing


_DRAWING = sa.select(classes.c.drawing).where(classes.c.k == sa.bindparam("wanted"))


class Picture(NamedTuple):
    """The devices of some cells at one moment: their present cells are numbered as in `cells`."""

    cells: list[Row]
    members: list[Member]
    arrays: Arrays

    @property
    def centres(self) -> Float:
        """The published centroids."""
        return points(np.array([[cell.latitude, cell.longitude] for cell in self.cells]).reshape(-1, 2))

    @property
    def labels(self) -> Int:
        """Which of the cells each device is in."""
        number = {cell.id: place for place, cell in enumerate(self.cells)}
        return np.array([number[member.cell_id] for member in self.members], np.int64)


class Plan(NamedTuple):
    """What is to become of the devices of a picture: the part of its atom and the new cell of each, or -1."""

    part: dict[int, int]
    cell: dict[int, int]
    centres: Float
    costs: Float
    kept: set[int]


@dataclass(frozen=True)
class Redraws:
    """The drawings of one database."""

    database: Database
    ring: KeyRing
    policy: Policy
    live: LiveCells

    def work(self) -> bool:
        """One piece of work that is due, if there is any."""
        return any(self._first(k) for k in self.policy.classes) or self._asked() or self._against_drift()

    # arrivals

    def admit(self, connection: Connection, k: int, device: int, home: Float) -> None:
        """A newcomer goes to the cell of the least distance + cost, if its class has cells; else it waits."""
        if connection.execute(_DRAWING, {"wanted": k}).scalar_one():
            return
        self.live.refresh(connection)
        cell = self.live.of(k).cheapest(home)
        if cell is None:
            return
        work = self._cells(connection)
        work.changed(cell)
        if self.policy.admission == "join":
            work.join(device, cell)
            return
        connection.execute(sa.update(devices).where(devices.c.id == device).values(waits_for=cell))
        self._admit_cohort(work, k, cell)

    def _admit_cohort(self, work: Cells, k: int, cell: int) -> None:
        cohort = waiting_for(work.connection, [cell])
        if principals_of(cohort) >= k:
            work.move([work.form(k, cohort)], cell)

    # first drawings

    def _first(self, k: int) -> bool:
        """Draw a class that has no cells, once enough wait; or go on where a worker was stopped."""
        with self.database.read() as connection:
            begun = connection.execute(sa.select(classes.c.drawing).where(classes.c.k == k)).scalar_one()
            if not begun and connection.execute(live_cells(k).limit(1)).first() is not None:
                return False
            principals, withdrawn = connection.execute(waiting_in(k)).one()
            enough = self.policy.drawn_with(k) if withdrawn else self.policy.start_of(k)
            if not begun and principals < enough:
                return False
        with self.live.write(self.database) as connection:
            connection.execute(sa.update(classes).where(classes.c.k == k).values(drawing=True))
        with self.database.read() as connection:
            new = unanswered(k).where(devices.c.atom_id.is_(None))
            parts = [arrays_of(self.ring, some) for some in read_some(connection, new)]
        drawn = bool(parts) and self._draw_regions(k, joined(parts))
        return self._end_first(k) or drawn

    def _draw_regions(self, k: int, people: Arrays) -> bool:
        region = drawing.regions_of(people.homes, self.policy.region_of(k))
        done = False
        for number in range(int(region.max()) + 1):
            chosen = region == number
            some = Arrays(*(field[chosen] for field in people))
            drawn = drawing.draw(People(some.homes, some.principals, some.places), self._demand(k), seed=number)
            drawn = drawn._replace(costs=rounded_costs(drawn.costs, drawn.centres, self.policy.digits))
            if len(drawn.cells):
                done |= self._put_first(k, some, drawn)
        return done

    def _put_first(self, k: int, people: Arrays, drawn: Drawn) -> bool:
        """Put the cells of a region into force; one that has lost too many meanwhile is left out."""
        with self.live.write(self.database) as connection:
            there = {member.id: member for member in members_among(connection, people.ids.tolist())}
            work = self._cells(connection)
            region = self._new_region(work, k)
            groups, costs = [], []
            for number, rows in members_by(drawn.cells):
                ids = people.ids[drawn.members[rows]].tolist()
                some = [there[one] for one in ids if one in there and there[one].atom_id is None]
                if self._is_enough(k, some):
                    groups.append(some)
                    costs.append(float(drawn.costs[number]))
            formed, entered = work.form_each(k, groups), work.sums.enter_each(k, groups)
            new = zip(formed, entered, costs, strict=True)
            work.draw_each([NewCell(k, [atom], some, cost, region, []) for atom, some, cost in new])
            self._measure(connection, region, drawn_anew=True)
            return bool(groups)

    def _end_first(self, k: int) -> bool:
        """Whoever is not in a cell yet joins one; where there is none, all who wait may be enough for one cell."""
        with self.live.write(self.database) as connection:
            self.live.refresh(connection)
            done = bool(self.live.of(k).rows) or self._draw_all_as_one(connection, k)
            connection.execute(sa.update(classes).where(classes.c.k == k).values(drawing=False))
            self.live.refresh(connection)
            if done:
                self._place_withdrawn(connection, k)
        while done:
            with self.live.write(self.database) as connection:
                query = unanswered(k).where(devices.c.atom_id.is_(None), devices.c.waits_for.is_(None))
                some = read(connection, query.limit(_AT_A_TIME))
                homes = opened(self.ring, [(member.sealed, member.key, member.digest) for member in some])
                for member, home in zip(some, homes, strict=True):
                    self.admit(connection, k, member.id, home)
                if len(some) < _AT_A_TIME:
                    break
        return done

    def _draw_all_as_one(self, connection: Connection, k: int) -> bool:
        """Devices of a cell that was withdrawn and newcomers, too few for several cells, as one."""
        members = read(connection, unanswered(k))
        if not self._is_enough(k, members):
            return False
        work = self._cells(connection)
        old = [member for member in members if member.atom_id is not None]
        new = [member for member in members if member.atom_id is None]
        whole = {member.atom_id for member in old if member.atom_id is not None}
        if principals_of(new) >= k or not whole:
            whole.add(work.form(k, new))
        else:
            for member in new:
                connection.execute(
                    sa.update(devices).where(devices.c.id == member.id).values(atom_id=min(whole), waits_for=None)
                )
        region = self._new_region(work, k)
        work.draw(NewCell(k, sorted(whole), work.sums.enter(k, members), 0.0, region, []))
        self._measure(connection, region, drawn_anew=True)
        return True

    def _place_withdrawn(self, connection: Connection, k: int) -> None:
        """Atoms of a cell that was withdrawn go whole to the cell that suits most of them."""
        members = [member for member in read(connection, unanswered(k)) if member.atom_id is not None]
        by_atom: dict[int, list[Member]] = defaultdict(list)
        for member in members:
            by_atom[member.atom_id or 0].append(member)
        work = self._cells(connection)
        for atom, some in by_atom.items():
            middle = opened(self.ring, [(one.sealed, one.key, one.digest) for one in some]).mean(axis=0)
            cell = self.live.of(k).cheapest(middle)
            assert cell is not None
            work.move([atom], cell)

    # redraws

    def _asked(self) -> bool:
        with self.database.read() as connection:
            request = connection.execute(
                sa.select(requests).where(~requests.c.done).order_by(requests.c.id).limit(1)
            ).one_or_none()
            if request is None:
                return False
            chosen = self.policy.classes if request.k is None else (request.k,)
            due = [region for k in chosen for region in connection.execute(live_regions(k)).scalars()]
        for region in due:
            self.redraw(region)
        with self.live.write(self.database) as connection:
            connection.execute(sa.update(requests).where(requests.c.id == request.id).values(done=True))
        return True

    def _against_drift(self) -> bool:
        """Look at a region of which enough has changed, and draw it anew if it loses too much by now."""
        since = regions.c.changes - regions.c.looked
        with self.database.read() as connection:
            query = sa.select(regions).where(since > sa.func.coalesce(regions.c.devices, 0) * _LOOK)
            lives = query.where(regions.c.id.in_(sa.select(cells.c.region_id).where(cells.c.retired.is_(None))))
            region = connection.execute(lives.order_by(since.desc(), regions.c.id).limit(1)).one_or_none()
        if region is None:
            return False
        with self.live.write(self.database) as connection:
            drift = self._measure(connection, region.id, drawn_anew=False)
        if drift > self.policy.drift:
            self.redraw(region.id)
        return True

    def redraw(self, region: int) -> bool:
        """New cells for a region. Returns whether there are any; it may be that nothing could be better."""
        for attempt in range(_TRIES):
            with self.database.read() as connection:
                picture = self._picture(connection, region)
            if not picture.members:
                return False
            plan = self._planned(picture, attempt)
            with self.live.write(self.database) as connection:
                done = self._put(connection, region, picture, plan)
            if done is not None:
                return done
        return False

    def _planned(self, picture: Picture, seed: int) -> Plan:
        k = picture.cells[0].k
        people = People(picture.arrays.homes, picture.arrays.principals, picture.arrays.places)
        ids = picture.arrays.ids.tolist()
        if self.policy.history:
            present = np.array([member.cell_id for member in picture.members], np.int64)
            whole = drawing.redraw_whole(people, picture.arrays.atoms, present, self._demand(k), seed=seed)
            return Plan(
                dict(zip(ids, whole.parts.tolist(), strict=True)),
                dict(zip(ids, whole.cells.tolist(), strict=True)),
                whole.centres,
                rounded_costs(whole.costs, whole.centres, self.policy.digits),
                set(whole.kept.tolist()),
            )
        costs = np.array([cell.cost for cell in picture.cells])
        free = drawing.redraw_freely(people, picture.labels, picture.centres, costs, self._demand(k), seed=seed)
        if not len(free.cells):
            kept = {cell.id for cell in picture.cells}
            return Plan(dict.fromkeys(ids, 0), dict.fromkeys(ids, -1), free.centres, free.costs, kept)
        cell = {ids[row]: int(number) for row, number in zip(free.members, free.cells, strict=True)}
        return Plan(cell, cell, free.centres, rounded_costs(free.costs, free.centres, self.policy.digits), set())

    def _put(self, connection: Connection, region: int, picture: Picture, plan: Plan) -> bool | None:
        """Put a plan into force; None where what happened meanwhile does not allow it."""
        k = picture.cells[0].k
        work = self._cells(connection)
        before = work.rows_of([cell.id for cell in picture.cells])
        members = members_of(connection, [cell.id for cell in before])
        known = set(picture.arrays.atoms.tolist())
        if any(cell.retired is not None for cell in before) or not {m.atom_id for m in members} <= known:
            return None
        parts, goal = self._with_newcomers(members, plan)
        new: dict[int, list[Member]] = defaultdict(list)
        for member in members:
            if goal[member.id] >= 0:
                new[goal[member.id]].append(member)
        stranded = any(goal[m.id] < 0 and m.cell_id not in plan.kept for m in members)
        if stranded or any(not self._is_enough(k, some) for some in new.values()):
            return None
        pieces: dict[int, dict[int, list[Member]]] = defaultdict(lambda: defaultdict(list))
        for member in members:
            assert member.atom_id is not None
            pieces[member.atom_id][parts[member.id]].append(member)
        if self.policy.history and any(
            principals_of(piece) < k for by in pieces.values() if len(by) > 1 for piece in by.values()
        ):
            return None
        where = [region]
        if new:
            where = self._regions_for(work, region, k, plan, len(members))
            self._draw_new(work, where, before, members, plan, goal, pieces)
        for each in sorted({region, *where}):
            self._measure(connection, each, drawn_anew=True)
        return bool(new)

    def _draw_new(
        self,
        work: Cells,
        where: list[int],
        before: list[Row],
        members: list[Member],
        plan: Plan,
        goal: dict[int, int],
        pieces: dict[int, dict[int, list[Member]]],
    ) -> None:
        """New atoms for the pieces of those that are split, then the sums, then the cells."""
        k = before[0].k
        inside: dict[int, list[int]] = defaultdict(list)
        split = [(atom, piece) for atom, by in pieces.items() if len(by) > 1 for piece in by.values()]
        formed = work.form_each(k, [piece for _, piece in split], [atom for atom, _ in split])
        work.detach(sorted({atom for atom, _ in split}))
        for (_, piece), number in zip(split, formed, strict=True):
            inside[goal[piece[0].id]].append(number)
        for atom, by in pieces.items():
            if len(by) == 1:
                inside[goal[next(iter(by.values()))[0].id]].append(atom)
        ends = {m.id: goal[m.id] if goal[m.id] >= 0 else -1 - (m.cell_id or 0) for m in members}
        gathered: dict[int, list[Member]] = defaultdict(list)
        for member in work.sums.split(k, members, ends):
            gathered[goal[member.id]].append(member)
        rows = {cell.id: cell for cell in before}
        numbers = [number for number in sorted(inside) if number >= 0]
        new = []
        for number, some in zip(numbers, work.sums.enter_each(k, [gathered[n] for n in numbers]), strict=True):
            old = [rows[cell] for cell in sorted({m.cell_id for m in some if m.cell_id is not None})]
            new.append(NewCell(k, inside[number], some, float(plan.costs[number]), where[number], old))
        work.draw_each(new)
        gone = [cell.id for cell in before if cell.id not in plan.kept]
        waiting = waiting_for(work.connection, gone)
        work.retire(gone)
        self.live.refresh(work.connection)
        self._wait_anew(work, k, waiting)

    def _wait_anew(self, work: Cells, k: int, waiting: list[Member]) -> None:
        """Newcomers that waited for cells that are gone wait for new ones."""
        homes = opened(self.ring, [(member.sealed, member.key, member.digest) for member in waiting])
        found: set[int] = set()
        for member, home in zip(waiting, homes, strict=True):
            cell = self.live.of(k).cheapest(home)
            assert cell is not None
            work.connection.execute(sa.update(devices).where(devices.c.id == member.id).values(waits_for=cell))
            found.add(cell)
        for cell in sorted(found):
            self._admit_cohort(work, k, cell)

    def _with_newcomers(self, members: Sequence[Member], plan: Plan) -> tuple[dict[int, int], dict[int, int]]:
        """The part and the new cell of every member; who came meanwhile goes to the nearest part of the atom."""
        of_atom: dict[int | None, dict[int, int]] = defaultdict(dict)
        for member in members:
            if member.id in plan.part:
                of_atom[member.atom_id][plan.part[member.id]] = plan.cell[member.id]
        parts, goal = {}, {}
        for member in members:
            choices = of_atom[member.atom_id]
            if member.id in plan.part:
                part = plan.part[member.id]
            elif len(choices) <= 1:
                part = next(iter(choices), 0)
            else:
                home = opened(self.ring, [(member.sealed, member.key, member.digest)])
                numbers = list(choices)
                there = [choices[number] for number in numbers]
                part = numbers[int(drawing.cheapest(home, plan.centres[there], plan.costs[there])[0])]
            parts[member.id], goal[member.id] = part, choices.get(part, -1)
        return parts, goal

    def _regions_for(self, work: Cells, region: int, k: int, plan: Plan, count: int) -> list[int]:
        """The region of every new cell: as before, or two where one has grown too large."""
        if count <= 2 * self.policy.region_of(k) or len(plan.centres) < 2:
            return [region] * len(plan.centres)
        axis = int(np.argmax(np.ptp(plan.centres, axis=0)))
        other = self._new_region(work, k)
        upper = plan.centres[:, axis] > np.median(plan.centres[:, axis])
        return [other if above else region for above in upper.tolist()]

    # what they share

    def _cells(self, connection: Connection) -> Cells:
        return Cells(connection, self.ring, self.policy, self.live)

    def _demand(self, k: int) -> Demand:
        return Demand(k, self.policy.slack_of(k), self.policy.places_of(k))

    def _is_enough(self, k: int, members: Sequence[Member]) -> bool:
        return principals_of(members) >= self.policy.drawn_with(k) and places_of(members) >= self.policy.places_of(
            k
        )

    def _new_region(self, work: Cells, k: int) -> int:
        zero = {"devices": 0, "loss": 0.0, "kilometres": 0.0, "drift": 0.0, "changes": 0, "looked": 0}
        return work.insert(regions, {"k": k, **zero})

    def _picture(self, connection: Connection, region: int) -> Picture:
        query = sa.select(cells).where(cells.c.region_id == region, cells.c.retired.is_(None))
        rows = list(connection.execute(query.order_by(cells.c.id)))
        members = members_of(connection, [row.id for row in rows])
        return Picture(rows, members, arrays_of(self.ring, members))

    def _measure(self, connection: Connection, region: int, drawn_anew: bool) -> float:
        """Write down what a region loses now; returns its drift since it was drawn."""
        picture = self._picture(connection, region)
        row = connection.execute(sa.select(regions).where(regions.c.id == region)).one()
        if not picture.members:
            return 0.0
        homes, labels, centres = picture.arrays.homes, picture.labels, picture.centres
        now = drawing.loss(homes, labels, centres)
        values = {"kilometres": drawing.kilometres(homes, labels, centres), "looked": row.changes}
        if drawn_anew:
            drift = 0.0
            values |= {"devices": len(homes), "loss": now, "changes": 0, "looked": 0}
        else:
            drift = drawing.drift(now, row.loss, len(homes), row.devices)
        connection.execute(sa.update(regions).where(regions.c.id == region).values(drift=drift, **values))
        return drift


def members_by(labels: Int) -> list[tuple[int, Int]]:
    """The rows of each label that occurs."""
    order = np.argsort(labels, kind="stable")
    numbers, starts = np.unique(labels[order], return_index=True)
    return list(zip(numbers.tolist(), np.split(order, starts[1:]), strict=True))


def live_cells(k: int) -> Select:
    """The cells of a class."""
    return sa.select(cells.c.id).where(cells.c.k == k, cells.c.retired.is_(None))


def live_regions(k: int) -> Select:
    """The regions of a class that have cells."""
    chosen = sa.select(cells.c.region_id).where(cells.c.k == k, cells.c.retired.is_(None))
    return chosen.distinct().order_by(cells.c.region_id)


def waiting_in(k: int) -> Select:
    """How many principals of a class are in no cell, and how many atoms were withdrawn."""
    count = sa.func.count
    query = sa.select(count(devices.c.principal_id.distinct()), count(devices.c.atom_id.distinct()))
    return query.select_from(devices.outerjoin(atoms)).where(devices.c.k == k, atoms.c.cell_id.is_(None))
