"""An invented city: 100 000 people on two rivers, 20 hospitals, and who goes where.

    python benchmarks/city.py

Beside the exact allocation stand two rules of thumb: everybody to the nearest hospital, which overfills some, and
the nearest with overflow, where people come in file order and each goes to the nearest hospital that has room.
Seconds are of the second call, so that nothing is compiled meanwhile.
"""

import time

import numpy as np

from shoal import allocate
from shoal.quantizing.distortions import distortion_of

PEOPLE, HOSPITALS = 100_000, 20


def city(people=PEOPLE, hospitals=HOSPITALS, seed=3):
    """People (kilometres east and north of the centre), hospitals, and their capacities, which add up."""
    rng = np.random.default_rng(seed)
    along = rng.uniform(-1, 1, people)
    east_river = np.stack([14 * along, 4 * np.sin(2.2 * along)], axis=1)
    north_river = np.stack([3 * np.sin(3 * along) - 1, 11 * along], axis=1)
    banks = np.where(rng.random((people, 1)) < 0.6, east_river, north_river) + rng.normal(0, 0.8, (people, 2))
    suburbs = rng.uniform(-9, 9, (9, 2))[rng.integers(0, 9, people)] + rng.normal(0, 0.9, (people, 2))
    centre = rng.normal(0, 2.2, (people, 2))
    district = rng.choice(3, people, p=[0.5, 0.2, 0.3])[:, None]
    homes = np.select([district == 0, district == 1], [banks, suburbs], centre)
    sites = homes[rng.choice(people, hospitals, replace=False)] + rng.normal(0, 0.5, (hospitals, 2))
    beds = rng.lognormal(0, 0.5, hospitals)
    capacities = np.floor(people * beds / beds.sum()).astype(int)
    capacities[: people - capacities.sum()] += 1
    return homes, sites, capacities


def nearest_with_overflow(distances, capacities):
    """In file order, everybody to the nearest hospital that still has room."""
    room = capacities.copy()
    labels = np.empty(len(distances), int)
    for person, wishes in enumerate(np.argsort(distances, axis=1, kind="stable")):
        labels[person] = next(site for site in wishes if room[site])
        room[labels[person]] -= 1
    return labels


def row(name, distances, labels, capacities, seconds):
    taken = distances[np.arange(len(labels)), labels]
    over = np.maximum(np.bincount(labels, minlength=len(capacities)) - capacities, 0).sum()
    figures = (taken.mean(), np.quantile(taken, 0.95), taken.max())
    print(f"| {name} | {over} | " + " | ".join(f"{value:.3f}" for value in figures) + f" | {seconds:.2f} |")


def main():
    homes, sites, capacities = city()
    print(f"{PEOPLE} people, {HOSPITALS} hospitals of {capacities.min()} to {capacities.max()} places\n")
    print("| rule | beyond capacity | mean km | 95 % within km | farthest km | s |\n|---|---|---|---|---|---|")
    distances = distortion_of("euclidean").costs(homes, sites)
    start = time.perf_counter()
    labels = distances.argmin(axis=1)
    row("nearest", distances, labels, capacities, time.perf_counter() - start)
    start = time.perf_counter()
    labels = nearest_with_overflow(distances, capacities)
    row("nearest with overflow", distances, labels, capacities, time.perf_counter() - start)
    start = time.perf_counter()
    shuffled = np.random.default_rng(0).permutation(len(homes))
    labels[shuffled] = nearest_with_overflow(distances[shuffled], capacities)
    row("the same, another order", distances, labels, capacities, time.perf_counter() - start)
    for name, room in (("allocate", capacities), ("allocate, a tenth more room", (capacities * 11 + 9) // 10)):
        allocate(homes, sites, room)
        start = time.perf_counter()
        found = allocate(homes, sites, room)
        row(name, distances, found.labels, room, time.perf_counter() - start)
        if room is capacities:
            assert np.array_equal(found.sizes, capacities)
        assert np.array_equal(found.quantizer.predict(homes), found.labels)
        print(f"| proven: no mean below | | {found.bound / len(homes):.12f} | | | |")


if __name__ == "__main__":
    main()
