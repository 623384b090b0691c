"""GSMS-T2, successive group selection: the group that leaves the least SSE is set aside, again and again.

Every free record and its k - 1 nearest free ones are a candidate. The one is taken that minimises its own SSE plus
that of all other free records seen as one set; that is the candidate whose centroid is farthest from the mean of
the free records. Then ill-fitting groups are dissolved as in the second phase of TFRP.

Guarantee: every group has at least k records; after phase 2 there is no upper limit. Ties are broken by the
lowest record index.
Cost: a few nearest-neighbour searches per record and one farthest-centroid search per group; O(n) memory
beside the data.

Reference: C. Panagiotakis and G. Tziritas, Successive group selection for microaggregation, IEEE TKDE 25 (2013)
1191-1195.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Microaggregator, Progress
from shoal.methods.tfrp import dissolve
from shoal.parameters import Rule, Whole
from shoal.steps.peeling import Peeling

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_BATCH = 20_000  # records searched for between two looks at the clock


class GSMST2(Microaggregator):
    """Successive group selection with TFRP's second phase (Panagiotakis and Tziritas 2013).

    Parameters
    ----------
    k : int
        The least number of records in a group.
    phases : {1, 2}
        1 stops after the groups are formed (GSMS); 2 then dissolves groups where that lowers the SSE (GSMS-T2).

    Notes
    -----
    While at least k records are free, each of them is looked at with its k - 1 nearest free records. The group G
    among the free records R that minimises SSE(G) + SSE(R without G) is set aside. As all candidates have k
    records, it is the one whose centroid is farthest from the mean of R. Fewer than k left over join, in file
    order, the groups with the nearest centroids, each of which is updated at once. Phase 2 is that of `TFRP`.
    Ties go to the lowest record index or group number.
    """

    name = "gsms-t2"
    idea = "the group that leaves the least SSE is set aside; ill-fitting ones dissolved"
    cost = "a few nearest-neighbour searches per record, O(n) memory"
    reference = "Panagiotakis and Tziritas 2013"

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1), "phases": Whole(1, 2)}

    def __init__(self, k: int = 5, phases: int = 2) -> None:
        self.k = k
        self.phases = phases

    def _group(self, X: Float, progress: Progress | None) -> Int:
        peeling = Peeling(X, self.k, progress)
        peeling.run(Candidates(), floor=self.k)
        labels = peeling.group_the_rest()
        return dissolve(X, labels, progress) if self.phases == 2 else labels


class Candidates:
    """The centroids of the candidates, as long as the tree stands, and the groups chosen by them."""

    def __init__(self) -> None:
        self._tree: object = None

    def __call__(self, peeling: Peeling, floor: int, most: int) -> tuple[int, int]:
        """Form up to `most` groups; returns (free records, next label)."""
        from shoal.kernels.single.selection import selection_steps

        if self._tree is not peeling.tree:
            self._look_at(peeling)
        return selection_steps(
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
            self._centres,
            self._boxes,
        )

    def _look_at(self, peeling: Peeling) -> None:
        from shoal.kernels.search_tree.watch import new_watch
        from shoal.kernels.single.selection import fill_centres, fit_all_boxes
        from shoal.kernels.sums.exact import zero_like

        tree, k = peeling.tree, peeling.k
        self._watch, self._own = new_watch(tree), zero_like(peeling.sums)
        slots, m = tree.rows.shape
        self._centres, self._boxes = np.empty((slots, m)), np.empty((len(tree.parent), 2, m))
        batch = max(1, _BATCH // k)
        for first in range(0, slots, batch):
            last = min(first + batch, slots)
            fill_centres(peeling.X, tree, self._watch, self._own, k, first, last, self._centres)
            peeling.report()
        fit_all_boxes(tree, self._centres, self._boxes)
        self._tree = tree
