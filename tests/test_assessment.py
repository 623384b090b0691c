import json
import re
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.assessment import roles_of
from shoal.errors import ShoalError
from shoal.measures.pair import PAIR_MEASURES
from shoal.report.editions import PUBLIC_FIGURES

Q, C = ["age", "weight", "town"], ["income", "ill"]
NEEDS_ROWS = [name for name, measure in PAIR_MEASURES.items() if measure.matched]


def drawn(seed, n=60):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n)
    return pa.table({
        "id": [f"p{i}" for i in range(n)], "age": age, "weight": rng.normal(70, 9, n).round(1),
        "town": rng.choice(["Ulm", "Bonn", "Kiel"], n).tolist(), "income": (900 * age + rng.normal(0, 3000, n)).round(),
        "ill": np.where(age + rng.normal(0, 9, n) > 40, "yes", "no").tolist(),
    })  # fmt: skip


def small(seed=1):
    """Quasi-identifiers that are numbers, and a release in memory."""
    data = drawn(seed).drop_columns(["town", "id"])
    return data, shoal.anonymize(data, 3, ["age", "weight"], C)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@settings(max_examples=8)
@given(
    st.integers(0, 10**6), st.sampled_from([("age", "weight"), ("town",), ("age", "weight", "town")]),
    st.sampled_from(["file", "release", "position", "key"]),
)  # fmt: skip
def test_the_loss_is_that_of_the_release_however_rows_are_matched(tmp_path, seed, quasi, way):
    data = drawn(seed)
    path = tmp_path / "people.csv"
    pyarrow.csv.write_csv(data, path)
    release = shoal.anonymize(path, 3, quasi, C, digits=6)
    release.write(tmp_path / "safe.csv", overwrite=True)
    given = {"position": {"by_position": True}, "key": {"key": "id"}}.get(way, {})
    after = {"release": release, "position": release.table}.get(way, tmp_path / "safe.csv")
    found = shoal.assess(path, after, quasi, C, **given)
    assert found.matched_by == {"file": "manifest", "key": "key id"}.get(way, way)
    assert (found.matched, found.left_out, found.notes) == (60, (), [])
    assert found.pair.k == release.verified_k
    figure = found.utility["squared_error"]
    assert figure.value == pytest.approx(release.information_loss, abs=1e-6)
    stated = {part.name: part.percent for part in release.loss.attributes}
    assert {row[0]: row[3] for row in figure.table.rows if row[0] in quasi} == pytest.approx(stated, abs=1e-6)
    assert [row[3] for row in figure.table.rows if row[0] in C] == [0, 0]
    json.loads(found.to_json())


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_roles_are_those_of_the_release_where_none_are_given(tmp_path):
    data, release = small()
    assert [column.name for column in shoal.assess(data, release).pair.columns] == ["age", "weight", *C]
    assert [column.name for column in shoal.assess(data, release, "age").pair.columns] == ["age"]
    release.write(tmp_path / "safe.parquet")
    found = shoal.assess(data, tmp_path / "safe.parquet")
    assert [(column.name, column.role) for column in found.pair.confidential] == [
        (name, "confidential") for name in C
    ]
    assert found.matched_by == "manifest"
    assert roles_of(None, None, {}).quasi_identifiers == ()
    with pytest.raises(ShoalError, match="the original: no quasi-identifier"):
        shoal.assess(data, data)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_release_from_file_to_file_is_assessed(tmp_path):
    pyarrow.csv.write_csv(drawn(3, 300), tmp_path / "people.csv")
    release = shoal.anonymize_file(tmp_path / "people.csv", tmp_path / "safe.csv", 3, Q, C, "id", blocks=3)
    found = shoal.assess(tmp_path / "people.csv", release)
    assert found.matched_by == "manifest"
    assert found.utility["squared_error"].value == pytest.approx(release.information_loss, abs=1e-6)
    assert found.pair.k == release.verified_k


