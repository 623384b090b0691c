"""Work on many tasks at once, with the results in the order of the tasks, whoever finished first.

An engine opens workers: an executor of `concurrent.futures`, and the lines between them and who waits. Threads are
the default; another engine, such as the processes of `processes.py` or the cluster of `dask.py`, is one function
more.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from queue import Empty
from typing import Any, TypeVar

from shoal.engines.threads import threads
from shoal.engines.worker import Post, Work, Workers, end_if_asked, heard_by, run

Task = TypeVar("Task")
Result = TypeVar("Result")
Heard = Callable[[Any], None]
Engine = Callable[[Work, int, bool], Workers]
"""Called with the work, the number of workers and whether these have messages."""

_LOOK = 0.05  # seconds between two looks for messages, and for a Ctrl-C


_engine: ContextVar[Engine] = ContextVar("engine", default=threads)


@contextmanager
def using(engine: Engine) -> Iterator[None]:
    """Tasks run on this engine in here; those that a worker itself hands on run on threads."""
    before = _engine.set(engine)
    try:
        yield
    finally:
        _engine.reset(before)


def jobs(n_jobs: int | None) -> int:
    """The number of workers where None is one for each core."""
    return n_jobs or os.cpu_count() or 1


def in_order(
    work: Callable[[Task], Result], tasks: Sequence[Task], n_jobs: int, heard: Heard | None = None
) -> Iterator[Result]:
    """The result of each task, in the order of the tasks, from so many workers.

    Parameters
    ----------
    work : callable
        Called with a task. It must depend on nothing else, and change nothing but what is its own.
    tasks : sequence
        What is to be done. Work and tasks can be pickled.
    n_jobs : int
        How many workers there are. One, or one task alone, is done here and now.
    heard : callable, optional
        Called here with every message that work sends by `tell`.

    Notes
    -----
    An error in the work comes out in the turn of its task. After that, or after an error or a Ctrl-C here, the
    tasks that wait are dropped, and those that run end at their next `tell`. What they told before a Ctrl-C is
    heard.
    """
    if n_jobs == 1 or len(tasks) < 2:
        for task in tasks:
            with heard_by(heard):
                result = work(task)
            yield result
        return
    workers = _engine.get()(work, min(n_jobs, len(tasks)), heard is not None)
    with workers.executor:
        yield from results(workers, tasks, heard)


def results(workers: Workers, tasks: Sequence[Any], heard: Heard | None = None) -> Iterator[Any]:
    """The result of each task from workers who have begun; after an error they take no other tasks."""
    try:
        waiting = deque(workers.executor.submit(run, task) for task in tasks)
        while waiting:
            yield result_of(waiting.popleft(), workers.post, heard)
    except BaseException as error:
        workers.post.stop.set()
        workers.executor.shutdown(cancel_futures=True)
        if isinstance(error, KeyboardInterrupt):
            deliver(workers.post, heard)
        raise


def result_of(future: "Future[Result]", post: Post, heard: Heard | None) -> Result:
    """What a task gave, with an ear for messages meanwhile."""
    while not future.done():
        end_if_asked()
        wait([future], _LOOK)
        deliver(post, heard)
    deliver(post, heard)
    return future.result()


def deliver(post: Post, heard: Heard | None) -> None:
    """Hand on the messages that are there."""
    while heard is not None and post.messages is not None:
        try:
            message = post.messages.get_nowait()
        except Empty:
            return
        heard(message)
