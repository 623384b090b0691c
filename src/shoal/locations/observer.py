"""Somebody who knows what every device was told at every step, and nothing else: among how many is each hidden?

The observer follows a device from its first answer on and asks who could be the same one: everybody who was told
the same at every step. It does not know when others signed up, so a newcomer counts who was told the same ever
since. An observer who does know that leaves newcomers out; only cohorts help against it.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

Told = Mapping[str, tuple[int, Hashable]]
"""For each device that has an answer: its principal and the answer."""


@dataclass(frozen=True)
class Hidden:
    """Among how many distinct principals a device is hidden.

    Parameters
    ----------
    now : int
        Those who are told the same at this step.
    followed : int
        Those who were told the same at every step since the first answer of the device, as far as they were there.
    strictly : int
        The same without those whose first answer came later.
    """

    now: int
    followed: int
    strictly: int


class Observer:
    """Follows devices from step to step."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}  # the step of the first answer
        # For each step, who was there: the same number for the same answers at that step and ever since.
        self._since: list[dict[str, int]] = []

    def look(self, told: Told) -> dict[str, Hidden]:
        """One more step."""
        step = len(self._since)
        self._first = {device: self._first.get(device, step) for device in told}
        self._since.append(dict.fromkeys(told, 0))
        self._since = [_told_apart(numbers, told) for numbers in self._since]
        return self._hidden(told)

    def _hidden(self, told: Told) -> dict[str, Hidden]:
        same_now = _principals({device: answer for device, (_, answer) in told.items()}, told)
        strictly = [_principals(numbers, told) for numbers in self._since]
        newcomers = [
            _principals({each: number for each, number in numbers.items() if self._first[each] == step}, told)
            for step, numbers in enumerate(self._since)
        ]
        found = {}
        for device, (_, answer) in told.items():
            first = self._first[device]
            strict = strictly[first][self._since[first][device]]
            later = (newcomers[s].get(self._since[s][device], set()) for s in range(first + 1, len(self._since)))
            found[device] = Hidden(len(same_now[answer]), len(strict.union(*later)), len(strict))
        return found


def _told_apart(numbers: Mapping[str, int], told: Told) -> dict[str, int]:
    """Those who had the same number go on sharing one if they are told the same now; who is gone is left out."""
    given: dict[tuple[int, Hashable], int] = {}
    return {
        device: given.setdefault((number, told[device][1]), len(given))
        for device, number in numbers.items()
        if device in told
    }


def _principals(marks: Mapping[str, Hashable], told: Told) -> dict[Hashable, set[int]]:
    """The principals of the devices with each mark."""
    found: dict[Hashable, set[int]] = defaultdict(set)
    for device, mark in marks.items():
        found[mark].add(told[device][0])
    return dict(found)
