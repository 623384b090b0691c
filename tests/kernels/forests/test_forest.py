import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal.kernels.compiled import kernel
from shoal.kernels.forests.forest import cut_trees, fitting_subset, grow_forest, split_groups
from shoal.kernels.search_tree.tree import build_tree
from shoal.kernels.sums.exact import new_sums


def cut(parent, k, order=None):
    """The groups of a forest given by its edges."""
    n = len(parent)
    order = np.arange(n) if order is None else np.array(order)
    leader = np.where(parent >= 0, parent, np.arange(n))
    for _ in range(n.bit_length()):  # each time twice as far up
        leader = leader[leader]
    size = np.bincount(leader, minlength=n)
    labels = np.empty(n, np.int64)
    count = cut_trees(order, parent, leader, size, k, max(2 * k - 1, 3 * k - 5), labels)
    assert np.array_equal(np.unique(labels), np.arange(count))
    return labels


@given(points(widest=4), st.integers(0, 3))
def test_the_forest_is_the_twins(sample, seed):
    X, k = sample
    order = np.random.default_rng(seed).permutation(len(X)) if seed else np.arange(len(X))
    parent, leader, size = np.full(len(X), -1), np.arange(len(X)), np.ones(len(X), np.int64)
    tree = build_tree(X, np.arange(len(X), dtype=np.int32))
    position = 0
    while position < len(X):  # in pieces, as the method does it
        position = grow_forest(tree, X, k, order, position, 7, parent, leader, size)
    expected = naive.forest(naive.plain(X), k, order.tolist())
    assert parent.tolist() == [-1 if expected[u] is None else expected[u] for u in range(len(X))]


@st.composite
def trees(draw):
    """A tree by the parents of its vertices, the root anywhere, and an order of the vertices."""
    n = draw(st.integers(1, 60))
    reach = draw(st.sampled_from([1, 3, 60]))  # a path, a bush, a star or anything else
    parent = np.array([-1, *(draw(st.integers(max(0, v - reach), v - 1)) for v in range(1, n))])
    name = np.array(draw(st.permutations(range(n))))
    renamed = np.empty(n, np.int64)
    renamed[name] = np.where(parent >= 0, name[parent], -1)
    return renamed, draw(st.permutations(range(n)))


@settings(max_examples=300)
@given(trees(), st.integers(1, 9))
def test_trees_are_cut_as_the_procedure_has_it(tree, k):
    parent, order = tree
    if k > len(parent) or (k == 1 and len(parent) > 1):  # FOREST grows no such tree
        return
    labels = cut(parent, k, order)
    family = {u: None if parent[u] < 0 else int(parent[u]) for u in range(len(parent))}
    groups = naive.decompose_component(family, int(parent.argmin()), k, list(order))
    assert sorted(np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)) == sorted(groups)
    assert np.bincount(labels).min() >= k
    assert np.bincount(labels).max() <= max(2 * k - 1, 3 * k - 3)


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("shape", ["path", "star", "comb"])
def test_any_shape_of_a_large_tree_is_cut(k, shape):
    n = 100_000
    parents = {
        "path": np.arange(n) - 1,
        "star": np.where(np.arange(n) > 0, 0, -1),
        "comb": np.where(np.arange(n) % 2 == 0, np.arange(n) - 2, np.arange(n) - 1).clip(-1),
    }
    sizes = np.bincount(cut(parents[shape], k))
    assert sizes.min() >= k
    assert sizes.max() <= max(2 * k - 1, 3 * k - 5)


def test_subtrees_that_no_choice_divides_stay_together():
    # A centre with a subtree of 3, which leaves with it (k = 4), and 2, 3 and 3 around the Steiner vertex.
    parent = np.array([-1, 0, 1, 2, 0, 4, 5, 0, 7, 8, 0, 10])
    assert sorted(np.bincount(cut(parent, 4))) == [4, 8]


@kernel
def subset(weights, low, high, chosen):
    return fitting_subset(weights, 0, weights.size, low, high, chosen)


@given(st.lists(st.integers(1, 8), min_size=1, max_size=8), st.integers(1, 20), st.integers(0, 5))
def test_subsets_are_the_twins(weights, low, more):
    chosen = np.zeros(len(weights), np.bool_)
    found = subset(np.array(weights), low, low + more, chosen)
    expected = naive.subset_weighing(weights, low, low + more)
    assert found == (expected is not None)
    assert set(np.flatnonzero(chosen).tolist()) == (expected or set())


@given(points())
def test_large_groups_are_split_as_the_twin_does_it(sample):
    X, k = sample
    labels = np.zeros(len(X), np.int64)
    split_groups(X, new_sums(X), np.arange(len(X)), np.array([0, len(X)]), k, labels)
    *parts, rest = naive.split_group(naive.plain(X), list(range(len(X))), k)
    assert labels.tolist() == naive.labels_of([rest, *parts])
