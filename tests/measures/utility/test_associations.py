import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_utility import LEVELS, correlation_ratio, cramers_v, drawn, pearson, plain, spearman
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.utility import associations as fast
from shoal.measures.utility.complete_pairs import complete_pairs

NUMBERS = ("number", "tied", "constant", "gaps")


def pair_of(*columns):
    return Pair(tuple(columns), np.zeros(len(columns[0].after), np.int64), matched=False)


def figures(pair):
    found = {figure.name: figure for figure in fast.associations(pair)}
    json.dumps([figure.as_dict() for figure in found.values()], allow_nan=False)
    return found


def close(value):
    return None if value is None else pytest.approx(value, abs=1e-7)


@given(
    st.tuples(*[st.sampled_from(NUMBERS)] * 2),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.4]),
    st.integers(1, 14),
)
def test_correlations_are_those_of_the_twins(kinds, seed, gaps, n):
    a, b = (drawn(seed + i, n, kind, gaps) for i, kind in enumerate(kinds))
    found = complete_pairs([a, b]).correlations[0, 1]
    assert (None if np.isnan(found) else found) == close(pearson(plain(a), plain(b)))
    assert fast.spearman(a, b) == close(spearman(plain(a), plain(b)))
    found = fast.rank_correlations([a, b])[0, 1]
    assert (None if np.isnan(found) else found) == close(spearman(plain(a), plain(b)))


@given(st.sampled_from(["category", "constant", "gaps"]), st.sampled_from(NUMBERS), st.integers(0, 10**6),
       st.sampled_from([0.0, 0.4]), st.integers(1, 14))  # fmt: skip
def test_associations_of_categories_are_those_of_the_twins(kind, numeric, seed, gaps, n):
    letters, other = drawn(seed, n, "category", gaps), np.floor(10 * drawn(seed + 1, n, kind, gaps))
    assert fast.cramers_v(letters, other) == close(cramers_v(plain(letters), plain(other)))
    numbers = drawn(seed + 2, n, numeric, gaps)
    assert fast.correlation_ratio(letters, numbers) == close(correlation_ratio(plain(letters), plain(numbers)))


def test_values_worked_by_hand():
    """Two letters that always go together have V = 1; a 2 x 2 table of 3, 1, 1, 3 has chi² = 8 · 1/4, V = 1/2."""
    assert fast.cramers_v(np.array([0.0, 0, 1, 1]), np.array([2.0, 2, 3, 3])) == 1
    rows, columns = np.repeat([0.0, 0, 1, 1], [3, 1, 1, 3]), np.repeat([0.0, 1, 0, 1], [3, 1, 1, 3])
    assert fast.cramers_v(rows, columns) == pytest.approx(0.5)
    assert fast.correlation_ratio(np.array([0.0, 0, 1, 1]), np.array([0.0, 2, 2, 4])) == pytest.approx(
        np.sqrt(0.5)
    )
    assert fast.ranks(np.array([5.0, 1, 5, 7])).tolist() == [2.5, 1, 2.5, 4]


def test_large_tables_of_cells_are_counted_alike(monkeypatch):
    a, b = drawn(1, 200, "category"), drawn(2, 200, "category")
    dense = fast.cramers_v(a, b)
    monkeypatch.setattr(fast, "_DENSE", 1)
    assert fast.cramers_v(a, b) == pytest.approx(dense)


def test_each_kind_of_pair_has_its_figure():
    rng = np.random.default_rng(3)
    x, y, noise = rng.normal(size=(3, 40))
    c, d = (x > 0).astype(float), rng.integers(0, 3, 40).astype(float)
    pair = pair_of(
        PairColumn("x", "quasi-identifier", x, x + noise),
        PairColumn("y", "quasi-identifier", x + y, x + y),
        PairColumn("c", "quasi-identifier", c, 1 - c, LEVELS),
        PairColumn("d", "confidential", d, d, LEVELS, ordered=True),
    )
    found = figures(pair)
    change = pearson(x + noise, x + y) - pearson(x, x + y)
    assert found["correlation_change"].value == pytest.approx(abs(change))
    assert found["correlation_change"].table.rows[0][-1] == pytest.approx(change)
    assert [row[:2] for row in found["rank_correlation_change"].table.rows] == [("x", "y"), ("x", "d"), ("y", "d")]
    assert found["cramers_v_change"].value == pytest.approx(0)
    assert [row[:2] for row in found["correlation_ratio_change"].table.rows] == [
        ("c", "x"), ("c", "y"), ("d", "x"), ("d", "y"),
    ]  # fmt: skip
    r, s = pearson(x, x + y), pearson(x + noise, x + y)
    expected = abs(abs(r) - abs(s)) * (1 / (1 + abs(r)) + 1 / (1 - abs(r)))  # eigenvalues of two columns: 1 ± r
    assert found["correlation_eigenvalues"].value == pytest.approx(expected)
    scale = np.outer(np.std([x, x + y], axis=1), np.std([x, x + y], axis=1))
    first, second = (np.linalg.eigvalsh(np.cov([side, x + y], ddof=0) / scale) for side in (x, x + noise))
    assert found["covariance_eigenvalues"].value == pytest.approx((abs(first - second) / first).sum())


def test_constant_columns_have_no_association():
    still, moving = np.full(5, 0.1), np.arange(5.0)
    found = figures(pair_of(*(PairColumn(name, "quasi-identifier", moving, still) for name in "xy")))
    assert found["correlation_change"].value is None
    assert "constant" in found["correlation_change"].sentence
    assert "correlation_eigenvalues" not in found
