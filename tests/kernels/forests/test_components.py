import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.compiled import kernel
from shoal.kernels.forests.components import find, join


@kernel
def join_all(pairs, leader, size):
    for p in range(pairs.shape[0]):
        a, b = find(leader, pairs[p, 0]), find(leader, pairs[p, 1])
        if a != b:
            join(leader, size, a, b)
    for i in range(leader.size):
        leader[i] = find(leader, i)


@given(st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19))))
def test_leaders_name_the_components(pairs):
    leader, size = np.arange(20), np.ones(20, np.int64)
    join_all(np.array(pairs, np.int64).reshape(-1, 2), leader, size)
    component = {i: {i} for i in range(20)}
    for a, b in pairs:
        merged = component[a] | component[b]
        component.update(dict.fromkeys(merged, merged))
    for i in range(20):
        assert set(np.flatnonzero(leader == leader[i]).tolist()) == component[i]
        assert size[leader[i]] == len(component[i])
