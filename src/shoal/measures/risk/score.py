"""The published overall score: half of it information loss, half disclosure risk; the lower the better.

Score = 0.5 IL + 0.25 ID + 0.125 DLD + 0.125 PLD, each from 0 to 100: information loss, interval disclosure,
distance-based and probabilistic linkage.

References: J. Domingo-Ferrer and V. Torra, A quantitative comparison of disclosure control methods for microdata
(2001); for the loss J. M. Mateo-Sanz, F. Sebé and J. Domingo-Ferrer, Outlier protection in continuous microdata
masking (2004), and W. E. Yancey, W. E. Winkler and R. H. Creecy, Disclosure risk assessment in perturbative
microdata protection (2002).
"""

from collections.abc import Iterable

from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Pair, pair_measure
from shoal.measures.risk.intervals import intervals_of, mean_of
from shoal.measures.risk.linkage import linked_by_all
from shoal.measures.risk.probabilistic import linked_by_weights
from shoal.measures.utility.values import errors_of

LOSS, INTERVALS, DISTANCES, WEIGHTS = 0.5, 0.25, 0.125, 0.125
_CAP = 100.0


def scaled_loss(pair: Pair) -> float | None:
    """IL1s, the mean of |original - released| / (sqrt(2) * standard deviation), in percent and 100 at most.

    Over all numbers of the quasi-identifiers; constant columns are left out, as in `il1s_mean`.
    """
    sums, count = 0.0, 0
    for column in pair.quasi_identifiers:
        errors = errors_of(column)
        if errors.il1s is not None:
            sums, count = sums + errors.il1s, count + errors.count
    return min(100.0 * sums / count, _CAP) if count else None


@pair_measure(matched=True)
def overall_score(pair: Pair) -> Iterable[Figure]:
    """One number for loss and risk, as published, with its parts."""
    loss = scaled_loss(pair) if pair.n_after else None
    if loss is None:
        return
    intervals = mean_of(each.ranks for each in intervals_of(pair))
    distances, weights = linked_by_all(pair).percent, linked_by_weights(pair).rate.percent
    parts = (
        ("information loss, IL1s", loss, LOSS),
        ("interval disclosure by ranks", intervals, INTERVALS),
        ("distance-based linkage", distances, DISTANCES),
        ("probabilistic linkage", weights, WEIGHTS),
    )
    score = float(sum(value * share for _, value, share in parts))
    yield Figure(
        "overall_score", score, "points", f"{score:.2f}", "published score of loss and risk, the lower the better",
        f"The published score of loss and risk is {score:.2f} of 100, the lower the better: information loss "
        f"{loss:.2f}, interval disclosure {intervals:.2f}, linkage by distances {distances:.2f} and by "
        f"probabilities {weights:.2f}.",
        "risk",
        definition="0.5 * information loss + 0.25 * interval disclosure + 0.125 * distance-based linkage + 0.125 "
        "* probabilistic linkage, each in percent (Domingo-Ferrer and Torra 2001). The loss is IL1s, the mean of "
        "|original - released| / (sqrt(2) * standard deviation of the original), 100 at most and without constant "
        "columns; the study of 2001 has the mean of five losses in its place. Loss and intervals are of numeric "
        "quasi-identifiers. Links are expected ones, by all quasi-identifiers; the study averages over sets of "
        "known attributes.",
        table=FigureTable(
            ("part", "value, %", "weight", "points"), tuple((*part, part[1] * part[2]) for part in parts)
        ),
    )  # fmt: skip
