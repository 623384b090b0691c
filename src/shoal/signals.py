"""Signals and closed streams, seen to before anything heavy is imported.

An interrupt at any moment is one line and a status, SIGTERM and SIGHUP clean up as Ctrl-C does, and what can no
longer be printed stops no work. Only what Python has loaded already is imported outside of functions.
"""

import io
import os
import sys

TYPE_CHECKING = False  # typing itself takes longer to import than all of this
if TYPE_CHECKING:
    from types import FrameType, TracebackType
    from typing import Any

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
AGAIN = 0.05
"""Seconds after which an interrupt that a library has swallowed is raised again."""

_closed: set[str] = set()
_asked: list[int] = []  # the signals that have come and are not done with


class StoppedError(BaseException):
    """SIGTERM or SIGHUP. Unlike Ctrl-C it does not ask for the best result so far."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Sink(io.FileIO):
    """A descriptor that keeps the first error of writing and takes the rest in silence."""

    error: OSError | None = None

    def write(self, data: "Any", /) -> int:
        """Write, or note why not."""
        if self.error is None:
            try:
                return super().write(data)
            except OSError as error:
                self.error = error
        return len(data)


def is_closed(name: str) -> bool:
    """Whether stdin, stdout or stderr was closed when the command started."""
    return name in _closed


def signalled() -> BaseException | None:
    """The exception of the last signal that has come, whatever a library has made of it."""
    import signal

    if not _asked:
        return None
    return KeyboardInterrupt() if _asked[-1] == signal.SIGINT else StoppedError(_asked[-1])


def forget_signals() -> None:
    """What was asked for was done, such as ending with the best result so far: later errors are errors again."""
    _asked.clear()


def lost_output() -> OSError | None:
    """Why standard output could not be written, if it could not."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw.error if isinstance(raw, Sink) else None


def words_on(stop: BaseException) -> tuple[str, int]:
    """What to say about an interrupt or a signal, and the exit status that shells expect for it."""
    if not isinstance(stop, StoppedError):
        return "interrupted; nothing was left half written", 130
    import signal

    return f"stopped by {signal.Signals(stop.number).name}; nothing was left half written", 128 + stop.number


def fill_descriptors() -> None:
    """Open what is closed: else the next file to be opened would get what libraries print."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            _closed.add(name)
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)


def replace_streams() -> None:
    """Output that cannot be written stops no work; `lost_output` tells whether it was."""
    if os.name == "nt":
        return
    for number, name in ((1, "stdout"), (2, "stderr")):
        old = getattr(sys, name)
        binary = io.BufferedWriter(Sink(number, "wb", closefd=False))
        encoding = old.encoding if old is not None else "utf-8"
        lines = number == 2 or binary.isatty()
        text = io.TextIOWrapper(binary, encoding=encoding, errors="backslashreplace", line_buffering=lines)
        setattr(sys, name, text)


def numbers() -> list[int]:
    """The signals of this system that ask the command to stop."""
    import signal

    return [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]


def catch_signals() -> None:
    """Every signal becomes an exception, unless it was ignored before, as under nohup."""
    import signal

    for number in numbers():
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, stop_again)
    sys.unraisablehook = swallowed
    sys.excepthook = last_words


def stop(number: int, _: "FrameType | None") -> None:
    """A signal has come."""
    _asked.append(number)
    stop_again(number, None)


def stop_again(_: int, __: "FrameType | None") -> None:
    """Raise the exception of the last signal, here if it got lost where it came."""
    error = signalled()
    if error is not None:
        raise error


def swallowed(ignored: "sys.UnraisableHookArgs") -> None:
    """An exception in a place from which none can be raised, such as a callback of compiled code."""
    if issubclass(ignored.exc_type, KeyboardInterrupt | StoppedError):
        import signal

        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
    elif os.environ.get("SHOAL_DEBUG"):
        sys.__unraisablehook__(ignored)


def last_words(kind: type[BaseException], error: BaseException, trace: "TracebackType | None") -> None:
    """An interrupt in the few steps before and after all that catches it."""
    if issubclass(kind, KeyboardInterrupt | StoppedError):
        said, status = words_on(error)
        os.write(2, f"shoal: {said}\n".encode())
        os._exit(status)
    sys.__excepthook__(kind, error, trace)
