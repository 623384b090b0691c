"""The published losses of mu-Approx and of the minimum spanning tree heuristic M-d."""

import numpy as np
import pytest
from published import figures, loss_in_distances, points_of, zscores

from shoal import MSTPartition, MuApprox
from shoal.datasets import sme

MISPRINT = ("l_e", "census", 3)  # 25.35, where every run gives about 23.2 and MDAV 22.97
UNLUCKY = ("l_sse", "eia", 5)  # ten groups decide: 0.83 to 1.05 over twenty seeds, 0.83 in file order


@pytest.mark.parametrize(("name", "seeds"), [("tarragona", 20), ("census", 20), ("eia", 5)])
def test_mu_approx_gives_the_published_losses(shared, name, seeds):
    published = figures(shared)["mu_approx"]
    X = points_of(shared, name)
    for at, k in enumerate(published["k"]):
        models = [MuApprox(k=k, random_state=seed).fit(X) for seed in range(seeds)]
        losses = {
            "l_sse": np.mean([model.information_loss_ for model in models]),
            "l_e": np.mean([loss_in_distances(X, model) for model in models]),
        }
        for measure, loss in losses.items():
            tolerance = {MISPRINT: 0.1, UNLUCKY: 0.15}.get((measure, name, k), 0.06)
            assert loss == pytest.approx(published[measure][name][at], rel=tolerance), (measure, k)


@pytest.mark.parametrize("name", ["tarragona", "census", "eia"])
def test_mu_approx_in_file_order_comes_closer(shared, name):
    published = figures(shared)["mu_approx"]
    X = points_of(shared, name)
    for at, k in enumerate(published["k"]):
        model = MuApprox(k=k).fit(X)
        assert model.information_loss_ < 1.035 * published["l_sse"][name][at]
        assert loss_in_distances(X, model) < 1.015 * published["l_e"][name][at]


def test_mu_approx_groups_the_companies_as_published(shared):
    X = zscores(np.column_stack([sme()["surface"], sme()["employees"]]).astype(float))
    for seed in (None, *range(20)):
        model = MuApprox(k=3, random_state=seed).fit(X)
        assert model.sse_ == pytest.approx(figures(shared)["sme"]["sse_mu_approx"], abs=5e-5)


@pytest.mark.parametrize("split", ["d", "mdav"])
@pytest.mark.parametrize("name", ["tarragona", "census"])
def test_the_spanning_tree_gives_the_published_losses(shared, name, split):
    published = figures(shared)["mu_approx"]
    X = points_of(shared, name)
    losses = [MSTPartition(k=k, split=split).fit(X).information_loss_ for k in published["k"]]
    assert losses == pytest.approx(published["m_d"][name], rel=0.005)
