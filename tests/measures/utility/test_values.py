import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_utility import LEVELS, drawn, euclidean_error, il1s, plain, squared_error
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.utility.values import errors_of, value_errors

KINDS = ("number", "tied", "constant", "category", "gaps")


def pair_of(*columns):
    return Pair(tuple(columns), np.zeros(len(columns[0].after), np.int64), matched=True)


def column(name, before, after, levels=(), role="quasi-identifier"):
    return PairColumn(name, role, np.array(before, float), np.array(after, float), tuple(levels))


def figures(pair):
    return {figure.name: figure for figure in value_errors(pair)}


def test_numbers_and_categories_worked_by_hand():
    """Of 0, 0, 4, 4 (variance 4 with n, 16/3 with n - 1) two values move by 1: SSE = 2/4, SST = 16/4.

    Of a, a, a, b one changes, which costs 2 / (1 - 9/16 - 1/16) = 16/3; in one group of a, it is one too.
    """
    numbers = column("x", [0, 0, 4, 4], [1, 0, 3, 4])
    letters = column("y", [0, 0, 0, 1], [0, 0, 0, 0], "ab")
    found = figures(pair_of(numbers, letters))
    assert errors_of(numbers).percent == pytest.approx(100 * 2 / 16)
    assert errors_of(letters).percent == pytest.approx(100)
    assert found["squared_error"].value == pytest.approx(100 * (2 / 4 + 16 / 3) / (16 / 4 + 16 / 3))
    near = 2 / 2 + math.sqrt(16 / 3)  # the last record is off by its category, the first and third by a number
    far = 3 * 2 / 2 + math.sqrt(4 / 4 + 16 / 3)
    assert found["euclidean_error"].value == pytest.approx(100 * near / far)
    assert found["il1s_sum"].value == pytest.approx(2 / (math.sqrt(2) * math.sqrt(16 / 3)))
    assert found["il1s_mean"].value == pytest.approx(found["il1s_sum"].value / 4)


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(KINDS)), min_size=1, max_size=4),
       st.integers(0, 10**6), st.sampled_from([0.0, 0.3]), st.sampled_from([1, 2, 12]))  # fmt: skip
def test_errors_are_those_of_the_twin(kinds, seed, gaps, n):
    columns = []
    for number, (first, second) in enumerate(kinds):
        letters = "category" in (first, second)
        first, second = ("category", "category") if letters else (first, second)
        sides = [drawn(seed + 10 * number + side, n, kind, gaps) for side, kind in enumerate((first, second))]
        columns.append(column(f"x{number}", *sides, LEVELS if letters else ()))
    found = figures(pair_of(*columns))
    given = [(plain(c.before), plain(c.after), c.is_number) for c in columns]
    assert found["squared_error"].value == pytest.approx(squared_error(given), abs=1e-9)
    assert found["euclidean_error"].value == pytest.approx(euclidean_error(given), abs=1e-9)
    total, count = il1s([each[:2] for each in given if each[2]])
    if "il1s_sum" in found:
        assert found["il1s_sum"].value == pytest.approx(total, abs=1e-9)
        assert found["il1s_mean"].value == pytest.approx(total / count, abs=1e-9)
    else:
        assert count == 0
    json.dumps([figure.as_dict() for figure in found.values()], allow_nan=False)


def test_confidential_columns_stand_in_the_table_but_not_in_the_sum():
    quasi, other = column("x", [0, 1], [0, 1]), column("y", [0, 1], [1, 0], role="confidential")
    figure = figures(pair_of(quasi, other))["squared_error"]
    assert figure.value == 0
    assert [row[3] for row in figure.table.rows] == [0, pytest.approx(400)]
    assert figures(pair_of(other)) == {}
