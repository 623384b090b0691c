import numpy as np
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from locations.town import homes, town
from shoal.locations.homes import points, row
from shoal.locations.rule import ClassCells, LiveCells
from shoal.locations.schema import cells, service

ACTS = st.lists(st.one_of(st.just("drop"), st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 2))))


def unit(x, y):
    vector = np.array([1.0, x / 4, y / 4])
    return vector / np.sqrt((vector**2).sum())


@settings(max_examples=200)
@given(ACTS, st.integers(-3, 3), st.integers(-3, 3))
def test_the_rule_is_that_of_a_plain_list(acts, x, y):
    held, plain = ClassCells(), {}
    for number, act in enumerate(acts * 30, start=1):
        if act == "drop":
            if plain:
                gone = min(plain)
                del plain[gone]
                held.drop(gone)
        else:
            plain[number] = unit(*act[:2]), float(act[2])
            held.add(number, *plain[number])
    home = unit(x, y)
    paid = {cell: float(np.square(centre - home).sum() + cost) for cell, (centre, cost) in plain.items()}
    assert held.cheapest(home) == (min(paid, key=lambda cell: (paid[cell], cell)) if paid else None)
    if plain:
        first = max(plain)
        apart = {c: float(np.square(p[0] - plain[first][0]).sum()) for c, p in plain.items() if c != first}
        expected = min(apart, key=lambda cell: (apart[cell], cell)) if apart else None
        assert held.nearest(first) == expected


def test_only_what_changed_is_read_again(tmp_path):
    with town(tmp_path, 60) as (service_, _):
        live = LiveCells()
        with service_.database.read() as connection:
            change = live.refresh(connection)
            before = set(live.of(5).rows)
        assert change == live.seen
        assert before == {cell.id for cell in service_.cells()}
        with service_.database.write() as connection:
            gone = min(before)
            connection.execute(sa.update(service).values(change=change + 1))
            connection.execute(sa.update(cells).where(cells.c.id == gone).values(retired=change + 1))
            live.refresh(connection)
            assert set(live.of(5).rows) == before - {gone}
            connection.rollback()
        live.forget()
        with service_.database.read() as connection:
            live.refresh(connection)
        assert set(live.of(5).rows) == before


def test_a_newcomer_goes_where_distance_and_cost_are_least(tmp_path):
    with town(tmp_path, 60) as (service_, _):
        live = LiveCells()
        with service_.database.read() as connection:
            live.refresh(connection)
        shown = service_.cells()
        for home in homes(60):
            away = [
                float(np.square(points(row((c.latitude, c.longitude)))[0] - points(row(home))[0]).sum()) + c.cost
                for c in shown
            ]
            assert live.of(5).cheapest(points(row(home))[0]) == shown[int(np.argmin(away))].id
