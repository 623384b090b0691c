"""A client of the service, for devices. It needs Python's standard library alone.

    device = Device.sign_up("https://locations.example", invitation, 41.4036, 2.1744)
    device.locate()    # Centroid(latitude=41.405, longitude=2.171, k=5), or None: not yet
    device.move(41.38, 2.17)
    device.cancel()

A device keeps its credential as it keeps a password: whoever has it can read the centroid and cancel the device.
"""

import http.client
import json
import ssl
from ipaddress import ip_address
from typing import Any, NamedTuple, Self
from urllib.parse import SplitResult, urlsplit

from shoal.errors import ShoalError

PATIENCE = 30.0
"""Seconds that a device waits for an answer."""

_MOST = 65_536  # bytes of an answer


class Centroid(NamedTuple):
    """What a device uses in place of its home; at least k principals share it."""

    latitude: float
    longitude: float
    k: int


class ServiceError(ShoalError):
    """The service did not do what it was asked; `status` says why.

    401: the credential is not known. 422: a value is not allowed. 429 and 503: come again later, `wait` says when.
    0: no answer came, so whether it was done is not known.
    """

    def __init__(self, status: int, line: str, wait: int | None = None) -> None:
        super().__init__(line)
        self.status = status
        self.wait = wait


class Device:
    """A device that has signed up.

    Parameters
    ----------
    url : str
        The service, such as https://locations.example. Plain http is for the own machine alone.
    credential : str
        What `sign_up` or `move` returned.
    context : ssl.SSLContext
        For a service whose certificate is not signed by a known authority.
    """

    def __init__(self, url: str, credential: str, context: ssl.SSLContext | None = None) -> None:
        self.url, self.credential = url, credential
        self._service = _Connection(url, context)

    def __repr__(self) -> str:
        return f"Device({self.url!r})"  # a log is no place for the credential

    @classmethod
    def sign_up(
        cls,
        url: str,
        invitation: str,
        latitude: float,
        longitude: float,
        k: int | None = None,
        context: ssl.SSLContext | None = None,
    ) -> Self:
        """Entrust a home to the service; without a k, the smallest that it offers."""
        home: dict[str, Any] = {"invitation": invitation, "latitude": latitude, "longitude": longitude}
        held = _Connection(url, context).ask("POST", "/v1/devices", home if k is None else {**home, "k": k})
        return cls(url, held["credential"], context)

    def locate(self) -> Centroid | None:
        """The centroid that this device uses in place of its home, or None: not yet."""
        held = self._service.ask("GET", "/v1/location", credential=self.credential)
        return None if "answer" in held else Centroid(held["latitude"], held["longitude"], held["k"])

    def move(self, latitude: float, longitude: float) -> None:
        """Move to another home. The device has a new credential afterwards."""
        home = {"latitude": latitude, "longitude": longitude}
        self.credential = self._service.ask("POST", "/v1/move", home, self.credential)["credential"]

    def cancel(self) -> None:
        """Leave the service, which then deletes the home."""
        self._service.ask("DELETE", "/v1/devices/me", credential=self.credential)


class _Connection:
    """Requests, each on a connection of its own. Redirects are not followed: they could lead a home elsewhere."""

    def __init__(self, url: str, context: ssl.SSLContext | None) -> None:
        self._url = _checked(url)
        self._context = context

    def ask(self, method: str, path: str, body: object = None, credential: str | None = None) -> Any:
        """The answer to a request, as Python objects."""
        headers = {"Authorization": f"Bearer {credential}"} if credential is not None else {}
        content = None
        if body is not None:
            content = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        connection = self._opened()
        try:
            connection.request(method, self._url.path.rstrip("/") + path, content, headers)
            answer = connection.getresponse()
            text = answer.read(_MOST)
        except (OSError, http.client.HTTPException) as error:
            raise ServiceError(0, f"no answer from {self._url.netloc}: {type(error).__name__}") from error
        finally:
            connection.close()
        return _held(answer, text)

    def _opened(self) -> http.client.HTTPConnection:
        host, port = self._url.hostname or "", self._url.port
        if self._url.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=PATIENCE)
        context = self._context or ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=PATIENCE, context=context)


def _checked(url: str) -> SplitResult:
    """A URL to which a home may be sent."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
        raise ShoalError("the service must be a URL such as https://locations.example")
    if parts.scheme == "http" and not _is_here(parts.hostname):
        raise ShoalError(f"{parts.netloc} would get the home as plain text; use https")
    return parts


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _held(answer: http.client.HTTPResponse, text: bytes) -> Any:
    """What an answer holds, or what it says is wrong."""
    try:
        held = json.loads(text) if text else {}
    except ValueError:
        held = None
    if 200 <= answer.status < 300 and isinstance(held, dict):
        return held
    line = held.get("error") if isinstance(held, dict) else None
    wait = answer.getheader("Retry-After", "")
    raise ServiceError(
        answer.status,
        str(line or f"the service answered {answer.status} {answer.reason}"),
        int(wait) if wait.isdigit() else None,
    )
