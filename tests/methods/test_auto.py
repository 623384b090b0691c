import json

import numpy as np
import pyarrow as pa
import pytest
from checks import (
    equal_weights_are_the_same_as_none,
    is_the_same_for_any_number_of_jobs_under_models,
    is_valid_wherever_it_is_interrupted_under_models,
    keeps_the_models,
    passes_scikit_learns_checks,
    progress_rises_under_models,
    reports_progress_without_changing_the_groups,
    ruled_table,
    weighted_optima_found,
    weights_change_the_groups_and_the_weighted_loss_falls,
)
from hypothesis import given, settings

from clocks import run_on
from promises import demanding
from samples import points, weighted_points
from shoal import (
    MDAV,
    PCL,
    Auto,
    Blocked,
    Optimal,
    Refined,
    ShoalError,
    ShoalWarning,
    UnivariateOptimal,
    anonymize,
)
from shoal.methods import auto
from shoal.methods.auto import choose, choose_weighted, starts_for
from shoal.methods.refined import Refining
from shoal.partition import sse_of
from shoal.pipeline import released
from shoal.privacy.models import AlphaK, LDiversity, PSensitivity, TCloseness
from shoal.recipe import load_recipe
from shoal.search.promised import repaired
from shoal.search.weighted import alike


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
        (3000, [0, 1], 50, Refined, "MDAV, then exchanges between neighbouring groups and 1 round of annealing"),
        (10_000, [0, 1], 5, Refined, "MDAV, then exchanges between neighbouring groups and 0.54 of a round"),
        (10_000, [0, 1], 50, Refined, "12 rounds of PCL that keep the sizes of the groups and 0.8 of a round"),
        (100_000, [0, 1], 5, Refined, "MDAV in 5 blocks of 20000 records, then exchanges"),
        (1_000_000, [0, 1], 5, Blocked, "50 blocks of 20000 records, then 3 rounds of exchanges"),
        (1_000_000, [0, 1], 50, Blocked, "12 rounds of PCL"),
        (4000, [0, 1], 500, Blocked, "PCL in one block"),
        (10_000, [0, 1], 500, Blocked, "PCL in one block, the best of 4 starts with noise"),
        (1_000_000, [0, 1], 5000, Blocked, "PCL in 4 blocks of 250000 records"),
        (10_000_000, [0, 1], 5000, MDAV, "no time for PCL"),
    ],
)
def test_the_choice_follows_from_the_table(n, varying, k, kind, reason):
    method, said = choose(n, varying, k)
    assert type(method) is kind
    assert method.k == k
    assert reason in said


@settings(max_examples=40)
@given(weighted_points(most=60))
def test_every_group_of_weighted_records_has_k_records(sample):
    X, k, weights = sample
    model = Auto(k=k).fit(X, sample_weight=weights)
    assert model.sizes_.min() >= k
    assert model.reason_
    assert np.array_equal(model.labels_, Auto(k=k, n_jobs=1).fit(X, sample_weight=weights).labels_)


@pytest.mark.parametrize(
    ("n", "m", "k", "kind", "reason"),
    [
        (9, 2, 5, MDAV, "only one way"),
        (1000, 0, 5, MDAV, "all records are equal"),
        (100, 1, 5, Blocked, "in one block, then up to 12 rounds of weighted exchanges"),
        (10_000, 2, 5, Blocked, "in one block, then up to 3 rounds of weighted exchanges"),
        (100_000, 2, 5, Blocked, "in 5 blocks of 20000 records"),
        (4000, 2, 500, MDAV, "more than 300: MDAV with weights"),
    ],
)
def test_the_choice_for_weighted_records_takes_weights(n, m, k, kind, reason):
    method, said = choose_weighted(n, m, k)
    assert type(method) is kind
    assert method.k == k
    assert method.takes_weights
    assert reason in said


def test_with_weights_most_small_tables_get_the_best_of_all_partitions():
    """MDAV alone finds it in fewer than half of them."""
    assert weighted_optima_found(lambda k: Auto(k=k, n_jobs=1)) >= 15


def test_weights_change_what_is_chosen_and_the_groups():
    equal_weights_are_the_same_as_none(Auto(k=4))
    weights_change_the_groups_and_the_weighted_loss_falls(Auto(k=4))


