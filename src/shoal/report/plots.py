"""The report's plots, as SVG text to stand in a page."""

import io
from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

Float = NDArray[np.float64]

BEFORE, AFTER, INK = "#9aa5b1", "#0f766e", "#1f2933"
_STYLE = {
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
_MOST_NUMBERS = 14


def svg(figure: Figure) -> str:
    """A figure as an <svg> element, without the prolog of a file."""
    text = io.StringIO()
    figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None}, transparent=True)
    whole = text.getvalue()
    return whole[whole.index("<svg") :]


def group_sizes(sizes: NDArray[np.int64], k: int) -> str:
    """How many groups have how many records."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, 2.4))
        axes = figure.subplots()
        values, counts = np.unique(sizes, return_counts=True)
        if len(values) <= _MOST_BARS:
            bars = axes.bar(values.astype(str), counts, color=AFTER, width=0.7)
            if len(values) <= 12:
                axes.bar_label(bars, fontsize=8, color=INK, padding=2)
        else:
            axes.hist(sizes, bins=_MOST_BARS, color=AFTER)
        axes.set_xlabel(f"records in a group (k = {k})")
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


def distributions(names: Sequence[str], before: Sequence[Float], after: Sequence[Float]) -> str:
    """Each attribute before and after, on the same bins."""
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(3.1 * columns, 2.0 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False)
        for axes, name, original, released in zip(grid.flat, names, before, after, strict=False):
            distribution(axes, name, original, released)
        for axes in grid.flat[len(names) :]:
            axes.set_visible(False)
        grid[0, 0].legend(fontsize=8, frameon=False)
        return svg(figure)


def distribution(axes: Axes, name: str, original: Float, released: Float) -> None:
    """One attribute: filled before, a line after."""
    low, high = float(min(original.min(), released.min())), float(max(original.max(), released.max()))
    if not np.isfinite(high - low) or low == high:
        edges = np.array([low - 0.5, low + 0.5]) if np.isfinite(high - low) else np.array([low / 2, high / 2])
    else:
        edges = np.linspace(low, high, bins_for(original, low, high) + 1)
    axes.hist(original, bins=edges, color=BEFORE, alpha=0.55, label="before")
    axes.hist(released, bins=edges, histtype="step", color=AFTER, linewidth=1.4, label="after")
    axes.set_title(shortened(name), loc="left")
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.locator_params(axis="x", nbins=5)


def bins_for(values: Float, low: float, high: float) -> int:
    """A bin per value where there are few, else about forty."""
    distinct = np.unique(values)
    if len(distinct) <= 40:
        step = np.diff(distinct).min()
        return int(np.clip(round((high - low) / step) + 1, 1, 40))
    return 40


def correlations(names: Sequence[str], before: Float, after: Float) -> str:
    """The correlation matrices before and after, and what changed."""
    size = min(2.4 + 0.16 * len(names), 5.5)
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(3 * size, size + 0.5), layout="constrained")
        panels = figure.subplots(1, 3)
        ticks = [shortened(name, 14) for name in names]
        for axes, matrix, title in zip(panels, (before, after, after - before), ("before", "after", "change"), strict=True):
            image = axes.imshow(matrix, cmap="RdBu_r", vmin=-1, vmax=1)
            axes.set_title(title, loc="left")
            axes.set_xticks(range(len(names)), ticks, rotation=90, fontsize=7)
            axes.set_yticks(range(len(names)), ticks if axes is panels[0] else [], fontsize=7)
            axes.tick_params(length=0)
            if len(names) <= _MOST_NUMBERS:
                number_cells(axes, matrix)
        figure.colorbar(image, ax=list(panels), shrink=0.7, pad=0.01)
        return svg(figure)


def number_cells(axes: Axes, matrix: Float) -> None:
    """Write each correlation into its cell."""
    for (row, column), value in np.ndenumerate(matrix):
        colour = "white" if abs(value) > 0.6 else INK
        text = f"{value:.2f}".replace("0.", ".").replace("-.00", ".00")
        axes.text(column, row, text, ha="center", va="center", fontsize=6, color=colour)


def shortened(name: str, most: int = 24) -> str:
    """A name that leaves room for the plot, on one line."""
    line = " ".join(name.split()) or "(no name)"
    return line if len(line) <= most else line[: most - 1] + "…"
