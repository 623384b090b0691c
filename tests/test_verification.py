import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet
import pytest

import shoal
from shoal.errors import ShoalError
from shoal.files import read


def test_values_of_a_csv_file_are_compared_as_text(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n1.0,a\n1,a\n")
    found = shoal.verify(tmp_path / "t.csv", "x")
    assert (found.k, found.n_groups, found.n_records) == (1, 2, 3)
    assert shoal.verify(tmp_path / "t.csv", ["y"]).k == 3
    assert found.columns == ["x", "y"]


def test_a_column_that_is_not_there_is_an_error(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n")
    with pytest.raises(ShoalError, match="no column 'z'"):
        shoal.verify(tmp_path / "t.csv", ["z"])


def test_a_file_larger_than_memory_is_counted_in_parts(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("x;y\n1,5;a\n1,50;a\n1,5;b\n")
    whole = shoal.verify(path, ["x", "y"])
    monkeypatch.setattr("shoal.verification.size_in_memory", lambda _: 10**15)
    parts = shoal.verify(path, ["x", "y"], memory="1GB")
    assert sorted(parts.anonymity.sizes) == sorted(whole.anonymity.sizes) == [1, 1, 1]
    assert (parts.name, parts.columns, parts.k) == (whole.name, whole.columns, 1)
    assert shoal.verify(path, "x", delimiter=";").n_groups == 2
    with pytest.raises(ShoalError, match="no column 'z'"):
        shoal.verify(path, ["z"])


def test_a_release_is_read_as_its_manifest_says(tmp_path):
    (tmp_path / "t.csv").write_text("2019,2020\n3,4\n5,6\n7,8\n9,9\n")
    release = shoal.anonymize(read(tmp_path / "t.csv", header=True), k=2, quasi_identifiers=["2019", "2020"])
    release.write(tmp_path / "safe.csv")
    assert shoal.verify(tmp_path / "safe.csv", ["2019", "2020"]).k == 2
    with (tmp_path / "safe.csv").open("a") as file:
        file.write("1,1\n")  # then the manifest is about another file
    with pytest.raises(ShoalError, match="looks like a record"):
        shoal.verify(tmp_path / "safe.csv", ["2019", "2020"])
    assert shoal.verify(tmp_path / "safe.csv", ["2019", "2020"], header=True).k == 1


HEAVY = ("numba", "sklearn", "scipy", "matplotlib", "jinja2", "narwhals", "pandas", "pyarrow.parquet")


def test_verifying_loads_nothing_that_it_does_not_need(tmp_path):
    (tmp_path / "small.csv").write_text("a,b\n1,x\n1,y\n2,x\n2,y\n")
    code = (
        "import sys; sys.argv = 'shoal verify small.csv -q a -k 2'.split()\n"
        "from shoal.cli import app\n"
        "app(standalone_mode=False)\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_a_table_without_records_is_an_error_whole_and_in_parts(tmp_path, monkeypatch):
    pyarrow.parquet.write_table(pa.table({"x": pa.array([], pa.int64())}), tmp_path / "t.parquet")
    for size in (10**6, 10**15):
        monkeypatch.setattr("shoal.verification.size_in_memory", lambda _, size=size: size)
        with pytest.raises(ShoalError, match="the table is empty: it has columns but no records"):
            shoal.verify(tmp_path / "t.parquet", "x")


def test_a_release_is_read_back_in_the_format_that_it_was_written_in(tmp_path):
    table = pa.table({"PAR1": [1, 2, 3, 4], "b": [1.5, 2.5, 3.5, 9.5]})  # so a Parquet file begins
    release = shoal.anonymize(table, 2, ["PAR1", "b"], method="mdav")
    assert release.write(tmp_path / "safe.csv").k == 2


def test_the_gaps_of_a_release_are_those_that_were_named_for_it(tmp_path):
    (tmp_path / "t.csv").write_text("city,age\n" + "NA,30\n" * 2 + "-9,60\n" * 3 + "b,90\n" * 2)
    path, names = tmp_path / "safe.csv", ["city", "age"]
    for marks, expected, of_city in ((["?"], None, None), (["-9"], 2, 5), (["-9", "NA"], 2, 7)):
        release = shoal.anonymize(
            tmp_path / "t.csv", 2, names, gaps="value", gap_values={"city": marks}, kinds={"city": "nominal"}
        )
        assert release.write(path, overwrite=True).wildcard_k == expected
        assert shoal.verify(path, names).wildcard_k == expected
        assert shoal.verify(path, "city").wildcard_k == of_city
    path.with_name("safe.csv.manifest.json").unlink()
    found = shoal.verify(path, "city")  # nobody knows then that -9 is a gap
    assert (found.wildcard_k, found.not_counted) == (None, None)


def test_a_file_that_is_read_in_parts_says_that_wildcards_were_not_counted(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,a\n,a\n")
    assert shoal.verify(path, ["x"]).not_counted is None
    monkeypatch.setattr("shoal.verification.size_in_memory", lambda path: 2**62)
    found = shoal.verify(path, ["x"])
    assert (found.wildcard_k, found.not_counted) == (None, "the file was read in parts")


LINKED = "pid,age,sex\na,30,f\na,40,f\nb,30,f\nb,40,f\nc,30,f\nc,30,f\n"


def test_persons_are_counted_once_and_whose_rows_are_the_same(tmp_path):
    path = tmp_path / "linked.csv"
    path.write_text(LINKED)
    found = shoal.verify(path, ["age", "sex"], person="pid", also=[(3, ["sex"]), (4, ["age"])])
    assert (found.k, found.whom, found.anonymity.k) == (2, "persons", 2)
    assert shoal.verify(path, ["sex"], person="pid").k == 3
    assert shoal.verify(path, ["sex"]).k == 6
    assert [(each.k, each.where) for each in found.links] == [(1, "by column 'pid' of the file")]
    assert [(each.asked, each.columns, each.k) for each in found.combinations] == [
        (3, ("sex",), 3),
        (4, ("age",), 2),
    ]


def test_a_larger_k_is_counted_in_parts_too(tmp_path, monkeypatch):
    path = tmp_path / "linked.csv"
    path.write_text(LINKED)
    whole = shoal.verify(path, ["age", "sex"], also=[(4, ["age"])])
    monkeypatch.setattr("shoal.verification.free_memory", lambda: 0)
    parts = shoal.verify(path, ["age", "sex"], also=[(4, ["age"])])
    assert parts.not_counted is not None
    assert parts.combinations == whole.combinations
    with pytest.raises(ShoalError, match="who"):
        shoal.verify(path, ["age"], person="who")
