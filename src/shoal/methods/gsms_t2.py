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

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Microaggregator, Progress
from shoal.methods.tfrp import dissolve
from shoal.parameters import Rule, Whole
from shoal.steps.neighbourhoods import Neighbourhoods
from shoal.steps.peeling import Peeling

Float = NDArray[np.float64]
Int = NDArray[np.int64]


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


class Candidates(Neighbourhoods):
    """The centroid of each neighbourhood: the farthest from the mean of the free records is next."""

    def make_room(self, tree: Any) -> None:
        """A centroid for each slot, a box for each leaf and node."""
        self._centres = np.empty(tree.rows.shape)
        self._boxes = np.empty((len(tree.parent), 2, tree.rows.shape[1]))

    def look_at(self, peeling: Peeling, first: int, last: int) -> None:
        """The centroids of some slots."""
        from shoal.kernels.single.selection import fill_centres

        fill_centres(peeling.X, peeling.tree, self.watch, self.own, peeling.k, first, last, self._centres)

    def rank(self, tree: Any) -> None:
        """The boxes around the centroids."""
        from shoal.kernels.single.selection import fit_all_boxes

        fit_all_boxes(tree, self._centres, self._boxes)

    def form(self, *state: Any) -> tuple[int, int]:
        """Groups around the slots with the farthest centroids."""
        from shoal.kernels.single.selection import selection_steps

        return selection_steps(*(*state, self._centres, self._boxes))
