import re

import pyarrow as pa
import pytest

from shoal.files.spelling import doubtful, has_exponents, has_leading_zeros, number_pattern, pointed, widths


def texts(*values):
    return pa.chunked_array([values], pa.string())


@pytest.mark.parametrize(
    ("signs", "numbers", "others"),
    [
        ((".",), ["1", "-1.5", "+.5", "1.", "2e3", "007"], ["", "1,5", "1.234.567", "a", "1 000", "--1"]),
        ((",", "."), ["1", "1.633", "1.234.567,5", "-2,5", "1,5e3"], ["1.63", "0.633", "1,234,5", "1.2345"]),
    ],
)
def test_numbers_are_told_from_other_texts(signs, numbers, others):
    pattern = number_pattern(*signs)
    assert all(re.search(pattern, number) for number in numbers)
    assert not any(re.search(pattern, other) for other in others)


def test_numbers_get_a_point_and_lose_what_only_people_read():
    assert pointed(texts("+1.633,5", "-2,25", "7"), ",", ".").to_pylist() == ["1633.5", "-2.25", "7"]
    assert pointed(texts("+1.5", "2"), ".").to_pylist() == ["1.5", "2"]


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["941", "1.633"], ("1.633", False)),
        (["-12.500", "1.633"], ("-12.500", False)),
        (["0.633", "12.500", "7.250"], ("12.500", True)),
        (["1234.567", "1.633"], ("1.633", True)),
        (["12.500", "7.25"], ("12.500", True)),
        (["1", "2"], (None, False)),
    ],
)
def test_numbers_that_can_be_read_in_two_ways(texts, found):
    assert doubtful(pa.chunked_array([texts]), ".") == found


def test_zeros_exponents_and_widths_are_seen():
    assert widths(texts("1", "0234", "22")) == (1, 4)
    assert has_leading_zeros(texts("1", "007"))
    assert not has_leading_zeros(texts("0", "0.5", "10"))
    assert has_exponents(texts("1", "2E5"))
    assert not has_exponents(texts("1", "2.5"))
