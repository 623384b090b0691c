"""Interval disclosure: how many original numbers lie in a narrow interval around the released ones.

An attacker who knows the record of a person reads off the released number about how large the original is. The
interval is p % of the records to either side in rank order, or p % of the standard deviation to either side; the
figure is the mean for p = 1, 2, ..., 10.

References: by ranks, J. Domingo-Ferrer and V. Torra, A quantitative comparison of disclosure control methods for
microdata (2001); by standard deviations, J. M. Mateo-Sanz, F. Sebé and J. Domingo-Ferrer, Outlier protection in
continuous microdata masking, Privacy in Statistical Databases (2004) 201-215.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from shoal.cards import counted
from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Float, Pair, PairColumn, pair_measure
from shoal.measures.risk.sampling import drawn, once

SAMPLE = 100_000  # records whose intervals are looked at
PERCENTS = np.arange(1.0, 11.0)
AT_ONCE = 5  # % of the standard deviation, for all attributes at once


@dataclass(frozen=True)
class Within:
    """The share of the original numbers of a column within the intervals, in percent."""

    name: str
    ranks: float
    deviations: float


@once
def intervals_of(pair: Pair) -> tuple[Within, ...]:
    """The shares of each quasi-identifier that holds numbers."""
    records = drawn(pair.n_before, SAMPLE, pair.seed)
    found = []
    for column in pair.quasi_identifiers:
        before, after = column.before[records], column.after[records]
        known = ~np.isnan(before) & ~np.isnan(after)
        if not column.is_number or not known.any():
            continue
        before, after = before[known], after[known]
        ranks = share_within(ranks_needed(before, after, column.after), PERCENTS)
        found.append(Within(column.name, ranks, share_within(deviations_needed(before, after, column), PERCENTS)))
    return tuple(found)


def share_within(needed: Float, percents: Float) -> float:
    """The share of records that need no more, in percent, on average over some percentages."""
    return 100.0 * float(np.mean([np.mean(needed <= p * (1 + 1e-12)) for p in percents]))


def ranks_needed(before: Float, after: Float, released: Float) -> Float:
    """How many percent of all records the interval around a released number must have to reach the original.

    The middle of equal released numbers is their rank. The interval ends at released numbers, so an original
    beyond the smallest or the largest of them is never reached.
    """
    line = np.sort(released[~np.isnan(released)])
    n = len(line)
    middle = (np.searchsorted(line, after) + np.searchsorted(line, after, side="right") - 1) / 2
    above, below = np.searchsorted(line, before), np.searchsorted(line, before, side="right") - 1
    needed = np.where(before >= after, above - middle, middle - below)
    needed = np.where(before == after, 0.0, np.where((above == n) | (below < 0), np.inf, needed))
    return 100.0 * needed / n


def deviations_needed(before: Float, after: Float, column: PairColumn) -> Float:
    """The difference of both numbers in percent of the standard deviation (n - 1) of the released column."""
    released = column.after[~np.isnan(column.after)]
    spread = float(released.std(ddof=1)) if len(released) > 1 and released.min() < released.max() else 0.0
    apart = np.abs(before - after)
    far = 100.0 * apart / spread if spread > 0 else np.where(np.isnan(apart), np.nan, np.inf)
    return np.where(apart == 0, 0.0, far)


def at_once(pair: Pair) -> float:
    """The share of records all of whose numbers lie within 5 % of a standard deviation, in percent."""
    records = drawn(pair.n_before, SAMPLE, pair.seed)
    inside, columns = np.ones(len(records), bool), [each for each in pair.quasi_identifiers if each.is_number]
    for column in columns:
        before, after = column.before[records], column.after[records]
        inside &= ~(deviations_needed(before, after, column) > AT_ONCE * (1 + 1e-12))  # a gap says nothing
    return 100.0 * float(inside.mean())


@pair_measure(matched=True)
def interval_disclosure(pair: Pair) -> Iterable[Figure]:
    """How narrowly the released numbers enclose the original ones."""
    found = intervals_of(pair) if pair.n_after else ()
    if not found:
        return
    sampled = min(pair.n_before, SAMPLE)
    how = "" if sampled == pair.n_before else (
        f" ({counted(sampled)} records drawn at random, standard error at most {50 / np.sqrt(sampled):.2f} %)"
    )  # fmt: skip
    table = FigureTable(
        ("attribute", "within the rank interval, %", "within the interval of standard deviations, %"),
        tuple((each.name, each.ranks, each.deviations) for each in found),
    )
    error = 0.0 if sampled == pair.n_before else 50 / float(np.sqrt(sampled))
    details = {"sampled": sampled, "standard_error": error}
    ranks = mean_of(each.ranks for each in found)
    yield Figure(
        "interval_disclosure_ranks", ranks, "%", f"{ranks:.2f} %", "original numbers close by in rank",
        f"{ranks:.2f} % of the original numbers lie within 1 to 10 % of the records around the released number, "
        f"in rank order{how}.", "risk", details=details,
        definition="Mean over numeric quasi-identifiers and over p = 1, ..., 10 of the share of records whose "
        "original number lies between the released numbers that stand p % of all records below and above its "
        "released number in rank order (Domingo-Ferrer and Torra 2001). Equal numbers have their mean rank; gaps "
        "are left out.",
        table=table,
    )  # fmt: skip
    deviations = mean_of(each.deviations for each in found)
    yield Figure(
        "interval_disclosure_deviations", deviations, "%", f"{deviations:.2f} %",
        "original numbers close by in size",
        f"{deviations:.2f} % of the original numbers differ from the released number by less than 1 to 10 % of "
        f"its standard deviation{how}.", "risk", details=details,
        definition="Mean over numeric quasi-identifiers and over p = 1, ..., 10 of the share of records whose "
        "original number differs from the released one by at most p % of the standard deviation (n - 1) of the "
        "released column (Mateo-Sanz, Sebé and Domingo-Ferrer 2004). Gaps are left out.",
        table=table,
    )  # fmt: skip
    together = at_once(pair)
    yield Figure(
        "interval_disclosure_at_once", together, "%", f"{together:.2f} %", "records close by in every number",
        f"{together:.2f} % of the records differ by at most {AT_ONCE} % of the standard deviation in every number"
        f"{how}.", "risk", details=details,
        definition=f"Share of records whose original numbers all differ from the released ones by at most "
        f"{AT_ONCE} % of the standard deviation (n - 1) of the released column; a gap says nothing. It is what "
        f"dRisk of sdcMicro computes with k = 0.05.",
    )  # fmt: skip


def mean_of(shares: Iterable[float]) -> float:
    """The mean of some shares."""
    return float(np.mean(list(shares)))