def test_the_varying_attribute_is_cut_optimally_wherever_it_stands():
    X = np.ones((50, 3))
    X[:, 1] = np.random.default_rng(0).normal(size=50)
    assert Auto(k=4).fit(X).sse_ == UnivariateOptimal(k=4).fit(X[:, [1]]).sse_


def test_where_time_is_limited_a_start_that_takes_a_part_of_it_is_improved():
    methods = [choose(10**6, [0, 1, 2], 5, seconds).method for seconds in (0.5, 2, 500)]
    assert {type(method) for method in methods} == {Refined}
    assert [method.seconds for method in methods] == [0.5, 2, 500]
    sizes = [method.start.max_size for method in methods]
    assert sizes[0] < sizes[1] < sizes[2] == 20_000
    assert choose(10**6, [0, 1, 2], 5, 2, n_jobs=2).method.start.max_size == sizes[1]
    assert type(choose(10**5, [0, 1], 500, 60).method.start.method) is PCL
    assert type(choose_weighted(1000, 3, 5, 2.0).method) is Refined


def test_without_seconds_no_clock_decides(monkeypatch):
    X = np.random.default_rng(2).normal(size=(400, 3))
    usual = Auto(k=4, n_jobs=1).fit(X)
    with monkeypatch.context() as clocked:
        run_on(iter(range(0, 10**9, 10**5)).__next__, clocked)  # a day at every look
        assert np.array_equal(Auto(k=4, n_jobs=1).fit(X).labels_, usual.labels_)
    assert not hasattr(usual, "steps_")


@pytest.mark.parametrize("how", ["plain", "weights", "models"])
def test_steps_give_the_same_groups_again(how):
    X, rules = ruled_table(300)
    asked = {"weights": {"sample_weight": np.arange(1.0, 301.0)}, "models": {"rules": rules}}.get(how, {})
    model = Auto(k=4, seconds=0.3).fit(X, **asked)
    again = Auto(k=4, seconds=0.3, steps=model.steps_, n_jobs=1).fit(X, **asked)
    assert np.array_equal(model.labels_, again.labels_)
    assert "for 0.3 s" in model.reason_


@pytest.mark.parametrize("within", [[], ["ward"]])
def test_a_recipe_repeats_the_steps_and_not_the_seconds(tmp_path, within):
    rng = np.random.default_rng(3)
    table = {"x": rng.normal(size=300).tolist(), "y": rng.normal(size=300).tolist(), "ward": ["a", "b", "b"] * 100}
    columns = {"quasi_identifiers": ["x", "y"], "confidential": [] if within else ["ward"], "within": within}
    for name, method in (("auto", Auto(k=4, seconds=0.6)), ("refined", Refined(k=4, seconds=0.6))):
        release = anonymize(pa.table(table), method=method, random_state=1, **columns)
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(release.manifest))
        recipe = load_recipe(path)
        assert recipe.settings.method.steps == release.manifest["method"]["steps"] != []
        again = released(pa.table(table), recipe.settings)
        assert np.array_equal(again.partition.labels, release.partition.labels)
        if within:
            assert {step["part"] for step in recipe.settings.method.steps} == {0, 1}
            assert recipe.settings.method.seconds == 0.6


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


@pytest.mark.parametrize("k", [3, 12, 50])
@pytest.mark.parametrize("m", [2, 20, 100])
def test_annealing_takes_about_as_long_on_tables_of_all_sizes(k, m):
    """The effort falls as the work rises, so that their product stays as it is until annealing ends."""
    efforts = {n: auto.effort_for(n, work := n * max(1.0, m / 20), k) * work for n in range(500, 400_000, 500)}
    small = [n for n in efforts if n * max(1.0, m / 20) <= 3000]
    assert all(efforts[n] == n * max(1.0, m / 20) for n in small)
    doubled = [
        (efforts[n] * (1 + (n <= 5000)), efforts[2 * n] * (1 + (2 * n <= 5000)))
        for n in efforts
        if 2 * n in efforts
    ]
    assert all(0.89 <= after / before <= 2.0 for before, after in doubled)


def test_many_coordinates_leave_less_time_for_annealing():
    efforts = [choose(4000, list(range(m)), 5).method.effort for m in (2, 20, 200)]
    assert efforts == pytest.approx([0.675, 0.675, 0.0675])
    assert type(choose(60_000, list(range(200)), 5).method) is Blocked


# Under privacy models.


