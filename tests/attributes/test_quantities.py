import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.attributes.numbers import from_text
from shoal.attributes.quantities import MOST, Shown, Tally, finding_in, finding_of
from shoal.datasets import clinic, sme
from shoal.errors import ShoalWarning

N = 1000
RNG = np.random.default_rng(16)
DAYS = pd.to_datetime("1930-01-01") + pd.to_timedelta(RNG.integers(0, 365 * 80, N), unit="D")


def dates(layout):
    return DAYS.strftime(layout).astype(int).to_numpy()


def with_marks(values, mark, number=20):
    values = np.array(values)
    values[RNG.choice(len(values), number, replace=False)] = mark
    return values


AGE, CHILDREN, WEIGHT = RNG.integers(18, 91, N), RNG.integers(0, 5, N), np.round(RNG.normal(70, 10, N), 1)
FAR = np.array([11, 12, 21, 22, 31, 32, 33, 34, 41, 42])


def kind_of(name, values):
    column = pa.chunked_array([pa.array([str(value) for value in values])])
    finding = finding_of(name, [from_text(name, column, ".")])
    return finding and finding.kind


NO_QUANTITIES = {
    "the numbers of rows": ("x", np.arange(1, N + 1), "counter"),
    "in any order": ("x", RNG.permutation(N), "counter"),
    "in steps of ten, of 18 digits": ("patient", 10**17 + 10 * np.arange(N), "counter"),
    "with some records taken out": ("nr", np.sort(RNG.choice(1500, N, replace=False)), "counter"),
    "twelve rows": ("x", np.arange(1, 13), "counter"),
    "more than are held": ("x", RNG.permutation(3 * MOST), "counter"),
    "YYYYMMDD": ("dob", dates("%Y%m%d"), "date"),
    "YYYYMMDD, and nines for unknown": ("dob", with_marks(dates("%Y%m%d"), 99999999), "date"),
    "DDMMYYYY": ("born", dates("%d%m%Y"), "date"),
    "MMDDYYYY": ("born", dates("%m%d%Y"), "date"),
    "YYMMDD": ("born", dates("%y%m%d"), "date"),
    "YYYYMM": ("month", dates("%Y%m"), "date"),
    "YYYYDDD": ("day", dates("%Y%j"), "date"),
    "seconds since 1970": ("timestamp", RNG.integers(15 * 10**8, 17 * 10**8, N), "time"),
    "milliseconds since 1970": ("admissionTime", RNG.integers(15 * 10**11, 17 * 10**11, N), "time"),
    "tens that are called a region": ("REGION", 10 * RNG.integers(1, 9, N), "code"),
    "codes of something": ("country_of_birth", RNG.integers(1, 200, N), "code"),
    "contiguous codes": ("race", RNG.integers(1, 6, N), "code"),
    "blocks of codes, whatever they are called": ("v17", RNG.choice(FAR, N), "code"),
    "two blocks": ("v17", RNG.choice([1, 2, 3, 4, 11, 12, 13], N), "code"),
    "a kind of status": ("marital_status", RNG.integers(1, 7, N), "code"),
    "numbers of companies, repeated": ("UTILITYID", RNG.choice(RNG.integers(0, 9999, 90), N), "code"),
    "leading zeros": ("v3", [f"{number:05d}" for number in RNG.integers(0, 99999, N)], "code"),
    "postcodes": ("zip_code", RNG.integers(10000, 99999, N), "place"),
    "-9": ("age", with_marks(AGE, -9), "mark"),
    "-8 and -9": ("age", with_marks(with_marks(AGE, -9), -8), "mark"),
    "-1 far from the rest": ("age", with_marks(AGE, -1), "mark"),
    "-1 in most records": ("days_since", with_marks(RNG.integers(0, 300, N), -1, 700), "mark"),
    "-9 in a small range": ("children", with_marks(CHILDREN, -9), "mark"),
    "99 in a small range": ("children", with_marks(CHILDREN, 99), "mark"),
    "99 among ages up to 79": ("age", with_marks(np.minimum(AGE, 79), 99), "mark"),
    "998 and 999": ("age", with_marks(with_marks(AGE, 999), 998), "mark"),
    "999 in most records": ("pdays", with_marks(RNG.integers(0, 28, N), 999, 950), "mark"),
    "999.9": ("weight", with_marks(WEIGHT, 999.9), "mark"),
    "-9999 among floats": ("z", with_marks(RNG.normal(0, 1, N), -9999.0), "mark"),
    "a top code": ("gain", with_marks(RNG.integers(0, 40000, N), 99999), "mark"),
    "a mark among more than are held": ("z", with_marks(RNG.normal(0, 1, 3 * MOST), 999.0), "mark"),
}

