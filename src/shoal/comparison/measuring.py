"""The figures of one setting: a release is made in memory, and what it loses and gives away is counted on it."""

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances_argmin

from shoal.privacy.k_anonymity import groups_in
from shoal.privacy.persons import sizes_of
from shoal.release import Release
from shoal.table import arrow_of, framed

Float = NDArray[np.float64]
Int = NDArray[np.int64]

MOST_LINKED = 5_000
"""Records that are linked; of a larger table so many are drawn."""


def figures_of(release: Release) -> dict[str, Any]:
    """What a row says of a release."""
    table = arrow_of(framed(release.table))
    names = (*release.settings.roles.quasi_identifiers, *release.settings.designed)
    classes = groups_in(table, names)
    sizes = sizes_of(classes, release.design.counted)
    percent, error = linkage_of(release)
    smallest = int(sizes.min())
    method = release.manifest["method"]
    chosen = f" ({method['chosen']['name']})" if "chosen" in method else ""
    return {
        "loss": float(release.information_loss),
        "records": len(release.labels),
        "groups": release.partition.n_groups,
        "smallest": smallest,
        "largest": int(sizes.max()),
        "verified_k": smallest,
        "prosecutor_highest": 100 / smallest,
        "prosecutor_mean": 100 * len(sizes) / float(sizes.sum()),
        "linkage": percent,
        "linkage_error": error,
        "single_value": single_value(classes, [groups_in(table, [name]) for name in release.settings.roles.confidential]),
        "made_by": method["name"] + chosen,
        "seed": release.settings.random_state,
    }


def linkage_of(release: Release) -> tuple[float | None, float | None]:
    """The records that are found by linkage; not known where the groups are not what is released."""
    if not release.space.has_cells(release.cells, release.labels):
        return None, None
    return linkage(release.space.points, release.labels, release.partition.centroids)


def linkage(points: Float, labels: Int, centroids: Float) -> tuple[float, float]:
    """The expected percentage of records found by linking each to the nearest centroid, and its standard error.

    An attacker knows all quasi-identifiers of a person, takes the group whose centroid is nearest, and chooses one
    of its records at random. Groups with the same centroid are one to the attacker. A tie between centroids goes
    to one of them.
    """
    shown, place = np.unique(centroids, axis=0, return_inverse=True)
    group = place.ravel()[labels]
    sizes, n = np.bincount(group), len(points)
    tried = min(n, MOST_LINKED)
    rows = np.sort(np.random.default_rng(0).choice(n, tried, replace=False))
    nearest = pairwise_distances_argmin(points[rows], shown)
    found = np.where(nearest == group[rows], 1 / sizes[nearest], 0.0)
    error = 100 * float(found.std()) / sqrt(tried) * sqrt(1 - tried / n)
    return 100 * float(found.mean()), error


def single_value(classes: Int, confidential: list[Int]) -> float | None:
    """The percentage of records in groups that have one value only in a confidential column."""
    if not confidential:
        return None
    told = np.zeros(classes.max() + 1, bool)
    _, first = np.unique(classes, return_index=True)
    for codes in confidential:
        other = codes != codes[first][classes]
        told |= np.bincount(classes, other, minlength=len(told)) == 0
    return 100 * float(told[classes].mean())
