import itertools
import json
import os
import signal
import subprocess
import sys
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import shoal
from samples import tables
from shoal.errors import ShoalError, ShoalWarning
from shoal.estimator import Microaggregator
from shoal.parameters import Seed, Whole
from shoal.stream import anonymize_file
from shoal.stream.run import disk_error
from shoal.stream.work import folder_for

pytestmark = [pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning"), pytest.mark.usefixtures("same_key")]

ROLES = {"quasi_identifiers": ["age", "weight"], "confidential": ["diagnosis"], "identifiers": ["name"]}


@pytest.fixture
def small_parts(monkeypatch):
    """Parts of a few records, so that small tables have many."""
    monkeypatch.setattr("shoal.files.batches.GROUP", 7)
    monkeypatch.setattr("shoal.files.batches.batch_of", lambda columns: 3)  # the groups of a file are of seven
    monkeypatch.setattr("shoal.files.text.BLOCK", 256)
    monkeypatch.setattr("shoal.stream.spill.rows_of", lambda m: 5)
    monkeypatch.setattr("shoal.stream.run.read_together", lambda blocks, m: 3)
    monkeypatch.setattr("shoal.attributes.ranks._FEW", 3)
    monkeypatch.setattr("shoal.privacy.counting.BUCKET", 4)
    monkeypatch.setattr("shoal.stream.ordering.HELD", 300)
    monkeypatch.setattr("shoal.stream.ordering.BITS", 2)


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"person {number}" for number in range(n)],
            "age": rng.integers(18, 90, n),
            "weight": rng.normal(70, 12, n).round(1),
            "diagnosis": [None if number % 5 == 0 else f'flu, or "{number % 7}"' for number in range(n)],
            "room": rng.integers(0, 9, n),
        }
    )


def decimals(digits, scale, bits=128):
    kind = getattr(pa, f"decimal{bits}", None)
    return kind and kind(digits, scale)  # an older Arrow has two kinds only


@pytest.mark.parametrize("name", ["t.csv", "t.arrow", "t.parquet"])
@pytest.mark.parametrize(
    "kind",
    [
        decimals(9, -2),
        decimals(50, 2, 256),
        decimals(50, -2, 256),
        decimals(9, 2, 32),
        decimals(9, -2, 32),
        decimals(9, 2, 64),
    ],
    ids=str,
)
def test_decimals_of_any_width_and_scale_are_averaged_and_keep_their_type(tmp_path, small_parts, kind, name):
    if kind is None:
        pytest.skip("this Arrow does not have the type")
    units = [3, 5, 8, 12, -7, 9, 1, 0, 44, 45, 46, 50]
    ones = [Decimal(unit).scaleb(-kind.scale) for unit in units]
    table = pa.table({"x": pa.array(ones, kind), "y": pa.array(ones[::-1], kind)})
    write(table, tmp_path / "in.arrow")
    made = [
        anonymize_file(
            tmp_path / "in.arrow", tmp_path / f"{blocks}{name}", 3, "x", "y", blocks=blocks, method="mdav"
        )
        for blocks in (None, 1)
    ]
    assert made[0].path.read_bytes() == made[1].path.read_bytes()
    if name == "t.csv":
        lines = [line.split(",") for line in made[0].path.read_text().split()[1:]]
        assert not any("E" in text for line in lines for text in line)
        released, kept = [Decimal(x) for x, _ in lines], [Decimal(y) for _, y in lines]
    else:
        found = shoal.files.read(made[0].path).table
        assert found["x"].type == found["y"].type
        if name == "t.arrow" or kind.scale > 0:
            assert found["x"].type == kind
        released, kept = found["x"].to_pylist(), found["y"].to_pylist()
    released, kept = (naive.as_they_came(column, made[0].manifest) for column in (released, kept))
    assert kept == ones[::-1]
    labels = shoal.anonymize(table, 3, "x", "y", method="mdav").labels
    for group in set(labels):
        members = [unit for unit, label in zip(units, labels, strict=True) if label == group]
        mean = Decimal(round(Fraction(sum(members), len(members)))).scaleb(-kind.scale)
        assert {value for value, label in zip(released, labels, strict=True) if label == group} == {mean}


ODD = {
    "lists": pa.array([[number] for number in range(12)]),
    "structures": pa.array([{"a": number} for number in range(12)]),
    "maps": pa.array([[("a", number)] for number in range(12)], pa.map_(pa.string(), pa.int64())),
    "categories of lists": pa.DictionaryArray.from_arrays(pa.array([0, 1, None] * 4), pa.array([[1], [2]])),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([5, 12], pa.int32()), pa.array([1, None])),
    "a union": pa.UnionArray.from_sparse(pa.array([0] * 12, pa.int8()), [pa.array(range(12))]),
    "dates that Python does not have": pa.array([-(10**14)] * 12, pa.timestamp("ms")),
}


@pytest.mark.parametrize("column", ODD.values(), ids=ODD)
def test_columns_of_odd_types_leave_as_they_are_or_one_line_names_them(tmp_path, column):
    write(pa.table({"x": range(12), "odd": column}), tmp_path / "in.arrow")

    def released(blocks, suffix):
        target = tmp_path / f"{blocks}.{suffix}"
        anonymize_file(tmp_path / "in.arrow", target, 3, "x", "odd", blocks=blocks, method="mdav")
        return target.read_bytes()

    assert released(None, "csv") == released(1, "csv")
    if not pa.types.is_union(column.type):
        assert released(None, "parquet") == released(1, "parquet")
        return
    for blocks in (None, 1):
        with pytest.raises(
            ShoalError, match="column 'odd' of type sparse_union.* has no type that Parquet files know"
        ):
            released(blocks, "parquet")


