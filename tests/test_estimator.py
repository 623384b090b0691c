import pickle

import numpy as np
import pytest
from sklearn.base import clone

from shoal import MDAV
from shoal.errors import ShoalError
from shoal.estimator import fingerprints


@pytest.fixture
def X():
    return np.random.default_rng(1).normal(size=(50, 3))


def test_fitted_attributes_agree_with_each_other(X):
    model = MDAV(k=4).fit(X)
    assert model.n_groups_ == len(model.sizes_) == len(model.centroids_) == model.labels_.max() + 1
    assert np.array_equal(np.bincount(model.labels_), model.sizes_)
    for group, centroid in enumerate(model.centroids_):
        assert X[model.labels_ == group].mean(axis=0) == pytest.approx(centroid)
    sse = ((X - model.centroids_[model.labels_]) ** 2).sum()
    assert model.sse_ == pytest.approx(sse)
    assert model.information_loss_ == pytest.approx(100 * sse / ((X - X.mean(axis=0)) ** 2).sum())


def test_fit_transform_replaces_each_record_by_its_centroid(X):
    model = MDAV(k=4)
    released = model.fit_transform(X)
    assert np.array_equal(released, model.centroids_[model.labels_])
    assert np.array_equal(MDAV(k=4).fit_predict(X), model.labels_)


def test_transform_knows_its_records_and_gives_others_the_nearest_centroid(X):
    model = MDAV(k=4).fit(X)
    assert np.array_equal(model.transform(X), model.centroids_[model.labels_])
    new = X[:3] + 1e-3
    distances = ((new[:, None] - model.centroids_) ** 2).sum(axis=2)
    assert np.array_equal(model.transform(new), model.centroids_[distances.argmin(axis=1)])


def test_the_input_is_not_changed(X):
    before = X.copy()
    X.flags.writeable = False
    MDAV(k=4).fit_transform(X)
    assert np.array_equal(X, before)


def test_clone_pickle_and_parameters(X):
    model = MDAV(k=7).fit(X)
    assert clone(model).get_params() == {"k": 7, "until": "2k"}
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.transform(X), model.transform(X))
    assert model.set_params(k=2).k == 2


def test_a_fitted_model_does_not_keep_the_points(X):
    marked = X.copy()
    marked[0, 0] = 123456.789
    assert np.float64(123456.789).tobytes() not in pickle.dumps(MDAV(k=5).fit(marked))


@pytest.mark.parametrize("k", [0, -1, 2.5, "x"])
def test_a_wrong_k_is_an_error(X, k):
    with pytest.raises(ShoalError, match="k must be"):
        MDAV(k=k).fit(X)


def test_k_above_n_is_an_error_that_says_how_many_there_are(X):
    with pytest.raises(ShoalError, match=r"k=51 is more than there are records \(n_samples=50\)"):
        MDAV(k=51).fit(X)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_an_error(X, value):
    X[3, 1] = value
    with pytest.raises(ValueError, match="NaN|infinity"):
        MDAV(k=2).fit(X)


def test_values_whose_squares_overflow_are_an_error_that_names_the_column(X):
    X[3, 1] = 1e200
    with pytest.raises(ShoalError, match="column 1 of X"):
        MDAV(k=2).fit(X)


def test_zero_has_one_fingerprint():
    assert fingerprints(np.array([[0.0, 1.0]])) == fingerprints(np.array([[-0.0, 1.0]]))
