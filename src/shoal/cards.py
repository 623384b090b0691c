"""Cards: what a notebook shows of a result.

A notebook may be published: the card of a release has figures and the names of columns on it, and no value of the
table.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.templates import template

MOST_NAMES = 10


@dataclass(frozen=True)
class Card:
    """What stands on a card."""

    title: str
    figures: Sequence[tuple[str, str]]  # a value, and what it is
    bars: Sequence[tuple[str, float]] = ()  # a name and a percentage
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()
    steps: Sequence[tuple[str, str]] = ()  # what to type next, and what that does

    def html(self) -> str:
        """The card as HTML that needs nothing else."""
        return template("card.html").render(card=self)


def named(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def span(low: int, high: int) -> str:
    """The sizes of the smallest and of the largest group."""
    return counted(low) if low == high else f"{counted(low)} to {counted(high)}"


def counted(number: int) -> str:
    """A count with its thousands apart."""
    return f"{number:,}".replace(",", "\u2009")