def test_short_floats_are_written_with_the_digits_that_they_have(tmp_path, small_parts):
    numbers = np.array([24.6, 0.1, 1e-7, 3.25, 1 / 3, 16777216, 24.6, 0.3], np.float32)
    halves = (numbers / 2**9).astype(np.float16)
    table = pa.table({"x": range(8), "y": numbers, "z": halves, "q": (np.arange(8) / 10).astype(np.float32)})
    write(table, tmp_path / "in.parquet")
    for blocks in (None, 1):
        target = tmp_path / f"{blocks}.csv"
        made = anonymize_file(
            tmp_path / "in.parquet", target, 4, ["x", "q"], ["y", "z"], blocks=blocks, method="mdav"
        )
        _, *lines = [line.split(",") for line in target.read_text().split()]
        lines = naive.as_they_came(lines, made.manifest)
        assert [line[1] for line in lines][:4] == ["24.6", "0.1", "1e-07", "3.25"]
        assert np.array_equal(np.array([line[1] for line in lines], np.float32), numbers)
        assert np.array_equal(np.array([line[2] for line in lines], np.float16), halves)
        assert {len(line[3]) for line in lines} == {3}


def write(table, path):
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path, pyarrow.csv.WriteOptions(quoting_style="needed"))
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    return path


def in_memory(path, output, **given):
    release = shoal.anonymize(path, **given)
    release.write(output, overwrite=True)
    return release


