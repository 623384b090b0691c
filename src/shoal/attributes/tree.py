"""A taxonomy as arrays: path lengths, where ways up meet, and the common nodes of many groups at once.

The nodes are numbered so that all nodes below v come right after it: they are those from v to before `ends[v]`. So
what is below a node is a stretch of sorted numbers, and nothing here looks at records or groups one by one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.compact import compacted
from shoal.attributes.grouped import counted
from shoal.attributes.taxonomy import Taxonomy
from shoal.attributes.weighing import Weights, middle_places, running, sizes_of

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tree:
    """A taxonomy as `Taxonomy.among` makes it."""

    taxonomy: Taxonomy

    def __len__(self) -> int:
        return len(self.taxonomy.nodes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes."""
        return self.taxonomy.nodes

    @cached_property
    def are_whole(self) -> bool:
        """Whether all names are whole numbers, written as usual."""
        return all(name.removeprefix("-").isdecimal() and str(int(name)) == name for name in self.names)

    @cached_property
    def lengths(self) -> Float:
        """How far each node is from its parent."""
        return np.array(self.taxonomy.lengths)

    @cached_property
    def parents(self) -> Int:
        """The parent of each node; that of the root is itself."""
        return np.array((0, *self.taxonomy.parents[1:]))

    @cached_property
    def ends(self) -> Int:
        """Where the nodes below each node end."""
        parents, sizes = self.taxonomy.parents, [1] * len(self)
        for node in range(len(self) - 1, 0, -1):
            sizes[parents[node]] += sizes[node]
        return np.arange(len(self)) + sizes

    @cached_property
    def heights(self) -> Float:
        """How far each node is from the root."""
        heights = [0.0]
        for parent, length in zip(self.taxonomy.parents[1:], self.taxonomy.lengths[1:], strict=True):
            heights.append(heights[parent] + length)
        return np.array(heights)

    @cached_property
    def steps(self) -> Int:
        """How many nodes are above each node."""
        steps = [0]
        for parent in self.taxonomy.parents[1:]:
            steps.append(steps[parent] + 1)
        return np.array(steps)

    @cached_property
    def jumps(self) -> tuple[Int, ...]:
        """For each node the one that is 1, 2, 4, 8 ... steps above it; where there is none, the root."""
        jumps = [self.parents]
        while jumps[-1].any():
            jumps.append(jumps[-1][jumps[-1]])
        return tuple(jumps)

    def climbed(self, nodes: Int, below: Callable[[Int], NDArray[np.bool_]]) -> Int:
        """The first node on each way up that is not `below` something; where a node is, all before it are too."""
        for jump in reversed(self.jumps):
            nodes = np.where(below(jump[nodes]), jump[nodes], nodes)
        return np.where(below(nodes), self.parents[nodes], nodes)

    def meetings(self, a: Int, b: Int) -> Int:
        """The lowest node that has both of a pair below it, or is one of them."""
        return self.climbed(a, lambda node: (b < node) | (b >= self.ends[node]))

    def distances(self, a: Int, b: Int) -> Float:
        """The path length between the two nodes of each pair."""
        top = self.heights[self.meetings(a, b)]
        return (self.heights[a] - top) + (self.heights[b] - top)

    # Nodes of which some have records.

    def below(self, counts: Int) -> Int:
        """How many records each node has below it, with its own."""
        before = np.concatenate([[0], np.cumsum(counts)])
        return np.asarray(before[self.ends] - before[:-1])

    def variance(self, counts: Int) -> Float:
        """The variance of the coordinate of each node, unscaled; all together are half the mean path length."""
        shares = self.below(counts) / counts.sum()
        return np.asarray(shares * (1 - shares) * self.lengths)

    def middle(self, counts: Int) -> int:
        """The node of the least summed path length to records, the highest of these; see `medians`."""
        return int(np.flatnonzero(2 * self.below(counts) > counts.sum())[-1])

    def widest(self, counts: Int) -> float:
        """The longest path between two nodes with records."""
        (codes,) = counts.nonzero()
        # The farthest from any node is one end of a longest path in a tree.
        end = codes[self.distances(codes, np.full_like(codes, codes[0])).argmax()]
        return float(self.distances(codes, np.full_like(codes, end)).max())

    def coordinates(self, counts: Int, most: int) -> Float:
        """Nodes as points whose squared distances are path lengths, nearly so where `most` are too few for that.

        Two nodes differ in those coordinates whose nodes lie on the path between them.
        """
        from scipy.sparse import csr_matrix

        if len(self) == 1:
            return np.zeros((1, 1))
        rows, nodes, above = [], [], np.arange(len(self))
        while above.any():
            (row,) = above.nonzero()
            rows.append(row)
            nodes.append(above[row])
            above = self.parents[above]
        row, node = np.concatenate(rows), np.concatenate(nodes)
        marks: Any = csr_matrix((np.sqrt(self.lengths[node]), (row, node - 1)), shape=(len(self), len(self) - 1))
        return compacted(marks, counts / counts.sum(), most)[0]

    # Groups of records: group g holds the nodes of the records order[starts[g]:starts[g + 1]]. `counts` says how
    # often each place in `order` counts, once where it is None.

    def keys(self, nodes: Int, order: Int, starts: Int) -> Int:
        """Group and node of each record in one number; the node is what is left of a division."""
        groups = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return np.asarray(groups * len(self) + nodes[order])

    def medians(self, nodes: Int, order: Int, starts: Int, counts: Weights | None = None) -> Int:
        """For each group the node of the least summed path length to its records.

        That is the lowest node with more than half of the records below it, whatever the lengths are: a step down
        brings nearer what is below, and leads away from the rest. Where exactly half is below a child, that child
        is as good; the higher node is taken, which tells less. The node need not be a code that a record has.

        The summed path length is at most twice the SSE of the points of the records: a record of the group, taken
        at random, has 2 SSE in the mean, and no record is better than the median.
        """
        keys, before = self.keys(nodes, order, starts), None
        if counts is None:
            keys.sort()
        else:
            ranked = np.argsort(keys, kind="stable")
            keys, counts = keys[ranked], counts[ranked]
            before = running(counts)
        sizes = sizes_of(starts, counts)
        first = np.arange(len(sizes)) * len(self)

        def is_few(node: Int) -> NDArray[np.bool_]:
            low, high = np.searchsorted(keys, first + node), np.searchsorted(keys, first + self.ends[node])
            records = high - low if before is None else before[high] - before[low]
            return np.asarray(2 * records <= sizes)

        # More than half of a sorted stretch includes its middle.
        _, middle = middle_places(starts, counts)
        return self.climbed(keys[middle] - first, is_few)

    def ancestors(self, nodes: Int, order: Int, starts: Int) -> Int:
        """For each group the lowest node that has all its records below it."""
        keys = np.sort(self.keys(nodes, order, starts)) % len(self)
        return self.meetings(keys[starts[:-1]], keys[starts[1:] - 1])

    def members(
        self, nodes: Int, order: Int, starts: Int, counts: Weights | None = None
    ) -> tuple[Int, NDArray[Any], Int]:
        """The different nodes of each group, how many records each has, and where each group starts among them."""
        groups, members, records = counted(nodes, order, starts, len(self), counts)
        return members, records, np.searchsorted(groups, np.arange(len(starts)))

    def modes(self, nodes: Int, order: Int, starts: Int, everywhere: Int, counts: Weights | None = None) -> Int:
        """For each group its most frequent node; of several the most frequent everywhere, then the first."""
        members, records, begins = self.members(nodes, order, starts, counts)
        groups = np.repeat(np.arange(len(starts) - 1), np.diff(begins))
        ranked = np.lexsort((members, -everywhere[members], -records, groups))
        return np.asarray(members[ranked[begins[:-1]]])

    def expected(
        self, nodes: Int, labels: Int, members: Int, weights: Float, begins: Int, heavy: Float | None = None
    ) -> float:
        """The summed path length from records to a random member of their group, drawn by weights.

        The weights add up to 1 in each group. An edge counts where it lies between a record and the member: as
        often as `heavy` says of the record, once where it is None.
        """
        groups = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
        keys = labels * len(self) + nodes
        if heavy is None:
            keys, records = np.unique(keys, return_counts=True)
        else:
            keys, place = np.unique(keys, return_inverse=True)
            records = np.bincount(place, heavy)
        keys = np.concatenate([keys, groups * len(self) + members])
        held = np.vstack([np.r_[records, np.zeros(len(members))], np.r_[np.zeros(len(records)), weights]])
        sizes, steps, total = np.bincount(labels, heavy), self.steps[keys % len(self)], 0.0
        above, carried = keys[:0], held[:, :0]
        for step in range(int(steps.max()), 0, -1):
            here = steps == step
            merged, place = np.unique(np.r_[above, keys[here]], return_inverse=True)
            both = np.hstack([carried, held[:, here]])
            carried = np.vstack([np.bincount(place, row, len(merged)) for row in both])
            group, node = np.divmod(merged, len(self))
            n, share = carried
            total += float(self.lengths[node] @ (n * (1 - share) + (sizes[group] - n) * share))
            above = group * len(self) + self.parents[node]
        return total
