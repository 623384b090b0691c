"""The methods of the literature: points and k in, a partition out. One file per method."""

from collections.abc import Mapping
from typing import Any

from shoal.errors import ShoalError, nearest_name
from shoal.methods.base import Microaggregator, Progress
from shoal.methods.cbfs import CBFS
from shoal.methods.dba import DBA, DBA2P
from shoal.methods.genetic import Genetic
from shoal.methods.gsms_t2 import GSMST2
from shoal.methods.imhm import IMHM
from shoal.methods.mdav import MDAV
from shoal.methods.mst_partition import MSTPartition
from shoal.methods.mu_approx import MuApprox
from shoal.methods.optimal import Optimal
from shoal.methods.path_mhm import PathMHM
from shoal.methods.pcl import PCL
from shoal.methods.tfrp import TFRP
from shoal.methods.univariate_optimal import UnivariateOptimal
from shoal.methods.vmdav import VMDAV

__all__ = [
    "CBFS",
    "DBA",
    "DBA2P",
    "GSMST2",
    "IMHM",
    "MDAV",
    "METHODS",
    "PCL",
    "TFRP",
    "VMDAV",
    "Genetic",
    "MSTPartition",
    "Microaggregator",
    "MuApprox",
    "PathMHM",
    "Progress",
    "UnivariateOptimal",
    "method_of",
]
__all__ = ["CBFS", "MDAV", "METHODS", "TFRP", "VMDAV", "Microaggregator", "Optimal", "Progress", "method_of"]

METHODS: dict[str, type[Microaggregator]] = {
    "mdav": MDAV,
    "cbfs": CBFS,
    "vmdav": VMDAV,
    "tfrp": TFRP,
    "gsms-t2": GSMST2,
    "dba": DBA,
    "dba-2p": DBA2P,
    "mst-partition": MSTPartition,
    "mu-approx": MuApprox,
    "genetic": Genetic,
    "path-mhm": PathMHM,
    "imhm": IMHM,
    "pcl": PCL,
    "univariate-optimal": UnivariateOptimal,
    "optimal": Optimal,
}
"""Every method under the name that `method=` and the command line take."""


def method_of(
    method: str | Microaggregator, k: int | None, parameters: Mapping[str, Any] | None = None
) -> Microaggregator:
    """An unfitted estimator from a name, k and other parameters, or from an estimator whose own k agrees."""
    from sklearn.base import clone

    if isinstance(method, Microaggregator):
        if k is not None and k != method.k:
            raise ShoalError(f"k={k} and {method!r} contradict each other; give k once")
        model: Microaggregator = clone(method)
        return model
    wanted = method.lower().replace("_", "-") if isinstance(method, str) else ""
    if wanted not in METHODS:
        hint = nearest_name(str(method), METHODS) or f"; there are {', '.join(METHODS)}"
        raise ShoalError(f"there is no method {method!r}{hint}")
    if k is None:
        raise ShoalError("k is missing: the least number of records in a group, for example k=5")
    kind = METHODS[wanted]
    for name in parameters or {}:
        if name == "k" or name not in kind._parameters:
            known = [known for known in kind._parameters if known != "k"]
            hint = nearest_name(name, known) or f"; it has {', '.join(known) or 'none but k'}"
            raise ShoalError(f"{kind.__name__} has no parameter {name!r}{hint}")
    return kind(k=k, **(parameters or {}))
