"""The releases of many small tables, recorded, so that a later version can be shown to change no byte of them.

    python benchmarks/releases.py record before.json              two to three minutes, kernels compiled
    python benchmarks/releases.py compare before.json             the same cases again, with the present code
    python benchmarks/releases.py compare before.json --only csv  those with these letters in their names

A case is a table, how it comes in, what is asked for and where it goes. What is kept of it: the hash of the file
released, the loss in all and of each attribute, a hash of the labels and of the table returned, the number of
groups, the digits, what `shoal.verify` counts in the file, and the warnings; of a refused table, the reason.

`compare` says of each case what is no longer the same, and exits with status 1 if anything is. Groups that Refined
or PCL found, or exchanges after Blocked, may become better ones (`may_change`): there only a higher loss counts.

All tables are made here from fixed seeds. Those of ../shared (or where SHOAL_SHARED says) come in addition where
that folder is. Parquet and Arrow files hold the version of the library that writes them: compare on one machine.
"""

import argparse
import csv
import datetime as dt
import gzip
import hashlib
import inspect
import io
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
from threadpoolctl import threadpool_limits

import shoal

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))

Record = dict[str, Any]
Maker = Callable[[Path], Any]  # of a table, or of a file in a folder

QUASI = ["age", "height", "income"]
ROLES: dict[str, Any] = {"quasi_identifiers": QUASI, "confidential": ["diagnosis", "ward"], "identifiers": "name"}
AGED = {
    "q": ["age", "height"],
    "c": ["category", "date", "time", "list", "parts", "bytes", "half", "price"],
    "k": 4,
}
WORDS = {"sha256": "hash", "attributes": "losses of attributes", "table": "table returned", "refused": "reason"}
KNOWS_ORDERS = hasattr(getattr(shoal, "Settings", None), "keep_order")
"""Whether this version writes the rows in another order than that of the input."""

KEPT = "--keep-order" if KNOWS_ORDERS else ""
KEY = "000102030405060708090a0b0c0d0e0f"
TOLERANCE = 1e-12
"""By how much of itself a loss may be higher without being called so, where groups may change."""


class Case(NamedTuple):
    """A release to make; `shared` where its data are not of the project."""

    name: str
    run: Callable[[Path], Record]
    shared: bool = False


# Tables


