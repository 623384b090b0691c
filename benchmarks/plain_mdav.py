"""The textbook MDAV as an estimator: every search is a scan over all free records, O(n^2 m / k).

`row_scan` of scans.py forms the pairs of groups in compiled float64 loops with exact centroids; the records left
over are treated as `MDAV` treats them, so the groups are the same, to the label.
"""

from scans import row_scan

from shoal import MDAV
from shoal.steps.peeling import Peeling


class PlainMDAV(MDAV):
    """MDAV by scans, to wrap and to measure against."""

    def _group(self, X, progress):
        peeling = Peeling(X, self.k, progress)
        peeling.labels[:] = row_scan(X, self.k)
        peeling.label = int(peeling.labels.max()) + 1
        return peeling.group_the_rest()
