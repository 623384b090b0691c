import re
import warnings
from datetime import date
from fractions import Fraction

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest

import naive
import shoal
import shoal.files
from shoal.attributes.numbers import from_column
from shoal.errors import ShoalError, ShoalWarning
from shoal.table import Column, Roles, Table, arrow_of

ROLES = Roles.of(["age", "weight"], "diagnosis", "name")
KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def released(table, exact=False):
    labels = np.zeros(len(table), int)
    order, starts = np.arange(len(table)), np.array([0, len(table)])
    common = {
        name: from_column(table.column(name)).common(order, starts, "mean", exact)
        for name in table.roles.quasi_identifiers
    }
    return table.replaced(values.column(table.frame[name], labels, not exact) for name, values in common.items())


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_the_column_order_and_the_types_stay(people, kind):
    data = KINDS[kind](people)
    out = released(Table.of(data, ROLES))
    assert type(out) is type(data)
    assert list(getattr(out, "column_names", None) or out.columns) == ["age", "weight", "diagnosis"]
    if kind == "pyarrow":
        assert out.schema.types == [pa.int64(), pa.float64(), pa.string()]
        assert out["age"].to_pylist() == [45] * 7
    else:
        assert list(out.dtypes) == list(
            data.drop(columns="name").dtypes if kind == "pandas" else data.drop("name").dtypes
        )
        assert out["age"].to_list() == [45] * 7
        assert out["diagnosis"].to_list() == people["diagnosis"]


@pytest.mark.parametrize(
    "dtype", ["int8", "uint16", "Int32", "float32", "Float64", "int64[pyarrow]", "float[pyarrow]"]
)
def test_pandas_dtypes_stay(dtype):
    data = pd.DataFrame({"x": pd.Series([1, 2, 3, 4], dtype=dtype)})
    assert released(Table.of(data, Roles.of("x")))["x"].dtype == data["x"].dtype


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt64, pl.Float32, pl.Decimal(10, 2), pl.Boolean])
def test_polars_dtypes_stay(dtype):
    data = pl.DataFrame({"x": pl.Series([1, 0, 1, 1]).cast(dtype)})
    assert released(Table.of(data, Roles.of("x")))["x"].dtype == data["x"].dtype


@pytest.mark.parametrize(
    "dtype",
    [
        pa.int8(),
        pa.uint64(),
        pa.float32(),
        pa.decimal128(10, 2),
        pa.decimal256(50, 2),
        pa.bool_(),
    ],
)
def test_arrow_types_stay(dtype):
    data = pa.table({"x": pa.array([1, 0, 1, 1], pa.int8()).cast(dtype)})
    assert released(Table.of(data, Roles.of("x")))["x"].type == dtype


def test_exact_values_are_floats(people):
    out = released(Table.of(pd.DataFrame(people), ROLES), exact=True)
    assert out["age"].dtype == float
    assert out["age"][0] == pytest.approx(np.mean(people["age"]))


def test_a_pandas_index_stays_even_with_repeats_and_is_warned_of(people):
    data = pd.DataFrame(people, index=list("aabbccd"))
    with pytest.warns(ShoalWarning, match="the index is kept"):
        table = Table.of(data, ROLES)
    out = released(table)
    assert out.index.equals(data.index)
    assert out["diagnosis"].tolist() == people["diagnosis"]


def test_columns_without_a_role_are_kept(people):
    table = Table.of(pl.DataFrame(people), Roles.of(["age", "weight"]))
    assert table.others == ("name", "diagnosis")
    assert released(table)["name"].to_list() == people["name"]


