"""Taxonomies: trees of codes, in which near codes have a near ancestor in common."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

from shoal.errors import ShoalError, some

ROOT = "*"
"""The name of a root that nobody has named, as it stands in a release."""


class Edge(NamedTuple):
    """A node, what it is below (None for a root), and how far."""

    child: str
    parent: str | None
    length: float = 1.0


@dataclass(frozen=True)
class Taxonomy:
    """A tree of codes; node 0 is its root, and every node comes after its parent.

    The distance between two codes is the length of the path between them. Every edge has the length 1, unless
    another one is given.

    Attributes
    ----------
    nodes : the codes, inner ones too
    parents : the number of the parent of each node, -1 for the root
    lengths : how far each node is from its parent, 0 for the root
    """

    nodes: tuple[str, ...]
    parents: tuple[int, ...]
    lengths: tuple[float, ...]

    def __post_init__(self) -> None:
        if not len(self.nodes) == len(self.parents) == len(self.lengths) > 0:
            raise ShoalError("a taxonomy has a parent and a length for each of its nodes, and at least one node")
        if self.parents[0] != -1 or not all(0 <= parent < i for i, parent in enumerate(self.parents[1:], 1)):
            raise ShoalError(
                "the first node of a taxonomy is its root (parent -1), and others come after their parents"
            )
        if len(set(self.nodes)) < len(self.nodes) or not all(self.nodes):
            raise ShoalError("the nodes of a taxonomy have names, and no two the same")
        if not all(0 < length < inf for length in self.lengths[1:]):
            raise ShoalError("the lengths in a taxonomy are numbers above 0")

    @classmethod
    def of_edges(cls, edges: Iterable[Edge], source: str = "the taxonomy") -> "Taxonomy":
        """From edges in any order; the children of a node stay in their order. `source` is named in errors."""
        above: dict[str, Edge] = {}
        for edge in edges:
            if edge.child in above:
                raise repeated(source, above[edge.child], edge)
            above[edge.child] = edge
        for parent in [edge.parent for edge in above.values() if edge.parent is not None]:
            above.setdefault(parent, Edge(parent, None))
        if not above:
            raise ShoalError(f"{source} is empty; it needs one node at least")
        below = defaultdict(list)
        for name, edge in above.items():
            below[edge.parent].append(name)
        refuse_circle(source, above)
        if len(below[None]) > 1:
            raise ShoalError(
                f"{source} has {len(below[None])} roots: {some(map(repr, below[None]))}; put them under one node"
            )
        nodes = downwards(below[None][0], below)
        number = {name: place for place, name in enumerate(nodes)}
        parents = [number[above[name].parent or ""] for name in nodes[1:]]
        return cls(tuple(nodes), (-1, *parents), (0.0, *(float(above[name].length) for name in nodes[1:])))

    @classmethod
    def of_prefixes(cls, codes: Iterable[str], lengths: Sequence[int]) -> "Taxonomy":
        """Codes below their own beginnings: with the lengths 1, 3, 5, I10.15 is below I10.1, that below I10 and I.

        A code that is not longer than a length ends earlier. Every character counts, dots and dashes too: with the
        lengths 1, 3, 5 the code I10.1 stands for itself, and the code I101 stands below I10 only. The root is *.
        """
        check_lengths(lengths)
        names = {code[:length] for code in codes for length in (*lengths, len(code))} - {ROOT}
        # Sorted text has every beginning right before all that begins with it.
        edges = [Edge(name, beginning(name, lengths)) for name in sorted(names)]
        return cls.of_edges([Edge(ROOT, None), *edges], "the taxonomy of beginnings")

    def among(self, codes: Iterable[str]) -> "Taxonomy":
        """What tells these codes apart: they, and the nodes where their ways up meet.

        Another node has at most one child that matters. It is left out, and its length is added to that of the
        child. So the path lengths between codes stay what they are. Every node comes right before all that is
        below it.
        """
        number = {name: place for place, name in enumerate(self.nodes)}
        own, ways = [False] * len(self.nodes), [0] * len(self.nodes)
        for code in codes:
            own[number[code]] = True
        for place in range(len(self.nodes) - 1, 0, -1):
            ways[self.parents[place]] += own[place] or ways[place] > 0
        kept = [mine or meeting > 1 for mine, meeting in zip(own, ways, strict=True)]
        # The nearest node above each that is kept, and how far it is.
        nearest: list[tuple[str | None, float]] = []
        for place, parent in enumerate(self.parents):
            up, length = (None, 0.0) if parent < 0 else nearest[parent]
            if parent >= 0 and kept[parent]:
                up, length = self.nodes[parent], 0.0
            nearest.append((up, length + self.lengths[place]))
        return Taxonomy.of_edges(
            Edge(name, *nearest[place]) for place, name in enumerate(self.nodes) if kept[place]
        )

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {"nodes": list(self.nodes), "parents": list(self.parents), "lengths": list(self.lengths)}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Taxonomy":
        """The other way round."""
        return cls(tuple(given["nodes"]), tuple(given["parents"]), tuple(given["lengths"]))


def downwards(root: str, below: dict[str | None, list[str]]) -> list[str]:
    """The nodes of a tree, each before all that is below it."""
    found, waiting = [], [root]
    while waiting:
        name = waiting.pop()
        found.append(name)
        waiting.extend(reversed(below.get(name, [])))
    return found


def beginning(name: str, lengths: Sequence[int]) -> str:
    """The longest beginning of a code that is shorter than itself."""
    return next((name[:length] for length in reversed(lengths) if length < len(name)), ROOT)


def refuse_circle(source: str, above: dict[str, Edge]) -> None:
    """Every way up ends at a root."""
    good: set[str] = set()
    for start in above:
        way: dict[str, None] = {}
        name: str | None = start
        while name is not None and name not in good:
            if name in way:
                circle = [*list(way)[list(way).index(name) :], name]
                raise ShoalError(
                    f"{source} goes in a circle: {' is below '.join(map(repr, circle[:5]))}; take one of these out"
                )
            way[name] = None
            name = above[name].parent
        good.update(way)


def repeated(source: str, first: Edge, second: Edge) -> ShoalError:
    """A node stands in two places."""
    name, parents = first.child, [first.parent, second.parent]
    if parents[0] == parents[1]:
        where = "at the top" if parents[0] is None else f"below {parents[0]!r}"
        return ShoalError(f"{source} has {name!r} twice {where}; list it once")
    if None in parents:
        other = parents[0] or parents[1]
        return ShoalError(f"{source} has {name!r} both as its root and below {other!r}; keep one of them")
    return ShoalError(
        f"{source} has {name!r} in two places, below {parents[0]!r} and below {parents[1]!r}; "
        "give every node one parent, and different nodes different names"
    )


def check_lengths(lengths: Sequence[int]) -> None:
    """The lengths of beginnings are whole numbers that rise."""
    rising = all(shorter < longer for shorter, longer in pairwise(lengths))
    if not lengths or lengths[0] < 1 or not rising:
        listed = ",".join(map(str, lengths)) or "none"
        raise ShoalError(f"the lengths of beginnings are whole numbers that rise, such as 1,3,5, not {listed}")
