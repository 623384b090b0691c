"""Several methods and several k on one table, side by side: loss, time and risk of each."""

from shoal.comparison.result import Comparison as Comparison
from shoal.comparison.run import compare as compare
