"""What a service promises and how it draws: chosen once, kept in its database, and checked against it."""

import json
from dataclasses import asdict, dataclass, fields
from math import ceil

from shoal.errors import ShoalError, nearest_name
from shoal.parameters import Flag, Maybe, Number, OneOf, Whole

LARGEST_K = 100_000


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The promises of one service and the numbers behind them.

    Parameters
    ----------
    classes : tuple of int
        The k that devices may ask for. Devices of one k share cells only among themselves.
    slack : int
        How many principals more than k a cell is drawn with; by default a fifth of k, at least 1.
    distinct_places : int
        The least number of distinct places in a cell; by default 3, or k where k is 2.
    admission : {"join", "cohort"}
        A newcomer joins a cell at once, or waits until k newcomers of its cell can join together.
    history : bool
        Whether redraws keep devices together that were together before, so that nobody who follows a device over
        time finds it among fewer than k.
    digits : int
        Decimals of a degree that published centroids have: 3 is about a hundred metres.
    place_digits : int
        Homes that agree in so many decimals of a degree are one place: 4 is about ten metres.
    region : int
        About how many devices are drawn together.
    drift : float
        A region is drawn anew when it loses this share more than a fresh drawing would, as estimated.
    start : int
        The principals that a class waits for before it is drawn first; by default twice as many as a cell needs.
    """

    classes: tuple[int, ...] = (5,)
    slack: int | None = None
    distinct_places: int | None = None
    admission: str = "join"
    history: bool = True
    digits: int = 3
    place_digits: int = 4
    region: int = 5000
    drift: float = 0.2
    start: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.classes, tuple | list) or not self.classes:
            raise ShoalError(f"classes must be one or several whole numbers k, not {self.classes!r}")
        classes = tuple(sorted({Whole(2, LARGEST_K).check("each of classes", k) for k in self.classes}))
        object.__setattr__(self, "classes", classes)
        least = classes[0]
        Maybe(Whole(0, least)).check("slack", self.slack)
        Maybe(Whole(1, least)).check("distinct_places", self.distinct_places)
        OneOf(("join", "cohort")).check("admission", self.admission)
        Flag().check("history", self.history)
        Whole(0, 6).check("digits", self.digits)
        Whole(0, 7).check("place_digits", self.place_digits)
        Whole(20).check("region", self.region)
        Number(0.01, 100).check("drift", self.drift)
        Maybe(Whole(2)).check("start", self.start)

    def slack_of(self, k: int) -> int:
        """How many principals more than k a cell of this class is drawn with."""
        return max(1, ceil(k / 5)) if self.slack is None else self.slack

    def drawn_with(self, k: int) -> int:
        """The least number of principals in a cell when it is drawn."""
        return k + self.slack_of(k)

    def kept_with(self, k: int) -> int:
        """The least number of principals with which a cell goes on where it has a neighbour to be merged with."""
        return k + min(1, self.slack_of(k))

    def places_of(self, k: int) -> int:
        """The least number of distinct places in a cell."""
        return min(k, 3) if self.distinct_places is None else self.distinct_places

    def start_of(self, k: int) -> int:
        """The principals that must wait before a class is drawn first."""
        return max(self.drawn_with(k), 2 * self.drawn_with(k) if self.start is None else self.start)

    def region_of(self, k: int) -> int:
        """About how many devices are drawn together; at least four cells."""
        return max(self.region, 4 * self.drawn_with(k))

    def to_json(self) -> str:
        """The policy as JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Policy":
        """The policy that `to_json` wrote."""
        held = json.loads(text)
        return cls(**{**held, "classes": tuple(held["classes"])})

    @classmethod
    def named(cls, given: dict[str, object]) -> "Policy":
        """A policy of options that were given by name; others have their defaults."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise ShoalError(f"a policy has no {name!r}{nearest_name(name, known)}")
        return cls(**given)  # type: ignore[arg-type]
