"""A clock in the place of that of the searches."""

from types import SimpleNamespace

from shoal.search import deadline


def run_on(clock, monkeypatch):
    """All searches look at this clock, on which nothing is compiled."""
    monkeypatch.setattr(deadline, "monotonic", clock)
    monkeypatch.setattr(deadline, "compiling", lambda: SimpleNamespace(compiling=0.0))
