import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.measures.pair import Pair, PairColumn
from shoal.report import measured
from shoal.report.released import subject_of


def pair_of(sizes):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    rows = np.arange(len(groups), dtype=float)
    column = PairColumn("a", "quasi-identifier", rows, groups.astype(float))
    return Pair((column, PairColumn("b", "confidential", rows, rows)), groups, True, rows + 1)


def test_a_part_of_a_large_pair_has_whole_groups_and_the_rows_of_both_sides():
    rng = np.random.default_rng(0)
    sizes = rng.integers(3, 9, 200)
    pair = pair_of(sizes)
    part = measured.whole_groups(pair, 300)
    assert 300 <= part.n_after < 309
    column = part.columns[0]
    chosen = np.unique(column.after.astype(int))
    assert np.array_equal(np.sort(part.sizes), np.sort(sizes[chosen]))
    rows = column.before.astype(int)
    assert np.array_equal(pair.groups[rows], column.after)
    assert np.array_equal(part.weights, rows + 1)
    assert np.array_equal(part.groups, np.searchsorted(chosen, column.after))
    assert measured.whole_groups(pair, pair.n_after) is pair


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    return pd.DataFrame({
        "age": rng.integers(18, 80, 240).astype(float), "pay": rng.normal(50, 9, 240).round(1),
        "town": rng.choice(["Ulm", "Linz"], 240), "who": np.repeat(np.arange(80), 3),
        "ill": rng.choice(["flu", "cold", "gout"], 240),
    })  # fmt: skip


def test_the_figures_of_a_release_are_those_that_pandas_finds(table):
    release = shoal.anonymize(table, 4, ["age", "pay", "town"], "ill", "who", method="mdav")
    subject = subject_of(release)
    after = release.table
    figures = {figure.name: figure for figure in subject.figures}
    assert subject.sampled == ""
    groups = after.groupby(["age", "pay", "town"])
    assert figures["counted_k"].value == groups.size().min() == subject.sizes.min()
    assert figures["marketer_risk"].value == pytest.approx(100 * groups.ngroups / 240)
    numbers = ["age", "pay"]
    expected = 100 * (after[numbers].var() / table[numbers].var() - 1).mean()
    assert figures["variance_change"].value == pytest.approx(expected, abs=1e-3)
    alone = groups["ill"].transform("nunique") == 1
    assert figures["homogeneous_records"].value == pytest.approx(100 * alone.mean())
    assert figures["linkage_all"].value <= 25


def test_of_a_large_release_a_part_is_measured_and_that_is_said(table, monkeypatch):
    monkeypatch.setattr(measured, "MOST_MEASURED", 60)
    subject = subject_of(shoal.anonymize(table, 4, ["age", "pay", "town"], "ill", "who", method="mdav"))
    assert "of 240 records: whole groups, drawn at random" in subject.sampled
    figures = {figure.name: figure for figure in subject.figures}
    assert figures["counted_k"].value == 4
    assert figures["records"].value == 240
    assert len(subject.columns[0].before) == 240


def test_attacks_that_take_records_for_persons_are_left_out_where_k_counts_persons(table):
    steady = table.assign(age=table.groupby("who")["age"].transform("first"), pay=1.0 * table["who"], town="Ulm")
    with pytest.warns(shoal.ShoalWarning, match="constant"):
        release = shoal.anonymize(steady, 2, ["age", "pay", "town"], "ill", person="who", method="mdav")
    subject = subject_of(release)
    names = {figure.name for figure in subject.figures}
    assert subject.whom == "persons"
    assert not {"counted_k", "linkage_all", "inference_success", "homogeneous_records"} & names
    assert "mean_change" in names


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize(("column", "value"), [("score", 1.7e308), ("score", np.inf)])
def test_a_column_without_squares_is_left_out_of_comparisons_and_named(table, column, value):
    table["score"] = np.random.default_rng(2).normal(size=240)
    table.loc[[0, 1], column] = value, -value
    subject = subject_of(shoal.anonymize(table, 4, ["age", "pay"], ["ill", "score"], ["who", "town"]))
    said = f"Columns with infinity or with numbers beyond 1e+70 take part in no comparison: {column}."
    assert said in subject.made.notes
    for figure in subject.figures:
        assert figure.value is None or np.isfinite(figure.value), figure.name
        assert "nan" not in figure.sentence.split(), figure.name
    assert "mean_change" in {figure.name for figure in subject.figures}
