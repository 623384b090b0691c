"""Columns that workers read by parts: the same bytes as those of a client that reads all of them."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from jobs import bytes_in, put, release

import shoal
from shoal.errors import ShoalError
from shoal.stream.cluster.reading import hashes_of_rows

pytestmark = [pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")]


def table(n=240, seed=0):
    """Columns of many kinds; the first part has not seen all values, and some values come in another order."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.normal(50, 12, n).round(1),
            "job": [f"job {number}" for number in np.sort(rng.integers(0, 9, n))[::-1]],
            "town": pa.array([f"town {number}" for number in rng.integers(0, 4, n)]).dictionary_encode(),
            "size": [["small", "medium", "large"][number] for number in np.sort(rng.integers(0, 3, n))],
            "code": [f"{number:03d}" for number in rng.integers(0, 900, n)],
            "day": [datetime.date(2020, 1, 1) + datetime.timedelta(int(days)) for days in rng.integers(0, 900, n)],
            "time": pa.array(rng.integers(0, 10**12, n) * 1000, pa.timestamp("us")),
            "free": rng.integers(0, 99, n),
        }
    )


def gapped(whole, name, rows):
    values = whole[name].to_pylist()
    return whole.set_column(
        whole.column_names.index(name),
        name,
        pa.array(
            [None if row in rows else value for row, value in enumerate(values)], whole.schema.field(name).type
        ),
    )


ROLES = {"confidential": ["free"], "identifiers": [], "random_state": 1}
CASES = {
    "nominal": {"quasi_identifiers": ["age", "job", "town"]},
    "only categories": {"quasi_identifiers": ["job", "town"], "blocks": 1},
    "ordinal": {"quasi_identifiers": ["age", "size"], "orders": {"size": ["small", "medium", "large"]}},
    "code": {"quasi_identifiers": ["age", "code"], "prefixes": {"code": [1, 2]}},
    "dates": {"quasi_identifiers": ["age", "day", "time"]},
    "boolean": {"quasi_identifiers": ["age", "flag"], "kinds": {"flag": "boolean"}},
    "numbers as categories": {
        "quasi_identifiers": ["age", "free"],
        "kinds": {"free": "nominal"},
        "confidential": [],
    },
}
ORDER = {"orders": {"size": ["small", "medium", "large"]}}
GAPS = ["value", "pattern", "impute"]


def both(tmp_path, monkeypatch, whole, ending="parquet", joined=True, **given):
    """The output of a job whose workers read the columns, and that of one whose client does."""
    source, read = put(whole, tmp_path / "in", 4, ending), []
    given = {"blocks": 3} | ROLES | given
    with monkeypatch.context() as patch:
        real = "shoal.stream.cluster.run.Steering._read_here"
        patch.setattr(real, lambda *given: read.append(1) or pytest.fail("the client has read all"))
        if joined:
            release(source, tmp_path / "apart", **given)
    assert not read
    monkeypatch.setattr("shoal.stream.cluster.run.joined", lambda parts: None)
    release(source, tmp_path / "here", **given)
    assert bytes_in(tmp_path / "apart") == bytes_in(tmp_path / "here")
    return tmp_path / "apart"


@pytest.mark.parametrize("case", CASES)
def test_workers_read_columns_of_these_kinds(tmp_path, monkeypatch, case):
    whole = table()
    whole = whole.append_column("flag", pa.array([["yes", "no"][row > 200] for row in range(240)]))
    both(tmp_path, monkeypatch, whole, **CASES[case])


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("name", ["job", "size"])
def test_with_gaps_too(tmp_path, monkeypatch, gaps, name):
    rows = (
        set(range(0, 40)) if gaps == "pattern" else {*range(0, 70), 100, 111, 200}
    )  # the first part has no value
    whole = gapped(table(), name, rows)
    both(
        tmp_path,
        monkeypatch,
        whole,
        quasi_identifiers=["age", name],
        gaps={name: gaps},
        blocks=1,
        **ORDER if name == "size" else {},
    )


def test_text_files_too(tmp_path, monkeypatch):
    whole = table().select(["age", "job", "size", "free"])
    both(tmp_path, monkeypatch, whole, "csv", quasi_identifiers=["age", "job", "size"], **ORDER)


def test_a_part_without_records_has_nothing_to_number(tmp_path, monkeypatch):
    source = put(table(), tmp_path / "in", 3)
    pa.parquet.write_table(table().slice(0, 0), source / "part-1a.parquet")
    release(source, tmp_path / "out", **ROLES | CASES["nominal"])
    (source / "part-1a.parquet").unlink()
    release(source, tmp_path / "other", **ROLES | CASES["nominal"])
    assert bytes_in(tmp_path / "out") == bytes_in(tmp_path / "other")


def test_an_order_that_no_part_shows_alone_is_found_by_the_client(tmp_path):
    for parts in (1, 4):
        source = put(table(), tmp_path / f"in{parts}", parts)
        release(source, tmp_path / f"out{parts}", blocks=2, **ROLES, quasi_identifiers=["age", "size"])
    assert bytes_in(tmp_path / "out1") == bytes_in(tmp_path / "out4")


def test_numbers_that_come_late_among_categories_are_told_as_one_machine_tells_them(tmp_path):
    whole = table().select(["age", "job", "free"])
    jobs = whole["job"].to_pylist()
    jobs[-1] = "12"
    whole = whole.set_column(1, "job", pa.array(jobs))
    pa.csv.write_csv(whole, tmp_path / "whole.csv")
    given = {"quasi_identifiers": ["age", "job"], "confidential": ["free"]}
    with pytest.raises(ShoalError) as one:
        shoal.anonymize_file(tmp_path / "whole.csv", tmp_path / "one.csv", 3, blocks=2, **given)
    with pytest.raises(ShoalError) as several:
        release(put(whole, tmp_path / "in", 4, "csv"), tmp_path / "out", **ROLES | given)
    assert str(one.value) == str(several.value)
    assert "job" in str(one.value)


def test_numbers_whose_digits_do_not_go_together_are_read_once_more(tmp_path):
    """Each part can be held in whole units, and all together cannot."""
    texts = [f"{10**11 + number}.5" for number in range(60)] + [f"0.{number:06d}" for number in range(60)]
    whole = pa.table({"size": texts, "age": list(range(120)), "free": list(range(120))})
    given = {"quasi_identifiers": ["size", "age"], "confidential": ["free"], "key": "00" * 16, "method": "mdav"}
    given |= {"decimal": "."}
    pa.csv.write_csv(whole, tmp_path / "whole.csv", pa.csv.WriteOptions(quoting_style="none"))
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(2):
        pa.csv.write_csv(
            whole.slice(60 * number, 60), folder / f"{number}.csv", pa.csv.WriteOptions(quoting_style="none")
        )
    shoal.anonymize_file(tmp_path / "whole.csv", tmp_path / "one.csv", 3, blocks=2, **given)
    shoal.anonymize_file(folder, tmp_path / "out", 3, blocks=2, engine="threads", **given)
    found = b"".join(bytes_in(tmp_path / "out").values())
    assert sorted(found.splitlines()[1:]) == sorted((tmp_path / "one.csv").read_bytes().splitlines()[1:])


def test_every_row_has_a_hash_of_its_own():
    found = hashes_of_rows(np.arange(100_000))
    assert len(np.unique(found)) == 100_000
    assert (found[7:19] == hashes_of_rows(np.arange(7, 19))).all()
    assert abs(float((found < np.uint64(2**63)).mean()) - 0.5) < 0.01
