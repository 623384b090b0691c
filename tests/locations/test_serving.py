"""The running service: its worker, signals, ports and certificates."""

import http.client
import os
import re
import signal
import socket
import sys
import time
from urllib.parse import urlsplit

import pytest

from locations.running import POLICY, Running, eventually, is_alive, running
from shoal import ShoalError
from shoal.errors import ShoalWarning
from shoal.locations.client import Device, ServiceError
from shoal.locations.keys import KeyRing
from shoal.locations.service import Service
from shoal.locations.serving import TLS, Serving, listening, serve, url_of

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")


def crowd(server, number=12):
    """Devices that have signed up over the network."""
    invitations = server.service.invite(number)
    return [Device.sign_up(server.url, each, 41.4 + place / 100, 2.1) for place, each in enumerate(invitations)]


def test_the_worker_draws_cells_while_the_server_answers(tmp_path):
    with running(tmp_path) as server:
        devices = crowd(server)
        assert eventually(lambda: devices[0].locate()), server.said
        assert all(device.locate().k == 3 for device in devices)
        assert server.stop() == 0


def test_what_was_acknowledged_is_there_after_a_restart(tmp_path):
    with running(tmp_path) as server:
        devices = crowd(server)
        eventually(lambda: devices[0].locate())
        devices[0].cancel()
        devices[1].move(41.45, 2.1)
        server.stop(signal.SIGKILL)
    with running(tmp_path) as server:
        for device in devices[1:]:
            assert Device(server.url, device.credential).locate().k == 3
        with pytest.raises(ServiceError, match="not known"):
            Device(server.url, devices[0].credential).locate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@needs_proc
def test_a_signal_ends_server_and_worker_without_a_fuss(tmp_path, number):
    with running(tmp_path) as server:
        (worker,) = eventually(server.workers)
        crowd(server, 2)
        assert server.stop(number) == 0
        assert not is_alive(worker)
        assert "Traceback" not in server.said


@needs_proc
def test_a_worker_that_dies_is_started_again(tmp_path):
    with running(tmp_path) as server:
        (first,) = eventually(server.workers)
        os.kill(first, signal.SIGKILL)
        (second,) = eventually(lambda: [each for each in server.workers() if each != first])
        devices = crowd(server)
        assert eventually(lambda: devices[0].locate()), server.said
        assert is_alive(second)
        assert "the worker ended with status -9; it is started again" in server.said


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@needs_proc
def test_the_worker_ends_when_its_parent_is_killed(tmp_path, number):
    with running(tmp_path) as server:
        (worker,) = eventually(server.workers)
        devices = crowd(server)
        eventually(lambda: devices[0].locate())
        if number == signal.SIGSTOP:  # stopped first, then killed: nobody can tell the worker
            os.kill(server.process.pid, number)
        os.kill(server.process.pid, signal.SIGKILL)
        assert eventually(lambda: not is_alive(worker), 10)


def test_the_promises_that_the_worker_has_checked_are_in_the_metrics(tmp_path):
    with running(tmp_path) as server:
        key = server.service.new_operator("Ada")
        crowd(server)

        def holds():
            return 'shoal_promise_holds{promise="places"} 1' in text_of(server, "/metrics", key)

        assert eventually(holds), server.said
        assert "shoal_worker_running 1" in text_of(server, "/metrics", key)
        assert eventually(lambda: "shoal_redraws_total 0" not in text_of(server, "/metrics", key))


def text_of(server, path, key):
    """The text of an answer to an operator."""
    host = urlsplit(server.url).netloc
    connection = http.client.HTTPConnection(host, timeout=30)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
        return connection.getresponse().read().decode()
    finally:
        connection.close()


@needs_proc
def test_neither_the_command_line_nor_the_environment_of_the_worker_shows_a_key(tmp_path):
    with running(tmp_path) as server:
        (worker,) = eventually(server.workers)
        secret = next(iter(KeyRing.load(server.keys).to_text().split('"1": "')[1:]))[:20]
        assert secret in server.keys.read_text()
        for name in ("cmdline", "environ"):
            with open(f"/proc/{worker}/{name}", "rb") as file:  # noqa: PTH123
                assert secret.encode() not in file.read()


