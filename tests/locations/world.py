"""A plain model of a service: it knows every home and every answer, and checks each promise from outside.

It shares no code with what it checks: means, rounding and counting are written out here. What it cannot know from
answers alone (which cell, atom and batch a device is in) it reads from the tables, and compares with what it saw.
"""

import math
import sqlite3
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from shoal.locations.errors import RefusedError, UnknownError
from shoal.locations.keys import KeyRing
from shoal.locations.policy import Policy
from shoal.locations.promises import check
from shoal.locations.service import Service


@dataclass
class Person:
    """Whoever was invited."""

    invitation: str
    left: int


@dataclass
class Installed:
    """A live device."""

    person: int
    k: int
    home: tuple[float, float]
    credential: str
    seen: list[tuple[float, float] | None] = field(default_factory=list)


class World:
    """A service on a database, with all who use it."""

    def __init__(self, folder: Path, policy: Policy, url: str | None = None) -> None:
        self.path = folder / "service.db"
        self.url = url or str(self.path)
        self.ring, self.policy = KeyRing.fresh(), policy
        self.service = Service.open(self.url, self.ring, policy)
        self.people: list[Person] = []
        self.devices: dict[int, Installed] = {}
        self.gone: list[str] = []
        self.homes: dict[int, tuple[float, float]] = {}  # of all devices there ever were
        self.owners: dict[int, int] = {}
        self.atoms: dict[int, set[int]] = {}
        self.of_batch: dict[int, set[int]] = {}  # the devices behind each batch, as they were when it was formed
        self.cells_seen: dict[int, tuple[float, float]] = {}
        self.steps = 0

    # what may happen

    def invite(self, count: int, devices: int) -> None:
        for invitation in self.service.invite(count, devices):
            self.people.append(Person(invitation, devices))

    def sign_up(self, person: int, k: int, home: tuple[float, float]) -> None:
        one = self.people[person]
        if one.left < 1:
            with pytest.raises(RefusedError, match="used up"):
                self.service.sign_up(one.invitation, *home, k)
            return
        credential = self.service.sign_up(one.invitation, *home, k)
        one.left -= 1
        self._arrived(person, k, home, credential)

    def move(self, device: int, home: tuple[float, float]) -> None:
        old = self.devices.pop(device)
        credential = self.service.move(old.credential, *home)
        self.gone.append(old.credential)
        self._arrived(old.person, old.k, home, credential)

    def cancel(self, device: int) -> None:
        old = self.devices.pop(device)
        self.service.cancel(old.credential)
        self.people[old.person].left += 1
        self.gone.append(old.credential)

    def redraw(self, k: int | None) -> None:
        self.service.ask_redraw("model", k)
        self.work()

    def work(self) -> None:
        for _ in range(50):
            if not self.service.work():
                return
        raise AssertionError("the worker finds something to do for ever")

    def restart(self) -> None:
        self.service.close()
        self.service = Service.open(self.url, self.ring)

    def close(self) -> None:
        self.service.close()

    def _arrived(self, person: int, k: int, home: tuple[float, float], credential: str) -> None:
        number = max(self.rows("SELECT max(id) FROM devices"))[0]
        self.devices[number] = Installed(person, k, home, credential)
        self.homes[number], self.owners[number] = home, person

    # what must hold

    def rows(self, query: str) -> list[tuple]:
        """Read by SQLite itself, or by the service's own connection where the database is another."""
        if self.url == str(self.path):
            with sqlite3.connect(self.path) as connection:
                return connection.execute(query).fetchall()
        with self.service.database.read() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(query)]

    def check(self) -> None:
        """All seven promises, from the tables and from outside."""
        self.steps += 1
        for finding in check(self.service.database):
            assert finding.holds or not finding.on, finding.sentence
        there = {
            row[0]: row
            for row in self.rows(
                "SELECT devices.id, devices.atom_id, devices.batch_id, cells.id, cells.latitude, cells.longitude,"
                " cells.drawn FROM devices LEFT JOIN atoms ON atoms.id = devices.atom_id"
                " LEFT JOIN cells ON cells.id = atoms.cell_id"
            )
        }
        assert set(there) == set(self.devices), "the devices are those that signed up and did not leave"
        members = defaultdict(list)
        for device, row in there.items():
            members[row[3]].append(device)
            place = None if row[3] is None else (row[4], row[5])
            if not self.devices[device].seen or self.devices[device].seen[-1] != place:
                self.devices[device].seen.append(place)
        self._check_answers(there)
        self._check_cells(members, there)
        self._check_history(there)
        self._check_sums(there)

    def _check_answers(self, there: dict[int, tuple]) -> None:
        for device in sorted(there)[:: max(1, len(there) // 4)]:
            answer = self.service.locate(self.devices[device].credential)
            row = there[device]
            assert (answer is None) == (row[3] is None)
            assert answer is None or tuple(answer) == (row[4], row[5], self.devices[device].k)
        for credential in [*self.gone[-2:], "shd_", "", "nobody"]:
            with pytest.raises(UnknownError):
                self.service.locate(credential)

    def _check_cells(self, members: dict[int | None, list[int]], there: dict[int, tuple]) -> None:
        sharing = Counter(self.devices[device].k for cell, some in members.items() for device in some[:1] if cell)
        for cell, some in members.items():
            if cell is None:
                continue
            classes = {self.devices[device].k for device in some}
            assert len(classes) == 1, "a cell is of one class"
            (k,) = classes
            people = {self.devices[device].person for device in some}
            places = {place_of(self.devices[device].home, self.policy.place_digits) for device in some}
            assert len(people) >= k
            assert len(places) >= self.policy.places_of(k)
            if sharing[k] > 1:
                assert len(people) >= self.policy.kept_with(k)
            centroid = there[some[0]][4:6]
            if cell not in self.cells_seen:
                assert len(people) >= self.policy.drawn_with(k), "a new cell has more than k"
                self.cells_seen[cell] = centroid
            assert centroid == self.cells_seen[cell], "a centroid never changes"
        for k in self.policy.classes:
            people = {device.person for device in self.devices.values() if device.k == k}
            if len(people) < k:
                answered = [d for d, row in there.items() if self.devices[d].k == k and row[3] is not None]
                assert not answered, "nothing is told before k"

    def _check_history(self, there: dict[int, tuple]) -> None:
        """Who was together stays together, or leaves in parts of at least k."""
        if not self.policy.history:
            return
        for old in list(self.atoms.values()):
            live = {device for device in old if device in there}
            parts = defaultdict(set)
            for device in live:
                parts[there[device][3]].add(device)
            if len(parts) > 1:
                for part in parts.values():
                    assert len({self.owners[device] for device in part}) >= self.devices[min(part)].k
        self.atoms = defaultdict(set)
        for device, row in there.items():
            if row[1] is not None:
                self.atoms[row[1]].add(device)

    def _check_sums(self, there: dict[int, tuple]) -> None:
        """Every batch was formed of k people or split off; every centroid is what its batches say."""
        now = defaultdict(set)
        for device, row in there.items():
            if row[2] is not None:
                now[row[2]].add(device)
        parents = dict(self.rows("SELECT id, parent_id FROM batches"))
        for batch, parent in sorted(parents.items()):
            if batch in self.of_batch:
                assert now[batch] <= self.of_batch[batch], "nobody enters a batch later"
                continue
            if parent is None:
                self.of_batch[batch] = set(now[batch])
            else:  # who was gone before is in the part that is left, which is the last one
                others = {b for b, p in parents.items() if p == parent and b != batch}
                is_rest = batch == max({*others, batch})
                taken = set().union(*(now[other] for other in others)) if is_rest else set()
                whole = self.of_batch[parent]
                rest = whole - taken if is_rest else set(now[batch])
                left_out = is_rest and sum(self._kept(other) for other in {*others, batch}) < self._kept(parent)
                self.of_batch[batch] = set(now[batch]) if left_out else rest
            people = {self.owners[device] for device in self.of_batch[batch]}
            k = self.rows(f"SELECT k FROM batches WHERE id = {batch}")[0][0]
            assert len(people) >= k, "a batch has at least k people"
        behind = defaultdict(list)
        for cell, batch, weight in self.rows("SELECT cell_id, batch_id, weight FROM cell_batches"):
            behind[cell].append((batch, weight))
        for cell, sums in behind.items():
            if cell in self.cells_seen:
                self._check_centroid(self.cells_seen[cell], sums)

    def _kept(self, batch: int) -> int:
        with self.service.database.read() as connection:
            from shoal.locations.sums import Sums

            return Sums(connection, self.ring).read([batch])[batch].devices

    def _check_centroid(self, centroid: tuple[float, float], sums: list[tuple[int, int]]) -> None:
        total = sum(weight for _, weight in sums)
        middle = [0.0, 0.0, 0.0]
        for batch, weight in sums:
            homes = [on_sphere(self.homes[device]) for device in sorted(self.of_batch[batch])]
            for axis in range(3):
                middle[axis] += weight / total * math.fsum(home[axis] for home in homes) / len(homes)
        if math.hypot(*middle) < 1e-5:
            return  # no direction to speak of
        x, y, z = middle
        latitude, longitude = math.degrees(math.atan2(z, math.hypot(x, y))), math.degrees(math.atan2(y, x))
        half = 0.51 * 10.0**-self.policy.digits
        assert abs(centroid[0] - latitude) <= half, (
            centroid,
            latitude,
            longitude,
            middle,
            sums,
            {b: self.of_batch[b] for b, _ in sums},
        )
        if abs(centroid[0]) < 89.9 and math.hypot(x, y) > 1e-5:
            assert abs((centroid[1] - longitude + 180) % 360 - 180) <= half


def on_sphere(home: tuple[float, float]) -> tuple[float, float, float]:
    latitude, longitude = map(math.radians, home)
    return (
        math.cos(latitude) * math.cos(longitude),
        math.cos(latitude) * math.sin(longitude),
        math.sin(latitude),
    )


def place_of(home: tuple[float, float], digits: int) -> tuple[float, float]:
    latitude, longitude = round(home[0], digits), round(home[1], digits)
    if abs(home[0]) == 90:
        longitude = 0.0
    return latitude, 180.0 if longitude == -180 else longitude
