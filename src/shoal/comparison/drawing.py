"""The pictures of a comparison: loss over risk, and loss over time."""

import io
from collections.abc import Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from shoal.comparison.advice import loss_of, recommended, risk_of, seconds_of
from shoal.comparison.rows import Row, time_of
from shoal.parameters import OneOf
from shoal.report.plots import INK, STYLE, alone, shortened

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
"""Told apart also by people who see few colours (Okabe and Ito); the markers tell methods apart without any."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
RISKS = {
    "prosecutor": "highest risk of being found: 1 / smallest group, %",
    "linkage": "records found by linkage, %",
}
_SOFT = "#e4e7eb"
_SHORTEST = 1e-3  # seconds
_WIDE = 50  # times, from which on whole powers of ten are ticks enough


def drawn(rows: Sequence[Row], risk: str, kind: str) -> bytes:
    """Both pictures side by side, as the bytes of a file; `kind` is svg or png."""
    OneOf(tuple(RISKS)).check("risk", risk)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(10, 4.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        risk_map(left, rows, risk)
        time_map(right, rows)
        if left.get_legend_handles_labels()[0]:
            figure.legend(
                *left.get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False, fontsize=8
            )
        if kind == "svg":
            return alone(figure).encode()
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=150, metadata={"Software": None}, facecolor="white")
        return picture.getvalue()


def risk_map(axes: Axes, rows: Sequence[Row], risk: str) -> None:
    """Loss over risk: a line for each method, a point for each k; what is recommended has a ring."""
    able = [row for row in rows if row.is_ok and risk_in(row, risk) is not None]
    taken = {(choice.k, choice.method) for choice in recommended(rows).choices}
    for place, method in enumerate(methods_in(rows)):
        own = [row for row in able if row.method == method]
        colour, marker = look_of(place)
        axes.plot(
            [risk_in(row, risk) or 0.0 for row in own], [loss_of(row) for row in own],
            marker=marker, color=colour, lw=0.8, ms=5.5, alpha=0.9,
            label=shortened(method, 32) + ("" if own else " (no figures)"),
        )  # fmt: skip
        rings = [row for row in own if (row.k, row.method) in taken]
        axes.plot(
            [risk_in(row, risk) or 0.0 for row in rings], [loss_of(row) for row in rings],
            "o", ms=11, mfc="none", mec=INK, mew=1.0,
        )  # fmt: skip
    for k in sorted({row.k for row in able}):
        of_k = [row for row in able if row.k == k]
        top = max(of_k, key=loss_of)
        axes.annotate(
            f"k = {k}", (risk_in(top, risk) or 0.0, loss_of(top)), xytext=(4, 6), textcoords="offset points",
            fontsize=8, color=INK,
        )  # fmt: skip
    dress(axes, able, RISKS[risk])
    axes.set_title("Loss and risk (ring: recommended)", loc="left")


def time_map(axes: Axes, rows: Sequence[Row]) -> None:
    """Loss over time, which grows by factors; the same lines and points."""
    able = [row for row in rows if row.is_ok]
    for place, method in enumerate(methods_in(rows)):
        own = [row for row in able if row.method == method]
        colour, marker = look_of(place)
        times = [max(seconds_of(row), _SHORTEST) for row in own]
        axes.plot(times, [loss_of(row) for row in own], marker, color=colour, ms=5.5, alpha=0.9)
    if able:
        axes.set_xscale("log")
        times = [max(seconds_of(row), _SHORTEST) for row in able]
        axes.xaxis.set_major_locator(
            LogLocator(subs=(1.0,) if max(times) > _WIDE * min(times) else (1.0, 2.0, 5.0))
        )
        axes.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: time_of(seconds)))
        axes.xaxis.set_minor_formatter(NullFormatter())
    for k in sorted({row.k for row in able}):
        last = max((row for row in able if row.k == k), key=seconds_of)
        axes.annotate(
            f"k = {k}", (max(seconds_of(last), _SHORTEST), loss_of(last)), xytext=(6, -3),
            textcoords="offset points", fontsize=8, color=INK,
        )  # fmt: skip
    dress(axes, able, "time")
    axes.margins(x=0.15)
    axes.set_title("Loss and time", loc="left")


def dress(axes: Axes, able: Sequence[Row], below: str) -> None:
    """What both pictures have around their points."""
    axes.set_xlabel(below)
    axes.set_ylabel("information loss, %")
    axes.set_ylim(bottom=0)
    axes.margins(y=0.12)
    axes.set_axisbelow(True)
    axes.grid(color=_SOFT, lw=0.6)
    if not able:
        axes.text(0.5, 0.5, "no setting has figures", ha="center", va="center", transform=axes.transAxes)


def methods_in(rows: Sequence[Row]) -> list[str]:
    """The methods in their order, each once."""
    return list(dict.fromkeys(row.method for row in rows))


def look_of(place: int) -> tuple[str, str]:
    """The colour and the marker of a method."""
    return COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]


def risk_in(row: Row, risk: str) -> float | None:
    """The risk of a row with figures."""
    return row.linkage if risk == "linkage" else risk_of(row)
