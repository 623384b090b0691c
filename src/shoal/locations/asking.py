"""How routes ask the service: here or in a thread, and how they answer."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from fastapi import Request
from starlette.responses import Response

from shoal.locations.bodies import as_json
from shoal.locations.errors import BusyError, UnknownError
from shoal.locations.limits import Limits

if TYPE_CHECKING:
    from shoal.locations.service import Service

Result = TypeVar("Result")

LONGEST_CREDENTIAL = 200
_SHARE = (
    20  # figures are kept for so many times as long as they took: they never use more than a twentieth of a core
)


class Run(Protocol):
    """A way to do some work."""

    def __call__(self, work: Callable[..., Result], *arguments: Any) -> Awaitable[Result]: ...  # noqa: D102


async def directly(work: Callable[..., Result], *arguments: Any) -> Result:
    """The result of the work, done here and now."""
    return work(*arguments)


class Threads:
    """Some threads for what may wait. Where too many wait already, the answer is "busy" at once."""

    def __init__(self, threads: int, most: int) -> None:
        self._threads, self._most = threads, most
        self._pool: ThreadPoolExecutor | None = None
        self._inside = 0

    async def __call__(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """The result of the work, done in a thread."""
        if self._inside >= self._most:
            raise BusyError
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="locations")
        self._inside += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, partial(work, *arguments))
        finally:
            self._inside -= 1

    def close(self) -> None:
        """Finish what has begun. Threads start again when there is something to do."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


class Kept:
    """A result that is worked out anew when it is some seconds old. Whoever asks meanwhile waits for the same."""

    def __init__(self, run: Run, work: Callable[[], Any], seconds: float, clock: Callable[[], float]) -> None:
        self._run, self._work, self._seconds, self._clock = run, work, seconds, clock
        self._turn = asyncio.Lock()
        self._until = float("-inf")
        self._held: Any = None

    async def get(self) -> Any:
        """The result, at most so old."""
        async with self._turn:
            begun = self._clock()
            if begun >= self._until:
                self._held = await self._run(self._work)
                now = self._clock()
                self._until = now + (max(self._seconds, _SHARE * (now - begun)) if self._seconds else 0.0)
            return self._held


@dataclass(frozen=True)
class Asking:
    """The service, and the ways to ask it.

    Parameters
    ----------
    service, limits
        What answers, and how much may be asked.
    read, write, count
        How a look-up is done, how a write, and how what goes over all devices or cells.
    figures : Kept
        The figures of the service.
    """

    service: "Service"
    limits: Limits
    read: Run
    write: Threads
    count: Threads
    figures: Kept

    @classmethod
    def of(
        cls, service: "Service", limits: Limits, fresh: float, reads_in_threads: bool, clock: Callable[[], float]
    ) -> "Asking":
        """The ways to ask a service."""
        write, count = Threads(4, limits.waiting), Threads(1, 32)
        read = Threads(4, limits.waiting) if reads_in_threads else directly
        return cls(service, limits, read, write, count, Kept(count, service.figures, fresh, clock))

    def close(self) -> None:
        """Finish what has begun."""
        for each in (self.read, self.write, self.count):
            if isinstance(each, Threads):
                each.close()

    async def operator(self, request: Request) -> str:
        """The name of the operator who asks."""
        name = await self.read(self.service.operator, bearer(request))
        if name is None:
            raise UnknownError
        return name


def bearer(request: Request) -> str:
    """The credential of a request. What is no credential takes the same way as one that nobody has."""
    given = request.headers.getlist("authorization")
    scheme, _, credential = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return credential if scheme.lower() == "bearer" and len(credential) <= LONGEST_CREDENTIAL else ""


def answered(held: object, status: int = 200) -> Response:
    """An answer in JSON."""
    return Response(as_json(held), status, media_type="application/json")
