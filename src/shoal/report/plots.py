"""The report's plots, as SVG text to stand in a page, in the colours of the page, light or dark."""

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

Float = NDArray[np.float64]

BEFORE, AFTER, INK, SOFT, AXIS, WARM, COLD = (
    "#9aa5b1", "#0f766e", "#1f2933", "#52606d", "#cbd2d9", "#b4532a", "#2f5fa8",
)  # fmt: skip
VARIABLES = {
    BEFORE: "var(--before)", AFTER: "var(--after)", INK: "var(--ink)", SOFT: "var(--soft)", AXIS: "var(--line)",
    WARM: "var(--warm)", COLD: "var(--cold)",
}  # fmt: skip
"""The colours that plots are drawn with, and those of the page's style that stand for them."""

STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, searchable
    "svg.hashsalt": "shoal",  # the same report for the same release
    "text.parse_math": False,  # a column called $x$ is called $x$
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": AXIS,
    "axes.labelcolor": SOFT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "legend.frameon": False,
}
WIDTH = 4.6  # inches: at this width text has its own size on a phone
MOST_BARS = 40
_MOST_NUMBERS = 7
_MOST_WORDS = 4  # categories whose names stand side by side
_WIDEST = 1e300


@contextmanager
def canvas(height: float, width: float = WIDTH) -> Iterator[tuple[Figure, Axes]]:
    """A figure with one pair of axes, in the report's style."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure, figure.subplots()


def svg(figure: Figure, name: str, alt: str) -> str:
    """A figure as an <svg> element with a text that says what it is; `name` tells it from others of the page."""
    return at_home(alone(figure), name, alt)


def alone(figure: Figure) -> str:
    """A figure as an <svg> element that can stand in a file of its own."""
    text = io.StringIO()
    with warnings.catch_warnings():  # text stays text, so the reader's own fonts draw what those here lack
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    whole = text.getvalue()
    return whole[whole.index("<svg") :]


def at_home(drawn: str, name: str, alt: str) -> str:
    """An SVG made part of a page: no style or names that reach others, and the page's own colours."""
    for pattern in (r"<!--.*?-->", r"<metadata>.*?</metadata>", r"<defs>\s*<style.*?</style>\s*</defs>"):
        drawn = re.sub(pattern, "", drawn, flags=re.DOTALL)
    drawn = re.sub(r"<[a-z][^>]*>", lambda tag: own_tag(tag[0], name), drawn)
    drawn = re.sub(r"\n\s*", "\n", drawn)
    return drawn.replace("<svg", f'<svg role="img" aria-label="{in_quotes(alt)}"', 1)


def own_tag(tag: str, name: str) -> str:
    """A tag with the page's colours and with names that no other picture has; text between tags stays as it is."""
    tag = re.sub(r'^<g id="[^"]*"', "<g", tag)
    tag = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", tag)
    for colour, variable in VARIABLES.items():
        tag = tag.replace(colour, variable)
    return tag


def in_quotes(text: str) -> str:
    """Text as it stands between the quotes of an attribute."""
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


