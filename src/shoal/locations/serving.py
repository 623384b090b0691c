"""The running service: uvicorn in this process, and beside it the worker, which is started again when it dies."""

import json
import logging
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

import uvicorn

from shoal.errors import ShoalError, warn
from shoal.locations.api import application
from shoal.locations.keys import KeyRing
from shoal.locations.limits import Limits
from shoal.locations.metrics import Watched
from shoal.locations.policy import Policy
from shoal.locations.service import Service

logger = logging.getLogger("shoal.locations")

_PATIENCE = 10.0  # seconds that a worker has to finish its piece of work
_GRACE = 5  # seconds that requests have to end
_LONGEST_WAIT = 30.0  # seconds between two starts of a worker that keeps dying
_WELL = 60.0  # seconds after which a worker counts as having run well
_CONNECTIONS = 2000
_TURN = 2e-4  # seconds for which a thread that writes holds up look-ups, many times each; Python's own are 5e-3


@dataclass(frozen=True, kw_only=True)
class TLS:
    """The options of uvicorn for TLS."""

    certificate: Path
    key: Path | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Serving:
    """How a service is run.

    Parameters
    ----------
    database : str
        The path of a SQLite file, or a URL.
    ring : KeyRing
        The keys that homes are sealed with.
    policy : Policy
        What is promised; needed when the database is new.
    host, port : str, int
        Where it listens; port 0 takes any that is free.
    limits : Limits
        How often and how much may be asked.
    tls : TLS
        Certificate and key; without them, answers go over the network as plain text.
    proxies : str
        Addresses of proxies, with commas between, whose word is taken for where a request comes from.
    log_requests : bool
        Log a line for each request: method, route, status and time, and nothing else.
    pause, check : float
        Seconds for which the worker rests when nothing is due, and between two checks of the promises.
    """

    database: str
    ring: KeyRing
    policy: Policy | None = None
    host: str = "127.0.0.1"
    port: int = 8400
    limits: Limits = field(default_factory=Limits)
    tls: TLS | None = None
    proxies: str = "127.0.0.1"
    log_requests: bool = False
    pause: float = 1.0
    check: float = 600.0


def serve(serving: Serving, started: Callable[[str], None] | None = None) -> None:
    """Run a service until SIGINT or SIGTERM; `started` is told its URL."""
    watched = Watched()
    sys.setswitchinterval(_TURN)
    with _logging(serving.log_requests), listening(serving.host, serving.port) as listener:
        url = url_of(serving, listener)
        _warn_of_plain_text(serving)
        service = Service.open(serving.database, serving.ring, serving.policy)
        try:
            app = application(service, serving.limits, watched=watched, reads_in_threads="://" in serving.database)
            server = _Server(_config(app, serving), lambda: started(url) if started else None)
            with Worker(serving, watched):
                server.run(sockets=[listener])
        finally:
            service.close()


@contextmanager
def _logging(requests: bool) -> Iterator[None]:
    """What the service logs goes to standard error, as plain lines."""
    handler, before = logging.StreamHandler(), logger.level
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if requests else logging.WARNING)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket at that address; or a line that says why there is none."""
    if not 0 <= port <= 65_535:  # the system would take another one in its place
        raise ShoalError(f"there is no port {port}; choose one from 1 to 65535 with --port")
    try:
        kind, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0::4]
    except (OSError, UnicodeError) as error:
        raise ShoalError(f"there is no address {host!r}; give one with --host, such as 127.0.0.1") from error
    listener = socket.socket(kind)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise ShoalError(
            f"cannot listen on {host} port {port}: {error.strerror}; choose another port with --port"
        ) from error
    with listener:
        yield listener


def url_of(serving: Serving, listener: socket.socket) -> str:
    """The URL of a service that listens."""
    host, port = listener.getsockname()[:2]
    scheme = "https" if serving.tls else "http"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _warn_of_plain_text(serving: Serving) -> None:
    try:
        here = ip_address(serving.host).is_loopback
    except ValueError:
        here = serving.host == "localhost"
    if not here and serving.tls is None:
        warn(
            f"homes and credentials reach {serving.host} as plain text; give a certificate with --ssl-certfile, "
            "or put a proxy with TLS in front and listen on 127.0.0.1"
        )


def _config(app: object, serving: Serving) -> uvicorn.Config:
    """The options of uvicorn. Its own access log would hold queries; it is off, whatever is asked for."""
    tls = serving.tls
    config = uvicorn.Config(
        app,  # type: ignore[arg-type]  # it is an ASGI application
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        forwarded_allow_ips=serving.proxies,
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=_GRACE,
        ssl_certfile=tls.certificate if tls else None,
        ssl_keyfile=tls.key if tls else None,
        ssl_keyfile_password=tls.password if tls else None,
    )
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        named = tls.certificate if tls else "the certificate"
        raise ShoalError(
            f"cannot use {named} for TLS: {getattr(error, 'strerror', None) or type(error).__name__}; name the "
            "certificate and its key with --ssl-certfile and --ssl-keyfile"
        ) from error
    return config


class _Server(uvicorn.Server):
    """A server that says when it has started, and for which a signal to stop is no failure."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._told = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._told()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at a signal, and do not raise it once more afterwards, as uvicorn would."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        names = ("SIGINT", "SIGTERM", "SIGHUP")
        numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
        before = {
            number: signal.signal(number, self.handle_exit)
            for number in numbers
            if signal.getsignal(number) is not signal.SIG_IGN
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class Worker:
    """The worker's process: started, watched and started again, until it is no longer wanted.

    A thread waits for it. That thread lives as long as the worker may: on Linux, a process can be told to end
    with the thread that has started it.
    """

    def __init__(self, serving: Serving, watched: Watched) -> None:
        self._settings = {
            "database": serving.database,
            "keys": serving.ring.to_text(),
            "pause": serving.pause,
            "check": serving.check,
        }
        self._watched = watched
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._keep_alive, name="worker")

    def __enter__(self) -> "Worker":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._stop.set()
            if self._process is not None:
                self._process.terminate()
        self._thread.join(_PATIENCE)
        if self._thread.is_alive() and self._process is not None:
            self._process.kill()  # a long drawing; the database is as it was before it
        self._thread.join()

    def _keep_alive(self) -> None:
        """Start the worker, and start it again, more slowly if it dies again and again."""
        wait = 0.5
        while not self._stop.is_set():
            begun = time.monotonic()
            status = self._run()
            if self._stop.is_set():
                return
            self._watched.restarts += 1
            wait = 0.5 if time.monotonic() - begun > _WELL else min(2 * wait, _LONGEST_WAIT)
            logger.warning("the worker ended with status %d; it is started again in %g seconds", status, wait)
            self._stop.wait(wait)

    def _run(self) -> int:
        """One worker, to its end."""
        command = [sys.executable, "-P", "-m", "shoal.locations.worker"]
        with self._lock:
            if self._stop.is_set():
                return 0
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with self._process as process:
            self._watched.process = process.pid
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(json.dumps(self._settings).encode() + b"\n")
                process.stdin.flush()
                for line in process.stdout:
                    self._watched.heard(json.loads(line))
            except (OSError, ValueError):
                process.kill()  # it died while it was told its settings, or says what nobody understands
            self._watched.process = None
            return process.wait()
