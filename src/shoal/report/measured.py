"""The figures of a release in memory that compare it with the original, row by row.

They are those measures that take no more than a second or two on twenty thousand records. A larger table is
measured on whole groups that were drawn at random, so that what is counted within groups stays right.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.cards import counted, named
from shoal.measures import Figure
from shoal.measures.pair import LARGEST, Pair, Role, pair_column
from shoal.measures.risk.attacks import attacks
from shoal.measures.risk.classes import class_risks
from shoal.measures.risk.disclosure import disclosure
from shoal.measures.risk.intervals import interval_disclosure
from shoal.measures.risk.linkage import linkage_all, linkage_confidential
from shoal.measures.utility.associations import associations
from shoal.measures.utility.distributions import distributions
from shoal.measures.utility.moments import moments
from shoal.measures.utility.values import value_errors
from shoal.table import Table

Float = NDArray[np.float64]
Int = NDArray[np.int64]

MOST_MEASURED = 20_000  # records
LOSSES: tuple[Callable[[Pair], Iterable[Figure]], ...] = value_errors, moments, associations, distributions
RISKS: tuple[Callable[[Pair], Iterable[Figure]], ...] = (
    disclosure, attacks, linkage_all, linkage_confidential, interval_disclosure,
)  # fmt: skip
"""The measures that look at the columns; k and what follows from it are counted on all records."""


def pair_of(original: Table, released: Table, groups: Int, weights: Float | None) -> Pair:
    """A table and its release, whose rows are in the same order."""
    roles: tuple[tuple[Role, tuple[str, ...]], ...] = (
        ("quasi-identifier", original.roles.quasi_identifiers),
        ("confidential", original.roles.confidential),
    )
    columns = [
        pair_column(role, original.column(name), released.column(name))[0]
        for role, names in roles
        for name in names
    ]
    return Pair(tuple(columns), groups, True, weights)


def figures_of(pair: Pair, whom: str) -> tuple[list[Figure], str]:
    """The figures of all records, and what was sampled, in a sentence.

    Where k counts persons or households, those are left out that take each record for a person.
    """
    found = list(class_risks(pair)) if whom == "records" else []
    more, measured = figures_of_part(pair, whom == "records")
    if measured == pair.n_after:
        return found + more, ""
    return found + more, (
        f"Figures that compare released with original values were computed on {counted(measured)} of "
        f"{counted(pair.n_after)} records: whole groups, drawn at random. Group sizes, k, the information loss "
        "and the distributions are those of all records. Attacks find more easily among fewer records, so their "
        "success is overstated, not understated."
    )


def figures_of_part(pair: Pair, risks: bool = True) -> tuple[list[Figure], int]:
    """The figures that look at columns, on whole groups of a large pair, and on how many records."""
    part = whole_groups(pair, MOST_MEASURED)
    part = replace(part, columns=tuple(column for column in part.columns if column.is_measurable))
    found: list[Figure] = []
    if part.columns:
        for measure in (*LOSSES, *(RISKS if risks else ())):
            found += measure(part)
    return found, part.n_after


def beyond(pair: Pair) -> tuple[str, ...]:
    """Which columns could not be measured, as a note for the owner."""
    names = [column.name for column in pair.columns if not column.is_measurable]
    if not names:
        return ()
    what = f"infinity or with numbers beyond {LARGEST:g}"
    return (f"Columns with {what} take part in no comparison: {named(names)}.",)


def whole_groups(pair: Pair, most: int) -> Pair:
    """The records of groups drawn at random, about `most` of them; all, where there are no more."""
    if pair.n_after <= most:
        return pair
    sizes = pair.sizes
    order = np.random.default_rng(pair.seed).permutation(len(sizes))
    enough = int(np.searchsorted(np.cumsum(sizes[order]), most)) + 1
    chosen = np.zeros(len(sizes), bool)
    chosen[order[:enough]] = True
    rows = np.flatnonzero(chosen[pair.groups])
    renumbered = np.cumsum(chosen) - 1
    return replace(
        pair,
        columns=tuple(column.rows(rows, rows) for column in pair.columns),
        groups=renumbered[pair.groups[rows]],
        weights=None if pair.weights is None else pair.weights[rows],
    )
