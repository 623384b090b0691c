"""Every meta-method around every method: groups of at least k, the same ones each time."""

import numpy as np
import pytest
from checks import passes_scikit_learns_checks
from sklearn.base import clone

from shoal import (
    MDAV,
    PCL,
    Blocked,
    Genetic,
    MuApprox,
    Optimal,
    PCAReduced,
    ProximalDistal,
    ShoalError,
    UnivariateOptimal,
)
from shoal.catalogue import described, method_described
from shoal.methods import METHODS
from shoal.settings import give_seed
from shoal.wrapper import Wrapper

WRAPPERS = {
    "pca-reduced": lambda inside: PCAReduced(inside, components=1),
    "proximal-distal": lambda inside: ProximalDistal(inside, macrocell=15),
    "proximal-distal, recursive": lambda inside: ProximalDistal(inside, macrocell=10, pca=False, recursive=True),
    "blocked": lambda inside: Blocked(inside, blocks=3, sweeps=1),
    "one in the other": lambda inside: ProximalDistal(PCAReduced(inside, components=1), macrocell=15),
}

SMALL = {
    Genetic: {"generations": 20, "population": 10},
    Optimal: {"seconds": 0.05},
    PCL: {"rounds": 5, "noise": "none", "n_starts": 1},
    UnivariateOptimal: {"projection": "pca"},
}

INSIDE = {name: kind for name, kind in METHODS.items() if not issubclass(kind, Wrapper)}

TABLES = {
    "random": np.random.default_rng(0).normal(size=(60, 3)),
    "tied": np.random.default_rng(1).integers(0, 3, (61, 2)).astype(float),
    "equal": np.full((37, 2), 4.0),
}


def inside(kind, k=3):
    model = kind(k=k, **SMALL.get(kind, {}))
    give_seed(model, 7 if "random_state" in model.get_params() else None)
    return model


@pytest.mark.parametrize("around", WRAPPERS)
@pytest.mark.parametrize("name", INSIDE)
def test_every_group_has_at_least_k_records_and_they_are_the_same_again(around, name):
    model = WRAPPERS[around](inside(INSIDE[name]))
    for X in TABLES.values():
        before = X.copy()
        labels = model.fit(X).labels_
        assert model.sizes_.min() >= 3
        assert np.array_equal(X, before)
        if INSIDE[name] is not Optimal:  # it stops by the clock
            assert np.array_equal(labels, clone(model).fit(X).labels_)


@pytest.mark.parametrize("kind", sorted({type(make(MDAV())) for make in WRAPPERS.values()}, key=repr))
@pytest.mark.parametrize("wrapped", [MDAV, MuApprox])
def test_scikit_learns_own_checks_pass(kind, wrapped):
    passes_scikit_learns_checks(kind(inside(wrapped)))


@pytest.mark.parametrize("around", WRAPPERS)
@pytest.mark.parametrize("name", INSIDE)
def test_a_manifest_brings_it_back(around, name):
    model = WRAPPERS[around](inside(INSIDE[name]))
    again = method_described(described(model))
    assert described(again) == described(model)
    assert again.k == 3


@pytest.mark.parametrize("around", WRAPPERS)
def test_what_is_not_k_anonymous_is_not_wrapped(around):
    model = WRAPPERS[around](UnivariateOptimal(k=3, per_attribute=True))
    with pytest.raises(ShoalError, match="not k-anonymity"):
        model.fit(TABLES["random"])


@pytest.mark.parametrize("around", WRAPPERS)
def test_the_k_inside_is_the_k_of_all(around):
    model = WRAPPERS[around](MDAV(k=7))
    assert model.k == 7
    assert model.fit(TABLES["random"]).sizes_.min() >= 7
    with pytest.raises(ShoalError, match="k must be at least 1"):
        WRAPPERS[around](MDAV(k=0)).fit(TABLES["random"])
