"""Every method under its name."""

import pytest

from shoal import MDAV, PCL, ShoalError
from shoal.catalogue import described, method_described, method_of
from shoal.methods import METHODS


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


def test_a_parameter_that_older_manifests_call_something_else_comes_back():
    kept = described(PCL(k=3, record_weights=[1.0, 2.0, 3.0]))
    kept["parameters"]["weights"] = kept["parameters"].pop("record_weights")
    assert method_described(kept).record_weights == [1.0, 2.0, 3.0]
