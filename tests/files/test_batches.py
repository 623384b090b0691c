import pyarrow as pa
import pytest

from shoal.files.batches import CELLS, GROUP, batch_of, batches


@pytest.mark.parametrize("columns", [0, 1, 30, 33, 250, 2000, 10**6])
def test_a_batch_holds_so_many_values_or_so_many_records(columns):
    records = batch_of(columns)
    assert 1024 <= records <= GROUP
    assert records == 1024 or records * columns <= CELLS


def test_few_columns_are_looked_at_in_the_groups_of_a_file():
    assert batch_of(10) == GROUP


def test_a_table_in_batches_is_the_same_table(monkeypatch):
    monkeypatch.setattr("shoal.files.batches.batch_of", lambda columns: 3)
    table = pa.table({"a": range(10), "b": range(10, 20)})
    parts = list(batches(table))
    assert [part.num_rows for part in parts] == [3, 3, 3, 1]
    assert pa.concat_tables(parts).equals(table)
