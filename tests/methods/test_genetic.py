import numpy as np
import pytest
from checks import large_samples, passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal import MDAV, Genetic
from shoal.errors import ShoalError


@settings(max_examples=100)
@given(
    points(most=25),
    st.integers(2, 40),
    st.integers(2, 9),
    st.integers(1, 6),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.integers(0, 2**64),
)
def test_labels_are_those_of_the_naive_twin(sample, block, population, generations, crossover, mutation, seed):
    X, k = sample
    options = {
        "generations": generations,
        "population": population,
        "crossover": crossover,
        "mutation": mutation,
    }
    model = Genetic(k=k, block=block, random_state=seed, **options).fit(X)
    seeds = np.random.SeedSequence(seed).generate_state(len(X), np.uint64)
    assert model.labels_.tolist() == naive.labels_of(naive.genetic(X, k, block, seeds, **options))
    assert model.sizes_.min() >= k
    assert model.sizes_.max() < 2 * k


def test_a_longer_evolution_too():
    for name, X in large_samples(120, np.random.default_rng(1)).items():
        options = {"generations": 15, "population": 10, "crossover": 0.5, "mutation": 0.1}
        model = Genetic(k=3, **options).fit(X)
        seeds = np.random.SeedSequence(0).generate_state(2, np.uint64)
        assert model.labels_.tolist() == naive.labels_of(naive.genetic(X, 3, 50, seeds, **options)), name


def test_small_tables_come_to_the_best_partition():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(6, 2)) * 50
    X = np.repeat(centres, 4, axis=0) + rng.normal(size=(24, 2))
    best = naive.sse(X, np.arange(24).reshape(6, 4).tolist())
    assert Genetic(k=4).fit(X).sse_ == pytest.approx(best)


def test_more_generations_never_lose():
    X = np.random.default_rng(5).normal(size=(40, 3))
    losses = [Genetic(k=3, generations=g).fit(X).sse_ for g in (1, 10, 100, 500)]
    assert losses == sorted(losses, reverse=True)


def test_no_block_is_below_2k():
    X = np.random.default_rng(5).normal(size=(260, 2))
    model = Genetic(k=30, generations=5).fit(X)
    blocks = MDAV(k=60).fit(X).labels_
    assert all(len(set(blocks[model.labels_ == g])) == 1 for g in range(model.n_groups_))


def test_the_seed_decides():
    X = np.random.default_rng(5).normal(size=(60, 3))
    one, again, other = (Genetic(k=3, generations=5, random_state=s).fit(X).labels_ for s in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert Genetic(k=3, generations=5, random_state=None).fit(X).sizes_.min() >= 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"block": 1}, "block must be at least 2"),
        ({"generations": 0}, "generations must be at least 1"),
        ({"population": 1}, "population must be at least 2"),
        ({"crossover": 1.5}, "crossover must be a number from 0 to 1"),
        ({"mutation": -0.1}, "mutation must be a number from 0 to 1"),
        ({"random_state": -1}, "random_state must be at least 0"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ShoalError, match=message):
        Genetic(**options).fit(np.zeros((9, 2)))


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(Genetic(k=3, generations=5, population=10))


def test_progress():
    reports_progress_without_changing_the_groups(Genetic(k=2, generations=10, population=10))
