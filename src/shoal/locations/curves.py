"""The plots of a simulation, as SVG: how far answers are from homes, and among how many a device is hidden."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shoal.report.plots import AFTER, AXIS, BEFORE, COLD, STYLE, WARM, alone

if TYPE_CHECKING:
    from shoal.locations.simulation import Step

_COLOURS = (AFTER, WARM, COLD, BEFORE)
_WIDTH, _HEIGHT = 6.4, 2.9


def distortion(steps: Sequence["Step"]) -> str:
    """Kilometres from homes to what is told, over time; a line for each class."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH, _HEIGHT), layout="constrained")
        axes = figure.subplots()
        _redraws(axes, steps)
        for number, (k, own) in enumerate(_classes(steps).items()):
            colour = _COLOURS[number % len(_COLOURS)]
            times = [each.step for each in own]
            axes.plot(times, [_or_gap(each.rms_km) for each in own], color=colour, ls=":", lw=1)
            axes.plot(times, [_or_gap(each.mean_km) for each in own], color=colour, lw=1.6, label=f"k = {k}")
        axes.set_ylim(bottom=0)
        axes.set_ylabel("km from homes to what is told\n(line: mean, dots: root mean square)")
        _finish(axes)
        return alone(figure)


def anonymity(steps: Sequence["Step"]) -> str:
    """Principals who are told the same, now and at every step so far, over time; a picture for each class."""
    classes = _classes(steps)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH, _HEIGHT * len(classes)), layout="constrained")
        for axes, (k, own) in zip(
            figure.subplots(len(classes), squeeze=False)[:, 0], classes.items(), strict=True
        ):
            _redraws(axes, own)
            times = [each.step for each in own]
            for name, colour, style, label in (
                ("mean_cell", COLD, "-", "in a cell, mean"),
                ("smallest_cell", COLD, ":", "in a cell, smallest"),
                ("mean_followed", AFTER, "-", "followed by answers, mean"),
                ("smallest_followed", AFTER, ":", "followed by answers, smallest"),
            ):
                values = [_or_gap(getattr(each, name)) for each in own]
                axes.plot(times, values, color=colour, ls=style, lw=1.6, label=label)
            axes.axhline(k, color=WARM, lw=1, ls="--", label=f"k = {k}")
            axes.set_ylim(bottom=0)
            axes.set_ylabel("principals")
            _finish(axes)
        return alone(figure)


def _classes(steps: Sequence["Step"]) -> dict[int, list["Step"]]:
    """The steps of each class."""
    return {k: [each for each in steps if each.k == k] for k in sorted({each.k for each in steps})}


def _redraws(axes: Axes, steps: Sequence["Step"]) -> None:
    """A faint line wherever cells were drawn anew."""
    for step in sorted({each.step for each in steps if each.redrawn}):
        axes.axvline(step, color=AXIS, lw=0.8, zorder=0)


def _or_gap(value: float | None) -> float:
    return float("nan") if value is None else value


def _finish(axes: Axes) -> None:
    axes.set_xlabel("steps (grey lines: cells were drawn anew)")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
