import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import shoal
from samples import tables
from shoal.attributes.gaps import CURE
from shoal.errors import ShoalError
from shoal.partition import Partition
from shoal.space import Space
from shoal.table import Roles, Table

DATA = {"a": [1.0, 2.0, 4.0, 9.0], "b": [10, 20, 20, 30], "c": [7, 7, 7, 7]}


def table_of(data=DATA):
    return Table.of(pd.DataFrame(data), Roles.of(list(data)))


def test_zscores_have_mean_0_and_population_deviation_1():
    X = Space.of(table_of()).points
    assert X.shape == (4, 2)
    assert X.mean(axis=0) == pytest.approx([0, 0])
    assert X.std(axis=0) == pytest.approx([1, 1])
    assert X.flags.c_contiguous


def test_range_and_robust_and_none():
    assert Space.of(table_of(), "range").points[:, 0] == pytest.approx([0, 1 / 8, 3 / 8, 1])
    low, mid, high = np.quantile(DATA["a"], [0.25, 0.5, 0.75])
    assert Space.of(table_of(), "robust").points[:, 0] == pytest.approx((np.array(DATA["a"]) - mid) / (high - low))
    plain = Space.of(table_of(), "none").points
    assert np.diff(plain, axis=0) == pytest.approx(np.diff(np.column_stack([DATA["a"], DATA["b"]]), axis=0))


def test_without_scaling_the_unit_is_the_columns_own():
    plain = Space.of(table_of({"x": [1.25, 1.5, 2.0, 1e6 + 1 / 3]}), "none").points
    assert plain[1, 0] - plain[0, 0] == pytest.approx(0.25, rel=1e-6)


def test_a_weight_multiplies_the_squared_distance():
    plain, weighted = Space.of(table_of()).points, Space.of(table_of(), attribute_weights={"b": 4}).points
    assert weighted[:, 0] == pytest.approx(plain[:, 0])
    assert weighted[:, 1] == pytest.approx(2 * plain[:, 1])


def test_a_constant_column_takes_no_part_and_is_named():
    assert Space.of(table_of()).constant == ("c",)
    assert Space.of(table_of({"c": [7, 7, 7]})).points.tolist() == [[0], [0], [0]]


def test_large_integers_close_together_are_told_apart():
    X = Space.of(table_of({"x": [2**62 + 1, 2**62 + 2, 2**62 + 3]})).points
    assert np.diff(X[:, 0]) == pytest.approx([np.sqrt(1.5)] * 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"attribute_weights": {"x": 1}}, "weight for 'x', which is no quasi-identifier"),
        ({"attribute_weights": {"a": 0, "b": 0, "c": 0}}, "all weights are 0"),
    ],
)
def test_wrong_settings_are_errors(arguments, message):
    with pytest.raises(ShoalError, match=message):
        Space.of(table_of(), **arguments)


def test_scalings_that_cannot_be_honoured_are_errors():
    with pytest.raises(ShoalError, match="column 'x' .*interquartile range is 0"):
        Space.of(table_of({"x": [0, 0, 0, 0, 0, 5]}), "robust")
    with pytest.raises(ShoalError, match="too far from its middle half"):
        Space.of(table_of({"x": [5e-324, 0.0, 1.7e308, 1.0, 5e-324, 5e-324, 0.0]}), "robust")
    with pytest.raises(ShoalError, match="column 'x' .*use scaling 'zscore'"):
        Space.of(table_of({"x": [1e200, 1 / 3, 0.1]}), "none")
    with pytest.raises(ShoalError, match="column 'x' .*use scaling 'zscore'"):
        Space.of(table_of({"x": [1e-200, 1e-300, 0.0]}), "none")


@given(tables())
def test_points_are_finite_and_every_group_gets_one_value(sample):
    columns, k = sample
    space = Space.of(table_of(columns))
    n = len(space.points)
    assert np.isfinite(space.points).all()
    partition = Partition(space.points, np.arange(n) % max(1, n // k), k)
    for exact in (False, True):
        for name, values in space.common_values(space.cells(partition.labels), exact=exact).items():
            assert len(values.native()) == len(values.text()) == len(values.raw) == partition.n_groups
            if name in space.constant and not exact:
                assert set(values.native()) == set(columns[name])


def test_every_quasi_identifier_that_cannot_be_one_is_named_with_its_reason():
    table = pd.DataFrame({"a": [1.0, None], "b": ["x", "2"], "c": [1, 2], "d": [float("inf"), 1.0]})
    with pytest.raises(ShoalError) as caught:
        Space.of(Table.of(table, Roles.of(list("abcd"))))
    assert str(caught.value) == (
        f"quasi-identifier 'a' holds missing values (row 2); {CURE}; "
        "also quasi-identifier 'b' holds text such as 'x' beside numbers (row 1); correct it, or name what means a "
        "missing value (--gap-values b=...), or say --kind b=nominal if these are categories; "
        "also quasi-identifier 'd' holds infinity (row 1); take those records out or cap the values"
    )


def test_weights_count_in_the_common_values_of_every_quasi_identifier():
    space = Space.of(table_of({"a": [0, 10, 0, 10], "s": ["x", "y", "x", "y"]}))
    partition = Partition(space.points, [0, 0, 1, 1], 2)
    common = space.common_values(space.cells(partition.labels), weights=np.array([1, 3, 4, 1]))
    assert common["a"].text() == ["8", "2"]
    assert common["s"].text() == ["y", "x"]
    assert space.common_values(space.cells(partition.labels))["a"].text() == ["5", "5"]


def test_records_of_a_group_without_any_weight_count_once_each():
    space = Space.of(table_of({"a": [0, 10, 0, 10]}))
    partition = Partition(space.points, [0, 0, 1, 1], 2)
    given_weights = np.array([0, 0, 1, 0])
    assert space.common_values(space.cells(partition.labels), weights=given_weights)["a"].text() == ["5", "0"]
    assert given_weights.tolist() == [0, 0, 1, 0]


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_weights_do_not_change_the_digits_that_the_spread_of_records_justifies():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.normal(size=40), "w": rng.integers(1, 900, 40)})
    weighted = shoal.anonymize(frame, 4, "x", sampling_weight="w", method="imhm")
    plain = shoal.anonymize(frame, 4, "x", "w", method="imhm")
    assert weighted.labels.tolist() == plain.labels.tolist()
    assert weighted.manifest["digits"]["used"] == plain.manifest["digits"]["used"]
