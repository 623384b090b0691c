from dataclasses import replace

import pytest

from shoal.attributes.quantities import Finding
from shoal.inspection.suggestions import Held, naming_word, suggestion

TEXT = Held("trait", 3, "text", 100, 0, distinct=7, more=False, all_different=False, kind="nominal")
NUMBERS = replace(TEXT, name="size", holds="numbers", whole=True, kind="numeric")
CODE = replace(NUMBERS, finding=Finding("code", "is a code", "drop it", "nominal"), other="nominal")
DATE = replace(NUMBERS, finding=Finding("date", "is a date", "drop it", "date"))
PLACE = replace(NUMBERS, finding=Finding("place", "is a place", "drop it", "nominal"), other="nominal")
LOW = Finding("mark", "holds -9", "take it out", marks=("-9",))
HIGH = Finding("mark", "holds 999", "take it out", marks=("999",))
MIXED = replace(TEXT, kind="mixed", other="nominal")


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("last_name", "name"),
        ("customerId", "id"),
        ("patient no", "patient no"),
        ("PATIENTNR", "patientnr"),
        ("emp_no", "emp no"),
        ("people_nr", "people nr"),
        ("account", "account"),
        ("account_balance", None),
        ("first_visit", None),
        ("paid", None),
        ("yes_no", None),
        ("", None),
    ],
)
def test_the_word_by_which_a_column_names_a_person(name, word):
    assert naming_word(name) == word


@pytest.mark.parametrize(
    ("held", "role", "why"),
    [
        (replace(TEXT, distinct=1), "other", "one value only"),
        (replace(TEXT, distinct=0, missing=100, records=0), "other", "one value only"),
        (replace(TEXT, distinct=1, missing=3), "quasi-identifier", "1 different values may be known"),
        (TEXT, "quasi-identifier", "7 different values may be known"),
        (replace(TEXT, name="city"), "quasi-identifier", "called 'city': people are recognised by it"),
        (replace(TEXT, distinct=51), "drop", "51 different values; a group would hardly agree"),
        (replace(TEXT, distinct=15, records=20), "quasi-identifier", "15 different values"),
        (replace(TEXT, name="city", distinct=1001, records=9999), "drop", "called 'city': 1001 different values"),
        (replace(TEXT, name="city", distinct=1000, records=9999), "quasi-identifier", "recognised by it"),
        (replace(TEXT, holds="dates", kind="date", distinct=95), "quasi-identifier", "95 different values"),
        (replace(TEXT, holds="dates", kind="none", other="nominal"), "drop", "some of which cannot be read"),
        (
            replace(TEXT, name="a b", holds="dates", layouts=("date:%d/%m/%y", "date:%m/%d/%y")),
            "drop",
            "say --kind 'a b=date:%d/%m/%y' or --kind 'a b=date:%m/%d/%y' to keep it",
        ),
        (replace(TEXT, in_doubt=True, kind="none"), "drop", "say --decimal"),
        (replace(MIXED, kind="none", numerals=True, distinct=21), "drop", "turn them into numbers to keep it"),
        (replace(TEXT, holds="other", kind="none"), "drop", "cannot be read"),
        (replace(TEXT, distinct=65536, more=True), "identifier", "more than 65536 different texts"),
        (replace(TEXT, distinct=100, all_different=True), "identifier", "in every record"),
        (replace(TEXT, distinct=95), "identifier", "in nearly every record"),
        (replace(TEXT, name="diagnosis", distinct=95), "confidential", "called 'diagnosis'"),
        (replace(TEXT, name="income", classes=True, distinct=2), "confidential", "classes of an amount"),
        (replace(NUMBERS, name="age_at_diagnosis"), "quasi-identifier", "called 'age'"),
        (NUMBERS, "quasi-identifier", "7 different numbers"),
        (replace(NUMBERS, distinct=2), "quasi-identifier", "2 different values"),
        (replace(NUMBERS, missing=1), "quasi-identifier", "7 different numbers"),
        (replace(NUMBERS, endless=True), "drop", "infinity"),
        (replace(NUMBERS, finding=Finding("counter", "counts", "drop it")), "identifier", "names the records"),
        (replace(CODE, distinct=1001), "drop", "is a code; a group would hardly agree"),
        (replace(CODE, other=""), "drop", "a quantity in its place"),
        (DATE, "drop", "put a year in its place"),
        (replace(NUMBERS, finding=Finding("time", "is a time", "")), "quasi-identifier", "know it; it is a time"),
        (replace(PLACE, distinct=1001), "quasi-identifier", "it is a place"),
        (replace(NUMBERS, name="target", distinct=2), "confidential", "called 'target'"),
        (replace(NUMBERS, name="", distinct=100, all_different=True), "identifier", "numbers of the rows"),
        (replace(NUMBERS, name="row", distinct=100, all_different=True), "quasi-identifier", "100 different"),
        (replace(NUMBERS, name="row", place=0, distinct=100, all_different=True), "identifier", "of the rows"),
        (replace(NUMBERS, name="account_id", whole=False, distinct=90), "quasi-identifier", "90 different"),
    ],
)
def test_a_role_and_why(held, role, why):
    found = suggestion(held)
    assert (found.role, found.options) == (role, {})
    assert why in found.reason


