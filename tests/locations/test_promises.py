"""Each query finds the breach that it is there for: a database is changed by hand, past the service."""

import sqlite3

import pytest

from locations.town import town
from shoal.locations.promises import PROMISES, check

BREACHES = {
    "k at every moment": ["DELETE FROM devices WHERE id > 3"],
    "no differencing": [
        "DROP TRIGGER batches_are_frozen; UPDATE batches SET homes = 4 WHERE id = 1",
        "UPDATE batches SET split = 1 WHERE id = 1",
        "DROP TRIGGER batches_are_frozen; UPDATE batches SET k = 6 WHERE id = 1",
        "UPDATE cell_batches SET weight = 0",
    ],
    "reciprocity": [
        "UPDATE devices SET k = 6 WHERE id = 1",
        "UPDATE cells SET retired = 99 WHERE id = 1",
        "UPDATE atoms SET k = 6 WHERE id = 1",
    ],
    "history": [
        "UPDATE atoms SET formed = 4 WHERE id = 1",
        "DELETE FROM devices WHERE atom_id = 1 AND id <> (SELECT min(id) FROM devices WHERE atom_id = 1)",
        "UPDATE atoms SET cell_id = 2 WHERE id = 1",
        "UPDATE atoms SET parent_id = 2 WHERE id = 1",
        "UPDATE devices SET atom_id = 2 WHERE id = (SELECT min(id) FROM devices WHERE atom_id = 1)",
    ],
    "slack": [
        "DROP TRIGGER cells_are_frozen; UPDATE cells SET drawn = 5 WHERE id = 1",
        "DELETE FROM devices WHERE atom_id = 1 AND id NOT IN (SELECT id FROM devices WHERE atom_id = 1 LIMIT 5)",
    ],
    "places": ["UPDATE devices SET place = zeroblob(16) WHERE atom_id = 1"],
    "nothing before k": [
        "DELETE FROM devices WHERE id > 4",
        "DROP TRIGGER cells_are_frozen; UPDATE cells SET drawn = 4 WHERE id = 1",
    ],
}


def test_there_are_seven_promises_and_all_hold_for_a_service_as_it_is(tmp_path):
    with town(tmp_path, 40) as (service, _):
        found = check(service.database)
    assert [finding.promise.name for finding in found] == list(BREACHES) == [each.name for each in PROMISES]
    assert all(finding.holds for finding in found)
    assert all(": holds. " in finding.sentence for finding in found)


@pytest.mark.parametrize(("name", "breach"), [(name, each) for name, some in BREACHES.items() for each in some])
def test_a_breach_is_found_by_the_query_of_its_promise(tmp_path, name, breach):
    with town(tmp_path, 40) as (service, _):
        with sqlite3.connect(tmp_path / "town.db") as connection:
            connection.execute("PRAGMA foreign_keys=OFF")
            connection.executescript(breach)
        (finding,) = [finding for finding in check(service.database) if finding.promise.name == name]
        assert finding.broken
        assert not finding.holds
        assert f"BROKEN by {len(finding.broken)} rows" in finding.sentence


def test_a_cell_that_is_no_cell_of_a_child_breaks_the_history(tmp_path):
    with town(tmp_path, 40) as (service, _):
        with sqlite3.connect(tmp_path / "town.db") as connection:
            connection.executescript("UPDATE atom_cells SET cell_id = 1 WHERE atom_id = 2")
        broken = {finding.promise.name for finding in check(service.database) if not finding.holds}
        assert broken == {"history"}


def test_a_promise_that_is_switched_off_is_said_to_be(tmp_path):
    with town(tmp_path, 40, history=False) as (service, _):
        found = {finding.promise.name: finding for finding in check(service.database)}
    assert not found["history"].on
    assert found["history"].sentence == "history: switched off by the operator of this service"
    assert all(finding.holds for name, finding in found.items() if name != "history")
