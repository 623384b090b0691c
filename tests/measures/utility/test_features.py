from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_utility import LEVELS, drawn, mean, plain, sd, there
from shoal.measures.pair import PairColumn
from shoal.measures.utility.features import matrix_of, names_of, terms_of


def test_terms_of_every_kind_with_gaps():
    letters = PairColumn("c", "other", np.array([0.0, 0, 1, 2, np.nan]), np.array([3.0, 1, 0, 0, 0]), LEVELS)
    terms = terms_of(letters, 1)
    assert terms.names == ["c = b", "c = another", "c missing"]
    assert np.array(terms.of(letters.before)).T.tolist() == [[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert np.array(terms.of(letters.after)).T.tolist()[0] == [0, 1, 0]
    numbers = PairColumn("x", "other", np.array([1.0, 3.0, np.nan]), np.array([2.0, 2.0, 4.0]))
    terms = terms_of(numbers, 1)
    assert terms.names == ["x", "x missing"]
    found = np.array(terms.of(numbers.before))
    assert found == pytest.approx(np.array([[-np.sqrt(0.5), np.sqrt(0.5), 0], [0, 0, 1]]))
    assert names_of([terms_of(PairColumn("x", "other", np.ones(3), np.ones(3)), 1)]) == []


def terms_by_name(column, most, values):
    """The twin: each term as a list, from counts and loops."""
    originals, gaps = there(plain(column.before)), np.isnan([*column.before, *column.after]).any()
    shown, found = plain(values), {}
    if column.is_number:
        if sd(originals) > 0:
            middle, scale = mean(originals), sd(originals)
            found[column.name] = [0.0 if v is None else (v - middle) / scale for v in shown]
    else:
        counts = Counter(originals)
        order = sorted(range(len(column.levels)), key=lambda level: (-counts[level], level))
        own = [level for level in order[1 : most + 1] if counts[level]]
        for level in own:
            found[f"{column.name} = {column.levels[level]}"] = [float(v == level) for v in shown]
        if len(order) > 1 + len(own):
            known = {order[0], *own}
            found[f"{column.name} = another"] = [float(v is not None and v not in known) for v in shown]
    if gaps:
        found[f"{column.name} missing"] = [float(v is None) for v in shown]
    return found


@given(st.integers(0, 10**6), st.sampled_from(["number", "tied", "constant", "category", "gaps"]),
       st.sampled_from([0.0, 0.3]), st.integers(1, 10), st.integers(0, 4))  # fmt: skip
def test_terms_are_those_of_the_twin(seed, kind, gaps, n, most):
    levels = LEVELS if kind == "category" else ()
    column = PairColumn("x", "other", drawn(seed, n, kind, gaps), drawn(seed + 1, n, kind, gaps), levels)
    terms = terms_of(column, most)
    for values in (column.before, column.after):
        expected = terms_by_name(column, most, values)
        assert terms.names == list(expected)
        assert [part.tolist() for part in terms.of(values)] == [pytest.approx(part) for part in expected.values()]


def test_columns_stand_side_by_side_and_none_make_no_matrix():
    columns = [PairColumn(name, "other", *[drawn(i, 5, gaps=0)] * 2) for i, name in enumerate("xy")]
    terms = [terms_of(column, 3) for column in columns]
    assert names_of(terms) == ["x", "y"]
    assert matrix_of(terms, [column.before for column in columns]).shape == (5, 2)
    still = terms_of(PairColumn("x", "other", np.ones(4), np.ones(4)), 3)
    assert matrix_of([still], [np.ones(4)]).shape == (4, 0)
    assert matrix_of([], []).shape == (0, 0)
