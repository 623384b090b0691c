"""Who hands out the tasks of a job: one step after the other, to workers that stay open for all of them."""

import errno
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter, thread_time
from typing import Any

from shoal.engines import Engine, results
from shoal.engines.worker import Workers
from shoal.errors import ShoalError
from shoal.files.sealing import content_of
from shoal.parameters import Progress
from shoal.stream.cluster.folder import Folder
from shoal.stream.cluster.task import ENDS, Task, perform
from shoal.stream.figures import Time

SHARES = {
    "look": 2,
    "scan": 8,
    "untouched": 3,
    "tally": 1,
    "measure": 4,
    "spread": 6,
    "group": 44,
    "edge": 3,
    "exchange": 6,
    "close": 3,
    "release": 4,
    "deal": 8,
    "write": 5,
    "check": 2,
    "count": 1,
}
"""What each step takes of the time, in percent, as measured with Auto on ten quasi-identifiers."""


class LostError(ShoalError):
    """Workers are gone; what was done is kept, and the same call resumes."""


@dataclass
class Steps:
    """The steps of a job."""

    folder: Folder
    workers: Workers
    progress: Progress | None
    size: int = 1
    times: dict[str, Time] = field(default_factory=dict)
    _last: int = 0

    def all(self, step: str, numbers: Iterable[int]) -> list[dict[str, Any]]:
        """Have the tasks of a step done, those that are not done yet; what is known of each."""
        wanted, began = list(numbers), perf_counter()
        waiting = [number for number in wanted if self.folder.marked(step, number) is None]
        done = len(wanted) - len(waiting)
        tasks = [Task(str(self.folder.path), step, number) for number in waiting]
        for task, status in zip(tasks, self._answers(tasks), strict=True):
            self._check(task, status.ended)
            done += 1
            self.report(step, done / len(wanted))
        self.report(step, 1.0)
        said = [self._said(step, number) for number in wanted]
        used = [each["used"] for each in said]
        self.times[step] = Time(
            len(said),
            sum(each["seconds"] for each in used),
            perf_counter() - began,
            max((each["peak"] for each in used), default=0.0),
        )
        return said

    def _said(self, step: str, number: int) -> dict[str, Any]:
        """What a task that was done has said."""
        if (said := self.folder.awaited(step, number)) is None:
            raise LostError(
                f"a worker has done step {step} and its files are not here; all need the same files under the "
                "same names; run the same command again; it resumes here"
            )
        return said

    def here(self, step: str, work: Callable[[Progress], Any]) -> Any:
        """Do a step that only the client can do."""
        began, worked = perf_counter(), thread_time()
        found = work(lambda done, total: self.report(step, min(1.0, done / max(1, total))))
        self.times[step] = Time(1, thread_time() - worked, perf_counter() - began, 0.0)
        return found

    def report(self, step: str, part: float) -> None:
        """Say how far the whole job is."""
        before = sum(list(SHARES.values())[: list(SHARES).index(step)])
        done = round((before + SHARES[step] * part) / 100 * self.size)
        self._last = max(self._last, min(self.size, done))
        if self.progress is not None:
            self.progress(self._last, self.size)

    def _answers(self, tasks: list[Task]) -> Iterator[Any]:
        try:
            yield from results(self.workers, tasks)
        except (ShoalError, GeneratorExit):
            raise
        except Exception as error:
            raise LostError(
                f"the workers were lost ({type(error).__name__}): one may have been stopped for want of memory, "
                "or the scheduler is gone; run the same command again; it resumes here"
            ) from None

    def _check(self, task: Task, ended: str) -> None:
        if ended == "done":
            return
        if ended == "refused":
            raise ShoalError(content_of(self.folder.file("refused", task.number, ending=f"-{task.step}")).decode())
        if ended == "full":
            raise OSError(errno.ENOSPC, "No space left on device")
        if ended in ENDS:
            raise LostError(f"a worker {ENDS[ended]}; run the same command again; it resumes here")
        raise LostError(
            f"step {task.step} failed on part {task.number} ({ended}); run the same command again; it resumes here"
        )


@contextmanager
def steps_by(engine: Engine, n_jobs: int, folder: Folder, progress: Progress | None) -> Iterator[Steps]:
    """The steps of a job, with so many workers."""
    try:
        workers = engine(perform, n_jobs, False)
    except ShoalError:
        raise
    except Exception as error:
        raise LostError(f"no workers can be had ({type(error).__name__}: {error})") from None
    with workers.executor:
        yield Steps(folder, workers, progress)
