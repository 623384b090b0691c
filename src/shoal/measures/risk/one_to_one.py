"""One-to-one linkage: everybody is linked at once, and no released record to two people.

An attacker who knows everybody in the table can do better than to take the nearest record for each: a group of
five records belongs to five people. The best links are a transport problem from people to groups, whose capacities
are their sizes, at the least total squared distance. It is solved exactly, by chains of moves, without a matrix of
all distances. Within a group nobody can tell records apart, so a person in the own group is found with 1 / (its
size).

Reference: J. Herranz, J. Nin, P. Rodríguez and T. Tassa, Revisiting distance-based record linkage for
privacy-preserving release of statistical datasets, Data & Knowledge Engineering 100 (2015) 78-93.
"""

from collections.abc import Iterable
from math import sqrt

import numpy as np

from shoal.cards import counted
from shoal.kernels.transport.flow import transport
from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Float, Int, Pair, pair_measure
from shoal.measures.risk.linkage import baselines
from shoal.measures.risk.nearest import Classes, Coordinates, classes_of, coordinates
from shoal.measures.risk.sampling import Rate

PEOPLE = 3000  # that are linked at once
_LARGEST = 1000  # of one group


@pair_measure(matched=True)
def linkage_one_to_one(pair: Pair) -> Iterable[Figure]:
    """How many records an attacker finds who links everybody at once."""
    if not pair.quasi_identifiers or not pair.n_after:
        return
    classes = classes_of(pair)
    records, groups = people_of_some_groups(classes, pair.seed)
    found = linked_at_once(pair, classes, records, groups)
    base, right = baselines(pair), 100.0 * float(np.count_nonzero(found) / len(found))
    whole = len(groups) == len(classes.sizes)
    rate = Rate(
        100.0 * float(found.mean()), error_by_groups(found, classes.of[records], len(classes.sizes)),
        len(records), pair.n_before,
    )  # fmt: skip
    how = "all records at once" if whole and rate.records == rate.of else (
        f"{counted(len(records))} people of {counted(len(groups))} groups drawn at random, standard error "
        f"{rate.error:.2f} %; among fewer groups the right one is found more easily"
    )  # fmt: skip
    yield Figure(
        "linkage_one_to_one", rate.percent, "%", rate.said, "found where everybody is linked at once",
        f"Whoever knows everybody and links all people to records at once finds {rate.said} of them, and the "
        f"right group of {right:.2f} %; k = {pair.k} allows at most {base['at_most']:.2f} % ({how}).",
        "risk", details=rate.details | base | {"right_group": right, "groups": len(groups)},
        definition="People are assigned to groups, to each as many as it has records, at the least sum of squared "
        "distances (an exact transport problem). Expected share of people linked to their own record: 1 / (size "
        "of the group) for whoever is assigned to the own group, else 0. Numbers and ordered categories are "
        "standardised by the original; another category counts 1, and so does a gap on one side alone. With many "
        "groups, some are drawn and only their people are linked, which is easier: the figure is then rather too "
        "high. Its standard error is that of drawn groups.",
        table=FigureTable(
            ("what", "%"),
            (("found", rate.percent), ("right group", right), ("at most, 1/k", base["at_most"]),
             ("blind, 1/n", base["blind"])),
        ),
    )  # fmt: skip


def people_of_some_groups(classes: Classes, seed: int) -> tuple[Int, Int]:
    """Groups in random order until there are enough people, two at least, and the people of these."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(classes.sizes))
    people = np.cumsum(np.minimum(classes.sizes[order], _LARGEST))
    groups = np.sort(order[: max(int(np.searchsorted(people, PEOPLE, side="right")), 2)])
    chosen = np.zeros(len(classes.sizes), bool)
    chosen[groups] = True
    records = np.flatnonzero(chosen[classes.of])
    records = records[np.argsort(rng.random(len(records)))]  # so that those left out of large groups are any
    by_group = records[np.argsort(classes.of[records], kind="stable")]
    _, start, count = np.unique(classes.of[by_group], return_index=True, return_counts=True)
    within = np.arange(len(by_group)) - np.repeat(start, count)
    return np.sort(by_group[within < _LARGEST]), groups


def error_by_groups(found: Float, of: Int, groups: int) -> float:
    """The standard error of the mean, in percent, where whole groups were drawn of so many; 0 where all were."""
    _, place = np.unique(of, return_inverse=True)
    place = place.reshape(-1)
    drawn = int(place.max()) + 1
    if drawn == groups or drawn < 2:
        return 0.0
    apart = np.bincount(place, found - found.mean())
    variance = float((apart**2).sum()) * drawn / (drawn - 1) * (1.0 - drawn / groups)
    return 100.0 * sqrt(variance) / len(found)


def linked_at_once(pair: Pair, classes: Classes, records: Int, groups: Int) -> Float:
    """How probably each of these people is found where all are assigned to these groups."""
    columns, row = pair.quasi_identifiers, classes.row[groups]
    where = coordinates(columns, [each.before[records] for each in columns], [each.after[row] for each in columns])
    people, centres = points(where)
    own = np.searchsorted(groups, classes.of[records])
    capacity = np.bincount(own, minlength=len(groups))
    labels, _ = transport(people, centres, capacity, capacity, True)
    return np.where(labels == own, 1.0 / classes.sizes[groups][own], 0.0)


def points(where: Coordinates) -> tuple[Float, Float]:
    """The same distances between points: a category is a coordinate of its own, of 0 or the root of a half."""
    both = np.concatenate([where.records, where.rows])
    parts = []
    for j in range(both.shape[1]):
        if where.named[j]:
            known, code = np.unique(both[:, j], return_inverse=True)
            parts.append(np.eye(len(known))[code] * np.sqrt(0.5))
        else:
            parts.append(both[:, j : j + 1])
    placed = np.ascontiguousarray(np.concatenate(parts, axis=1))
    return placed[: len(where.records)], placed[len(where.records) :]
