"""The time that `seconds=` allows and the time that a fit takes; writes docs/methods/tables/time_kept.md.

    python benchmarks/time_kept.py            all rows, about six minutes
    python benchmarks/time_kept.py quick      every fourth row, nothing is written

A row is a table of normal numbers (n records, m attributes), k, and seconds. The whole `fit` is timed, by the
clock on the wall, without what numba takes to compile and load kernels. It may take `seconds` or, where that is
more, the time of the plain start, which is measured in the same run, and 5 % or half a second more, the larger
of the two. A row that takes longer is printed with a mark, and the script ends with status 1. Where `again` is
said, the steps that the fit recorded are done again, and the groups must be the same.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from shoal import MDAV, Auto, Blocked, Refined
from shoal.engines.timing import Stopwatch
from shoal.estimator import Microaggregator

TABLE = Path(__file__).parents[1] / "docs" / "methods" / "tables" / "time_kept.md"
PART, LEAST = 0.05, 0.5


class Row(NamedTuple):
    """A fit."""

    method: str
    n: int
    m: int
    k: int
    seconds: float
    again: bool = False


ROWS = [
    *(Row("refined", 100, 5, k, s) for k, s in ((2, 1), (5, 2), (20, 1), (40, 1))),
    *(Row("refined", 300, m, k, 1, True) for m in (2, 400) for k in (3, 10, 60)),
    *(Row("refined", 1_000, m, k, s) for m, s in ((2, 1), (10, 3), (100, 2)) for k in (3, 10, 50, 200)),
    *(Row("refined", 5_000, m, k, s) for m, s in ((2, 1), (10, 4), (100, 6)) for k in (2, 5, 20, 100, 500)),
    *(Row("refined", 10_000, 10, k, s) for k, s in ((3, 2), (5, 8), (50, 3), (200, 5), (200, 40), (1000, 4))),
    *(Row("refined", 20_000, m, k, 5) for m in (3, 30) for k in (5, 50)),
    *(Row("auto", 100, 5, k, 1) for k in (3, 10)),
    *(Row("auto", 1_000, m, k, 2, True) for m in (3, 30) for k in (5, 100)),
    *(Row("auto", 10_000, m, k, 3) for m in (2, 10, 100) for k in (3, 30, 300)),
    *(Row("auto", 50_000, m, k, 5) for m in (5, 20) for k in (5, 100, 1000)),
    *(Row("auto", 200_000, m, k, s) for m, s in ((3, 4), (10, 10)) for k in (3, 10, 100, 2000)),
]


def method(row: Row) -> Microaggregator:
    """The method of a row."""
    return Refined(k=row.k, seconds=row.seconds) if row.method == "refined" else Auto(k=row.k, seconds=row.seconds)


def plain_start(row: Row) -> Microaggregator:
    """What the method begins with."""
    return (
        MDAV(k=row.k)
        if row.method == "refined"
        else Blocked(MDAV(k=row.k), max_size=max(20_000, 2 * row.k), sweeps=0)
    )


def timed(model: Microaggregator, X: np.ndarray) -> float:
    """The seconds of a fit, without compiling."""
    with Stopwatch() as watch:
        model.fit(X)
    return watch.seconds


class Measured(NamedTuple):
    """What came of a row."""

    start: float
    taken: float
    loss: float  # beside that of the start
    repeated: bool

    def over(self, row: Row) -> float:
        """The seconds beyond what was allowed or needed."""
        return self.taken - max(row.seconds, self.start)

    def kept(self, row: Row) -> bool:
        """Whether the promise was."""
        return self.over(row) <= max(PART * max(row.seconds, self.start), LEAST) and self.repeated


def measured(row: Row) -> Measured:
    """A row fitted, and its start alone."""
    X = np.random.default_rng(row.n + row.m).normal(size=(row.n, row.m))
    start, model = plain_start(row), method(row)
    least, taken = timed(start, X), timed(model, X)
    repeated = True
    if row.again:
        repeated = np.array_equal(
            method(row).set_params(steps=model.steps_, n_jobs=1).fit(X).labels_, model.labels_
        )
    return Measured(least, taken, model.information_loss_ / start.information_loss_, repeated)


def line(row: Row, found: Measured) -> str:
    """A line of the table."""
    size = f"| {row.method} | {row.n} | {row.m} | {row.k} | {row.seconds:g} "
    return f"{size}| {found.start:.2f} | {found.taken:.2f} | {found.over(row):+.2f} | {found.loss:.3f} |"


def main() -> int:
    quick = "quick" in sys.argv
    lines, broken, most = [], 0, -np.inf
    for row in ROWS[::4] if quick else ROWS:
        found = measured(row)
        broken += not found.kept(row)
        most = max(most, found.over(row))
        lines.append(line(row, found))
        print(lines[-1] + ("" if found.kept(row) else "  BROKEN"), flush=True)
    print(f"{len(lines)} rows, {broken} broken, the largest overrun {most:.2f} s")
    if not quick:
        head = "| method | n | m | k | seconds | start | taken | over | loss, start = 1 |\n"
        TABLE.write_text(
            head + "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n" + "\n".join(lines) + "\n", encoding="utf-8"
        )
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
