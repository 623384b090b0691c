import numpy as np

from shoal.kernels.compiled import inner, kernel


@inner
def product_plus(a, b, c):
    return a * b + c


@kernel
def residue(a, b):
    """Zero if the product is rounded before it is added, something else if the two are fused."""
    return product_plus(a, b, -(a * b))


@kernel
def total(values):
    result = 0.0
    for value in values:
        result += value
    return result


def test_products_are_rounded_before_they_are_added():
    rng = np.random.default_rng(0)
    assert all(residue(a, b) == 0.0 for a, b in rng.random((1000, 2)))


def test_sums_keep_their_order():
    values = np.random.default_rng(0).normal(size=1001) * 10.0 ** np.random.default_rng(1).integers(-8, 8, 1001)
    expected = 0.0
    for value in values.tolist():
        expected += value
    assert total(values) == expected
