"""The security review of the API: a list of checks, one test each. docs/locations/security.md is the same in words."""

import json
import logging
import re
import sqlite3
import statistics
import string
import struct
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locations.served import HOME, OTHER, raw
from shoal.locations.api import application
from shoal.locations.errors import RefusedError, UnknownError
from shoal.locations.limits import Limits, Rate

PAGE = Path(__file__).parents[2] / "docs" / "locations" / "security.md"
JSON = (b"content-type", b"application/json")

ROUTES = {
    ("POST", "/v1/devices"): "body",
    ("GET", "/v1/location"): "device",
    ("POST", "/v1/move"): "device",
    ("DELETE", "/v1/devices/me"): "device",
    ("GET", "/v1/operator/cells"): "operator",
    ("GET", "/v1/operator/figures"): "operator",
    ("POST", "/v1/operator/redraw"): "operator",
    ("POST", "/v1/operator/invitations"): "operator",
    ("GET", "/metrics"): "operator",
    ("GET", "/health"): "anybody",
    ("GET", "/map"): "anybody",
    ("GET", "/openapi.json"): "anybody",
}
DEVICE_ROUTES = [route for route, who in ROUTES.items() if who == "device"]
OPERATOR_ROUTES = [route for route, who in ROUTES.items() if who == "operator"]
CLOSED_ROUTES = DEVICE_ROUTES + OPERATOR_ROUTES
BODY_ROUTES = [("POST", "/v1/devices"), ("POST", "/v1/move")]
PLACE = {"latitude": HOME[0], "longitude": HOME[1]}
SECRETS = re.compile("41[.]403|2[.]174|151[.]215|33[.]856|sh[dio]_[A-Za-z0-9_-]{8}")


def sent(asked, path, content, key=None, headers=()):
    """The answer to raw bytes as a body."""
    named = {"Content-Type": "application/json", **dict(headers)}
    return asked.ask("POST", path, key, content=content, headers=named)


def sign_up_with(asked, **fields):
    """The answer to a sign-up with other fields, in JSON as Python writes it (NaN too)."""
    body = {"invitation": "shi_x", **PLACE, **fields}
    return sent(asked, "/v1/devices", json.dumps(body).encode())


def secrets_of(asked):
    """One credential of each kind that is not good for what it is tried for, with what it is."""
    device, gone = asked.sign_up(), asked.sign_up()
    asked.service.cancel(gone)
    (invitation,) = asked.service.invite()
    return {
        "another device's prefix": "sho_" + device[4:],
        "cancelled": gone,
        "an invitation": invitation,
        "unknown": "shd_" + "A" * 43,
        "unknown operator": "sho_" + "A" * 43,
        "too short": device[:-1],
        "too long": device + "A",
        "very long": "shd_" + "A" * 5000,
        "other case": device.swapcase(),
        "empty": "",
        "blank": " ",
        "percent": "%00%ff",
        "quotes": "' OR 1=1 --",
    }


# credentials


def test_every_route_is_in_the_list_of_this_review(standing):
    found = {
        (method.upper(), path) for path, methods in standing.app.openapi()["paths"].items() for method in methods
    }
    assert found | {("GET", "/openapi.json")} == set(ROUTES)
    assert {route.path for route in standing.app.routes} == {path for _, path in ROUTES}


def test_routes_with_a_credential_refuse_requests_without_one(standing):
    for method, path in CLOSED_ROUTES:
        assert standing.ask(method, path, json=PLACE if path == "/v1/move" else None).status_code == 401, path


def test_whatever_is_wrong_with_a_credential_the_answer_is_the_same(standing):
    answers = {}
    for why, secret in secrets_of(standing).items():
        for method, path in CLOSED_ROUTES:
            body = {"json": PLACE} if path == "/v1/move" else {}
            answer = standing.ask(method, path, secret, **body)
            answers[why, path] = (answer.status_code, answer.content, sorted(answer.headers.multi_items()))
    for path in ("/v1/location", "/v1/operator/cells"):
        answer = standing.ask("GET", path)
        answers["missing", path] = (answer.status_code, answer.content, sorted(answer.headers.multi_items()))
    (same,) = {repr(answer) for answer in answers.values()}
    assert same.startswith('(401, b\'{"error":"the credential is missing or not known"}\'')
    assert "('www-authenticate', 'Bearer')" in same


