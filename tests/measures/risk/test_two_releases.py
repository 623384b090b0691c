import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from naive_risk import in_common
from shoal.measures.risk import two_releases as module
from shoal.measures.risk.two_releases import intersection

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=14)


def values(figures):
    return {figure.name: figure.value for figure in figures}


@given(ROWS, st.booleans())
def test_what_two_releases_leave_is_that_of_the_twin(rows, persons):
    one, two, ids = zip(*rows, strict=True)
    ids = ids if persons else tuple(range(len(one)))
    sizes = list(in_common(one, two, ids).values())
    found = values(intersection(one, two, ids if persons else None))
    assert found["intersection_k"] == min(sizes)
    assert found["intersection_unique"] == pytest.approx(100 * sizes.count(1) / len(sizes))
    assert found["intersection_expected"] == pytest.approx(100 * sum(1 / s for s in sizes) / len(sizes))


def test_values_worked_by_hand():
    """Rows of a 2 x 3 grid, then its columns: everybody is alone though both releases have k >= 2."""
    figures = shoal.intersection([0, 0, 0, 1, 1, 1], list("abcabc"))
    assert values(figures) == {"intersection_k": 1, "intersection_unique": 100, "intersection_expected": 100}
    assert figures[0].details == {"k_one": 3, "k_two": 2}
    assert figures[0].eyes == "owner"
    assert values(shoal.intersection([5, 5, 5], [1, 1, 1]))["intersection_k"] == 3


def test_releases_of_the_package_can_be_given():
    rng = np.random.default_rng(0)
    tables = [pd.DataFrame({"x": rng.normal(size=60).round(2)}) for _ in range(2)]
    releases = [shoal.anonymize(table, k=5, quasi_identifiers="x", method="mdav") for table in tables]
    found = values(shoal.intersection(*(release.labels for release in releases)))
    assert found["intersection_k"] < 5
    assert found["intersection_expected"] > 100 / 5


def test_long_tables_of_sizes_end_with_all_larger_ones():
    sizes = np.arange(1, module._SIZES + 10)
    table = module.table_of(sizes)
    assert len(table.rows) == module._SIZES
    assert table.rows[-1][:2] == ("30 or more", 10)
    assert sum(row[1] for row in table.rows) == len(sizes)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([0, 1], [0]), "they have 2, 1 and 2"),
        (([0, 1], [0, 1], [0]), "2, 2 and 1"),
        (([], []), "no records"),
        (([[0]], [0]), "groups_one must hold one label for each record"),
    ],
)
def test_what_does_not_fit_is_refused(given, said):
    with pytest.raises(shoal.ShoalError, match=said):
        intersection(*given)
