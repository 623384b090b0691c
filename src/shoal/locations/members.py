"""Devices as they are read from the database: who is in a cell, who waits, and all of them as arrays."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.engine import Connection

from shoal.locations.database import Select, in_chunks
from shoal.locations.homes import opened
from shoal.locations.keys import KeyRing
from shoal.locations.schema import atoms, devices

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_AT_A_TIME = 10_000


class Member(NamedTuple):
    """A device: whose it is, its home under seal, and where it belongs."""

    id: int
    principal_id: int
    place: bytes
    key: int
    sealed: bytes
    digest: bytes
    atom_id: int | None
    batch_id: int | None
    cell_id: int | None


_COLUMNS = [devices.c[name] for name in Member._fields if name != "cell_id"] + [atoms.c.cell_id]
_MEMBERS = sa.select(*_COLUMNS).select_from(devices.outerjoin(atoms))
_INSIDE = sa.select(*_COLUMNS).select_from(atoms.join(devices))  # an outer join would go through all devices


def members_of(connection: Connection, cells: Sequence[int]) -> list[Member]:
    """The devices of cells, the oldest first."""
    found: list[Member] = []
    for chunk in in_chunks(list(cells)):
        found += read(connection, _INSIDE.where(atoms.c.cell_id.in_(chunk)))
    return sorted(found)


def members_among(connection: Connection, ids: Sequence[int]) -> list[Member]:
    """Of these devices, those that are still there, the oldest first."""
    found: list[Member] = []
    for chunk in in_chunks(list(ids)):
        found += read(connection, _MEMBERS.where(devices.c.id.in_(chunk)))
    return sorted(found)


def unanswered(k: int) -> Select:
    """The devices of a class that are in no cell."""
    return _MEMBERS.where(devices.c.k == k, atoms.c.cell_id.is_(None)).order_by(devices.c.id)


def waiting_for(connection: Connection, cells: Sequence[int]) -> list[Member]:
    """Newcomers that wait for enough others of the same cell, the oldest first."""
    found: list[Member] = []
    for chunk in in_chunks(list(cells)):
        found += read(connection, _MEMBERS.where(devices.c.waits_for.in_(chunk)))
    return sorted(found)


def read(connection: Connection, query: Select) -> list[Member]:
    """The members that a query finds."""
    return [Member(*row) for row in connection.execute(query)]


def read_some(connection: Connection, query: Select) -> Iterator[list[Member]]:
    """The same, some at a time: a class may have millions."""
    result = connection.execution_options(yield_per=_AT_A_TIME).execute(query)
    for part in result.partitions():
        yield [Member(*row) for row in part]


def principals_of(members: Iterable[Member]) -> int:
    """How many distinct principals they have."""
    return len({member.principal_id for member in members})


def places_of(members: Iterable[Member]) -> int:
    """How many distinct places they are at."""
    return len({member.place for member in members})


class Arrays(NamedTuple):
    """Devices as arrays: their numbers, homes on the unit sphere, principals, places and atoms (-1: none)."""

    ids: Int
    homes: Float
    principals: Int
    places: Int
    atoms: Int


def arrays_of(ring: KeyRing, members: Sequence[Member]) -> Arrays:
    """Members as arrays, with their homes opened.

    Eight bytes of the hash of a place tell places apart; two that agree by chance count as one.
    """
    places = b"".join(bytes(member.place[:8]) for member in members)
    return Arrays(
        np.array([member.id for member in members], np.int64),
        opened(ring, [(member.sealed, member.key, member.digest) for member in members]),
        np.array([member.principal_id for member in members], np.int64),
        np.frombuffer(places, np.int64),
        np.array([-1 if member.atom_id is None else member.atom_id for member in members], np.int64),
    )


def joined(parts: Sequence[Arrays]) -> Arrays:
    """Several parts as one."""
    return Arrays(*(np.concatenate([part[field] for part in parts]) for field in range(len(Arrays._fields))))
