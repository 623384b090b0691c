import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import shoal
from shoal.datasets import clinic, sme
from shoal.errors import ShoalError, ShoalWarning
from shoal.files import read
from shoal.inspection.look import profiles


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
    assert (found["city"].role, found["city"].kind) == ("quasi-identifier", "nominal")
    assert "people are recognised by it" in found["city"].reason
    assert found["key"].role == "identifier"
    assert "one value only" in found["one"].reason
    assert shoal.inspect(tmp_path / "t.csv").unique == 1


def test_any_kind_of_table_can_be_looked_at():
    frame = pd.DataFrame({"customerId": [1, 2, 3], "day": pd.to_datetime(["2020-01-01"] * 2 + ["2021-01-01"])})
    found = shoal.inspect(frame)
    assert found.columns[0].role == "identifier"
    assert (found.unique, found.columns[1].kind) == (1, "timestamp")
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
    assert [found[name].distinct for name in ("category", "list", "nothing", "zip")] == [2, 2, 0, 2]
    # Text may stand for numbers in a CSV file only.
    assert (found["zip"].kind, found["zip"].options) == ("none", {"prefixes": (1, 2, 3)})
    assert (found["list"].kind, found["list"].role) == ("none", "drop")
    assert found["wide"].role == "drop"
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


def inspected(folder, columns):
    path = folder / "t.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return {column.name: column for column in shoal.inspect(path, header=True).columns}


N = 40
AGE = [20 + number * 7 % 31 for number in range(N)]


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "index", "row", "rownames", "X", "patient", "...1"])
def test_row_names_are_no_quasi_identifiers(tmp_path, name):
    found = inspected(tmp_path, {name or " ": range(1, N + 1), "age": AGE})
    (tmp_path / "t.csv").write_text((tmp_path / "t.csv").read_text().replace(" ", "", 1))
    found = {column.name: column for column in shoal.inspect(tmp_path / "t.csv", header=True).columns}
    assert found[name.replace(" ", "", 1)].role == "identifier"
    assert found["age"].role == "quasi-identifier"


def test_a_few_rows_are_enough_to_know_an_index_by_its_name(tmp_path):
    assert inspected(tmp_path, {"index": [3, 9, 4], "age": [30, 40, 50]})["index"].role == "identifier"
    assert inspected(tmp_path, {"x": [3, 9, 4], "age": [30, 40, 50]})["x"].role == "quasi-identifier"


