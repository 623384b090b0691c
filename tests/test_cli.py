import csv
import gzip
import json
import os
import shlex
import signal
import subprocess
import sys
from itertools import count, pairwise

import pyarrow as pa
import pyarrow.parquet
import pytest

import shoal
from shoal import cli, signals
from shoal.progress import LogLines

CSV = "name,age,weight,diagnosis\nAda,31,61.5,flu\nBen,33,64.0,none\nCleo,62,80.2,gout\nDan,29,59.9,flu\nEve,65,77.7,none\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(CSV)
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


RELEASED = ["31,62,flu", "31,62,flu", "31,62,none", "64,79,gout", "64,79,none"]
GOOD = "anonymize people.csv -k 2 -q age,weight -c diagnosis -i name -o safe.csv"


def test_a_table_in_and_a_verified_release_out(folder, run):
    status, out, err = run(f"{GOOD} --report safe.html")
    assert (status, err) == (0, "")
    assert "5 records in 2 groups of 2 to 3 (Auto)" in out
    assert "chosen: Optimal; up to 28 records the optimum is proven in a second" in out
    assert "verified on the bytes written: k = 2 (asked for 2)" in out
    header, *rows = (folder / "safe.csv").read_text().splitlines()
    assert (header, sorted(rows)) == ("age,weight,diagnosis", RELEASED)
    assert "<svg" in (folder / "safe.html").read_text()
    assert run("verify safe.csv -q age,weight -k 2")[0] == 0
    status, out, _ = run("verify safe.csv -q age,weight -k 3")
    assert status == 1
    assert "No, the file is not 3-anonymous: 2 records are in smaller groups." in out


def test_what_a_command_says_in_tests_does_not_depend_on_the_machine(folder, run, monkeypatch):
    minutes = count(0, 60)
    monkeypatch.setattr(LogLines.__init__, "__defaults__", (lambda: float(next(minutes)),))
    status, _, err = run(GOOD)
    assert (status, err) == (0, "")
    assert next(minutes) >= 120  # the clock was looked at more than once


def test_census_loses_what_was_published(shared, folder, run):
    path = shared / "data" / "census.csv"
    columns = path.read_text().splitlines()[0]
    status, out, err = run(f"anonymize {path} -k 3 -q {columns} -o c.csv --report c.html --method mdav")
    assert (status, err) == (0, "")
    assert "information loss: 5.69 %" in out
    assert ">5.69 %<" in (folder / "c.html").read_text()
    assert "the smallest has 3" in run(f"verify c.csv -q {columns} -k 3")[1]


def test_standard_input_and_output(folder, run):
    status, out, err = run("anonymize - -k 2 -q age,weight -c diagnosis -i name -o -", CSV.encode())
    assert status == 0
    header, *rows = out.splitlines()
    assert (header, sorted(rows)) == ("age,weight,diagnosis", RELEASED)
    assert "verified on the bytes written" in err
    assert sorted(os.listdir(folder)) == ["people.csv"]


def test_the_order_of_the_rows_is_random_that_of_a_key_or_that_of_the_input(folder, run):
    line = "anonymize - -k 2 -q age,weight -c diagnosis -i name -o -"
    orders = {run(line, CSV.encode())[1] for _ in range(30)}
    assert 1 < len(orders) <= 30
    assert {tuple(sorted(out.splitlines()[1:])) for out in orders} == {tuple(RELEASED)}
    status, out, err = run(f"{line} --key 000102030405060708090A0B0C0D0E0F", CSV.encode())
    assert status == 0, err
    assert out.splitlines()[1:] == ["31,62,flu", "64,79,gout", "64,79,none", "31,62,none", "31,62,flu"]
    assert "order of the rows: random, by a secret key\n" in err
    assert "0102" not in err
    status, out, err = run(f"{line} --keep-order", CSV.encode())
    assert status == 0
    assert out.splitlines()[1:] == ["31,62,flu", "31,62,none", "64,79,gout", "31,62,flu", "64,79,none"]
    assert "shoal: warning: the rows are written in the order of the input (keep_order); whoever knows" in err
    assert "order of the rows: that of the input\n" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--keep-order --key 000102030405060708090a0b0c0d0e0f", "keep_order and key contradict each other"),
        ("--key secret", "key must have 32 hexadecimal digits (0 to 9, a to f) and nothing else; these are 6"),
    ],
)
def test_a_key_that_is_none_or_of_no_use_is_an_error_that_does_not_repeat_it(folder, run, options, message):
    status, _, err = run(f"{GOOD} {options}")
    assert (status, message in err) == (2, True)
    assert "secret" not in err
    assert names(folder) == ["people.csv"]


def test_a_recipe_repeats_the_order_of_the_rows(folder, run):
    assert run(GOOD)[0] == 0
    assert run("anonymize --recipe safe.csv.manifest.json -o again.csv")[0] == 0
    assert (folder / "again.csv").read_bytes() == (folder / "safe.csv").read_bytes()
    manifest = json.loads((folder / "safe.csv.manifest.json").read_text())
    (folder / "bare.json").write_text(json.dumps(manifest | {"key": None}))
    status, _, err = run("anonymize --recipe bare.json -o bare.csv")
    assert (status, "the recipe has no key, so the order of its rows cannot be repeated" in err) == (2, True)


def test_quiet_and_json(folder, run):
    assert run(f"{GOOD} --quiet") == (0, "", "")
    status, out, err = run("anonymize people.csv -k 2 -q age -o safe.csv --json --overwrite --seed 0")
    said = json.loads(out)
    assert (status, err, said["verified_k"]) == (0, "", 2)
    assert said["manifest"]["random_state"] == 0
    assert "without a role" in said["warnings"][0]
    assert json.loads(run("verify safe.csv -q age -k 9 --json")[1])["below"] == 5
    assert run("verify safe.csv -q age --quiet") == (0, "", "")
    assert json.loads(run("inspect people.csv --json")[1])["records"] == 5
    shown = {row["name"]: row for row in json.loads(run("methods --json")[1])}
    assert shown["vmdav"]["parameters"] == {"gamma": 0.2}
    assert [row["family"] for row in shown.values()] == sorted(
        (row["family"] for row in shown.values()), key=("everyday", "literature", "around another method").index
    )


def test_options_reach_the_library(folder, run):
    line = f"{GOOD} --json --scaling range --attribute-weight age=2.5 --aggregate median --exact --method mdav"
    manifest = json.loads(run(line)[1])["manifest"]
    assert manifest["scaling"] == "range"
    assert manifest["attribute_weights"] == {"age": 2.5}
    assert manifest["aggregate"] == "median"
    assert manifest["exact"] is True


def test_digits_are_given_for_all_columns_or_for_some_and_repeated_by_a_recipe(folder, run):
    (folder / "t.csv").write_text("x,y\n" + "".join(f"{i / 3!r},{100 * i}\n" for i in range(8)))
    line = "anonymize t.csv -k 4 -q x,y -o t.out.csv -f --json"
    for given, asked, used in (
        ("", None, {"x": 1}),
        ("--digits 0", 0, {"x": 0, "y": 0}),
        ("--digits y=-3 --digits x=0", {"y": -3, "x": 0}, {"x": 0, "y": -3}),
        ("--digits -3", -3, {"x": -3, "y": -3}),
    ):
        status, out, err = run(f"{line} {given}")
        assert status == 0, err
        assert json.loads(out)["manifest"]["digits"] == {"asked": asked, "used": used}
        assert run("anonymize --recipe t.out.csv.manifest.json -o again.csv -f")[0] == 0
    for given, message in (
        ("--digits x=1 --exact", "exact and digits contradict each other"),
        ("--digits z=1", "digits for 'z', which is no quasi-identifier"),
        ("--digits y=1", "column 'y' came with 0 decimals"),
        ("--digits many", "digits are given as"),
    ):
        status, _, err = run(f"{line} {given}")
        assert (status, message in err) == (2, True)
    assert "can compute the last one" in run(f"{line.removesuffix(' --json')} --exact")[2]


