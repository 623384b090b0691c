"""The seam behind which every kind of attribute stands: what one must know of itself, and where kinds are chosen.

A kind of attribute is a subclass of `Kind` in a file of its own; `attributes/__init__.py` registers it. It reads a
column of a table in memory into an `Attribute`. A table that is not in memory comes in parts: a `Gathering`
reads them and says what is to be kept of each record, a `Kept` knows how to read that again, block by block.
Nobody else asks what a column holds.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.common_values import CommonValues
from shoal.attributes.ranks import key_at, value_of
from shoal.attributes.tallies import Tally
from shoal.attributes.taxonomy import Taxonomy
from shoal.attributes.weighing import Weights
from shoal.errors import ShoalError, nearest_name, some
from shoal.parameters import Aggregate, GapPolicy, Scaling
from shoal.table import Column

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Stored = NDArray[Any]  # one int64 or float64 for each record
Chunks = Callable[[], Iterator[Stored]]
"""What is stored of a column, some records at a time; it can be read again."""

Squares = tuple[float, int]  # a sum, and the power of four that it is to be multiplied by
Digits = int | Mapping[str, int] | None
"""The digits that are asked for: of all attributes, of some, or of none."""


@dataclass(frozen=True)
class Wish:
    """What was asked for an attribute; the rest is found out.

    Attributes
    ----------
    kind : the name of its kind
    gaps : what is done about missing values
    gap_values : what stands for a missing value, beside an empty cell, in the place of what usually does
    order : the values of an ordinal attribute, from the lowest to the highest
    taxonomy : the tree that the codes of an attribute belong to
    prefix : the lengths of the beginnings of a code that are groups of codes
    coordinates : the most coordinates that an attribute of categories may have
    """

    kind: str | None = None
    gaps: GapPolicy = "error"
    gap_values: tuple[str, ...] | None = None
    order: tuple[str, ...] = ()
    taxonomy: Taxonomy | None = None
    prefix: tuple[int, ...] = ()
    coordinates: int = 256


Wishes = Mapping[tuple[str, ...], Wish]
"""What was asked for each attribute, by the columns that it stands for."""


@dataclass(frozen=True, eq=False)
class Profile:
    """What a report shows of a column, before and after: a number for each record, to be drawn as a histogram.

    `levels` are the words for these numbers where they only count the categories, which are then drawn as bars.
    `notes` are what else is to be said of the column: a label and a text each. `unit` says what the numbers count
    where they are not those of the table, and `start` from which value of the original on, if from one.
    """

    name: str
    before: Float
    after: Float
    levels: tuple[str, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    unit: str = ""
    start: str = ""


class Attribute(ABC):
    """One quasi-identifier of some records, scaled."""

    name: str
    weight: float
    """How much it counts in the distance."""
    is_constant: bool

    @property
    def kind(self) -> str:
        """What its kind is called."""
        return "numeric"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that it stands for."""
        return (self.name,)

    @abstractmethod
    def coordinates(self) -> Float:
        """The scaled coordinates of the records: n rows, one column or more."""

    @abstractmethod
    def common_values(
        self,
        order: Int,
        starts: Int,
        aggregate: Aggregate,
        exact: bool,
        digits: int | None,
        weights: Weights | None = None,
    ) -> CommonValues:
        """The value that all records of a group get; group g holds order[starts[g]:starts[g + 1]].

        A record counts as often as its weight says, once where there are no weights. Records of the weight 0 count
        only where the common value covers all records: in intervals, sets and ancestors. Every group has a record
        whose weight is above 0.
        """

    @abstractmethod
    def squared_errors(
        self, common: CommonValues, labels: Int, weights: Weights | None = None
    ) -> tuple[float, float]:
        """(the loss of the released values, that of one common value of all records), scaled but not weighted.

        A loss is a sum of squared distances from original to released values, each times the weight of its
        record where there are weights. One record at least has a weight above 0.
        """

    @abstractmethod
    def placed(self, common: CommonValues) -> Float:
        """The scaled coordinates of common values: one row for each."""

    @abstractmethod
    def profile(self, common: CommonValues, labels: Int) -> Profile:
        """What a report shows."""

    def check_aggregate(self, aggregate: Aggregate) -> None:
        """Raise an error if its records cannot have such a common value; it is tried with the first one."""
        self.common_values(np.zeros(1, np.int64), np.array([0, 1]), aggregate, False, None)

    def notes(self, common: CommonValues, labels: Int) -> tuple[tuple[str, str], ...]:
        """What else a report says of it: a label and a text each."""
        return ()

    def check_digits(self, asked: Digits) -> None:
        """Raise an error if the digits that were asked for cannot be had; most kinds have none."""
        if isinstance(asked, Mapping) and self.name in asked:
            raise ShoalError(f"column {self.name!r} holds no numbers, so it has no digits; leave it out of digits")

    def squares(self, order: Int, starts: Int, aggregate: Aggregate) -> Squares:
        """The squared distances inside the groups before anything is rounded; 0 where there is no rounding."""
        return 0.0, 0

    def digits_used(self, asked: Digits, squares: Fraction, records: int, k: int) -> dict[str, int | None]:
        """The digits that values are rounded to, under the attribute's name; nothing where there are none."""
        return {}

    def digits_said(self, digits: int | None) -> int | str | None:
        """What a manifest says of these digits: the unit of a kind that has another one than a power of ten."""
        return digits

    def warning(self) -> str | None:
        """What the owner of the table should know about the column before it is averaged."""
        return None

    def said(self) -> dict[str, Any]:
        """What a manifest says of it beside its kind, as JSON takes it."""
        return {}


