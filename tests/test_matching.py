import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import ShoalError
from shoal.files import read
from shoal.files.sidecar import manifest_about
from shoal.matching import by_key, by_manifest, by_position, by_release, is_input, unmatched
from shoal.table import Roles, Table

ROLES = Roles(("age", "weight"), ("id",))


def drawn(seed, n=40, gaps=0.0):
    """A table whose confidential column tells who each record is."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n).astype(float)
    age[rng.random(n) < gaps] = np.nan
    region = np.array(["north", "south", "west"])[rng.choice(3, n, p=[0.5, 0.45, 0.05])]
    weight = rng.normal(70, 9, n).round(1)
    columns = {"age": pa.array(age, from_pandas=True), "weight": weight, "region": region.tolist()}
    return pa.table(columns | {"id": [f"p{i}" for i in range(n)]})


def table_of(data):
    return Table.of(data, ROLES, leaves=False)


def ids_of(table):
    return table.frame["id"].to_list()


def check(before, after, rows):
    """Row by row the same person, and every released record is matched; by nothing but the confidential column."""
    first, second = ids_of(before), ids_of(after)
    assert [first[i] for i in rows.before] == [second[i] for i in rows.after]
    assert sorted(rows.after.tolist()) == list(range(len(second)))


def write(data, folder, name):
    path = folder / name
    path.unlink(missing_ok=True)
    (pyarrow.parquet.write_table if name.endswith("parquet") else pyarrow.csv.write_csv)(data, path)
    return path


def released(data, folder, name="safe.csv", **options):
    path = folder / name
    release = shoal.anonymize(data, 3, ["age", "weight"], "id", **options)
    release.write(path, overwrite=True)
    return release, path


@settings(max_examples=12)
@given(
    st.integers(0, 10**6),
    st.sampled_from([{}, {"keep_order": True}, {"gaps": "drop"}, {"gaps": "pattern"},
                     {"within": "region", "small_strata": "drop"},
                     {"within": "region", "small_strata": "drop", "gaps": "drop"}]),
    st.sampled_from(["csv", "parquet"]),
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_manifest_undoes_the_order_of_the_rows_and_what_was_left_out(tmp_path, seed, options, form):
    data = drawn(seed, gaps=0.15 if "gaps" in options else 0.0)
    original = write(data, tmp_path, f"people.{form}")
    release, path = released(original, tmp_path, f"safe.{form}", **options)
    before, after = table_of(original), table_of(path)
    rows = by_manifest(before, after, manifest_about(path))
    assert rows.by == "manifest"
    check(before, after, rows)
    check(before, table_of(release.table), by_release(before, release))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("options", [{}, {"gaps": "drop"}])
def test_a_dataframe_is_known_by_its_values(tmp_path, kind, options):
    data = drawn(4, gaps=0.15 if options else 0)
    frame = {"pandas": data.to_pandas, "polars": lambda: pl.from_arrow(data), "pyarrow": lambda: data}[kind]()
    with pytest.warns(shoal.ShoalWarning, match="without a role"):
        release, path = released(frame, tmp_path, **options)
    before = table_of(frame)
    check(before, table_of(path), by_manifest(before, table_of(path), release.manifest))
    check(before, table_of(release.table), by_release(before, release))
    other = table_of(drawn(5, gaps=0.15))
    assert by_release(other, release).why == by_manifest(other, table_of(path), release.manifest).why != ""


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_release_that_was_streamed_is_matched(tmp_path):
    original = write(drawn(6, 300).drop_columns("region"), tmp_path, "people.csv")
    shoal.anonymize_file(original, tmp_path / "safe.csv", 3, ["age", "weight"], "id", blocks=4)
    before, after = table_of(original), table_of(tmp_path / "safe.csv")
    check(before, after, by_manifest(before, after, manifest_about(tmp_path / "safe.csv")))


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_manifest_of_another_input_matches_nothing(tmp_path):
    original = write(drawn(7), tmp_path, "people.csv")
    _, path = released(original, tmp_path)
    manifest = manifest_about(path)
    for other in (drawn(8), drawn(7, 41)):
        before = table_of(write(other, tmp_path, "others.csv"))
        rows = by_manifest(before, table_of(path), manifest)
        assert (rows.by, len(rows.before), len(rows.after)) == ("", 0, 0)
        assert "another original" in rows.why
    assert by_manifest(table_of(original), table_of(path), {}).why == "nothing says how"
    assert not unmatched("").is_whole(0, 0)


def test_places_outside_a_table_are_none_of_its_input():
    assert not is_input(table_of(drawn(1, 3)), np.array([0, 3]), {})
    assert not is_input(table_of(drawn(1, 3)), np.zeros(0, int), {})


@given(
    st.lists(st.integers(0, 30), unique=True, min_size=1), st.lists(st.integers(0, 30), unique=True, min_size=1)
)
def test_keys_are_matched_as_a_dictionary_does(first, second):
    def of(ids):
        return table_of(pa.table({"age": ids, "weight": ids, "id": pa.array(ids, pa.int64())}))

    before, after = of(first), of(second)
    place = {value: i for i, value in enumerate(first)}
    expected = [(place[value], i) for i, value in enumerate(second) if value in place]
    if not expected:
        with pytest.raises(ShoalError, match="no record of the release has a value of 'id'"):
            by_key(before, after, "id")
        return
    rows = by_key(before, after, "id")
    assert list(zip(rows.before.tolist(), rows.after.tolist(), strict=True)) == expected
    assert rows.by == "key id"
    assert rows.is_whole(len(first), len(second)) == (len(expected) == len(first) == len(second))


def test_keys_of_a_file_and_of_a_dataframe_are_the_same_texts(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,weight,id\n1,2, 7\n3,4,8\n")
    frame = pd.DataFrame({"age": [3, 1], "weight": [4, 2], "id": [8.0, 7.0]})
    assert by_key(table_of(read(path)), table_of(frame), "id").before.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            ["a", "b", "a"],
            r"column 'id' does not tell the records of the release apart, .* repeat \('a'\); name a",
        ),
        (["a", "", "c"], "column 'id' of the release has no value in 1 records.*; fill it in"),
        ([["a"], ["b"], ["c"]], "column 'id' of the release is of type list.*; name another key"),
    ],
)
def test_a_key_that_cannot_match_says_why(values, message):
    before = table_of(pa.table({"age": [1, 2, 3], "weight": [1, 2, 3], "id": ["a", "b", "c"]}))
    after = table_of(pa.table({"age": [1, 2, 3], "weight": [1, 2, 3], "id": values}))
    with pytest.raises(ShoalError, match=message):
        by_key(before, after, "id")
    with pytest.raises(ShoalError, match="the original: there is no column 'idd'; did you mean 'id'"):
        by_key(before, after, "idd")


def test_positions_need_as_many_records():
    rows = by_position(table_of(drawn(1, 5)), table_of(drawn(2, 5)))
    assert rows.before.tolist() == rows.after.tolist() == list(range(5))
    with pytest.raises(ShoalError, match="the original has 5 records and the release 4.*; name a key column"):
        by_position(table_of(drawn(1, 5)), table_of(drawn(2, 4)))
