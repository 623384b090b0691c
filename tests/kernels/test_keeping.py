"""What is kept on the disk is taken where it is whole and is what was looked for, and compiled anew elsewhere."""

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import shoal
from shoal.kernels import keeping
from shoal.kernels.compiled import DiskCache, Missing, cache_of, kernel
from shoal.kernels.keeping import Index


def doubled(value):
    return 2 * value


@pytest.fixture
def index(tmp_path):
    return Index(str(tmp_path), "doubled", "stamp")


def files(folder, ending):
    return sorted(folder.glob(f"*.{ending}"))


def test_what_is_kept_comes_back(index, tmp_path):
    index.save("int", [1, 2])
    index.save("float", [3])
    again = Index(str(tmp_path), "doubled", "stamp")
    assert (again.load("int"), again.load("float"), again.load("text")) == ([1, 2], [3], None)
    assert Index(str(tmp_path), "doubled", "another").load("int") is None


def test_what_was_made_for_another_numpy_is_not_used(index, tmp_path, monkeypatch):
    index.save("int", [1, 2])
    monkeypatch.setattr(keeping, "made_for", lambda: "another")
    assert Index(str(tmp_path), "doubled", "stamp").load("int") is None


def test_two_processes_that_take_the_same_number_do_not_get_code_of_each_other(index, tmp_path, monkeypatch):
    """One that is faster with the index, and slower with the code."""
    slow = Index(str(tmp_path), "doubled", "stamp")
    monkeypatch.setattr(slow, "_save_data", lambda name, data: late.append((name, data)))
    late = []
    slow.save("int", "code for int")
    monkeypatch.setattr(index, "_load_index", dict)  # it looked before that
    index.save("float", "code for float")
    Index(str(tmp_path), "doubled", "stamp")._save_data(*late[0])
    again = Index(str(tmp_path), "doubled", "stamp")
    assert again._load_index() == {"float": "doubled.1.nbc"}
    assert (again.load("int"), again.load("float")) == (None, None)
    again.save("float", "code for float")
    again.save("int", "code for int")
    assert (again.load("int"), again.load("float")) == ("code for int", "code for float")


def test_who_was_stopped_before_the_code_leaves_no_code_of_an_older_version(index, tmp_path, monkeypatch):
    index.save("int", "old code")
    newer = Index(str(tmp_path), "doubled", "another stamp")
    monkeypatch.setattr(newer, "_save_data", lambda *_: None)
    newer.save("int", "new code")
    assert newer._load_index() == {"int": "doubled.1.nbc"}
    assert newer.load("int") is None


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_what_is_cut_off_or_changed_is_as_if_it_were_not_there(index, tmp_path, ending):
    index.save("int", {"code": bytes(100)})
    (file,) = files(tmp_path, ending)
    whole = file.read_bytes()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        assert index.load("int") is None, length
    for place in range(len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        assert index.load("int") is None, place
    file.write_bytes(bytes(len(whole)))
    assert index.load("int") is None
    file.unlink()
    assert index.load("int") is None
    index.save("int", "new")
    assert index.load("int") == "new"


class Pair(NamedTuple):
    first: int


def test_types_that_are_no_longer_there_are_as_if_nothing_were_kept(index, monkeypatch):
    """Named tuples have classes, which another version may have called otherwise."""
    index.save("int", Pair(1))
    index.save(Pair(1), "code")
    assert index.load("int") == Pair(1)
    monkeypatch.delattr(sys.modules[__name__], "Pair")
    assert index.load("int") is None


def test_a_broken_file_is_compiled_anew_and_nothing_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    assert kernel(doubled)(21) == 42
    (data,) = tmp_path.rglob("*.nbc")
    data.write_bytes(data.read_bytes()[:-1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = kernel(doubled)
        assert again(21) == 42
    assert not again.stats.cache_hits
    third = kernel(doubled)
    assert third(21) == 42
    assert third.stats.cache_hits


def test_without_a_home_nothing_is_kept_in_the_current_folder(tmp_path, monkeypatch):
    """Somebody else may have put code there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("numba.config.CACHE_LOCATOR_CLASSES", "")
    monkeypatch.setattr(keeping.Kept, "_locator_classes", keeping.Kept._locator_classes[2:3])
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert isinstance(cache_of(doubled), Missing)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = cache_of(doubled)
    assert isinstance(found, DiskCache)
    assert Path(found.cache_path).is_relative_to(tmp_path)


def test_a_disk_that_was_full_leaves_no_older_code_to_later_starts(tmp_path):
    """Run as processes of their own on a copy of the package: a kernel is loaded once a process."""
    copy = tmp_path / "shoal"
    shutil.copytree(Path(shoal.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    whole = copy / "kernels" / "whole.py"
    body = "from shoal.kernels.compiled import kernel\n\n\n@kernel\ndef whole(x):\n    return x + {}\n"
    full = "import shoal.kernels.keeping as room\ndef full(*_): raise OSError(28, 'full')\nroom.Index._save_data = full\n"

    def answer(before=""):
        code = f"{before}from shoal.kernels.whole import whole; print(whole(1))"
        own = {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, "-c", code]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | own).stdout

    whole.write_text(body.format(1))
    assert answer() == "2\n"
    whole.write_text(body.format(5))
    assert answer(full) == "6\n"
    assert answer() == "6\n"


def test_arrays_are_kept_too(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    first, second = kernel(doubled), kernel(doubled)
    assert first(np.ones(2)).tolist() == second(np.ones(2)).tolist() == [2.0, 2.0]
    assert second.stats.cache_hits
