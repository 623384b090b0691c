"""Groups peeled off by a plain scan, for groups so large that a search tree rules out too little.

The free records stand attribute by attribute, so that a processor measures several at a time; each distance is
still summed in the order of the attributes. A record that has gone is not a number, which no comparison lets pass,
until there are so many of these that the others move together. They stay in the order of their numbers.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.search_tree.order import select_smallest
from shoal.kernels.sums.exact import Sums, add_row, centroid

TOGETHER = 512  # records whose distances are summed before those of the next
SAMPLE = 512  # records that tell about how far the k-th nearest is
FULL = 0.75  # of the places; with fewer free records they move together


class Columns(NamedTuple):
    """The free records, and room for one search."""

    rows: Array  # float64 (n, m): all records
    values: Array  # float64 (m, n): attributes of the free ones
    record: Array  # int64 (n,): who stands where, ascending
    held: Array  # int64 (1,): how many places are taken, also by records that have gone
    d2: Array  # float64 (n,): of each place
    keys: Array  # float64 (n,): scratch
    order: Array  # int64 (n,): scratch


def new_columns(rows: Array) -> Columns:
    """All records are free."""
    n = len(rows)
    return Columns(
        rows,
        np.array(rows.T, order="C"),  # its own, also where there is one attribute
        np.arange(n),
        np.full(1, n),
        np.empty(n),
        np.empty(n),
        np.empty(n, np.int64),
    )


@inner
def move_together(columns: Columns) -> None:
    """The free records take the first places, in the same order."""
    values, record = columns.values, columns.record
    kept = 0
    for i in range(columns.held[0]):
        record[kept] = record[i]
        kept += values[0, i] == values[0, i]
    for j in range(values.shape[0] - 1, -1, -1):  # the attribute that tells who has gone is the last
        kept = 0
        for i in range(columns.held[0]):
            values[j, kept] = values[j, i]
            kept += values[0, i] == values[0, i]
    columns.held[0] = kept


@inner
def measure(columns: Columns, point: Array) -> None:
    """The squared distance of each place to a point."""
    values, d2, held = columns.values, columns.d2, columns.held[0]
    for first in range(0, held, TOGETHER):
        last = min(first + TOGETHER, held)
        for i in range(first, last):
            d2[i] = 0.0
        for j in range(values.shape[0]):
            value = point[j]
            for i in range(first, last):
                difference = values[j, i] - value
                d2[i] += difference * difference


@inner
def farthest_place(columns: Columns) -> int:
    """The place of the largest distance measured, the first among equals."""
    best, most = -1, -1.0
    for i in range(columns.held[0]):
        if columns.d2[i] > most:
            best, most = i, columns.d2[i]
    return best


@inner
def list_within(columns: Columns, limit: float) -> int:
    """Lists the places up to a distance; returns how many there are."""
    found = 0
    for i in range(columns.held[0]):
        columns.keys[found], columns.order[found] = columns.d2[i], i
        found += columns.d2[i] <= limit
    return found


@inner
def nearest_places(columns: Columns, k: int, free: int) -> None:
    """Puts the places of the k smallest distances first in `order`, ties by the lowest place."""
    sampled = 0
    for i in range(0, columns.held[0], max(1, columns.held[0] // SAMPLE)):
        columns.keys[sampled] = columns.d2[i]
        sampled += columns.d2[i] == columns.d2[i]
    sample = np.sort(columns.keys[:sampled])
    about = k * sampled // free
    wide = about + 2 * int(np.sqrt(about)) + 2  # so that they are mostly among those
    found = list_within(columns, sample[wide] if wide < sampled else np.inf)
    if found < k:
        found = list_within(columns, np.inf)
    select_smallest(columns.keys, columns.order, 0, found, k)


@inner
def take_nearest(columns: Columns, sums: Sums, place: int, k: int, free: int, label: int, labels: Array) -> None:
    """The record at a place, from which all were measured, and its k - 1 nearest get a label and go."""
    columns.d2[place] = -1.0
    nearest_places(columns, k, free)
    for p in range(k):
        i = columns.order[p]
        labels[columns.record[i]] = label
        add_row(sums, columns.rows.view(np.int64), columns.record[i], -1)
        columns.values[0, i] = np.nan
        columns.d2[i] = -1.0


@kernel
def scan_steps(
    columns: Columns,
    sums: Sums,
    labels: Array,
    free: int,
    label: int,
    k: int,
    floor: int,
    most: int,
    in_pairs: bool,
) -> tuple[int, int]:
    """As `centroid_steps` of `peel.py`."""
    centre, word = np.empty(columns.rows.shape[1]), np.empty(1, np.int64)
    for _ in range(most):
        if free < floor:
            break
        if free < FULL * columns.held[0]:
            move_together(columns)
        centroid(sums, free, centre, word)
        measure(columns, centre)
        for _ in range(2 if in_pairs else 1):  # Q is the record farthest from P, as measured for P
            place = farthest_place(columns)
            measure(columns, columns.rows[columns.record[place]])
            take_nearest(columns, sums, place, k, free, label, labels)
            free -= k
            label += 1
    return free, label
