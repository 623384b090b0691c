import weakref

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from shoal.measures import given_away
from shoal.measures.untouched import (
    GivenAway,
    PairTable,
    PersonTally,
    Strength,
    chosen,
    hashes_of,
    refusal_of,
    scrambled,
    strength,
    warning_of,
)

MODULE = "shoal.measures.untouched."


def measured(columns, quasi, others=(), confidential=(), k=3, size=None):
    """The figures of a dictionary of columns, read in parts of a size."""
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)

    def parts(names):
        step = size or table.num_rows
        return [table.select(names).slice(start, step) for start in range(0, table.num_rows, step)]

    return given_away(parts, quasi, others, confidential, table.num_rows, k)


def people(n, seed=0):
    """Columns of which some determine others."""
    rng = np.random.default_rng(seed)
    degree = rng.integers(0, 9, n)
    earned, rent = rng.integers(0, 5000, n), rng.integers(0, 500, n)
    return {
        "age": rng.integers(18, 90, n),
        "degree": degree,
        "earned": earned,
        "school": [f"school {number}" for number in degree],
        "sex": rng.choice(["f", "m"], n).tolist(),
        "rent": rent,
        "total": earned + rent,
        "id": [f"p{number}" for number in range(n)],
    }


QUASI = ["age", "degree", "earned"]


def test_what_the_columns_give_away_is_counted_and_named():
    found = measured(people(500), QUASI, ["school", "sex", "rent"], ["total"])
    others, secret = found.others, found.confidential
    assert others.says()[1:] == ["'school' determines 'degree' in every record"]
    assert secret.says()[1:] == ["total = earned + rent in every record"]
    assert others.gives_away
    rows = pa.table(people(500)).to_pylist()
    for figure in (others, secret):
        counts = figure.unique, figure.groups_below, figure.records_below
        assert counts == naive.untouched(rows, figure.columns, 3)
        assert f"{counts[0]} of 500 records are unique" in figure.says()[0]


def test_a_typo_hides_no_dependency():
    columns = people(500)
    columns["school"][7] = "school 3" if columns["degree"][7] != 3 else "school 4"
    (found,) = measured(columns, QUASI, ["school"]).others.dependencies
    assert (found.column, found.quasi_identifier, found.share) == ("school", "degree", 0.998)
    assert str(found) == "'school' determines 'degree' in 99.8 % of the records that share its value with another"


def test_columns_of_which_every_record_has_its_own_value_say_nothing_of_the_others():
    figure = measured(people(500), QUASI, ["id"]).others
    assert (figure.unique, figure.dependencies, figure.relations) == (500, (), ())


def test_neither_constants_nor_accidents_count():
    flat = {"q": [7] * 100, "z": [0] * 97 + [1, 2, 3], "u": ["a", "b"] * 50, "w": ["a"] * 97 + ["b", "c", "d"]}
    assert measured(flat, ["q", "z"], ["u", "w"]).others.dependencies == ()
    few = {"q": [1, 1, 2, 2, 3], "u": ["a", "a", "b", "b", "c"]}  # so few records can agree by accident
    assert measured(few, ["q"], ["u"]).others.dependencies == ()


def test_no_columns_no_figures():
    assert measured(people(9), QUASI).as_dict() == {}
    assert list(measured(people(9), QUASI, ["sex"]).as_dict()) == ["others"]
    assert list(measured(people(9), QUASI, (), ["sex"]).as_dict()) == ["confidential"]


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, -0.0, None, 1.5]), st.sampled_from(["", "a", None]), st.integers(0, 2)),
        min_size=1,
        max_size=40,
    ),
    st.integers(1, 5),
    st.integers(1, 7),
)
def test_the_counts_are_those_of_the_naive_twin_in_parts_of_any_size(rows, k, size):
    table = pa.table({name: pa.array(values) for name, values in zip("abq", zip(*rows, strict=True), strict=True)})
    told = [{"a": repr(a), "b": b, "q": q} for a, b, q in rows]
    found = measured(table, ["q"], ["a"], ["b"], k, size)
    both = measured(table, ["q"], ["a", "b"], (), k, size)
    for figure in (found.others, found.confidential, both.others):
        assert (figure.unique, figure.groups_below, figure.records_below) == naive.untouched(
            told, figure.columns, k
        )
        assert figure.records == len(rows)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=60), st.booleans())
