"""Whether a release is right, from the truth about the input and the bytes that left. Shares no code with Shoal.

Files are read with Python's csv module and with pyarrow; numbers are compared as fractions.
"""

import csv
import gzip
import io
import json
import re
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
from case import MARK, Case, Column

HALF = Fraction(1, 2)


class WrongError(Exception):
    """A release is not what it should be."""


def demand(true: object, message: str) -> None:
    """Say what is wrong."""
    if not true:
        raise WrongError(message)


def check_release(case: Case, release: Path) -> dict[str, Any]:
    """Raise unless a release is right; returns its manifest."""
    manifest: dict[str, Any] = json.loads(release.with_name(release.name + ".manifest.json").read_text("utf-8"))
    names, columns = read(release, manifest)
    kept = [
        (name, column)
        for name, column in zip(case.names, case.columns, strict=True)
        if column.role != "identifier"
    ]
    if len(set(case.names)) == len(case.names):  # else they may be numbered
        demand(names == [name for name, _ in kept], f"columns {names}, not {[name for name, _ in kept]}")
    demand(len(columns) == len(kept), f"{len(columns)} columns, not {len(kept)}")
    for values in columns:
        demand(len(values) == case.n, f"{len(values)} records, not {case.n}")
    refuse_marks(release)
    check_key(case, release, manifest)
    if not manifest["keep_order"]:
        for name, values in zip(names, columns, strict=True):
            check_listed(name, values)
        columns = [as_they_came(values, manifest["key"]) for values in columns]
    originals = None if case.is_csv else read_arrow(case.content, case.name)
    quasi = []
    for (name, column), values in zip(kept, columns, strict=True):
        if column.role == "quasi":
            quasi.append((column, values))
        elif originals is None:
            check_text(name, column.texts or [], values, case.decimal)
        else:
            check_same(name, originals.column(case.columns.index(column)), values, release.suffix)
    groups = groups_of([values for _, values in quasi])
    smallest = min(map(len, groups))
    demand(smallest >= case.k, f"a group of {smallest}, where k is {case.k}")
    verified = manifest["output"]["verified_k"]
    demand(verified == smallest, f"verified k is {verified}, not {smallest}")
    decimal = manifest["output"].get("dialect", {}).get("decimal", ".")
    words = [(column, listed_words(values)) for column, values in quasi if column.words is not None]
    for column, found in words:
        check_words(column, found, groups)
        check_kind_of_words(case, column, columns[[each for _, each in kept].index(column)])
    quasi = [(column, values) for column, values in quasi if column.words is None]
    released = [numbers_of(column, values, decimal, bool(case.settings.get("exact"))) for column, values in quasi]
    used = manifest.get("digits", {}).get("used", {})
    called = dict(zip(map(id, case.columns), case.names, strict=True))
    for (column, values), numbers in zip(quasi, released, strict=True):
        unit = unit_of(case, column, values, decimal, used.get(called[id(column)]))
        check_kind(case, column, values, decimal)
        check_values(case, column, numbers, groups, unit)
        if column.kind in ("float", "decimal") and unit and len(groups) == manifest["figures"]["groups"]["value"]:
            check_digits(case, column, groups, unit)
    check_untouched(case, originals, manifest)
    stated = manifest["figures"]["information_loss"]["value"]
    check_loss(case, [column for column, _ in quasi], released, stated, words)
    return manifest


# Reading.


def read(release: Path, manifest: dict[str, Any]) -> tuple[list[str], list[Any]]:
    """The names and the columns of a release: text where it is CSV, else Arrow's arrays."""
    if release.name.endswith((".parquet", ".arrow")):
        table = read_arrow(release.read_bytes(), release.name)
        return table.column_names, table.columns
    said = manifest["output"]["dialect"]
    content = release.read_bytes()
    text = (gzip.decompress(content) if release.name.endswith(".gz") else content).decode(said["encoding"])
    given = {"delimiter": said["delimiter"], "quotechar": said["quote"], "strict": True}
    demand(not release.name.endswith((".tsv",)) or said["delimiter"] == "\t", "a .tsv file without tabs")
    header, *rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), **given))
    demand(all(len(row) == len(header) for row in rows), "records of different lengths")
    return header, [list(column) for column in zip(*rows, strict=True)]


