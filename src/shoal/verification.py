"""Verifying a file, whoever wrote it: how many records share their quasi-identifiers, from its bytes."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import ShoalError
from shoal.files import Said, look
from shoal.files.file import File, quietly
from shoal.files.memory import bytes_of, free_memory, size_in_memory
from shoal.files.sidecar import written_dialect
from shoal.files.source import reader_of
from shoal.parameters import Names, names_of
from shoal.privacy import Anonymity, check_names, count


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
        from shoal.report.card import verification_card

        return verification_card(self)

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
    if str(path) == "-" and memory is not None:
        raise ShoalError("standard input cannot be read in parts; name a file, or leave out --memory")
    limit, names = min(bytes_of(memory), free_memory()), names_of(quasi_identifiers)
    place = None if str(path) == "-" else Path(path)
    if place is not None and not dialect:
        dialect = written_dialect(place)
    said = Said(**dialect)
    if place is not None and place.is_file() and size_in_memory(place) > limit:
        reader = look(place, said, quietly)
        batches = reader.batches(names)
    else:
        reader = reader_of(File.held(path), said)
        batches = iter([reader.whole(names)])
    check_names(names, reader.columns)
    return Verification(reader.file.name, list(reader.columns), count(batches, names, reader.file.size // 16))
