"""Some fuzzed files, the same at every run; `make fuzz` tries thousands."""

from collections import Counter

import pytest
from generate import generate
from run import tried

IN_PROCESS = [f"tests:{number}" for number in range(60)]
AS_PROCESSES = [("process", "process:0"), ("process", "process:1"), ("pipe", "process:2"), ("pipe", "process:3")]


@pytest.mark.parametrize("label", IN_PROCESS)
def test_a_fuzzed_file_is_released_right_or_refused(label):
    result, reason = tried(label)
    assert result in ("released", "refused"), reason


@pytest.mark.parametrize(("how", "label"), AS_PROCESSES)
def test_a_fuzzed_file_is_released_right_or_refused_by_a_process(how, label):
    result, reason = tried(label, how)
    assert result in ("released", "refused"), reason


def test_refusing_everything_or_nothing_cannot_pass():
    verdicts = Counter(generate(label).verdict for label in IN_PROCESS)
    assert verdicts["release"] >= 25
    assert verdicts["refuse"] >= 3
