"""Whose rows these are: the persons, households, strata and sampling weights of a table.

Statisticians call it the design of a survey. A column of identifiers says which rows belong to one person or
household; columns of strata say which records may share a group; a column of weights says how many people a record
stands for. They are read here once, as numbers, and everything that is wrong with them is an error that names the
column, the rows and what to do. What they mean for groups is the concern of `grouping`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import inf
from numbers import Real
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.attributes import Wish, gaps_in
from shoal.attributes.numbers import Fixed, Numbers, RowsError, from_column
from shoal.errors import ShoalError, no_columns, some, typed
from shoal.parameters import HouseholdK, PersonRows, SmallStrata
from shoal.privacy.k_anonymity import distinct, grouped
from shoal.privacy.persons import Read, linked, no_identifier, read_ids, refuse_nested, sizes_of
from shoal.table import Table, is_text, texts

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Mask = NDArray[np.bool_]

_LISTED = 50  # small strata that an error names
_HEAVIEST = 1e100  # above it, and below its inverse, sums of weights and of what they weigh may overflow


class Ids(NamedTuple):
    """Who each row belongs to."""

    name: str  # of the column
    codes: Int  # the number of each row's person or household, from 0 on in the order of their first rows
    texts: list[str]  # the identifier of each number


class Strata(NamedTuple):
    """The parts of a table that groups do not cross."""

    columns: tuple[str, ...]
    codes: Int  # the number of each row's stratum
    names: list[str]
    rows: Int  # a row of each stratum, whose values its records are released with
    n_merged: int = 0  # how many became parts of others
    changed: bool = False  # whether some records leave with another value than they came with

    def leaving(self, table: Table) -> Int | None:
        """For each record the number of what leaves of its stratum; None where no column of strata leaves."""
        kept = [name for name in self.columns if name in table.kept]
        if not kept:
            return None
        shown = table.shown(kept)
        return grouped([distinct(name, shown[name]).codes[self.rows] for name in kept])[self.codes]


class Crowd(NamedTuple):
    """Whom every group must have so many of."""

    whom: str  # "persons" or "households"
    name: str | None  # of the column; None where every row is a person
    codes: Int  # the number of each row's person or household
    least: int


@dataclass(frozen=True, eq=False)
class Weights:
    """How many people each record stands for."""

    name: str  # of the column
    numbers: Numbers

    @property
    def floats(self) -> Float:
        """The weights as doubles."""
        return self.numbers.floats()

    @property
    def whole(self) -> NDArray[Any]:
        """The weights as whole numbers of some common unit, so that sums of them are exact."""
        if isinstance(self.numbers, Fixed):
            units = self.numbers.origin + self.numbers.offsets.astype(object)
        else:
            units = whole_multiples(self.floats)
        return units.astype(np.int64) if sum(units.tolist()) < 2**62 else units


def whole_multiples(values: Float) -> NDArray[Any]:
    """Doubles of at least 0 as whole numbers of the largest power of two that all of them are multiples of."""
    fractions, exponents = np.frexp(values)
    there = fractions != 0
    shifts = np.where(there, exponents - exponents[there].min(), 0).tolist()
    mantissas = np.ldexp(fractions, 53).astype(np.int64).tolist()
    return np.array([part << shift for part, shift in zip(mantissas, shifts, strict=True)], dtype=object)


@dataclass(frozen=True, eq=False)
class Design:
    """Whose rows these are; without persons, households, strata and weights, every row is a person of its own.

    Attributes
    ----------
    person, household : who each row belongs to
    apart : the rows of a person may be in several groups
    persons_counted : k counts persons where households are kept together
    strata : the parts of the table that groups do not cross
    weights : how many people each record stands for
    n_dropped : how many rows were left out because their stratum is too small
    """

    person: Ids | None = None
    household: Ids | None = None
    apart: bool = False
    persons_counted: bool = False
    strata: Strata | None = None
    weights: Weights | None = None
    n_dropped: int = 0

    @property
    def units(self) -> Int | None:
        """Rows with the same number stay in one group, or in one group of persons; None where each is alone."""
        ids = self.household or self.person
        return None if ids is None else ids.codes

    @property
    def counted(self) -> Int | None:
        """Whom k counts: rows with the same number count once; None where k counts rows."""
        if self.household is not None and not self.persons_counted:
            return self.household.codes
        return None if self.person is None else self.person.codes

    @property
    def whom(self) -> str:
        """What k counts, in words."""
        if self.household is not None:
            return "persons" if self.persons_counted else "households"
        return "records" if self.person is None else "persons"

    @property
    def least_units(self) -> int:
        """The least number of households in a group: a large family alone is no crowd."""
        return 2 if self.household is not None and self.persons_counted else 1

    @property
    def unit_persons(self) -> Int | None:
        """How many persons each household has, where k counts persons in households."""
        if self.household is None or not self.persons_counted:
            return None
        return sizes_of(self.household.codes, self.counted)

    def crowds(self, k: int, rows: int) -> list[Crowd]:
        """Who is counted where several rows may be of one, what k counts first; a table of so many rows."""
        found = [
            Crowd(whom, ids.name, ids.codes, k if whom == self.whom else self.least_units)
            for ids, whom in ((self.person, "persons"), (self.household, "households"))
            if ids is not None
        ]
        if self.persons_counted and self.person is None:
            found.append(Crowd("persons", None, np.arange(rows), k))
        return sorted(found, key=lambda each: each.whom != self.whom)

    def links(self, pseudonym: str, groups: Int, k: int) -> list[tuple[Crowd, int]]:
        """How many have the same rows at least, where a pseudonym links the rows of a person or household.

        `groups` has for each record the number of what is released of it.
        """
        crowds = self.crowds(k, len(groups))
        link = next(each.codes for each in crowds if each.name == pseudonym)
        return [(each, linked(groups, link, each.codes).k) for each in crowds]

    def facts(self, rows: int) -> dict[str, Any]:
        """What figures say of it, as JSON takes it; nothing where every row is a person of its own."""
        facts: dict[str, Any] = {}
        if self.whom != "records" or self.least_units > 1:
            facts |= {"whom": self.whom, "there": self.n_counted(rows)}
        if self.strata is not None:
            facts["strata"] = {
                "columns": list(self.strata.columns), "number": len(self.strata.names),
                "merged": self.strata.n_merged, "dropped": self.n_dropped,
            }  # fmt: skip
        if self.weights is not None:
            facts["weight"] = self.weights.name
        return facts

    def n_counted(self, rows: int) -> int:
        """How many there are of what k counts, in a table of so many rows."""
        return rows if self.counted is None else int(self.counted.max()) + 1

    def check_k(self, k: int, rows: int) -> None:
        """There must be enough for a group."""
        check_k(k, self.n_counted(rows), self.whom)
        if self.least_units > 1 and self.household is not None and not self.household.codes.any():
            raise ShoalError(
                f"all rows are of one household in {self.household.name!r}, and a group needs two; "
                "a single household cannot be hidden"
            )


def check_k(k: int, there: int, whom: str = "records") -> None:
    """There must be enough for a group."""
    if k > there:
        raise ShoalError(f"k={k} is more than there are {whom} ({there}); choose k <= {there}")


def same_rows(design: Design, pseudonym: str | None, k: int) -> Int | None:
    """The stratum of each record where rows of a person stay linked by a pseudonym: as many rows as these have.

    Persons with different numbers of rows never have the same rows. So each number must be that of k persons, in
    every stratum. None where nothing is linked, or not those who stay together.
    """
    ids = design.household or design.person
    if ids is None or ids.name != pseudonym:
        return None
    rows = np.bincount(ids.codes)[ids.codes]
    strata = np.zeros(len(rows), np.int64) if design.strata is None else design.strata.codes
    parts, codes = np.unique(np.stack([strata, rows]), axis=1, return_inverse=True)
    codes = codes.reshape(-1)
    counts = sizes_of(codes, design.counted)
    small = np.flatnonzero((counts < k) | (sizes_of(codes, ids.codes) < design.least_units))
    if not len(small):
        return codes
    listed = some(
        (f"{counts[each]} with {counted_as(int(parts[1, each]), 'rows')}" for each in small.tolist()), 10
    )
    raise ShoalError(
        f"with pseudonyms in {ids.name!r}, the number of rows alone singles out {design.whom}: some numbers of "
        f"rows are those of fewer than k={k} ({listed}); leave out some of their rows or the pseudonym, or accept "
        "this (--accept-linkage)"
    )


def read_design(
    table: Table,
    *,
    k: int,
    person: str | None = None,
    person_rows: PersonRows = "together",
    household: str | None = None,
    household_k: HouseholdK = "households",
    within: Sequence[str] = (),
    merge_strata: Mapping[str, str] | None = None,
    small_strata: SmallStrata = "error",
    sampling_weight: str | None = None,
) -> tuple[Table, Design]:
    """Read and check who the rows of a table belong to; the table without the strata that are too small for k."""
    named = [name for name in (person, household, *within, sampling_weight) if name is not None]
    if unknown := [name for name in named if name not in table.frame.columns]:
        raise no_columns(unknown, table.frame.columns)
    design = Design(
        None if person is None else ids_of(table, person, "a person"),
        None if household is None else ids_of(table, household, "a household"),
        person_rows == "apart",
        household_k == "persons",
    )
    if design.person is not None and design.household is not None:
        refuse_split(design.person, "person", design.household.codes, "two households", design.household.name)
    design.check_k(k, len(table))
    if within:
        design = replace(design, strata=strata_of(table, tuple(within), merge_strata or {}))
        table, design = without_small_strata(table, design, k, small_strata)
    if sampling_weight is not None:
        design = replace(design, weights=weights_of(table, sampling_weight))
    return table, design


def without_small_strata(table: Table, design: Design, k: int, policy: SmallStrata) -> tuple[Table, Design]:
    """Refuse or leave out the strata that have fewer than k of what k counts."""
    strata = design.strata
    assert strata is not None
    for ids, who in ((design.household, "household"), (design.person, "person")):
        if ids is not None:
            refuse_split(ids, who, strata.codes, "two strata", ", ".join(strata.columns))
    counts = sizes_of(strata.codes, design.counted)
    households = sizes_of(strata.codes, design.units) if design.least_units > 1 else counts
    small = np.flatnonzero((counts < k) | (households < design.least_units))
    if not len(small):
        return table, design
    if policy == "error":
        raise small_strata_error(strata, small, counts, households, design, k)
    keep = ~np.isin(strata.codes, small)
    if not keep.any():
        raise ShoalError(
            f"every stratum of {shown_columns(strata.columns)} has fewer than k={k} {design.whom}, so none is "
            "left; merge strata (--merge-strata), or choose a smaller k"
        )
    return table.where(keep), replace(
        design,
        person=design.person and kept_ids(design.person, keep),
        household=design.household and kept_ids(design.household, keep),
        strata=kept_strata(strata, keep),
        n_dropped=int((~keep).sum()),
    )


def counted_as(count: int, whom: str) -> str:
    """So many of them, in words: "1 household"."""
    return f"{count} {whom.removesuffix('s') if count == 1 else whom}"


def small_strata_error(
    strata: Strata, small: Int, counts: Int, households: Int, design: Design, k: int
) -> ShoalError:
    """Strata that are too small, and the choices that there are."""

    def shown(stratum: int) -> str:
        alone = counts[stratum] >= k and households[stratum] < design.least_units
        return f"{strata.names[stratum]!r} ({'1 household' if alone else counts[stratum]})"

    listed = some((shown(stratum) for stratum in small.tolist()), _LISTED)
    one = len(small) == 1
    merge = typed("--merge-strata", strata.names[small[0]], "NEIGHBOUR")
    return ShoalError(
        f"{len(small)} {'stratum' if one else 'strata'} of {shown_columns(strata.columns)} "
        f"{'has' if one else 'have'} fewer than k={k} {design.whom}: {listed}; merge each with a stratum that you "
        f"name ({merge}), or leave their records out (--small-strata drop); a smaller k for some strata only is "
        "refused, because it would hide their people less than the others"
    )


def shown_columns(columns: Sequence[str]) -> str:
    """Columns in words."""
    return " and ".join(map(repr, columns))


def ids_of(table: Table, name: str, who: str) -> Ids:
    """The person or household of each row; every row must have one."""
    column = id_column(table, name)
    refuse_nested(name, column.type, "says whose row it is", who)
    read = read_ids(name, column)
    if read.missing.any():
        raise no_identifier(name, counted_rows(rows_of(table, read.missing)), who)
    codes = renumbered(read.codes)
    first = np.unique(codes, return_index=True)[1]
    whole = texts_of(table, name, read.values)
    return Ids(name, codes, id_texts(read.values.take(pa.array(first)), [whole[row] for row in first.tolist()]))


def id_texts(values: pa.ChunkedArray, shown: list[str]) -> list[str]:
    """Identifiers as text, the same whatever type a number has: 17, 17.0 and 17.00 are one person."""
    if not (pa.types.is_floating(values.type) or pa.types.is_decimal(values.type)):
        return shown
    return [number_text(value, text) for value, text in zip(values.to_pylist(), shown, strict=True)]


def id_column(table: Table, name: str) -> pa.ChunkedArray:
    """A column of identifiers to tell apart; among Python's objects, too, a number is one person in any type."""
    column = table.shown([name])[name]
    if table.frame[name].dtype != nw.Object or not is_text(column.type):
        return column
    values = zip(table.frame[name].to_list(), column.to_pylist(), strict=True)
    return pa.chunked_array([[number_text(value, text) if is_number(value) else text for value, text in values]])


