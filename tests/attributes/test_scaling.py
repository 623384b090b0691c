import numpy as np
import pytest

from shoal.attributes.scaling import centre_and_spread
from shoal.errors import ShoalError

RAW = np.array([1.0, 2.0, 4.0, 9.0, 9.0])


def test_each_scaling_has_its_centre_and_its_spread():
    assert centre_and_spread("x", RAW, "zscore", 1.0) == (RAW.mean(), RAW.std())
    assert centre_and_spread("x", RAW, "range", 1.0) == (1.0, 8.0)
    assert centre_and_spread("x", RAW, "robust", 1.0) == (4.0, 7.0)
    assert centre_and_spread("x", RAW, "none", 0.25) == (0.0, 4.0)


@pytest.mark.parametrize(
    ("raw", "scaling", "said"),
    [
        ([5.0, 5.0, 5.0, 5.0, 9.0], "robust", "interquartile range is 0"),
        ([0.0, 1e-300, 2e-300, 1.0, 1.0], "none", ""),
        ([1e200, 0.0], "none", "too large or too small to square"),
    ],
)
def test_what_cannot_be_scaled_is_an_error_that_names_the_column(raw, scaling, said):
    if not said:
        assert centre_and_spread("x", np.array(raw), scaling, 1.0) == (0.0, 1.0)
        return
    with pytest.raises(ShoalError, match=f"column 'x' .*{said}"):
        centre_and_spread("x", np.array(raw), scaling, 1.0)
