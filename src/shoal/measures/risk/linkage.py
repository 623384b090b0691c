"""Distance-based record linkage: an attacker knows the original values of people and takes the nearest record.

Released records with the same quasi-identifiers cannot be told apart, so the attacker guesses among all records of
the nearest group, and of all nearest groups where several are equally near. Whoever is in one of them is found
with the probability 1 / (the records of all of them), everybody else with 0. By quasi-identifiers alone no record
is found with a probability above 1/k, since the own group, of at least k records, is among those guessed from.

Reference: J. Domingo-Ferrer and V. Torra, A quantitative comparison of disclosure control methods for microdata,
in P. Doyle et al. (editors), Confidentiality, Disclosure and Data Access (2001) 111-133.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import chain, combinations
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from shoal.cards import counted
from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Float, Int, Pair, PairColumn, pair_measure

Bool = NDArray[np.bool_]
T = TypeVar("T")

SAMPLE = 1000  # records that are looked for by all quasi-identifiers
FEW = 400  # records that are looked for by every subset, and with the confidential values known
SUBSETS = 250  # subsets of 1 to 3 quasi-identifiers that are tried
_LOOKED_AT = 5000  # rows by which coordinates are put in order
_DIGITS = 12  # of scaled numbers: what differs by less is equal


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Columns as the coordinates that distances are taken in.

    Attributes
    ----------
    records, rows : of the people looked for, and of what was released; a line each
    named : which coordinates are categories, of which another one costs 1
    attribute : the column that each coordinate belongs to, by number
    """

    records: Float
    rows: Float
    named: Bool
    attribute: Int

    def of(self, attributes: Sequence[int]) -> "Coordinates":
        """Those of some columns."""
        return self.chosen(np.flatnonzero(np.isin(self.attribute, attributes)))

    def first(self, most: int) -> "Coordinates":
        """The first of them, so many at most."""
        return self.chosen(np.arange(min(most, len(self.named))))

    def chosen(self, places: Int) -> "Coordinates":
        """Those in these places, in this order."""
        return Coordinates(
            self.records[:, places], self.rows[:, places], self.named[places], self.attribute[places]
        )


def coordinates(columns: Sequence[PairColumn], records: Sequence[Float], rows: Sequence[Float]) -> Coordinates:
    """Columns of records and of released rows, numbers standardised by the original table.

    Numbers and ordered categories lose the mean of the original column and are divided by its standard deviation.
    A gap stands at the mean, and whether there is one is a category of its own.
    """
    parts: list[tuple[Float, Float, bool, int]] = []
    for number, (column, some, others) in enumerate(zip(columns, records, rows, strict=True)):
        if column.levels and not column.ordered:
            parts.append((np.nan_to_num(some, nan=-1.0), np.nan_to_num(others, nan=-1.0), True, number))
            continue
        centre, spread = centre_and_spread(column)
        left, right = (np.nan_to_num(np.round((each - centre) / spread, _DIGITS)) for each in (some, others))
        parts.append((left, right, False, number))
        if np.isnan(some).any() or np.isnan(others).any():
            parts.append((np.isnan(some).astype(float), np.isnan(others).astype(float), True, number))
    return Coordinates(
        np.column_stack([part[0] for part in parts]),
        np.column_stack([part[1] for part in parts]),
        np.array([part[2] for part in parts]),
        np.array([part[3] for part in parts]),
    )


def centre_and_spread(column: PairColumn) -> tuple[float, float]:
    """The mean and the standard deviation of the original numbers; 0 and 1 where there are none, or no spread."""
    known = column.before[~np.isnan(column.before)]
    if not len(known):
        return 0.0, 1.0
    spread = float(known.std())
    return float(known.mean()), spread if spread > 0 and known.min() < known.max() else 1.0


@dataclass(frozen=True, eq=False)
class Classes:
    """The groups of a release: their sizes, and a record of each, whose quasi-identifiers are those of all."""

    sizes: Int
    row: Int


def classes_of(pair: Pair) -> Classes:
    """The groups of a release."""
    row = np.zeros(len(pair.sizes), np.int64)
    row[pair.groups[::-1]] = np.arange(pair.n_after)[::-1]  # the first record of each
    return Classes(pair.sizes, row)


