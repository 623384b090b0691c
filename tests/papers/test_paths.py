"""The published losses of MHM on a path, IMHM and its randomised form."""

import numpy as np
import pytest
from published import figures, points_of, sim_1, sim_2, zscores

from shoal import IMHM, MDAV, PathMHM


@pytest.mark.parametrize("name", ["census", "tarragona"])
def test_rows_through_groups_lose_what_was_published_or_less(shared, name):
    published = figures(shared)["literature"]
    X = points_of(shared, name)
    for order, tolerance in (("mdav", 0.01), ("md", 0.01), ("cbfs", 0.01), ("npn", 0.08)):
        losses = [PathMHM(k=k, order=order).fit(X).information_loss_ for k in published["k"]]
        assert len(losses) == 3
        for loss, printed in zip(losses, published[name][f"{order}_mhm"], strict=True):
            assert loss <= printed * (1 + tolerance)


@pytest.mark.parametrize("name", ["tarragona", "census", "eia"])
def test_imhm_loses_what_was_published_or_less(shared, name):
    published = figures(shared)["casc"]
    X = points_of(shared, name)
    for k, printed in zip(published["k"], published["imhm"][name], strict=True):
        blocks = 4 if name == "eia" and k < 100 else 1
        losses = [
            IMHM(k=k, objective=objective, blocks=blocks).fit(X).information_loss_
            for objective in ("distance", "squared")
        ]
        last_digit = 0.5 * 10.0 ** -len(str(printed).split(".")[1])
        assert losses[0] <= (printed * 1.005 if name == "eia" else printed + max(last_digit, 5e-5) + 1e-9)
        assert min(losses) <= printed + max(last_digit, 5e-6) + 1e-9


@pytest.mark.parametrize(("name", "k"), [("census", 10), ("census", 100), ("tarragona", 25), ("tarragona", 100)])
def test_the_randomised_form_is_within_the_published_spread(shared, name, k):
    published = figures(shared)["casc"]
    X = points_of(shared, name)
    at = published["k"].index(k)
    losses = [IMHM(k=k, randomness=0.1, random_state=seed).fit(X).information_loss_ for seed in range(10)]
    spread = published["rimhm"][f"{name}_spread"][at]
    assert np.mean(losses) == pytest.approx(published["rimhm"][name][at], abs=spread)


def test_the_plane_is_divided_as_in_the_figures(shared):
    """Figures 6 and 7: the points are not given, so their losses are held against a number of draws."""
    published = figures(shared)["imhm_plane"]
    for name, data, k, blocks in (
        ("uniform_200_k35", lambda rng: rng.random((200, 2)), 35, 1),
        ("gaussian_10000_k1111", lambda rng: rng.normal(size=(10_000, 2)), 1111, 2),
    ):
        draws = [zscores(data(np.random.default_rng(seed))) for seed in range(8)]
        for method, model in (("mdav", MDAV(k=k)), ("imhm", IMHM(k=k, blocks=blocks))):
            losses = [model.fit(X).information_loss_ for X in draws]
            assert published[name][method] == pytest.approx(np.mean(losses), abs=2 * np.std(losses))


@pytest.mark.parametrize(("data", "name", "tolerance"), [(sim_1, "sim_1", 0.025), (sim_2, "sim_2", 0.1)])
def test_imhm_loses_what_was_published_on_simulated_data(shared, data, name, tolerance):
    published = figures(shared)["simulated"]
    rng = np.random.default_rng(0)
    tables = [data(rng) for _ in range(25)]
    for at, k in enumerate(published["k"]):
        mean = np.mean([IMHM(k=k).fit(X).information_loss_ for X in tables])
        assert mean == pytest.approx(published[name]["imhm"][at], rel=tolerance)
