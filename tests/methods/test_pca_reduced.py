import numpy as np
import pytest
from checks import (
    equal_weights_are_the_same_as_none,
    reports_progress_without_changing_the_groups,
    unless_equal,
    weights_change_the_groups_and_the_weighted_loss_falls,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import naive
from samples import points
from shoal import IMHM, MDAV, PCAReduced, Refined, ShoalError, ShoalWarning, UnivariateOptimal, anonymize
from shoal.methods.pca_reduced import principal_axes


@st.composite
def generic(draw, most=40, widest=5):
    """Points without ties, in axes of their own, and a k; of two last records both are as far from their mean."""
    n, m = draw(st.integers(2, most)), draw(st.integers(1, widest))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.normal(size=(n, m)) @ rng.normal(size=(m, m)) + rng.normal(size=m)
    return X, draw(st.integers(2, n))


@settings(max_examples=150)
@given(generic(), st.floats(0, 1))
def test_labels_are_those_of_the_naive_twin(sample, energy):
    X, k = sample
    model = PCAReduced(MDAV(k=k), energy=energy).fit(X)
    assert model.labels_.tolist() == naive.labels_of(naive.pca_reduced(X, k, energy))


@settings(max_examples=100)
@given(generic(), st.floats(0, 1), st.integers(0, 10**6))
def test_weights_go_to_the_method_inside(sample, energy, seed):
    X, k = sample
    weights = np.random.default_rng(seed).integers(1, 5, len(X)).astype(float)
    model = PCAReduced(MDAV(k=k), energy=energy).fit(X, sample_weight=weights)
    assert model.labels_.tolist() == naive.labels_of(
        naive.pca_reduced(X, k, energy, weights=unless_equal(weights))
    )
    assert model.sizes_.min() >= k
    whole = PCAReduced(MDAV(k=k), components=X.shape[1]).fit(X, sample_weight=weights)
    assert np.array_equal(whole.labels_, MDAV(k=k).fit(X, sample_weight=weights).labels_)


def test_weights_change_the_groups():
    equal_weights_are_the_same_as_none(PCAReduced(MDAV(k=4), components=2))
    weights_change_the_groups_and_the_weighted_loss_falls(PCAReduced(Refined(k=4, rounds=0), components=3))


@settings(max_examples=60)
@given(generic(), st.integers(1, 5))
def test_so_they_are_with_a_number_of_axes(sample, count):
    X, k = sample
    count = min(count, X.shape[1])
    model = PCAReduced(MDAV(k=k), components=count).fit(X)
    assert model.components_.shape == (count, X.shape[1])
    assert model.labels_.tolist() == naive.labels_of(naive.pca_reduced(X, k, count=count))


@settings(max_examples=60)
@given(generic())
def test_axes_and_spectrum_are_those_of_the_naive_twin(sample):
    X, _ = sample
    _, axes, spectrum = naive.principal_axes(X)
    found = principal_axes(X)
    assert np.allclose(found.spectrum, spectrum, atol=1e-12 * spectrum[0])
    clear = np.flatnonzero(np.array(spectrum) > 1e-6 * spectrum[0])  # an axis of no variance may point anywhere
    assert np.allclose(np.abs(found.directions[clear]), np.abs(np.array(axes)[clear]), atol=1e-4)


@settings(max_examples=150)
@given(points(), st.floats(0, 1))
def test_the_promises_hold_whatever_the_input(sample, energy):
    X, k = sample
    before = X.copy()
    model = PCAReduced(MDAV(k=k), energy=energy).fit(X)
    assert np.array_equal(X, before, equal_nan=True)
    assert model.sizes_.min() >= k
    assert 1 <= len(model.components_) <= X.shape[1]
    assert model.energy_ >= energy - 1e-12
    assert model.energy_ <= 1
    assert np.isfinite(model.spectrum_).all()
    assert (np.diff(model.spectrum_) <= 0).all()
    assert (model.spectrum_ >= 0).all()
    assert np.allclose(model.components_ @ model.components_.T, np.eye(len(model.components_)))
    largest = np.abs(model.components_).max(axis=1)
    assert (model.components_.max(axis=1) >= largest * (1 - 1e-9)).all()
    assert np.array_equal(model.labels_, PCAReduced(MDAV(k=k), energy=energy).fit(X).labels_)


def test_centroids_and_loss_are_those_of_the_original_records():
    X = np.random.default_rng(0).normal(size=(100, 4))
    model = PCAReduced(MDAV(k=5), components=2).fit(X)
    means = np.array([X[model.labels_ == g].mean(axis=0) for g in range(model.n_groups_)])
    assert np.allclose(model.centroids_, means)
    assert model.sse_ == pytest.approx(((X - means[model.labels_]) ** 2).sum())


@settings(max_examples=60)
@given(points())
def test_with_every_axis_the_groups_are_those_of_the_method_inside(sample):
    X, k = sample
    model = PCAReduced(MDAV(k=k), components=X.shape[1]).fit(X)
    assert np.array_equal(model.labels_, MDAV(k=k).fit(X).labels_)
    assert model.energy_ == 1


def test_attributes_that_follow_from_others_cost_nothing():
    X = np.random.default_rng(1).normal(size=(200, 3))
    wide = np.hstack([X, X @ np.random.default_rng(2).normal(size=(3, 4)), np.full((200, 1), 5.0)])
    model = PCAReduced(MDAV(k=4), energy=1.0).fit(wide)
    assert len(model.components_) == 3
    assert model.spectrum_[3:].tolist() == [0] * 5
    assert np.array_equal(model.labels_, MDAV(k=4).fit(wide).labels_)


def test_one_axis_makes_a_method_for_one_attribute_fit_for_many():
    X = np.random.default_rng(3).normal(size=(50, 3))
    inside = UnivariateOptimal(k=4)
    assert np.array_equal(
        PCAReduced(inside, components=1).fit(X).labels_,
        UnivariateOptimal(k=4, projection="pca").fit(X).labels_,
    )


def test_wrong_parameters_are_named():
    X = np.random.default_rng(4).normal(size=(20, 3))
    for model, words in (
        (PCAReduced(energy=0.8, components=2), "energy=0.8 and components=2 contradict"),
        (PCAReduced(components=4), "more than there are attributes .m=3."),
        (PCAReduced(components=0), "components must be at least 1"),
        (PCAReduced(energy=1.5), "energy must be a number from 0 to 1"),
        (PCAReduced(MDAV(k=30)), "k=30 is more than there are records"),
        (PCAReduced(UnivariateOptimal(per_attribute=True)), "not k-anonymity"),
    ):
        with pytest.raises(ShoalError, match=words):
            model.fit(X)


def test_the_number_of_threads_changes_nothing():
    X = np.random.default_rng(0).normal(size=(600, 500))
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(principal_axes(X).directions)
    assert np.array_equal(*found)


def test_an_interruption_inside_is_known_outside():
    def stop(done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    X = np.random.default_rng(5).normal(size=(300, 3))
    with pytest.warns(ShoalWarning, match="interrupted"):
        model = PCAReduced(IMHM(k=3), components=2).fit(X, progress=stop)
    assert model.interrupted_
    assert model.sizes_.min() >= 3
    assert not model.fit(X).interrupted_


def test_a_table_can_be_anonymized_by_name_and_by_estimator():
    table = {name: np.random.default_rng(at).normal(size=60) for at, name in enumerate("abcd")}
    import pandas as pd

    frame = pd.DataFrame(table)
    named = anonymize(frame, k=4, quasi_identifiers=list("abcd"), method="pca-reduced")
    given_ = anonymize(frame, quasi_identifiers=list("abcd"), method=PCAReduced(MDAV(k=4), energy=0.9))
    assert np.array_equal(named.labels, given_.labels)
    assert named.manifest["method"] == given_.manifest["method"]


def test_progress():
    reports_progress_without_changing_the_groups(PCAReduced(MDAV(k=2), components=2))
