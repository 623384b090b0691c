"""Workers of a Dask cluster: one that runs somewhere, or processes on this machine.

Dask only runs tasks; its collections and its shuffle are not used. A worker that is lost is no harm: its tasks run
again elsewhere. What the scheduler sees of a task is a name, a path and numbers.
"""

from concurrent.futures import Executor, Future
from importlib import import_module
from logging import CRITICAL, getLogger
from threading import Event
from typing import Any
from uuid import uuid4
from warnings import catch_warnings, simplefilter

from shoal.engines.order import Engine
from shoal.engines.worker import Post, Work, Workers, begin
from shoal.errors import ShoalError

PATIENCE = 30
"""Seconds to wait for a scheduler."""

RETRIES = 3
"""How often a task runs again whose worker is lost."""


def dask(scheduler: str | None, memory: int | None) -> Engine:
    """Workers of the scheduler at an address, or so many processes here, each with a limit of memory."""

    def opened(work: Work, n_jobs: int, messages: bool) -> Workers:
        return Workers(Scheduled(work, client_of(scheduler, n_jobs, memory)), Post(None, Event()))

    return opened


def client_of(scheduler: str | None, n_jobs: int, memory: int | None) -> Any:
    """A client, with a cluster of its own where there is no scheduler."""
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise ShoalError("the engine 'dask' needs Dask: pip install 'shoal[dask]'") from None
    if scheduler is not None:
        try:
            return distributed.Client(scheduler, timeout=PATIENCE, set_as_default=False)
        except OSError:
            raise ShoalError(
                f"there is no scheduler at {scheduler}; start one with 'dask scheduler', or leave it out for "
                "workers on this machine"
            ) from None
        except (ValueError, AssertionError) as error:  # Dask has no other words for an empty address
            why = f" ({error})" if str(error) else ""
            raise ShoalError(
                f"{scheduler!r} is no address of a scheduler{why}; write it such as tcp://10.0.0.1:8786"
            ) from None
    with catch_warnings():
        simplefilter("ignore")  # such as of a port that another cluster has
        cluster = distributed.LocalCluster(
            n_workers=n_jobs,
            threads_per_worker=1,
            memory_limit=memory or 0,
            processes=True,
            dashboard_address=None,
            host="127.0.0.1",
            silence_logs=CRITICAL,
        )
    client = distributed.Client(cluster, set_as_default=False)
    client.own_cluster = cluster
    return client


class Scheduled(Executor):
    """An executor of `concurrent.futures` whose tasks a scheduler hands out."""

    def __init__(self, work: Work, client: Any) -> None:
        self._work, self._client = work, client
        self._inner = client.get_executor(retries=RETRIES, pure=False)
        self._open = True
        self._log = getLogger("distributed.client")  # of a lost scheduler it tells a traceback
        self._level = self._log.level
        self._log.setLevel(CRITICAL)

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """A task for whichever worker is free; it begins with the work."""
        (task,) = args
        name = f"{getattr(task, 'key', 'task')}-{uuid4().hex}"
        future: Future[Any] = self._inner.submit(begun, self._work, task, fn, key=name)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the workers go; those of this machine end."""
        if not self._open:
            return
        self._open = False
        self._inner.shutdown(wait=False)
        cluster = getattr(self._client, "own_cluster", None)
        self._client.close()
        if cluster is not None:
            cluster.close()
        self._log.setLevel(self._level)


def begun(work: Work, task: Any, fn: Any) -> Any:
    """A task in a worker that may never have seen this work."""
    begin(work, Post(None, Event()))
    return fn(task)
