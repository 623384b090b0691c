"""Section 5.2 of the paper of 2011 through the location service: its first drawing against MDAV.

    python benchmarks/locations_homes.py          some minutes
    python benchmarks/locations_homes.py small    only 250 homes

Homes are drawn in a square of one degree at the equator, uniform or Gaussian. They sign up at a service of that k,
without slack, as in the paper; the service draws its cells, and every device asks for its centroid. Distortion is
the mean squared distance from homes to centroids. MDAV gets the same homes. Writes docs/tables/locations_homes.md.
"""

import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from locations_common import vectors, write

from shoal import MDAV
from shoal.attributes.sphere import RADIUS
from shoal.locations.keys import KeyRing
from shoal.locations.policy import Policy
from shoal.locations.service import Service

PUBLISHED = {("uniform", True): 35, ("gaussian", True): 20, ("uniform", False): 29, ("gaussian", False): 25}


def places(kind, n, seed):
    """Latitudes and longitudes."""
    rng = np.random.default_rng(seed)
    return rng.random((n, 2)) - 0.5 if kind == "uniform" else rng.normal(0, 0.2, (n, 2))


def through_the_service(homes, k):
    """The centroid that each device gets, and how many cells there are."""
    with tempfile.TemporaryDirectory() as folder:
        policy = Policy(
            classes=(k,), slack=0, distinct_places=1, digits=6, place_digits=7, region=max(5000, len(homes)),
            start=len(homes),
        )  # fmt: skip
        service = Service.open(f"sqlite:///{Path(folder) / 'homes.sqlite'}", KeyRing.fresh(), policy)
        credentials = [
            service.sign_up(invitation, latitude, longitude)
            for invitation, (latitude, longitude) in zip(service.invite(len(homes)), homes.tolist(), strict=True)
        ]
        while service.work():
            pass
        answers = [service.locate(credential) for credential in credentials]
        service.close()
    assert all(answer is not None for answer in answers)
    return np.array([(answer.latitude, answer.longitude) for answer in answers])


def compared(kind, n, k, seed):
    """Distortion in square kilometres by MDAV and by the service, and the cells of both."""
    homes = places(kind, n, seed)
    points = vectors(*homes.T)
    groups = MDAV(k=k).fit(points)
    given = through_the_service(homes, k)
    sizes = np.unique(given, axis=0, return_counts=True)[1]
    assert sizes.min() >= k
    ours = np.square(points - vectors(*given.T)).sum(axis=1).mean()
    return RADIUS**2 * groups.sse_ / n, RADIUS**2 * ours, groups.n_groups_, len(sizes)


def row(kind, n, k, seeds):
    begin = perf_counter()
    found = np.array([compared(kind, n, k, seed) for seed in range(seeds)])
    mdav, ours, before, cells = found.mean(axis=0)
    gains = 100 * (1 - found[:, 1] / found[:, 0])
    gain = (
        f"{gains.mean():.1f} %" if seeds == 1 else f"{gains.mean():.1f} % ({gains.min():.1f} to {gains.max():.1f})"
    )
    published = f"up to {PUBLISHED[kind, n > 250]} %" if n == 250 or 10 * k >= n else ""
    print(f"{kind}, {n} homes, k = {k}: {gain}, {perf_counter() - begin:.0f} s", flush=True)
    return [kind, n, k, f"{before:.0f}", f"{cells:.0f}", f"{mdav:.3g}", f"{ours:.3g}", gain, published]


def main(sections):
    cases = [(250, k, 5) for k in range(2, 11)]
    if "small" not in sections:
        cases += [(10_000, k, 1) for k in (5, 10, *(10_000 // cells for cells in (10, 7, 5, 3, 2)))]
    header = [
        "homes", "n", "k", "groups of MDAV", "cells", "MDAV, km²", "service, km²", "reduction", "published",
    ]  # fmt: skip
    write("homes", header, [row(kind, *case) for kind in ("uniform", "gaussian") for case in cases])


if __name__ == "__main__":
    main(sys.argv[1:])
