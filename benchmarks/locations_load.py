"""The location service under load on this machine: 10 000, 100 000 and 1 000 000 devices, over HTTP on loopback.

    python benchmarks/locations_load.py                                all sizes; an hour on two shared cores
    python benchmarks/locations_load.py --devices 10000 --seconds 10   a small form
    python benchmarks/locations_load.py --folder DIR                   keep the databases there and go on with them

The devices are written in bulk (tests/locations/filling.py); everything after that is the service as it is: `work`
draws the cells, a server with its worker answers, and a load generator on the same cores asks it. Look-ups and
writes come at fixed rates, or as fast as they are answered. Latency counts from the moment at which a request was
due, so a server that stands still is seen. Writes docs/tables/locations_load.md and locations_growth.md.
"""

import argparse
import asyncio
import json
import os
import random
import resource
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from contextlib import contextmanager
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests" / "locations"
TABLES = ROOT / "docs" / "tables"
sys.path.insert(0, str(TESTS))

from filling import fill, towns  # noqa: E402

SIZES = (10_000, 100_000, 1_000_000)
LOOKUPS, WRITES = 1050, 102  # a second, a little more than is asked for
LOOKUPS_MEANWHILE, WRITES_MEANWHILE = 400, 20  # a second, during a redraw
REDRAW_LIMIT = 1500  # seconds
CONNECTIONS = {"look-up": 12, "write": 12}  # of their own: who looks up does not wait for who moves
CHURN = 0.005  # of the devices move before the redraw, besides those of the load