@pytest.mark.parametrize("before", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("after", ["csv", "csv.gz", "tsv", "parquet", "arrow"])
def test_one_block_is_the_release_in_memory_byte_for_byte(tmp_path, small_parts, before, after):
    path = write(people(60), tmp_path / f"in.{before}")
    release = in_memory(path, tmp_path / f"memory.{after}", k=4, **ROLES)
    found = anonymize_file(path, tmp_path / f"stream.{after}", k=4, blocks=1, **ROLES)
    assert (tmp_path / f"stream.{after}").read_bytes() == (tmp_path / f"memory.{after}").read_bytes()
    mine, other = dict(found.manifest), dict(release.manifest)
    assert mine.pop("output") | {"name": ""} == other.pop("output") | {"name": ""}
    assert mine == other
    assert found.information_loss == release.information_loss
    assert (found.n_records, found.n_groups, found.blocks) == (60, release.partition.n_groups, 1)
    assert json.loads((tmp_path / f"stream.{after}.manifest.json").read_text()) == found.manifest


def test_columns_of_any_type_are_kept_as_in_memory(tmp_path, small_parts):
    n = 30
    table = pa.table(
        {
            "age": pa.array(range(n), pa.int16()),
            "category": pa.array(["x", "y", None] * 10).dictionary_encode(),
            "day": pa.array(range(n), pa.date32()),
            "list": [[number, number] for number in range(n)],
            "parts": [{"a": number} for number in range(n)],
            "time": pa.array(range(n), pa.timestamp("us", "UTC")),
            "a.b": [b"\0"] * n,
            "empty": pa.nulls(n),
        }
    )
    field = table.schema.field("day").with_metadata({"unit": "days"})
    table = table.cast(table.schema.set(2, field)).replace_schema_metadata({"secret": "path"})
    path = write(table, tmp_path / "in.parquet")
    for after in ("parquet", "csv"):
        in_memory(path, tmp_path / f"memory.{after}", k=3, quasi_identifiers="age")
        anonymize_file(path, tmp_path / f"stream.{after}", k=3, blocks=1, quasi_identifiers="age")
        assert (tmp_path / f"stream.{after}").read_bytes() == (tmp_path / f"memory.{after}").read_bytes()
    with pytest.raises(ShoalError, match="columns of categories cannot be streamed into an Arrow file"):
        anonymize_file(path, tmp_path / "stream.arrow", k=3, blocks=1, quasi_identifiers="age")


KINDS = ("constant", "flag", "huge", "real", "tenths", "whole", "year")


@settings(max_examples=40)
@given(
    tables(kinds=KINDS),
    st.sampled_from(["csv", "parquet"]),
    st.sampled_from(["csv", "parquet"]),
    st.sampled_from(["zscore", "range"]),
    st.sampled_from(["mean", "median"]),
    st.booleans(),
)
def test_one_block_is_the_release_in_memory_for_any_numbers(
    tmp_path, small_parts, case, before, after, scaling, aggregate, exact
):
    columns, k = case
    path = write(pa.table(columns), tmp_path / f"in.{before}")
    given = {"scaling": scaling, "aggregate": aggregate, "exact": exact, "quasi_identifiers": list(columns)}
    in_memory(path, tmp_path / f"memory.{after}", k=k, **given)
    anonymize_file(path, tmp_path / f"stream.{after}", k=k, blocks=1, overwrite=True, **given)
    assert (tmp_path / f"stream.{after}").read_bytes() == (tmp_path / f"memory.{after}").read_bytes()


@settings(max_examples=40)
@given(tables(kinds=KINDS, most=40), st.integers(2, 6), st.sampled_from(["csv", "parquet"]))
def test_many_blocks_keep_k_and_the_order_is_that_of_the_key(tmp_path, small_parts, case, blocks, kind):
    columns, k = case
    n = len(next(iter(columns.values())))
    table = pa.table(columns | {"other": list(range(n))})
    path, output = write(table, tmp_path / f"in.{kind}"), tmp_path / f"out.{kind}"
    given = {"quasi_identifiers": list(columns), "confidential": ["other"]}
    found = anonymize_file(path, output, k=k, blocks=blocks, overwrite=True, **given)
    verified = shoal.verify(output, list(columns))
    assert found.verified_k == verified.k >= k
    assert found.n_records == verified.n_records == n
    assert found.blocks <= max(1, n // (2 * k))
    assert shoal.files.read(output).table["other"].to_pylist() == naive.row_order(found.manifest["key"], n)
    assert not folder_for(output).exists()


def test_blocks_are_told_in_the_manifest_and_the_loss_is_that_of_the_file(tmp_path):
    path = write(people(300), tmp_path / "in.csv")
    found = anonymize_file(path, tmp_path / "out.csv", k=3, blocks=4, keep_order=True, **ROLES)
    assert found.manifest["blocks"] == found.blocks == 4
    before, after = (pyarrow.csv.read_csv(tmp_path / name).to_pandas() for name in ("in.csv", "out.csv"))
    names = ROLES["quasi_identifiers"]
    error = ((before[names] - after[names]) / before[names].std(ddof=0)).pow(2).sum().sum()
    spread = 300 * len(names)
    assert found.information_loss == pytest.approx(100 * error / spread)


def long_floats(rng, n, digits):
    """Columns of floats with so many digits, of several magnitudes, one of which is not a quasi-identifier."""
    spreads = {"x": (0, 1), "y": (50, 20), "z": (0, 1e-3), "other": (1e6, 1e5)}
    return {
        name: [float(f"{value:.{digits}g}") for value in rng.normal(*spread, n)]
        for name, spread in spreads.items()
    }


@pytest.mark.parametrize("digits", [1, 2, 5, 9, 13, 15, 16, 17])
def test_floats_of_any_length_are_the_same_in_memory_and_in_one_block(tmp_path, small_parts, digits):
    table = long_floats(np.random.default_rng(digits), 20, digits)
    text = tmp_path / "in.csv"
    rows = zip(*table.values(), strict=True)
    text.write_text("\n".join([",".join(table), *(",".join(map(repr, row)) for row in rows)]) + "\n")
    typed = write(pa.table(table), tmp_path / "in.parquet")
    cases = itertools.product((text, typed), ("csv", "parquet"), ("mean", "median"), (False, True))
    for path, after, aggregate, exact in cases:
        given = {"k": 3, "quasi_identifiers": ["x", "y", "z"], "confidential": "other", "method": "mdav"}
        given |= {"aggregate": aggregate, "exact": exact}
        release = in_memory(path, tmp_path / f"memory.{after}", **given)
        found = anonymize_file(path, tmp_path / f"stream.{after}", blocks=1, overwrite=True, **given)
        assert (tmp_path / f"stream.{after}").read_bytes() == (tmp_path / f"memory.{after}").read_bytes()
        assert found.manifest["digits"] == release.manifest["digits"]
        assert found.loss == release.loss


FLOATS_IN_PARTS = {
    "long": lambda rng: [repr(value) for value in rng.normal(size=40).tolist()],
    "short, then long": lambda rng: [
        *(f"{v:.1f}" for v in rng.normal(size=30)),
        *map(repr, rng.normal(size=10).tolist()),
    ],
    "whole, then long": lambda rng: [*map(str, rng.integers(0, 9, 35)), *map(repr, rng.normal(size=5).tolist())],
    "long, then whole and large": lambda rng: [
        *map(repr, rng.normal(size=30).tolist()),
        *["123456789012345678901"] * 10,
    ],
    "many decimals of few digits": lambda rng: [f"{v:.1f}{'0' * 20}" for v in rng.normal(size=39)] + ["0.250"],
    "large, then decimals": lambda rng: [*map(str, rng.integers(10**13, 10**14, 39)), "0.125"],
    "tiny": lambda rng: [repr(value) for value in rng.normal(scale=1e-200, size=40).tolist()],
}


@pytest.mark.parametrize("case", sorted(FLOATS_IN_PARTS))
@pytest.mark.parametrize("blocks", [1, 4])
def test_ordinary_floats_are_streamed(tmp_path, small_parts, case, blocks):
    texts = FLOATS_IN_PARTS[case](np.random.default_rng(1))
    path, output = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text("x,y\n" + "".join(f"{text},{number}\n" for number, text in enumerate(texts)))
    given = {"k": 3, "quasi_identifiers": "x", "confidential": "y", "method": "mdav"}
    found = anonymize_file(path, output, blocks=blocks, **given)
    assert found.verified_k >= 3
    if blocks == 1:
        in_memory(path, tmp_path / "memory.csv", **given)
        assert output.read_bytes() == (tmp_path / "memory.csv").read_bytes()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("aggregate", ["mean", "median"])
def test_the_digits_of_a_column_are_one_number_over_all_blocks(tmp_path, small_parts, kind, aggregate):
    values = np.random.default_rng(3).lognormal(0, 3, 80)  # the blocks have spreads of several magnitudes
    path, output = write(pa.table({"x": values}), tmp_path / f"in.{kind}"), tmp_path / f"out.{kind}"
    given = {"k": 4, "blocks": 4, "quasi_identifiers": "x", "method": "mdav", "keep_order": True}
    found = anonymize_file(path, output, aggregate=aggregate, **given)
    released = pa.array(shoal.files.read(output).table["x"].to_pylist())
    digits = found.manifest["digits"]["used"]["x"]
    assert released.to_pylist() == [round(value, digits) for value in released.to_pylist()]
    if kind == "csv":
        assert {len(text.partition(".")[2]) for text in output.read_text().split()[1:]} == {max(0, digits)}
    plain = anonymize_file(path, tmp_path / "plain.parquet", aggregate=aggregate, exact=True, **given)
    centroids = np.array(shoal.files.read(plain.path).table["x"].to_pylist())
    groups = [[Fraction(value) for value in values[centroids == centroid]] for centroid in np.unique(centroids)]
    assert digits == naive.digits_of(groups, 4, aggregate)
    error = ((values - np.array(released)) ** 2).sum() / ((values - values.mean()) ** 2).sum()
    assert found.information_loss == pytest.approx(100 * error)


def test_the_digits_that_were_asked_for_are_those_of_a_stream_too(tmp_path, small_parts):
    path = write(people(60), tmp_path / "in.csv")
    given = {"k": 3, "digits": {"age": -1, "weight": 1}} | ROLES
    in_memory(path, tmp_path / "memory.csv", **given)
    found = anonymize_file(path, tmp_path / "out.csv", blocks=1, **given)
    assert found.path.read_bytes() == (tmp_path / "memory.csv").read_bytes()
    assert found.manifest["digits"] == {"asked": given["digits"], "used": given["digits"]}
    for wrong, message in (({"weight": 2}, "came with 1 decimals"), ({"wait": 2}, "'wait', which is no quasi")):
        with pytest.raises(ShoalError, match=message):
            anonymize_file(path, tmp_path / "b.csv", blocks=2, **(given | {"digits": wrong}))
    assert not (tmp_path / "b.csv").exists()
    assert not folder_for(tmp_path / "b.csv").exists()


@pytest.mark.parametrize("free", [2 * 10**9, 10**10, 10**12])
def test_what_is_free_decides_neither_the_way_nor_the_blocks(tmp_path, monkeypatch, free):
    path = write(people(200), tmp_path / "in.csv")
    monkeypatch.setattr("shoal.stream.memory.RECORD", 20_000_000)  # so that few such records fill a block
    monkeypatch.setattr("shoal.files.memory.free_memory", lambda: free)
    monkeypatch.setattr("shoal.files.memory.resident_memory", lambda: 0, raising=False)
    given = {"k": 3, "method": "mdav"} | ROLES
    alone = anonymize_file(path, tmp_path / "a.csv", **given)
    assert alone.blocks == 1
    in_memory(path, tmp_path / "memory.csv", **given)
    assert alone.path.read_bytes() == (tmp_path / "memory.csv").read_bytes()
    monkeypatch.setattr("shoal.stream.run.size_in_memory", lambda _: 5 * 10**9)
    if free < 4 * 10**9:
        with pytest.raises(
            ShoalError, match=r"in.csv, streamed in 2 blocks, needs about 2.4 GB of memory and 2 GB"
        ):
            anonymize_file(path, tmp_path / "b.csv", **given)
        assert not folder_for(tmp_path / "b.csv").exists()
    else:
        assert anonymize_file(path, tmp_path / "b.csv", **given).blocks == 2
    less = anonymize_file(path, tmp_path / "c.csv", memory="2GB", **given)
    assert less.blocks == 4


def test_too_little_memory_is_an_error_before_any_work(tmp_path, monkeypatch):
    path = write(people(60), tmp_path / "in.csv")
    monkeypatch.setattr("shoal.files.memory.free_memory", lambda: 10**6)
    monkeypatch.setattr("shoal.files.memory.resident_memory", lambda: 0, raising=False)
    with pytest.raises(
        ShoalError, match=r"in.csv needs about 330 MB of memory and 1 MB can be had now; give --memory"
    ):
        anonymize_file(path, tmp_path / "out.csv", k=3, **ROLES)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["in.csv"]


def test_too_little_memory_for_work_that_was_begun_keeps_it(tmp_path, monkeypatch):
    path, output = write(people(100), tmp_path / "in.csv"), tmp_path / "out.csv"
    interrupted(path, output, k=3, blocks=2, **ROLES)
    with monkeypatch.context() as patch:
        patch.setattr("shoal.files.memory.free_memory", lambda: 10**6)
        patch.setattr("shoal.files.memory.resident_memory", lambda: 0, raising=False)
        with pytest.raises(ShoalError, match="run the same command again; it resumes here"):
            anonymize_file(path, output, k=3, blocks=2, **ROLES)
    assert folder_for(output).is_dir()
    assert anonymize_file(path, output, k=3, blocks=2, **ROLES).n_records == 100


class StoppedError(Exception):
    pass


@settings(max_examples=12)
@given(st.floats(0, 1), st.floats(0, 1))
def test_stopped_anywhere_it_goes_on_to_the_same_bytes(tmp_path, small_parts, first, second):
    path, output = write(people(80), tmp_path / "in.csv"), tmp_path / "out.csv"
    whole = tmp_path / "whole.csv"
    if not whole.exists():
        anonymize_file(path, whole, k=3, blocks=4, **ROLES)
    for part in (first, second):  # without leave to overwrite: nothing that it made is in its own way

        def stop(done, total, part=part):
            if done >= part * total:
                raise StoppedError

        with pytest.raises(StoppedError):
            anonymize_file(path, output, k=3, blocks=4, progress=stop, **ROLES)
        assert output.exists() == (part == 1)
        if part == 1:
            break
    anonymize_file(path, output, k=3, blocks=4, overwrite=output.exists(), **ROLES)
    assert output.read_bytes() == whole.read_bytes()
    output.unlink()
    output.with_name("out.csv.manifest.json").unlink()


class Killed(BaseException):
    pass


def killed_while_it_gives_names(patch, after, give):
    """As after a kill when so many files have their names: nothing is taken back."""

    def give_names(made, paths, overwrite):
        for part, path in list(zip(made, paths, strict=True))[:after]:
            give(part, path)
        raise Killed

    patch.setattr("shoal.stream.run.give_names", give_names)


@pytest.mark.parametrize("after", [0, 1, 2])
def test_killed_while_it_gives_names_the_next_call_only_gives_the_rest(tmp_path, monkeypatch, after):
    path, output = write(people(60), tmp_path / "in.csv"), tmp_path / "out.csv"
    given = {"k": 3, "blocks": 2} | ROLES
    whole = anonymize_file(path, tmp_path / "whole.csv", **given)
    with monkeypatch.context() as patch:
        killed_while_it_gives_names(patch, after, os.link)
        with pytest.raises(Killed):
            anonymize_file(path, output, **given)
    monkeypatch.setattr("shoal.stream.run.ReleaseWriter.write", lambda *_: pytest.fail("it is written already"))
    made = anonymize_file(path, output, **given)
    assert output.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert made.manifest == json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert made.manifest["output"] | {"name": "whole.csv"} == whole.manifest["output"]
    assert (made.loss, made.sizes, made.verified_k) == (whole.loss, whole.sizes, whole.verified_k)
    assert (made.n_records, made.n_groups, made.blocks) == (60, whole.n_groups, 2)
    assert not folder_for(output).exists()


def test_killed_while_it_replaces_a_release_it_needs_leave_again(tmp_path, monkeypatch):
    path, output = write(people(60), tmp_path / "in.csv"), tmp_path / "out.csv"
    given = {"k": 3, "blocks": 2} | ROLES
    output.write_text("an older release")
    with monkeypatch.context() as patch:
        killed_while_it_gives_names(patch, 1, os.replace)
        with pytest.raises(Killed):
            anonymize_file(path, output, overwrite=True, **given)
    with pytest.raises(ShoalError, match="exists already"):
        anonymize_file(path, output, **given)
    assert output.read_text() == "an older release"
    made = anonymize_file(path, output, overwrite=True, **given)
    assert made.verified_k == shoal.verify(output, ROLES["quasi_identifiers"]).k
    assert not folder_for(output).exists()


@pytest.mark.parametrize("when", ["it ran", "it gave names"])
def test_a_file_that_came_meanwhile_survives_the_next_calls_too(tmp_path, monkeypatch, when):
    path, output = write(people(60), tmp_path / "in.csv"), tmp_path / "out.csv"
    given = {"k": 3, "blocks": 2} | ROLES

    def plant(done, total):
        if done > total / 2:
            output.write_text("somebody else's")

    if when == "it ran":
        with pytest.raises(ShoalError, match="exists already"):
            anonymize_file(path, output, progress=plant, **given)
        assert json.loads((folder_for(output) / "state.json").read_text())["stage"] == "cut"
        assert not (tmp_path / "out.csv.manifest.json").exists()
    else:
        with monkeypatch.context() as patch:
            killed_while_it_gives_names(patch, 1, os.link)
            with pytest.raises(Killed):
                anonymize_file(path, output, **given)
        plant(1, 1)
    for _ in range(2):
        with pytest.raises(ShoalError, match="exists already"):
            anonymize_file(path, output, **given)
        assert output.read_text() == "somebody else's"
    output.unlink()
    assert anonymize_file(path, output, **given).n_records == 60


def test_work_of_another_version_is_not_discarded_unasked(tmp_path):
    path, output = write(people(60), tmp_path / "in.csv"), tmp_path / "out.csv"
    interrupted(path, output, k=3, blocks=2, **ROLES)
    state = folder_for(output) / "state.json"
    state.write_text(json.dumps(json.loads(state.read_text()) | {"version": 0}))
    for blocks in (None, 2):
        with pytest.raises(ShoalError, match=r"cannot resume.*--overwrite"):
            anonymize_file(path, output, k=3, blocks=blocks, **ROLES)
    assert (folder_for(output) / "done-0.json").exists()
    assert anonymize_file(path, output, k=3, overwrite=True, **ROLES).blocks == 1
    assert not folder_for(output).exists()


KILLED = """
import sys, time, warnings
warnings.simplefilter("ignore")
import shoal

def slowly(done, total):
    if done > float(sys.argv[3]) * total:
        print("here", flush=True)
        time.sleep(60)

shoal.anonymize_file(sys.argv[1], sys.argv[2], k=3, blocks=4, quasi_identifiers=["age", "weight"],
                     confidential=["diagnosis"], identifiers=["name"], progress=slowly)
"""


@pytest.mark.parametrize("part", [0.6, 0.65, 0.7, 0.9])
def test_killed_it_goes_on_to_the_same_bytes_and_key(tmp_path, same_key, part):
    path, output = write(people(400), tmp_path / "in.csv"), tmp_path / "out.csv"
    command = [sys.executable, "-c", KILLED, str(path), str(output), str(part)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"here\n"
        process.send_signal(signal.SIGKILL)
    assert not output.exists()
    state = json.loads((folder_for(output) / "state.json").read_text())
    assert state["stage"] == "cut"
    key = anonymize_file(path, output, k=3, blocks=4, **ROLES).manifest["key"]
    assert key == state["key"] != same_key
    anonymize_file(path, tmp_path / "whole.csv", k=3, blocks=4, key=key, **ROLES)
    assert output.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [
        "in.csv", "out.csv", "out.csv.manifest.json", "whole.csv", "whole.csv.manifest.json",
    ]  # fmt: skip


def interrupted(path, output, part=0.7, **given):
    def stop(done, total):
        if done > part * total:
            raise StoppedError

    with pytest.raises(StoppedError):
        anonymize_file(path, output, progress=stop, **given)


@pytest.mark.parametrize("part", [0.5, 0.9])
def test_a_resumed_run_warns_of_all_that_the_first_one_warned_of(tmp_path, part):
    table = people(100).append_column("ward", pa.array([1] * 100)).append_column("row", pa.array(range(100)))
    path = write(table, tmp_path / "in.csv")
    given = {"k": 1, "blocks": 2, "exact": True, "method": "mdav"}
    roles = {"quasi_identifiers": ["age", "ward", "row"], "identifiers": "name"}

    def said(run, *names):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ShoalWarning)
            run(path, *names, **given, **roles)
        return [str(one.message) for one in caught if one.category is ShoalWarning]

    whole = said(anonymize_file, tmp_path / "whole.csv")
    assert len(whole) == 5  # columns without a role, a constant, k, exact, a counter
    output = tmp_path / "out.csv"
    assert said(interrupted, output, part) == whole
    assert said(anonymize_file, output) == whole


def test_unfinished_work_with_other_settings_is_an_error_unless_it_may_be_overwritten(tmp_path):
    path, output = write(people(100), tmp_path / "in.csv"), tmp_path / "out.csv"
    interrupted(path, output, k=3, blocks=2, **ROLES)
    with pytest.raises(ShoalError, match=r"started with other settings \(k, method, scaling\).*overwrite"):
        anonymize_file(path, output, k=4, blocks=2, scaling="range", **ROLES)
    assert folder_for(output).is_dir()
    assert anonymize_file(path, output, k=4, blocks=2, overwrite=True, **ROLES).verified_k >= 4


def test_unfinished_work_on_another_input_is_an_error(tmp_path):
    path, output = write(people(100), tmp_path / "in.csv"), tmp_path / "out.csv"
    interrupted(path, output, k=3, blocks=2, **ROLES)
    write(people(100, seed=1), path)
    with pytest.raises(ShoalError, match="another content of the input"):
        anonymize_file(path, output, k=3, blocks=2, **ROLES)


def test_an_input_that_was_only_touched_is_the_same(tmp_path):
    path, output = write(people(100), tmp_path / "in.csv"), tmp_path / "out.csv"
    interrupted(path, output, k=3, blocks=2, **ROLES)
    os.utime(path, (1, 1))
    assert anonymize_file(path, output, k=3, blocks=2, **ROLES).n_records == 100


def test_an_input_that_changes_meanwhile_is_an_error(tmp_path):
    path, output = write(people(100), tmp_path / "in.csv"), tmp_path / "out.csv"

    def change(done, total):
        if done > total / 2:
            os.utime(path, (1, 1))

    with pytest.raises(ShoalError, match="has changed since the work began"):
        anonymize_file(path, output, k=3, blocks=2, progress=change, **ROLES)
    assert not output.exists()
    assert not folder_for(output).exists()


class Drawn(Microaggregator):
    """Groups at random."""

    _parameters = {"k": Whole(1), "random_state": Seed()}  # noqa: RUF012
    _draws = True

    def __init__(self, k=5, random_state=None):
        self.k = k
        self.random_state = random_state

    def _group(self, X, progress):
        labels = np.minimum(np.arange(len(X)) // self.k, len(X) // self.k - 1)
        return np.random.default_rng(self.random_state).permutation(labels)


def test_a_drawn_seed_is_kept_over_an_interruption(tmp_path):
    path, output = write(people(60), tmp_path / "in.csv"), tmp_path / "out.csv"
    given = {"method": Drawn(k=3), "blocks": 2} | ROLES
    interrupted(path, output, **given)
    seed = json.loads((folder_for(output) / "state.json").read_text())["seed"]
    assert seed is not None
    assert anonymize_file(path, output, **given).manifest["random_state"] == seed
    again = anonymize_file(path, tmp_path / "again.csv", random_state=seed, **given)
    assert again.path.read_bytes() == output.read_bytes()
    in_memory(path, tmp_path / "memory.csv", random_state=seed, method=Drawn(k=3), **ROLES)
    anonymize_file(path, output, random_state=seed, overwrite=True, **(given | {"blocks": 1}))
    assert output.read_bytes() == (tmp_path / "memory.csv").read_bytes()


def test_what_is_there_is_never_overwritten_unasked_and_the_input_never(tmp_path):
    path, output = write(people(60), tmp_path / "in.csv"), tmp_path / "out.csv"
    output.write_text("mine")
    with pytest.raises(ShoalError, match="exists already"):
        anonymize_file(path, output, k=3, blocks=2, **ROLES)
    with pytest.raises(ShoalError, match="is the input"):
        anonymize_file(path, path, k=3, blocks=2, overwrite=True, **ROLES)
    assert output.read_text() == "mine"


def test_two_runs_at_a_time_are_refused(tmp_path):
    path, output = write(people(60), tmp_path / "in.csv"), tmp_path / "out.csv"

    def again(done, total):
        if done > total / 2:
            anonymize_file(path, output, k=3, blocks=2, **ROLES)

    with pytest.raises(ShoalError, match="another run is at work"):
        anonymize_file(path, output, k=3, blocks=2, progress=again, **ROLES)


def test_what_fits_is_done_in_memory_and_what_does_not_is_streamed(tmp_path, monkeypatch):
    path = write(people(60), tmp_path / "in.csv")
    seen = []
    monkeypatch.setattr("shoal.stream.run.Stream.run", lambda *_: seen.append("streamed"))
    found = anonymize_file(path, tmp_path / "small.csv", k=3, memory="1GB", **ROLES)
    groups = len(set(shoal.anonymize(path, k=3, **ROLES).labels))
    assert (found.blocks, found.n_groups, found.verified_k >= 3, seen) == (1, groups, True, [])
    monkeypatch.setattr("shoal.stream.run.size_in_memory", lambda _: 10**10)
    anonymize_file(path, tmp_path / "large.csv", k=3, memory="1GB", **ROLES)
    assert seen == ["streamed"]


def test_progress_rises_to_its_end(tmp_path):
    path = write(people(60), tmp_path / "in.csv")
    seen = []
    anonymize_file(path, tmp_path / "out.csv", k=3, blocks=4, progress=lambda *at: seen.append(at), **ROLES)
    done = [at for at, _ in seen]
    assert done == sorted(done)
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


def test_the_warnings_are_those_of_a_table_in_memory(tmp_path):
    rows = "name,age,weight,diagnosis,other\n" + "".join(f"n{i},{i},7,=flu,x{i % 2}\n" for i in range(20))
    path = tmp_path / "in.csv"
    path.write_text(rows)
    said = []
    for number in range(2):
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always", ShoalWarning)
            if number:
                anonymize_file(path, tmp_path / "b.csv", k=1, blocks=1, **ROLES)
            else:
                in_memory(path, tmp_path / "a.csv", k=1, **ROLES)
        said.append([str(warning.message) for warning in noted])
    assert said[0] == said[1]
    assert len(said[0]) == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"quasi_identifiers": ["age", "wieght"]}, "no column 'wieght'"),
        ({"quasi_identifiers": []}, "no quasi-identifier"),
        ({"k": 31}, "k=31 is more than there are records \\(30\\)"),
        ({"k": 0}, "k must be at least 1"),
        ({"scaling": "z"}, "scaling must be one of"),
        ({"attribute_weights": {"age": -1}}, "weight of 'age'"),
        ({"blocks": 0}, "blocks must be at least 1"),
        ({"memory": "1MB"}, "memory must be at least 512 MB"),
        ({"quasi_identifiers": ["diagnosis"], "confidential": []}, "'diagnosis' holds missing values"),
    ],
)
def test_bad_requests_are_one_line_and_leave_nothing(tmp_path, change, message):
    path, output = write(people(30), tmp_path / "in.csv"), tmp_path / "out.csv"
    with pytest.raises(ShoalError, match=message):
        anonymize_file(path, output, **({"k": 3, "blocks": 2} | ROLES | change))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["in.csv"]


