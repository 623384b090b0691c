"""What Shoal says when something is wrong: one line that names the cause and the cure."""

from collections.abc import Iterable
from difflib import get_close_matches


class ShoalError(ValueError):
    """Bad input or a request that cannot be honoured; the message says which and what to do."""


class ShoalWarning(UserWarning):
    """Something the owner of the table should know before handing the release on."""


def nearest_name(name: str, known: Iterable[str]) -> str:
    """'; did you mean ...?' for a name that is not among the known ones, or nothing."""
    known = list(known)
    folded = {candidate.strip().casefold(): candidate for candidate in known}
    close = get_close_matches(name.strip().casefold(), folded, n=1, cutoff=0.6)
    return f"; did you mean {folded[close[0]]!r}?" if close else ""


def no_column(name: str, columns: Iterable[str]) -> ShoalError:
    """A column is asked for that is not there."""
    columns = list(columns)
    hint = nearest_name(name, columns) or f"; there are {some(map(repr, columns), 10)}"
    return ShoalError(f"there is no column {name!r}{hint}")


def some(items: Iterable[object], most: int = 5) -> str:
    """The first few items of a list, and how many more there are."""
    listed = list(items)
    text = ", ".join(str(item) for item in listed[:most])
    return text if len(listed) <= most else f"{text} and {len(listed) - most} more"
