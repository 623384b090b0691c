"""Taxonomies as people have them: a tree in JSON or in Python, a CSV file of edges, a hierarchy of ARX.

The content tells which of them it is. Spaces around names do not count.
"""

import csv
import io
import json
import os
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from shoal.attributes.taxonomy import ROOT, Edge, Taxonomy
from shoal.errors import ShoalError, some
from shoal.files.encoding import encoded
from shoal.files.file import File

SHORTEST, LONGEST = 1e-9, 1e9  # lengths whose sums and roots have room in a double

_DELIMITERS = (";", "\t", ",")
_CHILD, _PARENT, _LENGTH = {"child", "code", "node", "name"}, {"parent"}, {"length", "weight"}
_FORMS = (
    'give a tree in JSON such as {"all": {"A": ["A1", "A2"]}}, a CSV file with the columns child and parent, '
    "or a hierarchy of ARX with a line such as A1;A;* for each code"
)

Row = tuple[int, list[str]]  # the number of its line, its cells


def read_taxonomy(given: Any) -> Taxonomy:
    """A taxonomy from a file or from an object of Python.

    - JSON, or the same as an object: ``{"Europe": {"France": {}, "Spain": {}}}``. Codes with nothing below them
      may stand in a list: ``{"Europe": ["France", "Spain"]}``. Every length is 1. The form ``{"name": "Europe",
      "children": [{"name": "France", "length": 2}]}`` has lengths where they are given.
    - A CSV file of edges. A header says which column is which: ``child,parent`` or ``parent,child``, and a third
      column ``length`` or ``weight`` where edges have lengths. Without a header there are two columns, the child
      first. The root may stand in a line of its own, with an empty parent.
    - A hierarchy as ARX writes it, without a header: a line for each code, first the code, then what is above it,
      level by level: ``France;Europe;*``. A level that repeats the one before is left out. Where the last level
      has several values, they get the common root ``*``. A file of two columns in which nothing has two levels
      above it is read in this way too.
    """
    if isinstance(given, Taxonomy):
        return given
    if isinstance(given, Mapping | list | tuple):
        return of_tree(given, "the taxonomy")
    if not isinstance(given, str | os.PathLike):
        raise ShoalError(f"{type(given).__name__} is no taxonomy; {_FORMS}")
    file = File.held(given)
    source = f"taxonomy {file.name}"
    text = text_of(file).strip("\ufeff\r\n ")
    if text.startswith(("{", "[")):
        try:
            return of_tree(json.loads(text, object_pairs_hook=Pairs), source)
        except json.JSONDecodeError as error:
            if not re.match(r"\[.*[;\t]", text):  # an interval of ARX, such as [0, 10[;[0, 20[
                raise ShoalError(f"{source} is not right as JSON (line {error.lineno}: {error.msg})") from None
        except RecursionError:
            raise ShoalError(f"{source} has too many levels for JSON; give it as a CSV file of edges") from None
    return of_rows(rows_of(text, source), source)


def text_of(file: File) -> str:
    """The text of a file, in whatever encoding it is."""
    content = file.content or b""
    return content.decode(encoded(file.name, file.open, None).encoding)


# Trees.


class Pairs(list[tuple[str, Any]]):
    """An object of JSON in which a key may stand twice."""


def of_tree(tree: Any, source: str) -> Taxonomy:
    """From nested objects and lists."""
    keys = dict(pairs_of(tree) or ())
    if keys.keys() == {"nodes", "parents", "lengths"}:  # as `Taxonomy.as_dict` writes it
        return Taxonomy.from_dict(keys)
    return Taxonomy.of_edges(edges_of_tree(tree, source), source)


def edges_of_tree(tree: Any, source: str) -> Iterator[Edge]:
    """Every node below its parent, level by level."""
    waiting: deque[tuple[Any, str | None]] = deque([(tree, None)])
    while waiting:
        value, parent = waiting.popleft()
        for name, length, below in members(value, parent, source):
            yield Edge(name, parent, length)
            waiting.append((below, name))


def members(value: Any, parent: str | None, source: str) -> Iterator[tuple[str, float, Any]]:
    """The nodes right below a parent: name, length, and what is below them."""
    pairs = pairs_of(value)
    if pairs is not None and is_named(dict(pairs)):
        yield named(dict(pairs), source)
    elif pairs is not None:
        yield from ((name_of(name, source), 1.0, below) for name, below in pairs)
    elif isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, str | int):
                yield name_of(item, source), 1.0, None
            elif pairs_of(item) is not None:
                yield from members(item, parent, source)
            else:
                raise ShoalError(f"{source} has {item!r} in a list{under(parent)}; {_FORMS}")
    elif value is not None:
        raise ShoalError(f"{source} has {value!r}{under(parent)} where its codes should stand; {_FORMS}")


def pairs_of(value: Any) -> list[tuple[Any, Any]] | None:
    """The keys of an object and what they hold."""
    if isinstance(value, Mapping):
        return list(value.items())
    return value if isinstance(value, Pairs) else None


def is_named(keys: dict[Any, Any]) -> bool:
    """Whether an object is a node with its name, not the nodes below one."""
    return isinstance(keys.get("name"), str | int)


def named(keys: dict[str, Any], source: str) -> tuple[str, float, Any]:
    """A node that says its name, its children and its length; what else it says about itself is not looked at."""
    name = name_of(keys["name"], source)
    for key, value in keys.items():
        if key != "children" and isinstance(value, Mapping | list | tuple):
            raise ShoalError(f"{source} has {key!r} at {name!r}; what is below a node stands in 'children'")
    length = keys.get("length", keys.get("weight", 1.0))
    return name, checked_length(length, f"{source}, node {name!r}"), keys.get("children")


