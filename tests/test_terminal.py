import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd

from shoal import Refined, anonymize
from shoal.errors import ShoalWarning
from shoal.terminal import Bar, collected_warnings, print_result, print_table, progress_bar, prove, span


def test_warnings_are_a_line_each(capsys):
    with collected_warnings(show=True) as noted:
        warnings.warn("look", ShoalWarning, stacklevel=1)
    assert noted == ["look"]
    assert capsys.readouterr().err == "shoal: warning: look\n"


def test_a_bar_on_a_terminal_shows_the_time_left(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress_bar(False, "anonymizing") as progress:
        progress(1, 2)
        progress(2, 2)
    with progress_bar(True) as progress:
        assert progress is None


def test_a_refinement_tells_a_bar_its_loss_and_its_gap():
    shown = []

    class Shown:
        def add_task(self, what, total):
            return 7

        def update(self, task, **what):
            assert task == 7
            shown.append(what)

    X = np.random.default_rng(0).normal(size=(60, 2))
    Refined(k=3, rounds=1).fit(X, progress=Bar(Shown(), "grouping"))
    assert any(re.fullmatch(r"grouping: loss \d+\.\d{3} %", what.get("description", "")) for what in shown)
    assert shown[-1] == {"completed": 60, "total": 60}


def test_a_proof_tells_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    said = []
    monkeypatch.setattr(Bar, "say", lambda self, how: said.append(how))
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    release = anonymize(table, k=3, quasi_identifiers=["a", "b"])
    prove(release, 0.5, hidden=False)
    assert re.fullmatch(r"at most .* % above the optimum", said[-1])
    assert release.manifest["certificate"]["says"] == said[-1]


def test_what_a_library_prints_does_not_get_into_a_release():
    code = (
        "import ctypes\n"
        "from shoal.terminal import aside\n"
        "for wanted in (False, True):\n"
        "    with aside(wanted):\n"
        "        ctypes.CDLL(None).puts(b'from C %d' % wanted)\n"
        "print('the release', flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "from C 1" not in done.stdout
    assert "from C 1" in done.stderr
    assert "the release" in done.stdout


def test_a_result_says_how_many_blocks_there_were(capsys):
    manifest = {"records": 9, "groups": 3, "k": 3, "blocks": 2, "method": {"name": "MDAV"}}
    print_result(manifest, (3, 3), 3, 1.5, "-")
    assert "9 records in 3 groups of 3 (MDAV, 2 blocks)" in capsys.readouterr().out


def test_tables_and_ranges(capsys):
    assert (span(None, None), span(1.5, 2.0), span(1, 2)) == ("", "1.5 to 2", "1 to 2")
    print_table(("a",), [("[b]x[/b]",)])
    assert "[b]x[/b]" in capsys.readouterr().out
