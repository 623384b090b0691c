"""Rows of a person in several groups: what is constant for a person stays the same in all of them.

Persons are grouped first, at least k to a group, by the means of their rows. All rows of such a group get the
same values in the quasi-identifiers that are constant for every person, such as the date of birth. Then the rows
of each group of persons are cut into levels by the quasi-identifiers that vary, such as the day of a visit. A
group of persons has as many levels as k of its persons have rows, so these persons are in every level, and every
level has at least k persons. Each of their rows goes to a level by its place among the rows of the person, in the
order of the first principal axis; the rows of the others go to the level whose mean is nearest.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.steps.projections import centred_of, first_direction

Float = NDArray[np.float64]
Int = NDArray[np.int64]


FEW = 10  # one in so many persons may differ where a quasi-identifier is meant to be constant


def is_constant_for(persons: Int, coordinates: Float) -> bool:
    """Whether all rows of each person have the same coordinates."""
    return not len(differing(persons, coordinates))


def differing(persons: Int, coordinates: Float) -> Int:
    """The persons whose rows do not all have the same coordinates."""
    first = np.unique(persons, return_index=True)[1]
    other = (coordinates != coordinates[first[persons]]).any(axis=1)
    return np.unique(persons[other])


def few_differing(persons: Int, coordinates: Float) -> Int:
    """The same where it is constant for nearly all persons who have several rows; nobody where it is not."""
    found = differing(persons, coordinates)
    several = np.count_nonzero(np.bincount(persons) > 1)
    return found if FEW * len(found) <= several else found[:0]


def levels_of(points: Float, groups: Int, persons: Int, k: int) -> Int:
    """The level of each row, numbered over all groups of persons: the labels of groups of rows.

    `points` are the coordinates that vary, `groups` the groups of persons that the rows belong to.
    """
    rows = np.bincount(persons)
    group_of = np.empty(len(rows), np.int64)
    group_of[persons] = groups
    levels = most_levels(rows, group_of, k)
    along = np.asarray(points @ first_direction(centred_of(points)))
    order = np.lexsort((along, persons))
    starts = np.concatenate([[0], np.cumsum(rows)[:-1]])
    place = np.empty(len(persons), np.int64)
    place[order] = np.arange(len(persons)) - np.repeat(starts, rows)
    before = np.concatenate([[0], np.cumsum(levels)]).astype(np.int64)
    full = rows[persons] >= levels[groups]
    labels = np.asarray(before[groups] + place * levels[groups] // rows[persons], np.int64)
    centres = level_centres(along[full], labels[full], persons[full])
    labels[~full] = nearest_level(along[~full], groups[~full], centres, before)
    return labels


def level_centres(along: Float, labels: Int, persons: Int) -> Float:
    """The mean of each level, in which every person counts alike; so the centres of a group of persons rise."""
    pairs, inverse = np.unique(np.stack([labels, persons]), axis=1, return_inverse=True)
    means = np.bincount(inverse, along) / np.bincount(inverse)
    return np.asarray(np.bincount(pairs[0], means) / np.bincount(pairs[0]))


def most_levels(rows: Int, group_of: Int, k: int) -> Int:
    """How many levels each group of persons can have: so many rows as k of its persons have at least."""
    order = np.lexsort((-rows, group_of))
    starts = np.concatenate([[0], np.cumsum(np.bincount(group_of))[:-1]])
    return np.asarray(rows[order[starts + k - 1]])


def nearest_level(along: Float, groups: Int, centres: Float, before: Int) -> Int:
    """The level of its group whose centre is nearest to each row, the lower one of two; centres of a group rise.

    Group g has the levels before[g] to before[g + 1].
    """
    of_level = np.repeat(np.arange(len(before) - 1), np.diff(before))
    inner = np.flatnonzero(of_level[1:] == of_level[:-1])  # the borders between levels of one group
    borders = (centres[inner] + centres[inner + 1]) / 2
    values, owners = np.concatenate([along, borders]), np.concatenate([groups, of_level[inner]])
    is_border = np.arange(len(values)) >= len(along)
    order = np.lexsort((is_border, values, owners))
    passed = np.empty(len(values), np.int64)
    passed[order] = np.cumsum(is_border[order])  # borders of all groups up to this place
    earlier = before[groups] - groups  # those of the groups before
    return np.asarray(before[groups] + passed[: len(along)] - earlier, np.int64)
