"""Confidential columns of tables of persons, all models with their parameters, and what the twin finds in them."""

from typing import NamedTuple

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import naive
from samples import REAL_WEIGHTS, VALUES
from shoal.privacy.coding import Coding
from shoal.privacy.models import AlphaK, BetaLikeness, DeltaDisclosure, LDiversity, PSensitivity, TCloseness
from shoal.privacy.rules import Rules
from shoal.search.weighted import Demands
from weighed import sse, weighed


class Confidential(NamedTuple):
    """A confidential column, whose its rows are, and groups of what stays together."""

    values: list[str | None]  # of each record, None for a gap
    line: list[str]  # the different values, from the lowest to the highest
    persons: list[int]
    units: list[int]  # of each record; a unit holds whole persons
    labels: list[int]  # the group of each unit
    tree: dict

    @property
    def coding(self):
        codes = [-1 if value is None else self.line.index(value) for value in self.values]
        places = np.array([float(value) for value in self.line])
        return Coding("x", np.array(codes), tuple(self.line), places, True)

    @property
    def groups(self):
        """The records of each group."""
        return rows_of(self.units, self.labels)

    def rules(self, models):
        codings = [self.coding] * len(models)
        return Rules.of(models, codings, np.array(self.units), np.array(self.persons))

    def keeps(self, models, labels):
        """Whether every group of units keeps every model, by the twin."""
        said = [model.as_dict() for model in models]
        groups = rows_of(self.units, labels)
        return naive.are_kept(said, self.values, self.persons, groups, self.line, self.tree)

    def twins(self, model, groups=None):
        groups = self.groups if groups is None else groups
        return naive.naive_judge(model.as_dict(), self.values, self.persons, groups, self.line, self.tree)


def rows_of(units, labels):
    """The records of each group of units."""
    own = [labels[unit] for unit in units]
    return [[i for i, group in enumerate(own) if group == one] for one in range(max(labels) + 1)]


def numbered(keys):
    """The same numbers without those that are left out."""
    number = {key: place for place, key in enumerate(sorted(set(keys)))}
    return [number[key] for key in keys]


NUMBERS = [str(number / 4) for number in (-40, -5, 0, 1, 2, 3, 8, 9, 400)]  # without rounding, not evenly apart


