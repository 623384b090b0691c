import sqlite3
import threading

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from locations.town import town
from shoal.errors import ShoalError
from shoal.locations import database as rooms
from shoal.locations.database import HEAD, Database, engine_of, in_chunks
from shoal.locations.errors import BusyError
from shoal.locations.schema import cells, metadata, operators


def test_the_migrations_make_the_tables_of_the_schema(tmp_path):
    database = Database(str(tmp_path / "a.db"))
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    database.close()


def test_the_newest_migration_is_the_one_that_is_looked_for():
    assert ScriptDirectory(str(rooms.Path(rooms.__file__).parent / "migrations")).get_current_head() == HEAD


def test_a_database_is_opened_again_without_a_migration(tmp_path, monkeypatch):
    Database(str(tmp_path / "a.db")).close()
    monkeypatch.setattr(rooms.command, "upgrade", lambda *_: pytest.fail("it migrated"))
    Database(f"sqlite:///{tmp_path / 'a.db'}").close()


def test_a_write_holds_whole_or_not_at_all(tmp_path):
    database = Database(str(tmp_path / "a.db"))

    def half_a_write():
        with database.write() as connection:
            connection.execute(sa.insert(operators).values(name="a", digest=b"x" * 32))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half_a_write()
    with database.read() as connection:
        assert connection.execute(sa.select(operators)).all() == []
    database.close()


def test_reads_go_on_while_somebody_writes(tmp_path):
    database = Database(str(tmp_path / "a.db"))
    with database.write() as connection:
        connection.execute(sa.insert(operators).values(name="a", digest=b"x" * 32))
        with database.read() as other:
            assert other.execute(sa.select(operators)).all() == []
    database.close()


def test_a_write_that_waits_too_long_says_that_the_service_is_busy(tmp_path, monkeypatch):
    monkeypatch.setattr(rooms, "PATIENCE", 0.05)
    first, second = Database(str(tmp_path / "a.db")), Database(str(tmp_path / "a.db"))
    with first.write(), pytest.raises(BusyError, match="send the same request again"), second.write():
        pass
    first.close()
    second.close()


def test_writes_of_one_process_wait_for_each_other(tmp_path):
    database = Database(str(tmp_path / "a.db"))

    def add(number):
        with database.write() as connection:
            count = len(connection.execute(sa.select(operators)).all())
            connection.execute(sa.insert(operators).values(name=str(count), digest=number.to_bytes(32, "big")))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as connection:
        assert sorted(int(row.name) for row in connection.execute(sa.select(operators))) == list(range(12))
    database.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE cells SET latitude = 1",
        "UPDATE cells SET cost = 1",
        "DELETE FROM cells",
        "UPDATE batches SET homes = 9",
        "DELETE FROM batches",
    ],
)
def test_what_was_published_cannot_be_changed_by_anybody(tmp_path, statement):
    with town(tmp_path, 30), sqlite3.connect(tmp_path / "town.db") as connection:
        assert connection.execute("SELECT count(*) FROM cells").fetchone()[0] > 1
        with pytest.raises(sqlite3.IntegrityError, match="never"):
            connection.execute(statement)


def test_a_database_of_another_kind_or_nowhere_is_refused(tmp_path):
    for url, words in [
        ("mysql://a/b", "is no database that a service can use|cannot open"),
        ("sqlite://", "needs a file"),
        ("://", "must be a file or a URL"),
        (str(tmp_path / "no" / "where.db"), "cannot open .*unable to open"),
    ]:
        with pytest.raises(ShoalError, match=words):
            Database(url)


def test_a_password_is_not_shown():
    engine = engine_of("postgresql://me:secret@127.0.0.1:1/none")
    assert "secret" not in engine.url.render_as_string(hide_password=True)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "a.db").write_text("certainly not a database, but a text of some length " * 10)
    with pytest.raises(ShoalError, match="cannot open .*not a database"):
        Database(str(tmp_path / "a.db"))


def test_many_parameters_go_some_at_a_time(monkeypatch):
    monkeypatch.setattr(rooms, "_PARAMETERS", 2)
    assert [list(some) for some in in_chunks([1, 2, 3])] == [[1, 2], [3]]


def test_cells_have_all_columns_that_a_look_up_needs():
    assert {"latitude", "longitude", "retired"} <= set(cells.c.keys())
