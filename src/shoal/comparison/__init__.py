"""Several methods and several k on one table, side by side: what each loses, how long it takes, what it gives away."""

from shoal.comparison.result import Comparison as Comparison
from shoal.comparison.run import compare as compare
