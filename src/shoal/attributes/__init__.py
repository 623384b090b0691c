"""Kinds of attributes, one class a kind.

A kind knows how a column is read, its coordinates, the common value of a group, its share of the loss, how it is
written back, what a report shows of it, and what a stream keeps of it.

`base.py` is the seam and the place where kinds are chosen; `numeric.py` is the first entry.
"""

from shoal.attributes.base import (
    KINDS,
    AgainError,
    Attribute,
    Digits,
    Gathering,
    Kept,
    Kind,
    Profile,
    Squares,
    Stored,
    Wish,
    Wishes,
    kept_from,
    kind_called,
    kind_of,
    register,
)
from shoal.attributes.clock import TimeOfDay
from shoal.attributes.code import Code
from shoal.attributes.common_values import CommonValues
from shoal.attributes.dates import Date, Duration, Timestamp
from shoal.attributes.gaps import GapFacts, gaps_in
from shoal.attributes.looking import finite_numbers, holds_numbers, numbers_in, whole_where_it_can
from shoal.attributes.nominal import Boolean, Nominal
from shoal.attributes.numeric import Numeric, profile_of
from shoal.attributes.ordinal import Ordinal
from shoal.attributes.patterns import apart
from shoal.attributes.place import Place
from shoal.attributes.place_names import places_in
from shoal.attributes.reading import ColumnGathering, attribute_of
from shoal.attributes.semicontinuous import SemiContinuous, looks_semicontinuous
from shoal.attributes.taxonomy import Taxonomy
from shoal.attributes.taxonomy_files import read_taxonomy

for _kind in (
    Numeric(),
    Nominal(),
    Boolean(),
    Ordinal(),
    Code(),
    Place(),
    Date(),
    Timestamp(),
    TimeOfDay(),
    Duration(),
    SemiContinuous(),
):  # those that come later are asked first
    register(_kind)

__all__ = [
    "KINDS",
    "AgainError",
    "Attribute",
    "ColumnGathering",
    "CommonValues",
    "Digits",
    "GapFacts",
    "Gathering",
    "Kept",
    "Kind",
    "Profile",
    "Squares",
    "Stored",
    "Taxonomy",
    "Wish",
    "Wishes",
    "apart",
    "attribute_of",
    "finite_numbers",
    "gaps_in",
    "holds_numbers",
    "kept_from",
    "kind_called",
    "kind_of",
    "looks_semicontinuous",
    "numbers_in",
    "places_in",
    "profile_of",
    "read_taxonomy",
    "register",
    "whole_where_it_can",
]
