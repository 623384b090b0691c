from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from shoal.attributes.numeric_stream import NumericKept
from shoal.stream.blocks import Moments, cut
from shoal.stream.spill import SpillWriter, whole


def spill(path, units, floats):
    with SpillWriter(path, [np.int64, np.int64, np.float64], 7) as writer:
        writer.write([np.arange(len(units)), units, floats])
    column = NumericKept("a", 1.0, held="integer", units=True)
    return [column, replace(column, units=False)]


@settings(max_examples=40)
@given(
    st.integers(8, 60).flatmap(
        lambda n: st.tuples(
            npst.arrays(np.int64, n, elements=st.integers(0, 4)),
            npst.arrays(np.float64, n, elements=st.floats(-9, 9)),
        )
    ),
    st.integers(1, 8),
)
def test_every_record_is_in_one_block_and_blocks_are_of_one_size(tmp_path, numbers, blocks):
    columns = spill(tmp_path / "all", *numbers)
    n = len(numbers[0])
    seen = []
    paths = cut(tmp_path / "all", blocks, columns, tmp_path, lambda done, total: seen.append((done, total)))
    parts = [whole(path, ["row", "q0", "q1"]) for path in paths]
    assert len(parts) == blocks
    assert all(len(part[0]) in (n // blocks, -(-n // blocks)) for part in parts)
    assert sorted(np.concatenate([part[0] for part in parts])) == list(range(n))
    for rows, units, floats in parts:
        assert (np.diff(rows) > 0).all()
        assert np.array_equal(units, numbers[0][rows])
        assert np.array_equal(floats, numbers[1][rows])
    assert all(done <= total for done, total in seen)


def test_the_cut_is_along_the_axis_of_most_variance(tmp_path):
    columns = spill(tmp_path / "all", np.arange(20) % 2, np.arange(20.0)[::-1])
    left, right = cut(tmp_path / "all", 2, columns, tmp_path, lambda *_: None)
    assert whole(left, ["q1"])[0].max() < whole(right, ["q1"])[0].min()
    unweighted = [columns[0], replace(columns[1], is_constant=True)]
    left, right = cut(tmp_path / "all", 2, unweighted, tmp_path, lambda *_: None)
    assert whole(left, ["q0"])[0].max() < whole(right, ["q0"])[0].min()


@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_floats_near_the_ends_of_their_range_are_cut_by_their_variance(tmp_path, unit):
    values = np.arange(20.0)[::-1] * unit
    columns = spill(tmp_path / "all", np.arange(20) % 2, values)
    columns[1] = replace(columns[1], ends=(float(values.min()), float(values.max())))
    columns[1] = replace(columns[1], spread=float(columns[1].numbers(values).raw().std()))
    left, right = cut(tmp_path / "all", 2, columns, tmp_path, lambda *_: None)
    assert whole(left, ["q1"])[0].max() < whole(right, ["q1"])[0].min()


def test_moments_part_by_part_are_those_of_the_whole():
    values = np.random.default_rng(0).normal(5, 2, (40, 2))
    moments = Moments.none(2)
    for part in np.split(values, [0, 3, 30]):
        moments.add(part.T)
    assert moments.mean == pytest.approx(values.mean(axis=0))
    assert moments.squares == pytest.approx(40 * values.var(axis=0))