class AgainError(Exception):
    """What was seen late in a column asks for another reading of it, with another gathering from the start."""

    def __init__(self, fresh: Callable[[], "Gathering"]) -> None:
        super().__init__()
        self.fresh = fresh


class Gathering(ABC):
    """A column of a table that is not in memory, read part by part."""

    kind: ClassVar[str]
    name: str
    new_numbers: "Sequence[Stored]" = ()
    """The new number of each one that `add` has returned, for each joined part; nothing where they stay."""

    @abstractmethod
    def add(self, column: Column, before: int) -> Stored:
        """Another part, which so many records came before; what is to be kept of each of its records."""

    @abstractmethod
    def finish(self) -> None:
        """All parts are there. An error if the whole is not what its parts seemed; `AgainError` as in `add`."""

    def different(self) -> Column | None:
        """The different values as a column, where they tell the kind of the whole; None where its parts do."""
        return None

    def read_apart(self, chunks: Chunks) -> None:  # noqa: B027 - most kinds need nothing
        """Find out what `joined` must know of these parts; `chunks` is what `add` has returned."""

    def joined(self, others: "Sequence[Gathering]") -> "Gathering | None":
        """With the parts that others have read after these, as if one had read all; None where that cannot be."""
        return None

    @abstractmethod
    def kept(self, weight: float, chunks: Chunks) -> "tuple[Kept, Settle]":
        """How to read what is kept, and how to write it anew for that; `chunks` is what `add` has returned."""


Settle = Callable[[Stored, int], Stored]
"""What was kept of the records from some place on, as the whole column has it."""


@dataclass(frozen=True)
class Kept(ABC):
    """What a stream knows of an attribute between its passes; it goes to the disk and back as JSON."""

    kind: ClassVar[str]

    name: str
    weight: float
    centre: float = 0.0
    spread: float = 1.0
    is_constant: bool = False
    sst: float = 0.0  # the loss of one common value of all records, scaled
    digits: int | None = None  # that common values are rounded to

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that it stands for."""
        return (self.name,)

    @property
    def width(self) -> int:
        """How many coordinates it has."""
        return 1

    def typical(self, chunks: Chunks) -> Any:
        """What is stored of a value in the middle, to be put where one is missing: the lower median."""
        n = sum(len(part) for part in chunks())
        return value_of(key_at(chunks, (n - 1) // 2)[0], self.dtype)

    def joined_by(self, stored: Any, records: int) -> Self:
        """With so many more records of this value, which others counted among those that have none."""
        return self

    def overall(self, middle: Float) -> Float:
        """The coordinates of the common value of all records, whose coordinates have this mean."""
        return middle

    @property
    @abstractmethod
    def dtype(self) -> "np.dtype[Any]":
        """Of what is stored."""

    def seen(self, stored: Stored) -> Self:
        """With what these records add to what must be known of all before they are scaled."""
        return self

    @abstractmethod
    def scaled(self, scaling: Scaling, chunks: Chunks, alone: bool) -> Self:
        """With its centre and its spread; as a table in memory has them where all records are one block."""

    def tally(self, stored: Stored) -> "Tally | None":
        """What these records add to exact sums, from which the scale follows; None for kinds that have none."""
        return None

    def scaled_by(self, tally: "Tally | None", scaling: Scaling, chunks: Chunks) -> Self:
        """As `scaled`, from the tally of all records, which does not depend on how they came in parts."""
        return self.scaled(scaling, chunks, False)

    @abstractmethod
    def along(self, stored: Stored) -> Float:
        """Some records on one axis, in the order of what is stored: where blocks are cut."""

    @property
    @abstractmethod
    def stretch(self) -> float:
        """What a squared distance on that axis counts for; 0 where blocks cannot be cut along it."""

    @abstractmethod
    def attribute(self, stored: Stored) -> Attribute:
        """Some records on the scale of all."""

    @abstractmethod
    def codes(self, common: CommonValues) -> Stored:
        """Common values as they are stored."""

    @abstractmethod
    def values(self, codes: Stored) -> CommonValues:
        """Common values as they were."""

    @abstractmethod
    def warning(self, chunks: Chunks) -> str | None:
        """As `Attribute.warning`, of all records."""

    def bare(self) -> Attribute:
        """The attribute without its records."""
        return self.attribute(np.zeros(0, self.dtype))

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {"kind": self.kind, **asdict(self)}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Self":
        """The other way round."""
        return cls(**given)


class KeptAttribute(Attribute):
    """Some records of a column, with what is kept of the whole column."""

    kept: Kept

    @property
    def name(self) -> str:  # type: ignore[override]
        """Of the column."""
        return self.kept.name

    @property
    def kind(self) -> str:
        """What its kind is called."""
        return self.kept.kind

    @property
    def weight(self) -> float:  # type: ignore[override]
        """How much it counts in the distance."""
        return self.kept.weight

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that it stands for."""
        return self.kept.columns

    @property
    def is_constant(self) -> bool:  # type: ignore[override]
        """Whether the whole column has one value."""
        return self.kept.is_constant