def test_an_invitation_that_nobody_has_gets_the_answer_of_a_credential_that_nobody_has(standing):
    one = standing.ask("GET", "/v1/location", "shd_" + "A" * 43)
    other = sign_up_with(standing, invitation="shi_" + "A" * 43)
    assert (one.status_code, one.content, one.headers) == (other.status_code, other.content, other.headers)


@pytest.mark.parametrize(
    "headers",
    [
        [(b"authorization", b"Basic c2hkXzo=")],
        [(b"authorization", b"Bearer")],
        [(b"authorization", b"Bearer ")],
        [(b"authorization", b"KEY")],
        [(b"authorization", b"Bearer \xff\xfe")],
        [(b"authorization", b"Bearer KEY KEY")],
        [(b"authorization", b"Bearer KEY"), (b"authorization", b"Bearer KEY")],
        [(b"x-api-key", b"KEY")],
        [(b"cookie", b"credential=KEY")],
    ],
)
def test_a_credential_counts_only_as_one_bearer_header(standing, headers):
    key = standing.sign_up().encode()
    good = raw(standing.app, "GET", "/v1/location", [(b"authorization", b"bearer " + key)])
    assert good[0] == 200, "the scheme may be in any case"
    given = [(name, value.replace(b"KEY", key)) for name, value in headers]
    assert raw(standing.app, "GET", "/v1/location", given)[0] == 401


def test_a_credential_in_the_query_is_not_taken(standing):
    key = standing.sign_up()
    for name in ("credential", "access_token", "authorization"):
        assert standing.ask("GET", f"/v1/location?{name}={key}").status_code == 401


def test_a_device_may_ask_nothing_that_is_for_operators(standing):
    key = standing.sign_up()
    for method, path in OPERATOR_ROUTES:
        assert standing.ask(method, path, key).status_code == 401, path


def test_an_operator_may_ask_nothing_that_is_for_devices(standing):
    for method, path in DEVICE_ROUTES:
        assert standing.ask(method, path, standing.operator, json=PLACE).status_code == 401, path


def test_a_device_can_neither_move_nor_cancel_another(asked):
    one, other = asked.sign_up(HOME), asked.sign_up(OTHER)
    asked.ask("DELETE", "/v1/devices/me", one)
    assert asked.ask("GET", "/v1/location", other).status_code == 200


def test_the_body_of_a_move_is_judged_alike_for_good_and_unknown_credentials(standing):
    key = standing.sign_up()
    for body in ({}, {"latitude": 95, "longitude": 0}, {**PLACE, "more": 1}, [], "x"):
        good = standing.ask("POST", "/v1/move", key, json=body)
        unknown = standing.ask("POST", "/v1/move", "shd_" + "A" * 43, json=body)
        assert (good.status_code, good.content) == (unknown.status_code, unknown.content)
        assert good.status_code == 422


def test_failed_credentials_are_limited_by_address(small):
    asked = small(limits=Limits(failures=Rate(0.01, 5)))
    key = asked.sign_up()
    statuses = [asked.ask("GET", "/v1/location", f"shd_{number}").status_code for number in range(8)]
    assert statuses == [401] * 5 + [429] * 3
    assert asked.ask("GET", "/v1/location", key).status_code == 429, (
        "no way to find out which credentials are good"
    )
    assert asked.ask("GET", "/v1/location", key, client=("198.51.100.1", 1)).status_code == 200


def test_failed_invitations_are_limited_too(small):
    asked = small(limits=Limits(failures=Rate(0.01, 5)))
    statuses = [sign_up_with(asked, invitation=f"shi_{number}").status_code for number in range(7)]
    assert statuses == [401] * 5 + [429] * 2


def test_look_ups_take_as_long_for_missing_devices_as_for_existing_ones(standing):
    keys = [standing.sign_up() for _ in range(20)]
    seconds = {"there": [], "missing": [], "malformed": []}
    for number in range(400):
        for kind, key in (
            ("there", keys[number % 20]),
            ("missing", f"shd_{number:043d}"),
            ("malformed", str(number)),
        ):
            begun = time.perf_counter()
            try:
                standing.service.locate(key)
            except UnknownError:
                assert kind != "there"
            seconds[kind].append(time.perf_counter() - begun)
    typical = {kind: statistics.median(each) for kind, each in seconds.items()}
    assert max(typical.values()) < 3 * min(typical.values()), "the same query, whatever is standing"