QUANTITIES = {
    "ages": ("age", AGE),
    "ages up to 99": ("age", with_marks(with_marks(RNG.integers(0, 98, N), 97), 99)),
    "few different ages": ("age", [23, 25, 31, 34, 37, 42, 45, 51, 56, 60, 62, 70]),
    "children": ("children", RNG.poisson(1.5, N)),
    "years of education": ("education_num", RNG.integers(1, 17, N)),
    "incomes": ("income", np.rint(RNG.lognormal(10, 0.6, N)).astype(int)),
    "incomes in thousands": ("income", 1000 * np.rint(RNG.lognormal(3, 0.6, N)).astype(int)),
    "amounts": ("amount", np.round(RNG.lognormal(4, 1, N), 2)),
    "a scale": ("likert", RNG.integers(1, 6, N)),
    "z-scores": ("z", RNG.normal(0, 1, N)),
    "temperatures": ("temperature", np.rint(RNG.normal(12, 5, N)).astype(int)),
    "better, same or worse": ("change", RNG.integers(-1, 2, N)),
    "doses": ("dose", RNG.choice([5, 10, 20, 25, 50, 100], N)),
    "hours in heaps": ("hours", RNG.choice([20, 25, 30, 35, 38, 40, 45, 48, 50, 60], N)),
    "years": ("birth_year", RNG.integers(1930, 2010, N)),
    "few years": ("birth_year", RNG.integers(1990, 2000, N)),
    "months": ("month", RNG.integers(1, 13, N)),
    "a tax of a state": ("state_tax", RNG.integers(0, 9999, N)),
    "days in a hospital": ("days_in_hospital", RNG.poisson(5, N)),
    "years at school": ("years_school", RNG.integers(8, 20, N)),
    "an age at a diagnosis": ("age_at_diagnosis", AGE),
    "one or two": ("sex", RNG.integers(1, 3, N)),
    "a long tail": ("n", RNG.zipf(1.5, N)),
    "percent": ("share", RNG.integers(0, 101, N)),
    "longitudes": ("longitude", np.round(RNG.uniform(5, 15, N), 6)),
    "six digits": ("price", RNG.integers(185000, 210000, N)),
    "eight digits": ("price", RNG.integers(18500000, 20300000, N)),
    "seven digits around one number": ("price", np.rint(RNG.normal(1950200, 30, N)).astype(int)),
    "all different by chance": ("income", RNG.choice(10**6, N, replace=False)),
    "nine rows": ("x", np.arange(9)),
    "truth": ("region", RNG.choice(["true", "false"], N)),
    "one number": ("region", [7] * N),
}


@pytest.mark.parametrize("case", sorted(NO_QUANTITIES))
def test_what_is_no_quantity_is_found(case):
    name, values, kind = NO_QUANTITIES[case]
    assert kind_of(name, values) == kind


@pytest.mark.parametrize("case", sorted(QUANTITIES))
def test_a_quantity_raises_no_alarm(case):
    assert kind_of(*QUANTITIES[case]) is None


def test_the_benchmark_tables_raise_no_alarm_but_where_it_is_true(shared):
    found = {}
    for path in sorted((shared / "data").glob("*.csv*")):
        table = pd.read_csv(path, dtype=str).dropna(axis=1)
        for name in table:
            if pd.to_numeric(table[name], errors="coerce").notna().all():
                found[path.name, name] = kind_of(name, table[name])
    assert len(found) == 13 + 13 + 13 + 6 + 2
    assert {column: kind for column, kind in found.items() if kind} == {
        ("eia.csv", "UTILITYID"): "code",
        ("adult.csv.gz", "capital-gain"): "mark",
    }


def test_of_the_built_in_tables_only_the_postcode_is_spoken_of():
    for table, expected in ((clinic(), ["place"]), (sme(), [])):
        numbers = [name for name in table.column_names if not pa.types.is_string(table[name].type)]
        assert [kind for name in numbers if (kind := kind_of(name, table[name].to_pylist()))] == expected


@given(st.lists(st.integers(-3, 40) | st.just(999), min_size=1, max_size=60), st.integers(1, 30))
def test_a_tally_does_not_depend_on_the_parts_that_it_comes_in(values, size):
    most = 20
    whole, parts = Tally(most), Tally(most)
    whole.add(np.array(values))
    for start in range(0, len(values), size):
        parts.add(np.array(values[start : start + size]))
    expected, counts = np.unique(values, return_counts=True)
    for tally in (whole, parts):
        assert tally.records == len(values)
        assert tally.complete == (len(expected) <= most)
        assert tally.all_different == (len(set(values[:most])) == len(values[:most]))
        held = slice(None) if tally.complete else np.r_[:10, -10:0]
        assert np.array_equal(tally.values, expected[held])
        assert np.array_equal(tally.counts, counts[held])


