"""Processes on this machine: each has a copy of the work, and nothing else in common with the others."""

import signal
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from shoal.engines.worker import Post, Work, Workers, begin


def processes(work: Work, n_jobs: int, messages: bool) -> Workers:
    """So many processes, started afresh: a copy of a process with threads would be a copy of their locks too."""
    context = get_context("spawn")
    queue = context.Queue() if messages else None
    post = Post(queue, context.Event())
    executor = ProcessPoolExecutor(n_jobs, context, begin_apart, (work, queue, post.stop))
    return Workers(executor, post)


def begin_apart(work: Work, queue: Any, stop: Any) -> None:
    """The first thing that such a process does: a Ctrl-C is for who waits, who then says stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if queue is not None:
        queue.cancel_join_thread()  # it ends even if nobody reads its last messages
    begin(work, Post(queue, stop))
