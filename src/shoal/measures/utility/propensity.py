"""Can a model tell released records from original ones? The mean squared error of propensity scores, pMSE.

Original and released records are put in one table, and a model guesses of each whether it is a released one. If it
cannot, every guess is c, the share of released records, and pMSE is 0. If it always knows, pMSE is c(1 - c). The
usual test of pMSE assumes that released records are drawn anew. Those of a masked copy are not: each is near its
original. So the figure stands beside its maximum, and no test of it is made.

Reference: J. Snoke, G. M. Raab, B. Nowok, C. Dibben and A. Slavković, General and specific utility measures for
synthetic data, Journal of the Royal Statistical Society A 181 (2018) 663-688.
"""

import warnings
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from shoal.measures.figures import Figure
from shoal.measures.pair import Pair, pair_measure
from shoal.measures.utility.features import Terms, matrix_of, names_of, terms_of
from shoal.measures.utility.stated import sample_said

Float = NDArray[np.float64]
Int = NDArray[np.int64]

MOST = 20_000  # records of each table
MOST_LEVELS = 5  # categories of a column that have a term of their own
MOST_CROSSED = 20  # terms whose squares and products are terms too
DEPTH = 5  # of the tree
LEAST_LEAF = 0.005  # of all records, in a leaf


def pmse(scores: Float, share: float) -> float:
    """The mean squared difference between the scores and the share of released records."""
    return float(np.square(scores - share).mean())


def crossed(matrix: Float) -> Float:
    """Terms with the squares and products of the first of them; what is constant or a copy of a term is left out.

    The square of a term of 0 and 1 is that term.
    """
    first = matrix[:, :MOST_CROSSED]
    pairs = [(i, j) for i in range(first.shape[1]) for j in range(i, first.shape[1])]
    flags = ((first == 0) | (first == 1)).all(axis=0)
    found = [first[:, i] * first[:, j] for i, j in pairs if i != j or not flags[i]]
    return np.column_stack([matrix, *found])


def logistic_scores(matrix: Float, released: Int) -> Float:
    """Fitted probabilities of a logistic regression, with a ridge penalty of 1/2 on standardised terms."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    scale = matrix.std(axis=0)
    useful = scale > 1e-12 * (1 + np.abs(matrix).max(axis=0))
    scaled = (matrix[:, useful] - matrix[:, useful].mean(axis=0)) / scale[useful]
    if scaled.shape[1] == 0:
        return np.full(len(released), released.mean())
    model = LogisticRegression(C=1.0, solver="newton-cholesky", max_iter=50, tol=1e-4)
    with warnings.catch_warnings():  # where tables hardly differ, the search stops at the limit of precision
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model.fit(scaled, released).predict_proba(scaled)[:, 1])


def tree_scores(matrix: Float, released: Int, depth: int = DEPTH) -> Float:
    """The shares of released records in the leaves of a classification tree."""
    from sklearn.tree import DecisionTreeClassifier

    least = max(1, int(LEAST_LEAF * len(released)))
    model = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=least, random_state=0)
    return np.asarray(model.fit(matrix, released).predict_proba(matrix)[:, 1])


def stacked(pair: Pair) -> tuple[list[Terms], Float, Int]:
    """The terms of both tables one below the other, quasi-identifiers first, and which records are released."""
    columns = sorted(pair.columns, key=lambda column: column.role != "quasi-identifier")
    terms = [terms_of(column, MOST_LEVELS) for column in columns]
    matrix = matrix_of(terms, [np.concatenate([column.before, column.after]) for column in columns])
    return terms, matrix, np.repeat(np.array([0, 1]), [pair.n_before, pair.n_after])


@pair_measure(matched=False)
def propensity(pair: Pair) -> Iterable[Figure]:
    """pMSE by a logistic regression and by a tree, beside its maximum."""
    sample = pair.sampled(MOST)
    terms, matrix, released = stacked(sample)
    if not names_of(terms):
        return
    share = float(released.mean())
    most, drawn = share * (1 - share), sample_said(pair, MOST)
    for name, called, how, scores in (
        (
            "pmse_logistic", "logistic regression",
            f"a logistic regression with all columns, and squares and products of the first {MOST_CROSSED} terms, "
            "quasi-identifiers first (ridge penalty 1/2 on standardised terms)",
            logistic_scores(crossed(matrix), released),
        ),
        (
            "pmse_tree", "a tree",
            f"a classification tree of depth {DEPTH} with at least {LEAST_LEAF:.1%} of the records in a leaf",
            tree_scores(matrix, released),
        ),
    ):  # fmt: skip
        value = pmse(scores, share)
        yield Figure(
            name, value, "", f"{value:.4f} of {most:.4f}", f"pMSE by {called}, of its maximum",
            f"{called} tells released records from original ones to {100 * value / most:.1f} % of what is "
            f"possible: pMSE is {value:.4f}, at most {most:.4f}{drawn}",
            "utility", "public", details={"maximum": most, "share_of_maximum": value / most},
            definition="The mean over original and released records, in one table, of (p - c)². p is the fitted "
            f"probability that the record is a released one, by {how}. c is the share of released records. The "
            f"maximum is c(1 - c). At most {MOST} records of each table, drawn at random. No test is made of "
            "it: the usual one does not hold for a masked copy.",
        )  # fmt: skip
