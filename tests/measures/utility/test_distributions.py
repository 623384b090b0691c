import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_utility import LEVELS, drawn, kolmogorov, plain, sd, there, total_variation, wasserstein
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.utility import distributions as fast


def pair_of(*columns):
    return Pair(tuple(columns), np.zeros(len(columns[0].after), np.int64), matched=False)


def figures(pair):
    found = {figure.name: figure for figure in fast.distributions(pair)}
    json.dumps([figure.as_dict() for figure in found.values()], allow_nan=False)
    return found


def test_distances_worked_by_hand():
    """0, 0, 4, 4 to 2, 2, 2, 2: every record moves by 2, and half of all pass any place between."""
    area, highest = fast.wasserstein_and_kolmogorov(np.array([0.0, 0, 4, 4]), np.array([2.0, 2, 2, 2]))
    assert (area, highest) == (2, 0.5)
    letters = PairColumn("c", "quasi-identifier", np.array([0.0, 0, 1, 1]), np.array([0.0, 0, 0, 2]), LEVELS)
    assert fast.shares_apart(letters) == 0.5


@given(
    *[st.sampled_from(["number", "tied", "constant"])] * 2,
    st.integers(0, 10**6),
    st.integers(1, 12),
    st.integers(1, 12),
)
def test_distances_are_those_of_the_twins(first, second, seed, n, m):
    a, b = drawn(seed, n, first, 0), drawn(seed + 1, m, second, 0)
    area, highest = fast.wasserstein_and_kolmogorov(a, b)
    assert area == pytest.approx(wasserstein(a.tolist(), b.tolist()))
    assert highest == pytest.approx(kolmogorov(a.tolist(), b.tolist()))


@given(st.lists(st.sampled_from(["number", "tied", "constant", "category", "gaps"]), min_size=1, max_size=3),
       st.integers(0, 10**6), st.sampled_from([0.0, 0.3]), st.integers(1, 12), st.integers(1, 12))  # fmt: skip
def test_figures_are_those_of_the_twins(kinds, seed, gaps, n, m):
    columns = [
        PairColumn(f"x{i}", "quasi-identifier", drawn(seed + i, n, kind, gaps), drawn(seed + 9 + i, m, kind, gaps),
                   LEVELS if kind == "category" else (), ordered=i == 0)
        for i, kind in enumerate(kinds)
    ]  # fmt: skip
    found = figures(pair_of(*columns))
    lists = {c.name: (there(plain(c.before)), there(plain(c.after))) for c in columns}
    if "wasserstein" in found:
        for name, _, area, highest in found["wasserstein"].table.rows:
            a, b = lists[name]
            assert area == (pytest.approx(wasserstein(a, b) / sd(a)) if sd(a) > 0 else None)
            assert highest == pytest.approx(kolmogorov(a, b))
    if "total_variation" in found:
        for name, _, value in found["total_variation"].table.rows:
            a, b = lists[name]
            assert value == (pytest.approx(total_variation(a, b)) if a and b else None)
    if len(columns) > 1:
        coded = [fast.classes_of(c) for c in columns]
        before, after = (list(zip(coded[0][s].tolist(), coded[1][s].tolist(), strict=True)) for s in (0, 1))
        assert found["two_way_tables"].table.rows[0][2] == pytest.approx(total_variation(before, after))


def test_numbers_are_in_ten_classes_cut_at_the_tenths_and_gaps_are_a_class():
    before = np.array([*range(1, 101), np.nan], float)
    first, second, size = fast.classes_of(PairColumn("x", "other", before, np.array([-5.0, 10.9, 1000.0, np.nan])))
    assert np.bincount(first).tolist() == [10] * 10 + [1]
    assert second.tolist() == [0, 0, 9, 10]
    assert size == 11


def test_rare_categories_share_a_class():
    levels = tuple(map(str, range(30)))
    before = np.repeat(np.arange(30.0), np.arange(30, 0, -1))
    first, second, size = fast.classes_of(
        PairColumn("x", "other", before, np.array([0.0, 19, 20, 29, np.nan]), levels)
    )
    assert second.tolist() == [0, 19, 20, 20, 21]
    assert size == 22
    assert first.max() == 20