def main():
    """All sizes, then the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", default=",".join(map(str, SIZES)))
    parser.add_argument("--seconds", type=float, default=60.0, help="of each part of the load")
    parser.add_argument("--folder", type=Path, help="where the databases are kept")
    parser.add_argument("--stage", choices=["fill", "draw", "churn"], help="one stage, in this process")
    parser.add_argument("--only-prepare", action="store_true", help="fill and draw, and no more")
    given = parser.parse_args()
    sizes = [int(part) for part in given.devices.split(",")]
    if given.stage:
        print(json.dumps(STAGES[given.stage](given.folder / str(sizes[0]), sizes[0])), flush=True)
        return
    with tempfile.TemporaryDirectory(prefix="shoal-load-") as temporary:
        folder = given.folder or Path(temporary)
        for devices in sizes:
            prepared(folder, devices)
            if not given.only_prepare:
                measured(folder, devices, given.seconds)
        if not given.only_prepare:
            write_tables([known(folder, devices) for devices in sizes])


# what is prepared


def prepared(folder, devices):
    """A database of so many devices with their cells, made in processes of their own, so that memory is known."""
    for stage in ("fill", "draw"):
        once(folder, devices, stage)


def once(folder, devices, stage):
    """A stage in a process of its own, if it was not done before."""
    (folder / str(devices)).mkdir(parents=True, exist_ok=True)
    if stage not in known(folder, devices):
        command = [sys.executable, __file__, "--stage", stage, "--devices", str(devices), "--folder", str(folder)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        keep(folder, devices, stage, json.loads(said.splitlines()[-1]))


def known(folder, devices):
    """What was measured of so many devices."""
    file = folder / str(devices) / "figures.json"
    return {"devices": devices, **(json.loads(file.read_text()) if file.exists() else {})}


def keep(folder, devices, name, figures):
    """Note what was measured."""
    held = {**known(folder, devices), name: figures}
    (folder / str(devices) / "figures.json").write_text(json.dumps(held, indent=1))
    print(devices, name, json.dumps(figures), flush=True)


def service_of(home):
    """The service of a folder."""
    from shoal.locations.keys import KeyRing
    from shoal.locations.service import Service

    if not (home / "keys.json").exists():
        KeyRing.create(home / "keys.json")
    return Service.open(str(home / "service.db"), KeyRing.load(home / "keys.json"))


def timed(work):
    """What a stage took."""
    begun, used = time.perf_counter(), time.process_time()
    more = work()
    figures = {"seconds": time.perf_counter() - begun, "cpu": time.process_time() - used, "mb": peak_mb()}
    return {**figures, **(more or {})}


def peak_mb():
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fill_stage(home, devices):
    """The devices, in bulk; their credentials are kept beside the database."""
    service = service_of(home)

    def work():
        with (home / "credentials.txt").open("w") as file:
            for some in fill(service, towns(devices)):
                file.write("".join(secret + "\n" for secret in some))

    return timed(work)


def draw_stage(home, devices):
    """The first drawing, as the worker does it."""
    service = service_of(home)

    def work():
        while service.work():
            pass
        figures = service.figures()["classes"][0]
        return {"cells": figures["cells"], "distortion_km": figures["distortion_km"]}

    return timed(work)


def churn_stage(home, devices):
    """Some devices move, through the service, one after the other."""
    service = service_of(home)
    count = max(100, round(devices * CHURN))
    lines = (home / "credentials.txt").read_text().split()
    places = towns(count, seed=1)

    def work():
        for number in range(count):
            lines[number] = service.move(lines[number], *places[number].tolist())
        return {"moves": count}

    figures = timed(work)
    (home / "credentials.txt").write_text("".join(line + "\n" for line in lines))
    return figures


STAGES = {"fill": fill_stage, "draw": draw_stage, "churn": churn_stage}


# the service under load


def measured(folder, devices, seconds):
    """A server with its worker: load while the worker has little to do, then while everything is drawn anew."""
    home = folder / str(devices)
    once(folder, devices, "churn")
    service = service_of(home)
    operator = service.new_operator("benchmark")
    with served(home) as server:
        plan = Plan(devices, operator, server.address, home)
        plan.generate(15, LOOKUPS // 2, WRITES // 2)  # the server reads all cells at its first write
        begun = server.cpu()
        load = plan.generate(seconds, LOOKUPS, WRITES)
        keep(folder, devices, "load", {**load, "cpu": server.cpu() - begun, "mb": server.mb()})
        keep(folder, devices, "most", plan.generate(min(seconds, 20), 0, 0))
        begun, used, change = time.monotonic(), server.cpu(), service.figures()["change"]
        service.ask_redraw("benchmark")
        beside = plan.generate(REDRAW_LIMIT, LOOKUPS_MEANWHILE, WRITES_MEANWHILE, until=lambda: redrawn(home))
        figures = {"seconds": time.monotonic() - begun, "cpu": server.cpu() - used, "mb": server.mb()}
        figures |= {"done": redrawn(home), "changes": service.figures()["change"] - change, "beside": beside}
        keep(folder, devices, "redraw", figures)
    begun = time.monotonic()
    from shoal.locations.promises import check

    broken = [finding.promise.name for finding in check(service.database) if not finding.holds]
    keep(folder, devices, "check", {"seconds": time.monotonic() - begun, "broken": broken})
    service.close()


def redrawn(home):
    """Whether all redraws that were asked for are done."""
    with sqlite3.connect(f"file:{home / 'service.db'}?mode=ro", uri=True) as connection:
        return not connection.execute("SELECT count(*) FROM requests WHERE NOT done").fetchone()[0]


class Server:
    """The processes of a service."""

    def __init__(self, process):
        self.process = process
        host, _, port = process.stdout.readline().decode().strip().rpartition("/")[2].partition(":")
        self.address = host, int(port)

    def processes(self):
        """The server and its worker."""
        found = [self.process.pid]
        for file in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            found += map(int, file.read_text().split())
        return found

    def mb(self):
        """The most memory that each has held."""
        found = []
        for process in self.processes():
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
            found.append(next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")))
        return found

    def cpu(self):
        """The seconds of processor time that both have used."""
        ticks = 0
        for process in self.processes():
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(home):
    """A server with its worker, without limits on how often one address may ask."""
    settings = {"database": str(home / "service.db"), "keys": str(home / "keys.json")}
    command = [sys.executable, str(TESTS / "running.py"), json.dumps(settings)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            yield Server(process)
        finally:
            process.terminate()


class Plan:
    """What the load generator asks, in a process of its own."""

    def __init__(self, devices, operator, address, home):
        self.given = {"devices": devices, "operator": operator, "address": address, "home": str(home)}
        self.round = 0

    def generate(self, seconds, lookups, writes, until=None):
        """Look-ups and writes at these rates; with neither, look-ups as fast as they are answered."""
        self.round += 1
        given = {**self.given, "seconds": seconds, "lookups": lookups, "writes": writes, "round": self.round}
        command = [sys.executable, __file__, "--generate", json.dumps(given)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
            while until and process.poll() is None and not until():
                time.sleep(0.5)
            if process.poll() is None and until:
                process.stdin.write(b"stop")
            return json.loads(process.stdout.read())


# the load generator


class Asker(asyncio.Protocol):
    """A connection that is kept: one request at a time."""

    def __init__(self, load):
        self.load, self.answer, self.task = load, b"", None

    def connection_made(self, transport):
        """It is open."""
        self.transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, task):
        """Send a request: when it was due, its kind, its bytes, and what becomes of the answer."""
        self.task = task
        self.transport.write(task[2])

    def data_received(self, data):
        """A part of an answer, or all of it."""
        self.answer += data
        top, end, body = self.answer.partition(b"\r\n\r\n")
        if not end:
            return
        at = top.find(b"content-length: ")
        length = int(top[at + 16 : at + 26].split(b"\r")[0]) if at >= 0 else 0
        if len(body) < length:
            return
        self.answer = b""
        (due, kind, _, then), self.task = self.task, None
        self.load.answered(self, due, kind, int(top[9:12]), body, then)

    def connection_lost(self, error):
        """It is closed."""
        self.load.lost += self.task is not None


class Load:
    """Requests that come when they are due, whether or not earlier ones were answered."""

    def __init__(self, given):
        self.given = given
        self.random = random.Random(given["round"])
        home = Path(given["home"])
        lines = (home / "credentials.txt").read_text().split()
        some = max(1, len(lines) // 10)
        self.read, self.written = lines[some:], lines[:some]
        self.places = towns(20_000, seed=given["round"]).tolist()
        self.took = {"look-up": [], "write": []}
        self.statuses = Counter()
        self.waiting = {kind: deque() for kind in CONNECTIONS}
        self.idle = {kind: deque() for kind in CONNECTIONS}
        self.lost = 0
        self.invitations = []

    async def run(self):
        """For so many seconds, or until it is told to stop."""
        host, port = self.given["address"]
        loop = asyncio.get_running_loop()
        for kind, count in CONNECTIONS.items():
            for _ in range(count):
                self.idle[kind].append((await loop.create_connection(lambda: Asker(self), host, port))[1])
        if self.given["writes"]:
            await self.invite(loop)
        stopped = asyncio.Event()
        loop.add_reader(sys.stdin.fileno(), stopped.set)
        begun = time.monotonic()
        if self.given["lookups"]:
            await self.at_rates(begun, stopped)
        else:
            await self.at_once(begun)
        seconds = time.monotonic() - begun
        end = time.monotonic() + 15
        while self.unanswered() and time.monotonic() < end:
            await asyncio.sleep(0.01)
        whole = "".join(line + "\n" for line in [*self.written, *self.read])
        Path(self.given["home"], "credentials.txt").write_text(whole)
        return {**self.figures(seconds), "unanswered": self.unanswered(), "lost": self.lost}

    def unanswered(self):
        """The requests that wait or are under way."""
        waiting = sum(map(len, self.waiting.values()))
        return waiting + sum(count - len(self.idle[kind]) for kind, count in CONNECTIONS.items())

    async def at_rates(self, begun, stopped):
        """Every request has a moment at which it is due."""
        rates = {"look-up": self.given["lookups"], "write": self.given["writes"]}
        sent = dict.fromkeys(rates, 0)
        while (now := time.monotonic() - begun) < self.given["seconds"] and not stopped.is_set():
            for kind, rate in rates.items():
                while rate and sent[kind] < now * rate:
                    self.waiting[kind].append(begun + sent[kind] / rate)
                    sent[kind] += 1
            self.send()
            await asyncio.sleep(0.002)

    async def at_once(self, begun):
        """The next request as soon as one is answered."""
        while time.monotonic() - begun < self.given["seconds"]:
            while len(self.waiting["look-up"]) < 50:
                self.waiting["look-up"].append(None)
            self.send()
            await asyncio.sleep(0.002)
        self.waiting["look-up"].clear()

    def send(self):
        """What waits, over connections that are idle."""
        for kind, waiting in self.waiting.items():
            while waiting and self.idle[kind]:
                due = waiting.popleft() or time.monotonic()
                content, then = self.look_up() if kind == "look-up" else self.write()
                self.idle[kind].popleft().ask((due, kind, content, then))

    def answered(self, asker, due, kind, status, body, then):
        """Note how long it took, and send what waits."""
        self.idle[kind].append(asker)
        self.statuses[f"{kind} {status}"] += 1
        self.took[kind].append(time.monotonic() - due)
        if then:
            then(status, body)
        self.send()

    def look_up(self):
        """Of any device that does not move."""
        return request("GET", "/v1/location", self.random.choice(self.read)), None

    def write(self):
        """Half moves, a quarter sign-ups, a quarter cancellations."""
        number, (latitude, longitude) = self.random.random(), self.random.choice(self.places)
        place = {"latitude": latitude, "longitude": longitude}
        if number < 0.25 and self.invitations:
            body = {"invitation": self.invitations.pop(), **place}
            return request("POST", "/v1/devices", None, body), self.arrived
        at = self.random.randrange(len(self.written))
        self.written[at], self.written[-1] = self.written[-1], self.written[at]
        credential = self.written.pop()
        if number < 0.5:
            return request("DELETE", "/v1/devices/me", credential), None
        return request("POST", "/v1/move", credential, place), self.arrived

    def arrived(self, status, body):
        """A new credential."""
        if status in (200, 201):
            self.written.append(json.loads(body)["credential"])

    async def invite(self, loop):
        """Invitations for all sign-ups."""
        most = int(0.3 * self.given["writes"] * min(self.given["seconds"], 600)) + 10
        while len(self.invitations) < most:
            done = loop.create_future()
            body = {"count": min(100, most), "devices": 1}
            content = request("POST", "/v1/operator/invitations", self.given["operator"], body)
            asker = self.idle["write"].popleft()
            asker.ask((time.monotonic(), "write", content, lambda *answer, done=done: done.set_result(answer)))
            status, body = await done
            if status not in (200, 201):
                raise SystemExit(f"invitations were answered with {status}: {body}")
            self.invitations += json.loads(body)["invitations"]
        self.took["write"].clear()
        self.statuses.clear()

    def figures(self, seconds):
        """Rates and latencies."""
        found = {"statuses": dict(self.statuses), "generator_cpu": time.process_time() / seconds}
        for kind, took in self.took.items():
            if took:
                middle, late = np.percentile(took, [50, 99])
                found[kind] = {
                    "a_second": len(took) / seconds, "p50_ms": 1000 * middle, "p99_ms": 1000 * late,
                    "most_ms": 1000 * max(took),
                }  # fmt: skip
        return found


def request(method, path, credential, body=None):
    """The bytes of a request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: service"]
    if credential:
        lines.append(f"Authorization: Bearer {credential}")
    content = b"" if body is None else json.dumps(body).encode()
    if content:
        lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    return "\r\n".join([*lines, "", ""]).encode() + content