# bodies


@pytest.mark.parametrize(
    "value",
    ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "95", "90.0000001", "-90.5", "1e308", "true", "false", "null",
     '"41.4"', "[41.4]", '{"a": 1}', "1" * 400, "9" * 4000, "0x10", "041", "1_0", "+1", ".5", "", "nan"],
)  # fmt: skip
def test_what_is_no_latitude_is_refused(standing, value):
    body = f'{{"invitation": "shi_x", "latitude": {value}, "longitude": 2.174444}}'
    answer = sent(standing, "/v1/devices", body.encode())
    assert answer.status_code == 422
    assert answer.json()["error"] in (
        "latitude must be a number from -90 to 90",
        "the body is not JSON, or has a field twice",
    )


@pytest.mark.parametrize("value", [180.0001, -181, 1e9, "2", True, None])
def test_what_is_no_longitude_is_refused(standing, value):
    assert sign_up_with(standing, longitude=value).json() == {
        "error": "longitude must be a number from -180 to 180"
    }


@pytest.mark.parametrize("value", [1, 0, -5, 3.5, "3.0", "3", True, 10**9, 10**30, [3], 1e400])
def test_what_is_no_k_is_refused(standing, value):
    assert sign_up_with(standing, k=value).status_code == 422


@pytest.mark.parametrize("value", ["x" * 201, 7, None, True, ["shi_x"]])
def test_what_is_no_invitation_is_refused(standing, value):
    assert sign_up_with(standing, invitation=value).status_code == 422


@pytest.mark.parametrize(
    "name",
    [
        "Latitude",
        "latitude ",
        "låtitude",
        "ｌatitude",
        "\ud83c\udf0d",
        "\u0000",
        "__proto__",
        "41.403611",
        "\u202e",
    ],
)
def test_unknown_fields_are_refused_and_not_repeated(standing, name):
    answer = sign_up_with(standing, **{name: 41.403611})
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("there is a field that is not known; known are ")
    assert name not in answer.json()["error"].removeprefix("there is a field that is not known; known are ")


def test_an_invitation_in_odd_letters_is_only_unknown(standing):
    for text in ("\U0001f30d" * 20, "shi_\u0000", "ｓｈｉ＿", "' OR 1=1 --", ""):
        assert sign_up_with(standing, invitation=text).status_code == 401
    assert sign_up_with(standing, invitation="\ud800").status_code == 422, "half a letter is no text"


@pytest.mark.parametrize(
    "content",
    [b"", b" ", b"{", b"}", b"{]", b"[]", b"null", b"1", b'"text"', b"\xff\xfe", b"\xef\xbb\xbf{}", b"{'a': 1}", b"{} {}",
     b"[" * 4000, b'{"a":' * 700, b'{"invitation": "x", "latitude": 1, "longitude": 2, "latitude": 1}', '{"latitude": 1}'.encode("utf-16"), b"\x00" * 100,
     b"latitude=1&longitude=2", b"<a/>", b'{"latitude": 1,}', b'{"latitude": 1} // home', b"1" * 4096, b'"\xed\xa0\x80"'],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/v1/devices", "/v1/operator/invitations"])
def test_malformed_bodies_are_refused(standing, content, path):
    if path == "/v1/operator/invitations" and not content:
        return  # it has defaults
    answer = sent(standing, path, content, standing.operator)
    assert answer.status_code == 422
    assert set(answer.json()) == {"error"}


def test_bodies_that_are_deeper_than_python_goes_are_refused(standing, monkeypatch):
    def too_deep(*_, **__):
        raise RecursionError

    monkeypatch.setattr("shoal.locations.bodies.json.loads", too_deep)
    assert sent(standing, "/v1/devices", b"[" * 4000).status_code == 422


@settings(max_examples=60)
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["latitude", "longitude", "invitation", "k"]), inner)))  # fmt: skip
def test_no_json_is_an_error_of_the_server(standing, held):
    content = json.dumps(held).encode()
    for method, path in BODY_ROUTES:
        headers = [JSON, (b"authorization", b"Bearer " + standing.operator.encode())]
        assert raw(standing.app, method, path, headers, [content])[0] in (401, 413, 422)


