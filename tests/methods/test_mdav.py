import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.utils.estimator_checks import check_estimator

import naive
from samples import points
from shoal import MDAV
from shoal.errors import ShoalError
from shoal.methods import METHODS, method_of


@settings(max_examples=400)
@given(points())
def test_labels_are_those_of_the_naive_twin(sample):
    X, k = sample
    assert MDAV(k=k).fit(X).labels_.tolist() == naive.labels_of(naive.mdav(X, k))


@given(points())
def test_every_group_has_k_to_2k_minus_1_records(sample):
    X, k = sample
    sizes = MDAV(k=k).fit(X).sizes_
    assert sizes.min() >= k
    assert sizes.sum() == len(X)
    assert sizes.max() <= 2 * k - 1


@pytest.mark.parametrize(
    ("n", "k"), [(1, 1), (5, 5), (9, 5), (10, 5), (11, 5), (14, 5), (15, 5), (19, 5), (20, 1)]
)
def test_sizes_at_the_edges(n, k):
    X = np.random.default_rng(n).normal(size=(n, 2))
    model = MDAV(k=k).fit(X)
    assert model.labels_.tolist() == naive.labels_of(naive.mdav(X, k))
    assert model.sizes_.min() >= k


def test_a_larger_table_too():
    X = np.random.default_rng(3).normal(size=(600, 12)).round(1)
    assert MDAV(k=7).fit(X).labels_.tolist() == naive.labels_of(naive.mdav(X, 7))


def test_scikit_learns_own_checks_pass():
    results = check_estimator(MDAV(k=3), on_skip=None)
    # Array API input is an experiment of scikit-learn's that has to be switched on outside.
    assert {r["check_name"] for r in results if r["status"] != "passed"} <= {"check_array_api_input"}
    assert len(results) > 40


def test_progress_rises_to_the_end_and_does_not_change_the_groups():
    X = np.random.default_rng(4).normal(size=(3000, 4))
    calls = []
    model = MDAV(k=2).fit(X, progress=lambda done, total: calls.append((done, total)))
    done = [d for d, _ in calls]
    assert len(calls) > 2
    assert done == sorted(done)
    assert calls[-1] == (3000, 3000)
    assert np.array_equal(model.labels_, MDAV(k=2).fit(X).labels_)


def test_an_interrupt_in_the_callback_gets_through():
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        MDAV(k=2).fit(np.random.default_rng(4).normal(size=(500, 2)), progress=stop)


def test_every_method_can_be_named():
    for name, kind in METHODS.items():
        assert type(method_of(name, 3)) is kind
        assert kind.idea
        assert kind.cost
        assert kind.reference
    with pytest.raises(ShoalError, match="there is no method 'mdva'; did you mean 'mdav'"):
        method_of("mdva", 3)
    with pytest.raises(ShoalError, match="k is missing"):
        method_of("mdav", None)
    with pytest.raises(ShoalError, match="contradict"):
        method_of(MDAV(k=3), 4)
    assert method_of(MDAV(k=3), None).k == 3
