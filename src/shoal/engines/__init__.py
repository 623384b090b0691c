"""How tasks run: `in_order` is the one way in; an engine stands behind it, threads or processes."""

from shoal.engines.order import in_order as in_order
from shoal.engines.order import jobs as jobs
from shoal.engines.order import using as using
from shoal.engines.worker import tell as tell
