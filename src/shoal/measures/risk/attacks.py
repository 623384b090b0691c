"""Three attacks that are really run: singling somebody out, linking what is known of somebody, inferring a secret.

Each is run against people of the table, and in the same way against a control set of people who are not in it.
What succeeds against both is learned from the population, not from the release. The risk of the release is what is
left: (main - control) / (1 - control). Beside them stands an attacker who guesses without looking at anybody.
Without a control set there is success and guessing only. The table cannot be split afterwards, since everybody is
in the release.

Reference: M. Giomi et al., A unified framework for quantifying privacy risk in synthetic data, PoPETs 2023 (2),
312-328 (the design; the predicates, distances and guesses are those described here).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Float, Int, Pair, PairColumn, pair_measure
from shoal.measures.risk.disclosure import told_by
from shoal.measures.risk.nearest import centre_and_range, classes_of, coordinates, nearest, search_order
from shoal.measures.risk.predicates import guessed_predicates, one_column, several_columns, singled_out
from shoal.measures.risk.sampling import drawn
from shoal.measures.risk.uniqueness import codes_of, keys_of

ATTACKS = 500  # attempts of each attack, at most
_WORK, _FEWEST = 200_000_000, 100  # attempts times records to single out, and attempts at least
_Z = 1.959963984540054  # the normal quantile of 95 %
_TOLERANCE = 0.05  # by which a guessed number may be off
_SEVERAL = 3  # columns of a predicate


@dataclass(frozen=True)
class Tally:
    """So many successes of so many attempts."""

    hits: int
    tries: int

    @property
    def value(self) -> float:
        """The share that succeeded; 0 where nothing could be tried."""
        return self.hits / self.tries if self.tries else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of 95 %: what the share can be in truth."""
        if not self.tries:
            return 0.0, 1.0
        n, square = self.tries, _Z * _Z
        middle = (self.hits + square / 2.0) / (n + square)
        half = _Z / (n + square) * sqrt(self.hits * (n - self.hits) / n + square / 4.0)
        return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Attack:
    """How often an attack succeeded.

    Attributes
    ----------
    name : what was tried
    main : against people of the table
    naive : the share of successes by guessing
    control : against people who are not in the table; None where these are not known
    compared : against as many people of the table as the control has; `main` where numbers do not matter
    headline : whether it is one that the figure speaks of
    """

    name: str
    main: Tally
    naive: float
    control: Tally | None
    compared: Tally
    headline: bool = True

    @property
    def risk(self) -> tuple[float, float, float] | None:
        """The excess over the control with its interval, none of them below 0; None where it cannot be known.

        The errors of both shares, half the widths of their intervals, are propagated to first order.
        """
        if self.control is None or not self.control.tries or not self.compared.tries or self.control.value == 1.0:
            return None
        left = 1.0 - self.control.value
        excess = (self.compared.value - self.control.value) / left
        by_main = half_width(self.compared) / left
        by_control = half_width(self.control) * (1.0 - self.compared.value) / left**2
        error = sqrt(by_main**2 + by_control**2)
        return max(0.0, excess), max(0.0, excess - error), max(0.0, min(1.0, excess + error))


def half_width(tally: Tally) -> float:
    """Half the width of the interval of a share."""
    low, high = tally.interval
    return (high - low) / 2.0


@pair_measure(matched=False)
def attacks(pair: Pair) -> Iterable[Figure]:
    """Singling out, linkability and inference, beside control and guessing."""
    if not pair.n_before or not pair.n_after or not pair.quasi_identifiers:
        return
    yield from attack_figures(
        "singling_out", "singling out",
        "predicates from the release that are true for exactly one original record",
        list(singling_out(pair)),
        "A predicate is a condition on one column (the smallest or largest value, a value of one released "
        "record), or on up to 3 columns of a released record (at least or at most its number, equal to its "
        "category), that is true for one different released record only. It succeeds if it is true for exactly "
        "one original record. Control: for exactly one of the people who are not in the table, both among "
        "equally many people. Guessing: random conditions with random released values. With exact confidential "
        "values among the columns most records are singled out.",
    )  # fmt: skip
    yield from attack_figures(
        "linkability", "linkability",
        "persons both halves of whose quasi-identifiers lead to the same released record",
        list(linkability(pair)),
        "The quasi-identifiers are dealt into two halves in turn. Each half looks for the nearest different "
        "released record (Gower's distance: sum of |a - b| / range, 0 or 1 for categories; a gap is at the mean "
        "and costs 1 beside a value; of equals a random one). It succeeds if both find the same. Guessing: two "
        "random ones.",
    )  # fmt: skip
    yield from attack_figures(
        "inference", "inference", "confidential values guessed right from the nearest released records",
        list(inference(pair)),
        "The released records nearest by all quasi-identifiers (Gower's distance) give the guess: their most "
        f"frequent category, or their median number, which may be off by {_TOLERANCE:.0%}. Guessing: the most "
        "frequent category or the median number of the whole release. People without the value are left out.",
    )  # fmt: skip


