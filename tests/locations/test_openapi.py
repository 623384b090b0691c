"""The OpenAPI document, and the service held against it by schemathesis: no 5xx, no answer that it does not describe."""

import re

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events, from_schema

from locations.served import HOME, served
from shoal.locations.api import application
from shoal.locations.errors import UnknownError
from shoal.locations.limits import Limits

TOKEN = "shd_" + "T" * 43
EXAMPLES = 15  # of each route and kind of data, beside those that schemathesis lists itself


class Lasting:
    """A service in which one credential is good for ever, and so is one prefix of invitations.

    What a generator of requests makes up is never a good credential, and a cancelled one is of no more use. With this
    one, it gets behind them.
    """

    def __init__(self, service):
        self._service = service
        self._invitation = service.invite(1, 1000)[0]
        self._key = service.sign_up(self._invitation, *HOME)

    def __getattr__(self, name):
        return getattr(self._service, name)

    def _real(self, key):
        if key != TOKEN:
            raise UnknownError
        return self._key

    def sign_up(self, invitation, latitude, longitude, k=None):
        key = self._service.sign_up(
            self._invitation if len(invitation) % 2 else invitation, latitude, longitude, k
        )
        self._service.cancel(key)
        return key

    def locate(self, key):
        return self._service.locate(self._real(key))

    def move(self, key, latitude, longitude):
        self._key = self._service.move(self._real(key), latitude, longitude)
        return self._key

    def cancel(self, key):
        self._service.cancel(self._real(key))
        self._key = self._service.sign_up(self._invitation, *HOME)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    """A service with cells, a credential that lasts, and an operator's key."""
    with served(tmp_path_factory.mktemp("lasting")) as asked:
        asked.crowd(20)
        yield application(Lasting(asked.service), Limits.none(), fresh=0.0), asked.operator


def run_of(app, operator):
    """What schemathesis finds: its checks that failed, and for every route the statuses that were seen."""
    keys = {"device": {"bearer": TOKEN}, "operator": {"bearer": operator}}
    config = SchemathesisConfig.from_dict(
        {"seed": 7, "auth": {"openapi": keys}, "generation": {"max-examples": EXAMPLES, "database": "none"}}
    )
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, config=config)
    failed, seen, checks = [], {}, 0
    for event in from_schema(schema).execute():
        assert not isinstance(event, events.NonFatalError | events.FatalError), event
        if not isinstance(event, events.ScenarioFinished):
            continue
        for case, done in event.recorder.checks.items():
            checks += len(done)
            answer = event.recorder.interactions[case].response
            if answer is not None and b"south" in answer.content:
                continue  # a schema cannot say that south is not greater than north
            failed += [each.failure_info.failure for each in done if each.failure_info is not None]
            if answer is not None:
                seen.setdefault(event.recorder.cases[case].value.operation.label, set()).add(answer.status_code)
    return failed, seen, checks


def test_no_request_breaks_the_service_or_what_the_document_says(lasting):
    failed, seen, checks = run_of(*lasting)
    assert [f"{each.operation}: {each.title}: {each.message}" for each in failed] == []
    assert checks > 2000
    for label, statuses in seen.items():
        assert any(200 <= status < 300 for status in statuses), f"{label} was never asked well: {statuses}"


@pytest.mark.parametrize("wrong", ["an answer that is not described", "an error of the server"])
def test_what_is_wrong_would_be_found(lasting, monkeypatch, wrong):
    app, operator = lasting
    from shoal.locations import device_routes

    if wrong.startswith("an answer"):
        monkeypatch.setattr(
            device_routes,
            "answered",
            lambda held, status=200: device_routes.Response(b"{}", status, media_type="application/json"),
        )
    else:
        monkeypatch.setattr(Lasting, "locate", lambda *_: 1 / 0)
    monkeypatch.setattr("locations.test_openapi.EXAMPLES", 2, raising=False)
    failed, _, _ = run_of(app, operator)
    assert failed


def test_the_document_describes_every_status_in_words(standing):
    document = standing.app.openapi()
    assert document["info"]["title"] == "Shoal locations"
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            assert route["summary"]
            assert route["description"].endswith(".")
            assert {"429", "500", "503"} <= set(route["responses"]), path
            assert ("401" in route["responses"]) == (bool(route.get("security")) or path == "/v1/devices")
            assert ("422" in route["responses"]) == ("requestBody" in route or "parameters" in route)
            for answer in route["responses"].values():
                assert re.fullmatch(r"[A-Z`].*[.]", answer["description"]), (method, path, answer)


def test_the_document_names_the_k_that_are_offered(standing):
    schema = standing.app.openapi()["paths"]["/v1/devices"]["post"]["requestBody"]["content"]["application/json"][
        "schema"
    ]
    assert schema["properties"]["k"]["enum"] == [3, 6, None]
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["latitude", "longitude", "invitation"]


def test_both_kinds_of_credentials_are_described(standing):
    document = standing.app.openapi()
    assert set(document["components"]["securitySchemes"]) == {"device", "operator"}
    for path, methods in document["paths"].items():
        for route in methods.values():
            wanted = (
                [{"operator": []}] if path.startswith("/v1/operator") or path == "/metrics" else [{"device": []}]
            )
            assert route.get("security", wanted) == wanted
            assert ("security" in route) == (path not in ("/v1/devices", "/health", "/map"))
