"""Devices written in bulk are like those that signed up."""

import pytest
import sqlalchemy as sa

from locations.filling import fill, towns
from shoal.locations import homes
from shoal.locations.keys import DEVICE, KeyRing, digest_of
from shoal.locations.policy import Policy
from shoal.locations.promises import check
from shoal.locations.schema import devices
from shoal.locations.service import Service


@pytest.fixture
def service(tmp_path):
    opened = Service.open(str(tmp_path / "service.db"), KeyRing.fresh(), Policy(classes=(3,), start=8))
    yield opened
    opened.close()


def test_a_device_of_the_bulk_has_the_columns_of_one_that_signed_up(service):
    places = towns(3)
    (secrets,) = fill(service, places[:2])
    secrets.append(service.sign_up(service.invite()[0], *places[2].tolist()))
    with service.database.read() as connection:
        rows = {bytes(row.digest): row for row in connection.execute(sa.select(devices))}
    assert len({row.principal_id for row in rows.values()}) == 3
    for secret, place in zip(secrets, places.tolist(), strict=True):
        row = rows[digest_of(secret, DEVICE)]
        assert row.place == service.ring.place(*place, service.policy.place_digits)
        assert homes.opened(service.ring, [(row.sealed, row.key, row.digest)]).tolist() == [
            homes.points(homes.row(tuple(place)))[0].tolist()
        ]
        assert (row.k, row.atom_id, row.batch_id, row.waits_for) == (3, None, None, None)


def test_the_bulk_is_drawn_answers_moves_and_leaves(service):
    secrets = [secret for some in fill(service, towns(60)) for secret in some]
    assert service.locate(secrets[0]) is None
    while service.work():
        pass
    assert all(service.locate(secret) is not None for secret in secrets)
    service.cancel(secrets.pop())
    secrets[0] = service.move(secrets[0], 45.0, 1.0)
    assert service.locate(secrets[0]) is not None
    assert all(finding.holds for finding in check(service.database))
