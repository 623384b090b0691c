import json
import sys
import types

import pyarrow as pa
import pyarrow.csv
import pytest

from shoal.datasets import clinic

QUASI = "-q birth_year,height,weight,income"


@pytest.fixture
def folder(tmp_path, monkeypatch, run):
    """An original and its release."""
    monkeypatch.chdir(tmp_path)
    data = clinic(120).drop_columns("postcode").append_column("number", pa.array(range(120)))
    pyarrow.csv.write_csv(data, tmp_path / "people.csv")
    assert run(f"anonymize people.csv -k 4 {QUASI} -c diagnosis -i name,number -o safe.csv --quiet")[0] == 0
    return tmp_path


def test_what_was_lost_is_said_in_groups(folder, run):
    status, out, err = run("assess people.csv safe.csv")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == (
        "safe.csv: 120 records released, of 120; the smallest group has 4; 120 rows matched by manifest"
    )
    assert "What was lost" in lines
    assert any(line.startswith("  The squared error of the released values is ") for line in lines)
    assert all(line.endswith(".") for line in lines if line.startswith("  "))
    assert run("assess people.csv safe.csv --quiet") == (0, "", "")


def test_json_has_every_figure_with_its_definition(folder, run):
    status, out, _ = run(f"assess people.csv safe.csv {QUASI} -c diagnosis --seed 3 --json")
    found = json.loads(out)
    assert (status, found["k"], found["matched_by"]) == (0, 4, "manifest")
    assert found["records"] == {"original": 120, "released": 120, "matched": 120}
    assert all(figure["definition"] for figure in found["figures"].values())
    stated = json.loads((folder / "safe.csv.manifest.json").read_text())["figures"]["information_loss"]["value"]
    assert found["figures"]["squared_error"]["value"] == pytest.approx(stated)


def test_rows_are_matched_as_asked_and_the_cure_is_said_where_they_are_not(folder, run):
    (folder / "safe.csv.manifest.json").unlink()
    options = f"{QUASI} -c diagnosis"
    status, out, _ = run(f"assess people.csv safe.csv {options}")
    assert status == 0
    assert "rows not matched" in out
    assert "(--key)" in out
    assert "(--by-position)" in out
    assert "rows matched by position" in run(f"assess people.csv people.csv {options} --by-position")[1]
    assert "rows matched by key number" in run(f"assess people.csv people.csv {options} --key number")[1]


def test_two_releases_are_held_together(folder, run):
    assert run(f"anonymize people.csv -k 5 {QUASI} -c diagnosis -i name,number -o other.csv --quiet")[0] == 0
    status, out, _ = run("assess people.csv safe.csv --with other.csv")
    assert status == 0
    assert "What is at risk" in out
    assert "Whoever holds both releases finds every person among at least" in out


def test_both_reports_are_written_and_nothing_is_replaced(folder, run, monkeypatch):
    page = types.ModuleType("shoal.report.assessed")
    page.render = lambda pair, figures, left_out, edition, notes: edition
    monkeypatch.setitem(sys.modules, "shoal.report.assessed", page)
    line = "assess people.csv safe.csv --report mine.html --public-report theirs.html"
    status, out, _ = run(line)
    assert status == 0
    assert "mine.html (keep it private" in out
    assert ((folder / "mine.html").read_text(), (folder / "theirs.html").read_text()) == ("owner", "public")
    status, _, err = run(line)
    assert (status, "exists" in err) == (2, True)
    assert run(f"{line} --overwrite")[0] == 0


def test_tables_come_from_standard_input_too(folder, run):
    content = (folder / "people.csv").read_bytes()
    assert "rows matched by manifest" in run("assess - safe.csv", content)[1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("- -", "the original and the release cannot both come from standard input"),
        ("people.csv safe.csv --report -", "a report goes to a file"),
        ("people.csv safe.csv --report a.html --public-report a.html", "a.html is to be both reports"),
        ("people.csv safe.csv --report safe.csv", "safe.csv is the release; choose another name"),
        ("people.csv safe.csv --seed x", "seed must be a whole number of at least 0, not 'x'"),
        ("people.csv safe.csv --key number", "the release: there is no column 'number'"),
        ("people.csv safe.csv --key income --by-position", "give one of them"),
        ("people.csv safe.csv -q age", "the original: there is no column 'age'"),
        ("people.csv people.csv", "the original: no quasi-identifier"),
        ("people.csv none.csv -q height", "none.csv"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(folder, run, line, message):
    status, out, err = run(f"assess {line}")
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
