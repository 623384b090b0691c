"""The slow, obvious twins of the measures of risk: plain loops over plain lists, by the definitions alone."""

import math
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np

from shoal.measures.pair import Pair, PairColumn

LETTERS = ("a", "b", "c")
KINDS = ("number", "tied", "constant", "category", "ordered", "gaps")


# Pairs to try the measures on.


def column_of(name, role, kind, groups, rng, gaps=0.0):
    """A column whose released values are the mean, or the most frequent value, of each group."""
    n = len(groups)
    before = {
        "number": lambda: rng.normal(size=n).round(2),
        "tied": lambda: rng.integers(0, 3, n).astype(float),
        "constant": lambda: np.full(n, 0.1),
        "category": lambda: rng.integers(0, 3, n).astype(float),
        "ordered": lambda: rng.integers(0, 3, n).astype(float),
        "gaps": lambda: np.full(n, np.nan),
    }[kind]()
    before[rng.random(n) < gaps] = np.nan
    after = np.full(n, np.nan)
    for group in set(groups.tolist()):
        there = [float(v) for v in before[groups == group] if not math.isnan(v)]
        if there:
            after[groups == group] = (
                sum(there) / len(there) if kind in ("number", "tied") else Counter(there).most_common(1)[0][0]
            )
    levels = LETTERS if kind in ("category", "ordered") else ()
    return PairColumn(name, role, before, after, levels, kind == "ordered")