def test_the_table_that_came_in_is_not_changed(people):
    data = pd.DataFrame(people)
    before = data.copy(deep=True)
    released(Table.of(data, ROLES))
    pd.testing.assert_frame_equal(data, before)


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        (Roles.of(None), "no quasi-identifier"),
        (Roles.of(["aeg"]), "there is no column 'aeg'; did you mean 'age'"),
        (Roles.of(["age"], ["age"]), "column 'age' has two roles, it is a quasi-identifier and confidential"),
        (Roles.of(["age", "age"]), "column 'age' is listed twice as a quasi-identifier; list it once"),
        (Roles.of(["age"], ["name", "name", "name"]), "column 'name' is listed 3 times as confidential"),
        (
            Roles.of(["aeg", "wieght"], ["zzzzzz"]),
            r"no columns 'aeg' \(did you mean 'age'\?\), 'wieght' \(did you mean 'weight'\?\) and 'zzzzzz'; there are 'name'",
        ),
        (Roles.of(["age"], ["zzzzzz"]), "there is no column 'zzzzzz'; there are 'name'"),
    ],
)
def test_wrong_roles_are_errors(people, roles, message):
    with pytest.raises(ShoalError, match=message):
        Table.of(pd.DataFrame(people), roles)


def test_tables_that_are_none_are_errors(people):
    for data, message in [
        (
            np.zeros((3, 2)),
            r"ndarray is not a table; give its columns names first.*pandas.DataFrame\(data, columns",
        ),
        (people, r"dict is not a table; make one of it first.*pandas.DataFrame\(data\)"),
        ([{"age": 1}], r"list is not a table; make one of it first.*pandas.DataFrame\(data\)"),
        (5, "int is not a table; give a pandas, polars or pyarrow table"),
        (pd.Series([1, 2], name="age"), r"Series is not a table; it is a single column.*to_frame\(\)"),
        (pl.Series("age", [1, 2]), r"Series is not a table; it is a single column.*to_frame\(\)"),
        (pa.chunked_array([[1, 2]]), "ChunkedArray is not a table; it is a single column"),
        (pl.LazyFrame(people).select("nobody"), "the records of this LazyFrame cannot be read: .*nobody"),
        (
            pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("age", "first"), ("age", "last")])),
            r"names of several levels, such as \('age', 'first'\); flatten them first.*'_'.join",
        ),
        (pd.DataFrame([[1, 2]], columns=["age", "age"]), "two columns of the same name: 'age'"),
        (pa.table([[1], [2]], names=["age", "age"]), "two columns of the same name: 'age'"),
        (pd.DataFrame({0: [1]}), r"column names must be text, not 0; .* table.columns.map\(str\)"),
        (pd.DataFrame({"age": []}), "the table is empty"),
    ]:
        with pytest.raises(ShoalError, match=message):
            Table.of(data, Roles.of("age"))


@pytest.mark.parametrize(
    "form",
    [
        lambda table: table.to_batches()[0],
        lambda table: pa.RecordBatchReader.from_batches(table.schema, table.to_batches()),
        lambda table: type(
            "Relation", (), {"__arrow_c_stream__": lambda self, asked=None: table.__arrow_c_stream__(asked)}
        )(),
        lambda table: nw.from_native(table),
    ],
)
def test_whatever_hands_its_records_on_by_arrow_comes_back_as_an_arrow_table(people, form):
    out = released(Table.of(form(pa.table(people)), ROLES))
    assert isinstance(out, pa.Table)
    assert out["diagnosis"].to_pylist() == people["diagnosis"]


def test_a_relation_of_duckdb_comes_back_as_an_arrow_table(people):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    connection = duckdb.connect()
    connection.register("people", pa.table(people))
    relation = connection.sql("select name, age, weight, diagnosis from people where age > 0")
    out = released(Table.of(relation, ROLES))
    assert isinstance(out, pa.Table)
    assert out["age"].to_pylist() == [45] * 7


def test_a_lazy_table_is_collected(people):
    out = released(Table.of(pl.LazyFrame(people).filter(pl.col("age") > 0), ROLES))
    assert isinstance(out, pl.DataFrame)
    assert out["diagnosis"].to_list() == people["diagnosis"]


def test_a_table_with_all_roles_given_warns_of_nothing(people):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Table.of(pd.DataFrame(people), ROLES)


