import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal.kernels.single.genetic import draw, evolve, first_population, repair


@given(st.integers(0, 2**64 - 1))
def test_draws_are_those_of_splitmix64(seed):
    state, draws = np.array([seed], np.uint64), naive.splitmix64(seed)
    assert [draw(state) for _ in range(20)] == [next(draws) for _ in range(20)]


def test_splitmix64_gives_its_known_first_number():
    assert next(naive.splitmix64(0)) == (0xE220A8397B1DCDAF >> 11) * 2.0**-53


@settings(max_examples=300)
@given(points(), st.data())
def test_any_genes_are_repaired_as_in_the_naive_twin(sample, data):
    X, k = sample
    if k < 2 or len(X) < 2 * k:
        return
    n, groups = len(X), len(X) // k
    genes = data.draw(st.lists(st.integers(0, groups - 1), min_size=n, max_size=n))
    out = np.array(genes)
    repair(np.ascontiguousarray(X), out, np.empty(groups, np.int64), np.empty((groups, X.shape[1])), k)
    assert out.tolist() == naive.repaired(naive.plain(X), genes, k)
    sizes = np.bincount(out)
    assert k <= sizes[sizes > 0].min() <= sizes.max() < 2 * k


def test_every_chromosome_stays_valid_and_its_loss_is_its_own():
    X = np.random.default_rng(0).normal(size=(47, 3))
    state = np.array([7], np.uint64)
    population, losses = np.empty((20, 47), np.int64), np.empty(20)
    first_population(X, 4, state, population, losses)
    for _ in range(10):
        best = losses.min()
        evolve(X, 4, 1, 0.9, 0.5, state, population, losses)
        assert losses[0] <= best
        for genes, loss in zip(population, losses, strict=True):
            sizes = np.bincount(genes)
            assert 4 <= sizes.min() <= sizes.max() < 8
            assert loss == naive.genes_sse(X.tolist(), genes.tolist())
