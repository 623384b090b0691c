"""Jobs of several workers: the same bytes whoever works and however the table is cut into files, and as a stream."""

import json
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from jobs import ROLES, bytes_in, people, put, release, rows_in

import shoal
from shoal.errors import ShoalError
from shoal.stream.cluster.folder import Folder
from shoal.stream.cluster.task import Task, perform

pytestmark = [pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")]

BLOCKED = shoal.Blocked(shoal.MDAV(k=3), max_size=60, sweeps=2)


@pytest.mark.parametrize("blocks", [1, 4])
def test_the_groups_are_those_of_a_stream_with_the_same_cells(tmp_path, blocks):
    table = people(400)
    pq.write_table(table, tmp_path / "whole.parquet")
    made = release(put(table, tmp_path / "in", 3), tmp_path / "out", blocks=blocks)
    streamed = shoal.anonymize_file(
        tmp_path / "whole.parquet", tmp_path / "out.parquet", 3, method="mdav", blocks=blocks, **ROLES
    )
    assert rows_in(tmp_path / "out").equals(pq.read_table(tmp_path / "out.parquet"))
    assert made.n_groups == streamed.n_groups
    assert made.information_loss == pytest.approx(streamed.information_loss, rel=1e-12)
    assert made.verified_k == streamed.verified_k >= 3
    assert made.blocks == blocks


@pytest.mark.parametrize(("method", "other"), [("mdav", "threads"), (BLOCKED, "processes")])
def test_the_bytes_do_not_depend_on_workers_threads_or_how_the_table_is_cut(tmp_path, method, other, monkeypatch):
    monkeypatch.setattr("shoal.stream.cluster.run.OUTPUT", 100)
    table, seen = people(500, 1), set()
    for number, (parts, engine, workers) in enumerate([(1, "threads", 1), (4, "threads", 3), (3, other, 2)]):
        source, target = put(table, tmp_path / f"in{number}", parts), tmp_path / f"out{number}"
        made = release(source, target, engine=engine, workers=workers, method=method, blocks=4)
        seen.add(made.manifest["output"]["sha256"])
        assert len(bytes_in(target)) == 8
        assert not list(tmp_path.glob(".*"))
    assert len(seen) == 1
    assert made.verified_k >= 3
    assert set(rows_in(target)["room"].to_pylist()) == set(range(9))


def test_exchanges_over_the_borders_lower_the_loss(tmp_path):
    source = put(people(2000, 2), tmp_path / "in", 2)
    method = shoal.Blocked(shoal.MDAV(k=3), max_size=400, sweeps=1)
    with_borders = release(source, tmp_path / "a", method=method, blocks=8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.stream.cluster.borders.are_wanted", lambda model: False)
        without = release(source, tmp_path / "b", method=method, blocks=8)
    assert with_borders.information_loss < without.information_loss
    assert with_borders.verified_k >= 3


@pytest.mark.parametrize("keep_order", [False, True])
def test_text_leaves_as_it_came(tmp_path, keep_order):
    table = people(120, 3)
    given = {"keep_order": True, "key": None} if keep_order else {}
    release(put(table, tmp_path / "in", 3, "csv"), tmp_path / "out", blocks=2, **given)
    found = [pa.csv.read_csv(path) for path in sorted((tmp_path / "out").iterdir())]
    rooms = pa.concat_tables(found)["room"].to_pylist()
    assert sorted(rooms) == sorted(table["room"].to_pylist())
    assert (rooms == table["room"].to_pylist()) == keep_order
    pa.csv.write_csv(table, tmp_path / "whole.csv")
    shoal.anonymize_file(tmp_path / "whole.csv", tmp_path / "out.csv", 3, method="mdav", blocks=2, **ROLES | given)
    assert pa.concat_tables(found).equals(pa.csv.read_csv(tmp_path / "out.csv").combine_chunks())


def test_columns_that_cannot_be_joined_are_read_by_the_client(tmp_path):
    table = people(150, 4)
    sexes = pa.array([None if number % 11 == 0 else "mf"[number % 2] for number in range(150)])
    table = table.append_column("sex", sexes)
    given = ROLES | {"quasi_identifiers": ["age", "sex"], "gaps": {"sex": "value"}}
    pq.write_table(table, tmp_path / "whole.parquet")
    shoal.anonymize_file(
        put(table, tmp_path / "in", 3), tmp_path / "out", 3, engine="threads", method="mdav", blocks=2, **given
    )
    shoal.anonymize_file(tmp_path / "whole.parquet", tmp_path / "out.parquet", 3, method="mdav", blocks=2, **given)
    assert rows_in(tmp_path / "out").equals(pq.read_table(tmp_path / "out.parquet"))


def test_privacy_models_hold_over_all_cells(tmp_path):
    models = [shoal.LDiversity(2, on="ill")]
    made = release(put(people(300, 5), tmp_path / "in", 2), tmp_path / "out", models=models, blocks=2)
    found = rows_in(tmp_path / "out").group_by(["age", "weight"]).aggregate([("ill", "count_distinct")])
    assert min(found["ill_count_distinct"].to_pylist()) >= 2
    assert made.manifest["models"]


def test_what_is_wrong_in_a_part_is_told_by_its_row_in_the_table(tmp_path):
    table = people(60, 6)
    ages = [None if number in (45, 50) else 1.5 * number for number in range(60)]
    table = table.set_column(1, "age", pa.array(ages))
    source = put(table, tmp_path / "in", 3)
    with pytest.raises(ShoalError, match="rows 46 and 51|46.*51"):
        release(source, tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == ["in"]


def test_files_that_are_not_one_table_are_refused(tmp_path):
    source = put(people(30, 7), tmp_path / "in", 2)
    pq.write_table(people(9).drop_columns("room"), source / "part-2.parquet")
    with pytest.raises(ShoalError, match=r"part-2.parquet and part-0.parquet have other columns \('room'\)"):
        release(source, tmp_path / "out")
    with pytest.raises(ShoalError, match="there are no files"):
        release(tmp_path / "none*.csv", tmp_path / "out")
    with pytest.raises(ShoalError, match="several files, which workers share"):
        shoal.anonymize_file(source, tmp_path / "out.csv", 3, "age")
    with pytest.raises(ShoalError, match="is to be a folder"):
        release(source, tmp_path / "out.csv")
    assert sorted(os.listdir(tmp_path)) == ["in"]


def test_an_output_is_replaced_only_if_that_is_asked_for(tmp_path):
    source = put(people(60, 8), tmp_path / "in", 2)
    release(source, tmp_path / "out")
    before = bytes_in(tmp_path / "out")
    with pytest.raises(ShoalError, match="exists already"):
        release(source, tmp_path / "out", k=4)
    assert bytes_in(tmp_path / "out") == before
    assert release(source, tmp_path / "out", k=4, overwrite=True).manifest["k"] == 4
    assert bytes_in(tmp_path / "out") != before
    manifest = json.loads((tmp_path / "out.manifest.json").read_text())
    assert manifest["k"] == 4
    assert [each["name"] for each in manifest["input"]["parts"]] == ["part-0.parquet", "part-1.parquet"]
    assert sorted(os.listdir(tmp_path)) == ["in", "out", "out.manifest.json"]


def test_progress_rises_to_the_end_over_all_steps(tmp_path):
    seen = []
    made = release(
        put(people(60, 9), tmp_path / "in", 2), tmp_path / "out", progress=lambda *now: seen.append(now)
    )
    done = [part for part, _ in seen]
    assert done == sorted(done)
    assert seen[-1][0] == seen[-1][1] == sum(path.stat().st_size for path in (tmp_path / "in").iterdir())
    assert next(iter(made.times)) == "look"
    assert list(made.times)[-1] == "count"
    assert made.times["scan"].tasks == 2
    assert made.times["group"].work > 0


@pytest.mark.parametrize("keep_order", [False, True])
def test_a_part_may_have_no_records(tmp_path, keep_order):
    given = {"keep_order": True, "key": None} if keep_order else {}
    source, empty = put(people(60, 8), tmp_path / "in", 2), people(60).slice(0, 0)
    release(source, tmp_path / "before", **given)
    pq.write_table(empty, source / "part-0a.parquet")
    release(source, tmp_path / "out", **given)
    assert bytes_in(tmp_path / "out") == bytes_in(tmp_path / "before")
    with pytest.raises(ShoalError, match="k"):
        release(source / "part-0a*", tmp_path / "none", **given)
    pa.csv.write_csv(empty, source / "part-0.csv")
    with pytest.raises(ShoalError, match=r"part-0.csv has a header but no records"):
        release(source / "*.csv", tmp_path / "none", **given)
    assert not [path for path in tmp_path.iterdir() if "none" in path.name]


@pytest.mark.parametrize("target", ["in", ".", "in/../in"])
def test_an_output_never_replaces_its_input(tmp_path, monkeypatch, target):
    source = put(people(60, 8), tmp_path / "in", 2)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ShoalError, match="of the input; choose another"):
        release(source, tmp_path / target, overwrite=True)
    assert len(bytes_in(source)) == 2
    release(source, tmp_path / "in" / "out", overwrite=True)  # beside them
    assert rows_in(tmp_path / "in" / "out").num_rows == 60


def test_two_jobs_at_once_do_not_share_an_output(tmp_path, monkeypatch):
    source, seen = put(people(60, 8), tmp_path / "in", 2), []

    def crowded(task):
        if task.step == "group" and not seen:
            seen.append(1)
            with pytest.raises(ShoalError, match="another run is at work on this output"):
                release(source, tmp_path / "out", k=4, overwrite=True)
        return perform(task)

    monkeypatch.setattr("shoal.stream.cluster.steps.perform", crowded)
    assert release(source, tmp_path / "out").verified_k >= 3
    assert seen


def test_a_worker_of_another_version_or_without_the_folder_says_so(tmp_path, monkeypatch):
    source = put(people(60, 8), tmp_path / "in", 2)
    for changed, said in (
        ({"version": "0.0.1"}, "a worker does not have version .* of Shoal, as this program has"),
        ({"folder": "/nowhere/.out.shoal"}, "a worker does not see the private folder beside the output"),
    ):
        patched = "shoal.stream.cluster.steps.perform"
        with monkeypatch.context() as patch:
            patch.setattr(patched, lambda task, changed=changed: perform(replace(task, **changed)))
            with pytest.raises(ShoalError, match=said):
                release(source, tmp_path / "out")
        assert not (tmp_path / "out").exists()
    assert not Path("/nowhere").exists()
    release(source, tmp_path / "out")


def test_a_worker_whose_files_are_elsewhere_is_found_out(tmp_path, monkeypatch):
    """It says that it was done, and what it has written is on another disk."""
    source = put(people(60, 8), tmp_path / "in", 2)
    monkeypatch.setattr("shoal.stream.cluster.folder.PATIENCE", 0.3)

    def away(task):
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
        real = tmp_path / ".out.shoal"
        for name in ("plan", "counts"):
            if (real / name).exists():
                (tmp_path / "elsewhere" / name).write_bytes((real / name).read_bytes())
        return perform(replace(task, folder=str(tmp_path / "elsewhere")))

    monkeypatch.setattr("shoal.stream.cluster.steps.perform", away)
    with pytest.raises(ShoalError, match="a worker has done step look and its files are not here"):
        release(source, tmp_path / "out", workers=1)
    assert not (tmp_path / "out").exists()


def test_what_another_machine_has_written_may_be_seen_late(tmp_path, monkeypatch):
    source, late = put(people(60, 8), tmp_path / "in", 2), []
    real = Folder.marked

    def marked(folder, step, *numbers):
        late.append(step)
        return real(folder, step, *numbers) if late.count(step) % 7 else None

    monkeypatch.setattr(Folder, "marked", marked)
    assert release(source, tmp_path / "out", workers=1).verified_k >= 3


@pytest.mark.parametrize("kind", ["link", "open"])
def test_the_private_folder_is_nobody_elses(tmp_path, kind):
    source, folder = put(people(60, 8), tmp_path / "in", 2), tmp_path / ".out.shoal"
    if kind == "link":
        (tmp_path / "theirs").mkdir()
        folder.symlink_to(tmp_path / "theirs")
        with pytest.raises(ShoalError, match=r"\.out\.shoal is a link; remove it"):
            release(source, tmp_path / "out")
        assert not list((tmp_path / "theirs").iterdir())
        return
    folder.mkdir()
    folder.chmod(0o777)
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "shoal.stream.cluster.steps.perform",
            lambda task: seen.append(folder.stat().st_mode & 0o777) or perform(task),
        )
        release(source, tmp_path / "out")
    assert set(seen) == {0o700}


def test_models_are_checked_on_text_that_each_part_would_be_read_from_in_another_way(tmp_path):
    """A part whose numbers all look like thousands is read as the input was."""
    table = people(120, 9)
    ages = pa.array([f"{number},5" if number < 60 else f"{number},125" for number in range(120)])
    table = table.set_column(1, "age", ages).set_column(2, "weight", pa.array(range(120)))
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(2):
        options = pa.csv.WriteOptions(delimiter=";")
        pa.csv.write_csv(table.slice(60 * number, 60), folder / f"{number}.csv", options)
    given = {"models": [shoal.LDiversity(2, on="ill")], "decimal": ",", "thousands": ".", "delimiter": ";"}
    given |= {"keep_order": True, "key": None}
    made = release(folder, tmp_path / "out", **given)
    assert made.verified_k >= 3


def test_workers_stand_in_other_folders(tmp_path, monkeypatch):
    source = put(people(60, 8), tmp_path / "in", 2)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)

    def moved(task):
        os.chdir(tmp_path / "elsewhere")
        try:
            return perform(task)
        finally:
            os.chdir(tmp_path)

    monkeypatch.setattr("shoal.stream.cluster.steps.perform", moved)
    release("in/*.parquet", "out", workers=1)
    monkeypatch.undo()
    release(source, tmp_path / "other")
    assert bytes_in(tmp_path / "out") == bytes_in(tmp_path / "other")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_task_says_nothing_of_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.stream.cluster.folder.PATIENCE", 0)
    task = Task(str(tmp_path), "scan", 0)
    assert task.key == "scan-0"
    assert str(tmp_path) in repr(task)
    status = perform(task)  # there is no job here
    assert status.ended.startswith("AssertionError in line")


def test_the_exact_mean_of_a_column_is_that_of_all_parts(tmp_path):
    table = people(90, 10)
    made = release(put(table, tmp_path / "in", 3), tmp_path / "out", exact=True)
    found = rows_in(tmp_path / "out")["weight"].to_numpy()
    truth = sum(map(Fraction, table["weight"].to_pylist())) / 90
    assert float(np.mean(found)) == pytest.approx(float(truth))
    assert made.manifest["exact"]