def read_arrow(content: bytes, name: str) -> pa.Table:
    """The table of a Parquet or Arrow file."""
    if name.endswith((".parquet", ".pq")):
        return pyarrow.parquet.read_table(io.BytesIO(content))
    opener = pa.ipc.open_file if content.startswith(b"ARROW1") else pa.ipc.open_stream
    return opener(pa.BufferReader(content)).read_all()


def refuse_marks(release: Path) -> None:
    """Nothing that must not leave stands in the bytes."""
    content = release.read_bytes()
    if release.name.endswith(".gz"):
        content = gzip.decompress(content)
    for encoding in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
        demand(MARK.encode(encoding) not in content, "something that must not leave is in the bytes")
    if release.name.endswith((".parquet", ".arrow")):
        table = read_arrow(content, release.name)
        shown = str(table.schema.metadata) + str([column.chunks for column in table.columns])
        demand(MARK not in shown, "something that must not leave is in the table")


# The order of the rows.


def check_key(case: Case, release: Path, manifest: dict[str, Any]) -> None:
    """The order is the one that was asked for, and what it follows from stands in the manifest alone."""
    key, kept = manifest["key"], manifest["keep_order"]
    demand(kept is bool(case.settings.get("keep_order")), "another order of the rows than was asked for")
    demand(kept or re.fullmatch("[0-9a-f]{32}", str(key)), f"the key {key!r}")
    demand(case.settings.get("key") in (None, key), "another key than the one given")
    demand(kept or str(key).encode() not in release.read_bytes(), "the key is in the bytes")


def as_they_came(values: Any, key: str) -> Any:
    """A column in the order of the input again: a row left at the place of its keyed hash among those of all rows."""
    hashed = [
        blake2b(row.to_bytes(8, "little"), key=bytes.fromhex(key), digest_size=16).digest()
        for row in range(len(values))
    ]
    left = sorted(range(len(values)), key=hashed.__getitem__)
    places = sorted(range(len(values)), key=left.__getitem__)
    if isinstance(values, list):
        return [values[place] for place in places]
    if pa.types.is_dictionary(values.type):
        values = values.unify_dictionaries()
    whole = pa.concat_arrays(values.chunks)
    return pa.chunked_array([whole[place : place + 1] for place in places], values.type)


def check_listed(name: str, values: Any) -> None:
    """Categories do not tell which record came first."""
    if isinstance(values, list) or not pa.types.is_dictionary(values.type) or values.type.ordered:
        return
    for chunk in values.chunks:
        listed = chunk.dictionary.to_pylist()
        demand(listed == sorted(listed), f"the categories of {name!r} stand in the order in which they came")


# What stays as it is.


def check_text(name: str, texts: list[str], values: Any, decimal: str) -> None:
    """A column of a CSV file is the same to the letter, or its numbers are the same in a file with types."""
    if isinstance(values, list):
        wrong = [(a, b) for a, b in zip(texts, values, strict=True) if a != b]
        demand(not wrong, f"column {name!r} was changed: {wrong[:1]}")
        return
    found = values.to_pylist()
    if pa.types.is_integer(values.type):
        same = all(
            int(a) == b and re.fullmatch(r"[+-]?(0|[1-9][0-9]*)", a) for a, b in zip(texts, found, strict=True)
        )
    elif pa.types.is_floating(values.type):
        same = all(float(a.replace(decimal, ".")) == b for a, b in zip(texts, found, strict=True))
        same = same and not any(re.match(r"[+-]?0[0-9]", text) for text in texts)
    else:
        same = texts == found
    demand(same, f"column {name!r} was changed on the way to {values.type}")


def check_same(name: str, original: pa.ChunkedArray, values: Any, suffix: str) -> None:
    """A column of a file with types has the same values and, in such a file, the same type."""
    if isinstance(values, list):
        return check_printed(name, original, values)
    stored = stored_in_parquet(original)
    if suffix == ".parquet" and stored is None:  # it has no such type: the values must do
        demand(original.to_pylist() == values.to_pylist(), f"column {name!r} was changed")
        return None
    demand(
        named(values.type) in (named(original.type), named(stored)),
        f"column {name!r} is of type {values.type}, not {original.type}",
    )
    if pa.types.is_temporal(original.type) and original.type != values.type:
        original = original.cast(values.type)  # seconds become milliseconds in Parquet
    demand(shown(values) == shown(original), f"column {name!r} was changed")
    return None


