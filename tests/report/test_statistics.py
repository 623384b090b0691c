import numpy as np
import pytest

from shoal.report.statistics import cell, correlated, number, shares, statistics
from shoal.report.subject import ShownColumn


def shown(before, after, levels=()):
    return ShownColumn("a", "quasi-identifier", np.array(before), np.array(after), levels)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1234567, "1\u2009234\u2009567"),
        (0.5, "0.5"),
        (1 / 3, "0.333333"),
        (1e-9, "1e-09"),
        (-12.3456789, "-12.3457"),
        (2e15, "2e+15"),
    ],
)
def test_numbers_are_readable(value, text):
    assert number(value) == text


def test_cells_of_tables_say_what_they_hold():
    assert [cell(value) for value in (None, True, 2, 0.25, "a", float("nan"))] == [
        "–",
        "yes",
        "2",
        "0.25",
        "a",
        "–",
    ]


def test_weights_count_only_where_there_are_values():
    values, weights = np.array([1.0, np.nan, 3.0, 9.0]), np.array([1.0, 50.0, 1.0, 2.0])
    rows = {label: before for label, before, _ in statistics(shown(values, values), weights)}
    assert rows["weighted mean"] == 5.5
    assert rows["lowest"] == 1
    nothing = statistics(shown(values, values), np.array([0.0, 1.0, 0.0, 0.0]))
    assert nothing[0][1] == pytest.approx(13 / 3)  # those that have a value have no weight, and count alike
    assert shares(shown([0.0, 1, 1], [1.0, 1, 1], ("x", "y")), np.array([2.0, 1, 1])) == [
        ("x", 50, 0), ("y", 50, 100),
    ]  # fmt: skip
    other = np.array([2.0, 7.0, 1.0, 4.0])
    copies = [1.0, 3.0, 9.0, 9.0], [2.0, 1.0, 4.0, 4.0]
    assert np.allclose(correlated([values, other], weights), np.corrcoef(copies))
