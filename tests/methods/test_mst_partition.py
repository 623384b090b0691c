import numpy as np
import pytest
from checks import large_samples, passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal import MSTPartition
from shoal.errors import ShoalError
from shoal.methods import mst_partition


@settings(max_examples=250)
@given(points(widest=8), st.sampled_from(["d", "mdav"]))
def test_labels_are_those_of_the_naive_twin(sample, split):
    X, k = sample
    model = MSTPartition(k=k, split=split).fit(X)
    assert model.labels_.tolist() == naive.labels_of(naive.mst_partition(X, k, split))
    assert model.sizes_.min() >= k
    assert model.sizes_.max() <= 2 * k - 1


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("split", ["d", "mdav"])
def test_larger_tables_too(k, split):
    for name, X in large_samples(200, np.random.default_rng(k)).items():
        expected = naive.labels_of(naive.mst_partition(X, k, split))
        assert MSTPartition(k=k, split=split).fit(X).labels_.tolist() == expected, name


@pytest.mark.parametrize("split", ["d", "mdav"])
def test_large_groups_are_split_as_small_ones_are(monkeypatch, split):
    for X in large_samples(3000, np.random.default_rng(3)).values():
        scanned = MSTPartition(k=10, split=split).fit(X).labels_
        with monkeypatch.context() as patch:
            patch.setattr(mst_partition, "_SMALL", 0)
            assert np.array_equal(scanned, MSTPartition(k=10, split=split).fit(X).labels_)


@pytest.mark.parametrize("split", ["d", "mdav"])
def test_a_hundred_thousand_equal_records(split):
    model = MSTPartition(k=7, split=split).fit(np.ones((100_000, 2)))
    assert (model.sizes_.min(), model.sizes_.max()) == (7, 12)


def test_a_line_of_a_hundred_thousand_with_growing_gaps():
    X = np.cumsum(1 + np.arange(100_000) * 1e-6)[:, None]
    assert MSTPartition(k=3).fit(X).sizes_.max() <= 5


def test_the_split_is_one_of_two():
    with pytest.raises(ShoalError, match="split must be one of d, mdav"):
        MSTPartition(split="c").fit(np.zeros((9, 2)))


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(MSTPartition(k=3))


def test_progress():
    reports_progress_without_changing_the_groups(MSTPartition(k=2))
