import sqlite3
import threading

import pytest

from locations.town import RING, homes, settle, town
from shoal.errors import ShoalError
from shoal.locations.errors import RefusedError, UnknownError
from shoal.locations.policy import Policy
from shoal.locations.promises import check
from shoal.locations.service import Centroid, Service


def all_hold(service):
    return all(finding.holds for finding in check(service.database))


def table(folder, query):
    with sqlite3.connect(folder / "town.db") as connection:
        return connection.execute(query).fetchall()


def test_everybody_of_a_cell_gets_its_centroid_and_it_is_near(tmp_path):
    with town(tmp_path, 36) as (service, credentials):
        answers = [service.locate(credential) for credential in credentials]
        assert len(set(answers)) > 1
        assert all(answers.count(answer) >= 6 for answer in answers)
        assert all(
            abs(answer.latitude - home[0]) < 0.06 and abs(answer.longitude - home[1]) < 0.06
            for answer, home in zip(answers, homes(36), strict=True)
        )
        assert answers[0].k == 5
        assert all_hold(service)


def test_nothing_is_told_before_enough_have_signed_up(tmp_path):
    with town(tmp_path, 11) as (service, credentials):
        assert {service.locate(credential) for credential in credentials} == {None}
        credentials += settle(service, [(51.5, -1.0)])
        while service.work():
            pass
        assert None not in {service.locate(credential) for credential in credentials}


def test_a_newcomer_gets_the_cell_it_is_in_at_once(tmp_path):
    with town(tmp_path, 36) as (service, credentials):
        (newcomer,) = settle(service, [homes(36)[0]])
        assert service.locate(newcomer) == service.locate(credentials[0])
        assert all_hold(service)


def test_newcomers_in_cohorts_wait_until_k_have_come(tmp_path):
    with town(tmp_path, 36, admission="cohort") as (service, credentials):
        newcomers = settle(service, [homes(36)[0]] * 4)
        assert {service.locate(newcomer) for newcomer in newcomers} == {None}
        newcomers += settle(service, [homes(36)[0]])
        assert {service.locate(newcomer) for newcomer in newcomers} == {service.locate(credentials[0])}
        assert all_hold(service)


def test_a_centroid_does_not_change_when_somebody_comes_or_goes(tmp_path):
    with town(tmp_path, 36, slack=3) as (service, credentials):
        before = service.locate(credentials[0])
        newcomers = settle(service, [homes(36)[0], homes(36)[1]])
        service.cancel(newcomers[0])
        assert service.locate(credentials[0]) == before


def test_a_cell_is_merged_before_fewer_than_k_share_it(tmp_path):
    with town(tmp_path, 36) as (service, credentials):
        cells = len(service.cells())
        for credential in credentials[:-6]:
            service.cancel(credential)
            assert all_hold(service)
        assert len(service.cells()) == 1 < cells
        assert service.locate(credentials[-1]) is not None
        for credential in credentials[-6:-4]:
            service.cancel(credential)
        assert service.cells() == []
        assert service.locate(credentials[-1]) is None
        assert all_hold(service)


def test_a_class_that_was_withdrawn_is_drawn_again_when_enough_are_there(tmp_path):
    with town(tmp_path, 12) as (service, credentials):
        for credential in credentials[:8]:
            service.cancel(credential)
        assert service.locate(credentials[-1]) is None
        newcomers = settle(service, homes(4, latitude=51.2))
        while service.work():
            pass
        assert service.locate(newcomers[0]) == service.locate(credentials[-1]) is not None
        assert all_hold(service)


def test_a_move_is_a_new_device_and_the_old_credential_is_gone(tmp_path):
    with town(tmp_path, 36) as (service, credentials):
        moved = service.move(credentials[0], *homes(36)[-1])
        assert service.locate(moved) == service.locate(credentials[-1])
        with pytest.raises(UnknownError):
            service.locate(credentials[0])
        assert table(tmp_path, "SELECT count(*) FROM devices") == [(36,)]