def test_an_interrupt_that_a_method_makes_the_best_of_pauses_the_stream(tmp_path, monkeypatch):
    path, output, whole = write(people(60), tmp_path / "in.csv"), tmp_path / "out.csv", tmp_path / "whole.csv"
    given = {"method": "refined", "k": 3, "blocks": 2, "random_state": 1} | ROLES
    anonymize_file(path, whole, **given)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("shoal.methods.refined.Refining.anneal", interrupt)
        with pytest.raises(KeyboardInterrupt):
            anonymize_file(path, output, **given)
    assert not output.exists()
    anonymize_file(path, output, **given)
    assert output.read_bytes() == whole.read_bytes()


def test_a_full_disk_says_what_to_do():
    assert "run the same command again" in str(disk_error(Path("x.csv"), OSError(28, "No space left on device")))
    assert (
        str(disk_error(Path("x.csv"), OSError(5, "Input/output error")))
        == "cannot write x.csv: Input/output error"
    )


def test_a_full_disk_keeps_the_work(tmp_path, monkeypatch):
    path, output = write(people(60), tmp_path / "in.csv"), tmp_path / "out.csv"
    with monkeypatch.context() as patch:

        def full(*_):
            raise OSError(28, "No space left on device")

        patch.setattr("shoal.stream.run.ReleaseWriter.write", full)
        with pytest.raises(ShoalError, match="is full"):
            anonymize_file(path, output, k=3, blocks=2, **ROLES)
    assert json.loads((folder_for(output) / "state.json").read_text())["stage"] == "cut"
    assert anonymize_file(path, output, k=3, blocks=2, **ROLES).verified_k >= 3


