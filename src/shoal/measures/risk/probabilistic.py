"""Probabilistic record linkage after Fellegi and Sunter: agreements are weighed by how much they tell.

A pair of a person and a released group agrees or differs in each attribute. An attribute agrees with probability m
in pairs that belong together and with u in others; both are estimated without knowing which pairs belong together,
by expectation maximisation on the patterns of agreement. An agreement then weighs log2(m / u), a difference
log2((1 - m) / (1 - u)), and a person is linked to the groups of the largest weight.

References: I. P. Fellegi and A. B. Sunter, A theory for record linkage, Journal of the American Statistical
Association 64 (1969) 1183-1210; M. A. Jaro, Advances in record-linkage methodology, same journal 84 (1989)
414-420.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from shoal.kernels.single.linkage import agreements, heaviest_rows
from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Float, Int, Pair, pair_measure
from shoal.measures.risk.linkage import baselines
from shoal.measures.risk.nearest import Coordinates, classes_of, quasi_identifiers_in
from shoal.measures.risk.sampling import Rate, drawn, once

PEOPLE = 400  # who are looked for
GROUPS = 1500  # among which the probabilities are estimated
TOLERANCES = (0.05, 0.1, 0.25, 0.5)  # standard deviations within which numbers agree; the best one is taken
_MOST = 62  # coordinates whose agreements fit into the bits of a number
_ROUNDS, _STILL, _NEVER = 200, 1e-7, 1e-6


@dataclass(frozen=True, eq=False)
class Model:
    """How probably each coordinate agrees in pairs that belong together (m) and in others (u)."""

    m: Float
    u: Float

    @property
    def weights(self) -> tuple[Float, Float]:
        """What an agreement and a difference weigh, in bits."""
        return np.log2(self.m / self.u), np.log2((1 - self.m) / (1 - self.u))


@dataclass(frozen=True, eq=False)
class Linked:
    """What was found, by which tolerance and which model of which attributes."""

    rate: Rate
    tolerance: float
    model: Model
    names: tuple[str, ...]


@pair_measure(matched=True)
def linkage_probabilistic(pair: Pair) -> Iterable[Figure]:
    """How many records an attacker finds who weighs agreements."""
    if not pair.quasi_identifiers or not pair.n_after:
        return
    linked, base = linked_by_weights(pair), baselines(pair)
    rate, model = linked.rate, linked.model
    agree, differ = model.weights
    rows = zip(linked.names, *(each.tolist() for each in (model.m, model.u, agree, differ)), strict=True)
    yield Figure(
        "linkage_probabilistic", rate.percent, "%", rate.said, "found by probabilistic linkage",
        f"Whoever weighs the agreements of all quasi-identifiers (Fellegi and Sunter) finds {rate.said} of all "
        f"records; k = {pair.k} allows at most {base['at_most']:.2f} % ({rate.sample_said}).",
        "risk", details=rate.details | base | {"tolerance": linked.tolerance},
        definition=f"Expected share of records that are linked to their own by the largest sum of weights: "
        f"log2(m / u) for an attribute that agrees, log2((1 - m) / (1 - u)) for one that differs; ties share. "
        f"Categories agree where they are equal, numbers within {linked.tolerance:g} standard deviations of the "
        f"original, the best for the attacker of {', '.join(f'{each:g}' for each in TOLERANCES)}. m and u are "
        f"estimated by expectation maximisation on at most {PEOPLE} people and {GROUPS + PEOPLE} groups, the "
        f"share of pairs that belong together being 1 / (groups).",
        table=FigureTable(
            ("attribute", "m", "u", "weight of an agreement, bits", "weight of a difference, bits"), tuple(rows)
        ),
    )  # fmt: skip


@once
def linked_by_weights(pair: Pair) -> Linked:
    """The best link of some people among all groups, by the tolerance that is best among some of these."""
    records = drawn(pair.n_before, PEOPLE, pair.seed)
    classes = classes_of(pair)
    own = classes.of[records]
    where = quasi_identifiers_in(pair, records, classes)
    where = where.first(_MOST)
    few = np.union1d(own, drawn(len(classes.sizes), GROUPS, pair.seed))
    part = Coordinates(where.records, where.rows[few], where.named, where.attribute)

    def found(among: Coordinates, sizes: Int, own: Int, tolerance: float, model: Model) -> Float:
        return heaviest_rows(
            np.ascontiguousarray(among.records), np.ascontiguousarray(among.rows), among.named, tolerance,
            *model.weights, sizes.astype(np.float64), own,
        )  # fmt: skip

    tried = []
    for tolerance in TOLERANCES:
        model = estimated(part, tolerance)
        shares = found(part, classes.sizes[few], np.searchsorted(few, own), tolerance, model)
        tried.append((float(shares.mean()), -tolerance, model, shares))
    _, tolerance, model, shares = max(tried, key=lambda each: each[:2])
    if len(few) < len(classes.sizes):
        shares = found(where, classes.sizes, own, -tolerance, model)
    return Linked(Rate.of_shares(shares, pair.n_before), -tolerance, model, coordinate_names(pair, where))


def coordinate_names(pair: Pair, where: Coordinates) -> tuple[str, ...]:
    """The attribute of each coordinate; whether it has a gap is one of its own."""
    names = []
    for j, number in enumerate(where.attribute):
        column = pair.quasi_identifiers[number]
        gap = bool(where.named[j]) and (column.is_number or column.ordered)
        names.append(f"{column.name}: a gap" if gap else column.name)
    return tuple(names)


def estimated(where: Coordinates, tolerance: float) -> Model:
    """m and u by expectation maximisation on the patterns of agreement of all pairs."""
    rows = np.ascontiguousarray(where.rows)
    patterns = agreements(np.ascontiguousarray(where.records), rows, where.named, tolerance)
    kinds, counts = np.unique(patterns, return_counts=True)
    agree = (kinds[:, None] >> np.arange(rows.shape[1]) & 1).astype(np.float64)
    return maximised(agree, counts.astype(np.float64), 1.0 / len(rows))


def maximised(agree: Float, counts: Float, share: float) -> Model:
    """m and u that explain patterns of agreement, that many pairs of each, where a known share belongs together.

    The start is m = 0.9 and u = the share that agrees. Probabilities stay within 1e-6 of 0 and 1.
    """
    u = within(counts @ agree / counts.sum())
    m = np.full(agree.shape[1], 0.9)
    if share >= 1.0:  # one group: all pairs belong together
        return Model(u, u)
    for _ in range(_ROUNDS):
        log_match = agree @ np.log(m) + (1 - agree) @ np.log(1 - m) + np.log(share)
        log_other = agree @ np.log(u) + (1 - agree) @ np.log(1 - u) + np.log(1 - share)
        match = counts / (1 + np.exp(np.clip(log_other - log_match, -700, 700)))
        other = counts - match
        new_m, new_u = within(match @ agree / match.sum()), within(other @ agree / other.sum())
        change = max(np.abs(new_m - m).max(), np.abs(new_u - u).max())
        m, u = new_m, new_u
        if change < _STILL:
            break
    return Model(m, u)


def within(probabilities: Float) -> Float:
    """Probabilities away from 0 and 1, so that weights are finite."""
    return np.clip(probabilities, _NEVER, 1 - _NEVER)
