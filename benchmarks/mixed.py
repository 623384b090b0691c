"""Tables of many kinds: Adult with all its attributes, many categories, a million records, places.

    python benchmarks/mixed.py                    all sections, about a quarter of an hour
    python benchmarks/mixed.py adult places       some of them: adult, formats, million, many, places

Writes docs/tables/mixed_*.md. Adult comes from ../shared/data (or where SHOAL_SHARED says), everything else is
made here. Every timed release comes after a small one, so that nothing is compiled in the time taken. What Adult's
releases promise is checked with Python's csv module on the bytes, by no code of Shoal's.
"""

import csv
import gzip
import io
import os
import sys
import tempfile
import warnings
from collections import Counter
from math import log2
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import shoal

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
TABLES = ROOT / "docs" / "tables"
CONFIDENTIAL = "income"


def write(name, header, rows):
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in [header, ["---"] * len(header), *rows]]
    (TABLES / f"mixed_{name}.md").write_text("\n".join([*lines, ""]), encoding="utf-8")
    print(f"\n{name}", *lines, sep="\n", flush=True)


def read_rows(path):
    """The names and the rows of a CSV file, every value as it stands there."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    names, *rows = csv.reader(io.StringIO(text, newline=""))
    return names, [[value.strip() for value in row] for row in rows]


def checked(original, released, k):
    """The smallest group of a released file; an error where a category appears that no record had."""
    names, before = read_rows(original)
    again, after = read_rows(released)
    assert (again, len(after)) == (names, len(before)), "other columns or records"
    quasi = [i for i, name in enumerate(names) if name != CONFIDENTIAL]
    for i, name in enumerate(names):
        old, new = {row[i] for row in before}, {row[i] for row in after}
        assert name in NUMBERS or new <= old, f"{name}: {new - old}"
    assert Counter(row[names.index(CONFIDENTIAL)] for row in before) == Counter(
        row[names.index(CONFIDENTIAL)] for row in after
    )
    smallest = min(Counter(tuple(row[i] for i in quasi) for row in after).values())
    assert smallest >= k, f"a group of {smallest}"
    return smallest


NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


def adult_file():
    path = SHARED / "data" / "adult.csv.gz"
    if not path.exists():
        sys.exit(f"no {path}; say where the benchmark data are with SHOAL_SHARED")
    return path


def adult():
    """All 14 attributes, gaps included."""
    path = adult_file()
    names = read_rows(path)[0]
    quasi = [name for name in names if name != CONFIDENTIAL]
    settings = {"quasi_identifiers": quasi, "confidential": CONFIDENTIAL, "gaps": "blank"}
    rows, parts = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for method in ("mdav", "auto"):
            shoal.anonymize(pyarrow.csv.read_csv(path).slice(0, 2000), k=3, method=method, **settings)
        for k in (3, 5, 10, 50):
            for method in ("mdav", "auto"):
                target = Path(folder) / f"{method}-{k}.csv"
                begin = perf_counter()
                release = shoal.anonymize(path, k=k, method=method, **settings)
                release.write(target)
                seconds = perf_counter() - begin
                figures = {figure.name: figure.value for figure in release.figures}
                smallest = checked(path, target, k)
                rows.append(
                    (k, method, f"{release.information_loss:.2f}", f"{figures['points_loss']:.2f}",
                     f"{seconds:.1f}", smallest, figures.get("wildcard_k", ""))
                )  # fmt: skip
                parts[k, method] = {part.name: part.percent for part in release.loss.attributes}
                print(rows[-1], flush=True)
    header = (
        "k", "method", "information loss, %", "loss of the points, %", "seconds, file to file",
        "smallest group, counted by another reader", "the same with a gap as a wildcard",
    )  # fmt: skip
    write("adult", header, rows)
    columns = [(k, method) for k, method in parts if method == "auto"]
    write(
        "adult_attributes",
        ("loss, %", *(f"k = {k}" for k, _ in columns)),
        [(name, *(f"{parts[column][name]:.2f}" for column in columns)) for name in quasi],
    )


def formats():
    """The same result through every kind of table."""
    import pandas as pd
    import polars as pl

    path = adult_file()
    names, rows = read_rows(path)
    numbers = {name: [int(row[i]) for row in rows] for i, name in enumerate(names) if name in NUMBERS}
    whole = {name: numbers.get(name, [row[i] for row in rows]) for i, name in enumerate(names)}
    table = pa.table(whole)
    quasi = [name for name in names if name != CONFIDENTIAL]
    with tempfile.TemporaryDirectory() as folder:
        parquet, text = Path(folder) / "adult.parquet", Path(folder) / "adult.csv"
        pyarrow.parquet.write_table(table, parquet)
        pyarrow.csv.write_csv(table, text)
        inputs = {
            "pandas": pd.DataFrame(whole), "polars": pl.DataFrame(whole), "Arrow": table, "CSV": text,
            "Parquet": parquet,
        }  # fmt: skip
        found = {}
        for name, data in inputs.items():
            release = shoal.anonymize(
                data, k=10, method="mdav", quasi_identifiers=quasi, confidential=CONFIDENTIAL, gaps="blank",
                keep_order=True,
            )  # fmt: skip
            target = Path(folder) / f"{name}.csv"
            release.write(target)
            found[name] = read_rows(target), release.labels.tolist(), f"{release.information_loss:.9f}"
    first = next(iter(found.values()))
    same = all(each == first for each in found.values())
    print("formats:", ", ".join(found), "the same rows, groups and loss" if same else "DIFFER", flush=True)
    assert same


def mixed_table(n, categories=(2, 5, 10, 20), seed=1):
    """Six numeric and some nominal attributes."""
    rng = np.random.default_rng(seed)
    columns = {f"x{i}": rng.normal(size=n).round(4) for i in range(6)}
    for j, count in enumerate(categories):
        shares = rng.dirichlet(np.full(count, 2.0))
        columns[f"c{j}"] = np.array([f"v{i}" for i in range(count)])[rng.choice(count, n, p=shares)]
    return pa.table(columns)


def timed(table, names, method, **settings):
    shoal.anonymize(table.slice(0, 3000), k=5, quasi_identifiers=names, method=method, **settings)
    begin = perf_counter()
    release = shoal.anonymize(table, k=5, quasi_identifiers=names, method=method, **settings)
    return perf_counter() - begin, release


def million(n=1_000_000):
    """Six numeric and four nominal attributes beside numeric ones only."""
    table, rng = mixed_table(n), np.random.default_rng(2)
    for i in range(6, 10):
        table = table.append_column(f"x{i}", pa.array(rng.normal(size=n).round(4)))
    six, ten = ([f"x{i}" for i in range(count)] for count in (6, 10))
    rows = []
    for method in ("auto", "mdav"):
        times = [timed(table, names, method)[0] for names in (six, ten, [*six, "c0", "c1", "c2", "c3"])]
        ratios = (f"{times[2] / times[0]:.2f}", f"{times[2] / times[1]:.2f}")
        rows.append((method, *(f"{seconds:.1f}" for seconds in times), *ratios))
        print(rows[-1], flush=True)
    header = (
        "method", "6 numeric, s", "10 numeric, s", "6 numeric and 4 nominal, s", "ratio to 6", "ratio to 10"
    )  # fmt: skip
    write("million", header, rows)


def many():
    """A nominal attribute of 10 000 values, and a taxonomy of 10 000 codes."""
    n, count = 100_000, 10_000
    rng = np.random.default_rng(3)
    shares = 1 / np.arange(1, count + 1) ** 0.7
    drawn = rng.choice(count, n, p=shares / shares.sum())
    names = np.array([f"{i // 1000}{i // 100 % 10}.{i % 100:02d}" for i in range(count)])
    table = mixed_table(n, ()).select([f"x{i}" for i in range(4)]).append_column("code", pa.array(names[drawn]))
    rows = []
    for what, settings in (("nominal", {"kinds": {"code": "nominal"}}), ("code", {"prefixes": {"code": [1, 2]}})):
        for method in ("mdav", "auto"):
            last, found = None, []
            for size in (25_000, 50_000, 100_000):
                seconds, release = timed(table.slice(0, size), table.column_names, method, **settings)
                found.append((seconds, release.loss.attributes[-1].percent, last and log2(seconds / last)))
                last = seconds
            rows.append(
                (what, method, *(f"{seconds:.1f}" for seconds, *_ in found),
                 *(f"{growth:.2f}" for *_, growth in found[1:]), f"{found[-1][1]:.1f}")
            )  # fmt: skip
            print(rows[-1], flush=True)
    header = (
        "10 000 values as", "method", "25 000 records, s", "50 000, s", "100 000, s", "growth", "growth",
        "loss of the attribute, %",
    )  # fmt: skip
    write("many", header, rows)


def great_circle(a, b, c, d):
    """Kilometres between two places, by the haversine."""
    a, b, c, d = map(np.radians, (a, b, c, d))
    half = np.sin((c - a) / 2) ** 2 + np.cos(a) * np.cos(c) * np.sin((d - b) / 2) ** 2
    return 2 * 6371.0088 * np.arcsin(np.sqrt(half))


def places(n=50_000):
    """Points across the date line and around a pole."""
    rng = np.random.default_rng(4)
    half = n // 2
    fiji = rng.normal(-17, 2, half), (rng.normal(0, 3, half) + 360) % 360 - 180
    pole = 90 - np.abs(rng.normal(0, 3, n - half)), rng.uniform(-180, 180, n - half)
    lat, lon = (np.concatenate(part).round(4) for part in zip(fiji, pole, strict=True))
    table = pa.table({"latitude": lat, "longitude": lon})
    flat = {"latitude": "numeric", "longitude": "numeric"}
    rows = []
    for what, kinds in (("place", {}), ("two numbers", flat)):
        for method in ("mdav", "auto"):
            seconds, release = timed(table, ["latitude", "longitude"], method, kinds=kinds)
            away = great_circle(lat, lon, *(release.table[name].to_numpy() for name in table.column_names))
            found = (np.mean(away), np.median(away), np.max(away))
            rows.append((what, method, f"{seconds:.1f}", *(f"{kilometres:.2f}" for kilometres in found)))
            print(rows[-1], flush=True)
    write("places", ("taken as", "method", "seconds", "mean, km", "median, km", "largest, km"), rows)


SECTIONS = {"adult": adult, "formats": formats, "million": million, "many": many, "places": places}

if __name__ == "__main__":
    warnings.simplefilter("ignore", shoal.ShoalWarning)
    for section in sys.argv[1:] or SECTIONS:
        SECTIONS[section]()
