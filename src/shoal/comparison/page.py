"""The page of a comparison: what to take, both pictures, the table behind them, and what the figures are."""

from typing import TYPE_CHECKING

from shoal.comparison.drawing import drawn
from shoal.comparison.rows import DEFINITIONS, HEADER, cells_of
from shoal.templates import template
from shoal.version import __version__

if TYPE_CHECKING:
    from shoal.comparison.result import Comparison


def render(comparison: "Comparison") -> str:
    """The page; it needs nothing else."""
    advice = comparison.recommendation
    return template("comparison/page.html").render(
        name=comparison.name,
        records=comparison.records,
        version=__version__,
        says=advice.says,
        choices=[choice.says for choice in advice.choices] if len(advice.choices) > 1 else [],
        picture=drawn(comparison.rows, "prosecutor", "svg").decode(),
        header=HEADER,
        rows=[cells_of(row) for row in comparison.rows],
        definitions=DEFINITIONS,
    )
