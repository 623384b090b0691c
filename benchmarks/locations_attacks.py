"""Attacks on the location service, with its protections switched off and on.

    python benchmarks/locations_attacks.py             all of them; a few minutes
    python benchmarks/locations_attacks.py --small     some seconds: fewer people, fewer requests

Off is a plain service that is written out here, as one would write it first: the centroid of a cell is the mean of
its members at every moment, cells are drawn freely, k counts devices, a look-up says what is wrong with a
credential; or it is Shoal's service with a protection taken away by its policy. The attacker is given more than
the service tells: who is in which cell, exact sizes, even which homes are in which sum. Chance is the guess that
needs no attack: the centroid that the victim was given; for buildings, what those get who live alone. Writes
docs/tables/locations_attacks.md and docs/tables/locations_timing.md.
"""

import argparse
import json
import random
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import sqlalchemy as sa
import uvicorn

from shoal.locations import drawing, homes, schema
from shoal.locations.drawing import Demand, People
from shoal.locations.keys import DEVICE, OPERATOR, KeyRing, digest_of, new_secret
from shoal.locations.policy import Policy
from shoal.locations.service import Service
from shoal.locations.sums import Sums

ROOT = Path(__file__).parents[1]
TABLES = ROOT / "docs" / "tables"
RUNNING = ROOT / "tests" / "locations" / "running.py"
K = 5
TOWN, SPREAD = (52.5, -1.9), (0.03, 0.05)  # degrees; some kilometres
EARTH = 6_371_008.8
NEAR = 50.0  # metres; a home that was guessed so well is found


