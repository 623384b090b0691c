"""The published distortions of PCL, in a short form; benchmarks/pcl.py has all of them."""

import numpy as np
import pandas as pd
import pytest
from published import figures, points_of, zscores

from shoal import MDAV, PCL


@pytest.mark.parametrize("k", [5, 25, 50, 100])
def test_census_stays_at_or_below_the_published_distortions(shared, k):
    published = figures(shared)["pcl_census"]
    X = points_of(shared, "census")
    loss = PCL(k=k, random_state=0).fit(X).information_loss_ / 100
    assert loss <= published["pcl"][published["k"].index(k)] + 0.0005


@pytest.mark.parametrize("solver", ["transport", "levenberg-marquardt"])
@pytest.mark.parametrize(("rho", "key"), [(0.0, "reduction_rho_0"), (0.5, "reduction_rho_half")])
def test_gaussian_points_in_sixteen_cells(shared, rho, key, solver):
    covariance = np.array([[1, rho], [rho, 1]])
    X = np.random.default_rng(0).multivariate_normal([0, 0], covariance, 65_536, method="cholesky")
    speed = 1.0 if solver == "transport" else 0.5
    after = PCL(k=4096, cost_solver=solver, speed=speed, rounds=40).fit(X)
    assert after.sizes_.tolist() == [4096] * 16
    reduction = 1 - after.sse_ / MDAV(k=4096).fit(X).sse_
    assert reduction == pytest.approx(figures(shared)["pcl_gaussian"][key], abs=0.015)


def test_adult_at_k_2000_is_almost_a_third_below_mdav(shared):
    table = pd.read_csv(shared / "data" / "adult.csv.gz")
    X = zscores(table[["age", "education-num", "hours-per-week"]].to_numpy(float))
    start = MDAV(k=2000, until="3k")
    reduction = 1 - PCL(k=2000, start=start).fit(X).sse_ / start.fit(X).sse_
    assert reduction >= figures(shared)["pcl_adult"]["reduction_vs_mdav_at_k_2000"] - 0.01
