"""The command as a process: closed streams, signals at any moment, and what it leaves."""

import io
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from shoal import cli, entry, signals, terminal
from shoal.errors import ShoalError

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
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=300)
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


def test_with_streams_closed_the_work_is_done(folder):
    assert shell(f"shoal anonymize people.csv {ROLES} -o safe.csv <&- >&- 2>&-") == (0, "", "")
    assert names(folder) == WRITTEN
    header, *rows = (folder / "safe.csv").read_text().splitlines()
    assert header == "age,weight,diagnosis"
    assert "31,62,flu" in rows


def test_standard_input_that_is_closed_is_said_so(folder):
    status, out, err = shell(f"shoal anonymize - {ROLES} -o safe.csv <&-")
    assert (status, out) == (2, "")
    assert err == "shoal: standard input is closed; name a file, or send the table through a pipe\n"
    assert names(folder) == ["people.csv"]


def test_a_release_to_standard_output_that_is_closed_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(signals, "_closed", {"stdout"})
    with pytest.raises(ShoalError, match="standard output is closed; name a file"):
        cli.check_outputs("none.csv", "-", None, overwrite=False)


def test_other_commands_do_without_their_streams(folder):
    assert shell("shoal verify people.csv -q age -k 2 --quiet >&- 2>&-") == (1, "", "")
    assert shell("shoal bogus 2>&-") == (2, "", "")
    status, out, err = shell("shoal --version <&-")
    assert (status, out.split()[0], err) == (0, "shoal", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")  # noqa: PTH110
def test_a_full_standard_output_is_one_line_and_what_was_written_stays(folder):
    status, _, err = shell(f"shoal anonymize people.csv {ROLES} -o safe.csv > /dev/full")
    said = [line for line in err.splitlines() if "grouping records" not in line]  # compiling may take so long
    words = "cannot write to standard output: No space left on device; what goes to files was written"
    assert (status, said) == (2, [f"shoal: {words}"])
    assert names(folder) == WRITTEN


def released_to(handle, monkeypatch):
    """Send a release to a descriptor as the command does, with a report beside it."""
    from shoal import anonymize

    release = anonymize("people.csv", 2, ["age", "weight"], "diagnosis", "name", method="mdav")
    text = io.TextIOWrapper(io.BufferedWriter(signals.Sink(handle, "wb", closefd=True)))
    monkeypatch.setattr(sys, "stdout", text)
    try:
        return terminal.write_release(release, "-", False, {"owner": Path("page.html")})
    finally:
        text.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")  # noqa: PTH110
def test_a_release_that_standard_output_does_not_take_is_one_line_and_leaves_no_report(folder, monkeypatch):
    with pytest.raises(ShoalError, match="cannot write the release to standard output: No space left on device"):
        released_to(os.open("/dev/full", os.O_WRONLY), monkeypatch)
    assert names(folder) == ["people.csv"]


def test_whoever_closes_a_pipe_has_seen_enough(folder, monkeypatch):
    reads, writes = os.pipe()
    os.close(reads)
    assert released_to(writes, monkeypatch).k == 2
    assert names(folder) == ["page.html", "people.csv"]
    status, _, err = shell("set -o pipefail; shoal methods | true")
    assert (status, err) == (0, "")


@pytest.mark.parametrize("module", ["typer", "numba"])
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
                if name == "shoal.catalogue":
                    try:
                        os.kill(os.getpid(), signal.SIGTERM)
                        while True:
                            pass
                    except BaseException:
                        raise ImportError("multiarray failed to import") from None

        sys.meta_path.insert(0, Sent())
        """
    done = subprocess.run(command(before, "methods"), capture_output=True, text=True)
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

    shoal.release.verify_as = slow
    """


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [
        (signal.SIGINT, 130, INTERRUPTED),
        (signal.SIGTERM, 143, "shoal: stopped by SIGTERM; nothing was left half written\n"),
    ],
)
def test_signals_clean_up_and_say_so(folder, number, status, said):
    line = f"anonymize people.csv {ROLES} -o safe.csv --quiet"
    with subprocess.Popen(
        command(SLOW, line), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "here\n"
        assert len([name for name in names(folder) if name.endswith(".part")]) == 2
        process.send_signal(number)
        assert (process.wait(60), process.stderr.read()) == (status, said)
    assert names(folder) == ["people.csv"]


def test_what_a_kill_leaves_is_removed_by_the_next_run(folder, restored, capfd):
    line = f"anonymize people.csv {ROLES} -o safe.csv --quiet"
    with subprocess.Popen(command(SLOW, line), stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.kill()
    assert any(name.endswith(".part") for name in names(folder))
    restored.setattr(sys, "argv", ["shoal", *line.split()])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert (ended.value.code, *capfd.readouterr()) == (0, "", "")
    assert names(folder) == WRITTEN


def test_a_signal_that_was_ignored_stays_ignored(restored):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signals.catch_signals()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) is signals.stop


def test_no_writable_cache_is_one_warning_and_the_work_is_done():
    """As for a program that is installed read-only, for a user without a home."""
    before = """
        import tempfile

        def refuse(*_, **__):
            raise OSError(30, "Read-only file system")

        import shoal.cli

        def work(**_):
            import numba.core.caching
            tempfile.TemporaryFile = refuse
            from shoal.kernels.proofs.views import shares_of
            import numpy
            shares_of(numpy.ones((2, 1)), 1, 1, numpy.ones(2))
            shares_of(numpy.ones((2, 1), numpy.float32), 1, 1, numpy.ones(2))
            print("done")

        shoal.cli.app = work
        """
    done = subprocess.run(command(before, "methods"), capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (0, "done\n", 1)
    assert done.stderr.startswith("shoal: warning: no folder for compiled code is writable")


def test_no_library_speaks_in_between():
    """Matplotlib says so where it has no folder for its own cache."""
    before = """
        import shoal.cli

        def work(**_):
            import matplotlib
            print(matplotlib.get_cachedir() is not None)

        shoal.cli.app = work
        """
    nowhere = os.environ | {"MPLCONFIGDIR": "/dev/null/none"}
    done = subprocess.run(command(before, "methods"), capture_output=True, text=True, env=nowhere)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_a_sink_keeps_its_first_error_and_takes_the_rest(tmp_path):
    path = tmp_path / "read only"
    path.write_text("")
    handle = os.open(path, os.O_RDONLY)
    sink = signals.Sink(handle, "wb", closefd=True)
    with io.TextIOWrapper(io.BufferedWriter(sink)) as text:
        text.write("lost")
        text.flush()
        assert isinstance(sink.error, OSError)
        text.write("lost too")
    assert path.read_text() == ""


@pytest.fixture
def restored(monkeypatch):
    """Signals, hooks and streams are put back."""
    handlers = {number: signal.getsignal(number) for number in (*signals.numbers(), signal.SIGALRM)}
    for name in ("stdout", "stderr", "unraisablehook", "excepthook"):
        monkeypatch.setattr(sys, name, getattr(sys, name))
    monkeypatch.setattr(signals, "_asked", [])
    monkeypatch.setattr(signals, "_closed", set())
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored where the tests run under nohup
    yield monkeypatch
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_signals_become_exceptions_and_are_raised_again_if_swallowed(restored):
    assert signals.signalled() is None
    signals.catch_signals()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(signals.StoppedError) as stopped:
        signal.raise_signal(signal.SIGTERM)
    assert signals.words_on(stopped.value) == ("stopped by SIGTERM; nothing was left half written", 143)
    with pytest.raises(signals.StoppedError) as stopped:
        signal.raise_signal(signal.SIGHUP)
    assert signals.words_on(stopped.value) == ("stopped by SIGHUP; nothing was left half written", 129)
    assert isinstance(signals.signalled(), signals.StoppedError)

    class Ignored:
        exc_type = signals.StoppedError

    def swallow():
        signals.swallowed(Ignored)
        signal.pause()

    with pytest.raises(signals.StoppedError):
        swallow()
    signals.forget_signals()
    assert signals.signalled() is None


def test_other_exceptions_that_cannot_be_raised_are_shown_on_request(restored, capsys):
    class Ignored:
        exc_type = ValueError

    shown = []
    restored.setattr(sys, "__unraisablehook__", shown.append)
    restored.delenv("SHOAL_DEBUG", raising=False)
    signals.swallowed(Ignored)
    assert shown == []
    restored.setenv("SHOAL_DEBUG", "1")
    signals.swallowed(Ignored)
    assert shown == [Ignored]


def test_the_last_words_on_an_interrupt_are_one_line(restored, capfd):
    ended = []
    restored.setattr(os, "_exit", ended.append)
    restored.setattr(sys, "__excepthook__", lambda *_: None)
    signals.last_words(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert (ended, capfd.readouterr().err) == ([130], INTERRUPTED)


def test_streams_that_were_closed_are_known(restored, capfd):
    restored.setattr(sys, "stdin", None)
    signals.fill_descriptors()
    assert signals.is_closed("stdin")
    assert not signals.is_closed("stdout")
    signals.replace_streams()
    print("said", flush=True)
    assert signals.lost_output() is None
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
