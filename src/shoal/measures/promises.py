"""Figures of privacy models: what every group keeps, what that costs, and what groups still tell."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from shoal.measures.figures import Figure, Known, measure
from shoal.privacy.checking import Check


def promises(checks: Iterable[Check], where: str) -> list[Figure]:
    """What models found; the second of one name on one column, such as another alpha, has a 2 in its name."""
    found, seen = [], Counter[str]()
    for check in checks:
        figure = promise(check, where)
        seen[figure.name] += 1
        count = seen[figure.name]
        found.append(figure if count == 1 else replace(figure, name=f"{figure.name}_{count}"))
    return found


def promise(check: Check, where: str) -> Figure:
    """What a model found; `where` says on what."""
    one = check.gaps == 1
    left_out = f"; {check.gaps} {'record' if one else 'records'} without a value {'is' if one else 'are'} left out"
    model, gaps = check.model, left_out if check.gaps else ""
    verdict = "holds" if check.holds else f"is broken by {len(check.broken)} of {len(check.values)} groups"
    said = model.said(check.value)
    return Figure(
        f"{model.called}_{model.on}", check.as_dict()["found"], "", said, f"{model}, the worst group",
        f"{model} {verdict} on {where}: {said} in the worst group{gaps}", "risk", "public",
        details=check.as_dict(),
    )  # fmt: skip


@measure
def price(known: Known) -> Iterable[Figure]:
    """What privacy models cost: the loss of the groups without and with them."""
    if known.unruled_loss is None or known.points_loss is None:
        return
    before, after = known.unruled_loss, known.points_loss
    yield Figure(
        "loss_without_models", before, "%", f"{before:.2f} %", "loss of the points without privacy models",
        f"the privacy models cost {after - before:.2f} points of loss: {before:.2f} % without, {after:.2f} % with",
        "utility",
    )  # fmt: skip


@measure
def information(known: Known) -> Iterable[Figure]:
    """What groups tell about confidential values on average, beside what they tell by chance."""
    for name, found in known.information.items():
        yield Figure(
            f"information_{name}", found.nats, "nats", f"{found.nats:.3f} nats",
            f"what groups tell about {name} on average",
            f"groups tell {found.nats:.3f} nats about {name!r} on average; by chance alone it would be "
            f"{found.by_chance:.3f} (give or take {found.spread:.3f})", "risk",
            details={"by_chance": found.by_chance, "spread": found.spread},
        )  # fmt: skip


@measure
def participation(known: Known) -> Iterable[Figure]:
    """How many of a group take part where that is uncertain."""
    if known.participation is None:
        return
    share, confidence = known.participation
    from scipy.stats import binom

    sure = max(k for k in range(known.k + 1) if binom.sf(k - 1, known.k, share) >= confidence)
    yield Figure(
        "participating_k", sure, "records", f"k = {sure}", "records of a group that take part",
        f"of a group of {known.k}, at least {sure} take part with a probability of {confidence:g}, if each takes "
        f"part with one of {share:g}", "groups", "public",
    )  # fmt: skip
