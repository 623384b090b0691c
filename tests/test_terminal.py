import re
import shlex
import sys
import warnings

import numpy as np
import pandas as pd

from shoal import anonymize
from shoal.errors import ShoalWarning
from shoal.measures import InformationLoss, Known, by_name, figures_of
from shoal.progress import Bar
from shoal.terminal import (
    collected_warnings,
    print_result,
    print_table,
    prove,
    span,
)


def test_warnings_are_a_line_each(capsys):
    with collected_warnings(show=True) as noted:
        warnings.warn("look", ShoalWarning, stacklevel=1)
    assert noted == ["look"]
    assert capsys.readouterr().err == "shoal: warning: look\n"


def test_a_proof_tells_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    said = []
    monkeypatch.setattr(Bar, "say", lambda self, how: said.append(how))
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    release = anonymize(table, k=3, quasi_identifiers=["a", "b"])
    prove(release, 0.5, hidden=False)
    assert re.fullmatch(r"at most .* % above the optimum", said[-1])
    assert release.utility["certificate"].details["says"] == said[-1]


def test_a_result_says_how_many_blocks_there_were_and_how_the_rows_are_ordered(capsys):
    known = Known(3, 9, 3, (3, 3), "MDAV, 2 blocks", InformationLoss(()), {})
    manifest = {"figures": by_name(figures_of(known)), "method": {"name": "MDAV"}}
    print_result(manifest | {"keep_order": False, "key": "00"}, "-")
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == "9 records in 3 groups of 3 (MDAV, 2 blocks)"
    assert last == "order of the rows: random, by a secret key"
    print_result(manifest | {"keep_order": True, "key": None}, "-")
    assert capsys.readouterr().out.endswith("\norder of the rows: that of the input\n")


def test_tables_and_ranges(capsys):
    assert (span(None, None), span(1.5, 2.0), span(1, 2)) == ("", "1.5 to 2", "1 to 2")
    print_table(("a",), [("[b]x[/b]",)])
    assert "[b]x[/b]" in capsys.readouterr().out


TABLE = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)).round(2), columns=["a", "b"])


def test_names_are_quoted_for_the_option_and_for_the_shell():
    from shoal.options import joined, split

    assert joined(["last, first", "a b"]) == """'"last, first",a b'"""
    names = ["age", "", " spaced", 'say "so"', "last, first", "it's"]
    assert split(shlex.split(joined(names))) == names
