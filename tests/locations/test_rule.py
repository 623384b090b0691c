"""The live cells in memory, and which one a newcomer gets."""

import numpy as np
import pytest
import sqlalchemy as sa

from locations.filling import fill, towns
from shoal.locations.homes import points
from shoal.locations.keys import KeyRing
from shoal.locations.policy import Policy
from shoal.locations.rule import ClassCells, LiveCells
from shoal.locations.schema import cells
from shoal.locations.service import Service


def filled(random, count, spread):
    """Cells on a small part of the sphere, some of them dropped, some at one place."""
    places = random.normal(50, spread, (count, 2))
    places[count // 2 :] = places[: count - count // 2]
    found = ClassCells()
    for number, (place, cost) in enumerate(
        zip(points(places), random.normal(0, spread**2 / 1e4, count), strict=True)
    ):
        found.add(number + 1, place, round(float(cost), 12))
    for number in range(1, count, 3):
        found.drop(number)
    return found


@pytest.mark.parametrize("spread", [1e-4, 0.01, 1.0, 20.0])
def test_the_cheapest_and_the_nearest_are_those_of_a_plain_loop(spread):
    random = np.random.default_rng(7)
    for count in (2, 5, 200):
        some = filled(random, count, spread)
        for home in points(random.normal(50, spread, (20, 2))):
            paid = {
                cell: np.square(some.centres[row] - home).sum() + some.costs[row]
                for cell, row in some.rows.items()
            }
            assert some.cheapest(home) == min(paid, key=lambda cell: (paid[cell], some.rows[cell]))
        for cell, row in some.rows.items():
            away = {
                o: np.square(some.centres[r] - some.centres[row]).sum() for o, r in some.rows.items() if o != cell
            }
            expected = min(away, key=lambda other: (away[other], some.rows[other])) if away else None
            assert some.nearest(cell) == expected


def test_there_is_no_cell_for_a_newcomer_where_none_is_live():
    assert ClassCells().cheapest(np.array([1.0, 0.0, 0.0])) is None


@pytest.fixture
def service(tmp_path):
    opened = Service.open(str(tmp_path / "service.db"), KeyRing.fresh(), Policy(classes=(3,), start=8))
    for _ in fill(opened, towns(200)):
        pass
    while opened.work():
        pass
    yield opened
    opened.close()


def in_the_database(connection):
    """The live cells as the tables have them."""
    return set(connection.execute(sa.select(cells.c.id).where(cells.c.retired.is_(None))).scalars())


def retire_all_and_fail(live, service):
    """A write that sees its own changes and is undone."""
    with live.write(service.database) as connection:
        connection.execute(sa.text("UPDATE cells SET retired = 10000"))
        connection.execute(sa.text("UPDATE service SET change = 10000"))
        live.refresh(connection)
        assert not live.of(3).rows
        raise RuntimeError


def test_what_a_failed_write_saw_is_forgotten(service):
    live = LiveCells()
    with service.database.read() as connection:
        live.refresh(connection)
    with pytest.raises(RuntimeError):
        retire_all_and_fail(live, service)
    with service.database.read() as connection:
        live.refresh(connection)
        assert set(live.of(3).rows) == in_the_database(connection)


def test_a_write_that_fails_before_it_saw_a_change_leaves_the_cells_in_memory(service):
    live = LiveCells()
    with service.database.read() as connection:
        live.refresh(connection)
    seen = live.seen
    with pytest.raises(RuntimeError), live.write(service.database):
        raise RuntimeError
    assert live.seen == seen
    assert live.of(3).rows


def test_cells_that_another_process_makes_and_retires_are_seen(service):
    live = LiveCells()
    with service.database.read() as connection:
        live.refresh(connection)
    for invitation, place in zip(service.invite(60), towns(60, seed=3).tolist(), strict=True):
        service.cancel(service.sign_up(invitation, *place))
    service.ask_redraw("test")
    while service.work():
        pass
    with service.database.read() as connection:
        live.refresh(connection)
        assert set(live.of(3).rows) == in_the_database(connection)
