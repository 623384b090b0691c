import sys
import warnings

from shoal.errors import ShoalWarning
from shoal.terminal import collected_warnings, print_result, print_table, progress_bar, span


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


def test_a_result_says_how_many_blocks_there_were(capsys):
    manifest = {"records": 9, "groups": 3, "k": 3, "blocks": 2, "method": {"name": "MDAV"}}
    print_result(manifest, (3, 3), 3, 1.5, "-")
    assert "9 records in 3 groups of 3 (MDAV, 2 blocks)" in capsys.readouterr().out


def test_tables_and_ranges(capsys):
    assert (span(None, None), span(1.5, 2.0), span(1, 2)) == ("", "1.5 to 2", "1 to 2")
    print_table(("a",), [("[b]x[/b]",)])
    assert "[b]x[/b]" in capsys.readouterr().out
