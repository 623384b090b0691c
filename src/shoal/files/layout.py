"""The start of a CSV file: its dialect, whether it has a header, and the names of its columns."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from shoal.errors import ShoalError, some
from shoal.files.dialect import Dialect, Said, detect, sample_of
from shoal.files.header import check_header, check_lone, unclear

_SEPARATOR = re.compile(r'"?sep=([^\w"\r\n])"?\1*(?:\r\n|\r|\n)', re.IGNORECASE)


@dataclass(frozen=True)
class Layout:
    """How a CSV file begins."""

    dialect: Dialect
    columns: tuple[str, ...]
    titles: tuple[str, ...]  # the header as it stands in the file, if it has one
    skip: int  # characters before it: a line such as sep=;


def layout_of(file: str, text: str, encoding: str, said: Said) -> Layout:
    """The layout of a text, with what was said about it; of a long text its start will do."""
    if not text.strip():
        raise ShoalError(f"{file} is empty: it has neither a header nor records")
    separator = _SEPARATOR.match(text)  # spreadsheets are told their delimiter so
    if separator:
        said = replace(said, delimiter=said.delimiter or separator[1])
    skip = separator.end() if separator else 0
    body = text[skip:]
    if not body.strip():
        raise ShoalError(f"{file} is empty: it has neither a header nor records")
    dialect = detect(body, encoding, said)
    first = first_line_of(file, body, dialect)
    if said.header is None:
        find_header(file, first, body, dialect)
    header = said.header is not False
    found = first if header else tuple(f"column{number}" for number in range(1, len(first) + 1))
    columns = named(file, found, said)
    names = None if columns == found else columns
    return Layout(replace(dialect, header=header, names=names), columns, first if header else (), skip)


def first_line_of(file: str, text: str, dialect: Dialect) -> tuple[str, ...]:
    """The fields of the first line that is not blank."""
    try:
        return tuple(next(rows_of(text, dialect)))
    except csv.Error as error:
        raise ShoalError(f"{file} is not a readable CSV file: {error}") from None


def rows_of(text: str, dialect: Dialect) -> Iterator[list[str]]:
    """The lines of a text that are not blank."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter, quotechar=dialect.quote)
    return (row for row in reader if row)


def find_header(file: str, first: Sequence[str], text: str, dialect: Dialect) -> None:
    """An error, unless the first line certainly is a header; a lone one may be."""
    start, cut = sample_of(text)
    rows: list[list[str]] = []
    with suppress(csv.Error):  # what was read until there will do
        rows.extend(rows_of(start, dialect))
    if cut:
        rows = rows[:-1]
    below = [row for row in rows[1:] if len(row) == len(first)]
    if below:
        check_header(file, first, below)
    elif cut and len(rows) < 2:
        raise unclear(file, "its lines are too long to look at two of them")
    elif len(rows) == 1:
        check_lone(file, first)


def named(file: str, found: tuple[str, ...], said: Said) -> tuple[str, ...]:
    """The names of the columns: those that are given, or those that were found, each of them once."""
    if said.names is not None:
        if len(said.names) != len(found):
            raise ShoalError(
                f"{len(said.names)} names are given, but {file} has {len(found)} columns; give one name a column"
            )
        return said.names
    twice = repeated(found)
    if twice and not said.number_names:
        raise ShoalError(
            f"{file} has two columns of the same name: {some(map(repr, twice))}; number them with --number-names "
            "(number_names=True), name all columns with --names, or say --no-header if the first line is a record"
        )
    return numbered(found) if twice else found


def repeated(names: Iterable[str]) -> list[str]:
    """The names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def numbered(names: Sequence[str]) -> tuple[str, ...]:
    """Names that occur again with a number: zip, zip_2; never a name that is there already."""
    taken, made = set(names), []
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        new = name
        while seen[name] > 1 and (new := f"{name}_{seen[name]}") in taken:
            seen[name] += 1
        taken.add(new)
        made.append(new)
    return tuple(made)
