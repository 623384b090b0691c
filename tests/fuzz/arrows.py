"""Parquet and Arrow files: columns of every type that pyarrow has."""

import datetime as dt
import io
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet
from case import MARK, Case, Column
from quantities import categories

EPOCH = dt.datetime(2001, 2, 3, 4, 5, 6)


def some(rng: Random, n: int, make: Callable[[], Any], kind: pa.DataType) -> pa.Array:
    """An array of a type, with gaps or without."""
    gap = rng.choice([0.0, 0.0, 0.3])
    return pa.array([None if rng.random() < gap else make() for _ in range(n)], kind)


def scalar_types() -> list[tuple[pa.DataType, Callable[[Random], Any]]]:
    """Types whose values are made one by one."""
    made: list[tuple[pa.DataType, Callable[[Random], Any]]] = []
    for bits in (8, 16, 32, 64):
        made.append((getattr(pa, f"int{bits}")(), lambda r, b=bits: r.randrange(-(2 ** (b - 1)), 2 ** (b - 1))))
        made.append((getattr(pa, f"uint{bits}")(), lambda r, b=bits: r.randrange(2**b)))
    numbers = [0.1, -0.0, 1e-7, 24.6, float("nan"), float("inf"), 3.0]
    made += [(kind, lambda r: r.choice(numbers)) for kind in (pa.float32(), pa.float64())]
    made += [(kind, lambda r: r.choice(["a", "", "é", "two\nlines"])) for kind in (pa.string(), pa.large_string())]
    made += [(kind, lambda r: r.randbytes(r.randrange(4))) for kind in (pa.binary(), pa.large_binary())]
    made += [(pa.binary(4), lambda r: r.randbytes(4)), (pa.bool_(), lambda r: r.random() < 0.5)]
    made += [
        (kind, lambda r: dt.date(2000, 1, 1) + dt.timedelta(r.randrange(9999)))
        for kind in (pa.date32(), pa.date64())
    ]
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "UTC", "Europe/Berlin", "+02:00"):
            made.append((pa.timestamp(unit, zone), lambda r: EPOCH + dt.timedelta(seconds=r.randrange(10**8))))
        made.append((pa.duration(unit), lambda r: dt.timedelta(seconds=r.randrange(10**6))))
    made += [
        (kind, lambda r: dt.time(r.randrange(24), 5, 6))
        for kind in (pa.time32("s"), pa.time64("us"), pa.time64("ns"))
    ]
    made += [(pa.decimal128(9, 2), lambda r: Decimal(r.randrange(10**7)).scaleb(-2))]
    made += [(pa.decimal256(60, 5), lambda r: Decimal(r.randrange(10**50)).scaleb(-5))]
    made += [(pa.decimal128(5, -3), lambda r: Decimal(r.randrange(999)).scaleb(3))]
    made += [(pa.list_(pa.int32()), lambda r: [r.randrange(9) for _ in range(r.randrange(3))])]
    made += [(pa.large_list(pa.string()), lambda r: ["a"] * r.randrange(3))]
    made += [(pa.list_(pa.float32(), 2), lambda r: [1.5, r.choice([2.0, 24.6])])]
    made += [(pa.struct([("x", pa.int8()), ("y", pa.string())]), lambda r: {"x": r.randrange(9), "y": "b"})]
    made += [(pa.map_(pa.string(), pa.int64()), lambda r: [("key", r.randrange(9))])]
    made += [(pa.list_(pa.struct([("x", pa.date32())])), lambda r: [{"x": dt.date(2000, 1, r.randint(1, 9))}])]
    for name in ("string_view", "binary_view", "decimal32", "decimal64", "month_day_nano_interval", "uuid"):
        if hasattr(pa, name):  # which there are depends on pyarrow's version
            made.append(newer_type(name))
    return made


def newer_type(name: str) -> tuple[pa.DataType, Callable[[Random], Any]]:
    """Types that not every pyarrow has."""
    made = getattr(pa, name)
    if name.startswith("decimal"):
        return made(7, 2), lambda r: Decimal(r.randrange(10**6)).scaleb(-2)
    values: dict[str, Callable[[Random], Any]] = {
        "string_view": lambda r: r.choice(["short", "longer than twelve bytes"]),
        "binary_view": lambda r: r.randbytes(r.randrange(20)),
        "month_day_nano_interval": lambda r: pa.MonthDayNano([r.randrange(9), 2, 3]),
        "uuid": lambda r: r.randbytes(16),
    }
    return made(), values[name]


TYPES = scalar_types()


def untouched(rng: Random, n: int) -> pa.Array:
    """A column that stays as it is."""
    chance = rng.random()
    if chance < 0.15:
        return dictionary(rng, n)
    if chance < 0.18:
        return pa.nulls(n)
    if chance < 0.20:
        return pa.array([1.5] * n, pa.float16())
    if chance < 0.22 and hasattr(pa, "RunEndEncodedArray"):
        return pa.RunEndEncodedArray.from_arrays(pa.array([n], pa.int32()), pa.array(["run"]))
    if chance < 0.24:
        kinds, offsets = pa.array([0] * n, pa.int8()), pa.array(range(n), pa.int32())
        return pa.UnionArray.from_dense(kinds, offsets, [pa.array(range(n))])
    kind, make = rng.choice(TYPES)
    return some(rng, n, lambda: make(rng), kind)


