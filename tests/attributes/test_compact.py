import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import naive
from shoal.attributes.compact import compacted, directions, scrambled


def squared(points):
    return ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)


@st.composite
def incidences(draw):
    """A few categories with marks of uneven sizes, and the share of the records of each."""
    levels, marks = draw(st.integers(1, 8)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    sizes = rng.choice([0.5, 1.0, 2.0], marks)
    counts = rng.integers(0, 5, levels) + (np.arange(levels) == 0)
    return (rng.random((levels, marks)) < 0.5) * np.sqrt(sizes), counts / counts.sum()


@given(incidences())
def test_marks_that_fit_are_coordinates_of_their_own(drawn):
    marks, shares = drawn
    points, exact = compacted(sparse.csr_matrix(marks), shares, marks.shape[1])
    assert exact
    assert np.array_equal(points, marks)


@given(incidences(), st.integers(1, 11))
def test_too_many_marks_share_coordinates_as_the_naive_twin_has_it(drawn, most):
    marks, shares = drawn
    points, exact = compacted(sparse.csr_matrix(marks), shares, most)
    assert exact == (marks.shape[1] <= most)
    if not exact:
        assert points.shape == (len(marks), most)
        rest = most - most // 2
        signs = directions(np.arange(marks.shape[1]), rest)
        twin = naive.compacted(marks.tolist(), shares.tolist(), most, signs.tolist())
        assert points == pytest.approx(np.array(twin), abs=1e-12)


def test_the_marks_that_vary_most_keep_their_distances():
    """Two large halves, each with many small categories: the halves stay apart exactly."""
    levels = 40
    half = np.repeat([0, 1], levels // 2)
    marks = np.hstack([np.eye(2)[half] * 10.0, np.eye(levels)])
    points, exact = compacted(sparse.csr_matrix(marks), np.full(levels, 1 / levels), 20)
    assert not exact
    assert np.array_equal(points[:, :2], marks[:, :2])


def test_distances_in_shared_coordinates_are_near_the_exact_ones():
    levels, most = 1000, 256
    marks = np.eye(levels)
    points, _ = compacted(sparse.csr_matrix(marks), np.full(levels, 1 / levels), most)
    ratio = squared(points[200:400])[np.triu_indices(200, 1)] / 2.0
    assert ratio.mean() == pytest.approx(1.0, abs=0.02)
    assert ratio.std() < 1.2 * np.sqrt(2 / (most // 2))


def test_directions_have_length_one_and_do_not_depend_on_their_neighbours():
    every = directions(np.arange(10_000), 7)
    assert np.allclose((every**2).sum(axis=1), 1.0)
    assert np.array_equal(directions(np.array([9_999, 5_000]), 7), every[[9_999, 5_000]])
    assert abs(every.mean()) < 0.01


def test_many_marks_are_added_part_by_part(monkeypatch):
    marks = sparse.random(50, 300, 0.1, format="csr", random_state=1)
    whole, _ = compacted(marks, np.full(50, 0.02), 10)
    monkeypatch.setattr("shoal.attributes.compact._TOGETHER", 7)
    parts, _ = compacted(marks, np.full(50, 0.02), 10)
    assert parts == pytest.approx(whole, abs=1e-12)


def test_the_directions_are_the_same_on_every_machine():
    """As SplitMix64 has them, in Python's own integers."""
    mask = 2**64 - 1
    for number in (0, 1, 12_345, 2**40):
        x = ((number + 1) * 0x9E3779B97F4A7C15 + 0x53484F414C000001) & mask
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & mask
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & mask
        assert int(scrambled(np.array([number], np.uint64))[0]) == x ^ (x >> 31)
