import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_utility import LEVELS, drawn
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.utility import downstream as fast


def pair_of(*columns, seed=0):
    return Pair(tuple(columns), np.zeros(len(columns[0].after), np.int64), matched=True, seed=seed)


def figures(pair):
    found = {figure.name: figure for figure in fast.downstream(pair)}
    json.dumps([figure.as_dict() for figure in found.values()], allow_nan=False)
    return found


def people(n=600, after=lambda x: x):
    x, noise = drawn(1, n, gaps=0), drawn(2, n, gaps=0)
    y, ill = 3 * x + 0.1 * noise, (x + 0.1 * noise > 0).astype(float)
    return pair_of(
        PairColumn("x", "quasi-identifier", x, after(x)), PairColumn("y", "confidential", y, y),
        PairColumn("ill", "confidential", ill, ill, ("no", "yes")),
    )  # fmt: skip


def test_a_copy_teaches_all_that_the_originals_do_and_a_shuffled_table_nothing():
    figure = figures(people())["downstream_kept"]
    assert figure.value == 1
    for row in figure.table.rows:
        score = dict(zip(figure.table.header, row, strict=True))
        assert score["originals"] == score["release"] > 0.9
        assert score["tested"] == 200
        assert score["shuffled"] < 0.7
    assert [row[:3] for row in figure.table.rows] == [
        ("y", "ridge regression", "R²"), ("y", "tree", "R²"),
        ("ill", "logistic regression", "accuracy"), ("ill", "logistic regression", "balanced accuracy"),
        ("ill", "tree", "accuracy"), ("ill", "tree", "balanced accuracy"),
    ]  # fmt: skip


def test_a_release_of_noise_teaches_nothing():
    assert figures(people(after=lambda x: drawn(9, len(x), gaps=0)))["downstream_kept"].value < 0.2


def test_the_release_trains_and_the_originals_test():
    """A release with the sign of x turned round teaches the wrong thing about the originals."""
    figure = figures(people(after=lambda x: -x))["downstream_kept"]
    for row in figure.table.rows:
        assert row[4] < row[6] - 0.1  # worse than the baseline


def test_no_tested_record_is_trained_on():
    x = np.arange(90.0)
    target = PairColumn("y", "confidential", x, x)
    pair = pair_of(PairColumn("x", "quasi-identifier", x, x), target)
    task = fast.task_of(pair, target, np.random.default_rng(0))
    assert sorted([*task.train_target, *task.test_target]) == x.tolist()
    assert len(task.test_target) == 30
    assert np.array_equal(task.train, task.released)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=12), st.integers(0, 10**6))
def test_scores_are_those_of_the_twins(truth, seed):
    guess = np.random.default_rng(seed).integers(0, 3, len(truth))
    right = [a == b for a, b in zip(truth, guess, strict=True)]
    assert fast.accuracy(np.array(truth), guess) == pytest.approx(sum(right) / len(right))
    each = []
    for label in set(truth):
        own = [ok for ok, value in zip(right, truth, strict=True) if value == label]
        each.append(sum(own) / len(own))
    assert fast.balanced_accuracy(np.array(truth), guess) == pytest.approx(sum(each) / len(each))
    if len(set(truth)) > 1:
        middle = sum(truth) / len(truth)
        rest = sum((a - b) ** 2 for a, b in zip(truth, guess, strict=True)) / sum((a - middle) ** 2 for a in truth)
        assert fast.r_squared(np.array(truth, float), guess.astype(float)) == pytest.approx(1 - rest)


def test_the_most_frequent_classes_are_guessed_and_gaps_are_left_out():
    levels = tuple(map(str, range(12)))
    values = np.repeat(np.arange(12.0), 20 - np.arange(12))
    values[0] = np.nan
    rows = fast.usable_rows(PairColumn("c", "confidential", values, values, levels))
    assert not rows[0]
    assert set(values[rows]) == set(range(10))


def test_what_is_kept_is_not_said_where_originals_teach_nothing():
    x, y = drawn(1, 300, gaps=0), drawn(7, 300, gaps=0)
    pair = pair_of(PairColumn("x", "quasi-identifier", x, x), PairColumn("y", "confidential", y, y))
    figure = figures(pair)["downstream_kept"]
    assert figure.value is None
    assert "nothing" in figure.sentence


def test_same_seed_same_figures():
    assert figures(people())["downstream_kept"] == figures(people())["downstream_kept"]


@pytest.mark.parametrize("kind", ["number", "tied", "constant", "gaps", "category"])
@pytest.mark.parametrize("n", [1, 5, 40])
def test_degenerate_tables_give_no_figure_or_a_finite_one(kind, n):
    x, y = drawn(1, n), drawn(2, n, kind)
    levels = LEVELS if kind == "category" else ()
    figures(pair_of(PairColumn("x", "quasi-identifier", x, x), PairColumn("y", "confidential", y, y, levels)))
    figures(pair_of(PairColumn("x", "quasi-identifier", y, y, levels), PairColumn("y", "confidential", x, x)))
    figures(pair_of(PairColumn("x", "quasi-identifier", x, x)))


@pytest.mark.parametrize("factor", [1e-30, 1e-9, 1e60])
def test_the_unit_of_a_column_makes_no_difference(factor):
    x, y = drawn(1, 300, gaps=0), drawn(1, 300, gaps=0) ** 2
    rows = [
        figures(
            pair_of(PairColumn("x", "quasi-identifier", x, x / 2), PairColumn("y", "confidential", *[y * by] * 2))
        )["downstream_kept"].table.rows
        for by in (1.0, factor)
    ]
    for one, other in zip(*rows, strict=True):
        assert other[:3] == one[:3]
        assert other[3:] == pytest.approx(one[3:], abs=1e-6)
