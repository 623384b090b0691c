import numpy as np
import pytest
from checks import (
    equal_weights_are_the_same_as_none,
    large_samples,
    passes_scikit_learns_checks,
    reports_progress_without_changing_the_groups,
    unless_equal,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points, weighted_points
from shoal import MDAV
from shoal.errors import ShoalError

UNTIL = {"2k": 2, "3k": 3}


@settings(max_examples=400)
@given(points(widest=20), st.sampled_from(sorted(UNTIL)))
def test_labels_are_those_of_the_naive_twin(sample, until):
    X, k = sample
    labels = MDAV(k=k, until=until).fit(X).labels_
    assert labels.tolist() == naive.labels_of(naive.mdav(X, k, UNTIL[until]))


@settings(max_examples=300)
@given(weighted_points(widest=8), st.sampled_from(sorted(UNTIL)))
def test_labels_of_weighted_records_are_those_of_the_naive_twin(sample, until):
    X, k, weights = sample
    model = MDAV(k=k, until=until).fit(X, sample_weight=weights)
    assert model.labels_.tolist() == naive.labels_of(naive.mdav(X, k, UNTIL[until], unless_equal(weights)))
    assert k <= model.sizes_.min() <= model.sizes_.max() <= 2 * k - 1


def test_a_larger_weighted_table_too():
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(500, 5)).round(1), rng.lognormal(size=500).round(2)
    assert MDAV(k=4).fit(X, sample_weight=weights).labels_.tolist() == naive.labels_of(
        naive.mdav(X, 4, weights=weights.tolist())
    )


def test_equal_weights_are_the_same_as_none():
    equal_weights_are_the_same_as_none(MDAV(k=4))


@given(points(), st.sampled_from(sorted(UNTIL)))
def test_every_group_has_k_to_2k_minus_1_records(sample, until):
    X, k = sample
    sizes = MDAV(k=k, until=until).fit(X).sizes_
    assert sizes.min() >= k
    assert sizes.sum() == len(X)
    assert sizes.max() <= 2 * k - 1


@pytest.mark.parametrize("until", UNTIL)
@pytest.mark.parametrize(
    ("n", "k"), [(1, 1), (5, 5), (9, 5), (10, 5), (11, 5), (14, 5), (15, 5), (19, 5), (20, 1)]
)
def test_sizes_at_the_edges(n, k, until):
    X = np.random.default_rng(n).normal(size=(n, 2))
    model = MDAV(k=k, until=until).fit(X)
    assert model.labels_.tolist() == naive.labels_of(naive.mdav(X, k, UNTIL[until]))
    assert model.sizes_.min() >= k


def scanned(X, k):
    """The naive twin in numpy, for larger tables; sums as exact as the twin's."""
    from math import fsum

    def farthest(free, point):
        return free[np.argmax(distances(free, point))]

    def distances(free, point):
        d2 = np.zeros(len(free))
        for j in range(X.shape[1]):
            d2 += (X[free, j] - point[j]) ** 2
        return d2

    labels, free, label = np.full(len(X), -1), np.arange(len(X)), 0
    while len(free) >= 2 * k:
        p = farthest(free, [fsum(column) / len(free) for column in X[free].T.tolist()])
        for seed in (p, None):
            seed = farthest(free, X[p]) if seed is None else seed
            d2 = distances(free, X[seed])
            d2[free == seed] = -1
            labels[free[np.argsort(d2, kind="stable")[:k]]] = label
            free, label = free[labels[free] < 0], label + 1
    return labels, free


@pytest.mark.parametrize("k", [2, 7, 100])
def test_larger_tables_too(k):
    for name, X in large_samples(2500, np.random.default_rng(k)).items():
        labels, rest = scanned(X, k)
        ours = MDAV(k=k).fit(X).labels_
        grouped = labels >= 0
        assert np.array_equal(ours[grouped], labels[grouped]), name
        assert len(rest) < 2 * k


def test_the_order_in_which_sums_are_taken_does_not_matter():
    """Removing records from a running sum leaves no rounding behind, so a table in tatters gives the same groups."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 3)) * 10.0 ** rng.integers(-6, 7, size=(2000, 3))
    labels, _ = scanned(X, 3)
    assert np.array_equal(MDAV(k=3).fit(X).labels_[labels >= 0], labels[labels >= 0])


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(MDAV(k=3))


def test_progress_rises_to_the_end_and_does_not_change_the_groups():
    reports_progress_without_changing_the_groups(MDAV(k=2))


def test_an_interrupt_in_the_callback_gets_through():
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        MDAV(k=2).fit(np.random.default_rng(4).normal(size=(500, 2)), progress=stop)


def test_a_wrong_rule_is_an_error():
    with pytest.raises(ShoalError, match="until must be one of 2k, 3k, not '4k'"):
        MDAV(until="4k").fit(np.zeros((9, 2)))
