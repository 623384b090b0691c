"""How far the work is, over all passes: one number that rises to the size of the file."""

from shoal.parameters import Progress

SHARES = {
    "look": 3,
    "scan": 13,
    "untouched": 8,
    "settle": 4,
    "cut": 6,
    "group": 30,
    "release": 2,
    "spread": 13,
    "write": 13,
    "verify": 8,
}
"""What each pass takes of the time, in percent, as measured with MDAV on ten quasi-identifiers."""


class Passes:
    """Turns the progress of each pass into that of the whole."""

    def __init__(self, progress: Progress | None, size: int) -> None:
        self._progress, self._size = progress, max(1, size)
        self._last = 0

    def begin(self, name: str) -> Progress:
        """The progress of a pass; all passes before it are done."""
        start = sum(list(SHARES.values())[: list(SHARES).index(name)])
        share = SHARES[name]

        def step(done: int, total: int) -> None:
            self._report((start + share * min(1.0, done / max(1, total))) / 100)

        step(0, 1)
        return step

    def end(self) -> None:
        """All is done."""
        self._report(1.0)

    def _report(self, part: float) -> None:
        done = max(self._last, min(self._size, round(part * self._size)))
        self._last = done
        if self._progress:
            self._progress(done, self._size)
