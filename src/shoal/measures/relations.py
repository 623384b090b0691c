"""Sums and other linear relations between columns of numbers, such as total = wages + rent in every record.

A quasi-identifier that was averaged comes back, in whole or in part, if it stands in such a relation with columns
that were released as they are. Candidates of two, three or four columns are found on a sample, by the smallest
eigenvalue of their correlations, and longer sums by the null space of all columns. A few small parts of the sample
are looked at too, so that a wrong number somewhere hides nothing. Each candidate is then checked on the numbers
themselves. What counts:

- All columns take part: none of them could be left out.
- It holds in at least 95 % of the records that have all the numbers, exactly or up to the decimals that are
  written; what is lost in those decimals must be small against the spread of every column that takes part.
- It is not a chance of few values: s columns agree in at least 2 s + 2 different records (10 s where decimals are
  rounded), and every column differs from its most frequent value in at least three of them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]
Int = NDArray[np.int64]

LEAST_SHARE = 0.95  # of the records in which a relation must hold
MOST_COLUMNS = 100  # that are looked at in pairs and in threes
MOST_IN_FOURS = 24  # columns that are looked at in fours
MOST_TERMS = 20  # columns of a long sum
MOST_GAPS = 8  # different ways in which values are missing
MOST_TRIED = 2000  # sets of columns that are nearly dependent and are checked number by number
ROWS = 2000  # of the sample in which candidates are looked for

_PARTS, _PART = 5, 60  # small parts of the sample, and their rows
_CLEAR = 20.0  # how much more a column must move than the relation is off
_EXACT = 1e-9  # what the arithmetic of doubles may be off, as a part of the numbers added
_AT_ONCE = 20_000  # sets of columns in one call
_MOST_DECIMALS = 9


@dataclass(frozen=True)
class Relation:
    """columns[0] = constant + the sum of coefficients[i] * columns[i + 1], up to `tolerance`."""

    columns: tuple[str, ...]
    coefficients: tuple[float, ...]
    constant: float
    tolerance: float = 0.0
    share: float = 1.0  # of the records

    def holds(self, values: Float) -> Bool:
        """Whether it is true of each record, given the numbers of its columns."""
        with np.errstate(over="ignore", invalid="ignore"):  # a number beyond all others fits no relation
            terms = values[:, 1:] * np.array(self.coefficients)
            size = np.abs(values[:, 0]) + np.abs(terms).sum(axis=1) + abs(self.constant)
            off = np.abs(values[:, 0] - terms.sum(axis=1) - self.constant)
            return np.asarray((off <= self.tolerance + _EXACT * size) & np.isfinite(size))

    def __str__(self) -> str:
        terms = [
            (c, quoted(name) if abs(c) == 1 else f"{plain(abs(c))} × {quoted(name)}")
            for name, c in zip(self.columns[1:], self.coefficients, strict=True)
        ]
        constant = [(self.constant, plain(abs(self.constant)))] if self.constant else []
        terms = [*constant, *terms] if terms[0][0] < 0 < self.constant else [*terms, *constant]
        right = "".join(f" {'−' if sign < 0 else '+'} {text}" for sign, text in terms).removeprefix(" + ")
        rounded = ", up to rounding" if self.tolerance else ""
        return f"{quoted(self.columns[0])} = {right.strip()} {in_records(self.share)}{rounded}"


def in_records(share: float) -> str:
    """In how many of the records; never "100 %" where it is not all."""
    return "in every record" if share == 1 else f"in {min(99.99, 100 * share):.4g} % of the records"


def quoted(name: str) -> str:
    """The name of a column, in quotes where it would not stand out in a formula."""
    return name if re.fullmatch(r"\w+", name) else repr(name)


def plain(value: float) -> str:
    """A coefficient as one would write it: 1/3, 0.4536, 12."""
    fraction = Fraction(value).limit_denominator(12)
    if fraction.denominator > 1 and float(fraction) == value and len(f"{value:.12g}") > 6:
        return str(fraction)
    return f"{value:.12g}"


def relations(names: Sequence[str], values: Float, needed: Bool, hidden: Bool) -> list[Relation]:
    """The relations in a sample that have a column which is needed and one which is hidden; a gap is NaN.

    `needed` are the columns released as they are, `hidden` the quasi-identifiers; there are MOST_COLUMNS at most.
    """
    found: dict[frozenset[int], Relation] = {}
    tried: set[tuple[int, ...]] = set()
    for rows, columns in complete_parts(values):
        whole = values[rows][:, columns]
        for part in parts_of(whole):
            for subset in candidates(part, needed[columns], hidden[columns]):
                chosen = tuple(int(columns[i]) for i in subset)
                if frozenset(chosen) in found or len(tried) >= MOST_TRIED:
                    continue
                tried.add(chosen)
                called = [names[i] for i in chosen]
                relation = fitted(called, part[:, subset], whole[:, subset], needed[list(chosen)])
                if relation is not None:
                    found[frozenset(chosen)] = relation
    true = {key: in_all(relation, names, values) for key, relation in found.items()}
    kept = {key: relation for key, relation in true.items() if relation.share >= LEAST_SHARE}
    return [relation for key, relation in kept.items() if not any(other < key for other in kept)]


def in_all(relation: Relation, names: Sequence[str], values: Float) -> Relation:
    """A relation with its share of all rows that have the numbers."""
    own = values[:, [names.index(name) for name in relation.columns]]
    return replace(relation, share=float(relation.holds(own[~np.isnan(own).any(axis=1)]).mean()))


def parts_of(values: Float) -> list[Float]:
    """The whole sample, and some small parts of it, if it is larger than these and not too wide."""
    if len(values) < 2 * _PART or values.shape[1] > MOST_IN_FOURS:
        return [values]
    starts = np.linspace(0, len(values) - _PART, _PARTS).astype(int)
    return [values, *(values[start : start + _PART] for start in starts)]


def complete_parts(values: Float) -> Iterator[tuple[Int, Int]]:
    """Rows and the columns that have no gap in them: for all rows, and for those of each way to have gaps."""
    gaps = np.isnan(values)
    patterns = dict.fromkeys(gap.tobytes() for gap in gaps.T)
    for pattern in sorted(patterns, key=lambda p: np.frombuffer(p, bool).sum())[: MOST_GAPS + 1]:
        rows = np.flatnonzero(~np.frombuffer(pattern, bool))
        if len(rows) < 6:
            continue
        rows = rows[:: max(1, -(-len(rows) // ROWS))]
        yield rows, np.flatnonzero(~gaps[rows].any(axis=0))


def candidates(values: Float, needed: Bool, hidden: Bool) -> Iterator[list[int]]:
    """Sets of two to four columns of which one is all but given by the others, small sets first."""
    with np.errstate(all="ignore"):
        spread = values.std(axis=0)
        usable = np.flatnonzero((spread > 1e-12 * np.abs(values).max(axis=0)) & np.isfinite(spread))
    scaled = (values[:, usable] - values[:, usable].mean(axis=0)) / spread[usable]
    correlations = scaled.T @ scaled / max(1, len(scaled))
    for size in (2, 3, 4) if len(usable) <= MOST_IN_FOURS else (2, 3):
        for sets in sets_of(usable, size, needed, hidden):
            squares = correlations[sets[:, :, None], sets[:, None, :]]
            lengths, axes = np.linalg.eigh(squares)
            off, least = np.sqrt(np.maximum(lengths[:, 0], 0)), np.abs(axes[:, :, 0]).min(axis=1)
            # One relation, not two in one set, and no column that could be left out.
            alone = lengths[:, 1] > 1e-10 + 100 * np.maximum(lengths[:, 0], 0)
            for chosen in sets[alone & (least > 1e-6) & (least >= _CLEAR * off)]:
                yield [int(usable[i]) for i in chosen]
    yield from (
        [int(usable[i]) for i in chosen] for chosen in long_sums(correlations, needed[usable], hidden[usable])
    )


def long_sums(correlations: Float, needed: Bool, hidden: Bool) -> Iterator[Int]:
    """Sets of more than four columns in one relation: the rows of the null space, solved for some columns."""
    lengths, axes = np.linalg.eigh(correlations)
    rows = axes[:, lengths < 1e-14 * len(lengths)].T.copy()
    for number in range(len(rows)):
        at = np.unravel_index(np.abs(rows[number:]).argmax(), rows[number:].shape)
        rows[[number, number + at[0]]] = rows[[number + at[0], number]]
        rows[number] /= rows[number, at[1]]
        others = np.arange(len(rows)) != number
        rows[others] -= np.outer(rows[others, at[1]], rows[number])
    for row in rows:
        chosen = np.flatnonzero(np.abs(row) > 1e-6)
        if 4 < len(chosen) <= MOST_TERMS and needed[chosen].any() and hidden[chosen].any():
            yield chosen


def sets_of(usable: Int, size: int, needed: Bool, hidden: Bool) -> Iterator[Int]:
    """All sets of so many columns with one that is needed and one that is hidden, some at a time."""
    need, hide = needed[usable], hidden[usable]
    if not need.any() or not hide.any():
        return
    every = combinations(range(len(usable)), size)
    while True:
        some = np.array([chosen for _, chosen in zip(range(_AT_ONCE), every, strict=False)], dtype=np.int64)
        if not len(some):
            return
        some = some[need[some].any(axis=1) & hide[some].any(axis=1)]
        if len(some):
            yield some


def fitted(names: Sequence[str], values: Float, every: Float, needed: Bool) -> Relation | None:
    """The relation between some columns in plain numbers, from some rows, if it is true of all and no chance."""
    lead = lead_of(values, needed)
    spread = values.std(axis=0)
    slopes, off = slopes_of(values, lead)
    rest = [int(i) for i in np.argsort(-np.abs(slopes * spread), kind="stable") if i != lead]
    unsure = np.maximum(1e-6 * np.abs(slopes), 4 * off / spread / np.sqrt(len(values)))
    simple = [simplest(float(slopes[i]), float(unsure[i])) for i in rest]
    if 0 in simple:
        return None
    order = [lead, *rest]
    every, spread, factors = every[:, order], every.std(axis=0)[order], np.array([1.0, *simple])
    units = np.array([unit_of(column) for column in every.T])
    left = float(np.median(every[:, 0] - every[:, 1:] @ np.array(simple)))
    size = float(np.abs(every * factors).max())
    for tolerance in (0.0, float((np.abs(factors) * units).sum())):
        constant = simplest(left, max(_EXACT * size, tolerance / 4))
        relation = Relation(tuple(names[i] for i in order), tuple(simple), constant, tolerance)
        holds = relation.holds(every)
        clear = bool((np.abs(factors) * spread >= tolerance * _CLEAR / 2).all())
        if clear and holds.mean() >= LEAST_SHARE and is_no_chance(every[holds], bool(tolerance)):
            return relation
    return None


def slopes_of(values: Float, lead: int) -> tuple[Float, float]:
    """The coefficient of each column in the best fit of one, which has none itself, and what the fit is off.

    Without a constant where that fits as well: the coefficients are then better known.
    """
    rest = np.arange(values.shape[1]) != lead
    spread = values.std(axis=0)
    fits = []
    for middle in (np.zeros(len(rest)), values.mean(axis=0)):
        scaled = (values - middle) / spread
        fit, *_ = np.linalg.lstsq(scaled[:, rest], scaled[:, lead], rcond=None)
        slopes = np.zeros(len(rest))
        slopes[rest] = fit * spread[lead] / spread[rest]
        off = scaled[:, lead] - scaled[:, rest] @ fit
        fits.append((slopes, float(np.sqrt(np.square(off).mean()) * spread[lead])))
    (through_zero, first), (_, second) = fits
    return (through_zero, first) if first <= max(1.05 * second, 1e-9 * spread[lead]) else fits[1]


def lead_of(values: Float, needed: Bool) -> int:
    """The column to stand on the left: the one whose sign differs from all others, else the first needed one."""
    centred = (values - values.mean(axis=0)) / values.std(axis=0)
    axis = np.linalg.eigh(centred.T @ centred)[1][:, 0]
    for sign in (axis > 0, axis < 0):
        if sign.sum() == 1 and len(axis) > 2:
            return int(sign.argmax())
    return int(needed.argmax())


def simplest(value: float, unsure: float) -> float:
    """A fraction of small whole numbers this near to a value, or else a number with few digits still nearer."""
    if abs(value) <= unsure:
        return 0.0
    for fraction in (Fraction(round(value)), Fraction(value).limit_denominator(12)):
        if abs(float(fraction) - value) <= unsure:
            return float(fraction)
    magnitude = int(np.floor(np.log10(abs(value))))
    for digits in range(-magnitude, 15 - magnitude):
        if abs(round(value, digits) - value) <= unsure / 4:
            return round(value, digits)
    return value


def unit_of(values: Float) -> float:
    """One in the last decimal that the numbers have; 0 where they have none."""
    for decimals in range(_MOST_DECIMALS + 1):
        scale = 10.0**decimals
        if np.abs(values).max() * scale < 2**53 and np.array_equal(np.rint(values * scale) / scale, values):
            return 1 / scale
    return 0.0


def is_no_chance(values: Float, rounded: bool) -> bool:
    """Whether enough different records agree, and every column takes part in enough of them."""
    different = np.unique(values, axis=0)
    size = values.shape[1]
    if len(different) < (10 * size if rounded else 2 * size + 2):
        return False
    for number in range(size):
        each, counts = np.unique(values[:, number], return_counts=True)
        if (different[:, number] != each[counts.argmax()]).sum() < 3:
            return False
    return True
