import itertools
from math import inf

import numpy as np
import pytest

import naive
from shoal.bounds.closing import collect, equal_ranges, labels_of, sharpen, through
from shoal.bounds.generation import Generation
from shoal.bounds.master import Duals
from shoal.bounds.points import Points

NO_CUTS = np.empty((0, 3), np.int64), np.empty(0)


def never():
    return False


def sample(kind="round", n=12, k=3):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3)) if kind == "round" else rng.integers(0, 4, n)[:, None] * [1.0, 2.0]
    return X, Points(X, k, min(2 * k - 1, n - k))


def shares_of(X, points):
    return points.mean_of_equals(np.array(naive.shares(X, points.k, points.high, points.high - 1)))


def converged(X, k):
    """The prices that column generation ends with, without cuts."""
    points = Points(X, k, min(2 * k - 1, len(X) - k))
    generation = Generation(points, shares_of(X, points), naive.optimum_by_subsets(X, k))
    generation.cut = never
    for _ in generation.steps():
        pass
    return points, generation.proven


def kinds_of(points, group):
    """A group with equal records not told apart."""
    return tuple(sorted(points.kinds[list(group)].tolist()))


def groups_of(given):
    """The groups that are open, equal records not told apart."""
    pairs = zip(given.members, given.sizes, strict=True)
    return [tuple(given.points.places[group[:size]].tolist()) for group, size in pairs]


@pytest.mark.parametrize("kind", ["round", "repeated"])
@pytest.mark.parametrize("fined", [False, True])
def test_all_groups_that_a_partition_below_the_goal_can_have_are_collected_once(kind, fined):
    X, points = sample(kind)
    cuts = np.array([[0, 1, 2], [0, 2, 3]]) if fined and kind == "round" else NO_CUTS[0]
    duals = Duals(shares_of(X, points) * 0.9, cuts, np.full(len(cuts), 0.2), -0.1)
    goal = duals.value(points) + 4.0
    chosen = collect(points, duals, goal, 10**5, 10**6, never)
    expected = set()
    for size in range(points.k, points.high + 1):
        for group in itertools.combinations(range(len(X)), size):
            sse, held = naive.group_sse(X.tolist(), group), points.kinds[list(group)]
            paid = 0.2 * sum(len(set(cut) & set(held.tolist())) >= 2 for cut in cuts.tolist())
            if sse - duals.prices[held].sum() + paid - duals.toll < 4.0 and sse < goal:
                expected.add(kinds_of(points, group))
    got = groups_of(chosen)
    assert sorted(got) == sorted(expected)
    assert len(got) > 10
    ranked = chosen.ranked()
    sets = [[i for i in range(len(X)) if int(mask[0]) >> i & 1] for mask in ranked.masks]
    for anchor in range(len(X)):
        part = slice(ranked.starts[anchor], ranked.starts[anchor + 1])
        assert all(members[0] == anchor for members in sets[part])
        assert (np.diff(ranked.reduced[part]) >= 0).all()
    for members, cost in zip(sets, ranked.costs, strict=True):
        assert cost == pytest.approx(naive.group_sse(X.tolist(), points.records[members].tolist()), abs=1e-12)
    assert collect(points, duals, goal, 10, 10**6, never) is None
    assert collect(points, duals, goal, 10**5, 3, never) is None
    assert collect(points, duals, goal, 10**5, 10**6, lambda: True) is None


@pytest.mark.parametrize("repeated", [False, True])
def test_cuts_raise_the_bound_which_stays_below_the_optimum_whose_groups_stay(repeated):
    risen = 0
    for seed in range(12):
        X = np.random.default_rng(seed).normal(size=(9, 2))
        X = X[[*range(8), 3]] if repeated else X
        points, duals = converged(X, 2)
        optimum, best = naive.optimum(X, 2)
        goal = optimum * 1.05
        chosen = collect(points, duals, goal, 10**5, 10**6, never)
        sharp = sharpen(chosen, goal, optimum / 9, never)
        assert chosen.bound <= sharp.bound <= optimum + 1e-9
        risen += sharp.bound > chosen.bound + 1e-6
        kept = {group: number for number, group in enumerate(groups_of(sharp))}
        used = [kept[kinds_of(points, group)] for group in best]
        reduced = sharp.duals.reduced(sharp.cover, sharp.costs)
        assert reduced.min() > -1e-9
        spare = (points.most_groups - len(used)) * sharp.duals.toll
        assert sharp.bound - spare + reduced[used].sum() <= optimum + 1e-9
    assert risen >= 3


def test_where_no_partition_is_below_the_goal_the_bound_reaches_it():
    reached = 0
    for seed in range(12):
        X = np.random.default_rng(seed).normal(size=(9, 2))
        points, duals = converged(X, 2)
        optimum = naive.optimum_by_subsets(X, 2)
        goal = duals.value(points) + 0.8 * (optimum - duals.value(points))
        chosen = collect(points, duals, goal, 10**5, 10**6, never)
        if len(chosen.costs):
            reached += sharpen(chosen, goal, optimum / 9, never).bound >= goal
    assert reached >= 3


@pytest.mark.parametrize("kind", ["round", "repeated"])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_searching_through_what_is_open_finds_the_optimum_or_that_there_is_none(kind, k):
    X, points = sample(kind, 10, k)
    optimum = naive.optimum_by_subsets(X, k)
    duals = Duals(shares_of(X, points), *NO_CUTS)
    for goal, there in ((2 * optimum, True), (optimum * 0.999, False)):
        found, best = None, inf
        for labels, sse in through(collect(points, duals, goal, 10**6, 10**7, never), goal):
            found, best = (labels if labels is not None else found), sse
        assert best == pytest.approx(optimum if there else goal)
        assert (found is not None) == there
        if there:
            groups = [np.flatnonzero(found == g).tolist() for g in range(found.max() + 1)]
            assert naive.sse(X.tolist(), groups) == pytest.approx(optimum)
            assert min(map(len, groups)) >= k


def test_nothing_left_is_searched_through_at_once():
    X, points = sample()
    duals = Duals(shares_of(X, points), *NO_CUTS)
    chosen = collect(points, duals, 9.0, 10**5, 10**6, never)
    empty = chosen.kept(np.zeros(len(chosen.costs), bool))
    assert sharpen(empty, 9.0, 1.0, never) is empty
    assert list(through(empty, 9.0)) == [(None, 9.0)]


def test_the_ranges_of_equal_records():
    assert equal_ranges(np.array([0, 0, 1, 1, 1, 2, 3, 3])).tolist() == [[0, 2], [2, 5], [6, 8]]
    assert equal_ranges(np.arange(3)).shape == (0, 2)


def test_equal_records_are_given_out_in_order():
    X = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    points = Points(X, 2, 2)
    by_place = points.records.tolist()
    first = 1 << by_place.index(0) | 1 << by_place.index(3)
    second = 1 << by_place.index(0) | 1 << by_place.index(1)
    labels = labels_of(np.array([[first], [second]], np.uint64), points)
    assert labels.tolist() == [0, 1, 1, 0]
