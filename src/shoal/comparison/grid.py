"""What is compared: every method with every k, as the settings of a release."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

from shoal.errors import ShoalError
from shoal.estimator import Microaggregator
from shoal.grouping import with_k
from shoal.methods.optimal import Optimal
from shoal.parameters import Names, Number, Whole
from shoal.settings import Settings

DEFAULT_K = (3, 5, 10, 25)
DEFAULT_METHODS = ("mdav", "vmdav", "imhm", "pcl", "auto")

SEED = 0
"""Of methods that draw random numbers, where none is given: the same comparison gives the same figures."""
_OF_LIMIT = 0.8  # the rest is for reading the table and for counting what was released
_NO_RELEASE = ("pseudonym", "pseudonym_key", "accept_linkage")
"""Options that only a release that is written has a use for."""


@dataclass(frozen=True)
class Setting:
    """A method and a k, and the settings of the release that they make."""

    method: str
    k: int
    settings: Settings

    def __str__(self) -> str:
        return f"{self.method}, k = {self.k}"


def grid(
    ks: int | Iterable[int],
    methods: str | Microaggregator | Iterable[str | Microaggregator],
    quasi_identifiers: Names,
    confidential: Names,
    identifiers: Names,
    options: dict[str, Any],
    seconds: float | None = None,
) -> list[Setting]:
    """All settings, the smallest k first; whatever is wrong with one of them is said before any work."""
    if "method" in options:
        raise ShoalError("a comparison takes several methods: give methods=[...], not method")
    if refused := [name for name in _NO_RELEASE if options.get(name)]:
        raise ShoalError(f"a comparison writes no release, so {refused[0]} says nothing here; leave it out")
    roles = {"quasi_identifiers": quasi_identifiers, "confidential": confidential, "identifiers": identifiers}
    made = {}
    for k in sorted(set(checked_ks(ks))):
        for method in checked_methods(methods):
            model = with_k(method, k) if isinstance(method, Microaggregator) else method
            settings = ended_in(fixed(Settings.of(k=k, method=model, **roles, **options)), seconds)
            label = label_of(method, settings.method)
            made[label, k] = Setting(label, k, settings)
    return list(made.values())


def fixed(settings: Settings) -> Settings:
    """The same with a seed, unless there is one already."""
    parameters = settings.method.get_params()
    seeds = [value for name, value in parameters.items() if name.rpartition("__")[2] == "random_state"]
    if settings.random_state is not None or any(seed is not None for seed in seeds):
        return settings
    return replace(settings, random_state=SEED)


def ended_in(settings: Settings, seconds: float | None) -> Settings:
    """The same with the limit told to a method that has no end of its own, and would be ended in vain."""
    method = settings.method
    if seconds is None or not isinstance(method, Optimal) or method.seconds is not None:
        return settings
    return replace(settings, method=Optimal(k=method.k, seconds=_OF_LIMIT * seconds))


def checked_seconds(seconds: float | None) -> float | None:
    """How long a setting may take."""
    if seconds is None:
        return None
    checked = Number(0).check("seconds", seconds)
    if checked == 0:
        raise ShoalError("seconds is the time that a setting may take, so it must be above 0")
    return checked


def checked_ks(ks: int | Iterable[int]) -> list[int]:
    """The values of k that are compared."""
    given = [ks] if isinstance(ks, Integral) else listed("k", ks, "[3, 5, 10]")
    if not given:
        raise ShoalError("no k: give the values to compare, for example k=[3, 5, 10]")
    return [Whole(1).check("k", k) for k in given]


def checked_methods(methods: str | Microaggregator | Iterable[str | Microaggregator]) -> Sequence[Any]:
    """The methods that are compared: names, or estimators whose other parameters are kept."""
    one = isinstance(methods, str | Microaggregator)
    given = [methods] if one else listed("methods", methods, '["mdav", "auto"]')
    if not given:
        raise ShoalError('no method: give the methods to compare, for example methods=["mdav", "auto"]')
    return given


def listed(name: str, given: Any, example: str) -> list[Any]:
    """What was given as a list."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ShoalError(f"{name} must be a list such as {example}, not {given!r}")
    return list(given)


def label_of(method: str | Microaggregator, made: Microaggregator) -> str:
    """What a method is called in the comparison: its name, or an estimator with the parameters that were set."""
    if isinstance(method, str):
        return type(made).name
    usual = type(made)().k if not hasattr(made, "method") else 5
    return " ".join(repr(with_k(method, usual)).split())


def numbers_read(given: Iterable[str]) -> list[int]:
    """Values of k from options such as 3,5,10."""
    texts = [text.strip() for item in given for text in item.split(",")]
    for text in texts:
        if not text.isdecimal() or int(text) < 1:
            raise ShoalError(
                f"k must be whole numbers of at least 1 with commas between, such as 3,5,10, not {text!r}"
            )
    return [int(text) for text in texts]
