import numpy as np
import pytest
import sqlalchemy as sa

from locations.town import RING, homes, settle, town
from shoal.locations.homes import points
from shoal.locations.members import Member, members_among, members_of
from shoal.locations.schema import batches, devices
from shoal.locations.sums import Sums


@pytest.fixture
def sums(tmp_path):
    """Twenty devices that are in no sum yet, of k = 3."""
    with town(tmp_path, drawn=False, classes=(3,), start=100) as (service, _):
        settle(service, homes(20))
        with service.database.write() as connection:
            members = members_among(connection, range(1, 21))
            yield Sums(connection, RING), members


def mean_of(numbers):
    return points(np.array([homes(20)[number - 1] for number in numbers])).mean(axis=0)


def batch_rows(sums):
    return {row.id: row for row in sums.connection.execute(sa.select(batches))}


def test_homes_enter_together_or_not_at_all(sums):
    sums, members = sums
    assert sums.enter(3, members[:2]) == members[:2]
    assert batch_rows(sums) == {}
    entered = sums.enter(3, members[:3])
    assert {member.batch_id for member in entered} == {1}
    assert np.allclose(sums.read([1])[1].mean, mean_of([1, 2, 3]))
    assert (sums.read([1])[1].devices, sums.read([1])[1].homes) == (3, 3)
    assert sums.enter(3, [*entered, *members[3:5]]) == [*entered, *members[3:5]]


def test_devices_of_one_principal_are_one(sums):
    sums, members = sums
    same = [member._replace(principal_id=1) for member in members[:5]]
    assert sums.enter(3, same) == same


def test_a_batch_is_split_into_parts_of_k(sums):
    sums, members = sums
    entered = sums.enter(3, members[:8])
    after = sums.split(3, entered, {number: 0 if number <= 4 else 1 for number in range(1, 9)})
    assert {member.id: member.batch_id for member in after} == dict.fromkeys(range(1, 5), 2) | dict.fromkeys(
        range(5, 9), 3
    )
    assert [row.split for row in batch_rows(sums).values()] == [True, False, False]
    assert np.allclose(sums.read([2])[2].mean, mean_of([1, 2, 3, 4]))
    assert np.allclose(sums.read([3])[3].mean, mean_of([5, 6, 7, 8]))


def test_members_in_cells_that_are_not_looked_at_belong_to_what_is_left(sums):
    sums, members = sums
    entered = sums.enter(3, members[:9])
    sums.split(3, entered[:6], {number: 0 if number <= 3 else 1 for number in range(1, 7)})
    now = {member.id: member.batch_id for member in members_among(sums.connection, range(1, 10))}
    assert {now[7], now[8], now[9]} == {max(now.values())}
    assert len(set(now.values())) == 3
    assert not [row for row in batch_rows(sums).values() if row.split and row.id in now.values()]
    assert np.allclose(sums.read([now[9]])[now[9]].mean, mean_of([7, 8, 9]))


def test_a_batch_is_not_split_where_a_part_would_be_too_small(sums):
    sums, members = sums
    entered = sums.enter(3, members[:5])
    assert sums.split(3, entered, {1: 0, 2: 0, 3: 0, 4: 1, 5: 1}) == entered
    assert len(batch_rows(sums)) == 1


def test_homes_of_who_is_gone_stay_in_the_sum_of_one_part(sums):
    sums, members = sums
    entered = sums.enter(3, members[:8])
    sums.connection.execute(sa.delete(devices).where(devices.c.id.in_([1, 2])))
    live = entered[2:]
    after = sums.split(3, live, {3: 0, 4: 0, 5: 0, 6: 1, 7: 1, 8: 1})
    assert len({member.batch_id for member in after}) == 2
    found = sums.read([2, 3])
    counts = {batch: each.devices for batch, each in found.items()}
    assert sorted(counts.values()) == [3, 5]
    (whole,) = [batch for batch, count in counts.items() if count == 5]
    theirs = [member.id for member in after if member.batch_id == whole]
    assert np.allclose(found[whole].mean, mean_of([1, 2, *theirs]))


def test_a_part_of_k_leaves_only_if_what_is_left_has_k_too(sums):
    sums, members = sums
    entered = sums.enter(3, members[:6])
    sums.connection.execute(sa.delete(devices).where(devices.c.id == 6))
    live = entered[:5]
    assert sums.split(3, live, {1: 0, 2: 0, 3: 0, 4: 1, 5: 1}) != live  # 4, 5 and who is gone are three
    sums.connection.execute(sa.delete(devices).where(devices.c.id == 5))
    again = members_among(sums.connection, [1, 2, 3, 4])
    assert sums.split(3, again, {1: 0, 2: 1, 3: 2, 4: 3}) == again


def test_a_centroid_is_that_of_batches_at_home(sums):
    sums, members = sums
    first, second = sums.enter(3, members[:4]), sums.enter(3, members[4:8])
    place, weights = sums.centres([[*first, second[0]]], 6)[0]
    assert weights == {1: 4}
    x, y, z = mean_of([1, 2, 3, 4])
    assert place == pytest.approx(
        (np.rad2deg(np.arctan2(z, np.hypot(x, y))), np.rad2deg(np.arctan2(y, x))), abs=1e-6
    )
    _, weights = sums.centres([[*first[:2], *second[:3]]], 6)[0]
    assert weights == {1: 2, 2: 3}
    assert sums.centres([members[10:]], 6) == [(None, {})]


def test_a_member_has_the_columns_of_its_row(tmp_path):
    with town(tmp_path, 12) as (service, _), service.database.read() as connection:
        (cell,) = {member.cell_id for member in members_among(connection, range(1, 7))}
        found = members_of(connection, [cell])
    assert [member.id for member in found[:6]] == [1, 2, 3, 4, 5, 6]
    assert set(Member._fields) - {"cell_id"} <= set(devices.c.keys())
