import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import shoal
from shoal import IMHM, MDAV, MuApprox
from shoal.datasets import clinic
from shoal.design import Design
from shoal.errors import ShoalError, ShoalWarning
from shoal.measures import Untouched
from shoal.pipeline import left_by
from shoal.table import Roles, Table

ROLES = {"quasi_identifiers": ["age", "weight"], "confidential": ["diagnosis"], "identifiers": ["name"]}


def test_the_same_table_in_any_kind_gives_the_same_groups_and_comes_back_in_its_kind(people, tmp_path):
    frame = pd.DataFrame(people)
    frame.to_csv(tmp_path / "t.csv", index=False)
    pa.parquet.write_table(pa.table(people), tmp_path / "t.parquet")
    kinds = {
        pd.DataFrame: frame,
        pl.DataFrame: pl.DataFrame(people),
        pa.Table: pa.table(people),
    }
    expected = shoal.anonymize(frame, k=3, **ROLES)
    for kind, data in kinds.items():
        release = shoal.anonymize(data, k=3, **ROLES)
        assert type(release.table) is kind
        assert np.array_equal(release.labels, expected.labels)
        assert release.information_loss == expected.information_loss
    for name in ("t.csv", "t.parquet"):
        release = shoal.anonymize(tmp_path / name, k=3, **ROLES)
        assert isinstance(release.table, pa.Table)
        assert np.array_equal(release.labels, expected.labels)
        assert release.information_loss == expected.information_loss
        assert release.table.to_pydict() == expected.table.to_dict("list")


def test_census_in_any_kind_gives_the_published_loss(shared, tmp_path):
    path = shared / "data" / "census.csv"
    frame = pd.read_csv(path)
    pa.parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "census.parquet")
    labels = None
    for data in (
        frame,
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
        path,
        tmp_path / "census.parquet",
    ):
        release = shoal.anonymize(data, k=3, quasi_identifiers=list(frame.columns), method="mdav")
        assert release.information_loss == pytest.approx(5.6922, abs=5e-4)  # whole numbers, rounded as such
        assert release.verified_k == 3
        assert labels is None or np.array_equal(labels, release.labels)
        labels = release.labels


def test_the_default_loses_less_than_the_best_that_was_published(shared):
    frame = pd.read_csv(shared / "data" / "census.csv")
    release = shoal.anonymize(frame, k=5, quasi_identifiers=list(frame.columns))
    assert release.information_loss < 7.5  # IMHM: 8.4165
    assert release.manifest["method"]["chosen"]["name"] == "Refined"


def test_a_release_says_what_it_is(people):
    release = shoal.anonymize(pd.DataFrame(people), k=3, **ROLES)
    assert release.table.columns.tolist() == ["age", "weight", "diagnosis"]
    assert release.table["age"].tolist() == [31, 31, 64, 31, 64, 64, 31]
    assert release.table["weight"].tolist() == [62, 62, 80, 62, 80, 80, 62]
    assert release.labels.tolist() == [0, 0, 1, 0, 1, 1, 0]
    assert release.verified_k == 3
    assert release.manifest["output"] is None


def test_scaling_weights_and_aggregate_are_honoured():
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60) * 1000})
    default = shoal.anonymize(table, 3, ["a", "b"])
    unscaled = shoal.anonymize(table, 3, ["a", "b"], scaling="none")
    assert unscaled.loss.attributes[1].percent < default.loss.attributes[1].percent
    weighted = shoal.anonymize(table, 3, ["a", "b"], attribute_weights={"a": 1000})
    assert weighted.loss.attributes[0].percent < default.loss.attributes[0].percent / 3
    median = shoal.anonymize(table, 3, ["a", "b"], aggregate="median")
    assert np.array_equal(median.labels, default.labels)
    group = table["a"][default.labels == 0]
    assert median.table["a"][group.index[0]] == round(np.median(group), median.manifest["digits"]["used"]["a"])
    assert default.table["a"][group.index[0]] == round(np.mean(group), default.manifest["digits"]["used"]["a"])


def test_an_estimator_may_be_given_and_is_left_alone(people):
    model = MDAV(k=3)
    release = shoal.anonymize(pd.DataFrame(people), method=model, **ROLES)
    assert release.partition.k == 3
    assert not hasattr(model, "labels_")


