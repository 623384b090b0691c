"""How numbers are written as text, by people and by programs, and what stands where a number is missing."""

import pyarrow as pa
import pyarrow.compute as pc

MISSING = ["", "na", "n/a", "#n/a", "<na>", "nan", "null", "?", "."]
"""What people write for a value that is missing, in small letters."""

INFINITE = r"^[+-]?inf(inity)?$"
"""A regular expression for infinity, in small letters."""


def number_pattern(decimal_sign: str, thousands: str = "") -> str:
    """A regular expression for numbers as people write them, in groups of three where there is a sign for that."""
    plain = rf"([0-9]+[{decimal_sign}]?[0-9]*|[{decimal_sign}][0-9]+)([eE][+-]?[0-9]+)?"
    if not thousands:
        return rf"^[+-]?{plain}$"
    return rf"^[+-]?({plain}|[1-9][0-9]{{0,2}}([{thousands}][0-9]{{3}})+([{decimal_sign}][0-9]*)?)$"


def pointed(texts: pa.ChunkedArray, decimal_sign: str, thousands: str = "") -> pa.ChunkedArray:
    """Numbers as computers write them: a decimal point, nothing between thousands, no plus sign."""
    bare = pc.ascii_ltrim(pc.replace_substring(texts, thousands, "") if thousands else texts, characters="+")
    return bare if decimal_sign == "." else pc.replace_substring(bare, decimal_sign, ".")


def doubtful(texts: pa.ChunkedArray, decimal_sign: str) -> tuple[str | None, bool]:
    """A number such as 1.633 that may be 1633, and whether another number shows that it is not."""
    threes = pc.match_substring_regex(texts, rf"^[+-]?[1-9][0-9]{{0,2}}[{decimal_sign}][0-9]{{3}}$")
    others = pc.and_not(pc.match_substring(texts, decimal_sign), threes)
    place = pc.index(threes, True).as_py()
    return (None if place < 0 else texts[place].as_py()), bool(pc.any(others).as_py())


def has_exponents(texts: pa.ChunkedArray) -> bool:
    """Whether some number is written such as 1e5: then all are read as floats."""
    return bool(pc.any(pc.match_substring_regex(texts, "[eE]")).as_py())


def widths(texts: pa.ChunkedArray) -> tuple[int, int]:
    """The lengths of the shortest and of the longest text."""
    ends = pc.min_max(pc.utf8_length(texts)).as_py()
    return ends["min"], ends["max"]


def has_leading_zeros(texts: pa.ChunkedArray) -> bool:
    """Whether some number is filled with zeros."""
    return bool(pc.any(pc.match_substring_regex(texts, "^0[0-9]")).as_py())
