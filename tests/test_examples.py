"""The examples run as they are, and the output that the docs show is theirs."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


WARNED = {"clinic": ["postcode"]}  # of what the docs say that it is warned of


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_the_docs_show(path, tmp_path):
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, cwd=tmp_path, check=False)
    warned = [line for line in done.stderr.splitlines() if "ShoalWarning" in line]
    assert done.returncode == 0
    assert [line.split("'")[1] for line in warned] == WARNED.get(path.stem, [])
    assert bool(done.stderr) == bool(warned)
    assert done.stdout == path.with_suffix(".txt").read_text()
    assert list(tmp_path.iterdir()) == []
