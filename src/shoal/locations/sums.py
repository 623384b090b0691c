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
        return self.enter_each(k, [members])[0]

    def enter_each(self, k: int, groups: Sequence[Sequence[Member]]) -> list[list[Member]]:
        """The same for several cells at a time, each for itself."""
        fresh = [[member for member in members if member.batch_id is None] for members in groups]
        chosen = [number for number, some in enumerate(fresh) if principals_of(some) >= k]
        sums = [Sum(self._mean(fresh[n]), len(fresh[n]), principals_of(fresh[n])) for n in chosen]
        entered = dict(zip(chosen, self._keep(k, sums, [fresh[n] for n in chosen], None), strict=True))
        return [
            [one._replace(batch_id=entered.get(number)) if one.batch_id is None else one for one in members]
            for number, members in enumerate(groups)
        ]

    def split(self, k: int, members: Sequence[Member], parts: Mapping[int, int]) -> list[Member]:
        """Split batches whose live members go to several parts, as far as every part has k homes; returns all."""
        found: dict[int, dict[int, list[Member]]] = defaultdict(lambda: defaultdict(list))
        for member in members:
            if member.batch_id is not None:
                found[member.batch_id][parts[member.id]].append(member)
        now: dict[int, int] = {}
        sums = self.read([batch for batch, pieces in found.items() if len(pieces) > 1])
        for batch, whole in sums.items():
            now |= self._split_one(k, batch, whole, list(found[batch].values()))
        return [member._replace(batch_id=now.get(member.id, member.batch_id)) for member in members]

    def _split_one(self, k: int, batch: int, whole: Sum, pieces: list[list[Member]]) -> dict[int, int]:
        """The new batch of each member. Pieces of k principals leave; what is left must have k homes too, or none.

        What is left has at least so many principals as the batch had, less those of the pieces.
        """
        off = sorted((piece for piece in pieces if principals_of(piece) >= k), key=principals_of, reverse=True)
        while off:
            homes = whole.homes - sum(principals_of(piece) for piece in off)
            devices_left = whole.devices - sum(len(piece) for piece in off)
            if homes >= k or not devices_left:
                break
            off.pop()  # the smallest stays with what is left
        if not off:
            return {}
        parts = [Sum(self._mean(piece), len(piece), principals_of(piece)) for piece in off]
        if devices_left:
            total = whole.mean * whole.devices - sum((part.mean * part.devices for part in parts), np.zeros(3))
            gone = {member.id for piece in off for member in piece}
            off.append([member for piece in pieces for member in piece if member.id not in gone])
            parts.append(Sum(total / devices_left, devices_left, homes))
        numbers = self._keep(k, parts, off, batch)
        if devices_left:  # whoever is in a cell that nobody looks at now belongs to what is left, too
            elsewhere = sa.update(devices).where(devices.c.batch_id == batch)
            self.connection.execute(elsewhere.values(batch_id=numbers[-1]))
        self.connection.execute(sa.update(batches).where(batches.c.id == batch).values(split=True))
        return {member.id: number for number, piece in zip(numbers, off, strict=True) for member in piece}

    def _mean(self, members: Sequence[Member]) -> Float:
        homes = opened(self.ring, [(member.sealed, member.key, member.digest) for member in members])
        return np.asarray(homes.sum(axis=0) / len(homes))

    def centres(
        self, groups: Sequence[Sequence[Member]], digits: int
    ) -> list[tuple[tuple[float, float] | None, dict[int, int]]]:
        """The centroids of cells of these members as they are published, each with the weights of its batches.

        Batches whose live members are all in the cell know best where it is. Without one, all count that have a
        member in it; without any batch there is no centroid.
        """
        weights = [Counter(row.batch_id for row in members if row.batch_id is not None) for members in groups]
        everywhere = self._live_devices(sorted(set().union(*weights)))
        chosen = [
            {batch: count for batch, count in here.items() if everywhere[batch] == count} or dict(here)
            for here in weights
        ]
        sums = self.read(sorted(set().union(*chosen)))
        return [(self._centre(some, sums, digits), some) for some in chosen]

    def _live_devices(self, wanted: Sequence[int]) -> dict[int, int]:
        """How many devices batches still have."""
        found: dict[int, int] = {}
        for chunk in in_chunks(wanted):
            live = sa.select(devices.c.batch_id, sa.func.count()).where(devices.c.batch_id.in_(chunk))
            found |= {row[0]: row[1] for row in self.connection.execute(live.group_by(devices.c.batch_id))}
        return found

    @staticmethod
    def _centre(weights: Mapping[int, int], sums: Mapping[int, Sum], digits: int) -> tuple[float, float] | None:
        if not weights:
            return None
        middle = sum((weight * sums[batch].mean for batch, weight in sorted(weights.items())), np.zeros(3))
        return published(middle / sum(weights.values()), digits)

    def read(self, wanted: Sequence[int]) -> dict[int, Sum]:
        """The sums of batches."""
        columns = batches.c.id, batches.c.homes, batches.c.key, batches.c.sealed
        found = {}
        for chunk in in_chunks(wanted):
            for row in self.connection.execute(sa.select(*columns).where(batches.c.id.in_(chunk))):
                x, y, z, count = _BATCH.unpack(self.ring.open(row.sealed, row.key, owner_of(row.id)))
                found[row.id] = Sum(np.array([x, y, z]), round(count), row.homes)
        return found

    def _keep(
        self, k: int, sums: Sequence[Sum], groups: Sequence[Sequence[Member]], parent: int | None
    ) -> list[int]:
        """New batches with these sums and live members; returns their numbers."""
        if not sums:
            return []
        last = self.connection.execute(sa.select(sa.func.max(batches.c.id))).scalar()
        numbers = [int(last or 0) + 1 + place for place in range(len(sums))]
        rows = [
            {
                "id": number,
                "k": k,
                "homes": each.homes,
                "parent_id": parent,
                "split": False,
                "key": self.ring.present,
                "sealed": self.ring.seal(_BATCH.pack(*each.mean, float(each.devices)), owner_of(number)),
            }
            for number, each in zip(numbers, sums, strict=True)
        ]
        self.connection.execute(sa.insert(batches), rows)
        put = [
            {"device": member.id, "batch": number}
            for number, members in zip(numbers, groups, strict=True)
            for member in members
        ]
        if put:
            update = sa.update(devices).where(devices.c.id == sa.bindparam("device"))
            self.connection.execute(update.values(batch_id=sa.bindparam("batch")), put)
        return numbers


def owner_of(batch: int) -> str:
    """What a sealed sum is bound to."""
    return f"batch:{batch}"
