"""Shoal: k-anonymous microaggregation. Publish the table, and hide every person in a shoal of at least k."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.allocation import Allocation, allocate
    from shoal.errors import ShoalError, ShoalWarning
    from shoal.inspection import inspect
    from shoal.methods import CBFS, IMHM, MDAV, TFRP, VMDAV, MSTPartition, MuApprox, PathMHM, UnivariateOptimal
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
    "IMHM": "shoal.methods",
    "MDAV": "shoal.methods",
    "MSTPartition": "shoal.methods",
    "MuApprox": "shoal.methods",
    "Partition": "shoal.partition",
    "PathMHM": "shoal.methods",
    "Quantizer": "shoal.quantizer",
    "Release": "shoal.release",
    "ShoalError": "shoal.errors",
    "ShoalWarning": "shoal.errors",
    "TFRP": "shoal.methods",
    "UnivariateOptimal": "shoal.methods",
    "VMDAV": "shoal.methods",
    "allocate": "shoal.allocation",
    "anonymize": "shoal.pipeline",
    "inspect": "shoal.inspection",
    "verify": "shoal.verification",
}

__all__ = [
    "CBFS",
    "IMHM",
    "MDAV",
    "TFRP",
    "VMDAV",
    "Allocation",
    "MSTPartition",
    "MuApprox",
    "Partition",
    "PathMHM",
    "Quantizer",
    "Release",
    "ShoalError",
    "ShoalWarning",
    "UnivariateOptimal",
    "allocate",
    "anonymize",
    "inspect",
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
