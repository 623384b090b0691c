import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.released_columns import WeightValues, significant

AGES = [20, 21, 23, 26, 30, 35, 41, 48, 56, 65, 75, 86]
WEIGHTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 123456]
REGIONS = ["isle", "coast", "hill"] * 4


def table_of(kind):
    columns = {"age": AGES, "w": WEIGHTS, "region": REGIONS}
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[kind](columns)


def column(table, name):
    return table[name].to_pylist() if isinstance(table, pa.Table) else table[name].to_list()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_merged_strata_have_the_value_of_their_target(kind):
    release = shoal.anonymize(
        table_of(kind), 2, ["age"], ["w"], within="region", merge_strata={"isle": "coast"}, method="mdav"
    )
    assert column(release.table, "region") == ["coast", "coast", "hill"] * 4


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.filterwarnings("ignore:sampling weights leave", "ignore:columns without a role")
def test_weights_leave_as_asked(kind):
    said = {"confidential": ["region"], "sampling_weight": "w", "method": "mdav"}
    released = {
        how: shoal.anonymize(table_of(kind), 3, ["age"], released_weight=how, **said)
        for how in ("common", "keep", "round", "drop")
    }
    labels, weights = released["common"].labels, np.array(WEIGHTS)
    means = [weights[labels == label].mean() for label in labels]
    assert column(released["common"].table, "w") == pytest.approx(means, rel=1e-5)
    assert column(released["keep"].table, "w") == WEIGHTS
    assert column(released["round"].table, "w") == [*WEIGHTS[:-1], 120000]
    assert "w" not in (
        released["drop"].table.column_names if kind == "pyarrow" else released["drop"].table.columns
    )


@pytest.mark.filterwarnings("ignore:columns without a role")
def test_weights_that_leave_as_they_are_are_warned_of():
    with pytest.warns(shoal.ShoalWarning, match="a weight can itself identify"):
        shoal.anonymize(
            table_of("pandas"), 3, ["age"], ["region"], sampling_weight="w", released_weight="keep", method="mdav"
        )


def test_a_method_without_weights_is_said():
    for method, name in (("imhm", "IMHM"), ("pcl", "PCL")):  # PCL takes weights, but not from here
        said = (
            f"^{name} groups records without their sampling weights; common values and the weighted loss use them"
        )
        with pytest.warns(shoal.ShoalWarning, match=said):
            shoal.anonymize(table_of("pandas"), 3, ["age"], ["region"], sampling_weight="w", method=method)


def test_weights_are_written_plainly():
    values = WeightValues(np.array([1200.0, 0.5, 1e-9]))
    assert values.text(",") == ["1200", "0,5", "0,000000001"]
    assert WeightValues(np.array([3.0, 4.0])).native().dtype == np.int64
    assert significant(np.array([123456.0, 0.0, 0.00987654]), 2).tolist() == [120000.0, 0.0, 0.0099]


def test_the_common_weight_of_a_group_has_six_digits():
    frame = pd.DataFrame({"age": [1, 2, 3, 50, 51, 52], "w": [1, 1, 2, 1000000, 2000001, 3000003]})
    release = shoal.anonymize(frame, 3, ["age"], sampling_weight="w", method="mdav")
    assert release.table["w"].tolist() == [1.33333] * 3 + [2000000] * 3


@pytest.mark.filterwarnings("ignore:columns without a role")
def test_a_method_that_does_not_see_how_many_rows_a_person_has_says_so():
    table = pd.DataFrame({"age": AGES, "who": [*"aabcdefghijk"]})
    with pytest.warns(shoal.ShoalWarning, match="IMHM groups persons without regard to how many rows each has"):
        shoal.anonymize(table, 3, ["age"], person="who", method="imhm")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shoal.anonymize(table, 3, ["age"], person="who", method="mdav")
        table["who"] = [*"aabbccddeeff"]
        shoal.anonymize(table, 3, ["age"], person="who", method="imhm")


CATEGORIES = {
    "pandas": (lambda values: pd.DataFrame({"age": AGES, "region": pd.Categorical(values)}),
               lambda column: column.cat.categories.tolist()),
    "pandas with Arrow": (
        lambda values: pd.DataFrame({"age": AGES, "region": pd.Series(
            pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(values).dictionary_encode()])))}),
        lambda column: pa.array(column.array).dictionary.to_pylist()),
    "pyarrow": (lambda values: pa.table({"age": AGES, "region": pa.array(values).dictionary_encode()}),
                lambda column: column.chunk(0).dictionary.to_pylist()),
    "polars": (lambda values: pl.DataFrame({"age": AGES, "region": values}).with_columns(
                   pl.col("region").cast(pl.Enum(["isle", "coast", "hill"]))),
               lambda column: column.dtype.categories.to_list()),
}  # fmt: skip


@pytest.mark.parametrize("kind", CATEGORIES)
@pytest.mark.parametrize("said", [{"merge_strata": {"isle": "coast"}}, {"small_strata": "drop"}], ids=str)
def test_strata_that_are_gone_are_no_categories_either(kind, said):
    frame, categories = CATEGORIES[kind]
    values = ["isle", *["coast", "hill"] * 5, "coast"]
    release = shoal.anonymize(frame(values), 3, ["age"], within="region", method="mdav", **said)
    assert sorted(categories(release.table["region"])) == ["coast", "hill"]
    left = [value.replace("isle", "coast") for value in values]
    assert column(release.table, "region") == (left if "merge_strata" in said else left[1:])