def test_dependencies_are_those_of_the_naive_twin(pairs, together):
    column, quasi = (np.array(values) for values in zip(*pairs, strict=True))
    if together:
        quasi = np.where(np.arange(len(pairs)) % 20 == 7, quasi, column // 2)
    expected = pytest.approx(naive.dependency(column.tolist(), quasi.tolist()))
    found = [strength(column, quasi), strength(column * 1000, quasi * 1000)]  # as a table, and as sorted pairs
    table = PairTable()
    for part in np.array_split(np.arange(len(pairs)), 3):
        table.add(scrambled(column[part].astype(np.uint64)), scrambled(quasi[part].astype(np.uint64)))
    for told in (*found, table.strength()):
        assert (told.repeated, told.share, told.gain, told.odds) == expected


@pytest.mark.parametrize("size", [70, 1000])
def test_a_sample_and_a_second_reading_find_the_same(monkeypatch, size):
    columns = people(4000)
    columns["school"][1] = "school 8" if columns["degree"][1] != 8 else "school 7"
    columns["total"][3001] += 7
    kept = ["school", "sex", "rent", "total", "id"]
    whole = measured(columns, QUASI, kept).as_dict()
    assert whole["others"]["says"][1:] == [
        "'school' determines 'degree' in 99.98 % of the records that share its value with another",
        "total = earned + rent in 99.98 % of the records",
    ]
    monkeypatch.setattr(MODULE + "SAMPLE", 1000)
    monkeypatch.setattr(MODULE + "MOST_VALUES", 50)
    assert measured(columns, QUASI, kept, size=size).as_dict() == whole
    monkeypatch.setattr(MODULE + "MOST_VALUES", 3)
    figure = measured(columns, QUASI, kept).others
    assert figure.unseen == ("whether 'school' determines 'degree'",)
    assert "not looked at: whether 'school' determines 'degree'" in figure.says()


def test_what_holds_in_the_sample_only_is_not_said(monkeypatch):
    columns = people(4000)
    in_sample = np.arange(4000) // 32 % 4 == 0
    columns["school"] = np.where(in_sample, columns["school"], "none").tolist()
    columns["total"] = np.where(in_sample, columns["total"], 0)
    monkeypatch.setattr(MODULE + "SAMPLE", 1000)
    figure = measured(columns, QUASI, ["school", "rent", "total"]).others
    assert (figure.dependencies, figure.relations, figure.unseen) == ((), (), ())


def test_households_that_stand_together_are_seen_in_a_sample(monkeypatch):
    rng = np.random.default_rng(0)
    house = np.repeat(np.arange(1500), 2)
    columns = {"income": rng.integers(0, 900, 1500)[house], "house": [f"h{number}" for number in house]}
    monkeypatch.setattr(MODULE + "SAMPLE", 500)
    assert measured(columns, ["income"], ["house"], k=2).others.says() == [
        "0 of 3000 records are unique on this column alone and 0 are in groups of fewer than 2",
        "'house' determines 'income' in every record",
    ]


def test_what_is_beyond_a_bound_is_said(monkeypatch):
    monkeypatch.setattr(MODULE + "MOST_PAIRS", 4)
    monkeypatch.setattr(MODULE + "MOST_COLUMNS", 3)
    figure = measured(people(300), QUASI, ["school", "sex", "rent", "total"]).others
    assert figure.unseen == (
        "whether every quasi-identifier is determined by 'sex'",
        "sums with 'total', 'earned'",
    )


def test_values_of_any_type_have_hashes_and_gaps_are_values():
    table = {
        "list": [[1], [1], [2], None],
        "category": pa.array(["a", "a", "b", None]).dictionary_encode(),
        "half": pa.array(np.array([1, 1, 2, 3], np.float16)),
        "day": pa.array([1, 1, 2, None], pa.date32()),
        "bytes": [b"a", b"a", b"b", None],
        "flag": [True, True, False, None],
        "small": pa.array([1, 1, 2, None], pa.int8()),
        "decimal": pa.array([1, 1, 2, None], pa.decimal128(5, 2)),
    }
    for name in table:
        hashes = hashes_of(pa.table(table)[name]).tolist()
        assert hashes[0] == hashes[1]
        assert len(set(hashes)) == 3
    first, second, third = hashes_of(pa.chunked_array([["a"], ["b", "a"]]))
    assert first == third != second
    assert len(set(hashes_of(pa.chunked_array([pa.nulls(3)])).tolist())) == 1


@given(st.lists(st.text(max_size=6) | st.none(), max_size=30), st.integers(0, 5), st.integers(1, 9))
def test_texts_have_the_same_hash_if_and_only_if_they_are_the_same(texts, start, bytes_at_a_time):
    column = pa.chunked_array([pa.array(texts, pa.string()).slice(start)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MODULE + "_BYTES", bytes_at_a_time)
        hashes = hashes_of(column).tolist()
    assert hashes == hashes_of(pa.chunked_array([texts[start:]], pa.string())).tolist()
    assert len(set(zip(texts[start:], hashes, strict=True))) == len(set(texts[start:])) == len(set(hashes))


def test_a_sample_can_be_taken_of_types_that_arrow_cannot_filter():
    wanted = np.array([True, True, False, True, False])
    for kind in (pa.string(), pa.string_view()):
        table = pa.table({"a": pa.array(list("abcde"), kind)})
        assert chosen(table, wanted)["a"].to_pylist() == ["a", "b", "d"]
        assert chosen(table, ~wanted | wanted) is table
        assert chosen(table, wanted & ~wanted).num_rows == 0


def test_a_warning_names_the_columns_and_the_cure():
    figure = GivenAway(("a", "b"), 5, 100, 4, 0, 0, 0)
    assert warning_of(figure) == (
        "columns without a role are released as they are: 'a', 'b'; 0 of 100 records are unique on these columns alone "
        "and 0 are in groups of fewer than 5; somebody who knows them and the quasi-identifiers can tell the "
        "members of a group apart; make them quasi-identifiers (-q), drop them as identifiers (-i), or say they are "
        "confidential (-c)"
    )
    figure = GivenAway(("a",), 5, 100, 9, 3, 4, 7)
    assert "3 of 100 records are unique on this column alone and 7 are in groups of fewer than 5; somebody" in (
        warning_of(figure)
    )
    assert not GivenAway(("a",), 5, 100, 1, 0, 0, 0).gives_away
    assert refusal_of(figure).startswith(
        "nothing is released, because columns without a role reveal too much: 'a'"
    )


def test_strength_counts_only_what_repeats_tells_and_is_no_accident():
    assert Strength(0.5, 1.0, 0.95, 20.0).counts
    assert not Strength(0.4, 1.0, 1.0, 20.0).counts
    assert not Strength(1.0, 1.0, 0.9, 20.0).counts
    assert not Strength(1.0, 1.0, 1.0, 10.0).counts


def adult(shared):
    """The 32 561 records of the training part, every value as text."""
    return pd.read_csv(shared / "data" / "adult.csv.gz", keep_default_na=False, nrows=32_561)


def test_adult_without_its_text_leaves_5874_unique_records_and_education_gives_a_number_back(shared):
    table = pa.Table.from_pandas(adult(shared), preserve_index=False)
    quasi = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    others = [name for name in table.column_names if name not in (*quasi, "income")]
    found = measured(table, quasi, others, ["income"], k=5)
    assert found.others.says() == [
        "5874 of 32561 records are unique on these columns alone and 10564 are in groups of fewer than 5",
        "'education' determines 'education-num' in every record",
    ]
    assert found.confidential.says() == [
        "0 of 32561 records are unique on this column alone and 0 are in groups of fewer than 5"
    ]


def test_census_names_its_sum(shared):
    table = pa.Table.from_pandas(pd.read_csv(shared / "data" / "census.csv"), preserve_index=False)
    quasi = [name for name in table.column_names if name != "PTOTVAL"]
    assert "PTOTVAL = PEARNVAL + POTHVAL in every record" in measured(table, quasi, ["PTOTVAL"]).others.says()


def test_the_hashes_of_one_column_are_held_at_a_time(monkeypatch):
    alive = []

    def watched(column):
        made = hashes_of(column)
        assert sum(one() is not None for one in alive) <= 2  # the one before, and all before it in one
        alive.append(weakref.ref(made))
        return made

    monkeypatch.setattr(MODULE + "hashes_of", watched)
    monkeypatch.setattr(MODULE + "Look.figure", lambda self, figure, extra: figure)
    table = {"x": range(50)} | {f"c{number}": range(50) for number in range(8)}
    others = [name for name in table if name != "x"]
    assert measured(table, ["x"], others).others.unique == 50


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=40), st.integers(1, 4))
def test_a_person_in_several_small_combinations_counts_once(rows, k):
    names = {name: number for number, name in enumerate(dict.fromkeys(person for person, _ in rows))}
    persons, table = [names[person] for person, _ in rows], pa.table({"town": [town for _, town in rows]})
    found = given_away(
        lambda _: [table],
        [],
        ["town"],
        [],
        len(rows),
        k,
        tally=lambda _: PersonTally(np.array(persons)),
        whom="persons",
    ).others
    towns = {
        town: {who for who, there in zip(persons, table["town"].to_pylist(), strict=True) if there == town}
        for town in table["town"].to_pylist()
    }
    small = [there for there in towns.values() if len(there) < k]
    assert found.records_below == len(set().union(*small))
    assert (found.groups, found.groups_below) == (len(towns), len(small))
    assert found.unique == sum(len(there) == 1 for there in towns.values())
