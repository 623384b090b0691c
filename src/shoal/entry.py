"""Where the command starts: signals and closed streams are seen to before anything heavy is imported."""

import os
import sys

from shoal.protocol import begin_command
from shoal.signals import StoppedError, catch_signals, fill_descriptors, numbers, replace_streams, words_on

TYPE_CHECKING = False  # typing itself takes longer to import than all of this
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Run the command line."""
    begin_command()
    try:
        fill_descriptors()
        catch_signals()
        replace_streams()
        from shoal.cli import main as run

        run()
    except (KeyboardInterrupt, StoppedError) as stop:
        said, status = words_on(stop)
        os.write(2, f"shoal: {said}\n".encode())
    except SystemExit as ended:
        status = int(ended.code or 0)
    leave(status)


def leave(status: int) -> "NoReturn":
    """All is said and done, and on the disk: nothing disturbs the end of the process.

    The interpreter's own end would wait for threads, may forget the status after a signal, and takes away what
    threads of libraries still hold, which aborts some of them.
    """
    import signal

    for number in numbers():
        signal.signal(number, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)
