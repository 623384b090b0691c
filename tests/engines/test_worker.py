from concurrent.futures import CancelledError
from queue import SimpleQueue
from threading import Event, Thread

import pytest

from shoal.engines.worker import Post, begin, heard_by, run, tell


def test_a_worker_keeps_its_work_for_all_tasks():
    found = []

    def worker():
        begin(str.upper, Post(None, Event()))
        found.extend([run("a"), run("b")])

    thread = Thread(target=worker)
    thread.start()
    thread.join()
    assert found == ["A", "B"]


def test_telling_sends_a_message_and_ends_the_task_when_nobody_waits():
    messages, stop, ended = SimpleQueue(), Event(), []

    def worker():
        begin(str.upper, Post(messages, stop))
        tell("first")
        stop.set()
        try:
            tell("last")
        except CancelledError:
            ended.append(True)

    thread = Thread(target=worker)
    thread.start()
    thread.join()
    assert [messages.get_nowait(), messages.get_nowait()] == ["first", "last"]
    assert ended == [True]


def test_without_a_worker_one_tells_who_listens_here():
    heard = []
    tell("nobody")
    with heard_by(heard.append):
        tell("somebody")
        with heard_by(None):
            tell("nobody")
        tell("somebody else")
    tell("nobody")
    assert heard == ["somebody", "somebody else"]


def test_an_error_of_who_listens_comes_out_of_the_telling():
    with pytest.raises(ZeroDivisionError), heard_by(lambda message: 1 / message):
        tell(0)
