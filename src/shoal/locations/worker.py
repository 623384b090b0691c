"""The worker: a process of its own that draws cells, so that look-ups go on meanwhile.

`serving.py` starts it and gives it its settings, keys among them, as one line on its standard input: they stand
neither on a command line nor in the environment, where other users could see them. That input stays open for as
long as the parent lives. When it ends, the parent is gone, whatever ended it, and the worker ends too. What it
has to say goes to its standard output, a line of JSON each.
"""

import contextlib
import json
import os
import signal
import sys
import threading
import time
from typing import Any, NoReturn

from shoal.errors import ShoalError
from shoal.locations.errors import BusyError
from shoal.locations.failures import kind_of
from shoal.locations.keys import KeyRing
from shoal.locations.promises import check
from shoal.locations.service import Service

_PARENT_DIED = 1  # PR_SET_PDEATHSIG


class Work:
    """Everything that is due, piece by piece, until it is told to stop.

    Parameters
    ----------
    service : Service
        Whose cells are drawn.
    pause : float
        Seconds to wait when nothing is due.
    check : float
        Seconds between two checks of the promises; 0 for none.
    """

    def __init__(self, service: Service, pause: float, check: float) -> None:
        self.service, self.pause, self.check = service, pause, check
        self.stop = threading.Event()
        self._checked = float("-inf")

    def run(self) -> None:
        """Work until it is told to stop. A piece of work that has begun is finished."""
        while not self.stop.is_set():
            try:
                done = self.service.work()
                if done:
                    say(done=True)
                else:
                    self._check_promises()
            except BusyError:  # others write; what is due stays due
                done = False
            if not done:
                self.stop.wait(self.pause)

    def _check_promises(self) -> None:
        """Check the promises, where that is due."""
        if self.check and time.monotonic() - self._checked >= self.check:
            say(promises={each.promise.name: each.holds for each in check(self.service.database) if each.on})
            self._checked = time.monotonic()


def say(**what: Any) -> None:
    """Tell the parent."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def end_with_parent() -> None:
    """End at once when the parent is gone. A database survives that at any moment, as it survives kill -9."""
    if sys.platform == "linux":  # also while a compiled loop keeps the thread below from running
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PARENT_DIED, signal.SIGKILL)

    def wait() -> NoReturn:
        while os.read(0, 1024):  # not `sys.stdin`: Python could not take its lock from this thread at the end
            pass
        os._exit(0)

    threading.Thread(target=wait, daemon=True, name="parent").start()


def main() -> int:
    """The worker's process. The line on standard input holds `database`, `keys`, `pause` and `check`."""
    for number in (signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
        signal.signal(number, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the parent says when to stop
    line = sys.stdin.buffer.readline()
    if not line:
        return 0
    end_with_parent()
    settings = json.loads(line)
    try:
        service = Service.open(settings["database"], KeyRing.from_text(settings["keys"], "the line of the parent"))
        work = Work(service, settings["pause"], settings["check"])
        signal.signal(signal.SIGTERM, lambda *_: work.stop.set())
        work.run()
        service.close()
    except ShoalError as error:
        print(f"shoal: the worker stops: {error}", file=sys.stderr)
        return 1
    except Exception as error:  # its message and its traceback could hold what a row holds
        print(f"shoal: the worker stops: {kind_of(error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
