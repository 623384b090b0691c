"""How many digits a released number has: no more than the spread inside the groups justifies.

A mean of k values that spread by s is uncertain by about s / sqrt(k). Finer digits say nothing about the
group, but whoever knows the other k - 1 members computes the last one from them. So the unit of a released
float is the largest power of ten that is not above s / sqrt(k), where s is the standard deviation inside the
groups, pooled over the whole column. There is one number of digits for a column: digits that differed from
group to group would tell which groups are alike.

In s every record counts alike, also where sampling weights make the common values weighted means. The rule asks
how far the members of a group are from each other, and their weights do not change that. With weights, a few heavy
records would decide the digits of a whole column.
"""

from collections.abc import Mapping
from fractions import Fraction

from shoal.attributes.base import Digits
from shoal.attributes.numbers import MOST_DECIMALS, Fixed, Numbers
from shoal.errors import ShoalError, nearest_name, warn
from shoal.parameters import Whole

FEWEST = -18
"""Rounding to the next 10**18: whole numbers beyond it need more than 64 bits."""

EXACT = (
    "exact centroids keep all digits: somebody who knows all other members of a group can compute the last one; "
    "leave out exact to round them"
)
"""What is said of plain centroids."""


def checked_digits(digits: Digits, names: tuple[str, ...], exact: bool) -> int | dict[str, int] | None:
    """The digits that were asked for: of all quasi-identifiers, or of some of them."""
    if digits is None:
        return None
    if exact:
        raise ShoalError("exact and digits contradict each other: plain centroids are not rounded; leave one out")
    rule = Whole(FEWEST, MOST_DECIMALS)
    if not isinstance(digits, Mapping):
        return rule.check("digits", digits)
    for name in digits:
        if name not in names:
            raise ShoalError(f"digits for {name!r}, which is no quasi-identifier{nearest_name(str(name), names)}")
    return {name: rule.check(f"the digits of {name!r}", number) for name, number in digits.items()}


def digits_asked(name: str, numbers: Numbers, asked: Digits) -> int | None:
    """The digits that were asked for this column, if it can have them; None where nothing was asked."""
    named = isinstance(asked, Mapping)
    wanted = asked.get(name) if isinstance(asked, Mapping) else asked
    if wanted is None or not isinstance(numbers, Fixed):
        return wanted
    if numbers.kind == "boolean":
        if named and wanted != 0:
            raise ShoalError(f"column {name!r} holds true and false, which have no digits; leave it out of digits")
        return None
    if wanted > numbers.decimals and named:
        raise ShoalError(
            f"column {name!r} came with {numbers.decimals} decimals and cannot be released with {wanted}; "
            f"give it {numbers.decimals} digits or fewer"
        )
    return min(wanted, numbers.decimals)


def digits_justified(numbers: Numbers, squares: Fraction, records: int, k: int) -> int | None:
    """The digits of a column by the rule; None where its values leave as they are.

    `squares` is the sum of the squared distances to the unrounded common values, in steps of a coordinate.
    """
    if isinstance(numbers, Fixed) and numbers.decimals <= 0:
        return None
    found = decimals_above(squares * numbers.exact_unit**2 / (records * k))
    if not isinstance(numbers, Fixed):
        return found
    return numbers.decimals if found is None else min(numbers.decimals, max(0, found))


def decimals_above(squared: Fraction) -> int | None:
    """The decimals d of the largest power of ten 10**-d whose square is not above a number; None where it is 0."""
    if not squared:
        return None
    exponent = (len(str(squared.numerator)) - len(str(squared.denominator))) // 2
    while Fraction(100) ** exponent > squared:
        exponent -= 1
    while Fraction(100) ** (exponent + 1) <= squared:
        exponent += 1
    return -exponent


def digits_used(
    name: str, numbers: Numbers, squares: Fraction, records: int, k: int, asked: int | Mapping[str, int] | None
) -> dict[str, int | None]:
    """The digits of a column under its name, if it has some to round or was asked to be; None: it is left alone.

    More digits than the rule allows are given where they are asked for, with a warning.
    """
    wanted = digits_asked(name, numbers, asked)
    allowed = digits_justified(numbers, squares, records, k)
    warn_of_more(name, wanted, allowed)
    if wanted is None and allowed is None and isinstance(numbers, Fixed):
        return {}
    return {name: allowed if wanted is None else wanted}


def warn_of_more(name: str, wanted: int | None, allowed: int | None) -> None:
    """Warn of digits that were asked for beyond those of the rule."""
    if wanted is not None and allowed is not None and wanted > allowed:
        warn(
            f"column {name!r} is rounded to {wanted} digits, more than the spread inside its groups justifies "
            f"({allowed}); somebody who knows all other members of a group can compute the last one more closely"
        )
