"""Jobs whose private folder is encrypted: nothing of the table stands in it, and nobody resumes without the key."""

import os
import signal
import struct
from multiprocessing import get_context

import pyarrow as pa
import pytest
from jobs import STEPS, bytes_in, people, put, release

import shoal
from shoal.errors import ShoalError
from shoal.files.sealing import MARK, SealError
from shoal.stream.cluster import seal as sealing
from shoal.stream.cluster import task as tasks
from shoal.stream.cluster.seal import KEY, Seal, check_of, key_from, key_of, seal_of
from shoal.stream.cluster.task import Task, perform

pytest.importorskip("cryptography")
pytestmark = [pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")]

BLOCKED = {"method": shoal.Blocked(shoal.MDAV(k=3), max_size=60, sweeps=1), "blocks": 4, "encrypt_cells": True}
GIVEN, OTHER = "00" * 31 + "7f", "11" * 32
CANARY, NUMBER = "Nightingale", 61.728394651
PLAIN = {"lock", "seal.json", "manifest"}


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv(KEY, raising=False)


def table():
    """A text and a number in it are found nowhere else."""
    whole = people(300)
    ages, towns = whole["age"].to_pylist(), [f"town {number % 5}" for number in range(300)]
    ages[7], towns[7] = NUMBER, CANARY
    ills = whole["ill"].to_pylist()
    ills[7] = CANARY
    return (
        whole.set_column(1, "age", pa.array(ages))
        .append_column("town", pa.array(towns))
        .set_column(3, "ill", pa.array(ills))
    )


GIVEN_ROLES = {"quasi_identifiers": ["age", "weight", "town"], "models": [shoal.LDiversity(2, on="ill")]}
SIGNS = (CANARY.encode(), struct.pack("<d", NUMBER), struct.pack(">d", NUMBER), str(NUMBER).encode())


def files_of(folder):
    """All files of a private folder but the release itself, which is put there to be given its name."""
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).parts[0] != "out" and path.name not in PLAIN
    ]


@pytest.mark.parametrize("encrypted", [True, False])
def test_no_value_stands_in_any_byte_of_the_folder_at_any_step(tmp_path, monkeypatch, encrypted):
    source, folder, steps, found = put(table(), tmp_path / "in", 3), tmp_path / ".out.shoal", set(), set()

    def watched(task):
        status = perform(task)
        steps.add(task.step)
        for path in files_of(folder):
            content = path.read_bytes()
            assert content.startswith(MARK) == encrypted or ".part" in path.name, path
            found.update(sign for sign in SIGNS if sign in content)
        return status

    monkeypatch.setattr("shoal.stream.cluster.steps.perform", watched)
    given = BLOCKED | GIVEN_ROLES | {"encrypt_cells": encrypted}
    made = release(source, tmp_path / "out", workers=1, **given)
    assert steps == set(STEPS)
    assert bool(found) != encrypted  # without encryption they are found
    assert made.verified_k >= 3
    assert not folder.exists()
    monkeypatch.undo()
    release(source, tmp_path / "plain", **given | {"encrypt_cells": False})
    assert bytes_in(tmp_path / "out") == bytes_in(tmp_path / "plain")


