"""Models made ready for groups: the values of all units, the distribution of the table, and what groups promise.

A unit is what stays together: a record, or all records of a person or household. Whom a model counts is a record,
or a person: several rows of one person count once. Where somebody has several values, shares of values (entropy,
t-closeness) split that person evenly over the rows; counts of people (alpha, beta, delta, recursive) count
everybody who has the value; and different values count only as far as different people stand for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalError
from shoal.privacy.coding import Coding, harmful_values, settled, tree_of
from shoal.privacy.models import Model, Numbers, TCloseness

if TYPE_CHECKING:
    from shoal.kernels.promises.rules import Rules as Compiled

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class Pairs(NamedTuple):
    """Who has which value: by unit, then by person, then by value."""

    start: Int  # (units + 1,)
    code: NDArray[np.int32]
    share: Float  # how much of the person's rows
    whose: NDArray[np.int32]

    def of(self, units: Int) -> "Pairs":
        """The same of some of the units, in this order."""
        sizes = np.diff(self.start)[units]
        start = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(start[-1]) + np.repeat(self.start[units] - start[:-1], sizes)
        return Pairs(start, self.code[places], self.share[places], self.whose[places])


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a table that a model is about, and their distribution."""

    codes: Int  # of each record, -1 for a gap
    part: Float  # by value: its share of the table
    having: Float  # the share of people who have it among others
    harmful: NDArray[np.bool_]
    step: Float  # how far the next value is
    leaf: Int
    above: Int
    edge: Float

    @cached_property
    def mass(self) -> Float:
        """The share of the table below each node of the tree."""
        mass = np.zeros(len(self.above))
        node, share = self.leaf.copy(), self.part
        while len(node):
            np.add.at(mass, node, share)
            node = self.above[node]
            share, node = share[node >= 0], node[node >= 0]
        return mass