def test_what_the_caller_does_to_the_table_later_does_not_matter(people):
    data = pd.DataFrame(people)
    table = Table.of(data, ROLES)
    data["phone"] = 1
    data.loc[:, "diagnosis"] = data["diagnosis"].tolist()[::-1]
    out = released(table)
    assert list(out.columns) == ["age", "weight", "diagnosis"]
    assert out["diagnosis"].tolist() == people["diagnosis"]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("values", [[2**62 + 5, 2**62 + 9], [-(2**63), 2**63 - 1]])
def test_64_bit_integers_come_back_in_any_kind(kind, values):
    out = released(Table.of(kind({"x": values}), Roles.of("x")))
    assert str(out["x"][0]) == str(round(Fraction(sum(values), 2)))


def categories(values, *more):
    return pd.Series(
        pd.Categorical(values, categories=pd.Index([*dict.fromkeys(values), *more], tupleize_cols=False))
    )


ODD = {
    "intervals": pd.cut(pd.Series([1, 2, 3, 4]), 2),
    "intervals with a gap": pd.cut(pd.Series([1, 2, 3, 4]), [1, 3, 9]),
    "categories of tuples": categories([(1, 2), (3, 4), (1, 2), (3, 4)]),
    "categories of dates": categories([date(2020, 1, day) for day in (1, 2, 1, 2)]),
    "categories of all sorts": categories([1, "a", 1, "a"]),
    "an interval each": pd.Series(pd.arrays.IntervalArray.from_breaks(range(5))),
    "periods": pd.Series(pd.period_range("2020-01", periods=4, freq="M")),
    "sparse": pd.Series(pd.arrays.SparseArray([0, 0, 1, 0])),
    "objects": pd.Series([1, "a", (1, 2), {"a": 1}], dtype=object),
    "complex": pd.Series([1j, 2j, 3j, 4j]),
    "sets": pd.Series([{1}, {2}, {1, 2}, {3}]),
}


@pytest.mark.parametrize("column", ODD.values(), ids=ODD)
def test_columns_of_any_type_are_released_as_they_are_and_cannot_be_quasi_identifiers(column, tmp_path):
    data = pd.DataFrame({"x": [1, 2, 3, 4], "odd": column})
    release = shoal.anonymize(data, 2, "x", "odd")
    pd.testing.assert_series_equal(release.table["odd"], data["odd"])
    assert release.verified_k >= 2
    release.write(tmp_path / "t.csv")
    written = pa.csv.read_csv(tmp_path / "t.csv")["odd"].cast(pa.string()).to_pylist()
    expected = ["" if gap else str(value) for value, gap in zip(column, column.isna(), strict=True)]
    assert naive.as_they_came(written, release.manifest) == expected
    with pytest.raises(ShoalError, match="'odd' (holds|of type)"):
        shoal.anonymize(data, 2, ["x", "odd"])


@pytest.mark.parametrize("column", ODD.values(), ids=ODD)
def test_columns_of_any_type_can_be_looked_at(column):
    found = shoal.inspect(pd.DataFrame({"x": [1, 2, 3, 4], "odd": column})).columns[1]
    assert found.distinct == column.dropna().astype(str).nunique()
    assert found.missing == column.isna().sum()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("intervals", "struct<left: double, right: double>"),
        ("categories of tuples", "list<.*: int64>"),
        ("sparse", "int64"),
    ],
)
def test_odd_columns_go_to_parquet_and_arrow_where_there_is_a_type_for_them(name, kind, tmp_path):
    release = shoal.anonymize(pd.DataFrame({"x": [1, 2, 3, 4], "odd": ODD[name]}), 2, "x", "odd")
    for path in (tmp_path / "t.parquet", tmp_path / "t.arrow"):
        release.write(path)
        stored = shoal.files.read(path).table["odd"].type
        assert re.fullmatch(kind, str(getattr(stored, "storage_type", stored)))


