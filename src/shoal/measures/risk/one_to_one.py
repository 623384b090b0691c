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

import numpy as np

from shoal.cards import counted
from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Float, Int, Pair, pair_measure
from shoal.measures.risk.linkage import Coordinates, Rate, baselines, classes_of, coordinates

PEOPLE = 3000  # that are linked at once
_LARGEST = 1000  # of one group


@pair_measure(matched=True)
def linkage_one_to_one(pair: Pair) -> Iterable[Figure]:
    """How many records an attacker finds who links everybody at once."""
    if not pair.quasi_identifiers or not pair.n_after:
        return
    records, groups = people_of_some_groups(pair)
    found = linked_at_once(pair, records, groups)
    rate, base = Rate.of_shares(found, pair.n_before), baselines(pair)
    right = 100.0 * float(np.count_nonzero(found) / len(found))
    whole = len(groups) == len(pair.sizes)
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
        "high. Its standard error takes people as independent.",
        table=FigureTable(
            ("what", "%"),
            (("found", rate.percent), ("right group", right), ("at most, 1/k", base["at_most"]),
             ("blind, 1/n", base["blind"])),
        ),
    )  # fmt: skip


def people_of_some_groups(pair: Pair) -> tuple[Int, Int]:
    """Groups in random order until there are enough people, two at least, and the people of these."""
    rng = np.random.default_rng(pair.seed)
    order = rng.permutation(len(pair.sizes))
    people = np.cumsum(np.minimum(pair.sizes[order], _LARGEST))
    groups = np.sort(order[: max(int(np.searchsorted(people, PEOPLE, side="right")), 2)])
    chosen = np.zeros(len(pair.sizes), bool)
    chosen[groups] = True
    records = np.flatnonzero(chosen[pair.groups])
    records = records[np.argsort(rng.random(len(records)))]  # so that those left out of large groups are any
    by_group = records[np.argsort(pair.groups[records], kind="stable")]
    _, start, count = np.unique(pair.groups[by_group], return_index=True, return_counts=True)
    within = np.arange(len(by_group)) - np.repeat(start, count)
    return np.sort(by_group[within < _LARGEST]), groups


def linked_at_once(pair: Pair, records: Int, groups: Int) -> Float:
    """How probably each of these people is found where all are assigned to these groups."""
    from shoal.kernels.transport.flow import transport

    columns, row = pair.quasi_identifiers, classes_of(pair).row[groups]
    where = coordinates(columns, [each.before[records] for each in columns], [each.after[row] for each in columns])
    people, centres = points(where)
    own = np.searchsorted(groups, pair.groups[records])
    capacity = np.bincount(own, minlength=len(groups))
    labels, _ = transport(people, centres, capacity, capacity, True)
    return np.where(labels == own, 1.0 / pair.sizes[groups][own], 0.0)


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
