import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal.kernels.compiled import kernel
from shoal.kernels.search_tree.tree import build_tree
from shoal.kernels.search_tree.watch import new_watch
from shoal.kernels.single.selection import farthest_centre, fill_centres, fit_all_boxes, refit
from shoal.kernels.sums.exact import new_sums


@kernel
def move(tree, centres, boxes, slot, point):
    centres[slot] = point
    refit(tree, centres, boxes, slot)


@kernel
def farthest(tree, centres, boxes, point):
    return farthest_centre(tree, centres, boxes, point)


@given(points())
def test_centres_are_the_means_of_the_neighbourhoods(sample):
    X, k = sample
    X = np.ascontiguousarray(X)
    tree = build_tree(X, np.arange(len(X), dtype=np.int32))
    centres = np.empty(tree.rows.shape)
    fill_centres(X, tree, new_watch(tree), new_sums(X), k, 0, len(centres), centres)
    rows, free = naive.plain(X), set(range(len(X)))
    for slot, record in enumerate(tree.who[:, 0].tolist()):
        around = naive.neighbourhood(rows, free, record, k)
        assert centres[slot].tolist() == naive.mean([rows[i] for i in around])


@settings(max_examples=50)
@given(st.integers(1, 700), st.integers(0, 9), st.booleans())
def test_the_farthest_centre_is_found_while_centres_move(n, seed, tied):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    tree = build_tree(X, np.arange(n, dtype=np.int32))
    centres = np.round(tree.rows) if tied else tree.rows.copy()
    boxes = np.empty((len(tree.parent), 2, 3))
    fit_all_boxes(tree, centres, boxes)
    for slot in rng.integers(0, n, 20):
        new = rng.normal(size=3)
        move(tree, centres, boxes, slot, np.round(new) if tied else new)
        point = np.round(rng.normal(size=3)) if tied else rng.normal(size=3)
        far = [naive.squared_distance(centre, point) for centre in centres.tolist()]
        assert farthest(tree, centres, boxes, point) == max(range(n), key=lambda s: (far[s], -tree.who[s, 0]))
