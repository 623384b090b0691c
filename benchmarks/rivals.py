"""Methods and other tools side by side on the standard data; writes docs/methods/tables/rivals.md.

    python benchmarks/rivals.py         all rows, about a quarter of an hour
    python benchmarks/rivals.py quick   without k-means-constrained; writes nothing

Loss is 100 SSE / SST, always of a `Partition`, which refuses groups below k. Seconds are of one run, after every
method has run on Tarragona, which compiles its kernels. Data and published figures are read from ../shared (or
where SHOAL_SHARED says).

k-means-constrained (no dependency of Shoal: pip install k-means-constrained) assigns by minimum cost flow, with
groups of at least k. It is asked for floor(n / k) groups, with the best of its usual ten starts, of three on EIA.

Ward is SciPy's linkage cut into floor(n / k) clusters, whose sizes are then repaired here: the smallest cluster
below k is merged into the one that is nearest by Ward's distance until there is none, and clusters of 2k or more
are split by MDAV.
"""

import os
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
sys.path.insert(0, str(ROOT / "tests" / "papers"))

from published import figures, points_of  # noqa: E402

from shoal import DBA, IMHM, MDAV, PCL, TFRP, Auto, Refined  # noqa: E402
from shoal.partition import Partition, means_of  # noqa: E402
from shoal.steps.splitting import split  # noqa: E402

TABLE = ROOT / "docs" / "methods" / "tables" / "rivals.md"
PUBLISHED = figures(SHARED)["casc"]
NAMES = ("census", "tarragona", "eia")
KS = (3, 5, 10, 50)
SECONDS = (1, 5)
STARTS = {"eia": 3}  # of k-means-constrained; where not said, its own ten
BLOCKS = {"eia": 4}  # of IMHM, as published


def constrained(X, k, name):
    from k_means_constrained import KMeansConstrained

    starts = STARTS.get(name, 10)
    return KMeansConstrained(len(X) // k, size_min=k, n_init=starts, random_state=0).fit(X).labels_


def ward(X, k, name):
    labels = fcluster(linkage(X, "ward"), len(X) // k, "maxclust") - 1
    return split(X, without_small(X, labels, k), k, None)


def without_small(X, labels, k):
    """The smallest cluster below k merged into the nearest one, until there is none."""
    labels = np.unique(labels, return_inverse=True)[1]
    sizes, means = np.bincount(labels).astype(float), means_of(X, labels)
    while sizes.min() < k:
        small = int(np.argmin(sizes))
        distance = ((means - means[small]) ** 2).sum(axis=1) / (1 / sizes + 1 / sizes[small])
        distance[small] = np.inf
        other = int(np.argmin(distance))
        labels[labels == small] = other
        means[other], means[small] = X[labels == other].mean(axis=0), np.inf
        sizes[other] += sizes[small]
        sizes[small] = np.inf  # gone
    return np.unique(labels, return_inverse=True)[1]


def fitted(kind, **parameters):
    """A method of Shoal as a function of the points, k and the name of the data."""
    return lambda X, k, name: kind(k=k, **parameters).fit(X).labels_


def imhm(X, k, name):
    return IMHM(k=k, blocks=BLOCKS.get(name, 1)).fit(X).labels_


def installed():
    """The version of k-means-constrained, if there is one."""
    try:
        return version("k-means-constrained")
    except PackageNotFoundError:
        print("k-means-constrained is not installed: no row; pip install k-means-constrained", flush=True)
        return None


def rows_of(foreign):
    """What each row is called, and either what makes its labels or the name of its published figures."""
    return {
        "MDAV, published": "mdav",
        "MDAV": fitted(MDAV),
        "TFRP": fitted(TFRP),
        "DBA": fitted(DBA),
        "IMHM, published": "imhm",
        "IMHM": imhm,
        "PCL": fitted(PCL, random_state=0),
        "Ward, sizes repaired": ward,
        **({"k-means-constrained": constrained} if foreign else {}),
        "Auto, the default": fitted(Auto),
        **{f"Refined, {s} s": fitted(Refined, seconds=s) for s in SECONDS},
    }


def measured(labels_of, X, k, name):
    """The loss and the seconds of one run, as text."""
    start = time.perf_counter()
    labels = labels_of(X, k, name)
    seconds = time.perf_counter() - start
    loss = Partition(X, labels, k).information_loss
    return f"{loss:.{5 if name == 'eia' else 4}f} ({seconds:{'.0f' if seconds >= 10 else '.2g'}} s)"


def quoted(method, k, name):
    """The loss and the seconds as published; there are no seconds of MDAV."""
    place = PUBLISHED["k"].index(k)
    seconds = PUBLISHED[method].get(f"seconds_{name}")
    return f"{PUBLISHED[method][name][place]}{f' ({seconds[place]} s)' if seconds else ''}"


def table_of(name, rows):
    X = points_of(SHARED, name)
    header = ["method", *(f"k = {k}" for k in KS)]
    lines = [header, ["---"] * len(header)]
    for title, made in rows.items():
        found = [quoted(made, k, name) if isinstance(made, str) else measured(made, X, k, name) for k in KS]
        lines.append([title, *found])
        print(name, *lines[-1], sep=" | ", flush=True)
    title = "EIA" if name == "eia" else name.capitalize()
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"**{title}**, {len(X)} records\n\n{text}\n"


def versions(foreign):
    cores = len(os.sched_getaffinity(0))
    tools = ["SciPy " + version("scipy"), *(["k-means-constrained " + foreign] if foreign else [])]
    return f"Loss in percent (seconds), warm, on {cores} core{'s' if cores > 1 else ''}; {', '.join(tools)}.\n"


def main(arguments):
    quick = arguments == ["quick"]
    foreign = None if quick else installed()
    rows = rows_of(foreign)
    X = points_of(SHARED, "tarragona")
    for made in rows.values():  # compiled and loaded before the clock runs
        for k in (3, 10):
            if not isinstance(made, str):
                made(X, k, "tarragona")
    text = "\n".join([*(table_of(name, rows) for name in NAMES), versions(foreign)])
    if not quick:
        TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