def dictionary(rng: Random, n: int) -> pa.Array:
    """A column of categories, some of which no record has."""
    words = rng.choice([["low", "high", "é"], [3, 5, 7], [1.5, 2.5, 3.5]])
    listed = pa.array([*words, MARK]) if isinstance(words[0], str) else pa.array(words)
    indices = some(rng, n, lambda: rng.randrange(len(words)), rng.choice([pa.int8(), pa.int32()]))
    return pa.DictionaryArray.from_arrays(indices, listed, ordered=rng.random() < 0.3)


def number_column(rng: Random, n: int) -> Column:
    """A quasi-identifier."""
    column = Column("", "quasi", array=None)
    chance = rng.random()
    if chance < 0.4:
        bits, low = rng.choice([8, 16, 32, 64]), rng.choice([True, False])
        kind = getattr(pa, f"{'' if low else 'u'}int{bits}")()
        edge = 2 ** (bits - 1) if low else 0
        spread = rng.choice([2**bits, min(2**bits, 200)])
        start = rng.choice([-edge, 2**bits - edge - spread])
        numbers: list[Any] = [start + rng.randrange(spread) for _ in range(n)]
        column.long = bits == 64
    elif chance < 0.7:
        bits = rng.choice([16, 32, 64])
        kind, column.kind = getattr(pa, f"float{bits}")(), "float"
        column.precision = {16: 11, 32: 24, 64: 53}[bits]
        digits = rng.choice([0, 1, 2, 20])
        rounded = [round(rng.gauss(20, 9), digits) for _ in range(n)]
        # A float stands for the shortest text that reads back to it, whatever its width.
        texts = map(str, pa.array(rounded, pa.float64()).cast(kind).to_numpy(zero_copy_only=False))
        numbers = [float(text) for text in texts]
        column.long, column.decimals = digits == 20, None
    elif chance < 0.8:
        kind, column.kind = pa.bool_(), "boolean"
        numbers = [rng.random() < 0.5 for _ in range(n)]
    else:
        names = [name for name in ("decimal32", "decimal64", "decimal128", "decimal256") if hasattr(pa, name)]
        digits, scale = rng.choice([(7, 2), (9, 0), (9, 5), (6, -2)])
        kind, column.kind = getattr(pa, rng.choice(names))(digits, scale), "decimal"
        column.decimals = scale
        numbers = [Decimal(rng.randrange(-(10**6), 10**6)).scaleb(-scale) for _ in range(n)]
    column.array = pa.array(numbers, kind)
    column.values = [
        Fraction(str(number)) if isinstance(number, float) else Fraction(number) for number in numbers
    ]
    return column


def word_column(rng: Random, n: int) -> Column:
    """A quasi-identifier of categories: text, or of a type for categories."""
    words = categories(rng, n)
    array = pa.array(words, rng.choice([pa.string(), pa.large_string()]))
    return Column(
        "", "quasi", array=array.dictionary_encode() if rng.random() < 0.4 else array, kind="category", words=words
    )


def spoil(rng: Random, case: Case) -> None:
    """A quasi-identifier that cannot be one."""
    column = next(column for column in case.columns if column.role == "quasi" and column.words is None)
    n, numbers = len(column.array), column.array.to_pylist()
    how = rng.choice(["gap", "nan", "infinity", "text", "list", "nulls"])
    if how == "gap":
        numbers[rng.randrange(n)] = None
        column.array = pa.array(numbers, column.array.type)
    elif how in ("nan", "infinity"):
        column.array = pa.array([1.0] * (n - 1) + [float("nan" if how == "nan" else "-inf")])
    elif how == "text":
        column.array = pa.array([str(number) for number in range(n)])
    elif how == "list":
        column.array = pa.array([[1]] * n)
    else:
        column.array = pa.nulls(n)
    case.refuse(f"a quasi-identifier with {how}")


def content_of(rng: Random, case: Case) -> bytes:
    """The bytes of a Parquet or Arrow file, in some pieces."""
    metadata = {"pandas": MARK} if rng.random() < 0.3 else None
    names = [column.name for column in case.columns]
    table = pa.table([column.array for column in case.columns], names=names).replace_schema_metadata(metadata)
    sink, piece = io.BytesIO(), rng.choice([1, 7, 1000])
    if case.name.endswith((".parquet", ".pq")):
        pyarrow.parquet.write_table(table, sink, row_group_size=max(piece, table.num_rows // 20))
        return sink.getvalue()
    opener = pa.ipc.new_stream if "stream" in case.notes else pa.ipc.new_file
    with opener(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=piece)
    return sink.getvalue()
