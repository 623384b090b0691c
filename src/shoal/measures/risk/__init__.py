"""What a release gives away: attacks that are run, and what an attacker is expected to find."""

from shoal.measures.risk import classes as _classes  # noqa: F401, I001 - measures register in the order shown
from shoal.measures.risk import uniqueness as _uniqueness  # noqa: F401
from shoal.measures.risk import linkage as _linkage  # noqa: F401
from shoal.measures.risk import one_to_one as _one_to_one  # noqa: F401
from shoal.measures.risk import probabilistic as _probabilistic  # noqa: F401
from shoal.measures.risk import intervals as _intervals  # noqa: F401
from shoal.measures.risk import attacks as _attacks  # noqa: F401
from shoal.measures.risk import disclosure as _disclosure  # noqa: F401
from shoal.measures.risk import minimality as _minimality  # noqa: F401
from shoal.measures.risk import score as _score  # noqa: F401
from shoal.measures.risk.two_releases import intersection
from shoal.measures.risk.minimality import agreement

__all__ = ["agreement", "intersection"]
