"""Options of the command line: how a CSV file is written, lists of columns, digits."""

import csv
import re
import shlex
from typing import Annotated, Any

import typer

from shoal.errors import ShoalError

Delimiter = Annotated[
    str | None, typer.Option(metavar="CHAR", help="CSV: between fields (detected; \\t for a tab).")
]
Quote = Annotated[str | None, typer.Option(metavar="CHAR", help="CSV: around fields (detected).")]
Encoding = Annotated[str | None, typer.Option(metavar="NAME", help="CSV: such as utf-8 or latin-1 (detected).")]
DecimalSign = Annotated[
    str | None, typer.Option("--decimal", metavar="CHAR", help="CSV: decimal sign (detected).")
]
Thousands = Annotated[str | None, typer.Option(metavar="CHAR", help="CSV: between thousands (detected).")]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="CSV: whether the first line names the columns (detected)."),
]
ColumnNames = Annotated[
    list[str], typer.Option("--names", metavar="A,B", help="CSV: what to call the columns, in their order.")
]
NumberNames = Annotated[
    bool, typer.Option("--number-names", help="CSV: give columns of the same name a number: zip, zip_2.")
]
Digits = Annotated[
    list[str],
    typer.Option(metavar="[A=]N", help="Decimals of released numbers, -2 for hundreds. [what groups justify]"),
]


def dialect_of(
    delimiter: str | None,
    quote: str | None,
    encoding: str | None,
    decimal: str | None,
    thousands: str | None,
    header: bool | None,
    names: list[str],
    number_names: bool,
) -> dict[str, Any]:
    """What was said about a CSV file."""
    from shoal.files import Said

    tab = "\t" if delimiter in ("\\t", "tab") else delimiter
    columns = tuple(split(names)) if names else None
    return Said(tab, quote, encoding, decimal, thousands, header, columns, number_names or None).given()


def options_of(dialect: dict[str, Any]) -> str:
    """The same as options of a command."""
    said = []
    for name, value in dialect.items():
        option = f"--{'no-' if value is False else ''}{name.replace('_', '-')}"
        flag = isinstance(value, bool)
        said.append(
            option if flag else f"{option} {joined(list(value)) if name == 'names' else shlex.quote(value)}"
        )
    return "".join(f" {option}" for option in said)


def split(given: list[str]) -> list[str]:
    """Column names from repeated options with commas; a name with a comma goes in double quotes."""
    try:
        rows = [row for item in given for row in csv.reader([item], skipinitialspace=True, strict=True)]
    except csv.Error:
        raise ShoalError(
            f"cannot read the column names {given!r}: put commas between them, and names that hold commas "
            "in double quotes"
        ) from None
    return [name for row in rows for name in row or [""]]


def joined(names: list[str]) -> str:
    """The other way round, quoted for the shell where it must be."""
    doubled = [name.replace('"', '""') for name in names]
    quoted = [f'"{name}"' if re.search(r'[,"\r\n]|^\s', name) else name for name in doubled]
    return shlex.quote(",".join(quoted))


def digits_of(given: list[str]) -> dict[str, int] | int | None:
    """Digits from options such as 2, for all columns, or age=0, for one."""
    example = "a number for all columns or column=number for one, such as income=-2"
    found: dict[str, int] = {}
    for item in given:
        name, _, value = item.rpartition("=")
        if name in found or (found and "" in (name, *found)):
            raise ShoalError(f"two digits for the same column ({item!r}); give {example}, each column once")
        try:
            found[name] = int(value)
        except ValueError:
            raise ShoalError(f"digits are given as {example}, not {item!r}") from None
    return found.get("", found or None)