class Kind(ABC):
    """A kind of attribute: chooses its columns and reads them."""

    name: ClassVar[str]
    kept: ClassVar[type[Kept]]
    layouts: ClassVar[bool] = False
    """Whether a layout may stand after its name, as in `date:%d/%m/%Y`."""

    @abstractmethod
    def takes(self, column: Column) -> bool:
        """Whether a column, or its first part, is of this kind."""

    @abstractmethod
    def gathering(self, name: str, wish: Wish) -> Gathering:
        """A column that comes in parts."""

    def attribute(self, column: Column, scaling: Scaling, weight: float, wish: Wish) -> Attribute:
        """A column in memory, as one part; an error that names it and the rows that are in the way."""
        return in_one_part(self.gathering(column.name, wish), column, scaling, weight)


KINDS: dict[str, Kind] = {}
"""Every kind, by its name."""

KEPT: dict[str, type[Kept]] = {}
"""What a stream keeps, by the name that it is written with."""


def register(kind: Kind) -> Kind:
    """Make a kind known; those that come later are asked first."""
    KINDS[kind.name] = kind
    KEPT[kind.kept.kind] = kind.kept
    return kind


def read_in_one(gathering: Gathering, column: Column) -> tuple[Gathering, Stored]:
    """A column in memory read as one part, again where that is asked for; and how it was read."""
    while True:
        try:
            stored = gathering.add(column, 0)
            gathering.finish()
        except AgainError as error:
            gathering = error.fresh()
        else:
            return gathering, stored


def attribute_from(gathering: Gathering, stored: Stored, scaling: Scaling, weight: float) -> Attribute:
    """The attribute of a column that was read as one part."""
    kept, settle = gathering.kept(weight, lambda: iter([stored]))
    settled = settle(stored, 0)
    return kept.seen(settled).scaled(scaling, lambda: iter([settled]), True).attribute(settled)


def in_one_part(gathering: Gathering, column: Column, scaling: Scaling, weight: float) -> Attribute:
    """A column in memory, by the way that a stream reads it."""
    return attribute_from(*read_in_one(gathering, column), scaling, weight)


def kind_of(column: Column, wish: Wish | None = None) -> Kind:
    """The kind of a column without gaps: the one that was asked for, or the last one that takes it."""
    if wish is None or wish.kind is None:
        return next(kind for kind in reversed(KINDS.values()) if kind.takes(column))
    return kind_called(wish.kind)


def kind_called(asked: str) -> Kind:
    """The kind of a name; a layout may stand after it."""
    name, _, layout = asked.partition(":")
    if name not in KINDS:
        raise ShoalError(
            f"there is no kind {name!r}{nearest_name(name, KINDS) or f'; there are {some(KINDS, 20)}'}"
        )
    if layout and not KINDS[name].layouts:
        raise ShoalError(f"the kind {name!r} has no layouts, so {asked!r} is none; leave {':' + layout!r} out")
    return KINDS[name]


def kept_from(given: dict[str, Any]) -> Kept:
    """What `Kept.as_dict` wrote."""
    rest = dict(given)
    name = rest.pop("kind")
    if name not in KEPT:
        raise ShoalError(f"columns of the kind {name!r} are not known; load what makes them known first")
    return KEPT[name].from_dict(rest)
