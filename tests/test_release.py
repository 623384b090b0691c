import csv
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given

import naive
import shoal
from samples import tables
from shoal.errors import ShoalError, ShoalWarning


@pytest.fixture
def release(people):
    return shoal.anonymize(pd.DataFrame(people), 3, ["age", "weight"], "diagnosis", "name")


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return header, rows


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@given(tables())
def test_records_of_a_group_are_alike_to_the_letter_in_the_file_and_k_holds(tmp_path, sample):
    columns, k = sample
    table = pd.DataFrame(columns)
    for exact in (False, True):
        release = shoal.anonymize(table, k, list(columns), exact=exact, method="mdav")
        release.write(tmp_path / "t.csv", overwrite=True)
        header, rows = rows_of(tmp_path / "t.csv")
        assert header == list(columns)
        rows = naive.as_they_came(rows, release.manifest)
        for group in range(release.partition.n_groups):
            assert len({tuple(rows[i]) for i in np.flatnonzero(release.labels == group)}) == 1
        assert naive.smallest_group(rows) >= k
        assert release.labels.tolist() == naive.labels_of(naive.mdav(release.space.points, k))
        assert release.verified_k >= k


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@given(tables())
def test_what_is_in_the_file_is_what_is_in_the_table(tmp_path, sample):
    columns, k = sample
    release = shoal.anonymize(pa.table(columns), k, list(columns), method="mdav")
    release.write(tmp_path / "t.parquet", overwrite=True)
    order = naive.row_order(release.manifest["key"], len(release.labels))
    assert pa.parquet.read_table(tmp_path / "t.parquet").equals(release.table.take(order))


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.parquet", "t.arrow"])
def test_every_format_is_verified_and_has_its_manifest(release, tmp_path, name):
    found = release.write(tmp_path / name)
    assert found.k >= 3
    manifest = json.loads((tmp_path / f"{name}.manifest.json").read_text())
    assert manifest["output"]["verified_k"] == found.k
    assert manifest["output"]["records"] == 7
    assert shoal.verify(tmp_path / name, ["age", "weight"]).k == found.k
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([name, f"{name}.manifest.json"])


def test_identifiers_never_leave(release, people, tmp_path):
    for name in ("t.csv", "t.parquet", "t.arrow"):
        release.write(tmp_path / name)
        content = (tmp_path / name).read_bytes()
        assert not [person for person in people["name"] if person.encode() in content]


def test_an_existing_file_is_kept_unless_asked(release, tmp_path):
    (tmp_path / "t.csv").write_text("old")
    with pytest.raises(ShoalError, match="exists already"):
        release.write(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "old"
    release.write(tmp_path / "t.csv", overwrite=True)
    assert (tmp_path / "t.csv").read_text() != "old"
    (tmp_path / "r.html").write_text("old")
    with pytest.raises(ShoalError, match="exists already"):
        release.report(tmp_path / "r.html")


def test_release_manifest_and_report_appear_together_or_not_at_all(release, tmp_path, monkeypatch):
    paths = [tmp_path / name for name in ("t.csv", "t.csv.manifest.json", "t.html")]
    with monkeypatch.context() as patch:

        def fail(*_):
            raise OSError(28, "No space left on device")

        patch.setattr("shoal.report.released.render", fail)
        with pytest.raises(ShoalError, match="No space left on device; nothing was written"):
            release.write(paths[0], report=paths[2])
    assert list(tmp_path.iterdir()) == []
    assert release.manifest["output"] is None
    release.write(paths[0], report=paths[2])
    assert "verified on the bytes written" in paths[2].read_text(encoding="utf-8")
    assert sorted(tmp_path.iterdir()) == paths
    for taken in paths[:2]:
        with pytest.raises(ShoalError, match="both the release and the report"):
            release.write(paths[0], overwrite=True, report=taken)


def test_the_input_is_never_written_over(people, tmp_path):
    path = tmp_path / "people.csv"
    pd.DataFrame(people).to_csv(path, index=False)
    before = path.read_bytes()
    release = shoal.anonymize(path, 3, ["age", "weight"], "diagnosis", "name")
    for write in (release.write, release.report):
        with pytest.raises(ShoalError, match="is the input"):
            write(path, overwrite=True)
    assert path.read_bytes() == before


def test_columns_of_a_file_that_are_not_touched_keep_their_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes('x;code;note\r\n1,50;007;"a ""b"""\r\n2,25;010;\r\n3,00;1e5;=\r\n'.encode("cp1252"))
    with pytest.warns(ShoalWarning, match="order of the input"):
        release = shoal.anonymize(path, 3, "x", ["code", "note"], keep_order=True)
    with pytest.warns(ShoalWarning, match="formula"):
        release.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == b'x;code;note\r\n2,2;007;"a ""b"""\r\n2,2;010;\r\n2,2;1e5;=\r\n'


@pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "+cmd", "-x", "\tx"])
def test_text_that_a_spreadsheet_would_run_is_warned_of(tmp_path, text):
    release = shoal.anonymize(pd.DataFrame({"x": [1, 2], "note": ["-5", text]}), 2, "x", "note")
    with pytest.warns(ShoalWarning, match=r"column 'note' holds text that a spreadsheet would run.*\(row 2\)"):
        release.write(tmp_path / "t.csv")