def test_a_cancelled_home_is_deleted_and_its_invitation_good_again(tmp_path):
    with town(tmp_path) as (service, _):
        (invitation,) = service.invite()
        credential = service.sign_up(invitation, 51, 0)
        with pytest.raises(RefusedError, match="used up"):
            service.sign_up(invitation, 51, 0)
        service.cancel(credential)
        assert table(tmp_path, "SELECT count(*) FROM devices") == [(0,)]
        service.sign_up(invitation, 51, 0)


def test_k_counts_principals_and_not_their_devices(tmp_path):
    with town(tmp_path) as (service, _):
        (invitation,) = service.invite(1, devices=50)
        credentials = [service.sign_up(invitation, *home) for home in homes(50)]
        assert not service.work()
        assert service.locate(credentials[0]) is None


def test_devices_of_one_building_are_not_enough(tmp_path):
    with town(tmp_path) as (service, _):
        credentials = settle(service, [(51.0, -1.0)] * 30)
        assert not service.work()
        assert service.locate(credentials[0]) is None
        credentials += settle(service, homes(6, latitude=51.1))
        while service.work():
            pass
        assert service.locate(credentials[0]) is not None
        assert all_hold(service)


def test_classes_are_drawn_among_themselves(tmp_path):
    with town(tmp_path, classes=(5, 10)) as (service, _):
        fives, tens = settle(service, homes(40), 5), settle(service, homes(40), 10)
        while service.work():
            pass
        assert {service.locate(credential).k for credential in fives} == {5}
        assert {service.locate(credential).k for credential in tens} == {10}
        assert not {cell.id for cell in service.cells(5)} & {cell.id for cell in service.cells(10)}
        assert all_hold(service)


def test_a_redraw_keeps_atoms_or_splits_them_into_parts_of_k(tmp_path):
    with town(tmp_path, 12, start=2) as (service, credentials):
        before = {service.locate(credential) for credential in credentials}
        newcomers = settle(service, homes(36, latitude=51.005))
        service.ask_redraw("test")
        while service.work():
            pass
        after = [service.locate(credential) for credential in credentials + newcomers]
        assert len(set(after)) > len(before)
        assert all_hold(service)
        assert table(tmp_path, "SELECT count(*) FROM atoms WHERE parent_id IS NOT NULL")[0][0] > 0


def test_unknown_credentials_are_all_alike(tmp_path):
    with town(tmp_path, 12) as (service, credentials):
        service.cancel(credentials[0])
        (invitation,) = service.invite()
        for credential in (credentials[0], "", "shd_nobody", "\ud800", invitation, service.new_operator("a")):
            for ask in (service.locate, service.cancel, lambda one: service.move(one, 1, 1)):
                with pytest.raises(UnknownError, match="^this credential is not known$"):
                    ask(credential)
        with pytest.raises(UnknownError):
            service.sign_up("shi_nobody", 51, 0)


def test_a_refused_request_changes_nothing(tmp_path):
    with town(tmp_path) as (service, _):
        (invitation,) = service.invite()
        for latitude, longitude, k in [(95, 0, 5), (0, 0, 4), (0, 0, True), ("0", 0, 5)]:
            with pytest.raises(RefusedError):
                service.sign_up(invitation, latitude, longitude, k)
        assert table(tmp_path, "SELECT devices_left FROM principals") == [(1,)]
        service.sign_up(invitation, 0, 0)


def test_an_operator_is_known_by_the_key(tmp_path):
    with town(tmp_path) as (service, _):
        assert not service.has_operators()
        key = service.new_operator("Ada")
        assert service.has_operators()
        assert service.operator(key) == "Ada"
        assert service.operator("sho_nobody") is None
        with pytest.raises(RefusedError, match="1 to 200"):
            service.new_operator("")
        with pytest.raises(RefusedError, match="invitations"):
            service.invite(0)