def main():
    """All attacks, then the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="some seconds")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rows = []
    for attack in (differencing, linear_system, intersection, cancellation_lists, sybils, buildings):
        begun = time.perf_counter()
        found = attack(given.small, given.seed)
        rows += found
        print(attack.__name__, f"{time.perf_counter() - begun:.0f} s", flush=True)
        for row in found:
            print("   ", row.line(), flush=True)
    timed = timing(given.small, given.seed)
    print(*timed, sep="\n", flush=True)
    if not given.small:
        header = "| attack | service | what it finds | homes within 50 m, % | median error, m | by chance, m |"
        write("locations_attacks.md", [header, "|---|---|---|---|---|---|", *(row.line() for row in rows)])
        write("locations_timing.md", timed)


class Row:
    """A line of the table."""

    def __init__(self, attack, service, finds, errors, chance):
        self.attack, self.service, self.finds = attack, service, finds
        self.errors, self.chance = np.asarray(errors, float), np.asarray(chance, float)

    @property
    def found(self):
        """The share of homes that were found."""
        return float((self.errors <= NEAR).mean()) if len(self.errors) else 0.0

    @property
    def median(self):
        """The median error."""
        return float(np.median(self.errors))

    def line(self):
        """In Markdown."""
        cells = [self.attack, self.service, self.finds, f"{100 * self.found:.1f}", metres(self.errors)]
        return "| " + " | ".join([*cells, metres(self.chance)]) + " |"


def metres(errors):
    """A median as it is printed."""
    middle = float(np.median(errors))
    return "less than 0.1" if middle < 0.1 else f"{middle:.1f}" if middle < 10 else f"{middle:.0f}"


def write(name, lines):
    """A table of the docs."""
    (TABLES / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


# places


def town(count, random_):
    """Homes in a town."""
    return np.column_stack([random_.normal(m, s, count) for m, s in zip(TOWN, SPREAD, strict=True)])


def point(place):
    """A latitude and a longitude as a point of the unit sphere."""
    return homes.points(np.array([place], float))[0]


def away(one, other):
    """Metres between two points that need not be on the sphere."""
    one, other = one / np.linalg.norm(one), other / np.linalg.norm(other)
    return EARTH * 2 * np.arctan2(np.linalg.norm(one - other), np.linalg.norm(one + other))


# two services that tell the attacker the same things


class Plain:
    """A service without protections: the centroid of a cell is the mean of its members, at every moment."""

    def __init__(self, digits=15):
        self.digits = digits
        self.homes, self.cell, self.members = {}, {}, {}
        self.published = []  # (members, centroid) of every centroid that was ever given
        self.next = 0

    def begin(self, places):
        """The first devices and their cells."""
        for place in places:
            self.homes[self.next] = point(place)
            self.next += 1
        self.live = set(self.homes)
        self.redraw()

    def redraw(self):
        """Cells for all, whoever was together before."""
        ids = sorted(self.live)
        rows = np.array([self.homes[one] for one in ids])
        drawn = drawing.draw(People(rows, np.arange(len(ids)), np.arange(len(ids))), Demand(K, 0, 1))
        self.members = {
            cell: {ids[row] for row in np.flatnonzero(drawn.cells == cell)} for cell in set(drawn.cells)
        }
        self.cell = {one: cell for cell, some in self.members.items() for one in some}
        for cell in self.members:
            self.publish(cell)

    def publish(self, cell):
        """A new centroid, exact or rounded."""
        some = self.members[cell]
        middle = np.mean([self.homes[one] for one in sorted(some)], axis=0)
        self.published.append((frozenset(some), point(homes.published(middle, self.digits))))
        return self.published[-1][1]

    def centroid(self, one):
        """What a device is given."""
        some = frozenset(self.members[self.cell[one]])
        return next(place for members, place in reversed(self.published) if members == some)

    def sign_up(self, place):
        """A newcomer, in the nearest cell."""
        one, self.next = self.next, self.next + 1
        self.homes[one] = point(place)
        self.live.add(one)
        centres = {
            cell: np.mean([self.homes[other] for other in some], axis=0) for cell, some in self.members.items()
        }
        cell = min(centres, key=lambda each: away(centres[each], self.homes[one]))
        self.members[cell].add(one)
        self.cell[one] = cell
        self.publish(cell)
        return one

    def cancel(self, one):
        """A device that leaves; a cell that is too small joins the nearest."""
        cell = self.cell.pop(one)
        self.live.discard(one)
        self.members[cell].discard(one)
        if len(self.members[cell]) < K:
            middle = np.mean([self.homes[other] for other in self.members[cell]], axis=0)
            others = [each for each in self.members if each != cell]
            near = min(
                others, key=lambda each: away(np.mean([self.homes[o] for o in self.members[each]], 0), middle)
            )
            self.members[near] |= self.members.pop(cell)
            for other in self.members[near]:
                self.cell[other] = near
            cell = near
        self.publish(cell)

    def group(self, one):
        """Who shares the cell of a device."""
        return frozenset(self.members[self.cell[one]])

    def system(self):
        """Every centroid ever given, as a row of coefficients of homes."""
        return [({one: 1 / len(some) for one in some}, place) for some, place in self.published]

    def close(self):
        """Nothing to give back."""


class Shoal:
    """Shoal's service, and all that the attacker is told about its insides."""

    def __init__(self, folder, **policy):
        self.policy = Policy(**{"classes": (K,), "start": 2 * K, **policy})
        self.ring = KeyRing.fresh()
        name = f"{len(list(Path(folder).iterdir()))}.db"
        self.service = Service.open(str(Path(folder) / name), self.ring, self.policy)
        self.homes, self.credentials, self.live = {}, {}, set()
        self.behind = {}  # the homes in the sum of each batch

    def begin(self, places, owners=None):
        """The first devices and their cells; `owners` says who shares an invitation."""
        owners = list(range(len(places))) if owners is None else owners
        most = Counter(owners)
        invitations = {each: self.service.invite(1, most[each])[0] for each in dict.fromkeys(owners)}
        for place, owner in zip(places, owners, strict=True):
            self._arrive(place, invitations[owner])
        self.work()

    def _arrive(self, place, invitation):
        credential = self.service.sign_up(invitation, *map(float, place))
        with self.service.database.read() as connection:
            query = sa.select(schema.devices.c.id).where(schema.devices.c.digest == digest_of(credential, DEVICE))
            one = connection.execute(query).scalar_one()
        self.homes[one], self.credentials[one] = point(place), credential
        self.live.add(one)
        return one

    def work(self):
        """Everything that is due."""
        while self.service.work():
            self.look()
        self.look()

    def redraw(self):
        """New cells."""
        self.service.ask_redraw("attacker")
        self.work()

    def sign_up(self, place):
        """A newcomer."""
        one = self._arrive(place, self.service.invite()[0])
        self.look()
        return one

    def cancel(self, one):
        """A device that leaves."""
        self.service.cancel(self.credentials[one])
        self.live.discard(one)
        self.look()

    def rows(self, query):
        """From the tables."""
        with self.service.database.read() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(query)]

    def look(self):
        """Which homes are in which sums; who is gone is in the part that is left when a batch is split."""
        now = defaultdict(set)
        for device, batch in self.rows("SELECT id, batch_id FROM devices WHERE batch_id IS NOT NULL"):
            now[batch].add(device)
        parts = defaultdict(list)
        for batch, parent in self.rows("SELECT id, parent_id FROM batches ORDER BY id"):
            if batch not in self.behind:
                if parent is None:
                    self.behind[batch] = set(now[batch])
                else:
                    parts[parent].append(batch)
        for parent, some in parts.items():
            for batch in some[:-1]:
                self.behind[batch] = set(now[batch])
            self.behind[some[-1]] = self.behind[parent].difference(*(self.behind[batch] for batch in some[:-1]))
        if parts or len(self.behind) != getattr(self, "_checked", 0):
            self._checked = len(self.behind)
            with self.service.database.read() as connection:
                for batch, held in Sums(connection, self.ring).read(sorted(self.behind)).items():
                    assert held.devices == len(self.behind[batch]), "the attacker knows what is in the sums"

    def places(self):
        """The cell of each device, and its centroid."""
        query = (
            "SELECT devices.id, cells.id, cells.latitude, cells.longitude FROM devices JOIN atoms ON"
            " atoms.id = devices.atom_id JOIN cells ON cells.id = atoms.cell_id"
        )
        return {row[0]: (row[1], point(row[2:4])) for row in self.rows(query)}

    def centroid(self, one):
        """What a device is given."""
        found = self.service.locate(self.credentials[one])
        return None if found is None else point((found.latitude, found.longitude))

    def group(self, one):
        """Who shares the cell of a device."""
        places = self.places()
        return frozenset(each for each, (cell, _) in places.items() if cell == places[one][0])

    def system(self):
        """Every centroid ever given, as a row of coefficients of homes."""
        weights = defaultdict(dict)
        for cell, batch, weight in self.rows("SELECT cell_id, batch_id, weight FROM cell_batches"):
            weights[cell][batch] = weight
        found = []
        for cell, latitude, longitude in self.rows("SELECT id, latitude, longitude FROM cells ORDER BY id"):
            row, total = Counter(), sum(weights[cell].values())
            for batch, weight in weights[cell].items():
                for one in self.behind[batch]:
                    row[one] += weight / total / len(self.behind[batch])
            if row:
                found.append((dict(row), point((latitude, longitude))))
        return found

    def close(self):
        """Give the database back."""
        self.service.close()