def named(kind: pa.DataType | None) -> str:
    """A type without what the inner fields of maps are called, which files do not keep."""
    return re.sub(r" \('[^']*'\)", "", str(kind))


def stored_in_parquet(column: pa.ChunkedArray) -> pa.DataType | None:
    """The type that a column comes back with from a Parquet file."""
    sink = io.BytesIO()
    try:
        pyarrow.parquet.write_table(pa.table([column], names=["x"]), sink)
    except (pa.ArrowException, NotImplementedError, OSError):
        return None
    return pyarrow.parquet.read_table(io.BytesIO(sink.getvalue())).schema.field(0).type


def shown(column: pa.ChunkedArray) -> str:
    """The values of a column, so that those that are no numbers equal themselves."""
    if pa.types.is_dictionary(column.type):
        column = pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks], column.type.value_type)
    if pa.types.is_temporal(column.type) and not pa.types.is_interval(column.type):
        wide = column.type in (pa.date32(), pa.time32("s"), pa.time32("ms"))
        column = column.cast(pa.int32() if wide else pa.int64())
    return repr(column.to_pylist())


def check_printed(name: str, original: pa.ChunkedArray, values: list[str]) -> None:
    """Values with types as text: compared where there is one plain way to write them."""
    kind = original.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    for value, text in zip(original.to_pylist(), values, strict=True):
        if value is None:
            same = text == ""
        elif pa.types.is_boolean(kind):
            same = text.lower() == str(value).lower()
        elif pa.types.is_floating(kind):
            back = pa.scalar(float(text or "nan"), pa.float64()).cast(kind).as_py()
            same = repr(back) == repr(value) or back == value
        elif pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
            same = text == str(value)
        elif pa.types.is_decimal(kind):
            same = Decimal(text) == value
        elif pa.types.is_date(kind):
            same = text.startswith(value.isoformat())
        else:
            return
        demand(same, f"column {name!r} was changed: {value!r} is now {text!r}")


def check_untouched(case: Case, originals: pa.Table | None, manifest: dict[str, Any]) -> None:
    """What the manifest says about records that are alone on columns left as they are, counted anew."""
    said = {
        name.removeprefix("untouched_"): figure["details"]
        for name, figure in manifest["figures"].items()
        if name.startswith("untouched_")
    }
    for role, name in (("other", "others"), ("confidential", "confidential")):
        columns = [
            column.texts if originals is None else list(map(repr, originals.column(number).to_pylist()))
            for number, column in enumerate(case.columns)
            if column.role == role
        ]
        counts = Counter(zip(*columns, strict=True))
        alone = sum(count == 1 for count in counts.values())
        below = sum(count for count in counts.values() if count < case.k)
        if columns:
            demand(name in said, f"nothing is said about the columns that are {name}")
            stated = said[name]["unique"], said[name]["records_below_k"]
            demand(stated == (alone, below), f"{name}: {stated} unique and below k, and counted {(alone, below)}")
        if name == "others" and "--strict" in case.extras:
            demand(len(counts) <= 1, "columns without a role tell records apart, in spite of --strict")


# What was averaged.


def groups_of(columns: list[Any]) -> list[list[int]]:
    """The records that share all quasi-identifiers, text to the letter and floats to the bit."""
    listed = [
        column if isinstance(column, list) else list(map(exact_key, column.to_pylist())) for column in columns
    ]
    found: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for row, key in enumerate(zip(*listed, strict=True)):
        found[key].append(row)
    return list(found.values())


def exact_key(value: Any) -> Any:
    """A value that differs where its bits do."""
    return value.hex() if isinstance(value, float) else repr(value)


