"""What columns give away that are released as they are: as one machine finds it, from any parts."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jobs import put, release

import shoal

pytestmark = [pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")]


def table():
    """`wages` is a sum of quasi-identifiers, `town` tells `zip`, and some rooms are those of one person."""
    rng = np.random.default_rng(4)
    age, zip_ = rng.integers(20, 60, 400), rng.integers(0, 12, 400)
    return pa.table(
        {
            "age": age.astype(float),
            "zip": zip_.astype(float),
            "wages": pa.array([None if n == 7 else float(age[n] + zip_[n]) for n in range(400)]),
            "town": pa.array([f"town {number}" for number in zip_]).dictionary_encode(),
            "room": rng.integers(0, 300, 400),
            "note": [[number % 3] for number in range(400)],
        }
    )


@pytest.mark.parametrize("confidential", [[], ["wages", "room"], ["wages", "town", "room", "note"]])
@pytest.mark.parametrize("sample", [100, 65_536])
def test_the_figures_are_those_of_one_machine(tmp_path, monkeypatch, confidential, sample):
    monkeypatch.setattr("shoal.measures.untouched.SAMPLE", sample)  # so that all records are read once more
    monkeypatch.setattr("shoal.measures.untouched.RUN", 5)
    monkeypatch.setattr("shoal.stream.cluster.untouched.HASHES", 90)
    given = {"quasi_identifiers": ["age", "zip"], "confidential": confidential, "identifiers": []}
    pq.write_table(table(), tmp_path / "whole.parquet")
    shoal.anonymize_file(tmp_path / "whole.parquet", tmp_path / "one.parquet", 3, method="mdav", **given)
    expected = json.loads((tmp_path / "one.parquet.manifest.json").read_text())["figures"]
    for parts in (1, 4):
        source = put(table(), tmp_path / f"in{parts}", parts)
        found = release(source, tmp_path / f"out{parts}", **given, blocks=2).manifest["figures"]
        names = [name for name in expected if "untouched" in name]
        assert {name: found[name] for name in names} == {name: expected[name] for name in names}
    assert names


def test_where_all_columns_are_quasi_identifiers_there_is_nothing_to_count(tmp_path):
    made = release(
        put(table().select(["age", "zip"]), tmp_path / "in", 2),
        tmp_path / "out",
        quasi_identifiers=["age", "zip"],
        confidential=[],
        identifiers=[],
    )
    assert not {"untouched", "tally"} & set(made.times)