def people(n: int = 200, seed: int = 1) -> dict[str, list[Any]]:
    """Invented people: whole numbers, tenths, hundreds, and words."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 95, n)
    height = rng.normal(171, 9, n).round(1)
    income = rng.lognormal(10.2, 0.5, n).round(-2).astype(int)
    return {
        "name": [f"person {number}" for number in range(n)],
        "age": age.tolist(),
        "height": height.tolist(),
        "income": income.tolist(),
        "diagnosis": rng.choice(["flu", "gout", "none", "asthma", 'a "cold", slight'], n).tolist(),
        "ward": rng.choice(["007", "012", "1.50", "", "Nord"], n).tolist(),
    }


def numbers(n: int = 200, m: int = 3, seed: int = 2) -> dict[str, list[Any]]:
    """Floats with all their digits, in five clusters."""
    rng = np.random.default_rng(seed)
    points = rng.normal(0, 4, (5, m))[rng.integers(0, 5, n)] + rng.normal(size=(n, m))
    return {f"x{column}": points[:, column].tolist() for column in range(m)}


def drawn(seed: int, n: int, make: Callable[[np.random.Generator], Any]) -> list[Any]:
    """So many values, one after the other from one seed."""
    rng = np.random.default_rng(seed)
    return [make(rng) for _ in range(n)]


def ties(n: int = 90) -> dict[str, list[Any]]:
    """Few different values, so that most distances are equal and many records are."""
    rng = np.random.default_rng(3)
    return {"x": rng.integers(0, 4, n).tolist(), "y": (rng.integers(0, 3, n) / 10).tolist()}


def duplicates() -> dict[str, list[Any]]:
    """Every record seven times, and some once more."""
    few = people(20, 5)
    return {name: values * 7 + values[:6] for name, values in few.items()}


def with_others(n: int = 60) -> dict[str, list[Any]]:
    """Columns without a role, which tell people apart or give a quasi-identifier back."""
    table = people(n, 6)
    return table | {
        "inches": [round(height / 2.54, 1) for height in table["height"]],
        "note": ["=1+1", "x", "-"] * 20,
    }


def codes(n: int = 120) -> dict[str, list[Any]]:
    """Codes with leading zeros, dates as numbers, marks, a counter, and signs: numbers that are no quantities."""
    rng = np.random.default_rng(7)
    days = [f"19{rng.integers(40, 99)}{rng.integers(1, 13):02d}{rng.integers(1, 29):02d}" for _ in range(n)]
    return {
        "zip": drawn(8, n, lambda rng: f"{rng.integers(0, 99_999):05d}"),
        "born": days,
        "children": [-9 if number % 11 == 0 else number % 5 for number in range(n)],
        "number": list(range(1, n + 1)),
        "balance": drawn(9, n, lambda rng: f"{rng.choice(['+', '-', ''])}{rng.integers(0, 30)}"),
    }


def odd_numbers(n: int = 80) -> dict[str, list[Any]]:
    """Numbers as text that a double does not hold, or holds at its edges."""
    return {
        "long": drawn(10, n, lambda rng: f"1234567890123456{rng.integers(0, 10**14):014d}"),
        "power": drawn(11, n, lambda rng: f"{rng.uniform(1, 10):.3f}e{rng.integers(-20, 20):+d}"),
        "fine": drawn(12, n, lambda rng: f"{rng.integers(0, 9)}.{rng.integers(0, 10**17):017d}"),
        "mixed": drawn(13, n, lambda rng: rng.choice(["0.5", ".25", "7.", "-3", "12.125"])),
        "flag": drawn(14, n, lambda rng: str(rng.random() < 0.4)),
        "same": ["2.50"] * n,
    }


def arrow_numbers(n: int = 120) -> pa.Table:
    """A quasi-identifier of every kind of number that Arrow has, and one column beside them."""
    rng = np.random.default_rng(15)
    columns = {
        f"int{bits}": pa.array(rng.integers(-99, 99, n), getattr(pa, f"int{bits}")()) for bits in (8, 16, 32)
    }
    columns |= {f"uint{bits}": pa.array(rng.integers(0, 99, n), getattr(pa, f"uint{bits}")()) for bits in (8, 32)}
    columns["float32"] = pa.array(rng.normal(20, 9, n).round(2).astype(np.float32))
    columns["float16"] = pa.array(rng.normal(20, 9, n).round(1).astype(np.float16))
    columns["float64"] = pa.array(rng.normal(size=n))
    columns["bool"] = pa.array(rng.random(n) < 0.3)
    return pa.table(columns | {"kept": rng.normal(size=n).astype(np.float32)})


def whole_extremes(n: int = 60) -> pa.Table:
    """64 bits to their ends."""
    rng = np.random.default_rng(16)
    signed = rng.integers(-(2**63), 2**63 - 1, n, dtype=np.int64, endpoint=True)
    signed[:4] = [-(2**63), 2**63 - 1, 2**63 - 2, -(2**63)]
    unsigned = rng.integers(0, 2**64 - 1, n, dtype=np.uint64, endpoint=True)
    unsigned[:3] = [0, 2**64 - 1, 2**64 - 1]
    near = (2**63 - 1 - rng.integers(0, 50, n)).astype(np.int64)
    return pa.table({"signed": signed, "unsigned": unsigned, "near": near})


def decimals(n: int = 80) -> pa.Table:
    """Decimals of two widths, one of them in hundreds."""
    rng = np.random.default_rng(17)
    kinds = {"cents": pa.decimal128(9, 2), "wide": pa.decimal256(50, 5), "hundreds": pa.decimal128(7, -2)}
    values = {name: rng.integers(-9999, 99_999, n).tolist() for name in kinds}
    return pa.table(
        {
            name: pa.array([Decimal(value).scaleb(-kind.scale) for value in values[name]], kind)
            for name, kind in kinds.items()
        }
    )


def any_types(n: int = 60) -> pa.Table:
    """Columns of many types beside two quasi-identifiers, with gaps, and metadata that must not leave."""
    rng = np.random.default_rng(18)
    day = dt.date(2001, 2, 3)
    words = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 2, n), pa.int8()), ["low", "high", "unused"])
    table = pa.table(
        {
            "age": rng.integers(18, 90, n),
            "height": rng.normal(171, 9, n).round(1),
            "category": words,
            "date": [day + dt.timedelta(number) if number % 7 else None for number in range(n)],
            "time": pa.array(range(n), pa.timestamp("us", "UTC")),
            "list": [[number, None] for number in range(n)],
            "parts": [{"a": number % 3, "b": "x"} for number in range(n)],
            "bytes": [b"\0\xff"] * n,
            "half": pa.array(np.full(n, 1.1, np.float16)),
            "price": pa.array([Decimal("1.50"), None] * (n // 2), pa.decimal128(5, 2)),
            "empty": pa.nulls(n),
            "flag": [True, None, False] * (n // 3),
        }
    )
    return table.replace_schema_metadata({"secret": "a path"})


# Files and frames


def text_file(
    columns: dict[str, list[Any]],
    name: str = "in.csv",
    *,
    decimal: str = ".",
    encoding: str = "utf-8",
    header: bool = True,
    first: str = "",
    ends: bool = True,
    **layout: Any,
) -> Maker:
    """A CSV file in some layout; gzipped where its name says so."""

    def make(folder: Path) -> Path:
        def shown(value: Any) -> Any:
            return repr(value).replace(".", decimal) if isinstance(value, float) else value

        text = io.StringIO()
        writer = csv.writer(text, **({"lineterminator": "\n"} | layout))
        if header:
            writer.writerow(columns)
        writer.writerows([[shown(value) for value in row] for row in zip(*columns.values(), strict=True)])
        whole = first + text.getvalue()
        content = (whole if ends else whole.rstrip("\r\n")).encode(encoding)
        path = folder / name
        path.write_bytes(gzip.compress(content, mtime=0) if name.endswith(".gz") else content)
        return path

    return make


def arrow_file(columns: dict[str, list[Any]] | pa.Table, name: str, piece: int = 37) -> Maker:
    """A Parquet file, an Arrow file, or a stream of Arrow where the name tells of none, in some pieces."""

    def make(folder: Path) -> Path:
        table, path = pa.table(columns), folder / name
        if name.endswith(".parquet"):
            pyarrow.parquet.write_table(table, path, row_group_size=piece)
            return path
        opener = pa.ipc.new_file if name.endswith(".arrow") else pa.ipc.new_stream
        with opener(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=piece)
        return path

    return make


def given(make: Callable[[], Any]) -> Maker:
    """A table in memory; it is made when its turn comes."""
    return lambda folder: make()


def shared_file(name: str) -> Maker:
    """A file of the benchmark data."""
    return lambda folder: SHARED / "data" / name


def indexed_frame() -> pd.DataFrame:
    """A pandas table with an index of its own, types of several kinds, and a category that no record has."""
    frame = pd.DataFrame(people(90, 20)).set_index("name", drop=False).rename_axis("who")
    frame["age"] = frame["age"].astype("Int16")
    frame["income"] = frame["income"].astype("float32")
    frame["ward"] = pd.Categorical(frame["ward"], [*sorted(set(frame["ward"])), "closed"])
    return frame


def nullable_frame() -> pd.DataFrame:
    """A pandas table of Arrow's types, with gaps in what is kept."""
    frame = pd.DataFrame(people(90, 21)).convert_dtypes(dtype_backend="pyarrow")
    frame["seen"] = pd.to_datetime(["2020-01-02", None, "2021-03-04"] * 30)
    return frame