def numbers_of(column: Column, values: Any, decimal: str, exact: bool) -> list[Fraction]:
    """The released numbers; a float stands for the shortest text that reads back to it."""
    if column.kind == "boolean" and isinstance(values, list) and not exact:
        return [Fraction(text.lower() == "true") for text in values]
    if not isinstance(values, list) and pa.types.is_floating(values.type):
        return [shortest(value) for value in values.to_numpy()]
    listed = values if isinstance(values, list) else values.to_pylist()
    plain = {text: parsed(text, column.grouping, decimal) for text in set(listed)}
    if exact:  # then the text stands for the double nearest to it
        plain = {text: Fraction(float(number)) for text, number in plain.items()}
    return [plain[text] for text in listed]


def shortest(value: Any) -> Fraction:
    """What a float of any width stands for."""
    text = str(value)
    demand(text not in ("nan", "inf", "-inf"), f"the number {text} was released")
    return Fraction(text)


def parsed(value: Any, grouping: str, decimal: str) -> Fraction:
    """A released number."""
    if not isinstance(value, str):
        demand(value is not None and value == value, f"the number {value} was released")
        return Fraction(value)
    text = value.strip()
    if grouping and re.fullmatch(rf"[+-]?[0-9]{{1,3}}({re.escape(grouping)}[0-9]{{3}})+", text):
        text = text.replace(grouping, "")
    try:
        return Fraction(text.replace(decimal, "."))
    except ValueError:
        raise WrongError(f"{value!r} was released, which is no number") from None


def listed_words(values: Any) -> list[str]:
    """Released categories as text."""
    listed: list[str] = values if isinstance(values, list) else values.to_pylist()
    return listed


def check_words(column: Column, found: list[str], groups: list[list[int]]) -> None:
    """The category of each group is one that the most of its records had."""
    originals = column.words or []
    for rows in groups:
        counts = Counter(originals[row] for row in rows)
        word = found[rows[0]]
        demand(
            counts[word] == max(counts.values()),
            f"{column.name!r}: {word!r} for {counts.most_common(3)} of a group",
        )


def check_kind_of_words(case: Case, column: Column, values: Any) -> None:
    """Categories keep their type where they have one."""
    if isinstance(values, list) or column.array is None:
        return
    kinds = stored_type(case, column), stored_in_parquet(pa.chunked_array([column.array]))
    demand(named(values.type) in map(named, kinds), f"{column.name!r} is of type {values.type}, not {kinds[0]}")


def check_kind(case: Case, column: Column, values: Any, decimal: str) -> None:
    """Integers stay integers, booleans booleans, decimals decimals, and codes keep their width."""
    if case.settings.get("exact"):
        return
    name = column.name
    if isinstance(values, list):
        spelled = {text.strip() for text in column.texts or []}
        sign = re.escape(column.grouping)
        if column.kind == "integer" and not column.grouping:
            demand(all(re.fullmatch(r"[+-]?[0-9]+", text) for text in values), f"{name!r} is no longer whole")
        if column.kind == "integer" and column.grouping:
            demand(
                all(re.fullmatch(rf"[+-]?[0-9{sign}]+", text) for text in values), f"{name!r} is no longer whole"
            )
        if column.kind == "boolean" and spelled:
            demand({text.lower() for text in values} <= {"true", "false"}, f"{name!r} is no longer true or false")
            demand(len(spelled) < 2 or set(values) <= spelled, f"{name!r} is spelled anew")
        if column.decimals is not None and column.kind in ("decimal", "float"):
            most = max(len(text.partition(decimal)[2]) for text in values)
            demand(
                most <= max(0, column.decimals), f"{name!r} has {most} decimals and came with {column.decimals}"
            )
        widths = {*map(len, spelled)}
        if column.kind == "integer" and len(widths) == 1 and any(re.match("0[0-9]", text) for text in spelled):
            demand({*map(len, values)} == widths, f"{name!r} has lost its leading zeros")
        return
    if column.array is not None and stored_in_parquet(pa.chunked_array([column.array])) is None:
        demand(pa.types.is_decimal(values.type), f"{name!r} is of type {values.type}, not {column.array.type}")
    elif column.array is not None:
        demand(
            values.type == stored_type(case, column), f"{name!r} is of type {values.type}, not {column.array.type}"
        )
    elif column.kind == "integer":
        whole = pa.types.is_integer(values.type) or pa.types.is_string(values.type)
        demand(whole, f"{name!r} is of type {values.type} and was whole")


