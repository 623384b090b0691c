"""Every method under the name that `method=` and the command line take."""

from collections.abc import Mapping
from typing import Any

from shoal.errors import ShoalError, nearest_name
from shoal.methods import (
    CBFS,
    DBA,
    DBA2P,
    GSMST2,
    IMHM,
    MDAV,
    PCL,
    TFRP,
    VMDAV,
    Genetic,
    Microaggregator,
    MSTPartition,
    MuApprox,
    Optimal,
    PathMHM,
    Refined,
    UnivariateOptimal,
)
from shoal.scale import Auto, Blocked, PCAReduced, ProximalDistal, Wrapper

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
    "refined": Refined,
    "univariate-optimal": UnivariateOptimal,
    "optimal": Optimal,
    "pca-reduced": PCAReduced,
    "proximal-distal": ProximalDistal,
    "blocked": Blocked,
    "auto": Auto,
}
"""Every method; those of `shoal.scale` wrap another, by default MDAV."""


def method_of(
    method: str | Microaggregator, k: int | None, parameters: Mapping[str, Any] | None = None
) -> Microaggregator:
    """An unfitted estimator from a name, k and other parameters, or from an estimator whose own k agrees.

    A meta-method takes the name of the method inside as `method` and its parameters as `method__rounds`.
    """
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
    kind, given = METHODS[wanted], dict(parameters or {})
    if issubclass(kind, Wrapper):
        inside = {name.removeprefix("method__"): given.pop(name) for name in list(given) if "__" in name}
        given["method"] = method_of(given.get("method", "mdav"), k, inside)
    else:
        given["k"] = k
    for name in given:
        if (name == "k" and "k" in (parameters or {})) or name not in kind._parameters:
            known = [known for known in kind._parameters if known != "k"]
            hint = nearest_name(name, known) or f"; it has {', '.join(known) or 'none but k'}"
            raise ShoalError(f"{kind.__name__} has no parameter {name!r}{hint}")
    return kind(**given)
