import os
import stat

import pytest

from shoal.errors import ShoalError, ShoalWarning
from shoal.locations.keys import DEVICE, OPERATOR, VARIABLE, KeyRing, digest_of, new_secret, same


def test_what_is_sealed_can_be_opened_for_its_own_row_only():
    ring = KeyRing.fresh()
    sealed = ring.seal(b"a home", "device:1")
    assert b"a home" not in sealed
    assert ring.open(sealed, 1, "device:1") == b"a home"
    with pytest.raises(ShoalError, match="cannot be opened"):
        ring.open(sealed, 1, "device:2")
    with pytest.raises(ShoalError, match="cannot be opened"):
        ring.open(sealed[:-1] + bytes([sealed[-1] ^ 1]), 1, "device:1")
    with pytest.raises(ShoalError, match="cannot be opened"):
        KeyRing.fresh().open(sealed, 1, "device:1")


def test_the_same_home_is_sealed_differently_each_time():
    ring = KeyRing.fresh()
    assert ring.seal(b"a home", "x") != ring.seal(b"a home", "x")


def test_a_rotated_ring_opens_what_the_old_one_sealed_until_it_forgets():
    old = KeyRing.fresh()
    sealed = old.seal(b"a home", "x")
    ring = old.rotated()
    assert ring.present == 2
    assert ring.open(sealed, 1, "x") == b"a home"
    assert ring.place(1, 2, 4) == old.place(1, 2, 4)
    with pytest.raises(ShoalError, match="which the ring does not have"):
        ring.without_old().open(sealed, 1, "x")


def test_only_the_owner_may_read_the_file_of_keys(tmp_path):
    ring = KeyRing.create(tmp_path / "ring.keys")
    assert stat.S_IMODE((tmp_path / "ring.keys").stat().st_mode) == 0o600
    assert KeyRing.load(tmp_path / "ring.keys") == ring
    with pytest.raises(ShoalError, match="exists already"):
        KeyRing.create(tmp_path / "ring.keys")


@pytest.mark.skipif(os.name != "posix", reason="other systems have other rights")
def test_keys_that_others_may_read_are_warned_of(tmp_path):
    KeyRing.create(tmp_path / "ring.keys")
    (tmp_path / "ring.keys").chmod(0o644)
    with pytest.warns(ShoalWarning, match="chmod 600"):
        KeyRing.load(tmp_path / "ring.keys")


def test_a_ring_may_stand_in_the_environment(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert KeyRing.from_environment() is None
    ring = KeyRing.fresh()
    monkeypatch.setenv(VARIABLE, ring.to_text())
    assert KeyRing.from_environment() == ring


@pytest.mark.parametrize(
    "text", ["", "{}", "secret", '{"ring": 1, "present": 1, "keys": {"1": "c2hvcnQ="}}', "[1]"]
)
def test_what_is_no_ring_is_refused_without_being_repeated(text, tmp_path):
    (tmp_path / "ring.keys").write_text(text)
    (tmp_path / "ring.keys").chmod(0o600)
    with pytest.raises(ShoalError, match="holds no ring of keys") as refused:
        KeyRing.load(tmp_path / "ring.keys")
    assert "secret" not in str(refused.value)
    assert "c2hv" not in str(refused.value)
    with pytest.raises(ShoalError, match="cannot read the keys"):
        KeyRing.load(tmp_path / "nowhere")


def test_a_ring_shows_no_key():
    ring = KeyRing.fresh()
    assert repr(ring) == "KeyRing(1 keys, number 1 is present)"


def test_places_agree_in_the_digits_that_count():
    ring = KeyRing.fresh()
    assert ring.place(51.50001, -0.12, 4) == ring.place(51.50004, -0.12, 4) != ring.place(51.5002, -0.12, 4)
    assert ring.place(0.0, 180.0, 4) == ring.place(-0.00001, -180.0, 4)
    assert ring.place(90.0, 12.0, 4) == ring.place(90.0, -70.0, 4) != ring.place(-90.0, 12.0, 4)
    assert ring.place(1.0, 1.0, 4) != KeyRing.fresh().place(1.0, 1.0, 4)


def test_a_credential_is_kept_by_what_it_is_for():
    secret = new_secret(DEVICE)
    assert secret.startswith("shd_")
    assert len(secret) == 4 + 43  # 256 bits
    assert secret != new_secret(DEVICE)
    assert digest_of(secret, DEVICE) == digest_of(secret, DEVICE) != digest_of(secret, OPERATOR)
    assert same(digest_of(secret, DEVICE), digest_of(secret, DEVICE))
    assert len(digest_of("\ud800 no text at all", DEVICE)) == 32