def test_what_is_not_k_anonymous_as_written_is_never_released(tmp_path, monkeypatch):
    path, output = write(people(60), tmp_path / "in.csv"), tmp_path / "out.csv"
    real = shoal.stream.writing.texts_of
    monkeypatch.setattr(
        "shoal.stream.writing.texts_of",
        lambda *given: [f"{text}{number}" for number, text in enumerate(real(*given))],
    )
    with pytest.raises(ShoalError, match="only 1-anonymous"):
        anonymize_file(path, output, k=3, blocks=2, **ROLES)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["in.csv"]


@pytest.mark.parametrize("blocks", [1, 2])
def test_the_manifest_says_what_auto_chose_for_the_blocks(tmp_path, blocks):
    path, output = write(people(200), tmp_path / "in.csv"), tmp_path / "out.csv"
    method = anonymize_file(path, output, k=3, blocks=blocks, method="auto", **ROLES).manifest["method"]
    assert method["name"] == "Auto"
    assert method["chosen"]["name"] == "Refined"
    assert "of annealing" in method["reason"]


@pytest.mark.parametrize(
    ("text", "names", "said"),
    [
        ("".join(f"{i},{i * i % 17},x\n" for i in range(40)), ["column1", "column2"], {"header": False}),
        ("a,a,b\n" + "".join(f"{i},{i * i % 17},x\n" for i in range(40)), ["a", "a_2"], {"number_names": True}),
        ("sep=;\na;b\n" + "".join(f"{i};{i % 7},5\n" for i in range(40)), ["a", "b"], {}),
        ("a;b\n" + "".join(f"{i % 7},5;{i}.{i:03d}\n" for i in range(1, 40)), ["a", "b"], {}),
        ("a;b\n" + "".join(f"{i};{i}.{i:03d}\n" for i in range(1, 40)), ["b"], {"decimal": ","}),
        ("a;b\n" + "".join(f"{i};{i}.{i:03d}\n" for i in range(40)), ["a", "b"], {}),
        ("a,b\r" + "".join(f'{i},"x\r{i}"\r' for i in range(40)), ["a"], {}),
    ],
)
@pytest.mark.parametrize("target", ["out.csv", "out.parquet"])
def test_headers_and_thousands_are_read_as_in_memory(tmp_path, small_parts, text, names, said, target):
    path = tmp_path / "in.csv"
    path.write_bytes(text.encode())
    release = shoal.anonymize(shoal.files.read(path, **said), k=3, quasi_identifiers=names, method="mdav")
    release.write(tmp_path / target)
    given = {"k": 3, "quasi_identifiers": names, "method": "mdav", "blocks": 1} | said
    anonymize_file(path, tmp_path / f"streamed-{target}", **given)
    assert (tmp_path / f"streamed-{target}").read_bytes() == (tmp_path / target).read_bytes()


