import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.errors import ShoalWarning
from shoal.kernels import compiled as room
from shoal.kernels.compiled import cache_of, content_of, files_behind, inner, kernel, stamp_of, warn_of_no_cache


@inner
def product_plus(a, b, c):
    return a * b + c


@kernel
def residue(a, b):
    """Zero if the product is rounded before it is added, something else if the two are fused."""
    return product_plus(a, b, -(a * b))


@kernel
def total(values):
    result = 0.0
    for value in values:
        result += value
    return result


def test_products_are_rounded_before_they_are_added():
    rng = np.random.default_rng(0)
    assert all(residue(a, b) == 0.0 for a, b in rng.random((1000, 2)))


def test_sums_keep_their_order():
    values = np.random.default_rng(0).normal(size=1001) * 10.0 ** np.random.default_rng(1).integers(-8, 8, 1001)
    expected = 0.0
    for value in values.tolist():
        expected += value
    assert total(values) == expected


def doubled(value):
    return 2 * value


def refuse(*_, **__):
    raise OSError(30, "Read-only file system")


@pytest.fixture
def not_warned_yet():
    warn_of_no_cache.cache_clear()
    yield
    warn_of_no_cache.cache_clear()


def test_without_a_writable_folder_kernels_are_compiled_and_one_warning_says_so(monkeypatch, not_warned_yet):
    monkeypatch.setattr("numba.core.caching.tempfile.TemporaryFile", refuse)
    compiled = kernel(doubled)
    with pytest.warns(ShoalWarning, match="no folder for compiled code is writable.*NUMBA_CACHE_DIR") as noted:
        assert (compiled(21), compiled(0.5)) == (42, 1.0)
    assert len(noted) == 1


def test_a_cache_that_fills_up_or_vanishes_is_done_without(monkeypatch, not_warned_yet):
    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", refuse)
    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.load", refuse)
    with pytest.warns(ShoalWarning, match="NUMBA_CACHE_DIR"):
        assert kernel(doubled)(21) == 42


def test_where_a_folder_is_writable_there_is_a_cache():
    assert cache_of(doubled).cache_path.endswith("__pycache__")


def test_the_files_behind_a_kernel_are_those_that_it_imports_and_theirs():
    folder = Path(room.__file__).parent
    behind = {str(file.relative_to(folder)) for file in files_behind(folder / "search_tree" / "neighbours.py")}
    assert {"search_tree/neighbours.py", "search_tree/tree.py", "sums/exact.py", "compiled.py"} <= behind
    assert "rows/line.py" not in behind


def test_a_change_in_a_kernel_that_is_called_is_compiled_although_the_caller_has_not_changed(tmp_path):
    """Run as processes of their own on a copy of the package: a kernel is loaded once a process."""
    copy = tmp_path / "shoal"
    shutil.copytree(Path(shoal.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    called, caller = copy / "kernels" / "called.py", copy / "kernels" / "caller.py"
    body = "from shoal.kernels.compiled import kernel, inner\n\n\n@inner\ndef step(x):\n    return x + {}\n"
    called.write_text(body.format(1))
    caller.write_text(
        "from shoal.kernels.called import step\nfrom shoal.kernels.compiled import kernel\n\n\n"
        "@kernel\ndef whole(x):\n    return step(x)\n"
    )
    os.utime(called, (1, 1))

    def answer():
        code = (
            "from shoal.kernels.caller import whole; print(whole(1)); print(sum(whole.stats.cache_hits.values()))"
        )
        told = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True,
            env=os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        return told.stdout.split()

    assert answer() == ["2", "0"]
    assert answer() == ["2", "1"]
    called.write_text(body.format(5))
    os.utime(called, (1, 1))  # not even its time tells
    assert answer() == ["6", "0"]


def test_a_file_that_is_not_there_has_a_stamp_too(tmp_path):
    assert stamp_of(tmp_path / "nothing.py") == stamp_of(tmp_path / "nobody.py")
    assert content_of(tmp_path / "nothing.py") == b""


def test_kernels_import_names_from_files_of_kernels_and_nothing_else_of_shoal(tmp_path):
    """Another way to write it would not be seen, and an old copy of what it imports would stay."""
    for file in Path(room.__file__).parent.rglob("*.py"):
        for line in re.findall(r"^\s*(?:from|import) shoal.*$", file.read_text(), re.MULTILINE):
            assert re.match(r"\s*from shoal\.(errors|machine_code|kernels(\.\w+)+) import ", line), (
                f"{file}: {line}"
            )
        files_behind(file)
    (tmp_path / "odd.py").write_text("from shoal.kernels.sums import exact\n")
    with pytest.raises(ImportError, match=r"imports sums, which is no file of kernels"):
        files_behind(tmp_path / "odd.py")
