from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from naive_risk import fulfilling
from shoal.kernels.single.uniqueness import alone_by, fulfilled

KEYS = st.one_of(st.integers(0, 6), st.integers(-(2**63), 2**63 - 1), st.integers(0, 6).map(lambda i: i << 40))


@given(st.lists(KEYS, max_size=60))
def test_whoever_is_alone_is_so_by_counting(keys):
    counts = Counter(keys)
    assert alone_by(np.array(keys, np.int64)).tolist() == [counts[key] == 1 for key in keys]


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 3), st.integers(1, 3))
def test_predicates_are_fulfilled_as_often_as_the_twin_counts(seed, n, m, width):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 3, (m, n)).astype(float)
    table[rng.random((m, n)) < 0.3] = np.nan
    columns, asked = rng.integers(0, m, (20, width)), rng.integers(0, 3, (20, width))
    low = rng.choice([-np.inf, 0.0, 1, 2], (20, width))
    high = rng.choice([np.inf, 0.0, 1, 2], (20, width))
    found = fulfilled(table, columns, asked, low, high)
    rows = zip(columns, asked, low, high, strict=True)
    assert found.tolist() == [min(fulfilling(table.tolist(), *row), 2) for row in rows]
