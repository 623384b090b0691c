import pytest

from shoal.errors import MOST_REASONS, ShoalError, for_each, nearest_name, no_column, some, typed


def test_a_close_name_is_suggested_whatever_its_case():
    assert nearest_name("Zip", ["age", "zip "]) == "; did you mean 'zip '?"
    assert nearest_name("xyz", ["age"]) == ""


def test_a_missing_column_lists_what_there_is():
    assert str(no_column("q", ["age", "zip"])) == "there is no column 'q'; there are 'age', 'zip'"
    assert isinstance(no_column("q", []), ShoalError)


def test_long_lists_are_cut():
    assert some(range(7)) == "0, 1, 2, 3, 4 and 2 more"
    assert some([1, 2]) == "1, 2"


def test_what_is_wrong_with_several_columns_is_said_at_once():
    def work(name):
        if name != "good":
            raise ShoalError(f"{name} is bad")
        return name

    assert for_each(["good"], ["good"], work) == ["good"]
    with pytest.raises(ShoalError, match="^a is bad$"):
        for_each(["good", "a"], ["good", "a"], work)
    with pytest.raises(ShoalError, match="^a is bad; also b is bad$"):
        for_each(["a", "good", "b"], ["a", "good", "b"], work)
    many = [f"x{number}" for number in range(MOST_REASONS + 2)]
    with pytest.raises(ShoalError, match="; also x9 is bad; and the like in 'x10', 'x11'$"):
        for_each(many, many, work)


def test_an_option_for_a_column_is_shown_as_it_is_typed_and_in_one_line():
    assert typed("--kind", "age", "nominal") == "--kind age=nominal"
    assert typed("--gap-values", "größe", "...") == "--gap-values größe=..."
    assert typed("--kind", "the city", "nominal") == "--kind 'the city=nominal'"
    assert typed("--kind", "two\nlines", "nominal") == r"--kind 'two\nlines=nominal'"
    assert typed("--kind", "born", "date:%d/%m/%Y") == "--kind 'born=date:%d/%m/%Y'"
