"""What every meta-method shares."""

import numpy as np
import pytest

from shoal import IMHM, MDAV, ShoalError, UnivariateOptimal
from shoal.parameters import Rule
from shoal.wrapper import MethodRule, Wrapper


class Plain(Wrapper):
    """The method inside, unchanged."""

    _parameters: dict[str, Rule] = {"method": MethodRule()}  # noqa: RUF012

    def __init__(self, method=None):
        self.method = method

    def _group(self, X, progress):
        return self._fresh().fit(X, progress=progress).labels_


def test_k_and_draws_are_those_of_the_method_inside():
    assert Plain().k == MDAV().k
    assert Plain(MDAV(k=7)).k == 7
    assert not Plain(MDAV())._draws
    assert Plain(IMHM(randomness=0.2))._draws


def test_the_method_inside_is_not_fitted_itself():
    inside = MDAV(k=3)
    model = Plain(inside).fit(np.arange(20.0)[:, None])
    assert not hasattr(inside, "labels_")
    assert model.sizes_.min() >= 3


@pytest.mark.parametrize("wrong", ["mdav", 3, MDAV])
def test_only_an_estimator_can_be_wrapped(wrong):
    with pytest.raises(ShoalError, match="method must be an estimator such as MDAV"):
        Plain(wrong).fit(np.zeros((9, 2)))


def test_groups_that_differ_from_attribute_to_attribute_cannot_be_wrapped():
    with pytest.raises(ShoalError, match="leave it out or use another method"):
        Plain(UnivariateOptimal(per_attribute=True)).fit(np.zeros((9, 2)))


def test_parameters_of_the_method_inside_are_checked():
    with pytest.raises(ShoalError, match="k must be at least 1"):
        Plain(MDAV(k=0)).fit(np.zeros((9, 2)))
