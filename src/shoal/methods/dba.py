"""DBA, density-based microaggregation: groups where the records are densest, then ill-fitting ones dissolved.

The record whose k nearest free records (itself included) lie closest together forms a group with them, and so on
until fewer than k are free. Then the groups are looked at by falling SSE, and the records of a group are given
to the nearest other groups wherever that lowers the SSE; what has grown to 2k or more is split by MDAV.

Guarantee: every group has at least k records, after the second phase at most 2k - 1. Ties are broken by the
lowest record index.
Cost: a few nearest-neighbour searches per record; O(n) memory beside the data.

Reference: J.-L. Lin, T.-H. Wen, J.-C. Hsieh and P.-C. Chang, Density-based microaggregation for statistical
disclosure control, Expert Systems with Applications 37 (2010) 3256-3263.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Microaggregator, Progress
from shoal.methods.tfrp import dissolve
from shoal.parameters import Rule, Whole
from shoal.steps.peeling import Peeling
from shoal.steps.splitting import split

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_BATCH = 20_000  # records searched for between two looks at the clock


class DBA(Microaggregator):
    """Density-based microaggregation (Lin, Wen, Hsieh and Chang 2010).

    Parameters
    ----------
    k : int
        The least number of records in a group.
    phases : {1, 2}
        1 stops after the groups are formed (DBA-1); 2 then dissolves and splits groups where that lowers the
        SSE (DBA-2).

    Notes
    -----
    The k-neighbourhood of a free record is the record and its k - 1 nearest free ones; its density is the inverse
    of their SSE. While at least k records are free, the densest k-neighbourhood is a group. Fewer than k left over
    join, in file order, the groups with the nearest centroids, each of which is updated at once. In phase 2 the
    groups are visited once by falling SSE; each record of a group is given to the other group with the nearest
    centroid, and if the SSE of the groups concerned falls, so it stays. Then every group of 2k or more records is
    split by MDAV. Ties go to the lowest record index or group number.
    """

    name = "dba"
    idea = "groups where the records are densest; ill-fitting ones dissolved"
    cost = "a few nearest-neighbour searches per record, O(n) memory"
    reference = "Lin, Wen, Hsieh and Chang 2010"

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1), "phases": Whole(1, 2)}

    def __init__(self, k: int = 5, phases: int = 2) -> None:
        self.k = k
        self.phases = phases

    def _group(self, X: Float, progress: Progress | None) -> Int:
        return density_groups(X, self.k, 0, self.phases, progress)


class DBA2P(Microaggregator):
    """Density-based microaggregation that begins with the outlying records (Lin, Wen, Hsieh and Chang 2010).

    Parameters
    ----------
    k : int
        The least number of records in a group.
    p : int
        How many groups are formed first around the records of lowest density; 0 is `DBA`.

    Notes
    -----
    As `DBA` with both phases, but the first p groups are the k-neighbourhoods of lowest density, computed anew
    among the free records after every group.
    """

    name = "dba-2p"
    idea = "as DBA, after p groups around the most outlying records"
    cost = "as DBA"
    reference = "Lin, Wen, Hsieh and Chang 2010"

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1), "p": Whole(0)}

    def __init__(self, k: int = 5, p: int = 1) -> None:
        self.k = k
        self.p = p

    def _group(self, X: Float, progress: Progress | None) -> Int:
        return density_groups(X, self.k, self.p, 2, progress)


def density_groups(X: Float, k: int, sparse: int, phases: int, progress: Progress | None) -> Int:
    """`sparse` groups of lowest density, then those of highest, and the second phase if there are two."""
    peeling = Peeling(X, k, progress)
    lowest, highest = Densities(-1.0), Densities(1.0)
    while peeling.label < sparse and peeling.free >= k:
        peeling.run(lowest, floor=k, most=sparse - peeling.label)
    peeling.run(highest, floor=k)
    labels = peeling.group_the_rest()
    return split(X, dissolve(X, labels, progress), k, progress) if phases == 2 else labels


class Densities:
    """The densities of the free records, as long as the tree stands, and the groups formed by them."""

    def __init__(self, sign: float) -> None:
        self._sign = sign
        self._tree: object = None

    def __call__(self, peeling: Peeling, floor: int, most: int) -> tuple[int, int]:
        """Form up to `most` groups; returns (free records, next label)."""
        from shoal.kernels.single.density import density_steps

        if self._tree is not peeling.tree:
            self._look_at(peeling)
        return density_steps(
            peeling.X,
            peeling.tree,
            self._watch,
            peeling.sums,
            self._own,
            peeling.labels,
            peeling.free,
            peeling.label,
            peeling.k,
            min(most, max(1, _BATCH // peeling.k)),
            self._sign,
            self._keys,
            self._best,
        )

    def _look_at(self, peeling: Peeling) -> None:
        from shoal.kernels.search_tree.watch import new_watch
        from shoal.kernels.single.density import fill_keys, rank
        from shoal.kernels.sums.exact import zero_like

        tree, k = peeling.tree, peeling.k
        self._watch, self._own = new_watch(tree), zero_like(peeling.sums)
        slots = len(tree.rows)
        self._keys, self._best = np.full(slots, np.inf), np.empty(len(tree.parent), np.int64)
        batch = max(1, _BATCH // k)
        for first in range(0, slots, batch):
            last = min(first + batch, slots)
            fill_keys(peeling.X, tree, self._watch, self._own, k, self._sign, first, last, self._keys)
            peeling.report()
        rank(tree, self._keys, self._best)
        self._tree = tree
