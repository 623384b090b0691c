"""Slow, obvious twins of what `shoal.locations.drawing` is made of."""

from collections import Counter
from itertools import product
from math import asin, atan2, cos, fsum, hypot, pi, sin, sqrt

EARTH_KM = 6371.0088


def square(a, b):
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2


def mean(points):
    return [fsum(column) / len(points) for column in zip(*points, strict=True)]


def cheapest(homes, centres, costs):
    """The number of the least squared chord + cost; min takes the first of equals."""
    return [
        min(range(len(centres)), key=lambda c: (square(home, centres[c]) + costs[c], c)) for home in homes.tolist()
    ]


def loss(homes, labels, centres):
    return fsum(square(h, centres[c]) for h, c in zip(homes.tolist(), labels, strict=True)) / len(homes)


def kilometres(homes, labels, centres):
    """By latitudes and longitudes (haversine); homes and centres must have a direction."""

    def place(v):
        return atan2(v[2], hypot(v[0], v[1])), atan2(v[1], v[0])

    def way(a, b):
        (p, r), (q, s) = place(a), place(b)
        h = sin((p - q) / 2) ** 2 + cos(p) * cos(q) * sin((r - s) / 2) ** 2
        return EARTH_KM * 2 * (asin(sqrt(h)) if h < 1 else pi / 2)

    return fsum(way(h, centres[c]) for h, c in zip(homes.tolist(), labels, strict=True)) / len(homes)


def meets(people, rows, demand):
    return (
        len({int(people.principals[row]) for row in rows}) >= demand.k + demand.slack
        and len({int(people.places[row]) for row in rows}) >= demand.places
    )


def groups_of(labels):
    groups = {}
    for row, label in enumerate(labels):
        groups.setdefault(int(label), []).append(row)
    return groups


def sse(homes, rows):
    middle = mean([homes[row].tolist() for row in rows])
    return fsum(square(homes[row].tolist(), middle) for row in rows)


def total(homes, labels):
    return fsum(sse(homes, rows) for rows in groups_of(labels).values())


def merged(people, labels, demand, fine=()):
    """Of all groups that lack something and all others, the pair that loses least, again and again."""
    base = people.homes[0].tolist()
    groups = []
    for label, rows in sorted(groups_of(labels).items()):
        sums = [0.0, 0.0, 0.0]
        for row in rows:
            for axis in range(3):
                sums[axis] += people.homes[row, axis] - base[axis]
        groups.append([label, rows, sums, label in fine or meets(people, rows, demand)])
    while len(groups) > 1 and not all(group[3] for group in groups):
        pairs = []
        for a, b in product(groups, groups):
            if a is not b and not a[3]:
                w, v = float(len(a[1])), float(len(b[1]))
                one, other = [part / w for part in a[2]], [part / v for part in b[2]]
                away = [p - q for p, q in zip(other, one, strict=True)]
                square_ = away[0] * away[0] + away[1] * away[1] + away[2] * away[2]
                pairs.append((w * v / (w + v) * square_, a[0], b[0], a, b))
        _, _, _, a, b = min(pairs, key=lambda pair: pair[:3])
        if b[0] < a[0]:
            a, b = b, a
        rows, sums = a[1] + b[1], [p + q for p, q in zip(a[2], b[2], strict=True)]
        groups = [group for group in groups if group is not b]
        groups[groups.index(a)] = [a[0], rows, sums, meets(people, rows, demand)]
    found = [0] * len(labels)
    order = sorted(range(len(groups)), key=lambda number: min(groups[number][1]))
    for number, place in enumerate(order):
        for row in groups[place][1]:
            found[row] = number
    return found


def set_partitions(things):
    """Every way to part things into sets."""
    if not things:
        yield []
        return
    first, rest = things[0], things[1:]
    for partition in set_partitions(rest):
        yield [[first], *partition]
        for number in range(len(partition)):
            yield [*partition[:number], [first, *partition[number]], *partition[number + 1 :]]


def least_loss(people, parts, present, demand):
    """The least loss of cells that are unions of parts and meet the demand, or are present cells of k principals."""
    rows_of = groups_of(parts)
    may_stay = {
        frozenset(rows)
        for cell, rows in groups_of(present).items()
        if cell >= 0
        and len({int(people.principals[row]) for row in rows}) >= demand.k
        and len({int(people.places[row]) for row in rows}) >= demand.places
    }
    best = float("inf")
    for partition in set_partitions(sorted(rows_of)):
        cells = [[row for part in cell for row in rows_of[part]] for cell in partition]
        if all(meets(people, rows, demand) or frozenset(rows) in may_stay for rows in cells):
            best = min(best, fsum(sse(people.homes, rows) for rows in cells))
    return best


def check_redraw(people, atoms, present, demand, redrawn):
    """Every promise of a redraw with history; raises where one is broken."""
    n = len(people.homes)
    assert len(redrawn.parts) == len(redrawn.cells) == n
    kept = set(redrawn.kept.tolist())
    assert sorted(kept) == redrawn.kept.tolist()
    before = groups_of(present)
    assert kept <= {cell for cell in before if cell >= 0}
    for cell, rows in before.items():
        if cell in kept:
            assert {int(redrawn.cells[row]) for row in rows} == {-1}
            assert len({int(people.principals[row]) for row in rows}) >= demand.k
            assert len({int(people.places[row]) for row in rows}) >= demand.places
    new = groups_of(redrawn.cells)
    homeless = [row for row in new.pop(-1, []) if int(present[row]) not in kept]
    everybody = meets(people, range(n), demand)
    assert not homeless or not everybody
    assert sorted(new) == list(range(len(redrawn.centres)))
    assert len(redrawn.costs) == len(redrawn.centres)
    assert [min(new[cell]) for cell in sorted(new)] == sorted(min(rows) for rows in new.values())
    for rows in new.values():
        assert meets(people, rows, demand)
    pieces = groups_of(redrawn.parts)
    assert sorted(pieces) == list(range(len(pieces)))
    count = Counter()
    for rows in pieces.values():
        assert len({int(atoms[row]) for row in rows}) == 1
        assert len({int(redrawn.cells[row]) for row in rows}) == 1
        count[int(atoms[rows[0]])] += 1
    for rows in pieces.values():
        if count[int(atoms[rows[0]])] > 1:
            assert meets(people, rows, demand)
