import json
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import urllib.request

import pytest

from locations.town import homes
from shoal.locations import command
from shoal.locations.keys import VARIABLE, KeyRing
from shoal.locations.service import Service


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)
    return tmp_path


@pytest.fixture
def made(here):
    """A database with its keys, and a few devices."""
    service = Service.open("locations.db", KeyRing.create(here / "locations.keys"))
    credentials = [service.sign_up(one, *home) for one, home in zip(service.invite(24), homes(24), strict=True)]
    while service.work():
        pass
    service.close()
    return credentials


def test_the_service_runs_with_examples_and_its_promises_can_be_checked(here):
    serve = [sys.executable, "-m", "shoal", "locations", "serve", "--example", "60", "--port", "0"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        said = []
        for line in process.stdout:
            said.append(line)
            if "its map" in line:
                break
        try:
            url = re.search(r"http://127\.0\.0\.1:\d+", "".join(said)).group()
            key = re.search(r"sho_[\w-]+", "".join(said)).group()
            asked = urllib.request.Request(
                f"{url}/v1/operator/figures", headers={"Authorization": f"Bearer {key}"}
            )
            with urllib.request.urlopen(asked, timeout=30) as answer:
                assert json.load(answer)["classes"][0]["cells"] > 3
            with urllib.request.urlopen(f"{url}/map", timeout=30) as answer:
                assert answer.status == 200
            check = [sys.executable, "-m", "shoal", "locations", "check"]
            found = subprocess.run(check, capture_output=True, text=True, timeout=120, check=False)
        finally:
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=60)
    assert found.returncode == 0, found.stderr
    assert found.stdout.count(": holds. ") == 7
    assert process.returncode in (0, 128 + signal.SIGTERM), errors
    assert "60 devices of an invented city are signed up" in said[0]
    assert stat.S_IMODE((here / "locations.keys").stat().st_mode) == 0o600 or os.name != "posix"


def test_check_says_what_is_broken_with_status_1(made, run):
    with sqlite3.connect("locations.db") as connection:
        connection.execute("DELETE FROM devices WHERE id > 3")
    status, out, _ = run("locations check")
    assert status == 1
    assert "k at every moment: BROKEN by" in out
    status, out, _ = run("locations check --json")
    assert status == 1
    assert {row["promise"]: bool(row["broken"]) for row in json.loads(out)}["k at every moment"]


def test_checking_makes_no_database(here, run):
    status, _, err = run("locations check --database none.db")
    assert (status, "there is no database none.db; name it with --database" in err) == (2, True)
    assert list(here.iterdir()) == []


def test_invitations_and_operator_keys_are_printed_one_a_line(made, run):
    status, out, _ = run("locations invite 3 --devices 2")
    assert (status, [line[:4] for line in out.splitlines()]) == (0, ["shi_"] * 3)
    status, out, _ = run("locations operator Ada")
    assert (status, out[:4], len(out.splitlines())) == (0, "sho_", 1)
    assert run("locations redraw -k 5")[0] == 0
    status, _, err = run("locations redraw -k 7")
    assert (status, "k must be one of 5" in err) == (2, True)


def test_rotated_keys_open_every_home_and_the_old_ones_none(made, run, here):
    old = KeyRing.load(here / "locations.keys")
    status, out, _ = run("locations rotate-keys")
    assert (status, "sealed with key 2" in out) == (0, True)
    ring = KeyRing.load(here / "locations.keys")
    assert set(ring.keys) == {2}
    service = Service.open("locations.db", ring)
    assert service.locate(made[0]) is not None
    service.ask_redraw("test")
    while service.work():
        pass
    service.close()
    with sqlite3.connect("locations.db") as connection:
        assert connection.execute("SELECT DISTINCT key FROM devices").fetchall() == [(2,)]
    assert old.present == 1


def test_keys_in_the_environment_cannot_be_rotated(made, run, here, monkeypatch):
    monkeypatch.setenv(VARIABLE, (here / "locations.keys").read_text())
    status, _, err = run("locations rotate-keys")
    assert (status, "put them into a file" in err) == (2, True)
    assert run("locations invite")[0] == 0


def test_a_database_without_its_keys_is_not_begun_anew(made, run, here):
    (here / "locations.keys").unlink()
    status, _, err = run("locations serve --port 0")
    assert (status, "but not its keys" in err) == (2, True)
    assert not (here / "locations.keys").exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("serve -k 5,six", "whole numbers with commas"),
        ("serve -k 1", "at least 2"),
        ("serve --admission maybe", "one of join, cohort"),
        ("serve --host nowhere.invalid", "no address"),
        ("serve --database postgresql://127.0.0.1:1/none", "name the file of the keys"),
        ("invite --database postgresql://127.0.0.1:1/none --keys ring.keys", "cannot"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(here, run, line, words):
    status, out, err = run(f"locations {line}")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert words in err


def test_a_missing_extra_is_named_with_its_cure(here, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    status, _, err = run("locations check")
    assert status == 2
    assert "the location service needs sqlalchemy, which is not installed; pip install 'shoal[locations]'" in err


def test_the_command_loads_nothing_of_the_extra_before_it_runs():
    code = "import sys, shoal.cli; print([m for m in ('sqlalchemy', 'fastapi', 'alembic', 'uvicorn') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_rates_of_zero_are_no_limit():
    assert command.rate(0, None) is None
    assert command.rate(10, None).at_once == 40


def test_a_simulated_city_is_written_down(here, run):
    status, out, _ = run("locations simulate city --devices 60 --steps 3 -k 3")
    assert status == 0
    assert "Every promise held after every step." in out
    assert sorted(path.name for path in (here / "city").iterdir()) == [
        "anonymity.svg",
        "distortion.svg",
        "simulation.json",
        "steps.csv",
    ]
    status, _, err = run("locations simulate city --devices 60 --steps 3 -k 3")
    assert (status, "exists already" in err) == (2, True)