def is_number(value: Any) -> bool:
    """Whether an object is a number; True and False are none."""
    return isinstance(value, Real | Decimal) and not isinstance(value, bool) and value == value


def number_text(value: Any, text: str) -> str:
    """A number as text without a point where it is whole."""
    return str(int(value)) if abs(value) < inf and value == int(value) else plain_number(text)


def plain_number(text: str) -> str:
    """A number with a fraction without zeros at its end: 17.50 is 17.5."""
    return text.rstrip("0") if "." in text and "e" not in text else text


def kept_ids(ids: Ids, keep: Mask) -> Ids:
    """The identifiers of some rows."""
    codes = renumbered(ids.codes[keep])
    first = np.unique(codes, return_index=True)[1]
    old = ids.codes[keep][first]
    return Ids(ids.name, codes, [ids.texts[code] for code in old.tolist()])


def kept_strata(strata: Strata, keep: Mask) -> Strata:
    """The strata of some rows."""
    numbers, codes = np.unique(strata.codes[keep], return_inverse=True)
    rows = (np.cumsum(keep) - 1)[strata.rows[numbers]]  # strata are kept or left out as a whole
    return strata._replace(codes=codes, names=[strata.names[number] for number in numbers], rows=rows)


def renumbered(codes: Int) -> Int:
    """The same numbers in the order of their first rows, from 0 on."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse], np.int64)


def refuse_split(ids: Ids, who: str, parts: Int, what: str, column: str) -> None:
    """Nobody may belong to two parts: a household in two regions, a person in two households."""
    order = np.lexsort((parts, ids.codes))
    same = ids.codes[order][1:] == ids.codes[order][:-1]
    split = same & (parts[order][1:] != parts[order][:-1])
    if not split.any():
        return
    found = np.unique(ids.codes[order][1:][split])
    examples = some((repr(ids.texts[number]) for number in found.tolist()), 5)
    many = f"{len(found)} {who}s are" if len(found) > 1 else f"1 {who} is"
    raise ShoalError(
        f"{many} in {what} by column {column!r}: {examples}; the rows of one {who} must agree there, "
        "because they stay in one group; correct them"
    )


def strata_of(table: Table, columns: tuple[str, ...], merged: Mapping[str, str]) -> Strata:
    """The stratum of each row, with those that are merged as one, and those that differ by spaces only."""
    shown = table.shown(columns)
    read = {name: stratum_column(table, name, shown[name]) for name in columns}
    codes = renumbered(grouped([each.codes for each in read.values()]))
    rows = np.unique(codes, return_index=True)[1]
    parts = [texts_of(table, name, each.values) for name, each in read.items()]
    names = [", ".join(part[row] for part in parts) for row in rows.tolist()]
    spelled = grouped([distinct(name, shown[name]).codes for name in columns])
    strata = Strata(columns, codes, names, rows, changed=int(spelled.max()) + 1 > len(names))
    return merged_strata(strata, merged) if merged else strata


def stratum_column(table: Table, name: str, column: pa.ChunkedArray) -> Read:
    """A column of strata; every row must have a value there."""
    refuse_nested(name, column.type, "is a stratum", "each stratum")
    read = read_ids(name, column)
    if read.missing.any():
        raise ShoalError(
            f"column {name!r} is a stratum, and {counted_rows(rows_of(table, read.missing), 'lacks', 'lack')} a "
            "value there; fill it in, for example with 'unknown', or take those rows out"
        )
    return read


def merged_strata(strata: Strata, merged: Mapping[str, str]) -> Strata:
    """Strata of which some have become parts of others, whose names and values they get."""
    places = {name: stratum_called(name, strata) for name in (*merged, *merged.values())}
    into = np.arange(len(strata.names))
    for first in merged:
        seen = [first]
        while seen[-1] in merged:
            seen.append(merged[seen[-1]])
            if len(set(seen)) < len(seen):
                raise ShoalError(f"strata are merged in a circle: {' = '.join(seen)}; leave one of these out")
        into[places[first]] = places[seen[-1]]
    numbers, codes = np.unique(into[strata.codes], return_inverse=True)
    names = [strata.names[number] for number in numbers.tolist()]
    fewer = len(strata.names) - len(names)
    return Strata(strata.columns, codes, names, strata.rows[numbers], fewer, strata.changed or fewer > 0)


def stratum_called(name: str, strata: Strata) -> int:
    """The number of the stratum that a user calls by its name, which no other may have."""
    places = [place for place, each in enumerate(strata.names) if each == name]
    where = shown_columns(strata.columns)
    if not places:
        known = some(map(repr, strata.names), 20)
        raise ShoalError(f"there is no stratum {name!r} to merge in {where}; there are {known}")
    if len(places) > 1:
        raise ShoalError(
            f"{len(places)} strata of {where} are called {name!r}, so it is not clear which one to merge; write "
            "their values otherwise, so that they can be told apart"
        )
    return places[0]


def weights_of(table: Table, name: str) -> Weights:
    """The weight of each record: a number of at least 0."""
    column = table.column(name)
    refuse_weights(table, name, "no value", gaps_in(column, Wish()))
    try:
        numbers = from_column(column)
    except RowsError as error:
        where = np.isin(np.arange(len(table)) + 1, error.parts[2])
        refuse_weights(table, name, error.parts[1], where)
        raise
    except ShoalError as error:
        what, _, cure = str(error).removeprefix(f"column {name!r} ").rpartition("; ")
        what = re.sub("^of type (.*) cannot be a quasi-identifier$", r"is of type \1", what)
        raise ShoalError(
            f"column {name!r} is the sampling weight, and {what or cure}; turn it into numbers of at least 0 "
            "first, or name another column"
        ) from None
    floats = numbers.floats()
    refuse_weights(table, name, "a negative number", floats < 0)
    extreme = (floats > _HEAVIEST) | ((floats > 0) & (floats < 1 / _HEAVIEST))
    if extreme.any():
        raise ShoalError(
            f"column {name!r} is the sampling weight, and holds a number that is too large or too small to count "
            f"with in {counted_rows(rows_of(table, extreme))}; divide all weights by one number, so that those "
            f"above 0 are between {1 / _HEAVIEST:g} and {_HEAVIEST:g}"
        )
    if not floats.any():
        raise ShoalError(f"column {name!r} is the sampling weight, and it is 0 in every record; correct it")
    return Weights(name, numbers)


def refuse_weights(table: Table, name: str, what: str, where: Mask) -> None:
    """Some records hold what is no weight."""
    if where.any():
        raise ShoalError(
            f"column {name!r} is the sampling weight, and holds {what} in {counted_rows(rows_of(table, where))}; "
            "give every record a number of at least 0, or take those records out"
        )


def texts_of(table: Table, name: str, values: pa.ChunkedArray) -> list[str]:
    """The values of a column as text; `values` are those that are shown of it."""
    return values.to_pylist() if is_text(values.type) else texts(table.frame[name])


def rows_of(table: Table, where: Mask) -> Int:
    """The rows of the table that came, counted from 1."""
    places = np.flatnonzero(where)
    return (places if table.rows is None else table.rows[places]) + 1


def counted_rows(rows: Int, does: str = "", do: str = "") -> str:
    """Rows in words, with what one does or several do."""
    said = f"row {rows[0]} {does}" if len(rows) == 1 else f"{len(rows)} rows ({some(rows)}) {do}"
    return said.rstrip()
