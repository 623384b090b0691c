import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet
import pytest

from readings import comes_in_steps, nothing, progress_of, streamed
from shoal.errors import ShoalError
from shoal.files import FORMATS, Said, batches, look, read, write

TABLE = pa.table({"a": range(10), "b": pa.array(list("xyxyxyxyxy")).dictionary_encode()})


@pytest.mark.parametrize("group", [2, 4, 100])
def test_a_file_is_read_in_parts_as_in_one_piece(tmp_path, monkeypatch, group):
    monkeypatch.setattr(batches, "GROUP", 3)
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(TABLE, path, row_group_size=group)
    found, back = streamed(path)
    assert back.equals(TABLE)
    assert found.schema.equals(TABLE.schema)
    assert read(path).table.equals(TABLE)
    assert read(path).sha256 == found.file.sha256


def test_what_is_no_parquet_is_one_line(tmp_path):
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(TABLE, path)
    with pytest.raises(ShoalError, match="no delimiter"):
        look(path, Said(delimiter=";"), nothing)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(ShoalError, match="is not a readable Parquet file"):
        look(path, Said(), nothing)


def test_progress_rises_from_part_to_part_to_the_size_of_the_file(tmp_path):
    pyarrow.parquet.write_table(pa.table({"a": range(500_000)}), tmp_path / "a.parquet")
    assert comes_in_steps(progress_of(look(tmp_path / "a.parquet", Said(), nothing)))


def test_a_file_without_records_has_columns(tmp_path):
    pyarrow.parquet.write_table(TABLE.slice(0, 0), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").table.equals(TABLE.slice(0, 0))
    assert progress_of(look(tmp_path / "a.parquet", Said(), nothing))


def test_a_wide_file_is_read_few_records_at_a_time(tmp_path):
    table = pa.table({f"v{number}": range(2500) for number in range(1100)})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    found = look(tmp_path / "t.parquet", Said(), nothing)
    sizes = [part.num_rows for part in found.batches(found.columns, nothing)]
    assert sizes == [1906, 594]  # 1906 x 1100 is about two million values
    assert [part.num_rows for part in found.batches(["v0", "v1"], nothing)] == [2500]


def test_a_column_that_parquet_has_no_type_for_is_named(tmp_path):
    odd = pa.array([(1, 2, 3)], pa.month_day_nano_interval())
    with pytest.raises(
        ShoalError, match="column 'odd' of type month_day_nano_interval has no type that Parquet files"
    ):
        write(pa.table({"x": [1], "odd": odd}), tmp_path / "t.parquet", FORMATS["parquet"])


def test_runs_are_stored_as_their_values(tmp_path):
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["a", "b"]))
    write(pa.table({"x": runs}), tmp_path / "t.parquet", FORMATS["parquet"])
    assert read(tmp_path / "t.parquet").table["x"].to_pylist() == ["a", "a", "b"]


def test_the_library_is_loaded_with_the_first_such_file():

    code = "import sys, shoal.files; print('pyarrow.parquet' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
