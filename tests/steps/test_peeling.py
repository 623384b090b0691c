import numpy as np
from hypothesis import given

import naive
from samples import points
from shoal.methods.mdav import one_group, pairs_of_groups
from shoal.steps.peeling import Peeling, orders_from


@given(points())
def test_the_last_records_join_the_nearest_groups_or_form_one(sample):
    X, k = sample
    peeling = Peeling(X, k, None)
    peeling.run(one_group, floor=2 * k)
    free = set(np.flatnonzero(peeling.labels < 0).tolist())
    groups = [np.flatnonzero(peeling.labels == g).tolist() for g in range(peeling.label)]
    labels = peeling.group_the_rest()
    if len(free) >= k:
        groups.append(sorted(free))
    else:
        naive.join_nearest(X.tolist(), groups, free)
    assert labels.tolist() == naive.labels_of(groups)


@given(points())
def test_orders_run_from_the_farthest_record_to_the_nearest(sample):
    X, _ = sample
    orders, cursors = orders_from(X, X[:2])
    for order, point in zip(orders, X[:2], strict=True):
        expected = sorted(range(len(X)), key=lambda i: (-naive.squared_distance(X[i], point), i))
        assert order.tolist() == expected
    assert cursors.tolist() == [0] * len(orders)


def test_the_tree_is_built_anew_when_outliers_have_gone_or_most_records_have():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    X[:4] *= 1e9
    built = []
    peeling = Peeling(X, 2, None)
    build = peeling._build
    peeling._build = lambda: (built.append(peeling.free), build())
    peeling.run(pairs_of_groups, floor=4)
    assert built[0] == 2000
    assert built[1] >= 2000 - 4 * 32
    assert built[-1] <= 200


def test_records_find_their_slots_twins_included():
    X = np.array([[0.0], [1.0], [0.0], [2.0], [1.0], [0.0]])
    peeling = Peeling(X, 1, None)
    peeling._build()
    slots = peeling.slots()
    assert np.array_equal(peeling.tree.rows[slots], X)
