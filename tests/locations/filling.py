"""Many devices at once, written to the tables as `sign_up` writes one. Their cells are drawn by `work` as ever.

Signing up a million devices one by one would take hours, since each is a transaction that is on the disk before it is
answered.
"""

from collections.abc import Iterator

import numpy as np
import sqlalchemy as sa

from shoal.locations import homes
from shoal.locations.keys import DEVICE, INVITATION, digest_of, new_secret
from shoal.locations.schema import devices, principals
from shoal.locations.service import Service

_AT_A_TIME = 20_000
TOWNS = 300


def towns(count: int, seed: int = 0) -> np.ndarray:
    """Homes of a country: towns of very different sizes, dense in the middle, and every tenth home in between."""
    random = np.random.default_rng(seed)
    middle = np.column_stack([random.uniform(40, 50, TOWNS), random.uniform(-5, 8, TOWNS)])
    size = 1 / np.arange(1, TOWNS + 1)
    town = random.choice(TOWNS, count, p=size / size.sum())
    spread = 0.25 * np.sqrt(size[town])[:, None] * random.exponential(1, (count, 1))
    found = middle[town] + spread * random.normal(size=(count, 2))
    apart = random.random(count) < 0.1
    found[apart] = np.column_stack([random.uniform(40, 50, apart.sum()), random.uniform(-5, 8, apart.sum())])
    return found


def fill(service: Service, places: np.ndarray, k: int | None = None) -> Iterator[list[str]]:
    """Sign up a device of a new principal at each place; gives their credentials, some at a time."""
    k = service.policy.classes[0] if k is None else k
    for start in range(0, len(places), _AT_A_TIME):
        some = [homes.checked(*place) for place in places[start : start + _AT_A_TIME].tolist()]
        secrets = [new_secret(DEVICE) for _ in some]
        with service.database.write() as connection:
            last = connection.execute(sa.select(sa.func.max(principals.c.id))).scalar() or 0
            owners = range(last + 1, last + 1 + len(some))
            invited = [
                {"id": number, "invitation": digest_of(new_secret(INVITATION), INVITATION), "devices_left": 0}
                for number in owners
            ]
            connection.execute(sa.insert(principals), invited)
            rows = [row_of(service, *each, k) for each in zip(owners, secrets, some, strict=True)]
            connection.execute(sa.insert(devices), rows)
            if connection.dialect.name == "postgresql":  # whose own numbers do not know of these
                name = "pg_get_serial_sequence('principals', 'id')"
                connection.execute(sa.text(f"SELECT setval({name}, {owners[-1]})"))
        yield secrets


def row_of(service: Service, principal: int, secret: str, place: tuple[float, float], k: int) -> dict[str, object]:
    """The row of a device that waits for its first cell."""
    digest = digest_of(secret, DEVICE)
    return {
        "principal_id": principal,
        "k": k,
        "digest": digest,
        "place": service.ring.place(*place, service.policy.place_digits),
        "key": service.ring.present,
        "sealed": homes.seal(service.ring, *place, digest),
    }
