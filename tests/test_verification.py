import pytest

import shoal
from shoal.errors import ShoalError


def test_values_of_a_csv_file_are_compared_as_text(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n1.0,a\n1,a\n")
    found = shoal.verify(tmp_path / "t.csv", "x")
    assert (found.k, found.n_groups, found.n_records) == (1, 2, 3)
    assert shoal.verify(tmp_path / "t.csv", ["y"]).k == 3
    assert found.columns == ["x", "y"]


def test_a_column_that_is_not_there_is_an_error(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n")
    with pytest.raises(ShoalError, match="no column 'z'"):
        shoal.verify(tmp_path / "t.csv", ["z"])


def test_a_file_larger_than_memory_is_counted_in_parts(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("x;y\n1,5;a\n1,50;a\n1,5;b\n")
    whole = shoal.verify(path, ["x", "y"])
    monkeypatch.setattr("shoal.stream.memory.size_in_memory", lambda _: 10**15)
    parts = shoal.verify(path, ["x", "y"], memory="1GB")
    assert sorted(parts.anonymity.sizes) == sorted(whole.anonymity.sizes) == [1, 1, 1]
    assert (parts.name, parts.columns, parts.k) == (whole.name, whole.columns, 1)
    assert shoal.verify(path, "x", delimiter=";").n_groups == 2
    with pytest.raises(ShoalError, match="no column 'z'"):
        shoal.verify(path, ["z"])
