"""Shoal: k-anonymous microaggregation. Publish the table, and hide every person in a shoal of at least k."""

from shoal.version import __version__ as __version__

TYPE_CHECKING = False  # typing takes longer to import than the rest, and an interrupt meanwhile cannot be caught
if TYPE_CHECKING:
    from typing import Any

    from shoal.assessment import Assessment as Assessment
    from shoal.assessment import assess as assess
    from shoal.bounds import Bounding as Bounding
    from shoal.bounds import LowerBound as LowerBound
    from shoal.bounds import lower_bound as lower_bound
    from shoal.certificate import Certificate as Certificate
    from shoal.certificate import certify as certify
    from shoal.comparison import Comparison as Comparison
    from shoal.comparison import compare as compare
    from shoal.errors import ShoalError as ShoalError
    from shoal.errors import ShoalWarning as ShoalWarning
    from shoal.inspection.look import inspect as inspect
    from shoal.measures import l_e as l_e
    from shoal.measures import l_sse as l_sse
    from shoal.measures.risk import agreement as agreement
    from shoal.measures.risk import intersection as intersection
    from shoal.methods.auto import Auto as Auto
    from shoal.methods.blocked import Blocked as Blocked
    from shoal.methods.cbfs import CBFS as CBFS
    from shoal.methods.dba import DBA as DBA
    from shoal.methods.dba import DBA2P as DBA2P
    from shoal.methods.genetic import Genetic as Genetic
    from shoal.methods.gsms_t2 import GSMST2 as GSMST2
    from shoal.methods.imhm import IMHM as IMHM
    from shoal.methods.k_anonymity_first import KAnonymityFirst as KAnonymityFirst
    from shoal.methods.mdav import MDAV as MDAV
    from shoal.methods.mst_partition import MSTPartition as MSTPartition
    from shoal.methods.mu_approx import MuApprox as MuApprox
    from shoal.methods.optimal import Optimal as Optimal
    from shoal.methods.p_sensitive import PSensitive as PSensitive
    from shoal.methods.path_mhm import PathMHM as PathMHM
    from shoal.methods.pca_reduced import PCAReduced as PCAReduced
    from shoal.methods.pcl import PCL as PCL
    from shoal.methods.proximal_distal import ProximalDistal as ProximalDistal
    from shoal.methods.refined import Refined as Refined
    from shoal.methods.t_closeness_first import TClosenessFirst as TClosenessFirst
    from shoal.methods.t_closeness_merging import TClosenessMerging as TClosenessMerging
    from shoal.methods.tfrp import TFRP as TFRP
    from shoal.methods.univariate_optimal import UnivariateOptimal as UnivariateOptimal
    from shoal.methods.vmdav import VMDAV as VMDAV
    from shoal.partition import Partition as Partition
    from shoal.pipeline import anonymize as anonymize
    from shoal.privacy.checking import Check as Check
    from shoal.privacy.checking import KAnonymity as KAnonymity
    from shoal.privacy.checking import check as check
    from shoal.privacy.models import AlphaK as AlphaK
    from shoal.privacy.models import BetaLikeness as BetaLikeness
    from shoal.privacy.models import DeltaDisclosure as DeltaDisclosure
    from shoal.privacy.models import LDiversity as LDiversity
    from shoal.privacy.models import PSensitivity as PSensitivity
    from shoal.privacy.models import TCloseness as TCloseness
    from shoal.quantizing.allocation import Allocation as Allocation
    from shoal.quantizing.allocation import allocate as allocate
    from shoal.quantizing.quantizer import Quantizer as Quantizer
    from shoal.release import Release as Release
    from shoal.settings import Settings as Settings
    from shoal.stream import FileRelease as FileRelease
    from shoal.stream import anonymize_file as anonymize_file
    from shoal.verification import verify as verify

# Loaded at first use, so that `import shoal` and the command line start at once. The methods are found by
# `shoal.methods`, where they register themselves.
_HOMES = {
    "Allocation": "shoal.quantizing.allocation",
    "AlphaK": "shoal.privacy.models",
    "Assessment": "shoal.assessment",
    "BetaLikeness": "shoal.privacy.models",
    "Bounding": "shoal.bounds",
    "Certificate": "shoal.certificate",
    "Check": "shoal.privacy.checking",
    "Comparison": "shoal.comparison",
    "DeltaDisclosure": "shoal.privacy.models",
    "FileRelease": "shoal.stream",
    "KAnonymity": "shoal.privacy.checking",
    "LDiversity": "shoal.privacy.models",
    "LowerBound": "shoal.bounds",
    "PSensitivity": "shoal.privacy.models",
    "Partition": "shoal.partition",
    "Quantizer": "shoal.quantizing.quantizer",
    "Release": "shoal.release",
    "Settings": "shoal.settings",
    "ShoalError": "shoal.errors",
    "ShoalWarning": "shoal.errors",
    "TCloseness": "shoal.privacy.models",
    "agreement": "shoal.measures.risk",
    "allocate": "shoal.quantizing.allocation",
    "anonymize": "shoal.pipeline",
    "anonymize_file": "shoal.stream",
    "assess": "shoal.assessment",
    "certify": "shoal.certificate",
    "check": "shoal.privacy.checking",
    "compare": "shoal.comparison",
    "inspect": "shoal.inspection.look",
    "intersection": "shoal.measures.risk",
    "l_e": "shoal.measures",
    "l_sse": "shoal.measures",
    "lower_bound": "shoal.bounds",
    "verify": "shoal.verification",
}


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    if name == "__all__":
        found: Any = sorted([*_HOMES, *(kind.__name__ for kind in _methods())])
    elif name in _HOMES:
        found = getattr(import_module(_HOMES[name]), name)
    elif name.startswith("_") or (found := next((m for m in _methods() if m.__name__ == name), None)) is None:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    globals()[name] = found
    return found


def _methods() -> "list[Any]":
    from shoal.methods import METHODS

    return [kind for kind in METHODS.values() if kind.__module__.startswith("shoal.")]


def __dir__() -> list[str]:
    return sorted([*__getattr__("__all__"), "__version__"])
