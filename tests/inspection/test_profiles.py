import pyarrow as pa
import pytest

from shoal.files import Dialect
from shoal.inspection.profiles import Profiler, Seen, TextFacts


def profiled(values, kind=None, dialect=None, most=100):
    column = pa.chunked_array([pa.array(values, kind)])
    profiler = Profiler("x", column.type, dialect, most)
    for start in range(0, len(values), 2):
        profiler.add(column.slice(start, 2))
    return profiler.profile(0)


@pytest.mark.parametrize(
    ("values", "kind", "low", "high"),
    [
        (["3", "5", "04"], "string", None, None),
        (["3", " 5", "4 "], "int64", 3, 5),
        (["3", "1,5", "4"], "double", 1.5, 4.0),
        (["3", "NA", "4"], "int64", 3, 4),
        (["3", "x", "4"], "string", None, None),
        (["", None, "."], "string", None, None),
        (["1e5", "2", "3"], "string", None, None),
        (["9" * 30, "2", "3"], "string", None, None),
    ],
)
def test_the_type_and_the_range_of_a_column_of_a_csv_file(values, kind, low, high):
    found = profiled(values, pa.string(), Dialect(";", decimal=","))
    assert (found.type, found.low, found.high) == (kind, low, high)
    assert type(found.low) is type(low)


def test_values_that_differ_in_spaces_only_are_the_same():
    assert profiled([" a", "a ", "b", "a"]).distinct == 2


def test_hashes_are_dropped_once_there_are_too_many():
    seen = Seen(3)
    seen.add(["a", "b"], 2)
    assert (seen.distinct, seen.complete, seen.all_different) == (2, True, True)
    seen.add(["b", "c"], 2)
    assert (seen.distinct, seen.complete, seen.all_different) == (3, True, False)
    seen.add(["d"], 1)
    seen.add(["e"], 1)
    assert (seen.distinct, seen.complete) == (3, False)


def test_what_texts_are():
    facts = TextFacts(Dialect())
    facts.add(pa.array(["007", "123"]))
    assert (facts.width, facts.number, facts.lengths) == (3, True, (3, 3))
    facts.add(pa.array(["1234"]))
    assert facts.width == 0
    doubt = TextFacts(Dialect())
    doubt.add(pa.array(["1.633", "941"]))
    assert doubt.in_doubt
    doubt.add(pa.array(["1.5"]))
    assert not doubt.in_doubt
    thousands = TextFacts(Dialect(";", decimal=",", thousands="."))
    thousands.add(texts := pa.array(["1.633,5", "941"]))
    assert thousands.numbers(texts).tolist() == [1633.5, 941]
    classes = TextFacts(Dialect())
    classes.add(pa.array(["<=50K", "> $50k", ">=1.5M"]))
    assert classes.classes


def test_dates_and_lists_have_their_range_or_none():
    days = pa.array([3, 1, 2]).cast(pa.int32()).cast(pa.date32())
    found = profiled(days.to_pylist(), pa.date32())
    assert (str(found.low), str(found.high), found.distinct) == ("1970-01-02", "1970-01-04", 3)
    late = pa.chunked_array([pa.array([10**15, 10**15 + 1]).cast(pa.timestamp("s"))])
    profiler = Profiler("x", late.type, None, 100)
    profiler.add(late)
    assert (profiler.profile(0).distinct, profiler.profile(0).low) == (2, None)
    assert profiled([[1], [2], [1]]).distinct == 2


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["3", "5", "04"], "numeric"),
        (["1e5", "2"], "numeric"),
        (["true", "False"], "numeric"),
        (["1,633", "2,100"], "none"),
        (["low", "high", "medium", "NA"], "ordinal"),
        (["low", "high", "blue"], "nominal"),
        (["3", "many"], "mixed"),
        (["3", "inf"], "none"),
        (["NA", "", None], "none"),
    ],
)
def test_the_kind_of_a_column_of_a_csv_file(values, kind):
    assert profiled(values, pa.string(), Dialect(";", decimal=",")).kind == kind


def test_how_gaps_are_written():
    assert profiled(["NA", "x", " NA", "", None, "?", "y", "NA"]).gaps == {"NA": 3, "": 2, "?": 1}
    assert profiled([1.5, float("nan"), None]).gaps == {"": 2}
    assert profiled([1, 2]).gaps == {}


