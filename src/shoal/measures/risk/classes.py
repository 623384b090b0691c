"""What the sizes of the groups alone say: the risks of the prosecutor, the journalist and the marketer.

A prosecutor knows that somebody is in the table, a journalist does not, and a marketer wants as many people as
possible. Each guesses among the records that fit.

Reference: K. El Emam and F. K. Dankar, Protecting privacy using k-anonymity, Journal of the American Medical
Informatics Association 15 (2008) 627-637; K. El Emam, Guide to the De-Identification of Personal Health
Information (2013), chapter 16.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from shoal.cards import counted
from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Float, Pair, pair_measure
from shoal.measures.risk.nearest import classes_of, coordinates, nearest, search_order
from shoal.measures.risk.sampling import drawn

PEOPLE = 20_000  # of a population that are looked up among the groups
_LOOKS = 400_000_000  # people times groups that are looked at: fewer people where there are many groups


@pair_measure(matched=False)
def class_risks(pair: Pair) -> Iterable[Figure]:
    """k as counted, and how probably somebody is found by each of the three attackers."""
    if not pair.quasi_identifiers or not pair.n_after:
        return
    sizes, records = classes_of(pair).sizes, pair.n_after
    k, groups = int(sizes.min()), len(sizes)
    yield Figure(
        "counted_k", k, "records", f"k = {k}", "records at least share their quasi-identifiers",
        f"Whoever knows the quasi-identifiers of a person finds at least {k} records that fit.", "risk", "public",
        definition="Size of the smallest set of released records of the same quasi-identifiers; a gap is a value.",
        table=FigureTable(
            ("records a group", "groups"),
            tuple((int(size), int(count)) for size, count in enumerate(np.bincount(sizes)) if count),
        ),
    )  # fmt: skip
    largest, mean = 100.0 / k, 100.0 * groups / records
    yield Figure(
        "prosecutor_risk", largest, "%", f"{largest:.2f} %", "largest risk of a person known to be in the table",
        f"Somebody who is known to be in the table is found with a probability of at most {largest:.2f} %, on "
        f"average {mean:.2f} %.", "risk", "public", {"mean": mean},
        definition="Largest over records of 1 / (size of the group), which is 1/k; beside it the mean of records.",
        table=FigureTable(("risk of a record", "%"), (("largest", largest), ("mean", mean))),
    )  # fmt: skip
    yield Figure(
        "marketer_risk", mean, "%", f"{mean:.2f} %", "records that are expected to be found, all being looked for",
        f"Whoever looks for everybody and guesses in the right group is right for {mean:.2f} % of all records.",
        "risk", "public",
        definition="100 * groups / records. It equals the mean risk of the prosecutor.",
        table=FigureTable(
            ("what", "%"),
            (("records found", mean), ("by guessing blindly", 100.0 / records), ("at most, 1/k", largest)),
        ),
    )  # fmt: skip
    yield from journalist_risk(pair)


@dataclass(frozen=True, eq=False)
class Behind:
    """How many people of the population stand behind each group, and how that is known."""

    people: Float
    how: str
    definition: str


def journalist_risk(pair: Pair) -> Iterable[Figure]:
    """The risk of people of whom nobody knows whether they are in the table."""
    sizes = classes_of(pair).sizes
    behind = people_behind(pair)
    if behind is None:
        largest = 100.0 / int(sizes.min())
        yield Figure(
            "journalist_risk", largest, "%", "", "largest risk of a person who may be in the table or not",
            f"There is neither a population table nor a weight, so the risk of a person who may be in the table "
            f"or not is taken to equal that of one who is: at most {largest:.2f} %.", "risk", "public",
            {"equals": "prosecutor_risk"},
            definition="Without a population table or weights: the prosecutor's risk, which is never below it.",
        )  # fmt: skip
        return
    risks = 1.0 / behind.people
    largest = 100.0 * float(risks.max())
    mean = 100.0 * float((risks * sizes).sum() / sizes.sum())
    yield Figure(
        "journalist_risk", largest, "%", f"{largest:.2f} %",
        "largest risk of a person who may be in the table or not",
        f"Somebody of whom nobody knows whether he is in the table is found with a probability of at most "
        f"{largest:.2f} %, on average {mean:.2f} % ({behind.how}).", "risk",
        details={"mean": mean, "how": behind.how},
        definition=f"Largest over groups of 1 / (people of the population behind the group). {behind.definition} "
        f"At least the released records of a group are taken to be behind it. The mean is over released records.",
        table=FigureTable(("risk of a record", "%"), (("largest", largest), ("mean", mean))),
    )  # fmt: skip


def people_behind(pair: Pair) -> Behind | None:
    """The population of each group, by a table of it or else by weights; None where there is neither."""
    classes = classes_of(pair)
    sizes = classes.sizes
    if any(column.name in pair.population for column in pair.quasi_identifiers):
        counts, looked_up, there = counted_population(pair)
        scaled = counts * (there / looked_up)
        how = f"{counted(there)} people of a population table"
        rough = ""
        if looked_up < there:
            how += f", {counted(looked_up)} of them drawn at random"
            rough = " As only some were looked up, each stands for several, and both figures are rough."
        return Behind(
            np.maximum(scaled, sizes), how,
            "Each person of the population goes to the nearest group by the quasi-identifiers known." + rough,
        )  # fmt: skip
    if pair.weights is None:
        return None
    weights = np.bincount(classes.of, np.nan_to_num(pair.weights), len(sizes))
    return Behind(
        np.maximum(weights, sizes), "by sampling weights", "These are the sum of the weights of its records."
    )


def counted_population(pair: Pair) -> tuple[Float, int, int]:
    """How many people are nearest to each group, of how many that were looked up, of how many there are.

    Of groups that are equally near, the one with the lowest number gets a person.
    """
    columns = [each for each in pair.quasi_identifiers if each.name in pair.population]
    there = len(pair.population[columns[0].name])
    classes = classes_of(pair)
    people = drawn(there, min(PEOPLE, _LOOKS // len(classes.sizes)), pair.seed)
    if not there:
        return np.zeros(len(classes.sizes)), 1, 0
    where = search_order(
        coordinates(
            columns,
            [pair.population[each.name][people] for each in columns],
            [each.after[classes.row] for each in columns],
        )
    )
    _, group = nearest(where, classes.sizes, np.full(len(people), -1))
    return np.bincount(group, minlength=len(classes.sizes)).astype(np.float64), len(people), there
