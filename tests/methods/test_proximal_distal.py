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

import naive
from samples import points
from shoal import MDAV, TFRP, PCAReduced, ProximalDistal, Refined, ShoalError


@st.composite
def tables(draw):
    """Points without ties, k, the size of macrocells and how many they are."""
    n, m = draw(st.integers(6, 60)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = np.exp(rng.normal(size=(n, m)) @ rng.normal(size=(m, m)) * 0.5)
    k = draw(st.integers(2, min(4, n // 2 - 1)))
    size = draw(st.integers(k + 1, n // 2))
    return X, k, size, len(naive.mdav(X, size))


@settings(max_examples=100)
@given(tables(), st.floats(0, 1), st.sampled_from([None, 0.5, 0.9]), st.booleans())
def test_labels_are_those_of_the_naive_twin(sample, share, energy, recursive):
    X, k, size, cells = sample
    distal = round(share * cells)
    options = {"pca": False} if energy is None else {"energy": energy}
    model = ProximalDistal(MDAV(k=k), macrocell=size, distal=distal, recursive=recursive, **options).fit(X)

    def worst(distortions):
        return distal * len(distortions) // cells

    assert model.labels_.tolist() == naive.labels_of(naive.proximal_distal(X, k, size, worst, energy, recursive))
    assert model.n_distal_ == distal
    assert np.allclose(model.macrocell_distortions_, [share for _, share in naive.macrocells(X, size)])


@settings(max_examples=80)
@given(tables(), st.floats(0, 1), st.sampled_from([None, 0.9]), st.booleans(), st.integers(0, 10**6))
def test_weights_go_to_the_method_inside(sample, share, energy, recursive, seed):
    X, k, size, cells = sample
    distal = round(share * cells)
    weights = np.random.default_rng(seed).integers(1, 5, len(X)).astype(float)
    options = {"pca": False} if energy is None else {"energy": energy}
    model = ProximalDistal(MDAV(k=k), macrocell=size, distal=distal, recursive=recursive, **options)
    labels = model.fit(X, sample_weight=weights).labels_

    def worst(distortions):
        return distal * len(distortions) // cells

    twin = naive.proximal_distal(X, k, size, worst, energy, recursive, unless_equal(weights))
    assert labels.tolist() == naive.labels_of(twin)
    assert model.sizes_.min() >= k
    assert np.array_equal(model.distal_, model.fit(X).distal_)  # portions do not depend on them


def test_weights_change_the_groups():
    equal_weights_are_the_same_as_none(ProximalDistal(MDAV(k=4), macrocell=20))
    inside = Refined(k=4, rounds=0)
    weights_change_the_groups_and_the_weighted_loss_falls(ProximalDistal(inside, macrocell=50, pca=False))


@settings(max_examples=60)
@given(tables(), st.floats(0, 1.5), st.booleans())
def test_so_they_are_with_a_threshold(sample, threshold, recursive):
    X, k, size, _ = sample
    model = ProximalDistal(MDAV(k=k), macrocell=size, threshold=threshold, recursive=recursive).fit(X)

    def above(distortions):
        return sum(share > threshold for share in distortions)

    assert model.labels_.tolist() == naive.labels_of(naive.proximal_distal(X, k, size, above, 0.9, recursive))
    assert model.n_distal_ == np.count_nonzero(model.macrocell_distortions_ > threshold)


@settings(max_examples=150)
@given(points(), st.data(), st.booleans(), st.booleans())
def test_the_promises_hold_whatever_the_input(sample, data, pca, recursive):
    X, k = sample
    k = min(k, max(1, len(X) // 2 - 1))
    size = data.draw(st.integers(k + 1, max(k + 1, len(X))))
    if size > len(X):
        return
    model = ProximalDistal(MDAV(k=k), macrocell=size, pca=pca, recursive=recursive).fit(X)
    assert model.sizes_.min() >= k
    assert model.macrocell_sizes_.min() >= size
    assert model.n_distal_ == 2 * model.n_macrocells_ // 5
    assert np.isfinite(model.macrocell_distortions_).all()
    assert model.distal_.shape == (len(X),)
    assert np.array_equal(model.labels_, model.fit(X).labels_)


def skewed(n=600):
    rng = np.random.default_rng(0)
    return np.exp(rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)) * 0.5)


def test_the_two_ends_are_pca_on_all_and_the_plain_method():
    X = skewed()
    for size in (20, 300):
        cells = 600 // size
        none = ProximalDistal(MDAV(k=3), macrocell=size, distal=0).fit(X)
        assert np.array_equal(none.labels_, PCAReduced(MDAV(k=3)).fit(X).labels_)
        assert not none.distal_.any()
        every = ProximalDistal(MDAV(k=3), macrocell=size, distal=cells).fit(X)
        assert np.array_equal(every.labels_, MDAV(k=3).fit(X).labels_)
        assert every.distal_.all()


def test_no_group_spans_both_portions():
    model = ProximalDistal(MDAV(k=3), macrocell=50).fit(skewed())
    assert model.n_macrocells_ == 12
    assert model.n_distal_ == 4
    assert model.n_portions_ == 2
    for group in range(model.n_groups_):
        assert len(set(model.distal_[model.labels_ == group])) == 1
    worst = np.sort(model.macrocell_distortions_)[-4:]
    assert model.distal_.sum() == model.macrocell_sizes_[np.isin(model.macrocell_distortions_, worst)].sum()


def test_a_small_table_is_grouped_by_the_method_inside():
    X = skewed()
    model = ProximalDistal(MDAV(k=3)).fit(X)
    assert np.array_equal(model.labels_, MDAV(k=3).fit(X).labels_)
    assert (model.n_macrocells_, model.n_distal_, model.n_portions_) == (0, 0, 1)
    assert len(model.macrocell_distortions_) == 0


def test_the_defaults_are_those_of_the_paper():
    X = skewed(5_000)
    model = ProximalDistal(MDAV(k=5)).fit(X)
    assert (model.n_macrocells_, model.n_distal_) == (5, 2)
    assert 2 * 149 // 5 == 59  # the distal macrocells of Large Census
    assert np.array_equal(ProximalDistal(MDAV(k=200)).fit(X).macrocell_sizes_, MDAV(k=2000).fit(X).sizes_)


def test_recursion_makes_more_and_smaller_portions():
    model = ProximalDistal(MDAV(k=3), macrocell=50, recursive=True).fit(skewed())
    assert model.n_portions_ > 2
    assert model.n_distal_ == 4
    assert model.sizes_.min() >= 3


def test_macrocells_come_from_mdav_whatever_is_inside():
    X = skewed()
    for inside in (MDAV(k=3), TFRP(k=3)):
        model = ProximalDistal(inside, macrocell=50).fit(X)
        assert np.array_equal(model.macrocell_sizes_, MDAV(k=50).fit(X).sizes_)
    generic = ProximalDistal(MDAV(k=3, until="3k"), macrocell=70).fit(X)
    assert np.array_equal(generic.macrocell_sizes_, MDAV(k=70, until="3k").fit(X).sizes_)


def test_wrong_parameters_are_named():
    X = skewed(40)
    for model, words in (
        (ProximalDistal(MDAV(k=5), macrocell=5), "macrocell=5 must be more than k=5"),
        (ProximalDistal(macrocell=50), "macrocell=50 is more than there are records"),
        (ProximalDistal(macrocell=10, distal=5), "distal=5 is more than there are macrocells .4."),
        (ProximalDistal(distal=1, threshold=0.1), "distal=1 and threshold=0.1 contradict"),
        (ProximalDistal(distal=1), "40 records make no two macrocells of 1000"),
        (ProximalDistal(threshold=0.1), "40 records make no two macrocells of 1000"),
        (ProximalDistal(energy=0.5, components=2), "energy=0.5 and components=2 contradict"),
        (ProximalDistal(components=5), "more than there are attributes .m=4."),
        (ProximalDistal(pca=False, energy=0.5), "pca=False"),
        (ProximalDistal(pca=False, components=2), "pca=False"),
        (ProximalDistal(pca="no"), "pca must be True or False"),
    ):
        with pytest.raises(ShoalError, match=words):
            model.fit(X)


@pytest.mark.parametrize("recursive", [False, True])
def test_progress(recursive):
    reports_progress_without_changing_the_groups(ProximalDistal(MDAV(k=2), macrocell=300, recursive=recursive))