@st.composite
def confidential(draw, most=40):
    """Ties, gaps, persons with several rows, households, groups of gaps only."""
    pool = draw(st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=6, unique=True))
    cell = st.sampled_from(pool) if draw(st.booleans()) else st.sampled_from([*pool, None, None])
    values = draw(st.lists(cell, min_size=1, max_size=most))
    if all(value is None for value in values):
        values[0] = pool[0]
    n = len(values)
    several = draw(st.booleans())
    persons = numbered(draw(st.lists(st.integers(0, n // 2), min_size=n, max_size=n))) if several else [*range(n)]
    homes = [*range(n)]
    if draw(st.booleans()):
        homes = draw(st.lists(st.integers(0, n // 2), min_size=n, max_size=n))
    units = numbered([homes[person] for person in persons])
    count = max(units) + 1
    labels = numbered(draw(st.lists(st.integers(0, draw(st.integers(0, 4))), min_size=count, max_size=count)))
    line = sorted({value for value in values if value is not None}, key=float)
    return Confidential(values, line, persons, units, labels, draw(trees(line)))


@st.composite
def trees(draw, names):
    """A tree with all these nodes, any of them at the top, inside or at the bottom, and with some others."""
    nodes = draw(st.permutations([*names, *"abc"[: draw(st.integers(0, 3))]]))
    below = {name: {} for name in nodes}
    for place, name in enumerate(nodes[1:], 1):
        below[nodes[draw(st.integers(0, place - 1))]][name] = below[name]
    return {nodes[0]: below[nodes[0]]}


@st.composite
def every_model(draw, sample):
    """Every model, with limits that are often met exactly."""

    def one(*limits):
        return draw(st.sampled_from(limits))

    few = draw(st.lists(st.sampled_from(sample.line), min_size=1, unique=True))
    t = [0, 0.05, 0.125, 0.25, 1 / 3, 0.5, 0.75]
    distances = ("ordered", "ranks", "wasserstein", "equal", "kullback-leibler")
    return [
        PSensitivity(one(1, 2, 3), on="x"),
        PSensitivity(one(2, 3), on="x", sensitive_values=few),
        LDiversity(one(1, 2, 3), on="x"),
        LDiversity(one(2, 3), on="x", sensitive_values=few),
        LDiversity(one(1, 1.5, 2, 2.5, 3), "entropy", on="x"),
        LDiversity(one(1, 2, 3), "recursive", c=one(0.5, 1, 2, 3), on="x"),
        *(TCloseness(one(*t), distance, on="x") for distance in distances),
        TCloseness(one(*t), "hierarchical", taxonomy=sample.tree, on="x"),
        AlphaK(one(0.25, 1 / 3, 0.5, 0.75, 1), on="x"),
        AlphaK(one(0, 0.25, 0.5), on="x", sensitive_values=few),
        BetaLikeness(one(0, 0.5, 1, 2), on="x"),
        BetaLikeness(one(0, 0.5, 1, 2), enhanced=True, on="x"),
        BetaLikeness(one(0, 0.5), on="x", sensitive_values=few),
        DeltaDisclosure(one(0, 0.25, 0.5, 1, 2), on="x"),
        DeltaDisclosure(one(0.25, 0.5, 1, 2), absent="ignore", on="x"),
        DeltaDisclosure(one(0.25, 0.5, 1, 2), on="x", sensitive_values=few),
        DeltaDisclosure(one(0.25, 0.5, 1, 2), absent="ignore", on="x", sensitive_values=few),
    ]


class Demanding(NamedTuple):
    """Points of units, groups of them, and what every group must have; all units together have it."""

    X: np.ndarray
    weights: np.ndarray
    demands: Demands
    models: list
    sample: Confidential
    labels: np.ndarray  # groups that have enough records and persons, and may break the models

    def weighed(self, labels, near=1000):
        """As kernels hold them."""
        own = self.demands
        counts, least = own.counts, (own.least_count, own.least_records)
        return weighed(self.X, labels, self.weights, counts, *least, near, own.rules)

    def is_valid(self, labels):
        """Whether every group has what it must have, one by one and by the twin."""
        labels = np.asarray(labels).tolist()
        groups = [[i for i, own in enumerate(labels) if own == group] for group in sorted(set(labels))]
        enough = all(
            sum(self.demands.counts[i] for i in group) >= self.demands.least_count
            and len(group) >= self.demands.least_records
            for group in groups
        )
        return enough and self.sample.keeps(self.models, numbered(labels))

    def sse(self, labels):
        return sse(self.X, np.asarray(labels), self.weights)

    def is_no_worse(self, after, before):
        """Whether the error is no larger, but for rounding."""
        return self.sse(after) <= self.sse(before) * (1 + 1e-9) + 1e-18 * np.abs(self.X).max() ** 2


@st.composite
def demanding(draw, most=30, joinable=False):
    """Points with ties and extremes, weights, persons or households, and one to three models that can be had."""
    sample = draw(confidential(most))
    n = len(sample.labels)
    element = VALUES[draw(st.sampled_from(["random", "random", "tied", "constant", "extreme"]))]
    X = draw(npst.arrays(float, (n, draw(st.integers(1, 3))), elements=element))
    weights = np.ones(n)
    if draw(st.booleans()):
        weights = draw(npst.arrays(float, n, elements=REAL_WEIGHTS[draw(st.sampled_from(sorted(REAL_WEIGHTS)))]))
        weights[0] += not weights.any()
        weights = np.array(naive.below_one(weights))
    k = draw(st.integers(1, max(1, n // 2)))
    counts, least = np.ones(n, np.int64), 1
    if draw(st.booleans()):
        counts, least = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))), min(2, k)
    every = draw(every_model(sample))
    if joinable:
        every = [model for model in every if getattr(model, "absent", None) != "ignore"]
    models = draw(st.lists(st.sampled_from(every), min_size=1, max_size=3, unique_by=str))
    models = [model for model in models if not sample.rules([model]).judge(np.zeros(n, np.int64))[1].any()]
    hypothesis.assume(models)
    labels = np.minimum(np.arange(n) // k, n // k - 1)[draw(st.permutations(range(n)))]
    return Demanding(X, weights, Demands(counts, k, least, sample.rules(models)), models, sample, labels)


def lively(seed, n=48, k=3):
    """A table of many groups that keep one or two models, and break them if records are exchanged at random."""
    rng = np.random.default_rng(seed)
    values = [str(number) for number in rng.permutation(np.resize([0, 0, 0, 1, 1, 1, 2, 2], n))]
    pool = [
        AlphaK(0.5, on="x"), AlphaK(2 / 3, on="x"), TCloseness(0.25, "equal", on="x"), LDiversity(2, on="x"),
        TCloseness(0.25, "ordered", on="x"), BetaLikeness(1, on="x"), LDiversity(2, "entropy", on="x"),
    ]  # fmt: skip
    models = [pool[place] for place in rng.choice(len(pool), int(rng.integers(1, 3)), replace=False)]
    everyone = list(range(n))
    line = sorted(set(values))
    sample = Confidential(values, line, everyone, everyone, [0] * n, {})
    labels = rng.permutation(np.minimum(np.arange(n) // k, n // k - 1))
    demands = Demands(np.ones(n, np.int64), k, 1, sample.rules(models))
    return Demanding(rng.normal(size=(n, 2)), np.ones(n), demands, models, sample, labels)


def agree(model, values, excess, expected):
    """The figures of a kernel are those of the twin, and so are the verdicts, where rounding does not decide."""
    figures = [figure for figure, _, _ in expected]
    assert values.tolist() == pytest.approx(figures, abs=1e-9), model
    for found, (figure, holds, near) in zip(excess.tolist(), expected, strict=True):
        assert near or (found == 0.0) == holds, (model, figure, found)


def found_in(model, groups, persons=None):
    """The figure and the excess of a model in each group of a table, which is given as the values of its groups.

    `persons` has the same shape. Values are in the order of numbers, or of the alphabet.
    """
    values = [None if value is None else str(value) for group in groups for value in group]
    labels = [number for number, group in enumerate(groups) for _ in group]
    whose = range(len(values)) if persons is None else [person for group in persons for person in group]
    there = {value for value in values if value is not None}
    numeric = all(isinstance(value, int | float) for group in groups for value in group if value is not None)
    line = sorted(there, key=float if numeric else None)
    codes = np.array([-1 if value is None else line.index(value) for value in values])
    places = np.array([float(value) for value in line]) if numeric else np.arange(len(line), dtype=float)
    people = np.array(numbered(list(whose)))
    own = dict(zip(people.tolist(), labels, strict=True))
    found = Rules.of([model], [Coding("x", codes, tuple(line), places, numeric)], people, people)
    figures, excess = found.judge(np.array([own[person] for person in sorted(own)]))
    return figures[0].tolist(), excess[0].tolist()


def figures_in(model, groups, persons=None):
    """The figure of a model in each group."""
    return found_in(model, groups, persons)[0]


def kept_in(model, groups, persons=None):
    """Whether a model holds in each group."""
    return [excess == 0.0 for excess in found_in(model, groups, persons)[1]]


class Small(NamedTuple):
    """A table so small that all partitions can be tried."""

    X: np.ndarray
    k: int
    columns: dict  # confidential, None for a gap
    models: list

    @property
    def rules(self):
        return Rules.of(self.models, [self.coding(model.on) for model in self.models])

    def line(self, name):
        return sorted(
            {value for value in self.columns[name] if value is not None}, key=float if name == "x" else str
        )

    def coding(self, name):
        line = self.line(name)
        codes = np.array([-1 if value is None else line.index(value) for value in self.columns[name]])
        places = np.array([float(value) for value in line]) if name == "x" else None
        return Coding(name, codes, tuple(line), places, name == "x")

    def allowed(self, group):
        """Whether records as a group keep all models, by the twin; what is a matter of rounding is allowed."""
        everyone = range(len(self.X))
        return all(
            naive.are_kept([model.as_dict()], self.columns[model.on], everyone, [group], self.line(model.on))
            for model in self.models
        )

    def optimum(self):
        """The least SSE of all groups of k or more records, of any size, that keep the models."""
        return naive.constrained_optimum(self.X, self.k, self.allowed)


def small_promised(seed, least=6, most=12):
    """A table of 6 to 12 records with ties and gaps, k of 2 or 3 and one to three models that can be had."""
    rng = np.random.default_rng(seed)
    while True:
        n, k = int(rng.integers(least, most + 1)), int(rng.integers(2, 4))
        shape = n, int(rng.integers(1, 4))
        X = rng.normal(size=shape) if rng.random() < 0.6 else rng.integers(0, 4, shape).astype(float)
        words = [None if rng.random() < 0.1 else str(word) for word in rng.choice(list("aabbcd"), n)]
        columns = {"d": words, "x": [str(number) for number in rng.integers(0, 6, n)]}
        t = [float(rng.uniform(0.1, 0.4)) for _ in range(3)]
        pool = [
            PSensitivity(2, on="x"), LDiversity(2, on="d"), LDiversity(3, on="d"),
            LDiversity(1.8, "entropy", on="d"), LDiversity(2, "recursive", c=2, on="d"),
            TCloseness(t[0], "ordered", on="x"), TCloseness(t[1], "ranks", on="x"),
            TCloseness(t[2], "wasserstein", on="x"), TCloseness(0.4, "equal", on="d"), AlphaK(0.6, on="d"),
            AlphaK(0.5, on="d", sensitive_values=["a"]), BetaLikeness(1, on="d"), DeltaDisclosure(1.2, on="d"),
        ]  # fmt: skip
        chosen = rng.choice(len(pool), int(rng.integers(1, 4)), replace=False)
        table = Small(X, k, columns, [pool[place] for place in chosen])
        if "a" in words and table.allowed(list(range(n))) and len(np.unique(X, axis=0)) > k:
            return table