def test_without_a_match_the_rest_is_measured_and_the_cure_said():
    data, release = small()
    shuffled = release.table.take(np.random.default_rng(0).permutation(60))
    found = shoal.assess(data, shuffled, ["age", "weight"], C)
    assert (found.matched, found.matched_by) == (0, "")
    assert list(found.left_out) == NEEDS_ROWS
    assert "nothing says how" in found.notes[0]
    assert "--key" in found.notes[0]
    assert "--by-position" in found.notes[0]
    whole = shoal.assess(data, release)
    for name in ("mean_change", "variance_change", "correlation_change", "wasserstein", "interval_overlap"):
        assert found.utility[name].value == pytest.approx(whole.utility[name].value)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_records_that_were_left_out_count_where_no_match_is_needed():
    """Two of 60 are not in the release: the others are compared person by person, the tables as they are."""
    data = drawn(5)
    released = data.slice(2).take(np.random.default_rng(1).permutation(58))
    found = shoal.assess(data, released, Q, C, key="id")
    assert (found.pair.n_before, found.pair.n_after, found.matched) == (60, 58, 58)
    assert found.utility["squared_error"].value == 0
    assert not found.pair.matched
    change = np.mean(data["income"].to_numpy()[2:]) - np.mean(data["income"].to_numpy())
    rows = {row[0]: row[2] for row in found.utility["mean_change"].table.rows}
    assert rows["income"] == pytest.approx(change / np.std(data["income"].to_numpy(), ddof=1), abs=6e-4)
    assert found.notes == [
        "58 of 60 original and 58 released records are matched; what needs to know whose record is whose speaks of these"
    ]
    assert found.left_out == ()


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize(
    ("said", "whom"),
    [
        ({"person": "who"}, "persons"),
        ({"household": "who"}, "households"),
        ({"household": "who", "household_k": "persons"}, "persons"),
        ({"identifiers": "who"}, None),
    ],
)
def test_a_release_that_counts_persons_is_not_assessed_by_records_without_a_word(tmp_path, said, whom):
    frame = pd.DataFrame({"who": np.arange(24) // 2, "age": np.arange(24) ** 2, "ill": list("abc") * 8})
    frame.to_csv(tmp_path / "visits.csv", index=False)
    release = shoal.anonymize(tmp_path / "visits.csv", 3, "age", "ill", method="mdav", **said)
    release.write(tmp_path / "safe.csv")
    for found in (
        shoal.assess(tmp_path / "visits.csv", tmp_path / "safe.csv"),
        shoal.assess(tmp_path / "visits.csv", release),
    ):
        said_first = [note.partition(", and")[0] for note in found.notes]
        assert said_first == ([] if whom is None else [f"the release counts k in {whom}"])
        assert found.as_dict()["notes"] == found.notes
        for edition in ("owner", "public"):
            page = found.report(tmp_path / "page.html", edition, overwrite=True).read_text("utf-8")
            assert (f"The release counts k in {whom}" in page) == (whom is not None)


def test_a_table_with_gaps_dropped_is_matched_in_memory():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"age": rng.integers(20, 60, 50).astype(float), "income": rng.normal(size=50)})
    frame.loc[[3, 8], "age"] = np.nan
    release = shoal.anonymize(frame, 4, "age", "income", gaps="drop")
    found = shoal.assess(frame, release)
    assert (found.matched_by, found.matched) == ("release", 48)
    assert found.utility["squared_error"].value == pytest.approx(release.information_loss)
    assert [row[3] for row in found.utility["squared_error"].table.rows] == [
        pytest.approx(release.information_loss),
        0,
    ]
    with pytest.raises(ShoalError, match="the original has 50 records and the release 48"):
        shoal.assess(frame, release.table, "age", by_position=True)


