import json
import pickle

import numpy as np
import pandas as pd
import pytest
from checks import passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given
from hypothesis import strategies as st

import shoal
from samples import points
from shoal import MDAV, ShoalError, ShoalWarning, UnivariateOptimal
from shoal.catalogue import method_of
from shoal.steps.line import optimal_groups
from shoal.steps.projections import first_component, zscore_sum


def test_equal_values_are_grouped_by_record_index():
    assert UnivariateOptimal(k=3).fit(np.full((7, 1), 2.5)).labels_.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert UnivariateOptimal(k=2).fit([[1.0], [0.0], [-0.0], [1.0], [0.0], [-0.0]]).labels_.tolist() == [
        *(2, 0, 0, 2, 1, 1)
    ]


def test_small_and_large_k_go_different_ways_to_the_same_end():
    X = np.random.default_rng(0).exponential(size=(5000, 1))
    losses = [UnivariateOptimal(k=k).fit(X).sse_ for k in range(50, 71)]
    assert losses == sorted(losses)


def test_progress_and_interrupts():
    reports_progress_without_changing_the_groups(UnivariateOptimal(k=2, projection="pca"))
    reports_progress_without_changing_the_groups(UnivariateOptimal(k=200, projection=0))

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        UnivariateOptimal(k=2).fit(np.arange(500.0)[:, None], progress=stop)


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(UnivariateOptimal(k=3, projection="pca"))


# Several attributes on a line


@given(points(), st.sampled_from(["pca", "zscore-sum", 0]))
def test_groups_of_several_attributes_are_those_of_their_projection(sample, projection):
    X, k = sample
    model = UnivariateOptimal(k=k, projection=projection).fit(X)
    line = X[:, 0]
    if X.shape[1] > 1 and projection != 0:
        line = {"pca": first_component, "zscore-sum": zscore_sum}[projection](X)
    assert model.labels_.tolist() == optimal_groups(line, k).tolist()
    assert model.sse_ == pytest.approx(((X - model.centroids_[model.labels_]) ** 2).sum())


def test_a_column_by_its_number():
    X = np.random.default_rng(0).normal(size=(60, 3))
    for column in (0, 1, np.int64(2)):
        model = UnivariateOptimal(k=4, projection=column).fit(X)
        assert model.labels_.tolist() == UnivariateOptimal(k=4).fit(X[:, [column]]).labels_.tolist()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {},
            "there are 3: put them on a line with projection='pca', projection='zscore-sum' or projection=the num",
        ),
        (
            {"projection": "pc"},
            "projection must be pca, zscore-sum or the number of a column, not 'pc'; did you me",
        ),
        ({"projection": 1.0}, "projection must be pca, zscore-sum or the number of a column, not 1.0"),
        ({"projection": True}, "projection must be pca, zscore-sum or the number of a column, not True"),
        ({"projection": -1}, "projection must be at least 0, not -1"),
        ({"projection": 3}, "there is no column 3 to project on: there are 3, counted from 0"),
        ({"per_attribute": "yes"}, "per_attribute must be True or False"),
        ({"per_attribute": True, "projection": 0}, "projection=0 and per_attribute=True contradict each other"),
    ],
)
def test_what_cannot_be_honoured_is_an_error(parameters, message):
    with pytest.raises(ShoalError, match=message):
        UnivariateOptimal(k=2, **parameters).fit(np.zeros((9, 3)))


# Each attribute on its own


def apart(X, k=3):
    with pytest.warns(ShoalWarning, match="this is not k-anonymity"):
        return UnivariateOptimal(k=k, per_attribute=True).fit(X)


def test_each_attribute_is_grouped_optimally_on_its_own():
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1, 10, 100]
    model = apart(X)
    alone = [UnivariateOptimal(k=3).fit(X[:, [j]]) for j in range(3)]
    assert model.labels_.shape == (50, 3)
    for j, single in enumerate(alone):
        assert np.array_equal(model.labels_[:, j], single.labels_)
        assert np.array_equal(model.attribute_partitions_[j].centroids, single.centroids_)
        assert model.attribute_partitions_[j].sizes.min() >= 3
    released = np.column_stack([single.centroids_[single.labels_] for single in alone])
    assert model.sse_ == pytest.approx(((X - released) ** 2).sum())
    assert model.information_loss_ == pytest.approx(100 * model.sse_ / ((X - X.mean(axis=0)) ** 2).sum())
    assert model.sse_ < MDAV(k=3).fit(X).sse_
    assert np.array_equal(model.transform(X), released)
    with pytest.warns(ShoalWarning):
        assert np.array_equal(UnivariateOptimal(k=3, per_attribute=True).fit_transform(X), released)
    with pytest.warns(ShoalWarning):
        assert np.array_equal(UnivariateOptimal(k=3, per_attribute=True).fit_predict(X), model.labels_)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).transform(X), released)


