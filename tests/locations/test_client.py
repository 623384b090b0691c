import datetime
import ipaddress
import json
import ssl
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from locations.running import eventually, running
from shoal import ShoalError
from shoal.locations.client import Device, ServiceError


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("client")) as found:
        yield found


def test_a_device_signs_up_asks_moves_and_cancels(server):
    invitations = server.service.invite(8)
    devices = [Device.sign_up(server.url, each, 41.4 + i / 100, 2.1) for i, each in enumerate(invitations)]
    centroid = eventually(devices[0].locate)
    assert centroid.k == 3
    assert abs(centroid.latitude - 41.4) < 0.1
    first = devices[0].credential
    devices[0].move(41.5, 2.2)
    assert devices[0].credential != first
    assert devices[0].locate() is None or devices[0].locate().k == 3
    devices[0].cancel()
    with pytest.raises(ServiceError, match="not known") as refused:
        devices[0].locate()
    assert refused.value.status == 401


def test_a_device_of_a_class_that_has_not_begun_gets_none(tmp_path):
    with running(tmp_path) as server:
        (invitation,) = server.service.invite()
        assert Device.sign_up(server.url, invitation, -33.8, 151.2, k=3).locate() is None


def test_what_the_service_refuses_is_told_in_its_words(server):
    (invitation,) = server.service.invite()
    with pytest.raises(ServiceError, match="latitude must be a number from -90 to 90") as refused:
        Device.sign_up(server.url, invitation, 95, 2)
    assert refused.value.status == 422
    with pytest.raises(ServiceError, match="the credential is missing or not known"):
        Device.sign_up(server.url, "shi_nobody", 41.4, 2.1)
    with pytest.raises(ServiceError, match="not JSON"):
        Device.sign_up(server.url, invitation, float("nan"), 2)


def test_without_a_service_there_is_one_line():
    with pytest.raises(ServiceError, match="no answer from 127.0.0.1:1: ConnectionRefusedError") as none:
        Device("http://127.0.0.1:1", "shd_x").locate()
    assert none.value.status == 0


@pytest.mark.parametrize(
    "url",
    ["http://locations.example", "http://192.0.2.1:8400", "ftp://127.0.0.1", "127.0.0.1:8400", "", "https://",
     "https://ada:secret@locations.example", "https://locations.example/?a=1", "http://127.0.0.1.example"],
)  # fmt: skip
def test_a_home_is_not_sent_as_plain_text_or_to_an_odd_place(url):
    with pytest.raises(ShoalError, match="https"):
        Device(url, "shd_x")


def test_a_device_that_is_printed_does_not_show_its_credential():
    assert repr(Device("https://locations.example", "shd_secret")) == "Device('https://locations.example')"


@contextmanager
def answering(status, body=b"", **headers):
    """A server that always gives the same answer; what it was asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


def test_a_redirect_does_not_lead_the_credential_elsewhere():
    with answering(200, b'{"answer": "not yet"}') as (other, asked):
        with answering(307, Location=f"{other}/v1/location") as (url, _), pytest.raises(ServiceError) as refused:
            Device(url, "shd_x").locate()
        assert refused.value.status == 307
        assert asked == []


def test_when_to_come_again_is_told():
    body = json.dumps({"error": "too many requests; come again later"}).encode()
    with (
        answering(429, body, Retry_After="7") as (url, _),
        pytest.raises(ServiceError, match="come again") as later,
    ):
        Device(url, "shd_x").locate()
    assert later.value.wait == 7


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"\xff", b"1"])
def test_an_answer_that_is_not_of_the_service_is_one_line(body):
    with answering(502, body) as (url, _), pytest.raises(ServiceError, match="the service answered 502"):
        Device(url, "shd_x").locate()
    with answering(200, body) as (url, _), pytest.raises(ServiceError, match="the service answered 200"):
        Device(url, "shd_x").locate()


def test_a_path_before_the_routes_is_kept():
    with answering(200, b'{"answer": "not yet"}') as (url, asked):
        assert Device(url + "/shoal/", "shd_x").locate() is None
    assert asked[0][0] == "/shoal/v1/location"
    assert asked[0][1]["Authorization"] == "Bearer shd_x"


@pytest.fixture
def certificate(tmp_path):
    """A certificate for this machine that signs itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "locations")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder(
            name, name, key.public_key(), x509.random_serial_number(), now, now + datetime.timedelta(1)
        )
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    (tmp_path / "certificate.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    content = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    (tmp_path / "key.pem").write_bytes(content)
    return tmp_path


def test_over_tls_the_certificate_is_checked(certificate):
    tls = {"certificate": str(certificate / "certificate.pem"), "key": str(certificate / "key.pem")}
    with running(certificate, tls=tls) as server:
        assert server.url.startswith("https://")
        (invitation,) = server.service.invite()
        with pytest.raises(ServiceError, match="SSLCertVerificationError"):
            Device.sign_up(server.url, invitation, 41.4, 2.1)
        context = ssl.create_default_context(cafile=str(certificate / "certificate.pem"))
        assert Device.sign_up(server.url, invitation, 41.4, 2.1, context=context).locate() is None
