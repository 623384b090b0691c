"""What the routes do. How they hold against odd requests is in test_security.py."""

import asyncio
import contextlib
import threading

import httpx
import pytest

from locations.served import OTHER, POLICY, raw
from shoal.locations.api import application
from shoal.locations.errors import BusyError
from shoal.locations.limits import Limits, Rate
from shoal.locations.map_page import map_page
from shoal.locations.metrics import Watched

# devices


def test_a_device_signs_up_and_waits_until_there_are_enough(standing):
    credential = standing.sign_up()
    answer = standing.ask("GET", "/v1/location", credential)
    assert (answer.status_code, answer.json()) == (200, {"answer": "not yet"})


def test_every_device_of_a_cell_gets_the_same_centroid(asked):
    answers = [asked.ask("GET", "/v1/location", each).json() for each in asked.crowd(20)]
    assert all(set(answer) == {"latitude", "longitude", "k"} for answer in answers)
    assert {answer["k"] for answer in answers} == {3}
    shared = {(answer["latitude"], answer["longitude"]) for answer in answers}
    assert 1 <= len(shared) <= 5
    assert all(sum((a["latitude"], a["longitude"]) == each for a in answers) >= 3 for each in shared)


def test_a_device_may_ask_for_a_larger_k(asked):
    (credential, *_) = asked.crowd(30, k=6)
    assert asked.ask("GET", "/v1/location", credential).json()["k"] == 6


def test_a_move_makes_a_new_credential_and_ends_the_old_one(asked):
    old = asked.sign_up()
    answer = asked.ask("POST", "/v1/move", old, json={"latitude": OTHER[0], "longitude": OTHER[1]})
    assert answer.status_code == 200
    assert asked.ask("GET", "/v1/location", old).status_code == 401
    assert asked.ask("GET", "/v1/location", answer.json()["credential"]).json() == {"answer": "not yet"}


def test_a_cancelled_device_is_gone(asked):
    credential = asked.sign_up()
    answer = asked.ask("DELETE", "/v1/devices/me", credential)
    assert (answer.status_code, answer.content) == (204, b"")
    assert asked.ask("GET", "/v1/location", credential).status_code == 401
    assert asked.ask("DELETE", "/v1/devices/me", credential).status_code == 401


def test_an_invitation_is_good_for_as_many_devices_as_it_says(standing):
    (invitation,) = standing.service.invite(1, devices=2)
    body = {"invitation": invitation, "latitude": 1, "longitude": 2}
    assert [standing.ask("POST", "/v1/devices", json=body).status_code for _ in range(3)] == [201, 201, 422]


def test_a_k_that_is_not_offered_is_refused_with_those_that_are(standing):
    body = {"invitation": standing.service.invite()[0], "latitude": 1, "longitude": 2, "k": 4}
    answer = standing.ask("POST", "/v1/devices", json=body)
    assert (answer.status_code, answer.json()) == (422, {"error": "k must be one of 3, 6"})


@pytest.mark.parametrize("place", [(90, 180), (-90, -180), (0, 0), (90.0, 0), (-0.0, 179.9999999)])
def test_every_place_on_earth_may_sign_up(standing, place):
    assert standing.sign_up(place).startswith("shd_")


# operators


def test_an_operator_sees_cells_as_geojson_without_sizes(asked):
    asked.crowd(20)
    answer = asked.ask("GET", "/v1/operator/cells", asked.operator)
    assert answer.headers["content-type"] == "application/geo+json"
    collection = answer.json()
    assert collection["type"] == "FeatureCollection"
    assert collection["outlines"] is True
    assert {feature["properties"]["size"] for feature in collection["features"]} == {"3 or more"}
    points = [each for each in collection["features"] if each["geometry"]["type"] == "Point"]
    assert len(points) == len(asked.service.cells())


def test_without_cells_the_collection_is_empty(asked):
    answer = asked.ask("GET", "/v1/operator/cells", asked.operator)
    assert answer.json() == {"type": "FeatureCollection", "outlines": True, "features": []}


