"""Engines by the names that users know them by."""

from shoal.engines.dask import dask
from shoal.engines.order import Engine
from shoal.engines.processes import processes
from shoal.engines.threads import threads
from shoal.errors import ShoalError, some

ENGINES = ("threads", "processes", "dask")


def engine_named(name: str, scheduler: str | None, memory: int | None) -> Engine:
    """The engine of a name; memory is the most that a worker may hold, where the engine can see to it."""
    if name not in ENGINES:
        raise ShoalError(f"there is no engine {name!r}; there are {some(ENGINES)}")
    if scheduler is not None and name != "dask":
        raise ShoalError(f"a scheduler is for the engine 'dask', and this one is {name!r}; leave one of them out")
    if name == "dask":
        return dask(scheduler, memory)
    return threads if name == "threads" else processes
