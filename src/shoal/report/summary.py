"""The summary: what a page says first, in plain sentences."""

from collections.abc import Sequence
from math import sqrt

from shoal.report.subject import Subject

_SMALL = 0.005  # standard deviations: below it, nobody calls a mean changed


def summary(subject: Subject) -> list[str]:
    """What somebody should know who reads no further."""
    said = [found_by(subject), *promised(subject), *attacked(subject), *homogeneous(subject)]
    return [*said, *lost(subject), *changed(subject), *learned(subject)]


def found_by(subject: Subject) -> str:
    """Whom an attacker finds: what k means."""
    names = listed(subject.quasi_identifiers)
    return (
        f"Whoever knows {names} of a person finds at least {subject.k} {subject.whom} that fit, and cannot tell "
        "by these columns which of them is the person."
    )


def promised(subject: Subject) -> list[str]:
    """Which privacy models hold beside that."""
    promises = subject.made.promises if subject.made else ()
    return [f"Every group keeps more than k: {listed(promises)}."] if promises else []


def attacked(subject: Subject) -> list[str]:
    """What an attacker found who linked records to persons."""
    plain, knowing = subject.figure("linkage_all"), subject.figure("linkage_confidential")
    said = []
    if plain is not None and plain.value is not None:
        said.append(
            f"An attacker who knows all quasi-identifiers and takes the nearest record found the right one in "
            f"{plain.value:.1f} % of all cases; k = {subject.k} allows {100 / subject.k:.1f} %."
        )
    if knowing is not None and knowing.value is not None and plain is not None:
        said.append(
            f"Knowing the confidential values too, the attacker found {knowing.value:.1f} %. k does not protect "
            "against somebody who knows these already."
        )
    return said


def homogeneous(subject: Subject) -> list[str]:
    """What groups with one confidential value give away."""
    figure = subject.figure("homogeneous_records")
    if figure is None or not figure.value:
        return []
    return [f"{sentence(figure.sentence)} The value of these persons is known without finding their record."]


def lost(subject: Subject) -> list[str]:
    """How much information was lost."""
    figure = subject.figure("information_loss") or subject.figure("squared_error")
    if figure is None or figure.value is None:
        return []
    return [
        f"The information loss is {figure.value:.2f} %: 0 % is no change, 100 % is one common value for everybody."
    ]


def changed(subject: Subject) -> list[str]:
    """What became of means and of the spread."""
    means, variances = subject.figure("mean_change"), subject.figure("variance_change")
    parts = []
    if means is not None and means.value is not None:
        far = abs(means.value)
        parts.append(
            "Means are unchanged" if far < _SMALL else f"Means change by at most {far:.2g} standard deviations"
        )
    if variances is not None and variances.value is not None:
        spread = 100 * (sqrt(max(0.0, 1 + variances.value / 100)) - 1)
        how = "shrinks" if spread < 0 else "grows"
        small = abs(spread) < 0.05
        parts.append(
            "the spread stays the same" if small else f"the spread {how} by {abs(spread):.1f} % on average"
        )
    return [first_upper(", ".join(parts)) + "."] if parts else []


def learned(subject: Subject) -> list[str]:
    """What models learn from the release."""
    figure = subject.figure("downstream_kept")
    return [] if figure is None or not figure.sentence else [sentence(figure.sentence)]


def listed(names: Sequence[str]) -> str:
    """Names in a sentence; how many more there are, where they are too many."""
    shown, more = list(names[:6]), len(names) - 6
    if more > 0:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def sentence(text: str) -> str:
    """A text that begins and ends as a sentence does."""
    return first_upper(text) + ("" if text.endswith((".", "!", "?")) else ".")


def first_upper(text: str) -> str:
    """A text with a large first letter."""
    return text[:1].upper() + text[1:]
