from math import inf

import pytest

from shoal.search import deadline
from shoal.search.deadline import Deadline, now, within


def test_time_is_up_at_the_moment_itself(monkeypatch):
    monkeypatch.setattr(deadline, "monotonic", lambda: 100.0)
    assert now() == 100.0
    assert within(5.0) == Deadline(105.0)
    assert Deadline(105.0).left() == 5.0
    assert not Deadline(100.5).over()
    assert Deadline(100.0).over()
    assert Deadline(99.0).over()


def test_without_a_limit_time_is_never_up():
    assert within(inf).left() == pytest.approx(inf)
    assert not within(inf).over()
