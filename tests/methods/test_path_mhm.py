import numpy as np
import pytest
from checks import passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal import CBFS, MDAV, PathMHM
from shoal.errors import ShoalError
from shoal.methods.path_mhm import ORDERS
from shoal.partition import Partition
from shoal.steps.rows import maximum_distance


@settings(max_examples=200)
@given(points(), st.sampled_from(ORDERS))
def test_every_order_gives_groups_of_k_to_2k_minus_1(sample, order):
    X, k = sample
    model = PathMHM(k=k, order=order).fit(X)
    assert model.sizes_.min() >= k
    assert model.sizes_.max() <= max(2 * k - 1, 1)
    assert np.array_equal(model.labels_, PathMHM(k=k, order=order).fit(X).labels_)


@settings(max_examples=200)
@given(points(), st.sampled_from(["mdav", "cbfs", "md"]))
def test_never_worse_than_the_groups_that_the_row_goes_through(sample, order):
    X, k = sample
    base = {"mdav": MDAV(k=k).fit, "cbfs": CBFS(k=k).fit}
    labels = base[order](X).labels_ if order in base else maximum_distance(X, k, None)
    before = Partition(X, labels, k)
    if before.sizes.max() < 2 * k:
        after = PathMHM(k=k, order=order).fit(X)
        assert after.sse_ <= before.sse * (1 + 1e-9) + 1e-20 * np.abs(X).max() ** 2


@settings(max_examples=150)
@given(points(most=12, widest=4), st.randoms())
def test_an_order_of_your_own_is_cut_as_the_naive_twin_cuts_it(sample, random):
    X, k = sample
    row = list(range(len(X)))
    random.shuffle(row)
    found = PathMHM(k=k, order=row).fit(X).sse_
    assert found <= naive.cheapest_cut(X, row, k) * (1 + 1e-9) + 1e-20 * np.abs(X).max() ** 2


def test_on_one_attribute_the_sorted_order_is_optimal():
    X = np.random.default_rng(2).normal(size=(9, 1))
    order = np.argsort(X[:, 0])
    best = min(
        naive.sse(naive.plain(X), [[order[i] for i in group] for group in cut])
        for cut in naive.all_cuts(list(range(9)), 2)
    )
    for name in ("pca", "zscore", order):
        assert PathMHM(k=2, order=name).fit(X).sse_ == pytest.approx(best)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("tps", "order must be one of .*, not 'tps'; did you mean 'tsp'"),
        (None, "order must be one of"),
        ([0, 1, 2], "each record number from 0 to 8 once"),
        ([0, 0, 2, 3, 4, 5, 6, 7, 8], "each record number from 0 to 8 once"),
        ([0.5] * 9, "each record number from 0 to 8 once"),
    ],
)
def test_a_wrong_order_is_an_error(order, message):
    with pytest.raises(ShoalError, match=message):
        PathMHM(k=2, order=order).fit(np.zeros((9, 2)))


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(PathMHM(k=3))
    passes_scikit_learns_checks(PathMHM(k=3, order="tsp"))


@pytest.mark.parametrize("order", ["mdav", "md"])
def test_progress(order):
    reports_progress_without_changing_the_groups(PathMHM(k=2, order=order))
