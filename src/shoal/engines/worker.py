"""The worker's side: what it works with, whom it tells how far it is, and whether anybody still waits for it.

A worker begins with its work, a function of one task, and then gets the tasks. So what is large, such as a table,
goes to each worker once. Work and tasks must be such that they can be pickled: functions of a module, or frozen
dataclasses with `__call__`.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager
from threading import local
from typing import Any, NamedTuple, Protocol

Work = Callable[[Any], Any]


class Line(Protocol):
    """What messages go through; the queues of threads and of processes both do."""

    def put(self, message: Any) -> None:
        """Send a message."""

    def get_nowait(self) -> Any:
        """The next message; an error of `queue` where there is none."""


class Flag(Protocol):
    """What says that nobody waits any longer; the events of threads and of processes both do."""

    def set(self) -> None:
        """Say so."""

    def is_set(self) -> bool:
        """Whether it was said."""


class Post(NamedTuple):
    """A worker's connection to who gave it its tasks."""

    messages: Line | None
    stop: Flag


class Workers(NamedTuple):
    """Workers who have begun, and the connection to them."""

    executor: Executor
    post: Post


class _Here(local):
    """What this thread works with; every process has its own."""

    work: Work
    tell: Callable[[Any], None] | None = None
    stop: Flag | None = None


_here = _Here()


def begin(work: Work, post: Post) -> None:
    """The first thing that a worker does."""

    _here.work, _here.stop = work, post.stop
    _here.tell = None if post.messages is None else post.messages.put


def run(task: Any) -> Any:
    """The result of one task."""
    return _here.work(task)


def tell(message: Any = None) -> None:
    """Send a message from inside a task to who gave it; ends the task if nobody waits for it any longer.

    Work that takes long calls this now and then, with or without something to say.
    """
    if _here.tell is not None:
        _here.tell(message)
    end_if_asked()


def end_if_asked() -> None:
    """End the task that this thread works on if nobody waits for it, however deep inside it is."""
    if _here.stop is not None and _here.stop.is_set():
        raise CancelledError


@contextmanager
def heard_by(heard: Callable[[Any], None] | None) -> Iterator[None]:
    """Tasks that run here, without a worker, tell this function."""
    before, _here.tell = _here.tell, heard
    try:
        yield
    finally:
        _here.tell = before
