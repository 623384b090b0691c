"""Whatever happens to a job, it ends with the same bytes, or clearly and with nothing under the output's name."""

import errno
import os
import signal
import subprocess
from multiprocessing import get_context

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


@pytest.mark.parametrize("step", [*STEPS, "count", "moving"])
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
    made = release(source, tmp_path / "out", **BLOCKED, overwrite=step == "moving")
    assert bytes_in(tmp_path / "out") == expected
    assert left_in(tmp_path) == ["out", "out.manifest.json"]
    assert made.verified_k >= 3


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
