"""Shoal: k-anonymous microaggregation. Publish the table, and hide every person in a shoal of at least k."""

TYPE_CHECKING = False  # typing takes longer to import than the rest, and an interrupt meanwhile cannot be caught
if TYPE_CHECKING:
    from typing import Any

    from shoal.allocation import Allocation, allocate
    from shoal.bounds import Bounding, LowerBound, lower_bound
    from shoal.certificate import Certificate, certify
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
    from shoal.scale import Auto, Blocked, PCAReduced, ProximalDistal
    from shoal.stream import FileRelease, anonymize_file
    from shoal.verification import verify

__version__ = "0.1.0"

# Loaded at first use, so that `import shoal` and the command line start at once.
_HOMES = {
    "Allocation": "shoal.allocation",
    "Auto": "shoal.scale",
    "Blocked": "shoal.scale",
    "Bounding": "shoal.bounds",
    "CBFS": "shoal.methods",
    "Certificate": "shoal.certificate",
    "DBA": "shoal.methods",
    "DBA2P": "shoal.methods",
    "FileRelease": "shoal.stream",
    "GSMST2": "shoal.methods",
    "Genetic": "shoal.methods",
    "IMHM": "shoal.methods",
    "LowerBound": "shoal.bounds",
    "MDAV": "shoal.methods",
    "MSTPartition": "shoal.methods",
    "MuApprox": "shoal.methods",
    "Optimal": "shoal.methods",
    "PCAReduced": "shoal.scale",
    "PCL": "shoal.methods",
    "Partition": "shoal.partition",
    "PathMHM": "shoal.methods",
    "ProximalDistal": "shoal.scale",
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
    "certify": "shoal.certificate",
    "anonymize_file": "shoal.stream",
    "inspect": "shoal.inspection",
    "l_e": "shoal.measures",
    "l_sse": "shoal.measures",
    "lower_bound": "shoal.bounds",
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
    "Auto",
    "Blocked",
    "Bounding",
    "Certificate",
    "FileRelease",
    "Genetic",
    "LowerBound",
    "MSTPartition",
    "MuApprox",
    "Optimal",
    "PCAReduced",
    "Partition",
    "PathMHM",
    "ProximalDistal",
    "Quantizer",
    "Refined",
    "Release",
    "ShoalError",
    "ShoalWarning",
    "UnivariateOptimal",
    "allocate",
    "anonymize",
    "anonymize_file",
    "certify",
    "inspect",
    "l_e",
    "l_sse",
    "lower_bound",
    "verify",
]


def __getattr__(name: str) -> "Any":
    if name not in _HOMES:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
