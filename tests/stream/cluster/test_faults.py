"""Whatever happens to a job, it ends with the same bytes, or clearly and with nothing under the output's name."""

import errno
import hashlib
import itertools
import json
import os
import shutil
import signal
import subprocess
from multiprocessing import get_context
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from jobs import STEPS, bytes_in, people, put, release

import shoal
from shoal.errors import ShoalError
from shoal.stream.cluster import task as tasks
from shoal.stream.cluster.folder import Folder
from shoal.stream.cluster.task import perform

pytestmark = [pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")]

BLOCKED = {"method": shoal.Blocked(shoal.MDAV(k=3), max_size=60, sweeps=1), "blocks": 4}


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A table in parts, and its release when nothing happens."""
    home = tmp_path_factory.mktemp("faults")
    source = put(people(300), home / "in", 3)
    release(source, home / "out", **BLOCKED)
    return source, bytes_in(home / "out")


@pytest.fixture
def forked(monkeypatch):
    """Worker processes that begin at once, as copies of this one."""
    monkeypatch.setattr("shoal.engines.processes.get_context", lambda _: get_context("fork"))


def left_in(folder):
    return sorted(path.name for path in folder.iterdir())


def do_instead(monkeypatch, work):
    monkeypatch.setattr("shoal.stream.cluster.steps.perform", work)


@pytest.mark.parametrize("step", STEPS)
def test_a_worker_is_killed_in_any_step(given, tmp_path, monkeypatch, forked, step):
    source, expected = given

    def killed(task):
        if task.step == step and task.number == 0:
            perform(task)
            os.unlink(Folder(tmp_path / ".out.shoal").file("done", 0, ending=f"-{step}.json"))  # noqa: PTH108
            os.kill(os.getpid(), signal.SIGKILL)
        return perform(task)

    with monkeypatch.context() as patch:
        do_instead(patch, killed)
        with pytest.raises(ShoalError, match="the workers were lost .*; it resumes here"):
            release(source, tmp_path / "out", engine="processes", **BLOCKED)
    assert left_in(tmp_path) == [".out.shoal"]
    assert (tmp_path / ".out.shoal").stat().st_mode & 0o077 == 0
    release(source, tmp_path / "out", **BLOCKED)
    assert bytes_in(tmp_path / "out") == expected
    assert left_in(tmp_path) == ["out", "out.manifest.json"]


@pytest.mark.parametrize("step", [*STEPS, "moving"])
def test_the_client_is_killed_in_any_step(given, tmp_path, monkeypatch, step):
    source, expected = given
    child = os.fork()
    if not child:
        real = tasks.STEPS.get(step)

        def killed(job, number):
            os.kill(os.getpid(), signal.SIGKILL)

        if real is None:
            monkeypatch.setattr("shoal.stream.work.Work.remove", lambda _: killed(None, 0))
        else:
            tasks.STEPS[step] = killed
        try:
            release(source, tmp_path / "out", workers=1, **BLOCKED)
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    if step != "moving":
        assert left_in(tmp_path) == [".out.shoal"]
    made = release(source, tmp_path / "out", **BLOCKED)
    assert bytes_in(tmp_path / "out") == expected
    assert left_in(tmp_path) == ["out", "out.manifest.json"]
    assert made.verified_k >= 3


@pytest.mark.parametrize("overwrite", [False, True])
def test_the_client_is_killed_while_it_gives_names(given, tmp_path, monkeypatch, overwrite):
    """At every change of a name: an earlier manifest never stands beside another release than its own."""
    source, expected = given
    (tmp_path / "earlier").mkdir()
    release(source, tmp_path / "earlier" / "out", k=4, method="mdav")
    before = bytes_in(tmp_path / "earlier" / "out")
    wanted, number = {"overwrite": overwrite, **BLOCKED}, 0
    while True:
        home = tmp_path / f"at{number}"
        shutil.copytree(tmp_path / "earlier", home) if overwrite else home.mkdir()
        child = os.fork()
        if not child:
            kill_at_name(monkeypatch, number)
            try:
                release(source, home / "out", workers=1, **wanted)
                os._exit(0)
            finally:
                os._exit(1)
        ended = os.waitpid(child, 0)[1]
        if (home / "out.manifest.json").exists():
            said = json.loads((home / "out.manifest.json").read_text())["output"]["parts"]
            assert [each["sha256"] for each in said] == [
                hashlib.sha256(content).hexdigest() for content in bytes_in(home / "out").values()
            ]
        if overwrite and (home / "out").exists():
            assert bytes_in(home / "out") in (before, expected)
        if ended == 0:
            break
        assert os.WTERMSIG(ended) == signal.SIGKILL
        release(source, home / "out", **wanted)
        assert bytes_in(home / "out") == expected
        assert left_in(home) == ["out", "out.manifest.json"]
        number += 1
    assert number == (4 if overwrite else 2)


def kill_at_name(monkeypatch, number):
    """Kill this process where the names of the output are given or taken, the so many-th time."""
    left = itertools.count(number, -1)

    def killed(self, real, other):
        if {"out", "out.manifest.json"} & {self.name, other.name} and next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(self, other)

    for name in ("rename", "replace"):
        real = getattr(Path, name)
        monkeypatch.setattr(Path, name, lambda self, other, real=real: killed(self, real, other))


def test_what_gets_a_name_is_on_the_disk(given, tmp_path, monkeypatch):
    source, expected = given
    flushed, named, real = set(), [], {"fsync": os.fsync, "rename": Path.rename, "replace": Path.replace}

    def fsync(handle):
        flushed.add(os.fstat(handle).st_ino)
        real["fsync"](handle)

    def moved(how, self, other):
        if self.stat().st_ino not in flushed:
            named.append(self)
        return real[how](self, other)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "rename", lambda *given: moved("rename", *given))
    monkeypatch.setattr(Path, "replace", lambda *given: moved("replace", *given))
    release(source, tmp_path / "out", **BLOCKED)
    assert bytes_in(tmp_path / "out") == expected
    assert named == []
    assert tmp_path.stat().st_ino in flushed


def test_a_folder_of_somebody_else_that_comes_meanwhile_stays(given, tmp_path, monkeypatch):
    source, expected = given

    def planted(task):
        if task.step == "count":
            (tmp_path / "out").mkdir(exist_ok=True)
            (tmp_path / "out" / "theirs").write_text("theirs")
        return perform(task)

    do_instead(monkeypatch, planted)
    for _ in range(2):
        with pytest.raises(ShoalError, match="out exists already"):
            release(source, tmp_path / "out", **BLOCKED)
        assert bytes_in(tmp_path / "out") == {"theirs": b"theirs"}
    shutil.rmtree(tmp_path / "out")
    release(source, tmp_path / "out", **BLOCKED)
    assert bytes_in(tmp_path / "out") == expected
    assert left_in(tmp_path) == ["out", "out.manifest.json"]


def test_every_task_runs_twice(given, tmp_path, monkeypatch):
    source, expected = given

    def twice(task):
        assert perform(task).ended == "done"
        mark = Folder(tmp_path / ".out.shoal").file("done", task.number, ending=f"-{task.step}.json")
        mark.unlink()
        return perform(task)

    do_instead(monkeypatch, twice)
    release(source, tmp_path / "out", **BLOCKED)
    assert bytes_in(tmp_path / "out") == expected


@pytest.mark.parametrize("step", STEPS)
def test_the_disk_is_full_in_any_step(given, tmp_path, monkeypatch, step):
    source, expected = given

    def full(job, number):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setitem(tasks.STEPS, step, full)
        with pytest.raises(ShoalError, match="the disk of .*out is full; .*; it resumes here"):
            release(source, tmp_path / "out", **BLOCKED)
    assert left_in(tmp_path) == [".out.shoal"]
    release(source, tmp_path / "out", **BLOCKED)
    assert bytes_in(tmp_path / "out") == expected


def test_a_small_disk_is_really_full(given, tmp_path):
    source, expected = given
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", small], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        with pytest.raises(ShoalError, match="is full"):
            release(source, small / "out", **BLOCKED)
        assert left_in(small) == [".out.shoal"]
        subprocess.run(["mount", "-o", "remount,size=9m", small], check=True)
        release(source, small / "out", **BLOCKED)
        assert bytes_in(small / "out") == expected
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_part_is_truncated(given, tmp_path):
    source = put(people(300), tmp_path / "in", 3)
    part = source / "part-1.parquet"
    part.write_bytes(part.read_bytes()[:-100])
    with pytest.raises(ShoalError, match=r"part-1.parquet is not a readable Parquet file"):
        release(source, tmp_path / "out", **BLOCKED)
    assert left_in(tmp_path) == ["in"]


@pytest.mark.parametrize("step", ["scan", "group", "deal"])
@pytest.mark.parametrize("is_hidden", [False, True])
def test_a_part_changes_in_the_middle(given, tmp_path, monkeypatch, step, is_hidden):
    source = put(people(300), tmp_path / "in", 3)
    part, other = source / "part-1.parquet", people(300).slice(57, 106)
    before = part.stat()

    def changed(task):
        if task.step == step and task.number == 0:
            if is_hidden:  # the same size and the same time: only the hash tells
                content = bytearray(part.read_bytes())
                content[10] ^= 1
                part.write_bytes(bytes(content))
                os.utime(part, ns=(before.st_atime_ns, before.st_mtime_ns))
            else:
                pq.write_table(other, part)
        return perform(task)

    do_instead(monkeypatch, changed)
    with pytest.raises(ShoalError, match="has changed since the work began|not a readable Parquet"):
        release(source, tmp_path / "out", workers=1, **BLOCKED)
    assert left_in(tmp_path) == ["in"]


def test_a_worker_says_nothing_of_the_table_when_it_fails(given, tmp_path, monkeypatch, capfd):
    source, expected = given

    def failing(job, number):
        raise ValueError("person 7 weighs 71.3")

    with monkeypatch.context() as patch:
        patch.setitem(tasks.STEPS, "group", failing)
        with pytest.raises(ShoalError, match=r"step group failed on part 0 \(ValueError in line \d+ of failing\)"):
            release(source, tmp_path / "out", **BLOCKED)
    assert "71.3" not in "".join(capfd.readouterr())
    release(source, tmp_path / "out", **BLOCKED)
    assert bytes_in(tmp_path / "out") == expected


def test_a_job_is_resumed_with_the_same_settings_only(given, tmp_path, monkeypatch):
    source, _ = given

    def stopped(job, number):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setitem(tasks.STEPS, "group", stopped)
        with pytest.raises(KeyboardInterrupt):
            release(source, tmp_path / "out", workers=1, **BLOCKED)
    with pytest.raises(ShoalError, match="unfinished work for out was started with other settings or files"):
        release(source, tmp_path / "out", k=4)
    release(source, tmp_path / "out", k=4, overwrite=True)
    assert left_in(tmp_path) == ["out", "out.manifest.json"]
