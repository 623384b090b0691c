import pytest

from shoal.errors import ShoalError
from shoal.option_rules import Merging, digits_read, names_read, only, pairs, seed_read, weights_read
from shoal.settings import Settings


def test_digits_for_all_columns_or_for_some():
    assert digits_read([]) is None
    assert digits_read(["2"]) == 2
    assert digits_read(["-2"]) == -2
    assert digits_read(["0"]) == 0
    assert digits_read(["income=-2", "a=b=1"]) == {"income": -2, "a=b": 1}


@pytest.mark.parametrize(
    "given", [["x"], ["1.5"], ["age="], ["age=x"], ["1", "2"], ["a=1", "a=2"], ["a=1", "2"], ["2", "a=1"]]
)
def test_what_is_no_digits_is_an_error(given):
    with pytest.raises(ShoalError, match="column=number for one"):
        digits_read(given)


def test_attribute_weights_and_seeds_are_read_from_text():
    assert weights_read(["age=2", "a=b=0.5"]) == {"age": 2.0, "a=b": 0.5}
    assert seed_read(["7"]) == 7
    with pytest.raises(ShoalError, match="the weight of 'age' must be a number, not 'x'"):
        weights_read(["age=x"])
    with pytest.raises(ShoalError, match="the seed must be a whole number"):
        seed_read(["x"])


def test_what_takes_one_text_is_given_once():
    single = {name: each for name, each in Settings.options().items() if takes_one(each)}
    assert {"scaling", "coordinates", "random_state", "key", "person", "pseudonym_key"} <= set(single)
    assert not {"gaps", "kinds", "within", "also", "merge_strata", "digits"} & set(single)
    for each in single.values():
        shown = "" if each.secret else r" \('1', '2'\)"
        with pytest.raises(ShoalError, match=f"^{each.flag} is given 2 times{shown}; give it once$"):
            each.read_from(["1", "2"])
    assert only(["a"]) == "a"


def takes_one(option):
    """Whether an option reads one text, which it hands on or turns into a number."""
    if not option.metavar or getattr(option, "flags", None):  # one with several flags reads pairs
        return False
    try:
        return option.read(["7"]) in ("7", 7) and option.metavar != "[A=]N"
    except ShoalError:
        return False


def test_names_are_given():
    assert names_read(["a,b", "c"]) == ["a", "b", "c"]
    for given in ([""], [" "], ["a,,b"], ["a", ""]):
        with pytest.raises(ShoalError, match="lacks the name of a column"):
            names_read(given)


def test_strata_are_merged_by_names_and_numbers():
    assert Merging().check("merge_strata", {3: 1, "a ": "b", 2.5: True}) == {"3": "1", "a": "b", "2.5": "True"}
    for given in ({"": "a"}, {"a": " "}, {"a": None}, {("a", "b"): "c"}, [("a", "b")], {3: 1, "3": 2}):
        with pytest.raises(ShoalError, match="merge_strata"):
            Merging().check("merge_strata", given)


@pytest.mark.parametrize(
    ("what", "said"),
    [("merged stratum", "strata"), ("prefix", "prefixes"), ("taxonomy", "taxonomies"), ("kind", "kinds")],
)
def test_two_of_a_kind_are_called_by_their_plural(what, said):
    with pytest.raises(ShoalError, match=f"^two .*{said} for 'a'; give one$"):
        pairs(["a=1", "a=2"], what, "a=1")
