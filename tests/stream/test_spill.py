import numpy as np

from shoal.stream.spill import SpillWriter, names_of, opened, rows_of, spilled, whole


def test_what_is_spilled_comes_back_in_groups_of_one_size(tmp_path):
    rows, values = np.arange(23), np.arange(23) / 7
    with SpillWriter(tmp_path / "a", [np.int64, np.float64], 5) as writer:
        for part in np.split(np.arange(23), [1, 4, 16]):
            writer.write([rows[part], values[part]])
    names = names_of(1)
    assert [len(part[0]) for part in spilled(tmp_path / "a", names)] == [5, 5, 5, 5, 3]
    back = whole(tmp_path / "a", names)
    assert np.array_equal(back[0], rows)
    assert np.array_equal(back[1], values)


def test_wide_tables_are_held_in_fewer_records():
    assert rows_of(1) > rows_of(100) >= rows_of(10**6) == 1024


def test_columns_come_one_by_one_from_a_table_that_is_opened_once(tmp_path):
    values = np.arange(12).reshape(4, 3)
    with SpillWriter(tmp_path / "a", [np.int64] * 3) as writer:
        writer.write(list(values.T))
    with opened(tmp_path / "a") as file:
        for name, column in zip(names_of(2), values.T, strict=True):
            assert np.array_equal(whole(file, [name]), [column])
