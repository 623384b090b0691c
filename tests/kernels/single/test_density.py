import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal.kernels.compiled import kernel
from shoal.kernels.search_tree.tree import build_tree
from shoal.kernels.search_tree.watch import new_watch
from shoal.kernels.single.density import climb, fill_keys, rank
from shoal.kernels.sums.exact import new_sums


@kernel
def change(tree, keys, best, slot, key):
    keys[slot] = key
    climb(tree, keys, best, slot)


@given(points(), st.sampled_from([1.0, -1.0]))
def test_keys_are_the_sse_of_the_neighbourhoods(sample, sign):
    X, k = sample
    X = np.ascontiguousarray(X)
    tree = build_tree(X, np.arange(len(X), dtype=np.int32))
    keys = np.empty(len(tree.rows))
    fill_keys(X, tree, new_watch(tree), new_sums(X), k, sign, 0, len(keys), keys)
    rows, free = naive.plain(X), set(range(len(X)))
    for slot, record in enumerate(tree.who[:, 0].tolist()):
        assert keys[slot] == sign * naive.group_sse(rows, naive.neighbourhood(rows, free, record, k))


@settings(max_examples=50)
@given(st.integers(1, 700), st.integers(0, 9), st.integers(1, 5))
def test_the_root_knows_the_lowest_key(n, seed, kinds):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    tree = build_tree(X, np.arange(n, dtype=np.int32))
    keys, best = rng.integers(0, kinds, n).astype(float), np.empty(len(tree.parent), np.int64)
    rank(tree, keys, best)
    for slot in rng.integers(0, n, 20):
        change(tree, keys, best, slot, float(rng.integers(-1, kinds)))
        assert best[-1] == min(range(n), key=lambda s: (keys[s], tree.who[s, 0]))
