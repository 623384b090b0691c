"""Hypothesis strategies for the input that breaks things: ties, duplicates, constants, extremes."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

VALUES = {
    "random": st.floats(-1e3, 1e3, allow_subnormal=False),
    "tied": st.integers(0, 3).map(float),
    "constant": st.just(2.5),
    "extreme": st.sampled_from([0.0, -0.0, 1e-300, 5e-324, 1e140, -1e140, 1.0]),
}


@st.composite
def points(draw, most=40, widest=5):
    """Points of one kind, some of them repeated, and a k from 1 to n."""
    n = draw(st.integers(1, most))
    m = draw(st.integers(1, widest))
    X = draw(npst.arrays(float, (n, m), elements=VALUES[draw(st.sampled_from(sorted(VALUES)))]))
    if draw(st.booleans()):
        X = X[draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))]
    if draw(st.booleans()):
        X[:, draw(st.integers(0, m - 1))] = 7.0
    return X, draw(st.integers(1, n))


REAL_WEIGHTS = {
    "random": st.floats(0.1, 100.0),
    "whole": st.integers(0, 4).map(float),
    "mostly zero": st.sampled_from([0.0, 0.0, 0.0, 1.0, 2.0]),
    "huge": st.sampled_from([1e-12, 1.0, 3.0, 1e12, 1e15]),
}


@st.composite
def weighted_points(draw, most=40, widest=5):
    """Points, k, and weights of one kind that are not all 0."""
    X, k = draw(points(most, widest))
    weights = draw(npst.arrays(float, len(X), elements=REAL_WEIGHTS[draw(st.sampled_from(sorted(REAL_WEIGHTS)))]))
    if not weights.any():
        weights[draw(st.integers(0, len(X) - 1))] = 2.0
    return X, k, weights


COLUMNS = {
    "whole": st.integers(-5, 5),
    "year": st.integers(1900, 2020),
    "wide": st.integers(-(2**63), 2**63 - 1),
    "huge": st.integers(2**62, 2**62 + 100),
    "flag": st.booleans(),
    "tenths": st.integers(-300, 300).map(lambda units: units / 10),
    "real": st.floats(-1e6, 1e6, allow_nan=False),
    "constant": st.just(4),
}


@st.composite
def tables(draw, kinds=tuple(sorted(COLUMNS)), most=25):
    """Columns of one to four kinds as a dictionary, and a k from 1 to n."""
    n = draw(st.integers(1, most))
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4, unique=True))
    columns = {kind: draw(st.lists(COLUMNS[kind], min_size=n, max_size=n)) for kind in chosen}
    return columns, draw(st.integers(1, n))


WEIGHTS = {
    "few": st.integers(0, 4),
    "mostly none": st.sampled_from([0, 0, 0, 1]),
    "samples": st.integers(0, 10**6),
    "long": st.integers(0, 2**62),
    "huge": st.integers(0, 2**90),
    "far apart": st.sampled_from([0, 1, 3, 2**26, 2**52 - 1, 2**52 + 1, 10**40]),
}


@st.composite
def weights(draw, labels, sorts=tuple(sorted(WEIGHTS))):
    """Whole weights of records, of one sort; every group has a weight above 0."""
    found = draw(st.lists(WEIGHTS[draw(st.sampled_from(sorts))], min_size=len(labels), max_size=len(labels)))
    for label in set(labels):
        own = [i for i, other in enumerate(labels) if other == label]
        if not any(found[i] for i in own):
            found[own[0]] = 1
    return found


def small_table(seed):
    """A table of 4 to 11 records, of one of six kinds, and a k from 2 to 5: small enough for brute force."""
    rng = np.random.default_rng(seed)
    k = 2 + seed % 4
    n, m = int(rng.integers(max(4, 2 * k - 1), 12)), int(rng.integers(2, 5))
    X = rng.normal(size=(n, m))
    kind = ["random", "tied", "duplicated", "collinear", "skewed", "one attribute"][seed // 4 % 6]
    if kind == "tied":
        X = rng.integers(0, 3, (n, m)).astype(float)
    elif kind == "duplicated":
        X = X[rng.integers(0, n, n)]
    elif kind == "collinear":
        X = X[:, :1] * rng.normal(size=m) + 5.0
    elif kind == "skewed":
        X[:, 0] = np.exp(3 * X[:, 0])
    elif kind == "one attribute":
        X = X[:, :1]
    return X, k


@st.composite
def earthly(draw, most=12):
    """Places (latitude, longitude) of some kind, in units of 1e-7 degrees, some of them repeated."""
    unit = draw(st.sampled_from([1, 10**4, 10**7]))  # a centimetre, some hundred metres, a degree
    around = draw(st.sampled_from(["globe", "date line", "north pole", "south pole", "village"]))
    north, east = {
        "globe": (st.integers(-90 * 10**7 // unit, 90 * 10**7 // unit), st.integers(-(10**9), 10**9)),
        "date line": (st.integers(-20, 20), st.integers(180 * 10**7 // unit - 9, 180 * 10**7 // unit + 9)),
        "north pole": (st.integers(90 * 10**7 // unit - 9, 90 * 10**7 // unit), st.integers(0, 360)),
        "south pole": (st.just(-90 * 10**7 // unit), st.integers(0, 5)),
        "village": (st.integers(50, 60), st.integers(5, 15)),
    }[around]
    places = draw(st.lists(st.tuples(north, east), min_size=1, max_size=most))
    if draw(st.booleans()):
        places += [(-first, second + 180 * 10**7 // unit) for first, second in places]  # antipodes
    if draw(st.booleans()):
        places += draw(st.lists(st.sampled_from(places), max_size=most))
    turn = 360 * 10**7
    return [(first * unit, (second * unit + turn // 2) % turn - turn // 2) for first, second in places]