def test_cells_can_be_asked_for_by_k_and_by_box(asked):
    asked.crowd(20)
    asked.crowd(30, seed=1, k=6)

    def of(query):
        features = asked.ask("GET", f"/v1/operator/cells?{query}", asked.operator).json()["features"]
        return {feature["properties"]["k"] for feature in features}

    assert of("") == {3, 6}
    assert of("k=6") == {6}
    assert of("bbox=1,41,3,42") == {3, 6}
    assert of("bbox=-10,-40,-9,-39&k=3") <= {3}


@pytest.mark.parametrize(
    "query",
    ["k=4", "k=x", "k=3.0", "k=-3", "k=", "k=9999999999999", "bbox=", "bbox=1,2,3", "bbox=1,2,3,4,5", "bbox=a,b,c,d",
     "bbox=nan,0,1,1", "bbox=0,5,1,-5", "bbox=0,0,1,inf", "bbox=0,0,1,91", "bbox=" + "1" * 300],
)  # fmt: skip
def test_a_wrong_k_or_box_is_refused(standing, query):
    answer = standing.ask("GET", f"/v1/operator/cells?{query}", standing.operator)
    assert answer.status_code == 422
    assert set(answer.json()) == {"error"}


def test_of_many_cells_only_the_centroids_are_given(asked, monkeypatch):
    asked.crowd(20)
    whole = asked.ask("GET", "/v1/operator/cells", asked.operator).json()
    monkeypatch.setattr("shoal.locations.operator_routes.MOST_OUTLINES", 0)
    monkeypatch.setattr("shoal.locations.operator_routes._AT_A_TIME", 2)
    short = asked.ask("GET", "/v1/operator/cells", asked.operator).json()
    assert short["outlines"] is False
    assert short["features"] == [each for each in whole["features"] if each["id"].startswith("centroid")]


def test_figures_have_no_exact_sizes(asked):
    asked.crowd(20)
    held = asked.ask("GET", "/v1/operator/figures", asked.operator).json()
    assert [each["k"] for each in held["classes"]] == list(POLICY.classes)
    assert held["classes"][0]["waiting"] == "none"
    assert held["history"] is True
    assert 20 not in held["classes"][0].values(), "the number of devices"


def test_figures_are_worked_out_once_for_all_who_ask_at_the_same_time(small, monkeypatch):
    asked, times = small(), []
    figures = asked.service.figures
    monkeypatch.setattr(asked.service, "figures", lambda: times.append(1) or figures())
    app = application(asked.service, fresh=60.0)
    headers = {"Authorization": f"Bearer {asked.operator}"}

    async def at_once():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as session:
            return await asyncio.gather(*(session.get("/v1/operator/figures") for _ in range(10)))

    assert len({answer.text for answer in asyncio.run(at_once())}) == 1
    assert len(times) == 1


def test_a_redraw_is_asked_for_and_done_by_the_worker(asked):
    asked.crowd(20)
    before = asked.service.figures()["change"]
    answer = asked.ask("POST", "/v1/operator/redraw", asked.operator, json={"k": 3})
    assert (answer.status_code, answer.json()) == (202, {"asked": True})
    assert asked.service.figures()["change"] == before
    assert asked.service.work()


@pytest.mark.parametrize("path", ["/v1/operator/redraw", "/v1/operator/invitations"])
def test_a_body_may_be_left_out_where_it_has_defaults(standing, path):
    assert standing.ask("POST", path, standing.operator).is_success
    assert standing.ask("POST", path, standing.operator, json={}).is_success


def test_invitations_that_an_operator_makes_are_good(standing):
    answer = standing.ask("POST", "/v1/operator/invitations", standing.operator, json={"count": 3, "devices": 1})
    assert answer.status_code == 201
    invitations = answer.json()["invitations"]
    assert len(set(invitations)) == 3
    for invitation in invitations:
        body = {"invitation": invitation, "latitude": 1, "longitude": 2}
        assert standing.ask("POST", "/v1/devices", json=body).status_code == 201


def test_metrics_count_what_was_asked(small):
    asked = small(watched=Watched(process=1, promises={"places": True}))
    asked.sign_up()
    asked.ask("GET", "/v1/location", "shd_nobody")
    answer = asked.ask("GET", "/metrics", asked.operator)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'route="/v1/devices",method="POST",status="201"} 1' in answer.text
    assert 'route="/v1/location",method="GET",status="401"} 1' in answer.text
    assert 'shoal_promise_holds{promise="places"} 1' in answer.text
    assert 'shoal_waiting{k="3",level="fewer than k"} 1' in answer.text


