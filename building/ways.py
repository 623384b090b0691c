"""The ways through the program whose kernels come with a wheel: what people do first, on small invented tables."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import shoal
from shoal.files import read


def numbers(n: int, m: int) -> dict[str, Any]:
    """A table of numbers."""
    table = np.random.default_rng(n + m).normal(size=(n, m)).round(3)
    return {f"q{column}": table[:, column] for column in range(m)} | {"number": np.arange(n)}


def kinds(n: int) -> dict[str, Any]:
    """A table of many kinds of columns."""
    rng = np.random.default_rng(n)
    days = np.datetime64("2020-01-01") + rng.integers(0, 900, n)
    return {
        "q0": rng.integers(18, 90, n),
        "q1": rng.choice(["red", "green", "blue", "black"], n),
        "q2": days.astype(str),
        "q3": rng.normal(size=n).round(2),
        "c": rng.choice(["flu", "gout", "none", "asthma"], n),
        "w": rng.uniform(1, 9, n).round(2),
    }


def written(table: dict[str, Any], path: Path) -> list[str]:
    """The table as a file; its columns that are quasi-identifiers."""
    rows = zip(*(column.tolist() for column in table.values()), strict=True)
    path.write_text("\n".join(",".join(map(str, row)) for row in [tuple(table), *rows]) + "\n")
    return [name for name in table if name.startswith("q")]


def release(table: Callable[[], dict[str, Any]], k: int, options: dict[str, Any], path: Path) -> None:
    """From a file to a file."""
    columns = written(table(), path)
    made = shoal.anonymize(read(path, header=True), k, columns, **options)
    made.write(path.with_suffix(".out.csv"), report=path.with_suffix(".html") if not options else None)


def plain(n: int, m: int, k: int, **options: Any) -> Callable[[Path], None]:
    """A release of numbers."""
    return partial(release, partial(numbers, n, m), k, options)


def mixed(n: int, k: int, **options: Any) -> Callable[[Path], None]:
    """A release of many kinds of columns."""
    return partial(release, partial(kinds, n), k, options)


WAYS = [
    plain(1080, 13, 5),
    plain(1000, 13, 5, method="mdav"),
    plain(6000, 4, 5),
    plain(3000, 4, 400),
    plain(25_000, 3, 10),
    mixed(500, 5),
    plain(40, 2, 3),
    plain(300, 1, 4),
    *(plain(200, 3, 4, method=name) for name in ("vmdav", "cbfs", "pcl")),
    mixed(500, 5, method="mdav"),
]