def test_a_column_name_that_is_a_formula_is_warned_of(tmp_path):
    release = shoal.anonymize(pd.DataFrame({"=x": [1, 2]}), 2, "=x")
    with pytest.warns(ShoalWarning, match="column names that a spreadsheet would run"):
        release.write(tmp_path / "t.csv")


def test_a_file_that_does_not_hold_what_was_promised_never_gets_its_name(release, tmp_path, monkeypatch):
    monkeypatch.setattr(type(release), "_text", lambda self, name, common, dialect: [str(i) for i in range(7)])
    with pytest.raises(ShoalError, match="only 1-anonymous, not 3; it was not released"):
        release.write(tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []
    assert release.manifest["output"] is None


def test_who_changes_the_released_table_does_not_change_the_release(release, tmp_path):
    release.table["age"] = range(7)
    assert release.verified_k == 3
    for name in ("t.csv", "t.parquet"):
        assert release.write(tmp_path / name).k == 3


def test_a_table_with_an_index_can_be_written_in_any_format(people, tmp_path):
    frame = pd.DataFrame(people, index=list("gfedcba"))
    with pytest.warns(ShoalWarning, match="the index is kept"):
        release = shoal.anonymize(frame, 3, ["age", "weight"], "diagnosis", "name")
    for name in ("t.csv", "t.parquet", "t.arrow"):
        assert release.write(tmp_path / name).columns == ["age", "weight", "diagnosis"]


def test_a_carriage_return_in_a_text_is_kept(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'x,note\n1,"a\rb"\n2,c\n')
    shoal.anonymize(tmp_path / "t.csv", 2, "x", "note").write(tmp_path / "o.csv")
    header, *rows = (tmp_path / "o.csv").read_bytes().split(b"\n")
    assert (header, sorted(rows)) == (b'"x","note"', [b"", b'"2","a\rb"', b'"2","c"'])


def test_numbers_of_more_than_64_bits_can_be_released(tmp_path):
    (tmp_path / "t.csv").write_text(f"x\n{10**30}\n{10**30 + 2}\n")
    release = shoal.anonymize(tmp_path / "t.csv", 2, "x")
    for name in ("o.csv", "o.parquet"):
        release.write(tmp_path / name)
    assert (tmp_path / "o.csv").read_text() == f"x\n{10**30 + 1}\n{10**30 + 1}\n"
    objects = pd.DataFrame({"x": [2**70, 2**70 + 2], "y": [2**80, "\ud800"]}, dtype=object)
    assert shoal.anonymize(objects, 2, "x", "y").table["x"].tolist() == [2**70 + 1] * 2


def test_the_input_may_be_gone_when_the_release_is_written(people, tmp_path):
    path = tmp_path / "people.csv"
    pd.DataFrame(people).to_csv(path, index=False)
    release = shoal.anonymize(path, 3, ["age", "weight"], "diagnosis", "name")
    path.unlink()
    (tmp_path / "safe.csv").write_text("old")
    assert release.write(tmp_path / "safe.csv", overwrite=True).k == 3


def test_missing_values_in_other_columns_are_written_as_nothing(tmp_path):
    columns = {"y": [None, "a"], "z": [np.nan, 0.5], "n": pd.array([None, 7], dtype="Int64")}
    table = pd.DataFrame({"x": [1, 2]} | columns)
    shoal.anonymize(table, 2, "x", list(columns)).write(tmp_path / "t.csv")
    assert sorted(rows_of(tmp_path / "t.csv")[1]) == [["2", "", "", ""], ["2", "a", "0.5", "7"]]


WRITER = """
import sys
import numpy as np, pyarrow as pa, shoal
n = 200_000
rng = np.random.default_rng(0)
table = pa.table({name: rng.integers(0, 10**6, n) for name in "abcd"} | {"text": ["some text to fill the file"] * n})
release = shoal.anonymize(table, n // 3, ["a", "b", "c", "d"], "text")
print("ready", flush=True)
sys.stdin.readline()
release.write(sys.argv[1], overwrite=True)
"""


@pytest.mark.parametrize("old", [None, b"the old release\n"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_kill_in_the_middle_of_writing_leaves_the_old_file_or_none(tmp_path, old, suffix):
    target = tmp_path / f"t.{suffix}"
    if old:
        target.write_bytes(old)
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(target)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"ready\n"
    process.stdin.write(b"go\n")
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not (begun := [p for p in tmp_path.glob(".*.part") if p.stat().st_size > 0]):
        assert time.monotonic() < deadline
        assert process.poll() is None
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert begun[0].exists(), "the kill came after the file was finished: nothing was tested"
    assert target.read_bytes() == old if old else not target.exists()
    assert not (tmp_path / f"t.{suffix}.manifest.json").exists()


HOMES = {"a": [1, 1, 1, 9, 9, 9, 20, 20, 20, 30, 30, 30], "home": [1] * 3 + [2] * 3 + [3] * 3 + [4] * 3}


def tampered(release, other):
    """A release whose values are those of another one, and whose promises are its own."""
    return replace(release, cells=other.cells, common=other.common)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_file_without_the_larger_k_that_was_asked_for_is_not_released(tmp_path, name):
    frame = pd.DataFrame({"a": HOMES["a"], "region": ["n", "s"] * 6})
    said = {"within": "region", "method": "mdav"}
    release = shoal.anonymize(frame, 2, ["a"], also=[(5, ["a"])], **said)
    with pytest.raises(ShoalError, match=r"the file as written has k=\d on a, not 5; it was not released"):
        tampered(release, shoal.anonymize(frame, 2, ["a"], **said)).write(tmp_path / name)
    assert not list(tmp_path.iterdir())
    release.write(tmp_path / name)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_file_with_a_household_that_is_alone_is_not_released(tmp_path, name):
    frame = pd.DataFrame(HOMES)
    release = shoal.anonymize(frame, 3, ["a"], household="home", household_k="persons", method="mdav")
    alone = shoal.anonymize(frame, 3, ["a"], identifiers=["home"], method="mdav")
    assert alone.table["a"].tolist() == HOMES["a"]
    with pytest.raises(ShoalError, match="a group of the file as written has only 1 household, not 2; it was not"):
        tampered(release, alone).write(tmp_path / name)
    assert not list(tmp_path.iterdir())
    release.write(tmp_path / name)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_file_whose_linked_rows_single_somebody_out_is_not_released(tmp_path):
    frame = pd.DataFrame({"a": range(6), "who": list("aabbcd")})
    said = {"person": "who", "pseudonym": "who", "pseudonym_key": tmp_path / "key", "method": "mdav"}
    release = shoal.anonymize(frame, 3, ["a"], accept_linkage=True, **said)
    strict = replace(release, settings=replace(release.settings, accept_linkage=False))
    with pytest.raises(ShoalError, match="only 2 persons have the same rows, fewer than 3"):
        strict.write(tmp_path / "t.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_persons_are_not_counted_in_rows_that_stand_in_another_order(tmp_path, monkeypatch, name):
    frame = pd.DataFrame({"a": HOMES["a"], "who": [*"abcdefghijkl"]})
    release = shoal.anonymize(frame, 2, ["a"], person="who", method="mdav", key="0" * 32)
    for writer in ("write", "write_texts"):
        real = getattr(shoal.release, writer)
        turned = lambda *given, real=real: real(*given[:-1], np.roll(given[-1], 1))  # noqa: E731
        monkeypatch.setattr(f"shoal.release.{writer}", turned)
    with pytest.raises(ShoalError, match="not released, because its rows do not read back in the order"):
        release.write(tmp_path / name)
    assert not list(tmp_path.iterdir())


VISITS = {"age": [30, 30, 31, 31, 60, 60, 61, 61], "day": [1, 9, 2, 8, 1, 7, 3, 9], "who": [*"aabbccdd"]}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"also": [(8, ["age"])], "identifiers": ["who"]}, "also"),
        ({"person": "who", "person_rows": "apart"}, "person_rows='apart'"),
    ],
)
def test_groups_that_are_not_what_was_released_are_not_certified(said, why):
    release = shoal.anonymize(pd.DataFrame(VISITS), 2, ["age", "day"], method="mdav", **said)
    with pytest.raises(ShoalError, match=f"and {why} gave some columns other cells than the groups"):
        release.certificate(0.1)
    assert "points_loss" not in release.manifest["figures"]


