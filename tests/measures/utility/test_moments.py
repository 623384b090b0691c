import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_utility import drawn, mean, plain, quantile, sd, there, variance
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.utility.moments import QUANTILES, moments


def pair_of(*columns):
    return Pair(tuple(columns), np.zeros(len(columns[0].after), np.int64), matched=False)


def column(name, before, after, role="quasi-identifier"):
    return PairColumn(name, role, np.array(before, float), np.array(after, float))


def figures(pair):
    found = {figure.name: figure for figure in moments(pair)}
    json.dumps([figure.as_dict() for figure in found.values()], allow_nan=False)
    return found


def test_moments_worked_by_hand():
    """0, 0, 4, 4 becomes 2, 2, 4, 4: the mean 2 becomes 3, the variance 16/3 becomes 4/3."""
    found = figures(pair_of(column("x", [0, 0, 4, 4], [2, 2, 4, 4]), column("y", [0, 1, 2, 3], [0, 1, 2, 3])))
    assert found["mean_change"].value == round(1 / np.sqrt(16 / 3), 3)
    assert found["variance_change"].value == (-75 + 0) / 2
    assert found["quantile_change"].value == pytest.approx(2 / np.sqrt(16 / 3))
    scale = np.sqrt(16 / 3) * np.sqrt(5 / 3)
    assert found["covariance_change"].value == pytest.approx((8 / 3 - 4 / 3) / scale)


def test_means_that_stay_are_said_to_be_unchanged():
    found = figures(pair_of(column("x", [0, 0, 4, 4], [0, 4, 4, 0])))
    assert found["mean_change"].sentence == "means are unchanged"
    assert "covariance_change" not in found


@given(st.lists(st.tuples(*[st.sampled_from(["number", "tied", "constant", "gaps"])] * 2), min_size=1, max_size=3),
       st.integers(0, 10**6), st.sampled_from([0.0, 0.3]), st.sampled_from([(1, 1), (2, 2), (11, 8)]))  # fmt: skip
def test_changes_are_those_of_the_twin(kinds, seed, gaps, sizes):
    columns = [
        column(f"x{i}", *(drawn(seed + 10 * i + s, sizes[s], pair[s], gaps) for s in (0, 1)))
        for i, pair in enumerate(kinds)
    ]
    usable = [c for c in columns if sd(there(plain(c.before))) > 0]
    found = figures(pair_of(*columns))
    if not usable:
        assert found == {}
        return
    lists = [(there(plain(c.before)), there(plain(c.after))) for c in usable]
    changes = [(mean(b) - mean(a)) / sd(a) if b else None for a, b in lists]
    assert [row[2] for row in found["mean_change"].table.rows] == pytest.approx(changes, abs=0.00051)
    changes = [100 * (variance(b) / variance(a) - 1) if len(b) > 1 else None for a, b in lists]
    assert [row[2] for row in found["variance_change"].table.rows] == pytest.approx(changes, abs=0.00051)
    changes = [(quantile(b, q) - quantile(a, q)) / sd(a) if b else None for a, b in lists for q in QUANTILES]
    assert [row[-1] for row in found["quantile_change"].table.rows] == pytest.approx(changes, abs=1e-9)