@pytest.mark.parametrize(
    "kind",
    [None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json",
     "application/json; charset=latin-1", "application/json-seq", "json", "application/*"],
)  # fmt: skip
def test_bodies_that_are_not_declared_as_json_are_refused(standing, kind):
    headers = {} if kind is None else {"Content-Type": kind}
    answer = standing.ask("POST", "/v1/devices", content=json.dumps({**PLACE, "invitation": "x"}), headers=headers)
    assert answer.status_code == 415


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON", "application/json; charset=UTF-8"])
def test_json_may_be_declared_in_any_case(standing, kind):
    assert sent(standing, "/v1/devices", b"{}", headers={"Content-Type": kind}).status_code == 422


def test_packed_bodies_are_not_unpacked(standing):
    assert sent(standing, "/v1/devices", b"{}", headers={"Content-Encoding": "gzip"}).status_code == 415


def test_a_body_that_says_it_is_too_large_is_refused_before_it_comes(standing):
    for length in (b"4097", b"9" * 30):
        assert raw(standing.app, "POST", "/v1/devices", [JSON, (b"content-length", length)], parts=())[0] == 413


def test_a_body_without_a_length_is_counted_as_it_comes(standing):
    parts = [b"[" * 100] * 1000
    status, headers, _ = raw(
        standing.app, "POST", "/v1/devices", [JSON, (b"transfer-encoding", b"chunked")], parts
    )
    assert status == 413
    assert (b"connection", b"close") in headers, "the rest is not read"


def test_a_body_that_does_not_come_is_given_up(small):
    import asyncio

    asked = small(limits=Limits(seconds=0.05))
    sent_back = []

    async def never():
        await asyncio.sleep(30)

    async def send(message):
        sent_back.append(message)

    scope = {"type": "http", "method": "POST", "path": "/v1/devices", "headers": [JSON], "query_string": b"",
             "scheme": "http", "client": ("192.0.2.7", 1), "server": ("x", 80), "http_version": "1.1"}  # fmt: skip
    asyncio.run(asked.app(scope, never, send))
    assert sent_back[0]["status"] == 408


def test_huge_headers_are_refused(standing):
    assert raw(standing.app, "GET", "/health", [(b"x", b"y" * 20_000)])[0] == 431


# methods and paths


def test_every_path_refuses_the_methods_that_it_does_not_have(standing):
    known = {path: {method for method, other in ROUTES if other == path} for _, path in ROUTES}
    for path, methods in known.items():
        allowed = methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set())
        for method in (
            "GET",
            "HEAD",
            "POST",
            "PUT",
            "PATCH",
            "DELETE",
            "TRACE",
            "CONNECT",
            "PROPFIND",
            "get",
            "X" * 50,
        ):
            if method not in allowed:
                status, headers, _ = raw(standing.app, method, path)
                assert status == 405, (method, path)
                assert dict(headers)[b"allow"].decode().split(", ") == sorted(allowed)


def test_options_name_the_methods_and_give_no_other_site_leave(standing):
    headers = [(b"origin", b"https://elsewhere.example"), (b"access-control-request-method", b"POST")]
    status, answered, body = raw(standing.app, "OPTIONS", "/v1/devices", headers)
    assert (status, body) == (204, b"")
    assert dict(answered)[b"allow"] == b"OPTIONS, POST"


def test_head_is_get_without_the_body(standing):
    key = standing.sign_up()
    named = [(b"authorization", b"Bearer " + key.encode())]
    got, head = (raw(standing.app, method, "/v1/location", named) for method in ("GET", "HEAD"))
    assert got[2]
    assert (head[0], head[2]) == (200, b"")
    assert head[1] == got[1], "the same headers, the length of the body too"
    assert standing.ask("HEAD", "/v1/location").status_code == 401


@pytest.mark.parametrize(
    "path",
    ["/", "/v1", "/v1/location/", "//v1/location", "/V1/location", "/v1/devices/1", "/v1/devices/me/..", "/docs",
     "/redoc", "/static/../map", "/v1/location;a=b", "/%2e%2e/etc/passwd", "/v1/location\u0000", "/.git/config"],
)  # fmt: skip
def test_other_paths_are_not_there_and_lead_nowhere(standing, path):
    for method in ("GET", "POST", "OPTIONS", "DELETE"):
        status, headers, body = raw(standing.app, method, path)
        assert status == 404
        assert b"location" not in dict(headers)
        assert body == b'{"error":"there is no such page"}'


