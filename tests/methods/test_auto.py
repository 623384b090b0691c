import json

import numpy as np
import pytest
from checks import passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given, settings

from samples import points
from shoal import MDAV, Auto, Blocked, Optimal, Refined, ShoalError, UnivariateOptimal, anonymize
from shoal.methods.auto import choose
from shoal.pipeline import released
from shoal.recipe import load_recipe


@settings(max_examples=25)
@given(points(most=60))
def test_every_group_has_k_records_whatever_is_chosen(sample):
    X, k = sample
    model = Auto(k=k).fit(X)
    assert model.sizes_.min() >= k
    assert model.reason_


@pytest.mark.parametrize(
    ("n", "varying", "k", "kind", "reason"),
    [
        (9, [0, 1], 5, MDAV, "only one way"),
        (1000, [], 5, MDAV, "all records are equal"),
        (1000, [2], 5, UnivariateOptimal, "one attribute varies"),
        (20, [0, 1], 3, Optimal, "proven"),
        (1000, [0, 1], 5, Refined, "exchanges between neighbouring groups and 1 round of annealing"),
        (10_000, [0, 1], 5, Blocked, "MDAV in one block, then 3 rounds"),
        (100_000, [0, 1], 5, Blocked, "5 blocks of 20000 records"),
        (4000, [0, 1], 500, Blocked, "PCL in one block"),
        (1_000_000, [0, 1], 5000, Blocked, "PCL in 4 blocks of 250000 records"),
        (10_000_000, [0, 1], 5000, MDAV, "no time for PCL"),
    ],
)
def test_the_choice_follows_from_the_table(n, varying, k, kind, reason):
    method, said = choose(n, varying, k)
    assert type(method) is kind
    assert method.k == k
    assert reason in said


def test_the_varying_attribute_is_cut_optimally_wherever_it_stands():
    X = np.ones((50, 3))
    X[:, 1] = np.random.default_rng(0).normal(size=50)
    assert Auto(k=4).fit(X).sse_ == UnivariateOptimal(k=4).fit(X[:, [1]]).sse_


def test_more_time_gives_more_rounds_and_more_jobs_the_same():
    rounds = [choose(10**6, [0, 1, 2], 5, seconds).method.sweeps for seconds in (0, 4, 8, 500)]
    assert rounds[0] == 0
    assert rounds == sorted(rounds)
    assert len(set(rounds)) == 4
    assert choose(10**6, [0, 1, 2], 5, 4, n_jobs=2).method.sweeps == rounds[1]


def test_enough_time_is_for_annealing_at_any_size():
    rounds = [choose(10_000, [0, 1], 5, seconds).method for seconds in (3, 13, 80, 10**6)]
    assert [type(method) for method in rounds] == [Blocked, Refined, Refined, Refined]
    assert [method.rounds for method in rounds[1:]] == [1, 2, 4]
    assert type(choose(10**6, [0, 1], 5, 5000).method.start) is Blocked


def test_the_seed_and_the_jobs_go_to_the_method():
    assert choose(1000, [0, 1], 5, n_jobs=2, seed=7).method.get_params()["random_state"] == 7
    X = np.random.default_rng(2).normal(size=(300, 3))
    assert np.array_equal(Auto(k=3, n_jobs=1).fit(X).labels_, Auto(k=3, n_jobs=2).fit(X).labels_)
    with pytest.raises(ShoalError, match="random_state"):
        Auto(k=3, random_state="x").fit(X)


def test_less_is_lost_than_by_mdav():
    X = np.random.default_rng(1).normal(size=(500, 4))
    assert Auto(k=5).fit(X).sse_ < 0.92 * MDAV(k=5).fit(X).sse_


def test_it_keeps_the_promises_of_every_method():
    passes_scikit_learns_checks(Auto(k=2))
    reports_progress_without_changing_the_groups(Auto(k=5))
    with pytest.raises(ShoalError, match="seconds must be a number of at least 0"):
        Auto(seconds=-1).fit(np.zeros((9, 2)))


def test_the_manifest_says_what_was_chosen_and_why_and_repeats_it(tmp_path):
    import pandas as pd

    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    release = anonymize(table, k=4, quasi_identifiers=["a", "b"], confidential=["c"], method="auto")
    method = release.manifest["method"]
    assert method["chosen"]["name"] == "Refined"
    assert method["chosen"]["parameters"]["start"] == {"name": "MDAV", "parameters": {"k": 4, "until": "2k"}}
    assert "1 round of annealing" in method["reason"]
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(release.manifest))
    again = released(table, load_recipe(path).settings)
    assert np.array_equal(again.labels, release.labels)


def test_few_records_that_are_all_as_far_from_each_other_are_not_proven():
    one_hot = np.eye(24)[np.arange(24)]
    assert type(Auto(k=5).fit(one_hot).chosen_).__name__ == "Refined"
    tied = np.eye(6)[np.arange(24) % 6]
    assert type(Auto(k=5).fit(tied).chosen_).__name__ == "Refined"
    assert type(Auto(k=5).fit(np.random.default_rng(0).normal(size=(24, 3))).chosen_).__name__ == "Optimal"


def test_many_coordinates_leave_no_time_for_annealing():
    assert type(choose(4000, list(range(20)), 5).method).__name__ == "Refined"
    assert type(choose(4000, list(range(200)), 5).method).__name__ == "Blocked"
