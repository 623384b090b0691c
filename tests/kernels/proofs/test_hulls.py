import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from shoal.kernels.proofs.hulls import fill_difference, project_rows


def projected(T, k, high, shifts=None, slack=None):
    """Every row of T on the hull of its rows."""
    n = len(T)
    U, Z, G = T.astype(np.float32), np.zeros((n, n), np.float32), np.zeros((n, n), np.float32)
    shifts = np.zeros(n) if shifts is None else shifts
    slack = np.full(n, np.inf) if slack is None else slack
    moved = np.empty((n, 2))
    project_rows(0, n, U, Z, G, 1.6, k, high, shifts, slack, moved)
    rest = T - Z
    assert pytest.approx(rest, abs=1e-6 * (1 + float(np.abs(T).max()))) == U
    assert moved[:, 0] == pytest.approx((Z**2).sum(axis=1), rel=1e-4)
    return Z


@st.composite
def rows(draw):
    n = draw(st.integers(2, 9))
    values = draw(st.sampled_from(["random", "tied", "wide"]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    T = {
        "random": rng.normal(size=(n, n)) * 0.5,
        "tied": rng.integers(-1, 2, (n, n)) * 0.5,
        "wide": rng.normal(size=(n, n)) * 10.0 ** rng.integers(-3, 3, (n, n)),
    }[values]
    k = draw(st.integers(1, max(1, n // 2)))
    return T, k, draw(st.integers(k, max(k, min(2 * k - 1, n))))


@settings(max_examples=25, deadline=None)
@given(rows())
def test_rows_are_projected_on_their_hulls(sample):
    T, k, high = sample
    Z, T = projected(T, k, high), T.astype(np.float32).astype(float)
    for i, row in enumerate(T):
        assert Z[i] == pytest.approx(
            naive.nearest_in_hull(row.tolist(), i, k, high), abs=2e-5 + 3e-7 * float(np.abs(row).max())
        )


@settings(max_examples=20, deadline=None)
@given(rows())
def test_no_vertex_is_on_the_side_of_the_row(sample):
    T, k, high = sample
    Z, T = projected(T, k, high).astype(float), T.astype(np.float32).astype(float)
    for i, z in enumerate(Z):
        assert z.sum() == pytest.approx(1, abs=1e-5)
        for vertex in naive.hull_vertices(len(T), i, k, high):
            assert (T[i] - z) @ (np.array(vertex) - z) < 3e-5 * (1 + np.abs(T[i]).max())


def test_the_shift_before_changes_nothing_but_the_time():
    rng = np.random.default_rng(0)
    T = rng.normal(size=(40, 40)) * 0.2
    cold = projected(T, 5, 9)
    for before, slack in itertools.product((-3.0, 0.0, 3.0), (1e-6, 0.1, np.inf)):
        warm = projected(T, 5, 9, np.full(40, before), np.full(40, slack))
        assert warm == pytest.approx(cold, abs=1e-6)


def test_a_step_relaxes_and_keeps_what_is_left():
    rng = np.random.default_rng(1)
    U, Z, G = (rng.normal(size=(30, 30)).astype(np.float32) for _ in range(3))
    T, before = U + 1.6 * G - 0.6 * Z, Z.copy()
    shifts, slack, moved = np.zeros(30), np.full(30, np.inf), np.empty((30, 2))
    for first, stop in ((0, 11), (11, 30)):
        project_rows(first, stop, U, Z, G, 1.6, 4, 7, shifts, slack, moved)
    assert pytest.approx(projected(T, 4, 7), abs=1e-5) == Z
    assert pytest.approx(T - Z, abs=1e-5) == U
    assert moved[:, 0] == pytest.approx(((G - Z) ** 2).sum(axis=1), rel=1e-4)
    assert moved[:, 1] == pytest.approx(((before - Z) ** 2).sum(axis=1), rel=1e-4)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_the_difference_is_symmetric_and_complete(n):
    rng = np.random.default_rng(n)
    U, Z, C, out = (rng.normal(size=(n, n)).astype(np.float32) for _ in range(4))
    C = C + C.T
    middle = 64 * (n // 100)
    for first, stop in ((0, middle), (middle, n)):
        fill_difference(first, stop, U, Z, C, 0.25, out)
    expected = (Z - U + (Z - U).T) / 2 - C / 4
    assert out == pytest.approx(expected, abs=1e-5)
    assert (out == out.T).all()