def test_tables_of_other_tools_are_assessed():
    """Ages as intervals, open ones too, towns hidden by a star, cells suppressed one by one."""
    ages = [21.0, 29, 33, 38, 64, 70]
    before = pd.DataFrame(
        {"age": ages, "town": ["Ulm", "Ulm", "Bonn", "Kiel", "Kiel", "Kiel"], "pay": [1.0, 2, 3, 4, 5, 6]}
    )
    after = pd.DataFrame({
        "age": ["[20, 30[", "[20, 30[", "30-40", "30-40", ">=60", "*"],
        "town": ["Ulm", "Ulm", "*", "*", "Kiel", None],
        "pay": before["pay"],
    })  # fmt: skip
    found = shoal.assess(before, after, ["age", "town"], "pay", by_position=True)
    age, town = found.pair.quasi_identifiers
    assert age.is_number
    assert age.after.tolist()[:5] == [25, 25, 35, 35, 60]
    assert np.isnan(age.after[5])
    assert town.levels == ("Bonn", "Kiel", "Ulm")
    assert [None if np.isnan(code) else town.levels[int(code)] for code in town.after] == [
        "Ulm",
        "Ulm",
        None,
        None,
        "Kiel",
        None,
    ]
    assert found.pair.k == 1
    errors = sum((a - b) ** 2 for a, b in zip(ages[:5], age.after[:5], strict=True))
    total = sum((a - np.mean(ages[:5])) ** 2 for a in ages[:5])
    rows = {row[0]: row[3:] for row in found.utility["squared_error"].table.rows}
    assert rows["age"] == (pytest.approx(100 * errors / total), 5)
    assert rows["town"] == (0, 3)
    json.loads(found.to_json())


def test_a_column_that_was_suppressed_as_a_whole_is_gaps():
    before = pd.DataFrame({"age": [1.0, 2, 3, 4], "town": list("abab"), "pay": [1.0, 2, 3, 5]})
    after = before.assign(age="*", town="*")
    found = shoal.assess(before, after, ["age", "town"], "pay", by_position=True)
    assert all(np.isnan(column.after).all() for column in found.pair.quasi_identifiers)
    assert found.utility["squared_error"].value is None


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_what_stands_for_a_gap_is_what_the_manifest_says(tmp_path):
    data = pa.table({"age": [31, 35, -9, 33, 40, 44, 47, -9, 30, 38], "pay": list(range(10))})
    pyarrow.csv.write_csv(data, tmp_path / "people.csv")
    release = shoal.anonymize(tmp_path / "people.csv", 2, "age", "pay", gaps="pattern", gap_values=["-9"])
    release.write(tmp_path / "safe.csv")
    (age,) = shoal.assess(tmp_path / "people.csv", tmp_path / "safe.csv").pair.quasi_identifiers
    assert int(np.isnan(age.before).sum()) == int(np.isnan(age.after).sum()) == 2


@pytest.mark.parametrize("kinds", ["number", "category", "both"])
@pytest.mark.parametrize("rows", [1, 2, 7])
@pytest.mark.parametrize("gaps", [0, 1])
def test_odd_tables_are_assessed(kinds, rows, gaps):
    rng = np.random.default_rng(rows)
    columns = {"number": ["x"], "category": ["c"], "both": ["x", "c", "y", "d"]}[kinds]
    made = {"x": rng.normal(size=rows), "c": rng.choice(["a", "b"], rows), "y": np.ones(rows), "d": ["a"] * rows}
    before = pd.DataFrame({name: made[name] for name in columns})
    if gaps:
        before.iloc[0] = None
    found = shoal.assess(before, before, columns[:1], columns[1:], by_position=True)
    json.loads(found.to_json())
    value = found.utility["squared_error"].value if "squared_error" in found.utility else None
    assert value in (None, 0)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_two_releases_of_one_table_are_held_together(tmp_path):
    """In the one release 0, 1 and 2, 3 share a group, in the other 0, 3 and 1, 2: together everybody is alone."""
    data = pd.DataFrame({"id": list("abcd"), "x": [1.0, 2, 3, 4]})
    one, two = data.assign(x=[1.5, 1.5, 3.5, 3.5]), data.assign(x=[2.5, 2.0, 2.0, 2.5])
    found = shoal.assess(data, one, "x", other=two.iloc[[3, 1, 0, 2]], key="id")
    assert found.risk["intersection_k"].value == 1
    assert found.risk["intersection_expected"].value == 100
    same = shoal.assess(data, one, "x", other=one, key="id")
    assert same.risk["intersection_k"].value == 2
    with pytest.raises(ShoalError, match=r"rows of the release are not matched .*nothing says how.*; name a key"):
        shoal.assess(data, one, "x", other=two)
    with pytest.raises(ShoalError, match="no record is in both releases"):
        shoal.assess(data, one.iloc[:2], "x", other=two.iloc[2:], key="id")


