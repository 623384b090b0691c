"""What Shoal says when something is wrong: one line that names the cause and the cure."""

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")

_PACKAGE = os.path.dirname(__file__) + os.sep  # noqa: PTH120 - pathlib takes longer to import than all of this

MOST_REASONS = 10  # columns whose errors stand in full in one line; of the others it has the names


class ShoalError(ValueError):
    """Bad input or a request that cannot be honoured; the message says which and what to do."""

    cure = ""
    """What to do, where the message ends with it."""


class ShoalWarning(UserWarning):
    """Something the owner of the table should know before handing the release on."""


def warn(sentence: str) -> None:
    """A warning that points at the line of the user's that called Shoal, however deep inside it is said."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    line = " ".join(sentence.splitlines())  # whatever stands in the name of a column
    warnings.warn(line, ShoalWarning, stacklevel=level)


def warn_of_all(sentences: Iterable[str]) -> list[str]:
    """Warn of each; they come back, to be kept."""
    said = list(sentences)
    for sentence in said:
        warn(sentence)
    return said


def nearest(name: str, known: Iterable[str]) -> str:
    """'did you mean ...?' for a name that is not among the known ones, or nothing."""
    folded = {candidate.strip().casefold(): candidate for candidate in known}
    close = get_close_matches(name.strip().casefold(), folded, n=1, cutoff=0.6)
    return f"did you mean {folded[close[0]]!r}?" if close else ""


def nearest_name(name: str, known: Iterable[str]) -> str:
    """The same, to be put after what is wrong."""
    hint = nearest(name, known)
    return f"; {hint}" if hint else ""


def typed(option: str, name: str, value: str) -> str:
    """An option for a column as it is typed; in quotes, and in one line, where its name has signs of its own."""
    text = f"{name}={value}"
    plain = re.fullmatch(r"[-.,:+%\w=]+", text)
    return f"{option} {text if plain else repr(text)}"


def no_column(name: str, columns: Iterable[str]) -> ShoalError:
    """A column is asked for that is not there."""
    columns = list(columns)
    hint = nearest_name(name, columns) or f"; there are {some(map(repr, columns), 10)}"
    return ShoalError(f"there is no column {name!r}{hint}")


def no_columns(names: Iterable[str], columns: Iterable[str]) -> ShoalError:
    """The same for one column or more."""
    names, columns = list(names), list(columns)
    if len(names) == 1:
        return no_column(names[0], columns)
    hints = [nearest(name, columns) for name in names]
    listed = [f"{name!r}{f' ({hint})' if hint else ''}" for name, hint in zip(names, hints, strict=True)]
    return ShoalError(
        f"there are no columns {', '.join(listed[:-1])} and {listed[-1]}; there are {some(map(repr, columns), 10)}"
    )


def for_each(names: Iterable[str], items: Iterable[Item], work: Callable[[Item], Found]) -> list[Found]:
    """What some work makes of each item; whatever is wrong with several of them is said at once."""
    found: list[Found] = []
    wrong: list[tuple[str, ShoalError]] = []
    for name, item in zip(names, items, strict=True):
        try:
            found.append(work(item))
        except ShoalError as error:
            wrong.append((name, error))
    if len(wrong) == 1:
        raise wrong[0][1]
    if wrong:
        shown = [error for _, error in wrong[:MOST_REASONS]]
        (cure, *others) = {error.cure for error in shown}
        ending = f"; {cure}" if cure and not others else ""
        said = "; also ".join(str(error).removesuffix(ending) for error in shown)
        more = [repr(name) for name, _ in wrong[MOST_REASONS:]]
        raise ShoalError(said + (f"; and the like in {', '.join(more)}" if more else "") + ending)
    return found


def some(items: Iterable[object], most: int = 5) -> str:
    """The first few items of a list, and how many more there are."""
    listed = list(items)
    text = ", ".join(str(item) for item in listed[:most])
    return text if len(listed) <= most else f"{text} and {len(listed) - most} more"
