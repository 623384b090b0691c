import numpy as np

from shoal.kernels.sums.axes import add_covariance, fill_coordinates, fill_fewer_axes


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


def test_a_wide_table_has_the_same_distances_on_fewer_axes():
    X = np.random.default_rng(2).normal(3, 2, size=(30, 101))
    out = np.empty((30, 29))
    assert fill_fewer_axes(X - X.mean(axis=0), out) == 29
    assert np.allclose(distances(out), distances(X), rtol=1e-13)


def test_no_more_axes_are_taken_than_the_rows_have():
    rng = np.random.default_rng(3)
    X = rng.integers(-3, 4, (20, 4)) @ rng.integers(-3, 4, (4, 50)).astype(float)
    X = X[rng.integers(0, 20, 40)]
    out = np.empty((40, 39))
    axes = fill_fewer_axes(X - X.mean(axis=0), out)
    assert axes <= 5
    assert np.allclose(distances(out[:, :axes]), distances(X), rtol=1e-12, atol=1e-12)


def test_equal_rows_get_equal_coordinates_along_fewer_axes():
    X = np.random.default_rng(4).normal(size=(7, 60))[[0, 1, 2, 3, 4, 5, 6, 6, 5, 0, 0, 3]]
    out = np.empty((12, 11))
    axes = fill_fewer_axes(X.copy(), out)
    assert np.array_equal(out[[0, 5, 6, 3], :axes], out[[10, 8, 7, 11], :axes])


def distances(X):
    return ((X[:, None] - X) ** 2).sum(axis=2)