def test_numbers_that_can_be_read_in_two_ways_are_refused_as_in_memory(tmp_path, small_parts):
    path = tmp_path / "in.csv"
    path.write_text("a;b\n" + "".join(f"{i};{i}.{i:03d}\n" for i in range(1, 40)))
    with pytest.raises(ShoalError, match="nothing in the file tells") as whole:
        shoal.anonymize(path, k=3, quasi_identifiers="b")
    with pytest.raises(ShoalError) as parts:
        anonymize_file(path, tmp_path / "out.csv", k=3, quasi_identifiers="b", blocks=2)
    assert str(parts.value) == str(whole.value)
    anonymize_file(path, tmp_path / "out.parquet", k=3, quasi_identifiers="a", confidential="b", blocks=2)
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet")["b"].type == pa.string()


def leaky(n):
    """A table in which columns without a role determine quasi-identifiers."""
    rng = np.random.default_rng(0)
    degree, wages, rent = rng.integers(0, 6, n), rng.integers(0, 9000, n), rng.integers(0, 900, n)
    columns = {"degree": degree, "wages": wages, "rent": rent, "total": wages + rent}
    return pa.table(columns | {"school": [f"s{number}" for number in degree], "note": [[n] for n in degree]})


@pytest.mark.parametrize("before", ["csv", "parquet"])
@pytest.mark.parametrize("blocks", [1, 4])
def test_what_columns_give_away_is_the_same_as_in_memory(tmp_path, small_parts, monkeypatch, before, blocks):
    monkeypatch.setattr("shoal.measures.untouched.SAMPLE", 100)  # so that all records are read once more
    monkeypatch.setattr("shoal.measures.untouched.RUN", 5)
    table = leaky(240) if before == "parquet" else leaky(240).drop_columns("note")
    path = write(table, tmp_path / f"in.{before}")
    given = {"k": 3, "quasi_identifiers": ["degree", "wages"], "confidential": "rent", "method": "mdav"}
    expected = shoal.anonymize(path, **given).manifest["figures"]
    found = anonymize_file(path, tmp_path / "out.csv", blocks=blocks, **given)
    assert {name: found.manifest["figures"][name] for name in expected if "untouched" in name} == {
        name: figure for name, figure in expected.items() if "untouched" in name
    }
    assert "'school' determines 'degree' in every record" in expected["untouched_others"]["details"]["says"]
    assert "total = wages + rent in every record" in expected["untouched_confidential"]["details"]["says"]


