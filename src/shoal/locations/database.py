"""The database of a service: SQLite in a file, or PostgreSQL by its URL. Writes come one after the other.

A write begins by taking a lock, in SQLite that of the file, in PostgreSQL an advisory one; so whatever a write
reads stays true until it is committed, in one process or in several. Reads see one moment and wait for nobody.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from shoal.errors import ShoalError
from shoal.locations.errors import BusyError

HEAD = "0001"
"""The newest migration."""

PATIENCE = 10
"""Seconds that a write waits for others before it is given up."""

_POOL = 8
_LOCK = 5343  # any number, as long as all who write to the database agree
_PARAMETERS = 10_000  # of one statement: SQLite takes 32 766

Item = TypeVar("Item")
Row = sa.Row[*tuple[Any, ...]]
Select = sa.Select[*tuple[Any, ...]]


class Database:
    """A database with the tables of a service, brought up to date when it is opened."""

    def __init__(self, url: str) -> None:
        self.engine = engine_of(url)
        self.name = self.engine.url.render_as_string(hide_password=True)
        self.turn = threading.RLock()
        try:
            self._migrate()
        except SQLAlchemyError as error:
            self.engine.dispose()
            raise ShoalError(f"cannot open {self.name}: {reason_of(error)}") from error

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees one moment."""
        with self._translated(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A connection whose changes are committed at the end of the block, or not at all."""
        with self.turn, self._translated(), self._alone() as connection:
            yield connection

    @contextmanager
    def _alone(self) -> Iterator[Connection]:
        """A connection while nobody else writes."""
        options: dict[str, Any] = {"shoal_writes": True}
        if self._is_postgresql:
            options["isolation_level"] = "READ COMMITTED"  # what is read follows the lock, not what came before it
        with self.engine.connect().execution_options(**options) as connection, connection.begin():
            if self._is_postgresql:
                connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            yield connection

    @property
    def _is_postgresql(self) -> bool:
        return self.engine.dialect.name == "postgresql"

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OperationalError as error:
            if is_busy(error):
                raise BusyError from error
            raise

    def _migrate(self) -> None:
        with self._alone() as connection:  # two that open it at once migrate one after the other
            if sa.inspect(connection).has_table("alembic_version"):
                version = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
                if version == HEAD:
                    return
            config = Config()
            config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def in_chunks(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Some items at a time, as many as a statement may have parameters."""
    for start in range(0, len(items), _PARAMETERS):
        yield items[start : start + _PARAMETERS]


def engine_of(url: str) -> Engine:
    """An engine for a URL, or for the path of a SQLite file."""
    whole = url if "://" in url else f"sqlite:///{url}"
    if whole.startswith(("postgresql://", "postgres://")):
        whole = "postgresql+psycopg://" + whole.split("://", 1)[1]
    try:
        parsed = sa.make_url(whole)
    except SQLAlchemyError as error:
        raise ShoalError("the database must be a file or a URL such as postgresql://user@host/name") from error
    if parsed.get_backend_name() == "sqlite":
        return sqlite_engine(parsed)
    if parsed.get_backend_name() == "postgresql":
        arguments = {"options": f"-c lock_timeout={PATIENCE * 1000}"}
        return sa.create_engine(
            parsed,
            isolation_level="REPEATABLE READ",
            pool_size=_POOL,
            connect_args=arguments,
            pool_pre_ping=True,
            hide_parameters=True,  # an error could be logged, and parameters are credentials and homes
        )
    raise ShoalError(
        f"{parsed.get_backend_name()} is no database that a service can use; use SQLite or PostgreSQL"
    )


def sqlite_engine(url: sa.URL) -> Engine:
    """An engine whose transactions begin and end where ours do, and survive a crash of the machine."""
    if url.database in (None, "", ":memory:"):
        raise ShoalError("a service needs a file: its workers could not see a database in memory")
    engine = sa.create_engine(
        url, connect_args={"timeout": PATIENCE}, pool_size=_POOL, max_overflow=64, hide_parameters=True
    )

    @sa.event.listens_for(engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # the driver begins nothing by itself
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        writes = connection.get_execution_options().get("shoal_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def is_busy(error: DBAPIError) -> bool:
    """Whether somebody else held the lock for too long."""
    return "locked" in str(error.orig) or "lock timeout" in str(error.orig)


def reason_of(error: SQLAlchemyError) -> str:
    """The driver's own words, in one line."""
    return " ".join(str(getattr(error, "orig", None) or error).split())
