"""Verifying a file, whoever wrote it: how many records share their quasi-identifiers, from its bytes."""

import os
from dataclasses import dataclass
from typing import Any

from shoal.files import read
from shoal.privacy import Anonymity, k_anonymity
from shoal.table import Names, names_of


@dataclass(frozen=True, eq=False)
class Verification:
    """What was found in a file."""

    name: str
    columns: list[str]
    anonymity: Anonymity

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


def verify(path: str | os.PathLike[str], quasi_identifiers: Names, **dialect: Any) -> Verification:
    """Count the groups of a file on its quasi-identifiers; CSV values are compared as text.

    `dialect` may hold the delimiter, quote, encoding and decimal sign of a CSV file.
    """
    source = read(path, **dialect)
    table = source.table if source.text is None else source.text
    return Verification(source.name, table.column_names, k_anonymity(table, names_of(quasi_identifiers)))