def test_processes_have_the_key_too(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.engines.processes.get_context", lambda _: get_context("fork"))
    source = put(people(120), tmp_path / "in", 2)
    release(source, tmp_path / "out", engine="processes", encrypt_cells=True, blocks=2)
    release(source, tmp_path / "plain", blocks=2)
    assert bytes_in(tmp_path / "out") == bytes_in(tmp_path / "plain")
    assert not [name for name in os.environ if name.startswith(KEY)]


def killed(monkeypatch, source, target, **given):
    """A client that is killed when cells are grouped."""
    child = os.fork()
    if not child:
        tasks.STEPS["group"] = lambda job, number: os.kill(os.getpid(), signal.SIGKILL)
        try:
            release(source, target, workers=1, **BLOCKED | given)
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL


def stop(monkeypatch, error):
    def stopped(job, number):
        raise error

    monkeypatch.setitem(tasks.STEPS, "group", stopped)


def test_a_job_with_a_given_key_resumes_with_that_key_only(tmp_path, monkeypatch):
    source, target, looks = put(people(300), tmp_path / "in", 3), tmp_path / "out", []
    release(source, tmp_path / "plain", **BLOCKED | {"encrypt_cells": False})
    monkeypatch.setenv(KEY, GIVEN)
    killed(monkeypatch, source, target)
    assert seal_of(tmp_path / ".out.shoal").is_drawn is False
    assert GIVEN.encode() not in b"".join(
        path.read_bytes() for path in (tmp_path / ".out.shoal").rglob("*") if path.is_file()
    )
    monkeypatch.setenv(KEY, OTHER)
    with pytest.raises(ShoalError, match=f"was encrypted with another key than that in {KEY}; or discard"):
        release(source, target, **BLOCKED)
    monkeypatch.setenv(KEY, "zz")
    with pytest.raises(ShoalError, match=f"{KEY} is to be 64 hexadecimal digits"):
        release(source, target, **BLOCKED)
    monkeypatch.delenv(KEY)
    with pytest.raises(ShoalError, match=f"the private folder is encrypted; give its key in {KEY}; or discard"):
        release(source, target, **BLOCKED)
    with pytest.raises(ShoalError, match="unfinished work for out is encrypted; ask for that"):
        release(source, target, **BLOCKED | {"encrypt_cells": False})
    monkeypatch.setenv(KEY, GIVEN)
    real = tasks.STEPS["look"]
    monkeypatch.setitem(tasks.STEPS, "look", lambda job, number: looks.append(number) or real(job, number))
    release(source, target, **BLOCKED)
    assert looks == []
    assert bytes_in(target) == bytes_in(tmp_path / "plain")


@pytest.mark.parametrize("other", [True, False])
def test_encrypted_work_without_its_key_and_plain_work_can_be_discarded(tmp_path, monkeypatch, other):
    source, target = put(people(300), tmp_path / "in", 3), tmp_path / "out"
    monkeypatch.setenv(KEY, GIVEN)
    killed(monkeypatch, source, target, encrypt_cells=not other)
    monkeypatch.setenv(KEY, OTHER)
    if not other:
        release(source, target, overwrite=True, **BLOCKED | {"encrypt_cells": False})
    else:
        with pytest.raises(ShoalError, match="unfinished work for out is not encrypted; leave that out"):
            release(source, target, **BLOCKED)
        release(source, target, overwrite=True, **BLOCKED)
    assert sorted(os.listdir(tmp_path)) == ["in", "out", "out.manifest.json"]


def test_a_job_whose_key_was_drawn_begins_anew(tmp_path, monkeypatch):
    source, target = put(people(300), tmp_path / "in", 3), tmp_path / "out"
    killed(monkeypatch, source, target)
    assert seal_of(tmp_path / ".out.shoal").is_drawn
    with pytest.raises(SealError, match="give its key"):
        key_of(tmp_path / ".out.shoal")
    release(source, target, **BLOCKED)
    release(source, tmp_path / "plain", **BLOCKED | {"encrypt_cells": False})
    assert bytes_in(target) == bytes_in(tmp_path / "plain")


@pytest.mark.parametrize("error", [ValueError("no"), OSError(28, "No space"), KeyboardInterrupt()])
def test_nothing_stays_of_a_job_that_ends_early_with_a_drawn_key(tmp_path, monkeypatch, error):
    source = put(people(300), tmp_path / "in", 3)
    stop(monkeypatch, error)
    with pytest.raises((ShoalError, KeyboardInterrupt)) as caught:
        release(source, tmp_path / "out", workers=1, **BLOCKED)
    assert "it resumes here" not in str(caught.value)
    assert isinstance(error, KeyboardInterrupt) or "it begins anew, because the key" in str(caught.value)
    assert os.listdir(tmp_path) == ["in"]
    assert not [name for name in os.environ if name.startswith(KEY)]


def test_a_worker_without_the_key_says_so_and_the_work_stays(tmp_path, monkeypatch):
    source, target = put(people(120), tmp_path / "in", 2), tmp_path / "out"
    monkeypatch.setenv(KEY, GIVEN)

    def poor(task):
        if task.step != "group":
            return perform(task)
        with monkeypatch.context() as patch:
            patch.setenv(KEY, OTHER)
            return perform(task)

    with monkeypatch.context() as patch:
        patch.setattr("shoal.stream.cluster.steps.perform", poor)
        with pytest.raises(ShoalError, match=f"a worker cannot read the encrypted folder, .*{KEY}.* resumes here"):
            release(source, target, workers=1, blocks=2, encrypt_cells=True)
    release(source, target, workers=1, blocks=2, encrypt_cells=True)
    assert sorted(os.listdir(tmp_path)) == ["in", "out", "out.manifest.json"]


def test_what_a_worker_refuses_is_encrypted_too(tmp_path, monkeypatch):
    source = put(people(120), tmp_path / "in", 2)
    stop(monkeypatch, ShoalError("row 7 is odd"))
    seen = []
    real = shoal.stream.work.Work.clear

    def cleared(work):
        seen.extend(path.read_bytes() for path in work.folder.rglob("*refused*/*") if path.is_file())
        real(work)

    monkeypatch.setattr("shoal.stream.work.Work.clear", cleared)
    with pytest.raises(ShoalError, match="row 7 is odd"):
        release(source, tmp_path / "out", blocks=2, encrypt_cells=True)
    assert seen
    assert all(content.startswith(MARK) for content in seen)


def test_two_jobs_at_once_do_not_share_a_key(tmp_path):
    one, other = (Seal(mark, True, check_of(key_from(GIVEN, mark))) for mark in ("a", "b"))
    assert one.check != other.check
    assert one.variable != other.variable


def test_a_key_does_not_pass_through_a_scheduler(tmp_path):
    source = put(people(30), tmp_path / "in", 2)
    with pytest.raises(ShoalError, match=f"no key passes through a scheduler: give .* the same {KEY}"):
        release(source, tmp_path / "out", engine="dask", scheduler="tcp://127.0.0.1:1", encrypt_cells=True)
    with pytest.raises(ShoalError, match="objects are copied into the private folder as they are"):
        release("s3://fish/in", tmp_path / "out", encrypt_cells=True)
    with pytest.raises(ShoalError, match="encrypt_cells is for several workers"):
        shoal.anonymize_file(source / "part-0.parquet", tmp_path / "out.csv", 3, "age", encrypt_cells=True)
    assert os.listdir(tmp_path) == ["in"]


def test_a_plain_folder_costs_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.stream.cluster.folder.PATIENCE", 0)
    assert key_of(tmp_path) is None
    assert perform(Task(str(tmp_path), "scan", 0)).ended.startswith("AssertionError")
    assert sealing.seal_in(tmp_path).name == "seal.json"
