"""Tasks in a process of its own; the work is `eval`, so that a task can be anything."""

import operator
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shoal.engines.apart import Apart, Clock, EndedError, TimeUpError, clock_stopped, is_apart, told

SLEEP = "__import__('time').sleep({})"
HERE = "__import__('shoal.engines.apart', fromlist=['told']).{}"
ENDLESS = 60.0


@pytest.fixture(scope="module")
def process():
    with Apart(eval) as started:
        yield started


def is_there(pid):
    """Whether a process runs; one that has ended and was not waited for does not."""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_tasks_are_done_one_after_the_other_in_one_other_process(process):
    assert process.result("2 + 3", ENDLESS) == 5
    first, second = (process.result("__import__('os').getpid()", ENDLESS) for _ in range(2))
    assert first == second != os.getpid()
    assert process.result(HERE.format("is_apart()"), ENDLESS) is True
    assert not is_apart()


def test_an_error_of_the_work_comes_out_and_the_process_goes_on(process):
    pid = process.result("__import__('os').getpid()", ENDLESS)
    with pytest.raises(ZeroDivisionError):
        process.result("1 / 0", ENDLESS)
    assert process.result("__import__('os').getpid()", ENDLESS) == pid


def test_what_the_work_tells_is_heard_in_its_order(process):
    heard = []
    task = f"[{HERE.format('told(i)')} for i in range(5)] and 7"
    assert process.result(task, ENDLESS, heard.append) == 7
    assert heard == [0, 1, 2, 3, 4]


def test_what_is_printed_goes_to_standard_error_and_not_between_messages(process, capfd):
    assert process.result("print('hello', flush=True) or 4", ENDLESS) == 4
    assert capfd.readouterr().out == ""
    assert process.result("5", ENDLESS) == 5


def test_a_task_that_takes_too_long_is_ended_and_the_next_one_begins_anew():
    with Apart(eval) as process:
        pid = process.result("__import__('os').getpid()", ENDLESS)
        with pytest.raises(TimeUpError):
            process.result(SLEEP.format(600), 0.2)
        assert not is_there(pid)
        assert process.result("__import__('os').getpid()", ENDLESS) not in (pid, os.getpid())


def test_time_with_the_clock_stopped_does_not_count(process):
    task = f"({HERE.format('clock_stopped(True)')}, {SLEEP.format(0.6)}, {HERE.format('clock_stopped(False)')}, 9)[-1]"
    assert process.result(task, 0.3) == 9


def test_a_process_that_dies_is_told_apart_from_one_that_is_slow():
    with Apart(eval) as process:
        with pytest.raises(EndedError, match="status 3"):
            process.result("__import__('os')._exit(3)", ENDLESS)
        with pytest.raises(EndedError, match="status -9"):
            process.result("__import__('os').kill(__import__('os').getpid(), 9)", ENDLESS)
        assert process.result("6", ENDLESS) == 6


def test_what_cannot_be_handed_over_is_an_error(process):
    with pytest.raises(EndedError, match="cannot be handed over"):
        process.result("lambda: 0", ENDLESS)
    assert process.result("1", ENDLESS) == 1


class OnlyHere:
    """Work that another process cannot load, as a class of a script is."""

    def __reduce__(self):
        return operator.attrgetter("no_such_name"), ("text",)


def test_work_that_only_the_caller_has_is_an_error_and_not_a_wait():
    with Apart(OnlyHere()) as process, pytest.raises(EndedError, match="no_such_name"):
        process.result("1", ENDLESS)


def test_work_and_tasks_that_cannot_be_handed_over_are_errors(process):
    with pytest.raises(EndedError, match="cannot be handed over"):
        process.result(lambda: 0, ENDLESS)
    assert process.result("1", ENDLESS) == 1
    with Apart(lambda: 0) as other, pytest.raises(EndedError, match="cannot be handed over"):
        other.result("1", ENDLESS)


def test_a_ctrl_c_meanwhile_ends_the_process():
    def stop(_):
        raise KeyboardInterrupt

    with Apart(eval) as process:
        pid = process.result("__import__('os').getpid()", ENDLESS)
        with pytest.raises(KeyboardInterrupt):
            process.result(f"({HERE.format('told(1)')}, {SLEEP.format(600)})", ENDLESS, stop)
        assert not is_there(pid)


def test_the_end_of_the_block_ends_the_process():
    with Apart(eval) as process:
        pid = process.result("__import__('os').getpid()", ENDLESS)
    assert not is_there(pid)


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes in /proc")
def test_it_ends_with_whoever_started_it_even_if_that_is_killed():
    code = (
        "from shoal.engines.apart import Apart\n"
        "with Apart(eval) as process:\n"
        "    print(process.result(\"__import__('os').getpid()\", 60), flush=True)\n"
        "    process.result(\"__import__('time').sleep(600)\", 600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        pid = int(parent.stdout.readline())
        assert is_there(pid)
        parent.send_signal(signal.SIGKILL)
    until = time.monotonic() + 30
    while is_there(pid) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_there(pid)


def test_a_clock_counts_only_while_it_runs():
    now = iter([0.0, 1.0, 4.0, 6.0, 6.0, 7.0])
    clock = Clock(lambda: next(now))
    clock.stop(True)  # at 1
    assert clock.taken() == 1.0
    clock.stop(True)  # again, which changes nothing
    clock.stop(False)  # at 4
    clock.stop(False)
    assert clock.taken() == 3.0  # at 6
    clock.stop(True)  # at 6
    assert clock.taken() == 3.0


def test_outside_of_such_a_process_nobody_hears():
    told("nothing")
    clock_stopped(True)
    clock_stopped(False)
