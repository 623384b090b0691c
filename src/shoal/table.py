"""A microdata table in any dataframe, and the role of each column.

Identifiers are dropped, quasi-identifiers are replaced by the common values of their groups, confidential
columns are kept as they are; so are the others, although any column may help to re-identify a person
(`shoal.measures.untouched` says how much). What goes out has the kind, the column order, the index and the
dtypes of what came in.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import ShoalError, for_each, no_columns, some, warn
from shoal.files import Source, read
from shoal.files.arrays import plain
from shoal.parameters import Names, names_of

Int = NDArray[np.int64]


@dataclass(frozen=True)
class Roles:
    """What each column is to the release."""

    quasi_identifiers: tuple[str, ...]
    confidential: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    designed: tuple[str, ...] = ()
    """Columns that leave by rules of their own: strata, weights, pseudonyms."""

    @classmethod
    def of(cls, quasi_identifiers: Names, confidential: Names = None, identifiers: Names = None) -> "Roles":
        """From lists of names, a single name or nothing."""
        return cls(names_of(quasi_identifiers), names_of(confidential), names_of(identifiers))

    def with_design(self, dropped: Sequence[str], designed: Sequence[str]) -> "Roles":
        """The same with columns that say whose the rows are: those that never leave, and those that do."""
        more = tuple(name for name in dropped if name not in self.identifiers)
        return replace(self, identifiers=(*self.identifiers, *more), designed=tuple(designed))

    def as_dict(self) -> dict[str, list[str]]:
        """As JSON takes it."""
        return {
            "quasi_identifiers": list(self.quasi_identifiers),
            "confidential": list(self.confidential),
            "identifiers": list(self.identifiers),
        }

    def check(self, columns: Iterable[str]) -> None:
        """Every name stands for one column, in one role, and there is a quasi-identifier."""
        columns = list(columns)
        if not self.quasi_identifiers:
            raise ShoalError(
                "no quasi-identifier: name the columns by which somebody could recognise a person, "
                f"out of {some(map(repr, columns), 10)}"
            )
        counts, known = Counter([*self.quasi_identifiers, *self.confidential, *self.identifiers]), set(columns)
        if unknown := [name for name in (*counts, *self.designed) if name not in known]:
            raise no_columns(unknown, columns)
        repeated = [name for name, count in counts.items() if count > 1]
        for_each(repeated, repeated, self._check_once)

    def _check_once(self, name: str) -> None:
        """A column has one role, and is listed there once."""
        lists = {
            "a quasi-identifier": self.quasi_identifiers,
            "confidential": self.confidential,
            "an identifier": self.identifiers,
        }
        has = [role for role, names in lists.items() if name in names]
        if len(has) > 1:
            many = "two" if len(has) == 2 else "three"
            raise ShoalError(f"column {name!r} has {many} roles, it is {' and '.join(has)}; give it one")
        if (count := lists[has[0]].count(name)) > 1:
            often = "twice" if count == 2 else f"{count} times"
            raise ShoalError(f"column {name!r} is listed {often} as {has[0]}; list it once")

    def others(self, columns: Iterable[str]) -> tuple[str, ...]:
        """The columns without a role."""
        given = {*self.quasi_identifiers, *self.confidential, *self.identifiers, *self.designed}
        return tuple(column for column in columns if column not in given)


@dataclass(frozen=True, eq=False)
class Column:
    """A column as it came: the series of a dataframe, and its text and the signs of numbers in a text file.

    Several columns that mean one thing, such as a latitude and a longitude, are the `parts` of one.
    """

    name: str
    series: "nw.Series[Any]"
    text: pa.ChunkedArray | None = None
    signs: tuple[str, str] = (".", "")
    parts: "tuple[Column, ...]" = ()

    def __len__(self) -> int:
        return len(self.series)

    def where(self, chosen: NDArray[np.bool_]) -> "Column":
        """Some of its records."""
        text = None if self.text is None else self.text.filter(pa.array(chosen))
        series = self.series.filter(chosen.tolist())
        return Column(self.name, series, text, self.signs, tuple(part.where(chosen) for part in self.parts))

    def values(self) -> pa.ChunkedArray:
        """What it holds, in Arrow: the text of a text file, else its values."""
        if self.text is not None:
            return self.text
        held = arrow_column(self.series)
        return plain(held if isinstance(held, pa.ChunkedArray) else pa.chunked_array([held]))


@dataclass(frozen=True, eq=False)
class Table:
    """A table of people or companies, and the role of each column."""

    frame: "nw.DataFrame[Any]"
    roles: Roles
    source: Source | None = None
    rows: Int | None = None  # the places of its records in the table that came, where it is a part of that

    @classmethod
    def of(cls, data: Any, roles: Roles, leaves: bool = True) -> "Table":
        """From a pandas, polars or pyarrow table, from a file's path, or from a file already read.

        Where it `leaves`, its owner is warned of what would leave along with its columns.
        """
        source = read(data) if isinstance(data, (str, os.PathLike)) else data
        if isinstance(source, Source):
            table = cls(framed(source.table), roles, source)
        else:
            table = cls(framed(data).clone(), roles)  # what the caller does to it later is no concern of ours
        roles.check(table.frame.columns)
        if len(table.frame) == 0:
            raise ShoalError("the table is empty: it has columns but no records")
        if leaves:
            table._warn()
        return table

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def kept(self) -> list[str]:
        """The columns that leave, in their order."""
        return [name for name in self.frame.columns if name not in self.roles.identifiers]

    @property
    def others(self) -> tuple[str, ...]:
        """The columns without a role."""
        return self.roles.others(self.frame.columns)

    def column(self, *names: str) -> "Column":
        """A column as it came, or several as one."""
        if len(names) > 1:
            parts = tuple(self.column(name) for name in names)
            return replace(parts[0], name=", ".join(names), parts=parts)
        (name,) = names
        if self.source is not None and self.source.text is not None:
            return Column(name, self.frame[name], self.source.text[name], self.source.dialect.signs)
        return Column(name, self.frame[name])

    def where(self, chosen: NDArray[np.bool_]) -> "Table":
        """Some of its records."""
        source = self.source
        if source is not None:
            mask = pa.array(chosen)
            text = None if source.text is None else source.text.filter(mask)
            source = replace(source, table=source.table.filter(mask), text=text)
        places = np.flatnonzero(chosen)
        rows = places if self.rows is None else self.rows[places]
        frame = self.frame.filter(chosen.tolist()) if source is None else framed(source.table)
        return Table(frame, self.roles, source, rows)

    def shown(self, names: Iterable[str]) -> pa.Table:
        """Some columns as people can tell their values apart: the text of a CSV file, or the values themselves."""
        if self.source is not None and self.source.text is not None:
            return self.source.text.select(list(names))
        return arrow_of(self.frame.select(list(names)).to_native(), to_look_at=True)

    def replaced(self, new: "Iterable[nw.Series[Any]]") -> Any:
        """The table to release: identifiers gone, each quasi-identifier with its new column."""
        native = self.frame.with_columns(*new).select(self.kept).to_native()
        # What stands in the metadata of an Arrow table may be about the columns that were dropped.
        return native.replace_schema_metadata(None) if nw.dependencies.is_pyarrow_table(native) else native

    def _warn(self) -> None:
        if nw.dependencies.is_pandas_dataframe(native := self.frame.to_native()) and not is_counter(native.index):
            warn("the index is kept in release.table (files do not get it); reset it if it identifies people")
        if unused := [name for name in self.kept if has_unused_categories(self.frame[name])]:
            warn(
                f"categories that no record has stay in release.table (files do not get them): "
                f"{some(map(repr, unused), 10)}; drop them if they name anybody"
            )


def holds_categories(series: "nw.Series[Any]") -> bool:
    """Whether a column is one of categories by its type."""
    kind = arrow_type(series)
    if kind is not None:
        return bool(pa.types.is_dictionary(kind))
    return hasattr(series.to_native(), "cat") and series.dtype in (nw.Categorical, nw.Enum)


def has_unused_categories(series: "nw.Series[Any]") -> bool:
    """Whether a column of categories has some that none of its records has."""
    native = series.to_native()
    categories = getattr(getattr(native, "cat", None), "categories", None)
    if categories is not None:  # pandas: anything can be a category there, also what Arrow has no type for
        return bool(len(categories) > native.nunique())
    if not holds_categories(series):
        return False
    values = series.to_arrow()
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    listed = {repr(value) for chunk in chunks for value in chunk.dictionary.drop_null()}
    return len(listed) > len({repr(value) for chunk in chunks for value in used_categories(chunk)})


def without_unused_categories(series: "nw.Series[Any]") -> "nw.Series[Any]":
    """A column of categories without those that none of its records has; any other as it is."""
    native: Any = series.to_native()
    kind = arrow_type(series)
    if hasattr(getattr(native, "cat", None), "remove_unused_categories"):
        made = native.cat.remove_unused_categories()
    elif kind is not None and pa.types.is_dictionary(kind):
        held = native if isinstance(native, pa.ChunkedArray) else pa.chunked_array([series.to_arrow()])
        used = pc.dictionary_encode(held.cast(kind.value_type)).cast(kind)
        of_pandas = series.implementation.is_pandas_like()
        made = type(native)(type(native.array)(used), native.index, name=native.name) if of_pandas else used
    elif series.dtype == nw.Enum:
        there = set(native.unique().to_list())
        made = native.cast(type(native.dtype)([each for each in native.dtype.categories if each in there]))
    else:
        return series
    return nw.from_native(made, series_only=True)


def used_categories(chunk: pa.DictionaryArray) -> pa.Array:
    """The categories that some record has."""
    return chunk.dictionary.take(chunk.indices.drop_null().unique()).drop_null()


def framed(data: Any) -> "nw.DataFrame[Any]":
    """Any dataframe behind one interface."""
    data = gathered(data)
    # Asked for before narwhals sees them: some dataframes can hold names that it cannot.
    check_names(list(getattr(data, "column_names", getattr(data, "columns", ()))))
    try:
        return nw.from_native(data, eager_only=True)
    except TypeError:
        raise no_table(data) from None


def gathered(data: Any) -> Any:
    """A table with its records: a lazy one is collected, one that is handed on by Arrow becomes an Arrow table."""
    if isinstance(data, nw.DataFrame | nw.LazyFrame):
        data = data.to_native()
    spread = nw.dependencies.is_dask_dataframe(data)
    lazy = spread or nw.dependencies.is_polars_lazyframe(data)
    by_arrow = hasattr(data, "__arrow_c_stream__") or isinstance(data, pa.RecordBatch)
    if not lazy and (nw.dependencies.is_into_dataframe(data) or not by_arrow):
        return data
    if nw.dependencies.is_into_series(data) or isinstance(data, pa.Array):
        raise no_table(data)
    try:
        if spread:
            return data.compute()
        return data.collect() if lazy else pa.table(data)
    except MemoryError:
        raise
    except Exception as error:  # whatever the library behind it says of a column or a file that is not there
        said = str(error).split("\n", 1)[0]
        raise ShoalError(f"the records of this {type(data).__name__} cannot be read: {said}") from error


def check_names(names: Sequence[Any]) -> None:
    """Every column has a name that is text, and that no other column has."""
    several = next((name for name in names if isinstance(name, tuple)), None)
    if several is not None:
        raise ShoalError(
            f"the columns have names of several levels, such as {several!r}; flatten them first, for example by "
            "table.columns = ['_'.join(map(str, name)) for name in table.columns]"
        )
    duplicates = [name for name, count in Counter(map(str, names)).items() if count > 1]
    if duplicates:
        raise ShoalError(f"two columns of the same name: {some(map(repr, duplicates))}; rename one")
    if not all(isinstance(name, str) for name in names):
        odd = next(name for name in names if not isinstance(name, str))
        raise ShoalError(
            f"column names must be text, not {odd!r}; rename the columns first, for example by "
            "table.columns = table.columns.map(str)"
        )


def no_table(data: Any) -> ShoalError:
    """Something else was given where a table is wanted."""
    called = type(data).__name__
    if isinstance(data, Mapping):
        cure = "make one of it first, for example by pandas.DataFrame(data) or pyarrow.table(data)"
    elif isinstance(data, list | tuple):
        cure = "make one of it first, for example by pandas.DataFrame(data) or polars.DataFrame(data)"
    elif isinstance(data, np.ndarray):
        cure = "give its columns names first, for example by pandas.DataFrame(data, columns=['age', 'height'])"
    elif nw.dependencies.is_into_series(data) or isinstance(data, pa.Array):
        cure = "it is a single column; put it into a table first, for example by to_frame()"
    else:
        cure = "give a pandas, polars or pyarrow table, what hands its records on by Arrow, or a file's path"
    return ShoalError(f"{called} is not a table; {cure}")


NO_TYPE = (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError)
"""What is raised where Arrow has no type for what a column holds."""


def is_counter(index: Any) -> bool:
    """Whether a pandas index only counts the records."""
    return type(index).__name__ == "RangeIndex"


def arrow_of(data: Any, to_look_at: bool = False) -> pa.Table:
    """Any table as an Arrow table, without the index that pandas would hand along.

    A column that Arrow has no type for is an error; in a table that is only looked at, it is text.
    """
    frame = framed(data)
    native = frame.to_native()
    if nw.dependencies.is_pyarrow_table(native):
        return native
    if nw.dependencies.is_pandas_dataframe(native):
        frame = nw.from_native(native.reset_index(drop=True), eager_only=True)
    columns = {}
    for name in frame.columns:
        try:
            columns[name] = arrow_column(frame[name])
        except NO_TYPE as error:
            if not to_look_at:
                raise ShoalError(
                    f"column {name!r} has no type that Parquet and Arrow files know "
                    f"({str(error).splitlines()[0]}); write CSV or convert it first"
                ) from None
        if to_look_at and (name not in columns or holds_extensions(columns[name].type)):
            columns[name] = pa.array([written(text) or None for text in texts(frame[name])], pa.string())
    return pa.table(columns)


def written(text: str) -> str:
    """A text as Arrow can hold it: halves of letters, which UTF-8 does not have, by their numbers."""
    return text.encode("utf-8", "backslashreplace").decode()


def holds_extensions(kind: pa.DataType) -> bool:
    """Whether values are of a dataframe's own making, such as intervals, and look like something else in Arrow."""
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return isinstance(value, pa.BaseExtensionType)


