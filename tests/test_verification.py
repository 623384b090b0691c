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
