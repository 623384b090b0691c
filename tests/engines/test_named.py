import pytest

from shoal.engines.named import ENGINES, engine_named
from shoal.engines.processes import processes
from shoal.engines.threads import threads
from shoal.errors import ShoalError


def test_engines_have_names():
    assert ENGINES == ("threads", "processes", "dask")
    assert engine_named("threads", None, 10**9) is threads
    assert engine_named("processes", None, None) is processes
    with pytest.raises(ShoalError, match="there is no engine 'ray'; there are threads, processes, dask"):
        engine_named("ray", None, None)


def test_a_scheduler_is_for_dask_only():
    for name in ("threads", "processes"):
        with pytest.raises(ShoalError, match=f"a scheduler is for the engine 'dask', and this one is '{name}'"):
            engine_named(name, "tcp://127.0.0.1:1", None)


def test_dask_has_the_scheduler_and_the_memory(monkeypatch):
    asked = []
    monkeypatch.setattr("shoal.engines.named.dask", lambda *given: asked.append(given) or threads)
    assert engine_named("dask", "tcp://10.0.0.1:8786", 4_000) is threads
    assert asked == [("tcp://10.0.0.1:8786", 4_000)]
