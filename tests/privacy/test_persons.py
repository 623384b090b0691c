from collections import Counter, defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.privacy.persons import linked, persons_in, sizes_of


@st.composite
def rows(draw):
    n = draw(st.integers(1, 40))
    groups = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    persons = draw(st.lists(st.integers(0, 8), min_size=n, max_size=n))
    numbers = {value: place for place, value in enumerate(sorted(set(groups)))}
    people = {value: place for place, value in enumerate(sorted(set(persons)))}
    return np.array([numbers[each] for each in groups]), np.array([people[each] for each in persons])


@given(rows())
def test_several_rows_of_a_person_count_once(sample):
    groups, persons = sample
    expected = [len(set(persons[groups == group])) for group in range(groups.max() + 1)]
    assert persons_in(groups, persons).sizes.tolist() == expected
    assert sizes_of(groups, persons).tolist() == expected
    assert sizes_of(groups, None).tolist() == np.bincount(groups).tolist()


@given(rows())
def test_persons_with_the_same_rows_are_those_with_the_same_groups_each_as_often(sample):
    groups, persons = sample
    own = defaultdict(list)
    for group, person in zip(groups.tolist(), persons.tolist(), strict=True):
        own[person].append(group)
    sets = Counter(tuple(sorted(each)) for each in own.values())
    assert sorted(linked(groups, persons).sizes.tolist()) == sorted(sets.values())


@given(rows())
def test_they_may_be_counted_by_household(sample):
    groups, persons = sample
    households = persons // 2
    own = defaultdict(list)
    for group, person in zip(groups.tolist(), persons.tolist(), strict=True):
        own[person].append(group)
    homes = defaultdict(set)
    for person, each in own.items():
        homes[tuple(sorted(each))].add(person // 2)
    assert sorted(linked(groups, persons, households).sizes.tolist()) == sorted(map(len, homes.values()))
