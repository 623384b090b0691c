"""A service for tests: small, on a real SQLite file, asked through the application without a network."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np

from shoal.locations.api import application
from shoal.locations.keys import KeyRing
from shoal.locations.limits import Limits
from shoal.locations.policy import Policy
from shoal.locations.service import Service

POLICY = Policy(classes=(3, 6), slack=1, distinct_places=2, region=40, start=8)
HOME = (41.403611, 2.174444)  # with digits that no centroid has
OTHER = (-33.856784, 151.215297)


class Asked:
    """An application and those who ask it."""

    def __init__(self, service: Service, limits: Limits | None = None, **options):
        self.service = service
        self.app = application(service, limits or Limits.none(), **{"fresh": 0.0, **options})
        self.operator = service.new_operator("Ada")

    def ask(
        self, method: str, path: str, key: str | None = None, client=("192.0.2.7", 50000), **more
    ) -> httpx.Response:
        """The answer to one request."""
        headers = httpx.Headers(more.pop("headers", {}))
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"

        async def asked():
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=True, client=client)
            async with httpx.AsyncClient(transport=transport, base_url="http://service") as session:
                return await session.request(method, path, headers=headers, **more)

        return asyncio.run(asked())

    def sign_up(self, place=HOME, k=None) -> str:
        """The credential of a new device of a new principal."""
        (invitation,) = self.service.invite()
        body = {"invitation": invitation, "latitude": place[0], "longitude": place[1]}
        answer = self.ask("POST", "/v1/devices", json=body if k is None else {**body, "k": k})
        assert answer.status_code == 201, answer.text
        return answer.json()["credential"]

    def crowd(self, number=20, seed=0, k=None) -> list[str]:
        """The credentials of so many devices around Barcelona, whose cells are drawn."""
        places = np.random.default_rng(seed).normal(HOME, 0.05, (number, 2)).tolist()
        credentials = [self.sign_up(place, k) for place in places]
        while self.service.work():
            pass
        return credentials


@contextmanager
def served(folder: Path, limits: Limits | None = None, policy: Policy = POLICY, **options) -> Iterator[Asked]:
    """A new service."""
    service = Service.open(str(folder / "service.db"), KeyRing.fresh(), policy)
    try:
        yield Asked(service, limits, **options)
    finally:
        service.close()


def raw(app, method: str, path: str, headers=(), parts=(b"",), client=("192.0.2.7", 50000), scheme="http"):
    """The answer to a request that httpx would not send: (status, headers as a list, body)."""
    waiting = [
        {"type": "http.request", "body": part, "more_body": number + 1 < len(parts)}
        for number, part in enumerate(parts)
    ]
    sent = []

    async def receive():
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": scheme,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in headers],
        "client": client,
        "server": ("service", 80),
    }
    asyncio.run(app(scope, receive, send))
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], sent[0]["headers"], body


def json_of(body: bytes):
    return json.loads(body)
