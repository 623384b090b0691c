"""A format that is made known from outside of the package is read, written, streamed and verified as any other."""

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import naive
import shoal
from shoal.errors import ShoalError
from shoal.files import FORMATS, Format, Reader, Said, Style, Writer, format_of, look, read, register
from shoal.files.formats import format_in, text_schema

pytestmark = pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")


class JsonLines(Format):
    """A record a line."""

    name, title = "jsonl", "JSON lines"
    suffixes = shown = (".jsonl",)
    starts = (b"{",)

    def reader(self, file, said):
        with file.open() as lines:
            try:
                first = json.loads(next(lines, b""))
            except ValueError as error:
                raise self.unreadable(file.name, error) from None
        return JsonReader(self, file, pa.Table.from_pylist([first]).schema)

    def writer(self, path, schema, style=None):
        return JsonWriter(path)


class JsonReader(Reader):
    def parts(self, columns, progress):
        schema = pa.schema([self.schema.field(name) for name in columns])
        with self.file.open() as lines:
            while records := [json.loads(line) for line in islice(lines, 3)]:
                yield pa.Table.from_pylist(records, schema)
                progress(lines.tell(), self.file.size)


class JsonWriter(Writer):
    def __init__(self, path):
        self._file = path.open("w")

    def write(self, part):
        self._file.writelines(json.dumps(record) + "\n" for record in part.to_pylist())

    def close(self):
        self._file.close()


class Pipes(Format):
    """Text: a name, or a value, between bars."""

    name, title = "pipes", "pipes"
    suffixes = shown = (".pipes",)
    is_text = True

    def reader(self, file, said):
        with file.open() as lines:
            return PipesReader(self, file, text_schema(next(lines).decode().strip().split("|")))

    def writer(self, path, schema, style):
        return PipesWriter(path, schema.names)

    def style_for(self, target, dialect):
        return Style(dialect)


class PipesReader(Reader):
    def parts(self, columns, progress):
        with self.file.open() as lines:
            rows = [line.decode().strip().split("|") for line in lines][1:]
        values = dict(zip(self.columns, zip(*rows, strict=True), strict=True))
        yield pa.table({name: pa.array(values[name], pa.string()) for name in columns})


class PipesWriter(JsonWriter):
    def __init__(self, path, names):
        super().__init__(path)
        self.write([[name] for name in names])

    def write(self, part):
        self._file.writelines("|".join(row) + "\n" for row in zip(*part, strict=True))


@pytest.fixture
def formats(monkeypatch):
    """The two made known for a test."""
    monkeypatch.setattr("shoal.files.batches.GROUP", 4)
    for kind in (JsonLines(), Pipes()):
        register(kind)
    yield
    for name in ("jsonl", "pipes"):
        del FORMATS[name]


def people(n=23):
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "name": [f"person {number}" for number in range(n)],
            "age": rng.integers(18, 90, n),
            "size": rng.normal(170, 9, n).round(1),
            "note": [f"note {number % 4}" for number in range(n)],
        }
    )


def written(folder, suffix):
    """The same people in a file of any format."""
    path, table = folder / f"in.{suffix}", people()
    kind = format_of(path)
    texts = [[str(value) for value in column.to_pylist()] for column in table.columns]
    style = kind.style_for(path, shoal.files.Dialect())
    with kind.writer(path, table.schema, style) as writer:
        writer.write(texts if kind.is_text else table)
    return path


@pytest.mark.parametrize("blocks", [None, 1, 2])
@pytest.mark.parametrize("after", ["jsonl", "pipes", "csv", "parquet", "arrow"])
@pytest.mark.parametrize("before", ["jsonl", "pipes", "csv", "parquet"])
def test_a_table_goes_from_any_format_to_any(tmp_path, formats, same_key, before, after, blocks):
    roles = {"quasi_identifiers": ["age", "size"], "confidential": "note", "identifiers": "name"}
    source, target = written(tmp_path, before), tmp_path / f"out.{after}"
    made = shoal.anonymize_file(source, target, 3, **roles, method="mdav", blocks=blocks)
    assert made.verified_k >= 3
    assert made.manifest["input"]["format"] == before
    assert made.manifest["output"]["format"] == after
    assert shoal.verify(target, roles["quasi_identifiers"]).k == made.verified_k
    assert shoal.anonymize(source, 3, **roles, method="mdav").write(tmp_path / f"whole.{after}").n_records == 23
    if blocks != 2:
        assert target.read_bytes() == (tmp_path / f"whole.{after}").read_bytes()
    back, table = read(target).table, people()
    assert back.column_names == ["age", "size", "note"]
    assert naive.as_they_came(back["note"].to_pylist(), made.manifest) == table["note"].to_pylist()
    assert sum(back["age"].to_pylist()) == pytest.approx(sum(table["age"].to_pylist()), abs=23)


@pytest.mark.parametrize("suffix", ["jsonl", "pipes"])
def test_it_is_inspected_and_verified_whole_and_in_parts(tmp_path, formats, monkeypatch, suffix):
    path = written(tmp_path, suffix)
    found = shoal.inspect(path)
    assert found.records == 23
    assert found.suggested("quasi-identifier") == ["age", "size"]
    assert found == shoal.inspect(read(path))
    whole = shoal.verify(path, ["age"])
    monkeypatch.setattr("shoal.verification.size_in_memory", lambda _: 10**15)
    assert sorted(shoal.verify(path, ["age"]).anonymity.sizes) == sorted(whole.anonymity.sizes)


def test_it_is_known_by_its_name_and_by_its_first_bytes(tmp_path, formats):
    path = written(tmp_path, "jsonl")
    path.rename(tmp_path / "unnamed")
    assert read(tmp_path / "unnamed").table.equals(people())
    assert format_in("x.csv", b"{").name == "csv"  # a name that tells is believed
    assert format_in("x", b"age").name == "csv"
    with pytest.raises(ShoalError, match=r"end the name in \.csv, \.csv\.gz, .* \.arrow, \.jsonl or \.pipes$"):
        format_of(Path("x.xlsx"))
    with pytest.raises(ShoalError, match="cannot tell the format of x.jsonl.gz"):
        format_of(Path("x.jsonl.gz"))


def test_what_is_wrong_is_said_as_of_other_formats(tmp_path, formats):
    path = tmp_path / "t.jsonl"
    path.write_text("")
    with pytest.raises(ShoalError, match="^t.jsonl is not a readable JSON lines file: Expecting value"):
        read(path)
    with pytest.raises(ShoalError, match="has no delimiter"):
        look(written(tmp_path, "jsonl"), Said(delimiter=","), print)


@pytest.mark.parametrize("taken", [{"name": "csv"}, {"suffixes": (".x", ".pq")}])
def test_a_name_or_a_suffix_is_that_of_one_format(taken):
    kind = type("Other", (JsonLines,), {"name": "other", "suffixes": (".other",)} | taken)()
    with pytest.raises(ShoalError, match=r"there is a format already that is known by (csv|\.pq)$"):
        register(kind)
    assert list(FORMATS) == ["csv", "parquet", "arrow"]
