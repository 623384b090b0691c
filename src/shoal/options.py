"""Options of the command line: those of the settings and of CSV files come from where these are kept."""

import csv
import inspect
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any

import typer

from shoal.errors import ShoalError
from shoal.option_rules import Option
from shoal.parameters import EVERY
from shoal.settings import Settings


@dataclass(frozen=True)
class Group:
    """Options that a command takes as one argument: their annotations and defaults, and what is made of them."""

    options: Mapping[str, tuple[Any, Any]]
    collect: Callable[[dict[str, Any]], Any]


def takes(**groups: Group) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of each group; it gets what the group has collected under the group's name."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def wrapped(**given: Any) -> None:
            for argument, group in groups.items():
                given[argument] = group.collect({name: given.pop(name) for name in group.options})
            command(**given)

        parameters: list[inspect.Parameter] = []
        for own in inspect.signature(command).parameters.values():
            if own.name not in groups:
                parameters.append(own.replace(kind=inspect.Parameter.KEYWORD_ONLY))
                continue
            for name, (annotation, default) in groups[own.name].options.items():
                parameters.append(
                    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
                )
        wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {each.name: each.annotation for each in parameters}
        return wrapped

    return decorated


def text_option(*flags: str, metavar: str, help: str, several: bool = False) -> tuple[Any, Any]:  # noqa: A002
    """An option that is followed by a text, or by one each time that it is given."""
    made = typer.Option(*flags, metavar=metavar, help=help)
    return (Annotated[list[str], made], []) if several else (Annotated[str | None, made], None)


def collected_dialect(given: dict[str, Any]) -> dict[str, Any]:
    """What was said about a CSV file."""
    from shoal.files import Said

    if given["delimiter"] in ("\\t", "tab"):
        given["delimiter"] = "\t"
    given["names"] = tuple(split(given["names"])) if given["names"] else None
    given["number_names"] = given["number_names"] or None
    return Said(**given).given()


DIALECT = Group(
    {
        "delimiter": text_option(
            "--delimiter", metavar="CHAR", help="CSV: between fields (detected; \\t for a tab)."
        ),
        "quote": text_option("--quote", metavar="CHAR", help="CSV: around fields (detected)."),
        "encoding": text_option("--encoding", metavar="NAME", help="CSV: such as utf-8 or latin-1 (detected)."),
        "decimal": text_option("--decimal", metavar="CHAR", help="CSV: decimal sign (detected)."),
        "thousands": text_option("--thousands", metavar="CHAR", help="CSV: between thousands (detected)."),
        "header": (
            Annotated[
                bool | None,
                typer.Option("--header/--no-header", help="CSV: whether the first line names columns (detected)."),
            ],
            None,
        ),
        "names": text_option(
            "--names", metavar="A,B", help="CSV: what to call the columns, in their order.", several=True
        ),
        "number_names": (
            Annotated[
                bool, typer.Option("--number-names", help="CSV: number columns of the same name: zip, zip_2.")
            ],
            False,
        ),
    },
    collected_dialect,
)
"""How a CSV file is written."""


def collected_settings(given: dict[str, Any]) -> dict[str, Any]:
    """The settings that were given, by name."""
    options = Settings.options()
    for name, option in options.items():
        texts = [(flag, text) for flag in option.flags for text in given.pop(flag_name(flag))]
        given |= {name: texts} if texts else {}
    said = {name: value for name, value in given.items() if value}
    return {
        name: options[name].read_from(value) if options[name].metavar else value for name, value in said.items()
    }


def settings_option(option: Option) -> tuple[Any, Any]:
    """A setting as an option of the command line."""
    if option.metavar:
        return text_option(option.flag, metavar=option.metavar, help=option.help, several=True)
    return Annotated[bool, typer.Option(option.flag, help=option.help)], False


def flag_name(flag: str) -> str:
    """What a flag is called inside a program."""
    return flag.removeprefix("--").replace("-", "_")


def settings_options() -> dict[str, tuple[Any, Any]]:
    """Every setting as an option, or as several."""
    found: dict[str, tuple[Any, Any]] = {}
    for name, option in Settings.options().items():
        for flag, (metavar, words) in option.flags.items():
            found[flag_name(flag)] = text_option(flag, metavar=metavar, help=words, several=True)
        if not option.flags:
            found[name] = settings_option(option)
    return found


def model_options() -> dict[str, tuple[Any, Any]]:
    """Every privacy model as an option."""
    flags = Settings.options()["models"].flags
    return {
        flag_name(flag): text_option(flag, metavar=metavar, help=words, several=True)
        for flag, (metavar, words) in flags.items()
    }


def collected_models(given: dict[str, Any]) -> Any:
    """The privacy models that were asked for."""
    texts = [(flag, text) for flag in Settings.options()["models"].flags for text in given[flag_name(flag)]]
    return Settings.options()["models"].read(texts) if texts else ()


SETTINGS = Group(settings_options(), collected_settings)
"""Every setting that is neither a role nor the method."""
MODELS = Group(model_options(), collected_models)
"""Every privacy model."""


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


def settings_of(given: Mapping[str, Any]) -> str:
    """Settings as options of a command: those of all columns, or one for each column."""
    said = []
    for name, value in given.items():
        flag = Settings.options()[name].flag
        parts = value if isinstance(value, Mapping) else {EVERY: value}
        for column, part in parts.items():
            text = str(part) if isinstance(part, str | int) else listing(map(str, part))
            said.append(f"{flag} {shlex.quote(f'{column}={text}' if column else text)}")
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
    return shlex.quote(listing(names))


def listing(values: Iterable[str]) -> str:
    """Values with commas between them; one that holds a comma stands in double quotes."""
    doubled = [value.replace('"', '""') for value in values]
    return ",".join(f'"{value}"' if re.search(r'[,"\r\n]|^\s', value) else value for value in doubled)
