"""The exact optimum and the losses of Domingo-Ferrer, Sebé and Solanas (2008), Sections 3 and 6."""

import numpy as np
import pytest
from published import figures, points_of, zscores

from shoal import MDAV, Optimal
from shoal.datasets import sme
from shoal.measures import l_e, l_sse


def test_the_optimum_of_the_eleven_companies(shared):
    published = figures(shared)["sme"]
    X = zscores(np.column_stack([sme()["surface"], sme()["employees"]]).astype(float))
    model = Optimal(k=3).fit(X)
    groups = [(np.flatnonzero(model.labels_ == g) + 1).tolist() for g in range(model.n_groups_)]
    assert groups == published["optimal_groups"]
    assert round(model.sse_, 4) == published["sse_optimal"]
    assert model.proven_


@pytest.mark.parametrize("name", ["tarragona", "census", "eia"])
def test_mdav_generic_gives_the_published_losses_in_distances(shared, name):
    """Table 5, to the printed digits but for two: Census has 26.50 for 26.53 and 36.53 for 36.62.

    The paper's L_SSE at these two, 7.51 and 14.22, is not that of MDAV elsewhere, 7.49 and 14.16, either.
    """
    published = figures(shared)["mu_approx"]
    X = points_of(shared, name)
    for k, printed in zip(published["k"], published["mdav_l_e"][name], strict=True):
        model = MDAV(k=k, until="3k").fit(X)
        loss = l_e(X, model.labels_)
        if name == "census" and k in (4, 10):
            assert loss == pytest.approx(printed, rel=0.003)
        else:
            assert round(loss, 2) == printed
        assert l_sse(X, model.labels_) == model.information_loss_


def test_optimal_sses_are_close_to_the_published_averages():
    """Table 6: five draws of 16 x 13 from N(0, 1); other draws, so only roughly."""
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(16, 13)) for _ in range(10)]
    for k, printed in ((2, 59.52), (3, 95.64), (4, 113.28), (5, 130.24), (6, 153.17)):
        models = [Optimal(k=k).fit(X) for X in tables]
        assert all(model.proven_ for model in models)
        assert np.mean([model.sse_ for model in models]) == pytest.approx(printed, rel=0.08)
