"""Models trained on the release and tested on originals that they have not seen, beside two baselines.

Rows are matched and split in two. A model is trained on the released rows of the one part and tested on the
original rows of the other. The same is done with a model trained on the originals, and with one trained on a table
whose columns were shuffled one by one, so that nothing joins them. The groups of the release were formed with the
tested records too, so what is left is a little too good, by their part in the values of their groups.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Pair, PairColumn, pair_measure
from shoal.measures.utility.features import matrix_of, terms_of
from shoal.measures.utility.stated import is_constant, known, mean_of, sample_said

Float = NDArray[np.float64]
Int = NDArray[np.int64]

MOST = 20_000  # records
MOST_TARGETS = 3
MOST_CLASSES = 10
MOST_LEVELS = 15  # categories of a column that have a term of their own
DEPTH, LEAST_LEAF = 8, 20  # of the tree
LEAST_TESTED = 10  # records
CLEAR = 0.02
"""How much better than the shuffled table the originals must be, for a share of that to mean something."""

HEADER = (
    "target", "model", "score", "originals", "release", "shuffled", "baseline", "tested", "error", "kept"
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be guessed, and from what: training rows as they were and as released, originals to test."""

    name: str
    classes: bool
    train: Float
    train_target: Float
    released: Float
    released_target: Float
    test: Float
    test_target: Float


@dataclass(frozen=True)
class Score:
    """How well a model does on the tested originals: by the table that it was trained on."""

    target: str
    model: str
    called: str
    original: float
    release: float
    shuffled: float
    baseline: float
    tested: int
    error: float

    @property
    def kept(self) -> float | None:
        """The part of what the originals teach that the release teaches; None where they teach nothing."""
        gain = self.original - self.shuffled
        return (self.release - self.shuffled) / gain if gain >= CLEAR else None


def is_class(column: PairColumn) -> bool:
    """Whether a column is to be classified: categories, or no more than two numbers."""
    return not column.is_number or len(np.unique(known(column.before))) <= 2


def usable_rows(column: PairColumn) -> NDArray[np.bool_]:
    """Records with a target before and after; of classes, only the most frequent ones of the original."""
    rows = ~np.isnan(column.before) & ~np.isnan(column.after)
    if is_class(column):
        values, counts = np.unique(column.before[rows], return_counts=True)
        chosen = values[np.argsort(-counts, kind="stable")[:MOST_CLASSES]]
        rows &= np.isin(column.before, chosen) & np.isin(column.after, chosen)
    return rows


