import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from columns import made_of
from shoal.attributes.patterns import Enough, Together, apart, joined_patterns, numbered, too_rare
from shoal.errors import ShoalError


@st.composite
def lacking(draw):
    """The gaps of some records in one to four columns, which of these may be blanked, and a k."""
    n, m = draw(st.integers(2, 25)), draw(st.integers(1, 4))
    rows = draw(st.lists(st.tuples(*[st.booleans()] * m), min_size=n, max_size=n))
    free = draw(st.one_of(st.just([True] * m), st.lists(st.booleans(), min_size=m, max_size=m)))
    return rows, free, draw(st.integers(1, 6))


@given(lacking())
def test_rare_patterns_are_joined_where_the_fewest_cells_are_blanked(drawn):
    rows, free, k = drawn
    patterns, which, counts = np.unique(np.array(rows), axis=0, return_inverse=True, return_counts=True)
    names = [f"c{number}" for number in range(len(free))]
    expected = naive.joined_patterns(rows, free, k)
    if expected is None:
        with pytest.raises(ShoalError, match=f"fewer than k={k}, so they cannot be grouped by their gaps"):
            joined_patterns(patterns, counts, np.array(free), names, Enough(k))
        return
    found = joined_patterns(patterns, counts, np.array(free), names, Enough(k))[which.reshape(-1)]
    assert [tuple(row) for row in found.tolist()] == expected
    assert (found >= np.array(rows)).all()
    assert min(expected.count(row) for row in expected) >= k


@given(st.integers(1, 20), st.integers(1, 40), st.integers(0, 9))
def test_patterns_are_numbered_in_their_order(columns, rows, seed):
    lacking = np.random.default_rng(seed).random((rows, columns)) < 0.2
    patterns, which, counts = numbered(lacking)
    assert (patterns[which] == lacking).all()
    own = [tuple(row) for row in lacking.tolist()]
    assert [tuple(row) for row in patterns.tolist()] == sorted(set(own))
    assert counts.tolist() == [own.count(row) for row in sorted(set(own))]


def test_columns_that_keep_patterns_apart_make_strata_and_hide_values():
    ages = made_of(["1", "", "3", "4", "5", "6"], gaps="blank")
    sexes = made_of(["f", "f", "", "f", "m", "m"], gaps="blank")
    incomes = made_of(["1", "", "3", "4", "", "6"], gaps="value")
    (age, sex, income), strata = apart((ages, sexes, incomes), 2)
    assert (age.hidden | sex.hidden).tolist() == [False, True, True, False, False, False]
    assert strata.tolist() == [0, 1, 1, 0, 0, 0]
    assert income is incomes
    assert apart((incomes,), 2) == ((incomes,), None)


def test_one_pattern_needs_no_strata():
    attribute = made_of(["1", "", "3"], gaps="blank")
    (made,), strata = apart((attribute,), 3)
    assert strata is None
    assert made.missing.all()


@pytest.mark.parametrize(
    ("pattern", "size", "all_free", "message"),
    [
        ([True, False], 1, False, "only 1 record lack"),
        ([True, True], 2, False, "only 2 records lack 'a', 'b' and nothing else, fewer than k=5"),
        ([False, False], 3, False, "only 3 records lack none of 'a', 'b', fewer than k=5"),
        ([True, False], 2, False, "say --gaps blank to blank more cells, or use --gaps value, impute or drop"),
        ([True, False], 2, True, "cannot be grouped by their gaps; use --gaps value, impute or drop"),
    ],
)
def test_a_pattern_that_is_too_rare_is_named(pattern, size, all_free, message):
    assert message in str(too_rare(np.array(pattern), size, size, ["a", "b"], Enough(5), all_free))


HOMES = np.repeat(np.arange(20), 2)
EVERY_FIFTH = ["" if home % 5 == 0 else str(home) for home in HOMES.tolist()]  # eight persons of four households


@pytest.mark.parametrize("policy", ["pattern", "blank"])
def test_patterns_are_those_of_k_persons_where_households_stay_together(policy):
    persons = Together(HOMES, None, "persons", least=2)
    attribute = made_of(EVERY_FIFTH, gaps=policy)
    for k in (5, 8):
        (made,), strata = apart((attribute,), k, persons)
        assert np.bincount(strata).tolist() == [32, 8]
        assert made.missing.sum() == 8
    with pytest.raises(ShoalError, match="only 4 households lack .* and nothing else, fewer than k=5"):
        apart((made_of(EVERY_FIFTH, gaps="pattern"),), 5, Together(HOMES, HOMES, "households"))


def test_a_pattern_of_one_household_is_too_rare():
    attribute = made_of(["", "", "", "4", "5", "6", "7", "8", "9"], gaps="pattern")
    homes = np.repeat(np.arange(3), 3)
    with pytest.raises(ShoalError, match="only 1 household lacks .* fewer than the 2 that a group needs, so they"):
        apart((attribute,), 3, Together(homes, None, "persons", least=2))
    with pytest.raises(ShoalError, match="only 3 persons lack .* and nothing else, fewer than k=4"):
        apart((attribute,), 4, Together(homes, None, "persons", least=2))


@given(lacking(), st.integers(1, 3), st.integers(0, 99))
def test_rare_patterns_of_households_are_joined_by_their_persons(drawn, least, seed):
    rows, free, k = drawn
    persons = np.random.default_rng(seed).integers(1, 4, len(rows))
    patterns, which = np.unique(np.array(rows), axis=0, return_inverse=True)
    which, names = which.reshape(-1), [f"c{number}" for number in range(len(free))]
    enough = Enough(k, "persons", np.bincount(which), least)
    expected = naive.joined_patterns(rows, free, k, persons.tolist(), least)
    counts = np.bincount(which, persons).astype(np.int64)
    if expected is None:
        with pytest.raises(ShoalError, match="so they cannot be grouped by their gaps"):
            joined_patterns(patterns, counts, np.array(free), names, enough)
        return
    found = joined_patterns(patterns, counts, np.array(free), names, enough)[which]
    assert [tuple(row) for row in found.tolist()] == expected
