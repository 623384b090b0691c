import warnings

import numpy as np
import pytest

from shoal.errors import ShoalWarning
from shoal.kernels.compiled import cache_of, inner, kernel, warn_of_no_cache


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


def test_a_broken_entry_of_the_cache_is_compiled_anew(monkeypatch):
    def broken(*_):
        raise EOFError

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.load", broken)
    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", lambda *_: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel(doubled)(21) == 42


def test_where_a_folder_is_writable_there_is_a_cache():
    assert cache_of(doubled).cache_path.endswith("__pycache__")
