import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from naive_utility import LEVELS, drawn, overlap, plain, regression, sd
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.utility import regressions as fast


def pair_of(*columns):
    return Pair(tuple(columns), np.zeros(len(columns[0].after), np.int64), matched=False)


def figures(pair):
    found = {figure.name: figure for figure in fast.regressions(pair)}
    json.dumps([figure.as_dict() for figure in found.values()], allow_nan=False)
    return found


def test_overlaps_worked_by_hand():
    assert fast.overlap((0, 2), (1, 3)) == 0.5
    assert fast.overlap((0, 4), (1, 2)) == (1 / 4 + 1) / 2
    assert fast.overlap((0, 1), (2, 3)) == 0
    assert fast.overlap((1, 1), (1, 1)) == 1
    assert fast.overlap((1, 1), (2, 2)) == 0


@given(*[st.floats(-3, 3).map(lambda x: round(x, 2))] * 2, *[st.floats(0.1, 3)] * 2)
def test_overlap_is_that_of_the_twin(low, other, width, another):
    first, second = (low, low + width), (other, other + another)
    assert fast.overlap(first, second) == pytest.approx(overlap(first, second), abs=2e-3)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.2]), st.sampled_from([("number", "tied"), ("tied", "tied")]))
def test_coefficients_and_intervals_are_those_of_the_twin(seed, gaps, kinds):
    n = 14
    quasi = [
        PairColumn(f"x{i}", "quasi-identifier", drawn(seed + i, n, kind, 0), drawn(seed + 10 + i, n, kind, 0))
        for i, kind in enumerate(kinds)
    ]
    target = PairColumn(
        "y", "confidential", drawn(seed + 20, n, "number", gaps), drawn(seed + 21, n, "number", gaps)
    )
    rows = fast.compared(pair_of(*quasi, target), [fast.terms_of(c, 3) for c in quasi], target)
    for place, side in ((2, "before"), (5, "after")):
        values = [getattr(c, side).tolist() for c in quasi]
        middles, scales = [np.mean(c.before) for c in quasi], [sd(c.before.tolist()) for c in quasi]
        if 0 in scales:
            return
        y = plain(getattr(target, side))
        kept = [i for i in range(n) if y[i] is not None]
        terms = [[(values[j][i] - middles[j]) / scales[j] for j in range(2)] for i in kept]
        expected = regression(terms, [y[i] for i in kept])
        if expected is None or rows[0][2] is None or rows[1][2] is None:
            return
        margin = t.ppf(0.975, len(kept) - 3)
        for term, row in enumerate(rows, start=1):
            beta, error = expected[0][term], expected[1][term]
            assert row[place : place + 3] == pytest.approx(
                (beta, beta - margin * error, beta + margin * error), abs=1e-7
            )


def test_a_term_that_depends_on_another_is_left_out_of_both_tables():
    x, y = drawn(1, 30, gaps=0), drawn(2, 30, gaps=0)
    columns = [
        PairColumn("x", "quasi-identifier", x, x),
        PairColumn("w", "quasi-identifier", drawn(3, 30, gaps=0), 2 * x),
        PairColumn("y", "confidential", y, y),
    ]
    figure = figures(pair_of(*columns))["interval_overlap"]
    assert [row[-1] is None for row in figure.table.rows] == [False, True]
    assert figure.value == pytest.approx(1)  # with x alone both tables say the same


def test_two_values_are_explained_as_0_and_1_and_more_categories_are_not():
    x, two = drawn(1, 30, gaps=0), (drawn(2, 30, gaps=0) > 0).astype(float)
    quasi = PairColumn("x", "quasi-identifier", x, x)
    found = figures(pair_of(quasi, PairColumn("ill", "confidential", two, two, ("no", "yes"))))
    row = found["interval_overlap"].table.rows[0]
    assert row[:2] == ("ill = yes", "x")
    assert row[2] == pytest.approx(np.polyfit(x / x.std(ddof=1), two, 1)[0])
    more = drawn(4, 30, "category", 0)
    assert figures(pair_of(quasi, PairColumn("town", "confidential", more, more, LEVELS))) == {}
    assert figures(pair_of(quasi)) == {}


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_records_give_no_figure_or_a_finite_one(n):
    x = drawn(5, n, gaps=0)
    figures(pair_of(PairColumn("x", "quasi-identifier", x, x), PairColumn("y", "confidential", x, x)))


def test_parts_of_many_records_are_added_up(monkeypatch):
    columns = [drawn(i, 60, "number", 0.1) for i in range(2)]
    quasi, target = PairColumn("x", "quasi-identifier", columns[0], columns[0]), columns[1]
    terms = [fast.terms_of(quasi, 3)]
    whole = fast.normal_equations(terms, [columns[0]], target)
    monkeypatch.setattr(fast, "_ROWS", 7)
    parts = fast.normal_equations(terms, [columns[0]], target)
    assert parts.squares == pytest.approx(whole.squares)
    assert (parts.total, parts.count) == (pytest.approx(whole.total), whole.count)
