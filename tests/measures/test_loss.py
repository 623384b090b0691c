import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from samples import tables
from shoal.measures import information_loss
from shoal.partition import Partition
from shoal.space import Space
from shoal.table import Roles, Table


def loss_of(columns, labels, k=1, weights=None, exact=False):
    table = Table.of(pd.DataFrame(columns), Roles.of(list(columns)))
    space = Space.of(table, attribute_weights=weights)
    partition = Partition(space.points, labels, k)
    common = space.common_values(space.cells(partition.labels), exact=exact)
    return (
        information_loss(space, common, space.cells(partition.labels)),
        table.replaced(
            values.column(table.frame[name], partition.labels, not exact) for name, values in common.items()
        ),
        partition,
    )


def by_hand(columns, released, weights):
    total = {"sse": 0.0, "sst": 0.0}
    for name, values in columns.items():
        x, y = np.array(values, float), np.array(released[name], float)
        if np.ptp(x) == 0:
            continue
        total["sse"] += weights[name] * ((x - y) ** 2).sum() / x.var()
        total["sst"] += weights[name] * len(x)
    return 100 * total["sse"] / total["sst"] if total["sst"] else 0.0


@given(tables(kinds=("whole", "year", "flag", "tenths", "constant")))
def test_the_loss_is_that_of_the_values_as_released(sample):
    columns, k = sample
    n = len(next(iter(columns.values())))
    weights = {name: 1.0 + i for i, name in enumerate(columns)}
    for exact in (False, True):
        loss, released, _ = loss_of(columns, np.arange(n) % max(1, n // k), k, weights, exact)
        assert loss.percent == pytest.approx(by_hand(columns, released, weights), rel=1e-6, abs=1e-9)


def test_exact_release_loses_what_the_partition_loses():
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=30).tolist(), "b": rng.integers(0, 99, 30).tolist()}
    loss, _, partition = loss_of(columns, np.arange(30) % 5, exact=True)
    assert loss.percent == pytest.approx(partition.information_loss)


def test_rounding_counts():
    loss, released, partition = loss_of({"a": [0, 1, 10, 11]}, [0, 0, 1, 1])
    assert released["a"].tolist() == [0, 0, 10, 10]
    assert loss.percent > partition.information_loss


def test_a_constant_column_loses_nothing():
    loss, _, _ = loss_of({"a": [0, 1], "c": [3, 3]}, [0, 0])
    assert [part.percent for part in loss.attributes] == [pytest.approx(200.0), 0.0]
    assert loss_of({"c": [3, 3]}, [0, 0])[0].percent == 0


def test_a_record_counts_in_the_loss_as_often_as_its_weight_says():
    table = Table.of(pd.DataFrame({"a": [0, 4, 8, 8], "s": ["x", "y", "y", "z"]}), Roles.of(["a", "s"]))
    space = Space.of(table)
    partition = Partition(space.points, [0, 0, 1, 1], 2)
    heavy = np.array([3, 1, 2, 1])
    common = space.common_values(space.cells(partition.labels), weights=heavy)
    assert [common["a"].text(), common["s"].text()] == [["1", "8"], ["x", "y"]]
    numbers, words = information_loss(space, common, space.cells(partition.labels), heavy).attributes
    records = np.repeat([0.0, 4.0, 8.0, 8.0], heavy)
    lost, whole = 3 * 1 + 9, ((records - records.mean()) ** 2).sum()
    assert numbers.percent == pytest.approx(100 * lost / whole)
    assert numbers.sst == pytest.approx(whole / np.var([0, 4, 8, 8]))
    assert words.percent == pytest.approx(100 * 2 / 4)
