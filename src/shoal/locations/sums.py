"""The sums behind centroids: homes enter and leave them in batches of at least k.

Every published centroid is a weighted mean of the means of batches. A batch is formed of at least k homes that are
in no sum yet, and is afterwards only split into parts of at least k homes each; homes of devices that are gone
stay in the sum of one part. So whatever is computed from all centroids ever published, even with the exact sizes
of cells, is a sum over whole parts of at least k homes, never over fewer.
"""

import struct
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.engine import Connection

from shoal.locations.database import in_chunks
from shoal.locations.homes import opened, published
from shoal.locations.keys import KeyRing
from shoal.locations.members import Member, principals_of
from shoal.locations.schema import batches, devices

Float = NDArray[np.float64]

_BATCH = struct.Struct("<4d")


@dataclass(frozen=True)
class Sum:
    """The mean of a batch, its devices when it was formed, and its principals."""

    mean: Float
    devices: int
    homes: int


class Sums:
    """The batches of a database, within one transaction."""

    def __init__(self, connection: Connection, ring: KeyRing) -> None:
        self.connection, self.ring = connection, ring

    def enter(self, k: int, members: Sequence[Member]) -> list[Member]:
        """The homes that are in no sum yet enter together, if they are of at least k principals; returns all."""
        fresh = [member for member in members if member.batch_id is None]
        if principals_of(fresh) < k:
            return list(members)
        batch = self._keep(k, fresh, principals_of(fresh), self._total(fresh), len(fresh), None)
        return [member._replace(batch_id=batch) if member.batch_id is None else member for member in members]

    def split(self, k: int, members: Sequence[Member], parts: Mapping[int, int]) -> list[Member]:
        """Split batches whose live members go to several parts, as far as every part has k homes; returns all."""
        found: dict[int, dict[int, list[Member]]] = defaultdict(lambda: defaultdict(list))
        for member in members:
            if member.batch_id is not None:
                found[member.batch_id][parts[member.id]].append(member)
        now: dict[int, int] = {}
        for batch, pieces in found.items():
            if len(pieces) > 1:
                now |= self._split_one(k, batch, list(pieces.values()))
        return [member._replace(batch_id=now.get(member.id, member.batch_id)) for member in members]

    def _split_one(self, k: int, batch: int, pieces: list[list[Member]]) -> dict[int, int]:
        """The new batch of each member. Pieces of k principals leave; what is left must have k homes too, or none.

        What is left has at least so many principals as the batch had, less those of the pieces.
        """
        whole = self.read([batch])[batch]
        off = sorted((piece for piece in pieces if principals_of(piece) >= k), key=principals_of, reverse=True)
        while off:
            homes = whole.homes - sum(principals_of(piece) for piece in off)
            devices_left = whole.devices - sum(len(piece) for piece in off)
            if homes >= k or not devices_left:
                break
            off.pop()  # the smallest stays with what is left
        if not off:
            return {}
        now: dict[int, int] = {}
        total = whole.mean * whole.devices
        for piece in off:
            part = self._total(piece)
            number = self._keep(k, piece, principals_of(piece), part, len(piece), batch)
            total = total - part
            now |= {member.id: number for member in piece}
        if devices_left:
            rest = [member for piece in pieces for member in piece if member.id not in now]
            number = self._keep(k, rest, homes, total, devices_left, batch)
            now |= {member.id: number for member in rest}
        self.connection.execute(sa.update(batches).where(batches.c.id == batch).values(split=True))
        return now

    def _total(self, members: Sequence[Member]) -> Float:
        homes = opened(self.ring, [(member.sealed, member.key, member.digest) for member in members])
        return np.asarray(homes.sum(axis=0))

    def centre(self, members: Sequence[Member], digits: int) -> tuple[tuple[float, float] | None, dict[int, int]]:
        """The centroid of a cell of these members as it is published, and the weights of the batches behind it.

        Batches whose live members are all in the cell know best where it is. Without one, all count that have a
        member in it; without any batch there is no centroid.
        """
        here = Counter(row.batch_id for row in members if row.batch_id is not None)
        if not here:
            return None, {}
        live = sa.select(devices.c.batch_id, sa.func.count()).where(devices.c.batch_id.in_(list(here)))
        everywhere = {row[0]: row[1] for row in self.connection.execute(live.group_by(devices.c.batch_id))}
        at_home = {batch: count for batch, count in here.items() if everywhere[batch] == count}
        weights = at_home or dict(here)
        sums = self.read(list(weights))
        middle = sum((weight * sums[batch].mean for batch, weight in sorted(weights.items())), np.zeros(3))
        return published(middle / sum(weights.values()), digits), weights

    def read(self, wanted: Sequence[int]) -> dict[int, Sum]:
        """The sums of batches."""
        columns = batches.c.id, batches.c.k, batches.c.homes, batches.c.key, batches.c.sealed
        rows = self.connection.execute(sa.select(*columns).where(batches.c.id.in_(wanted)))
        found = {}
        for row in rows:
            x, y, z, count = _BATCH.unpack(self.ring.open(row.sealed, row.key, owner_of(row.id)))
            found[row.id] = Sum(np.array([x, y, z]), round(count), row.homes)
        return found

    def _keep(
        self, k: int, members: Sequence[Member], homes: int, total: Float, count: int, parent: int | None
    ) -> int:
        last = self.connection.execute(sa.select(sa.func.max(batches.c.id))).scalar()
        number = int(last or 0) + 1
        content = _BATCH.pack(*(total / count), float(count))
        values = {"id": number, "k": k, "homes": homes, "parent_id": parent, "split": False}
        sealed = {"key": self.ring.present, "sealed": self.ring.seal(content, owner_of(number))}
        self.connection.execute(sa.insert(batches).values(**values, **sealed))
        for some in in_chunks([member.id for member in members]):
            self.connection.execute(sa.update(devices).where(devices.c.id.in_(some)).values(batch_id=number))
        return number


def owner_of(batch: int) -> str:
    """What a sealed sum is bound to."""
    return f"batch:{batch}"
