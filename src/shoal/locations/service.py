"""What devices and operators may ask of a service. A request is one transaction: all of it happens, or nothing."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple, Self

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from shoal.errors import ShoalError
from shoal.locations import homes, schema, sums
from shoal.locations.cells import Cells
from shoal.locations.database import Database, Row, Select
from shoal.locations.errors import RefusedError, UnknownError
from shoal.locations.keys import DEVICE, INVITATION, OPERATOR, KeyRing, digest_of, new_secret, same
from shoal.locations.policy import Policy
from shoal.locations.redraws import Redraws
from shoal.locations.rule import LiveCells
from shoal.locations.schema import atoms, cells, devices, operators, principals, regions

MOST_INVITATIONS = 100_000
"""At a time."""

# What every request asks is put together once: that takes longer than the database needs to answer it.
_WANTED: sa.BindParameter[Any] = sa.bindparam("wanted")
_LOOK_UP = (
    sa.select(cells.c.latitude, cells.c.longitude, devices.c.k, devices.c.digest)
    .select_from(devices.outerjoin(atoms).outerjoin(cells, atoms.c.cell_id == cells.c.id))
    .where(devices.c.digest == _WANTED)
)
_DEVICE = sa.select(devices).where(devices.c.digest == _WANTED)
_FORGET_DEVICE = sa.delete(devices).where(devices.c.id == _WANTED)
_COUNT_DEVICE = (
    sa.update(principals)
    .where(principals.c.id == _WANTED)
    .values(devices_left=principals.c.devices_left + sa.bindparam("by"))
)
_COUNT_LEFT = sa.update(atoms).where(atoms.c.id == _WANTED).values(left=atoms.c.left + 1)
_CELL_OF_ATOM = sa.select(atoms.c.cell_id).where(atoms.c.id == _WANTED)
_ANY_IN_ATOM = sa.select(devices.c.id).where(devices.c.atom_id == _WANTED).limit(1)


class Centroid(NamedTuple):
    """What a device may use in place of its home: the centroid of a cell that at least k devices share."""

    latitude: float
    longitude: float
    k: int


class ShownCell(NamedTuple):
    """A cell as operators see it. Its size is k or more; the exact one is never told."""

    id: int
    k: int
    latitude: float
    longitude: float
    cost: float
    region: int


class Service:
    """The location anonymiser on one database; `Service.open` makes or opens it.

    Every method may be called from several threads, and several processes may open one database. A credential is
    told once and never again; the database has its hash alone.
    """

    def __init__(self, database: Database, ring: KeyRing, policy: Policy) -> None:
        self.database, self.ring, self.policy = database, ring, policy
        self._live = LiveCells()

    @classmethod
    def open(cls, url: str, ring: KeyRing, policy: Policy | None = None) -> Self:
        """The service of a database, with its tables made or brought up to date.

        The policy is kept at the first opening. Later it may be left out, or must be the same.
        """
        database = Database(url)
        try:
            with database.write() as connection:
                kept = cls._kept_policy(connection, policy)
        except ShoalError:
            database.close()
            raise
        return cls(database, ring, kept)

    @staticmethod
    def _kept_policy(connection: Connection, policy: Policy | None) -> Policy:
        text = connection.execute(sa.select(schema.service.c.policy)).scalar()
        if text is None:
            kept = policy or Policy()
            connection.execute(sa.insert(schema.service).values(id=1, policy=kept.to_json(), change=0))
            connection.execute(sa.insert(schema.classes), [class_row(kept, k) for k in kept.classes])
            return kept
        kept = Policy.from_json(text)
        if policy is not None and policy != kept:
            differ = [name for name, value in vars(kept).items() if getattr(policy, name) != value]
            raise ShoalError(
                f"this database was made with another policy ({', '.join(differ)} differ); its promises were "
                "made with it, so leave these options out, or begin a new database"
            )
        return kept

    def close(self) -> None:
        """Give the database back."""
        self.database.close()

    # devices

    def sign_up(self, invitation: str, latitude: float, longitude: float, k: int | None = None) -> str:
        """A new device of whoever was invited; returns its credential."""
        place = homes.checked(latitude, longitude)
        k = self._class(k)
        with self._write() as connection:
            digest = digest_of(invitation, INVITATION)
            row = connection.execute(sa.select(principals).where(principals.c.invitation == digest)).one_or_none()
            if row is None or not same(row.invitation, digest):
                raise UnknownError
            if row.devices_left < 1:
                raise RefusedError("this invitation is used up; cancel a device or ask the operator for another")
            self._count_device(connection, row.id, -1)
            return self._arrive(connection, row.id, k, place)

    def move(self, credential: str, latitude: float, longitude: float) -> str:
        """A device at a new home: it is cancelled and signs up anew, under the new credential that is returned."""
        place = homes.checked(latitude, longitude)
        with self._write() as connection:
            row = self._device(connection, credential)
            self._leave(connection, row)
            return self._arrive(connection, row.principal_id, row.k, place)

    def cancel(self, credential: str) -> None:
        """A device that leaves. Its home is deleted; its invitation may be used once more."""
        with self._write() as connection:
            row = self._device(connection, credential)
            self._leave(connection, row)
            self._count_device(connection, row.principal_id, 1)

    def locate(self, credential: str) -> Centroid | None:
        """The centroid of the device's cell, or None: not yet."""
        digest = digest_of(credential, DEVICE)
        with self.database.read() as connection:
            row = connection.execute(_LOOK_UP, {"wanted": digest}).one_or_none()
        if row is None or not same(row.digest, digest):
            raise UnknownError
        return None if row.latitude is None else Centroid(row.latitude, row.longitude, row.k)

    # operators

    def invite(self, count: int = 1, devices: int = 1, by: str = "operator") -> list[str]:
        """Invitations for so many principals, each good for so many devices at a time."""
        if not 1 <= count <= MOST_INVITATIONS or not 1 <= devices <= 1000:
            raise RefusedError(
                f"there can be 1 to {MOST_INVITATIONS} invitations at a time, each for 1 to 1000 devices"
            )
        secrets = [new_secret(INVITATION) for _ in range(count)]
        rows = [{"invitation": digest_of(each, INVITATION), "devices_left": devices} for each in secrets]
        with self._write() as connection:
            connection.execute(sa.insert(principals), rows)
            self._note(connection, by, "invite", {"count": count, "devices": devices})
        return secrets

    def new_operator(self, name: str) -> str:
        """A key for an operator of that name."""
        if not 1 <= len(name) <= 200:
            raise RefusedError("an operator has a name of 1 to 200 characters")
        secret = new_secret(OPERATOR)
        with self._write() as connection:
            connection.execute(sa.insert(operators).values(name=name, digest=digest_of(secret, OPERATOR)))
            self._note(connection, name, "new operator", {})
        return secret

    def operator(self, key: str) -> str | None:
        """The name of the operator with that key, or None."""
        digest = digest_of(key, OPERATOR)
        with self.database.read() as connection:
            row = connection.execute(sa.select(operators).where(operators.c.digest == digest)).one_or_none()
        return row.name if row is not None and same(row.digest, digest) else None

    def has_operators(self) -> bool:
        """Whether anybody has a key for operators."""
        with self.database.read() as connection:
            return connection.execute(sa.select(operators.c.id).limit(1)).first() is not None

    def has_devices(self) -> bool:
        """Whether anybody is signed up."""
        with self.database.read() as connection:
            return connection.execute(sa.select(devices.c.id).limit(1)).first() is not None

    def cells(self, k: int | None = None) -> list[ShownCell]:
        """The cells of one class or of all."""
        query = sa.select(
            cells.c.id, cells.c.k, cells.c.latitude, cells.c.longitude, cells.c.cost, cells.c.region_id
        ).where(cells.c.retired.is_(None))
        if k is not None:
            query = query.where(cells.c.k == self._class(k))
        with self.database.read() as connection:
            return [ShownCell(*row) for row in connection.execute(query.order_by(cells.c.id))]

    def figures(self) -> dict[str, Any]:
        """How the service is, without the exact size of anything that is smaller than a class."""
        with self.database.read() as connection:
            change = connection.execute(sa.select(schema.service.c.change)).scalar_one()
            return {
                "classes": [self._figures_of(connection, k) for k in self.policy.classes],
                "admission": self.policy.admission,
                "history": self.policy.history,
                "change": change,
            }

    def ask_redraw(self, by: str, k: int | None = None) -> None:
        """Ask for new cells of one class or of all; `work` draws them."""
        if k is not None:
            self._class(k)
        with self._write() as connection:
            connection.execute(sa.insert(schema.requests).values(k=k, asked_by=by[:200], done=False))
            self._note(connection, by, "ask for a redraw", {"k": k})

    def work(self) -> bool:
        """One piece of work that is due: a first drawing, a redraw that was asked for, or one against drift."""
        return self._redraws.work()

    def reseal(self) -> int:
        """Seal everything that an older key sealed with the present one; returns how many rows that were."""
        done = 0
        while True:
            with self._write() as connection:
                some = self._reseal_some(connection)
            if not some:
                return done
            done += some

    # within a transaction

    @property
    def _redraws(self) -> Redraws:
        return Redraws(self.database, self.ring, self.policy, self._live)

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with self._live.write(self.database) as connection:
            yield connection

    def _class(self, k: int | None) -> int:
        chosen = self.policy.classes[0] if k is None else k
        if isinstance(chosen, bool) or chosen not in self.policy.classes:
            raise RefusedError(f"k must be one of {', '.join(map(str, self.policy.classes))}")
        return chosen

    def _device(self, connection: Connection, credential: str) -> Row:
        digest = digest_of(credential, DEVICE)
        row = connection.execute(_DEVICE, {"wanted": digest}).one_or_none()
        if row is None or not same(row.digest, digest):
            raise UnknownError
        return row

    def _count_device(self, connection: Connection, principal: int, by: int) -> None:
        connection.execute(_COUNT_DEVICE, {"wanted": principal, "by": by})

    def _arrive(self, connection: Connection, principal: int, k: int, place: tuple[float, float]) -> str:
        secret = new_secret(DEVICE)
        digest = digest_of(secret, DEVICE)
        values = {
            "principal_id": principal,
            "k": k,
            "digest": digest,
            "place": self.ring.place(*place, self.policy.place_digits),
            "key": self.ring.present,
            "sealed": homes.seal(self.ring, *place, digest),
        }
        key = connection.execute(sa.insert(devices), values).inserted_primary_key
        assert key is not None
        self._redraws.admit(connection, k, int(key[0]), homes.points(homes.row(place))[0])
        return secret

    def _leave(self, connection: Connection, row: Row) -> None:
        connection.execute(_FORGET_DEVICE, {"wanted": row.id})
        if row.atom_id is None:
            return
        connection.execute(_COUNT_LEFT, {"wanted": row.atom_id})
        cell = connection.execute(_CELL_OF_ATOM, {"wanted": row.atom_id}).scalar()
        if cell is None:
            return
        work = Cells(connection, self.ring, self.policy, self._live)
        work.changed(cell)
        if connection.execute(_ANY_IN_ATOM, {"wanted": row.atom_id}).first() is None:
            work.detach([row.atom_id])
        work.settle(row.k, cell)

    def _figures_of(self, connection: Connection, k: int) -> dict[str, Any]:
        in_class = sa.select(sa.func.count()).select_from(cells).where(cells.c.k == k, cells.c.retired.is_(None))
        unanswered = sa.select(sa.func.count(devices.c.principal_id.distinct())).select_from(
            devices.outerjoin(atoms)
        )
        waiting = connection.execute(unanswered.where(devices.c.k == k, atoms.c.cell_id.is_(None))).scalar_one()
        live = sa.exists().where(cells.c.region_id == regions.c.id, cells.c.retired.is_(None))
        looked = connection.execute(sa.select(regions).where(regions.c.k == k, live)).all()
        total = sum(row.devices for row in looked)
        return {
            "k": k,
            "cells": connection.execute(in_class).scalar_one(),
            "size": f"{k} or more",
            "waiting": "none" if not waiting else f"fewer than {k}" if waiting < k else f"{k} or more",
            "distortion_km": _mean(looked, "kilometres", total),
            "drift": _mean(looked, "drift", total),
            "short_atoms": connection.execute(short_atoms(k)).scalar_one(),
        }

    def _note(self, connection: Connection, actor: str, action: str, detail: dict[str, Any]) -> None:
        values = {"day": datetime.now(UTC).date(), "actor": actor[:200], "action": action}
        connection.execute(sa.insert(schema.audit).values(**values, detail=json.dumps(detail)))

    def _reseal_some(self, connection: Connection, most: int = 2000) -> int:
        done = 0
        for table, owner in ((devices, owner_of_device), (schema.batches, owner_of_batch)):
            old = sa.select(table).where(table.c.key != self.ring.present).limit(most)
            for row in connection.execute(old).all():
                content = self.ring.open(row.sealed, row.key, owner(row))
                values = {"key": self.ring.present, "sealed": self.ring.seal(content, owner(row))}
                connection.execute(sa.update(table).where(table.c.id == row.id).values(**values))
                done += 1
        return done


def class_row(policy: Policy, k: int) -> dict[str, int | bool]:
    """What the database knows of a class."""
    least = {"drawn_with": policy.drawn_with(k), "kept_with": policy.kept_with(k), "places": policy.places_of(k)}
    return {"k": k, "drawing": False, **least}


def short_atoms(k: int) -> Select:
    """How many atoms cancellations have brought below k principals."""
    live = (
        sa.select(sa.func.count(devices.c.principal_id.distinct()).label("live"))
        .where(devices.c.k == k, devices.c.atom_id.is_not(None))
        .group_by(devices.c.atom_id)
        .subquery()
    )
    return sa.select(sa.func.count()).select_from(live).where(live.c.live < k)


def owner_of_device(row: Row) -> str:
    """What the home of a device is bound to."""
    return homes.owner_of(row.digest)


def owner_of_batch(row: Row) -> str:
    """What the sum of a batch is bound to."""
    return sums.owner_of(row.id)


def _mean(rows: Any, name: str, total: int) -> float | None:
    """Of the regions, by their devices; two digits tell enough."""
    if not total:
        return None
    return float(f"{sum(getattr(row, name) * row.devices for row in rows) / total:.2g}")