def test_a_port_that_is_taken_is_one_clear_line(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = Running(tmp_path, port=port)
        assert server.stop() == 1
        (line,) = server.said.splitlines()
        assert line.startswith(
            f"shoal: cannot listen on 127.0.0.1 port {port}: Address already in use; choose another"
        )


@pytest.mark.parametrize(
    ("host", "port"),
    [("256.1.1.1", 1), ("no such host", 1), ("x" * 70, 1), ("127.0.0.1", 70000), ("192.0.2.1", 0)],
)
def test_an_address_that_is_not_ours_is_one_clear_line(host, port):
    with pytest.raises(ShoalError, match="--host|--port"), listening(host, port):
        pass


def test_the_url_says_where_it_listens():
    ring = KeyRing.fresh()
    with listening("127.0.0.1", 0) as listener:
        plain, tls = Serving(database="x", ring=ring), Serving(database="x", ring=ring, tls=TLS(certificate="c"))
        port = listener.getsockname()[1]
        assert url_of(plain, listener) == f"http://127.0.0.1:{port}"
        assert url_of(tls, listener) == f"https://127.0.0.1:{port}"


def test_plain_text_over_a_network_is_warned_of(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.locations.serving.Service.open", lambda *_: 1 / 0)
    serving = Serving(database=str(tmp_path / "x.db"), ring=KeyRing.fresh(), host="0.0.0.0", port=0)
    with pytest.warns(ShoalWarning, match="as plain text"), pytest.raises(ZeroDivisionError):
        serve(serving)


def test_a_certificate_that_cannot_be_used_is_one_clear_line(tmp_path):
    (tmp_path / "wrong.pem").write_text("no certificate")
    for name in ("wrong.pem", "missing.pem"):
        serving = Serving(
            database=str(tmp_path / "x.db"), ring=KeyRing.fresh(), port=0, tls=TLS(certificate=tmp_path / name)
        )
        with pytest.raises(ShoalError, match=f"cannot use .*{name} for TLS"):
            serve(serving)


def test_secrets_do_not_show_when_settings_are_printed():
    ring = KeyRing.fresh()
    shown = repr(Serving(database="x", ring=ring, tls=TLS(certificate="c", password="open sesame")))
    assert "open sesame" not in shown
    assert all(key not in shown for key in re.findall(r'"([A-Za-z0-9_=-]{40,})"', ring.to_text()))


def test_nothing_of_requests_is_on_the_console_unless_asked_for(tmp_path):
    for log in (False, True):
        folder = tmp_path / str(log)
        folder.mkdir()
        with running(folder, log_requests=log) as server:
            device = crowd(server, 1)[0]
            text_of(server, f"/v1/location?latitude=41.403611&key={device.credential}", device.credential)
            assert server.stop() == 0
            assert ("GET /v1/location 200" in server.said) is log
            assert "41.4" not in server.said
            assert device.credential[4:] not in server.said


def test_a_request_that_is_no_http_is_answered_and_logged_without_its_text(tmp_path):
    with running(tmp_path) as server:
        host, port = urlsplit(server.url).hostname, urlsplit(server.url).port
        for text in (b"41.403611 shd_secret\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\r\n\r\n"):
            with socket.create_connection((host, port), timeout=10) as connection:
                connection.sendall(text)
                assert connection.recv(1000).startswith(b"HTTP/1.1 400")
        assert text_of(server, "/health", "x") == '{"status":"ok"}'
        server.stop()
        assert "41.403611" not in server.said
        assert "secret" not in server.said


def test_a_chunked_body_without_a_length_is_cut_off(tmp_path):
    with running(tmp_path) as server:
        host, port = urlsplit(server.url).hostname, urlsplit(server.url).port
        with socket.create_connection((host, port), timeout=10) as connection:
            connection.sendall(
                b"POST /v1/devices HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n" + (b"1000\r\n" + b"[" * 4096 + b"\r\n") * 2
            )
            assert connection.recv(1000).startswith(b"HTTP/1.1 413")


def test_a_database_that_cannot_be_opened_leaves_no_server_behind(tmp_path):
    serving = Serving(database=str(tmp_path / "no folder" / "x.db"), ring=KeyRing.fresh(), port=0)
    with pytest.raises(ShoalError, match="cannot open"):
        serve(serving)


def test_a_server_stops_soon_although_a_connection_is_kept_open(tmp_path):
    with running(tmp_path) as server:
        host, port = urlsplit(server.url).hostname, urlsplit(server.url).port
        with socket.create_connection((host, port), timeout=10) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 200")
            begun = time.monotonic()
            assert server.stop() == 0
            assert time.monotonic() - begun < 30


def test_the_policy_of_a_database_holds_when_it_is_served_without_one(tmp_path):
    with running(tmp_path) as server:
        (invitation,) = server.service.invite()
        Device.sign_up(server.url, invitation, 1, 2, k=3)
        assert Service.open(str(server.database), KeyRing.load(server.keys)).policy == POLICY


def failures_from(server, address):
    """The last status of so many failures that an address is refused, told to come from there by a proxy."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)
    try:
        for _ in range(40):
            connection.request("GET", "/v1/location", headers={"X-Forwarded-For": address})
            answer = connection.getresponse()
            answer.read()
        return answer.status
    finally:
        connection.close()


def test_a_proxy_on_this_machine_says_who_asks(tmp_path):
    with running(tmp_path, unlimited=False) as server:
        assert failures_from(server, "192.0.2.1") == 429
        assert text_of(server, "/health", "x") == '{"status":"ok"}', "others are not held up"


def test_what_a_caller_says_about_its_address_is_not_believed_unless_it_is_a_proxy(tmp_path):
    with running(tmp_path, unlimited=False, proxies="192.0.2.200") as server:
        assert failures_from(server, "192.0.2.1") == 429
        assert failures_from(server, "192.0.2.2") == 429
        assert "too many requests" in text_of(server, "/health", "x")
