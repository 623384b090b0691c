"""The service in a city with people who come, go and move; its promises are checked after every step, in two ways.

From within: the query of every promise, on the database. From outside: an observer who knows what every device was
told counts among how many each one is hidden (`observer.py`), and the true homes, which only the simulation knows,
say how far the answers are from them. The same seed gives the same simulation.
"""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.sphere import RADIUS
from shoal.errors import ShoalError
from shoal.files.atomic import atomically
from shoal.locations.city import BARCELONA, City
from shoal.locations.homes import points
from shoal.locations.keys import KeyRing
from shoal.locations.observer import Hidden, Observer
from shoal.locations.policy import Policy
from shoal.locations.promises import check
from shoal.locations.service import Centroid, Service
from shoal.parameters import Number, Progress, Whole
from shoal.progress import shown_progress

Float = NDArray[np.float64]

FILES = ("steps.csv", "simulation.json", "distortion.svg", "anonymity.svg")
"""What a simulation is written to."""


@dataclass(frozen=True)
class Step:
    """One class after one step. Sizes are known here because nobody lives in this city."""

    step: int
    k: int
    devices: int
    answered: int  # devices that are told a centroid
    arrived: int
    left: int
    moved: int
    redrawn: bool  # whether cells were made or retired by a redraw
    cells: int
    mean_km: float | None  # from homes to what is told
    rms_km: float | None
    smallest_cell: int | None  # principals who are told the same
    mean_cell: float | None
    smallest_followed: int | None  # principals who were told the same at every step
    mean_followed: float | None
    smallest_strictly: int | None  # the same among those who were there from the first answer on
    below_k: int  # devices that were followed to fewer than k principals
    short_atoms: int  # atoms that cancellations brought below k
    broken: str  # promises that do not hold, with semicolons


@dataclass
class _Device:
    """What the simulation knows of a device."""

    credential: str
    name: str
    principal: int
    k: int
    home: tuple[float, float]