def drawn_pair(seed, n, k, quasi, secret=(), gaps=0.0, **more):
    """A table of random columns, its groups of at least k records drawn at random; equal rows are one group."""
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.minimum(np.arange(n) // k, max(n // k - 1, 0)))
    columns = [column_of(f"q{i}", "quasi-identifier", kind, groups, rng, gaps) for i, kind in enumerate(quasi)]
    rows = [tuple(None if math.isnan(c.after[i]) else float(c.after[i]) for c in columns) for i in range(n)]
    number = {row: place for place, row in enumerate(dict.fromkeys(rows))}
    columns += [column_of(f"s{i}", "confidential", kind, np.arange(n), rng, gaps) for i, kind in enumerate(secret)]
    merged = np.array([number[row] for row in rows], np.int64)
    return Pair(tuple(columns), merged, matched=True, seed=seed, **more)


def plain(values):
    return [None if math.isnan(value) else float(value) for value in values]


# Linkage.


def scale_of(column):
    there = [value for value in plain(column.before) if value is not None]
    if not there or min(there) == max(there):
        return (there[0] if there else 0.0), 1.0
    middle = math.fsum(there) / len(there)
    return middle, math.sqrt(math.fsum((v - middle) ** 2 for v in there) / len(there))


def squared_distance(columns, record, row):
    """Of the original values of a record and the released ones of a row."""
    return distance_to(columns, [plain(column.before)[record] for column in columns], row)


def distance_to(columns, values, row):
    """The same of anybody's values."""
    total = 0.0
    for column, one in zip(columns, values, strict=True):
        two = plain(column.after)[row]
        if column.levels and not column.ordered:
            total += one != two
            continue
        middle, spread = scale_of(column)
        gap = (one is None) != (two is None)
        one, two = (0.0 if v is None else (v - middle) / spread for v in (one, two))
        total += (one - two) ** 2 + gap
    return total


def found_by_nearest(columns, n, record, among=None):
    """The chance that a record is found by whoever guesses among the nearest released records."""
    among = range(n) if among is None else among
    away = {row: squared_distance(columns, record, row) for row in among}
    if not away:
        return 0.0
    least = min(away.values())
    near = [row for row, each in away.items() if math.isclose(each, least, rel_tol=1e-9, abs_tol=1e-18)]
    return 1 / len(near) if record in near else 0.0


def linked(columns, n):
    return 100 * sum(found_by_nearest(columns, n, record) for record in range(n)) / n


def same_confidential(pair, record):
    secret = [(plain(c.before)[record], plain(c.after)) for c in pair.confidential]
    return [row for row in range(pair.n_after) if all(value == values[row] for value, values in secret)]


def cheapest(pair):
    """The least sum of squared distances of everybody to a released record each, by trying all orders."""
    from scipy.optimize import linear_sum_assignment

    n = pair.n_after
    costs = np.array([[squared_distance(pair.quasi_identifiers, i, j) for j in range(n)] for i in range(n)])
    rows, columns = linear_sum_assignment(costs)
    return float(costs[rows, columns].sum())


def maximised(patterns, share, rounds=200):
    """m and u of Fellegi and Sunter from a list of patterns of 0 and 1, pair by pair."""
    never, width = 1e-6, len(patterns[0])

    def kept(p):
        return min(max(p, never), 1 - never)

    m, u = [0.9] * width, [kept(sum(p[j] for p in patterns) / len(patterns)) for j in range(width)]
    for _ in range(rounds):
        chances = []
        for p in patterns:
            yes = share * math.prod(m[j] if p[j] else 1 - m[j] for j in range(width))
            no = (1 - share) * math.prod(u[j] if p[j] else 1 - u[j] for j in range(width))
            chances.append(yes / (yes + no))
        total, rest = sum(chances), len(chances) - sum(chances)
        pairs = list(zip(chances, patterns, strict=True))
        new_m = [kept(sum(c * p[j] for c, p in pairs) / total) for j in range(width)]
        new_u = [kept(sum((1 - c) * p[j] for c, p in pairs) / rest) for j in range(width)]
        change = max(abs(a - b) for a, b in zip(m + u, new_m + new_u, strict=True))
        m, u = new_m, new_u
        if change < 1e-7:
            break
    return m, u


# Intervals.


def within_ranks(before, after, percent):
    """The share of records within so many percent of all records around their released number, in rank order."""
    line = sorted(v for v in after if v is not None)
    n, hits, count = len(line), 0, 0
    for x, y in zip(before, after, strict=True):
        if x is None or y is None:
            continue
        count += 1
        places = [place for place, v in enumerate(line) if v == y]
        middle = sum(places) / len(places)
        reach = percent * n / 100 * (1 + 1e-12)
        inside = [v for place, v in enumerate(line) if abs(place - middle) <= reach]
        hits += x == y or (bool(inside) and min([y, *inside]) <= x <= max([y, *inside]))
    return 100 * hits / count


def deviation(values):
    there = [v for v in values if v is not None]
    if len(there) < 2 or min(there) == max(there):
        return 0.0
    middle = math.fsum(there) / len(there)
    return math.sqrt(math.fsum((v - middle) ** 2 for v in there) / (len(there) - 1))


def within_deviations(before, after, percent):
    reach = percent / 100 * deviation(after) * (1 + 1e-12)
    known = [(x, y) for x, y in zip(before, after, strict=True) if x is not None and y is not None]
    return 100 * sum(abs(x - y) <= reach for x, y in known) / len(known)


# Uniqueness.


def uniques(rows, columns):
    """The records that no other one equals on some columns."""
    keys = [tuple(row[c] for c in columns) for row in rows]
    counts = Counter(keys)
    return {i for i, key in enumerate(keys) if counts[key] == 1}


def suda(rows, m, largest):
    """The minimal sample uniques of each record, and its score."""
    minimal = defaultdict(list)
    for size in range(1, largest + 1):
        for columns in combinations(range(m), size):
            smaller = [part for s in range(1, size) for part in combinations(columns, s)]
            for i in uniques(rows, columns):
                if all(i not in uniques(rows, part) for part in smaller):
                    minimal[i].append(columns)
    last = min(largest, m - 1)
    points = {s: math.prod(m - i for i in range(s, last + 1)) for s in range(1, largest + 1)}
    return [sum(points[len(c)] for c in minimal[i]) for i in range(len(rows))], minimal


# What groups tell.


def told(groups, values):
    """Of the groups with a known value: the values of each."""
    found = defaultdict(list)
    for group, value in zip(groups, values, strict=True):
        if value is not None:
            found[group].append(value)
    return dict(found)


def homogeneous(groups, values):
    found = told(groups, values)
    count = sum(map(len, found.values()))
    shares = [c / count for c in Counter(v for each in found.values() for v in each).values()]
    alike = sum(len(each) for each in found.values() if len(set(each)) == 1)
    chance = sum(len(each) * sum(p ** len(each) for p in shares) for each in found.values())
    return 100 * alike / count, 100 * chance / count


def guessed(groups, values):
    found = told(groups, values)
    count = sum(map(len, found.values()))
    everything = Counter(v for each in found.values() for v in each)
    right = sum(Counter(each).most_common(1)[0][1] for each in found.values())
    return 100 * right / count, 100 * everything.most_common(1)[0][1] / count


# Attacks.


def fulfilling(table, columns, asked, low, high):
    """How many records fulfil a predicate; a table of columns."""
    count = 0
    for i in range(len(table[0])):
        good = True
        for c, what, a, b in zip(columns, asked, low, high, strict=True):
            value = table[c][i]
            if what == 2:
                good &= math.isnan(value)
            elif math.isnan(value):
                good = False
            else:
                good &= (a <= value <= b) == (what == 0)
        count += good
    return count


def gower(columns, values, row):
    total = 0.0
    for column, value in zip(columns, values, strict=True):
        one, two = plain([value])[0], plain([column.after[row]])[0]
        if column.levels and not column.ordered:
            total += one != two
            continue
        there = [v for v in plain(column.after) if v is not None]
        middle = math.fsum(there) / len(there) if there else 0.0
        span = (max(there) - min(there) if there else 0.0) or 1.0
        one_gap, two_gap = one is None, two is None
        total += abs((middle if one_gap else one) - (middle if two_gap else two)) / span + (one_gap != two_gap)
    return total


# Two releases.


def in_common(one, two, ids):
    """How many persons share both groups of a record with each person; the fewest of the person's records."""
    least = {}
    for a, b, person in zip(one, two, ids, strict=True):
        others = {p for x, y, p in zip(one, two, ids, strict=True) if (x, y) == (a, b)}
        least[person] = min(least.get(person, len(one) + 1), len(others))
    return least


def companions_kept(one, two):
    shares = []
    n = len(one)
    for i in range(n):
        mine = [j for j in range(n) if j != i and one[j] == one[i]]
        if mine:
            shares.append(sum(two[j] == two[i] for j in mine) / len(mine))
    return 100 * sum(shares) / len(shares) if shares else None