def test_beyond_what_is_held_the_ends_are_exact():
    values = RNG.integers(0, 10**6, 3 * MOST)
    tally = Tally()
    for part in np.array_split(values, 7):
        tally.add(part)
    expected, counts = np.unique(values, return_counts=True)
    assert not tally.complete
    assert np.array_equal(tally.values, np.concatenate([expected[:64], expected[-64:]]))
    assert np.array_equal(tally.counts, np.concatenate([counts[:64], counts[-64:]]))


def test_numbers_beyond_64_bits_are_looked_at_too():
    assert kind_of("x", [10**25 + number for number in range(30)]) == "counter"
    assert kind_of("x", [10**25 * number**2 for number in range(30)]) is None
    assert kind_of("code", [10**25 * number**2 for number in range(30)]) == "code"


def test_a_warning_names_the_column_the_reason_and_the_cure_before_anything_is_grouped():
    table = pd.DataFrame({"region": RNG.choice(FAR, 60), "age": AGE[:60]})

    def grouped(done, total):
        raise AssertionError("grouped before it was said")

    said = "quasi-identifier 'region' looks like codes.*such as 11 and 42.*say --kind region=nominal.*or drop it"
    with warnings.catch_warnings():
        warnings.simplefilter("error", ShoalWarning)
        with pytest.raises(ShoalWarning, match=said):
            shoal.anonymize(table, 5, ["region", "age"], method="mdav", progress=grouped)


def test_streamed_in_parts_the_same_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.files.batches.GROUP", 30)
    monkeypatch.setattr("shoal.stream.spill.rows_of", lambda m: 40)
    table = pd.DataFrame(
        {
            "region": RNG.choice(FAR, 200),
            "dob": dates("%Y%m%d")[:200],
            "age": with_marks(AGE[:200], -9),
            "row": np.arange(200),
            "weight": WEIGHT[:200],
        }
    )
    table.to_csv(tmp_path / "in.csv", index=False)
    said = []
    for blocks in (None, 1, 2):
        with pytest.warns(ShoalWarning) as caught:
            shoal.anonymize_file(
                tmp_path / "in.csv", tmp_path / f"{blocks}.csv", 5, list(table), method="mdav", blocks=blocks
            )
        said.append([str(warning.message) for warning in caught])
    assert said[0] == said[1] == said[2]
    assert [text.split("'")[1] for text in said[0]] == ["region", "dob", "age", "row"]


@pytest.mark.parametrize("name", ["card_number", "insurance_nr", "cardno", "emp_no", "patientnr"])
def test_the_numbers_of_people_are_codes_by_the_words_that_name_people(name):
    tally = Tally()
    tally.add(np.arange(100) * 7919 % 100_003)
    assert finding_in(name, Shown(tally, tally.values, True)).kind == "code"


def test_a_counter_that_was_looked_at_in_part_is_said_to_be():
    def reason(most, numbers):
        tally = Tally(most)
        tally.add(numbers)
        return finding_in("n", Shown(tally, tally.values, True)).reason

    assert reason(200, np.arange(200)).endswith("all numbers are different and evenly spaced")
    assert "the first 200 numbers are different, and few" in reason(200, np.arange(500))
    assert "all numbers" not in reason(200, np.append(np.arange(500), [300, 301]))


@pytest.mark.parametrize(
    ("name", "values", "cure", "asks", "marks"),
    [
        ("dob", dates("%Y%m%d"), "say --kind dob=date, or drop it", "date", ()),
        (
            "dob",
            with_marks(dates("%Y%m%d"), 99999999),
            "dob=date --gap-values dob=99999999,",
            "date",
            ("99999999",),
        ),
        ("dob", dates("%d%m%Y"), "say --kind dob=date:%d%m%Y, or", "date:%d%m%Y", ()),
        ("dob", dates("%Y%m"), "turn it into a year, or drop it", "", ()),
        ("region", RNG.choice(FAR, N), "say --kind region=nominal to", "nominal", ()),
        ("zip", RNG.integers(10000, 99999, N), "say --prefix zip=1,2 if", "nominal", ()),
        ("age", with_marks(AGE, -9), "say --gap-values age=-9 if", "", ("-9",)),
    ],
)
def test_a_cure_names_the_options_that_help(name, values, cure, asks, marks):
    column = pa.chunked_array([pa.array([str(value) for value in values])])
    found = finding_of(name, [from_text(name, column, ".")])
    assert cure in found.cure
    assert (found.asks, found.marks) == (asks, marks)