def attack_figures(name: str, label: str, what: str, found: list[Attack], definition: str) -> Iterable[Figure]:
    """The success of an attack, and its risk where there is a control set."""
    told = [attack for attack in found if attack.headline and attack.main.tries]
    if not told:
        return
    best = max(told, key=lambda attack: attack.main.value - attack.naive)
    main, (low, high) = 100.0 * best.main.value, best.main.interval
    known = any(attack.control is not None for attack in found)
    missing = (
        "" if known else " A control set of people who are not in the table is missing, so no risk is stated."
    )
    table = FigureTable(
        ("attack", "attempts", "success, %", "low, %", "high, %", "guessing, %", "control attempts", "control, %",
         "success on as many, %", "risk, %", "risk low, %", "risk high, %"),
        tuple(row_of(attack) for attack in found),
    )  # fmt: skip
    yield Figure(
        f"{name}_success", main, "%", f"{main:.1f} %", f"{label}: {what}",
        f"{label.capitalize()} ({best.name}) succeeds in {main:.1f} % of {best.main.tries} attempts (95 %: "
        f"{100 * low:.1f} to {100 * high:.1f} %); guessing in {100 * best.naive:.1f} %.{missing}",
        "risk", "public", definition=f"{definition} Intervals are Wilson's, of 95 %.", table=table,
    )  # fmt: skip
    risks = [(risk, attack) for attack in told if (risk := attack.risk) is not None]
    if risks:
        (excess, least, most), worst = max(risks, key=lambda each: each[0])
        control = worst.control.value if worst.control is not None else 0.0
        yield Figure(
            f"{name}_risk", 100.0 * excess, "%", f"{100 * excess:.1f} %",
            f"{label}: success beyond that on other people",
            f"{label.capitalize()} ({worst.name}) succeeds in {100 * worst.compared.value:.1f} % of cases on "
            f"people of the table and in {100 * control:.1f} % on others: a risk of {100 * excess:.1f} % (95 %: "
            f"{100 * least:.1f} to {100 * most:.1f} %).",
            "risk", "public",
            definition="(main - control) / (1 - control), at least 0, where main is the success on people of the "
            "table and control that on people who are not in it; the interval propagates those of both to first "
            f"order. {definition}",
            table=table,
        )  # fmt: skip


def row_of(attack: Attack) -> tuple[str | int | float | None, ...]:
    """An attack as a row of the table."""
    low, high = attack.main.interval
    control = attack.control
    return (
        attack.name, attack.main.tries,
        *(100.0 * share if attack.main.tries else None for share in (attack.main.value, low, high)),
        100.0 * attack.naive, control.tries if control else None,
        100.0 * control.value if control and control.tries else None,
        100.0 * attack.compared.value if control and attack.compared.tries else None,
        *([100.0 * part for part in attack.risk] if attack.risk else [None] * 3),
    )  # fmt: skip


def control_of(pair: Pair, columns: Sequence[PairColumn]) -> list[Float] | None:
    """The columns of the control set; None where it lacks one or is empty."""
    known = [pair.control[column.name] for column in columns if column.name in pair.control]
    return known if len(known) == len(columns) and len(known[0]) else None


def singling_out(pair: Pair) -> Iterator[Attack]:
    """Predicates of one and of several columns, of the quasi-identifiers and with the confidential columns."""
    known = pair.quasi_identifiers
    yield from singling_out_by(pair, known, "quasi-identifiers", headline=True)
    if pair.confidential:
        yield from singling_out_by(pair, known + pair.confidential, "all columns", headline=False)


