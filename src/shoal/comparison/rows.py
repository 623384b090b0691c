"""The rows of a comparison: one for each setting, with its figures or with why there are none."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self

from shoal.progress import duration

Status = Literal["ok", "unfinished", "refused", "failed"]


@dataclass(frozen=True)
class Row:
    """A method with a k on the table.

    Attributes
    ----------
    method, k : the setting
    status : "ok", "unfinished" (the time was up), "refused" (the setting cannot be had) or "failed"
    reason : why there are no figures, one sentence
    loss : the information loss of the values as released, 100 * SSE / SST
    seconds : from the table in memory to the release in memory, without the time in which kernels are compiled
    limit : the time that the setting was given, in seconds
    records, groups : how many there are
    smallest, largest : the groups of the released table, counted on its values; in persons where k counts these
    verified_k : the smallest of them again: what a verification of the file would find
    prosecutor_highest : 100 / smallest; how certain somebody can be at most who finds a person's group
    prosecutor_mean : 100 * groups of the released table / records; the same on average
    linkage : the percentage of records that are expected to be found by linking each original record to the
        nearest group, and choosing one of its records
    linkage_error : the standard error of that, where only some records were tried; else 0
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
    verified_k: int | None = None
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
        said = {"ok": "ok", "unfinished": f"unfinished after {time_of(self.limit)}"}
        return said.get(self.status, f"{self.status}: {self.reason}")

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The same read back; whatever is odd in it raises."""
        names = [each.name for each in fields(cls)]
        return cls(**{name: given[name] for name in names})


def time_of(seconds: float | None) -> str:
    """A time with as many digits as are of use."""
    if seconds is None:
        return ""
    if seconds < 10:
        return f"{seconds:.2g} s" if seconds < 1 else f"{seconds:.1f} s"
    return duration(seconds)
