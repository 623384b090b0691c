"""The published losses of DBA-2 and of MDAV with DBA's second phase, and what the other methods lose."""

import pytest
from published import figures, points_of, second_phase

from shoal import DBA, DBA2P, GSMST2, MDAV, Genetic
from shoal.methods.mdav import one_group, pairs_of_groups
from shoal.steps.peeling import Peeling


@pytest.mark.parametrize("name", ["census", "tarragona"])
def test_dba_2_gives_the_published_losses(shared, name):
    published = figures(shared)["literature"]
    X = points_of(shared, name)
    losses = [DBA(k=k).fit(X).information_loss_ for k in published["k"]]
    assert losses == pytest.approx(published[name]["dba_2"], abs=1e-6)


def test_mdav_with_the_second_phase_gives_the_published_losses(shared):
    published = figures(shared)["literature"]
    for name in ("census", "tarragona"):
        X = points_of(shared, name)
        for k, printed in zip(published["k"], published[name]["mdav_2"], strict=True):
            loss = second_phase(X, MDAV(k=k).fit(X).labels_.copy(), k)
            if (name, k) == ("tarragona", 3):
                printed += 0.3  # printed as 16.382614: all other digits agree
            if (name, k) == ("tarragona", 10):
                assert loss == pytest.approx(33.179643, abs=1e-6)
                loss = second_phase(X, mdav_whose_last_group_has_k(X, k), k)
            assert loss == pytest.approx(printed, abs=1e-6)


def mdav_whose_last_group_has_k(X, k):
    """Where k to 2k - 1 records are left, one more group of k is formed and the others join the nearest."""
    peeling = Peeling(X, k, None)
    peeling.run(pairs_of_groups, floor=2 * k)
    peeling.run(one_group, floor=k, most=1)
    return peeling.group_the_rest()


@pytest.mark.parametrize("name", ["census", "tarragona"])
def test_successive_group_selection_beats_mdav_before_its_second_phase_but_for_one_case(shared, name):
    X = points_of(shared, name)
    for k in (3, 5, 10):
        mdav = MDAV(k=k).fit(X).information_loss_
        one, two = (GSMST2(k=k, phases=phases).fit(X).information_loss_ for phases in (1, 2))
        assert two <= one
        assert one < (1.002 if (name, k) == ("tarragona", 10) else 1) * mdav


def test_what_the_other_methods_lose_has_not_changed(shared):
    census, tarragona = points_of(shared, "census"), points_of(shared, "tarragona")
    assert DBA2P(k=5).fit(census).information_loss_ == pytest.approx(8.6950, abs=1e-4)
    assert DBA2P(k=5, p=8).fit(tarragona).information_loss_ == pytest.approx(23.1291, abs=1e-4)
    assert GSMST2(k=3).fit(census).information_loss_ == pytest.approx(5.5326, abs=1e-4)
    assert Genetic(k=10, generations=100).fit(tarragona).information_loss_ == pytest.approx(33.2752, abs=1e-4)
