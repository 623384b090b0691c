import numpy as np
import pytest
from hypothesis import given

from samples import points
from shoal.steps.projections import first_component, zscore_sum


def test_the_sum_of_z_scores():
    X = np.random.default_rng(0).normal(5, [1, 10, 100], size=(50, 3))
    expected = ((X - X.mean(axis=0)) / X.std(axis=0)).sum(axis=1)
    assert zscore_sum(X) == pytest.approx(expected)


def test_a_constant_attribute_has_no_say():
    X = np.column_stack([np.arange(5.0), np.full(5, 1e300)])
    assert zscore_sum(X) == pytest.approx((np.arange(5) - 2) / np.sqrt(2))


def test_the_first_component_follows_the_widest_direction():
    t = np.random.default_rng(1).normal(size=200)
    X = np.column_stack([-2 * t, -t, np.zeros(200)]) + 7
    order = np.argsort(first_component(X))
    assert order.tolist() == np.argsort(-t).tolist()


def test_the_first_component_of_a_wide_table_is_that_of_its_covariance():
    X = np.random.default_rng(2).normal(size=(9, 60)) * np.linspace(1, 3, 60)
    _, directions = np.linalg.eigh(np.cov(X.T))
    direction = directions[:, -1] * np.sign(directions[np.abs(directions[:, -1]).argmax(), -1])
    largest = np.abs(X).max()
    assert first_component(X) == pytest.approx((X - X.mean(axis=0)) @ direction / largest)


@given(points())
def test_any_input_has_finite_projections(sample):
    X, _ = sample
    for projection in (zscore_sum, first_component):
        assert projection(X).shape == (len(X),)
        assert np.isfinite(projection(X)).all()
