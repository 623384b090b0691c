"""Verifying a file, whoever wrote it: how many records share their quasi-identifiers, from its bytes."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.cards import Card
from shoal.cards import counted as grouped_digits
from shoal.errors import ShoalError
from shoal.files import Format, Said
from shoal.files.file import File
from shoal.files.memory import DEFAULT, bytes_of, free_memory, size_in_memory
from shoal.files.sidecar import manifest_about, written_dialect, written_gap_values
from shoal.files.source import reader_of
from shoal.parameters import Names, names_of
from shoal.privacy import Anonymity, check_names, count, k_anonymity
from shoal.privacy.wildcards import GapTexts, wildcard_k
from shoal.progress import quietly

IN_PARTS = "the file was read in parts"


@dataclass(frozen=True, eq=False, repr=False)
class Verification:
    """What was found in a file."""

    name: str
    columns: list[str]
    anonymity: Anonymity
    wildcard_k: int | None = None
    """The least number of records that fit a record where a gap fits everything; None where there are no gaps."""
    not_counted: str | None = None
    """Why `wildcard_k` was not counted, though there may be gaps."""

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
    some records at a time; the count is the same. A release of Shoal is read as the manifest beside it says, which
    also says what stands for a gap.
    `dialect` is as for `shoal.files.read`.
    """
    if str(path) == "-" and memory is not None:
        raise ShoalError("standard input cannot be read in parts; name a file, or leave out --memory")
    limit, names = bytes_of(memory), names_of(quasi_identifiers)
    manifest = {} if str(path) == "-" else manifest_about(Path(path))
    said = Said(**(dialect or written_dialect(manifest)))
    return verify_as(None, path, names, said, limit, written_gap_values(manifest, names))


def verify_as(
    kind: Format | None,
    path: str | os.PathLike[str],
    quasi_identifiers: Sequence[str],
    said: Said,
    limit: int = DEFAULT,
    gaps: GapTexts | None = None,
) -> Verification:
    """The same for a file whose format is known, whatever its name; None where that is to be found out.

    `gaps` are the texts that mean a gap, by columns.
    """
    on_disk = str(path) != "-" and Path(path).is_file() and size_in_memory(Path(path)) > min(limit, free_memory())
    reader = reader_of(File.on_disk(Path(path), quietly) if on_disk else File.held(path), said, kind)
    check_names(quasi_identifiers, reader.columns)
    if on_disk:
        counted = count(reader.batches(quasi_identifiers), quasi_identifiers, reader.file.size // 16)
        return Verification(reader.file.name, list(reader.columns), counted, not_counted=IN_PARTS)
    whole = reader.whole(quasi_identifiers)
    counted = k_anonymity(whole, quasi_identifiers)
    return Verification(
        reader.file.name, list(reader.columns), counted, *wildcard_k(whole, quasi_identifiers, gaps)
    )