@settings(max_examples=60)
@given(demanding(most=30))
def test_under_models_it_is_never_worse_than_mdav_put_right_and_always_valid(case):
    X, k, rules, weights = case.X, case.demands.least_count, case.demands.rules, case.weights
    model = Auto(k=k, n_jobs=1).fit(X, sample_weight=weights, rules=rules)
    assert model.sizes_.min() >= k
    assert case.sample.keeps(case.models, model.labels_.tolist())
    plain = Auto(k=k, n_jobs=1).fit(X, sample_weight=weights)
    assert model.unruled_sse_ == pytest.approx(plain.sse_, rel=1e-9)
    assert np.array_equal(model.labels_, Auto(k=k, n_jobs=2).fit(X, sample_weight=weights, rules=rules).labels_)
    assert model.reason_.startswith("privacy models: ")


def test_under_models_less_is_lost_than_by_mdav_put_right():
    for seed in range(3):
        X, rules = ruled_table(seed=seed)
        begun = repaired(X, MDAV(k=4).fit(X).labels_, None, alike(len(X), 4, rules))
        model = Auto(k=4, n_jobs=1).fit(X, rules=rules)
        keeps_the_models(model, rules)
        assert model.unruled_sse_ < model.sse_ < 0.95 * sse_of(X, begun)


def test_under_models_the_groups_are_the_same_for_any_number_of_jobs():
    is_the_same_for_any_number_of_jobs_under_models(lambda jobs: Auto(k=4, n_jobs=jobs))


def test_a_large_table_or_k_under_models_is_grouped_in_blocks(monkeypatch):
    monkeypatch.setattr(auto, "_REFINED", 200)
    X, rules = ruled_table(300)
    model = Auto(k=4, n_jobs=1).fit(X, rules=rules)
    keeps_the_models(model, rules)
    assert isinstance(model.chosen_, Blocked)
    assert "in one block, 3 rounds of exchanges, broken groups put right" in model.reason_
    assert model.unruled_labels_ is model.chosen_.unruled_labels_
    assert model.unruled_sse_ == sse_of(X, model.unruled_labels_)
    is_the_same_for_any_number_of_jobs_under_models(lambda jobs: Auto(k=4, n_jobs=jobs))


def test_under_models_an_interruption_leaves_the_best_so_far():
    X, rules = ruled_table()
    assert is_valid_wherever_it_is_interrupted_under_models(lambda: Auto(k=4, n_jobs=1), X, rules) >= 3


def test_an_interruption_before_the_models_ends_the_work_too(monkeypatch):
    X, rules = ruled_table()

    def stopped(self, deadline):
        raise KeyboardInterrupt

    monkeypatch.setattr(Refining, "anneal", stopped)  # of the groups without models
    with pytest.warns(ShoalWarning, match="interrupted"):
        model = Auto(k=4, n_jobs=1).fit(X, rules=rules)
    assert model.interrupted_


def test_progress_under_models():
    progress_rises_under_models(lambda: Auto(k=4, n_jobs=1))


@pytest.mark.parametrize(
    ("models", "starts"),
    [
        ([AlphaK(0.5, on="x")], []),
        ([TCloseness(0.2, on="x")], ["TClosenessFirst", "KAnonymityFirst"]),
        ([LDiversity(2, on="x")], ["PSensitive"]),
        ([PSensitivity(2, on="x"), TCloseness(0.2, on="x")], ["TClosenessFirst", "KAnonymityFirst", "PSensitive"]),
        ([LDiversity(2, "entropy", on="x")], []),
    ],
)
def test_the_starts_are_those_that_suit_the_models(models, starts):
    _, rules = ruled_table(models=models)
    assert [type(each).__name__ for each in starts_for(3, rules)] == starts


def test_with_time_the_models_are_kept_and_less_is_lost():
    X, rules = ruled_table()
    quick, slow = (Auto(k=4, seconds=seconds, n_jobs=1).fit(X, rules=rules) for seconds in (0.2, 0.6))
    keeps_the_models(quick, rules)
    keeps_the_models(slow, rules)
    assert "for 0.6 s" in slow.reason_
    assert slow.sse_ <= quick.sse_ * 1.05


def test_steps_need_the_seconds_that_they_come_from():
    with pytest.raises(ShoalError, match="give the seconds"):
        Auto(k=3, steps=[{"exchanges": 0}]).fit(np.arange(20.0).reshape(-1, 2))
