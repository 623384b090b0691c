"""A comparison: its rows, what to take, and how both are shown, written and drawn."""

import csv
import io
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.cards import Card
from shoal.comparison.advice import Recommendation, recommended
from shoal.comparison.rows import DEFINITIONS, HEADER, Row, cells_of
from shoal.errors import ShoalError
from shoal.files.atomic import atomically, check_target
from shoal.version import __version__

PICTURES = (".svg", ".png")
WRITTEN = (".json", ".csv")


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Several methods with several k on one table.

    Attributes
    ----------
    rows : one for each setting, in the order of k and then of the methods
    name : of the file; empty for a table in memory
    records : how many the table has
    interrupted : whether a Ctrl-C ended it before all settings were done
    recommendation : what to take for each k, and why
    """

    rows: tuple[Row, ...]
    name: str
    records: int
    interrupted: bool = False

    def __repr__(self) -> str:
        able = sum(row.is_ok for row in self.rows)
        return f"Comparison({len(self.rows)} settings, {able} with figures: {self.recommendation.says})"

    def _repr_html_(self) -> str:
        """What a notebook shows: figures, and no value of the table."""
        choices = self.recommendation.choices
        return Card(
            f"Comparison{': ' + self.name if self.name else ''}",
            [(f"{choice.loss:.2f} %", f"k = {choice.k}, {choice.method}") for choice in choices],
            header=HEADER,
            rows=[cells_of(row) for row in self.rows],
            notes=[self.recommendation.says],
            steps=[
                ('comparison.plot("map.svg")', "draws risk, loss and time"),
                ('comparison.report("comparison.html")', "writes all this as a page"),
            ],
        ).html()

    @cached_property
    def recommendation(self) -> Recommendation:
        """What to take for each k, and why."""
        return recommended(self.rows)

    @property
    def cached(self) -> int:
        """How many rows are those of an earlier run."""
        return sum(row.cached for row in self.rows)

    def table(self) -> pa.Table:
        """The rows as a table of Arrow; `.to_pandas()` makes a dataframe of it."""
        names = [each.name for each in fields(Row)]
        return pa.table(
            {name: pa.array([getattr(row, name) for row in self.rows], _TYPES.get(name)) for name in names}
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything, as JSON takes it, with the definition of every figure."""
        return {
            "shoal": __version__,
            "input": self.name or None,
            "records": self.records,
            "interrupted": self.interrupted,
            "recommendation": self.recommendation.as_dict(),
            "rows": [asdict(row) for row in self.rows],
            "definitions": dict(DEFINITIONS),
        }

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)

    def to_csv(self) -> str:
        """The rows as a CSV file."""
        text = io.StringIO()
        writer = csv.DictWriter(text, [each.name for each in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in self.rows)
        return text.getvalue()

    def write(self, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
        """Write everything as JSON, or the rows as CSV, by the ending of the name."""
        target = checked_name(path, WRITTEN)
        with atomically(target, overwrite) as temporary:
            text = self.to_csv() if target.suffix.lower() == ".csv" else self.to_json() + "\n"
            temporary.write_text(text, encoding="utf-8")
        return target

    def plot(self, path: str | os.PathLike[str], risk: str = "prosecutor", overwrite: bool = False) -> Path:
        """Draw loss over risk, and loss over time, as SVG or PNG by the ending of the name.

        `risk` is "prosecutor", the highest risk counted on the groups, or "linkage", the records found by it.
        """
        from shoal.comparison.drawing import drawn  # takes long to load, and few need it

        target = checked_name(path, PICTURES)
        check_target(target, overwrite)
        picture = drawn(self.rows, risk, target.suffix.lower().removeprefix("."))
        with atomically(target, overwrite) as temporary:
            temporary.write_bytes(picture)
        return target

    def report(self, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
        """Write everything as one HTML file that needs nothing else; it shows no value of the table."""
        from shoal.comparison.page import render

        target = Path(path)
        check_target(target, overwrite)
        page = render(self)
        with atomically(target, overwrite) as temporary:
            temporary.write_text(page, encoding="utf-8")
        return target


_TYPES = {
    **{each.name: pa.float64() for each in fields(Row) if each.type == float | None},
    **{each.name: pa.int64() for each in fields(Row) if each.type in (int, int | None)},
}


def checked_name(path: str | os.PathLike[str], endings: Sequence[str]) -> Path:
    """The name of a file, whose ending says what to write."""
    target = Path(path)
    if target.suffix.lower() not in endings:
        raise ShoalError(f"{target} must end in {' or '.join(endings)}, which says what to write")
    return target


def check_files(
    source: Path | None, output: Path | None, plot: Path | None, report: Path | None, overwrite: bool
) -> None:
    """Whether everything can be written, before any work is done."""
    named = [
        *([] if output is None else [checked_name(output, WRITTEN)]),
        *([] if plot is None else [checked_name(plot, PICTURES)]),
        *([] if report is None else [report]),
    ]
    for place, target in enumerate(named):
        check_target(target, overwrite)
        if source is not None and target.exists() and source.exists() and target.samefile(source):
            raise ShoalError(f"{target} is the input; choose another name for what is written")
        if target.resolve() in [other.resolve() for other in named[:place]]:
            raise ShoalError(f"{target} is named twice; choose another name for one of the files")
