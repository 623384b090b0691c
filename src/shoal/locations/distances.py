"""Which cell a home belongs to, and how far it is from there.

The loss is the mean squared chord to the centres of cells, for unit vectors. The straight line through the earth
between two places is the longer, the longer the way over its surface is.
"""

import numpy as np

from shoal.attributes.sphere import RADIUS
from shoal.locations.people import Float, Int

_ENTRIES = 1 << 18  # distances that are held at a time
_NOWHERE = 1e-6  # a mean of unit vectors that is shorter than this has no direction
_MOST = 1000.0  # drift is written as JSON, which knows no infinity


def cheapest(homes: Float, centres: Float, costs: Float) -> Int:
    """The cell of each home: where squared chord + cost is least, the lowest number of equals."""
    found = np.empty(len(homes), np.int64)
    step = max(1, _ENTRIES // max(1, len(centres)))
    for first in range(0, len(homes), step):
        some = homes[first : first + step]
        paid = np.zeros((len(some), len(centres)))
        for column, place in zip(some.T, centres.T, strict=True):
            away = column[:, None] - place
            away *= away
            paid += away
        paid += costs
        found[first : first + step] = paid.argmin(axis=1)
    return found


def loss(homes: Float, labels: Int, centres: Float) -> float:
    """The mean squared chord from homes to the centres of their cells; 0 without homes."""
    return float(np.square(homes - centres[labels]).sum(axis=1).mean()) if len(homes) else 0.0


def kilometres(homes: Float, labels: Int, centres: Float) -> float:
    """The mean way over the earth from homes to the centres of their cells; 0 without homes."""
    return float(ways(homes, labels, centres).mean()) if len(homes) else 0.0


def ways(homes: Float, labels: Int, centres: Float) -> Float:
    """Kilometres from each home to the centre of its cell; a quarter of the globe to one without a direction."""
    lengths = np.sqrt(np.square(centres).sum(axis=1))
    somewhere = lengths >= _NOWHERE
    directions = np.where(somewhere[:, None], centres / np.where(somewhere, lengths, 1.0)[:, None], 0.0)[labels]
    apart, along = (np.sqrt(np.square(v).sum(axis=1)) for v in (homes - directions, homes + directions))
    return np.asarray(RADIUS * 2 * np.arctan2(apart, along))


def drift(now: float, then: float, n_now: int, n_then: int) -> float:
    """How far the loss of now is above that of a fresh drawing, as a share of the latter; at least 0.

    In the plane a cell of a fixed number of homes has an area, and so a squared chord, that falls as 1 / n. So the
    estimate for n_now homes is then * n_then / n_now. Where it is 0 and the loss is not, drift is 1000.
    """
    if now <= 0 or n_now <= 0:
        return 0.0
    fresh = then * n_then / n_now
    return min(_MOST, max(0.0, now / fresh - 1)) if fresh > 0 else _MOST