def drawn(n: int, most: int, seed: int) -> Int:
    """The numbers of at most so many of n records, in order."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def search_order(where: Coordinates) -> Coordinates:
    """The same, coordinates of many different values first: by these the search is shortest."""
    some = where.rows[:: max(len(where.rows) // _LOOKED_AT, 1)]
    different = [len(np.unique(some[:, j])) for j in range(some.shape[1])]
    return where.chosen(np.argsort(-np.array(different), kind="stable"))


def nearest(
    where: Coordinates, sizes: Int, own: Int, codes: tuple[Int, Int] | None = None, order: Int | None = None
) -> tuple[Float, Int]:
    """How probably each record is found among the nearest rows, and the first of these rows; -1 for none.

    Parameters
    ----------
    where : of the records and the rows, as `search_order` returns them
    sizes : how many released records each row stands for
    own : the row of each record
    codes : of the records and of the rows; the search is limited to rows of the same code
    order : of the rows by code and first coordinate, where it is known
    """
    from shoal.kernels.single.linkage import nearest_rows

    if order is None:
        order = row_order(where, codes)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    low, high = np.zeros(len(own), np.int64), np.full(len(own), len(order))
    if codes is not None:
        inside = codes[1][order]
        low, high = np.searchsorted(inside, codes[0]), np.searchsorted(inside, codes[0], side="right")
    found, first = nearest_rows(
        np.ascontiguousarray(where.records), np.ascontiguousarray(where.rows[order]), where.named, low, high,
        sizes[order].astype(np.float64), place[own], order,
    )  # fmt: skip
    return found, first


def row_order(where: Coordinates, codes: tuple[Int, Int] | None = None) -> Int:
    """The rows by their code and their first coordinate."""
    key = where.rows[:, 0]
    return np.argsort(key, kind="stable") if codes is None else np.lexsort((key, codes[1]))


def quasi_identifiers_in(pair: Pair, records: Int, classes: Classes) -> Coordinates:
    """The original quasi-identifiers of some records beside those of all groups."""
    columns = pair.quasi_identifiers
    return search_order(
        coordinates(
            columns, [each.before[records] for each in columns], [each.after[classes.row] for each in columns]
        )
    )


@dataclass(frozen=True)
class Rate:
    """A share of records, in percent, and its standard error where they were drawn; 0 where all were looked at."""

    percent: float
    error: float
    records: int
    of: int

    @classmethod
    def of_shares(cls, shares: Float, of: int) -> "Rate":
        """The mean of some records for all of them."""
        drawn_share = len(shares) / of
        variance = float(shares.var(ddof=1)) if len(shares) > 1 and drawn_share < 1 else 0.0
        error = 100.0 * float(np.sqrt(variance / len(shares) * max(1.0 - drawn_share, 0.0)))
        return cls(100.0 * float(shares.mean()), error, len(shares), of)

    @property
    def said(self) -> str:
        """The share as a text."""
        return f"{self.percent:.2f} %"

    @property
    def sample_said(self) -> str:
        """How many records it rests on."""
        if self.records == self.of:
            return "all records were looked for"
        return f"{counted(self.records)} records drawn at random, standard error {self.error:.2f} %"

    @property
    def details(self) -> dict[str, float]:
        """What the figure keeps."""
        return {"standard_error": self.error, "sampled": self.records, "records": self.of}


def once(function: Callable[[Pair], T]) -> Callable[[Pair], T]:
    """The function, computed once for each pair: several figures rest on it."""
    kept: WeakKeyDictionary[Pair, T] = WeakKeyDictionary()

    @wraps(function)
    def asked(pair: Pair) -> T:
        if pair not in kept:
            kept[pair] = function(pair)
        return kept[pair]

    return asked


@once
def linked_by_all(pair: Pair) -> Rate:
    """The expected share of records that are found by all quasi-identifiers."""
    records = drawn(pair.n_before, SAMPLE, pair.seed)
    classes = classes_of(pair)
    where = quasi_identifiers_in(pair, records, classes)
    return Rate.of_shares(nearest(where, classes.sizes, pair.groups[records])[0], pair.n_before)


def baselines(pair: Pair) -> dict[str, float]:
    """What an attacker finds at most by quasi-identifiers, and by guessing blindly, in percent."""
    return {"at_most": 100.0 / pair.k, "blind": 100.0 / pair.n_after}


_HOW = (
    "Numbers and ordered categories are standardised by the mean and the standard deviation of the original; "
    "another category counts 1, and so does a gap on one side alone. The distance is Euclidean. Ties share: "
    "whoever is in one of the nearest groups is found with probability 1 / (the records of all of them), else 0."
)


@pair_measure(matched=True)
def linkage_all(pair: Pair) -> Iterable[Figure]:
    """How many records an attacker finds who knows all quasi-identifiers of everybody."""
    if not pair.quasi_identifiers or not pair.n_after:
        return
    rate, base = linked_by_all(pair), baselines(pair)
    yield Figure(
        "linkage_all", rate.percent, "%", rate.said, "found by the nearest record, all quasi-identifiers known",
        f"Whoever knows all quasi-identifiers of a person and takes the nearest record finds the right one in "
        f"{rate.said} of all cases; k = {pair.k} allows at most {base['at_most']:.2f} %, blind guessing finds "
        f"{base['blind']:.4f} % ({rate.sample_said}).",
        "risk", details=rate.details | base,
        definition=f"Expected share of records that are linked to their own released record. {_HOW} No record is "
        f"found with a probability above 1/k.",
        table=FigureTable(
            ("what", "%"),
            (("found", rate.percent), ("at most, 1/k", base["at_most"]), ("blind, 1/n", base["blind"])),
        ),
    )  # fmt: skip


def subsets_of(m: int, seed: int) -> list[tuple[int, ...]]:
    """Every subset of 1 to 3 of m attributes; where there are too many, the small ones and some of the others."""
    small = list(chain(combinations(range(m), 1), combinations(range(m), 2)))
    large = list(combinations(range(m), 3)) if m <= 100 else []
    rng = np.random.default_rng(seed)
    if len(small) > SUBSETS:
        return [small[i] for i in drawn(len(small), SUBSETS, seed)]
    room = min(SUBSETS - len(small), len(large))
    chosen = np.sort(rng.choice(len(large), room, replace=False)) if room < len(large) else range(len(large))
    return small + [large[i] for i in chosen]


def linked_by_subsets(pair: Pair) -> list[tuple[tuple[int, ...], Rate]]:
    """The share that is found by each subset, largest first."""
    records = drawn(pair.n_before, FEW, pair.seed)
    classes = classes_of(pair)
    where = quasi_identifiers_in(pair, records, classes)
    found, orders = [], {}
    for subset in subsets_of(len(pair.quasi_identifiers), pair.seed):
        part = where.of(subset)
        first = int(np.flatnonzero(np.isin(where.attribute, subset))[0])
        if first not in orders:
            orders[first] = row_order(part)
        shares, _ = nearest(part, classes.sizes, pair.groups[records], order=orders[first])
        found.append((subset, Rate.of_shares(shares, pair.n_before)))
    return sorted(found, key=lambda each: (-each[1].percent, each[0]))


@pair_measure(matched=True)
def linkage_subsets(pair: Pair) -> Iterable[Figure]:
    """How many records an attacker finds who knows one to three quasi-identifiers, and which tell most."""
    columns = pair.quasi_identifiers
    if not columns or not pair.n_after:
        return
    found, base = linked_by_subsets(pair), baselines(pair)
    m = len(columns)
    there = m + m * (m - 1) // 2 + m * (m - 1) * (m - 2) // 6
    tried = "all" if len(found) == there else f"{len(found)} of"
    (most, rate), mean = found[0], sum(each.percent for _, each in found) / len(found)
    names = " and ".join(columns[i].name for i in most)
    yield Figure(
        "linkage_subsets", rate.percent, "%", rate.said, "found by the best one to three quasi-identifiers",
        f"Of {tried} {there} combinations of one to three quasi-identifiers, {names} finds most: {rate.said} of "
        f"all records, on average over the combinations {mean:.2f} %; k = {pair.k} allows at most "
        f"{base['at_most']:.2f} % ({rate.sample_said}).",
        "risk", details=rate.details | base | {"mean": mean, "tried": len(found), "combinations": there},
        definition=f"Largest over subsets of 1 to 3 quasi-identifiers of the expected share of records that are "
        f"linked to their own released record by these alone. {_HOW} The largest of many estimates is somewhat "
        f"above what it estimates. Where there are more than {SUBSETS} subsets, the smaller ones come first and "
        f"the rest is drawn at random.",
        table=FigureTable(
            ("quasi-identifiers", "how many", "found, %", "standard error, %"),
            tuple((", ".join(columns[i].name for i in subset), len(subset), each.percent, each.error)
                  for subset, each in found),
        ),
    )  # fmt: skip


def codes_of(columns: Sequence[PairColumn], records: Int) -> tuple[Int, Int]:
    """A number for each combination of values: of the original values of records, and of all released rows."""
    code = np.zeros(len(records) + len(columns[0].after), np.int64)
    for column in columns:
        values, inverse = np.unique(np.concatenate([column.before[records], column.after]), return_inverse=True)
        code = np.unique(code * len(values) + inverse, return_inverse=True)[1]
    return code[: len(records)], code[len(records) :]


def linked_with_confidential(pair: Pair) -> dict[str, Rate]:
    """The share that is found where the confidential values are known, in three ways, and where they are not."""
    records = drawn(pair.n_before, FEW, pair.seed)
    classes = classes_of(pair)
    known = quasi_identifiers_in(pair, records, classes)
    columns = (*pair.quasi_identifiers, *pair.confidential)
    everything = search_order(
        coordinates(columns, [each.before[records] for each in columns], [each.after for each in columns])
    )
    each, ones = everything.of(range(len(pair.quasi_identifiers))), np.ones(pair.n_after, np.int64)
    codes = codes_of(pair.confidential, records)
    alike = np.bincount(codes[1], minlength=int(codes[0].max()) + 1)[codes[0]]
    alone = np.where(codes[0] == codes[1][records], 1.0 / np.maximum(alike, 1), 0.0)
    shares = {
        "quasi-identifiers": nearest(known, classes.sizes, pair.groups[records])[0],
        "and confidential values, as a distance": nearest(everything, ones, records)[0],
        "confidential values alone, equal": alone,
        "confidential values equal, then the nearest": nearest(each, ones, records, codes)[0],
    }
    return {what: Rate.of_shares(share, pair.n_before) for what, share in shares.items()}


@pair_measure(matched=True)
def linkage_confidential(pair: Pair) -> Iterable[Figure]:
    """How many records an attacker finds who knows the confidential values as well."""
    if not pair.quasi_identifiers or not pair.confidential or not pair.n_after:
        return
    rates, base = linked_with_confidential(pair), baselines(pair)
    way, rate = max(rates.items(), key=lambda each: each[1].percent)
    without = rates["quasi-identifiers"]
    exact = rates["confidential values alone, equal"]
    kept = all(np.array_equal(each.before, each.after, equal_nan=True) for each in pair.confidential)
    why = "Confidential values were released as they are, so they link records again" if kept else (
        "Confidential values were changed, which makes this harder"
    )  # fmt: skip
    yield Figure(
        "linkage_confidential", rate.percent, "%", rate.said, "found by whoever knows the confidential values too",
        f"Whoever knows the confidential values of a person as well finds {rate.said} of all records, against "
        f"{without.said} without them; {why}: by these values alone {exact.said} are found. k-anonymity does not "
        f"protect against somebody who knows them ({rate.sample_said}).",
        "risk", details=rate.details | base | {"way": way, "unchanged": kept},
        definition="Largest expected share of records linked to their own released record in three ways: the "
        "nearest record by all quasi-identifiers and confidential values; any record with exactly the same "
        f"confidential values; the nearest of those by quasi-identifiers. {_HOW} 1/k is no bound here.",
        table=FigureTable(
            ("what the attacker uses", "found, %", "standard error, %"),
            tuple((what, each.percent, each.error) for what, each in rates.items()),
        ),
    )  # fmt: skip
