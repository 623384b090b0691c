import re

import matplotlib
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from shoal import ShoalError
from shoal.comparison.drawing import COLOURS, MARKERS, drawn, risk_map, time_map
from shoal.comparison.rows import Row

ROWS = [
    Row(method, k, "ok", loss=loss * k, seconds=seconds, prosecutor_highest=100 / k, linkage=80 / k)
    for k in (3, 5, 10)
    for method, loss, seconds in (("mdav", 1.0, 0.2), ("auto", 0.8, 3.0))
] + [Row("pcl", 3, "unfinished", limit=1.0)]


@pytest.mark.parametrize(("risk", "shares"), [("prosecutor", 100), ("linkage", 80)])
def test_the_points_of_the_map_are_the_rows(risk, shares):
    axes = Figure().subplots()
    risk_map(axes, ROWS, risk)
    lines = {line.get_label(): line.get_xydata().tolist() for line in axes.get_lines()}
    assert lines["mdav"] == [[shares / k, pytest.approx(1.0 * k)] for k in (3, 5, 10)]
    assert lines["auto"] == [[shares / k, pytest.approx(0.8 * k)] for k in (3, 5, 10)]
    assert lines["pcl (no figures)"] == []
    assert [text.get_text() for text in axes.texts] == ["k = 3", "k = 5", "k = 10"]


def test_what_is_recommended_has_a_ring():
    axes = Figure().subplots()
    risk_map(axes, ROWS, "prosecutor")
    rings = [line.get_xydata().tolist() for line in axes.get_lines() if line.get_markersize() == 11]
    assert [point for ring in rings for point in ring] == [[100 / k, pytest.approx(0.8 * k)] for k in (3, 5, 10)]


def test_the_points_of_the_times_are_the_rows():
    axes = Figure().subplots()
    time_map(axes, ROWS)
    points = {(x, round(y, 9)) for line in axes.get_lines() for x, y in line.get_xydata().tolist()}
    assert points == {(row.seconds, round(row.loss, 9)) for row in ROWS if row.is_ok}


def test_pictures_have_the_format_that_is_asked_for_and_text_that_is_text():
    assert drawn(ROWS, "prosecutor", "png").startswith(b"\x89PNG")
    picture = drawn(ROWS, "prosecutor", "svg").decode()
    assert picture.startswith("<svg")
    for text in ("information loss, %", "mdav", "k = 10", "Loss and time"):
        assert text in re.sub("<[^>]+>", "\n", picture)
    assert drawn(ROWS, "prosecutor", "svg").decode() == picture


@pytest.mark.parametrize(
    "rows", [[], ROWS[-1:], ROWS[:1], [Row("a", 3, "ok", loss=0.0, seconds=0.0, prosecutor_highest=33.3)]]
)
def test_few_rows_or_none_are_drawn_too(rows):
    for risk in ("prosecutor", "linkage"):
        assert drawn(rows, risk, "svg")


def test_an_unknown_risk_is_refused():
    with pytest.raises(ShoalError, match="risk must be one of prosecutor, linkage, not 'journalist'"):
        drawn(ROWS, "journalist", "svg")


def test_many_methods_are_told_apart_by_colour_and_marker():
    looks = {(COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]) for i in range(30)}
    assert len(looks) == 30
    light = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in map(to_rgb, COLOURS)]
    assert max(light) < 0.75  # each is seen on white
    assert matplotlib.rcParams["font.size"] == 10  # the style is not left behind
