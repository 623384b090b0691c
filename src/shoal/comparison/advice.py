"""What to take: the method of least loss for each k, and where more hiding begins to cost more.

A loss depends on the table as it happens to be. So a difference below one percent of the loss counts as none, and
a k is singled out only where the curve has a bend.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from shoal.comparison.rows import Row, time_of

ALIKE = 1.01
"""Losses up to so many times the least are practically the same,"""
NEAR = 1.02
"""and up to so many times the least are close to it."""
_TWICE, _MUCH = 2.0, 5.0  # times faster, from which on the faster of two alike is taken, or a near one is named
_WAIT = 1.0  # seconds that nobody minds
_BEND = 0.1  # how far a bend must be from the straight line, as a share of its height
_CLEARER = 0.05  # than another k


@dataclass(frozen=True)
class Choice:
    """What to take for one k.

    Attributes
    ----------
    k, method, loss, seconds : the setting
    alike : other methods whose loss is practically the same
    quicker : a method whose loss is close and that is much faster; empty where there is none
    says : all this in a sentence
    """

    k: int
    method: str
    loss: float
    seconds: float
    alike: tuple[str, ...]
    quicker: str
    says: str


@dataclass(frozen=True)
class Recommendation:
    """What to take.

    Attributes
    ----------
    choices : for each k that has figures
    bend : the k at the bend of loss over risk; several where none of them is clearer, none where there is no bend
    says : the recommendation with its reason
    """

    choices: tuple[Choice, ...]
    bend: tuple[int, ...]
    says: str

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return asdict(self)


def recommended(rows: Sequence[Row]) -> Recommendation:
    """The recommendation; settings without figures take no part."""
    able = [row for row in rows if row.is_ok]
    if not able:
        return Recommendation((), (), "No setting has figures, so there is nothing to recommend.")
    by_k = [ranked([row for row in able if row.k == k]) for k in sorted({row.k for row in able})]
    favourite = favourite_of(by_k)
    taken = [taken_of(rows, favourite) for rows in by_k]
    choices = tuple(choice_of(row, rows) for row, rows in zip(taken, by_k, strict=True))
    bend = bend_of(taken)
    sentences = [methods_said(choices)]
    if len(choices) > 1:
        sentences.append(ks_said(taken, bend))
    if without := len(rows) - len(able):
        have = "1 setting has" if without == 1 else f"{without} settings have"
        sentences.append(f"{have} no figures and took no part.")
    return Recommendation(choices, bend, " ".join(sentences))


def ranked(rows: Sequence[Row]) -> list[Row]:
    """The rows of one k, those that lose least first."""
    return sorted(rows, key=lambda row: (loss_of(row), seconds_of(row)))


def alike_in(rows: Sequence[Row]) -> list[Row]:
    """Those of the ranked rows of one k whose losses are practically the least."""
    return [row for row in rows if loss_of(row) <= ALIKE * loss_of(rows[0])]


def taken_of(rows: Sequence[Row], favourite: str = "") -> Row:
    """The row to take for one k: the least loss, or one alike that is faster; the favourite where nobody minds."""
    alike = alike_in(rows)
    fastest = min(alike, key=seconds_of)
    taken = fastest if is_faster(fastest, rows[0], _TWICE) else rows[0]
    own = [row for row in alike if row.method == favourite]
    return own[0] if own and not is_faster(taken, own[0], _TWICE) else taken


def favourite_of(by_k: Sequence[Sequence[Row]]) -> str:
    """The method that is practically the best for every k, so that one method does; empty where there is none."""
    common = set.intersection(*({row.method for row in alike_in(rows)} for rows in by_k))
    times = Counter(taken_of(rows).method for rows in by_k)
    order = [row.method for row in by_k[0]]
    return max(common, key=lambda method: (times[method], -order.index(method)), default="")


def choice_of(taken: Row, rows: Sequence[Row]) -> Choice:
    """The row that is taken for one k, and what is to be said of it beside the others."""
    near = [row for row in rows if loss_of(row) <= NEAR * loss_of(taken) and is_faster(row, taken, _MUCH)]
    quicker = min(near, key=seconds_of) if near else None
    alike = tuple(row.method for row in alike_in(rows) if row is not taken)
    says = choice_said(taken, rows, alike, quicker)
    return Choice(
        taken.k, taken.method, loss_of(taken), seconds_of(taken), alike, quicker.method if quicker else "", says
    )


def choice_said(taken: Row, rows: Sequence[Row], alike: Sequence[str], quicker: Row | None) -> str:
    """The choice for one k in a sentence."""
    least, worst = rows[0], rows[-1]
    says = f"k = {taken.k}: take {taken.method}. It loses {percent(loss_of(taken))} in {time_of(taken.seconds)}"
    if is_faster(taken, least, _TWICE):
        says += f", practically the same as {least.method}, which took {time_of(least.seconds)}"
    elif alike:
        says += f"; {listed(alike, 'and')} {'loses' if len(alike) == 1 else 'lose'} practically the same"
    elif len(rows) > 1:
        says += f", the least; {worst.method} loses most, {percent(loss_of(worst))}"
    if quicker is not None:
        says += f". {quicker.method} loses {percent(loss_of(quicker))} and took only {time_of(quicker.seconds)}"
    return says + "."


def methods_said(choices: Sequence[Choice]) -> str:
    """Which method for which k, and why, in a sentence."""
    ks: dict[str, list[int]] = {}
    for choice in choices:
        ks.setdefault(choice.method, []).append(choice.k)
    if len(ks) == 1:
        (method,) = ks
        first = choices[0]
        if len(choices) == 1:
            return f"For k = {first.k} {first.says.partition(': ')[2]}"
        return f"Take {method}: for every k its loss is the least, or practically the same as the least."
    parts = [f"{method} for k = {listed(map(str, own), 'and')}" for method, own in ks.items()]
    return f"Take {listed(parts, 'and')}: there the loss is the least, or practically the same as the least."


def ks_said(rows: Sequence[Row], bend: Sequence[int]) -> str:
    """Where more hiding begins to cost more, in a sentence; the rows are those chosen, one for each k."""
    if not bend:
        return (
            "If a law, a contract or a policy names k, use that. Risk and loss have no clear bend here, so take "
            "the largest k whose loss your analyses can bear."
        )
    at = rows[[row.k for row in rows].index(bend[-1])]
    low, high = rows[0], rows[-1]
    named = listed([f"k = {k}" for k in bend], "or")
    return (
        f"If a law, a contract or a policy names k, use that. Else {named} is a good balance: from k = {low.k} to "
        f"k = {at.k} the highest risk falls from {percent(risk_of(low))} to {percent(risk_of(at))}, and the loss "
        f"rises from {percent(loss_of(low))} to {percent(loss_of(at))}; on to k = {high.k} the risk falls by "
        f"{points(risk_of(at) - risk_of(high))}, and the loss rises by {points(loss_of(high) - loss_of(at))}."
    )


def bend_of(rows: Sequence[Row]) -> tuple[int, ...]:
    """The k at the bend of loss over risk, both from 0 to 1: farthest below the straight line between the ends."""
    risks, losses = [risk_of(row) for row in rows], [loss_of(row) for row in rows]
    wide, high = max(risks) - min(risks), max(losses) - min(losses)
    if len(rows) < 3 or not wide > 0 or not high > 0:
        return ()
    below = [
        1 - (risk - min(risks)) / wide - (loss - min(losses)) / high
        for risk, loss in zip(risks, losses, strict=True)
    ][1:-1]
    if max(below) < _BEND:
        return ()
    return tuple(row.k for row, far in zip(rows[1:-1], below, strict=True) if far >= max(below) - _CLEARER)


def is_faster(row: Row, other: Row, times: float) -> bool:
    """Whether a row took so many times less time, and somebody would feel it."""
    return seconds_of(row) * times <= seconds_of(other) and seconds_of(other) - seconds_of(row) >= _WAIT


def loss_of(row: Row) -> float:
    """The loss of a row with figures."""
    assert row.loss is not None
    return row.loss


def seconds_of(row: Row) -> float:
    """The time of a row with figures."""
    assert row.seconds is not None
    return row.seconds


def risk_of(row: Row) -> float:
    """The highest risk of a row with figures."""
    assert row.prosecutor_highest is not None
    return row.prosecutor_highest


def listed(items: Iterable[str], last: str) -> str:
    """Several of them, with a word before the last."""
    *first, end = items
    return f"{', '.join(first)} {last} {end}" if first else end


def percent(value: float) -> str:
    """A percentage with as many digits as are of use."""
    return f"{value:#.3g} %" if value < 100 else f"{value:.0f} %"


def points(value: float) -> str:
    """A difference of percentages."""
    return f"{value:.2g} points"
