from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from samples import points
from shoal.measures import relations as module
from shoal.measures.relations import Relation, complete_parts, plain, relations, simplest, unit_of


def found_in(columns, hidden):
    """The relations of a dictionary of columns, as text; what is not hidden is needed."""
    names = list(columns)
    values = np.column_stack([np.asarray(column, float) for column in columns.values()])
    is_hidden = np.array([name in hidden for name in names])
    return [str(relation) for relation in relations(names, values, ~is_hidden, is_hidden)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_a_sum_is_named_whichever_of_its_columns_is_left(rng):
    wages, rent = rng.integers(0, 90_000, 300), rng.integers(0, 9_000, 300)
    columns = {"rent": rent, "total": wages + rent, "wages": wages, "noise": rng.integers(0, 9_000, 300)}
    for hidden in (["wages"], ["rent", "wages"], ["total"], ["total", "wages", "noise"]):
        assert found_in(columns, hidden) == ["total = wages + rent in every record"]
    assert found_in(columns, ["noise"]) == []
    assert found_in(columns, ["rent", "total", "wages"]) == []


def test_other_units_and_other_origins_are_named(rng):
    pounds, born = rng.integers(90, 300, 400), rng.integers(1930, 2005, 400)
    columns = {
        "pounds": pounds,
        "born": born,
        "kg": (pounds * 0.45359237).round(1),
        "age": 2020 - born,
        "third": pounds / 3,
        "a b": -2 * pounds,
    }
    assert sorted(found_in(columns, ["pounds", "born"])) == [
        "'a b' = − 2 × pounds in every record",
        "age = 2020 − born in every record",
        "kg = 0.4536 × pounds in every record, up to rounding",
        "third = 1/3 × pounds in every record",
    ]


def test_three_and_more_parts_are_found(rng):
    parts = {f"p{i}": rng.integers(0, 10 ** (5 - i // 2), 500) for i in range(6)}
    three = parts["p0"] - parts["p1"] + parts["p2"]
    assert found_in(parts | {"three": three}, ["p1"]) == ["p0 = three + p1 − p2 in every record"]
    (long,) = found_in(parts | {"six": sum(parts.values())}, ["p1"])
    assert sorted(long.removeprefix("six = ").removesuffix(" in every record").split(" + ")) == sorted(parts)


def test_two_relations_in_one_set_are_two(rng):
    a, b = rng.integers(0, 1000, 200), rng.integers(0, 1000, 200)
    assert found_in({"a": a, "b": b, "c": a + 1, "d": 2 * b}, ["a", "b"]) == [
        "c = a + 1 in every record",
        "d = 2 × b in every record",
    ]


def test_a_wrong_number_hides_nothing(rng):
    wages, rent = rng.integers(0, 90_000, 1000), rng.integers(0, 9_000, 1000)
    total = wages + rent
    total[[17, 600]] *= 10
    assert found_in({"wages": wages, "rent": rent, "total": total}, ["wages"]) == [
        "total = wages + rent in 99.8 % of the records"
    ]


def test_gaps_are_left_out(rng):
    wages, rent = rng.integers(0, 90_000, 300).astype(float), rng.integers(0, 9_000, 300).astype(float)
    rent[::7] = np.nan
    columns = {
        "wages": wages,
        "rent": rent,
        "total": wages + rent,
        "other": np.where(rent > 4000, np.nan, wages % 13),
    }
    assert found_in(columns, ["wages"]) == ["total = wages + rent in every record"]
    assert [len(rows) for rows, _ in complete_parts(np.full((300, 2), np.nan))] == []


def test_constants_flags_and_columns_of_zeros_are_no_relations(rng):
    n = 400
    rare = np.zeros(n)
    rare[[5, 9]] = 3
    columns = {
        "constant": np.full(n, 5.0),
        "flag": rng.integers(0, 2, n),
        "few": rng.integers(0, 3, n),
        "rare": rare,
        "rarer": 2 * rare,
        "real": rng.normal(size=n),
        "near": rng.integers(0, 50, n),
    }
    columns["opposite"] = 1 - columns["flag"]  # a bijection of two values is always linear
    columns["about"] = columns["near"] + rng.integers(0, 2, n)
    assert found_in(columns, ["flag", "few", "rare", "real", "near"]) == []


@pytest.mark.parametrize("m", [12, 60])
def test_columns_that_go_together_are_no_relations(rng, m):
    walks = {f"w{i}": column for i, column in enumerate(rng.normal(size=(500, m)).cumsum(axis=1).round(3).T)}
    assert found_in(walks, list(walks)[: m // 2]) == []


def test_many_candidates_are_bounded(rng, monkeypatch):
    monkeypatch.setattr(module, "MOST_TRIED", 3)
    base = rng.integers(0, 10_000, 200)
    columns = {"q": base} | {f"u{i}": base + i for i in range(9)}
    assert len(found_in(columns, ["q"])) == 3


@st.composite
def small_tables(draw):
    """Whole numbers in three to five columns, some of them sums and differences of others."""
    n, m = draw(st.integers(1, 30)), draw(st.integers(2, 4))
    most = draw(st.sampled_from([1, 2, 9, 500]))
    columns = [draw(st.lists(st.integers(-most, most), min_size=n, max_size=n)) for _ in range(m)]
    left, right = draw(st.integers(0, m - 1)), draw(st.integers(0, m - 1))
    sign, more = draw(st.sampled_from([1, -1, 0])), draw(st.integers(-2, 2))
    columns.append([a + sign * b + more for a, b in zip(columns[left], columns[right], strict=True)])
    return [list(row) for row in zip(*columns, strict=True)]


@given(small_tables(), st.data())
def test_every_sum_of_the_naive_twin_is_found_and_what_is_found_is_true(rows, data):
    m = len(rows[0])
    is_hidden = np.array(data.draw(st.lists(st.booleans(), min_size=m, max_size=m)))
    names = [f"c{i}" for i in range(m)]
    found = relations(names, np.array(rows, float), ~is_hidden, is_hidden)
    sets = [{names.index(name) for name in relation.columns} for relation in found]
    hidden, needed = {*np.flatnonzero(is_hidden)}, {*np.flatnonzero(~is_hidden)}
    for expected in naive.sums(rows, needed, hidden):
        assert any(columns <= expected for columns in sets)
    for relation, columns in zip(found, sets, strict=True):
        assert columns & hidden
        assert columns & needed
        places = [names.index(name) for name in relation.columns]
        factors = [1, *(-Fraction(c).limit_denominator(1000) for c in relation.coefficients)]
        constant = Fraction(relation.constant).limit_denominator(1000)
        off = [abs(sum(f * row[i] for f, i in zip(factors, places, strict=True)) - constant) for row in rows]
        true = sum(value <= relation.tolerance for value in off) / len(rows)
        assert true == relation.share >= 0.95


@given(points(), st.booleans())
def test_any_numbers_can_be_looked_at(case, gaps):
    X, k = case
    X = np.column_stack([X, X[:, 0], X.sum(axis=1)])
    if gaps:
        X[::3, 0] = np.nan
    hidden = np.arange(X.shape[1]) % 2 == k % 2
    for relation in relations([f"c{i}" for i in range(X.shape[1])], X, ~hidden, hidden):
        assert relation.share >= 0.95
        assert str(relation).startswith("c")


def test_simple_numbers_are_written_simply():
    assert simplest(0.99999, 1e-4) == 1
    assert simplest(0.3333333, 1e-6) == pytest.approx(1 / 3)
    assert simplest(0.45361, 5e-5) == 0.4536
    assert simplest(1e-9, 1e-6) == 0
    assert (plain(1 / 3), plain(0.5), plain(12.0), plain(0.4536)) == ("1/3", "0.5", "12", "0.4536")
    assert unit_of(np.array([1.25, 3.0])) == 0.01
    assert unit_of(np.array([np.pi])) == 0
    assert str(Relation(("a", "b"), (1.0,), -3.0, share=0.99999)) == "a = b − 3 in 99.99 % of the records"
