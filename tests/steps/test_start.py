import numpy as np
import pytest

from shoal import CBFS, MDAV
from shoal.errors import ShoalError
from shoal.steps.start import StartRule, groups_of

X = np.random.default_rng(0).normal(size=(20, 2))


def test_a_name_an_estimator_and_labels_are_starts():
    assert np.array_equal(groups_of("cbfs", X, 4, None), CBFS(k=4).fit(X).labels_)
    larger = MDAV(k=5)
    assert np.array_equal(groups_of(larger, X, 4, None), MDAV(k=5).fit(X).labels_)
    assert not hasattr(larger, "labels_")
    labels = [0, 1] * 10
    assert groups_of(labels, X, 4, None).tolist() == labels


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (MDAV(k=3), "forms groups of fewer than k=4 records; give it k=4"),
        ([0] * 18 + [1] * 2, "start: groups of fewer than k=4 records"),
        ([0] * 19, "start: labels have the shape"),
    ],
)
def test_a_start_that_does_not_fit_is_an_error(start, message):
    with pytest.raises(ShoalError, match=message):
        groups_of(start, X, 4, None)


@pytest.mark.parametrize("start", ["mdva", 3, None, MDAV])
def test_what_is_no_start_is_an_error(start):
    with pytest.raises(ShoalError, match="start must be a method, an estimator or labels"):
        StartRule().check("start", start)
