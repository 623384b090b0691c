"""Whole comparisons: rows, resuming, interrupts, a real kill, odd input."""

import signal
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import shoal
from shoal.comparison import work
from shoal.comparison.rows import Row
from shoal.comparison.work import Done
from shoal.datasets import clinic

QUASI = ["birth_year", "height", "weight", "income"]
ROLES = {"quasi_identifiers": QUASI, "confidential": ["diagnosis"], "identifiers": ["name", "postcode"]}
TABLE = clinic(120)


def figures(found):
    """What is the same in every run."""
    left_out = ("seconds", "cached", "limit")
    return [{name: value for name, value in row.as_dict().items() if name not in left_out} for row in found.rows]


def made_here(monkeypatch):
    """The settings that are made, and not taken from the cache."""
    made = []

    def row_of(data, setting, *_):
        made.append(str(setting))
        return original(data, setting)

    original = work.row_of
    monkeypatch.setattr("shoal.comparison.work.row_of", row_of)
    return made


def test_every_loss_is_that_of_a_release_with_the_same_settings():
    found = shoal.compare(TABLE, [3, 7], ["mdav", "vmdav", "imhm", "pcl", "auto"], **ROLES)
    assert len(found.rows) == 10
    for row in found.rows:
        release = shoal.anonymize(TABLE, row.k, **ROLES, method=row.method, random_state=row.seed)
        assert (row.status, row.loss) == ("ok", release.information_loss)
        assert row.groups == release.partition.n_groups
        assert row.smallest == release.verified_k >= row.k


@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas", "polars", "relation"])
def test_any_table_gives_the_same_rows(kind, tmp_path):
    path = tmp_path / f"people.{kind}"
    if kind == "csv":
        pyarrow.csv.write_csv(TABLE, path)
    elif kind == "parquet":
        pyarrow.parquet.write_table(TABLE, path)
    data = {
        "csv": path, "parquet": str(path), "pandas": TABLE.to_pandas(), "polars": pl.from_arrow(TABLE),
        "relation": pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches()),
    }[kind]  # fmt: skip
    found = shoal.compare(data, 4, ["mdav", "vmdav"], **ROLES)
    expected = shoal.compare(TABLE, 4, ["mdav", "vmdav"], **ROLES)
    assert [row.loss for row in found.rows] == [row.loss for row in expected.rows]
    assert found.records == 120


def test_what_is_kept_is_not_made_again_and_only_what_is_new_is(tmp_path, monkeypatch):
    made = made_here(monkeypatch)
    first = shoal.compare(TABLE, [3, 5], "mdav", **ROLES, cache=tmp_path)
    assert made == ["mdav, k = 3", "mdav, k = 5"]
    second = shoal.compare(TABLE, [3, 5, 8], ["mdav", "vmdav"], **ROLES, cache=tmp_path)
    assert made[2:] == ["vmdav, k = 3", "vmdav, k = 5", "mdav, k = 8", "vmdav, k = 8"]
    assert [row.cached for row in second.rows] == [True, False, True, False, False, False]
    assert second.cached == 2
    assert figures(second)[0] == figures(first)[0]
    assert second.rows[0].seconds == first.rows[0].seconds


def test_without_a_cache_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    shoal.compare(TABLE, 3, "mdav", **ROLES)
    assert list(tmp_path.iterdir()) == []


def test_a_broken_file_of_the_cache_is_made_anew(tmp_path, monkeypatch):
    shoal.compare(TABLE, [3, 5], "mdav", **ROLES, cache=tmp_path)
    first, _ = sorted(tmp_path.iterdir())
    first.write_text("{broken")
    made = made_here(monkeypatch)
    assert all(row.is_ok for row in shoal.compare(TABLE, [3, 5], "mdav", **ROLES, cache=tmp_path).rows)
    assert len(made) == 1


SCRIPT = """
import sys
import pyarrow.csv
import pyarrow.parquet
import shoal

def tell(done, total):
    print(done, flush=True)

shoal.compare(
    sys.argv[1], [3, 4, 5, 6, 7, 8], ["mdav", "vmdav"], ["birth_year", "height", "weight", "income"], ["diagnosis"],
    ["name", "postcode"], cache=sys.argv[2], progress=tell,
)
"""


def test_a_killed_comparison_resumes_where_it_stopped(tmp_path, monkeypatch):
    path, cache = tmp_path / "people.csv", tmp_path / "kept"
    pyarrow.csv.write_csv(clinic(3000), path)
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, path, cache], stdout=subprocess.PIPE, text=True
    ) as killed:
        for line in killed.stdout:
            if int(line) >= 4:
                killed.send_signal(signal.SIGKILL)
                break
        killed.stdout.read()
    assert killed.returncode == -signal.SIGKILL
    there = {file: file.stat().st_mtime_ns for file in cache.glob("*.json")}
    assert 4 <= len(there) < 12
    made = made_here(monkeypatch)
    given = ([3, 4, 5, 6, 7, 8], ["mdav", "vmdav"])
    found = shoal.compare(path, *given, **ROLES, cache=cache)
    assert found.cached == len(there)
    assert len(made) == 12 - len(there)
    assert {file: file.stat().st_mtime_ns for file in there} == there
    assert figures(found) == figures(shoal.compare(path, *given, **ROLES))
    assert [file.name for file in cache.iterdir() if file.suffix != ".json"] == []