def test_ids_are_no_quasi_identifiers(tmp_path):
    ids = {
        "patient_no": [7919 * number % 99991 for number in range(N)],
        "customerId": [f"C{number * 2 // 3}" for number in range(N)],
        "UTILITYID": [number * 2 // 3 * 97 % 1009 for number in range(N)],
        "serial": range(1000, 1000 + 5 * N, 5),
    }
    found = inspected(tmp_path, ids)
    assert {name: found[name].role for name in ids} == dict.fromkeys(ids, "identifier")


def test_what_is_called_as_an_identifier_but_has_few_values_is_none(tmp_path):
    few = {
        "checking_account": ["none", "low", "mid", "high"] * 10,
        "account_status": ["A11", "A12", "A13", "A14"] * 10,
        "product_name": ["a", "b"] * 20,
    }
    amounts = {"account_balance": [100 + 37 * number % 991 for number in range(N)], "first_visit_age": AGE}
    found = inspected(tmp_path, few | amounts)
    assert {name: found[name].role for name in few} == dict.fromkeys(few, "quasi-identifier")
    assert {name: found[name].role for name in amounts} == dict.fromkeys(amounts, "quasi-identifier")


@pytest.mark.parametrize(
    "name", ["target", "class", "y", "label", "outcome", "survived", "default", "churn", "loan_default"]
)
def test_what_is_to_be_predicted_is_confidential(tmp_path, name):
    assert inspected(tmp_path, {"age": AGE, name: [0, 1] * 20})[name].role == "confidential"
    assert inspected(tmp_path, {"age": AGE, name: ["no", "yes"] * 20})[name].role == "confidential"
    many = inspected(tmp_path, {"age": AGE, name: [100 + 37 * number % 991 for number in range(N)]})
    assert many[name].role == "quasi-identifier"


def test_classes_of_an_amount_are_confidential(tmp_path):
    found = inspected(tmp_path, {"age": AGE, "income": ["<=50K", ">50K"] * 20, "group": ["<18", ">65"] * 20})
    assert found["income"].role == "confidential"
    assert found["group"].role == "quasi-identifier"


def test_text_for_missing_values_counts_as_a_gap(tmp_path):
    gaps = ["NA", "N/A", "?", "null", ".", "", " nan ", "#N/A"]
    table = {"city": [*gaps, *["Ulm", "Bonn"] * 4], "size": [*gaps, *range(8)], "age": [*range(16)]}
    pd.DataFrame(table).to_csv(tmp_path / "t.csv", index=False)
    for data in (tmp_path / "t.csv", pd.DataFrame(table).astype({"size": str})):
        found = {column.name: column for column in shoal.inspect(data).columns}
        assert (found["city"].missing, found["city"].distinct) == (8, 2)
        assert (found["size"].missing, found["size"].distinct) == (8, 8)
    found = {column.name: column for column in shoal.inspect(tmp_path / "t.csv").columns}
    assert (found["size"].type, found["size"].low, found["size"].high) == ("int64", 0, 7)
    assert (found["size"].role, found["size"].gaps["NA"]) == ("quasi-identifier", 1)
    nan = shoal.inspect(pd.DataFrame({"x": [1.5, float("nan"), 2.5]})).columns[0]
    assert (nan.missing, nan.distinct, nan.role) == (1, 2, "quasi-identifier")


def test_numbers_that_are_no_quantities_are_not_averaged(tmp_path):
    days = pd.to_datetime("1950-01-01") + pd.to_timedelta([977 * number for number in range(N)], unit="D")
    found = inspected(
        tmp_path,
        {
            "dob": days.strftime("%Y%m%d"),
            "region": [[11, 12, 21, 22, 31][number % 5] for number in range(N)],
            "age": [*AGE[:-3], -9, -9, -9],
            "zip": [f"{1000 + 53 * number**2 % 8009:05d}" for number in range(N)],
            "diagnosis": [[100, 110, 200][number % 3] for number in range(N)],
        },
    )
    roles = {name: column.role for name, column in found.items()}
    expected = ["quasi-identifier", "quasi-identifier", "quasi-identifier", "quasi-identifier", "confidential"]
    assert roles == dict(zip(found, expected, strict=True))
    assert "dates written as numbers (YYYYMMDD" in found["dob"].reason
    assert "codes (called 'region'" in found["region"].reason
    assert "holds -9 in 3 records" in found["age"].reason
    assert "codes of places (such as 01000 and" in found["zip"].reason
    assert shoal.inspect(tmp_path / "t.csv").options() == {
        "kinds": {"dob": "date", "region": "nominal"},
        "gap_values": {"age": ("-9",)},
        "prefixes": {"zip": (1, 2, 3)},
        "gaps": "value",
    }


def messy(n=200):
    """What people hand in: text, codes, marks, words for gaps, numbers beside text."""
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "patient_no": rng.permutation(9999)[:n],
            "age": np.where(rng.random(n) < 0.1, "unknown", rng.integers(20, 70, n).astype(str)),
            "sex": rng.choice(["f", "m", "?"], n, p=[0.4, 0.4, 0.2]),
            "pain": rng.choice(["none", "mild", "severe"], n),
            "region": rng.choice([11, 12, 21, 22, 31], n),
            "weight": np.where(rng.random(n) < 0.05, -9, rng.normal(75, 9, n).round(1)),
            "plot, no. 1": rng.choice(["1", "2", "2b"], n),
            "zip": [f"{code:05d}" for code in 1000 + rng.integers(0, 30, n) * 97],
            "lat": rng.normal(48, 1, n).round(4),
            "lon": rng.normal(11, 1, n).round(4),
            "height": np.where(rng.random(n) < 0.2, "NA", rng.integers(150, 200, n).astype(str)),
            "gain": np.where(rng.random(n) < 0.6, 0, rng.integers(1, 9999, n)),
            "born": [f"{1 + number % 28:02d}.{1 + number % 12:02d}.{40 + number % 50}" for number in range(n)],
            "seen": [f"2024-{1 + number % 12:02d}-{1 + number % 28:02d}" for number in range(n)],
            "note": [f"came with {number % 170}" for number in range(n)],
            "remarks": "",
            "diagnosis": rng.choice(["I10", "J45"], n),
        }
    )


