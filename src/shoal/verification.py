"""Verifying a file, whoever wrote it: how many records share their quasi-identifiers, from its bytes."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.cards import Card
from shoal.cards import counted as grouped_digits
from shoal.errors import ShoalError, nearest_name
from shoal.files import Format, Reader, Said
from shoal.files.file import File
from shoal.files.memory import DEFAULT, bytes_of, free_memory, size_in_memory
from shoal.files.sidecar import manifest_about, written_dialect, written_gap_values
from shoal.files.source import reader_of
from shoal.option_rules import ByColumn, Combinations, Texts
from shoal.parameters import EVERY, Names, names_of
from shoal.privacy import Anonymity, check_names, count
from shoal.privacy.k_anonymity import groups_in
from shoal.privacy.persons import linked, persons_below, persons_in, persons_of, sizes_of
from shoal.privacy.wildcards import GapTexts, wildcard_k
from shoal.progress import quietly

if TYPE_CHECKING:
    from shoal.privacy.checking import Check
    from shoal.privacy.models import Model

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
        return persons_of(self.rows, table[self.rows]) if isinstance(self.rows, str) else self.rows


class Found(NamedTuple):
    """How many of them share a combination, or all their rows, at least; how many must, and how that is known."""

    k: int
    whom: str
    where: str
    least: int

    @property
    def one(self) -> str:
        """One of them: "person"."""
        return self.whom.removesuffix("s")

    @property
    def have(self) -> str:
        """So many of them, before what they have: "1 person has"."""
        return f"1 {self.one} has" if self.k == 1 else f"{self.k} {self.whom} have"


class Groups(NamedTuple):
    """The group of each row, and whose it is; None where every row is a person."""

    of: Int
    persons: Int | None


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
    rows: Groups | None = None
    """The groups row by row, where the file is in memory."""
    models: "tuple[Check, ...]" = ()
    """What privacy models found, where some were asked for."""

    def __repr__(self) -> str:
        return f"Verification({self.name!r}, k={self.k}, records={self.n_records}, groups={self.n_groups})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        whom = f" {self.whom if self.k != 1 else self.counts[0].one}" if self.counts else ""
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

    def below(self, k: int) -> int:
        """How many of what k counts are in groups of fewer than k; one who is in several counts once."""
        if self.rows is None or self.rows.persons is None:
            return self.anonymity.records_below(k)
        return persons_below(self.rows.of, self.rows.persons, k)

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
    household: str | None = None,
    within: Names = None,
    also: Sequence[tuple[int, Sequence[str]]] = (),
    models: "Sequence[Model]" = (),
    gap_values: Mapping[str, Sequence[str]] | Sequence[str] | None = None,
    **dialect: Any,
) -> Verification:
    """Count the groups of a file on its quasi-identifiers; CSV values are compared as text.

    Where `person` names the column that tells whose row it is, such as a pseudonym, k counts persons, and it is
    found how many persons have the same rows. Where `household` names the column of households, k counts these;
    with `person` too, k counts persons, and two households must share each combination. Strata (`within`) are
    counted together with the quasi-identifiers. `also` asks for a larger k on some of the columns, such as
    ``[(10, ["age", "sex"])]``; what is there is found, and not refused. So it is with privacy models, such as
    ``[LDiversity(3, on="diagnosis")]``, which count persons where k does.

    A file that would take more than `memory`, such as "1GB" (4 GB by default), or more than is free, is counted
    some records at a time; the count is the same. Persons are counted in memory only. A release of Shoal is read
    as the manifest beside it says, which also says what stands for a gap. `gap_values` says it for another file: a
    list of texts, or a mapping from column names.
    `dialect` is as for `shoal.files.read`.
    """
    if str(path) == "-" and memory is not None:
        raise ShoalError("standard input cannot be read in parts; name a file, or leave out --memory")
    limit, strata = bytes_of(memory), names_of(within)
    names = (*names_of(quasi_identifiers), *strata)
    whose = whose_rows(person, household)
    if whose and is_too_large(path, limit):
        raise ShoalError(
            f"{whose[0].whom} are counted in memory, and {path} is too large for it; give more --memory, on a "
            f"machine that has it, or leave out --{whose[0].whom.removesuffix('s')}"
        )
    manifest = {} if str(path) == "-" else manifest_about(Path(path))
    said = Said(**(dialect or written_dialect(manifest)))
    combinations = Combinations().check("also", also)
    read = (*names, *(model.on for model in models))
    gaps = written_gap_values(manifest, read) if gap_values is None else gaps_said(gap_values, read)
    return verify_as(
        None, path, names, said, limit, gaps, whose, person or household, combinations, strata, models=models
    )


def gaps_said(given: Mapping[str, Sequence[str]] | Sequence[str], names: Sequence[str]) -> GapTexts:
    """What stands for a gap in each of some columns, as it was said for them or for all."""
    said: Any = ByColumn(Texts(), "age=['-9']", for_all=True).check("gap_values", given)
    if unknown := [name for name in said if name != EVERY and name not in names]:
        raise ShoalError(
            f"gap_values for {unknown[0]!r}, which is neither a quasi-identifier nor of a privacy model"
            f"{nearest_name(unknown[0], names)}"
        )
    return {name: said.get(name, said.get(EVERY)) for name in names}


def whose_rows(person: str | None, household: str | None) -> list[Whose]:
    """Who is counted by columns of a file, what k counts first."""
    if household is None:
        return [] if person is None else [Whose("persons", person)]
    if person is None:
        return [Whose("households", household)]
    return [Whose("persons", person), Whose("households", household, least=2)]


def is_too_large(path: str | os.PathLike[str], limit: int) -> bool:
    """Whether a file would take more memory than it may, or than is free."""
    if str(path) == "-" or not Path(path).is_file():
        return False
    return size_in_memory(Path(path)) > min(limit, free_memory())


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
    strata: Sequence[str] = (),
    expected: Int | None = None,
    models: "Sequence[Model]" = (),
) -> Verification:
    """The same for a file whose format is known, whatever its name; None where that is to be found out.

    `gaps` are the texts that mean a gap, by columns; `whose` says who is counted, `linked_by` which column links
    the rows of a person, and `also` which columns are counted without the others, but together with the `strata`.
    `expected` is the group of each row as it was written. Rows must stand in that order where `whose` has their
    numbers.
    """
    on_disk = is_too_large(path, limit)
    reader = reader_of(File.on_disk(Path(path), quietly) if on_disk else File.held(path), said, kind)
    more = [each.rows for each in whose if isinstance(each.rows, str)]
    more += [name for _, columns in also for name in columns] + [model.on for model in models]
    check_names([*quasi_identifiers, *more], reader.columns)
    if on_disk and not whose:

        def counted_in_parts(names: Sequence[str]) -> Anonymity:
            return count(reader.batches(names), names, reader.file.size // 16)

        found = counted_in_parts(quasi_identifiers)
        checks = models_in_parts(reader, quasi_identifiers, models, found.n_records, gaps or {}) if models else ()
        return Verification(
            reader.file.name,
            list(reader.columns),
            found,
            not_counted=IN_PARTS,
            models=checks,
            combinations=tuple(
                FoundCombination(k, names, counted_in_parts([*names, *strata]).k) for k, names in also
            ),
        )
    whole = reader.whole(list(dict.fromkeys([*quasi_identifiers, *more])))
    groups = groups_in(whole, quasi_identifiers)
    if expected is not None and not same_groups(groups, expected):
        raise ShoalError(
            "its rows do not read back in the order in which they were written, so it is not known whose they are"
        )
    codes = [each.codes(whole) for each in whose]
    persons = codes[0] if codes else None
    link = None if linked_by is None else persons_of(linked_by, whole[linked_by])
    return Verification(
        reader.file.name,
        list(reader.columns),
        Anonymity(np.bincount(groups)),
        *wildcard_k(whole, quasi_identifiers, gaps),
        *counted_persons(groups, whose, codes, link),
        combinations_of(whole, persons, also, strata),
        Groups(groups, persons),
        tuple(models_of(whole, reader.dialect.signs, models, groups, persons, gaps or {})) if models else (),
    )


def models_of(
    table: pa.Table,
    signs: tuple[str, str],
    models: "Sequence[Model]",
    groups: Int,
    persons: Int | None,
    gaps: GapTexts,
) -> "list[Check]":
    """What privacy models find in the groups of a table."""
    from shoal.privacy.checking import checked_models
    from shoal.privacy.coding import coding_for, column_of

    names = [model.on for model in models]
    columns = [column_of(name, table[name], signs) for name in names]
    texts = map(gaps.get, names)
    codings = [coding_for(*each) for each in zip(models, columns, texts, strict=True)]
    return checked_models(models, codings, groups, persons)


def models_in_parts(
    reader: Reader, quasi_identifiers: Sequence[str], models: "Sequence[Model]", records: int, gaps: GapTexts
) -> "tuple[Check, ...]":
    """The same of a file that is read in parts."""
    from shoal.privacy.parts import columns_of, judged

    names = list(dict.fromkeys([*quasi_identifiers, *columns_of(models)]))
    with TemporaryDirectory() as folder:
        found = judged(
            reader.batches(names), quasi_identifiers, models, records, Path(folder) / "values",
            reader.dialect.signs, gaps=gaps,
        )  # fmt: skip
    return tuple(found.checks)


def same_groups(one: Int, other: Int) -> bool:
    """Whether two rows have the same number in the one if and only if they have it in the other."""
    if len(one) != len(other):
        return False
    pairs = len(np.unique(one * (int(other.max()) + 1) + other))
    return pairs == len(np.unique(one)) == len(np.unique(other))


def counted_persons(
    groups: Int, whose: Sequence[Whose], codes: Sequence[Int], link: Int | None
) -> tuple[tuple[Found, ...], tuple[Found, ...]]:
    """Whom the smallest group of a table has, and how many have the same rows; `link` says which rows belong."""
    counts = tuple(who.found(persons_in(groups, each)) for each, who in zip(codes, whose, strict=True))
    if link is None:
        return counts, ()
    return counts, tuple(who.found(linked(groups, link, each)) for each, who in zip(codes, whose, strict=True))


def combinations_of(
    table: pa.Table, persons: Int | None, also: Sequence[tuple[int, tuple[str, ...]]], strata: Sequence[str]
) -> tuple[FoundCombination, ...]:
    """Whom some columns have without the others, but together with the strata."""
    return tuple(
        FoundCombination(k, names, int(sizes_of(groups_in(table, [*names, *strata]), persons).min()))
        for k, names in also
    )