def test_figures_tell_no_exact_size(tmp_path):
    with town(tmp_path, 40, classes=(5, 10)) as (service, _):
        settle(service, homes(3), 10)
        five, ten = service.figures()["classes"]
        assert (five["size"], five["waiting"], five["short_atoms"]) == ("5 or more", "none", 0)
        assert 0 < five["distortion_km"] < 10
        assert (ten["cells"], ten["waiting"], ten["distortion_km"]) == (0, "fewer than 10", None)
        settle(service, homes(9), 10)
        assert service.figures()["classes"][1]["waiting"] == "10 or more"


def test_atoms_that_cancellations_leave_short_are_counted_and_never_split(tmp_path):
    with town(tmp_path, 36) as (service, credentials):
        together = [c for c in credentials if service.locate(c) == service.locate(credentials[0])]
        for credential in together[:3]:
            service.cancel(credential)
        assert service.figures()["classes"][0]["short_atoms"] == 1
        service.ask_redraw("test")
        while service.work():
            pass
        assert len({service.locate(credential) for credential in together[3:]}) == 1
        assert all_hold(service)


def test_the_policy_is_kept_and_must_be_the_same(tmp_path):
    with town(tmp_path, classes=(5, 10), slack=2):
        pass
    again = Service.open(str(tmp_path / "town.db"), RING)
    assert again.policy == Policy(classes=(5, 10), slack=2)
    again.close()
    with pytest.raises(ShoalError, match=r"another policy \(slack differ\)"):
        Service.open(str(tmp_path / "town.db"), RING, Policy(classes=(5, 10)))


def test_everything_is_sealed_anew_with_a_rotated_key(tmp_path):
    with town(tmp_path, 36) as (service, credentials):
        before = service.locate(credentials[0])
        cells = len(service.cells())
    ring = RING.rotated()
    service = Service.open(str(tmp_path / "town.db"), ring)
    assert service.reseal() == 36 + cells
    service.close()
    assert table(tmp_path, "SELECT DISTINCT key FROM devices UNION SELECT DISTINCT key FROM batches") == [(2,)]
    service = Service.open(str(tmp_path / "town.db"), ring.without_old())
    assert service.locate(credentials[0]) == before
    service.ask_redraw("test")
    while service.work():
        pass
    assert all_hold(service)
    service.close()


def test_two_services_on_one_database_see_what_the_other_does(tmp_path):
    with town(tmp_path, 36) as (service, credentials):
        other = Service.open(str(tmp_path / "town.db"), RING)
        for number, credential in enumerate(credentials[:24]):
            (other if number % 2 else service).cancel(credential)
        newcomers = [one for each in (service, other) for one in settle(each, homes(6))]
        assert service.locate(newcomers[0]) == other.locate(newcomers[0]) is not None
        assert all_hold(service)
        other.close()


def test_devices_may_come_and_go_in_many_threads(tmp_path):
    with town(tmp_path, 36) as (service, credentials):
        failed = []

        def churn(mine):
            try:
                for credential in mine:
                    one = service.move(credential, 51.02, -1.02)
                    service.locate(one)
                    service.cancel(one)
            except Exception as error:
                failed.append(error)

        threads = [threading.Thread(target=churn, args=(credentials[number:24:3],)) for number in range(3)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            assert all_hold(service)
        assert not failed
        assert table(tmp_path, "SELECT count(*) FROM devices") == [(12,)]


def test_the_audit_log_has_no_place_and_no_time_of_day(tmp_path):
    with town(tmp_path, 12) as (service, _):
        service.ask_redraw("Ada", 5)
        rows = table(tmp_path, "SELECT day, actor, action, detail FROM audit")
    assert [row[1:3] for row in rows] == [("operator", "invite"), ("Ada", "ask for a redraw")]
    assert all(len(row[0]) == 10 and "51" not in row[3] for row in rows)


def test_an_answer_is_a_centroid_and_the_k_that_was_asked_for():
    assert Centroid(51.0, 0.0, 5)._asdict() == {"latitude": 51.0, "longitude": 0.0, "k": 5}
