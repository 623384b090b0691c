"""Tasks: a step's name and numbers, and the folder of the job. Any task can run twice, and at the same time.

A task reads files, writes files under fixed names, and says at last that it is done. What a worker gives back is a
status, never a value and never the message of an error, which may hold one: that is left in the folder.
"""

import errno
import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import thread_time
from typing import Any

from shoal.errors import ShoalError
from shoal.files.memory import give_back
from shoal.files.sealing import SealError, put, under
from shoal.stream.cluster import borders, cells, grouping, reading, untouched, writing
from shoal.stream.cluster.folder import whole
from shoal.stream.cluster.job import Job
from shoal.stream.cluster.seal import KEY, key_of
from shoal.version import __version__

STEPS: dict[str, Callable[..., dict[str, Any]]] = {
    "look": reading.look,
    "scan": reading.scan,
    "untouched": untouched.untouched,
    "tally": untouched.tally,
    "measure": reading.measure,
    "spread": cells.spread,
    "group": grouping.grouped,
    "edge": borders.edge,
    "exchange": borders.exchange,
    "close": borders.close,
    "release": grouping.released,
    "deal": writing.deal,
    "write": writing.write,
    "check": writing.check,
    "count": writing.count,
}
"""What each step does with a job and the numbers of a task; it gives back what is to be known of it."""


@dataclass(frozen=True)
class Task:
    """One task of a step."""

    folder: str
    step: str
    number: int
    version: str = __version__  # of the client

    @property
    def key(self) -> str:
        """What a scheduler calls it."""
        return f"{self.step}-{self.number}"


@dataclass(frozen=True)
class Status:
    """How a task ended: "done", "refused" (the folder says why), one of `ENDS`, or an error."""

    ended: str


ENDS = {
    "sealed": "cannot read the encrypted folder, or files in it have changed; see that it has cryptography and "
    f"the same {KEY} as this program",
    "other version": f"does not have version {__version__} of Shoal, as this program has; give all the same one",
    "elsewhere": "does not see the private folder beside the output; all need the same files under the same names",
}
"""What is to be said of a worker that cannot do what others can."""


def perform(task: Task) -> Status:
    """Do a task, unless it was done."""
    if task.version != __version__:
        return Status("other version")
    if not Path(task.folder).is_dir():
        return Status("elsewhere")
    try:
        with under(key_of(Path(task.folder))):
            return done(task)
    except SealError:
        return Status("sealed")
    except OSError as error:  # on a full disk nobody can say why
        return failed(error)


def done(task: Task) -> Status:
    """The same with the key of the folder, if it has one."""
    job = Job.at(task.folder)
    began = thread_time()
    try:
        if job.folder.marked(task.step, task.number) is None:
            said = STEPS[task.step](job, task.number)
            give_back()
            used = {"seconds": thread_time() - began, "peak": peak()}
            job.folder.mark(task.step, task.number, said={**said, "used": used})
        return Status("done")
    except SealError:
        raise
    except ShoalError as error:
        with whole(job.folder.file("refused", task.number, ending=f"-{task.step}")) as path:
            put(path, str(error).encode())
        return Status("refused")
    except OSError as error:
        return failed(error)
    except Exception as error:  # whose message may hold a value of the table
        return Status(without_values(error))


def failed(error: OSError) -> Status:
    """The system does not do what it should."""
    return Status("full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else without_values(error))


def without_values(error: BaseException) -> str:
    """What kind of error it is and where it came up."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" in line {trace.tb_lineno} of {trace.tb_frame.f_code.co_name}" if trace else ""
    return f"{type(error).__name__}{where}"


def peak() -> float:
    """The most memory that this process has held, in megabytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
