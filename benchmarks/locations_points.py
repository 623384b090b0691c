"""140 000 real places in Great Britain in cells of the location service: kilometres by k, density and cell size.

    python benchmarks/locations_points.py      about a minute

The places come from ../shared/data (or where SHOAL_SHARED says); without them nothing is done. Each is taken as a
home of its own person. Regions of about 5000 homes are drawn one by one, as the service does. Writes
docs/tables/locations_points.md and docs/pictures/locations_points.svg.
"""

import csv
import gzip
import os
from math import ceil
from pathlib import Path
from time import perf_counter

import numpy as np
from locations_common import AMBER, GREY, INK, ROOT, TEAL, panels, save, vectors, write

from shoal.attributes.sphere import RADIUS
from shoal.locations.drawing import Demand, People, draw, regions_of, ways

SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
KS = (5, 20, 100)
REGION = 5000
COLOURS = dict(zip(KS, (TEAL, AMBER, INK), strict=True))


def people_of(path):
    """The places as homes; those that agree in four decimals of a degree are one place."""
    with gzip.open(path, "rt", newline="") as text:
        rows = np.array([(float(row["latitude"]), float(row["longitude"])) for row in csv.DictReader(text)])
    places = np.unique(rows.round(4), axis=0, return_inverse=True)[1].reshape(-1)
    return People(vectors(*rows.T), np.arange(len(rows)), places)


def cells_of(people, k):
    """Centres, and the cell of each home."""
    demand = Demand(k, max(1, ceil(k / 5)), 2 if k == 2 else 3)
    region = regions_of(people.homes, max(REGION, 20 * demand.least))
    labels, centres, last = np.empty(len(region), np.int64), [], 0
    for number in range(region.max() + 1):
        rows = np.flatnonzero(region == number)
        drawn = draw(people.some(rows), demand, seed=number)
        labels[rows] = last + drawn.cells
        centres.append(drawn.centres)
        last += len(drawn.centres)
    return np.concatenate(centres), labels


def around(homes, centres, count=200):
    """Homes on a square kilometre around each centre, from its nearest ones: it does not depend on cells."""
    from scipy.spatial import cKDTree

    reach = cKDTree(homes).query(centres, [count])[0][:, 0] * RADIUS
    return count / (np.pi * np.maximum(reach, 1e-3) ** 2)


def main():
    path = SHARED / "data" / "points.csv.gz"
    if not path.exists():
        print(f"skipped: no {path}; say where the benchmark data are with SHOAL_SHARED", flush=True)
        return
    people = people_of(path)
    figure, (left, right) = panels(8.5, 3.6, 2)
    rows = []
    for k in KS:
        begin = perf_counter()
        centres, labels = cells_of(people, k)
        seconds = perf_counter() - begin
        away = ways(people.homes, labels, centres)
        sizes = np.bincount(labels)
        radius = np.sqrt(np.bincount(labels, away**2) / sizes)
        density = around(people.homes, centres)
        slope = np.polyfit(np.log(density), np.log(np.maximum(radius, 1e-3)), 1)[0]
        order = np.argsort(density)
        tenth = len(order) // 10
        rows.append([
            k, len(centres), int(sizes.min()), f"{away.mean():.2f}", f"{np.median(away):.2f}",
            f"{np.quantile(away, 0.95):.2f}", f"{np.median(radius[order[:tenth]]):.2f}",
            f"{np.median(radius[order[-tenth:]]):.3f}", f"{slope:.2f}", f"{seconds:.0f}",
        ])  # fmt: skip
        bins = np.array_split(order, 40)
        middle = [np.median(density[each]) for each in bins]
        for share, style in ((0.5, "-"), (0.1, ":"), (0.9, ":")):
            ends = [np.quantile(radius[each], share) for each in bins]
            left.plot(middle, ends, style, color=COLOURS[k], lw=1.6 if share == 0.5 else 0.9)
        left.annotate(f"k = {k}", (middle[0], np.median(radius[bins[0]])), color=COLOURS[k], fontsize=8,
                      xytext=(-4, 4), textcoords="offset points")  # fmt: skip
        right.plot(np.sort(away), np.arange(len(away)) / len(away), color=COLOURS[k], lw=1.6, label=f"k = {k}")
    left.plot([1, 100], [4.0, 0.4], color=GREY, lw=0.8, ls="--")
    left.annotate("slope -1/2", (105, 0.36), color=GREY, fontsize=8)
    left.set(xscale="log", yscale="log", xlabel="homes on a square kilometre", ylabel="radius of the cell, km")
    right.set(xscale="log", xlim=(0.01, 100), xlabel="from home to centroid, km", ylabel="share of homes")
    right.legend(frameon=False, fontsize=8)
    save(figure, "points")
    header = [
        "k", "cells", "smallest", "mean, km", "median, km", "95 %, km", "cell in the emptiest tenth, km",
        "in the most crowded tenth, km", "slope of size on density", "seconds",
    ]  # fmt: skip
    write("points", header, rows)


if __name__ == "__main__":
    main()
