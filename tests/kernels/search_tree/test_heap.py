import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.compiled import kernel
from shoal.kernels.search_tree.heap import offer, sort_heap


@kernel
def smallest(values, k, d2, ids, place):
    count = 0
    for i in range(values.size):
        count = offer(d2, ids, place, count, k, values[i], i, 10 * i)
    sort_heap(d2, ids, place, count)
    return count


@given(st.lists(st.integers(0, 5).map(float), min_size=1, max_size=40), st.integers(1, 45))
def test_the_k_smallest_are_kept_ties_by_number(values, k):
    d2, ids, place = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    count = smallest(np.array(values), k, d2, ids, place)
    expected = sorted((value, i) for i, value in enumerate(values))[:k]
    assert list(zip(d2[:count], ids[:count], strict=True)) == expected
    assert place[:count].tolist() == [10 * i for _, i in expected]
