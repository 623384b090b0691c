from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attributes import Profile
from shoal.report import plots


def parsed(svg):
    assert svg.startswith("<svg")
    return ElementTree.fromstring(svg)


def test_every_plot_is_well_formed_and_names_its_columns_as_text():
    names = ["<script>alert(1)</script>", "$x^{2$", "a & b"]
    values = [np.arange(9.0), np.zeros(9), np.linspace(0, 1e200, 9)]
    matrix = np.eye(3)
    for svg in (
        plots.losses(names, [1.0, 2.0, 0.0]),
        plots.distributions([Profile(*each) for each in zip(names, values, values, strict=True)]),
        plots.correlations(names, matrix, matrix),
    ):
        texts = " ".join(parsed(svg).itertext())
        assert "<script" in texts
        assert "$x^{2$" in texts
        assert "<script" not in svg


def test_group_sizes_of_any_number_can_be_drawn():
    for sizes in (np.array([3]), np.array([3, 4, 5]), np.arange(3, 100)):
        assert "records in a group" in " ".join(parsed(plots.group_sizes(sizes, 3)).itertext())


def test_a_spectrum_of_any_length_can_be_drawn():
    for variances, kept in (([2.0], 1), ([3.0, 1.0, 0.0], 2), (np.linspace(1, 0, 60), 9)):
        assert "variance, %" in " ".join(parsed(plots.spectrum(np.array(variances), kept)).itertext())


def test_the_same_plot_has_the_same_text():
    assert plots.group_sizes(np.array([3, 4]), 3) == plots.group_sizes(np.array([3, 4]), 3)


@given(st.lists(st.floats(-1e299, 1e299), min_size=1, max_size=30))
def test_bins_cover_all_values(values):
    values = np.array(values)
    edges = plots.bin_edges(values, values[::-1])
    assert (np.diff(edges) >= 0).all()
    assert len(edges) <= 43
    assert edges[0] <= values.min()
    assert edges[-1] >= values.max()


def test_whole_numbers_fall_into_equal_bins():
    values = np.repeat(np.arange(54.0), 10)
    counts = np.histogram(values, plots.bin_edges(values, values))[0]
    assert set(counts[:-1]) == {20}


@pytest.mark.parametrize(("name", "short"), [("a\nb", "a b"), ("", "(no name)"), ("x" * 30, "x" * 23 + "…")])
def test_long_names_are_cut(name, short):
    assert plots.shortened(name) == short
