import itertools

import numpy as np
import pytest

import naive
from shoal.bounds.master import Duals
from shoal.bounds.points import Points
from shoal.bounds.search import Floor, Search, quick_look

NO_CUTS = (np.empty((0, 3), np.int64), np.empty(0))


def sample(seed, repeated=False, n=10):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X[[*range(n - 2), 3, 3]] if repeated else X


def finished(points, duals, **settings):
    search = Search(points, duals, 1e-12, **settings)
    for _ in search.run():
        pass
    return search


def proven_by_all_groups(X, points, prices):
    """The sum of all prices less what the groups may undercut them by, each at its dearest record."""
    of_record = prices[points.kinds]
    worst = {}
    for size in range(points.k, points.high + 1):
        for group in itertools.combinations(range(len(X)), size):
            reduced = naive.group_sse(X.tolist(), group) - of_record[list(group)].sum()
            anchor = max(group, key=lambda i: (of_record[i], -points.kinds[i]))
            kind = int(points.kinds[anchor])
            worst[kind] = min(worst.get(kind, 0.0), reduced)
    undercut = sorted(value for kind, value in worst.items() for _ in range(points.weights[kind]))
    return of_record.sum() + sum(undercut[: points.most_groups])


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_finished_search_proves_what_all_groups_allow(repeated, n_jobs):
    for seed in range(8):
        X = sample(seed, repeated)
        points = Points(X, 3, 5)
        prices = np.random.default_rng(seed).random(len(points.rows)) * 0.8
        search = finished(points, Duals(prices, *NO_CUTS), n_jobs=n_jobs)
        floor = Floor(np.zeros_like(prices), np.zeros_like(prices))
        bound = search.bound(floor)
        assert bound == pytest.approx(proven_by_all_groups(X, points, prices), abs=1e-9)
        assert bound <= naive.optimum_by_subsets(X, 3) + 1e-9
        for group, cost in search.groups:
            assert cost == pytest.approx(points.sse(group))
            assert cost < prices[group].sum()


def test_with_a_toll_the_prices_proven_are_undercut_by_no_group():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = sample(seed, seed % 2 == 1, n=11)
        points = Points(X, 3, 5)
        search = finished(points, Duals(rng.random(len(points.rows)), *NO_CUTS, -0.3))
        proven = search.proven()
        floor = Floor(np.zeros_like(proven.prices), np.zeros_like(proven.prices))
        assert proven.value(points) <= search.bound(floor) <= naive.optimum_by_subsets(X, 3) + 1e-9
        for size in range(3, 6):
            for group in itertools.combinations(range(11), size):
                price = proven.prices[points.kinds[list(group)]].sum() + proven.toll
                assert naive.group_sse(X.tolist(), group) >= price - 1e-9


def test_groups_that_cost_too_much_are_passed_over():
    X = sample(5)
    points = Points(X, 3, 5)
    duals = Duals(np.full(10, 2.0), *NO_CUTS)
    dear = finished(points, duals)
    dearest = 0.9 * max(cost for _, cost in dear.groups)
    assert all(cost < dearest for _, cost in finished(points, duals, dearest=dearest).groups)


def test_a_search_that_is_not_finished_falls_back_on_the_floor():
    X = sample(1)
    points = Points(X, 3, 5)
    optimum = naive.optimum_by_subsets(X, 3)
    shares = points.mean_of_equals(np.array(naive.shares(X, 3, 5, 4)))
    floor = Floor(shares, np.zeros(10))
    prices = Duals(shares * 1.5, *NO_CUTS)
    search = Search(points, prices, 1e-12)
    assert search.bound(floor) == pytest.approx(shares.sum())
    for number in range(10):
        for _ in search.run(np.array([number])):
            pass
        assert search.finished == number + 1
        assert search.bound(floor) <= optimum + 1e-12
    higher = finished(points, Duals(shares * 1.6, *NO_CUTS))
    assert higher.bound(search.as_floor()) <= optimum + 1e-12


def test_a_search_without_steps_is_valid_all_the_same():
    X = sample(2)
    points = Points(X, 3, 5)
    search = finished(points, Duals(np.full(10, 0.4), *NO_CUTS), most_nodes=1)
    assert search.bound(Floor(np.zeros(10), np.zeros(10))) <= naive.optimum_by_subsets(X, 3)
    assert np.isfinite(search.lowest).all()


def test_cuts_and_fines_are_valid():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = sample(seed)
        points = Points(X, 3, 5)
        cuts = np.array([np.sort(rng.choice(10, 3, replace=False)) for _ in range(6)])
        search = finished(points, Duals(rng.random(10), cuts, 0.3 * rng.random(6)))
        assert search.bound(Floor(np.zeros(10), np.zeros(10))) <= naive.optimum_by_subsets(X, 3) + 1e-9


def test_a_quick_look_finds_groups_that_undercut_their_prices():
    X = sample(3, n=30)
    points = Points(X, 3, 5)
    prices = np.full(30, 0.2)
    found = quick_look(points, Duals(prices, *NO_CUTS, -0.1), -1e-9, [np.array([0, 1, 2])])
    assert found
    for group, cost in found:
        assert cost == pytest.approx(points.sse(group), abs=1e-12)
        assert cost < prices[group].sum() - 0.1
