import pandas as pd
import pytest

import shoal
from shoal.inspection import patterns


def gaps_of(table, tmp_path, monkeypatch, size=1000):
    path = tmp_path / "t.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    monkeypatch.setattr("shoal.files.batches.GROUP", size)
    return shoal.inspect(path, header=True)


AGE = [20 + number * 7 % 31 for number in range(40)]


@pytest.mark.parametrize("size", [3, 1000])
@pytest.mark.parametrize(
    ("sex", "jobs", "policy", "counts"),
    [
        (["f", "m"] * 20, ["a", "b"] * 20, None, None),
        ([None] * 5 + ["m"] * 35, ["a", "b"] * 20, "pattern", (5, 2, 0, 0)),
        ([None] * 5 + ["m"] * 35, [None] * 8 + ["b"] * 32, "blank", (13, 3, 1, 3)),
        ([None] * 4 + ["m"] * 36, ["a", "b"] * 20, "value", (4, 2, 1, 36)),
    ],
)
def test_what_suits_the_patterns_of_gaps(tmp_path, monkeypatch, size, sex, jobs, policy, counts):
    found = gaps_of({"age": AGE, "sex": sex, "job": jobs}, tmp_path, monkeypatch, size)
    if policy is None:
        assert found.gaps is None
    else:
        assert (found.gaps.policy, found.gaps.gaps, found.gaps.patterns, found.gaps.rare, found.gaps.blanked) == (
            policy,
            *counts,
        )
        assert f"--gaps {policy}" in found.gaps.reason
        assert found.options() == {"gaps": policy}
    assert shoal.anonymize(tmp_path / "t.csv", k=5, **found.roles(), **found.options())


def test_marks_are_gaps(tmp_path, monkeypatch):
    found = gaps_of({"age": [*AGE[:-6], *[-9] * 6], "sex": ["f", "m"] * 20}, tmp_path, monkeypatch)
    assert found.options() == {"gap_values": {"age": ("-9",)}, "gaps": "pattern"}
    release = shoal.anonymize(tmp_path / "t.csv", k=5, **found.roles(), **found.options())
    assert release.manifest["figures"]["gaps_age"]["details"]["written"] == {"-9": 6}


def test_too_many_patterns_are_not_tried(tmp_path, monkeypatch):
    monkeypatch.setattr(patterns, "_MOST", 1)
    found = gaps_of({"age": AGE, "sex": [None] * 4 + ["m"] * 36}, tmp_path, monkeypatch)
    assert (found.gaps.blanked, found.gaps.policy) == (None, "value")
    assert "would blank" not in found.gaps.reason
