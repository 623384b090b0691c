"""A small form of `make kills`."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not hasattr(sys, "addaudithook") or sys.platform == "win32", reason="there is no fork here")
def test_killed_starved_and_crowded_runs_leave_nothing_half_written():
    target = str(Path(__file__).with_name("target.py"))
    command = [sys.executable, target, "--cases", "6", "--seed", "16", "--forks"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 cases, all promises kept" in done.stdout
