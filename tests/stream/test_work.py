import json
import shutil

import pytest

from shoal.attributes.numeric_stream import NumericKept
from shoal.errors import ShoalError
from shoal.files import FORMATS, Dialect
from shoal.files.file import File
from shoal.files.formats import text_schema
from shoal.files.layout import Layout
from shoal.files.source import reader_from
from shoal.files.text import CsvReader
from shoal.stream import work
from shoal.stream.groups import Done, Lost
from shoal.stream.work import Work, unfinished


def source(folder):
    layout = Layout(Dialect(";"), ("x",), ("x",), 0)
    return CsvReader(FORMATS["csv"], File("in.csv", folder / "in.csv", 1, 2, "abc"), text_schema(["x"]), layout)


def test_work_is_remembered(tmp_path):
    work = Work(tmp_path / "out.csv")
    column = NumericKept("x", 1.0, held="boolean", spelling=("no", "yes"), centre=0.1)
    with work.locked():
        work.begin({"k": 3}, 5, "00", source(tmp_path))
        work.save(stage="scanned", blocks=2, columns=[column.as_dict()])
        (work.folder / "numbers").write_text("")
        work.finish(1, Done(3, 1, 3, 3, [(0.5, -2)], 1.0, 4.0, [0.0], {}), work.folder / "numbers")
        work.finish(0, Lost([0.5], [1.5]), work.folder / "numbers")
    again = Work(tmp_path / "out.csv")
    assert again.reached("scanned")
    assert not again.reached("cut")
    assert again.columns() == [column]
    assert (again.done(0), again.done(1).squares) == (None, [[0.5, -2]])
    assert (again.lost(0), again.lost(1)) == (Lost([0.5], [1.5]), None)
    assert reader_from(again.state["input"]) == source(tmp_path)
    assert "1 of 2 blocks" in unfinished(tmp_path / "out.csv")
    assert work.folder.stat().st_mode & 0o077 == 0


def test_no_work_leaves_no_folder(tmp_path):
    work = Work(tmp_path / "out.csv")
    with work.locked():
        assert work.stage is None
    assert list(tmp_path.iterdir()) == []
    assert unfinished(tmp_path / "out.csv") is None


@pytest.mark.parametrize("text", ["{", "[]", json.dumps({"version": 0, "stage": "cut"})])
def test_work_that_cannot_be_read_stays_until_it_may_be_overwritten(tmp_path, text):
    work = Work(tmp_path / "out.csv")
    work.folder.mkdir()
    (work.folder / "state.json").write_text(text)
    (work.folder / "block-0.parquet").write_text("hours of work")
    assert Work(tmp_path / "out.csv").stage is None
    with pytest.raises(ShoalError, match=r"cannot resume.*\(--overwrite\)"):
        Work(tmp_path / "out.csv").sweep(overwrite=False)
    with Work(tmp_path / "out.csv").locked():
        pass
    assert (work.folder / "block-0.parquet").read_text() == "hours of work"
    Work(tmp_path / "out.csv").sweep(overwrite=True)
    assert list(tmp_path.iterdir()) == []


def test_only_one_works_at_a_time(tmp_path):
    with (
        Work(tmp_path / "out.csv").locked(),
        pytest.raises(ShoalError, match="another run is at work"),
        Work(tmp_path / "out.csv").locked(),
    ):
        pass


def test_whoever_is_refused_leaves_the_work_of_the_other_alone(tmp_path):
    first = Work(tmp_path / "out.csv")
    with first.locked():
        with pytest.raises(ShoalError, match="another run is at work"), Work(tmp_path / "out.csv").locked():
            pass
        assert (first.folder / "lock").is_file()
        Work(tmp_path / "out.csv").sweep(overwrite=True)
        assert (first.folder / "lock").is_file()


def test_a_folder_that_is_nobodys_work_is_removed(tmp_path):
    work = Work(tmp_path / "out.csv")
    work.folder.mkdir()
    (work.folder / "block-0.parquet").write_text("original values")
    work.sweep(overwrite=False)
    assert list(tmp_path.iterdir()) == []


def test_work_that_waits_is_not_removed(tmp_path):
    work = Work(tmp_path / "out.csv")
    with work.locked():
        work.begin({"k": 3}, 5, "00", source(tmp_path))
    Work(tmp_path / "out.csv").sweep(overwrite=True)
    assert Work(tmp_path / "out.csv").stage == "begun"


def test_a_lock_that_was_removed_with_its_folder_is_made_anew(tmp_path, monkeypatch):
    target, gone = tmp_path / "out.csv", []
    real = work.lock

    def removed(handle):
        if not gone:
            gone.append(shutil.rmtree(Work(target).folder))
        return real(handle)

    monkeypatch.setattr(work, "lock", removed)
    with Work(target).locked(), pytest.raises(ShoalError, match="another run"), Work(target).locked():
        pass