def stored_type(case: Case, column: Column) -> pa.DataType:
    """The type of a quasi-identifier in the file that came in."""
    return read_arrow(case.content, case.name).column(case.columns.index(column)).type


def check_values(
    case: Case, column: Column, numbers: list[Fraction], groups: list[list[int]], unit: Fraction
) -> None:
    """The number of each group is the mean or median of its originals, up to rounding in the unit of the column."""
    originals = column.values or []
    middle = median if case.settings.get("aggregate") == "median" else mean
    # Beside the largest number of a column, or below the smallest double.
    nothing = max(max(map(abs, originals)) / 2**1000, Fraction(1, 2**1074))
    # To the nearest whole number; with other digits the column's range may stand in the way of the nearest.
    near = unit * HALF if column.kind in ("integer", "boolean") and unit == 1 else unit
    for rows in groups:
        own = [originals[row] for row in rows]
        slack = near + rounding(case, column) * max(map(abs, own)) + nothing
        found, wanted = numbers[rows[0]], middle(own)
        where = f"{column.name!r}: {float(found)} for {[float(value) for value in own][:6]}"
        demand(not unit or is_multiple(found, unit, column), f"{where} is no multiple of {float(unit)}")
        demand(min(own) - slack <= found <= max(own) + slack, f"{where} is out of their range")
        demand(abs(found - wanted) <= slack, f"{where} is not their mean or median {float(wanted)}")


def is_multiple(found: Fraction, unit: Fraction, column: Column) -> bool:
    """Whether a number has no digits beyond its column's, as far as floats can say so."""
    if column.kind == "float" and abs(found) > unit * 10**15:
        return True
    return (found / unit).denominator == 1


def check_digits(case: Case, column: Column, groups: list[list[int]], unit: Fraction) -> None:
    """A number has no finer digits than the spread inside the groups justifies, unless they were asked for.

    The unit is at least the largest power of ten that is not above s / sqrt(k), where s is the standard deviation
    inside the groups; whole numbers need not lose digits.
    """
    if "digits" in case.settings or unit >= 1:
        return
    originals = column.values or []
    middle = median if case.settings.get("aggregate") == "median" else mean
    squares = Fraction(0)
    for rows in groups:
        own = [originals[row] for row in rows]
        centre = middle(own)
        squares += sum(((value - centre) ** 2 for value in own), Fraction(0))
    justified = squares / (len(originals) * case.k) * Fraction(999, 1000)  # what floats have lost
    demand(
        100 * unit**2 > justified,
        f"{column.name!r} is released in units of {float(unit)}, finer than its groups allow",
    )


def mean(values: list[Fraction]) -> Fraction:
    """The exact mean."""
    return sum(values, Fraction(0)) / len(values)


