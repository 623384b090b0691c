"""Threads of this process: nothing is copied, and kernels run side by side."""

from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event

from shoal.engines.worker import Post, Work, Workers, begin


def threads(work: Work, n_jobs: int, messages: bool) -> Workers:
    """So many threads."""
    post = Post(SimpleQueue() if messages else None, Event())
    return Workers(ThreadPoolExecutor(n_jobs, initializer=begin, initargs=(work, post)), post)
