"""A table in several files, which lie side by side and are read one after the other."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import ShoalError, some
from shoal.files.dialect import Dialect
from shoal.files.file import File, hash_of
from shoal.files.formats import FORMATS, Reader
from shoal.files.objects import is_object, objects_in
from shoal.files.source import reader_from
from shoal.parameters import Progress


def is_several(path: str) -> bool:
    """Whether a path names several files: a folder, or a pattern such as `folder/*.parquet`."""
    return has_magic(path) or is_object(path) or Path(path).is_dir()


def files_in(path: str) -> list[str]:
    """The files that a path names, in the order of their names; a folder names those whose format is known."""
    if is_object(path):
        return objects_in(path)
    if Path(path).is_dir():
        endings = tuple(ending for kind in FORMATS.values() for ending in (*kind.suffixes, *zipped(kind)))
        found = [str(each) for each in Path(path).iterdir() if each.is_file() and each.name.endswith(endings)]
        found = [each for each in found if not Path(each).name.startswith(".")]
    else:
        found = [each for each in glob(path) if Path(each).is_file()] if has_magic(path) else [path]  # noqa: PTH207
    if not found:
        raise ShoalError(f"there are no files {path}")
    return sorted(str(Path(each).resolve()) for each in found)


def zipped(kind: Any) -> list[str]:
    """The endings of a format's files that are gzipped."""
    return [f"{suffix}.gz" for suffix in kind.suffixes] if kind.can_be_zipped else []


@dataclass(frozen=True)
class Part:
    """One of the files, as it was found when it was read first."""

    found: Mapping[str, Any]  # what its reader said of itself

    @property
    def name(self) -> str:
        """Of the file."""
        return str(self.found["file"]["name"])

    @property
    def sha256(self) -> str:
        """The hash of its bytes."""
        return str(self.found["file"]["sha256"])

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return int(self.found["file"]["size"])

    @contextmanager
    def opened(self) -> Iterator[Reader]:
        """A reader of the file; an error if it has changed by then, or changes meanwhile."""
        reader = reader_from(self.found)
        reader.file.check_unchanged()
        yield reader
        reader.file.check_unchanged()

    @contextmanager
    def opened_again(self) -> Iterator[Reader]:
        """The same after its bytes were hashed once more: what is read now was read then."""
        with self.opened() as reader:
            if reader.file.path is not None and hash_of(reader.file.path) != self.sha256:
                raise ShoalError(f"{self.name} has changed since the work began; start again when it is at rest")
            yield reader


@dataclass(frozen=True)
class PartsReader(Reader):
    """Reads several files as one table."""

    each: tuple[Part, ...]
    first: Reader

    @classmethod
    def of(cls, name: str, each: Sequence[Part]) -> "PartsReader":
        """Files with the same columns, written in the same way."""
        readers = [reader_from(part.found) for part in each]
        first = readers[0]
        for part, reader in zip(each, readers, strict=True):
            if odd := difference(first, reader):
                raise ShoalError(f"{part.name} and {each[0].name} have other {odd}; they are not one table")
        digest = hashlib.sha256("".join(part.sha256 for part in each).encode()).hexdigest()
        file = File(name, None, sum(part.size for part in each), 0, digest)
        return cls(first.format, file, first.schema, tuple(each), first)

    @property
    def dialect(self) -> Dialect:
        """How text is written."""
        return self.first.dialect

    @property
    def returns(self) -> bool:
        """Whether there may be carriage returns in text."""
        return any(reader_from(part.found).returns for part in self.each)

    def parts(self, columns: list[str], progress: Progress) -> Iterator[pa.Table]:
        """One file after the other."""
        done, size = 0, self.file.size
        for part in self.each:
            with part.opened() as reader:
                yield from reader.parts(columns, lambda now, _, done=done: progress(done + now, size))  # type: ignore[misc]
            done += part.size


def difference(first: Reader, other: Reader) -> str:
    """In what two files differ that are to be one table."""
    if first.format.name != other.format.name:
        return "formats"
    if first.columns != other.columns:
        odd = sorted(set(first.columns) ^ set(other.columns))
        return f"columns ({some(map(repr, odd))})" if odd else "orders of columns"
    if first.dialect != other.dialect:
        return "ways of writing text (say which with delimiter, quote, encoding, decimal and thousands)"
    types = [name for name in first.columns if first.schema.field(name).type != other.schema.field(name).type]
    return f"types ({some(map(repr, types))})" if types else ""
