import pytest

from shoal.files.words import COLUMNS, GAPS, QUASI, TRUTHS, matched, numbering_words, parts_of


def test_the_words_of_a_name_are_found_however_it_is_written():
    assert parts_of("birthYear") == parts_of("birth_year") == parts_of("Birth Year 2") == ["birth", "year"]


def test_a_word_counts_as_a_part_of_its_own_only():
    assert matched("patientAge", QUASI) == "age"
    assert matched("wages", QUASI) is None


def test_no_word_names_a_column_and_stands_for_a_missing_value_or_a_truth():
    assert not COLUMNS & GAPS
    assert not COLUMNS & TRUTHS


@pytest.mark.parametrize(("name", "numbers"), [("patient_no", True), ("customerId", True), ("room_size", False)])
def test_names_that_number_people_are_known(name, numbers):
    assert (numbering_words(parts_of(name)) is not None) == numbers