def test_a_strict_stream_ends_before_the_grouping_and_leaves_nothing(tmp_path, small_parts, monkeypatch):
    path = write(leaky(60).drop_columns("note"), tmp_path / "in.csv")
    monkeypatch.setattr("shoal.stream.run.settle", None)
    with pytest.raises(ShoalError, match="nothing is released.*of 60 records are unique.*or leave out strict"):
        anonymize_file(path, tmp_path / "out.csv", k=3, quasi_identifiers="wages", blocks=2, strict=True)
    assert os.listdir(tmp_path) == ["in.csv"]
    monkeypatch.undo()
    given = {"k": 3, "quasi_identifiers": "wages", "confidential": ["degree", "rent", "total", "school"]}
    found = anonymize_file(path, tmp_path / "out.csv", blocks=2, strict=True, method="mdav", **given)
    assert found.manifest["strict"] is True


def test_a_stream_warns_once_of_columns_without_a_role(tmp_path):
    path = write(leaky(60).drop_columns("note"), tmp_path / "in.csv")
    with pytest.warns(ShoalWarning) as noted:
        anonymize_file(path, tmp_path / "out.csv", k=3, quasi_identifiers=["degree", "wages"], blocks=1)
    (message,) = [str(warning.message) for warning in noted]
    assert message.startswith("columns without a role are released as they are: 'rent', 'total', 'school'; ")


