import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import ShoalError
from shoal.files import Said, read
from shoal.privacy.models import LDiversity
from shoal.verification import same_groups, verify_as


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


def test_persons_are_not_counted_in_a_file_that_does_not_fit_into_memory(tmp_path, monkeypatch):
    path = tmp_path / "linked.csv"
    path.write_text(LINKED)
    with pytest.raises(ShoalError, match="pid2"):
        shoal.verify(path, ["age"], person="pid2")
    monkeypatch.setattr("shoal.verification.size_in_memory", lambda _: 10**9)
    assert shoal.verify(path, ["age"], person="pid", memory="2GB").k == 2
    with pytest.raises(ShoalError, match=r"persons are counted in memory, and .*linked\.csv is too large for it"):
        shoal.verify(path, ["age"], person="pid", memory="600MB")
    monkeypatch.setattr("shoal.verification.free_memory", lambda: 0)
    with pytest.raises(ShoalError, match="give more --memory, on a machine that has it, or leave out --person"):
        shoal.verify(path, ["age"], person="pid")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_spaces_do_not_make_another_person_in_a_file(tmp_path, suffix):
    path, ids = tmp_path / f"linked.{suffix}", ["1", " 1", "1 ", "2", "2", "2 "]
    if suffix == "csv":
        path.write_text("pid,age\n" + "".join(f"{who},30\n" for who in ids))
    else:
        table = pa.table({"pid": pa.array(ids).dictionary_encode(), "age": [30] * 6})
        pyarrow.parquet.write_table(table, path)
    found = shoal.verify(path, ["age"], person="pid")
    assert (found.k, found.links[0].k) == (2, 2)


@pytest.mark.parametrize(("gap", "rows"), [("", "2 rows"), (" NA", "2 rows"), ("?", "2 rows")])
def test_a_row_without_an_identifier_is_an_error(tmp_path, gap, rows):
    path = tmp_path / "linked.csv"
    path.write_text(f"pid,age\na,30\n{gap},30\nb,30\n{gap},30\n")
    with pytest.raises(ShoalError, match=f"column 'pid' says whose row it is, and has no value in {rows}"):
        shoal.verify(path, ["age"], person="pid")
    path.write_text(f"pid,age\na,30\n{gap},30\nb,30\n")
    with pytest.raises(ShoalError, match="no value in 1 row; give each person an identifier"):
        shoal.verify(path, ["age"], person="pid")


def test_persons_in_small_combinations_are_counted_once(tmp_path):
    path = tmp_path / "linked.csv"
    path.write_text(LINKED)
    found = shoal.verify(path, ["age", "sex"], person="pid")
    assert [found.below(k) for k in (2, 3, 4)] == [0, 2, 3]  # a and b are in both combinations
    assert [shoal.verify(path, ["age", "sex"]).below(k) for k in (2, 3, 5)] == [0, 2, 6]


@pytest.mark.parametrize(
    ("also", "message"),
    [
        ([(0, ["pid"])], "k in also must be at least 2, not 0"),
        ([(3, [])], "also names no columns"),
        ("age", "also is given as pairs"),
    ],
)
def test_a_larger_k_has_the_rules_that_it_has_in_a_release(tmp_path, also, message):
    path = tmp_path / "linked.csv"
    path.write_text(LINKED)
    with pytest.raises(ShoalError, match=message):
        shoal.verify(path, ["age"], also=also)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_groups_are_the_same_up_to_their_numbers(pairs):
    one, other = map(np.array, zip(*pairs, strict=True))
    expected = all((a == b) == (c == d) for a, c in pairs for b, d in pairs)
    assert same_groups(one, other) == expected
    assert not same_groups(one, np.append(other, 0))


def test_households_and_strata_are_counted(tmp_path):
    rows = ["5,1,11,7", "5,1,12,7", "5,2,13,7", "6,3,14,7", "6,3,15,7", "6,3,16,8"]
    (tmp_path / "t.csv").write_text("\n".join(["x,home,who,r", *rows]) + "\n")
    found = shoal.verify(tmp_path / "t.csv", "x", household="home")
    assert (found.k, found.whom, found.links[0].k) == (1, "households", 1)
    both = shoal.verify(tmp_path / "t.csv", "x", household="home", person="who")
    assert [(each.k, each.whom, each.least) for each in both.counts] == [(3, "persons", 1), (1, "households", 2)]
    assert shoal.verify(tmp_path / "t.csv", "x").k == 3
    assert shoal.verify(tmp_path / "t.csv", "x", within="r").k == 1
    assert shoal.verify(tmp_path / "t.csv", "x", within=["r"], also=[(2, ["x"])]).combinations[0].k == 1


def test_models_are_checked_also_where_a_file_is_too_large_to_be_counted_at_once(tmp_path):
    path = tmp_path / "ward.csv"
    path.write_text("age,ill\n" + "30,flu\n30,gout\n40,flu\n40,flu\n" * 20)
    for limit in (2**40, 1):
        found = verify_as(None, path, ["age"], Said(), limit, models=[LDiversity(2, on="ill")])
        assert [check.broken.tolist() for check in found.models] == [[1]]


@pytest.mark.parametrize("in_parts", [False, True])
def test_what_means_a_gap_in_any_file_can_be_said(tmp_path, monkeypatch, in_parts):
    path = tmp_path / "their.csv"
    path.write_text("age,ill\n1,flu\n1,unknown\n2,flu\n2,gout\n", encoding="utf-8")
    monkeypatch.setattr("shoal.verification.is_too_large", lambda *_: in_parts)

    def found(**said):
        (check,) = shoal.verify(path, ["age"], models=[LDiversity(2, on="ill")], **said).models
        return check.holds, check.gaps

    assert found() == (True, 0)
    assert found(gap_values=["unknown"]) == found(gap_values={"ill": ["unknown"]}) == (False, 1)
    assert found(gap_values={"age": ["unknown"]}) == (True, 0)
    with pytest.raises(ShoalError, match="gap_values for 'size', which is neither a quasi-identifier nor of a"):
        found(gap_values={"size": ["unknown"]})


def test_what_means_a_gap_in_any_file_can_be_said_on_the_command_line(tmp_path, run):
    path = tmp_path / "their.csv"
    path.write_text("age,ill\n1,flu\n1,unknown\n2,flu\n2,gout\n", encoding="utf-8")
    asked = f"verify {path} -q age --l-diversity ill=2"
    assert run(asked)[0] == 0
    status, out, _ = run(f"{asked} --gap-values ill=unknown")
    assert (status, "Values missing: 1" in out) == (1, True)