def test_a_population_and_a_control_table_are_coded_as_the_original():
    data, release = small()
    people = drawn(9, 80).select(["weight", "age"])
    others = drawn(10, 20).drop_columns("id")
    pair = shoal.assess(data, release, population=people, control=others).pair
    assert sorted(pair.population) == ["age", "weight"]
    assert pair.population["age"].tolist() == people["age"].to_pylist()
    ill = next(column for column in pair.columns if column.name == "ill")
    assert [ill.levels[int(code)] for code in pair.control["ill"]] == others["ill"].to_pylist()


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_weights_are_those_of_the_released_records():
    data = drawn(1).append_column("w", pa.array(range(1, 61)))
    turned = data.take(np.arange(60)[::-1])
    pair = shoal.assess(data, turned, Q, C, key="id", weight="w").pair
    assert pair.weights.tolist() == list(range(60, 0, -1))
    assert pair.quasi_identifiers[0].before.tolist() == pair.quasi_identifiers[0].after.tolist()
    with pytest.raises(ShoalError, match="column 'town' of the release does not hold sampling weights"):
        shoal.assess(data, turned, ["age"], C, weight="town")
    with pytest.raises(ShoalError, match="the release: there is no column 'wt'"):
        shoal.assess(data, turned, ["age"], C, weight="wt")


@pytest.mark.parametrize(
    ("change", "given", "message"),
    [
        (lambda t: t.drop(columns="age"), {}, "the release: there is no column 'age'"),
        (lambda t: t.iloc[:0], {}, "the release: the table is empty"),
        (lambda t: t, {"key": "pay", "by_position": True}, "give one of them"),
        (lambda t: t, {"seed": -1}, "seed must be at least 0"),
        (lambda t: t, {"control": pd.DataFrame({"age": [1]})}, "the control table: there is no column 'pay'"),
        (lambda t: t, {"population": pd.DataFrame({"b": [1]})}, "the population table: there is no column 'age'"),
        (lambda t: t, {"key": "no"}, "the original: there is no column 'no'"),
        (lambda t: t, {"progress": 3}, "progress must be"),
        (lambda t: t, {"confidential": "age"}, "column 'age' has two roles"),
    ],
)
def test_what_is_wrong_names_the_table_and_the_column(change, given, message):
    frame = pd.DataFrame({"age": [1, 2, 3], "pay": [3, 4, 5]})
    with pytest.raises(ShoalError, match=message):
        shoal.assess(frame, change(frame), **({"quasi_identifiers": "age", "confidential": "pay"} | given))


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize("written", ["date", "text", "moment"])
def test_dates_are_compared_on_one_scale(tmp_path, written):
    """The first released date is later than the first of the original, which must not shift all of them."""
    rng = np.random.default_rng(0)
    born = pd.to_datetime("1960-01-01") + pd.to_timedelta(rng.integers(0, 9000, 120), "D")
    if written == "moment":
        born += pd.to_timedelta(rng.integers(0, 86_400, 120), "s")
    table = pd.DataFrame({"born": born.strftime("%Y-%m-%d") if written == "text" else born,
                          "ill": rng.choice(["flu", "cold"], 120)})  # fmt: skip
    release = shoal.anonymize(table, 4, "born", "ill", method="mdav")
    found = shoal.assess(table, release)
    assert found.utility["squared_error"].value == pytest.approx(release.information_loss, abs=1e-6)
    after = pd.to_datetime(release.table["born"])
    assert after.min() > born.min()
    moved = abs((after.reset_index(drop=True) - born).mean() / born.std())
    assert found.utility["mean_change"].value == pytest.approx(moved, abs=5e-4)
    assert "days after 1970-01-01" in found.report(tmp_path / "page.html").read_text("utf-8")


