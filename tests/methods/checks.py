"""What every method is checked for."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

import naive
from shoal.errors import ShoalWarning
from shoal.partition import Partition
from shoal.privacy.coding import Coding
from shoal.privacy.models import LDiversity, TCloseness
from shoal.privacy.rules import Rules


def passes_scikit_learns_checks(model):
    # A record of weight 2 is one record of a group of k; two records are two.
    failing = {"check_sample_weight_equivalence_on_dense_data": "weights do not count towards k"}
    if not model.takes_weights:
        failing["check_sample_weights_not_overwritten"] = "weights that differ are refused"
    results = check_estimator(model, on_skip=None, expected_failed_checks=failing)
    # Array API input is an experiment of scikit-learn's that has to be switched on outside.
    allowed = {"check_array_api_input", *failing}
    assert {r["check_name"] for r in results if r["status"] != "passed"} <= allowed
    assert len(results) > 40


def reports_progress_without_changing_the_groups(model):
    X = np.random.default_rng(4).normal(size=(3000, 4))
    calls = []
    model.fit(X, progress=lambda done, total: calls.append((done, total)))
    labels = model.labels_
    done = [d for d, _ in calls]
    assert len(calls) > 2
    assert done == sorted(done)
    assert {total for _, total in calls} == {3000}
    assert calls[-1] == (3000, 3000)
    assert np.array_equal(labels, model.fit(X).labels_)


def unless_equal(weights):
    """The weights as a twin takes them: None where all are equal, for these are the same as none."""
    return None if (weights == weights[0]).all() else weights.tolist()


def equal_weights_are_the_same_as_none(model):
    X = np.random.default_rng(5).normal(size=(120, 3))
    plain = model.fit(X).labels_
    for weight in (1.0, 0.1, 1e12):
        assert np.array_equal(model.fit(X, sample_weight=np.full(120, weight)).labels_, plain)


def weights_change_the_groups_and_the_weighted_loss_falls(model):
    """Records that count a thousand times get better values than from groups that do not know of it."""
    rng = np.random.default_rng(6)
    X, weights = rng.normal(size=(400, 3)), rng.choice([1.0, 1000.0], 400)
    plain = Partition(X, model.fit(X).labels_, model.k, weights)
    found = model.fit(X, sample_weight=weights)
    assert not np.array_equal(found.labels_, plain.labels)
    assert found.sizes_.min() >= model.k
    assert found.sse_ < plain.sse


def weighted_optima_found(method, tables=20):
    """In how many small tables no partition of all that there are has a smaller weighted error; never one too small."""
    found = 0
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        n, k = 8, 2 + seed % 2
        X, weights = rng.normal(size=(n, 2)), rng.choice([0.5, 1, 4, 50], n)
        errors = [
            naive.sse(X.tolist(), groups, weights.tolist()) for groups in naive.partitions_of(list(range(n)), k)
        ]
        model = method(k).fit(X, sample_weight=weights)
        groups = [np.flatnonzero(model.labels_ == g).tolist() for g in range(model.n_groups_)]
        error = naive.sse(X.tolist(), groups, weights.tolist())
        assert abs(model.sse_ - error) <= 1e-9 * error
        assert error >= min(errors) - 1e-9
        found += error <= min(errors) + 1e-9
    return found


def large_samples(n, rng):
    """Data that a tree finds easy and hard: structure, none, ties, duplicates, outliers."""
    X = rng.normal(size=(n, 6))
    skewed = np.exp(X @ rng.normal(size=(6, 6)) * 0.5)
    return {
        "round": X,
        "skewed": skewed,
        "rounded": np.round(skewed, 1),
        "grid": rng.integers(0, 4, (n, 6)).astype(float),
        "repeated": X[rng.integers(0, n // 3, n)],
    }


# Under privacy models.


def ruled_table(n=240, seed=0, models=None):
    """Points with a confidential column, and models on it that the groups of MDAV break."""
    rng = np.random.default_rng(seed)
    X, codes = rng.normal(size=(n, 2)), rng.integers(0, 5, n)
    line = tuple(map(str, range(5)))
    coding = Coding("x", codes, line, np.arange(5.0), True)
    models = models or [LDiversity(3, on="x"), TCloseness(0.3, "ordered", on="x")]
    return X, Rules.of(models, [coding] * len(models))


def keeps_the_models(model, rules):
    assert model.sizes_.min() >= model.k
    assert not len(rules.broken(model.labels_))


def is_the_same_for_any_number_of_jobs_under_models(make):
    X, rules = ruled_table()
    found = [make(jobs).fit(X, rules=rules) for jobs in (1, 2, 3, 1)]
    for model in found:
        keeps_the_models(model, rules)
        assert np.array_equal(model.labels_, found[0].labels_)
        assert model.unruled_sse_ == found[0].unruled_sse_


def is_valid_wherever_it_is_interrupted_under_models(make, X, rules, begun=None):
    """KeyboardInterrupt at each of the calls of progress; returns how many there are."""
    calls = []
    make().fit(X, rules=rules, progress=lambda *call: calls.append(call))
    places = sorted({0, 1, 2, len(calls) // 2, len(calls) - 2} & set(range(len(calls) - 1)))
    for place in places:
        heard = []

        def stop(*call, heard=heard, place=place):
            heard.append(call)
            if len(heard) == place + 1:
                raise KeyboardInterrupt

        model = make()
        with pytest.warns(ShoalWarning, match="interrupted: these are the best groups found so far"):
            model.fit(X, rules=rules, progress=stop)
        assert model.interrupted_
        keeps_the_models(model, rules)
        assert begun is None or model.sse_ <= begun
    return len(places)


def progress_rises_under_models(make):
    X, rules = ruled_table(600)
    calls = []
    model = make().fit(X, rules=rules, progress=lambda *call: calls.append(call))
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert calls[-1] == (600, 600)
    assert np.array_equal(model.labels_, make().fit(X, rules=rules).labels_)