def generate(given):
    """The load generator's process."""
    print(json.dumps(asyncio.run(Load(given).run())), flush=True)


# the tables


def spaced(number):
    """A number with spaces between thousands."""
    return f"{number:,}".replace(",", " ")


def write_tables(everything):
    """Both tables."""
    growth = [
        "| devices | cells | first drawing, s | of it processor time, s | memory, MB | redraw, s | look-ups "
        "a second meanwhile | p50, ms | p99, ms | check of all promises, s |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    load = [
        "| devices | requests | a second | p50, ms | p99, ms | longest, ms |",
        "|---|---|---|---|---|---|",
    ]
    for each in everything:
        draw, redraw, beside = each["draw"], each["redraw"], each["redraw"]["beside"]["look-up"]
        took = f"{redraw['seconds']:.0f}" if redraw["done"] else f"more than {redraw['seconds']:.0f}"
        cells = (
            spaced(each["devices"]), draw["cells"], f"{draw['seconds']:.0f}", f"{draw['cpu']:.0f}",
            f"{draw['mb']:.0f}", took, f"{beside['a_second']:.0f}", f"{beside['p50_ms']:.1f}",
            f"{beside['p99_ms']:.0f}", f"{each['check']['seconds']:.1f}",
        )  # fmt: skip
        growth.append("| " + " | ".join(map(str, cells)) + " |")
        for title, figures in (
            ("look-ups, beside writes", each["load"]["look-up"]),
            ("writes, beside look-ups", each["load"]["write"]),
            ("look-ups alone, as fast as they are answered", each["most"]["look-up"]),
        ):
            numbers = [f"{figures[name]:.1f}" for name in ("p50_ms", "p99_ms", "most_ms")]
            row = [cells[0], title, f"{figures['a_second']:.0f}", *numbers]
            load.append("| " + " | ".join(row) + " |")
    last = everything[-1]
    server, *worker = last["load"]["mb"]
    load += [
        "",
        f"With {spaced(last['devices'])} devices the server held at most {server:.0f} MB, "
        f"its worker {sum(worker):.0f} MB; the load generator used "
        f"{100 * last['load']['generator_cpu']:.0f} % of a core. "
        "Writes are moves, sign-ups and cancellations; latency counts "
        "from the moment at which a request was due.",
    ]
    for name, lines in (("locations_load.md", load), ("locations_growth.md", growth)):
        (TABLES / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(*lines, sep="\n", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--generate"]:
        generate(json.loads(sys.argv[2]))
    else:
        main()