@pytest.mark.parametrize(
    ("held", "options", "why"),
    [
        (CODE, {"kinds": "nominal"}, "--kind takes them for categories"),
        (replace(DATE, other="date"), {"kinds": "date"}, "--kind takes them for dates"),
        (PLACE, {"kinds": "nominal"}, "it is a place; --kind takes them for categories"),
        (replace(PLACE, lengths=(1, 2), distinct=1001), {"prefixes": (1, 2)}, "--prefix takes codes that begin"),
        (replace(TEXT, name="zip", lengths=(1, 2), distinct=80), {"prefixes": (1, 2)}, "called 'zip'"),
        (replace(NUMBERS, finding=HIGH, gaps=("NA",)), {"gap_values": ("999", "NA")}, "takes it for a gap"),
        (replace(NUMBERS, finding=LOW), {"gap_values": ("-9",)}, "holds -9"),
        (replace(NUMBERS, other="semi-continuous"), {"kinds": "semi-continuous"}, "many are one value"),
        (replace(NUMBERS, finding=HIGH, other="semi-continuous"), {"kinds": "semi-continuous"}, "holds 999"),
        (
            replace(TEXT, holds="dates", distinct=95, other="date:%d.%m.%y"),
            {"kinds": "date:%d.%m.%y"},
            "--kind says how the dates are written",
        ),
        (MIXED, {"kinds": "nominal"}, "7 different values may be known to others; text beside numbers"),
        (replace(MIXED, kind="none"), {"kinds": "nominal"}, "values that cannot be read as they are"),
        (
            replace(MIXED, kind="none", numerals=True),
            {"kinds": "nominal"},
            "values that cannot be read as they are",
        ),
        (
            replace(MIXED, distinct=95, words=("unknown",), gaps=("NA",)),
            {"gap_values": ("unknown", "NA")},
            "'unknown' among the numbers: --gap-values takes that for a gap",
        ),
    ],
)
def test_what_must_be_said_of_a_quasi_identifier(held, options, why):
    found = suggestion(held)
    assert (found.role, found.options) == ("quasi-identifier", options)
    assert why in found.reason


def test_free_text_is_dropped_by_its_name_or_its_length():
    said = Held("remarks", 3, "text", 100, 0, 12, False, False, kind="nominal", longest=20)
    assert suggestion(said).role == "drop"
    assert "free text" in suggestion(said).reason
    long = replace(said, name="cause", longest=200)
    assert suggestion(long).role == "drop"
    assert suggestion(replace(long, longest=20)).role == "quasi-identifier"
