import json
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_risk import KINDS, drawn_pair, gower, plain, told
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.risk import attacks as fast

SOME = st.lists(st.sampled_from(KINDS), min_size=1, max_size=4)


def with_control(pair, seed, n, kinds, secret, gaps=0.0):
    others = drawn_pair(seed + 1, n, 1, kinds, secret, gaps)
    return replace(pair, control={c.name: c.before for c in others.columns})


def figures(pair):
    found = {figure.name: figure for figure in fast.attacks(pair)}
    json.dumps([figure.as_dict() for figure in found.values()], allow_nan=False)
    return found


@given(st.integers(0, 50), st.integers(1, 50))
def test_wilsons_interval_is_where_the_share_is_just_believable(hits, more):
    tries = hits + more
    low, high = fast.Tally(hits, tries).interval
    for end in (low, high):
        if 0 < end < 1:
            off = abs(hits / tries - end)
            assert off == pytest.approx(1.959963984540054 * sqrt(end * (1 - end) / tries), abs=1e-9)
    assert low <= hits / tries <= high


def test_wilsons_interval_worked_by_hand():
    """Newcombe (1998): 81 of 263 has 0.2553 to 0.3662, 0 of 20 has 0 to 0.1611."""
    assert fast.Tally(81, 263).interval == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert fast.Tally(0, 20).interval == pytest.approx((0, 0.1611), abs=5e-5)
    assert fast.Tally(0, 0).interval == (0, 1)


def test_the_risk_is_the_excess_over_the_control_worked_by_hand():
    """60 of 100 against 20 of 100: (0.6 - 0.2) / 0.8 = 0.5."""
    tally = fast.Tally(60, 100)
    risk, low, high = fast.Attack("a", tally, 0.1, fast.Tally(20, 100), tally).risk
    assert risk == pytest.approx(0.5)
    assert low < 0.5 < high
    assert fast.Attack("a", tally, 0.1, fast.Tally(70, 100), tally).risk[0] == 0
    assert fast.Attack("a", tally, 0.1, None, tally).risk is None
    assert fast.Attack("a", tally, 0.1, fast.Tally(5, 5), tally).risk is None


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 4), SOME, st.sampled_from([0.0, 0.4]))
def test_the_nearest_record_is_one_of_the_twins(seed, n, k, kinds, gaps):
    pair = drawn_pair(seed, n, k, kinds, gaps=gaps)
    columns = pair.quasi_identifiers
    persons = [c.before for c in columns]
    found = fast.nearest_records(pair, columns, persons, np.random.default_rng(seed))
    for person in range(n):
        away = [gower(columns, [values[person] for values in persons], row) for row in range(n)]
        assert away[found[person]] == pytest.approx(min(away), abs=1e-9)


@given(
    st.integers(0, 10**6),
    st.integers(1, 16),
    st.integers(1, 5),
    st.sampled_from(KINDS),
    st.sampled_from([0.0, 0.4]),
)
def test_guesses_are_the_most_frequent_category_or_the_median(seed, n, k, kind, gaps):
    pair = drawn_pair(seed, n, k, ["number"], [kind], gaps)
    (secret,) = pair.confidential
    guesses = fast.guesses_of(pair.groups, secret)
    each = told(pair.groups.tolist(), plain(secret.after))
    if not each:
        assert guesses is None
        return
    for group, guess in enumerate(guesses.tolist()):
        values = each.get(group)
        if values is None:
            assert np.isnan(guess)
        elif secret.is_number:
            assert guess == pytest.approx(float(np.median(values)))
        else:
            assert guess == min(set(values), key=lambda v, values=values: (-values.count(v), v))


@given(
    st.integers(0, 10**6), st.integers(1, 14), st.integers(1, 4), SOME,
    st.lists(st.sampled_from(KINDS), max_size=2), st.sampled_from([0.0, 0.4]), st.integers(0, 6),
)  # fmt: skip
def test_any_table_has_figures_that_are_shares(seed, n, k, kinds, secret, gaps, control):
    pair = drawn_pair(seed, n, k, kinds, secret, gaps)
    if control:
        pair = with_control(pair, seed, control, kinds, secret, gaps)
    for shown in figures(pair).values():
        assert 0 <= shown.value <= 100
        assert shown.eyes == "public"
        assert shown.definition
        assert control or "control set of people who are not in the table is missing" in shown.sentence


def test_a_table_released_as_it_is_is_linked_and_inferred_whole():
    rng = np.random.default_rng(0)
    columns = [
        PairColumn(f"x{i}", "quasi-identifier", x, x) for i, x in enumerate((rng.random(60), rng.random(60)))
    ]
    ill = rng.integers(0, 3, 60).astype(float)
    columns.append(PairColumn("ill", "confidential", ill, ill, ("a", "b", "c")))
    shown = figures(Pair(tuple(columns), np.arange(60), False))
    assert {shown[f"{name}_success"].value for name in ("linkability", "inference", "singling_out")} == {100}


def test_people_of_the_table_are_beside_others_who_are_found_less():
    """Groups of one, of the quasi-identifiers as they are: the table is inferred whole, people like it by chance."""
    pair = drawn_pair(0, 80, 1, ["number", "number"], ["category"])
    pair = replace(pair, columns=tuple(replace(c, after=c.before) for c in pair.columns), groups=np.arange(80))
    shown = figures(with_control(pair, 5, 80, ["number", "number"], ["category"]))
    (row,) = shown["inference_success"].table.rows
    assert row[2] == 100
    assert 15 < row[7] < 55
    assert shown["inference_risk"].value == 100
    assert shown["linkability_risk"].value > 20
    assert shown["singling_out_risk"].value > 20


def test_people_of_the_same_population_have_no_risk_from_large_groups():
    pair = drawn_pair(1, 400, 100, ["number", "number"], ["category"])
    shown = figures(with_control(pair, 1, 400, ["number", "number"], ["category"]))
    for name in ("singling_out_risk", "linkability_risk", "inference_risk"):
        assert shown[name].value < 15


def test_equal_risks_need_no_order_of_attacks():
    """Two secrets with the same tables: both risks are equal, and the first is named."""
    pair = drawn_pair(0, 40, 4, ["number"], ["category"])
    twin = replace(pair.confidential[0], name="s1")
    pair = with_control(replace(pair, columns=(*pair.columns, twin)), 3, 40, ["number"], ["category", "category"])
    pair = replace(pair, control=pair.control | {"s1": pair.control["s0"]})
    assert "(s0)" in figures(pair)["inference_risk"].sentence


def test_of_a_large_table_fewer_predicates_are_tried(monkeypatch):
    monkeypatch.setattr(fast, "_WORK", 1000)
    monkeypatch.setattr(fast, "_FEWEST", 7)
    pair = drawn_pair(0, 300, 1, ["number", "number"])
    assert {row[1] for row in figures(pair)["singling_out_success"].table.rows} == {7}


def test_one_column_cannot_be_dealt_into_halves():
    x = np.arange(6.0)
    shown = figures(Pair((PairColumn("x", "quasi-identifier", x, x),), np.arange(6), False))
    assert list(shown) == ["singling_out_success"]
