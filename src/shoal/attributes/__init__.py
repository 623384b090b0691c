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
    kept_from,
    kind_of,
    register,
)
from shoal.attributes.common_values import CommonValues
from shoal.attributes.looking import finite_numbers, holds_numbers, numbers_in, whole_where_it_can
from shoal.attributes.numeric import profile_of
from shoal.attributes.place import Place
from shoal.attributes.place_names import places_in

__all__ = [
    "KINDS",
    "AgainError",
    "Attribute",
    "CommonValues",
    "Digits",
    "Gathering",
    "Kept",
    "Kind",
    "Place",
    "Profile",
    "Squares",
    "Stored",
    "Wish",
    "finite_numbers",
    "holds_numbers",
    "kept_from",
    "kind_of",
    "numbers_in",
    "places_in",
    "profile_of",
    "register",
    "whole_where_it_can",
]
