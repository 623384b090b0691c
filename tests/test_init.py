import ast
import subprocess
import sys
from pathlib import Path

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


def test_type_checkers_see_every_name_that_is_offered():
    """The names that only type checkers read: one line each in the package, as it cannot be found out by them."""
    tree = ast.parse(Path(shoal.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    named = [alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert sorted(name for name in named if name) == sorted(shoal.__all__)
