import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.report import plots


def parsed(svg):
    assert svg.startswith("<svg")
    return ElementTree.fromstring(svg)


def test_every_plot_is_well_formed_and_names_its_columns_as_text():
    names = ["<script>alert(1)</script>", "$x^{2$", 'a & b id="x" #0f766e']
    for svg in (
        plots.losses(names, [1.0, 2.0, 0.0], "loss", "one", names[2]),
        plots.attacks([(name, 3.0, 1.0, None, None, None) for name in names], 20.0, "two", names[0]),
        plots.correlations(names, np.eye(3), "before", "three", names[1]),
        plots.bars_of_sides(names, {"before": [1, 2, 3], "after": [3, 2, 1]}, None, "", "four", names[1]),
    ):
        texts = " ".join(parsed(svg).itertext())
        assert "<script" in texts
        assert "$x^{2$" in texts
        assert "<script" not in svg
    assert 'id="x" #0f766e' in " ".join(parsed(plots.losses(names, [1, 2, 3], "", "one", "")).itertext())


def test_letters_that_no_font_here_has_are_left_to_the_reader(recwarn):
    svg = plots.losses(["\u65e5\u672c"], [1.0], "loss", "one", "")
    assert "\u65e5\u672c" in " ".join(parsed(svg).itertext())
    assert not recwarn.list


def test_a_plot_says_what_it_is_and_takes_its_colours_from_the_page():
    svg = plots.losses(["a"], [3.0], "loss", "mine", 'the "loss" of <a>')
    tree = parsed(svg)
    assert (tree.get("role"), tree.get("aria-label")) == ("img", 'the "loss" of <a>')
    assert not re.search(r"#[0-9a-f]{6}", re.sub(r'(url\(|href=")#[^")]*', "", svg)), "a colour of its own"
    assert "var(--after)" in svg
    ids = re.findall(r'\bid="([^"]*)"', svg)
    assert ids
    assert all(each.startswith("mine-") for each in ids)
    assert "<style" not in svg
    assert "http://purl.org" not in svg


@given(st.lists(st.integers(1, 500), min_size=1, max_size=80))
def test_every_group_is_in_one_bin_of_sizes(sizes):
    sizes = np.array(sizes)
    bins = plots.size_bins(sizes)
    assert len(bins) <= plots.MOST_BARS
    for low, high, count in bins:
        assert count == ((sizes >= low) & (sizes <= high)).sum()
    assert sum(count for *_, count in bins) == len(sizes)


def test_group_sizes_of_any_number_can_be_drawn():
    for sizes in (np.array([3]), np.array([3, 4, 5]), np.arange(3, 100)):
        drawn = plots.group_sizes(plots.size_bins(sizes), 3, "records", "sizes", "")
        assert "records in a group" in " ".join(parsed(drawn).itertext())


def test_a_spectrum_of_any_length_can_be_drawn():
    for shares, kept in (([100.0], 1), ([75.0, 25.0, 0.0], 2), (np.linspace(5, 0, 60), 9)):
        assert "variance, %" in " ".join(parsed(plots.spectrum(shares, kept, "axes", "")).itertext())


def test_the_same_plot_has_the_same_text():
    assert plots.losses(["a"], [1.0], "", "x", "") == plots.losses(["a"], [1.0], "", "x", "")


@given(st.lists(st.floats(-1e299, 1e299), min_size=1, max_size=30))
def test_bins_cover_all_values(values):
    values = np.array(values)
    edges = plots.bin_edges(float(values.min()), float(values.max()), np.unique(values))
    assert (np.diff(edges) >= 0).all()
    assert len(edges) <= 43
    assert edges[0] <= values.min()
    assert edges[-1] >= values.max()


def test_whole_numbers_fall_into_equal_bins():
    values = np.repeat(np.arange(54.0), 10)
    counts = np.histogram(values, plots.bin_edges(0, 53, np.unique(values)))[0]
    assert set(counts[:-1]) == {20}


@pytest.mark.parametrize(("name", "short"), [("a\nb", "a b"), ("", "(no name)"), ("x" * 30, "x" * 23 + "…")])
def test_long_names_are_cut(name, short):
    assert plots.shortened(name) == short
