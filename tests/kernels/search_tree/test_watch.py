import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal.kernels.compiled import kernel
from shoal.kernels.search_tree.tree import build_tree, lowest_id, remove
from shoal.kernels.search_tree.watch import find_all_touched, neighbourhood, new_watch


@kernel
def all_neighbourhoods(tree, watch, k, out):
    d2, ids, slots = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    for slot in range(out.shape[0]):
        neighbourhood(tree, watch, slot, k, d2, ids, slots)
        out[slot] = ids


@kernel
def touched_by(tree, watch, slot):
    remove(tree, slot)
    found = find_all_touched(tree, watch, np.array([slot]), 1)
    return watch.found[:found].copy()


@kernel
def lowest(tree, slot):
    return lowest_id(tree, slot)


@settings(max_examples=200)
@given(points(), st.data())
def test_every_neighbourhood_that_loses_a_record_is_found(sample, data):
    X, k = sample
    X = np.ascontiguousarray(X)
    tree = build_tree(X, np.arange(len(X), dtype=np.int32))
    watch = new_watch(tree)
    slots = len(tree.rows)
    before = np.empty((slots, k), np.int64)
    all_neighbourhoods(tree, watch, k, before)
    records = [lowest(tree, slot) for slot in range(slots)]
    free = set(range(len(X)))
    for slot, record in enumerate(records):
        assert before[slot].tolist() == naive.neighbourhood(naive.plain(X), free, record, k)
    gone = data.draw(st.integers(0, slots - 1))
    found = touched_by(tree, watch, gone).tolist()
    assert len(set(found)) == len(found)
    twins = int((X[records[gone]] == X).all(axis=1).sum())
    losing = {slot for slot in range(slots) if records[gone] in before[slot]} - ({gone} if twins == 1 else set())
    assert losing <= set(found)
    assert not watch.flags.any()


def test_in_a_tall_tree_those_that_lose_a_record_are_found_and_nobody_else():
    X = np.random.default_rng(0).normal(size=(5000, 3))
    tree = build_tree(X, np.arange(5000, dtype=np.int32))
    watch, k = new_watch(tree), 7
    members = np.empty((5000, k), np.int64)
    all_neighbourhoods(tree, watch, k, members)
    for slot in range(0, 5000, 100):
        alive = tree.norms.ravel()[:5000] >= 0
        losing = set(np.flatnonzero((members == tree.who[slot, 0]).any(axis=1) & alive)) - {slot}
        assert set(touched_by(tree, watch, slot)) == losing