@dataclass(frozen=True, eq=False)
class Rules:
    """The models of a table, for groups of its units.

    Attributes
    ----------
    models : what every group must satisfy
    values : what each of them is about
    units : the unit of each record, from 0 on
    people : whom the models count: the number of each record's person
    """

    models: tuple[Model, ...]
    values: tuple[Values, ...]
    units: Int
    people: Int
    codings: tuple[Coding, ...] = field(default=())
    """The columns as they were read; those of the whole table."""

    @classmethod
    def of(
        cls,
        models: Sequence[Model],
        codings: Sequence[Coding],
        units: Int | None = None,
        people: Int | None = None,
        order: Int | None = None,
    ) -> "Rules":
        """From the coding of each model's column. All records of a person are of one unit.

        `order` is that of the rows as they leave, by which ranks of equal values are given; theirs by default.
        """
        n = len(codings[0].codes)
        people_given = people is not None
        people = np.arange(n) if people is None else people
        ready = [settled(model, coding) for model, coding in zip(models, codings, strict=True)]
        values = [values_of(model, coding, people, order) for model, coding in zip(ready, codings, strict=True)]
        units = (people if people_given else np.arange(n)) if units is None else units
        return cls(tuple(ready), tuple(values), units, people, tuple(codings))

    @classmethod
    def around(cls, models: Sequence[Model], values: Sequence[Values], codes: Sequence[Int]) -> "Rules":
        """For some records of a table, by their codes; the distribution is that of the table."""
        records = np.arange(len(codes[0]))
        own = [replace(each, codes=part) for each, part in zip(values, codes, strict=True)]
        return cls(tuple(models), tuple(own), records, records)

    def __len__(self) -> int:
        return len(self.models)

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return int(self.units.max()) + 1

    def pairs(self, place: int) -> Pairs:
        """Who has which value of a model."""
        codes = self.values[place].codes
        there = np.flatnonzero(codes >= 0)
        return pairs_of(self.units[there], self.people[there], codes[there], self.n_units)

    def part(self, units: Int) -> "Rules":
        """The same for some of the units, numbered in this order; the distribution is still that of the table."""
        number = np.full(self.n_units, -1, np.int64)
        number[units] = np.arange(len(units))
        records = np.flatnonzero(number[self.units] >= 0)
        values = tuple(replace(each, codes=each.codes[records]) for each in self.values)
        return Rules(self.models, values, number[self.units[records]], self.people[records], self.codings)

    def first(self, place: int) -> "Rules":
        """The same with one of the models before the others."""
        order = [place, *(other for other in range(len(self)) if other != place)]
        models, values = tuple(self.models[p] for p in order), tuple(self.values[p] for p in order)
        return Rules(models, values, self.units, self.people, self.codings)

    def compiled_for(self, units: Int) -> "Compiled":
        """As kernels take them, for some of the units, numbered in this order."""
        return compiled(self.numbers, self.values, [each.of(units) for each in self.all_pairs])

    @cached_property
    def numbers(self) -> list[Numbers]:
        """The models as kernels take them."""
        return [model.numbers() for model in self.models]

    @cached_property
    def compiled(self) -> "Compiled":
        """As kernels take them. The scratch in it is for one thread."""
        return compiled(self.numbers, self.values, self.all_pairs)

    @cached_property
    def all_pairs(self) -> list[Pairs]:
        """Who has which value, model by model."""
        return [self.pairs(place) for place in range(len(self))]

    def judge(self, labels: Int) -> tuple[Float, Float]:
        """The figure of every model in every group of units, and how far each is from what is promised."""
        from shoal.kernels.promises.rules import judge

        order = np.argsort(labels, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
        return judge(self.compiled, order, starts)

    def broken(self, labels: Int) -> Int:
        """The groups of units that do not keep a promise."""
        return np.flatnonzero((self.judge(labels)[1] > 0).any(axis=0))


def pairs_of(units: Int, people: Int, codes: Int, n_units: int) -> Pairs:
    """The different pairs of somebody and a value, in the order of units."""
    n = len(codes)
    if len(np.unique(people)) == n:  # nobody has two rows
        order = np.argsort(units, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(units, minlength=n_units))])
        return Pairs(start, codes[order].astype(np.int32), np.ones(n), people[order].astype(np.int32))
    order = np.lexsort((codes, people, units))
    ranked = np.stack([units[order], people[order], codes[order]])
    new = np.ones(n, bool)
    new[1:] = (ranked[:, 1:] != ranked[:, :-1]).any(axis=0)
    first = np.flatnonzero(new)
    rows = np.diff(np.append(first, n))
    own = np.unique(np.stack([ranked[0][first], ranked[1][first]]), axis=1, return_inverse=True)[1].reshape(-1)
    share = rows / np.bincount(own, rows)[own]
    start = np.concatenate([[0], np.cumsum(np.bincount(ranked[0][first], minlength=n_units))])
    return Pairs(start, ranked[2][first].astype(np.int32), share, ranked[1][first].astype(np.int32))


def values_of(model: Model, coding: Coding, people: Int, order: Int | None = None) -> Values:
    """What a model is about: the codes, of records in their ranks where it asks for these, and shares."""
    codes, n_values = coding.codes, len(coding.values)
    if by_ranks(model):
        codes = ranks_of(codes, order)
        n_values = int(codes.max()) + 1
    there = codes >= 0
    pairs = pairs_of(people[there], people[there], codes[there], int(people.max()) + 1)
    counted = len(np.unique(people[there]))
    part = np.bincount(pairs.code, pairs.share, minlength=n_values) / counted
    having = np.bincount(pairs.code, minlength=n_values) / counted
    return placed(model, coding, codes, part, having)


def values_counted(model: Model, coding: Coding, counts: Int) -> Values:
    """The same of a table that comes in parts, from how many records have each value; without their codes."""
    total = int(counts.sum())
    part = np.full(total, 1.0) / total if by_ranks(model) else counts / total
    return placed(model, coding, np.zeros(0, np.int64), part, part)


def by_ranks(model: Model) -> bool:
    """Whether a model is about the ranks of records, not about their values."""
    return isinstance(model, TCloseness) and model.distance == "ranks"


def ranks_of(codes: Int, order: Int | None = None) -> Int:
    """The rank of each record's value among all, -1 for a gap; ties in an order of the records, or in theirs."""
    rows = np.flatnonzero(codes >= 0) if order is None else order[codes[order] >= 0]
    ranks = np.full(len(codes), -1, np.int64)
    ranks[rows[np.argsort(codes[rows], kind="stable")]] = np.arange(len(rows))
    return ranks


