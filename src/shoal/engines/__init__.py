"""How tasks run: `in_order` is the one way in; behind it stand threads, processes, or a Dask cluster."""

from shoal.engines.order import Engine as Engine
from shoal.engines.order import in_order as in_order
from shoal.engines.order import jobs as jobs
from shoal.engines.order import results as results
from shoal.engines.order import using as using
from shoal.engines.worker import tell as tell
