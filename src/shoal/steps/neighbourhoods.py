"""What is known of the k-neighbourhood of every free record, kept up to date while groups are formed by it.

The k-neighbourhood of a free record is the record and its k - 1 nearest free ones. What DBA knows of each is its
SSE, what GSMS knows is its centroid; both are looked up anew when the search tree is built anew.
"""

from abc import ABC, abstractmethod
from typing import Any

from shoal.steps.peeling import Peeling

_BATCH = 20_000  # records searched for between two looks at the clock


class Neighbourhoods(ABC):
    """Steps for `Peeling.run`; what is known holds as long as the tree stands."""

    def __init__(self) -> None:
        self._tree: object = None

    def __call__(self, peeling: Peeling, floor: int, most: int) -> tuple[int, int]:
        """Form up to `most` groups; returns (free records, next label)."""
        from shoal.kernels.search_tree.watch import new_watch
        from shoal.kernels.sums.exact import zero_like

        tree, batch = peeling.tree, max(1, _BATCH // peeling.k)
        if self._tree is not tree:
            self.watch, self.own = new_watch(tree), zero_like(peeling.sums)
            self.make_room(tree)
            slots = len(tree.rows)
            for first in range(0, slots, batch):
                self.look_at(peeling, first, min(first + batch, slots))
                peeling.report()
            self.rank(tree)
            self._tree = tree
        table = peeling.X, tree, self.watch, peeling.sums, self.own, peeling.labels
        return self.form(*table, peeling.free, peeling.label, peeling.k, min(most, batch))

    @abstractmethod
    def make_room(self, tree: Any) -> None:
        """Arrays for what is known of the slots of a new tree."""

    @abstractmethod
    def look_at(self, peeling: Peeling, first: int, last: int) -> None:
        """Look up the neighbourhoods of the slots from `first` to before `last`."""

    @abstractmethod
    def rank(self, tree: Any) -> None:
        """Sum up what is known for the leaves and nodes of the tree."""

    @abstractmethod
    def form(self, *state: Any) -> tuple[int, int]:
        """Groups around the best neighbourhoods; returns (free records, next label)."""
