from importlib.metadata import version

import shoal


def test_the_package_and_its_metadata_have_one_version():
    assert shoal.__version__ == version("shoal")
