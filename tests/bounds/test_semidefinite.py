from itertools import pairwise

import numpy as np
import pytest

import naive
from samples import small_table
from shoal import MDAV
from shoal.bounds import semidefinite, semidefinite_proof
from shoal.bounds.semidefinite import Semidefinite, capped, half_squares, parts_of_triangle
from shoal.bounds.semidefinite_cuts import Triangles, numbered
from shoal.bounds.semidefinite_proof import proven
from shoal.bounds.semidefinite_spectrum import Spectrum


def multipliers(rng, C):
    """Good, bad and absurd ones."""
    n = len(C)
    noise = rng.normal(size=(n, n))
    yield -C
    yield -C + 0.1 * C.mean() * noise
    yield -C * rng.random() + C.mean() * rng.random() * np.eye(n)
    yield noise * C.mean()
    yield np.zeros((n, n))
    yield noise * 10.0 ** rng.integers(-12, 12, (n, n))


@pytest.mark.parametrize("seed", range(12))
def test_a_multiplier_proves_what_all_eigenvalues_and_all_rows_say(seed):
    rng = np.random.default_rng(seed)
    n, k = 9, int(rng.integers(2, 5))
    high = min(2 * k - 1, n - k)
    X = rng.integers(0, 3, (n, 2)).astype(float) if seed % 2 else rng.normal(size=(n, 3))
    C = half_squares(X)
    optimum = naive.optimum_by_subsets(X, k)
    for L in multipliers(rng, C):
        L = L.astype(np.float32)
        slow = naive.semidefinite_bound(X.tolist(), L.astype(float).tolist(), k, high)
        for V in (rng.normal(size=(n, 2)), np.eye(n)):
            bound = proven(C, L, k, high, n // k, V.astype(np.float32))
            size = np.abs(L).max() + C.max()
            assert bound <= slow + 1e-12 * size
            assert bound == pytest.approx(slow, abs=1e-9 * size)
            assert bound <= optimum


def test_vectors_that_are_wrong_cost_strength_and_not_the_truth(monkeypatch):
    monkeypatch.setattr(semidefinite_proof, "_SMALL", 0)
    monkeypatch.setattr(semidefinite_proof, "_SWEEPS", 1)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    C = half_squares(X)
    L = (-C + 0.3 * rng.normal(size=C.shape)).astype(np.float32)
    exact = proven(C, L, 5, 9, 12, np.eye(60, dtype=np.float32))
    for columns in (1, 5, 12, 20):
        V = rng.normal(size=(60, columns)).astype(np.float32)
        assert -np.inf < proven(C, L, 5, 9, 12, V) <= exact + 1e-9 * abs(exact)


def test_no_bound_is_above_the_optimum_wherever_it_stops(monkeypatch):
    monkeypatch.setattr(semidefinite, "_LOOK", 1)
    monkeypatch.setattr(semidefinite, "_RARELY", 0.0)  # everything is proven
    monkeypatch.setattr(semidefinite, "_UNCUT", 5)
    monkeypatch.setattr(semidefinite, "_EXCHANGE", 3)
    tight, cut = 0.0, 0
    for seed in range(25):
        X, _ = small_table(seed)
        n = len(X)
        scale = np.abs(X).max()
        if not 1e-100 < scale < 1e100:
            continue
        for k in range(2, n // 2 + 1):
            optimum = naive.optimum_by_subsets(X, k)
            if not optimum > 1e-9 * scale * scale:
                continue
            stage = Semidefinite(X, k, min(2 * k - 1, n - k), MDAV(k=k).fit(X).labels_)
            for step, _ in enumerate(stage.steps()):
                assert stage.bound <= optimum * (1 + 1e-12), (seed, k)
                if step == 150:
                    break
            tight = max(tight, stage.bound / optimum)
            cut += len(stage.triangles.fines)
    assert tight > 0.999
    assert cut > 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_spectrum_follows_a_matrix_that_changes(dtype):
    rng = np.random.default_rng(0)
    n, tolerance = 120, 1e-2
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = np.concatenate([np.linspace(1.2, 0.3, 10), -rng.random(n - 10)])
    spectrum = Spectrum(rng.normal(size=(n, 10)).astype(dtype))
    for _ in range(8):  # a little turn each time
        basis = np.linalg.qr(basis + 1e-3 * rng.normal(size=(n, n)))[0]
        S = (basis * values) @ basis.T
        found, vectors = spectrum.update(S.astype(dtype), 10)
    P = np.eye(n) - 1 / n
    true, whole = np.linalg.eigh(P @ S @ P)
    assert found[:10] == pytest.approx(true[::-1][:10], abs=tolerance)
    overlap = np.linalg.svd(whole[:, -10:].T @ vectors[:, :10])[1]
    assert overlap.min() > 0.99
    assert vectors.T @ vectors == pytest.approx(np.eye(vectors.shape[1]), abs=1e-4)


def test_the_spectrum_of_a_wide_block_is_the_whole_one():
    rng = np.random.default_rng(1)
    S = rng.normal(size=(30, 30))
    S += S.T
    found, vectors = Spectrum(rng.normal(size=(30, 20))).update(S)
    P = np.eye(30) - 1 / 30
    assert found == pytest.approx(np.linalg.eigvalsh(P @ S @ P)[::-1])
    rebuilt = (vectors * found) @ vectors.T
    assert rebuilt == pytest.approx(P @ S @ P)


def test_values_are_capped_to_a_trace():
    values = np.array([3.0, 1.2, 0.8, 0.5, -0.2])
    assert capped(values, 4) == pytest.approx([1, 1, 0.8, 0.5, 0])
    assert capped(values, 2).sum() == pytest.approx(2)
    assert capped(values, 2) == pytest.approx(np.clip(values - 0.65, 0, 1), abs=0.2)
    assert capped(values, 0) == pytest.approx(np.zeros(5), abs=1e-9)


@pytest.mark.parametrize(("n", "parts"), [(1, 1), (64, 2), (65, 2), (1000, 4), (130, 8)])
def test_the_parts_of_a_triangle_are_whole_blocks(n, parts):
    ranges = parts_of_triangle(n, parts)
    assert ranges[0][0] == 0
    assert ranges[-1][1] == n
    assert all(a[1] == b[0] and b[0] % 64 == 0 for a, b in pairwise(ranges))


def test_fines_make_no_partition_dearer():
    rng = np.random.default_rng(3)
    n, k = 12, 3
    C = half_squares(rng.normal(size=(n, 2)))
    triangles = Triangles(k)
    for _ in range(5):
        X = rng.random((n, n)).astype(np.float32) / k
        triangles.exchange(X + X.T, X)
        triangles.move(X + X.T, 1.0, C.astype(np.float32))
    assert (triangles.fines > 0).sum() > 20
    costs, dearer = triangles.added(C)
    for seed in range(50):
        labels = np.random.default_rng(seed).permutation(np.arange(n) // k)
        matrix = (labels[:, None] == labels) / k
        assert (costs * matrix).sum() <= (C * matrix).sum() + dearer
    assert dearer < 1e-12 * costs.max() * n


def test_triangles_without_a_fine_are_dropped_and_none_is_there_twice():
    rng = np.random.default_rng(4)
    X = rng.random((10, 10)).astype(np.float32)
    triangles = Triangles(2)
    triangles.exchange(X, X)
    triangles.fines[::2] = 1.0
    kept = triangles.corners[::2]
    triangles.exchange(X, X)
    numbers = numbered(triangles.corners, 10)
    assert len(set(numbers.tolist())) == len(numbers)
    assert (triangles.corners[: len(kept)] == kept).all()
