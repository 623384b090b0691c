"""A service as it runs: a process of its own on a free port of this machine, with its worker."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from shoal.locations.keys import KeyRing
from shoal.locations.policy import Policy
from shoal.locations.service import Service

POLICY = Policy(classes=(3,), slack=1, distinct_places=1, region=40, start=6)
PATIENCE = 60.0  # seconds; a worker compiles its kernels first


class Running:
    """A server's process."""

    def __init__(self, folder: Path, **options):
        self.folder, self.database, self.keys = folder, folder / "service.db", folder / "keys.json"
        if not self.keys.exists():
            KeyRing.create(self.keys)
        self.service = Service.open(str(self.database), KeyRing.load(self.keys), POLICY)
        settings = {"database": str(self.database), "keys": str(self.keys), "pause": 0.05, "check": 0.5, **options}
        command = [sys.executable, __file__, json.dumps(settings)]
        self.errors = (folder / "errors.txt").open("a+b")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors)
        self.url = self.process.stdout.readline().decode().strip()

    @property
    def said(self) -> str:
        """What the process has said on standard error."""
        return (self.folder / "errors.txt").read_text()

    def workers(self) -> list[int]:
        """The worker's process, found as the system knows it: a live child of the server's."""
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            if int(fields[1]) == self.process.pid and fields[0] != "Z":
                found.append(int(path.parent.name))
        return found

    def stop(self, number=signal.SIGTERM) -> int:
        """Send a signal, and wait for the end."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.errors.close()
        self.service.close()
        return status


@contextmanager
def running(folder: Path, **options):
    """A server that is ended with the test, whatever happens."""
    server = Running(folder, **options)
    try:
        yield server
    finally:
        server.stop(signal.SIGKILL)


def eventually(holds, seconds=PATIENCE):
    """Wait until something holds; what it said at last."""
    end = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def is_alive(process: int) -> bool:
    """Whether there is such a process that has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def main(settings) -> None:
    """The server's process."""
    from shoal import ShoalError
    from shoal.locations.limits import Limits
    from shoal.locations.serving import TLS, Serving, serve

    tls = settings.pop("tls", None)
    keys = KeyRing.load(Path(settings.pop("keys")))
    limits = Limits.none() if settings.pop("unlimited", True) else Limits()
    serving = Serving(
        ring=keys, limits=limits, tls=TLS(**{name: Path(path) for name, path in tls.items()}) if tls else None,
        **{"port": 0, **settings},
    )  # fmt: skip
    try:
        serve(serving, lambda url: print(url, flush=True))
    except ShoalError as error:
        print(f"shoal: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    os.environ.pop("PYTEST_CURRENT_TEST", None)
    main(json.loads(sys.argv[1]))
