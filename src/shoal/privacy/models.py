"""Privacy models: what a group must promise about its confidential values, beside its size.

k-anonymity hides who somebody is. If all of a group share one diagnosis, it does not hide what they have. Each
model here is a demand on the values of a confidential column in every group. All of them hold for the whole table
as one group whenever they can be met at all. What holds for two groups holds for both together, but for
delta-disclosure with absent values ignored.

References
----------
Distinct, entropy and recursive l-diversity: A. Machanavajjhala, D. Kifer, J. Gehrke and M. Venkitasubramaniam,
l-Diversity: privacy beyond k-anonymity, ACM TKDD 1 (2007). t-closeness: N. Li, T. Li and S. Venkatasubramanian,
t-Closeness: privacy beyond k-anonymity and l-diversity, ICDE (2007). p-sensitivity: T. M. Truta and B. Vinay,
Privacy protection: p-sensitive k-anonymity property, ICDE Workshops (2006). (alpha, k)-anonymity: R. C.-W. Wong,
J. Li, A. W.-C. Fu and K. Wang, KDD (2006). beta-likeness: J. Cao and P. Karras, Publishing microdata with a robust
privacy guarantee, PVLDB 5 (2012). delta-disclosure: J. Brickell and V. Shmatikov, The cost of privacy, KDD (2008).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, NamedTuple, Self

from shoal.attributes.taxonomy import Taxonomy
from shoal.attributes.taxonomy_files import read_taxonomy
from shoal.errors import ShoalError
from shoal.parameters import Flag, Number, OneOf, Rule, Whole

Diversity = Literal["distinct", "entropy", "recursive"]
Distance = Literal["ordered", "ranks", "wasserstein", "equal", "hierarchical", "kullback-leibler"]
DISTANCES = ("ordered", "ranks", "wasserstein", "equal", "hierarchical", "kullback-leibler")
ON_LINES = ("ordered", "ranks", "wasserstein")

MODELS: dict[str, type["Model"]] = {}
"""Every model, by its name."""


class Numbers(NamedTuple):
    """A model as a kernel takes it: see `kernels/promises/rules.py`."""

    kind: str
    limit: float
    factor: float = 0.0


@dataclass(frozen=True)
class Model:
    """The base of all models: a demand on a confidential column."""

    name: ClassVar[str]
    flag: ClassVar[str]
    limit: ClassVar[str]
    """The parameter that says how much is promised."""
    at_least: ClassVar[bool] = False
    """Whether the figure of a group is to be at least the limit, not at most."""
    some_values: ClassVar[bool] = True
    """Whether the model makes sense where only some values do harm."""
    rules: ClassVar[Mapping[str, Rule]] = {}

    on: str
    sensitive_values: tuple[str, ...]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        MODELS[cls.name] = cls

    def __post_init__(self) -> None:
        if not isinstance(self.on, str) or not self.on:
            called = type(self).__name__
            raise ShoalError(
                f"{called} needs the name of a confidential column, such as {called}(..., on='diagnosis')"
            )
        for parameter, rule in self.rules.items():
            called = self.name if parameter == self.name else f"{parameter} of {self.name}"
            checked = rule.check(called, getattr(self, parameter))
            object.__setattr__(self, parameter, checked)
        given = () if self.sensitive_values is None else self.sensitive_values
        values = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (given,)
        object.__setattr__(self, "sensitive_values", tuple(str(value) for value in values))
        if self.sensitive_values and not self.some_values:
            raise ShoalError(
                f"{self.name} compares all values of {self.on!r}, so it takes no sensitive_values; l-diversity "
                "(distinct), p-sensitivity, alpha, beta-likeness and delta-disclosure do"
            )

    @property
    def asked(self) -> float:
        """How much is promised."""
        return float(getattr(self, self.limit))

    @property
    def called(self) -> str:
        """Its name among figures: that of the model, with the kind or the distance that is not the usual one."""
        return self.name

    def numbers(self) -> Numbers:
        """As a kernel takes it."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        """As a manifest holds it."""
        said: dict[str, Any] = {"model": self.name}
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None and value != ():
                said[each.name] = value.as_dict() if isinstance(value, Taxonomy) else value
        return said

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "Model":
        """And back."""
        rest = dict(given)
        name = rest.pop("model", None)
        if name not in MODELS:
            raise ShoalError(f"there is no privacy model {name!r}; there are {', '.join(MODELS)}")
        known = [each.name for each in fields(MODELS[name])]
        if odd := [key for key in rest if key not in known]:
            raise ShoalError(f"{name} has no {odd[0]!r}; it has {', '.join(known)}")
        return MODELS[name](**rest)

    def of_column(self, on: str) -> Self:
        """The same on another column."""
        return type(self)(**{each.name: getattr(self, each.name) for each in fields(self)} | {"on": on})

    def said(self, value: float) -> str:
        """The figure of a group in words, short."""
        return f"{self.limit} = {value:.4g}"

    def __str__(self) -> str:
        among = f" of {', '.join(self.sensitive_values)}" if self.sensitive_values else ""
        return f"{self.limit} = {self.asked:g}{among} on {self.on!r} ({self.name})"


@dataclass(frozen=True, kw_only=True)
class _On(Model):
    """What every model has beside its own parameters."""

    name: ClassVar[str] = ""

    on: str = ""
    sensitive_values: tuple[str, ...] = ()


MODELS.pop("")


@dataclass(frozen=True)
class PSensitivity(_On):
    """p-sensitivity: at least p different values in every group."""

    p: int

    name: ClassVar[str] = "p-sensitivity"
    flag: ClassVar[str] = "--p-sensitivity"
    limit: ClassVar[str] = "p"
    at_least: ClassVar[bool] = True
    rules: ClassVar[Mapping[str, Rule]] = {"p": Whole(1)}

    def numbers(self) -> Numbers:
        """As a kernel takes it."""
        return Numbers("distinct", float(self.p))


@dataclass(frozen=True)
class LDiversity(_On):
    """l-diversity: at least l well-represented values in every group.

    Parameters
    ----------
    l : how many
    kind : "distinct" counts different values; "entropy" demands exp(H) >= l; "recursive" demands that the most
        frequent value occurs fewer than c times as often as all from the l-th most frequent on
    c : that factor
    on : the confidential column
    sensitive_values : those that do harm, where not all do; a group without any of them is no harm
    """

    l: float  # noqa: E741 - the field's own name
    kind: Diversity = "distinct"
    c: float | None = None

    name: ClassVar[str] = "l-diversity"
    flag: ClassVar[str] = "--l-diversity"
    limit: ClassVar[str] = "l"
    at_least: ClassVar[bool] = True
    rules: ClassVar[Mapping[str, Rule]] = {
        "l": Number(1),
        "kind": OneOf(("distinct", "entropy", "recursive")),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind != "entropy":
            if self.l != int(self.l):
                raise ShoalError(f"l of {self.kind} l-diversity must be a whole number, not {self.l:g}")
            object.__setattr__(self, "l", int(self.l))
        if (self.kind == "recursive") != (self.c is not None):
            raise ShoalError("c belongs to recursive l-diversity, which needs it: LDiversity(3, 'recursive', c=2)")
        if self.c is not None:
            object.__setattr__(self, "c", Number(0).check("c of l-diversity", self.c))
        if self.sensitive_values and self.kind != "distinct":
            raise ShoalError(
                f"{self.kind} l-diversity weighs all values of {self.on!r}, so it takes no sensitive_values; "
                "distinct l-diversity does"
            )

    def numbers(self) -> Numbers:
        """As a kernel takes it."""
        return Numbers(self.kind, float(self.l), 0.0 if self.c is None else self.c)

    @property
    def called(self) -> str:
        """Its name among figures."""
        return self.name if self.kind == "distinct" else f"{self.name}_{self.kind}"

    def said(self, value: float) -> str:
        """The figure of a group in words, short."""
        return f"most frequent : rest = {value:.4g}" if self.kind == "recursive" else super().said(value)

    def __str__(self) -> str:
        c = "" if self.c is None else f", c = {self.c:g}"
        return super().__str__().replace("(l-diversity)", f"({self.kind} l-diversity{c})")


@dataclass(frozen=True)
class TCloseness(_On):
    """t-closeness: the distribution of the values in every group is within t of that in the table.

    Parameters
    ----------
    t : the largest distance
    distance : "ordered" over the different values in their order; "ranks" over the records in theirs, ties in the
        order of the table; "wasserstein" over the numbers themselves; "equal" for values without an order (total
        variation); "hierarchical" over a taxonomy; "kullback-leibler" in nats. By default "ordered" where the
        column has an order, else "equal"
    taxonomy : for "hierarchical": a file, a tree as a dictionary, or a `Taxonomy`
    order : the values from the lowest to the highest, where that is not known
    on : the confidential column
    """

    t: float
    distance: Distance | None = None
    taxonomy: Any = None
    order: tuple[str, ...] = ()

    name: ClassVar[str] = "t-closeness"
    flag: ClassVar[str] = "--t-closeness"
    limit: ClassVar[str] = "t"
    some_values: ClassVar[bool] = False
    rules: ClassVar[Mapping[str, Rule]] = {"t": Number(0)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.distance is not None:
            OneOf(DISTANCES).check("distance of t-closeness", self.distance)
        if isinstance(self.order, str):
            raise ShoalError(f"the order of {self.on!r} is a list of its values, not the text {self.order!r}")
        object.__setattr__(self, "order", tuple(str(value) for value in self.order or ()))
        if self.order and self.distance not in (None, *ON_LINES):
            raise ShoalError(f"t-closeness by {self.distance!r} on {self.on!r} has no order; leave it out")
        if (self.distance == "hierarchical") != (self.taxonomy is not None):
            raise ShoalError(
                f"t-closeness over a tree needs both distance='hierarchical' and taxonomy= on {self.on!r}"
            )
        if self.taxonomy is not None and not isinstance(self.taxonomy, Taxonomy):
            given = self.taxonomy
            known = isinstance(given, Mapping) and set(given) == {"nodes", "parents", "lengths"}
            object.__setattr__(
                self, "taxonomy", Taxonomy.from_dict(dict(given)) if known else read_taxonomy(given)
            )

    def numbers(self) -> Numbers:
        """As a kernel takes it."""
        kind = {"equal": "equal", "hierarchical": "hierarchical", "kullback-leibler": "information"}
        return Numbers(kind.get(self.distance or "", "line"), self.t)

    @property
    def called(self) -> str:
        """Its name among figures."""
        usual = (None, "ordered", "equal")
        return self.name if self.distance in usual else f"{self.name}_{self.distance}"

    def __str__(self) -> str:
        by = f", {self.distance}" if self.distance else ""
        return super().__str__().replace("(t-closeness)", f"(t-closeness{by})")


@dataclass(frozen=True)
class AlphaK(_On):
    """(alpha, k)-anonymity: no value has a share above alpha in any group."""

    alpha: float

    name: ClassVar[str] = "alpha"
    flag: ClassVar[str] = "--alpha"
    limit: ClassVar[str] = "alpha"
    rules: ClassVar[Mapping[str, Rule]] = {"alpha": Number(0, 1)}

    def numbers(self) -> Numbers:
        """As a kernel takes it."""
        return Numbers("share", self.alpha)


@dataclass(frozen=True)
class BetaLikeness(_On):
    """beta-likeness: no value is more frequent in a group than in the table by more than beta times the latter.

    With `enhanced`, by more than min(beta, -ln p) times, where p is its share of the table.
    """

    beta: float
    enhanced: bool = False

    name: ClassVar[str] = "beta-likeness"
    flag: ClassVar[str] = "--beta-likeness"
    limit: ClassVar[str] = "beta"
    rules: ClassVar[Mapping[str, Rule]] = {"beta": Number(0), "enhanced": Flag()}

    def numbers(self) -> Numbers:
        """As a kernel takes it."""
        return Numbers("likeness", self.beta, 1.0 if self.enhanced else 0.0)

    def __str__(self) -> str:
        how = ", enhanced" if self.enhanced else ""
        return super().__str__().replace("(beta-likeness)", f"(beta-likeness{how})")


@dataclass(frozen=True)
class DeltaDisclosure(_On):
    """delta-disclosure privacy: |ln(q / p)| below delta for every value, q its share in a group, p in the table.

    A value that a group lacks is an infinite breach, so every group needs every value. `absent="ignore"` is the
    looser reading, in which only the values that are there count.
    """

    delta: float
    absent: Literal["infinite", "ignore"] = "infinite"

    name: ClassVar[str] = "delta-disclosure"
    flag: ClassVar[str] = "--delta-disclosure"
    limit: ClassVar[str] = "delta"
    rules: ClassVar[Mapping[str, Rule]] = {"delta": Number(0), "absent": OneOf(("infinite", "ignore"))}

    def numbers(self) -> Numbers:
        """As a kernel takes it."""
        return Numbers("disclosure", self.delta, 1.0 if self.absent == "ignore" else 0.0)

    def __str__(self) -> str:
        how = ", absent values ignored" if self.absent == "ignore" else ""
        return super().__str__().replace("(delta-disclosure)", f"(delta-disclosure{how})")


def participating_k(k: int, participation: float, confidence: float) -> int:
    """The smallest group size of which at least k take part with this confidence, each with this probability.

    Reference: D. Rebollo-Monedero et al., p-Probabilistic k-anonymous microaggregation for the anonymization of
    surveys with uncertain participation, Information Sciences 382-383 (2017) 388-414.
    """
    from scipy.stats import binom

    Whole(1).check("k", k)
    if Number(0, 1).check("participation", participation) == 0:
        raise ShoalError("participation must be a probability above 0: nobody would take part")
    if not 0 < Number(0, 1).check("confidence", confidence) < 1:
        raise ShoalError(f"confidence must be a probability above 0 and below 1, not {confidence!r}")
    low = high = k
    while binom.sf(k - 1, high, participation) < confidence:
        low, high = high + 1, 2 * high
    while low < high:
        middle = (low + high) // 2
        if binom.sf(k - 1, middle, participation) < confidence:
            low = middle + 1
        else:
            high = middle
    return low
