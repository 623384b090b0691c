from contextlib import ExitStack

import pytest


@pytest.fixture
def small(tmp_path):
    """A function that makes a small service and its application."""
    from locations.served import served

    with ExitStack() as stack:

        def make(**options):
            folder = tmp_path / f"service-{len(list(tmp_path.iterdir()))}"
            folder.mkdir()
            return stack.enter_context(served(folder, **options))

        yield make


@pytest.fixture
def asked(small):
    """A small service without limits on how often it is asked."""
    return small()


@pytest.fixture(scope="module")
def standing(tmp_path_factory):
    """One small service for all tests of a file that leave it as it is: they are quicker so."""
    from locations.served import served

    with served(tmp_path_factory.mktemp("standing")) as found:
        yield found
