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

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Microaggregator, Progress
from shoal.methods.tfrp import dissolve
from shoal.parameters import Rule, Whole
from shoal.steps.neighbourhoods import Neighbourhoods
from shoal.steps.peeling import Peeling
from shoal.steps.splitting import split

Float = NDArray[np.float64]
Int = NDArray[np.int64]


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


class Densities(Neighbourhoods):
    """The SSE of each neighbourhood, or its negative: the lowest is next."""

    def __init__(self, sign: float) -> None:
        super().__init__()
        self._sign = sign

    def make_room(self, tree: Any) -> None:
        """A key for each slot, the best slot of each leaf and node."""
        self._keys, self._best = np.full(len(tree.rows), np.inf), np.empty(len(tree.parent), np.int64)

    def look_at(self, peeling: Peeling, first: int, last: int) -> None:
        """The keys of some slots."""
        from shoal.kernels.single.density import fill_keys

        tree, k = peeling.tree, peeling.k
        fill_keys(peeling.X, tree, self.watch, self.own, k, self._sign, first, last, self._keys)

    def rank(self, tree: Any) -> None:
        """The best slots."""
        from shoal.kernels.single.density import rank

        rank(tree, self._keys, self._best)

    def form(self, *state: Any) -> tuple[int, int]:
        """Groups around the slots with the lowest keys."""
        from shoal.kernels.single.density import density_steps

        return density_steps(*(*state, self._sign, self._keys, self._best))
