"""Metrics in the text format of Prometheus.

Nothing here is an exact size of a cell, and no line tells of a single device. Routes are the paths of the service;
every other path counts as "other", so a caller can neither make the list grow nor write into it.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Upper bounds of the histogram of latencies, in seconds."""

WAITING = ("none", "fewer than k", "k or more")
TYPE = "text/plain; version=0.0.4; charset=utf-8"

Sample = tuple[str, Mapping[str, object], float]


@dataclass
class Watched:
    """What is known of the worker: its process, how often it had to be started again, and what it has said."""

    process: int | None = None
    restarts: int = 0
    pieces: int = 0
    promises: dict[str, bool] | None = None

    def heard(self, said: Mapping[str, Any]) -> None:
        """The worker has said something."""
        if said.get("done"):
            self.pieces += 1
        if "promises" in said:
            self.promises = dict(said["promises"])


class Metrics:
    """What was counted since this process started. Only the event loop writes to it."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._latencies: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """One request was answered."""
        self._requests[route, method, status] += 1
        if route not in self._latencies:
            self._latencies[route] = [0] * (len(BOUNDS) + 1)
        self._latencies[route][bisect_left(BOUNDS, seconds)] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]  # a Counter of seconds

    def text(self, figures: Mapping[str, Any], watched: Watched | None = None) -> str:
        """Everything as text, with the figures of the service and what is known of the worker."""
        lines = [*self._of_requests(), *_of_service(figures), *(_of_worker(watched) if watched else ())]
        return "\n".join(lines) + "\n"

    def _of_requests(self) -> Iterable[str]:
        counted: list[Sample] = [
            ("", {"route": route, "method": method, "status": status}, number)
            for (route, method, status), number in sorted(self._requests.items())
        ]
        yield from family("http_requests_total", "counter", "requests that were answered", counted)
        timed: list[Sample] = []
        for route, numbers in sorted(self._latencies.items()):
            below = 0
            for bound, number in zip((*BOUNDS, "+Inf"), numbers, strict=True):
                below += number
                timed.append(("_bucket", {"route": route, "le": bound}, below))
            timed += [("_sum", {"route": route}, self._seconds[route]), ("_count", {"route": route}, below)]
        yield from family("http_request_seconds", "histogram", "seconds until the answer was sent", timed)


def _of_service(figures: Mapping[str, Any]) -> Iterable[str]:
    """The figures of the service, class by class."""
    yield from family(
        "change_number", "counter", "goes up when a cell is made or retired", [("", {}, figures["change"])]
    )
    yield from family(
        "history_promised", "gauge", "1: redraws keep histories", [("", {}, float(bool(figures["history"])))]
    )
    classes = figures["classes"]
    for name, key, told in (
        ("cells", "cells", "live cells"),
        ("distortion_kilometres", "distortion_km", "root mean square distance from homes to centroids"),
        ("drift", "drift", "share that the cells lose more than a fresh drawing would, as estimated"),
        ("short_atoms", "short_atoms", "atoms that cancellations brought below k; they are never split"),
    ):
        known = [("", {"k": each["k"]}, float(each[key])) for each in classes if each.get(key) is not None]
        yield from family(name, "gauge", told, known)
    levels: list[Sample] = [
        ("", {"k": each["k"], "level": level}, float(_level(each) == level))
        for each in classes
        for level in WAITING
    ]
    yield from family("waiting", "gauge", "1 at the level of devices that wait for an answer", levels)


def _level(figures: Mapping[str, Any]) -> str:
    """How many wait, with the letter k in place of its number."""
    return str(figures["waiting"]).replace(str(figures["k"]), "k")


def _of_worker(watched: Watched) -> Iterable[str]:
    """What the worker does: drawings, redraws and devices that were let in are pieces of work."""
    yield from family("worker_running", "gauge", "1: it runs", [("", {}, float(watched.process is not None))])
    yield from family("worker_restarts_total", "counter", "starts after it died", [("", {}, watched.restarts)])
    yield from family(
        "redraws_total", "counter", "pieces of work: drawings and redraws", [("", {}, watched.pieces)]
    )
    kept: list[Sample] = [
        ("", {"promise": name}, float(holds)) for name, holds in (watched.promises or {}).items()
    ]
    yield from family("promise_holds", "gauge", "1: the promise held when it was last checked", kept)


def family(name: str, kind: str, told: str, samples: Iterable[Sample]) -> Iterable[str]:
    """The lines of one metric; none where nothing is known."""
    listed = list(samples)
    if listed:
        yield f"# HELP shoal_{name} {told}"
        yield f"# TYPE shoal_{name} {kind}"
    for ending, labels, value in listed:
        said = ",".join(f'{label}="{_escaped(str(text))}"' for label, text in labels.items())
        yield f"shoal_{name}{ending}{f'{{{said}}}' if said else ''} {_number(value)}"


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
