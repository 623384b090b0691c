import numpy as np
from hypothesis import given, settings

import naive
from samples import points
from shoal.kernels.search_tree.neighbours import nearest_neighbours


@settings(max_examples=200)
@given(points(widest=6))
def test_neighbours_are_those_of_the_naive_twin(sample):
    X, k = sample
    ids, d2 = nearest_neighbours(X, k - 1)
    plain = naive.plain(X)
    for i, record in enumerate(plain):
        expected = naive.nearest(plain, range(len(plain)), i, k - 1)
        assert ids[i].tolist() == expected
        assert d2[i].tolist() == [naive.squared_distance(plain[j], record) for j in expected]


def test_a_record_with_many_twins_is_not_its_own_neighbour():
    ids, d2 = nearest_neighbours(np.ones((20, 2)), 3)
    assert ids[10].tolist() == [0, 1, 2]
    assert ids[1].tolist() == [0, 2, 3]
    assert not d2.any()