def reader() -> pa.RecordBatchReader:
    """A reader of record batches."""
    return pa.table(people(90, 22)).to_reader(max_chunksize=11)


def relation() -> duckdb.DuckDBPyRelation:
    """A relation of DuckDB."""
    return duckdb.connect().from_arrow(pa.table(people(90, 23))).order("age, name")


# Releases


def weighted(weights: dict[str, float]) -> dict[str, dict[str, float]]:
    """Weights of attributes, under the name by which this version takes them."""
    known = inspect.signature(shoal.anonymize).parameters
    return {"weights" if "weights" in known else "attribute_weights": weights}


def in_known_order(settings: dict[str, Any]) -> dict[str, Any]:
    """With the order of the input where no key is given, as all versions can write it."""
    return settings if "key" in settings or not KNOWS_ORDERS else {"keep_order": True} | settings


def in_memory(name: str, make: Maker, output: str = "safe.csv", **settings: Any) -> Case:
    """A case of `anonymize` and `write`."""

    def run(folder: Path) -> Record:
        release = shoal.anonymize(make(folder), **spelled_out(settings))
        release.write(folder / output)
        labels = getattr(release, "labels", None)
        return recorded(release, folder / output) | {
            "labels": None if labels is None else sha256(np.asarray(labels, "<i8").tobytes()),
            "table": sha256(described(release.table).encode()),
        }

    return Case(name, run)


def by_file(name: str, make: Maker, output: str = "safe.csv", **settings: Any) -> Case:
    """A case of `anonymize_file`, streamed where `blocks` are given."""

    def run(folder: Path) -> Record:
        release = shoal.anonymize_file(make(folder), folder / output, **spelled_out(settings))
        return recorded(release, folder / output)

    return Case(name, run)


