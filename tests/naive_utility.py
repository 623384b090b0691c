"""The slow, obvious twins of the measures of utility: plain loops over plain lists; a gap is None."""

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product


def plain(values):
    return [None if math.isnan(value) else float(value) for value in values]


def there(values):
    return [value for value in values if value is not None]


def mean(values):
    return float(sum(map(Fraction, values)) / len(values))


def variance(values):
    """With n - 1, exactly."""
    exact = [Fraction(value) for value in values]
    middle = sum(exact) / len(exact)
    return float(sum((value - middle) ** 2 for value in exact) / (len(exact) - 1))


def sd(values):
    return math.sqrt(variance(values)) if len(values) > 1 else 0.0


def both(first, second):
    return [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]


# Values of persons.


def parts(before, after, is_number):
    """Squared errors of a column, record by record: of the release, and of one group; None where it has no spread."""
    pairs = [pair if None not in pair else None for pair in zip(before, after, strict=True)]
    originals = [pair[0] for pair in pairs if pair]
    if is_number:
        count = len(there(before))
        scale = sd(there(before)) * math.sqrt((count - 1) / count) if count else 0.0
        if scale == 0 or not originals:
            return [0.0] * len(pairs), [0.0] * len(pairs)
        middle = mean(originals)
        near = [((p[0] - p[1]) / scale) ** 2 if p else 0.0 for p in pairs]
        return near, [((p[0] - middle) / scale) ** 2 if p else 0.0 for p in pairs]
    counts = Counter(originals)
    mode = min(counts, key=lambda each: (-counts[each], each)) if counts else None
    shares = [count / len(there(before)) for count in Counter(there(before)).values()]
    cost = 2 / (1 - sum(share**2 for share in shares)) if len(shares) > 1 else 0.0
    near = [cost * (p[0] != p[1]) if p else 0.0 for p in pairs]
    return near, [cost * (p[0] != mode) if p else 0.0 for p in pairs]


def squared_error(columns):
    """100 SSE / SST of (before, after, is_number)."""
    found = [parts(*column) for column in columns]
    total = sum(sum(far) for _, far in found)
    return 100 * sum(sum(near) for near, _ in found) / total if total > 0 else None


def euclidean_error(columns):
    found = [parts(*column) for column in columns]
    records = range(len(columns[0][0]))
    near = sum(math.sqrt(sum(column[0][i] for column in found)) for i in records)
    far = sum(math.sqrt(sum(column[1][i] for column in found)) for i in records)
    return 100 * near / far if far > 0 else None


def il1s(columns):
    """The sum, and the number of values, over columns of numbers that have a spread."""
    total, count = 0.0, 0
    for before, after in columns:
        scale = sd(there(before))
        if scale > 0:
            for x, y in both(before, after):
                total += abs(x - y) / (math.sqrt(2) * scale)
                count += 1
    return total, count


# Moments.


