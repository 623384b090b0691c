from dataclasses import replace

import pytest

from shoal.attributes.quantities import Finding
from shoal.inspection.suggestions import Held, naming_word, suggestion

TEXT = Held("note", 3, "text", records=100, missing=0, distinct=7, more=False, all_different=False)
NUMBERS = replace(TEXT, name="size", holds="numbers", whole=True)


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
        (replace(TEXT, distinct=1, missing=3), "drop", "no numbers"),
        (TEXT, "drop", "7 different values that are no numbers"),
        (replace(TEXT, name="city"), "drop", "it is text"),
        (replace(TEXT, holds="dates", name="admission"), "drop", "it is a date"),
        (replace(TEXT, in_doubt=True), "drop", "say --decimal"),
        (replace(TEXT, holds="other"), "drop", "no numbers"),
        (replace(TEXT, distinct=65536, more=True), "identifier", "more than 65536 different texts"),
        (replace(TEXT, distinct=100, all_different=True), "identifier", "in every record"),
        (replace(TEXT, distinct=95), "identifier", "in nearly every record"),
        (replace(TEXT, name="diagnosis", distinct=95), "confidential", "called 'diagnosis'"),
        (replace(TEXT, name="income", classes=True, distinct=2), "confidential", "classes of an amount"),
        (replace(NUMBERS, name="age_at_diagnosis"), "quasi-identifier", "called 'age'"),
        (NUMBERS, "quasi-identifier", "7 different numbers"),
        (replace(NUMBERS, missing=1), "drop", "a gap"),
        (replace(NUMBERS, endless=True), "drop", "infinity"),
        (replace(NUMBERS, finding=Finding("counter", "counts", "drop it")), "identifier", "names the records"),
        (replace(NUMBERS, finding=Finding("code", "is a code", "drop it")), "drop", "a quantity in its place"),
        (replace(NUMBERS, finding=Finding("date", "is a date", "drop it")), "drop", "a year or an age"),
        (replace(NUMBERS, finding=Finding("mark", "holds -9", "take it out")), "quasi-identifier", "take it out"),
        (replace(NUMBERS, name="target", distinct=2), "confidential", "called 'target'"),
        (replace(NUMBERS, name="", distinct=100, all_different=True), "identifier", "numbers of the rows"),
        (replace(NUMBERS, name="row", distinct=100, all_different=True), "quasi-identifier", "100 different"),
        (replace(NUMBERS, name="row", place=0, distinct=100, all_different=True), "identifier", "of the rows"),
        (replace(NUMBERS, name="account_id", whole=False, distinct=90), "quasi-identifier", "90 different"),
    ],
)
def test_a_role_and_why(held, role, why):
    found, reason = suggestion(held)
    assert found == role
    assert why in reason