def arrow_type(series: "nw.Series[Any]") -> pa.DataType | None:
    """The Arrow type of a column of an Arrow table, or of a pandas column that stands on Arrow."""
    native = series.to_native()
    held = getattr(getattr(native, "dtype", None), "pyarrow_dtype", getattr(native, "type", None))
    return held if isinstance(held, pa.DataType) else None


def type_name(series: "nw.Series[Any]") -> str:
    """The name of a column's type; narwhals has none for decimals in units of tens or hundreds."""
    try:
        return str(series.dtype)
    except ValueError:
        return str(arrow_type(series))


def arrow_column(series: "nw.Series[Any]") -> pa.Array | pa.ChunkedArray:
    """A column in Arrow, a sparse one of pandas in full; raises what libraries raise where there is no type."""
    native = series.to_native()
    if nw.dependencies.is_polars_series(native) and series.dtype == nw.Object:
        raise TypeError("objects of Python")  # polars would hand on where they are in memory
    sparse: Any = getattr(native, "sparse", None)
    if hasattr(sparse, "to_dense"):
        series = nw.from_native(sparse.to_dense(), series_only=True)
    return series.to_arrow()


def texts(series: "nw.Series[Any]") -> list[str]:
    """The values of a column as a text file shows them, missing ones as nothing."""
    missing = series.is_null().to_list()
    try:
        values = series.to_list()
    except (OverflowError, ValueError):  # a date that Python does not have
        values = pc.cast(series.to_arrow(), pa.string()).to_pylist()
    spelled = spelling_of(series)
    return ["" if gap else spelled(value) for value, gap in zip(values, missing, strict=True)]


def spelling_of(series: "nw.Series[Any]") -> Callable[[Any], str]:
    """How a column spells a value: floats by the shortest text that reads back to them in their own precision."""
    kind = arrow_type(series)
    if kind is not None and pa.types.is_dictionary(kind):
        kind = kind.value_type
    name = str(series.dtype if kind is None else kind)
    if name in ("Float32", "float"):
        return lambda value: str(np.float32(value))
    if name in ("Float16", "halffloat"):
        return lambda value: str(np.float16(value))
    return "{:f}".format if name.lower().startswith("decimal") else str


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text: a column of codes such as 01234, which a release turns into numbers."""
    return str(kind) in ("string", "large_string")