def test_what_means_a_missing_number_is_named_with_all_that_is_written_for_one():
    ages = [str(20 + number % 31) for number in range(80)]
    found = profiled([*ages, "unknown", "NA", "?"], pa.string(), Dialect())
    assert (found.kind, found.options) == ("mixed", {"gap_values": ("unknown", "NA", "?")})
    other = profiled([*ages, "unknown", "90+"], pa.string(), Dialect())
    assert (other.kind, other.options) == ("mixed", {"kinds": "nominal"})


def test_postcodes_of_one_length_have_beginnings():
    def named(name, values):
        profiler = Profiler(name, pa.string(), Dialect(), 100)
        profiler.add(pa.chunked_array([values]))
        return profiler.profile(1).options

    codes = [f"{1000 + 53 * number**2 % 8009:05d}" for number in range(40)] * 3
    assert named("zip", codes) == {"prefixes": (1, 2, 3)}
    assert named("zip", [code.lstrip("0") for code in codes]) == {"prefixes": (1, 2, 3)}
    assert named("zip", [*codes, "123456"]) == {"kinds": "nominal"}
    assert named("postcode", [f"SW{number % 9}" for number in range(40)]) == {"prefixes": (1, 2)}


def test_dates_that_no_kind_reads_by_itself():
    def found(dates):
        column = profiled(dates, pa.string(), Dialect())
        return column.kind, column.role, column.options

    many = [f"{1 + number % 28:02d}/{1 + number % 12:02d}/{80 + number % 19}" for number in range(40)]
    assert found(many) == ("nominal", "quasi-identifier", {"kinds": "date:%d/%m/%y"})
    assert found([f"{1 + number % 12:02d}/{text[3:]}" for number, text in enumerate(many)])[:2] == (
        "nominal",
        "drop",
    )
    assert found(["2023-02-28", "2023-02-30", "2023-01-01"] * 9)[:2] == ("none", "drop")
    assert found(["2023-02-28", "2023-02-27"] * 9) == ("date", "quasi-identifier", {})


def test_dates_written_as_numbers_are_all_read_before_it_is_suggested():
    days = [f"19{40 + number % 60}{1 + number % 12:02d}{1 + number % 28:02d}" for number in range(80)]
    assert profiled(days, pa.string(), Dialect()).options == {"kinds": "date"}
    assert profiled([int(day) for day in days]).options == {"kinds": "date"}
    unknown = profiled([*days, "99999999", "NA"], pa.string(), Dialect())
    assert unknown.options == {"kinds": "date", "gap_values": ("99999999", "NA")}
    assert profiled([*days, "19400231"], pa.string(), Dialect()).role == "drop"


def test_many_numbers_that_are_one_value():
    gains = [0] * 50 + [number * number + 7 for number in range(30)]
    assert profiled(gains).options == {"kinds": "semi-continuous"}
    assert profiled([str(gain) for gain in [*gains, 99999, 99999]], pa.string(), Dialect()).options == {
        "kinds": "semi-continuous"
    }
    assert profiled([-9] * 50 + gains[50:]).options == {"gap_values": ("-9",)}


def test_what_was_not_held_is_not_taken_for_what_was(monkeypatch):
    monkeypatch.setattr("shoal.inspection.kinds.MOST", 20)
    monkeypatch.setattr("shoal.inspection.kinds.Different.__init__.__defaults__", (20,))
    days = [f"19{40 + number % 60}{1 + number % 12:02d}{1 + number % 28:02d}" for number in range(80)]
    assert profiled(days, pa.string(), Dialect()).options == {"kinds": "date"}
    assert profiled([*days, "19400231"], pa.string(), Dialect()).role == "drop"
    short = [f"{day[6:]}.{day[4:6]}.{day[2:4]}" for day in days]
    assert profiled(short[:20], pa.string(), Dialect()).options == {"kinds": "date:%d.%m.%y"}
    assert profiled([*short, "31.02.40"], pa.string(), Dialect()).options == {}


def test_numbers_that_a_table_holds_as_text():
    found = profiled([f"{number % 45}.5" for number in range(99)])
    assert (found.kind, found.role) == ("none", "drop")
    assert profiled([str(number % 4) for number in range(99)]).options == {"kinds": "nominal"}
    assert profiled([f"{number % 45:04d}" for number in range(99)]).options == {"kinds": "nominal"}  # codes
