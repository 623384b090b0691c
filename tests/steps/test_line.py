from fractions import Fraction

import numpy as np
from hypothesis import given, settings

import naive
from samples import points
from shoal.steps.line import optimal_groups


def exact_sse(values, labels):
    return sum(naive.exact_sse(tuple(values[labels == group].tolist())) for group in np.unique(labels))


def no_worse(values, labels, least):
    """Whether the groups cost the least, within 1e-9 of it; differences below 1e-300 of the range are none."""
    vanishing = (Fraction(float(values.max())) - Fraction(float(values.min()))) ** 2 * len(values) / 10**600
    return least <= exact_sse(values, labels) <= least * (1 + Fraction(1, 10**9)) + vanishing


@settings(max_examples=300)
@given(points(widest=1))
def test_groups_are_optimal_and_numbered_from_the_smallest_values_up(sample):
    X, k = sample
    labels = optimal_groups(X[:, 0], k)
    assert np.bincount(labels).min() >= k
    assert np.bincount(labels).max() <= 2 * k - 1
    assert no_worse(X[:, 0], labels, naive.least_sse_of_runs(X[:, 0].tolist(), k))
    order = np.argsort(X[:, 0], kind="stable")
    assert (np.diff(labels[order]) >= 0).all()


@settings(max_examples=150)
@given(points(most=13, widest=1))
def test_no_cut_of_the_sorted_values_is_better(sample):
    X, k = sample
    ordered = tuple(sorted(X[:, 0].tolist()))
    least = min(sum(map(naive.exact_sse, runs)) for runs in naive.runs_of(ordered, k))
    assert no_worse(X[:, 0], optimal_groups(X[:, 0], k), least)


@settings(max_examples=150)
@given(points(most=8, widest=1))
def test_no_partition_at_all_is_better(sample):
    X, k = sample
    values = X[:, 0].tolist()
    least = min(
        sum(naive.exact_sse(tuple(values[i] for i in group)) for group in groups)
        for groups in naive.partitions_of(list(range(len(values))), k)
    )
    assert no_worse(X[:, 0], optimal_groups(X[:, 0], k), least)


def test_thousands_of_small_cases_against_all_cuts():
    rng = np.random.default_rng(7)
    for trial in range(2000):
        n = int(rng.integers(1, 10))
        k = int(rng.integers(1, n + 1))
        values = [rng.normal(size=n), rng.integers(0, 4, n) * 1.0, 1e9 + 1e-6 * rng.random(n)][trial % 3]
        ordered = tuple(np.sort(values).tolist())
        least = min(sum(map(naive.exact_sse, runs)) for runs in naive.runs_of(ordered, k))
        assert no_worse(values, optimal_groups(values, k), least), (values.tolist(), k)
