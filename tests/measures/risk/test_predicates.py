import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_risk import KINDS, drawn_pair, fulfilling
from shoal.kernels.single.uniqueness import GAP, INSIDE, OUTSIDE
from shoal.measures.risk import predicates as fast


def table_of(pair):
    columns = pair.quasi_identifiers
    return np.array([c.before for c in columns]), np.array([c.is_number for c in columns])


def counts(table, p):
    rows = zip(p.columns.tolist(), p.asked.tolist(), p.low.tolist(), p.high.tolist(), strict=True)
    return [fulfilling(table.tolist(), *row) for row in rows]


@given(
    st.integers(0, 10**6), st.integers(1, 14), st.lists(st.sampled_from(KINDS), min_size=1, max_size=4),
    st.sampled_from([0.0, 0.4]),
)  # fmt: skip
def test_predicates_of_the_release_are_true_for_one_released_record(seed, n, kinds, gaps):
    table, numbers = table_of(drawn_pair(seed, n, 1, kinds, gaps=gaps))
    rng = np.random.default_rng(seed)
    one = fast.one_column(table, numbers, 50, rng)
    several = fast.several_columns(table, numbers, 3, 50, rng)
    for made in (one, several):
        assert counts(table, made) == [1] * len(made)
        whole = np.hstack([made.columns, made.asked, made.low, made.high])
        assert len(np.unique(whole, axis=0)) == len(made) <= 50
    assert several.columns.shape[1] == min(3, len(kinds))
    guessed = fast.guessed_predicates(table, numbers, 3, 40, rng)
    assert fast.singled_out(table, guessed).tolist() == [each == 1 for each in counts(table, guessed)]


def test_values_worked_by_hand():
    """Of 1, 1, 2, 4 and a gap: at least 4, equal to 2, equal to 4 and missing are true for one; at most 1 is for two."""
    table = np.array([[1.0, 1, 2, 4, np.nan]])
    made = fast.one_column(table, np.array([True]), 9, np.random.default_rng(0))
    found = {(a[0], low[0], high[0]) for a, low, high in zip(made.asked, made.low, made.high, strict=True)}
    assert found == {(INSIDE, 4, np.inf), (INSIDE, 2, 2), (INSIDE, 4, 4), (GAP, 0, 0)}
    others = fast.Predicates(
        np.zeros((1, 1), np.int64), np.array([[OUTSIDE]]), np.array([[1.0]]), np.array([[2.0]])
    )
    assert fast.singled_out(table, others).tolist() == [True]


def test_columns_are_drawn_each_once_and_all_alike():
    drawn = fast.drawn_columns(5, 3, 3000, np.random.default_rng(0))
    assert (np.diff(drawn) > 0).all()
    assert np.bincount(drawn.ravel()) == pytest.approx(np.full(5, 1800), rel=0.1)
