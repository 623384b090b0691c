"""`shoal compare`: what it prints, writes and refuses."""

import csv
import json

import pyarrow.csv
import pytest

from shoal.comparison.rows import Row
from shoal.comparison.work import Done
from shoal.datasets import clinic

COMMAND = "compare people.csv -k 3,5 --methods mdav,vmdav -q birth_year,height -c diagnosis -i name,postcode,weight,income"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "kept"))
    pyarrow.csv.write_csv(clinic(80), tmp_path / "people.csv")
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_table_and_a_recommendation_are_printed(folder, run):
    status, out, err = run(COMMAND)
    assert (status, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert sum(line[1:2] in (["mdav"], ["vmdav"]) for line in lines) == 4
    assert "Take " in out
    assert f"Figures are kept in {folder / 'kept' / 'shoal' / 'comparisons'}" in out
    assert names(folder) == ["kept", "people.csv"]
    again = run(COMMAND)[1]
    assert "4 of 4 settings come from the cache." in again


def test_without_a_cache_nothing_is_left(folder, run):
    assert run(f"{COMMAND} --no-cache")[0] == 0
    assert names(folder) == ["people.csv"]
    assert run(f"{COMMAND} --cache here --quiet") == (0, "", "")
    assert len(list((folder / "here").iterdir())) == 4


def test_everything_that_is_asked_for_is_written(folder, run):
    status, out, _ = run(f"{COMMAND} --no-cache -o rows.csv --plot map.png --report page.html")
    assert status == 0
    assert out.splitlines()[-3:] == ["written: rows.csv", "written: map.png", "written: page.html"]
    rows = list(csv.DictReader((folder / "rows.csv").read_text().splitlines()))
    assert [(row["method"], row["k"]) for row in rows] == [(m, k) for k in "35" for m in ("mdav", "vmdav")]
    assert (folder / "map.png").read_bytes().startswith(b"\x89PNG")
    status, _, err = run(f"{COMMAND} --no-cache -o rows.csv")
    assert (status, "exists already" in err) == (2, True)


def test_json_is_for_programs(folder, run):
    status, out, _ = run(f"{COMMAND} --no-cache --json --seconds 300 -p vmdav:gamma=1.1")
    whole = json.loads(out)
    assert status == 0
    assert [row["method"] for row in whole["rows"]] == ["mdav", "VMDAV(gamma=1.1)"] * 2
    assert {row["limit"] for row in whole["rows"]} == {300.0}
    assert whole["input"] == "people.csv"
    assert whole["warnings"] == []


def test_settings_of_a_release_are_settings_here(folder, run):
    plain, scaled = (
        json.loads(run(f"{COMMAND} --no-cache --json {more}")[1])["rows"]
        for more in ("", "--attribute-weight height=3")
    )
    assert [row["loss"] for row in plain] != [row["loss"] for row in scaled]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("--cache a --no-cache", "--cache and --no-cache contradict each other"),
        ("-k 3,x", "k must be whole numbers of at least 1 with commas between"),
        ("--methods mdaw", "there is no method 'mdaw'; did you mean 'mdav'?"),
        ("--seconds 0", "seconds is the time that a setting may take"),
        ("-p gamma=2", "a parameter is given with its method, such as mdav:name=value, not 'gamma=2'"),
        ("-p vmdav:gama=2", "VMDAV has no parameter 'gama'; did you mean 'gamma'?"),
        ("-o rows.txt", "rows.txt must end in .json or .csv"),
        ("--plot map.pdf", "map.pdf must end in .svg or .png"),
        ("-o people.csv -f", "people.csv is the input"),
        ("--pseudonym name --person name --pseudonym-key x", "pseudonym says nothing here"),
        ("--no-such", "No such option"),
    ],
)
def test_what_is_wrong_is_one_line_before_any_work(folder, run, monkeypatch, more, said):
    monkeypatch.setattr("shoal.comparison.work.Measuring.__call__", lambda *_: 1 / 0)
    status, out, err = run(f"{COMMAND} {more}")
    assert (status, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1
    assert names(folder) == ["people.csv"]


def test_a_ctrl_c_prints_what_is_there_and_how_to_resume(folder, run, monkeypatch):
    def stop(_, setting, __):
        if setting.k == 5:
            raise KeyboardInterrupt
        return Done(Row(setting.method, 3, "ok", loss=1.0, seconds=0.1, records=80, groups=26, smallest=3, largest=4,
                        prosecutor_highest=33.3, linkage=20.0), [])  # fmt: skip

    monkeypatch.setattr("shoal.comparison.work.Measuring.__call__", stop)
    status, out, err = run(f"{COMMAND} -o rows.csv")
    assert status == 130
    assert "not run: interrupted before" in out
    assert "interrupted: 2 of 4 settings are done" in err
    assert err.splitlines()[-1].endswith("run the same command again to resume")
    assert names(folder) == ["kept", "people.csv"]
    monkeypatch.undo()


def test_without_k_and_methods_the_usual_ones_are_compared(folder, run, monkeypatch):
    def row(_, setting, __):
        return Done(Row(setting.method, setting.k, "refused", "no"), [])

    monkeypatch.setattr("shoal.comparison.work.Measuring.__call__", row)
    whole = json.loads(run("compare people.csv -q height --no-cache --json")[1])
    assert {row["k"] for row in whole["rows"]} == {3, 5, 10, 25}
    assert {row["method"] for row in whole["rows"]} == {"mdav", "vmdav", "imhm", "pcl", "auto"}
