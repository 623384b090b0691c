import json
import pickle
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import shoal
from shoal import MDAV
from shoal.cli import app
from shoal.errors import ShoalError
from shoal.estimator import METHODS, Microaggregator, fingerprints
from shoal.parameters import Whole
from shoal.recipe import load_recipe


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


@pytest.fixture
def toy():
    """A method from outside the package, taken away again."""

    class InOrder(Microaggregator):
        name = "in-order"
        idea, cost, reference = "records as they come, k at a time", "O(n)", "none"
        _parameters: ClassVar = {"k": Whole(1)}

        def __init__(self, k=5):
            self.k = k

        def _group(self, X, progress):
            return np.minimum(np.arange(len(X)) // self.k, len(X) // self.k - 1)

    yield InOrder
    del METHODS["in-order"]


def test_a_new_method_is_one_class_and_can_be_used_everywhere(toy, tmp_path, capsys):
    table = pd.DataFrame({"a": [5, 1, 4, 2, 8, 9, 3], "b": [1, 5, 2, 9, 4, 4, 1]})
    release = shoal.anonymize(table, 3, ["a", "b"], method="in-order")
    assert release.labels.tolist() == [0, 0, 0, 1, 1, 1, 1]
    release.write(tmp_path / "safe.csv")
    recipe = load_recipe(tmp_path / "safe.csv.manifest.json")
    assert isinstance(recipe.settings.method, toy)
    better = shoal.Refined(k=3, start="in-order", rounds=0).fit(table)
    assert better.sse_ <= toy(k=3).fit(table).sse_
    assert shoal.Blocked(toy(k=3)).fit(table).n_groups_ == 2
    app(["methods", "--json"], standalone_mode=False)
    shown = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert shown["in-order"]["idea"] == "records as they come, k at a time"
    assert "InOrder" not in shoal.__all__


@pytest.mark.usefixtures("toy")
def test_two_methods_of_one_name_are_an_error():
    with pytest.raises(TypeError, match="Other is called 'in-order', and so is"):
        type("Other", (Microaggregator,), {"name": "in-order"})