def test_a_messy_table_goes_through_as_it_is_suggested(tmp_path):
    messy().to_csv(tmp_path / "t.csv", index=False)
    found = shoal.inspect(tmp_path / "t.csv")
    kinds = {column.name: column.kind for column in found.columns}
    assert kinds == {
        **{"patient_no": "numeric", "age": "mixed", "sex": "nominal", "pain": "ordinal", "region": "numeric"},
        **{"weight": "numeric", "plot, no. 1": "mixed", "zip": "numeric", "lat": "place", "lon": "place"},
        **{"height": "numeric", "gain": "numeric", "born": "nominal", "seen": "date", "note": "nominal"},
        **{"remarks": "none", "diagnosis": "nominal"},
    }
    assert found.suggested("drop") == ["note"]
    assert found.suggested("identifier") == ["patient_no"]
    assert found.options() == {
        "gap_values": {"age": ("unknown",), "weight": ("-9",)},
        "kinds": {
            "region": "nominal",
            "plot, no. 1": "nominal",
            "gain": "semi-continuous",
            "born": "date:%d.%m.%y",
        },
        "prefixes": {"zip": (1, 2, 3)},
        "gaps": found.gaps.policy,
    }
    release = shoal.anonymize(tmp_path / "t.csv", k=5, **found.roles(), **found.options(), strict=True)
    assert release.write(tmp_path / "safe.csv").k >= 5


def test_a_messy_dataframe_goes_through_as_it_is_suggested():
    table = messy().astype({"pain": pd.CategoricalDtype(["severe", "none", "mild"], ordered=True)})
    found = shoal.inspect(table)
    assert {c.name: c.kind for c in found.columns}["pain"] == "ordinal"
    release = shoal.anonymize(table, k=5, **found.roles(), **found.options(), strict=True)
    assert release.partition.sizes.min() >= 5


def test_the_suggested_roles_make_a_release(people):
    table = pd.DataFrame(people)
    roles = shoal.inspect(table).roles()
    assert roles == {
        "quasi_identifiers": ["age", "weight"],
        "confidential": ["diagnosis"],
        "identifiers": ["name"],
    }
    assert shoal.anonymize(table, 2, **roles).table.columns.tolist() == ["age", "weight", "diagnosis"]


FILES = {
    "people": "id,age,city,note\n" + "".join(f"{n},{n % 9 + 20},{'UB'[n % 2]},t{n % 5}\n" for n in range(20)),
    "numbers turn into text": "a,b\n" + "".join(f"{n},{n}\n" for n in range(12)) + "x,1.5\n",
    "whole, then decimals": "a\n" + "".join(f"{n}\n" for n in range(10)) + "2.5\n",
    "gaps late": "a;b\n" + "".join(f"{n};{n},5\n" for n in range(10)) + "NA;?\n",
    "codes late": "zip,c\n" + "".join(f"{n + 10000},{n % 3}\n" for n in range(12)) + "01234,7\n",
    "exponents": "a,b\n" + "".join(f"{n},{n % 4}\n" for n in range(10)) + "1e5,2E3\n",
    "truth": "smoker,x\n" + "".join(f"{'Tt'[n % 2]}rue,{n * n}\n" for n in range(10)) + "false,3\n",
    "spaces": "a , b\n" + "".join(f" {n % 4}, x{n % 3} \n" for n in range(14)),
    "one column": "a\n1\n\n3\n4\n\n5\n6\n",
    "long": "a\n" + "".join(f"{10**18 + n * n}\n" for n in range(10)) + f"{10**20}\n",
    "thousands": "a;b\n" + "".join(f"{n + 1}.{n:03d},5;{n % 3}.633\n" for n in range(12)),
    "in doubt": "a;b\n" + "".join(f"{n + 1}.{n:03d};{n}\n" for n in range(12)),
    "nothing": "a,b\n" + ",1\n" * 7,
}