@contextmanager
def services(*wanted):
    """Services on files of their own; each is a function of a folder."""
    with tempfile.TemporaryDirectory(prefix="shoal-attacks-") as folder:
        opened = [make(folder) for make in wanted]
        try:
            yield opened
        finally:
            for each in opened:
                each.close()


OPEN = {"history": False, "slack": 0, "distinct_places": 1, "digits": 6}
FOUR = (
    ("plain, exact", lambda _: Plain()),
    ("plain, 3 decimals", lambda _: Plain(digits=3)),
    ("Shoal, 6 decimals, free redraws, no slack", lambda folder: Shoal(folder, **OPEN)),
    ("Shoal", lambda folder: Shoal(folder)),
)


def churned(service, small, seed, seen=None):
    """People come and go, and cells are redrawn now and then; `seen` is called around every event."""
    random_ = np.random.default_rng(seed)
    service.begin(town(120 if small else 500, random_))
    for step in range(60 if small else 400):
        arrives = random_.random() < 0.5
        if arrives:
            place = tuple(town(1, random_)[0])
            before = seen and seen.state()
            one = service.sign_up(place)
        else:
            one = int(random_.choice(sorted(service.live)))
            before = seen and seen.state()
            service.cancel(one)
        if seen:
            seen.after(one, arrives, before)
        if (step + 1) % 50 == 0:
            service.redraw()


# the attacks