def median(values: list[Fraction]) -> Fraction:
    """The middle, or the mean of both."""
    ranked, n = sorted(values), len(values)
    return (ranked[(n - 1) // 2] + ranked[n // 2]) / 2


def unit_of(case: Case, column: Column, values: Any, decimal: str, digits: int | None) -> Fraction:
    """One unit of the last digit that a column is released with; nothing where it was asked for exactly."""
    if case.settings.get("exact"):
        return Fraction(0)
    if digits is not None:
        return Fraction(10) ** -digits
    if column.kind in ("integer", "boolean"):
        return Fraction(1)
    if column.kind == "decimal":
        return Fraction(10) ** -(column.decimals or 0)
    if isinstance(values, list):
        return Fraction(1, 10 ** max(decimals_of(text.replace(decimal, ".")) for text in values))
    # What a float32 is rounded to shows in its own shortest text, not in that of the double nearest to it.
    return Fraction(10) ** min(exponent(text) for text in map(str, values.to_numpy()))


def decimals_of(text: str) -> int:
    """The decimals of a number, which an exponent moves."""
    return max(0, -int(Decimal(text.strip()).as_tuple().exponent))


def exponent(text: str) -> int:
    """Of the last digit that is not zero; at most that of the units."""
    return min(0, int(Decimal(text).normalize().as_tuple().exponent))


def rounding(case: Case, column: Column) -> Fraction:
    """What may be lost, beside the number itself, where numbers are floats or pass through them."""
    if column.precision < 53:
        return Fraction(1, 2 ** (column.precision - 1))
    as_floats = column.kind == "float" or case.settings.get("exact")
    return Fraction(1, 2**50) if as_floats else Fraction(0)


def check_loss(
    case: Case,
    columns: list[Column],
    released: list[list[Fraction]],
    stated: float,
    words: list[tuple[Column, list[str]]],
) -> None:
    """The loss that is stated is that of the values as released."""
    sse, sst, blur = Fraction(0), Fraction(0), 0.0
    for column, found in words:
        lost, most = loss_of_words(case, column, found)
        sse, sst = sse + lost, sst + most
    weights = case.settings.get("attribute_weights", {})
    names = dict(zip(map(id, case.columns), case.names, strict=True))
    for column, numbers in zip(columns, released, strict=True):
        values = column.values or []
        spread = square_of_spread(values, case.settings.get("scaling", "zscore"))
        if spread:
            weight = Fraction(weights.get(names[id(column)], 1.0)) / spread
            middle = mean(values)
            own = sum((a - middle) ** 2 for a in values)
            sse += weight * sum((a - b) ** 2 for a, b in zip(values, numbers, strict=True))
            sst += weight * own
            share = (rounding(case, column) * max(map(abs, values))) ** 2 * len(values) / own
            blur = max(blur, float(share) ** 0.5)
    found = float(sse / sst) if sst else 0.0
    # Numbers that are off by a share of their spread change the sum of squares by so much.
    slack = 1e-6 * found + 1e-11 + 2 * blur * found**0.5 + blur**2
    demand(abs(found - stated / 100) <= slack, f"the loss is stated as {stated} and is {100 * found}")


def loss_of_words(case: Case, column: Column, found: list[str]) -> tuple[Fraction, Fraction]:
    """What changed categories cost, and what they cost if all get the most frequent one."""
    words = column.words or []
    counts = Counter(words)
    if len(counts) == 1:
        return Fraction(0), Fraction(0)
    weight = Fraction(case.settings.get("attribute_weights", {}).get(case.names[case.columns.index(column)], 1.0))
    if case.settings.get("scaling", "zscore") in ("zscore", "robust"):
        weight *= 2 / (1 - sum(Fraction(count, len(words)) ** 2 for count in counts.values()))
    changed = sum(a != b for a, b in zip(words, found, strict=True))
    return weight * changed, weight * (len(words) - max(counts.values()))


def square_of_spread(values: list[Fraction], scaling: str) -> Fraction:
    """What squared differences are divided by; nothing where a column is constant."""
    low, high = min(values), max(values)
    if low == high:
        return Fraction(0)
    if scaling == "zscore":
        middle = mean(values)
        return sum(((value - middle) ** 2 for value in values), Fraction(0)) / len(values)
    if scaling == "range":
        return (high - low) ** 2
    if scaling == "none":
        return Fraction(1)
    return (quantile(values, Fraction(3, 4)) - quantile(values, Fraction(1, 4))) ** 2


def quantile(values: list[Fraction], share: Fraction) -> Fraction:
    """Between the two values next to it."""
    ranked, place = sorted(values), share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(ranked) - 1)
    return ranked[low] + (ranked[high] - ranked[low]) * (place - low)


# What a command leaves behind.


def check_refusal(status: int, out: str, err: str) -> None:
    """One line and status 2."""
    demand(status == 2, f"status {status}: {err}")
    demand("Traceback" not in err, "a traceback")
    lines = [line for line in err.splitlines() if not line.startswith("shoal: warning: ")]
    demand(len(lines) == 1 and lines[0].startswith("shoal: "), f"not one line: {err!r}")
    demand(not out, f"something on standard output: {out[:80]!r}")


def check_success(err: str) -> None:
    """Nothing but Shoal's own lines on standard error."""
    odd = [line for line in err.splitlines() if not line.startswith("shoal: ")]
    demand(not odd, f"standard error: {odd[:3]}")


def check_left(folder: Path, wanted: set[str]) -> None:
    """Nothing stands in a folder but what should."""
    left = {path.name for path in folder.iterdir()}
    demand(left == wanted, f"left in the folder: {sorted(left - wanted)}, missing: {sorted(wanted - left)}")
