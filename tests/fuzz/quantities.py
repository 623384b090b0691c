"""Numbers as people write them into text files, with what they mean."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from case import Kind, Verdict


@dataclass
class Quantity:
    """A column of numbers as text, decimal points throughout."""

    texts: list[str]
    values: list[Fraction] | None = None
    kind: Kind = "integer"
    note: str = ""
    verdict: Verdict = "release"
    grouping: str = ""
    long: bool = False

    def __post_init__(self) -> None:
        if self.values is None and self.verdict != "refuse":
            self.values = [Fraction(text.strip()) for text in self.texts]

    @property
    def decimals(self) -> int:
        """The most decimals that a number has."""
        return max(len(text.strip().partition(".")[2]) for text in self.texts)


Maker = Callable[[Random, int], Quantity]


def ages(rng: Random, n: int) -> Quantity:
    """Small whole numbers."""
    return Quantity([str(rng.randint(0, 99)) for _ in range(n)])


def ties(rng: Random, n: int) -> Quantity:
    """Few different numbers."""
    few = [str(rng.randint(-5, 5)) for _ in range(rng.randint(2, 4))]
    return Quantity([rng.choice(few) for _ in range(n)])


def constant(rng: Random, n: int) -> Quantity:
    """One number."""
    text = rng.choice(["0", "7", "-3", "2.50", "1e3", "123456789012345678901"])
    kind: Kind = "integer" if "." not in text and "e" not in text else "float"
    return Quantity([text] * n, kind=kind, note="constant", long=len(text) > 15)


def codes(rng: Random, n: int) -> Quantity:
    """Codes of one width, filled with zeros."""
    width = rng.randint(2, 9)
    return Quantity([f"{rng.randrange(10**width):0{width}d}" for _ in range(n)])


def signed(rng: Random, n: int) -> Quantity:
    """Plus and minus signs, and zeros with them."""
    return Quantity([rng.choice(["+", "-", ""]) + str(rng.randint(0, 30)) for _ in range(n)])


def big(rng: Random, n: int) -> Quantity:
    """Whole numbers of many digits, close together or far apart."""
    digits = rng.randint(10, 30)
    start, spread = rng.randrange(10**digits), 10 ** rng.randint(1, digits)
    texts = [str(start + rng.randrange(-spread, spread)) for _ in range(n)]
    return Quantity(texts, long=max(map(len, texts)) > 17)


def decimals(rng: Random, n: int) -> Quantity:
    """Each number with as many decimals."""
    digits, whole = rng.randint(1, 17), 10 ** rng.randint(0, 5)
    texts = [
        f"{'-' if rng.random() < 0.1 else ''}{rng.randrange(whole)}." + figures(rng, digits) for _ in range(n)
    ]
    return Quantity(texts, kind="float", long=max(map(len, texts)) > 15)


def figures(rng: Random, digits: int) -> str:
    """So many digits."""
    return f"{rng.randrange(10**digits):0{digits}d}"


def mixed(rng: Random, n: int) -> Quantity:
    """Numbers with and without decimals, some that begin or end with the point."""
    forms: list[Callable[[], str]] = [
        lambda: str(rng.randint(-50, 50)),
        lambda: f"{rng.uniform(-50, 50):.1f}",
        lambda: f"{rng.uniform(-50, 50):.3f}",
        lambda: f"{rng.randint(0, 50)}.",
        lambda: f".{rng.randint(1, 99)}",
    ]
    return Quantity(["0.5", *(rng.choice(forms)() for _ in range(n - 1))], kind="float")


def floats(rng: Random, n: int) -> Quantity:
    """Numbers as a program prints them."""
    texts = [repr(rng.gauss(50, 10)) for _ in range(n)]
    return Quantity(texts, kind="float", long=True)


def exponents(rng: Random, n: int) -> Quantity:
    """Numbers such as 1.5e3, near to one another or over all magnitudes."""
    most = rng.choice([3, 20, 290])
    sign = rng.choice(["e", "E"])
    texts = [f"{rng.uniform(1, 10):.{rng.randint(1, 6)}f}{sign}{rng.randint(-most, most):+d}" for _ in range(n)]
    return Quantity(texts, kind="float", note=f"exponents up to {most}", long=True)


def extremes(rng: Random, n: int) -> Quantity:
    """The largest and the smallest doubles."""
    few = ["1.7976931348623157e308", "-1.7e308", "5e-324", "2.2250738585072014e-308", "0.0", "-0.0", "1.0"]
    return Quantity(
        [rng.choice(few) for _ in range(n)], kind="float", note="extremes", verdict="either", long=True
    )


def booleans(rng: Random, n: int) -> Quantity:
    """True and false, spelled in one way."""
    yes, no = rng.choice([("true", "false"), ("TRUE", "FALSE"), ("True", "False")])
    truth = [rng.random() < 0.5 for _ in range(n)]
    return Quantity([yes if t else no for t in truth], [Fraction(t) for t in truth], "boolean")


def spaced(rng: Random, n: int) -> Quantity:
    """Numbers with blanks around them."""
    texts = [" " * rng.randint(0, 2) + str(rng.randint(0, 500)) + " " * rng.randint(0, 2) for _ in range(n)]
    return Quantity(texts, note="blanks around numbers", verdict="either")


def thousands(rng: Random, n: int) -> Quantity:
    """Whole numbers with a sign between thousands; it must be known which."""
    sign = rng.choice([",", ".", " ", "'", "\N{NO-BREAK SPACE}"])
    numbers = [rng.choice([rng.randrange(1000), rng.randrange(10**6)]) for _ in range(n)]
    texts = [f"{number:,}".replace(",", sign) for number in numbers]
    values = [Fraction(number) for number in numbers]
    return Quantity(texts, values, note=f"thousands with {sign!r}", verdict="either", grouping=sign)


def foreign(rng: Random, n: int) -> Quantity:
    """Digits and signs that are not of ASCII."""
    numbers = [rng.randint(-50, 50) for _ in range(n)]
    texts = [str(number).replace("-", "\N{MINUS SIGN}") for number in numbers]
    return Quantity(texts, [Fraction(number) for number in numbers], note="foreign minus signs", verdict="either")


def endless(rng: Random, n: int) -> Quantity:
    """Whole numbers of some hundred digits."""
    return Quantity([figures(rng, 200) for _ in range(n)], note="200 digits", verdict="either", long=True)


def gaps(rng: Random, n: int) -> Quantity:
    """Numbers, some of them missing."""
    gap = rng.choice(["", "NA", "na", "N/A", "nan", "NaN", "null", "?", "."])
    return spoiled(rng, n, gap, f"missing as {gap!r}")


def infinities(rng: Random, n: int) -> Quantity:
    """Numbers, some of them infinite."""
    return spoiled(rng, n, rng.choice(["inf", "-inf", "Infinity", "+INF"]), "infinite")


def words(rng: Random, n: int) -> Quantity:
    """What is no number, in some rows; alone it would be a category."""
    if n == 1:
        return infinities(rng, n)
    word = rng.choice(
        ["x", "12a", "--5", "1.2.3", "0x1F", "1_000", "1e", "e5", "12%", "$5", "1 2", "5-", "#", "-"]
    )
    return spoiled(rng, n, word, f"no number: {word!r}")


def spoiled(rng: Random, n: int, bad: str, note: str) -> Quantity:
    """Whole numbers with something else in one row or in some."""
    texts = [str(rng.randint(0, 50)) for _ in range(n)]
    for row in rng.sample(range(n), rng.randint(1, max(1, n // 3))):
        texts[row] = bad
    return Quantity(texts, note=note, verdict="refuse")


PLAIN: list[Maker] = [ages, ages, ties, codes, signed, big, decimals, decimals, mixed, floats, exponents, booleans]
RARE: list[Maker] = [constant, extremes, spaced, thousands, thousands, foreign, endless]
BAD: list[Maker] = [gaps, gaps, infinities, words, words]


def quantity(rng: Random, n: int) -> Quantity:
    """Some column of numbers."""
    chance = rng.random()
    makers = BAD if chance < 0.015 else RARE if chance < 0.06 else PLAIN
    return rng.choice(makers)(rng, n)


WORDS = [
    ["f", "m"],
    ["Ulm", "Bonn", "Köln", "Bad Ems", "ulm"],
    ["x,y", "a;b", "it's", " a", "a "],
    ["no", "yes", "don't know"],
]


def categories(rng: Random, n: int) -> list[str]:
    """Texts without an order, none of which is a number or a missing value; few of them or many."""
    if rng.random() < 0.2:
        return [f"v{rng.randrange(1, 2 * n + 1)}" for _ in range(n)]
    words = rng.choice(WORDS)
    return [rng.choice(words) for _ in range(n)]
