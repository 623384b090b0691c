"""Who stands out before the release: records that are alone by few columns, and which columns make them so.

A record is unique on a subset of columns if no other record has the same values there. A minimal sample unique
(MSU) of a record is a subset on which it is unique, and on no smaller part of it. SUDA scores a record by its
MSUs: the fewer columns they need and the more of them there are, the higher. A gap counts as a value of its own.

A record that is unique on a subset is unique on all larger ones, so only the others are looked at again.

References: M. J. Elliot, A. M. Manning and R. W. Ford, A computational algorithm for handling the special uniques
problem, Int. J. of Uncertainty, Fuzziness and Knowledge-Based Systems 10 (2002) 493-509; C. J. Skinner and
M. J. Elliot, A measure of disclosure risk for microdata, J. R. Statist. Soc. B 64 (2002) 855-867.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.single.uniqueness import alone_by
from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Float, Int, Pair, PairColumn, pair_measure

Bool = NDArray[np.bool_]
Columns = tuple[int, ...]

_WORK = 200_000_000  # records times subsets that are looked at
_LARGEST = 3  # columns of a subset where there are many columns
_FEW = 5  # columns of which all subsets are looked at
_SHOWN = 20  # records that are named


@dataclass(frozen=True)
class Plan:
    """The subsets that are looked at, size by size.

    `complete` is the largest size of which all are; one more size may follow of which only some were drawn.
    """

    subsets: tuple[tuple[Columns, ...], ...]
    complete: int
    of_last: int  # how many subsets of the last size there are

    @property
    def said(self) -> str:
        """What was looked at, in words."""
        last, sizes = len(self.subsets[-1]), len(self.subsets)
        if self.complete == sizes:
            return f"all subsets of 1 to {sizes} columns" if sizes > 1 else "all single columns"
        drawn = f"{last} of {self.of_last} of size {sizes}, drawn at random"
        return f"all subsets up to size {self.complete}, and {drawn}"


@dataclass(frozen=True, eq=False)
class Examined:
    """A subset of columns: who is alone by it, and whose MSU it is."""

    columns: Columns
    alone: Bool
    minimal: Int


@dataclass(frozen=True, eq=False)
class Suda:
    """SUDA of a table: the score of each record, how many MSUs it has of each size, and what each column adds.

    `shares` is the part of the sum of all scores that comes from MSUs with the column; an MSU counts for each of
    its columns, so the shares add up to more than 1.
    """

    scores: Float
    sizes: Int
    shares: Float


def planned(m: int, n: int, seed: int, work: int = _WORK) -> Plan:
    """The subsets of m columns that n records can be compared on."""
    levels: list[tuple[Columns, ...]] = []
    most = max(work // max(n, 1), m)
    for size in range(1, (m if m <= _FEW else _LARGEST) + 1):
        room, there = most - sum(map(len, levels)), comb(m, size)
        if there > room:
            drawn = drawn_subsets(m, size, room, np.random.default_rng(seed))
            return Plan((*levels, drawn) if drawn else tuple(levels), size - 1, there)
        levels.append(tuple(combinations(range(m), size)))
    return Plan(tuple(levels), len(levels), len(levels[-1]) if levels else 0)


def drawn_subsets(m: int, size: int, count: int, rng: np.random.Generator) -> tuple[Columns, ...]:
    """So many different subsets of a size, in order."""
    drawn: set[Columns] = set()
    while len(drawn) < count:
        drawn.add(tuple(sorted(rng.choice(m, size, replace=False).tolist())))
    return tuple(sorted(drawn))


def codes_of(values: Float) -> Int:
    """The values of a column by number; gaps are one value more."""
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)


def keys_of(codes: Sequence[Int]) -> Int:
    """One number for the values of several columns together, the same for the same values."""
    keys, above = codes[0], int(codes[0].max(initial=0)) + 1
    for each in codes[1:]:
        levels = int(each.max(initial=0)) + 1
        if above * levels >= 2**62:
            keys = np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64)
            above = int(keys.max(initial=0)) + 1
        keys, above = keys * levels + each, above * levels
    return keys


def examined(codes: Sequence[Int], plan: Plan) -> Iterator[Examined]:
    """Every subset of the plan, smaller ones first."""
    n = len(codes[0])
    below: dict[Columns, Bool] = {(): np.zeros(n, np.bool_)}
    for size, subsets in enumerate(plan.subsets, 1):
        level: dict[Columns, Bool] = {}
        for columns in subsets:
            alone = np.logical_or.reduce([below[part] for part in combinations(columns, size - 1)])
            others = np.flatnonzero(~alone)
            minimal = others[alone_by(keys_of([codes[column][others] for column in columns]))]
            alone[minimal] = True
            if size < len(plan.subsets):
                level[columns] = alone
            yield Examined(columns, alone, minimal)
        below = level


def points_for(size: int, largest: int, m: int) -> int:
    """The SUDA score of one MSU: the product of m - i for i from its size to the largest one searched.

    The product ends at m - 1, beyond which it would be 0 for all; an empty one is 1.
    """
    return prod(m - i for i in range(size, min(largest, m - 1) + 1))


def suda(found: Iterable[Examined], m: int, n: int, largest: int) -> Suda:
    """The scores of all records from the MSUs of at most `largest` columns; larger subsets are passed over."""
    scores, sizes, shares = np.zeros(n), np.zeros((n, largest), np.int64), np.zeros(m)
    for each in found:
        size = len(each.columns)
        if size <= largest:
            points = points_for(size, largest, m)
            scores[each.minimal] += points
            sizes[each.minimal, size - 1] += 1
            shares[list(each.columns)] += points * len(each.minimal)
    total = scores.sum()
    return Suda(scores, sizes, shares / total if total > 0 else shares)


def file_risk(uniques: int, pairs: int, fraction: float) -> float | None:
    """The chance that a record that fits one record of the table alone is that person's (Skinner and Elliot).

    fraction * uniques / (fraction * uniques + 2 * (1 - fraction) * pairs); None where nobody is unique.
    """
    right = fraction * uniques
    return right / (right + 2.0 * (1.0 - fraction) * pairs) if uniques else None


def dis_suda(scores: Float, risk: float, m: int) -> Float:
    """That chance for each record: the one of the file, shared out by the SUDA scores; 0 without an MSU.

    1 / (1 + (1 / risk - 1) * U / (s^q * sum of s^-q)) with q = 1 + (8 - m) / 20, over the U records with a score
    s. Equal scores all get the risk of the file. The form is that of the programs of IHSN and sdcMicro.
    """
    chances = np.zeros(len(scores))
    there = scores > 0
    if there.any():
        powers = scores[there] ** (1.0 + (8.0 - m) / 20.0)
        even = powers * (1.0 / powers).sum()
        chances[there] = 1.0 / (1.0 + (1.0 / risk - 1.0) * there.sum() / even)
    return chances


def sampling_fraction(pair: Pair) -> float:
    """The share of the population that is in the table; 1 where nothing is known of others."""
    everybody = max((len(values) for values in pair.population.values()), default=0)
    if pair.weights is not None and pair.weights.sum() > 0:
        return float(min(1.0, pair.n_after / pair.weights.sum()))
    return min(1.0, pair.n_before / everybody) if everybody else 1.0


@dataclass(frozen=True, eq=False)
class Standing:
    """What is found on both tables: uniques by subset before and after, SUDA before, classes by all columns."""

    columns: tuple[PairColumn, ...]
    plan: Plan
    uniques: list[tuple[Columns, int, int]]
    suda: Suda
    sizes: Int  # of the classes by all quasi-identifiers before
    alone_after: int


def standing(pair: Pair, work: int = _WORK) -> Standing:
    """Compare all records of both tables on the planned subsets of the quasi-identifiers."""
    columns = pair.quasi_identifiers
    plan = planned(len(columns), pair.n_before, pair.seed, work)
    codes = [codes_of(column.before) for column in columns]
    after = uniques_after(pair, plan)
    uniques: list[tuple[Columns, int, int]] = []

    def counted() -> Iterator[Examined]:
        for each in examined(codes, plan):
            uniques.append((each.columns, int(each.alone.sum()), after.get(each.columns, 0)))
            yield each

    scores = suda(counted(), len(columns), pair.n_before, plan.complete)
    sizes = np.unique(keys_of(codes), return_counts=True)[1]
    return Standing(columns, plan, uniques, scores, sizes, int((pair.sizes == 1).sum()))


def uniques_after(pair: Pair, plan: Plan) -> dict[Columns, int]:
    """How many released records are unique on each subset: only records that are a group of their own can be."""
    sizes = pair.sizes
    if not (sizes == 1).any():
        return {}
    groups, rows = np.unique(pair.groups, return_index=True)
    single = sizes[groups] == 1
    codes = [codes_of(column.after[rows]) for column in pair.quasi_identifiers]
    return {each.columns: int((each.alone & single).sum()) for each in examined(codes, plan)}


@pair_measure(matched=False)
def uniqueness(pair: Pair) -> Iterable[Figure]:
    """Who is unique before and after, by which columns, and how much so."""
    if pair.quasi_identifiers and pair.n_before and pair.n_after:
        found = standing(pair)
        yield unique_records(found, pair)
        yield telling_columns(found, pair)
        yield from suda_figures(found, sampling_fraction(pair), pair.places)


def unique_records(found: Standing, pair: Pair) -> Figure:
    """The share of records that are unique by all quasi-identifiers."""
    alone = int((found.sizes == 1).sum())
    before = 100.0 * alone / pair.n_before
    after = 100.0 * found.alone_after / pair.n_after
    return Figure(
        "unique_records", before, "%", f"{before:.1f} %",
        "original records that are unique by all quasi-identifiers",
        f"Before the release {before:.1f} % of the records were unique by all quasi-identifiers together; "
        f"in the release {after:.1f} % are.",
        "risk", details={"after": after},
        definition="The share of records whose values of all quasi-identifiers no other record of the same table "
        "has. A gap counts as a value of its own.",
        table=FigureTable(
            ("table", "unique records", "%"),
            (("original", alone, before), ("release", found.alone_after, after)),
        ),
    )  # fmt: skip


def telling_columns(found: Standing, pair: Pair) -> Figure:
    """The combination of few columns by which most records are unique."""
    names = [column.name for column in found.columns]
    rows = [
        (" + ".join(names[column] for column in columns), len(columns), before, 100.0 * before / pair.n_before,
         after, 100.0 * after / pair.n_after)
        for columns, before, after in found.uniques if len(columns) <= _LARGEST
    ]  # fmt: skip
    rows.sort(key=lambda row: (row[1], -row[2], row[0]))
    tops = [next(row for row in rows if row[1] == size) for size in sorted({row[1] for row in rows})]
    said = "; ".join(f"of {top[1]} column{'s' if top[1] > 1 else ''} {top[0]} ({top[3]:.1f} %)" for top in tops)
    return Figure(
        "telling_columns", tops[-1][3], "%", "", "records that are unique by the most telling few columns",
        f"The columns that tell most before the release, with the share of records they make unique: {said}.",
        "risk",
        definition="For each subset of 1 to 3 quasi-identifiers, the share of records that no other record of the "
        f"same table equals on it; {found.plan.said} were looked at. The value is that of the highest share "
        "among the largest subsets. A gap counts as a value of its own.",
        table=FigureTable(
            ("columns", "size", "unique before", "unique before, %", "unique after", "unique after, %"),
            tuple(rows),
        ),
    )  # fmt: skip


def suda_figures(found: Standing, fraction: float, rows: Int | None) -> Iterable[Figure]:
    """SUDA and DIS-SUDA before the release: which records stand out most, and which columns make them."""
    m, scores = len(found.columns), found.suda.scores
    there = int((scores > 0).sum())
    percent = 100.0 * there / len(scores)
    risk = file_risk(int((found.sizes == 1).sum()), int((found.sizes == 2).sum()), fraction)
    chances = dis_suda(scores, risk, m) if risk else np.zeros(len(scores))
    searched = f"minimal sample uniques of at most {found.plan.complete} of {m} columns"
    worst = [record for record in np.argsort(-scores, kind="stable")[:_SHOWN].tolist() if scores[record] > 0]
    header = (
        "record" if rows is None else "original row",
        "score",
        "DIS-SUDA",
        *(f"MSUs of {s}" for s in range(1, found.plan.complete + 1)),
    )
    yield Figure(
        "suda_records", percent, "%", f"{percent:.1f} %", "original records that few columns single out (SUDA)",
        f"Before the release {percent:.1f} % of the records were unique by at most {found.plan.complete} columns.",
        "risk",
        details={"mean": float(scores.mean()), "highest": float(scores.max(initial=0.0)),
                 "file_risk": risk, "sampling_fraction": fraction},
        definition=f"The share of records with a SUDA score above 0, from {searched}. An MSU of s columns "
        "scores the product of m - i for i = s to the largest size searched (at most m - 1), and a record the "
        "sum of its MSUs. DIS-SUDA shares out the file's risk f U / (f U + 2 (1 - f) P) by the scores: f the "
        "sampling fraction (1 where no weights or population are given), U uniques and P pairs by all "
        "quasi-identifiers. Rows count from 0.",
        table=FigureTable(header, tuple(
            (record if rows is None else int(rows[record]), float(scores[record]), float(chances[record]),
             *found.suda.sizes[record].tolist())
            for record in worst)),
    )  # fmt: skip
    order = np.argsort(-found.suda.shares, kind="stable").tolist()
    top, share = found.columns[order[0]].name, 100.0 * float(found.suda.shares[order[0]])
    yield Figure(
        "suda_columns", share if there else None, "%", "", "the column that adds most to SUDA scores",
        f"The column that makes records stand out most is {top!r}: it takes part in {share:.1f} % of all scores."
        if there else f"No record is unique by at most {found.plan.complete} columns.",
        "risk",
        definition=f"For each column, 100 times the sum of the scores of the {searched} that it is part of, "
        "over the sum of all scores. An MSU counts for each of its columns, so these add up to more than 100 %.",
        table=FigureTable(("column", "share of scores, %"), tuple(
            (found.columns[column].name, 100.0 * float(found.suda.shares[column])) for column in order)),
    )  # fmt: skip