def test_there_are_no_web_sockets(standing):
    """A socket would come past the limits and the headers."""
    import asyncio

    sent_back = []

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent_back.append(message["type"])

    scope = {"type": "websocket", "path": "/v1/location", "headers": [], "query_string": b"", "scheme": "ws",
             "client": ("192.0.2.7", 1), "server": ("x", 80), "subprotocols": []}  # fmt: skip
    asyncio.run(standing.app(scope, receive, send))
    assert sent_back == ["websocket.close"]


# headers


def answers_of_every_kind(asked):
    """One answer of every status that can be brought about."""
    key = asked.sign_up()
    yield asked.ask("GET", "/v1/location", key)
    yield asked.ask("GET", "/v1/location")
    yield asked.ask("POST", "/v1/location")
    yield asked.ask("OPTIONS", "/v1/location")
    yield asked.ask("GET", "/elsewhere")
    yield asked.ask("GET", "/map")
    yield asked.ask("GET", "/health")
    yield asked.ask("GET", "/openapi.json")
    yield asked.ask("GET", "/v1/operator/cells", asked.operator)
    yield asked.ask("GET", "/metrics", asked.operator)
    yield sign_up_with(asked, latitude=95)
    yield sent(asked, "/v1/devices", b"1" * 5000)
    yield sent(asked, "/v1/devices", b"{}", headers={"Content-Type": "text/plain"})
    yield asked.ask("DELETE", "/v1/devices/me", key)
    asked.service.close()


def test_every_answer_has_the_headers_that_keep_it_safe(asked):
    for answer in answers_of_every_kind(asked):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_no_answer_gives_another_site_leave_or_sets_a_cookie_or_names_the_server(asked):
    for answer in answers_of_every_kind(asked):
        names = set(answer.headers)
        assert not {name for name in names if name.startswith("access-control-")}
        assert not names & {"set-cookie", "server", "x-powered-by"}


def test_over_tls_browsers_are_told_to_stay_with_it(standing):
    name = b"strict-transport-security"
    assert name in dict(raw(standing.app, "GET", "/health", scheme="https")[1])
    assert name not in dict(raw(standing.app, "GET", "/health")[1])


# what is told, and what is kept


def broken(asked, monkeypatch, error):
    def fail(*_):
        raise error

    for name in ("sign_up", "locate", "move", "cancel", "operator"):
        monkeypatch.setattr(asked.service, name, fail)


