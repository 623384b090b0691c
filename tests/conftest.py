import io
import os
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "shoal",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile(
    "nightly", settings.get_profile("shoal"), derandomize=False, max_examples=300, print_blob=True
)
settings.load_profile(os.environ.get("SHOAL_HYPOTHESIS", "shoal"))

SHARED = Path(os.environ.get("SHOAL_SHARED", Path(__file__).parents[1].parent / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the benchmark data and the published figures, which is not part of the project."""
    if not (SHARED / "data").is_dir():
        pytest.skip(f"the benchmark data are not at {SHARED}; set SHOAL_SHARED to their folder")
    return SHARED


@pytest.fixture
def people():
    """A small table with every role, as a dictionary of columns."""
    return {
        "name": ["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gil"],
        "age": [31, 33, 62, 29, 65, 64, 30],
        "weight": [61.5, 64.0, 80.2, 59.9, 77.7, 82.5, 63.1],
        "diagnosis": ["flu", "none", "gout", "flu", "none", "gout", "flu"],
    }


KEY = "000102030405060708090a0b0c0d0e0f"


@pytest.fixture
def same_key(monkeypatch):
    """The key that is drawn for the order of the rows: one for all releases, so that their bytes can be compared."""
    monkeypatch.setattr("shoal.settings.drawn_key", lambda: KEY)
    return KEY


@pytest.fixture
def run(monkeypatch, capfd):
    """Run a command line in this process; returns (status, standard output, standard error).

    No line says how far the work is: whether one does would depend on what has to be compiled, and on the machine.
    """
    from shoal import cli

    monkeypatch.setattr("shoal.progress.FIRST_LINE", float("inf"))
    monkeypatch.setattr("shoal.kernels.first_use.PATIENCE", float("inf"))

    def call(line, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["shoal", *shlex.split(line)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capfd.readouterr()
        return ended.value.code, out, err

    return call
