import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal.errors import ShoalError, ShoalWarning
from shoal.table import Roles, Table, arrow_of

ROLES = Roles.of(["age", "weight"], "diagnosis", "name")
KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def released(table, exact=False):
    labels = np.zeros(len(table), int)
    order, starts = np.arange(len(table)), np.array([0, len(table)])
    common = {
        name: table.numbers(name).common(order, starts, "mean", exact) for name in table.roles.quasi_identifiers
    }
    return table.replaced(common, labels, exact)


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


@pytest.mark.parametrize("dtype", [pa.int8(), pa.uint64(), pa.float32(), pa.decimal128(10, 2), pa.bool_()])
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


def test_columns_without_a_role_are_warned_of_and_kept(people):
    with pytest.warns(ShoalWarning, match="without a role.*'name', 'diagnosis'"):
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
        (Roles.of(["age"], ["age"]), "column 'age' has two roles"),
        (Roles.of(["age", "age"]), "column 'age' has two roles"),
        (Roles.of(["age"], ["zzzzzz"]), "there is no column 'zzzzzz'; there are 'name'"),
    ],
)
def test_wrong_roles_are_errors(people, roles, message):
    with pytest.raises(ShoalError, match=message):
        Table.of(pd.DataFrame(people), roles)


def test_tables_that_are_none_are_errors(people):
    for data, message in [
        (np.zeros((3, 2)), "ndarray is not a table"),
        (pl.LazyFrame(people), "call collect"),
        (pd.DataFrame([[1, 2]], columns=["age", "age"]), "two columns of the same name: 'age'"),
        (pa.table([[1], [2]], names=["age", "age"]), "two columns of the same name: 'age'"),
        (pd.DataFrame({0: [1]}), "column names must be text, not 0"),
        (pd.DataFrame({"age": []}), "the table is empty"),
    ]:
        with pytest.raises(ShoalError, match=message):
            Table.of(data, Roles.of("age"))


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


@pytest.mark.parametrize("names", [[1], 5, [None]])
def test_names_that_are_not_text_are_errors(names):
    with pytest.raises(ShoalError, match="columns are named by text"):
        Roles.of(names)
