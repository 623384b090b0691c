"""What a fuzzed file is, what is asked for, and what a right release of it would be. Knows nothing of Shoal."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

Role = Literal["quasi", "confidential", "identifier", "other"]
Kind = Literal["integer", "boolean", "decimal", "float", "category"]
Verdict = Literal["release", "either", "refuse"]

MARK = "zq7Mark"
"""Stands in whatever must never leave: identifiers, categories that no record has, metadata of a file."""


@dataclass
class Column:
    """One column of a table, as its owner means it."""

    name: str
    role: Role
    texts: list[str] | None = None  # as they stand in a CSV file, without quotes
    array: Any = None  # as they stand in a Parquet or Arrow file
    values: list[Fraction] | None = None  # what a quasi-identifier's numbers are
    kind: Kind = "integer"
    decimals: int | None = 0  # the most that a number comes with; of hundreds -2, of floats none
    precision: int = 53  # binary digits of its floats
    grouping: str = ""  # what stands between thousands
    long: bool = False  # more digits than a stream holds
    words: list[str] | None = None  # what a quasi-identifier's categories are


@dataclass
class Case:
    """A file, a command and the truth about both."""

    label: str
    name: str
    content: bytes
    columns: list[Column]
    k: int
    output: str
    header: bool = True
    given_names: list[str] | None = None  # by --names
    decimal: str = "."
    settings: dict[str, Any] = field(default_factory=dict)  # of `anonymize` beside k and the roles
    parameters: dict[str, str] = field(default_factory=dict)  # of the method
    dialect: dict[str, Any] = field(default_factory=dict)  # what the command says about a CSV file
    extras: list[str] = field(default_factory=list)  # other options, such as --json
    ways: list[str] = field(default_factory=list)  # what is tried beside the command itself
    notes: list[str] = field(default_factory=list)  # what is special
    verdict: Verdict = "release"

    @property
    def n(self) -> int:
        """How many records there are."""
        first = self.columns[0]
        return len(first.texts) if first.texts is not None else len(first.array)

    @property
    def is_csv(self) -> bool:
        """Whether the file that comes in is text."""
        return self.columns[0].texts is not None

    @property
    def names(self) -> list[str]:
        """What the columns are called in the release, identifiers among them."""
        if self.given_names is not None:
            return self.given_names
        if self.header:
            return [column.name for column in self.columns]
        return [f"column{number}" for number in range(1, len(self.columns) + 1)]

    def called(self, role: Role) -> list[str]:
        """The names of the columns in a role."""
        return [name for name, column in zip(self.names, self.columns, strict=True) if column.role == role]

    def doubt(self, why: str) -> None:
        """A right release or a refusal: a reader may see it otherwise."""
        self.notes.append(why)
        if self.verdict == "release":
            self.verdict = "either"

    def refuse(self, why: str) -> None:
        """There is no right release."""
        self.notes.append(why)
        self.verdict = "refuse"
