"""A small service with people whose homes stand on a grid, for tests that want to know all of them."""

from contextlib import contextmanager

from shoal.locations.keys import KeyRing
from shoal.locations.policy import Policy
from shoal.locations.service import Service

RING = KeyRing.fresh()


def homes(count, latitude=51.0, longitude=-1.0, step=0.01):
    """Homes on a square grid, row by row."""
    side = max(1, round(count**0.5))
    return [(latitude + step * (each // side), longitude + step * (each % side)) for each in range(count)]


@contextmanager
def town(folder, count=0, drawn=True, ring=RING, url=None, **options):
    """A service with so many devices; returns it and their credentials."""
    service = Service.open(url or str(folder / "town.db"), ring, Policy(**options))
    try:
        credentials = settle(service, homes(count)) if count else []
        while drawn and service.work():
            pass
        yield service, credentials
    finally:
        service.close()


def settle(service, places, k=None):
    """Sign up a device of a new principal at each place."""
    invitations = service.invite(len(places))
    return [service.sign_up(invitation, *place, k) for invitation, place in zip(invitations, places, strict=True)]