def test_paths_that_are_not_there_do_not_make_metrics_longer(asked):
    for number in range(50):
        asked.ask("GET", f"/{number}")
        asked.ask(f"M{number}", "/health")
    text = asked.ask("GET", "/metrics", asked.operator).text
    assert 'route="other",method="GET",status="404"} 50' in text
    assert 'route="/health",method="other",status="405"} 50' in text


# anybody


def test_health_needs_no_key(standing):
    assert standing.ask("GET", "/health").json() == {"status": "ok"}


def test_health_fails_when_the_database_does(asked, monkeypatch):
    def locked(*_):
        raise BusyError

    monkeypatch.setattr(asked.service, "operator", locked)
    answer = asked.ask("GET", "/health")
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"


def test_the_map_is_a_page_that_runs_only_its_own_scripts(standing):
    answer = standing.ask("GET", "/map")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    rules = dict(each.split(" ", 1) for each in answer.headers["content-security-policy"].split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["frame-ancestors"] == "'none'"
    assert rules["connect-src"] == "'self'"
    assert "unsafe" not in answer.headers["content-security-policy"]


def test_the_rules_of_a_page_name_the_hashes_of_its_scripts(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<style>p{}</style><script>alert(1)</script><script type=x>2</script>")
    rules = map_page(page).rules
    assert rules.count("'sha256-") == 3
    assert (
        "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='" in rules
    )  # of alert(1), as CSP's own text has it


# reads and writes


def test_reads_may_be_done_in_threads(small):
    asked = small(reads_in_threads=True)
    credential = asked.sign_up()
    assert asked.ask("GET", "/v1/location", credential).status_code == 200
    assert asked.ask("GET", "/v1/location", "shd_x").status_code == 401


def test_look_ups_go_on_while_a_write_waits(asked, monkeypatch):
    credential = asked.sign_up()
    goes_on = threading.Event()
    cancel = asked.service.cancel
    monkeypatch.setattr(asked.service, "cancel", lambda key: goes_on.wait(20) and cancel(key))
    headers = {"Authorization": f"Bearer {credential}"}

    async def both():
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(asked.app), base_url="http://x", headers=headers
        ) as session:
            waits = asyncio.create_task(session.delete("/v1/devices/me"))
            await asyncio.sleep(0.05)
            seen = [(await session.get("/v1/location")).status_code for _ in range(3)]
            goes_on.set()
            return seen, (await waits).status_code

    assert asyncio.run(both()) == ([200, 200, 200], 204)


def test_more_writes_than_may_wait_are_told_to_come_again(asked, monkeypatch):
    credential = asked.sign_up()
    goes_on = threading.Event()
    monkeypatch.setattr(asked.service, "cancel", lambda _: goes_on.wait(20))
    app = application(asked.service, Limits(waiting=5, credential=None))
    headers = {"Authorization": f"Bearer {credential}"}

    async def all_at_once():
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://x", headers=headers
        ) as session:
            tasks = [asyncio.create_task(session.delete("/v1/devices/me")) for _ in range(9)]
            await asyncio.wait(tasks, timeout=20, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.sleep(0.05)
            goes_on.set()
            return [answer.status_code for answer in await asyncio.gather(*tasks)]

    assert sorted(asyncio.run(all_at_once())) == [204] * 5 + [503] * 4


def test_too_many_requests_are_told_when_to_come_again(small):
    asked = small(limits=Limits(credential=Rate(0.25, 3)))
    credential = asked.sign_up()
    answers = [asked.ask("GET", "/v1/location", credential) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[-1].headers["retry-after"] == "4"
    assert asked.ask("GET", "/v1/location", asked.sign_up()).status_code == 200


def test_a_client_that_goes_away_is_no_error(standing, caplog):
    with contextlib.suppress(IndexError):  # there is no answer
        raw(standing.app, "POST", "/v1/devices", [(b"content-type", b"application/json")], parts=())
    assert caplog.text == ""
