"""What every method is checked for."""

import numpy as np
from sklearn.utils.estimator_checks import check_estimator


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
