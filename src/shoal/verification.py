"""Verifying a file, whoever wrote it: how many records share their quasi-identifiers, from its bytes."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.cards import Card
from shoal.cards import counted as grouped_digits
from shoal.errors import ShoalError
from shoal.files import Format, Said
from shoal.files.file import File
from shoal.files.memory import DEFAULT, bytes_of, free_memory, size_in_memory
from shoal.files.sidecar import manifest_about, written_dialect, written_gap_values
from shoal.files.source import reader_of
from shoal.parameters import Names, names_of
from shoal.privacy import Anonymity, check_names, count
from shoal.privacy.k_anonymity import distinct, groups_in
from shoal.privacy.persons import linked, persons_in, sizes_of
from shoal.privacy.wildcards import GapTexts, wildcard_k
from shoal.progress import quietly

Int = NDArray[np.int64]

IN_PARTS = "the file was read in parts"


class Whose(NamedTuple):
    """Whose the rows of a file are: what a column of it says, or what its owner knows."""

    whom: str  # "persons" or "households"
    rows: str | Int  # the name of the column; or the number of each row's person
    least: int = 1  # so many of them must share a combination

    def found(self, anonymity: Anonymity) -> "Found":
        """What was counted, and how it is known whose the rows are."""
        by = (
            f"column {self.rows!r} of the file" if isinstance(self.rows, str) else "identifiers that did not leave"
        )
        return Found(anonymity.k, self.whom, f"by {by}", self.least)

    def codes(self, table: pa.Table) -> Int:
        """The number of each row's person."""
        return distinct(self.rows, table[self.rows]).codes if isinstance(self.rows, str) else self.rows


class Found(NamedTuple):
    """How many of them share a combination, or all their rows, at least; how many must, and how that is known."""

    k: int
    whom: str
    where: str
    least: int


class FoundCombination(NamedTuple):
    """How many share some of the columns at least, and how many were asked for."""

    asked: int
    columns: tuple[str, ...]
    k: int


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
    counts: tuple[Found, ...] = ()
    """Whom the smallest group has, where several rows may be of one person; what k counts comes first."""
    links: tuple[Found, ...] = ()
    """How many of them have the same rows at least, where a column of the file links the rows of a person."""
    combinations: tuple[FoundCombination, ...] = ()
    """What was found on some of the columns, where a larger k was asked for."""

    def __repr__(self) -> str:
        return f"Verification({self.name!r}, k={self.k}, records={self.n_records}, groups={self.n_groups})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        whom = f" {self.whom}" if self.counts else ""
        figures = [
            (f"k = {self.k}{whom}", "the smallest group"),
            (grouped_digits(self.n_records), "records"),
            (grouped_digits(self.n_groups), "groups"),
        ]
        return Card(f"Verification: {self.name}", figures).html()

    @property
    def k(self) -> int:
        """The size of the smallest group, in records, or in persons or households where these are known."""
        return self.counts[0].k if self.counts else self.anonymity.k

    @property
    def whom(self) -> str:
        """What k counts."""
        return self.counts[0].whom if self.counts else "records"

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
    person: str | None = None,
    also: Sequence[tuple[int, Sequence[str]]] = (),
    **dialect: Any,
) -> Verification:
    """Count the groups of a file on its quasi-identifiers; CSV values are compared as text.

    Where `person` names the column that tells whose row it is, such as a pseudonym, k counts persons, and it is
    found how many persons have the same rows. `also` asks for a larger k on some of the columns, such as
    ``[(10, ["age", "sex"])]``; what is there is found, and not refused.

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
    whose = [] if person is None else [Whose("persons", person)]
    combinations = [(k, names_of(columns)) for k, columns in also]
    gaps = written_gap_values(manifest, names)
    return verify_as(None, path, names, said, limit, gaps, whose, person, combinations)


def verify_as(
    kind: Format | None,
    path: str | os.PathLike[str],
    quasi_identifiers: Sequence[str],
    said: Said,
    limit: int = DEFAULT,
    gaps: GapTexts | None = None,
    whose: Sequence[Whose] = (),
    linked_by: str | None = None,
    also: Sequence[tuple[int, tuple[str, ...]]] = (),
) -> Verification:
    """The same for a file whose format is known, whatever its name; None where that is to be found out.

    `gaps` are the texts that mean a gap, by columns; `whose` says who is counted, `linked_by` which column links
    the rows of a person, and `also` which columns are counted without the others.
    """
    on_disk = str(path) != "-" and Path(path).is_file() and size_in_memory(Path(path)) > min(limit, free_memory())
    reader = reader_of(File.on_disk(Path(path), quietly) if on_disk else File.held(path), said, kind)
    more = [each.rows for each in whose if isinstance(each.rows, str)]
    more += [name for _, columns in also for name in columns]
    check_names([*quasi_identifiers, *more], reader.columns)
    if on_disk and not whose:

        def counted_in_parts(names: Sequence[str]) -> Anonymity:
            return count(reader.batches(names), names, reader.file.size // 16)

        return Verification(
            reader.file.name,
            list(reader.columns),
            counted_in_parts(quasi_identifiers),
            not_counted=IN_PARTS,
            combinations=tuple(FoundCombination(k, names, counted_in_parts(names).k) for k, names in also),
        )
    whole = reader.whole(list(dict.fromkeys([*quasi_identifiers, *more])))
    groups = groups_in(whole, quasi_identifiers)
    return Verification(
        reader.file.name,
        list(reader.columns),
        Anonymity(np.bincount(groups)),
        *wildcard_k(whole, quasi_identifiers, gaps),
        *counted_persons(whole, groups, whose, linked_by),
        combinations_of(whole, whose, also),
    )


def counted_persons(
    table: pa.Table, groups: Int, whose: Sequence[Whose], linked_by: str | None
) -> tuple[tuple[Found, ...], tuple[Found, ...]]:
    """Whom the smallest group of a table has, and how many have the same rows."""
    codes = [each.codes(table) for each in whose]
    counts = tuple(who.found(persons_in(groups, each)) for each, who in zip(codes, whose, strict=True))
    if linked_by is None:
        return counts, ()
    link = distinct(linked_by, table[linked_by]).codes
    return counts, tuple(who.found(linked(groups, link, each)) for each, who in zip(codes, whose, strict=True))


def combinations_of(
    table: pa.Table, whose: Sequence[Whose], also: Sequence[tuple[int, tuple[str, ...]]]
) -> tuple[FoundCombination, ...]:
    """Whom some columns have without the others."""
    persons = whose[0].codes(table) if whose else None
    return tuple(
        FoundCombination(k, names, int(sizes_of(groups_in(table, names), persons).min())) for k, names in also
    )
