import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from shoal import Refined, anonymize, anonymize_file
from shoal.errors import ShoalError
from shoal.progress import Bar, LogLines, duration, in_notebook, progress_bar, shown_progress

TABLE = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)).round(2), columns=["a", "b"])


def test_a_bar_on_a_terminal_shows_the_time_left(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress_bar(False, "anonymizing") as progress:
        progress(1, 2)
        progress(2, 2)
    with progress_bar(True) as progress:
        assert progress is None


def test_off_a_terminal_a_line_now_and_then_says_how_far_it_is(capsys):
    now = [0.0]
    progress = LogLines("grouping records", clock=lambda: now[0])
    told = []
    for second in range(400):
        now[0] = float(second)
        progress(second, 400)
        if said := capsys.readouterr().err:
            told.append((second, said))
    assert [second for second, _ in told] == [10, 40, 100, 160, 220, 280, 340]
    assert told[0][1] == "shoal: grouping records: 2 % after 10 s\n"
    assert told[2][1] == "shoal: grouping records: 25 % after 1 min 40 s\n"


def test_a_line_says_what_the_work_says_of_itself(capsys):
    now = [0.0]
    progress = LogLines("proving", clock=lambda: now[0])
    progress.say("loss 2.000 %")
    assert capsys.readouterr().err == ""
    now[0] = 7500.0
    progress.say("loss 1.000 %")
    assert capsys.readouterr().err == "shoal: proving: loss 1.000 % after 2 h 5 min\n"
    now[0] = 7600.0
    progress(1, 2)
    assert capsys.readouterr().err == "shoal: proving: loss 1.000 %, 50 % after 2 h 6 min\n"
    assert duration(59.4) == "59 s"


def test_in_a_pipe_the_progress_is_lines_unless_it_is_hidden(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with progress_bar(False) as progress:
        assert isinstance(progress, LogLines)
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


def test_what_a_library_prints_does_not_get_into_a_release():
    code = (
        "import ctypes\n"
        "from shoal.progress import aside\n"
        "for wanted in (False, True):\n"
        "    with aside(wanted):\n"
        "        ctypes.CDLL(None).puts(b'from C %d' % wanted)\n"
        "print('the release', flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "from C 1" not in done.stdout
    assert "from C 1" in done.stderr
    assert "the release" in done.stdout


class Stopped(BaseException):
    """As an interrupt, which pytest would take for its own."""


def interrupted(asked):
    with shown_progress(asked, "grouping records") as progress:
        if progress is not None:
            progress(1, 2)
        raise Stopped


@pytest.mark.parametrize("asked", [None, False])
def test_no_progress_is_shown_unless_asked_for(asked, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    anonymize(TABLE, 3, ["a", "b"], method="mdav", progress=asked)
    assert capsys.readouterr() == ("", "")


def test_progress_can_be_a_bar_on_a_terminal_which_leaves_when_all_is_done(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    anonymize(TABLE, 3, ["a", "b"], method="mdav", progress=True)
    out, shown = capsys.readouterr()
    assert out == ""
    assert "grouping records" in shown
    assert shown.rindex("\x1b[?25h") > shown.rindex("grouping records"), "the cursor is back"
    assert shown.endswith("\x1b[2K"), "the line of the bar is gone"


def test_an_interrupt_takes_the_bar_away(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with pytest.raises(Stopped):
        interrupted(True)
    shown = capsys.readouterr().err
    assert "\x1b[?25h" in shown
    assert shown.endswith("\x1b[2K")


def test_progress_is_silent_where_there_is_neither_a_terminal_nor_a_notebook(capsys):
    anonymize(TABLE, 3, ["a", "b"], method="mdav", progress=True)
    assert capsys.readouterr() == ("", "")


def test_a_notebook_without_widgets_gets_a_line_of_text_which_leaves(monkeypatch, capsys):
    monkeypatch.setattr("shoal.progress.in_notebook", lambda: True)
    monkeypatch.setattr("shoal.progress.has_widgets", lambda: False)
    with pytest.raises(Stopped):
        interrupted(True)
    assert capsys.readouterr().out == "\rgrouping records: 50 %\r                      \r"


def test_a_notebook_with_widgets_gets_a_bar_which_leaves(monkeypatch):
    told = []

    class Shown:
        def __init__(self, console, transient):
            assert console.is_jupyter
            assert transient

        def __enter__(self):
            return self

        def __exit__(self, kind, *_):
            told.append(kind)

        def add_task(self, what, total):
            return 1

        def update(self, task, completed, total):
            told.append((completed, total))

    monkeypatch.setattr("shoal.progress.in_notebook", lambda: True)
    monkeypatch.setattr("shoal.progress.has_widgets", lambda: True)
    monkeypatch.setattr("rich.progress.Progress", Shown)
    with pytest.raises(Stopped):
        interrupted(True)
    assert told == [(1, 2), Stopped]


def test_a_notebook_is_known_by_its_shell(monkeypatch):
    assert not in_notebook()
    monkeypatch.setitem(sys.modules, "IPython", sys)
    assert not in_notebook()
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setattr("builtins.get_ipython", lambda: shell, raising=False)
    assert in_notebook()


@pytest.mark.parametrize("odd", [5, "yes", 1.0])
def test_progress_that_can_neither_be_shown_nor_called_is_an_error(odd, tmp_path):
    message = "progress must be True, False or a function"
    with pytest.raises(ShoalError, match=message):
        anonymize(TABLE, 3, ["a", "b"], progress=odd)
    with pytest.raises(ShoalError, match=message):
        anonymize_file(tmp_path / "nothing.csv", tmp_path / "out.csv", 3, "a", progress=odd)


def test_a_file_is_anonymized_behind_a_bar_in_memory_and_streamed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    TABLE.to_csv(tmp_path / "in.csv", index=False)
    for blocks, what in ((None, "grouping records"), (2, "anonymizing")):
        target = tmp_path / f"{blocks}.csv"
        anonymize_file(tmp_path / "in.csv", target, 3, ["a", "b"], method="mdav", blocks=blocks, progress=True)
        assert what in capsys.readouterr().err


class Recorded:
    """What a bar is told."""

    def __init__(self):
        self.updates = []

    def add_task(self, what, total):
        return 0

    def update(self, task, **news):
        self.updates.append(news)


@pytest.mark.parametrize("method", ["mdav", "vmdav", "imhm", "blocked", "refined"])
def test_a_bar_is_told_the_records_that_there_are_and_ends_with_all_of_them(method):
    recorded = Recorded()
    anonymize(
        TABLE,
        3,
        ["a", "b"],
        method=method,
        random_state=0 if method == "imhm" else None,
        progress=Bar(recorded, "x"),
    )
    totals = {news["total"] for news in recorded.updates if "total" in news}
    done = [news["completed"] for news in recorded.updates if "completed" in news]
    assert totals == {len(TABLE)}
    assert done == sorted(done)
    assert done[-1] == len(TABLE)


def test_the_work_of_a_stream_is_counted_in_bytes_of_its_input(tmp_path):
    TABLE.to_csv(tmp_path / "in.csv", index=False)
    seen = []
    anonymize_file(
        tmp_path / "in.csv", tmp_path / "out.csv", 3, ["a", "b"], method="mdav", blocks=2,
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    size = (tmp_path / "in.csv").stat().st_size
    assert {total for _, total in seen} == {size}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (size, size)