def quantile(values, share):
    """By linear interpolation between the sorted values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = min(int(place), len(ordered) - 1)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def covariance(first, second):
    pairs = both(first, second)
    if len(pairs) < 2:
        return None
    a, b = mean([p[0] for p in pairs]), mean([p[1] for p in pairs])
    return math.fsum((p[0] - a) * (p[1] - b) for p in pairs) / (len(pairs) - 1)


# Associations.


def pearson(first, second):
    pairs = both(first, second)
    a, b = [p[0] for p in pairs], [p[1] for p in pairs]
    if len(set(a)) < 2 or len(set(b)) < 2:
        return None
    return covariance(a, b) / (sd(a) * sd(b))


def ranks(values):
    """1 for the smallest; equal ones have the mean of their places."""
    return [sum(w < v for w in values) + (sum(w == v for w in values) + 1) / 2 for v in values]


def spearman(first, second):
    pairs = both(first, second)
    if not pairs:
        return None
    return pearson(ranks([p[0] for p in pairs]), ranks([p[1] for p in pairs]))


def cramers_v(first, second):
    """By the sum over all cells, also empty ones, of (observed - expected)² / expected."""
    pairs = both(first, second)
    rows, columns, cells = Counter(p[0] for p in pairs), Counter(p[1] for p in pairs), Counter(pairs)
    least = min(len(rows), len(columns))
    if least < 2:
        return None
    n, chi = len(pairs), 0.0
    for row, column in product(rows, columns):
        expected = rows[row] * columns[column] / n
        chi += (cells[row, column] - expected) ** 2 / expected
    return math.sqrt(chi / (n * (least - 1)))


def correlation_ratio(categories, numbers):
    pairs = both(categories, numbers)
    values = [p[1] for p in pairs]
    if len(set(values)) < 2 or len({p[0] for p in pairs}) < 2:
        return None
    middle, between = mean(values), 0.0
    for category in {p[0] for p in pairs}:
        own = [p[1] for p in pairs if p[0] == category]
        between += len(own) * (mean(own) - middle) ** 2
    return math.sqrt(between / math.fsum((value - middle) ** 2 for value in values))


# Distributions.


def share_below(values, place):
    return sum(value <= place for value in values) / len(values)


def wasserstein(first, second):
    """The area between the distribution functions, step by step."""
    places = sorted({*first, *second})
    return math.fsum(abs(share_below(first, a) - share_below(second, a)) * (b - a) for a, b in pairwise(places))


def kolmogorov(first, second):
    return max(abs(share_below(first, place) - share_below(second, place)) for place in [*first, *second])


def total_variation(first, second):
    """Of two lists of anything."""
    a, b = Counter(first), Counter(second)
    return sum(abs(a[x] / len(first) - b[x] / len(second)) for x in {*first, *second}) / 2


# Regressions.


def solved(matrix, right):
    """Gauss with exact fractions; None where there is no one solution."""
    rows = [[*map(Fraction, row), Fraction(value)] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for i in range(size):
        pivot = next((j for j in range(i, size) if rows[j][i] != 0), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(size):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


def regression(terms, target):
    """Coefficients, the constant first, and their standard errors; by exact fractions."""
    X = [[Fraction(1), *map(Fraction, row)] for row in terms]
    y = [Fraction(value) for value in target]
    width = len(X[0])
    squares = [[sum(row[i] * row[j] for row in X) for j in range(width)] for i in range(width)]
    beta = solved(squares, [sum(row[i] * v for row, v in zip(X, y, strict=True)) for i in range(width)])
    if beta is None:
        return None
    rest = sum((v - sum(b * x for b, x in zip(beta, row, strict=True))) ** 2 for row, v in zip(X, y, strict=True))
    errors = []
    for i in range(width):
        unit = solved(squares, [int(j == i) for j in range(width)])
        errors.append(math.sqrt(float(unit[i] * rest / (len(y) - width))))
    return [float(b) for b in beta], errors


def overlap(first, second, steps=2000):
    """The part of each interval that lies in the other, point by point on a fine grid."""

    def inside(one, other):
        points = [one[0] + (i + 0.5) / steps * (one[1] - one[0]) for i in range(steps)]
        return sum(other[0] <= point <= other[1] for point in points) / steps

    return (inside(first, second) + inside(second, first)) / 2


# Propensity scores.


def best_stump(matrix, released):
    """The largest pMSE that one cut of one term can have."""
    n, share = len(released), sum(released) / len(released)
    best = 0.0
    for j in range(len(matrix[0])):
        for cut in {row[j] for row in matrix}:
            sides = [[], []]
            for row, flag in zip(matrix, released, strict=True):
                sides[row[j] <= cut].append(flag)
            best = max(best, sum(len(s) * (sum(s) / len(s) - share) ** 2 for s in sides if s) / n)
    return best


def logistic(matrix, released, rounds=4000):
    """Ridge logistic regression on standardised terms, by plain gradient steps: fitted probabilities."""
    columns = []
    for column in zip(*matrix, strict=True):
        middle = mean(column)
        scale = math.sqrt(mean([(value - middle) ** 2 for value in column]))
        if scale > 0:
            columns.append([(value - middle) / scale for value in column])
    rows = list(zip(*columns, strict=True))
    beta, constant = [0.0] * len(columns), 0.0
    step = 4 / (len(released) * (len(columns) + 1) + 4)
    for _ in range(rounds):
        guesses = [
            1 / (1 + math.exp(-constant - sum(b * x for b, x in zip(beta, row, strict=True)))) for row in rows
        ]
        off = [flag - guess for flag, guess in zip(released, guesses, strict=True)]
        constant += step * sum(off)
        slopes = [sum(o * row[j] for o, row in zip(off, rows, strict=True)) - beta[j] for j in range(len(beta))]
        beta = [b + step * s for b, s in zip(beta, slopes, strict=True)]
    return guesses


# Tables to compare on.

LEVELS = ("a", "b", "c", "d")


def drawn(seed, n=12, kind="number", gaps=0.2):
    """A column before or after as an array: continuous, tied, constant, or of categories, with gaps."""
    import numpy as np

    rng = np.random.default_rng(seed)
    values = {
        "number": lambda: rng.normal(size=n).round(3),
        "tied": lambda: rng.integers(0, 3, n).astype(float),
        "constant": lambda: np.full(n, 0.1),
        "category": lambda: rng.integers(0, len(LEVELS), n).astype(float),
        "gaps": lambda: np.full(n, np.nan),
    }[kind]()
    values[rng.random(n) < gaps] = np.nan
    return values
