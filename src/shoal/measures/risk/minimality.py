"""What somebody learns who knows how the groups were made, and what randomness buys.

A method puts records together that are near each other. Whoever knows this, and the quasi-identifiers of a person,
looks for the nearest released record: the group in whose cell the person lies. Whoever knows everybody's
quasi-identifiers and every parameter of a method without randomness repeats it and has every group. In both cases
the person remains one of the members of the group, so the chance to pick the right record is that of the group
divided by its size, and in the mean never above groups / records, which is at most 1/k.

Randomness does not move that bound. It makes the group itself uncertain: `agreement` of two runs with different
seeds is what an attacker with a seed of their own gets right.

References: R. C.-W. Wong et al., Minimality attack in privacy preserving data publishing, VLDB 2007, 543-554.
"""

from collections.abc import Iterable
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from shoal.errors import ShoalError
from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Int, Pair, pair_measure
from shoal.measures.risk.intersection import numbered, shared_groups
from shoal.measures.risk.nearest import deviation_of, groups_near

_PERSONS = 1_000  # persons whose cell is looked up


@pair_measure(matched=True)
def minimality(pair: Pair) -> Iterable[Figure]:
    """How often the cell of a person is the group of the person."""
    if not pair.quasi_identifiers or not pair.n_before:
        return
    targets, found = cells(pair, _PERSONS)
    sizes, n = pair.sizes, pair.n_after
    own = found == pair.groups[targets]
    group = 100.0 * float(own.mean())
    record = 100.0 * float((own / sizes[pair.groups[targets]]).mean())
    error = 100.0 * sqrt(float(own.mean() * (1.0 - own.mean())) / len(own)) if len(own) < n else 0.0
    groups = int((sizes > 0).sum())
    blind = 100.0 * float(((sizes / n) ** 2).sum())
    certain, bound = 100.0 * groups / n, 100.0 / int(sizes[sizes > 0].min())
    sampled = f" (a sample of {len(own)}, standard error {error:.1f})" if len(own) < n else ""
    yield Figure(
        "known_method", group, "%", f"{group:.1f} %",
        "persons whose group is found by knowing how groups are made",
        f"Whoever knows a person's quasi-identifiers and that groups are of near records finds the right group in "
        f"{group:.1f} % of cases{sampled} and then the right record in {record:.2f} %; 1/k is {bound:.2f} %.",
        "risk", "public",
        details={"persons": len(own), "standard_error": error, "record_found": record},
        definition="The share of persons whose nearest released record, by squared distances of the "
        "quasi-identifiers "
        "over the standard deviation of the released ones (categories: 0 or 1), is that of their own group. The "
        "record is then one of the group at random. Without any knowledge: a group is guessed with the chance "
        "of its size. Repeating a method without randomness on everybody's quasi-identifiers finds every group.",
        table=FigureTable(
            ("what the attacker knows", "group found, %", "record found, %"),
            (
                ("nothing: guesses a record", blind, 100.0 / n),
                ("that groups are of near records", group, record),
                ("everybody's quasi-identifiers and a method without randomness", 100.0, certain),
                ("the bound 1/k", None, bound),
            ),
        ),
    )  # fmt: skip


def cells(pair: Pair, most: int) -> tuple[Int, Int]:
    """Some persons, or all if they are few, and the group whose released record is nearest to each."""
    columns = pair.quasi_identifiers
    rng = np.random.default_rng(pair.seed)
    targets = np.arange(pair.n_before)
    if pair.n_before > most:
        targets = np.sort(rng.choice(pair.n_before, most, replace=False))
    persons = np.column_stack([column.before[targets] for column in columns])
    scales = np.array([deviation_of(column.after) if column.is_number else 0.0 for column in columns])
    return targets, groups_near(pair, columns, scales, persons, rng, squared=True)


def agreement(groups_one: ArrayLike, groups_two: ArrayLike) -> Figure:
    """How much of a person's group another run finds: what a seed that is kept secret hides.

    Parameters
    ----------
    groups_one, groups_two : arrays of shape (n,)
        The group of each record in two runs on the same table, such as with different seeds.

    Returns
    -------
    Figure
        The mean share of the companions of a record in the first run that are so in the second run, too.
    """
    one, two = numbered(groups_one, "groups_one"), numbered(groups_two, "groups_two")
    if len(one) != len(two):
        raise ShoalError(f"both runs must be of the same records; they have {len(one)} and {len(two)}")
    if not len(one):
        raise ShoalError("groups_one has no records; give the group of each record")
    both = shared_groups(one, two)
    companions = np.bincount(one)[one] - 1
    kept = np.bincount(both)[both] - 1
    there = companions > 0
    percent = 100.0 * float((kept[there] / companions[there]).mean()) if there.any() else None
    said = "Every record is a group of its own." if percent is None else (
        f"Another run puts {percent:.1f} % of a person's companions into the person's group again."
    )  # fmt: skip
    return Figure(
        "agreement", percent, "%", "" if percent is None else f"{percent:.1f} %",
        "companions in a group that another run finds again", said, "risk",
        definition="The mean over records with companions of |A and B| - 1 over |A| - 1, with A the record's "
        "group "
        "in the first run and B in the second. 100 %: the seed hides nothing.",
    )  # fmt: skip
