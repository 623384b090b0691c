"""How a CSV file is written: its encoding, delimiter, quotes, decimal sign and line ends.

Detected from the content wherever the caller has not said so.
"""

import codecs
import csv
import io
import re
from dataclasses import asdict, dataclass
from typing import Any

from shoal.errors import ShoalError

_DELIMITERS = (",", ";", "\t", "|")
_QUOTES = ('"', "'")
_SAMPLE = 200_000
_GUESSES = ("utf-8", "cp1252", "latin-1")


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written."""

    delimiter: str = ","
    quote: str = '"'
    encoding: str = "utf-8"
    decimal: str = "."
    newline: str = "\n"

    def __post_init__(self) -> None:
        for name in ("delimiter", "quote", "decimal"):
            check_sign(name, getattr(self, name))
        if self.delimiter in (self.quote, self.decimal):
            raise ShoalError(f"delimiter {self.delimiter!r} is also the quote or the decimal sign")

    def said(self) -> dict[str, Any]:
        """All that a reader must be told to read the file in this way."""
        whole = asdict(self)
        del whole["newline"]
        return whole


@dataclass(frozen=True)
class Said:
    """What the caller says about a CSV file; None where Shoal is to find it out."""

    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        for name in ("delimiter", "quote", "decimal"):
            if (sign := getattr(self, name)) is not None:
                check_sign(name, sign)

    def given(self) -> dict[str, Any]:
        """What was said."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def check_sign(name: str, sign: str) -> None:
    """A delimiter, quote or decimal sign is one plain character."""
    if len(sign) != 1 or not sign.isascii():
        raise ShoalError(f"{name} must be one character of ASCII, not {sign!r}")


def decode(content: bytes, name: str, encoding: str | None) -> tuple[str, str]:
    """The text of a file and its encoding."""
    tried = candidates(name, content, b"\x00" in content, encoding)
    for candidate in tried:
        try:
            return content.decode(candidate).removeprefix("\ufeff"), candidate
        except LookupError:
            raise unknown_encoding(candidate) from None
        except UnicodeDecodeError as error:
            if len(tried) == 1:
                raise not_encoded(name, candidate, error.start) from None
    raise AssertionError("latin-1 decodes anything")


def unknown_encoding(encoding: str) -> ShoalError:
    """Python has no such encoding."""
    return ShoalError(f"unknown encoding {encoding!r}; try utf-8, latin-1 or cp1252")


def not_encoded(name: str, encoding: str, byte: int) -> ShoalError:
    """The file is written in another encoding."""
    return ShoalError(f"{name} is not written in {encoding} (byte {byte}); try another encoding")


def candidates(name: str, content: bytes, binary: bool, encoding: str | None) -> list[str]:
    """The encodings to try, from how a file begins and whether it holds zero bytes."""
    for mark, marked in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if encoding is None and content.startswith(mark):
            encoding = marked
    if content.startswith(b"PK\x03\x04"):
        raise ShoalError(f"{name} is not a CSV file but a spreadsheet or a zip archive; save it as CSV first")
    if encoding is None and binary:
        raise ShoalError(f"{name} is not a CSV file: it holds binary data")
    return [encoding] if encoding else list(_GUESSES)


def detect(text: str, encoding: str, said: Said) -> Dialect:
    """The dialect of a text, with what was said about it."""
    delimiter, quote, decimal = said.delimiter, said.quote, said.decimal
    sample = text[:_SAMPLE]
    cut = len(text) > _SAMPLE
    fits = [
        (len(rows[0]), -q, -d, separator, mark)
        for d, separator in enumerate([delimiter] if delimiter else _DELIMITERS)
        for q, mark in enumerate([quote] if quote else _QUOTES)
        if (rows := parsed(sample, separator, mark, cut)) and is_rectangular(rows) and not still_quoted(rows)
    ]
    header = sample.lstrip().split("\n", 1)[0]
    likely = delimiter or max(_DELIMITERS, key=header.count)
    if fits and (max(fits)[0] > 1 or likely not in header):
        *_, separator, mark = max(fits)
    else:  # not rectangular: the reader will say where
        separator, mark = likely, quote or '"'
    newline = "\r\n" if "\r\n" in sample else "\n"
    rows = parsed(sample, separator, mark, cut)
    return Dialect(separator, mark, encoding, decimal or decimal_sign(rows, separator), newline)


def parsed(sample: str, delimiter: str, quote: str, cut: bool) -> list[list[str]]:
    """The rows of a sample that are not blank, without the last one where the sample was cut."""
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter, quotechar=quote, strict=True)
    rows: list[list[str]] = []
    try:
        rows.extend(row for row in reader if row)
    except csv.Error:  # where the sample ends within quotes, or these are not the quotes
        return rows if cut else []
    return rows[:-1] if cut else rows


def is_rectangular(rows: list[list[str]]) -> bool:
    """Whether all rows have as many fields."""
    return len({len(row) for row in rows}) == 1


def still_quoted(rows: list[list[str]]) -> bool:
    """Whether some column still wears quotes in every record, so that the other quote is the right one."""
    return any(
        len(rows) > 1 and all(len(value) > 1 and value[0] == value[-1] and value[0] in _QUOTES for value in column)
        for column in zip(*rows[1:], strict=True)
    )


def decimal_sign(rows: list[list[str]], delimiter: str) -> str:
    """A comma where some column has numbers such as 1,5 and no number in the file has a point."""
    if delimiter == ",":
        return "."
    values = [value.strip() for row in rows[1:] for value in row]
    commas = sum(bool(re.fullmatch(r"[+-]?[0-9]*,[0-9]+", value)) for value in values)
    points = sum(bool(re.fullmatch(r"[+-]?[0-9]*\.[0-9]+", value)) for value in values)
    return "," if commas and not points else "."