def spelled_out(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings as they are called, with the roles of people and MDAV at k = 5 where nothing else is said."""
    named = {"q": "quasi_identifiers", "c": "confidential"}
    settings = {named.get(name, name): value for name, value in settings.items()}
    if "quasi_identifiers" not in settings:
        settings = ROLES | settings
    method = settings.setdefault("method", "mdav")
    settings = in_known_order(settings)
    if callable(method):  # an estimator, made when its turn comes; it has a k of its own
        return settings | {"method": method()}
    return {"k": 5} | settings


def by_command(name: str, make: Maker, output: str, line: str) -> Case:
    """A case of the command line, whose manifest is then repeated as a recipe."""

    def run(folder: Path) -> Record:
        make(folder)
        made = json.loads(command(folder, f"anonymize {line} {KEPT} -o {output} --json"))
        repeat(folder, output)
        return recorded_manifest(made["manifest"], folder / output) | {"said": made["warnings"]}

    return Case(name, run)


def by_recipe(name: str, make: Maker, output: str, **settings: Any) -> Case:
    """A case of `anonymize_file` that the command line repeats from its manifest."""
    made = by_file(name, make, output, **settings)

    def run(folder: Path) -> Record:
        found = made.run(folder)
        repeat(folder, output)
        return found

    return Case(name, run)


def repeat(folder: Path, output: str) -> None:
    """Repeat a release from its manifest; the command fails if the hash is another."""
    command(folder, f"anonymize --recipe {output}.manifest.json -o again-{output} --quiet")
    if (folder / output).read_bytes() != (folder / f"again-{output}").read_bytes():
        raise AssertionError("the recipe gives other bytes")


def by_pipe(name: str, make: Maker, line: str) -> Case:
    """A case of the command line that reads standard input and writes standard output."""

    def run(folder: Path) -> Record:
        content = make(folder).read_bytes()
        return {"sha256": sha256(command(folder, f"anonymize - {line} {KEPT} -o -", content))}

    return Case(name, run)


def command(folder: Path, line: str, stdin: bytes = b"") -> bytes:
    """What the command line of this very version prints."""
    home = str(Path(shoal.__file__).parents[1])
    path = os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "shoal", *line.split()],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        input=stdin,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise AssertionError(f"exit status {done.returncode}: {done.stderr.decode().strip()}")
    return done.stdout


def looked_at(name: str, make: Maker, quasi_identifiers: list[str], **dialect: Any) -> Case:
    """A case of `inspect` and `verify` on a file that nobody has anonymized."""

    def run(folder: Path) -> Record:
        path = make(folder)
        roles = shoal.inspect(path, **dialect).roles()
        counted = shoal.verify(path, quasi_identifiers, **dialect)
        return {"roles": roles, "verified": [counted.k, counted.n_groups, counted.n_records]}

    return Case(name, run)


def refused(case: Case) -> Case:
    """The same, where the table must be refused; the reason is kept."""

    def run(folder: Path) -> Record:
        try:
            case.run(folder)
        except shoal.ShoalError as error:
            return {"refused": str(error).replace(f"{folder}{os.sep}", "")}
        raise AssertionError("it was not refused")

    return Case(case.name, run, case.shared)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def described(table: Any) -> str:
    """A table with its kind, its types, its index and its values, to the last digit."""
    if isinstance(table, pd.DataFrame):
        types = [(str(name), str(kind)) for name, kind in table.dtypes.items()]
        return repr(
            ("pandas", types, table.index.name, table.index.tolist(), table.astype(object).to_numpy().tolist())
        )
    if isinstance(table, pl.DataFrame):
        return repr(("polars", [(name, str(kind)) for name, kind in table.schema.items()], table.rows()))
    return repr((type(table).__name__, str(table.schema), table.to_pydict()))


def recorded(release: Any, path: Path) -> Record:
    """What is kept of a release that was written."""
    losses = {part.name: repr(part.percent) for part in release.loss.attributes}
    loss = {"loss": repr(release.information_loss), "attributes": losses}
    return recorded_manifest(release.manifest, path) | loss


def figure_of(manifest: dict[str, Any], name: str) -> Any:
    """A figure of a release; manifests of older versions hold it by itself."""
    return manifest["figures"][name]["value"] if "figures" in manifest else manifest[name]


def recorded_manifest(manifest: dict[str, Any], path: Path) -> Record:
    """The same as far as the manifest and the file tell."""
    content = path.read_bytes()
    if manifest["output"]["sha256"] != sha256(content):
        raise AssertionError("the manifest has another hash than the file")
    counted = shoal.verify(path, manifest["roles"]["quasi_identifiers"])
    return {
        "sha256": sha256(content),
        "loss": repr(figure_of(manifest, "information_loss")),
        "groups": figure_of(manifest, "groups"),
        "blocks": manifest.get("blocks"),
        "digits": manifest["digits"]["used"],
        "verified": [counted.k, counted.n_groups, counted.n_records],
        "may_change": may_change(manifest["method"]),
    }


def may_change(method: Any) -> bool:
    """Whether a method, as a manifest describes it, may find better groups in a later version."""
    if not isinstance(method, dict):
        return False
    name, parameters = method.get("name"), method.get("parameters", {})
    exchanges = name == "Blocked" and (parameters.get("sweeps") != 0 or parameters.get("by") == "pcl")
    return (
        name in ("Refined", "PCL")
        or exchanges
        or any(map(may_change, [method.get("chosen"), *parameters.values()]))
    )


# Cases


def text_cases() -> list[Case]:
    """CSV files as people write them."""
    table, german, said = people(), {"delimiter": ";", "decimal": ","}, {"q": ["x", "x_2"], "number_names": True}
    comma = table | {"ward": ["007", "1,50", "", "Nord"] * 50}
    letters = table | {"ward": ["Hôpital", "Übung", "Señor", "Ørsted"] * 50}
    lines = people(60, 4) | {"diagnosis": ["two\nlines", 'say "no"', "a, b", ""] * 15}
    thousands = {sign: [f"{income:,}".replace(",", sign) for income in table["income"]] for sign in ",.'"}
    numbered = {"q": ["column2", "column4"], "c": ["column3", "column5", "column6"], "identifiers": "column1"}
    years = {"2019": table["age"], "2020": table["income"], "2021": table["height"]}
    twice = text_file({"x": table["age"], "y": table["height"]}, header=False, first="x,x\n")
    bare, russian = text_file(table, header=False), table | {"ward": ["Жя"] * 200}
    return [
        in_memory("csv with commas", text_file(table)),
        in_memory("csv with semicolons and decimal commas", text_file(comma, **german)),
        in_memory("csv with tabs to tsv", text_file(table, "in.tsv", delimiter="\t"), "safe.tsv"),
        in_memory("csv to tsv", text_file(table), "safe.tsv"),
        in_memory("csv with bars", text_file(table, "in.txt", delimiter="|"), "safe.txt"),
        in_memory("csv gzipped to csv", text_file(table, "in.csv.gz")),
        in_memory("csv to csv gzipped", text_file(table), "safe.csv.gz"),
        in_memory("csv in latin-1", text_file(letters, encoding="latin-1")),
        in_memory("csv in utf-16", text_file(letters, encoding="utf-16")),
        in_memory("csv in utf-8 with a mark", text_file(letters, encoding="utf-8-sig")),
        in_memory("csv with both line ends", text_file(table, lineterminator="\r\n")),
        in_memory("csv with carriage returns", text_file(table, lineterminator="\r")),
        in_memory("csv without a last line end", text_file(table, ends=False)),
        in_memory("csv all in quotes", text_file(lines, quoting=csv.QUOTE_ALL)),
        in_memory("csv with lines and quotes in quotes", text_file(lines)),
        in_memory("csv in single quotes", text_file(table, quotechar="'", quoting=csv.QUOTE_ALL)),
        in_memory("csv that says sep=;", text_file(comma, first="sep=;\n", **german)),
        in_memory("csv to parquet", text_file(table), "safe.parquet"),
        in_memory("csv to arrow", text_file(table), "safe.arrow"),
        by_file("csv without a header, with names", bare, header=False, names=list(table)),
        by_file("csv without a header", bare, header=False, **numbered),
        by_file("csv with years as names", text_file(years), header=True, q=list(years)),
        by_file("csv with a name twice", twice, **said),
        by_file("csv with commas between thousands", text_file(table | {"income": thousands[","]})),
        by_file("csv with points between thousands", text_file(comma | {"income": thousands["."]}, **german)),
        by_file("csv with apostrophes", text_file(table | {"income": thousands["'"]}), thousands="'", quote='"'),
        by_file("csv in koi8-r, as said", text_file(russian, encoding="koi8-r"), encoding="koi8-r"),
        by_file("csv within 512 MB", text_file(table), memory="512MB"),
    ]


def number_cases() -> list[Case]:
    """Numbers of every kind."""
    floats, wide, zips, odd = numbers(), numbers(40, 60), codes(), odd_numbers()
    few, same = text_file(ties()), text_file({"x": [5] * 12, "y": [0.1] * 12})
    gap, doubtful = text_file({"x": [1, 2, "NA", 4], "y": [1] * 4}), text_file({"1": [2, 3], "2": [4, 5]})
    cases = [
        in_memory("long floats", text_file(floats), q=list(floats)),
        in_memory("long floats to parquet", text_file(floats), "safe.parquet", q=list(floats)),
        in_memory("codes, dates, marks and a counter", text_file(zips), q=list(zips)),
        in_memory("codes with zeros to parquet", text_file(zips), "safe.parquet", q=["zip", "children"]),
        in_memory("ties, k = 3", few, k=3, q=["x", "y"]),
        in_memory("ties, k = 4, median", few, k=4, aggregate="median", q=["x", "y"]),
        in_memory("duplicates", text_file(duplicates())),
        in_memory("columns without a role", text_file(with_others())),
        in_memory("one column only", text_file({"x": people()["age"]}), q="x"),
        in_memory("nothing but constants", same, k=3, q=["x", "y"]),
        in_memory("more attributes than records", text_file(wide), k=4, q=list(wide)),
        in_memory("numbers: all together", text_file(odd), q=list(odd)),
        refused(in_memory("a gap among the numbers", gap, k=2, q=["x", "y"])),
        refused(in_memory("a first line that may be a record", doubtful, k=2, q="1")),
    ]
    for name in odd:
        others = [other for other in odd if other != name]
        cases.append(in_memory(f"numbers: {name}", text_file(odd), q=name, c=others))
    return cases


def setting_cases() -> list[Case]:
    """What can be asked for beside the method."""
    table, floats, few = text_file(people()), numbers(), text_file(people(9))
    exact, xs = text_file(floats), {"q": list(floats)}
    heights = {"scaling": "range", "aggregate": "median"} | weighted({"height": 10})
    return [
        *(in_memory(f"k = {k}", table, k=k) for k in (1, 2, 3, 10, 50)),
        *(in_memory(f"scaling {name}", table, scaling=name) for name in ("range", "robust", "none")),
        in_memory("whole numbers only", table, q=["age", "income"], c=["height", "diagnosis", "ward", "name"]),
        in_memory("strict, and nothing to refuse", table, strict=True),
        in_memory("one group of all", few),
        in_memory("weights", table, **weighted({"age": 3, "income": 0.5})),
        in_memory("weights, range and median", table, **heights),
        in_memory("median", table, aggregate="median"),
        in_memory("median of long floats", exact, aggregate="median", k=4, **xs),
        in_memory("exact", table, exact=True),
        in_memory("exact to parquet", table, "safe.parquet", exact=True),
        in_memory("exact median", exact, exact=True, aggregate="median", **xs),
        in_memory("digits 1", table, digits=1),
        in_memory("digits by column", table, digits={"income": -2, "height": 0}),
        in_memory("more digits than the rule", exact, digits=6, **xs),
        refused(in_memory("strict, and refused", text_file(with_others()), strict=True)),
        refused(in_memory("more than there are", few, k=10)),
    ]


def arrow_cases() -> list[Case]:
    """Parquet, Arrow, and tables in memory."""
    table, kinds, extremes, tens, types = people(), arrow_numbers(), whole_extremes(), decimals(), any_types()
    seen = {"c": ["diagnosis", "ward", "seen"]}
    cases = [
        in_memory("parquet to parquet", arrow_file(table, "in.parquet"), "safe.parquet"),
        in_memory("parquet to csv", arrow_file(table, "in.parquet")),
        in_memory("arrow to arrow", arrow_file(table, "in.arrow"), "safe.arrow"),
        in_memory("arrow stream to csv", arrow_file(table, "in.dat")),
        in_memory("pandas with an index to csv", given(indexed_frame)),
        in_memory("pandas with an index to parquet", given(indexed_frame), "safe.parquet"),
        in_memory("pandas of arrow's types to arrow", given(nullable_frame), "safe.arrow", **seen),
        in_memory("polars to parquet", given(lambda: pl.DataFrame(people(90, 24))), "safe.parquet"),
        in_memory("polars, lazy, to csv", given(lambda: pl.LazyFrame(people(90, 25)))),
        in_memory("pyarrow to csv gzipped", given(lambda: pa.table(people(90, 26))), "safe.csv.gz"),
        in_memory("record batches to arrow", given(reader), "safe.arrow"),
        in_memory("duckdb to csv", given(relation)),
    ]
    named = kinds.column_names
    for kind in ("csv", "parquet", "arrow"):
        output = f"safe.{kind}"
        cases += [
            in_memory(
                f"arrow's numbers to {kind}", arrow_file(kinds, "in.parquet"), output, q=named[:-1], c="kept"
            ),
            in_memory(f"64 bits to {kind}", arrow_file(extremes, "in.arrow"), output, q=extremes.column_names),
            in_memory(f"decimals to {kind}", arrow_file(tens, "in.arrow"), output, q=tens.column_names),
            in_memory(f"any types to {kind}", arrow_file(types, "in.arrow"), output, **AGED),
        ]
    return cases


def method_cases() -> list[Case]:
    """Every method by its name, and some with their parameters."""
    names = (
        "mdav cbfs vmdav tfrp gsms-t2 dba dba-2p mst-partition mu-approx path-mhm imhm pca-reduced proximal-distal"
    )
    table, floats, large = text_file(people(150, 30)), numbers(300, 4, 31), numbers(6000, 3, 32)
    many = (text_file(large), "safe.csv")
    xs = {"q": list(large)}
    models = {
        "vmdav, gamma 1.1": lambda: shoal.VMDAV(k=4, gamma=1.1),
        "dba-2p, p = 3": lambda: shoal.DBA2P(k=4, p=3),
        "tfrp, one phase": lambda: shoal.TFRP(k=4, phases=1),
        "mst-partition, split by mdav": lambda: shoal.MSTPartition(k=4, split="mdav"),
        "genetic": lambda: shoal.Genetic(k=4, generations=30, population=20),
        "path-mhm on a tour": lambda: shoal.PathMHM(k=4, order="tsp"),
        "path-mhm, nearest next": lambda: shoal.PathMHM(k=4, order="npn"),
        "imhm in blocks": lambda: shoal.IMHM(k=4, blocks=2),
        "imhm at random": lambda: shoal.IMHM(k=4, randomness=0.5, random_state=7),
        "univariate-optimal on a component": lambda: shoal.UnivariateOptimal(k=4, projection="pca"),
        "pcl, k = 20": lambda: shoal.PCL(k=20, random_state=3, n_starts=2),
        "refined, exchanges only": lambda: shoal.Refined(k=4, rounds=0),
        "refined, two rounds": lambda: shoal.Refined(k=4, rounds=2, start="cbfs", random_state=5),
        "pca-reduced around vmdav": lambda: shoal.PCAReduced(shoal.VMDAV(k=4), components=2),
        "proximal-distal with macrocells": lambda: shoal.ProximalDistal(shoal.MDAV(k=4), macrocell=40),
        "blocked, no exchanges": lambda: shoal.Blocked(shoal.MDAV(k=4), blocks=5, sweeps=0),
        "blocked by pca": lambda: shoal.Blocked(shoal.CBFS(k=4), blocks=3, by="pca", sweeps=0, n_jobs=2),
        "blocked by mdav": lambda: shoal.Blocked(shoal.MDAV(k=4), max_size=90, by="mdav", sweeps=0),
    }
    return [
        *(in_memory(f"method {name}", table, k=3, method=name) for name in names.split()),
        *(in_memory(f"method {name}", table, k=3, method=name) for name in ("blocked", "refined", "auto")),
        in_memory("method pcl", table, k=3, method="pcl", random_state=1),
        in_memory("method optimal", text_file(people(20, 33)), k=3, method="optimal"),
        in_memory("method univariate-optimal", table, k=3, method="univariate-optimal", q="income"),
        in_memory("method auto on 24 records", text_file(people(24, 34)), k=4, method="auto"),
        in_memory("method auto on one attribute", table, k=3, method="auto", q="height"),
        in_memory("method auto on 6000 records", *many, method="auto", **xs),
        in_memory("method auto with large groups", *many, k=400, method="auto", **xs),
        in_memory("method mu-approx, shuffled", table, k=3, method="mu-approx", random_state=4),
        in_memory("method blocked on 6000 records", *many, method=lambda: shoal.Blocked(blocks=6), **xs),
        *(
            in_memory(f"method {n}", text_file(floats), method=model, q=list(floats))
            for n, model in models.items()
        ),
    ]


def stream_cases() -> list[Case]:
    """Tables that are streamed, in one block and in several."""
    table, floats, kinds = people(2000, 40), numbers(1500, 3, 41), arrow_numbers(600)
    few, long, parts = text_file(table), text_file(floats), arrow_file(table, "in.parquet", 300)
    comma = text_file(table | {"ward": ["west"] * 2000}, delimiter=";", decimal=",", lineterminator="\r\n")
    both, xs = {"aggregate": "median"} | weighted({"age": 3}), {"q": list(floats)}
    bare, names = text_file(table, header=False), {"header": False, "names": list(table)}
    extremes, types = arrow_file(whole_extremes(), "in.arrow"), arrow_file(any_types(), "in.parquet")
    return [
        *(by_file(f"streamed csv, blocks: {blocks}", few, blocks=blocks) for blocks in (1, 3, 8)),
        *(by_file(f"streamed parquet, blocks: {b}", parts, "safe.parquet", blocks=b) for b in (1, 3, 8)),
        by_file("streamed, median", few, blocks=3, aggregate="median"),
        by_file("streamed, weights", few, blocks=3, **weighted({"age": 3, "height": 0.2})),
        by_file("streamed, median and weights", parts, blocks=8, **both),
        by_file("streamed gzipped", text_file(table, "in.csv.gz"), "safe.csv.gz", blocks=3),
        by_file("streamed, range", few, blocks=3, scaling="range"),
        by_file("streamed, robust", few, blocks=3, scaling="robust"),
        by_file("streamed, robust in one block", few, blocks=1, scaling="robust"),
        by_file("streamed, not scaled", few, blocks=3, scaling="none", k=10),
        by_file("streamed, exact", few, blocks=3, exact=True),
        by_file("streamed, digits", few, "safe.tsv", blocks=3, digits={"height": 0, "income": -3}),
        by_file("streamed long floats", long, blocks=4, **xs),
        by_file("streamed long floats, median", long, "safe.parquet", blocks=4, aggregate="median", **xs),
        by_file("streamed csv to arrow", few, "safe.arrow", blocks=3),
        by_file("streamed semicolons", comma, blocks=3),
        by_file("streamed without a header", bare, blocks=3, **names),
        by_file("streamed arrow stream", arrow_file(table, "in.dat", 300), blocks=3),
        by_file("streamed any types", types, "safe.parquet", blocks=2, **AGED),
        by_file("streamed arrow's numbers", arrow_file(kinds, "in.arrow"), blocks=4, q=kinds.column_names[:-1]),
        by_file("streamed ties", text_file(ties(600)), blocks=5, k=3, q=["x", "y"]),
        by_file("streamed codes", text_file(codes(500)), blocks=3, q=list(codes(1))),
        by_file("streamed, columns without a role", text_file(with_others()), blocks=2),
        by_file("streamed, vmdav", few, blocks=3, method=lambda: shoal.VMDAV(k=4, gamma=0.5)),
        by_file("streamed, auto", few, blocks=3, method="auto", k=4),
        refused(by_file("streamed 64 bits", extremes, blocks=2, q="signed")),
    ]


def order_cases() -> list[Case]:
    """Rows in the order of a key, where this version knows it."""
    table, types = text_file(people(300, 45)), arrow_file(any_types(), "in.parquet")
    cases = [
        *(in_memory(f"order of a key, {name}", table, name, key=KEY) for name in ("safe.csv", "safe.arrow")),
        in_memory("order of a key, any types", types, "safe.parquet", key=KEY, **AGED),
        by_file("order of a key, streamed any types", types, "safe.parquet", blocks=2, key=KEY, **AGED),
        by_recipe("order of a key, streamed and repeated", table, "safe.csv", blocks=3, key=KEY),
    ]
    return cases if KNOWS_ORDERS else []


def command_cases() -> list[Case]:
    """The command line, recipes, inspecting and verifying."""
    table = people(400, 50)
    few, bare = text_file(table), text_file(table, header=False, delimiter=";")
    roles = "-k 5 -q age,height,income -c diagnosis,ward -i name --method"
    other = f"in.csv {roles} vmdav -p gamma=1.1 --aggregate median --digits income=-2"
    names = {"header": False, "names": list(table)}
    blocks = {"blocks": 4} | weighted({"height": 5})
    return [
        by_command("command", few, "safe.csv", f"in.csv {roles} mdav"),
        by_command("command with genetic", few, "safe.csv", f"in.csv {roles} genetic -p generations=20 --seed 3"),
        by_command("command with vmdav, median and digits", few, "safe.parquet", other),
        by_pipe("command from and to a pipe", few, f"{roles} mdav"),
        by_recipe("recipe with weights", few, "safe.csv", scaling="range", **weighted({"age": 2})),
        by_recipe("recipe without a header", bare, "safe.csv", **names),
        by_recipe("recipe in blocks, with weights", arrow_file(table, "in.parquet"), "safe.parquet", **blocks),
        by_recipe("recipe of refined", few, "safe.csv", method=lambda: shoal.Refined(k=5, rounds=1)),
        looked_at("inspected csv", few, ["age", "ward"]),
        looked_at("inspected parquet", arrow_file(any_types(), "in.parquet"), ["age"]),
        looked_at("inspected without a header", text_file(codes(), header=False), ["column1"], header=False),
    ]


def shared_cases() -> list[Case]:
    """The standard data of the literature."""
    census, tarragona, eia, adult = map(shared_file, ("census.csv", "tarragona.csv", "eia.csv", "adult.csv.gz"))
    every, firms = {"q": header_of("census.csv")}, {"q": header_of("tarragona.csv")}
    sold = [name for name in header_of("eia.csv") if name.endswith(("REVENUE", "SALES", "YEAR"))]
    power = {"q": sold, "c": "MONTH", "identifiers": ["UTILITYID", "UTILNAME", "STATE"]}
    aged = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    adults = {"q": aged, "c": [name for name in header_of("adult.csv.gz") if name not in aged]}
    return [
        in_memory("census, mdav, k = 3", census, k=3, **every),
        in_memory("census, imhm, k = 5", census, method="imhm", **every),
        in_memory("census, auto, k = 10", census, "safe.parquet", k=10, method="auto", **every),
        in_memory("tarragona, mdav, k = 10", tarragona, k=10, **firms),
        in_memory("tarragona, gsms-t2, robust", tarragona, method="gsms-t2", scaling="robust", **firms),
        in_memory("eia, mdav, k = 5", eia, **power),
        in_memory("eia, tfrp, median", eia, method="tfrp", aggregate="median", **power),
        by_file("eia, streamed", eia, blocks=4, **power),
        by_file("adult, mdav, k = 10", adult, k=10, **adults),
        by_file("adult, streamed", adult, "safe.csv.gz", k=5, blocks=4, **adults),
        by_file("adult, auto, k = 50", adult, "safe.parquet", k=50, method="auto", **adults),
    ]


def header_of(name: str) -> list[str]:
    """The names of the columns of a file of the benchmark data; none where it is not here."""
    path = SHARED / "data" / name
    if not path.exists():
        return []
    opened = gzip.open if name.endswith(".gz") else open
    with opened(path, "rt") as file:
        return next(csv.reader(file))


def all_cases() -> list[Case]:
    cases = [*text_cases(), *number_cases(), *setting_cases(), *arrow_cases(), *method_cases(), *stream_cases()]
    cases += [*order_cases(), *command_cases(), *(case._replace(shared=True) for case in shared_cases())]
    if len({case.name for case in cases}) < len(cases):
        raise AssertionError("two cases of one name")
    return cases


# Recording and comparing


def made(case: Case) -> Record:
    """Run a case in a folder of its own; what fails is kept as the reason."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        try:
            record = case.run(Path(folder))
        except Exception as error:  # of a version that cannot do it any more: the other cases go on
            return {"failed": f"{type(error).__name__}: {error}".replace(f"{folder}{os.sep}", "")}
        said = [str(warning.message) for warning in noted if issubclass(warning.category, shoal.ShoalWarning)]
        said = [each for each in said + record.pop("said", []) if "written in the order of the input" not in each]
        return {"may_change": False} | record | {"warnings": said}


def record_all(path: Path, cases: list[Case]) -> int:
    """Write what all cases give."""
    found = {}
    for case in cases:
        begin = time.perf_counter()
        found[case.name] = made(case)
        failed = found[case.name].get("failed")
        print(f"{time.perf_counter() - begin:6.2f} s  {case.name}{f': {failed}' if failed else ''}", flush=True)
    failures = sum("failed" in record for record in found.values())
    if failures:
        print(f"nothing is written: {failures} of {len(found)} cases fail")
        return 1
    path.write_text(json.dumps({"versions": versions(), "cases": found}, indent=1) + "\n", encoding="utf-8")
    changing = sum(record["may_change"] for record in found.values())
    print(f"{len(found)} cases written to {path}, {changing} of which may find better groups later")
    return 0


def versions() -> dict[str, str]:
    """What the bytes of a release depend on beside Shoal."""
    libraries = ("numpy", "pyarrow", "pandas", "polars", "duckdb", "numba", "scipy", "scikit-learn")
    return {"python": sys.version.split()[0]} | {name: version(name) for name in libraries}


def compare_all(path: Path, cases: list[Case], only: str) -> int:
    """Make all cases again and say what differs; returns the exit status."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    for name, now in versions().items():
        if kept["versions"].get(name) != now:
            print(f"{name} is {now}, and was {kept['versions'].get(name)}: files may differ for this reason")
    before = {name: record for name, record in kept["cases"].items() if only in name}
    counts: Counter[str] = Counter()
    for case in cases:
        if not_here(case):
            verdict, words = "left out", "its data are not here"
        elif case.name not in before:
            verdict, words = "new", "it was not recorded"
        else:
            verdict, words = compared(before[case.name], made(case))
        counts[verdict] += 1
        print(f"{verdict:<8}  {case.name}{words and f': {words}'}", flush=True)
    for name in before.keys() - {case.name for case in cases}:
        counts["DIFFERS"] += 1
        print(f"DIFFERS   {name}: it is no case any more")
    print(summary(counts))
    return int(counts["DIFFERS"] + counts["WARNINGS"] > 0)


def summary(counts: Counter[str]) -> str:
    """The last line."""
    told = {"changed": "changed at no higher loss", "new": "new", "left out": "left out"}
    rest = "".join(f", {counts[verdict]} {words}" for verdict, words in told.items() if counts[verdict])
    alone = f" ({counts['WARNINGS']} in the warnings only)" if counts["WARNINGS"] else ""
    differ = counts["DIFFERS"] + counts["WARNINGS"]
    return f"{counts.total()} cases: {counts['same']} the same, {differ} differ{alone}{rest}"


def compared(before: Record, after: Record) -> tuple[str, str]:
    """A verdict on a case, and why: DIFFERS, WARNINGS where only these do, changed, or same."""
    if "failed" in after:
        return "DIFFERS", after["failed"]
    unheard = {"may_change"} if before.get("labels") and after.get("labels") else {"may_change", "labels"}
    other = [name for name in {**before, **after} if name not in unheard and before.get(name) != after.get(name)]
    if not other:
        return "same", ""
    loss = by_how_much(before.get("loss"), after.get("loss"))
    if before["may_change"] and "sha256" in other:
        higher = not float(after["loss"]) <= float(before["loss"]) * (1 + TOLERANCE)
        return "DIFFERS" if higher else "changed", loss
    words = ", ".join(loss if name == "loss" else WORDS.get(name, name) for name in other)
    return "WARNINGS" if other == ["warnings"] else "DIFFERS", words + details(before, after, other)


def details(before: Record, after: Record, other: list[str]) -> str:
    """What people can read of what differs, a line for each."""
    readable = ("groups", "blocks", "digits", "verified", "refused", "roles", "warnings")
    shown = [name for name in other if name in readable]
    return "".join(f"\n          {name}: {before.get(name)} -> {after.get(name)}" for name in shown)


def by_how_much(before: str | None, after: str | None) -> str:
    """How two losses differ, in words."""
    if before is None or after is None or before == after:
        return "loss equal"
    old, new = float(before), float(after)
    part = (new - old) / old if old else math.inf
    return f"loss {'higher' if new > old else 'lower'}: {before} -> {after}, {part:+.1e} of it"


def not_here(case: Case) -> bool:
    """Whether a case needs data that are not here."""
    return case.shared and not (SHARED / "data").is_dir()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["record", "compare"])
    parser.add_argument("file", type=Path, help="what was or will be recorded")
    parser.add_argument("--only", default="", metavar="LETTERS", help="cases with these letters in their names")
    asked = parser.parse_args()
    cases = [case for case in all_cases() if asked.only in case.name]
    print(f"Shoal {shoal.__version__} of {Path(shoal.__file__).parent}")
    with threadpool_limits(1, user_api="blas"):  # the last digits of a loss depend on how many there are
        if asked.what == "record":
            return record_all(asked.file, [case for case in cases if not not_here(case)])
        return compare_all(asked.file, cases, asked.only)


if __name__ == "__main__":
    sys.exit(main())
