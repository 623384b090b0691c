import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_risk import KINDS, drawn_pair, guessed, homogeneous, plain, told
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.risk import disclosure as fast

SECRETS = st.lists(st.sampled_from(KINDS), min_size=1, max_size=2)


def figures(pair):
    found = {figure.name: figure for figure in fast.disclosure(pair)}
    json.dumps([figure.as_dict() for figure in found.values()], allow_nan=False)
    return found


@given(st.integers(0, 10**6), st.integers(1, 20), st.integers(1, 5), SECRETS, st.sampled_from([0.0, 0.4]))
def test_what_groups_tell_is_that_of_the_twins(seed, n, k, kinds, gaps):
    pair = drawn_pair(seed, n, k, ["number"], kinds, gaps)
    shown = figures(pair)
    secrets = [c for c in pair.confidential if any(v is not None for v in plain(c.after))]
    if not secrets:
        assert not shown
        return
    groups = pair.groups.tolist()
    alike = {c.name: homogeneous(groups, plain(c.after)) for c in secrets}
    rows = {row[0]: row[1:3] for row in shown["homogeneous_records"].table.rows}
    assert rows == {name: pytest.approx(each) for name, each in alike.items()}
    assert shown["homogeneous_records"].value == pytest.approx(max(each[0] for each in alike.values()))
    rows = {row[0]: row[1:3] for row in shown["guesses_by_group"].table.rows}
    assert rows == {c.name: pytest.approx(guessed(groups, plain(c.after))) for c in secrets}
    for name, value, share, chance, alone in shown["homogeneity_probability"].table.rows:
        column = next(c for c in secrets if c.name == name)
        known = [fast.text_of(column, v) for v in plain(column.after) if v is not None]
        assert share == pytest.approx(100 * known.count(value) / len(known))
        assert chance == pytest.approx(100 * (share / 100) ** pair.k)
        each = told(groups, [None if v is None else fast.text_of(column, v) for v in plain(column.after)])
        assert alone == pytest.approx(100 * sum(set(g) == {value} for g in each.values()) / len(each))


@given(st.integers(0, 10**6), st.integers(1, 20), st.integers(1, 5), st.sampled_from([0.0, 0.4]))
def test_the_worst_group_has_the_largest_share_of_one_value(seed, n, k, gaps):
    pair = drawn_pair(seed, n, k, ["number"], ["category"], gaps)
    (secret,) = pair.confidential
    each = told(pair.groups.tolist(), plain(secret.after))
    if not each:
        return
    first, *_ = figures(pair)["worst_groups"].table.rows
    shares = {group: Counter(values).most_common(1)[0][1] / len(values) for group, values in each.items()}
    assert first[5] == pytest.approx(100 * max(shares.values()))
    assert shares[first[1]] == max(shares.values())


@given(st.integers(0, 10**6), st.integers(2, 20), st.integers(1, 5), st.sampled_from([0.0, 0.4]))
def test_the_spread_within_groups_is_that_of_the_twin(seed, n, k, gaps):
    pair = drawn_pair(seed, n, k, ["number"], ["number"], gaps)
    (secret,) = pair.confidential
    each = told(pair.groups.tolist(), plain(secret.after))
    values = [v for group in each.values() for v in group]
    if not values or min(values) == max(values):
        assert "confidential_spread" not in figures(pair)
        return
    middles = {group: math.fsum(some) / len(some) for group, some in each.items()}
    mean, span = math.fsum(values) / len(values), max(values) - min(values)
    within = sum((v - middles[g]) ** 2 for g, some in each.items() for v in some)
    ranges = {g: (max(some) - min(some)) / span for g, some in each.items()}
    narrow = sum(len(some) for g, some in each.items() if ranges[g] < 0.1) / len(values)
    (row,) = figures(pair)["confidential_spread"].table.rows
    total = sum((v - mean) ** 2 for v in values)
    assert row[1:] == pytest.approx(
        (
            100 * math.sqrt(within / total), 100 * min(ranges.values()),
            100 * float(np.median(list(ranges.values()))), 100 * narrow,
        )
    )  # fmt: skip


def test_values_worked_by_hand():
    """Groups aab and ccc of six: the second tells c for certain; p = 1/2, 1/3, 1/6, so chance is 1/8 + 1/27 + 1/216."""
    codes = np.array([0.0, 0, 1, 2, 2, 2])
    x = np.repeat([1.0, 2], 3)
    pair = Pair(
        (PairColumn("x", "quasi-identifier", x, x), PairColumn("ill", "confidential", codes, codes, ("a", "b", "c"))),
        np.repeat([0, 1], 3), False,
    )  # fmt: skip
    shown = figures(pair)
    assert shown["homogeneous_records"].value == 50
    assert shown["homogeneous_records"].table.rows[0][2] == pytest.approx(100 * (1 / 8 + 1 / 27 + 1 / 216))
    assert shown["homogeneity_probability"].value == pytest.approx(12.5)
    assert shown["guesses_by_group"].value == pytest.approx(500 / 6)
    worst = shown["worst_groups"]
    assert worst.table.rows[0] == ("ill", 1, "x = 2", 3, "c", 100, pytest.approx(50))
    assert worst.eyes == shown["homogeneity_probability"].eyes == "owner"


def test_a_table_without_confidential_columns_has_no_figure():
    assert not figures(drawn_pair(0, 9, 3, ["number"]))
