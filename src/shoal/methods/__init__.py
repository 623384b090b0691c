"""The methods of the literature: points and k in, a partition out. One file per method."""

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
from shoal.methods.refined import Refined
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
    "PCL",
    "TFRP",
    "VMDAV",
    "Genetic",
    "MSTPartition",
    "Microaggregator",
    "MuApprox",
    "Optimal",
    "PathMHM",
    "Progress",
    "Refined",
    "UnivariateOptimal",
]