def test_unused_categories_of_any_kind_are_warned_of():
    listed = pa.DictionaryArray.from_arrays([0, 1], [["a"], ["b"], ["Zebulon"]])
    for data in (
        pd.DataFrame({"x": [1, 2], "c": categories([(1, 2), (3, 4)], (5, 6))}),
        pa.table({"x": [1, 2], "c": listed}),
    ):
        with pytest.warns(ShoalWarning, match="categories that no record has .*'c'"):
            Table.of(data, Roles.of("x", "c"))


def test_unused_categories_are_warned_of():
    column = pd.Categorical(["a", "b"], categories=["a", "b", "Zebulon"])
    fixed = pl.Series(["a", "b"], dtype=pl.Enum(["a", "b", "Zebulon"]))
    coded = pa.DictionaryArray.from_arrays([0, 1], ["a", "b", "Zebulon"])
    tables = [
        pd.DataFrame({"x": [1, 2], "c": column}),
        pl.DataFrame({"x": [1, 2], "c": fixed}),
        pa.table({"x": [1, 2], "c": coded}),
    ]
    for table in tables:
        with pytest.warns(ShoalWarning, match="categories that no record has .*'c'"):
            Table.of(table, Roles.of("x", "c"))
    Table.of(tables[0].assign(c=pd.Categorical(["a", "b"])), Roles.of("x", "c"))


def test_the_metadata_of_an_arrow_table_stays_behind():
    data = pa.table({"x": [1, 2]}).replace_schema_metadata({"note": "Zebulon"})
    assert released(Table.of(data, Roles.of("x"))).schema.metadata is None


def test_an_arrow_table_has_no_index_and_names_the_column_that_it_cannot_hold():
    assert arrow_of(pd.DataFrame({"x": [1, 2]}, index=list("ab"))).column_names == ["x"]
    with pytest.raises(ShoalError, match="column 'odd' has no type that Parquet"):
        arrow_of(pd.DataFrame({"x": [1, 2], "odd": [1, "a"]}))


def test_objects_in_a_polars_table_are_text_in_csv_and_never_addresses_in_memory(tmp_path):
    data = pl.DataFrame({"x": [1, 2], "odd": pl.Series([{1}, {2}], dtype=pl.Object)})
    release = shoal.anonymize(data, 2, "x", "odd")
    release.write(tmp_path / "t.csv")
    header, *rows = (tmp_path / "t.csv").read_text().splitlines()
    assert (header, sorted(rows)) == ("x,odd", ["2,{1}", "2,{2}"])
    with pytest.raises(ShoalError, match="column 'odd' has no type that Parquet"):
        release.write(tmp_path / "t.parquet")
    again = pl.DataFrame({"x": [1, 2], "odd": pl.Series([{1}, {2}], dtype=pl.Object)})
    assert shoal.anonymize(again, 2, "x", "odd").manifest["input"] == release.manifest["input"]


@pytest.mark.parametrize("names", [[1], 5, [None]])
def test_names_that_are_not_text_are_errors(names):
    with pytest.raises(ShoalError, match="columns are named by text"):
        Roles.of(names)


def test_values_are_shown_as_the_file_has_them_and_as_text_where_arrow_has_no_type(tmp_path):
    (tmp_path / "a.csv").write_text("x,code\n1,01\n2,1\n")
    assert Table.of(tmp_path / "a.csv", Roles.of("x")).shown(["code"])["code"].to_pylist() == ["01", "1"]
    odd = pd.DataFrame({"x": [1, 2, 3], "odd": [1, "a", None]})
    assert Table.of(odd, Roles.of("x")).shown(["x", "odd"])["odd"].to_pylist() == ["1", "a", None]


def test_the_values_of_categories_are_what_they_stand_for():
    for native in (pd.Series(["b", "a", "b"], dtype="category"), pl.Series(["b", "a", "b"], dtype=pl.Categorical)):
        column = Column("x", nw.from_native(native, series_only=True))
        assert column.values().to_pylist() == ["b", "a", "b"]
