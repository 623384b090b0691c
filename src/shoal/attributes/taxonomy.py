"""Taxonomies: trees of codes, in which near codes have a near ancestor in common."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Taxonomy:
    """A tree of codes; node 0 is its root, and every node comes after its parent.

    Attributes
    ----------
    nodes : the codes, inner ones too
    parents : the number of the parent of each node, -1 for the root
    lengths : how far each node is from its parent, 0 for the root
    """

    nodes: tuple[str, ...]
    parents: tuple[int, ...]
    lengths: tuple[float, ...]

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {"nodes": list(self.nodes), "parents": list(self.parents), "lengths": list(self.lengths)}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Taxonomy":
        """The other way round."""
        return cls(tuple(given["nodes"]), tuple(given["parents"]), tuple(given["lengths"]))
