"""Orders that are known: words such as low, medium and high, and classes of numbers such as 18-24."""

import re
from collections.abc import Sequence
from itertools import pairwise

SCALES = (
    "very low|low|medium|high|very high",
    "very low|low|moderate|high|very high",
    "low|middle|high",
    "low|normal|high",
    "none|mild|moderate|severe|very severe",
    "xxs|xs|s|m|l|xl|xxl|xxxl",
    "very small|small|medium|large|very large",
    "very poor|poor|fair|good|very good|excellent",
    "very bad|bad|fair|good|very good",
    "never|rarely|sometimes|often|always",
    "never|rarely|sometimes|usually|always",
    "strongly disagree|disagree|neutral|agree|strongly agree",
    "strongly disagree|disagree|neither agree nor disagree|agree|strongly agree",
    "very dissatisfied|dissatisfied|neutral|satisfied|very satisfied",
    "first|second|third|fourth|fifth",
    "1st|2nd|3rd|4th|5th|6th|7th|8th|9th|10th|11th|12th",
    "freshman|sophomore|junior|senior",
    "infant|child|teen|adult|elderly",
    "i|ii|iii|iv|v",
    "stage i|stage ii|stage iii|stage iv",
)
"""Words from the lowest to the highest, in small letters."""

_NUMBER = r"[$€£]?\s*([0-9]+(?:[.,][0-9]+)?)\s*[kK%]?"
_BETWEEN = re.compile(rf"^{_NUMBER}\s*(?:-|–|to)\s*{_NUMBER}(?:\s+\w+)?$")
_BRACKETS = re.compile(rf"^[\[(]\s*{_NUMBER}\s*(?:-|–|to|,|;)\s*{_NUMBER}\s*[)\]](?:\s+\w+)?$")
_BELOW = re.compile(rf"^(?:<=?|≤|under|below|less than|up to)\s*{_NUMBER}(?:\s+\w+)?$")
_ABOVE = re.compile(rf"^(?:>=?|≥|over|above|more than)\s*{_NUMBER}(?:\s+\w+)?$")
_OPEN = re.compile(rf"^{_NUMBER}\s*(?:\+|and over|and more|and older|or more|or older)(?:\s+\w+)?$")


def known_order(values: Sequence[str], fewest: int = 3) -> tuple[str, ...] | None:
    """The values in their order, from the lowest to the highest, if it is known; None where it is not.

    Fewer than three values need no order: the distances between two are the same in every one.
    """
    if len(values) < fewest:
        return None
    folded = {value: " ".join(value.lower().replace("_", " ").split()) for value in values}
    if len(set(folded.values())) < len(values):
        return None
    for scale in SCALES:
        places = {word: place for place, word in enumerate(scale.split("|"))}
        if all(word in places for word in folded.values()):
            return tuple(sorted(values, key=lambda value: places[folded[value]]))
    classes = {value: class_of(folded[value]) for value in values}
    found = {value: ends for value, ends in classes.items() if ends is not None}
    if len(found) < len(values) or len(set(found.values())) < len(values):
        return None
    ranked = sorted(values, key=lambda value: found[value])
    lower = [found[value] for value in ranked]
    apart = all(before[1] <= after[0] for before, after in pairwise(lower))
    return tuple(ranked) if apart else None


def class_of(text: str) -> tuple[float, float] | None:
    """The lowest and the highest number of a class such as 18-24, <18 or 65+."""
    if found := _BETWEEN.match(text) or _BRACKETS.match(text):
        low, high = value(found[1]), value(found[2])
        return (low, high) if low <= high else None
    if found := _BELOW.match(text):
        return float("-inf"), value(found[1])
    if found := _ABOVE.match(text) or _OPEN.match(text):
        return value(found[1]), float("inf")
    return None


def value(text: str) -> float:
    """The number of a text."""
    return float(text.replace(",", "."))