def singling_out_by(pair: Pair, columns: tuple[PairColumn, ...], said: str, headline: bool) -> Iterator[Attack]:
    """Predicates of some columns; control and originals are compared in equal numbers."""
    rng = np.random.default_rng(pair.seed)
    numbers = np.array([column.is_number for column in columns])
    released, before = different_rows(pair, columns), np.array([column.before for column in columns])
    control = control_of(pair, columns)
    as_many, others = before, None
    if control is not None:
        size = min(len(control[0]), pair.n_before)
        others = np.array(control)[:, rng.permutation(len(control[0]))[:size]]
        as_many = before if size == pair.n_before else before[:, rng.permutation(pair.n_before)[:size]]
    attempts = min(ATTACKS, max(_WORK // pair.n_before, _FEWEST))
    for name, width, made in (
        ("one column", 1, one_column(released, numbers, attempts, rng)),
        ("several columns", _SEVERAL, several_columns(released, numbers, _SEVERAL, attempts, rng)),
    ):
        if width > 1 and len(columns) == 1:
            continue
        tries = len(made)
        main = Tally(int(singled_out(before, made).sum()), tries)
        guessed = guessed_predicates(released, numbers, width, attempts, rng)
        yield Attack(
            f"{name}, {said}", main, float(singled_out(before, guessed).mean()),
            None if others is None else Tally(int(singled_out(others, made).sum()), tries),
            main if as_many is before else Tally(int(singled_out(as_many, made).sum()), tries), headline,
        )  # fmt: skip


def different_rows(pair: Pair, columns: tuple[PairColumn, ...]) -> Float:
    """The different released records, column by column."""
    codes = [pair.groups, *(codes_of(column.after) for column in columns if column.role != "quasi-identifier")]
    rows = np.unique(keys_of(codes), return_index=True)[1]
    return np.array([column.after[rows] for column in columns])


def linkability(pair: Pair) -> Iterator[Attack]:
    """Both halves of the quasi-identifiers of a person look for their released record."""
    columns = pair.quasi_identifiers
    if len(columns) < 2:
        return
    rng = np.random.default_rng(pair.seed)
    targets = drawn(pair.n_before, ATTACKS, pair.seed)
    main = linked(pair, [column.before[targets] for column in columns], rng)
    others = None
    if (control := control_of(pair, columns)) is not None:
        picked = drawn(len(control[0]), ATTACKS, pair.seed)
        others = linked(pair, [values[picked] for values in control], rng)
    halves = [" + ".join(column.name for column in columns[start::2]) for start in (0, 1)]
    naive = 1.0 / len(classes_of(pair).sizes)
    yield Attack(f"{halves[0]} and {halves[1]}", main, naive, others, main)


def linked(pair: Pair, persons: Sequence[Float], rng: np.random.Generator) -> Tally:
    """How many persons both halves lead to the same group."""
    columns = pair.quasi_identifiers
    one, two = (nearest_records(pair, columns[start::2], persons[start::2], rng) for start in (0, 1))
    return Tally(int((pair.groups[one] == pair.groups[two]).sum()), len(one))


def nearest_records(
    pair: Pair, columns: Sequence[PairColumn], persons: Sequence[Float], rng: np.random.Generator
) -> Int:
    """A released record of the group nearest to each person, a random one of those that are equally near."""
    classes = classes_of(pair)
    where = coordinates(columns, persons, [each.after[classes.row] for each in columns], centre_and_range)
    _, group = nearest(
        search_order(where), classes.sizes, np.full(len(persons[0]), -1),
        names=rng.permutation(len(classes.sizes)), squared=False,
    )  # fmt: skip
    return classes.row[group]


def inference(pair: Pair) -> Iterator[Attack]:
    """Confidential values guessed from the nearest released records, column by column."""
    rng, known = np.random.default_rng(pair.seed), pair.quasi_identifiers
    targets = drawn(pair.n_before, ATTACKS, pair.seed)
    near = pair.groups[nearest_records(pair, known, [column.before[targets] for column in known], rng)]
    others = control_of(pair, known)
    picked, near_others = near[:0], near[:0]
    if others is not None:
        picked = drawn(len(others[0]), ATTACKS, pair.seed)
        near_others = pair.groups[nearest_records(pair, known, [values[picked] for values in others], rng)]
    for secret in pair.confidential:
        guesses = guesses_of(pair.groups, secret)
        if guesses is None:
            continue
        truth = secret.before[targets]
        main = inferred(secret, guesses[near], truth)
        alone = guesses_of(np.zeros_like(pair.groups), secret)
        naive = inferred(secret, np.full(len(truth), np.nan if alone is None else alone[0]), truth).value
        control = None
        if others is not None and secret.name in pair.control:
            control = inferred(secret, guesses[near_others], pair.control[secret.name][picked])
        yield Attack(secret.name, main, naive, control, main)


def inferred(secret: PairColumn, guessed: Float, truth: Float) -> Tally:
    """How many guesses are right; people without the value are left out."""
    there = ~np.isnan(truth)
    return Tally(int(right(secret, guessed[there], truth[there]).sum()), int(there.sum()))


def right(secret: PairColumn, guessed: Float, truth: Float) -> NDArray[np.bool_]:
    """Whether each guess is right: the same category, or a number near enough."""
    off = np.abs(guessed - truth)
    return off <= (_TOLERANCE * np.abs(truth) if secret.is_number else 0.0)


def guesses_of(groups: Int, secret: PairColumn) -> Float | None:
    """The guess for each group by number, NaN where it has no known value; None where no group has one."""
    told = told_by(groups, secret)
    if told is None:
        return None
    guesses = np.full(int(groups.max()) + 1, np.nan)
    if not secret.is_number:
        guesses[told.groups] = told.values[told.mode]
        return guesses
    there = ~np.isnan(secret.after)
    values = secret.after[there][np.lexsort((secret.after[there], groups[there]))]
    ends = np.cumsum(told.known)
    low, high = ends - told.known + (told.known - 1) // 2, ends - told.known + told.known // 2
    guesses[told.groups] = values[low] + (values[high] - values[low]) / 2.0
    return guesses
