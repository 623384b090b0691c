"""Shoal: k-anonymous microaggregation. Publish the table, and hide every person in a shoal of at least k."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.allocation import Allocation, allocate
    from shoal.errors import ShoalError, ShoalWarning
    from shoal.inspection import inspect
    from shoal.measures import l_e, l_sse
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
        MSTPartition,
        MuApprox,
        Optimal,
        PathMHM,
        Refined,
        UnivariateOptimal,
    )
    from shoal.partition import Partition
    from shoal.pipeline import anonymize
    from shoal.quantizer import Quantizer
    from shoal.release import Release
    from shoal.verification import verify

__version__ = "0.1.0"

# Loaded at first use, so that `import shoal` and the command line start at once.
_HOMES = {
    "Allocation": "shoal.allocation",
    "CBFS": "shoal.methods",
    "DBA": "shoal.methods",
    "DBA2P": "shoal.methods",
    "GSMST2": "shoal.methods",
    "Genetic": "shoal.methods",
    "IMHM": "shoal.methods",
    "MDAV": "shoal.methods",
    "MSTPartition": "shoal.methods",
    "MuApprox": "shoal.methods",
    "Optimal": "shoal.methods",
    "PCL": "shoal.methods",
    "Partition": "shoal.partition",
    "PathMHM": "shoal.methods",
    "Quantizer": "shoal.quantizer",
    "Release": "shoal.release",
    "ShoalError": "shoal.errors",
    "ShoalWarning": "shoal.errors",
    "TFRP": "shoal.methods",
    "Refined": "shoal.methods",
    "UnivariateOptimal": "shoal.methods",
    "VMDAV": "shoal.methods",
    "allocate": "shoal.allocation",
    "anonymize": "shoal.pipeline",
    "inspect": "shoal.inspection",
    "l_e": "shoal.measures",
    "l_sse": "shoal.measures",
    "verify": "shoal.verification",
}

__all__ = [
    "CBFS",
    "DBA",
    "DBA2P",
    "GSMST2",
    "IMHM",
    "MDAV",
    "PCL",
    "TFRP",
    "VMDAV",
    "Allocation",
    "Genetic",
    "MSTPartition",
    "MuApprox",
    "Optimal",
    "Partition",
    "PathMHM",
    "Quantizer",
    "Refined",
    "Release",
    "ShoalError",
    "ShoalWarning",
    "UnivariateOptimal",
    "allocate",
    "anonymize",
    "inspect",
    "l_e",
    "l_sse",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
