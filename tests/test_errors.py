from shoal.errors import ShoalError, nearest_name, no_column, some


def test_a_close_name_is_suggested_whatever_its_case():
    assert nearest_name("Zip", ["age", "zip "]) == "; did you mean 'zip '?"
    assert nearest_name("xyz", ["age"]) == ""


def test_a_missing_column_lists_what_there_is():
    assert str(no_column("q", ["age", "zip"])) == "there is no column 'q'; there are 'age', 'zip'"
    assert isinstance(no_column("q", []), ShoalError)


def test_long_lists_are_cut():
    assert some(range(7)) == "0, 1, 2, 3, 4 and 2 more"
    assert some([1, 2]) == "1, 2"
