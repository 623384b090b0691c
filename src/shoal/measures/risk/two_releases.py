"""Two releases of one table: who is in the same group both times.

Each release hides a person among at least k. Whoever holds both knows that the person is in the one group and in
the other, so among those whom the two groups share. That can be one person only, whatever k was.

Reference: S. R. Ganta, S. P. Kasiviswanathan and A. Smith, Composition attacks and auxiliary information in data
privacy, KDD 2008, 265-273.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import ShoalError
from shoal.measures.figures import Figure, FigureTable

Int = NDArray[np.int64]

_SIZES = 30  # rows of the table of sizes; the last one holds all larger sizes


def intersection(groups_one: ArrayLike, groups_two: ArrayLike, ids: ArrayLike | None = None) -> list[Figure]:
    """What is left of k when both releases of a table are known.

    Parameters
    ----------
    groups_one, groups_two : arrays of shape (n,)
        The group of each original record in the first and in the second release, such as their `labels`.
    ids : array of shape (n,), optional
        Whose each record is. By default every record is a person of its own.

    Returns
    -------
    list of Figure
        The k that is left, the share of persons who are alone, the expected re-identification.
    """
    one, two = numbered(groups_one, "groups_one"), numbered(groups_two, "groups_two")
    persons = np.arange(len(one)) if ids is None else numbered(ids, "ids")
    if not len(one) == len(two) == len(persons):
        raise ShoalError(
            f"groups_one, groups_two and ids must be of the same records; they have {len(one)}, {len(two)} and "
            f"{len(persons)}"
        )
    if not len(one):
        raise ShoalError("groups_one has no records; give the group of each record")
    alone = (smallest_among(groups, persons) for groups in (one, two))
    return list(said(smallest_among(shared_groups(one, two), persons), *(int(sizes.min()) for sizes in alone)))


def numbered(values: ArrayLike, name: str) -> Int:
    """Labels of any kind by number."""
    labels = np.asarray(values)
    if labels.ndim != 1:
        raise ShoalError(f"{name} must hold one label for each record; its shape is {labels.shape}")
    numbers: Int = np.unique(labels, return_inverse=True)[1].reshape(-1)
    return numbers


def shared_groups(one: Int, two: Int) -> Int:
    """The number of the intersection that each record is in."""
    both: Int = np.unique(one * (int(two.max()) + 1) + two, return_inverse=True)[1].reshape(-1)
    return both


def smallest_among(groups: Int, persons: Int) -> Int:
    """How many persons each person hides among: in the smallest of the groups that the person has a record in."""
    people = int(persons.max()) + 1
    members = np.unique(groups * people + persons)
    sizes = np.bincount(members // people)
    least: Int = np.full(people, len(groups) + 1, np.int64)
    np.minimum.at(least, members % people, sizes[members // people])
    return least


def said(sizes: Int, k_one: int, k_two: int) -> Iterable[Figure]:
    """The figures of the sizes that are left."""
    k, persons = int(sizes.min()), len(sizes)
    percent = 100.0 * int((sizes == 1).sum()) / persons
    expected = 100.0 * float((1.0 / sizes).mean())
    yield Figure(
        "intersection_k", k, "persons", f"k = {k}", "when both releases are known",
        f"Whoever holds both releases finds every person among at least {k}; alone the releases have k = {k_one} "
        f"and k = {k_two}.",
        "risk", details={"k_one": k_one, "k_two": k_two},
        definition="The smallest number of persons that the group of a record in one release and its group in the "
        "other have in common.",
        table=table_of(sizes),
    )  # fmt: skip
    yield Figure(
        "intersection_unique", percent, "%", f"{percent:.1f} %",
        "persons who are alone when both releases are known",
        f"{percent:.1f} % of the persons are the only one whom their two groups share.", "risk",
        definition="The share of persons with a record whose two groups have no other person in common.",
    )  # fmt: skip
    yield Figure(
        "intersection_expected", expected, "%", f"{expected:.1f} %", "expected re-identification by both releases",
        "Whoever knows both groups of a person and picks one of their common members is right in "
        f"{expected:.1f} % of cases.", "risk",
        definition="The mean over persons of 1 / (persons in common of both groups), in percent; of several "
        "records of a person the smallest number counts.",
    )  # fmt: skip


def table_of(sizes: Int) -> FigureTable:
    """How many persons hide among how many; sizes beyond the last row are in it."""
    found, counts = np.unique(sizes, return_counts=True)
    rows = [(str(size), int(count)) for size, count in zip(found.tolist(), counts, strict=True)]
    if len(rows) > _SIZES:
        rows = [*rows[: _SIZES - 1], (f"{found[_SIZES - 1]} or more", int(counts[_SIZES - 1 :].sum()))]
    return FigureTable(
        ("persons in common", "persons", "%"),
        tuple((size, count, 100.0 * count / len(sizes)) for size, count in rows),
    )
