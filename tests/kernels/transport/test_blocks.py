import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import samples
from shoal.kernels.transport.blocks import BLOCK, nearest, prepare


def values_of(X, centres, prices):
    """Squared distance + price, every record against every cell."""
    d2 = [[naive.squared_distance(row, centre) for centre in centres.tolist()] for row in X.tolist()]
    return np.array(d2) + prices


def by_record(plan, column):
    out = np.empty(len(plan.records), column.dtype)
    out[plan.records] = np.repeat(column[: len(plan.starts) - 1], np.diff(plan.starts))
    return out


@settings(max_examples=200)
@given(samples.points(most=120), st.integers(1, 20), st.integers(0, 2**32))
def test_a_sweep_finds_what_a_scan_of_all_cells_finds(sample, cells, seed):
    X, _ = sample
    rng = np.random.default_rng(seed)
    centres = X[rng.integers(0, len(X), cells)] + rng.integers(0, 2, (cells, 1))
    prices = rng.integers(0, 3, cells) * rng.choice([0.0, 1.0, 0.1])
    plan = prepare(X)
    found = nearest(plan, centres, prices)
    values = values_of(X, centres, prices)
    order = np.argsort(values, axis=1, kind="stable")
    ranked = np.take_along_axis(values, order, axis=1)
    assert (by_record(plan, found.best) == order[:, 0]).all()
    assert (by_record(plan, found.value) == ranked[:, 0]).all()
    if cells > 1:
        assert (by_record(plan, found.second) == order[:, 1]).all()
        assert (by_record(plan, found.gap) == ranked[:, 1] - ranked[:, 0]).all()
    assert (found.counts == np.bincount(order[:, 0], minlength=cells)).all()


@settings(max_examples=100)
@given(samples.points(most=200))
def test_a_plan_holds_every_record_once_and_every_point_once(sample):
    X, _ = sample
    plan = prepare(X)
    points = plan.points.transpose(0, 2, 1).reshape(-1, X.shape[1])
    count = len(plan.starts) - 1
    assert sorted(plan.records) == list(range(len(X)))
    assert (plan.weights[:count] == np.diff(plan.starts)).all()
    assert not plan.weights[count:].any()
    assert len(np.unique(points[:count] + 0.0, axis=0)) == count
    for x in range(count):
        own = plan.records[plan.starts[x] : plan.starts[x + 1]]
        assert (np.diff(own) > 0).all()
        assert (X[own] == points[x]).all()


def test_boxes_of_many_blocks_prune_without_loss():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(BLOCK * 400, 2))
    centres, prices = rng.normal(size=(150, 2)), rng.normal(size=150) * 0.05
    plan = prepare(X)
    found = nearest(plan, centres, prices)
    values = ((X[:, None, 0] - centres[:, 0]) ** 2 + (X[:, None, 1] - centres[:, 1]) ** 2) + prices
    assert (by_record(plan, found.best) == values.argmin(axis=1)).all()