def stopping_at(number):
    """Rows made of nothing, until a Ctrl-C comes instead of one."""

    class Stopping:
        def __init__(self, _):
            self.done = 0

        def __call__(self, setting, _):
            self.done += 1
            if self.done > number:
                raise KeyboardInterrupt
            return Done(Row(setting.method, setting.k, "ok", loss=1.0, seconds=0.1, prosecutor_highest=20.0), [])

    return Stopping


def test_a_ctrl_c_ends_with_what_is_there_and_says_how_to_resume(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.comparison.work.Measuring", stopping_at(2))
    with pytest.warns(
        shoal.ShoalWarning, match=r"interrupted: 2 of 4 settings are done; the same call with this cache"
    ):
        found = shoal.compare(TABLE, [3, 5], ["mdav", "vmdav"], **ROLES, cache=tmp_path)
    assert found.interrupted
    assert [row.status for row in found.rows] == ["ok", "ok", "not run", "not run"]
    assert len(found.recommendation.choices) == 1
    assert len(list(tmp_path.iterdir())) == 2
    with pytest.warns(shoal.ShoalWarning, match="give a folder for the cache"):
        shoal.compare(TABLE, [3, 5], ["mdav", "vmdav"], **ROLES)


def test_a_ctrl_c_before_the_first_row_is_one(monkeypatch):
    monkeypatch.setattr("shoal.comparison.work.Measuring", stopping_at(0))
    with pytest.raises(KeyboardInterrupt):
        shoal.compare(TABLE, 3, "mdav", **ROLES)


def test_unfinished_refused_and_failed_settings_are_said_and_not_recommended():
    found = shoal.compare(TABLE, [3, 130], ["mdav", "optimal"], **ROLES)
    assert [(row.method, row.k, row.status) for row in found.rows] == [
        ("mdav", 3, "ok"), ("optimal", 3, "refused"), ("mdav", 130, "refused"), ("optimal", 130, "refused"),
    ]  # fmt: skip
    assert "k=130" in found.rows[2].reason
    assert [(each.k, each.method) for each in found.recommendation.choices] == [(3, "mdav")]
    assert found.recommendation.says.endswith("3 settings have no figures and took no part.")


def test_progress_says_which_setting_runs_and_how_many_are_left():
    told, said = [], []

    class Listener:
        def __call__(self, done, total):
            told.append((done, total))

        def say(self, what):
            said.append(what)

    shoal.compare(TABLE, [3, 5], "mdav", **ROLES, progress=Listener())
    assert told == [(0, 2), (1, 2), (2, 2)]
    assert "mdav, k = 3 (1 of 2)" in said
    assert any(what.startswith("mdav, k = 5 (2 of 2), ") and what.endswith("% grouped") for what in said)


def test_what_is_warned_of_is_said_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shoal.compare(TABLE, [3, 5], ["mdav", "vmdav"], QUASI, "diagnosis", "name")
    said = [str(each.message) for each in caught if "columns without a role" in str(each.message)]
    assert len(said) == 1


def test_columns_and_k_are_checked_before_any_work(monkeypatch):
    monkeypatch.setattr("shoal.comparison.work.Measuring.__call__", lambda *_: 1 / 0)
    for given, said in [
        ({"quasi_identifiers": ["heigth"]}, "there is no column 'heigth'; did you mean 'height'"),
        ({"quasi_identifiers": None}, "no quasi-identifier"),
        ({"seconds": 0}, "seconds is the time that a setting may take"),
        ({"progress": 3}, "progress must be"),
        ({"confidential": ["height"]}, "column 'height' has two roles"),
    ]:
        with pytest.raises(shoal.ShoalError, match=said):
            shoal.compare(TABLE, 3, "mdav", **ROLES | given)
    with pytest.raises(shoal.ShoalError, match="no_such.csv"):
        shoal.compare("no_such.csv", 3, "mdav", **ROLES)
    with pytest.raises(shoal.ShoalError, match="the table is empty"):
        shoal.compare(TABLE.slice(0, 0), 3, "mdav", **ROLES)
    with pytest.raises(shoal.ShoalError, match="is not a table"):
        shoal.compare([1, 2], 3, "mdav", **ROLES)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": [1.0] * 8, "b": [2.0] * 8}),  # all records are equal
        pd.DataFrame({"a": np.arange(8.0), "b": [2.0] * 8}),
        pd.DataFrame({"a": [1e150, -1e150] * 4, "b": np.arange(8.0)}),
        pd.DataFrame({"a": list("xyxyxyxy"), "b": pd.date_range("2020-01-01", periods=8)}),
        pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0]}),
    ],
)
def test_odd_tables_give_rows_and_a_sentence(table):
    found = shoal.compare(table, [1, 2, 3], ["mdav", "vmdav", "auto"], ["a", "b"])
    assert len(found.rows) == 9
    assert all(row.status in ("ok", "refused") for row in found.rows), [row.state for row in found.rows]
    assert found.recommendation.says
    assert found.to_json()


def test_a_limit_in_seconds_is_kept_and_said():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(4000, 2)), columns=["a", "b"])
    found = shoal.compare(table, 3, "pcl", ["a", "b"], seconds=0.3)
    assert found.rows[0].state == "unfinished after 0.3 s"
    assert found.recommendation.says.startswith("No setting has figures")
