import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import naive
from shoal.person_rows import is_constant_for, levels_of


@st.composite
def visits(draw):
    """Rows of persons in groups of persons, at least k to a group, and k."""
    k = draw(st.integers(1, 3))
    n_groups = draw(st.integers(1, 4))
    sizes = draw(st.lists(st.integers(k, k + 3), min_size=n_groups, max_size=n_groups))
    of_group = np.repeat(np.arange(n_groups), sizes)
    rows = draw(st.lists(st.integers(1, 6), min_size=len(of_group), max_size=len(of_group)))
    persons = np.repeat(np.arange(len(of_group)), rows)
    points = draw(arrays(np.int8, (len(persons), draw(st.integers(1, 2))))).astype(float)
    order = np.random.default_rng(draw(st.integers(0, 99))).permutation(len(persons))
    return points[order], of_group[persons][order], persons[order], k


@settings(max_examples=200)
@given(visits())
def test_every_level_has_k_persons_of_one_group(sample):
    points, groups, persons, k = sample
    labels = levels_of(points, groups, persons, k)
    assert sorted(set(labels)) == list(range(labels.max() + 1))
    for level in range(labels.max() + 1):
        assert len(set(groups[labels == level])) == 1
        assert len(set(persons[labels == level])) >= k
    for group in set(groups):
        counts = sorted((int((persons == each).sum()) for each in set(persons[groups == group])), reverse=True)
        assert len(set(labels[groups == group])) == counts[k - 1]


@settings(max_examples=200)
@given(visits())
def test_levels_are_those_of_the_obvious_way(sample):
    points, groups, persons, k = sample
    line = points[:, :1]  # on a line, the principal axis is the line
    assert levels_of(line, groups, persons, k).tolist() == naive.levels(line[:, 0], groups, persons, k)


def test_persons_with_as_many_rows_have_the_same_levels():
    """So where pseudonyms link rows, and all have as many, a sequence of rows singles nobody out."""
    rng = np.random.default_rng(0)
    persons = np.repeat(np.arange(12), 4)
    labels = levels_of(rng.normal(size=(48, 2)), persons // 4, persons, 3)
    for group in range(3):
        seen = {tuple(sorted(labels[persons == person])) for person in range(4 * group, 4 * group + 4)}
        assert len(seen) == 1
        assert len(seen.pop()) == 4


def test_what_is_constant_for_a_person():
    persons = np.array([0, 0, 1, 1])
    assert is_constant_for(persons, np.array([[1.0], [1], [2], [2]]))
    assert not is_constant_for(persons, np.array([[1.0], [1], [2], [3]]))
