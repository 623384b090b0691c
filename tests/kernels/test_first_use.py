import numpy as np
import pytest

from shoal.kernels import first_use
from shoal.kernels.compiled import kernel
from shoal.kernels.first_use import Waiting, waiting_told
from shoal.terminal import preparing


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    now = [100.0]
    monkeypatch.setattr(first_use, "monotonic", lambda: now[0])
    return now


def test_it_is_said_once_when_compiling_takes_more_than_a_moment(clock):
    told = []
    waiting = Waiting(lambda: told.append(clock[0]))
    for seconds in (0.25, 0.5, 5.0):
        waiting.on_start(None)
        assert told == ([] if seconds < 5 else [clock[0]])
        clock[0] += seconds
        waiting.on_end(None)
        clock[0] += 50.0  # at work
    waiting.on_start(None)
    assert len(told) == 1


def test_a_kernel_within_another_counts_once_and_is_told_at_once(clock):
    told = []
    waiting = Waiting(lambda: told.append(clock[0]))
    waiting.on_start(None)
    clock[0] += 0.25
    waiting.on_start(None)
    waiting.on_end(None)
    assert told == []
    clock[0] += 0.375
    waiting.on_start(None)
    assert told == [100.625]


def doubled(values):
    return values * 2


@pytest.mark.parametrize("hidden", [True, False])
def test_the_command_says_so_unless_it_is_to_be_quiet(monkeypatch, capsys, hidden):
    monkeypatch.setattr(first_use, "PATIENCE", -1.0)
    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.load", lambda *_: None)
    with preparing(hidden):
        kernel(doubled)(np.ones(3))
    said = capsys.readouterr().err
    assert said.startswith("" if hidden else "shoal: preparing, at the first use only")
    assert said.count("\n") == (0 if hidden else 1)


def test_what_comes_from_the_disk_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(first_use, "PATIENCE", -1.0)
    kernel(doubled)(np.ones(3))
    with waiting_told(lambda: pytest.fail("nothing is compiled")):
        assert kernel(doubled)(np.ones(3)).tolist() == [2.0, 2.0, 2.0]
