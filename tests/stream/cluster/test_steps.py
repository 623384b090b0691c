import errno
from concurrent.futures import Future
from threading import Event

import pytest

from shoal.engines.threads import threads
from shoal.engines.worker import Post, Workers
from shoal.errors import ShoalError
from shoal.stream.cluster import task as tasks
from shoal.stream.cluster.folder import Folder
from shoal.stream.cluster.steps import SHARES, LostError, Steps, steps_by
from shoal.stream.cluster.task import Status, perform


@pytest.fixture
def step(monkeypatch):
    """Have a step do something else."""

    def do(name, work):
        monkeypatch.setitem(tasks.STEPS, name, work)

    return do


def test_what_is_done_is_not_done_again(tmp_path, step):
    folder, did = Folder(tmp_path), []

    def work(job, number):
        did.append(number)
        return {"square": number * number}

    step("scan", work)
    folder.mark("scan", 1, said={"square": 1, "used": {"seconds": 2.0, "peak": 9e9}})
    with steps_by(threads, 2, folder, None) as steps:
        assert [each["square"] for each in steps.all("scan", range(4))] == [0, 1, 4, 9]
        assert [each["square"] for each in steps.all("scan", range(4))] == [0, 1, 4, 9]
    assert sorted(did) == [0, 2, 3]
    assert steps.times["scan"].tasks == 4
    assert steps.times["scan"].work >= 2.0
    assert steps.times["scan"].peak == 9e9


def test_each_end_of_a_task_is_told(tmp_path, step):
    def ended(error):
        def work(job, number):
            raise error

        step("scan", work)
        with steps_by(threads, 1, Folder(tmp_path), None) as steps:
            steps.all("scan", [3])

    with pytest.raises(ShoalError, match="^row 7 is odd$") as caught:
        ended(ShoalError("row 7 is odd"))
    assert not isinstance(caught.value, LostError)
    for number in (errno.ENOSPC, errno.EDQUOT):
        with pytest.raises(OSError, match="No space"):
            ended(OSError(number, "a secret"))
    with pytest.raises(
        LostError, match=r"step scan failed on part 3 \(PermissionError in line \d+ of work\); run"
    ):
        ended(PermissionError(errno.EACCES, "a secret"))
    with pytest.raises(LostError, match=r"\(KeyError in line \d+ of work\)"):
        ended(KeyError("a secret"))


def test_an_executor_that_breaks_is_a_loss_of_workers(tmp_path):
    class Broken:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def submit(self, *_):
            future = Future()
            future.set_exception(RuntimeError("a secret"))
            return future

        def shutdown(self, **_):
            pass

    def engine(work, n_jobs, messages):
        return Workers(Broken(), Post(None, Event()))

    lost = pytest.raises(LostError, match=r"the workers were lost \(RuntimeError\)")
    with steps_by(engine, 1, Folder(tmp_path), None) as steps, lost as caught:
        steps.all("scan", [0])
    assert "secret" not in str(caught.value)

    def none(work, n_jobs, messages):
        raise RuntimeError("no processes")

    with pytest.raises(LostError, match="no workers can be had"), steps_by(none, 1, Folder(tmp_path), None):
        pass


def test_progress_is_that_of_the_whole_job_and_never_falls(tmp_path):
    seen = []
    steps = Steps(Folder(tmp_path), threads(perform, 1, False), lambda *now: seen.append(now), 1000)
    steps.report("look", 0.5)
    steps.report("group", 0.0)
    steps.report("scan", 1.0)  # known before
    steps.report("count", 1.0)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[0] == (10, 1000)
    assert seen[-1] == (1000, 1000)


def test_every_step_has_its_share_of_the_time():
    assert sum(SHARES.values()) == 100
    assert list(tasks.STEPS) == list(SHARES)
    assert Status("done").ended == "done"