@dataclass(frozen=True)
class Simulation:
    """What came out of a simulation.

    Parameters
    ----------
    policy : Policy
        The promises that were tried.
    seed : int
        What everything depends on.
    steps : tuple of Step
        Every class after every step.
    """

    policy: Policy
    seed: int
    steps: tuple[Step, ...]

    @property
    def holds(self) -> bool:
        """Whether every promise held after every step, from within and from outside."""
        return not any(each.broken for each in self.steps)

    @property
    def sentences(self) -> list[str]:
        """The summary."""
        last = max(each.step for each in self.steps)
        broken = sorted({each.step for each in self.steps if each.broken})
        arrived, left, moved = (sum(getattr(each, name) for each in self.steps) for name in _EVENTS)
        said = [
            f"In {last} steps {arrived} devices signed up, {left} were cancelled and {moved} moved.",
            "Every promise held after every step."
            if not broken
            else f"Promises were BROKEN after {_counted(len(broken), 'step')}, first after step {broken[0]}: "
            + next(each.broken for each in self.steps if each.broken)
            + ".",
        ]
        if not self.policy.history:
            said.append("The promise of history is switched off.")
        for k in self.policy.classes:
            said += _said_of(k, [each for each in self.steps if each.k == k], self.policy.history)
        return said

    def to_csv(self) -> str:
        """A line for each class and step."""
        text = io.StringIO()
        writer = csv.DictWriter(text, [field.name for field in fields(Step)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(each) for each in self.steps)
        return text.getvalue()

    def to_json(self) -> str:
        """The same, with the policy, the seed and the summary."""
        whole = {
            "simulation": 1,
            "seed": self.seed,
            "policy": json.loads(self.policy.to_json()),
            "holds": self.holds,
            "summary": self.sentences,
            "steps": [asdict(each) for each in self.steps],
        }
        return json.dumps(whole, indent=1, allow_nan=False) + "\n"

    def write(self, folder: str | PathLike[str], overwrite: bool = False) -> list[Path]:
        """Write steps.csv, simulation.json, distortion.svg and anonymity.svg; returns their paths."""
        from shoal.locations.curves import anonymity, distortion  # draws, which takes a while to load

        target = Path(folder)
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ShoalError(f"cannot make the folder {target}: {error.strerror or error}") from error
        contents = self.to_csv(), self.to_json(), distortion(self.steps), anonymity(self.steps)
        for name, content in zip(FILES, contents, strict=True):
            with atomically(target / name, overwrite) as temporary:
                temporary.write_text(content, encoding="utf-8")
        return [target / name for name in FILES]


_EVENTS = ("arrived", "left", "moved")
_TWO = 0.1  # of the principals have two devices


def simulate(
    devices: int = 1000,
    steps: int = 40,
    *,
    policy: Policy | None = None,
    leaving: float = 0.03,
    arriving: float = 0.03,
    moving: float = 0.01,
    redraw_every: int = 8,
    seed: int = 0,
    middle: tuple[float, float] = BARCELONA,
    progress: Progress | bool | None = None,
) -> Simulation:
    """Let a city use the service for so many steps, and look at it after each.

    Parameters
    ----------
    devices : int
        How many sign up at first.
    steps : int
        Steps after the first drawing, which is step 0.
    policy : Policy
        What the service promises; the usual if not given. Devices choose among its classes at random.
    leaving, moving : float
        The share of devices that are cancelled, or move to another home, in a step; on average.
    arriving : float
        How many sign up in a step, as a share of `devices`; on average.
    redraw_every : int
        The operator asks for a redraw after so many steps; 0 for never. Drift brings redraws, too.
    seed : int
        The same seed gives the same simulation.
    middle : pair of float
        Latitude and longitude of the city's centre.
    progress : function or bool
        Told (steps done, steps in all); True shows a bar.
    """
    Whole(2, 1_000_000).check("devices", devices)
    Whole(1, 100_000).check("steps", steps)
    Whole(0).check("redraw_every", redraw_every)
    Whole(0).check("seed", seed)
    Number(0, 1).check("leaving", leaving)
    Number(0, 1).check("moving", moving)
    Number(0, 10).check("arriving", arriving)
    chosen = policy or Policy()
    with TemporaryDirectory(prefix="shoal-") as folder, shown_progress(progress, "simulating") as told:
        service = Service.open(str(Path(folder) / "city.db"), KeyRing.fresh(), chosen)
        try:
            town = _Town(service, seed, middle)
            town.arrive(devices)
            found = town.look(0)
            for step in range(1, steps + 1):
                if told:
                    told(step - 1, steps)
                town.churn(leaving, moving, arriving * devices)
                if redraw_every and step % redraw_every == 0:
                    service.ask_redraw("simulation")
                found += town.look(step)
            if told:
                told(steps, steps)
        finally:
            service.close()
    return Simulation(chosen, seed, tuple(found))


class _Town:
    """The people of the city, and the service that they use."""

    def __init__(self, service: Service, seed: int, middle: tuple[float, float]) -> None:
        self.service, self.policy = service, service.policy
        self._random = np.random.default_rng([seed, 1])
        self._city = City(seed, middle)
        self._observer = Observer()
        self._devices: list[_Device] = []
        self._signed_up = 0
        self._principals = 0
        self._events = self._no_events()

    def arrive(self, count: int) -> None:
        """New devices; one household in ten has two."""
        left = count
        while left > 0:
            own = 2 if left > 1 and self._random.random() < _TWO else 1
            self._settle(own)
            left -= own

    def _settle(self, count: int) -> None:
        """The devices of a new principal, at one home."""
        (invitation,) = self.service.invite(1, count)
        (home,) = self._homes(1)
        k = int(self._random.choice(self.policy.classes))
        self._principals += 1
        for _ in range(count):
            credential = self.service.sign_up(invitation, *home, k)
            self._devices.append(self._named(credential, self._principals, k, home))
            self._events[k]["arrived"] += 1

    def churn(self, leaving: float, moving: float, arriving: float) -> None:
        """One step: some leave, some move, others come."""
        chance = self._random.random(len(self._devices))
        gone = [each for each, share in zip(self._devices, chance, strict=True) if share < leaving]
        rest = zip(self._devices, chance, strict=True)
        moves = [each for each, share in rest if leaving <= share < leaving + moving]
        for device in gone:
            self.service.cancel(device.credential)
            self._events[device.k]["left"] += 1
        away = {each.name for each in (*gone, *moves)}
        self._devices = [each for each in self._devices if each.name not in away]
        for device, home in zip(moves, self._homes(len(moves)), strict=True):
            fresh = self.service.move(device.credential, *home)
            self._devices.append(self._named(fresh, device.principal, device.k, home))
            self._events[device.k]["moved"] += 1
        self.arrive(int(self._random.poisson(arriving)))

    def look(self, step: int) -> list[Step]:
        """What is due is drawn, then everything is looked at."""
        before = self.service.figures()["change"]
        while self.service.work():
            pass
        redrawn = self.service.figures()["change"] != before
        told = {each.name: self.service.locate(each.credential) for each in self._devices}
        answers = {
            each.name: (each.principal, (each.k, told[each.name]))
            for each in self._devices
            if told[each.name] is not None
        }
        hidden = self._observer.look(answers)
        broken = tuple(each.promise.name for each in check(self.service.database) if each.broken)
        short = {each["k"]: int(each["short_atoms"]) for each in self.service.figures()["classes"]}
        look = _Look(step, redrawn, told, hidden, short, broken)
        found = [self._step(k, look) for k in self.policy.classes]
        self._events = self._no_events()
        return found

    def _step(self, k: int, look: "_Look") -> Step:
        own = [each for each in self._devices if each.k == k]
        seen = [each for each in own if look.told[each.name] is not None]
        known = [look.hidden[each.name] for each in seen]
        followed = [each.followed for each in known]
        far = _kilometres([each.home for each in seen], [look.told[each.name] for each in seen])
        cells = {look.told[each.name]: mark.now for each, mark in zip(seen, known, strict=True)}
        return Step(
            step=look.step,
            k=k,
            devices=len(own),
            answered=len(seen),
            **self._events[k],
            redrawn=look.redrawn,
            cells=len(cells),
            mean_km=_rounded(far.mean()) if seen else None,
            rms_km=_rounded(np.sqrt(np.square(far).mean())) if seen else None,
            smallest_cell=min((each.now for each in known), default=None),
            mean_cell=_rounded(sum(cells.values()) / len(cells)) if cells else None,
            smallest_followed=min(followed, default=None),
            mean_followed=_rounded(sum(followed) / len(followed)) if followed else None,
            smallest_strictly=min((each.strictly for each in known), default=None),
            below_k=sum(each < k for each in followed),
            short_atoms=look.short[k],
            broken="; ".join([*look.broken, *broken_outside(self.policy, k, known, look.short[k])]),
        )

    def _no_events(self) -> dict[int, dict[str, int]]:
        return {k: dict.fromkeys(_EVENTS, 0) for k in self.policy.classes}

    def _homes(self, count: int) -> list[tuple[float, float]]:
        return [(float(latitude), float(longitude)) for latitude, longitude in self._city.homes(count)]

    def _named(self, credential: str, principal: int, k: int, home: tuple[float, float]) -> _Device:
        self._signed_up += 1
        return _Device(credential, f"device {self._signed_up}", principal, k, home)


class _Look(NamedTuple):
    """What there is to see after a step."""

    step: int
    redrawn: bool
    told: dict[str, Centroid | None]
    hidden: dict[str, Hidden]
    short: dict[int, int]
    broken: tuple[str, ...]


def broken_outside(policy: Policy, k: int, known: Sequence[Hidden], short: int) -> list[str]:
    """Promises that the observer finds broken among devices of one class.

    `short` is how many atoms cancellations brought below k: the devices of these, and of no others, may be
    followed to fewer than k principals. A principal has two devices here at most.
    """
    found = []
    allowed = short * 2 * (k - 1)
    if any(each.now < k for each in known):
        found.append("outside: a centroid was told to fewer than k principals")
    if policy.history and sum(each.followed < k for each in known) > allowed:
        found.append("outside: devices were followed to fewer than k principals, and no atom is that small")
    if policy.history and policy.admission == "cohort" and sum(each.strictly < k for each in known) > allowed:
        found.append("outside: devices of a cohort were followed to fewer than k principals")
    return found


def _kilometres(homes: Sequence[tuple[float, float]], told: Sequence[Centroid | None]) -> Float:
    """From each home to what its device is told."""
    if not homes:
        return np.zeros(0)
    answers = np.array([[each.latitude, each.longitude] for each in told if each is not None])
    chords = np.sqrt(np.square(points(np.array(homes)) - points(answers)).sum(axis=1))
    return np.asarray(2 * np.arcsin(np.clip(chords / 2, 0, 1)) * RADIUS)


def _said_of(k: int, steps: Sequence[Step], history: bool) -> list[str]:
    """The summary of a class."""
    seen: list[Any] = [each for each in steps if each.smallest_cell is not None]
    if not seen:
        return [f"k = {k}: no device was told anything; there were too few of them."]
    first, last = seen[0], seen[-1]
    least, followed = (
        min(getattr(each, name) for each in seen) for name in ("smallest_cell", "smallest_followed")
    )
    said = [
        f"k = {k}: every centroid was told to at least {least} principals. A cell had {last.mean_cell:.1f} of "
        "them on average at the end.",
        f"k = {k}: who followed devices by what they were told found each of them among at least {followed} "
        f"principals, {last.mean_followed:.1f} on average at the end.",
    ]
    below = [each.below_k for each in seen if each.below_k]
    if below:
        why = "who was hidden with them had left" if history else "redraws do not keep devices together"
        said.append(
            f"k = {k}: after {_counted(len(below), 'step')} some devices could be followed to fewer than {k} "
            f"principals, at most {_counted(max(below), 'device')} at a time: {why}."
        )
    said.append(
        f"k = {k}: homes were {first.mean_km:.2f} km from what was told at first, and {last.mean_km:.2f} km at "
        "the end, on average."
    )
    return said


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
