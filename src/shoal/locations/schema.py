"""The tables of a service, for SQLite and PostgreSQL alike.

A look-up is one way: device, atom, cell, centroid. A move of many devices changes the rows of their atoms alone.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Number = BigInteger().with_variant(Integer(), "sqlite")  # SQLite numbers its rows by integers alone

service = Table(
    "service",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("policy", Text, nullable=False),
    Column("change", BigInteger, nullable=False),  # one more whenever cells are made or retired
)
classes = Table(
    "classes",
    metadata,
    Column("k", Integer, primary_key=True, autoincrement=False),
    Column("drawn_with", Integer, nullable=False),  # the least principals of a cell when it is drawn
    Column("kept_with", Integer, nullable=False),  # the least with which it goes on beside others
    Column("places", Integer, nullable=False),  # the least distinct places
    Column("drawing", Boolean, nullable=False),  # a first drawing is under way: newcomers wait
)
principals = Table(
    "principals",
    metadata,
    Column("id", Number, primary_key=True),
    Column("invitation", LargeBinary(32), nullable=False, unique=True),
    Column("devices_left", Integer, nullable=False),
)
operators = Table(
    "operators",
    metadata,
    Column("id", Number, primary_key=True),
    Column("name", String(200), nullable=False),
    Column("digest", LargeBinary(32), nullable=False, unique=True),
)
regions = Table(
    "regions",
    metadata,
    Column("id", Number, primary_key=True),
    Column("k", Integer, nullable=False),
    Column("devices", Integer, nullable=False),  # at the last drawing
    Column("loss", Float, nullable=False),  # mean squared chord at the last drawing
    Column("kilometres", Float, nullable=False),  # mean distance to the centroid at the last look
    Column("drift", Float, nullable=False),  # at the last look
    Column("changes", Integer, nullable=False),  # arrivals and cancellations since the last drawing
    Column("looked", Integer, nullable=False),  # the changes at the last look
)
cells = Table(
    "cells",
    metadata,
    Column("id", Number, primary_key=True),
    Column("k", Integer, nullable=False),
    Column("latitude", Float, nullable=False),
    Column("longitude", Float, nullable=False),
    Column("cost", Float, nullable=False),
    Column("region_id", ForeignKey("regions.id"), nullable=False, index=True),
    Column("drawn", Integer, nullable=False),  # principals when it was drawn
    Column("made", BigInteger, nullable=False, index=True),  # the change that made it
    Column("retired", BigInteger, index=True),  # the change that retired it, if any
)
atoms = Table(
    "atoms",
    metadata,
    Column("id", Number, primary_key=True),
    Column("k", Integer, nullable=False),
    Column("cell_id", ForeignKey("cells.id"), index=True),
    Column("parent_id", ForeignKey("atoms.id"), index=True),
    Column("formed", Integer, nullable=False),  # principals when it was formed
    Column("left", Integer, nullable=False),  # cancellations since
)
atom_cells = Table(
    "atom_cells",
    metadata,
    Column("atom_id", ForeignKey("atoms.id"), primary_key=True),
    Column("step", Integer, primary_key=True, autoincrement=False),
    Column("cell_id", ForeignKey("cells.id"), nullable=False),
)
batches = Table(
    "batches",
    metadata,
    Column("id", Number, primary_key=True),
    Column("k", Integer, nullable=False),
    Column("homes", Integer, nullable=False),  # principals when it was formed
    Column("parent_id", ForeignKey("batches.id"), index=True),
    Column("split", Boolean, nullable=False),  # its parts are in sums in its place
    Column("key", Integer, nullable=False),
    Column("sealed", LargeBinary, nullable=False),  # the mean of its homes and their number
)
cell_batches = Table(
    "cell_batches",
    metadata,
    Column("cell_id", ForeignKey("cells.id"), primary_key=True),
    Column("batch_id", ForeignKey("batches.id"), primary_key=True),
    Column("weight", Integer, nullable=False),
)
devices = Table(
    "devices",
    metadata,
    Column("id", Number, primary_key=True),
    Column("principal_id", ForeignKey("principals.id"), nullable=False, index=True),
    Column("k", Integer, nullable=False),
    Column("digest", LargeBinary(32), nullable=False, unique=True),
    Column("place", LargeBinary(16), nullable=False),
    Column("key", Integer, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("atom_id", ForeignKey("atoms.id"), index=True),
    Column("batch_id", ForeignKey("batches.id"), index=True),
    Column("waits_for", ForeignKey("cells.id"), index=True),
    sqlite_autoincrement=True,  # the number of a device that is gone is not given to another
)
requests = Table(
    "requests",
    metadata,
    Column("id", Number, primary_key=True),
    Column("k", Integer),  # none: every class
    Column("asked_by", String(200), nullable=False),
    Column("done", Boolean, nullable=False),
)
audit = Table(
    "audit",
    metadata,
    Column("id", Number, primary_key=True),
    Column("day", Date, nullable=False),
    Column("actor", String(200), nullable=False),
    Column("action", String(50), nullable=False),
    Column("detail", Text, nullable=False),
)
