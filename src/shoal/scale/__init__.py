"""Any method on more data: meta-methods that change only what the method inside is fed."""

from shoal.scale.auto import Auto
from shoal.scale.blocked import Blocked
from shoal.scale.pca_reduced import PCAReduced
from shoal.scale.proximal_distal import ProximalDistal
from shoal.scale.wrapper import Wrapper

__all__ = ["Auto", "Blocked", "PCAReduced", "ProximalDistal", "Wrapper"]
