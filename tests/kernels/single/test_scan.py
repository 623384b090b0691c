import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal.methods.mdav import MDAV, is_scanned, one_group, pairs_of_groups
from shoal.steps.peeling import Peeling


def peeled(X, k, scanned, until=2):
    """The groups of MDAV, by a scan or by the search tree."""
    peeling = Peeling(np.ascontiguousarray(X), k, None, scanned=scanned)
    peeling.run(pairs_of_groups, floor=until * k)
    if peeling.free >= 2 * k:
        peeling.run(one_group, floor=2 * k, most=1)
    return peeling.group_the_rest()


@settings(max_examples=200, deadline=None)
@given(points(), st.sampled_from([2, 3]))
def test_groups_are_those_of_the_naive_twin(sample, until):
    X, k = sample
    labels = peeled(X, k, True, until)
    assert [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)] == [
        sorted(group) for group in naive.mdav(X, k, until)
    ]


@pytest.mark.parametrize("k", [50, 61, 300, 1499, 2999])
@pytest.mark.parametrize("kind", ["random", "tied", "repeated", "constant", "outlier"])
def test_groups_are_those_of_the_search_tree(kind, k):
    rng = np.random.default_rng(k)
    X = {
        "random": rng.normal(size=(3000, 4)),
        "tied": rng.integers(0, 3, (3000, 4)).astype(float),
        "repeated": rng.normal(size=(40, 3))[rng.integers(0, 40, 3000)],
        "constant": np.full((3000, 2), 7.0),
        "outlier": np.vstack([rng.normal(size=(2999, 2)), [[1e140, -1e140]]]),
    }[kind]
    assert np.array_equal(peeled(X, k, True), peeled(X, k, False))


def test_a_scan_is_for_few_large_groups_and_the_groups_of_the_method_are_those_of_the_tree():
    assert is_scanned(5000, 50)
    assert not is_scanned(5001, 50)
    assert not is_scanned(490, 49)
    X = np.random.default_rng(0).normal(size=(5001, 3))
    for n in (5000, 5001):
        assert np.array_equal(MDAV(k=50).fit(X[:n]).labels_, peeled(X[:n], 50, False))
