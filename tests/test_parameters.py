import numpy as np
import pytest

from shoal.errors import ShoalError
from shoal.parameters import Flag, Key, Maybe, Number, OneOf, Seed, Whole


@pytest.mark.parametrize("value", [1, 7, np.int64(3)])
def test_a_whole_number_comes_back_as_an_int(value):
    assert Whole(1).check("k", value) == value
    assert type(Whole(1).check("k", value)) is int


@pytest.mark.parametrize("value", [0, -1, 2.0, 2.5, "3", None, True, float("nan")])
def test_anything_else_is_an_error_that_names_the_parameter_and_the_value(value):
    with pytest.raises(ShoalError, match=r"^k must be .*at least 1.*") as caught:
        Whole(1).check("k", value)
    assert str(value) in str(caught.value)


def test_one_of_suggests_the_nearest_name():
    assert OneOf(("mean", "median")).check("aggregate", "median") == "median"
    with pytest.raises(
        ShoalError, match="aggregate must be one of mean, median, not 'medain'; did you mean 'median'"
    ):
        OneOf(("mean", "median")).check("aggregate", "medain")
    with pytest.raises(ShoalError, match="not 3"):
        OneOf(("mean", "median")).check("aggregate", 3)


def test_seeds_and_flags():
    assert Seed().check("random_state", None) is None
    assert Seed().check("random_state", 0) == 0
    for wrong in (-1, 1.5, np.random.default_rng(0)):
        with pytest.raises(ShoalError, match="random_state must be"):
            Seed().check("random_state", wrong)
    assert Flag().check("exact", True) is True
    with pytest.raises(ShoalError, match="exact must be True or False, not 'no'"):
        Flag().check("exact", "no")


def test_keys_are_32_hexadecimal_digits_in_small_letters_or_none():
    assert Key().check("key", None) is None
    assert Key().check("key", "00FF" * 8) == "00ff" * 8
    for wrong in ("", "00ff" * 7, "00ff" * 8 + "0", "00fg" * 8, " " + "0" * 31, "0" * 32 + "\n"):
        with pytest.raises(
            ShoalError, match=f"key must have 32 hexadecimal .*; these are {len(wrong)} characters"
        ):
            Key().check("key", wrong)
    with pytest.raises(ShoalError, match="key must be a text of 32 hexadecimal digits, not bytes"):
        Key().check("key", b"0" * 16)


def test_numbers_have_a_least_and_perhaps_a_largest_value():
    assert Number(0, 1).check("randomness", 0.5) == 0.5
    assert Number(0).check("gamma", 7) == 7
    for wrong in (-0.1, 1.5, float("nan"), "0.5", True):
        with pytest.raises(ShoalError, match="randomness must be a number from 0 to 1, not"):
            Number(0, 1).check("randomness", wrong)


def test_maybe_allows_none():
    assert Maybe(Whole(1)).check("rounds", None) is None
    assert Maybe(Whole(1)).check("rounds", 3) == 3
    with pytest.raises(ShoalError, match="rounds must be at least 1"):
        Maybe(Whole(1)).check("rounds", 0)
