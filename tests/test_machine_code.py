"""Machine code that came with the package is taken where it fits, and nothing is ever taken that does not."""

import json
import os
import subprocess
import sys
import warnings
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal import machine_code
from shoal.errors import ShoalWarning
from shoal.kernels import compiled
from shoal.kernels.compiled import DiskCache, inner, kernel, stamp_of, warn_of_no_cache
from shoal.kernels.keeping import Index
from shoal.machine_code import baseline, name_of, name_of_file, opened, write

ROOT = Path(__file__).parents[1]


@inner
def step(a, b):
    return a * b + 0.1


def scaled(values, factor):
    """A kernel for the file."""
    result = np.empty_like(values)
    for place, value in enumerate(values):
        result[place] = step(value, factor)
    return result


VALUES = np.random.default_rng(0).normal(size=50)
STAMP = stamp_of(Path(__file__))


@pytest.fixture(scope="module")
def kept():
    """What Numba keeps of the kernel, by types."""
    made = kernel(scaled)
    made(VALUES, 3.0)
    file = DiskCache(scaled)._cache_file
    return {key[0]: file.load(key) for key in file._load_index() if key[0] in made.overloads}


@pytest.fixture
def path(tmp_path, kept):
    """The file with that kernel."""
    write(tmp_path / "pack", [(name_of(scaled), STAMP, kept)])
    return tmp_path / "pack"


@pytest.fixture
def nothing_else(monkeypatch):
    """No other cache has anything, and none is written."""
    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.load", lambda *_: None)
    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", lambda *_: None)


def taken(path, monkeypatch):
    """Whether a kernel made anew comes from the file; its values are right in any case."""
    pack = opened(path)
    monkeypatch.setattr(compiled, "that_came_along", lambda: pack)
    fresh = kernel(scaled)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fresh(VALUES, 3.0)
    assert np.array_equal(found, [value * 3.0 + 0.1 for value in VALUES.tolist()])
    return bool(sum(fresh.stats.cache_hits.values()))


def test_a_kernel_comes_from_the_file_and_is_not_compiled(path, monkeypatch, nothing_else):
    assert taken(path, monkeypatch)


