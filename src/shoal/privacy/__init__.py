"""Privacy models: checked on what leaves."""

from shoal.privacy.k_anonymity import Anonymity, k_anonymity

__all__ = ["Anonymity", "k_anonymity"]
