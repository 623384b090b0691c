"""The report's plots, as SVG text to stand in a page."""

import io
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from shoal.attributes import Profile

Float = NDArray[np.float64]

BEFORE, AFTER, INK = "#9aa5b1", "#0f766e", "#1f2933"
_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, searchable, readable aloud
    "svg.hashsalt": "shoal",  # the same report for the same release
    "text.parse_math": False,  # a column called $x$ is called $x$
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.edgecolor": "#cbd2d9",
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": "#52606d",
    "ytick.color": "#52606d",
    "axes.titlesize": 10,
    "axes.titlecolor": INK,
}
_MOST_BARS = 40
_MOST_NUMBERS = 9
_MOST_WORDS = 4  # categories whose names stand side by side
_WIDEST = 1e300


def svg(figure: Figure) -> str:
    """A figure as an <svg> element, without the prolog of a file."""
    text = io.StringIO()
    figure.savefig(
        text, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None}, transparent=True
    )
    whole = text.getvalue()
    return whole[whole.index("<svg") :]


def group_sizes(sizes: NDArray[np.int64], k: int, whom: str = "records") -> str:
    """How many groups have how many records, or of whom k counts."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, 2.4))
        axes = figure.subplots()
        values, counts = np.unique(sizes, return_counts=True)
        if len(values) <= _MOST_BARS:
            bars = axes.bar(values.astype(str), counts, color=AFTER, width=0.7)
            axes.set_xlim(-0.6, max(len(values), 6) - 0.4)
            axes.margins(y=0.15)
            if len(values) <= 12:
                axes.bar_label(bars, fontsize=8, color=INK, padding=2)
        else:
            axes.hist(sizes, bins=_MOST_BARS, color=AFTER)
        axes.set_xlabel(f"{whom} in a group (k = {k})")
        axes.set_ylabel("groups")
        return svg(figure)


def losses(names: Sequence[str], percents: Sequence[float]) -> str:
    """The loss of each quasi-identifier."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, 0.5 + 0.28 * len(names)))
        axes = figure.subplots()
        bars = axes.barh(range(len(names)), percents, color=AFTER, height=0.65)
        axes.set_yticks(range(len(names)), [shortened(name) for name in names])
        axes.invert_yaxis()
        axes.bar_label(bars, fmt="%.2f %%", fontsize=8, color=INK, padding=3)
        axes.margins(x=0.12)
        axes.set_xlabel("information loss, 100 · SSE / SST")
        return svg(figure)


def spectrum(variances: Float, kept: int) -> str:
    """The share of the variance along each principal axis, those kept in colour, and what they hold together."""
    shares = 100 * variances / variances.sum()
    places = np.arange(1, len(shares) + 1)
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, 2.4))
        axes = figure.subplots()
        axes.bar(places, shares, color=[AFTER] * kept + [BEFORE] * (len(shares) - kept), width=0.7)
        axes.plot(places, np.cumsum(shares), ".-", color=INK, linewidth=1)
        axes.axvline(kept + 0.5, color=BEFORE, linestyle=":")
        axes.set_ylim(0, 105)
        axes.locator_params(axis="x", integer=True)
        axes.set_xlabel("principal axis (line: all up to this one)")
        axes.set_ylabel("variance, %")
        return svg(figure)


def distributions(columns: Sequence[Profile]) -> str:
    """Each attribute before and after, on the same bins."""
    across = min(3, len(columns))
    rows = -(-len(columns) // across)
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(3.1 * across, 2.0 * rows), layout="constrained")
        grid = figure.subplots(rows, across, squeeze=False)
        for axes, column in zip(grid.flat, columns, strict=False):
            distribution(axes, column)
        for axes in grid.flat[len(columns) :]:
            axes.set_visible(False)
        if grid[0, 0].has_data():
            grid[0, 0].legend(fontsize=8, frameon=False)
        return svg(figure)


def distribution(axes: Axes, column: Profile) -> None:
    """One attribute: filled before, a line after; a bar for each category where it has categories."""
    original, released = (part[~np.isnan(part)] for part in (column.before, column.after))
    if column.levels:
        edges = (np.arange(len(column.levels) + 1) - 0.5).tolist()
        many = len(column.levels) > _MOST_WORDS
        shown = [shortened(level, 12) for level in column.levels]
        axes.set_xticks(range(len(shown)), shown, rotation=90 if many else 0, fontsize=6 if many else 8)
    elif not len(original) or not len(released):
        edges = []
        axes.set_xlabel("no values")
    elif np.abs(original).max() < _WIDEST:
        edges = bin_edges(original, released).tolist()
    else:
        edges = []
        axes.set_xlabel("too wide to draw")
    if edges:
        axes.hist(original, bins=edges, color=BEFORE, alpha=0.55, label="before")
        axes.hist(released, bins=edges, histtype="step", color=AFTER, linewidth=1.4, label="after")
    axes.set_title(shortened(column.name), loc="left")
    if column.unit:
        axes.set_xlabel(column.unit, fontsize=7)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    if not column.levels:
        axes.locator_params(axis="x", nbins=5)


def bin_edges(original: Float, released: Float) -> Float:
    """About forty bins, each some whole number of the column's own steps wide, so that none is favoured."""
    low, high = float(min(original.min(), released.min())), float(max(original.max(), released.max()))
    distinct = np.unique(original)
    step = float(np.diff(distinct).min()) if len(distinct) > 1 else 1.0
    steps = (high - low) / step
    if not np.isfinite(steps) or steps > 1e9:
        return np.linspace(low, high, _MOST_BARS + 1)
    width = step * max(1.0, np.ceil((steps + 1) / _MOST_BARS))
    bins = int(np.ceil((high - low + step) / width))
    return np.asarray(low - step / 2 + width * np.arange(bins + 1))


def correlations(names: Sequence[str], before: Float, after: Float) -> str:
    """The correlation matrices before and after, and what changed."""
    size = min(2.4 + 0.16 * len(names), 5.5)
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(3 * size, size + 0.5), layout="constrained")
        panels = figure.subplots(1, 3)
        ticks = [shortened(name, 14) for name in names]
        centres = np.arange(len(names)) + 0.5
        for axes, matrix, title in zip(
            panels, (before, after, after - before), ("before", "after", "change"), strict=True
        ):
            image = axes.pcolormesh(matrix, cmap="RdBu_r", vmin=-1, vmax=1)
            axes.set_aspect("equal")
            axes.invert_yaxis()
            axes.set_title(title, loc="left")
            axes.set_xticks(centres, ticks, rotation=90, fontsize=7)
            axes.set_yticks(centres if axes is panels[0] else [], ticks if axes is panels[0] else [], fontsize=7)
            axes.tick_params(length=0)
            if len(names) <= _MOST_NUMBERS:
                number_cells(axes, matrix)
            for spine in axes.spines.values():
                spine.set_visible(False)
        bar = figure.colorbar(image, ax=list(panels), shrink=0.7, pad=0.01)
        bar.n_rasterize = 1000  # shapes, not a picture of them
        bar.update_normal(image)
        return svg(figure)


def number_cells(axes: Axes, matrix: Float) -> None:
    """Write each correlation into its cell."""
    for (row, column), value in np.ndenumerate(matrix):
        colour = "white" if abs(value) > 0.6 else INK
        text = f"{value:.2f}".replace("0.", ".").replace("-.00", ".00")
        axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=6, color=colour)


def shortened(name: str, most: int = 24) -> str:
    """A name that leaves room for the plot, on one line."""
    line = " ".join(name.split()) or "(no name)"
    return line if len(line) <= most else line[: most - 1] + "…"