def test_an_unexpected_error_tells_and_logs_nothing_of_the_request(asked, monkeypatch, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    key = asked.sign_up()
    caplog.clear()
    error = ValueError(f"INSERT failed for {HOME} of {key}")
    error.__cause__ = KeyError(str(HOME))
    broken(asked, monkeypatch, error)
    answers = [
        asked.ask("POST", "/v1/move", key, json=PLACE),
        asked.ask("GET", "/v1/location", key),
        sign_up_with(asked),
    ]
    for answer in answers:
        assert (answer.status_code, answer.json()) == (500, {"error": "something went wrong in the service"})
    ours = [record for record in caplog.records if record.name.startswith("shoal")]
    assert [record.message for record in ours if record.levelno == logging.ERROR]
    assert "ValueError in test_security.py, line " in caplog.text
    assert all(record.exc_info is None for record in ours)
    told = "\n".join(record.getMessage() for record in ours) + "".join(capfd.readouterr())
    assert not SECRETS.search(told)


def test_errors_of_the_service_are_told_without_what_led_to_them(asked, monkeypatch):
    broken(asked, monkeypatch, RefusedError("k must be one of 3, 6"))
    assert asked.ask("GET", "/v1/location", "x").json() == {"error": "k must be one of 3, 6"}


def test_logs_hold_neither_locations_nor_credentials_nor_addresses(asked, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    credentials = asked.crowd(12)
    caplog.clear()
    for key in credentials:
        asked.ask("GET", f"/v1/location?latitude=41.403611&credential={key}", key)
    asked.ask("GET", f"/41.403611/{credentials[0]}")
    asked.ask("GET", f"/v1/location/{credentials[0]}")
    asked.ask("41.403611", "/v1/location")
    sign_up_with(asked, latitude=95, invitation="shi_AAAAAAAAAAAA", **{"41.403611": 1})
    asked.ask("POST", "/v1/move", credentials[0], json={"latitude": OTHER[0], "longitude": OTHER[1]})
    ours = [
        record.getMessage()
        for record in caplog.records
        if not record.name.startswith(("httpx", "httpcore", "asyncio"))
    ]
    assert any(line.startswith("GET /v1/location 200 ") for line in ours), "requests were logged"
    told = "\n".join(ours) + "".join(capfd.readouterr())
    assert not SECRETS.search(told)
    assert not any(key[4:] in told for key in credentials)
    assert "192.0.2.7" not in told


def test_no_answer_holds_a_home(asked):
    credentials = asked.crowd(12)
    texts = [asked.ask("GET", "/v1/location", key).text for key in credentials]
    texts += [asked.ask(*route, asked.operator).text for route in OPERATOR_ROUTES]
    with_home = asked.sign_up(HOME)
    texts += [
        asked.ask("GET", "/v1/location", with_home).text,
        asked.ask("POST", "/v1/move", with_home, json=PLACE).text,
    ]
    for text in texts:
        assert "41.403611" not in text
        assert "2.174444" not in text


def test_the_files_of_the_database_hold_no_home_and_no_credential(asked, tmp_path):
    credentials = [asked.sign_up(HOME) for _ in range(3)] + [asked.sign_up(OTHER)]
    (invitation,) = asked.service.invite()
    key = asked.ask("POST", "/v1/move", credentials[0], json={"latitude": OTHER[0], "longitude": OTHER[1]}).json()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name == "service.db" for path in files)
    found = b"".join(path.read_bytes() for path in files)
    assert len(found) > 4096, "something was looked at"
    for secret in (*credentials, key["credential"], invitation, asked.operator):
        assert secret.encode() not in found
        assert secret[4:].encode() not in found
    for degrees in (*HOME, *OTHER):
        for form in ("<d", ">d", "<f", ">f"):
            assert struct.pack(form, degrees) not in found
        assert f"{abs(degrees):.5f}".encode()[:-1] not in found
    for path in files:
        if path.suffix == ".db":
            digest = sqlite3.connect(path).execute("SELECT digest FROM devices").fetchone()[0]
            assert digest in found, "what is looked for can be found"


def test_what_a_cancelled_device_had_is_gone_from_the_tables(asked, tmp_path):
    key = asked.sign_up()
    asked.ask("DELETE", "/v1/devices/me", key)
    (path,) = tmp_path.rglob("service.db")
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM devices").fetchone() == (0,)
    connection.close()


def test_credentials_have_256_random_bits(standing):
    alphabet = set(string.ascii_letters + string.digits + "-_")
    secrets = [standing.sign_up(), standing.operator, standing.service.invite()[0]]
    for secret, kind in zip(secrets, ("shd_", "sho_", "shi_"), strict=True):
        assert secret.startswith(kind)
        assert len(secret[4:]) == 43
        assert set(secret[4:]) <= alphabet
    assert len({standing.sign_up() for _ in range(20)}) == 20


def test_the_openapi_document_shows_no_secret(standing):
    text = standing.ask("GET", "/openapi.json").text
    assert set(re.findall("sh[dio]_[A-Za-z0-9_-]{8,}", text)) <= {"shd_" + "A" * 43, "shi_" + "A" * 43}


def test_defaults_are_the_safe_ones(asked):
    limits = Limits()
    assert None not in (limits.address, limits.credential, limits.failures)
    assert limits.body <= 65_536
    app = application(asked.service)
    assert app.debug is False
    assert (app.docs_url, app.redoc_url) == (None, None)


def test_the_page_lists_every_check_and_no_other():
    checks = set(re.findall(r"^def (test_\w+)\(", Path(__file__).read_text(), re.MULTILINE))
    listed = re.findall(r"`(test_\w+)`", PAGE.read_text())
    assert sorted(listed) == sorted(name for name in checks if not name.endswith(("and_no_other", "on_the_page")))


def test_every_route_of_the_review_is_on_the_page():
    text = PAGE.read_text()
    assert [f"{method} {path}" for method, path in ROUTES if f"`{method} {path}`" not in text] == []
