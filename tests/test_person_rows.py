import warnings

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import naive
import shoal
from shoal.person_rows import differing, few_differing, is_constant_for, levels_of


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


def test_rows_are_lined_up_along_the_axis_of_the_greatest_spread():
    """Four persons with two rows each, far apart in the second coordinate and near in the first."""
    persons = np.repeat(np.arange(4), 2)
    points = np.column_stack([[5.0, 0, 5, 0, 0, 5, 0, 5], np.tile([0.0, 100.0], 4)])
    assert levels_of(points, np.zeros(8, int), persons, 2).tolist() == [0, 1] * 4


def test_a_few_persons_who_differ_are_found():
    persons = np.concatenate([np.repeat(np.arange(20), 3), [20, 21]])
    births = np.random.default_rng(0).normal(size=22)[persons][:, None]
    assert len(few_differing(persons, births)) == 0
    births[[0, 7]] += 1
    assert few_differing(persons, births).tolist() == [0, 2]
    births[[30]] += 1  # three of the twenty who have several rows are more than one in ten
    assert differing(persons, births).tolist() == [0, 2, 10]
    assert len(few_differing(persons, births)) == 0


def test_a_column_that_is_constant_for_nearly_all_persons_is_warned_of():
    persons = np.repeat(np.arange(20), 3)
    frame = pd.DataFrame({"who": persons, "birth": 1950 + persons * 7 % 20, "visit": np.arange(60) * 11 % 60})
    options = {"person": "who", "person_rows": "apart", "method": "mdav", "keep_order": True}
    with warnings.catch_warnings(record=True) as quiet:
        warnings.simplefilter("always")
        shoal.anonymize(frame, 3, ["birth", "visit"], **options)
    assert not [each for each in quiet if "nearly all persons" in str(each.message)]
    frame.loc[4, "birth"] += 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shoal.anonymize(frame, 3, ["birth", "visit"], **options)
    (said,) = [str(each.message) for each in caught if "nearly all persons" in str(each.message)]
    assert said.startswith(
        "quasi-identifier 'birth' is constant for nearly all persons and differs between the rows"
    )
    assert "of 1 person ('1'), so it is treated as varying" in said
    assert said.endswith("if it should be constant, correct these rows")
