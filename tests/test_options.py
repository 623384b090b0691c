import inspect
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from shoal.errors import ShoalError
from shoal.files import Said
from shoal.options import DIALECT, Group, joined, options_of, split, takes


def test_a_command_takes_the_options_of_a_group_as_one_argument():
    app, got = typer.Typer(), []
    group = Group(
        {"one": (Annotated[int, typer.Option("--one")], 1), "two": (Annotated[int, typer.Option("--two")], 2)},
        dict,
    )

    @app.command()
    @takes(both=group)
    def run(name: str, both: dict | None = None) -> None:
        got.append((name, both))

    result = CliRunner().invoke(app, ["x", "--two", "5"])
    assert result.exit_code == 0, result.output
    assert got == [("x", {"one": 1, "two": 5})]
    assert "both" not in inspect.signature(run).parameters


def test_all_that_can_be_said_of_a_csv_file_is_an_option():
    assert list(DIALECT.options) == Said.names_of()


def test_a_tab_can_be_written():
    nothing = {name: default for name, (_, default) in DIALECT.options.items()}
    for text in ("\\t", "tab", "\t"):
        assert DIALECT.collect(nothing | {"delimiter": text}) == {"delimiter": "\t"}
    assert DIALECT.collect(nothing | {"names": ["a,b", "c"]}) == {"names": ("a", "b", "c")}


def test_what_was_said_is_written_as_options():
    assert options_of({"header": False, "names": ("a b", "c"), "delimiter": ";"}) == (
        " --no-header --names 'a b,c' --delimiter ';'"
    )


def test_lists_of_columns_come_apart_as_they_were_put_together():
    names = ["age", "", " spaced", 'say "so"', "last, first"]
    import shlex

    assert split(shlex.split(joined(names))) == names
    with pytest.raises(ShoalError, match="cannot read the column names"):
        split(['a,"b'])