class Differencing:
    """(n + 1) times the new centroid minus n times the old one, around every arrival and every cancellation."""

    def __init__(self, service):
        self.service, self.errors, self.chance = service, [], []
        self.left = []

    def state(self):
        """Every cell as (members, centroid)."""
        if isinstance(self.service, Plain):
            return [(frozenset(some), self.service.centroid(min(some))) for some in self.service.members.values()]
        by = defaultdict(list)
        for one, (cell, centroid) in self.service.places().items():
            by[cell].append((one, centroid))
        return [(frozenset(one for one, _ in some), some[0][1]) for some in by.values()]

    def after(self, one, arrives, before):
        """The sums of all cells that changed, before and after; their difference is who came or left."""
        now = self.state()
        if arrives:
            own = next(((some, place) for some, place in now if one in some), None)
            old = next(((some, place) for some, place in before if own and some == own[0] - {one}), None)
        else:
            own = next(((some, place) for some, place in before if one in some), None)
            old = None
        if own is None:
            return
        self.chance.append(away(own[1], self.service.homes[one]))
        if arrives and old is not None:
            guess = len(own[0]) * own[1] - len(old[0]) * old[1]
        else:  # a cancellation, perhaps with a merge: all cells that are no more, less all that are new
            gone = [each for each in before if each[0] not in {some for some, _ in now}]
            new = [each for each in now if each[0] not in {some for some, _ in before}]
            guess = sum(len(s) * p for s, p in gone) - sum(len(s) * p for s, p in new)
            guess = guess if not arrives else -guess
        error = away(guess, self.service.homes[one]) if np.linalg.norm(guess) > 0.1 else self.chance[-1]
        self.errors.append(error)
        if not arrives:
            self.left.append((self.errors[-1], self.chance[-1]))


def differencing(small=False, seed=0):
    """What single events tell."""
    found = []
    with services(*(make for _, make in FOUR)) as all_:
        for (name, _), service in zip(FOUR, all_, strict=True):
            seen = Differencing(service)
            churned(service, small, seed, seen)
            finds = f"the home behind each of {len(seen.errors)} arrivals and cancellations"
            found.append(Row("differencing", name, finds, seen.errors, seen.chance))
    return found


def linear_system(small=False, seed=0):
    """What all centroids ever given tell together: which homes, or how small sums of homes, are determined."""
    found = []
    with services(*(make for _, make in FOUR)) as all_:
        for (name, _), service in zip(FOUR, all_, strict=True):
            churned(service, small, seed)
            digits = service.digits if isinstance(service, Plain) else service.policy.digits
            found.append(solved(service, name, digits))
    return found


def solved(service, name, digits):
    """The most likely homes under all equations, the errors of rounding and a guess of some kilometres."""
    system = service.system()
    ids = sorted({one for row, _ in system for one in row})
    number = {one: place for place, one in enumerate(ids)}
    matrix, told = np.zeros((len(system), len(ids))), np.array([place for _, place in system])
    guess = np.zeros((len(ids), 3))
    for line, (row, place) in enumerate(system):
        for one, weight in row.items():
            matrix[line, number[one]] = weight
            guess[number[one]] = place  # the last centroid is the guess
    rounding = max(10.0**-digits * 111_000 / 12**0.5, 1e-3)
    _, sizes, turned = np.linalg.svd(matrix, full_matrices=False)
    left = matrix @ turned.T / np.where(sizes > 1e-12, sizes, np.inf)
    kept = sizes**2 / (sizes**2 + (rounding / 3000.0) ** 2)
    inverse = turned.T @ (np.where(sizes > 1e-12, kept / np.maximum(sizes, 1e-12), 0)[:, None] * left.T)
    solution = guess + inverse @ (told - matrix @ guess)
    truth = np.array([service.homes[one] for one in ids])
    determined = ((turned[sizes > 1e-9] ** 2).sum(axis=0) > 0.999).sum()
    share = (turned[sizes > 1e-9] ** 2).sum(axis=0).max()
    finds = (
        f"{len(system)} centroids of {len(ids)} homes, {determined} of which are determined; of no home is more "
        f"than {100 * share:.0f} % of its own weight"
    )
    errors = [away(a, b) for a, b in zip(solution, truth, strict=True)]
    row = Row("linear system", name, finds, errors, [away(a, b) for a, b in zip(guess, truth, strict=True)])
    row.determined, row.share = int(determined), float(share)
    return row


def intersection(small=False, seed=0):
    """Who follows a device over time: how many others had the same answers, and where all answers point to."""
    kinds = [
        ("Shoal, free redraws", {"history": False}, False),
        ("Shoal", {}, False),
        ("Shoal; epochs of first answers known", {}, True),
        ("Shoal, cohorts; epochs of first answers known", {"admission": "cohort"}, True),
    ]
    found = []
    with services(*(lambda folder, given=given: Shoal(folder, **given) for _, given, _ in kinds)) as all_:
        for (name, _, times), service in zip(kinds, all_, strict=True):
            found.append(followed(service, name, small, seed, times))
    return found


