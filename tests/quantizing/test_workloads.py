import numpy as np
import pytest

from shoal.errors import ShoalError
from shoal.quantizing import workloads
from shoal.quantizing.distortions import Squared
from shoal.quantizing.record_weights import record_weights_of
from shoal.quantizing.workloads import Measure

RNG = np.random.default_rng(0)


def test_an_assignment_keeps_the_least_numbers_and_the_measures():
    X, weights = RNG.normal(size=(120, 2)), record_weights_of({"size": RNG.lognormal(0, 1, 120)}, 120)
    measure = Measure(weights, np.full(6, 20.0), np.full(6, 4))
    assign = measure.solver(Squared())(X)
    labels, costs = assign(X[:6], np.full(6, 20.0), np.zeros(6))
    assert np.bincount(labels).min() >= 4
    assert np.abs(measure.off(labels)).max() <= weights.size.max()
    assert measure.missed(labels) == pytest.approx(0)
    again, _ = assign(X[:6], np.full(6, 20.0), costs)
    away = Squared().costs(X, X[:6])
    assert away[np.arange(120), again].sum() <= away[np.arange(120), labels].sum() + 1e-9


def test_what_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(workloads, "_MOST", 10)
    weights = record_weights_of({"size": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, 6)
    with pytest.raises(ShoalError, match="6 records in 2 cells need too much memory; use hierarchy"):
        Measure(weights, np.full(2, 3.0), np.full(2, 1)).solver(Squared())(np.zeros((6, 1)))
