"""The command as a process: closed streams, signals at any moment, and what it leaves."""

import io
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from shoal import entry

CSV = "name,age,weight,diagnosis\nAda,31,61.5,flu\nBen,33,64.0,none\nCleo,62,80.2,gout\nDan,29,59.9,flu\nEve,65,77.7,none\n"
ROLES = "-k 2 -q age,weight -c diagnosis -i name --method mdav"
INTERRUPTED = "shoal: interrupted; nothing was left half written\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(CSV)
    return tmp_path


def shell(line):
    """Run `shoal LINE` in a shell; returns (status, standard output, standard error)."""
    line = line.replace("shoal ", f"{sys.executable} -m shoal ", 1)
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def command(before, line):
    """A Python program that runs some code and then `shoal LINE`."""
    code = textwrap.dedent(before) + textwrap.dedent(
        f"""
        import runpy, sys
        sys.argv = ["shoal", *{line.split()!r}]
        runpy.run_module("shoal", run_name="__main__")
        """
    )
    return [sys.executable, "-c", code]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


WRITTEN = ["people.csv", "safe.csv", "safe.csv.manifest.json"]


@pytest.mark.parametrize("closed", ["<&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_with_streams_closed_the_work_is_done(folder, closed):
    status, out, err = shell(f"shoal anonymize people.csv {ROLES} -o safe.csv {closed}")
    assert (status, err) == (0, "")
    assert (out == "") == (">&-" in closed.split())
    assert names(folder) == WRITTEN
    assert (folder / "safe.csv").read_text().splitlines()[:2] == ["age,weight,diagnosis", "31,62,flu"]


def test_standard_input_that_is_closed_is_said_so(folder):
    for line in ("verify - -q age", f"anonymize - {ROLES} -o safe.csv"):
        status, out, err = shell(f"shoal {line} <&-")
        assert (status, out) == (2, "")
        assert err == "shoal: standard input is closed; name a file, or send the table through a pipe\n"
    assert names(folder) == ["people.csv"]


def test_a_release_to_standard_output_that_is_closed_is_refused_before_any_work(folder):
    status, _, err = shell("shoal anonymize none.csv -k 2 -q age -o - >&-")
    assert (status, err.count("\n"), "standard output is closed" in err) == (2, 1, True)


def test_other_commands_do_without_their_streams(folder):
    assert shell("shoal methods >&- 2>&- <&-") == (0, "", "")
    assert shell("shoal verify people.csv -q age -k 2 >&- 2>&-") == (1, "", "")
    assert shell("shoal bogus 2>&-") == (2, "", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")  # noqa: PTH110
def test_a_full_standard_output_is_one_line_and_what_was_written_stays(folder):
    status, _, err = shell(f"shoal anonymize people.csv {ROLES} -o safe.csv > /dev/full")
    assert (status, err.count("\n")) == (2, 1)
    assert "cannot write to standard output: No space left on device; what goes to files was written" in err
    assert names(folder) == WRITTEN
    status, _, err = shell(f"shoal anonymize people.csv {ROLES} -o - --report r.html > /dev/full")
    assert (status, err) == (2, "shoal: cannot write the release to standard output: No space left on device\n")
    assert names(folder) == WRITTEN


def test_whoever_closes_a_pipe_has_seen_enough(folder):
    for line in (f"anonymize people.csv {ROLES} -o - --quiet", "methods"):
        status, _, err = shell(f"set -o pipefail; shoal {line} | true")
        assert (status, err) == (0, "")


@pytest.mark.parametrize("module", ["typer", "numba", "shoal.pipeline"])
def test_an_interrupt_while_modules_are_imported_is_one_line(folder, module):
    before = f"""
        import os, signal, sys

        class Sent:
            def find_spec(self, name, path=None, target=None):
                if name == {module!r}:
                    os.kill(os.getpid(), signal.SIGINT)

        sys.meta_path.insert(0, Sent())
        """
    line = f"anonymize people.csv {ROLES} -o safe.csv"
    done = subprocess.run(command(before, line), capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", INTERRUPTED)
    assert names(folder) == ["people.csv"]


def test_an_error_that_a_library_makes_of_an_interrupt_is_an_interrupt(folder):
    before = """
        import os, signal, sys

        class Sent:
            def find_spec(self, name, path=None, target=None):
                if name == "shoal.pipeline":
                    try:
                        os.kill(os.getpid(), signal.SIGTERM)
                        while True:
                            pass
                    except BaseException:
                        raise ImportError("multiarray failed to import") from None

        sys.meta_path.insert(0, Sent())
        """
    done = subprocess.run(
        command(before, f"anonymize people.csv {ROLES} -o safe.csv"), capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (143, "shoal: stopped by SIGTERM; nothing was left half written\n")


def test_an_interrupt_after_the_result_changes_nothing():
    before = """
        import atexit, os, signal
        atexit.register(os.kill, os.getpid(), signal.SIGINT)
        """
    done = subprocess.run(command(before, "--version"), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_in_a_callback_of_compiled_code_is_not_lost():
    before = """
        import ctypes, os, signal, time
        import shoal.cli

        @ctypes.CFUNCTYPE(None)
        def callback():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)

        def work(**_):
            callback()
            time.sleep(10)
            print("it was lost")

        shoal.cli.app = work
        """
    done = subprocess.run(command(before, "--version"), capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", INTERRUPTED)


SLOW = """
    import time
    import shoal.release

    def slow(*_, **__):
        print("here", flush=True)
        time.sleep(60)

    shoal.release.verify = slow
    """


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [
        (signal.SIGINT, 130, INTERRUPTED),
        (signal.SIGTERM, 143, "shoal: stopped by SIGTERM; nothing was left half written\n"),
        (signal.SIGHUP, 129, "shoal: stopped by SIGHUP; nothing was left half written\n"),
    ],
)
def test_signals_clean_up_and_say_so(folder, number, status, said):
    line = f"anonymize people.csv {ROLES} -o safe.csv --report safe.html"
    with subprocess.Popen(
        command(SLOW, line), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "here\n"
        assert len([name for name in names(folder) if name.endswith(".part")]) == 3
        process.send_signal(number)
        assert (process.wait(20), process.stderr.read()) == (status, said)
    assert names(folder) == ["people.csv"]


def test_what_a_kill_leaves_is_removed_by_the_next_run(folder):
    line = f"anonymize people.csv {ROLES} -o safe.csv --report safe.html"
    with subprocess.Popen(command(SLOW, line), stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.kill()
    assert any(name.endswith(".part") for name in names(folder))
    assert shell(f"shoal {line} --quiet") == (0, "", "")
    assert names(folder) == sorted([*WRITTEN, "safe.html"])


def test_a_signal_that_was_ignored_stays_ignored(folder):
    line = f"anonymize people.csv {ROLES} -o safe.csv"
    sent = SLOW.replace("time.sleep(60)", "time.sleep(0.2)").replace("shoal.release.verify = slow", "")
    sent += """
    import signal
    real = shoal.release.verify

    def slow_and_right(*given, **named):
        slow()
        return real(*given, **named)

    shoal.release.verify = slow_and_right
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    """
    with subprocess.Popen(command(sent, line), stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGHUP)
        assert process.wait(20) == 0
    assert names(folder) == WRITTEN


def test_no_writable_cache_is_one_warning_and_the_work_is_done(folder):
    """As for a program that is installed read-only, for a user without a home."""
    before = """
        import tempfile

        def refuse(*_, **__):
            raise OSError(30, "Read-only file system")

        import numba.core.caching
        tempfile.TemporaryFile = refuse
        """
    line = "anonymize people.csv -k 2 -q age -c weight,diagnosis -i name --method univariate-optimal -o safe.csv"
    line += " --quiet"  # compiling may take so long that a line says how far it is
    done = subprocess.run(command(before, line), capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("shoal: warning: no folder for compiled code is writable")
    assert names(folder) == WRITTEN


def test_no_library_speaks_in_between(folder):
    """Matplotlib says so where it has no folder for its own cache."""
    line = f"anonymize people.csv {ROLES} -o safe.csv --report safe.html --quiet"
    done = subprocess.run(
        command("", line), capture_output=True, text=True, env=os.environ | {"MPLCONFIGDIR": "/dev/null/none"}
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_sink_keeps_its_first_error_and_takes_the_rest(tmp_path):
    path = tmp_path / "read only"
    path.write_text("")
    handle = os.open(path, os.O_RDONLY)
    sink = entry.Sink(handle, "wb", closefd=True)
    with io.TextIOWrapper(io.BufferedWriter(sink)) as text:
        text.write("lost")
        text.flush()
        assert isinstance(sink.error, OSError)
        text.write("lost too")
    assert path.read_text() == ""


@pytest.fixture
def restored(monkeypatch):
    """Signals, hooks and streams are put back."""
    handlers = {number: signal.getsignal(number) for number in (*entry.numbers(), signal.SIGALRM)}
    for name in ("stdout", "stderr", "unraisablehook", "excepthook"):
        monkeypatch.setattr(sys, name, getattr(sys, name))
    monkeypatch.setattr(entry, "_asked", [])
    monkeypatch.setattr(entry, "_closed", set())
    yield monkeypatch
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_signals_become_exceptions_and_are_raised_again_if_swallowed(restored):
    assert entry.signalled() is None
    entry.catch_signals()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(entry.StoppedError) as stopped:
        signal.raise_signal(signal.SIGTERM)
    assert entry.words_on(stopped.value) == ("stopped by SIGTERM; nothing was left half written", 143)
    assert isinstance(entry.signalled(), entry.StoppedError)

    class Ignored:
        exc_type = entry.StoppedError

    entry.swallowed(Ignored)
    with pytest.raises(entry.StoppedError):
        signal.pause()


def test_other_exceptions_that_cannot_be_raised_are_shown_on_request(restored, capsys):
    class Ignored:
        exc_type = ValueError

    shown = []
    restored.setattr(sys, "__unraisablehook__", shown.append)
    restored.delenv("SHOAL_DEBUG", raising=False)
    entry.swallowed(Ignored)
    assert shown == []
    restored.setenv("SHOAL_DEBUG", "1")
    entry.swallowed(Ignored)
    assert shown == [Ignored]


def test_the_last_words_on_an_interrupt_are_one_line(restored, capfd):
    ended = []
    restored.setattr(os, "_exit", ended.append)
    restored.setattr(sys, "__excepthook__", lambda *_: None)
    entry.last_words(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert (ended, capfd.readouterr().err) == ([130], INTERRUPTED)


def test_streams_that_were_closed_are_known(restored, capfd):
    restored.setattr(sys, "stdin", None)
    entry.fill_descriptors()
    assert entry.is_closed("stdin")
    assert not entry.is_closed("stdout")
    entry.replace_streams()
    print("said", flush=True)
    assert entry.lost_output() is None
    assert capfd.readouterr().out == "said\n"


def test_the_command_ends_with_the_status_of_its_work(restored, capfd):
    for number, ended in ((0, SystemExit(2)), (1, KeyboardInterrupt())):

        def run(ended=ended):
            raise ended

        restored.setattr("shoal.cli.main", run)
        restored.setattr(os, "_exit", sys.exit)
        with pytest.raises(SystemExit) as left:
            entry.main()
        assert left.value.code == (2, 130)[number]
    assert capfd.readouterr().err == INTERRUPTED
