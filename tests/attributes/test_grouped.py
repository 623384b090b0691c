from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import naive
from columns import parts_of
from shoal.attributes.grouped import counted, lower_medians, modes, whole_percents


@st.composite
def groups_of_codes(draw):
    """Codes, and groups that do not stand in the order of the records."""
    codes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=25))
    order = draw(st.permutations(range(len(codes))))
    cuts = sorted(draw(st.sets(st.integers(0, len(codes)), max_size=5)) | {0, len(codes)})
    return codes, [list(order[a:b]) for a, b in pairwise(cuts)]


@given(groups_of_codes())
def test_the_codes_of_each_group_are_counted(drawn):
    codes, groups = drawn
    found = list(zip(*(part.tolist() for part in counted(np.array(codes), *parts_of(groups), 5)), strict=True))
    own = [[codes[i] for i in group] for group in groups]
    assert found == [(g, code, group.count(code)) for g, group in enumerate(own) for code in sorted(set(group))]


@given(groups_of_codes())
def test_the_most_frequent_code_of_each_group_is_the_lowest_of_several(drawn):
    codes, groups = drawn
    own = [[codes[i] for i in group] for group in groups]
    expected = [min(set(group), key=lambda code: (-group.count(code), code)) for group in own]
    assert modes(np.array(codes), *parts_of(groups), 5).tolist() == expected


@given(groups_of_codes())
def test_the_middle_code_of_each_group_is_the_lower_of_two(drawn):
    codes, groups = drawn
    expected = [naive.lower_median([codes[i] for i in group]) for group in groups]
    assert lower_medians(np.array(codes), *parts_of(groups)).tolist() == expected


@given(st.lists(st.lists(st.integers(1, 500), min_size=1, max_size=6), min_size=1, max_size=5))
def test_whole_percents_add_up_to_100(groups):
    begins = np.concatenate([[0], np.cumsum([len(group) for group in groups])])
    percents = whole_percents(np.concatenate(groups), begins)
    assert percents.tolist() == [percent for group in groups for percent in naive.whole_percents(group)]
    assert np.add.reduceat(percents, begins[:-1]).tolist() == [100] * len(groups)