def test_what_the_user_has_compiled_comes_first(path, monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr("shoal.machine_code.Pack.find", refuse)
    assert taken(path, monkeypatch)


def test_a_kernel_with_other_types_or_of_another_name_is_compiled(path, monkeypatch, nothing_else):
    pack = opened(path)
    monkeypatch.setattr(compiled, "that_came_along", lambda: pack)
    fresh = kernel(scaled)
    assert fresh(VALUES.astype(np.float32), 3).dtype == np.float32
    assert not fresh.stats.cache_hits
    assert pack.find("another", STAMP, ()) is None


def test_a_kernel_whose_text_has_changed_is_compiled(path, monkeypatch, nothing_else):
    monkeypatch.setattr(compiled, "stamp_of", lambda _: "another")
    assert not taken(path, monkeypatch)


@pytest.mark.parametrize(
    ("name", "other"),
    [("numba.__version__", "0.1"), ("llvmlite.__version__", "0.1"), ("numpy.__version__", "1.0.0")],
)
def test_a_file_of_other_versions_is_not_used(path, monkeypatch, nothing_else, name, other):
    monkeypatch.setattr(name, other)
    assert opened(path) is None


@pytest.mark.parametrize("name", ["python", "system", "processor", "vectors"])
def test_a_file_of_another_python_or_system_is_not_used(tmp_path, monkeypatch, kept, name):
    here = machine_code.circumstances()
    monkeypatch.setattr(machine_code, "circumstances", lambda: here | {name: "another"})
    write(tmp_path / "pack", [(name_of(scaled), STAMP, kept)])
    monkeypatch.setattr(machine_code, "circumstances", lambda: here)
    assert opened(tmp_path / "pack") is None


def test_a_processor_that_lacks_something_gets_its_own_code(path, monkeypatch, nothing_else):
    if not baseline()[1]:
        pytest.skip("nothing is asked of processors of this kind")
    for lacking in baseline()[1]:
        have = dict.fromkeys(baseline()[1], True) | {lacking: False}
        monkeypatch.setattr(machine_code, "get_host_cpu_features", have.copy)
        assert opened(path) is None
    assert not taken(path, monkeypatch)


def test_a_processor_without_a_baseline_gets_its_own_code(path, monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert opened(path) is None


def test_a_processor_that_the_user_names_is_compiled_for(path, monkeypatch):
    monkeypatch.setattr(machine_code.config, "CPU_NAME", "generic")
    assert opened(path) is None


def test_a_file_that_is_not_there_or_cannot_be_read_is_none(tmp_path):
    assert opened(tmp_path / "nothing") is None
    assert opened(tmp_path) is None


def test_a_file_that_is_cut_off_is_not_used(path, monkeypatch, nothing_else, kept):
    whole = path.read_bytes()
    for length in [*range(0, 400, 7), *range(400, len(whole), max(1, len(whole) // 100)), len(whole) - 1]:
        path.write_bytes(whole[:length])
        pack = opened(path)
        assert pack is None or all_of(pack, kept) in ([], [None])
    assert not taken(path, monkeypatch)


def test_a_file_with_a_changed_byte_is_not_used(path, monkeypatch, nothing_else, kept):
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for place in [*range(0, 60), *rng.integers(0, len(whole), 200).tolist()]:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        pack = opened(path)
        assert pack is None or all_of(pack, kept) == [None], place
    assert not taken(path, monkeypatch)


def test_a_file_whose_first_line_is_changed_to_anything_is_not_used(path):
    """Such as a length that no computer has."""
    magic, rest = path.read_bytes().split(b"\n", 1)
    for length in [b"9" * 30, b"9" * 12, b"-1", b"1.5", b""]:
        path.write_bytes(magic.rsplit(maxsplit=1)[0] + b" " + length + b"\n" + rest)
        assert opened(path) is None


def all_of(pack, kept):
    """What the file gives of its kernels for the types of the test."""
    return [pack.find(name, said["stamp"], next(iter(kept))) for name, said in pack._kernels.items()]


def test_without_a_writable_folder_the_file_is_used_and_nothing_is_said(path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    warn_of_no_cache.cache_clear()
    monkeypatch.setattr("numba.core.caching.tempfile.TemporaryFile", refuse)
    assert taken(path, monkeypatch)
    monkeypatch.setattr(compiled, "that_came_along", lambda: None)
    with pytest.warns(ShoalWarning, match="no folder for compiled code is writable"):
        kernel(scaled)(VALUES, 3.0)
    warn_of_no_cache.cache_clear()


def test_code_for_the_processor_of_the_builder_does_not_go_into_the_wheel(tmp_path):
    """It would be in the folder that NUMBA_CACHE_DIR names if Shoal has run with it."""
    builder = module_from(ROOT / "building" / "machine_code.py")
    index = Index(str(tmp_path), "scaled", STAMP)
    index.save(("floats", "everybody's", ()), "right")
    index.save(("floats", "the builder's", ()), "wrong")
    index.save(("texts", "the builder's", ()), "wrong")
    assert builder.kept_for("everybody's", index) == {"floats": "right"}


def module_from(path):
    """A file outside of packages as a module."""
    spec = spec_from_file_location(path.stem, path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package with a file of machine code, made as for a wheel, of a few kernels."""
    import shutil

    folder = tmp_path_factory.mktemp("made")
    shutil.copytree(Path(shoal.__file__).parent, folder / "shoal", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "building", folder / "building")
    (folder / "building" / "ways.py").write_text(
        "import numpy as np\nfrom shoal.kernels.sums.exact import digit_span\n\n\n"
        "def way(_):\n    digit_span(np.array([[1.5, 2.5], [1e9, -3.0]]), np.array([0, 0]))\n\n\nWAYS = [way]\n"
    )
    target = folder / "shoal" / "kernels" / name_of_file()
    command = [sys.executable, folder / "building" / "machine_code.py", target]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": str(folder)})
    return folder


TOLD = """
import json, numpy as np
from shoal.kernels.sums.exact import digit_span as used
found = used(np.array([[1.5, 2.5], [1e9, -3.0]]), np.array([0, 0]))
print(json.dumps([np.asarray(found).tolist(), sum(used.stats.cache_hits.values()), sum(used.stats.cache_misses.values())]))
"""


def told(package, cache, **settings):
    """The values of a kernel in a process of its own, and whether it was compiled."""
    own = {"PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.Popen(
        [sys.executable, "-c", TOLD], env=os.environ | own | settings, stdout=subprocess.PIPE, text=True
    )
    return lambda: json.loads(run.communicate()[0])


def test_a_package_with_machine_code_starts_without_the_compiler(package, tmp_path):
    """Two processes at once, with an empty cache, get the same from the file as the compiler gives."""
    first, second = told(package, tmp_path / "a"), told(package, tmp_path / "a")
    values, hits, misses = first()
    assert (hits, misses) == (1, 0)
    assert second() == [values, 1, 0]
    own = told(package, tmp_path / "b", NUMBA_CPU_NAME="generic")()
    assert own == [values, 0, 1]
