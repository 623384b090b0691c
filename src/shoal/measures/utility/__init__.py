"""What a release is still good for: how far its values, statistics and models are from those of the original."""

from shoal.measures.utility import values as _values  # noqa: F401, I001 - measures register in the order shown
from shoal.measures.utility import moments as _moments  # noqa: F401
from shoal.measures.utility import associations as _associations  # noqa: F401
from shoal.measures.utility import distributions as _distributions  # noqa: F401
from shoal.measures.utility import regressions as _regressions  # noqa: F401
from shoal.measures.utility import propensity as _propensity  # noqa: F401
from shoal.measures.utility import downstream as _downstream  # noqa: F401