def test_new_values_get_the_nearest_centroid_of_their_attribute():
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = apart(X)
    new = X[:4] + 1e-3
    for j, partition in enumerate(model.attribute_partitions_):
        nearest = np.abs(new[:, [j]] - partition.centroids[:, 0]).argmin(axis=1)
        assert np.array_equal(model.transform(new)[:, j], partition.centroids[nearest, 0])


@given(points())
def test_every_group_of_every_attribute_has_at_least_k_records(sample):
    X, k = sample
    model = UnivariateOptimal(k=k, per_attribute=True)
    if X.shape[1] > 1:
        model = apart(X, k)
    else:
        model.fit(X)  # one attribute on its own is all of them: no warning
    assert min(partition.sizes.min() for partition in model.attribute_partitions_) >= k


def test_a_second_fit_leaves_nothing_of_the_first():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = apart(X)
    assert not hasattr(model, "partition_")
    model.set_params(per_attribute=False, projection="pca").fit(X)
    assert not hasattr(model, "attribute_partitions_")
    assert np.array_equal(model.transform(X), model.centroids_[model.labels_])
    model.set_params(per_attribute=True, projection=None)
    with pytest.warns(ShoalWarning):
        model.fit(X)
    assert not hasattr(model, "centroids_")


@pytest.mark.filterwarnings("ignore:per_attribute:shoal.ShoalWarning")
def test_protocols_hold_for_attributes_on_their_own_too():
    passes_scikit_learns_checks(UnivariateOptimal(k=3, per_attribute=True))
    reports_progress_without_changing_the_groups(UnivariateOptimal(k=3, per_attribute=True))


def test_what_gives_no_k_anonymity_is_not_released(people):
    model = UnivariateOptimal(k=2, per_attribute=True)
    with pytest.raises(ShoalError, match="this is not k-anonymity; leave it out or use another method, such as M"):
        shoal.anonymize("no such file.csv", method=model, quasi_identifiers=["age"])
    assert method_of("univariate-optimal", 2).not_k_anonymous == ""
    release = shoal.anonymize(
        pd.DataFrame(people)[["age"]], quasi_identifiers=["age"], method=UnivariateOptimal(k=3)
    )
    assert release.verified_k == 3


# The command line


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).integers(0, 100, size=(40, 2))
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *(f"{a},{b}" for a, b in rows)]) + "\n")


COMMAND = "anonymize t.csv -k 3 --method univariate-optimal -o safe.csv --json -f"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("-p projection=pca", {"projection": "pca", "per_attribute": False}),
        ("-p projection=1 -p per_attribute=False", {"projection": 1, "per_attribute": False}),
        ("-p projection=zscore-sum -p per_attribute=false", {"projection": "zscore-sum", "per_attribute": False}),
    ],
)
def test_parameters_arrive_from_the_command_line(folder, run, given, expected):
    status, out, err = run(f"{COMMAND} -q a,b {given}")
    assert (status, err) == (0, "")
    assert json.loads(out)["manifest"]["method"]["parameters"] == {"k": 3} | expected
    assert json.loads(out)["verified_k"] >= 3
    assert run("anonymize --recipe safe.csv.manifest.json -o again.csv -f")[0] == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("-q a,b -p per_attribute=true", "this is not k-anonymity"),
        ("-q a,b -p per_attribute=yes", "per_attribute must be True or False, not 'yes'"),
        ("-q a,b", "there are 2: put them on a line"),
        ("-q a,b -p projection=2", "there is no column 2"),
    ],
)
def test_the_command_line_says_what_is_wrong(folder, run, given, message):
    status, out, err = run(f"{COMMAND} {given}")
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