def test_a_table_that_needs_more_memory_than_is_free_is_refused(folder, run, monkeypatch):
    monkeypatch.setattr("shoal.files.memory.free_memory", lambda: 10**6)
    monkeypatch.setattr("shoal.files.memory.resident_memory", lambda: 0)
    status, out, err = run(GOOD)
    assert (status, out) == (2, "")
    assert "people.csv needs about 330 MB of memory and 1 MB can be had now; give --memory" in err
    assert err.count("\n") == 1
    assert not (folder / "safe.csv").exists()


def test_parameters_reach_the_method(folder, run):
    for method, given, expected in (
        ("vmdav", "-p gamma=1.5", {"gamma": 1.5}),
        ("tfrp", "-p phases=1", {"phases": 1}),
        ("mdav", "-p until=3k", {"until": "3k"}),
    ):
        status, out, err = run(f"{GOOD} --method {method} {given} --json -f")
        assert status == 0, err
        assert json.loads(out)["manifest"]["method"]["parameters"] == {"k": 2} | expected
        assert run("anonymize --recipe safe.csv.manifest.json -o again.csv -f")[0] == 0


def test_a_dialect_may_be_given(folder, run):
    (folder / "odd.txt").write_bytes("age:weight\n'1':2,5\n'2':3,5\n".encode("utf-16-le"))
    line = 'anonymize odd.txt -k 2 -q age,weight -o - --delimiter : --quote "\'" --encoding utf-16-le --decimal ,'
    status, out, err = run(line)
    assert status == 0, err
    assert out.replace("\0", "") == "age:weight\n2:3,0\n2:3,0\n"
    (folder / "tab.csv").write_text("a\tb\n1\t2\n1\t2\n")
    assert run(r"verify tab.csv -q a,b -k 2 --delimiter \\t")[0] == 0


def test_a_recipe_repeats_a_release_to_the_same_bytes(folder, run):
    assert run(f"{GOOD} --attribute-weight age=2")[0] == 0
    assert run("anonymize --recipe safe.csv.manifest.json -o again.csv")[0] == 0
    assert (folder / "again.csv").read_bytes() == (folder / "safe.csv").read_bytes()
    assert run("anonymize people.csv --recipe safe.csv.manifest.json -o third.csv")[0] == 0
    status, _, err = run("anonymize people.csv --recipe safe.csv.manifest.json -o other.parquet")
    assert status == 1
    assert "differs from the one in the recipe" in err
    status, _, err = run("anonymize -k 3 --recipe safe.csv.manifest.json -o x.csv")
    assert (status, "leave out k" in err) == (2, True)
    (folder / "people.csv").write_text(CSV.replace("31", "32"))
    status, _, err = run("anonymize --recipe safe.csv.manifest.json -o x.csv")
    assert (status, "not the input of the recipe" in err) == (2, True)
    (folder / "people.csv").unlink()
    status, _, err = run("anonymize --recipe safe.csv.manifest.json -o x.csv")
    assert (status, "'people.csv' is not here" in err) == (2, True)
    assert not (folder / "x.csv").exists()


def test_inspect_suggests_a_command_that_works(folder, run):
    status, out, _ = run("inspect people.csv")
    assert status == 0
    assert "5 of them (100 %) are unique" in out
    (folder / "people.csv").rename("my people.csv")
    _, out, _ = run("inspect 'my people.csv'")
    suggested = out.splitlines()[-1].strip().removeprefix("shoal ").replace("-k 5", "-k 2")
    assert run(suggested)[0] == 0
    (folder / "text.csv").write_text("a,b\nx,y\nx,z\n")
    status, out, _ = run("inspect text.csv --header")
    assert (status, "No column is suggested as a quasi-identifier" in out) == (0, True)


def test_the_command_that_inspect_prints_leaves_no_column_without_a_role(folder, run):
    rows = [f"{20 + i % 40};{'a,b'[i % 3]};{'xy'[i % 2]};7;{i % 2};1,{i % 7}" for i in range(60)]
    (folder / "odd.txt").write_text("age;the city;the, job;one;class;dose\n" + "\n".join(rows).replace(",b", ".b"))
    status, out, err = run(r"inspect odd.txt --memory 600MB --decimal ,")
    assert (status, err) == (0, "")
    command = out.splitlines()[-1].strip()
    assert command == (
        "shoal anonymize odd.txt --decimal , --memory 600MB -k 5 -q 'age,the city,\"the, job\",dose' -c class "
        "-o safe.csv --report safe.html"
    )
    status, out, err = run(command.removeprefix("shoal ").replace(" --memory 600MB", "") + " --strict")
    assert status == 0, err
    assert (folder / "safe.csv").read_text().splitlines()[0] == "age;the city;the, job;one;class;dose"


def test_the_command_that_inspect_prints_says_what_is_needed_about_columns(folder, run):
    rows = [
        f"{20 + i % 40},{('f', 'm', '?', 'f')[i % 4]},{(11, 12, 21)[i % 3]},{-9 if i % 9 == 0 else 60 + i % 30},"
        f"{('1', '2', '2b')[i % 3]},{'no answer' if i % 5 == 0 else i % 7}"
        for i in range(90)
    ]
    (folder / "odd.csv").write_text('age,sex,region,weight,"plot, no. 1",children\n' + "\n".join(rows))
    _, out, _ = run("inspect odd.csv")
    *_, why, _, command = out.splitlines()
    assert "missing" in out
    assert "22 (?)" in out
    assert why.startswith("--gaps blank: fewer than 5 records have some patterns of gaps")
    assert command.strip() == (
        "shoal anonymize odd.csv -k 5 -q 'age,sex,region,weight,\"plot, no. 1\",children' --kind region=nominal "
        "--kind 'plot, no. 1=nominal' --gap-values weight=-9 --gap-values 'children=no answer' --gaps blank "
        "-o safe.csv --report safe.html"
    )
    status, _, err = run(command.strip().removeprefix("shoal ") + " --strict")
    assert (status, err) == (0, "")
    found = json.loads(run("inspect odd.csv --json")[1])
    assert found["options"]["kinds"] == {"region": "nominal", "plot, no. 1": "nominal"}
    assert [column["kind"] for column in found["columns"]][-2:] == ["mixed", "mixed"]
    assert found["columns"][1]["gaps"] == {"?": 22}


def test_the_command_for_a_large_file_does_not_keep_patterns_of_gaps_apart(folder, run, monkeypatch):
    (folder / "t.csv").write_text("age,sex\n" + "".join(f"{20 + i % 9},{'fm?'[i % 3]}\n" for i in range(60)))
    assert run("inspect t.csv")[1].splitlines()[-1].count("--gaps pattern") == 1
    monkeypatch.setattr("shoal.cli.is_streamed", lambda *_: True)
    *_, why, _, command = run("inspect t.csv")[1].splitlines()
    assert why == "--gaps value: a gap is a value of its own, because a large file is grouped in several blocks."
    assert "--gaps value" in command


def test_adult_by_the_command_that_inspect_prints_is_released_strictly(shared, folder, run):
    out = run(f"inspect {shared / 'data' / 'adult.csv.gz'}")[1]
    command = shlex.split(out.splitlines()[-1])
    given = dict(pairwise(command))
    assert given["-q"].split(",") == [
        *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
        *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
    ]
    assert (given["-c"], given["--gaps"]) == ("income", "pattern")
    status, _, err = run(f"{shlex.join(command[1:]).replace(' --report safe.html', '')} --strict --method mdav")
    assert status == 0, err
    assert "'capital-gain' holds 99999 in 244 records" in err


def test_inspect_says_how_much_memory_it_needs(folder, run):
    status, _, err = run("inspect people.csv --memory 1MB")
    assert (status, "memory must be at least 512 MB" in err) == (2, True)
    status, _, err = run("inspect - --memory 1GB", CSV.encode())
    assert (status, "standard input" in err) == (2, True)
    assert json.loads(run("inspect - --json", CSV.encode())[1])["records"] == 5


def test_names_with_commas_and_repeated_options(folder, run):
    (folder / "odd.csv").write_text('"last, first",a,b\n1,2,3\n2,3,4\n')
    status, out, err = run("""anonymize odd.csv -k 2 -q '"last, first",a' -q b -o -""")
    assert status == 0, err
    assert out.splitlines()[0] == '"last, first",a,b'