def test_constant_columns_are_kept_and_warned_of():
    with pytest.warns(ShoalWarning, match="constant quasi-identifiers take no part in the distance: 'c'"):
        release = shoal.anonymize(pd.DataFrame({"x": [1, 2, 3], "c": [5, 5, 5]}), 2, ["x", "c"])
    assert release.table["c"].tolist() == [5, 5, 5]


def test_k_1_is_warned_of():
    with pytest.warns(ShoalWarning, match="hides nobody"):
        shoal.anonymize(pd.DataFrame({"x": [1, 2, 3]}), 1, "x")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k must be at least 1, not 0"),
        ({"k": -1}, "k must be at least 1, not -1"),
        ({"k": 2.5}, "k must be a whole number of at least 1, not 2.5"),
        ({"k": "x"}, "k must be a whole number of at least 1, not 'x'"),
        ({"k": 8}, r"k=8 is more than there are records \(7\)"),
        ({"k": None}, "k is missing"),
        ({"k": 3, "method": "mdva"}, "no method 'mdva'"),
        ({"k": 3, "aggregate": "modes"}, r"aggregate must be one of mean, median, .*did you mean 'mode'\?"),
        ({"k": 3, "aggregate": {"age": "set"}}, "'age' is numeric, which has no set; choose one of mean, median"),
        ({"k": 3, "quasi_identifiers": None}, "no quasi-identifier"),
        ({"k": 3, "exact": "no"}, "exact must be True or False"),
        ({"k": 3, "random_state": 1.5}, "random_state must be a whole number"),
        ({"k": 3, "attribute_weights": [1]}, "weights are given as a dictionary"),
        ({"k": 3, "attribute_weights": {1: 2}}, "weight for 1, which is no quasi-identifier"),
        ({"k": None, "method": MDAV(k="x")}, "k must be a whole number"),
        (
            {"k": 3, "quasi_identifiers": "diagnosis", "confidential": None, "kinds": {"diagnosis": "numeric"}},
            "'diagnosis' holds text",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_bad_input_gets_one_clear_error(people, arguments, message):
    with pytest.raises(ShoalError, match=message):
        shoal.anonymize(pd.DataFrame(people), **(ROLES | arguments))


def test_progress_is_reported(people):
    calls = []
    shoal.anonymize(pd.DataFrame(people), 2, **ROLES, progress=lambda *call: calls.append(call))
    assert calls[-1] == (7, 7)


def test_the_groups_do_not_depend_on_how_the_numbers_are_written(tmp_path):
    rng = np.random.default_rng(0)
    for trial in range(60):
        tenths = rng.integers(0, 4, size=(12, 2))
        lines = [",".join(f"{value / 10:.2f}" for value in row) for row in tenths]
        (tmp_path / "t.csv").write_text("\n".join(["x,y", *lines]) + "\n")
        labels = shoal.anonymize(tmp_path / "t.csv", 2, ["x", "y"]).labels
        frame = pd.read_csv(tmp_path / "t.csv")
        assert np.array_equal(labels, shoal.anonymize(frame, 2, ["x", "y"]).labels), trial
        assert np.array_equal(labels, shoal.anonymize((frame * 100).astype(int), 2, ["x", "y"]).labels), trial


def test_a_seed_reaches_the_method_and_one_is_drawn_where_it_is_needed(people):
    def release(method, **options):
        return shoal.anonymize(pd.DataFrame(people), method=method, **ROLES, **options)

    drawing = IMHM(k=2, randomness=0.5)
    assert release(drawing, random_state=7).manifest["method"]["parameters"]["random_state"] == 7
    drawn = release(drawing).manifest
    assert drawn["random_state"] == drawn["method"]["parameters"]["random_state"]
    assert drawn["random_state"] >= 0
    assert release(IMHM(k=2)).manifest["random_state"] is None
    with pytest.raises(ShoalError, match="random_state=7 and .* contradict each other"):
        release(IMHM(k=2, randomness=0.5, random_state=6), random_state=7)


def test_the_seed_reaches_a_method_that_draws_random_numbers():
    table, quasi = clinic(300).drop("postcode"), ["birth_year", "height", "weight", "income"]
    options = {"quasi_identifiers": quasi, "confidential": ["diagnosis"], "identifiers": ["name"]}
    seeded = shoal.anonymize(table, k=3, method="mu-approx", random_state=4, **options)
    same = shoal.anonymize(table, method=MuApprox(k=3, random_state=4), **options)
    assert np.array_equal(seeded.labels, same.labels)
    assert seeded.manifest["method"]["parameters"]["random_state"] == 4
    assert not np.array_equal(seeded.labels, shoal.anonymize(table, k=3, method="mu-approx", **options).labels)
    with pytest.raises(ShoalError, match="contradict each other; give it once"):
        shoal.anonymize(table, method=MuApprox(k=3, random_state=4), random_state=5, **options)


def test_what_columns_without_a_role_give_away_is_one_warning(people):
    frame = pd.DataFrame(people)
    with pytest.warns(ShoalWarning) as noted:
        release = shoal.anonymize(frame, 3, ["age", "weight"], identifiers="name")
    (message,) = [str(warning.message) for warning in noted]
    assert message.startswith(
        "columns without a role are released as they are: 'diagnosis'; 0 of 7 records are unique"
    )
    assert "drop it as an identifier (-i)" in message
    assert noted[0].filename == __file__
    figure = release.manifest["figures"]["untouched_others"]["details"]
    assert (figure["columns"], figure["unique"], figure["records_below_k"]) == (["diagnosis"], 0, 4)
    assert (release.manifest["strict"], list(release.risk)) == (False, ["untouched_others"])


def test_strict_refuses_what_columns_without_a_role_give_away_before_anything_is_grouped(people):
    frame = pd.DataFrame(people)

    def grouping(done, total):
        raise AssertionError

    with pytest.raises(
        ShoalError, match="nothing is released.*'name'; 7 of 7 records are unique.*or leave out strict"
    ):
        shoal.anonymize(frame, 3, ["age", "weight"], "diagnosis", strict=True, progress=grouping)
    with pytest.raises(ShoalError, match="strict must be"):
        shoal.anonymize(frame, 3, **ROLES, strict="yes")


def test_strict_says_nothing_of_confidential_columns_nor_of_columns_that_give_nothing_away(people):
    frame = pd.DataFrame(people).assign(ward="west")
    release = shoal.anonymize(pd.DataFrame(people), 3, ["age", "weight"], ["diagnosis", "name"], strict=True)
    assert release.risk["untouched_confidential"].details["unique"] == 7
    assert release.manifest["strict"] is True
    with warnings.catch_warnings():
        warnings.simplefilter("error", ShoalWarning)
        shoal.anonymize(frame, 3, **ROLES, strict=True)


def test_a_column_without_a_role_divides_the_groups_however_large_its_own_are():
    records = 60
    ages = [20 + 37 * number % 31 for number in range(records)]
    heights = [150 + 7 * number % 41 for number in range(records)]
    frame = pd.DataFrame({"age": ages, "height": heights, "sex": ["m", "f"] * (records // 2)})
    with pytest.warns(
        ShoalWarning, match="0 of 60 records are unique on this column alone .*can tell the members"
    ):
        release = shoal.anonymize(frame, 5, ["age", "height"], method="mdav")
    assert release.table.groupby(["age", "height", "sex"]).size().min() < 5
    with pytest.raises(ShoalError, match="can tell the members of a group apart"):
        shoal.anonymize(frame, 5, ["age", "height"], method="mdav", strict=True)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_figures_are_those_of_any_kind_of_table(people, kind):
    people = people | {"odd": [None, 1.5, 1.5, None, 2.0, 2.0, 2.0]}
    expected = shoal.anonymize(pa.table(people), 3, "age", "weight", "name").risk
    assert shoal.anonymize(kind(people), 3, "age", "weight", "name").risk == expected
    assert expected["untouched_others"].details["columns"] == ["diagnosis", "odd"]


def test_a_long_table_is_looked_at_some_records_at_a_time(monkeypatch):
    sizes = []

    def watched(parts, quasi_identifiers, others, *rest):
        sizes.extend(part.num_rows for part in parts(others))
        return Untouched()

    monkeypatch.setattr("shoal.pipeline.given_away", watched)
    left_by(Table.of(pa.table({"x": range(70_000), "y": range(70_000)}), Roles.of("x")), Design(), 3)
    assert sizes == [65_536, 70_000 - 65_536]
