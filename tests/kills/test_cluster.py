"""A small form of `make cluster-kills`."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("distributed")


@pytest.mark.skipif(not hasattr(sys, "addaudithook") or sys.platform == "win32", reason="there is no fork here")
def test_a_job_survives_the_kill_of_its_worker_scheduler_and_client():
    target = str(Path(__file__).with_name("cluster.py"))
    command = [sys.executable, target, "--cases", "3", "--seed", "17"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 cases, all promises kept" in done.stdout
