import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.single.linkage import agreements, heaviest_rows, nearest_rows


def drawn(seed, count, rows, width, values):
    """Few different values, so that there are ties."""
    rng = np.random.default_rng(seed)
    where = (
        rng.integers(0, values, (count, width)).astype(float),
        rng.integers(0, values, (rows, width)).astype(float),
    )
    return *where, rng.random(width) < 0.4, rng.integers(1, 5, rows).astype(float), rng


def apart(one, other, named, squared):
    steps = np.where(named, one != other, (one - other) ** 2 if squared else abs(one - other))
    return float(steps.sum())


@given(
    st.integers(0, 10**6),
    st.integers(1, 8),
    st.integers(0, 12),
    st.integers(1, 4),
    st.integers(1, 5),
    st.booleans(),
)
def test_nearest_rows_are_those_of_the_twin(seed, count, n, width, values, squared):
    records, rows, named, sizes, rng = drawn(seed, count, n, width, values)
    codes, names = np.sort(rng.integers(0, 3, n)), rng.permutation(n)
    order = np.lexsort((rows[:, 0], codes))
    rows = rows[order]
    asked = rng.integers(0, 3, count)
    own = rng.integers(-1, n, count)
    low, high = np.searchsorted(codes, asked), np.searchsorted(codes, asked, side="right")
    found, first = nearest_rows(records, rows, named, low, high, sizes, own, names, squared)
    for x in range(count):
        away = {i: apart(records[x], rows[i], named, squared) for i in range(low[x], high[x])}
        near = [i for i, each in away.items() if each == min(away.values())]
        assert first[x] == (min(names[near]) if near else -1)
        assert found[x] == pytest.approx(1 / sizes[near].sum() if own[x] in near else 0)


def test_rows_that_differ_by_rounding_alone_are_equally_near():
    records, rows = np.array([[0.3]]), np.array([[0.1 + 0.2 - 0.1], [0.4 + 1e-13]])
    found, _ = nearest_rows(
        records,
        rows,
        np.array([False]),
        np.array([0]),
        np.array([2]),
        np.ones(2),
        np.array([1]),
        np.arange(2),
        True,
    )
    assert found[0] == 0.5


@given(
    st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 12), st.integers(1, 5), st.sampled_from([0.5, 1.0])
)
def test_agreements_and_the_heaviest_rows_are_those_of_the_twin(seed, count, n, width, tolerance):
    records, rows, named, sizes, rng = drawn(seed, count, n, width, 4)
    agree, differ = rng.integers(-3, 4, width).astype(float), rng.integers(-3, 4, width).astype(float)
    own = rng.integers(0, n, count)
    same = np.where(named, records[:, None] == rows[None], abs(records[:, None] - rows[None]) <= tolerance)
    patterns = agreements(records, rows, named, tolerance)
    assert ((patterns[:, :, None] >> np.arange(width) & 1).astype(bool) == same).all()
    weights = np.where(same, agree, differ).sum(axis=2)
    found = heaviest_rows(records, rows, named, tolerance, agree, differ, sizes, own)
    for x in range(count):
        best = np.flatnonzero(weights[x] == weights[x].max())
        assert found[x] == pytest.approx(1 / sizes[best].sum() if own[x] in best else 0)
