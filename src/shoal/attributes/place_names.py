"""Columns that are a latitude and a longitude, by their names."""

import re
from collections import defaultdict
from collections.abc import Sequence

_LATITUDES = "lat latitude latitudes breite breitengrad latitud latitudine breedtegraad"
_LONGITUDES = (
    "lon lng long longitude longitudes länge laenge längengrad laengengrad longitud longitudine lengtegraad"
)
_ITSELF = "*"  # in the place of the word


def places_in(names: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs of a latitude and a longitude: names that differ in this word only, as home_lat and home_lon."""
    latitudes, longitudes = by_rest(names, _LATITUDES.split()), by_rest(names, _LONGITUDES.split())
    pairs = [
        pair for rest, those in latitudes.items() for pair in zip(those, longitudes.get(rest, ()), strict=False)
    ]
    return sorted(pairs, key=lambda pair: names.index(pair[0]))


def by_rest(names: Sequence[str], words: Sequence[str]) -> dict[tuple[str, ...], list[str]]:
    """The names in which one of the words stands, by the rest of the name."""
    found: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in names:
        parts = words_and_numbers(name)
        if any(part in words for part in parts):
            found[tuple(_ITSELF if part in words else part for part in parts)].append(name)
    return found


def words_and_numbers(name: str) -> list[str]:
    """Those of homeLat2 are home, lat and 2."""
    return re.findall(r"[^\W\d_]+|\d+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())