@pytest.mark.parametrize("case", sorted(FILES))
@pytest.mark.parametrize("size", [1, 3, 8])
def test_a_file_in_parts_is_inspected_as_the_table_in_one(tmp_path, monkeypatch, case, size):
    path = tmp_path / "t.csv"
    path.write_text(FILES[case])
    whole = shoal.inspect(read(path, header=True))
    assert shoal.inspect(path, header=True) == whole
    monkeypatch.setattr("shoal.files.batches.GROUP", size)
    assert shoal.inspect(path, header=True) == whole


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_typed_file_in_parts_is_inspected_as_the_table_in_one(tmp_path, monkeypatch, size):
    rng = np.random.default_rng(3)
    table = pa.table(
        {
            "number": pa.array(range(30), pa.uint64()),
            "real": rng.normal(size=30),
            "gaps": [None, 1.5, float("nan")] * 10,
            "day": pd.to_datetime(rng.integers(0, 10**4, 30), unit="D"),
            "kind": pa.array(["a", "b", "?"] * 10).dictionary_encode(),
            "list": [[number % 4] for number in range(30)],
            "truth": [True, False] * 15,
            "money": pa.array([number * 3 % 11 for number in range(30)]).cast(pa.decimal128(21, 2)),
            "large": pa.array(["x"] * 30, pa.large_string()),
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    monkeypatch.setattr("shoal.files.batches.GROUP", size)
    found = shoal.inspect(tmp_path / "t.parquet")
    assert found == shoal.inspect(pyarrow.parquet.read_table(tmp_path / "t.parquet"))
    missing = {column.name: column.missing for column in found.columns}
    assert (missing["gaps"], missing["kind"]) == (20, 10)


def test_different_values_are_counted_up_to_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.inspection.look.MOST", 8)
    monkeypatch.setattr("shoal.inspection.look._FEWEST", 8)
    found = inspected(
        tmp_path,
        {"a": [n % 9 for n in range(N)], "b": [f"x{n % 9}" for n in range(N)], "c": [n % 8 for n in range(N)]},
    )
    assert [(column.distinct, column.more) for column in found.values()] == [(8, True), (8, True), (8, False)]
    assert (found["a"].low, found["a"].high) == (0, 8)


def test_memory_is_for_files(tmp_path):
    with pytest.raises(ShoalError, match="memory is for files"):
        shoal.inspect(pd.DataFrame({"x": [1, 2]}), memory="1GB")
    (tmp_path / "t.csv").write_text("x\n1\n2\n")
    with pytest.raises(ShoalError, match="at least 512 MB"):
        shoal.inspect(tmp_path / "t.csv", memory="1MB")
    assert shoal.inspect(tmp_path / "t.csv", memory="1GB").records == 2


def test_inspecting_loads_nothing_that_groups_records():
    code = (
        "import sys, shoal.inspection.look; print([m for m in ('numba', 'sklearn', 'scipy') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize("columns", [1, 10, 250, 10_000])
def test_the_values_of_many_columns_are_held_within_the_memory(monkeypatch, columns):
    held = []

    class Held:
        def __init__(self, name, kind, dialect, most, column):
            held.append(most)

        def profile(self, place):
            return None

    monkeypatch.setattr("shoal.inspection.look.Profiler", Held)
    profiles(pa.schema([(f"v{number}", pa.string()) for number in range(columns)]), [], None, 512_000_000)
    assert held[0] == 65_536 if columns <= 10 else 100 <= held[0] < 65_536
    assert sum(held) * 160 <= 182_000_000
