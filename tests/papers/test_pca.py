"""The claims of Rebollo-Monedero et al. (2019) on energy and distortion, on Census and on data shaped like theirs."""

import sys

import numpy as np
import pytest
from published import points_of

from shoal import MDAV, PCAReduced, ProximalDistal


def test_a_few_axes_hold_most_of_census(shared):
    spectrum = PCAReduced(MDAV(k=5)).fit(points_of(shared, "census")).spectrum_
    held = np.cumsum(spectrum) / spectrum.sum()
    for axes, published in ((1, 0.56), (5, 0.89), (6, 0.929), (9, 0.994)):
        assert held[axes - 1] == pytest.approx(published, abs=0.035)
        assert held[axes - 1] >= published


@pytest.mark.parametrize("k", [3, 5, 10])
def test_census_loses_less_than_two_points_by_90_percent_of_the_energy(shared, k):
    X = points_of(shared, "census")
    model = PCAReduced(MDAV(k=k), energy=0.9).fit(X)
    assert len(model.components_) == 5
    assert model.information_loss_ - MDAV(k=k).fit(X).information_loss_ < 2


@pytest.mark.parametrize("name", ["large_census", "forest"])
@pytest.mark.parametrize("k", [2, 10, 100])
def test_the_increments_stay_within_the_published_ones(shared, name, k):
    sys.path.insert(0, str(shared / "tools"))
    try:
        import large
    finally:
        sys.path.pop(0)
    X = getattr(large, name)(10_000)
    plain = MDAV(k=k).fit(X).information_loss_
    assert PCAReduced(MDAV(k=k), energy=0.9).fit(X).information_loss_ - plain < 2
    assert ProximalDistal(MDAV(k=k), energy=0.9).fit(X).information_loss_ - plain < 3