def placed(model: Model, coding: Coding, codes: Int, part: Float, having: Float) -> Values:
    """Values with their shares: how far they are from each other, and which of them do harm."""
    places, n_values = coding.places, len(part)
    line = isinstance(model, TCloseness) and model.distance in ("ordered", "ranks", "wasserstein")
    if isinstance(model, TCloseness) and model.distance in ("ordered", "ranks"):
        places = np.arange(n_values, dtype=np.float64)
    step = np.zeros(n_values)
    if line and places is not None and n_values > 1:
        half = places / 2  # the range of doubles may be more than a double
        step[:-1] = np.diff(half) / (half[-1] - half[0])
    harmful = np.ones(n_values, bool)
    if model.sensitive_values:
        harmful = np.zeros(n_values, bool)
        harmful[[place for place in harmful_values(coding, model.sensitive_values) if place is not None]] = True
    leaf, above, edge = np.zeros(n_values, np.int64), np.full(1, -1), np.zeros(1)
    if isinstance(model, TCloseness) and model.taxonomy is not None:
        leaf, above, heights = tree_of(model.taxonomy, coding)
        edge = np.where(above < 0, 0.0, heights[above] - heights) / (2 * max(heights[0], 1.0))
    return Values(codes, part, having, harmful, step, leaf, above, edge)


def compiled(numbers: Sequence[Numbers], values: Sequence[Values], pairs: Sequence[Pairs]) -> "Compiled":
    """The arrays of all models behind each other, as a kernel takes them."""
    from shoal.kernels.promises import rules as kernel

    kinds = [getattr(kernel, each.kind.upper()) for each in numbers]
    sizes = [len(each.code) for each in pairs]
    before = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    nodes = np.concatenate([[0], np.cumsum([len(each.above) for each in values])]).astype(np.int64)
    factor = [
        float((each.edge * each.mass).sum()) if kind == kernel.HIERARCHICAL else number.factor
        for kind, number, each in zip(kinds, numbers, values, strict=True)
    ]

    def flat(parts: Sequence[Any], kind: Any) -> Any:
        return np.ascontiguousarray(np.concatenate(parts), dtype=kind)

    upto = [np.cumsum(each.part) for each in values]
    steps = [np.concatenate([[0.0], np.cumsum(each.step)[:-1]]) for each in values]
    area = [
        np.concatenate([[0.0], np.cumsum(each.step * share)[:-1]])
        for each, share in zip(values, upto, strict=True)
    ]
    most = max(sizes, default=0)
    return kernel.Rules(
        np.array(kinds, np.int64),
        np.array([each.limit for each in numbers], np.float64),
        np.array(factor, np.float64),
        np.ascontiguousarray(
            np.stack([each.start + shift for each, shift in zip(pairs, before[:-1], strict=True)]), dtype=np.int64
        ),
        flat([each.code for each in pairs], np.int32),
        flat([each.share for each in pairs], np.float64),
        flat([each.whose for each in pairs], np.int32),
        np.array([bool(len(np.unique(each.whose)) == len(each.whose)) for each in pairs]),
        np.concatenate([[0], np.cumsum([len(each.part) for each in values])]).astype(np.int64),
        flat([each.part for each in values], np.float64),
        flat([each.having for each in values], np.float64),
        flat([each.harmful for each in values], np.bool_),
        flat(upto, np.float64),
        flat([each.step for each in values], np.float64),
        flat(steps, np.float64),
        flat(area, np.float64),
        flat([each.leaf + shift for each, shift in zip(values, nodes[:-1], strict=True)], np.int64),
        flat(
            [
                np.where(each.above < 0, -1, each.above + shift)
                for each, shift in zip(values, nodes[:-1], strict=True)
            ],
            np.int64,
        ),
        flat([each.edge for each in values], np.float64),
        flat([each.mass for each in values], np.float64),
        np.zeros(most, np.int32),
        np.zeros(most, np.float64),
        np.zeros(most, np.int32),
        np.zeros(nodes[-1], np.float64),
    )


def check_feasible(rules: Rules, called: str = "the whole table") -> None:
    """Whether all units together keep every promise; an error that says what would be possible, where not."""
    values, excess = rules.judge(np.zeros(rules.n_units, np.int64))
    for place, model in enumerate(rules.models):
        if excess[place, 0] > 0:
            found = float(values[place, 0])
            below = ", and must have less" if found <= model.asked and not model.at_least else ""
            raise ShoalError(f"{model} cannot be had: even {called} as one group has {model.said(found)}{below}")
