import pyarrow as pa
import pytest

from readings import comes_in_steps, nothing, progress_of, streamed
from shoal.errors import ShoalError
from shoal.files import FORMATS, Said, batches, look, read

TABLE = pa.table({"a": range(10), "b": pa.array(list("xyxyxyxyxy")).dictionary_encode()})
WAYS = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}


def written(folder, way, table=TABLE, size=4):
    path = folder / "a.arrow"
    with WAYS[way](path, table.schema) as writer:
        writer.write_table(table, max_chunksize=size)
    return path


@pytest.mark.parametrize("way", WAYS)
def test_files_and_streams_are_read_in_parts_as_in_one_piece(tmp_path, monkeypatch, way):
    monkeypatch.setattr(batches, "GROUP", 3)
    path = written(tmp_path, way)
    found, back = streamed(path)
    assert back.equals(TABLE)
    assert found.schema.equals(TABLE.schema)
    assert read(path).table.equals(TABLE)
    assert read(path).sha256 == found.file.sha256


@pytest.mark.parametrize("way", WAYS)
def test_what_is_no_arrow_is_one_line(tmp_path, way):
    path = written(tmp_path, way)
    with pytest.raises(ShoalError, match="no delimiter"):
        look(path, Said(delimiter=";"), nothing)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(ShoalError, match="is not a readable Arrow file"):
        look(path, Said(), nothing)


@pytest.mark.parametrize("way", WAYS)
def test_progress_rises_from_part_to_part_to_the_size_of_the_file(tmp_path, way):
    path = written(tmp_path, way, pa.table({"a": range(500_000)}), 60_000)
    assert comes_in_steps(progress_of(look(path, Said(), nothing)))


@pytest.mark.parametrize("way", WAYS)
def test_a_file_without_records_has_columns(tmp_path, way):
    assert read(written(tmp_path, way, TABLE.slice(0, 0))).table.equals(TABLE.slice(0, 0))


def test_categories_are_one_list_for_the_whole_file():
    with pytest.raises(ShoalError, match="columns of categories cannot be streamed into an Arrow file"):
        FORMATS["arrow"].check_parts(TABLE.schema)
    FORMATS["arrow"].check_parts(TABLE.select(["a"]).schema)


def test_two_columns_of_the_same_name_are_an_error_wherever_a_file_is_read(tmp_path):
    path = written(tmp_path, "file", pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]))
    for way in (read, lambda path: look(path, Said(), nothing)):
        with pytest.raises(ShoalError, match="^two columns of the same name: 'a'; rename one$"):
            way(path)