def test_an_unnamed_column_can_be_dropped(folder, run):
    (folder / "idx.csv").write_text(",age,d\n0,31,a\n1,32,b\n")
    status, out, err = run("anonymize idx.csv -k 2 -q age -c d -i '' -o -")
    assert status == 0, err
    header, *rows = out.splitlines()
    assert (header, sorted(rows)) == ("age,d", ["32,a", "32,b"])
    _, _, err = run("anonymize idx.csv -k 2 -q age -c d -o -")
    assert "released as they are: '';" in err


def test_methods_help_and_version(run):
    status, out, _ = run("")
    assert status == 0
    assert "Commands:" in out
    assert "mdav" in run("methods")[1]
    assert run("--version")[1] == f"shoal {shoal.__version__}\n"
    status, out, _ = run("--help")
    assert status == 0
    assert "anonymize" in out


def test_the_demo_runs_from_end_to_end(folder, run):
    status, out, _ = run("demo --folder demo")
    assert status == 0
    assert "k = 5 (asked for 5)" in out
    assert sorted(os.listdir("demo")) == [
        "patients.csv",
        "release.csv",
        "release.csv.manifest.json",
        "report.html",
    ]
    status, _, err = run("demo --folder demo")
    assert (status, "exists already" in err) == (2, True)
    assert run("demo --folder demo --overwrite")[0] == 0


def test_every_format_goes_in_and_out(folder, run):
    for name in ("a.parquet", "a.arrow", "a.tsv", "a.csv.gz"):
        assert run(f"anonymize people.csv -k 2 -q age,weight -c diagnosis -i name -o {name} --keep-order")[0] == 0
        assert run(f"verify {name} -q age,weight -k 2")[0] == 0
    status, _out, _ = run("anonymize a.parquet -k 2 -q age,weight -c diagnosis -o b.csv --keep-order")
    assert status == 0
    assert (folder / "b.csv").read_text() == gzip.decompress((folder / "a.csv.gz").read_bytes()).decode()