def test_a_release_that_is_not_there_is_said_before_anything_else(tmp_path):
    pyarrow.csv.write_csv(drawn(3, 30), tmp_path / "people.csv")
    with pytest.raises(ShoalError, match="the release: there is no file .*none.csv"):
        shoal.assess(tmp_path / "people.csv", tmp_path / "none.csv")
    with pytest.raises(ShoalError, match="the release: .* is a folder; name a file"):
        shoal.assess(tmp_path / "people.csv", tmp_path)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.inf, "the original: column 'age' holds infinity \\(record 2\\); take those records out"),
        (-1e300, "the original: column 'age' holds numbers beyond 1e\\+70 \\(record 2\\); divide the column"),
    ],
)
def test_numbers_that_have_no_squares_are_refused(value, message):
    table = pd.DataFrame({"age": [1.0, 2, 3, 4], "pay": [1.0, 2, 2, 1]})
    odd = table.assign(age=[1.0, value, 3, 4])
    with pytest.raises(ShoalError, match=message):
        shoal.assess(odd, table, "age", "pay", by_position=True)
    with pytest.raises(ShoalError, match=message.replace("original", "control table")):
        shoal.assess(table, table, "age", "pay", by_position=True, control=odd)


def test_numbers_just_small_enough_are_measured():
    age = np.array([1.0, 2, 3, 4] * 5) * 2e69
    table = pd.DataFrame({"age": age, "pay": [1.0, 2, 2, 1] * 5})
    found = shoal.assess(table, table.assign(age=np.repeat(age.mean(), 20)), "age", "pay", by_position=True)
    assert found.utility["squared_error"].value == pytest.approx(100)
    assert "NaN" not in found.to_json()


def test_every_figure_of_utility_stands_on_its_page():
    page = (Path(__file__).parents[1] / "docs" / "how-to" / "assess.md").read_text()
    data = drawn(1, 300).append_column("region", drawn(2, 300)["town"])
    found = shoal.assess(data, data, [*Q, "region"], C, by_position=True)
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == list(found.utility)


def test_every_figure_of_risk_stands_on_its_page_with_what_it_needs_and_for_whom():
    page = (Path(__file__).parents[1] / "docs" / "how-to" / "attacks.md").read_text()
    lines = re.findall(r"^\| (`.*?`) \| (yes|no) \| (yes|no) \|", page, re.MULTILINE)
    found = {name: line for names, *line in lines for name in re.findall(r"`(\w+)`", names)}
    data, others = drawn(1, 300), drawn(2, 100)
    everything = {"control": others, "population": others, "other": data}
    by_rows = shoal.assess(data, data, Q, C, by_position=True, **everything)
    without = shoal.assess(data, data, Q, C)
    assert set(found) == set(by_rows.risk)
    two = {"intersection_k", "intersection_unique", "intersection_expected"}
    assert {name for name, line in found.items() if line[0] == "no"} == set(without.risk) | {
        "singling_out_risk", "linkability_risk", "inference_risk"
    }  # fmt: skip
    assert all(found[name][0] == "yes" for name in two)
    assert {name for name, line in found.items() if line[1] == "yes"} == PUBLIC_FIGURES & set(by_rows.risk)


def test_progress_is_told_to_the_end():
    heard = []
    data, release = small()
    shoal.assess(data, release, progress=lambda done, whole: heard.append((done, whole)))
    assert heard == [(i + 1, len(PAIR_MEASURES)) for i in range(len(PAIR_MEASURES))]


def test_the_same_seed_gives_the_same_figures():
    data, release = small()
    first, second = (shoal.assess(data, release, seed=4).as_dict()["figures"] for _ in range(2))
    assert first == second


def test_a_notebook_shows_a_card_without_values_of_the_table():
    data, release = small()
    html = shoal.assess(data, release)._repr_html_()
    assert "Assessment" in html
    assert "squared error" in html
    assert repr(shoal.assess(data, release)).startswith("Assessment(60 records, k=3, ")


def test_a_report_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    data, release = small()
    found = shoal.assess(data, release)
    page = types.ModuleType("shoal.report.assessed")
    page.render = lambda pair, figures, left_out, edition, notes: (
        f"{edition}: {len(figures)} figures of {pair.n_after}"
    )
    monkeypatch.setitem(sys.modules, "shoal.report.assessed", page)
    path = found.report(tmp_path / "page.html", "public")
    assert path.read_text() == f"public: {len(found.figures)} figures of 60"
    with pytest.raises(ShoalError, match="exists"):
        found.report(path)
    with pytest.raises(ShoalError, match="edition must be 'owner' or 'public', not 'mine'"):
        found.report(tmp_path / "other.html", "mine")
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
