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

import numpy as np
from numpy.typing import ArrayLike

from shoal.errors import ShoalError
from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Pair, pair_measure
from shoal.measures.risk.linkage import links_by_all
from shoal.measures.risk.nearest import classes_of
from shoal.measures.risk.sampling import Rate
from shoal.measures.risk.two_releases import numbered, shared_groups


@pair_measure(matched=True)
def minimality(pair: Pair) -> Iterable[Figure]:
    """How often the cell of a person is the group of the person."""
    if not pair.quasi_identifiers or not pair.n_after:
        return
    classes = classes_of(pair)
    records, shares = links_by_all(pair)
    sizes, n = classes.sizes, pair.n_after
    group = Rate.of_shares(shares * sizes[classes.of[records]], n)
    record = 100.0 * float(shares.mean())
    blind = 100.0 * float(((sizes / n) ** 2).sum())
    certain, bound = 100.0 * len(sizes) / n, 100.0 / int(sizes.min())
    yield Figure(
        "known_method", group.percent, "%", f"{group.percent:.1f} %",
        "persons whose group is found by knowing how groups are made",
        f"Whoever knows a person's quasi-identifiers and that groups are of near records finds the right group in "
        f"{group.percent:.1f} % of cases and then the right record in {record:.2f} %; 1/k is {bound:.2f} % "
        f"({group.sample_said}).",
        "risk", "public", details=group.details | {"record_found": record},
        definition="The share of persons whose own group has the nearest released record by all "
        "quasi-identifiers, as in linkage_all; of equally near groups one record is taken at random. Without any "
        "knowledge, a group is guessed with the chance of its size. Repeating a method without randomness on "
        "everybody's quasi-identifiers finds every group, and the record is then one of its members.",
        table=FigureTable(
            ("what the attacker knows", "group found, %", "record found, %"),
            (
                ("nothing: guesses a record", blind, 100.0 / n),
                ("that groups are of near records", group.percent, record),
                ("everybody's quasi-identifiers and a method without randomness", 100.0, certain),
                ("the bound 1/k", None, bound),
            ),
        ),
    )  # fmt: skip


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
        "group in the first run and B in the second. 100 %: the seed hides nothing.",
    )  # fmt: skip
