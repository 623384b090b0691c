"""Distance-based record linkage: an attacker knows the original values of people and takes the nearest record.

Released records with the same quasi-identifiers cannot be told apart, so the attacker guesses among all records of
the nearest group, and of all nearest groups where several are equally near. Whoever is in one of them is found
with the probability 1 / (the records of all of them), everybody else with 0. By quasi-identifiers alone no record
is found with a probability above 1/k, since the own group, of at least k records, is among those guessed from.

Reference: J. Domingo-Ferrer and V. Torra, A quantitative comparison of disclosure control methods for microdata,
in P. Doyle et al. (editors), Confidentiality, Disclosure and Data Access (2001) 111-133.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, combinations

import numpy as np

from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Float, Int, Pair, PairColumn, pair_measure
from shoal.measures.risk.nearest import (
    classes_of,
    coordinates,
    nearest,
    quasi_identifiers_in,
    row_order,
    search_order,
)
from shoal.measures.risk.sampling import Rate, drawn, once
from shoal.measures.risk.uniqueness import codes_of, keys_of

SAMPLE = 1000  # records that are looked for by all quasi-identifiers
FEW = 400  # records that are looked for by every subset, and with the confidential values known
_LOOKS, _FEWEST = 150_000_000, 100  # records times rows that are compared, and records at least
SUBSETS = 250  # subsets of 1 to 3 quasi-identifiers that are tried


@once
def links_by_all(pair: Pair) -> tuple[Int, Float]:
    """Some records, or all if they are few, and how probably each is found by all quasi-identifiers."""
    records = drawn(pair.n_before, SAMPLE, pair.seed)
    classes = classes_of(pair)
    where = quasi_identifiers_in(pair, records, classes)
    return records, nearest(where, classes.sizes, classes.of[records])[0]


def linked_by_all(pair: Pair) -> Rate:
    """The expected share of records that are found by all quasi-identifiers."""
    return Rate.of_shares(links_by_all(pair)[1], pair.n_before)


def baselines(pair: Pair) -> dict[str, float]:
    """What an attacker finds at most by quasi-identifiers, and by guessing blindly, in percent."""
    return {"at_most": 100.0 / pair.k, "blind": 100.0 / pair.n_after}


_HOW = (
    "Numbers and ordered categories are standardised by the mean and the standard deviation of the original; "
    "another category counts 1, and so does a gap on one side alone. The distance is Euclidean. Ties share: "
    "whoever is in one of the nearest groups is found with probability 1 / (the records of all of them), else 0."
)


@pair_measure(matched=True)
def linkage_all(pair: Pair) -> Iterable[Figure]:
    """How many records an attacker finds who knows all quasi-identifiers of everybody."""
    if not pair.quasi_identifiers or not pair.n_after:
        return
    rate, base = linked_by_all(pair), baselines(pair)
    yield Figure(
        "linkage_all", rate.percent, "%", rate.said, "found by the nearest record, all quasi-identifiers known",
        f"Whoever knows all quasi-identifiers of a person and takes the nearest record finds the right one in "
        f"{rate.said} of all cases; k = {pair.k} allows at most {base['at_most']:.2f} %, blind guessing finds "
        f"{base['blind']:.4f} % ({rate.sample_said}).",
        "risk", details=rate.details | base,
        definition=f"Expected share of records that are linked to their own released record. {_HOW} No record is "
        f"found with a probability above 1/k.",
        table=FigureTable(
            ("what", "%"),
            (("found", rate.percent), ("at most, 1/k", base["at_most"]), ("blind, 1/n", base["blind"])),
        ),
    )  # fmt: skip


def subsets_of(m: int, seed: int) -> list[tuple[int, ...]]:
    """Every subset of 1 to 3 of m attributes; where there are too many, the small ones and some of the others."""
    small = list(chain(combinations(range(m), 1), combinations(range(m), 2)))
    large = list(combinations(range(m), 3)) if m <= 100 else []
    rng = np.random.default_rng(seed)
    if len(small) > SUBSETS:
        return [small[i] for i in drawn(len(small), SUBSETS, seed)]
    room = min(SUBSETS - len(small), len(large))
    chosen = np.sort(rng.choice(len(large), room, replace=False)) if room < len(large) else range(len(large))
    return small + [large[i] for i in chosen]


def linked_by_subsets(pair: Pair) -> list[tuple[tuple[int, ...], Rate]]:
    """The share that is found by each subset, largest first."""
    records = drawn(pair.n_before, FEW, pair.seed)
    classes = classes_of(pair)
    where = quasi_identifiers_in(pair, records, classes)
    found, orders = [], {}
    for subset in subsets_of(len(pair.quasi_identifiers), pair.seed):
        part = where.of(subset)
        first = int(np.flatnonzero(np.isin(where.attribute, subset))[0])
        if first not in orders:
            orders[first] = row_order(part)
        shares, _ = nearest(part, classes.sizes, classes.of[records], order=orders[first])
        found.append((subset, Rate.of_shares(shares, pair.n_before)))
    return sorted(found, key=lambda each: (-each[1].percent, each[0]))


@pair_measure(matched=True)
def linkage_subsets(pair: Pair) -> Iterable[Figure]:
    """How many records an attacker finds who knows one to three quasi-identifiers, and which tell most."""
    columns = pair.quasi_identifiers
    if not columns or not pair.n_after:
        return
    found, base = linked_by_subsets(pair), baselines(pair)
    m = len(columns)
    there = m + m * (m - 1) // 2 + m * (m - 1) * (m - 2) // 6
    tried = "all" if len(found) == there else f"{len(found)} of"
    (most, rate), mean = found[0], sum(each.percent for _, each in found) / len(found)
    names = " and ".join(columns[i].name for i in most)
    yield Figure(
        "linkage_subsets", rate.percent, "%", rate.said, "found by the best one to three quasi-identifiers",
        f"Of {tried} {there} combinations of one to three quasi-identifiers, {names} finds most: {rate.said} of "
        f"all records, on average over the combinations {mean:.2f} %; k = {pair.k} allows at most "
        f"{base['at_most']:.2f} % ({rate.sample_said}).",
        "risk", details=rate.details | base | {"mean": mean, "tried": len(found), "combinations": there},
        definition=f"Largest over subsets of 1 to 3 quasi-identifiers of the expected share of records that are "
        f"linked to their own released record by these alone. {_HOW} The largest of many estimates is somewhat "
        f"above what it estimates. Where there are more than {SUBSETS} subsets, the smaller ones come first and "
        f"the rest is drawn at random.",
        table=FigureTable(
            ("quasi-identifiers", "how many", "found, %", "standard error, %"),
            tuple((", ".join(columns[i].name for i in subset), len(subset), each.percent, each.error)
                  for subset, each in found),
        ),
    )  # fmt: skip


def codes_of_both(columns: Sequence[PairColumn], records: Int) -> tuple[Int, Int]:
    """A number for each combination of values: of the original values of records, and of all released rows."""
    both = keys_of([codes_of(np.concatenate([column.before[records], column.after])) for column in columns])
    numbers = np.unique(both, return_inverse=True)[1].reshape(-1)
    return numbers[: len(records)], numbers[len(records) :]


def linked_with_confidential(pair: Pair) -> dict[str, Rate]:
    """The share that is found where the confidential values are known, in three ways, and where they are not."""
    records = drawn(pair.n_before, min(FEW, max(_LOOKS // pair.n_after, _FEWEST)), pair.seed)
    classes = classes_of(pair)
    known = quasi_identifiers_in(pair, records, classes)
    columns = (*pair.quasi_identifiers, *pair.confidential)
    everything = search_order(
        coordinates(columns, [each.before[records] for each in columns], [each.after for each in columns])
    )
    each, ones = everything.of(range(len(pair.quasi_identifiers))), np.ones(pair.n_after, np.int64)
    codes = codes_of_both(pair.confidential, records)
    alike = np.bincount(codes[1], minlength=int(codes[0].max()) + 1)[codes[0]]
    alone = np.where(codes[0] == codes[1][records], 1.0 / np.maximum(alike, 1), 0.0)
    shares = {
        "quasi-identifiers": nearest(known, classes.sizes, classes.of[records])[0],
        "and confidential values, as a distance": nearest(everything, ones, records)[0],
        "confidential values alone, equal": alone,
        "confidential values equal, then the nearest": nearest(each, ones, records, codes=codes)[0],
    }
    return {what: Rate.of_shares(share, pair.n_before) for what, share in shares.items()}


@pair_measure(matched=True)
def linkage_confidential(pair: Pair) -> Iterable[Figure]:
    """How many records an attacker finds who knows the confidential values as well."""
    if not pair.quasi_identifiers or not pair.confidential or not pair.n_after:
        return
    rates, base = linked_with_confidential(pair), baselines(pair)
    way, rate = max(rates.items(), key=lambda each: each[1].percent)
    without = rates["quasi-identifiers"]
    exact = rates["confidential values alone, equal"]
    kept = all(np.array_equal(each.before, each.after, equal_nan=True) for each in pair.confidential)
    why = "confidential values were released as they are, so they link records again" if kept else (
        "confidential values were changed, which makes this harder"
    )  # fmt: skip
    yield Figure(
        "linkage_confidential", rate.percent, "%", rate.said, "found by whoever knows the confidential values too",
        f"Whoever knows the confidential values of a person as well finds {rate.said} of all records, against "
        f"{without.said} without them; {why}: by these values alone {exact.said} are found. k-anonymity does not "
        f"protect against somebody who knows them ({rate.sample_said}).",
        "risk", details=rate.details | base | {"way": way, "unchanged": kept},
        definition="Largest expected share of records linked to their own released record in three ways: the "
        "nearest record by all quasi-identifiers and confidential values; any record with exactly the same "
        f"confidential values; the nearest of those by quasi-identifiers. {_HOW} 1/k is no bound here.",
        table=FigureTable(
            ("what the attacker uses", "found, %", "standard error, %"),
            tuple((what, each.percent, each.error) for what, each in rates.items()),
        ),
    )  # fmt: skip
