"""How often the service may be asked: buckets of tokens for each credential and for each address.

A bucket is one number, the time at which it will be full again, so a million of them need little memory. A
bucket that is full again is forgotten without loss. The clock is a parameter, so that tests need not wait.
"""

import hashlib
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from shoal.errors import ShoalError

MOST_BUCKETS = 100_000
"""The buckets of one kind that are kept. Beyond that, the one that was asked longest ago is forgotten."""


@dataclass(frozen=True)
class Rate:
    """So many requests a second in the long run, and so many at once."""

    each_second: float
    at_once: int

    def __post_init__(self) -> None:
        if not (math.isfinite(self.each_second) and self.each_second > 0):
            raise ShoalError(f"a rate must be a number of requests a second above 0, not {self.each_second!r}")
        if self.at_once < 1:
            raise ShoalError(f"a rate must allow at least 1 request at once, not {self.at_once!r}")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one caller may ask of the service. `None` in place of a rate means: as often as they like.

    Parameters
    ----------
    address : Rate
        All requests from one address. An IPv6 network of 64 bits counts as one address.
    credential : Rate
        All requests with one credential.
    failures : Rate
        Requests from one address that were answered with 401. When they are used up, every request from there is
        answered with 429, with a good credential too: the answer must not tell which credentials are good.
    body : int
        The most bytes of a request's body.
    seconds : float
        The time within which a body must have come.
    waiting : int
        The most writes that wait for a thread. Others are told to come again.
    """

    address: Rate | None = Rate(100, 400)
    credential: Rate | None = Rate(5, 50)
    failures: Rate | None = Rate(0.5, 30)
    body: int = 4096
    seconds: float = 10.0
    waiting: int = 256

    @classmethod
    def none(cls) -> "Limits":
        """No limits on how often, for load tests; bodies are limited as ever."""
        return cls(address=None, credential=None, failures=None, waiting=100_000)


class Buckets:
    """Buckets of tokens, one a key."""

    def __init__(
        self, rate: Rate | None, most: int = MOST_BUCKETS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate = rate
        self._most = most
        self._clock = clock
        self._full_at: OrderedDict[bytes, float] = OrderedDict()  # the one last asked is the last

    def __len__(self) -> int:
        return len(self._full_at)

    def wait(self, key: bytes) -> float:
        """Seconds until there is a token; 0 where there is one. It takes none."""
        if self.rate is None or key not in self._full_at:
            return 0.0
        allowed = (self.rate.at_once - 1) / self.rate.each_second
        return max(0.0, self._full_at[key] - allowed - self._clock())

    def take(self, key: bytes) -> float:
        """Take a token. Seconds until there is one, if there is none now."""
        if self.rate is None:
            return 0.0
        wait = self.wait(key)
        if wait > 0:
            return wait
        now = self._clock()
        self._full_at[key] = max(now, self._full_at.pop(key, now)) + 1 / self.rate.each_second
        self._forget(now)
        return 0.0

    def _forget(self, now: float) -> None:
        """Forget full buckets, a few at each call, so that no single request pays for all of them."""
        for _ in range(2):
            oldest = next(iter(self._full_at))
            if self._full_at[oldest] > now and len(self._full_at) <= self._most:
                return
            del self._full_at[oldest]
            if not self._full_at:
                return


class Gate:
    """All limits on how often the service may be asked."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self.addresses = Buckets(limits.address, clock=clock)
        self.credentials = Buckets(limits.credential, clock=clock)
        self.failures = Buckets(limits.failures, clock=clock)

    def wait(self, address: bytes, credential: bytes | None) -> float:
        """Seconds until this caller may ask; 0: now, and the request counts.

        The address is asked first: otherwise one address could fill the memory with credentials of its invention.
        """
        wait = self.failures.wait(address) or self.addresses.take(address)
        if wait or credential is None:
            return wait
        return self.credentials.take(credential)

    def failed(self, address: bytes) -> None:
        """A credential from there was not known."""
        self.failures.take(address)


def key_of_address(host: str | None) -> bytes:
    """The key of an address; whatever has none shares one."""
    if not host:
        return b""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return hashlib.sha256(host.encode("utf-8", "replace")).digest()[:16]
    if isinstance(address, IPv6Address):
        mapped = address.ipv4_mapped
        return mapped.packed if mapped else address.packed[:8]  # a household has a whole network of 64 bits
    return address.packed


def key_of_credential(credential: str) -> bytes:
    """The key of a credential, from which it cannot be found out."""
    return hashlib.sha256(credential.encode("utf-8", "surrogatepass")).digest()[:16]
