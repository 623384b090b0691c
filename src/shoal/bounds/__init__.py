"""Lower bounds: an SSE that no partition into groups of at least k can go below."""

from shoal.bounds.lower import Bounding, LowerBound, lower_bound

__all__ = ["Bounding", "LowerBound", "lower_bound"]
