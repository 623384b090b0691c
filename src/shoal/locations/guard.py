"""What stands between the network and the routes.

Every request passes here: paths and methods that the service does not have, limits, headers of every answer,
what is counted and what is logged. A log line has the route, never the path, the query or a header, because any
of them may hold a location or a credential. An unexpected error is answered with 500 and a fixed body; of the
error itself only its kind is logged, because its message and its traceback may hold what the request brought.
"""

import logging
import time
from collections.abc import Mapping, Sequence

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shoal.locations.bodies import NotTakenError, as_json, seconds_to_wait, too_large
from shoal.locations.errors import BusyError, RefusedError, UnknownError
from shoal.locations.failures import kind_of
from shoal.locations.limits import Gate, Limits, key_of_address, key_of_credential
from shoal.locations.metrics import Metrics

logger = logging.getLogger("shoal.locations")

UNKNOWN = "the credential is missing or not known"
"""The one answer to a credential that is missing, malformed, not known, cancelled or good for something else."""

MOST_HEADERS = 16_384
"""Bytes of all headers of a request together."""

SAFE = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"geolocation=(), camera=(), microphone=()"),
]
_CLOSED = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
_TLS_ONLY = (b"strict-transport-security", b"max-age=31536000")
_METHODS = {"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT"}


class Guard:
    """The application behind the rules that hold for every request.

    Parameters
    ----------
    app : ASGIApp
        The routes.
    routes : mapping of str to sequence of str
        The methods of every path.
    limits, gate, metrics
        The limits, how much of them is used up, and where requests are counted.
    """

    def __init__(
        self, app: ASGIApp, routes: Mapping[str, Sequence[str]], limits: Limits, gate: Gate, metrics: Metrics
    ) -> None:
        self._app = app
        self._allowed = {
            path: sorted({*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])})
            for path, methods in routes.items()
        }
        self._limits = limits
        self._gate = gate
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        answer = _Answer(scope, send)
        caller = key_of_address(scope["client"][0] if scope.get("client") else None)
        try:
            await self._answered(scope, receive, answer, caller)
        except NotTakenError as problem:
            await answer.problem(problem.status, problem.line, problem.wait)
        except ClientDisconnect:
            return  # nobody is there to be answered
        except UnknownError:
            await answer.problem(401, UNKNOWN)
        except RefusedError as error:
            await answer.problem(422, str(error))
        except BusyError as error:
            await answer.problem(503, str(error), 1)
        except Exception as error:
            logger.error("an unexpected error: %s", kind_of(error))
            await answer.problem(500, "something went wrong in the service")
        if answer.status == 401:
            self._gate.failed(caller)
        self._note(scope, answer.status, time.perf_counter() - started)

    async def _answered(self, scope: Scope, receive: Receive, answer: "_Answer", caller: bytes) -> None:
        """The answer of a route, once the request has passed all that can be checked before."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        if sum(len(name) + len(value) for name, value in headers) > MOST_HEADERS:
            raise NotTakenError(431, "the headers are too large")
        given = [value for name, value in headers if name == b"authorization"]
        wait = self._gate.wait(caller, key_of_credential(given[0].decode("latin-1")) if given else None)
        if wait:
            raise NotTakenError(429, "too many requests; come again later", wait)
        allowed = self._allowed.get(scope["path"])
        if allowed is None:
            raise NotTakenError(404, "there is no such page")
        if scope["method"] not in allowed or scope["method"] == "OPTIONS":
            await answer.allowed(allowed, 204 if scope["method"] == "OPTIONS" else 405)
            return
        for name, value in headers:
            if name == b"content-length" and (len(value) > 9 or int(value) > self._limits.body):
                raise too_large(self._limits.body)
        if scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, answer.send)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        """Count the request, and log it where that is asked for."""
        route = scope["path"] if scope["path"] in self._allowed else "other"
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.count(route, method, status, seconds)
        if logger.isEnabledFor(logging.INFO):
            logger.info("%s %s %d %.1f ms", method, route, status, seconds * 1000)


class _Answer:
    """An answer on its way, to which the headers of all answers are added."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._send = send
        self._head = scope["method"] == "HEAD"
        self._tls = scope.get("scheme") == "https"
        self.status = 0  # not begun

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message.get("headers", ()), *SAFE]
            if all(name != b"content-security-policy" for name, _ in headers):
                headers.append(_CLOSED)
            if self._tls:
                headers.append(_TLS_ONLY)
            message = {**message, "headers": headers}
        elif self._head and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self._send(message)

    async def problem(self, status: int, line: str, wait: float | None = None) -> None:
        """One line that says what is wrong. Once an answer has begun, it can only be broken off."""
        if self.status:
            return
        headers = [(b"content-type", b"application/json")]
        if status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        if wait is not None:
            headers.append((b"retry-after", str(seconds_to_wait(wait)).encode()))
        if status in (408, 413, 431):  # the rest of the request is not read
            headers.append((b"connection", b"close"))
        await self._whole(status, headers, as_json({"error": line}))

    async def allowed(self, methods: Sequence[str], status: int) -> None:
        """Which methods a path has. No other site is given leave to call it: there are no CORS headers."""
        headers = [(b"allow", ", ".join(methods).encode())]
        if status == 204:
            await self._whole(204, headers, b"")
        else:
            headers.append((b"content-type", b"application/json"))
            await self._whole(status, headers, as_json({"error": "this path does not have this method"}))

    async def _whole(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        if status != 204:
            headers = [*headers, (b"content-length", str(len(body)).encode())]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})
