"""What a group tells about its members without anybody being found: attribute disclosure.

Whoever knows the group of a person knows the confidential values in it. Where they are all one, the value is known
for certain (homogeneity attack). The share of the most frequent value says how often a guess is right; for numbers
the spread within groups, against that of the table, says how narrow the guess is. All of it is read from the
release alone. A missing value is no value and is left out.

References: A. Machanavajjhala et al., l-diversity: privacy beyond k-anonymity, ACM TKDD 1 (2007); the chance p^k
of a homogeneous group: D. Rebollo-Monedero et al., Efficient k-anonymous microaggregation of multivariate
numerical data via principal component analysis, Information Sciences 503 (2019) 417-443.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Float, Int, Pair, PairColumn, pair_measure

_SHOWN = 10  # groups and values of a column that are named


@dataclass(frozen=True, eq=False)
class Told:
    """What the groups of a release tell about a confidential column; groups without a known value are left out.

    Attributes
    ----------
    column : the column
    values, shares : its different values, and the share of each among the known ones
    groups, known : the groups, and how many known values each has
    different : how many different values each group has
    mode, most : the number of the most frequent value of each group (the lowest of equals), and its count
    """

    column: PairColumn
    values: Float
    shares: Float
    groups: Int
    known: Int
    different: Int
    mode: Int
    most: Int

    @property
    def homogeneous(self) -> NDArray[np.bool_]:
        """Whether each group has one value only."""
        return np.equal(self.different, 1)

    @property
    def found(self) -> float:
        """The percentage of records in groups of one value only."""
        return 100.0 * float(self.known[self.homogeneous].sum() / self.known.sum())

    @property
    def by_chance(self) -> float:
        """The same as expected of groups of these sizes drawn at random: the sum over values of p^size."""
        sizes, place = np.unique(self.known, return_inverse=True)
        chances = np.array([float((self.shares ** int(size)).sum()) for size in sizes])
        return 100.0 * float((self.known * chances[place.reshape(-1)]).sum() / self.known.sum())

    @property
    def guessed(self) -> float:
        """The percentage of records that have the most frequent value of their group."""
        return 100.0 * float(self.most.sum() / self.known.sum())

    @property
    def guessed_by_all(self) -> float:
        """The percentage of records that have the most frequent value of the table."""
        return 100.0 * float(self.shares.max())


def told_by(groups: Int, column: PairColumn) -> Told | None:
    """What groups tell about a column; None where no value is known."""
    there = ~np.isnan(column.after)
    if not there.any():
        return None
    values, codes = np.unique(column.after[there], return_inverse=True)
    codes = codes.reshape(-1).astype(np.int64)
    cells, counts = np.unique(groups[there] * len(values) + codes, return_counts=True)
    names, starts = np.unique(cells // len(values), return_index=True)
    most = np.maximum.reduceat(counts, starts)
    different = np.diff(np.append(starts, len(cells)))
    ways = np.flatnonzero(counts == np.repeat(most, different))
    first = ways[np.searchsorted(ways, starts)]  # the first cell of each group that is as large as its largest
    return Told(
        column, values, np.bincount(codes) / len(codes), names, np.add.reduceat(counts, starts), different,
        cells[first] % len(values), most,
    )  # fmt: skip


def text_of(column: PairColumn, value: float) -> str:
    """A value as text."""
    if np.isnan(value):
        return "(missing)"
    return column.levels[int(value)] if column.levels else f"{value:.6g}"


@pair_measure(matched=False)
def disclosure(pair: Pair) -> Iterable[Figure]:
    """What groups tell about confidential columns."""
    if not pair.n_after:
        return
    told = [each for column in pair.confidential if (each := told_by(pair.groups, column)) is not None]
    if told:
        yield homogeneous_records(told)
        yield homogeneous_values(told, pair.k)
        yield guesses_by_group(told)
        yield worst_groups(told, pair)
    spread = [row for each in told if each.column.is_number and (row := spread_row(pair.groups, each.column))]
    if spread:
        yield spread_in_groups(spread)


def homogeneous_records(told: list[Told]) -> Figure:
    """How many records are in groups of one confidential value only, beside what chance gives."""
    worst = max(told, key=lambda each: each.found)
    return Figure(
        "homogeneous_records", worst.found, "%", f"{worst.found:.2f} %",
        "records whose group gives away a confidential value for certain",
        f"{worst.found:.2f} % of the records are in groups that have only one value of {worst.column.name!r}; "
        f"with groups drawn at random it would be {worst.by_chance:.2f} %.",
        "risk", "public",
        definition="The share of records with a known value in groups whose known values are all the same, for "
        "the column where it is highest. By chance: the mean over records of the sum over values v of p(v)^s, "
        "with s the size of the group and p(v) the share of v in the release (drawn with replacement).",
        table=FigureTable(
            ("column", "records in groups of one value, %", "by chance, %", "groups of one value", "groups",
             "records without a value"),
            tuple((each.column.name, each.found, each.by_chance, int(each.homogeneous.sum()), len(each.groups),
                   int(np.isnan(each.column.after).sum())) for each in told),
        ),
    )  # fmt: skip


def homogeneous_values(told: list[Told], k: int) -> Figure:
    """The most frequent values, the chance p^k that a group of k has nothing else, and how many groups have."""
    rows = []
    for each in told:
        found = np.bincount(each.mode[each.homogeneous], minlength=len(each.values))
        for value in np.argsort(-each.shares, kind="stable")[:_SHOWN].tolist():
            share = float(each.shares[value])
            rows.append((
                each.column.name, text_of(each.column, each.values[value]), 100.0 * share, 100.0 * share**k,
                100.0 * float(found[value]) / len(each.groups),
            ))  # fmt: skip
    top = max(rows, key=lambda row: row[3])
    return Figure(
        "homogeneity_probability", top[3], "%", "",
        "chance that a group of k has one confidential value only, p^k",
        f"The value {top[1]!r} of {top[0]!r} is held by {top[2]:.1f} % of the records, so a random group of {k} "
        f"has nothing else in {top[3]:.3g} % of cases; {top[4]:.3g} % of the groups have.",
        "risk",
        definition="p^k with p the share of a value among the known values of the release and k the size of the "
        f"smallest group, for the {_SHOWN} most frequent values of each column; beside it the share of all groups "
        "that have this value only.",
        table=FigureTable(
            ("column", "value", "share p, %", "p^k, %", "groups with this value only, %"), tuple(rows)
        ),
    )  # fmt: skip


def guesses_by_group(told: list[Told]) -> Figure:
    """How often the most frequent value of a person's group is the person's, beside that of the table."""
    best = max(told, key=lambda each: each.guessed - each.guessed_by_all)
    return Figure(
        "guesses_by_group", best.guessed, "%", f"{best.guessed:.1f} %",
        "confidential values guessed by the most frequent one of the group",
        f"Whoever knows a person's group and guesses its most frequent value of {best.column.name!r} is right in "
        f"{best.guessed:.1f} % of cases; with the most frequent value of the table in {best.guessed_by_all:.1f} "
        "%.",
        "risk", "public",
        definition="The share of records with a known value that have the most frequent known value of their "
        "group, beside the share that has the most frequent value of the release; for the column with the largest "
        "difference.",
        table=FigureTable(
            ("column", "right by the group, %", "right by the table, %", "highest share in a group, %"),
            tuple((each.column.name, each.guessed, each.guessed_by_all,
                   100.0 * float((each.most / each.known).max())) for each in told),
        ),
    )  # fmt: skip


def worst_groups(told: list[Told], pair: Pair) -> Figure:
    """The groups that tell most: by the share of one value, then by how rare that value is in the table."""
    rows = []
    for each in told:
        share, table = each.most / each.known, each.shares[each.mode]
        rows += [
            (each.column.name, int(each.groups[place]), members_of(pair, int(each.groups[place])),
             int(each.known[place]), text_of(each.column, each.values[each.mode[place]]),
             100.0 * float(share[place]), 100.0 * float(table[place]))
            for place in np.lexsort((each.groups, table, -share))[:_SHOWN].tolist()
        ]  # fmt: skip
    top = max(rows, key=lambda row: row[5] - row[6])
    return Figure(
        "worst_groups", top[5], "%", "", "highest share of one confidential value in a group",
        f"In the group of {top[2]}, {top[5]:.0f} % of the {top[3]} known values of {top[0]!r} are {top[4]!r}, "
        f"which {top[6]:.1f} % of all records have.",
        "risk",
        definition=f"The {_SHOWN} groups of each confidential column in which one value has the highest share; of "
        "equal shares the value that is rarer in the release comes first.",
        table=FigureTable(
            ("column", "group", "released quasi-identifiers", "known values", "value", "share in the group, %",
             "share in the table, %"), tuple(rows),
        ),
    )  # fmt: skip


def members_of(pair: Pair, group: int) -> str:
    """The released quasi-identifiers of a group, as text."""
    row = int(np.argmax(pair.groups == group))
    said = (f"{column.name} = {text_of(column, column.after[row])}" for column in pair.quasi_identifiers)
    return ", ".join(said) or "all records"


def spread_row(groups: Int, column: PairColumn) -> tuple[str, float, float, float, float] | None:
    """How narrow the groups are in a column of numbers; None where all numbers are the same.

    The standard deviation within groups, the smallest range and the median range of a group, each as a percentage
    of that of the table; and the percentage of records in groups with less than a tenth of the table's range.
    """
    there = ~np.isnan(column.after)
    values = column.after[there]
    total = float(np.ptp(values))
    if total == 0.0:
        return None
    order = np.lexsort((values, groups[there]))
    values, starts = values[order], np.unique(groups[there][order], return_index=True)[1]
    sizes = np.diff(np.append(starts, len(values)))
    means = np.add.reduceat(values, starts) / sizes
    within = float(np.sqrt(((values - np.repeat(means, sizes)) ** 2).mean()))
    ranges = (values[starts + sizes - 1] - values[starts]) / total
    narrow = float(sizes[ranges < 0.1].sum() / len(values))
    return (
        column.name, 100.0 * within / float(values.std()), 100.0 * float(ranges.min()),
        100.0 * float(np.median(ranges)), 100.0 * narrow,
    )  # fmt: skip


def spread_in_groups(rows: list[tuple[str, float, float, float, float]]) -> Figure:
    """How narrowly groups give away confidential numbers."""
    narrowest = min(rows, key=lambda row: row[1])
    return Figure(
        "confidential_spread", narrowest[1], "%", f"{narrowest[1]:.1f} %",
        "spread of confidential numbers within groups, of that of the table",
        f"Within groups {narrowest[0]!r} spreads {narrowest[1]:.1f} % as much as in the table; {narrowest[4]:.1f} "
        "% of the records are in groups that span less than a tenth of the table's range.",
        "risk",
        definition="The root of the mean squared difference to the mean of the group, over the standard "
        "deviation of the released column (both divide by the number of records), for the column where it is "
        "lowest. 100 % tells nothing, 0 % everything.",
        table=FigureTable(
            ("column", "spread within groups, %", "smallest range, %", "median range, %",
             "records in groups below a tenth of the range, %"), tuple(rows),
        ),
    )  # fmt: skip
