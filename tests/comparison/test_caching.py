import json
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.csv
import pytest

from shoal import PCL, ShoalError, ShoalWarning
from shoal.comparison import caching
from shoal.comparison.caching import Cache, table_key, usual_folder
from shoal.comparison.grid import grid
from shoal.comparison.rows import Row
from shoal.datasets import clinic
from shoal.files import read
from shoal.table import Roles, Table

ROW = Row("mdav", 3, "ok", loss=1.5, seconds=0.1, prosecutor_highest=33.3)
ROLES = Roles.of(["a"])
DATA = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "SECRET"]})


def setting(method="mdav", k=3, **options):
    (made,) = grid([k], [method], ["a"], None, None, options)
    return made


@pytest.fixture
def cache(tmp_path):
    return Cache.of(tmp_path / "kept", Table.of(DATA, ROLES))


def test_a_row_that_was_kept_comes_back_and_says_so(cache):
    cache.keep(setting(), ROW)
    found = cache.row(setting(), None)
    assert found.cached
    assert found.loss == 1.5
    assert cache.row(setting(k=2), None) is None


@pytest.mark.parametrize(
    "other",
    [
        {"k": 2}, {"method": "vmdav"}, {"scaling": "range"}, {"random_state": 1}, {"aggregate": "median"},
        {"method": PCL(hierarchy=9)},
    ],
)  # fmt: skip
def test_another_setting_is_another_row(cache, other):
    assert cache.path(setting(**other)) != cache.path(setting())


def test_another_table_is_another_row(tmp_path, cache):
    for changed in (DATA.assign(a=[1.0, 2.0, 4.0]), DATA.assign(b="x"), DATA.rename(columns={"b": "c"})):
        assert Cache.of(tmp_path, Table.of(changed, ROLES)).table != cache.table
    assert Cache.of(tmp_path, Table.of(DATA.copy(), ROLES)).table == cache.table


def test_a_file_is_known_by_its_bytes_and_by_how_it_is_read_and_not_by_its_name(tmp_path):
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("a;b\n1,5;x\n2,5;y\n")
    one, two = (
        table_key(Table.of(read(tmp_path / name, delimiter=";"), ROLES)) for name in ("one.csv", "two.csv")
    )
    assert one == two
    other = read(tmp_path / "one.csv", delimiter=";", decimal=".", thousands=",")
    assert table_key(Table.of(other, ROLES)) != one


def test_another_version_makes_rows_anew(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(caching, "__version__", "99")
    assert Cache.of(tmp_path, Table.of(DATA, ROLES)).table != cache.table


@pytest.mark.parametrize(
    "broken", [b"", b"{", b"[]", b"null", b"3", b"\xff\xfe", b'{"method": "mdav"}', b"[" * 100_000]
)
def test_a_broken_file_is_none_and_is_made_anew(cache, broken):
    cache.keep(setting(), ROW)
    cache.path(setting()).write_bytes(broken)
    assert cache.row(setting(), None) is None
    cache.keep(setting(), ROW)
    assert cache.row(setting(), None).loss == 1.5


def test_what_failed_is_not_kept_and_what_was_refused_is(cache):
    cache.keep(setting(), Row("mdav", 3, "failed", "oh"))
    assert cache.row(setting(), None) is None
    cache.keep(setting(), Row("mdav", 3, "refused", "no"))
    assert cache.row(setting(), None).reason == "no"


def test_what_was_unfinished_is_tried_again_only_with_more_time(cache):
    cache.keep(setting(), Row("mdav", 3, "unfinished", limit=5.0))
    assert cache.row(setting(), 5.0).status == "unfinished"
    assert cache.row(setting(), 2.0).status == "unfinished"
    assert cache.row(setting(), 6.0) is None
    assert cache.row(setting(), None) is None


def test_a_finished_row_is_good_for_any_limit(cache):
    cache.keep(setting(), ROW)
    assert cache.row(setting(), 0.001).is_ok


def test_a_setting_with_a_function_of_the_users_is_not_kept(cache):
    own = setting(PCL(distortion=lambda a, b: abs(a - b).sum()))
    cache.keep(own, ROW)
    assert cache.path(own) is None
    assert cache.row(own, None) is None
    assert list(cache.folder.iterdir()) == []


def test_the_folder_is_private_and_holds_no_value_of_the_table(tmp_path):
    path = tmp_path / "people.csv"
    pyarrow.csv.write_csv(clinic(30), path)
    names = [name for name in clinic(30).column_names if name != "name"]
    cache = Cache.of(tmp_path / "deep" / "kept", Table.of(read(path), Roles.of(["birth_year"])))
    cache.keep(setting(), ROW)
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    (file,) = cache.folder.iterdir()
    assert set(json.loads(file.read_text())) == set(ROW.as_dict())
    assert not any(name in file.read_text() + file.name for name in ("people", *names))


def test_a_folder_that_cannot_be_made_is_one_line_with_the_cure(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ShoalError, match="cannot make the folder .*--no-cache"):
        Cache.of(tmp_path / "file" / "kept", Table.of(DATA, ROLES))


def test_a_folder_that_is_gone_meanwhile_is_a_warning(cache):
    cache.folder.rmdir()
    with pytest.warns(ShoalWarning, match="the figures of mdav, k = 3 are not kept"):
        cache.keep(setting(), ROW)
    assert cache.row(setting(), None) is None


def test_the_usual_folder_is_the_one_of_the_system(monkeypatch, tmp_path):
    monkeypatch.setattr(caching.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert usual_folder() == tmp_path / "shoal" / "comparisons"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setattr(Path, "home", classmethod(lambda _: tmp_path / "home"))
    assert usual_folder() == tmp_path / "home" / ".cache" / "shoal" / "comparisons"
    monkeypatch.setattr(caching.sys, "platform", "darwin")
    assert usual_folder() == tmp_path / "home" / "Library" / "Caches" / "shoal" / "comparisons"


def test_a_hash_depends_on_numbers_to_the_last_bit(tmp_path):
    near = DATA.assign(a=[np.nextafter(1.0, 2), 2.0, 3.0])
    assert table_key(Table.of(near, ROLES)) != table_key(Table.of(DATA, ROLES))
