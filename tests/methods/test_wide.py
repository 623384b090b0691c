"""Tables with more attributes than records: the same groups, and no work or memory for pairs of attributes."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from shoal import CBFS, DBA, GSMST2, MDAV, TFRP, VMDAV, Auto, Blocked, MSTPartition, MuApprox, Optimal, Refined

TWINS = {
    "mdav": (MDAV, naive.mdav, {}),
    "cbfs": (CBFS, naive.cbfs, {}),
    "vmdav": (VMDAV, naive.vmdav, {"gamma": 1.1}),
    "tfrp": (TFRP, naive.tfrp, {"phases": 2}),
    "dba": (DBA, naive.dba, {"phases": 2}),
    "gsms-t2": (GSMST2, naive.gsms_t2, {"phases": 2}),
    "mst-partition": (MSTPartition, naive.mst_partition, {"split": "d"}),
    "mu-approx": (MuApprox, naive.mu_approx, {}),
}
KINDS = ("random", "tied", "two values", "repeated", "constant", "constant attributes", "far", "outlier", "tiny")


def wide(kind, n, m, seed):
    """Points of one kind, wider than long."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    match kind:
        case "tied":
            return rng.integers(0, 4, (n, m)).astype(float)
        case "two values":
            return (rng.integers(0, 4, (n, m)) == 0).astype(float)
        case "repeated":
            return X[rng.integers(0, max(1, n // 3), n)]
        case "constant":
            return np.full((n, m), 2.5)
        case "constant attributes":
            X[:, rng.random(m) < 0.9] = 7.0
            return X
        case "far":
            return np.round(X) + 1e12
        case "outlier":
            X[0] *= 1e100
            return X
        case "tiny":
            return X * 1e-290
    return X


@pytest.mark.parametrize("name", TWINS)
@settings(max_examples=60)
@given(
    st.sampled_from(KINDS),
    st.integers(1, 24),
    st.sampled_from([1.0, 1.5, 4.0]),
    st.integers(1, 6),
    st.integers(0, 99),
)
def test_labels_are_those_of_the_naive_twin(name, kind, n, wider, k, seed):
    method, twin, parameters = TWINS[name]
    X, k = wide(kind, n, int(wider * n) + 1, seed), min(k, n)
    labels = method(k=k, **parameters).fit(X).labels_
    assert labels.tolist() == naive.labels_of(twin(X, k, **parameters))


@pytest.mark.parametrize("method", [MDAV(k=4), Auto(k=4), Refined(k=4), Blocked(MDAV(k=4), blocks=2)])
def test_no_table_of_all_pairs_of_attributes_is_held(method):
    X = np.random.default_rng(0).normal(size=(32, 2000))
    method.fit(X[:, :40])  # compiled code is not counted
    tracemalloc.start()
    method.fit(X)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8 * X.shape[1] ** 2 / 2  # ten times the table; a table of pairs is sixty times
    assert method.sizes_.min() >= 4


@pytest.mark.parametrize("kind", KINDS)
def test_searches_for_a_low_sse_never_end_above_their_start_and_repeat_themselves(kind):
    X = wide(kind, 40, 90, 1)
    start = MDAV(k=3).fit(X)
    model = Refined(k=3, n_jobs=1).fit(X)
    assert model.sizes_.min() >= 3
    assert model.sse_ <= start.sse_ * (1 + 1e-12)
    assert np.array_equal(model.labels_, Refined(k=3, n_jobs=2).fit(X).labels_)


def test_the_sse_of_a_search_is_that_of_the_points_as_given():
    X = wide("random", 40, 90, 2)
    model = Refined(k=3).fit(X)
    assert model.history_[0][1] == pytest.approx(MDAV(k=3).fit(X).sse_, rel=1e-12)
    assert model.history_[-1][1] == pytest.approx(model.sse_, rel=1e-12)
    assert model.sse_ < 0.99 * model.history_[0][1]


@pytest.mark.parametrize("kind", ["random", "tied", "repeated", "outlier"])
def test_an_optimum_is_that_of_all_partitions(kind):
    X = wide(kind, 9, 30, 3)
    model = Optimal(k=3).fit(X)
    assert model.proven_
    assert model.sse_ == pytest.approx(naive.optimum(X, 3)[0], rel=1e-9)


def test_the_sse_of_a_wide_table_is_that_of_the_points_as_given():
    X = np.array([[0.0, 0.0], [1e140, 1e140]])
    model = Blocked(MDAV(k=2)).fit(X)
    assert model.history_[-1] == model.sse_
