import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_risk import KINDS, drawn_pair, found_by_nearest, linked, plain, same_confidential
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.risk import linkage as fast

SOME = st.lists(st.sampled_from(KINDS), min_size=1, max_size=4)
GAPS = st.sampled_from([0.0, 0.4])


def figures(measure, pair):
    found = {figure.name: figure for figure in measure(pair)}
    json.dumps([figure.as_dict() for figure in found.values()], allow_nan=False)
    return found


def quasi(name, before, after, **more):
    return PairColumn(name, "quasi-identifier", np.array(before, float), np.array(after, float), **more)


@given(st.integers(0, 10**6), st.integers(1, 16), st.integers(1, 4), SOME, GAPS)
def test_links_by_all_are_those_of_the_twin_and_never_above_one_in_k(seed, n, k, kinds, gaps):
    pair = drawn_pair(seed, n, k, kinds, gaps=gaps)
    rate = fast.linked_by_all(pair)
    assert rate.percent == pytest.approx(linked(pair.quasi_identifiers, n))
    assert rate.percent <= 100 / pair.k + 1e-9


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 4), SOME, GAPS)
def test_links_by_every_subset_are_those_of_the_twin(seed, n, k, kinds, gaps):
    pair = drawn_pair(seed, n, k, kinds, gaps=gaps)
    columns = pair.quasi_identifiers
    found = dict(fast.linked_by_subsets(pair))
    m = len(columns)
    assert len(found) == m + m * (m - 1) // 2 + m * (m - 1) * (m - 2) // 6
    for subset, rate in found.items():
        assert rate.percent == pytest.approx(linked([columns[i] for i in subset], n))
        assert rate.percent <= 100 / pair.k + 1e-9
    shown = figures(fast.linkage_subsets, pair)["linkage_subsets"]
    assert shown.value == max(rate.percent for rate in found.values())
    assert len(shown.table.rows) == len(found)


@given(
    st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 4), SOME,
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=2), GAPS,
)  # fmt: skip
def test_links_with_confidential_values_are_those_of_the_twin(seed, n, k, kinds, secret, gaps):
    pair = drawn_pair(seed, n, k, kinds, secret, gaps)
    rates = fast.linked_with_confidential(pair)
    every, known = (*pair.quasi_identifiers, *pair.confidential), pair.quasi_identifiers
    alike = [same_confidential(pair, i) for i in range(n)]
    expected = {
        "quasi-identifiers": linked(known, n),
        "and confidential values, as a distance": linked(every, n),
        "confidential values alone, equal": 100 * sum((i in a) / max(len(a), 1) for i, a in enumerate(alike)) / n,
        "confidential values equal, then the nearest": (
            100 * sum(found_by_nearest(known, n, i, a) for i, a in enumerate(alike)) / n
        ),
    }
    assert {what: rate.percent for what, rate in rates.items()} == pytest.approx(expected)


def test_values_worked_by_hand():
    """Groups {0, 1, 10} at 11/3 and {4, 12, 13} at 29/3: 10 and 4 lie nearer to the wrong one, as 20/3 is between."""
    pair = Pair((quasi("x", [0, 1, 10, 4, 12, 13], [11 / 3] * 3 + [29 / 3] * 3),), np.repeat([0, 1], 3), True)
    shown = figures(fast.linkage_all, pair)["linkage_all"]
    assert shown.value == pytest.approx(100 * 4 / 6 / 3)
    assert shown.details["at_most"] == pytest.approx(100 / 3)
    assert shown.details["blind"] == pytest.approx(100 / 6)
    assert shown.eyes == "owner"
    assert shown.details["standard_error"] == 0


def test_equally_near_groups_share():
    """A record at 0 is as near to the pair at -1 as to the pair at 1: one in four."""
    pair = Pair((quasi("x", [0, -2, 0, 2], [-1, -1, 1, 1]),), np.array([0, 0, 1, 1]), True)
    assert fast.links_by_all(pair)[1].tolist() == [0.25, 0.5, 0.25, 0.5]


def test_exact_confidential_values_link_again_and_that_is_said():
    groups, x = np.repeat([0, 1], 4), np.arange(8.0)
    secret = PairColumn("income", "confidential", x * 100, x * 100)
    pair = Pair((quasi("x", x, np.repeat([1.5, 5.5], 4)), secret), groups, True)
    shown = figures(fast.linkage_confidential, pair)["linkage_confidential"]
    assert shown.value == 100
    assert "released as they are" in shown.sentence
    changed = Pair((pair.columns[0], PairColumn("income", "confidential", x, x[::-1].copy())), groups, True)
    shown = figures(fast.linkage_confidential, changed)["linkage_confidential"]
    assert "were changed" in shown.sentence
    assert not shown.details["unchanged"]


def test_large_tables_are_sampled_and_the_error_is_stated(monkeypatch):
    monkeypatch.setattr(fast, "SAMPLE", 60)
    monkeypatch.setattr(fast, "FEW", 40)
    monkeypatch.setattr(fast, "_FEWEST", 20)
    monkeypatch.setattr(fast, "_LOOKS", 10)
    pair = drawn_pair(1, 200, 3, ["number", "tied"], ["number"])
    for measure in (fast.linkage_all, fast.linkage_subsets, fast.linkage_confidential):
        for shown in measure(pair):
            assert "standard error" in shown.sentence
            assert shown.details["sampled"] < 200
    truth, rate = linked(pair.quasi_identifiers, 200), fast.linked_by_all(pair)
    assert abs(rate.percent - truth) < 4 * rate.error


def test_many_attributes_try_the_small_subsets_first(monkeypatch):
    subsets = fast.subsets_of(30, 0)
    assert len(subsets) == len(set(subsets)) == fast.SUBSETS
    assert fast.subsets_of(5, 0) == [*((i,) for i in range(5)), *fast.subsets_of(5, 0)[5:]]
    assert len(fast.subsets_of(5, 0)) == 5 + 10 + 10
    assert {len(each) for each in fast.subsets_of(12, 0)} == {1, 2, 3}
    assert len(fast.subsets_of(200, 0)) == fast.SUBSETS


def test_codes_of_both_tables_are_equal_where_all_values_are():
    pair = drawn_pair(3, 30, 2, ["tied"], ["tied", "category"], 0.3)
    records = np.arange(0, 30, 2)
    one, two = fast.codes_of_both(pair.confidential, records)
    for place, record in enumerate(records):
        same = [
            all(plain(c.before)[record] == plain(c.after)[row] for c in pair.confidential) for row in range(30)
        ]
        assert (two == one[place]).tolist() == same


@pytest.mark.parametrize("measure", [fast.linkage_all, fast.linkage_subsets, fast.linkage_confidential])
def test_tables_without_the_columns_have_no_figure(measure):
    column = PairColumn("s", "confidential", np.arange(4.0), np.arange(4.0))
    assert not list(measure(Pair((column,), np.zeros(4, np.int64), True)))
