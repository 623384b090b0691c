"""Privacy models: checked on what leaves."""

from shoal.privacy.counting import Buckets, count
from shoal.privacy.k_anonymity import Anonymity, check_names, k_anonymity

__all__ = ["Anonymity", "Buckets", "check_names", "count", "k_anonymity"]