def name_of(name: Any, source: str, line: int | None = None) -> str:
    """The name of a node: text, or a whole number as text."""
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise ShoalError(f"{source} has a node {name!r}; a node has a name that is text or a whole number")
    if text := str(name).strip():
        return text
    raise ShoalError(f"{source} has an empty name{'' if line is None else f' in line {line}'}; name every node")


def under(parent: str | None) -> str:
    """Where something stands."""
    return "" if parent is None else f" below {parent!r}"


# Lines.


def rows_of(text: str, source: str) -> list[Row]:
    """The lines of a text by the delimiter that cuts all of them into as many cells."""
    tried = {delimiter: cut(text, delimiter, source) for delimiter in _DELIMITERS}
    for rows in tried.values():
        if len({len(cells) for _, cells in rows}) == 1 and len(rows[0][1]) > 1:
            return rows
    rows = max(tried.values(), key=lambda rows: len(rows[0][1]) if rows else 0)
    if not rows or len(rows[0][1]) == 1:
        raise ShoalError(f"{source} is no taxonomy; {_FORMS}")
    first, wanted = rows[0][0], len(rows[0][1])
    line, cells = next((line, cells) for line, cells in rows if len(cells) != wanted)
    raise ShoalError(f"{source} has {wanted} values in line {first}, but {len(cells)} in line {line}; {_FORMS}")


def cut(text: str, delimiter: str, source: str) -> list[Row]:
    """The lines that are not blank."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        return [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise ShoalError(f"{source} is no taxonomy ({error}); {_FORMS}") from None


def of_rows(rows: list[Row], source: str) -> Taxonomy:
    """From edges or from the lines of a hierarchy."""
    header = [cell.strip().casefold() for cell in rows[0][1]]
    if set(header) & _CHILD and set(header) & _PARENT and len(header) < 4:
        return Taxonomy.of_edges(edges_by_header(header, rows[1:], source), source)
    if len(header) == 2 and is_chained([cells for _, cells in rows]):
        return Taxonomy.of_edges(edges_by_header(["child", "parent"], rows, source), source)
    return Taxonomy.of_edges(edges_of_lines(rows, source), source)


def is_chained(rows: list[list[str]]) -> bool:
    """Whether a name stands in both columns, or a parent is empty, as in edges."""
    pairs = [(child.strip(), parent.strip()) for child, parent in rows]
    parents = {parent for _, parent in pairs}
    return "" in parents or any(child in parents and child != parent for child, parent in pairs)


def edges_by_header(header: Sequence[str], rows: list[Row], source: str) -> Iterator[Edge]:
    """An edge a line; a header says which column is which."""
    if odd := [name for name in header if name not in _CHILD | _PARENT | _LENGTH]:
        raise ShoalError(f"{source} has a column {odd[0]!r}; keep the columns child, parent and length")

    def place(names: set[str]) -> int | None:
        found = [place for place, name in enumerate(header) if name in names]
        if len(found) > 1:
            raise ShoalError(f"{source} has two columns {some(map(repr, sorted(names)))}; keep one of them")
        return found[0] if found else None

    child, parent, length = map(place, (_CHILD, _PARENT, _LENGTH))
    assert child is not None
    assert parent is not None
    for line, cells in rows:
        above = name_of(cells[parent], source, line) if cells[parent].strip() else None
        far = 1.0 if length is None or above is None else number_of(cells[length], source, line)
        yield Edge(name_of(cells[child], source, line), above, far)


def number_of(text: str, source: str, line: int) -> float:
    """A length."""
    try:
        length = float(text.strip().replace(",", "."))
    except ValueError:
        raise wrong_length(text, f"{source}, line {line}") from None
    return checked_length(length, f"{source}, line {line}")


def checked_length(length: Any, where: str) -> float:
    """A length that can be added up and squared."""
    if isinstance(length, bool) or not isinstance(length, int | float) or not SHORTEST <= length <= LONGEST:
        raise wrong_length(length, where)
    return float(length)


def wrong_length(length: Any, where: str) -> ShoalError:
    """Something else stands where a length should."""
    return ShoalError(f"{where}: a length is a number from {SHORTEST:g} to {LONGEST:g}, not {length!r}")


def edges_of_lines(rows: list[Row], source: str) -> Iterator[Edge]:
    """A hierarchy of ARX: a code and all that is above it in a line."""
    above: dict[str, str | None] = {}
    lines: dict[str, int] = {}
    for line, cells in rows:
        names = [name_of(cell, source, line) for cell in cells]
        if names[0] in lines:
            raise ShoalError(f"{source} has {names[0]!r} in lines {lines[names[0]]} and {line}; list it once")
        lines[names[0]] = line
        for child, parent in pairwise(names):
            if child == parent:
                continue
            if above.setdefault(child, parent) is None:
                above[child] = parent
            if above[child] != parent:
                raise ShoalError(
                    f"{source} has {child!r} below {parent!r} in line {line}, but below {above[child]!r} before; "
                    "give every node one parent, and different nodes different names"
                )
        above.setdefault(names[-1], None)
    tops = [name for name, parent in above.items() if parent is None]
    if len(tops) > 1 and above.get(ROOT) is None:
        yield Edge(ROOT, None)
        above = {name: ROOT if parent is None else parent for name, parent in above.items() if name != ROOT}
    yield from (Edge(name, parent) for name, parent in above.items())
