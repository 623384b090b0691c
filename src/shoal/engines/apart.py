"""Work in a process of its own, which is ended when a task takes too long: nothing else stops compiled code.

The process is started once, gets its work once, and then one task after the other. It is a fresh one, not a copy,
and it does not run the caller's script again. It ends with whoever started it, even if that is killed.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import IO, Any, NamedTuple, Self

Work = Callable[[Any], Any]
Heard = Callable[[Any], None]

_LOOK = 0.05  # seconds between two looks at the clock, and for a Ctrl-C
_HEAD = 8  # bytes that say how long a message is
_START = "import sys; sys.path[:] = {path!r}; from shoal.engines.apart import serve; serve()"


class TimeUpError(Exception):
    """A task took longer than it was given; its process was ended."""


class EndedError(Exception):
    """The process ended by itself in the middle of a task, as when the system stops it for want of memory."""


class Message(NamedTuple):
    """What goes through the pipes: "result", "error", "told" or "clock", and what belongs to it."""

    kind: str
    held: Any = None


class Clock:
    """The time that a task has taken, without the spans in which its clock was stopped."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._began, self._left_out = now(), 0.0
        self._stopped: float | None = None

    def stop(self, stopped: bool) -> None:
        """From here on time does not count, or counts again."""
        if stopped and self._stopped is None:
            self._stopped = self._now()
        elif not stopped and self._stopped is not None:
            self._left_out += self._now() - self._stopped
            self._stopped = None

    def taken(self) -> float:
        """Seconds."""
        until = self._now() if self._stopped is None else self._stopped
        return until - self._began - self._left_out


class Apart:
    """A process for tasks with a limit of time; to be used in a `with` block."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._process: subprocess.Popen[bytes] | None = None
        self._listener: Thread | None = None
        self._messages: SimpleQueue[Message | None] = SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def result(self, task: Any, seconds: float, heard: Heard | None = None) -> Any:
        """What the work makes of a task within so many seconds; what it tells meanwhile is heard.

        The time in which the process starts does not count, nor does that in which the work has stopped the clock
        by `clock_stopped`. An error of the work is raised here.
        """
        packed_task = packed(task)
        try:
            process = self._process or self._started()
            assert process.stdin is not None
            with suppress(OSError):  # a process that has ended is found out below
                send(process.stdin, packed_task)
            return self._waited(seconds, heard)
        except _RaisedError as raised:
            raise raised.error from None
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """End the process, whatever it does."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        if self._listener is not None:
            self._listener.join()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _started(self) -> "subprocess.Popen[bytes]":
        packed_work = packed(self._work)
        code = _START.format(path=[os.path.abspath(each) for each in sys.path])  # noqa: PTH100 - texts, not paths
        process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._process, self._messages = process, SimpleQueue()
        assert process.stdin is not None
        assert process.stdout is not None
        self._listener = Thread(target=listen, args=(process.stdout, self._messages), daemon=True)
        self._listener.start()
        with suppress(OSError):
            send(process.stdin, packed_work)
        first = self._next(None)
        if first is not None and first.kind == "ready":
            return process
        raise EndedError("a process could not be started") if first is None else _RaisedError(first.held)

    def _waited(self, seconds: float, heard: Heard | None) -> Any:
        clock = Clock()
        while True:
            message = self._next(seconds - clock.taken())
            if message is None:
                assert self._process is not None
                status = self._process.wait()
                raise EndedError(f"its process ended with status {status}")
            if message.kind == "result":
                return message.held
            if message.kind == "error":
                raise _RaisedError(message.held)
            if message.kind == "clock":
                clock.stop(message.held)
            elif message.kind == "told" and heard is not None:
                heard(message.held)
            elif message.kind == "nothing" and clock.taken() >= seconds:
                raise TimeUpError

    def _next(self, left: float | None) -> Message | None:
        """The next message, or that there is none yet; None where the process has ended."""
        try:
            while left is None:
                with suppress(Empty):
                    return self._messages.get(timeout=_LOOK)
            return self._messages.get(timeout=min(max(left, 0.0), _LOOK))
        except Empty:
            return Message("nothing")


class _RaisedError(Exception):
    """An error of the work, after which the process goes on."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


def packed(message: Any) -> bytes:
    """A message as bytes."""
    try:
        return pickle.dumps(message)
    except Exception as error:  # whatever is raised by objects that cannot be pickled
        raise unreadable(error) from None


def send(pipe: IO[bytes], whole: bytes) -> None:
    """A message with its length before it."""
    pipe.write(len(whole).to_bytes(_HEAD, "big") + whole)
    pipe.flush()


def received(pipe: IO[bytes]) -> bytes | None:
    """The next message; None where the pipe has ended."""
    head = pipe.read(_HEAD)
    if len(head) < _HEAD:
        return None
    size = int.from_bytes(head, "big")
    whole = pipe.read(size)
    return whole if len(whole) == size else None


def listen(pipe: IO[bytes], messages: "SimpleQueue[Message | None]") -> None:
    """Put every message of a process into a queue, and None where there are no more."""
    try:
        while (whole := received(pipe)) is not None:
            messages.put(pickle.loads(whole))
    except Exception as error:  # whatever is raised by objects that cannot be read back
        messages.put(Message("error", unreadable(error)))
    messages.put(None)


def unreadable(error: Exception) -> EndedError:
    """What cannot go through a pipe."""
    return EndedError(f"what the work gave cannot be handed over ({type(error).__name__}: {error})")


class _Out:
    """The process's way to who started it."""

    pipe: IO[bytes] | None = None
    lock = Lock()


def is_apart() -> bool:
    """Whether this is such a process."""
    return _Out.pipe is not None


def clock_stopped(stopped: bool) -> None:
    """In the process: from here on time does not count towards the limit, or counts again."""
    speak(Message("clock", stopped))


def told(message: Any) -> None:
    """In the process: send something to be heard."""
    speak(Message("told", message))


def speak(message: Message) -> None:
    """Send a message, if this is such a process."""
    if _Out.pipe is None:
        return
    try:
        whole = packed(message)
    except EndedError as error:
        whole = packed(Message("error", error))
    with _Out.lock:
        send(_Out.pipe, whole)


def serve() -> None:
    """What the process does: it takes its work, then a task at a time, and gives back what comes of it.

    What libraries print goes to standard error. A Ctrl-C is for who waits, who then ends this process.
    """
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _Out.pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    tasks: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=take, args=(sys.stdin.buffer, tasks), daemon=True).start()
    try:
        work = pickle.loads(tasks.get())
    except Exception as error:  # such as a class that only the caller's script has
        speak(Message("error", unreadable(error)))
        return
    speak(Message("ready"))
    while True:
        task = tasks.get()
        try:
            message = Message("result", work(pickle.loads(task)))
        except Exception as error:
            message = Message("error", error)
        speak(message)


def take(pipe: IO[bytes], tasks: "SimpleQueue[bytes]") -> None:
    """Take tasks in, and end at once where nobody is there any longer to give some."""
    while (task := received(pipe)) is not None:
        tasks.put(task)
    os._exit(0)
