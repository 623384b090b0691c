import pytest


@pytest.fixture(autouse=True)
def _same_order(same_key):
    """Releases of one table have their rows in one order, so that their bytes can be compared."""
