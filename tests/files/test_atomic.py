import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from shoal.errors import ShoalError
from shoal.files import atomic, atomically
from shoal.files.atomic import alone_in, mark_of, new_part, remove_leftovers, together


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


KILLED = """
import os, signal, sys
from pathlib import Path
import shoal.files.atomic as atomic

paths = [Path(name) for name in sys.argv[2:]]
moved = []
real = atomic.move

def move(temporary, path, overwrite):
    if len(moved) == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    moved.append(path)
    real(temporary, path, overwrite)

atomic.move = move
with atomic.together(paths) as temporaries:
    for temporary in temporaries:
        temporary.write_text("whole")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_run_killed_between_two_names_is_healed_by_the_next(tmp_path, after):
    paths = [tmp_path / name for name in ("page", "manifest", "release")]
    subprocess.run([sys.executable, "-c", KILLED, str(after), *map(str, paths)])
    assert len([path for path in paths if path.exists()]) == after
    if after == 3:
        with pytest.raises(ShoalError, match="exists already"), together(paths):
            pass
    else:
        assert not paths[-1].exists()
        with together(paths) as temporaries:
            for temporary in temporaries:
                temporary.write_text("whole")
    assert sorted(tmp_path.iterdir()) == sorted(paths)
    assert {path.read_text() for path in paths} == {"whole"}


def test_files_of_a_run_that_is_at_work_are_left_alone(tmp_path):
    target = tmp_path / "a.txt"
    with atomically(target) as first:
        first.write_text("first")
        with atomically(target) as second:
            second.write_text("second")
        assert first.exists()
        first.unlink()
        first.write_text("first")
        remove_leftovers([tmp_path / "other.txt"])
        target.unlink()
    assert target.read_text() == "first"


def test_only_leftovers_of_the_same_name_are_removed(tmp_path):
    mark = mark_of(tmp_path / "a.txt")
    kept = {f".{name}.{mark}abcdefgh.part" for name in ("a.txt.manifest.json", "b.txt")}
    kept |= {".a.txt.abc.part", ".a.txt.abcdefgh.part", f"a.txt.{mark}abcdefgh.part"}
    for name in (*kept, f".a.txt.{mark}abcdefgh.part"):
        (tmp_path / name).write_text("left")
    remove_leftovers([tmp_path / "a.txt"])
    assert {path.name for path in tmp_path.iterdir()} == kept


def test_a_name_taken_in_the_meantime_takes_back_those_given_before(tmp_path):
    paths = [tmp_path / name for name in ("page", "manifest", "release")]

    def race():
        with together(paths):
            paths[-1].write_text("somebody else's")

    with pytest.raises(ShoalError, match="release exists already"):
        race()
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_an_interrupt_waits_until_all_names_are_given(tmp_path, monkeypatch):
    paths = [tmp_path / name for name in ("manifest", "release")]
    real = atomic.move

    def interrupted(*given):
        signal.raise_signal(signal.SIGINT)
        real(*given)

    monkeypatch.setattr(atomic, "move", interrupted)

    def write():
        with together(paths):
            pass

    with pytest.raises(KeyboardInterrupt):
        write()
    assert sorted(tmp_path.iterdir()) == paths
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_folder_that_somebody_else_has_locked_is_not_waited_for_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "PATIENCE", 0.05)
    with alone_in(tmp_path), atomically(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
        with alone_in(tmp_path):
            pass
    assert (tmp_path / "a.txt").read_text() == "new"


def test_in_a_thread_files_are_written_too(tmp_path):
    def write():
        with atomically(tmp_path / "a.txt") as temporary:
            temporary.write_text("new")

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    assert (tmp_path / "a.txt").read_text() == "new"


def test_where_files_cannot_be_locked_nothing_is_taken_for_a_leftover_and_nobody_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "lock", lambda _: None)
    monkeypatch.setattr(atomic, "sleep", pytest.fail)
    left = tmp_path / f".a.txt.{mark_of(tmp_path / 'a.txt')}abcdefgh.part"
    left.write_text("of another run, perhaps")
    with atomically(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
    assert sorted(tmp_path.iterdir()) == [left, tmp_path / "a.txt"]


def killed(paths, named):
    """What a run on these paths leaves if it is killed when it has given so many names."""
    for number, path in enumerate(paths):
        part, handle = new_part(path, paths[-1])
        part.write_text("whole")
        os.close(handle)
        if number < named:
            os.link(part, path)


@pytest.mark.parametrize("named", [1, 3])
def test_a_name_is_taken_back_only_by_a_run_with_the_same_last_file(tmp_path, named):
    page, *first = paths = [tmp_path / name for name in ("page", "a.manifest", "a")]
    second = [page, tmp_path / "b.manifest", tmp_path / "b"]
    killed(paths, named)
    with pytest.raises(ShoalError, match="page exists already"), together(second):
        pass
    assert page.read_text() == "whole"
    remove_leftovers(paths)
    assert sorted(tmp_path.iterdir()) == ([] if named == 1 else sorted([page, *first]))


def test_a_name_that_was_given_before_a_kill_is_given_again(tmp_path):
    part, path = tmp_path / "part", tmp_path / "a.txt"
    part.write_text("whole")
    os.link(part, path)
    atomic.move(part, path, overwrite=False)
    assert path.read_text() == "whole"
    path.unlink()
    path.write_text("somebody else's")
    with pytest.raises(ShoalError, match="exists already"):
        atomic.move(part, path, overwrite=False)


def test_a_signal_on_the_way_to_the_cleaning_up_leaves_nothing(tmp_path, monkeypatch):
    held, calls = atomic.undisturbed, []

    def interrupted():
        calls.append(1)
        if len(calls) == 3:  # the first for the temporary file, the second for its name, the third to clean up
            raise KeyboardInterrupt
        return held()

    monkeypatch.setattr(atomic, "undisturbed", interrupted)
    with pytest.raises(KeyboardInterrupt), atomically(tmp_path / "a.txt") as temporary:
        temporary.write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
