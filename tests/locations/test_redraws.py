"""What happens between the picture that a drawing was computed on and the moment it is put into force."""

import numpy as np
import pytest
import sqlalchemy as sa

from locations.town import RING, homes, settle, town
from shoal.locations import redraws
from shoal.locations.promises import check
from shoal.locations.redraws import Redraws, members_by
from shoal.locations.schema import atoms, devices, regions, requests


def all_hold(service):
    return all(finding.holds for finding in check(service.database))


@pytest.fixture
def grown(tmp_path):
    """A service whose region has much to redraw: it was drawn with 12 devices, and has 48."""
    with town(tmp_path, 12, start=2) as (service, credentials):
        credentials += settle(service, homes(36, latitude=51.005))
        yield service, credentials


def meanwhile(monkeypatch, what):
    """Something happens once, after a drawing was computed and before it is put into force."""
    planned, done = Redraws._planned, []

    def interrupted(self, picture, seed):
        plan = planned(self, picture, seed)
        if not done:
            done.append(what())
        return plan

    monkeypatch.setattr(Redraws, "_planned", interrupted)
    return done


def region_of(service):
    with service.database.read() as connection:
        return connection.execute(sa.select(regions.c.id)).scalars().first()


def test_a_redraw_goes_on_with_those_who_are_still_there(grown, monkeypatch):
    service, credentials = grown
    happened = meanwhile(monkeypatch, lambda: [service.cancel(credential) for credential in credentials[:9]])
    assert service._redraws.redraw(region_of(service))
    assert happened
    assert all_hold(service)


def test_newcomers_meanwhile_go_with_their_atom_to_its_nearest_part(grown, monkeypatch):
    service, _ = grown
    newcomers = []
    meanwhile(monkeypatch, lambda: newcomers.extend(settle(service, [homes(36)[0], homes(36)[-1]])))
    assert service._redraws.redraw(region_of(service))
    assert service.locate(newcomers[0]) != service.locate(newcomers[1])
    assert all_hold(service)


def test_a_merge_meanwhile_makes_the_redraw_begin_anew(tmp_path, monkeypatch):
    with town(tmp_path, 36) as (service, credentials):
        together = [c for c in credentials if service.locate(c) == service.locate(credentials[0])]
        tries = []
        planned = Redraws._planned
        monkeypatch.setattr(Redraws, "_planned", lambda *args: tries.append(1) or planned(*args))
        meanwhile(monkeypatch, lambda: [service.cancel(credential) for credential in together[:3]])
        service._redraws.redraw(region_of(service))
        assert len(tries) == 2
        assert all_hold(service)


def test_a_region_that_never_stands_still_is_left_for_later(tmp_path, monkeypatch):
    with town(tmp_path, 36) as (service, _):
        monkeypatch.setattr(Redraws, "_put", lambda *_: None)
        assert not service._redraws.redraw(region_of(service))
        assert all_hold(service)


def test_a_first_drawing_that_was_stopped_is_finished_later(tmp_path, monkeypatch):
    with town(tmp_path, 120, drawn=False, region=24) as (service, credentials):
        put, calls = Redraws._put_first, []

        def stopped(self, *args):
            calls.append(1)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return put(self, *args)

        monkeypatch.setattr(Redraws, "_put_first", stopped)
        with pytest.raises(KeyboardInterrupt):
            service.work()
        answered = [credential for credential in credentials if service.locate(credential)]
        assert 0 < len(answered) < 120
        assert all_hold(service)
        (newcomer,) = settle(service, [homes(120)[0]])
        assert service.locate(newcomer) is None
        while service.work():
            pass
        assert all(service.locate(credential) for credential in [*credentials, newcomer])
        assert all_hold(service)


def test_those_who_leave_during_a_first_drawing_are_not_drawn(tmp_path, monkeypatch):
    with town(tmp_path, 36, drawn=False) as (service, credentials):
        draw = redraws.drawing.draw

        def leaving(*args, **options):
            found = draw(*args, **options)
            for credential in credentials[:10]:
                service.cancel(credential)
            return found

        monkeypatch.setattr(redraws.drawing, "draw", leaving)
        while service.work():
            monkeypatch.setattr(redraws.drawing, "draw", draw)
        assert all(service.locate(credential) for credential in credentials[10:])
        assert all_hold(service)


def test_a_region_of_which_enough_has_changed_is_looked_at_and_drawn_anew(tmp_path):
    with town(tmp_path, 36, drift=0.01) as (service, _):
        before = {cell.id for cell in service.cells()}
        settle(service, homes(60, latitude=51.003, step=0.004))
        while service.work():
            pass
        assert {cell.id for cell in service.cells()} != before
        assert len(service.cells()) > len(before)
        assert all_hold(service)


def test_little_drift_is_left_alone(tmp_path):
    with town(tmp_path, 36, drift=100) as (service, _):
        before = service.cells()
        settle(service, homes(30, latitude=51.003))
        assert service.work()
        assert not service.work()
        assert service.cells() == before


def test_a_region_that_has_grown_too_large_becomes_two(tmp_path):
    with town(tmp_path, 24, region=24, start=2) as (service, _):
        settle(service, homes(100, latitude=51.003, step=0.004))
        service.ask_redraw("test")
        while service.work():
            pass
        assert len({cell.region for cell in service.cells()}) == 2
        with service.database.read() as connection:
            assert min(connection.execute(sa.select(regions.c.devices)).scalars()) > 0
        assert all_hold(service)


def test_newcomers_that_wait_for_a_cell_wait_for_its_successor(tmp_path):
    with town(tmp_path, 12, start=2, admission="cohort") as (service, _):
        settle(service, homes(30, latitude=51.005))
        waiting = settle(service, [homes(30)[0]] * 3)
        service.ask_redraw("test")
        while service.work():
            pass
        with service.database.read() as connection:
            waits = sa.select(devices.c.waits_for).where(devices.c.waits_for.is_not(None))
            live = {cell.id for cell in service.cells()}
            assert set(connection.execute(waits).scalars()) <= live
        waiting += settle(service, [homes(30)[0]] * 4)
        assert all(service.locate(credential) for credential in waiting[:3])
        assert all_hold(service)


def test_a_request_for_a_redraw_is_done_once(tmp_path):
    with town(tmp_path, 36, classes=(5, 10)) as (service, _):
        service.ask_redraw("test", 10)
        assert service.work()
        assert not service.work()
        with service.database.read() as connection:
            assert connection.execute(sa.select(requests.c.done)).scalars().all() == [True]


def test_an_atom_without_devices_is_in_no_cell(tmp_path):
    with town(tmp_path, 36) as (service, credentials):
        together = [c for c in credentials if service.locate(c) == service.locate(credentials[0])]
        for credential in together:
            service.cancel(credential)
        with service.database.read() as connection:
            held = sa.select(devices.c.id).where(devices.c.atom_id == atoms.c.id).exists()
            assert connection.execute(sa.select(atoms).where(~held, atoms.c.cell_id.is_not(None))).all() == []


def test_with_history_off_devices_move_freely_and_their_atoms_are_still_known(tmp_path):
    with town(tmp_path, 36, history=False, start=2) as (service, _):
        settle(service, homes(49, latitude=51.003, step=0.007))
        service.ask_redraw("test")
        while service.work():
            pass
        assert service.figures()["classes"][0]["short_atoms"] > 0
        assert all(finding.holds for finding in check(service.database) if finding.on)


def test_rows_are_found_by_their_label():
    assert [(n, rows.tolist()) for n, rows in members_by(np.array([2, 0, 2]))] == [(0, [1]), (2, [0, 2])]
    assert RING.present == 1