def test_groups_that_are_what_was_released_are_certified_though_a_larger_k_was_asked_for():
    frame = pd.DataFrame({"a": [1] * 6 + [2] * 6})
    release = shoal.anonymize(frame, 2, ["a"], also=[(6, ["a"])], method="mdav")
    assert release.certificate(0.1).gap == 0
    assert release.manifest["figures"]["points_loss"]["value"] == 0


@pytest.mark.parametrize("ways", [{}, {"blocks": 1}, {"engine": "threads"}], ids=["memory", "stream", "workers"])
def test_groups_and_the_combinations_that_they_have_are_both_counted(tmp_path, ways):
    """Eight equal records are two groups and one combination, as in tables of few values."""
    lines = [*["1,1"] * 8, *(f"{i},{7 * i % 31}" for i in range(60, 100))]
    source = tmp_path / "in"
    source.mkdir()
    (source / "part.csv").write_text("a,b\n" + "\n".join(lines) + "\n")
    workers = "engine" in ways
    out = tmp_path / ("out" if workers else "out.csv")
    made = shoal.anonymize_file(
        source if workers else source / "part.csv", out, 4, ["a", "b"], method="mdav", **ways
    )
    written = (out / "part-00000.csv" if workers else out).read_text().splitlines()[1:]
    figures = made.manifest["figures"]
    assert figures["classes"]["value"] == len(set(written))
    assert figures["groups"]["value"] == len(set(written)) + 1
    assert "some of the 12 groups have the same values" in figures["classes"]["says"]


def test_where_no_groups_coincide_nothing_is_said(release):
    classes = {figure.name: figure for figure in release.shown_figures}["classes"]
    assert classes.value == release.partition.n_groups
    assert not classes.sentence
    assert not classes.shown
