"""Verifying a file, whoever wrote it: how many records share their quasi-identifiers, from its bytes."""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.cards import Card
from shoal.cards import counted as grouped_digits
from shoal.errors import ShoalError
from shoal.files import Said, read
from shoal.manifest import written_dialect
from shoal.privacy import Anonymity, k_anonymity
from shoal.privacy.k_anonymity import check_names
from shoal.table import Names, names_of


@dataclass(frozen=True, eq=False, repr=False)
class Verification:
    """What was found in a file."""

    name: str
    columns: list[str]
    anonymity: Anonymity

    def __repr__(self) -> str:
        return f"Verification({self.name!r}, k={self.k}, records={self.n_records}, groups={self.n_groups})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        figures = [
            (f"k = {self.k}", "the smallest group"),
            (grouped_digits(self.n_records), "records"),
            (grouped_digits(self.n_groups), "groups"),
        ]
        return Card(f"Verification: {self.name}", figures).html()

    @property
    def k(self) -> int:
        """The size of the smallest group."""
        return self.anonymity.k

    @property
    def n_groups(self) -> int:
        """How many different combinations of quasi-identifiers there are."""
        return self.anonymity.n_groups

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return self.anonymity.n_records


def verify(
    path: str | os.PathLike[str],
    quasi_identifiers: Names,
    *,
    memory: str | int | None = None,
    **dialect: Any,
) -> Verification:
    """Count the groups of a file on its quasi-identifiers; CSV values are compared as text.

    A file that would take more than `memory`, such as "1GB" (4 GB by default), or more than is free, is counted
    some records at a time; the count is the same. A release of Shoal is read as the manifest beside it says.
    `dialect` is as for `shoal.files.read`.
    """
    from shoal.stream.memory import bytes_of, free_memory, size_in_memory

    if str(path) == "-" and memory is not None:
        raise ShoalError("standard input cannot be read in parts; name a file, or leave out --memory")
    limit, names = min(bytes_of(memory), free_memory()), names_of(quasi_identifiers)
    if str(path) != "-" and not dialect:
        dialect = written_dialect(Path(path))
    if str(path) != "-" and Path(path).is_file() and size_in_memory(Path(path)) > limit:
        return counted(Path(path), names, Said(**dialect))
    source = read(path, **dialect)
    table = source.table if source.text is None else source.text
    return Verification(source.name, table.column_names, k_anonymity(table, names))


def counted(path: Path, names: tuple[str, ...], said: Said) -> Verification:
    """The same for a file larger than memory."""
    from shoal.stream.counting import count
    from shoal.stream.source import look

    def quietly(done: int, total: int) -> None:
        pass

    source = look(path, said, quietly)
    check_names(names, source.columns)
    with tempfile.TemporaryDirectory() as folder:
        sizes = count(source, names, source.size // 16, Path(folder), quietly)
    return Verification(path.name, list(source.columns), sizes)
