"""The rows of a comparison: one for each setting, with its figures or with why there are none."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self, get_args

from shoal.cards import counted, span
from shoal.progress import duration

Status = Literal["ok", "unfinished", "refused", "failed", "not run"]


HEADER = (
    "k", "method", "loss", "time", "groups", "group sizes", "highest risk", "found by linkage", "single value",
    "",
)  # fmt: skip
"""The columns of a table for people."""
DEFINITIONS = {
    "loss": "100 * SSE / SST of the values as released, on the scaled quasi-identifiers. 0 % is no change, 100 % "
    "leaves everybody with the same values.",
    "time": "The time from the table in memory to the release in memory, on this machine. Compiling the inner "
    "loops, which is done once on a machine, does not count.",
    "groups": "Groups that the method has formed.",
    "group sizes": "The smallest and the largest number of records that share their released quasi-identifiers; "
    "of persons, where k counts these.",
    "highest risk": "100 / smallest group: how certain somebody can be at most who knows the quasi-identifiers of "
    "a person in the table and finds the group.",
    "found by linkage": "The records that are expected to be found by whoever knows all original "
    "quasi-identifiers, takes the nearest released record, and guesses among those that look the same. After ±, "
    "the standard error where only some records were looked for.",
    "single value": "The records in groups where all have the same value in a confidential column: k does not "
    "protect that value.",
}
"""What the figures of a row are, by what they are called in tables."""


@dataclass(frozen=True)
class Row:
    """A method with a k on the table.

    Attributes
    ----------
    method, k : the setting
    status : "ok", "unfinished" (the time was up), "refused" (the setting cannot be had), "failed", or "not run"
        (the comparison was interrupted before)
    reason : why there are no figures, one sentence
    loss : the information loss of the values as released, 100 * SSE / SST
    seconds : from the table in memory to the release in memory, without the time in which kernels are compiled
    limit : the time that the setting was given, in seconds
    records, groups : how many there are
    smallest, largest : the groups of the released table, counted on its values; in persons where k counts these.
        The smallest is what a verification of the file would find
    prosecutor_highest : 100 / smallest; how certain somebody can be at most who finds a person's group
    prosecutor_mean : 100 * groups of the released table / those who are counted; the same on average
    linkage : the percentage of records that are expected to be found by whoever knows all original
        quasi-identifiers, takes the nearest released record, and guesses among those that look the same
    linkage_error : the standard error of that, where only some records were looked for; else 0
    single_value : the percentage of records whose group has one value only in a confidential column; None without
        confidential columns
    made_by : the method in words, with what it has chosen
    seed : the seed of the method
    cached : whether the figures are those of an earlier run
    """

    method: str
    k: int
    status: Status
    reason: str = ""
    loss: float | None = None
    seconds: float | None = None
    limit: float | None = None
    records: int | None = None
    groups: int | None = None
    smallest: int | None = None
    largest: int | None = None
    prosecutor_highest: float | None = None
    prosecutor_mean: float | None = None
    linkage: float | None = None
    linkage_error: float | None = None
    single_value: float | None = None
    made_by: str = ""
    seed: int | None = None
    cached: bool = False

    @property
    def is_ok(self) -> bool:
        """Whether there are figures."""
        return self.status == "ok"

    @property
    def state(self) -> str:
        """The status in words."""
        if self.status == "unfinished":
            return f"unfinished after {time_of(self.limit)}"
        return f"{self.status}: {self.reason}" if self.reason else self.status

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The same read back; whatever is missing or odd in it raises."""
        types = {each.name: each.type for each in fields(cls)}
        if set(given) != set(types):
            raise ValueError("other fields than those of a row")
        for name, value in given.items():
            if not isinstance(value, _HELD[types[name]]) or (isinstance(value, bool) and types[name] is not bool):
                raise TypeError(f"{name} is {value!r}")
        if given["status"] not in get_args(Status) or (given["status"] == "ok" and given["loss"] is None):
            raise ValueError(f"a row with the status {given['status']!r}")
        return cls(**given)


_HELD: dict[Any, tuple[type, ...]] = {
    str: (str,),
    int: (int,),
    bool: (bool,),
    Status: (str,),
    int | None: (int, type(None)),
    float | None: (float, int, type(None)),
}
"""What JSON holds for each type of a field."""


def time_of(seconds: float | None) -> str:
    """A time with as many digits as are of use."""
    if seconds is None:
        return ""
    if seconds < 10:
        return f"{seconds:.2g} s" if seconds < 1 else f"{seconds:.1f} s"
    return duration(seconds)


def cells_of(row: Row) -> tuple[str, ...]:
    """A row for people; the last cell says what is to be known of it."""
    if not row.is_ok:
        return (str(row.k), row.method, *[""] * 7, row.state)
    assert row.groups is not None
    assert row.smallest is not None
    assert row.largest is not None
    return (
        str(row.k),
        row.method,
        f"{row.loss:.2f} %",
        time_of(row.seconds),
        counted(row.groups),
        span(row.smallest, row.largest),
        f"{row.prosecutor_highest:.1f} %",
        f"{row.linkage:.2f} %" + (f" ± {row.linkage_error:.2f}" if row.linkage_error else ""),
        "" if row.single_value is None else f"{row.single_value:.1f} %",
        "from the cache" if row.cached else "",
    )
