import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import shoal
from columns import made_of, text_column
from shoal.attributes import Wish, gaps_in
from shoal.errors import ShoalError


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_block_of_gaps_only_stays_gaps_beside_plain_centroids(tmp_path):
    rng = np.random.default_rng(0)
    lacking = np.arange(400) < 200
    frame = pd.DataFrame({"y": lacking * 100.0 + rng.normal(size=400), "g": rng.normal(size=400)})
    frame.loc[lacking, "g"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    shoal.anonymize_file(
        tmp_path / "t.csv", tmp_path / "safe.csv", 5, ["y", "g"], gaps="value", exact=True, blocks=2, method="mdav"
    )
    released = pd.read_csv(tmp_path / "safe.csv")["g"]
    assert released.isna().sum() == 200
    assert released.min() >= frame["g"].min()


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_part_of_gaps_only_keeps_the_type_of_the_column(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.files.batches.GROUP", 20)
    rows = [f"{i % 37},{'NA' if i < 120 else i % 9}" for i in range(200)]
    (tmp_path / "t.csv").write_text("\n".join(["y,g", *rows]))
    shoal.anonymize_file(
        tmp_path / "t.csv", tmp_path / "safe.parquet", 5, ["y", "g"], gaps="value", blocks=2, method="mdav",
        header=True, keep_order=True,
    )  # fmt: skip
    made = pa.parquet.read_table(tmp_path / "safe.parquet")["g"]
    assert made.type == pa.int64()
    assert made.null_count > 0


def test_dates_can_be_named_as_gaps():
    frame = pd.DataFrame({"born": pd.to_datetime(["1900-01-01"] * 5 + ["1980-02-03", "1990-05-06"] * 5)})
    release = shoal.anonymize(frame, 3, "born", gaps="pattern", gap_values={"born": ["1900-01-01"]}, method="mdav")
    assert release.table["born"].isna().sum() == 5


def test_a_code_is_no_gap_because_it_is_the_same_number():
    wish = Wish(kind="nominal", gap_values=("9",))
    assert gaps_in(text_column(["9", "009", "9.0", ""]), wish).tolist() == [True, False, False, True]
    assert gaps_in(text_column(["9", "9.0", "19"]), Wish(gap_values=("9",))).tolist() == [True, True, False]


@pytest.mark.parametrize(("kind", "values"), [("nominal", "abc"), ("ordinal", ["low", "medium", "high"])])
def test_categories_that_are_filled_in_count_for_the_scale(kind, values):
    column = [None if i % 4 == 0 else values[i % 3] for i in range(60)]
    made = made_of(column, from_file=False, kind=kind, gaps="impute")
    assert made.coordinates().var(axis=0).sum() == pytest.approx(1)


def test_rows_are_those_of_the_table_also_after_records_were_dropped(tmp_path):
    rows = [f"{'?' if i < 10 else 'fm'[i % 2]},{'x' if i == 40 else i}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["sex,age", *rows]))
    with pytest.raises(ShoalError, match=r"'age' holds text such as 'x' beside numbers \(row 41\)"):
        shoal.anonymize_file(
            tmp_path / "t.csv", tmp_path / "safe.csv", 3, ["sex", "age"], gaps={"sex": "drop"}, header=True
        )


def test_a_mark_that_lies_among_the_numbers_leaves_as_an_empty_cell(tmp_path):
    ages = ["99"] * 12 + ["98", "100"] * 6
    (tmp_path / "t.csv").write_text("\n".join(["age", *ages]))
    for marks, found in ((["99"], {"", "99"}), (["7"], {"98", "100"})):
        shoal.anonymize_file(
            tmp_path / "t.csv", tmp_path / "safe.csv", 12, "age", gaps="pattern", gap_values=marks, header=True,
            method="mdav", digits=0, overwrite=True,
        )  # fmt: skip
        assert set((tmp_path / "safe.csv").read_text().replace('""', "").split("\n")[1:-1]) == found


@pytest.mark.parametrize(("kind", "made"), [("int64", "Int64"), ("int8", "Int64"), ("uint8", "UInt64")])
def test_a_column_of_pandas_whose_type_has_no_gaps_gets_one_that_has(tmp_path, kind, made):
    frame = pd.DataFrame({"age": np.array([9] * 5 + [30, 40, 50] * 5, kind)})
    release = shoal.anonymize(frame, 3, "age", gaps="pattern", gap_values=[9], method="mdav")
    assert str(release.table["age"].dtype) == made
    assert release.table["age"].isna().sum() == 5
    release.write(tmp_path / "safe.parquet")
    assert pa.parquet.read_table(tmp_path / "safe.parquet")["age"].null_count == 5