REST = "-q age -c weight,diagnosis -i name -o out.csv"
BAD = {
    "a missing file": (f"anonymize none.csv -k 2 {REST}", "there is no file none.csv"),
    "a folder": (f"anonymize . -k 2 {REST}", "is a folder"),
    "a picture": (
        f"anonymize picture.csv -k 2 {REST}",
        "picture.csv is not a CSV file: it holds binary data",
    ),
    "prose": (f"anonymize prose.csv -k 2 {REST}", "prose.csv is not a readable CSV file"),
    "a column that is not there": (
        "anonymize people.csv -k 2 -q agee -o out.csv",
        "there is no column 'agee'; did you mean 'age'?",
    ),
    "a column in two roles": (
        "anonymize people.csv -k 2 -q age -c age -o out.csv",
        "column 'age' has two roles",
    ),
    "a column listed twice": (
        "anonymize people.csv -k 2 -q age,age -o out.csv",
        "column 'age' is listed twice as a quasi-identifier",
    ),
    "two columns that are no numbers": (
        "anonymize bad.csv -k 2 -q text,huge -o out.csv",
        "say --kind text=nominal if these are categories; also quasi-identifier 'huge' holds infinity (row 2)",
    ),
    "no quasi-identifier": ("anonymize people.csv -k 2 -o out.csv", "no quasi-identifier"),
    "text": (
        "anonymize people.csv -k 2 -q diagnosis --kind diagnosis=numeric -o out.csv",
        "'diagnosis' holds text such as 'flu' (rows 1, 2, 3, 4, 5)",
    ),
    "text in one row": (
        "anonymize bad.csv -k 2 -q text -o out.csv",
        "'text' holds text such as 'x' beside numbers (row 2)",
    ),
    "NaN": ("anonymize bad.csv -k 2 -q holes -o out.csv", "'holes' holds missing values (rows 1, 3)"),
    "an empty value": ("anonymize bad.csv -k 2 -q gap -o out.csv", "'gap' holds missing values (row 1)"),
    "infinity": ("anonymize bad.csv -k 2 -q huge -o out.csv", "'huge' holds infinity (row 2)"),
    "k of 0": (f"anonymize people.csv -k 0 {REST}", "k must be at least 1, not 0"),
    "k of -1": (f"anonymize people.csv -k -1 {REST}", "k must be at least 1, not -1"),
    "k of 2.5": (f"anonymize people.csv -k 2.5 {REST}", "k must be a whole number of at least 1, not '2.5'"),
    "k of x": (f"anonymize people.csv -k x {REST}", "k must be a whole number of at least 1, not 'x'"),
    "k above n": (
        f"anonymize people.csv -k 6 {REST}",
        "k=6 is more than there are records (5); choose k <= 5",
    ),
    "no k": (f"anonymize people.csv {REST}", "k is missing"),
    "an empty file": (f"anonymize empty.csv -k 2 {REST}", "empty.csv is empty"),
    "a header only": (f"anonymize header.csv -k 2 {REST}", "header.csv has a header but no records"),
    "an empty Parquet file": ("anonymize empty.parquet -k 2 -q age -o out.csv", "the table is empty"),
    "duplicate column names": (f"anonymize twice.csv -k 2 {REST}", "two columns of the same name: 'age'"),
    "a broken Parquet file": (
        f"anonymize broken.parquet -k 2 {REST}",
        "broken.parquet is not a readable Parquet file",
    ),
    "a broken gzip file": (f"anonymize broken.csv.gz -k 2 {REST}", "not a readable gzip file"),
    "a ragged file": (f"anonymize ragged.csv -k 2 {REST}", "row 1 has 2 fields where the header has 3"),
    "a folder that does not exist": (
        "anonymize people.csv -k 2 -q age -o none/out.csv",
        "the folder none does not exist",
    ),
    "a report in a folder that does not exist": (
        f"anonymize people.csv -k 2 {REST} --report none/r.html",
        "the folder none does not exist",
    ),
    "an output that exists": ("anonymize people.csv -k 2 -q age -o old.csv", "old.csv exists already"),
    "a folder as output": ("anonymize people.csv -k 2 -q age -o folder.csv", "it is a folder"),
    "an unnamed identifier that is not there": (
        "anonymize people.csv -k 2 -q age -i '' -o out.csv",
        "no column ''",
    ),
    "output equal to input": ("anonymize people.csv -k 2 -q age -o ./people.csv --overwrite", "is the input"),
    "report equal to input": (f"anonymize people.csv -k 2 {REST} --report people.csv -f", "is the input"),
    "report equal to output": (
        f"anonymize people.csv -k 2 {REST} --report out.csv",
        "both the release and the report",
    ),
    "an output without a format": (
        "anonymize people.csv -k 2 -q age -o out.xlsx",
        "cannot tell the format of out.xlsx",
    ),
    "a dot as output": ("anonymize people.csv -k 2 -q age -o .", "is not the name of a file"),
    "nothing as output": ("anonymize people.csv -k 2 -q age -o ''", "is not the name of a file"),
    "a name too long": (f"anonymize people.csv -k 2 -q age -o {'x' * 300}.csv", "name too long"),
    "a report to standard output": (f"anonymize people.csv -k 2 {REST} --report -", "not to standard output"),
    "two delimiters": (f"anonymize people.csv -k 2 {REST} --delimiter ;;", "delimiter must be one character"),
    "no delimiter": (f"anonymize people.csv -k 2 {REST} --delimiter ''", "delimiter must be one character"),
    "a parameter that is not there": (
        f"anonymize people.csv -k 2 {REST} --method vmdav -p gama=1",
        "VMDAV has no parameter 'gama'; did you mean 'gamma'?",
    ),
    "k as a parameter": (f"anonymize people.csv -k 2 {REST} -p k=3", "Auto has no parameter 'k'; it has"),
    "a parameter without a value": (
        f"anonymize people.csv -k 2 {REST} -p gamma",
        "a parameter is given as name=value",
    ),
    "a parameter with a wrong value": (
        f"anonymize people.csv -k 2 {REST} --method vmdav -p gamma=x",
        "gamma must be a number of at least 0, not 'x'",
    ),
    "two weights": (
        f"anonymize people.csv -k 2 {REST} --attribute-weight age=1 --attribute-weight age=2",
        "two weights for 'age'",
    ),
    "an open quote": ("""anonymize people.csv -k 2 -q '"age' -o out.csv""", "cannot read the column names"),
    "no method": (f"anonymize people.csv -k 2 {REST} --method ''", "there is no method ''"),
    "a file as folder": ("demo --folder people.csv", "cannot make the folder people.csv"),
    "no output": ("anonymize people.csv -k 2 -q age", "no output"),
    "no input": ("anonymize -k 2 -q age -o out.csv", "no input"),
    "an unknown method": (
        f"anonymize people.csv -k 2 {REST} --method mdva",
        "no method 'mdva'; did you mean 'mdav'?",
    ),
    "an unknown scaling": (f"anonymize people.csv -k 2 {REST} --scaling z", "scaling must be one of zscore"),
    "a weight without a number": (f"anonymize people.csv -k 2 {REST} --attribute-weight age", "column=number"),
    "a weight for nothing": (
        f"anonymize people.csv -k 2 {REST} --attribute-weight diagnosis=1",
        "is no quasi-identifier",
    ),
    "an unknown option": (f"anonymize people.csv -k 2 {REST} --bogus", "No such option"),
    "an unknown command": ("anonymise people.csv", "No such command"),
    "a seed that is no number": (f"anonymize people.csv -k 2 {REST} --seed x", "the seed must be a whole number"),
    "an unknown encoding": (f"anonymize people.csv -k 2 {REST} --encoding utf-9", "unknown encoding 'utf-9'"),
    "a delimiter for Parquet": (
        "anonymize empty.parquet -k 2 -q age -o out.csv --delimiter ,",
        "has no delimiter",
    ),
    "a recipe that is none": ("anonymize --recipe people.csv -o out.csv", "is not a manifest of Shoal"),
    "verify without columns": ("verify people.csv -k 2", "no quasi-identifier"),
    "verify a column that is not there": ("verify people.csv -q agee", "did you mean 'age'?"),
    "inspect nothing": ("inspect none.csv", "there is no file none.csv"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_line_status_2_and_writes_nothing(folder, run, case):
    line, message = BAD[case]
    files = {
        "picture.csv": b"\x89PNG\r\n\x1a\n\x00\x00\x00",
        "prose.csv": b"Dear all,\nplease find the data, the report, and the rest below.\n",
        "bad.csv": b"text,holes,gap,huge\n1,NaN,,1\nx,2,2,-Infinity\n3,nan,3,3\n",
        "empty.csv": b"",
        "header.csv": b"name,age\n",
        "twice.csv": b"age,name,age\n1,2,3\n",
        "broken.parquet": b"PAR1 but then nothing",
        "broken.csv.gz": b"\x1f\x8b nothing",
        "ragged.csv": b"name,age,weight\nAda,31\n",
        "old.csv": b"precious",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / "folder.csv").mkdir()
    pa.parquet.write_table(pa.table({"age": pa.array([], pa.int64())}), folder / "empty.parquet")
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    status, out, err = run(line)
    complaints = [said for said in err.splitlines() if not said.startswith("shoal: warning: ")]
    assert status == 2
    assert message.lower() in err.lower()
    assert len(complaints) == 1
    assert complaints[0].startswith("shoal: ")
    assert out == ""
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(folder, run):
    (folder / "shut").mkdir(mode=0o500)
    status, _, err = run("anonymize people.csv -k 2 -q age -o shut/out.csv")
    assert (status, "not writable" in err) == (2, True)


def test_a_folder_that_the_system_says_is_shut(folder, run, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    status, _, err = run(GOOD)
    assert (status, "is not writable" in err) == (2, True)


def test_an_interrupt_says_so_in_one_line(folder, run, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("shoal.methods.mdav.Peeling", interrupt)
    status, out, err = run(f"{GOOD} --method mdav")
    assert (status, out, err) == (130, "", "shoal: interrupted; nothing was left half written\n")
    assert not (folder / "safe.csv").exists()


def test_both_editions_of_the_report_are_written_with_the_release(folder, run):
    status, out, _ = run(f"{GOOD} --report safe.html --public-report public.html --method mdav")
    assert status == 0
    assert "report:   safe.html (keep it private: it shows the original data)" in out
    assert "report:   public.html (it may be published)" in out
    assert "not for publication" in (folder / "safe.html").read_text("utf-8")
    assert "not for publication" not in (folder / "public.html").read_text("utf-8")
    status, out, _ = run(f"{GOOD} --public-report public.html --method mdav --json -f")
    assert (json.loads(out)["report"], json.loads(out)["public_report"]) == (None, "public.html")
    status, _, err = run(f"{GOOD} --report one.html --public-report one.html -f")
    assert (status, "both editions of the report" in err) == (2, True)
    for taken, words in (("people.csv", "is the input"), ("safe.csv", "both the release and the report")):
        status, _, err = run(f"{GOOD} --public-report {taken} -f")
        assert (status, words in err) == (2, True)


def test_a_public_report_stands_beside_standard_output(folder, run):
    status, _, _ = run(f"{GOOD.replace('safe.csv', '-')} --public-report public.html --method mdav")
    assert status == 0
    assert "Public edition" in (folder / "public.html").read_text("utf-8")


def test_a_report_that_cannot_be_written_leaves_no_release(folder, run, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shoal.report.released.render", full)
    status, out, err = run(f"{GOOD} --report safe.html --method mdav")
    assert (status, out) == (2, "")
    assert err == "shoal: cannot write safe.html: No space left on device; nothing was written\n"
    assert sorted(os.listdir(folder)) == ["people.csv"]


def test_a_bug_is_one_line_too_and_its_traceback_can_be_had(folder, run, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("oh\nno")

    monkeypatch.setattr("shoal.methods.mdav.Peeling", fail)
    monkeypatch.delenv("SHOAL_DEBUG", raising=False)
    command = f"{GOOD} --method mdav"
    status, _, err = run(command)
    assert status == 70
    assert len(err.splitlines()) == 1
    assert "RuntimeError: oh no" in err
    monkeypatch.setenv("SHOAL_DEBUG", "1")
    monkeypatch.setattr(sys, "argv", ["shoal", *shlex.split(command)])
    with pytest.raises(RuntimeError):
        cli.main()


def test_running_out_of_memory_is_said_so(folder, run, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("shoal.methods.mdav.Peeling", fail)
    status, _, err = run(f"{GOOD} --method mdav")
    assert (status, "out of memory" in err) == (2, True)


def test_a_progress_bar_on_a_terminal_only(monkeypatch):
    with cli.progress_bar(hidden=False) as progress:
        assert isinstance(progress, LogLines)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with cli.progress_bar(hidden=False) as progress:
        progress(1, 2)
    with cli.progress_bar(hidden=True) as progress:
        assert progress is None


def test_the_installed_command_in_a_real_pipe(folder):
    command = f"{shlex.quote(sys.executable)} -m shoal"
    line = f"cat people.csv | {command} anonymize - -k 2 -q age,weight -c diagnosis -i name -o - | head -n 1"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout == "age,weight,diagnosis\n"
    assert "Traceback" not in done.stderr
    bad = subprocess.run(
        f"{command} anonymize none.csv -k 2 -q a -o b.csv", shell=True, capture_output=True, text=True
    )
    assert (bad.returncode, bad.stdout, bad.stderr) == (2, "", "shoal: there is no file none.csv\n")


@pytest.fixture
def too_large(monkeypatch):
    """Every table is too large for memory."""
    monkeypatch.setattr("shoal.stream.run.size_in_memory", lambda _: 10**15)


def test_a_table_larger_than_memory_is_streamed(folder, run, monkeypatch, same_key):
    assert run(GOOD)[0] == 0
    monkeypatch.setattr("shoal.stream.run.size_in_memory", lambda _: 10**15)
    status, out, err = run(f"{GOOD.replace('safe', 'streamed')} --memory 1GB")
    assert (status, err) == (0, "")
    assert "5 records in 2 groups of 2 to 3 (Auto)" in out
    assert "chosen: Optimal; up to 28 records the optimum is proven in a second" in out
    assert "verified on the bytes written: k = 2 (asked for 2)" in out
    assert (folder / "streamed.csv").read_bytes() == (folder / "safe.csv").read_bytes()
    status, out, _ = run(f"{GOOD} --overwrite --json")
    assert json.loads(out)["manifest"]["figures"]["records"]["value"] == 5


def test_an_interrupted_stream_is_gone_on_with(folder, run, too_large, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("shoal.stream.run.ReleaseWriter.write", interrupt)
        status, _, err = run(GOOD)
    assert status == 130
    assert "nothing was left half written; run the same command again to resume" in err
    assert not (folder / "safe.csv").exists()
    status, out, err = run(GOOD)
    assert "resuming the unfinished work" in err
    assert "1 of 1 blocks" in err
    assert (status, "k = 2" in out) == (0, True)


def test_the_command_that_inspect_prints_suits_a_table_of_few_records(folder, run):
    (folder / "few.csv").write_text("age,weight\n31,60.5\n44,71.5\n27,58.0\n")
    _, out, _ = run("inspect few.csv")
    command = next(line.strip() for line in out.splitlines() if "shoal anonymize" in line)
    assert " -k 3 " in command
    assert run(f"{command.removeprefix('shoal ')} --strict")[0] == 0


def test_a_limit_that_cannot_be_honoured_is_an_error(folder, run):
    assert run("anonymize people.csv -k 2 -q age,weight -c diagnosis -i name -o a.csv --method mdav")[0] == 0
    status, _, err = run("anonymize --recipe a.csv.manifest.json --memory 600MB -o b.csv")
    assert (status, "the recipe fixes the number of blocks; leave out --memory" in err) == (2, True)
    status, _, err = run("verify - -q age --memory 600MB")
    assert (status, "standard input cannot be read in parts" in err) == (2, True)


def test_a_file_that_came_while_the_stream_ran_survives_the_same_command(folder, run, too_large, monkeypatch):
    real = shoal.stream.run.ReleaseWriter.write

    def plant(*given):
        (folder / "safe.csv").write_text("somebody else's")
        real(*given)

    monkeypatch.setattr("shoal.stream.run.ReleaseWriter.write", plant)
    for _ in range(3):
        status, _, err = run(f"{GOOD} --quiet")
        assert (status, err) == (
            2,
            "shoal: safe.csv exists already; choose another name or ask to overwrite it (--overwrite)\n",
        )
        assert (folder / "safe.csv").read_text() == "somebody else's"
        assert not (folder / "safe.csv.manifest.json").exists()
    assert run(f"{GOOD} --quiet -f")[0] == 0
    assert names(folder) == ["people.csv", "safe.csv", "safe.csv.manifest.json"]


def test_a_stream_killed_when_all_has_its_name_is_ended_by_the_same_command(folder, run, too_large, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("shoal.stream.run.Work.remove", lambda self: None)
        assert run(GOOD)[0] == 0
    before = (folder / "safe.csv").stat()
    assert ".safe.csv.shoal" in names(folder)
    status, _, err = run(f"{GOOD} --quiet")
    assert (status, err) == (0, "")
    assert (folder / "safe.csv").stat()[:2] == before[:2]
    assert (folder / "safe.csv").stat().st_mtime_ns == before.st_mtime_ns
    assert names(folder) == ["people.csv", "safe.csv", "safe.csv.manifest.json"]


def test_after_an_interrupt_that_was_honoured_a_fault_is_a_fault(folder, run, monkeypatch):
    def interrupt(*_):
        signals.stop(signal.SIGINT, None)

    def fail(*_):
        raise ValueError("a fault")

    monkeypatch.setattr(signals, "_asked", [])
    monkeypatch.setattr("shoal.methods.refined.Refining.anneal", interrupt)
    monkeypatch.setattr("shoal.cli.write_release", fail)
    status, _, err = run(f"{GOOD} --method refined")
    assert (status, "interrupted: these are the best" in err, "ValueError: a fault" in err) == (70, True, True)


def test_asked_for_a_traceback_an_interrupt_does_not_hide_it(folder, run, monkeypatch):
    monkeypatch.setattr(signals, "_asked", [signal.SIGINT])
    monkeypatch.setattr("shoal.cli.app", lambda **_: int("half of an import"))
    assert run("methods")[0] == 130
    monkeypatch.setenv("SHOAL_DEBUG", "1")
    with pytest.raises(ValueError, match="half of an import"):
        run("methods")


def test_a_recipe_of_blocks_is_repeated_in_blocks(folder, run):
    given = {"quasi_identifiers": ["age", "weight"], "confidential": ["diagnosis"], "identifiers": ["name"]}
    (folder / "people.csv").write_text(CSV + CSV.split("\n", 1)[1])
    shoal.anonymize_file("people.csv", "blocks.csv", k=2, blocks=2, **given)
    status, out, _ = run("anonymize --recipe blocks.csv.manifest.json -o again.csv")
    assert (status, "2 blocks" in out) == (0, True)
    assert (folder / "again.csv").read_bytes() == (folder / "blocks.csv").read_bytes()
    (folder / "people.csv").write_text(CSV + "Finn,64,82.5,gout\n")
    status, _, err = run("anonymize --recipe blocks.csv.manifest.json -o third.csv")
    assert (status, "its hash is different" in err) == (2, True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{GOOD} --memory 1MB", "memory must be at least 512 MB"),
        (f"{GOOD} --memory much", "memory is given as"),
        (GOOD.replace("safe.csv", "-") + " --memory 1GB", "cannot be streamed"),
    ],
)
def test_what_cannot_be_streamed_says_what_to_do(folder, run, too_large, line, message):
    status, _, err = run(line)
    assert (status, message in err) == (2, True)
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv"]


def test_a_streamed_table_has_both_editions_of_the_report(folder, run, too_large):
    status, out, _ = run(f"{GOOD} --report safe.html --public-report public.html --method mdav")
    assert status == 0
    assert "report:   safe.html (keep it private: it shows the original data)" in out
    assert "Owner" in (folder / "safe.html").read_text("utf-8")
    assert "Public edition" in (folder / "public.html").read_text("utf-8")


def test_a_certificate_is_printed_and_recorded(folder, run):
    status, out, _ = run(f"{GOOD} --certificate 1")
    assert status == 0
    manifest = json.loads((folder / "safe.csv.manifest.json").read_text())
    assert f"certificate: {manifest['figures']['certificate']['details']['says']}" in out
    status, _, err = run(f"{GOOD} --overwrite --certificate -1")
    assert status == 2
    assert "--certificate must be a number of at least 0" in err


ADULT = """39,State-gov,77516,Bachelors,13,Never-married,Male,40,<=50K
50,Self-emp-not-inc,83311,Bachelors,13,Married-civ-spouse,Male,13,<=50K
38,Private,215646,HS-grad,9,Divorced,Male,40,<=50K
53,Private,234721,11th,7,Married-civ-spouse,Male,40,<=50K
28,Private,338409,Bachelors,13,Married-civ-spouse,Female,40,<=50K
52,Self-emp-not-inc,209642,HS-grad,9,Married-civ-spouse,Male,45,>50K
"""


def test_a_file_without_a_header_is_refused_until_that_is_said(folder, run):
    (folder / "adult.data").write_text(ADULT)
    status, out, err = run("anonymize adult.data -k 3 -q 39,13,40 -c '<=50K' -o ad.csv")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "looks like a record" in err
    assert "--no-header" in err
    assert "--header" in err
    assert not (folder / "ad.csv").exists()
    status, _, err = run("anonymize adult.data --no-header -k 3 -q column1,column5,column8 -c column9 -o ad.csv")
    assert status == 0, err
    lines = (folder / "ad.csv").read_text().splitlines()
    assert lines[0] == ",".join(f"column{number}" for number in range(1, 10))
    assert len(lines) == 7
    assert ADULT.splitlines()[0] not in lines
    assert run("verify ad.csv -q column1,column5,column8 -k 3")[0] == 0
    (folder / "ad.csv.manifest.json").rename("recipe.json")
    assert run("verify ad.csv -q column1,column5,column8 -k 3")[0] == 0
    assert run("anonymize --recipe recipe.json -o again.csv")[0] == 0
    assert (folder / "again.csv").read_bytes() == (folder / "ad.csv").read_bytes()


def test_columns_can_be_named(folder, run):
    (folder / "t.csv").write_text("34,60,Ulm\n51,80,Bonn\n33,61,Ulm\n52,81,Bonn\n")
    line = "anonymize t.csv --no-header -k 2 -q age,kg -c 'home, town' -o -"
    status, out, err = run(line.replace("'home, town'", """'"home, town"' --names 'age,kg,"home, town"'"""))
    assert status == 0, err
    assert out.splitlines()[0] == 'age,kg,"home, town"'
    status, _, err = run("anonymize t.csv --no-header --names age,kg -k 2 -q age,kg -o -")
    assert (status, "2 names are given, but t.csv has 3 columns" in err) == (2, True)
    status, _, err = run("verify t.csv --no-header --names age,age,kg -q age")
    assert (status, "names gives 'age' twice" in err) == (2, True)


def test_columns_of_the_same_name_are_inspected_and_numbered(folder, run):
    (folder / "t.csv").write_text("zip,zip\n34,60\n51,80\n33,61\n52,81\n")
    status, _, err = run("anonymize t.csv -k 2 -q zip -o -")
    assert (status, "number them with --number-names" in err) == (2, True)
    status, out, err = run("inspect t.csv")
    assert (status, "shown with numbers" in err) == (0, True)
    command = out.splitlines()[-1].strip().removeprefix("shoal ").replace("-k 5", "-k 2")
    assert "--number-names" in command
    assert run(command)[0] == 0
    assert (folder / "safe.csv").read_text().splitlines()[0] == "zip,zip_2"


def test_the_command_that_inspect_prints_repeats_what_was_said_about_the_file(folder, run):
    (folder / "t.csv").write_text("34;1,60;x\n51;1,80;y\n33;1,61;x\n52;1,81;y\n")
    _, out, err = run("inspect t.csv --no-header --names age,height,group --delimiter ';' --decimal ,")
    command = out.splitlines()[-1].strip().removeprefix("shoal ").replace("-k 5", "-k 2")
    status, _, err = run(command)
    assert status == 0, err


def test_thousands_in_a_file_with_decimal_commas_are_thousands(folder, run):
    rows = ["941;1,78", "1.633;1,80", "950;1,75", "1.700;1,81"]
    (folder / "t.csv").write_text("\n".join(["income;height", *rows, ""]))
    status, out, err = run("anonymize t.csv -k 2 -q income,height -o -")
    assert status == 0, err
    assert sorted(set(out.splitlines()[1:])) == ["1666;1,80", "946;1,76"]
    (folder / "t.csv").write_text("\n".join(["income;n", *(row.split(";")[0] + ";1" for row in rows), ""]))
    status, _, err = run("anonymize t.csv -k 2 -q income -c n -o -")
    assert status == 2
    assert "'income' holds numbers such as '1.633', and nothing in the file tells whether that is 1633" in err
    assert "--decimal ," in err
    assert "--decimal ." in err
    assert run("anonymize t.csv -k 2 -q n -c income -o -")[0] == 0
    lines = run("anonymize t.csv -k 2 -q income -c n -o - --decimal ,")[1].splitlines()
    assert sorted(set(lines[1:])) == ["1666;1", "946;1"]
    assert run("anonymize t.csv -k 2 -q income -c n -o - --decimal .")[0] == 0


def test_measurements_with_three_decimals_get_in_without_a_word(folder, run):
    (folder / "t.csv").write_text("a,b,c\n0.633,1234.567,7.25\n12.500,1.633,7.125\n1.633,2.500,8.5\n")
    status, _, err = run("anonymize t.csv -k 3 -q a,b,c -o -")
    assert status == 0
    assert "holds numbers such as" not in err


def test_a_number_in_a_column_of_text_does_not_hide_decimal_commas(folder, run):
    (folder / "t.csv").write_text("height;note\n1,78;flu\n1,80;1.50\n1,75;gout\n1,81;flu\n")
    assert run("anonymize t.csv -k 2 -q height -c note -o -")[0] == 0
    (folder / "t.csv").write_text("height;kg\n1,78;60.5\n1,80;70.5\n")
    status, _, err = run("anonymize t.csv -k 2 -q height -c kg -o -")
    assert (status, "say --decimal , (decimal=',')" in err) == (2, True)


def test_files_of_spreadsheets_and_of_old_systems_are_released(folder, run):
    (folder / "t.csv").write_bytes(b"sep=;\r\na;b\r\n1;2\r\n3;4\r\n")
    assert run("anonymize t.csv -k 2 -q a,b -o new.csv")[0] == 0
    assert (folder / "new.csv").read_bytes() == b"a;b\r\n2;3\r\n2;3\r\n"
    (folder / "old.csv").write_bytes(b'a,b\r1,"x\ry"\r3,"z\nw"\r')
    status, _, err = run("anonymize old.csv -k 2 -q a -c b -o safe.csv --keep-order")
    assert status == 0, err
    assert (folder / "safe.csv").read_bytes() == b'"a","b"\r"2","x\ry"\r"2","z\nw"\r'
    (folder / "wide.csv").write_bytes("a,b\n1,2\n3,4\n".encode("utf-16-le"))
    status, _, err = run("anonymize wide.csv -k 2 -q a,b -o wide.safe.csv")
    assert (status, "--encoding utf-16-le" in err) == (2, True)
    assert run("anonymize wide.csv -k 2 -q a,b -o wide.safe.csv --encoding utf-16-le")[0] == 0


def adult(shared, folder):
    """The command that `inspect` used to print for the 32 561 records of the training part of Adult."""
    with gzip.open(shared / "data" / "adult.csv.gz", "rt") as file:
        (folder / "adult.csv").write_text("".join(line for line, _ in zip(file, range(32_562), strict=False)))
    quasi = "age,fnlwgt,education-num,capital-gain,capital-loss,hours-per-week"
    return f"anonymize adult.csv -k 5 -q {quasi} -c income -o safe.csv --method mdav"


def test_adult_says_what_its_text_gives_away(shared, folder, run):
    status, out, err = run(adult(shared, folder))
    unique = "5874 of 32561 records are unique on these columns alone and 10564 are in groups of fewer than 5"
    education = "'education' determines 'education-num' in every record"
    assert status == 0
    assert f"columns without a role (8): {unique}; {education}\n" in out
    assert "confidential columns (1): 0 of 32561 records are unique" in out
    assert len(err.splitlines()) == 2  # the other is about 99999, a mark
    assert f"{unique}; {education}; somebody who knows them and the quasi-identifiers" in err


def test_adult_is_refused_where_the_owner_is_strict_and_nothing_is_written(shared, folder, run):
    status, out, err = run(f"{adult(shared, folder)} --strict --quiet")
    assert (status, out) == (2, "")
    assert err.startswith(
        "shoal: nothing is released, because columns without a role reveal too much: 'workclass'"
    )
    assert "5874 of 32561" in err
    assert sorted(os.listdir(folder)) == ["adult.csv", "people.csv"]


def test_census_names_the_sum_that_a_column_without_a_role_stands_in(shared, folder, run):
    path = shared / "data" / "census.csv"
    quasi = path.read_text().splitlines()[0].replace("PTOTVAL,", "")
    status, _, err = run(f"anonymize {path} -k 5 -q {quasi} -o safe.csv --method mdav --quiet")
    assert status == 0
    assert "'PTOTVAL'; 1080 of 1080 records are unique on this column alone" in err
    assert "PTOTVAL = PEARNVAL + POTHVAL in every record" in err


def test_strict_is_a_setting_that_a_recipe_repeats(folder, run):
    assert run(f"{GOOD} --strict")[0] == 0
    assert json.loads((folder / "safe.csv.manifest.json").read_text())["strict"] is True
    status, out, _ = run("anonymize --recipe safe.csv.manifest.json -o again.csv --json")
    assert (status, json.loads(out)["manifest"]["strict"]) == (0, True)
    status, _, err = run("anonymize people.csv -k 2 -q age,weight -c diagnosis -o no.csv --strict")
    assert (status, "5 of 5 records are unique on this column alone" in err) == (2, True)
    assert not (folder / "no.csv").exists()


def test_verify_counts_persons_and_a_larger_k(folder, run):
    (folder / "linked.csv").write_text("pid,age,sex\na,30,f\na,40,f\nb,30,f\nb,40,f\nc,30,f\nc,30,f\n")
    status, out, _ = run("verify linked.csv -q age,sex --person pid --accept-linkage -k 2")
    assert status == 0
    assert "the smallest has 2 persons" in out
    assert "at least 1 person has the same rows" in out
    assert "Yes, at least 2 persons share each combination." in out
    assert "No" not in out
    status, out, _ = run("verify linked.csv -q age,sex --person pid -k 3")
    assert status == 1
    assert "No, 2 persons are in combinations of fewer than 3 persons." in out
    status, out, _ = run("verify linked.csv -q age,sex --also k=7:sex")
    assert status == 1
    assert "No, on sex alone the smallest group has 6 records, asked for 7." in out
    assert json.loads(run("verify linked.csv -q sex --person pid --json")[1])["counts"] == "persons"
    said = json.loads(run("verify linked.csv -q age,sex --person pid -k 3 --json")[1])
    assert (said["below"], said["counts"], said["same_rows"]) == (2, "persons", 1)
    assert run("verify linked.csv -q age,sex --person pid --also k=0:pid")[0] == 2


def test_verify_says_no_where_linked_rows_are_those_of_fewer_than_k(folder, run):
    (folder / "linked.csv").write_text("pid,age,sex\na,30,f\na,40,f\nb,30,f\nb,40,f\nc,30,f\nc,30,f\n")
    status, out, _ = run("verify linked.csv -q age,sex --person pid -k 2")
    assert status == 1
    assert "Yes, at least 2 persons share each combination." in out
    assert "No, only 1 person has the same rows, fewer than 2: whoever knows all rows" in out
    assert run("verify linked.csv -q age,sex --person pid -k 2 --json")[0] == 1
    assert run("verify linked.csv -q age,sex --person pid -k 1")[0] == 0
    assert run("verify linked.csv -q age,sex --person pid")[0] == 0
    status, _, err = run("verify linked.csv -q age,sex --accept-linkage -k 2")
    assert (status, "--accept-linkage says nothing without --person" in err) == (2, True)


def test_a_recipe_is_repeated_with_its_own_key_of_pseudonyms_only(folder, run):
    (folder / "visits.csv").write_text("who,age\n" + "".join(f"p{row},{30 + row}\n" for row in range(8)))
    said = "--person who --pseudonym who --pseudonym-key key.txt --method mdav"
    status, _, err = run(f"anonymize visits.csv -k 2 -q age -o safe.csv {said}")
    assert (status, "a new key was made in key.txt" in err) == (0, True)
    key = (folder / "key.txt").read_text()
    status, _, err = run("anonymize --recipe safe.csv.manifest.json -o again.csv")
    assert (status, "a new key" in err) == (0, False)
    assert (folder / "again.csv").read_bytes() == (folder / "safe.csv").read_bytes()
    (folder / "key.txt").write_text("ab" * 32)
    status, _, err = run("anonymize --recipe safe.csv.manifest.json -o third.csv")
    assert (status, "key.txt holds another key than the one that the recipe's pseudonyms" in err) == (2, True)
    (folder / "key.txt").unlink()
    status, _, err = run("anonymize --recipe safe.csv.manifest.json -o third.csv")
    assert (status, "need the key in key.txt, and there is no such file" in err) == (2, True)
    assert not (folder / "key.txt").exists()
    assert not (folder / "third.csv").exists()
    assert key not in (folder / "safe.csv.manifest.json").read_text()


@pytest.mark.parametrize("taken", ["safe.csv", "./safe.csv.manifest.json", "safe.html", "people.csv", "link.txt"])
def test_the_key_of_pseudonyms_is_none_of_the_other_files(folder, run, taken):
    (folder / "link.txt").symlink_to("safe.csv")
    more = f"--person name --pseudonym name --pseudonym-key {taken} --report safe.html -f"
    status, out, err = run(f"anonymize people.csv -k 2 -q age,weight -c diagnosis -o safe.csv {more}")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "key of pseudonyms" in err
    assert names(folder) == ["link.txt", "people.csv"]
    assert (folder / "people.csv").read_text() == CSV


def test_verify_counts_households_and_strata(folder, run):
    rows = ["5,1,11,7", "5,1,12,7", "5,2,13,7", "6,3,14,7", "6,3,15,7", "6,3,16,8"]
    (folder / "t.csv").write_text("\n".join(["x,home,who,r", *rows]) + "\n")
    status, out, _ = run("verify t.csv -q x --household home -k 2 --accept-linkage")
    assert (status, out.splitlines()[-1]) == (1, "No, 1 household is in combinations of fewer than 2 households.")
    assert "the smallest has 1 household\n" in out
    status, out, _ = run("verify t.csv -q x --household home --person who -k 3 --accept-linkage")
    assert status == 1
    assert "Yes, at least 3 persons share each combination." in out
    assert out.endswith("No, some combinations are those of 1 household alone, and 2 must share each.\n")
    assert run("verify t.csv -q x -k 3")[0] == 0
    assert run("verify t.csv -q x --within r -k 3")[0] == 1
    assert "lacks the name of a column" in run("verify t.csv -q x --within ''")[2]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("--person name --person diagnosis", "--person is given 2 times ('name', 'diagnosis'); give it once"),
        ("--scaling range --scaling none", "--scaling is given 2 times"),
        ("--seed 1 --seed 1", "--seed is given 2 times"),
        ("--coordinates 3 --coordinates 4", "--coordinates is given 2 times"),
        ("--within ''", "'' lacks the name of a column"),
        ("--within diagnosis --merge-strata a=b --merge-strata a=c", "two merged strata for 'a'; give one"),
    ],
)
def test_options_that_contradict_themselves_are_refused(folder, run, more, message):
    status, _, err = run(f"{GOOD} {more}")
    assert (status, err.count("\n")) == (2, 1)
    assert message in err


FAMILIES = "who,home,region,weight,age\n" + "".join(
    f"p{row // 2},h{row // 4},{'NS'[row // 8]},{row + 1}.5,{30 + row}\n" for row in range(16)
)
DESIGNED = "anonymize families.csv -q age -o safe.csv --person who --household home --within region --sampling-weight weight"


@pytest.mark.parametrize(
    ("old", "new", "more", "message"),
    [
        (",3.5,", ",-3.5,", "", "'weight' is the sampling weight, and holds a negative number in row 3"),
        (",3.5,", ",,", "", "'weight' is the sampling weight, and holds no value in row 3"),
        (",3.5,", ",inf,", "", "'weight' is the sampling weight, and holds infinity in row 3"),
        (",3.5,", ",1e200,", "", "too large or too small to count with in row 3"),
        ("\np1,h0,N,3.5", "\n,h0,N,3.5", "", "'who' says whose row it is, and has no value in row 3"),
        ("\np1,h0,N,3.5", "\np1,,N,3.5", "", "'home' says whose row it is, and has no value in row 3"),
        (",N,3.5", ",S,3.5", "", "1 household is in two strata by column 'region': 'h0'"),
        ("\np1,h0,N,3.5", "\np1,h3,S,3.5", "", "1 person is in two households by column 'home': 'p1'"),
        ("", "", "--within age", "column 'age' is a stratum and a quasi-identifier"),
        ("", "", "-k 5", "k=5 is more than there are households (4)"),
        ("", "", "-k 9 --household-k persons", "k=9 is more than there are persons (8)"),
        ("", "", "-k 3", "2 strata of 'region' have fewer than k=3 households: 'N' (2), 'S' (2); merge each"),
    ],
)
def test_wrong_persons_households_strata_and_weights_are_one_line_and_nothing_is_written(
    folder, run, old, new, more, message
):
    (folder / "families.csv").write_text(FAMILIES.replace(old, new, 1))
    before = names(folder)
    status, out, err = run(f"{DESIGNED} {more if '-k' in more else f'-k 2 {more}'} --report safe.html")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert names(folder) == before


def test_persons_households_strata_and_weights_without_an_error_are_released(folder, run):
    (folder / "families.csv").write_text(FAMILIES)
    assert run(f"{DESIGNED} -k 2")[0] == 0
    assert run("verify safe.csv -q age --within region -k 8")[0] == 0


# Privacy models.

WARD = "name,age,size,diagnosis,pay\n" + "".join(
    f"p{row},{20 + row * row % 37},{150 + row * row % 23},{('flu', 'gout', 'none', 'flu', '')[row % 5]},{row * row % 9}\n"
    for row in range(40)
)
MODELLED = "anonymize ward.csv -k 3 -q age,size -c diagnosis,pay -i name -o safe.csv"


@pytest.fixture
def ward(folder):
    (folder / "ward.csv").write_text(WARD)
    return folder


def groups_in(path, column):
    """The values of a column in each group, by the csv module."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    groups = {}
    for row in rows:
        groups.setdefault((row["age"], row["size"]), []).append(row[column])
    return list(groups.values())


def test_models_are_enforced_and_verified(ward, run):
    assert run(MODELLED)[0] == 0
    asked = "--l-diversity diagnosis=2 --t-closeness pay=0.3:ranks --alpha diagnosis=0.8"
    status, out, _ = run(f"verify safe.csv -q age,size -k 3 {asked}")
    assert status == 1
    assert "No, l = 2 on 'diagnosis' (distinct l-diversity) does not hold: " in out
    asked = "--l-diversity diagnosis=2 --t-closeness pay=0.35:equal --alpha diagnosis=0.7"
    status, out, err = run(f"{MODELLED} {asked} --overwrite")
    assert (status, err) == (0, "")
    for name in ("l = 2 on 'diagnosis' (distinct l-diversity)", "t = 0.35 on 'pay' (t-closeness, equal)"):
        assert f"{name} holds on the bytes written" in out
    assert "the privacy models cost " in out
    for values in groups_in(ward / "safe.csv", "diagnosis"):
        there = [value for value in values if value]
        assert len(values) >= 3
        assert len(set(there)) >= 2
        assert max(map(there.count, there)) <= 0.7 * len(there)
    status, out, _ = run(f"verify safe.csv -q age,size -k 3 {asked}")
    assert status == 0
    assert (
        "Yes, l = 2 on 'diagnosis' (distinct l-diversity) holds: the worst group has l = 2. Values missing: 8."
        in out
    )


def test_what_models_find_can_be_had_as_json_and_quietly(ward, run):
    assert run(MODELLED)[0] == 0
    line = "verify safe.csv -q age,size --l-diversity diagnosis=3 --delta-disclosure diagnosis=1"
    status, out, _ = run(f"{line} --json")
    assert status == 1
    diverse, disclosed = json.loads(out)["models"]
    assert (diverse["model"], diverse["l"], diverse["holds"], diverse["gaps"]) == ("l-diversity", 3, False, 8)
    assert diverse["found"] == min(len({*values} - {""}) for values in groups_in(ward / "safe.csv", "diagnosis"))
    assert (disclosed["found"], disclosed["holds"]) == (None, False)
    assert run(f"{line} --quiet") == (1, "", "")


def test_a_recipe_repeats_models_to_the_same_bytes(ward, run):
    (ward / "tree.csv").write_text("flu;lungs;*\ngout;gout;*\nnone;none;*\n")
    asked = (
        "--l-diversity diagnosis=2 --alpha diagnosis=0.8 --sensitive-values diagnosis=flu,gout "
        "--t-closeness diagnosis=0.5:hierarchical:tree.csv --beta-likeness diagnosis=3:enhanced "
        "--participation 0.9 --confidence 0.8"
    )
    assert run(f"{MODELLED} {asked}")[0] == 0
    (ward / "tree.csv").unlink()  # the manifest holds the tree
    assert run("anonymize --recipe safe.csv.manifest.json -o again.csv")[0] == 0
    assert (ward / "again.csv").read_bytes() == (ward / "safe.csv").read_bytes()
    one, other = (json.loads((ward / f"{name}.csv.manifest.json").read_text()) for name in ("safe", "again"))
    assert one["models"] == other["models"]
    assert one["method"] == other["method"]  # and with it k, which is raised once
    assert [each["model"] for each in one["models"]] == ["l-diversity", "t-closeness", "alpha", "beta-likeness"]
    assert one["models"][0]["sensitive_values"] == ["flu", "gout"]


BAD_MODELS = {
    "no column": ("--l-diversity 3", "--l-diversity is given as column=value, such as diagnosis=3, not '3'"),
    "no number": ("--t-closeness pay=near", "--t-closeness pay=near: t must be a number, not 'near'"),
    "a number that is none": ("--p-sensitivity diagnosis=nan", "p of p-sensitivity must be"),
    "too small": ("--l-diversity diagnosis=0", "l of l-diversity must be a number of at least 1, not 0"),
    "not whole": ("--l-diversity diagnosis=2.5", "l of distinct l-diversity must be a whole number, not 2.5"),
    "an unknown distance": ("--t-closeness pay=0.2:emd", "distance of t-closeness must be one of ordered, ranks"),
    "no tree": ("--t-closeness diagnosis=0.2:hierarchical:none.csv", "none.csv"),
    "no order": ("--t-closeness diagnosis=0.2:ranks", "needs an order, and the values of 'diagnosis' have none"),
    "more than a number": ("--alpha diagnosis=0.5:more", "--alpha cannot be read from diagnosis=0.5:more"),
    "twice": (
        "--alpha diagnosis=0.5 --alpha diagnosis=0.5",
        "models list alpha = 0.5 on 'diagnosis' (alpha) twice",
    ),
    "not confidential": ("--l-diversity age=2", "is about a column that is not confidential"),
    "a column that is nearly there": ("--l-diversity diagnose=2", "did you mean 'diagnosis'?"),
    "values nobody asked about": ("--sensitive-values diagnosis=flu", "no model on it looks at some values only"),
    "a value that nobody has": (
        "--alpha diagnosis=0.5 --sensitive-values diagnosis=hiv",
        "no record has the sensitive value 'hiv' in 'diagnosis'",
    ),
    "what cannot be had": (
        "--l-diversity diagnosis=4",
        "cannot be had: even the whole table as one group has l = 3",
    ),
    "rows apart": (
        "--l-diversity diagnosis=2 --person name --person-rows apart",
        "person_rows='apart' cannot be had with privacy models",
    ),
    "confidence alone": ("--confidence 0.9", "confidence says nothing without participation"),
    "no participation": (
        "--participation 0",
        "participation must be a probability above 0: nobody would take part",
    ),
    "a method for another model": (
        "--alpha diagnosis=0.8 --method t-closeness-first",
        "TClosenessFirst groups records for t-closeness, which is not asked for",
    ),
}


@pytest.mark.parametrize("case", BAD_MODELS)
def test_bad_models_get_one_line_and_nothing_is_written(ward, run, case):
    asked, message = BAD_MODELS[case]
    line = MODELLED.replace("-i name", "") if "--person name" in asked else MODELLED
    before = names(ward)
    status, _, err = run(f"{line} {asked}")
    complaints = [said for said in err.splitlines() if not said.startswith("shoal: warning: ")]
    assert status == 2
    assert len(complaints) == 1
    assert message in complaints[0]
    assert names(ward) == before


@pytest.mark.parametrize(
    "case", ["no column", "no number", "an unknown distance", "no order", "a value that nobody has"]
)
def test_bad_models_of_verify_get_one_line(ward, run, case):
    asked, message = BAD_MODELS[case]
    status, out, err = run(f"verify ward.csv -q age,size {asked}")
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert message in err


def test_verify_finds_models_on_a_column_of_any_role_and_none_that_is_not_there(ward, run):
    assert run("verify ward.csv -q size --l-diversity age=1")[0] == 0
    status, _, err = run("verify ward.csv -q age,size --l-diversity diagnose=2")
    assert status == 2
    assert "diagnose" in err


def test_persons_are_counted_by_models_too(ward, run):
    rows = [f"{row // 2},{30 + row // 8},{'ab'[row % 2]}" for row in range(32)]
    (ward / "visits.csv").write_text("who,age,ill\n" + "\n".join(rows) + "\n")
    # Every person has both values, so each is that of everybody.
    assert run("verify visits.csv -q age --alpha ill=0.5")[0] == 0
    assert run("verify visits.csv -q age --alpha ill=0.5 --person who")[0] == 1
    status, _, err = run("anonymize visits.csv -k 2 -q age -c ill --person who --alpha ill=0.5 -o out.csv")
    assert status == 2
    assert "cannot be had: even the whole table as one group has alpha = 1" in err
    assert run("anonymize visits.csv -k 2 -q age -c ill --person who --l-diversity ill=2 -o out.csv")[0] == 0