def test_a_wide_table_is_grouped_alike_in_memory_and_streamed_and_has_k(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2000)).round(2)
    names = [f"gene {number}" for number in range(2000)]
    write(pa.table([*X.T, np.arange(40) % 3], names=[*names, "diagnosis"]), tmp_path / "wide.csv")
    given = {"k": 4, "quasi_identifiers": names, "confidential": "diagnosis"}
    anonymize_file(tmp_path / "wide.csv", tmp_path / "a.csv", **given)
    streamed = anonymize_file(tmp_path / "wide.csv", tmp_path / "b.csv", blocks=1, **given)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    records = [line.rsplit(",", 1)[0] for line in (tmp_path / "a.csv").read_text().splitlines()[1:]]
    assert min(records.count(record) for record in records) == streamed.manifest["output"]["verified_k"] >= 4


def test_a_table_is_not_opened_once_for_every_column(tmp_path, monkeypatch):
    opened = []

    class Counted(pyarrow.parquet.ParquetFile):
        def __init__(self, *given, **options):
            opened.append(given)
            super().__init__(*given, **options)

    monkeypatch.setattr(pyarrow.parquet, "ParquetFile", Counted)
    counts = []
    for m in (3, 30):
        X = np.random.default_rng(0).normal(size=(12, m))
        write(pa.table(list(X.T), names=[f"q{j}" for j in range(m)]), tmp_path / "t.parquet")
        opened.clear()
        anonymize_file(
            tmp_path / "t.parquet",
            tmp_path / "out.parquet",
            k=3,
            quasi_identifiers=[f"q{j}" for j in range(m)],
            method="mdav",
            blocks=2,
            overwrite=True,
        )
        counts.append(len(opened))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("name", ["scan.parquet", "numbers.parquet", "block-0.parquet", "released-0.parquet"])
def test_an_output_may_be_called_as_the_work_calls_its_own_files(tmp_path, name):
    path = tmp_path / "in.csv"
    path.write_text("age,weight\n" + "".join(f"{20 + i % 30},{50 + i % 17}.5\n" for i in range(60)))
    given = {"k": 3, "quasi_identifiers": ["age", "weight"], "method": "mdav", "blocks": 2}
    anonymize_file(path, tmp_path / name, **given)
    anonymize_file(path, tmp_path / "other.parquet", **given)
    assert (tmp_path / name).read_bytes() == (tmp_path / "other.parquet").read_bytes()


@pytest.mark.parametrize("aggregate", ["mode", "median"])
def test_one_block_releases_numbers_of_members_as_they_are_in_memory(tmp_path, small_parts, aggregate):
    rng = np.random.default_rng(3)
    table = pa.table({"x": np.round(rng.normal(50, 20, 60), 1), "y": rng.normal(50, 20, 60)})
    path = write(table, tmp_path / "in.csv")
    asked = {"k": 3, "quasi_identifiers": ["x", "y"], "aggregate": aggregate}
    in_memory(path, tmp_path / "memory.csv", **asked)
    anonymize_file(path, tmp_path / "stream.csv", blocks=1, **asked)
    assert (tmp_path / "stream.csv").read_bytes() == (tmp_path / "memory.csv").read_bytes()


@pytest.mark.parametrize(
    "said",
    [
        {"person": "who"},
        {"household": "who"},
        {"within": "who"},
        {"sampling_weight": "age"},
        {"also": [(4, ["size"])]},
    ],
)
def test_blocks_refuse_what_needs_the_whole_table(tmp_path, said):
    lines = "".join(f"p{n // 10},{n * n % 97},{n % 7}.5\n" for n in range(40))
    (tmp_path / "rows.csv").write_text("who,age,size\n" + lines)
    with pytest.raises(ShoalError, match=f"{next(iter(said))} needs the whole table in memory"):
        shoal.anonymize_file(
            tmp_path / "rows.csv", tmp_path / "out.csv", k=2, quasi_identifiers=["size"], blocks=2, **said
        )
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
