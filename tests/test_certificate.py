from math import inf

import numpy as np
import pandas as pd
import pytest

import naive
import shoal
from shoal import MDAV, Optimal
from shoal.bounds import LowerBound
from shoal.certificate import Certificate, certify, percent


@pytest.mark.parametrize("seed", range(30))
def test_what_is_said_holds_for_the_optimum(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(6, 12)), int(rng.integers(2, 5))
    X = rng.integers(0, 4, (n, 2)).astype(float) if seed % 3 == 0 else rng.normal(size=(n, 2))
    partition = MDAV(k=k).fit(X).partition_
    optimum = naive.optimum_by_subsets(X, k)
    for seconds in (0, 0.5):
        proven = certify(X, partition, seconds)
        assert partition.sse <= optimum * (1 + proven.gap) * (1 + 1e-9) + 1e-12


def test_the_optimum_is_called_optimal():
    X = np.random.default_rng(1).normal(size=(14, 2))
    proven = certify(X, Optimal(k=3).fit(X).partition_, 5)
    assert proven.gap < 0.05
    line = certify(X[:, :1], shoal.UnivariateOptimal(k=3).fit(X[:, :1]).partition_, 1)
    assert line.is_optimal
    assert str(line) == "optimal: no other groups lose less"


def test_nothing_is_claimed_that_is_not_proven():
    assert Certificate(2.0, LowerBound(0.0)).gap == inf
    assert "nothing is proven" in str(Certificate(2.0, LowerBound(0.0)))
    assert Certificate(0.0, LowerBound(0.0)).gap == 0.0
    assert str(Certificate(1.003, LowerBound(1.0))) == "at most 0.31 % above the optimum"
    assert str(Certificate(1.2, LowerBound(1.0))) == "at most 21 % above the optimum"
    assert str(Certificate(1.0011, LowerBound(1.0))) == "at most 0.12 % above the optimum"


def test_only_what_agrees_within_rounding_is_called_optimal():
    assert str(Certificate(1.0 + 1e-9, LowerBound(1.0))) == "optimal: no other groups lose less"
    for gap in (1e-8, 1e-5, 0.00099):
        close = Certificate(1.0 + gap, LowerBound(1.0))
        assert not close.is_optimal
        assert str(close) == "within 0.1 % of the optimum"


@pytest.mark.parametrize("gap", [1e-7, 0.00123, 0.05, 0.0999, 0.1234, 0.5, 7.0])
def test_a_gap_is_rounded_up(gap):
    said = float(percent(gap).split()[0]) / 100
    assert gap <= said <= gap + (0.01 if gap > 0.1 else 0.0001) + 1e-12


def test_a_release_carries_its_certificate(tmp_path):
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40), "c": range(40)})
    release = shoal.anonymize(table, k=3, quasi_identifiers=["a", "b"], confidential=["c"])
    seen = []
    proven = release.certificate(1.0, progress=seen.append)
    assert seen == sorted(seen)
    assert release.manifest["figures"]["certificate"]["details"]["says"] == str(proven)
    assert release.manifest["figures"]["certificate"]["details"]["lower_bound"] <= release.partition.sse
    release.write(tmp_path / "safe.csv")
    assert str(proven) in (tmp_path / "safe.csv.manifest.json").read_text()
    release.report(tmp_path / "safe.html")
    assert str(proven) in (tmp_path / "safe.html").read_text()


def test_a_certificate_holds_under_privacy_models_and_says_what_the_gap_includes():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(10, 2))
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": list("xyxyxyxyxy")})
    release = shoal.anonymize(
        table, k=2, quasi_identifiers=["a", "b"], confidential=["c"], models=[shoal.LDiversity(2, on="c")]
    )
    with pytest.warns(shoal.ShoalWarning, match="what the models cost is part of the gap"):
        proven = release.certificate(1.0)

    def allowed(group):
        return len(set(table["c"].iloc[list(group)])) >= 2

    least = naive.constrained_optimum(release.space.points, 2, allowed)
    assert 0 < proven.bound <= least <= release.partition.sse * (1 + 1e-9)
