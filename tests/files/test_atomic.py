import os
import stat
from pathlib import Path

import pytest

from shoal.errors import ShoalError
from shoal.files import atomically


def test_the_file_appears_when_the_block_ends_well(tmp_path):
    target = tmp_path / "a.txt"
    with atomically(target) as temporary:
        temporary.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_nothing_is_left_when_the_block_fails(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")

    def fail():
        with atomically(target, overwrite=True) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_an_existing_file_stays_unless_asked(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(ShoalError, match="exists already"), atomically(target):
        pytest.fail("the block must not run")
    with atomically(target, overwrite=True) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "new"


def test_a_file_that_came_in_the_meantime_stays(tmp_path):
    target = tmp_path / "a.txt"

    def race():
        with atomically(target) as temporary:
            temporary.write_text("new")
            target.write_text("somebody else's")

    with pytest.raises(ShoalError, match="exists already"):
        race()
    assert target.read_text() == "somebody else's"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_file_system_without_hard_links_will_do(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError("no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    with atomically(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "a.txt").read_text() == "new"


def test_folders_that_cannot_be_written_are_errors(tmp_path, monkeypatch):
    with (
        pytest.raises(ShoalError, match=r"the folder .*none does not exist"),
        atomically(tmp_path / "none" / "a.txt"),
    ):
        pass
    with pytest.raises(ShoalError, match="it is a folder"), atomically(tmp_path):
        pass
    with pytest.raises(ShoalError, match="not the name of a file"), atomically(Path()):
        pass
    with pytest.raises(ShoalError, match="(?i)name too long"), atomically(tmp_path / ("x" * 300)):
        pass
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ShoalError, match="not a regular file"), atomically(tmp_path / "pipe", overwrite=True):
        pass
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ShoalError, match="is not writable"), atomically(tmp_path / "a.txt"):
        pass


def test_an_error_of_the_system_is_said_in_one_line(tmp_path):
    def full():
        with atomically(tmp_path / "a.txt"):
            raise OSError(28, "No space left on device")

    with pytest.raises(ShoalError, match="cannot write .*a.txt: No space left on device"):
        full()


def test_the_new_file_has_the_permissions_of_any_new_file(tmp_path):
    with atomically(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
    (tmp_path / "b.txt").write_text("plain")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a.txt", "b.txt")]
    assert modes[0] == modes[1]
