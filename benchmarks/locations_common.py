"""What the benchmarks of the location service share: homes on the globe, tables and pictures of the docs."""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
TABLES, PICTURES = ROOT / "docs" / "tables", ROOT / "docs" / "pictures"
INK, SOFT, TEAL, AMBER, GREY = "#1f2933", "#cbd2d9", "#0f766e", "#d97706", "#6b7280"


def vectors(latitude, longitude):
    """Unit vectors of places in degrees."""
    latitude, longitude = np.deg2rad(latitude), np.deg2rad(longitude)
    across = np.cos(latitude)
    return np.column_stack([across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)])


def write(name, header, rows):
    """A table of the docs, shown as well."""
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in [header, ["---"] * len(header), *rows]]
    (TABLES / f"locations_{name}.md").write_text("\n".join([*lines, ""]), encoding="utf-8")
    print(f"\n{name}", *lines, sep="\n", flush=True)


def panels(width, height, columns=1):
    """A figure with axes side by side, in the colours of the docs."""
    matplotlib.rcParams["svg.hashsalt"] = "shoal"
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False)[0]
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
        each.spines[["left", "bottom"]].set_color(SOFT)
        each.tick_params(colors=GREY, labelsize=8)
        each.xaxis.label.set_color(INK)
        each.yaxis.label.set_color(INK)
        each.title.set_color(INK)
    return figure, list(axes)


def save(figure, name):
    """A picture of the docs, the same bytes each time."""
    figure.savefig(PICTURES / f"locations_{name}.svg", metadata={"Date": None})
