import subprocess
import sys

import pytest

import shoal


def test_everything_that_is_offered_is_there():
    for name in shoal.__all__:
        assert getattr(shoal, name).__doc__
    assert set(shoal._HOMES) < set(shoal.__all__)
    assert set(shoal.__all__) < set(dir(shoal))
    assert callable(shoal.anonymize)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'shoal' has no attribute 'anonymise'"):
        _ = shoal.anonymise


def test_the_import_is_light():
    code = "import sys, shoal, shoal.cli; print([m for m in ('numpy', 'pyarrow', 'sklearn', 'numba', 'matplotlib') if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    )


def test_no_module_hides_what_is_offered():
    """A submodule of the same name would take the function's place as soon as anything imported it."""
    code = "import pkgutil, shoal; print(sorted({m.name for m in pkgutil.iter_modules(shoal.__path__)} & set(shoal.__all__)))"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    )
