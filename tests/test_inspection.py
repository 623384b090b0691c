import json

import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal.datasets import clinic, sme
from shoal.errors import ShoalError, ShoalWarning


def test_the_clinic_gets_sensible_roles():
    found = shoal.inspect(clinic(200))
    assert found.suggested("identifier") == ["name"]
    assert found.suggested("quasi-identifier") == ["birth_year", "postcode", "height", "weight", "income"]
    assert found.suggested("confidential") == ["diagnosis"]
    assert found.unique == 200


def test_ranges_missing_and_distinct_values(tmp_path):
    (tmp_path / "t.csv").write_text("age,city,note,key,one\n30,Ulm,,a1,5\n30,Ulm,x,b2,5\n41,Bonn,x,c3,5\n")
    found = {column.name: column for column in shoal.inspect(tmp_path / "t.csv").columns}
    assert (found["age"].low, found["age"].high, found["age"].distinct) == (30, 41, 2)
    assert found["note"].missing == 1
    assert found["city"].role == "other"
    assert "not a number" in found["city"].reason
    assert found["key"].role == "identifier"
    assert "one value only" in found["one"].reason
    assert shoal.inspect(tmp_path / "t.csv").unique == 1


def test_any_kind_of_table_can_be_looked_at():
    frame = pd.DataFrame({"customerId": [1, 2, 3], "day": pd.to_datetime(["2020-01-01"] * 2 + ["2021-01-01"])})
    found = shoal.inspect(frame)
    assert found.columns[0].role == "identifier"
    assert found.unique is None
    assert found.as_dict()["records"] == 3
    nulls = shoal.inspect(pa.table({"x": [1, None, 2]}))
    assert nulls.columns[0].missing == 1
    assert shoal.inspect(sme()).suggested("confidential") == ["turnover", "net_profit"]


def test_columns_of_any_type_can_be_looked_at():
    table = pa.table(
        {
            "category": pa.array(["a", "b", "a"]).dictionary_encode(),
            "list": [[1], [2], [1]],
            "nothing": pa.nulls(3),
            "wide": [1.0, float("inf"), 2.0],
            "zip": ["01234", "01235", "01234"],
        }
    )
    found = {column.name: column for column in shoal.inspect(table).columns}
    assert [found[name].distinct for name in ("category", "list", "nothing", "zip")] == [2, 2, 1, 2]
    assert found["zip"].role == "quasi-identifier"
    json.dumps(shoal.inspect(table).as_dict(), allow_nan=False)
    assert [c.name for c in shoal.inspect(pd.DataFrame({"x": [1, 2]}, index=list("ab"))).columns] == ["x"]


def test_columns_of_the_same_name_are_shown_with_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("zip,age,zip\n1,2,3\n4,5,6\n")
    with pytest.warns(ShoalWarning, match="say --number-names"):
        found = shoal.inspect(tmp_path / "t.csv")
    assert [column.name for column in found.columns] == ["zip", "age", "zip_2"]
    assert found.numbered


def test_a_file_without_a_header_is_refused_unless_that_is_said(tmp_path):
    (tmp_path / "t.csv").write_text("34,Ulm\n51,Bonn\n")
    with pytest.raises(ShoalError, match="--no-header"):
        shoal.inspect(tmp_path / "t.csv")
    assert [c.name for c in shoal.inspect(tmp_path / "t.csv", header=False).columns] == ["column1", "column2"]