def followed(service, name, small, seed, times):
    """Ten epochs, in each of which a tenth of all people leave and as many come."""
    random_ = np.random.default_rng(seed)
    service.begin(town(150 if small else 600, random_))
    past = defaultdict(dict)
    epochs = 4 if small else 10
    for epoch in range(epochs):
        for one, (cell, centroid) in service.places().items():
            past[one][epoch] = cell, centroid
        if epoch == epochs - 1:
            break
        for one in random_.choice(sorted(service.live), len(service.live) // 10, replace=False):
            service.cancel(int(one))
            service.sign_up(tuple(town(1, random_)[0]))
        service.redraw()
    everybody = sorted(past)
    cells = np.full((len(everybody), epochs), -1)
    for number, one in enumerate(everybody):
        for epoch, (cell, _) in past[one].items():
            cells[number, epoch] = cell
    live = np.isin(everybody, sorted(service.live))
    alike = np.array([agree(cells, number, times) for number in np.flatnonzero(live)])
    counts, with_gone = alike[:, live].sum(axis=1), alike.sum(axis=1)
    finds = (
        f"{epochs} epochs: the median device is among {np.median(counts):.0f}, {100 * (counts < K).mean():.0f} % "
        f"are among fewer than {K} and {100 * (counts == 1).mean():.0f} % alone; "
        f"{100 * (with_gone < K).mean():.0f} % among fewer than {K} if it is not known who left"
    )
    followed_ = [(one, [place for _, place in past[one].values()]) for one in np.array(everybody)[live].tolist()]
    truth = [service.homes[one] for one, _ in followed_]
    errors = [away(np.mean(places, axis=0), home) for (_, places), home in zip(followed_, truth, strict=True)]
    chance = [away(places[-1], home) for (_, places), home in zip(followed_, truth, strict=True)]
    row = Row("intersection over epochs", name, finds, errors, chance)
    row.below, row.below_with_gone = float((counts < K).mean()), float((with_gone < K).mean())
    return row


def agree(cells, number, times):
    """Who was in the same cells in all epochs in which both had an answer, and in one at least.

    With `times` it is known in which epoch each got its first answer; else anybody may have been there before.
    """
    both = (cells >= 0) & (cells[number] >= 0)
    found = both.any(axis=1) & ((cells == cells[number]) | ~both).all(axis=1)
    if times:
        first = (cells >= 0).argmax(axis=1)
        found &= first == first[number]
    return found


def cancellation_lists(small=False, seed=0):
    """Who knows every device that left: the difference that its leaving makes."""
    found = []
    with services(*(make for _, make in FOUR)) as all_:
        for (name, _), service in zip(FOUR, all_, strict=True):
            seen = Differencing(service)
            random_ = np.random.default_rng(seed)
            service.begin(town(120 if small else 500, random_))
            for one in random_.choice(sorted(service.live), 40 if small else 200, replace=False):
                before = seen.state()
                service.cancel(int(one))
                seen.after(int(one), False, before)
            errors, chance = zip(*seen.left, strict=True)
            finds = f"the homes of {len(errors)} devices that left, also through merges"
            found.append(Row("cancellation list", name, finds, errors, chance))
    return found


def sybils(small=False, seed=0):
    """The attacker's own devices around a victim: k - 1 invitations, or one for many devices."""
    kinds = [
        (f"{K - 1} invitations", "Shoal, 6 decimals, no slack, any places", OPEN, False),
        (f"{K - 1} invitations", "Shoal", {}, False),
        (f"one invitation, {K - 1} devices", "Shoal, 6 decimals, no slack, any places", OPEN, True),
        (f"one invitation, {K - 1} devices", "Shoal", {}, True),
        (f"{2 * K} invitations", "Shoal", {}, None),
    ]
    found = [besieged(small, seed, *kind) for kind in kinds]
    late = [("Shoal, 6 decimals, free redraws", {"history": False, "digits": 6}), ("Shoal", {})]
    return found + [joined_by(small, seed, name, policy) for name, policy in late]


def besieged(small, seed, held, name, policy, one_owner):
    """Towns with a victim in each: who lives apart, so that the attacker's devices are the nearest there are."""
    errors, chance, alone = [], [], 0
    for trial in range(4 if small else 30):
        random_ = np.random.default_rng((seed, trial))
        places = town(60, random_)
        victim = np.array([TOWN[0] + 0.25, TOWN[1] + random_.normal(0, 0.02)])
        count = 2 * K if one_owner is None else K - 1
        own = victim + random_.normal(0, 0.003, (count, 2))
        owners = [*range(61), *([100] * count if one_owner else range(100, 100 + count))]
        with services(lambda folder: Shoal(folder, **policy)) as (service,):
            service.begin([*places, victim, *own], owners)
            ids = sorted(service.live)
            who, mine = ids[60], set(ids[61:])
            group, centroid = service.group(who), service.centroid(who)
            others = group - mine - {who}
            alone += not others
            known = sum((service.homes[one] for one in group & mine), np.zeros(3))
            errors.append(away(len(group) * centroid - known, service.homes[who]))
            chance.append(away(centroid, service.homes[who]))
    finds = f"in {100 * alone / len(errors):.0f} % of the cells nobody else is with the victim"
    return Row(f"Sybils, {held}", name, finds, errors, chance)


def joined_by(small, seed, name, policy):
    """A newcomer in a town, and at once k - 1 devices of the attacker around; then new cells."""
    errors, chance, alone = [], [], 0
    for trial in range(4 if small else 30):
        random_ = np.random.default_rng((seed, trial))
        with services(lambda folder: Shoal(folder, **policy)) as (service,):
            service.begin(town(60, random_))
            home = town(1, random_)[0]
            who = service.sign_up(tuple(home))
            mine = {service.sign_up(tuple(place)) for place in home + random_.normal(0, 0.002, (K - 1, 2))}
            service.redraw()
            given = service.centroid(who)
            chance.append(away(given, service.homes[who]))
            rows = [(row, place) for row, place in service.system() if who in row]
            if not rows:  # the home is in no sum
                errors.append(chance[-1])
                continue
            row, place = max(rows, key=lambda each: each[0][who])
            alone += set(row) <= mine | {who}
            others = sum(
                w * (service.homes[one] if one in mine else given) for one, w in row.items() if one != who
            )
            errors.append(away((place - others) / row[who], service.homes[who]))
    finds = f"in {100 * alone / len(errors):.0f} % of the towns nobody else is in a sum with the victim"
    return Row(f"Sybils, {K - 1} invitations beside a newcomer", name, finds, errors, chance)


def buildings(small=False, seed=0):
    """Houses with many devices: how near the centroid of those who live there is to the house."""
    found = []
    random_ = np.random.default_rng(seed)
    houses = town(10 if small else 40, random_)
    places = np.concatenate([np.repeat(houses, K + 2, axis=0), town(100 if small else 400, random_)])
    with services(lambda folder: Shoal(folder, distinct_places=1), lambda folder: Shoal(folder)) as all_:
        for name, service in zip(("Shoal, any places", "Shoal, 3 places"), all_, strict=True):
            service.begin(places)
            ids = sorted(service.live)[: len(houses) * (K + 2)]
            errors = [away(service.centroid(one), service.homes[one]) for one in ids]
            finds = f"the address of {len(houses)} houses with {K + 2} devices each"
            others = sorted(service.live)[len(ids) :]
            chance = [away(service.centroid(one), service.homes[one]) for one in others]
            found.append(Row("k devices in one building", name, finds, errors, chance))
    return found


# look-ups of credentials that are no good


def timing(small=False, seed=0):
    """Status and time of look-ups by kind of credential; how well the kinds can be told apart."""
    lines = [
        "| service | credential | status | different answers | median, µs | told from a missing one, % |",
        "|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory(prefix="shoal-attacks-") as name:
        folder = Path(name)
        credentials = registered(folder)
        for title, command in (
            ("plain", [sys.executable, __file__, "--plain", name]),
            ("Shoal", [sys.executable, str(RUNNING), json.dumps(settings_of(folder))]),
        ):
            with served(command) as address:
                found = looked_up(address, credentials, 200 if small else 4000, random.Random(seed))
            for kind, answers in found.items():
                middle = np.median([answer[2] for answer in answers]) * 1e6
                told = apart([a[2] for a in answers], [a[2] for a in found["missing"]])
                statuses = sorted({answer[0] for answer in answers})
                lines.append(
                    f"| {title} | {kind} | {', '.join(map(str, statuses))} | {len({a[1] for a in answers})} | "
                    f"{middle:.0f} | {'' if kind == 'missing' else f'{told:.1f}'} |"
                )
    return lines


def settings_of(folder):
    """What the server's process is told."""
    return {"database": str(folder / "service.db"), "keys": str(folder / "keys.json"), "pause": 60, "check": 0}


def registered(folder):
    """A service with a town, and credentials of every kind: those that are good, and those that are not."""
    KeyRing.create(folder / "keys.json")
    policy = Policy(classes=(K, 20))
    service = Service.open(str(folder / "service.db"), KeyRing.load(folder / "keys.json"), policy)
    places = town(200, np.random.default_rng(0)).tolist()
    all_ = [service.sign_up(each, *place) for each, place in zip(service.invite(200), places, strict=True)]
    waiting = [service.sign_up(each, *TOWN, k=20) for each in service.invite(10)]
    while service.work():
        pass
    gone, live = all_[:50], all_[50:]
    for credential in gone:
        service.cancel(credential)
    service.close()
    (folder / "live.txt").write_text("\n".join([*live, *waiting]))
    (folder / "gone.txt").write_text("\n".join(gone))
    return {
        "existing": lambda choose: choose(live),
        "existing, not yet in a cell": lambda choose: choose(waiting),
        "missing": lambda choose: new_secret(DEVICE),
        "cancelled": lambda choose: choose(gone),
        "too short": lambda choose: choose(live)[:-1],
        "one letter wrong": lambda choose: changed(choose(live)),
        "of an operator": lambda choose: new_secret(OPERATOR),
        "no credential": lambda choose: "",
    }


def changed(credential):
    """The same but for its last letter."""
    return credential[:-1] + ("A" if credential[-1] != "A" else "E")


@contextmanager
def served(command):
    """A server's process; its address."""
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            host, _, port = process.stdout.readline().decode().strip().rpartition("/")[2].partition(":")
            yield host, int(port)
        finally:
            process.terminate()


def looked_up(address, credentials, count, random_):
    """So many look-ups of each kind in random order: status, body and seconds of each."""
    order = [kind for kind in credentials for _ in range(count)]
    random_.shuffle(order)
    found = {kind: [] for kind in credentials}
    with socket.create_connection(address) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number, kind in enumerate(["existing"] * 100 + order):
            credential = credentials[kind](random_.choice)
            head = f"GET /v1/location HTTP/1.1\r\nHost: service\r\nAuthorization: Bearer {credential}\r\n\r\n"
            begun = time.perf_counter()
            connection.sendall(head.encode())
            answer = b""
            while not whole(answer):
                answer += connection.recv(65536)
            took = time.perf_counter() - begun
            if number >= 100:  # the first ones warm it up
                top, _, body = answer.partition(b"\r\n\r\n")
                shown = re.sub(rb"(?m)^date:.*$", b"", top) + body if kind not in GOOD else b"known"
                found[kind].append((int(answer[9:12]), shown, took))
    return found


GOOD = ("existing", "existing, not yet in a cell")


def whole(answer):
    """Whether an answer has come to its end."""
    top, end, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", top)
    return bool(end) and len(body) >= (int(length[1]) if length else 0)


def apart(some, others):
    """How often, in percent, the best threshold on the time is right about one of each; guessing is in 50."""
    merged = sorted([(took, 1) for took in some] + [(took, -1) for took in others])
    steps = np.cumsum([side for _, side in merged]) / len(some)
    return 50 + 50 * float(np.abs(steps).max())


def plain_server(folder):
    """A service that says what is wrong: the form, or that the device was cancelled, or never existed."""
    live = set((folder / "live.txt").read_text().split())
    gone = set((folder / "gone.txt").read_text().split())

    async def app(scope, receive, send):
        given = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
        if not given.startswith(DEVICE) or len(given) != len(new_secret(DEVICE)):
            status, said = 400, "the credential is malformed"
        elif given in gone:
            status, said = 410, "this device was cancelled"
        else:
            with sqlite3.connect(folder / "service.db") as connection:
                query = "SELECT id FROM devices WHERE digest = ?"
                connection.execute(query, (digest_of(given, DEVICE),)).fetchone()
            status, said = (200, "known") if given in live else (404, "there is no such device")
        body = json.dumps({"said": said}).encode()
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off")).run(sockets=[listener])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--plain"]:
        plain_server(Path(sys.argv[2]))
    else:
        main()