def task_of(pair: Pair, target: PairColumn, rng: np.random.Generator) -> Task | None:
    """A third of the records to test with, the others to train on; None where there are too few, or one class."""
    rows = np.flatnonzero(usable_rows(target))
    rows = rng.permutation(rows)
    test, train = np.sort(rows[: len(rows) // 3]), np.sort(rows[len(rows) // 3 :])
    if len(test) < LEAST_TESTED or any(
        is_constant(part) for part in (target.before[train], target.after[train], target.before[test])
    ):
        return None
    columns = [column for column in pair.columns if column.role != "confidential"]
    terms = [terms_of(column, MOST_LEVELS) for column in columns]
    matrices = [
        matrix_of(terms, [side[at] for side in sides])
        for sides, at in (
            ([column.before for column in columns], train),
            ([column.after for column in columns], train),
            ([column.before for column in columns], test),
        )
    ]
    if matrices[0].shape[1] == 0:
        return None
    return Task(
        target.name, is_class(target), matrices[0], target.before[train], matrices[1], target.after[train],
        matrices[2], target.before[test],
    )  # fmt: skip


def models_of(classes: bool) -> dict[str, Any]:
    """A linear model and a tree, not yet trained."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    shape = {"max_depth": DEPTH, "min_samples_leaf": LEAST_LEAF, "random_state": 0}
    if classes:
        # Few steps are enough to compare tables; the warning about the rest is of no use here.
        linear = LogisticRegression(solver="newton-cholesky", max_iter=50, tol=1e-3)
        return {"logistic regression": linear, "tree": DecisionTreeClassifier(**shape)}
    return {"ridge regression": Ridge(), "tree": DecisionTreeRegressor(**shape)}


def accuracy(truth: Float, guess: Float) -> float:
    """The share of right guesses."""
    return float((truth == guess).mean())


def balanced_accuracy(truth: Float, guess: Float) -> float:
    """The mean over classes of the share of right guesses."""
    return sum(float((guess[truth == each] == each).mean()) for each in np.unique(truth)) / len(np.unique(truth))


def r_squared(truth: Float, guess: Float) -> float:
    """1 - squared error of the guesses / that of the mean of what was tested."""
    return 1 - float(np.square(truth - guess).sum() / np.square(truth - truth.mean()).sum())


def standardised(task: Task) -> Task:
    """Numbers to be guessed, in standard deviations: trees take small differences for none."""
    if task.classes:
        return task
    middle, scale = task.train_target.mean(), task.train_target.std()
    train, released, test = (
        (each - middle) / scale for each in (task.train_target, task.released_target, task.test_target)
    )
    return replace(task, train_target=train, released_target=released, test_target=test)


def scores_of(task: Task, rng: np.random.Generator) -> Iterator[Score]:
    """All models on one task."""
    task = standardised(task)
    shuffled = np.column_stack([rng.permutation(column) for column in task.train.T])
    trained = {
        "original": (task.train, task.train_target),
        "release": (task.released, task.released_target),
        "shuffled": (shuffled, rng.permutation(task.train_target)),
    }
    truth, tested = task.test_target, len(task.test_target)
    for name, model in models_of(task.classes).items():
        guesses = {which: model.fit(*given).predict(task.test) for which, given in trained.items()}
        for called, score in scorings(task.classes).items():
            found = {which: score(truth, guess) for which, guess in guesses.items()}
            usual = score(truth, np.full(tested, usual_value(task)))
            share = min(max(found["release"], 0.0), 1.0)
            error = sqrt(share * (1 - share) / tested) if task.classes else 0.0
            yield Score(task.name, name, called, **found, baseline=usual, tested=tested, error=error)


def scorings(classes: bool) -> dict[str, Any]:
    """By what guesses are judged."""
    return {"accuracy": accuracy, "balanced accuracy": balanced_accuracy} if classes else {"R²": r_squared}


def usual_value(task: Task) -> float:
    """The guess of somebody who knows no record: the most frequent class, or the mean."""
    if not task.classes:
        return float(task.train_target.mean())
    values, counts = np.unique(task.train_target, return_counts=True)
    return float(values[counts.argmax()])


def all_scores(pair: Pair, targets: Sequence[PairColumn]) -> list[Score]:
    """The scores of every target, by the seed of the pair."""
    rng = np.random.default_rng(pair.seed)
    tasks = [task for target in targets if (task := task_of(pair, target, rng)) is not None]
    return [score for task in tasks for score in scores_of(task, rng)]


@pair_measure(matched=True)
def downstream(pair: Pair) -> Iterable[Figure]:
    """What models learn from the release, of what they learn from the originals."""
    sample = pair.sampled(MOST)
    scores = all_scores(sample, sample.confidential[:MOST_TARGETS])
    if not scores:
        return
    judged = [score for score in scores if score.called != "accuracy"]
    kept = mean_of(score.kept for score in judged)
    best = max(judged, key=lambda score: score.original)
    said = "the originals teach models nothing about the confidential columns, so nothing can be lost"
    if kept is not None:
        said = f"models learn {100 * kept:.0f} % of what the originals teach about the confidential columns"
    yield Figure(
        "downstream_kept", kept, "", "" if kept is None else f"{100 * kept:.0f} %",
        "what models learn from the release, of what the originals teach",
        f"{said}; {best.called} of {best.target!r} by {best.model}: {best.release:.3f} trained on the release, "
        f"{best.original:.3f} on the originals, {best.shuffled:.3f} on shuffled columns"
        f"{sample_said(pair, MOST)}",
        "utility", "public", details={"tested": best.tested, "standard_error": max(s.error for s in scores)},
        definition=f"Up to {MOST_TARGETS} confidential columns are guessed from all other columns but these, by a "
        f"linear model (logistic or ridge regression) and a tree of depth {DEPTH}. Two thirds of the records "
        "train, the original values of the others test. The figure is the mean over columns and models of "
        "(release - shuffled) / (originals - shuffled), in balanced accuracy or R², where the originals are "
        f"better than the shuffled table by {CLEAR} at least. The {MOST_CLASSES} most frequent classes are "
        f"guessed, of at most {MOST} records drawn at random. The baseline guesses the most frequent class or the "
        "mean. The error is the standard error of an accuracy by the number of tested records.",
        table=FigureTable(HEADER, tuple((*astuple(score), score.kept) for score in scores)),
    )  # fmt: skip
