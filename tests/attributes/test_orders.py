import pytest

from shoal.attributes.orders import SCALES, class_of, known_order


@pytest.mark.parametrize("scale", SCALES)
def test_the_words_of_every_scale_are_put_into_their_order(scale):
    words = scale.split("|")
    assert known_order([word.title() for word in reversed(words)]) == tuple(word.title() for word in words)
    assert known_order([words[2], words[0], words[1]]) == tuple(words[:3])


@pytest.mark.parametrize(
    "classes",
    [
        ["<18", "18-24", "25-34", "35+"],
        ["under 18", "18 to 24", "25 to 34 years", "35 and over"],
        ["[0,10)", "[10,20)", "[20,30)"],
        ["(0.997, 2.5]", "(2.5, 4.0]", "(4.0, 9.0]"],
        ["$0-9k", "$10-19k", "$20-29k", "$30k+"],
        ["up to 5 %", "5-10 %", "over 10 %"],
        ["≤5", "5–7", "≥7"],
    ],
)
def test_classes_of_numbers_are_put_into_their_order(classes):
    assert known_order(classes[::-1]) == tuple(classes)


@pytest.mark.parametrize(
    "values",
    [
        ["red", "green", "blue"],
        ["low", "medium", "blue"],
        ["low", "high"],
        ["low", "Low", "high"],
        ["0-10", "5-15", "20-30"],  # they overlap
        ["0-10", "0 - 10", "20-30"],
        ["1", "2", "3"],
        ["2020-01-01", "2020-01-02", "2020-01-03"],
        ["2020-01", "2020-02", "2020-03"],
        ["39912,020", "22256,971", "1321,599"],  # decimal commas
        ["1;2", "3;4", "5;6"],
    ],
)
def test_what_has_no_known_order_has_none(values):
    assert known_order(values) is None


def test_two_values_have_an_order_where_it_is_asked_for():
    assert known_order(["high", "low"], 1) == ("low", "high")
    assert known_order(["red", "green"], 1) is None


def test_the_ends_of_a_class():
    assert class_of("18-24") == (18, 24)
    assert class_of("1,5 to 2,5") == (1.5, 2.5)
    assert class_of("<18") == (float("-inf"), 18)
    assert class_of("65+") == class_of("over 65") == (65, float("inf"))
    assert class_of("about 7") is None
