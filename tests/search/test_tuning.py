from dataclasses import fields
from pathlib import Path

import pytest

from shoal.search.tuning import Tuning

PAGE = Path(__file__).parents[2] / "docs" / "methods" / "refined.md"


def written(value):
    """A number as the page has it."""
    if isinstance(value, tuple):
        return ", ".join(map(written, value))
    return "1/30" if value == 1 / 30 else f"{value:g}" if isinstance(value, float) else str(value)


def test_every_number_stands_on_the_page_with_its_value():
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    found = {cells[1].strip().strip("`"): cells[2].strip() for cells in (row.split("|") for row in rows)}
    assert found == {field.name: written(field.default) for field in fields(Tuning)}


@pytest.mark.parametrize(
    ("k", "cold"), [(2, 0.02), (4, 0.02), (5, 0.005), (19, 0.005), (20, 0.0005), (500, 0.0005)]
)
def test_larger_groups_end_colder(k, cold):
    assert Tuning().cold_at(k) == cold


def test_rebuilds_are_by_records_and_k_with_a_least_number():
    tuning = Tuning()
    assert tuning.rebuilds_of(1000, 5) == 1500 * 1000 / 25
    assert tuning.rebuilds_of(1000, 20) == tuning.rebuilds_of(1000, 300) == 1500 * 1000 / 400
    assert tuning.rebuilds_of(4, 3) == 1500
    assert tuning.rebuilds_of(1, 8) == 1500 / 8


def test_groups_that_are_rebuilt_together_have_room():
    tuning = Tuning()
    assert tuning.rebuilt_at(3) == 8
    assert tuning.rebuilt_at(200) == 2400 // 399
    assert tuning.rebuilt_at(1000) == 2