def size_bins(sizes: NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """From, to, and how many groups have such a size; ranges where there are too many sizes for bars."""
    values, counts = np.unique(sizes, return_counts=True)
    if len(values) <= MOST_BARS:
        return [(int(v), int(v), int(c)) for v, c in zip(values, counts, strict=True)]
    step = -(-int(values[-1] - values[0] + 1) // MOST_BARS)
    starts = np.arange(values[0], values[-1] + 1, step)
    found = np.add.reduceat(np.concatenate([counts, [0]]), np.searchsorted(values, starts))
    ends = np.searchsorted(values, np.concatenate([starts[1:], [values[-1] + 1]]))
    empty = np.searchsorted(values, starts) == ends  # reduceat gives the next value for an empty range
    return [
        (int(a), int(a + step - 1), 0 if none else int(c)) for a, c, none in zip(starts, found, empty, strict=True)
    ]


def group_sizes(bins: Sequence[tuple[int, int, int]], k: int, whom: str, name: str, alt: str) -> str:
    """How many groups have how many records, or of whom k counts."""
    with canvas(2.4) as (figure, axes):
        labels = [str(a) if a == b else f"{a}\u2013{b}" for a, b, _ in bins]
        bars = axes.bar(range(len(bins)), [count for *_, count in bins], color=AFTER, width=0.7)
        every = -(-len(bins) // 8)
        axes.set_xticks(range(0, len(bins), every), labels[::every])
        axes.set_xlim(-0.6, max(len(bins), 6) - 0.4)
        axes.margins(y=0.15)
        if len(bins) <= 10:
            axes.bar_label(bars, fontsize=8, color=INK, padding=2)
        axes.set_xlabel(f"{whom} in a group (k = {k})")
        axes.set_ylabel("groups")
        return svg(figure, name, alt)


def losses(names: Sequence[str], percents: Sequence[float], label: str, name: str, alt: str) -> str:
    """A bar for each name, with its percentage."""
    with canvas(0.6 + 0.27 * len(names)) as (figure, axes):
        bars = axes.barh(range(len(names)), percents, color=AFTER, height=0.62)
        axes.set_yticks(range(len(names)), [shortened(each) for each in names])
        axes.invert_yaxis()
        axes.bar_label(bars, fmt="%.2f", fontsize=8, color=INK, padding=3)
        axes.margins(x=0.16)
        axes.set_xlabel(label)
        return svg(figure, name, alt)


def attacks(rows: Sequence[tuple[Any, ...]], limit: float | None, name: str, alt: str) -> str:
    """Bars of success beside those of the baseline: (attack, success, baseline, control, low, high) each.

    What is None is not drawn. `limit` is what k allows, a line.
    """
    with canvas(0.9 + 0.56 * len(rows)) as (figure, axes):
        for place, (_, success, baseline, control, low, high) in enumerate(rows):
            axes.barh(place - 0.2, success, color=AFTER, height=0.36, label="attack" if place == 0 else None)
            axes.text(max(success, high or 0) + 1, place - 0.2, f"{success:.1f} %", va="center", fontsize=8)
            if low is not None:
                axes.plot([low, high], [place - 0.2] * 2, color=INK, linewidth=1)
            beside = baseline if control is None else control
            if beside is not None:
                said = "baseline" if control is None else "control"
                axes.barh(place + 0.2, beside, color=BEFORE, height=0.3, label=said if place == 0 else None)
        if limit is not None:
            axes.axvline(limit, color=WARM, linestyle="--", linewidth=1, label="1/k")
        axes.set_yticks(range(len(rows)), [in_lines(row[0]) for row in rows], fontsize=8)
        axes.invert_yaxis()
        most = max(float(part) for row in rows for part in (row[1], *row[2:]) if part is not None)
        axes.set_xlim(0, max(1.22 * max(most, limit or 0), 5))
        axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= 100])
        axes.set_xlabel("success, %")
        figure.legend(loc="outside upper left", ncols=3, fontsize=8)
        return svg(figure, name, alt)


def spectrum(shares: Sequence[float], kept: int, name: str, alt: str) -> str:
    """The share of the variance along each principal axis, those kept in colour, and what they hold together."""
    places = np.arange(1, len(shares) + 1)
    with canvas(2.4) as (figure, axes):
        axes.bar(places, shares, color=[AFTER] * kept + [BEFORE] * (len(shares) - kept), width=0.7)
        axes.plot(places, np.cumsum(shares), ".-", color=INK, linewidth=1)
        axes.axvline(kept + 0.5, color=SOFT, linestyle=":")
        axes.set_ylim(0, 105)
        axes.locator_params(axis="x", integer=True)
        axes.set_xlabel("principal axis (line: all up to this one)")
        axes.set_ylabel("variance, %")
        return svg(figure, name, alt)


def search(steps: Sequence[tuple[float, float]], counts: str, name: str, alt: str) -> str:
    """How the loss fell while a method searched."""
    with canvas(2.4) as (figure, axes):
        axes.step(*zip(*steps, strict=True), where="post", color=AFTER, linewidth=1.5)
        axes.plot(*steps[-1], "o", color=AFTER, markersize=4)
        axes.set_xlabel(counts)
        axes.set_ylabel("loss, %")
        axes.ticklabel_format(axis="y", useOffset=False)
        return svg(figure, name, alt)


def bars_of_sides(
    labels: Sequence[str],
    sides: Mapping[str, Sequence[float]],
    edges: Float | None,
    unit: str,
    name: str,
    alt: str,
) -> str:
    """A distribution: filled before, a line after; one bar for each category where there are no edges of bins."""
    with canvas(2.1) as (figure, axes):
        alone = len(sides) == 1
        for side, counts in sides.items():
            if side == "before" or alone:
                how: dict[str, Any] = {"color": AFTER, "alpha": 0.8} if alone else {"color": BEFORE, "alpha": 0.6}
            else:
                how = {"edgecolor": AFTER, "linewidth": 1.6, "fill": False}
            if edges is None:
                axes.bar(range(len(counts)), counts, width=0.7, label=side, **how)
            else:
                axes.stairs(counts, edges, label=side, **({"fill": True} | how))
        if edges is None:
            many = len(labels) > _MOST_WORDS
            shown = [shortened(label, 12) for label in labels]
            axes.set_xticks(range(len(shown)), shown, rotation=90 if many else 0, fontsize=7 if many else 8)
        else:
            axes.locator_params(axis="x", nbins=5)
        axes.set_xlabel(unit)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        if not alone:
            figure.legend(loc="outside upper right", ncols=2, fontsize=8)
        return svg(figure, name, alt)


def is_drawable(values: Float) -> bool:
    """Whether numbers can stand on one axis."""
    return bool(len(values)) and float(np.abs(values).max()) < _WIDEST


def bin_edges(low: float, high: float, distinct: Float) -> Float:
    """About forty bins, each some whole number of the column's own steps wide, so that none is favoured."""
    step = float(np.diff(distinct).min()) if len(distinct) > 1 else 1.0
    steps = (high - low) / step
    if not np.isfinite(steps) or steps > 1e9:
        return np.linspace(low, high, MOST_BARS + 1)
    width = step * max(1.0, np.ceil((steps + 1) / MOST_BARS))
    bins = int(np.ceil((high - low + step) / width))
    return np.asarray(low - step / 2 + width * np.arange(bins + 1))


def correlations(names: Sequence[str], matrix: Float, title: str, name: str, alt: str) -> str:
    """A matrix of correlations: one colour for positive ones, another for negative ones, paler near 0."""
    n = len(names)
    size = min(1.7 + 0.3 * n, WIDTH)
    with canvas(size, size) as (figure, axes):
        for (row, column), value in np.ndenumerate(matrix):
            tint = min(abs(float(value)), 1.0) * 0.75
            cell = Rectangle((column, row), 1, 1, facecolor=WARM if value > 0 else COLD, alpha=tint, linewidth=0)
            axes.add_patch(cell)
            if n <= _MOST_NUMBERS:
                text = "0" if abs(value) < 0.005 else f"{value:.2f}".replace("0.", ".")
                axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=7)
        axes.set_xlim(0, n)
        axes.set_ylim(n, 0)
        axes.set_aspect("equal")
        ticks, centres = [shortened(each, 14) for each in names], np.arange(n) + 0.5
        axes.set_xticks(centres, ticks, rotation=90, fontsize=8 if n <= 12 else 6)
        axes.set_yticks(centres, ticks, fontsize=8 if n <= 12 else 6)
        axes.tick_params(length=0)
        axes.set_title(title, loc="left", fontsize=9)
        for spine in axes.spines.values():
            spine.set_visible(False)
        return svg(figure, name, alt)


def scatter(places: Float, members: NDArray[np.int64], shares: Float, name: str, alt: str) -> str:
    """The centroids of groups on two axes, sized by their members."""
    with canvas(3.4) as (figure, axes):
        sizes = 14 * members / members.mean()
        axes.scatter(places[:, 0], places[:, 1], s=np.clip(sizes, 4, 160), color=AFTER, alpha=0.5, linewidths=0)
        axes.set_xlabel(f"first axis ({shares[0]:.0f} % of the spread)")
        axes.set_ylabel(f"second axis ({shares[1]:.0f} %)")
        return svg(figure, name, alt)


def in_lines(name: str) -> str:
    """A longer name on two lines."""
    return "\n".join(wrap(shortened(name, 56), 28))


def shortened(name: str, most: int = 24) -> str:
    """A name that leaves room for the plot, on one line."""
    line = " ".join(name.split()) or "(no name)"
    return line if len(line) <= most else line[: most - 1] + "…"
