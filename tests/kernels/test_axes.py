import numpy as np

from shoal.kernels.axes import add_covariance, fill_coordinates


def test_the_covariance_is_that_of_the_centred_and_scaled_columns():
    X = np.random.default_rng(0).normal(3, 2, size=(200, 4))
    total = np.zeros((4, 4))
    add_covariance(X, X.mean(axis=0), 0.5, total)
    assert np.array_equal(total, total.T)
    assert np.allclose(total, np.cov(X.T, bias=True) * 200 * 0.25)


def test_coordinates_are_products_with_the_axes_wherever_a_record_stands():
    rng = np.random.default_rng(1)
    X, axes, centre = rng.normal(size=(101, 7)), rng.normal(size=(3, 7)), rng.normal(size=7)
    out, backwards = np.empty((101, 3)), np.empty((101, 3))
    fill_coordinates(X, centre, axes, out)
    assert np.allclose(out, (X - centre) @ axes.T)
    fill_coordinates(X[::-1].copy(), centre, axes, backwards)
    assert np.array_equal(out, backwards[::-1])
