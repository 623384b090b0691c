"""The settings of a release: every option once, with its rule, its words and its place on the command line.

`anonymize`, `anonymize_file`, the command line, the manifest, the report and recipes all go through the fields of
`Settings`. A new option is a field here, with its line in `Options`, and what uses it.
"""

import os
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Self, TypedDict

from shoal.errors import ShoalError, nearest_name, some
from shoal.option_rules import (
    Anything,
    AttributeWeights,
    ByColumn,
    ColumnNames,
    Combination,
    Combinations,
    Either,
    FilePath,
    Lengths,
    Merging,
    Models,
    Option,
    Order,
    Places,
    TaxonomyRule,
    Text,
    Texts,
    combinations_read,
    digits_read,
    gap_values_read,
    lengths_read,
    listed,
    names_read,
    number_read,
    one_or_several,
    only,
    option_field,
    pairs,
    seed_read,
    shown_by_column,
    weights_read,
)
from shoal.parameters import (
    AGGREGATES,
    EVERY,
    GAP_POLICIES,
    HOUSEHOLD_K,
    PERSON_ROWS,
    RELEASED_WEIGHTS,
    SCALINGS,
    SMALL_STRATA,
    Aggregates,
    Flag,
    GapPolicy,
    HouseholdK,
    Key,
    Maybe,
    Names,
    Number,
    OneOf,
    PersonRows,
    ReleasedWeight,
    Scaling,
    Seed,
    SmallStrata,
    Whole,
)

if TYPE_CHECKING:  # the command line reads the options before anything heavy is loaded
    from shoal.attributes import Digits, Wish
    from shoal.attributes.taxonomy import Taxonomy
    from shoal.estimator import Microaggregator
    from shoal.privacy.models import Model
    from shoal.table import Roles


_NOTHING = ("attribute_weights", "kinds", "gap_values", "orders", "taxonomies", "prefixes", "merge_strata", "also")
"""Options that may be None, which is the same as leaving them out."""

_OF_ONE_COLUMN = ("orders", "taxonomies", "prefixes")
"""Options that a place, which has two columns, does not have."""


class Options(TypedDict, total=False):
    """What `anonymize` and `anonymize_file` take beside the table, k and the roles: see `Settings`."""

    method: "str | Microaggregator"
    scaling: Scaling
    attribute_weights: Mapping[str, float] | None
    aggregate: Aggregates
    kinds: Mapping[str, str] | None
    gaps: GapPolicy | Mapping[str, GapPolicy]
    gap_values: Sequence[str] | Mapping[str, Sequence[str]] | None
    orders: Mapping[str, Sequence[str]] | None
    taxonomies: Mapping[str, Any] | None
    prefixes: Mapping[str, Sequence[int]] | None
    places: Sequence[tuple[str, str]]
    coordinates: int
    exact: bool
    digits: "Digits"
    random_state: int | None
    strict: bool
    keep_order: bool
    key: str | None
    person: str | None
    person_rows: PersonRows
    household: str | None
    household_k: HouseholdK
    within: Names
    merge_strata: Mapping[str, str] | None
    small_strata: SmallStrata
    sampling_weight: str | None
    released_weight: ReleasedWeight
    also: Sequence[tuple[int, Sequence[str]]]
    pseudonym: str | None
    pseudonym_key: "str | os.PathLike[str] | None"
    accept_linkage: bool
    models: "Sequence[Model]"
    participation: float | None
    confidence: float


class FileOptions(Options, total=False):
    """The same with what can be said about a CSV file: see `anonymize_file`."""

    delimiter: str | None
    quote: str | None
    encoding: str | None
    decimal: str | None
    thousands: str | None
    header: bool | None
    names: Sequence[str] | None
    number_names: bool | None


def shown_or_nothing(value: str | None) -> str:
    """A value that may not be there, for people."""
    return value or ""


MODEL_FLAGS = {
    "--l-diversity": (
        "A=L",
        "At least L values of a confidential column in every group; A=L:entropy, A=L:recursive:C.",
    ),
    "--t-closeness": (
        "A=T",
        "Each group within T of the table; A=T:ranks, wasserstein, equal, kullback-leibler ...",
    ),
    "--p-sensitivity": ("A=P", "At least P different values in every group."),
    "--alpha": ("A=S", "No value with a share above S in any group."),
    "--beta-likeness": ("A=B", "No value more frequent than in the table by more than B times; A=B:enhanced."),
    "--delta-disclosure": ("A=D", "Shares within a factor exp(D) of the table's; A=D:ignore for absent values."),
    "--sensitive-values": ("A=V,W", "The values of a column that do harm, where not all do."),
}
"""Every privacy model as an option of the command line."""


def models_read(given: Sequence[tuple[str, str]]) -> "list[Model]":
    """Privacy models from flags and texts, such as --l-diversity and diagnosis=3."""
    from shoal.model_texts import read_models

    return read_models(given)


def models_unpacked(given: Sequence[Mapping[str, Any]]) -> "list[Model]":
    """Privacy models as a manifest holds them."""
    from shoal.privacy.models import Model

    return [Model.from_dict(each) for each in given]


def real_read(given: Sequence[str]) -> float:
    """A number from its text."""
    text = only(given)
    try:
        return float(text)
    except ValueError:
        raise ShoalError(f"a number is wanted, not {text!r}") from None


def drawn_key() -> str:
    """A fresh key of 128 bits, as hexadecimal digits; it never follows from a seed."""
    return secrets.token_hex(16)


def order_in_words(keep_order: bool) -> str:
    """The order of the rows, for people; nothing of the key."""
    return "that of the input" if keep_order else "random, by a secret key"


@dataclass(frozen=True)
class Settings:
    """All that was asked for, checked.

    Attributes
    ----------
    roles : the role of each column
    method : the method that groups the records, not fitted; its k is that of the release
    scaling : {"zscore", "range", "robust", "none"}
        How to make the quasi-identifiers comparable before distances are taken.
    attribute_weights : mapping from column name to number
        How much a quasi-identifier counts in the distance, 1 where it is not named.
    aggregate : {"mean", "median", "mode", "interval", "set", "share", "ancestor"}, or a mapping from column names
        The common value of a group; "mean" is what each kind of attribute has for a mean.
    kinds : mapping from column name to the name of a kind
        What a column holds, such as "nominal"; detected where it is not named.
    gaps : {"error", "drop", "pattern", "blank", "value", "impute"}, or a mapping from column names
        What is done about missing values.
    gap_values : list of texts, or a mapping from column names
        What means a missing value, beside empty cells, in the place of NA, NaN, null, ?, a dot and the like; also
        in a confidential column that a privacy model is about.
    orders : mapping from column name to its values, the lowest first
        The orders of ordinal columns.
    taxonomies : mapping from column name to a file or a tree
        The trees that codes belong to.
    prefixes : mapping from column name to lengths
        Codes whose beginnings of these lengths are groups of codes.
    places : pairs of column names
        A latitude and a longitude each; detected by their names where none is given.
    coordinates : int
        The most coordinates of a column of categories; with more categories, distances are approximate.
    exact : bool
        Release the plain centroid as a float, with all its digits. By default a column keeps its type, and floats
        leave with no more digits than the spread inside the groups justifies.
    digits : int or mapping from column name to int
        The decimals to round to instead, for all quasi-identifiers or for some: 2 for hundredths, -2 for hundreds.
    random_state : int
        The seed of methods that draw random numbers.
    strict : bool
        Make it an error if columns without a role tell people apart or give a quasi-identifier back.
    keep_order : bool
        Write the rows in the order of the input. By default they leave in a random one, because whoever knows the
        order of the input could match records by their position.
    key : str
        The 32 hexadecimal digits that the random order follows from; drawn where none is given. Keep it secret.
    person : column name
        Who the rows are about, where a person may have several. k then counts persons. The column is dropped.
    person_rows : {"together", "apart"}
        All rows of a person are in one group; or they may be in several, and only the quasi-identifiers that are
        constant for each person are the same in all of them.
    household : column name
        The household of each row. Households stay in one group, and k counts households. The column is dropped.
    household_k : {"households", "persons"}
        What k counts there; with "persons" every group has at least two households.
    within : column names
        Strata, such as regions: no group has records of two. They are released as they are, and k is counted on
        the quasi-identifiers together with them.
    merge_strata : mapping from stratum to stratum
        Strata that become a part of another one; their records are released with its name.
    small_strata : {"error", "drop"}
        What is done about strata of fewer than k: an error, or their records are left out.
    sampling_weight : column name
        How many people of the population each record stands for. Common values and the loss are weighted.
    released_weight : {"common", "keep", "round", "drop"}
        The weight that a record leaves with: the mean of its group, its own, its own with two digits, or none.
    also : pairs of k and column names
        A larger k for some of the quasi-identifiers, such as (10, ["age", "sex"]).
    pseudonym : column name
        The person or household column, to be released as a keyed hash, so that rows of one person stay linked.
    pseudonym_key : path
        The file with the key of the pseudonyms; it is made where there is none. Keep it secret.
    accept_linkage : bool
        Release pseudonyms although fewer than k persons have the same rows.
    """

    roles: "Roles"
    method: "Microaggregator"
    scaling: Scaling = option_field(
        "zscore", OneOf(SCALINGS), "zscore, range, robust or none. [zscore]", "--scaling", metavar="NAME",
        label="scaling", required=True,
    )  # fmt: skip
    attribute_weights: Mapping[str, float] = option_field(
        {}, AttributeWeights(), "How much a quasi-identifier counts; repeat for more.", "--attribute-weight",
        metavar="A=2", read=weights_read, label="attribute weights", before="weights", required=True,
        show=lambda weights: ", ".join(f"{name} × {weight:g}" for name, weight in weights.items()),
    )  # fmt: skip
    aggregate: Aggregates = option_field(
        "mean", Either(OneOf(AGGREGATES)), "mean, median, mode, interval, set, share or ancestor. [mean]",
        "--aggregate", metavar="[A=]NAME", label="common value", required=True,
        read=lambda given: one_or_several(given, "common values", "sex=set"),
        show=lambda value: value if isinstance(value, str) else shown_by_column(value),
    )  # fmt: skip
    kinds: Mapping[str, str] = option_field(
        {}, ByColumn(Text(), "postcode='nominal'"), "The kind of a column; repeat for more. [detected]", "--kind",
        metavar="A=KIND", read=lambda given: pairs(given, "kind", "column=kind, such as postcode=nominal"),
        label="kinds", show=shown_by_column,
    )  # fmt: skip
    gaps: Mapping[str, GapPolicy] = option_field(
        {}, ByColumn(OneOf(GAP_POLICIES), "age='drop'", for_all=True),
        "Missing values: error, drop, pattern, blank, value or impute. [error]", "--gaps", metavar="[A=]POLICY",
        read=lambda given: one_or_several(given, "policies", "age=impute"), label="gaps", show=shown_by_column,
    )  # fmt: skip
    gap_values: Mapping[str, tuple[str, ...]] = option_field(
        {}, ByColumn(Texts(), "age=['-9']", for_all=True),
        "What means a missing value, beside empty cells; A ends at the first =. [NA, NaN, null, ?, . and such]",
        "--gap-values",
        metavar="[A=]V,W", label="missing values are written", show=shown_by_column,
        read=gap_values_read,
    )  # fmt: skip
    orders: Mapping[str, tuple[str, ...]] = option_field(
        {}, ByColumn(Order(), "pain=['none', 'mild', 'severe']"),
        "The order of an ordinal column, lowest first.", "--order", metavar="A=V,W", label="orders",
        show=shown_by_column,
        read=lambda given: {
            name: listed(value)
            for name, value in pairs(given, "order", "column=values, such as pain=none,mild,severe").items()
        },
    )  # fmt: skip
    taxonomies: Mapping[str, "Taxonomy"] = option_field(
        {}, ByColumn(TaxonomyRule(), "job='jobs.json'"), "The tree of codes: JSON, edges or ARX's CSV.",
        "--taxonomy", metavar="A=FILE", label="taxonomies", show=lambda value: ", ".join(value),
        read=lambda given: pairs(given, "taxonomy", "column=file, such as diagnosis=icd.json"),
        packed=lambda value: {name: tree.as_dict() for name, tree in value.items()},
    )  # fmt: skip
    prefixes: Mapping[str, tuple[int, ...]] = option_field(
        {}, ByColumn(Lengths(), "diagnosis=[1, 3]"), "Codes whose beginnings of these lengths are groups.",
        "--prefix", metavar="A=1,3", read=lengths_read, label="prefixes", show=shown_by_column,
    )  # fmt: skip
    places: tuple[tuple[str, str], ...] = option_field(
        (), Places(), "Two columns that are a place; repeat for more. [detected]", "--place", metavar="LAT,LON",
        read=lambda given: [listed(pair) for pair in given], label="places",
        show=lambda value: "; ".join(", ".join(pair) for pair in value),
    )  # fmt: skip
    coordinates: int = option_field(
        256, Whole(2), "Most coordinates of a column of categories; more are approximated. [256]", "--coordinates",
        metavar="N", read=number_read,
    )  # fmt: skip
    exact: bool = option_field(
        False, Flag(), "Release plain centroids, not rounded.", "--exact", label="rounding", required=True,
        show=lambda exact: "none: plain centroids" if exact else "",
    )  # fmt: skip
    digits: int | Mapping[str, int] | None = option_field(
        None, Anything(), "Decimals of released numbers, -2 for hundreds. [by the spread in groups]",
        "--digits", metavar="[A=]N", read=digits_read, packed=lambda asked: {"asked": asked},
        unpacked=lambda kept: kept.get("asked"),
    )  # fmt: skip
    random_state: int | None = option_field(
        None, Seed(), "For methods that draw random numbers.", "--seed", metavar="N", read=seed_read, label="seed",
        required=True,
        show=lambda seed: "" if seed is None else str(seed),
    )  # fmt: skip
    strict: bool = option_field(
        False,
        Flag(),
        "Stop if columns without a role could identify people.",
        "--strict",
        label="strict",
        show=lambda strict: "yes" if strict else "",
    )
    keep_order: bool = option_field(
        False, Flag(), "Write the rows in the order of the input, not in a random one.", "--keep-order",
        label="order of the rows", show=order_in_words, older=True,
    )  # fmt: skip
    key: str | None = option_field(
        None, Key(), "32 hexadecimal digits that the random order of the rows follows from. [drawn]", "--key",
        metavar="HEX", secret=True,
    )  # fmt: skip
    person: str | None = option_field(
        None, Maybe(Text()), "Who the rows are about; k counts persons, and the column is dropped.", "--person",
        metavar="A", label="persons", show=shown_or_nothing,
    )  # fmt: skip
    person_rows: PersonRows = option_field(
        "together", OneOf(PERSON_ROWS), "Rows of a person: together in a group, or apart. [together]",
        "--person-rows", metavar="HOW", label="rows of a person",
        show=lambda how: "may be in several groups" if how == "apart" else "",
    )  # fmt: skip
    household: str | None = option_field(
        None, Maybe(Text()), "The household of each row; k counts households, and the column is dropped.",
        "--household", metavar="A", label="households", show=shown_or_nothing,
    )  # fmt: skip
    household_k: HouseholdK = option_field(
        "households", OneOf(HOUSEHOLD_K), "What k counts: households, or persons in two or more. [households]",
        "--household-k", metavar="WHAT", label="k counts",
        show=lambda what: "persons, in at least two households" if what == "persons" else "",
    )  # fmt: skip
    within: tuple[str, ...] = option_field(
        (), ColumnNames(), "Strata, such as regions, whose border no group crosses.", "--within", metavar="A,B",
        read=names_read, label="strata", show=", ".join,
    )  # fmt: skip
    merge_strata: Mapping[str, str] = option_field(
        {}, Merging(), "Make a stratum a part of another one.",
        "--merge-strata", metavar="A=B", label="merged strata", show=shown_by_column,
        read=lambda given: pairs(given, "merged stratum", "stratum=stratum, such as Isle=Coast"),
    )  # fmt: skip
    small_strata: SmallStrata = option_field(
        "error", OneOf(SMALL_STRATA), "Strata of fewer than K: error or drop. [error]", "--small-strata",
        metavar="HOW", label="strata of fewer than k", show=lambda how: "dropped" if how == "drop" else "",
    )  # fmt: skip
    sampling_weight: str | None = option_field(
        None, Maybe(Text()), "How many people each record stands for.", "--sampling-weight", metavar="A",
        label="sampling weight", show=shown_or_nothing,
    )  # fmt: skip
    released_weight: ReleasedWeight = option_field(
        "common", OneOf(RELEASED_WEIGHTS), "Weights that leave: common to a group, keep, round or drop. [common]",
        "--released-weight", metavar="HOW", label="weights that leave",
        show=lambda how: {"keep": "as they are", "round": "rounded", "drop": "none"}.get(how, ""),
    )  # fmt: skip
    also: tuple[Combination, ...] = option_field(
        (), Combinations(), "A larger k for some quasi-identifiers; repeat for more.", "--also",
        metavar="k=N:A,B", read=combinations_read, label="larger k",
        show=lambda value: "; ".join(f"{k} on {', '.join(names)}" for k, names in value),
    )  # fmt: skip
    pseudonym: str | None = option_field(
        None, Maybe(Text()), "Release the person or household column as a keyed hash.", "--pseudonym",
        metavar="A", label="pseudonyms", show=shown_or_nothing,
    )  # fmt: skip
    pseudonym_key: str | None = option_field(
        None, FilePath(), "The file with the key of pseudonyms; made where there is none.", "--pseudonym-key",
        metavar="FILE",
    )  # fmt: skip
    accept_linkage: bool = option_field(
        False, Flag(), "Release pseudonyms although fewer than K persons have the same rows.", "--accept-linkage",
        label="linkage accepted", show=lambda accepted: "yes" if accepted else "",
    )  # fmt: skip

    models: "tuple[Model, ...]" = option_field(
        (), Models(), "Privacy models.", "--models", metavar="A=N", read=models_read, flags=MODEL_FLAGS,
        label="privacy models", show=lambda models: "; ".join(map(str, models)),
        packed=lambda models: [each.as_dict() for each in models], unpacked=models_unpacked,
    )  # fmt: skip
    participation: float | None = option_field(
        None, Maybe(Number(0, 1)), "The probability that somebody in the table takes part.", "--participation",
        metavar="P", read=real_read, label="participation",
        show=lambda share: "" if share is None else f"{share:g}",
    )  # fmt: skip
    confidence: float = option_field(
        0.99, Number(0, 1), "How certain K of a group are to take part. [0.99]", "--confidence", metavar="P",
        read=real_read,
    )  # fmt: skip

    @classmethod
    def options(cls) -> dict[str, Option]:
        """Every setting that is neither a role nor the method, by its name."""
        return {each.name: each.metadata["option"] for each in fields(cls) if "option" in each.metadata}

    @classmethod
    def of(
        cls,
        k: int | None = None,
        quasi_identifiers: "Names" = None,
        confidential: "Names" = None,
        identifiers: "Names" = None,
        method: "str | Microaggregator" = "auto",
        **given: Any,
    ) -> Self:
        """From what a user says: names, keywords and an estimator or the name of one."""
        from shoal import methods  # noqa: F401 - they register themselves
        from shoal.attributes.digits import checked_digits
        from shoal.catalogue import method_of
        from shoal.table import Roles

        options = cls.options()
        for name in given:
            if name not in options:
                raise cls.no_option(name)
        given = {name: value for name, value in given.items() if value is not None or name not in _NOTHING}
        checked: dict[str, Any] = {name: options[name].rule.check(name, value) for name, value in given.items()}
        model = method_of(method, None if k is None else Whole(1).check("k", k))
        model.check_parameters()
        if model.not_k_anonymous:
            raise ShoalError(model.not_k_anonymous)
        roles = Roles.of(quasi_identifiers, confidential, identifiers)
        made = cls(roles, model, **checked).with_participants()
        made.check_columns()
        made.check_design()
        made.check_models()
        made = replace(made, roles=roles.with_design(made.dropped, made.designed))
        if made.keep_order and made.key is not None:
            raise ShoalError("keep_order and key contradict each other: a key gives a random order; leave one out")
        return replace(made, digits=checked_digits(made.digits, roles.quasi_identifiers, made.exact))

    def check_columns(self) -> None:
        """What is said of a column is said of a quasi-identifier, and does not contradict itself."""
        from shoal.attributes import kind_called

        names = self.roles.quasi_identifiers
        said = ("aggregate", "kinds", "gaps", "gap_values", "orders", "taxonomies", "prefixes")
        for option in said:
            value = getattr(self, option)
            promised = [model.on for model in self.models] if option == "gap_values" else []
            for name in value if isinstance(value, Mapping) else ():
                if name != EVERY and name not in (*names, *promised):
                    hint = nearest_name(name, names)
                    raise ShoalError(f"{option} for {name!r}, which is no quasi-identifier{hint}")
        for pair in self.places:
            for name in pair:
                if name not in names:
                    raise ShoalError(f"{name!r} of a place is no quasi-identifier{nearest_name(name, names)}")
        for name, kind in self.kinds.items():
            kind_called(kind.partition(":")[0])
            for option, means in (("orders", "ordinal"), ("taxonomies", "code"), ("prefixes", "code")):
                if name in getattr(self, option) and kind != means:
                    raise ShoalError(
                        f"column {name!r} has {option}, so it is {means}, and not {kind}; leave one of the two out"
                    )
        if both := [name for name in self.taxonomies if name in self.prefixes]:
            raise ShoalError(f"column {both[0]!r} has a taxonomy and a prefix; give one of them")
        self.check_places()
        self.check_attributes()

    def check_places(self) -> None:
        """Each place that was asked for has two columns of its own, of which nothing else is said."""
        named = Counter(name for pair in self.places for name in pair)
        if twice := [name for name, count in named.items() if count > 1]:
            raise ShoalError(
                f"places name {twice[0]!r} twice; a place has two columns, a latitude and a longitude, "
                "and a column belongs to one place"
            )
        for name in named:
            if self.kinds.get(name, "place") != "place":
                raise ShoalError(
                    f"column {name!r} belongs to a place, so its kind is not {self.kinds[name]}; "
                    "leave one of the two out"
                )
            for option in _OF_ONE_COLUMN:
                if name in getattr(self, option):
                    raise ShoalError(
                        f"column {name!r} belongs to a place, which has no {option}; leave one of the two out"
                    )

    def check_attributes(self) -> None:
        """The columns of a place are told the same, no two attributes have one name, and one of them counts."""
        attributes = list(self.wishes())
        for columns in attributes:
            for option in ("attribute_weights", "aggregate", "gaps", "gap_values"):
                first, *others = self.said_of(columns, option) or [None]
                if any(other != first for other in others):
                    raise ShoalError(
                        f"columns {' and '.join(map(repr, columns))} are one place and have the same {option}; "
                        "give both the same, or name only one of them"
                    )
        calls = Counter(", ".join(columns) for columns in attributes)
        for columns in attributes:
            if len(columns) > 1 and calls[called := ", ".join(columns)] > 1:
                raise ShoalError(
                    f"columns {' and '.join(map(repr, columns))} are one place, which is called {called!r} like "
                    "another quasi-identifier; rename that column"
                )
        if attributes and not any(next(iter(self.said_of(each, "attribute_weights")), 1) for each in attributes):
            raise ShoalError("all weights are 0; give at least one quasi-identifier a positive weight")

    def check_design(self) -> None:
        """What is said of persons, households, strata, weights and pseudonyms belongs together."""
        needs = {
            "person_rows": "person", "household_k": "household", "merge_strata": "within",
            "small_strata": "within", "released_weight": "sampling_weight", "pseudonym_key": "pseudonym",
            "accept_linkage": "pseudonym",
        }  # fmt: skip
        unset = {each.name: each.default for each in fields(self)} | {"merge_strata": {}}
        for name, needed in needs.items():
            if getattr(self, name) != unset[name] and not getattr(self, needed):
                raise ShoalError(f"{name} says nothing without {needed}; give {needed} too, or leave it out")
        if self.person_rows == "apart" and self.household is not None:
            raise ShoalError("person_rows='apart' cannot be had with a household, whose rows are one group")
        if self.pseudonym is not None and self.pseudonym not in (self.person, self.household):
            raise ShoalError(
                f"a pseudonym is for the person or the household, and {self.pseudonym!r} is neither; "
                f"name it with person (--person) or household (--household) too"
            )
        if self.pseudonym is not None and self.pseudonym_key is None:
            raise ShoalError(
                "pseudonyms need a key in a file of yours: name it with pseudonym_key (--pseudonym-key FILE); "
                "it is made there if there is none"
            )
        self.check_design_columns()
        for k, names in self.also:
            if unknown := [name for name in names if name not in self.roles.quasi_identifiers]:
                hint = nearest_name(unknown[0], self.roles.quasi_identifiers)
                raise ShoalError(f"also names {unknown[0]!r}, which is no quasi-identifier{hint}")
            if k <= self.k:
                raise ShoalError(
                    f"also asks for k={k} on {', '.join(names)}, and k={self.k} holds on all columns together, so "
                    f"on these too; ask for more than {self.k}, or leave it out"
                )

    def check_models(self) -> None:
        """What is promised is promised about confidential columns, whose rows are in one group."""
        for model in self.models:
            if model.on not in self.roles.confidential:
                hint = nearest_name(model.on, self.roles.confidential)
                raise ShoalError(
                    f"{model} is about a column that is not confidential{hint}; list {model.on!r} with the "
                    "confidential columns (-c)"
                )
        if self.models and self.person_rows == "apart":
            raise ShoalError(
                "person_rows='apart' cannot be had with privacy models: the rows of a group are cut again there; "
                "leave one of the two out"
            )

    def with_participants(self) -> Self:
        """With a k so large that enough take part, where that is uncertain."""
        from shoal.grouping import with_k
        from shoal.privacy.models import participating_k

        if self.participation is None:
            if self.confidence != 0.99:
                raise ShoalError("confidence says nothing without participation; give participation too")
            return self
        larger = participating_k(self.k, self.participation, self.confidence)
        return replace(self, method=with_k(self.method, larger))

    def check_design_columns(self) -> None:
        """A column that says whose the rows are has no other role, but may be listed with the identifiers."""
        names = {"the person": self.person, "the household": self.household, "the weight": self.sampling_weight}
        uses = [(use, name) for use, name in names.items() if name is not None]
        uses += [("a stratum", name) for name in self.within]
        for place, (use, name) in enumerate(uses):
            roles = {
                "a quasi-identifier": self.roles.quasi_identifiers, "confidential": self.roles.confidential,
                **{other: (column,) for other, column in uses[:place]},
            }  # fmt: skip
            if other := next((role for role, columns in roles.items() if name in columns), None):
                raise ShoalError(f"column {name!r} is {use} and {other}; it can be only one of them")
        if self.sampling_weight in self.roles.identifiers and self.released_weight in ("keep", "round"):
            raise ShoalError(
                f"column {self.sampling_weight!r} is an identifier, which never leaves, and "
                f"released_weight={self.released_weight!r} lets it leave; leave one of the two out"
            )
        if self.pseudonym in self.roles.identifiers:
            raise ShoalError(
                f"column {self.pseudonym!r} is an identifier, which never leaves, and is to leave as a pseudonym; "
                "leave one of the two out"
            )

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns that say whose the rows are and do not leave."""
        weight = self.sampling_weight if self.released_weight == "drop" else None
        names = (self.person, self.household, weight)
        return tuple(name for name in names if name is not None and name != self.pseudonym)

    @property
    def designed(self) -> tuple[str, ...]:
        """Those that leave, but not as they came or not without a check: strata, weights and pseudonyms."""
        weight = self.sampling_weight if self.released_weight == "common" else None
        names = (*self.within, weight, self.pseudonym)
        return tuple(name for name in names if name is not None and name not in self.roles.identifiers)

    def said_of(self, columns: tuple[str, ...], option: str) -> list[Any]:
        """What an option says of the columns of an attribute by their names."""
        value = getattr(self, option)
        return [value[name] for name in columns if name in value] if isinstance(value, Mapping) else []

    def promised_gaps(self) -> "dict[str, tuple[str, ...] | None]":
        """What stands for a gap in each column that a privacy model is about; None where nothing was said."""
        said = self.gap_values
        return {model.on: said.get(model.on, said.get(EVERY)) for model in self.models}

    def wishes(self) -> "dict[tuple[str, ...], Wish]":
        """What was asked for each attribute, by the columns that it stands for, in their order."""
        from shoal.attributes import places_in

        names = self.roles.quasi_identifiers
        taken = {name for pair in self.places for name in pair}
        taken |= {name for name, kind in self.kinds.items() if kind != "place"}
        taken |= {name for option in _OF_ONE_COLUMN for name in getattr(self, option)}
        free = [name for name in names if name not in taken]
        pairs = [*self.places, *places_in(free)]
        found: dict[tuple[str, ...], Wish] = {}
        for name in names:
            pair: tuple[str, ...] = next((pair for pair in pairs if name in pair), (name,))
            if pair not in found:
                found[pair] = self.wish(pair)
        return found

    def wish(self, columns: tuple[str, ...]) -> "Wish":
        """What was asked for the columns of an attribute."""
        from shoal.attributes import Wish

        name = columns[0]
        kind = "place" if len(columns) > 1 else self.kinds.get(name)
        if name in self.orders:
            kind = "ordinal"
        if name in self.taxonomies or name in self.prefixes:
            kind = "code"
        policies, marks = self.said_of(columns, "gaps"), self.said_of(columns, "gap_values")
        return Wish(
            kind,
            policies[0] if policies else self.gaps.get(EVERY, "error"),
            marks[0] if marks else self.gap_values.get(EVERY),
            self.orders.get(name, ()),
            self.taxonomies.get(name),
            self.prefixes.get(name, ()),
            self.coordinates,
        )

    @classmethod
    def no_option(cls, name: str, more: Sequence[str] = ()) -> ShoalError:
        """What is asked for is no option, or has another name now; `more` are other names that could be meant."""
        for option, each in cls.options().items():
            if name in (each.before, each.flag.removeprefix("--")):
                return ShoalError(f"the option {name!r} is called {option!r} in Python; use that name")
        of_files = "memory", "blocks", "overwrite", "report", "public_report"
        if not more and name in (*FileOptions.__annotations__, *of_files):
            return ShoalError(f"{name!r} is an option of anonymize_file, which goes from file to file; use that")
        known = ["k", "quasi_identifiers", "confidential", "identifiers", "method", *cls.options(), *more]
        hint = nearest_name(name, known) or f"; there are {some(known, 30)}"
        return ShoalError(f"there is no option {name!r}{hint}")

    @property
    def k(self) -> int:
        """The least number of records in a group."""
        return self.method.k

    def seeded(self, seed: int | None = None, key: str | None = None) -> Self:
        """The same with what it takes to repeat it, drawn where it was not given, to be written down.

        That is a seed where the method needs one, and a key unless the rows keep their order.
        """
        from shoal.protocol import unfitted

        model: Microaggregator = unfitted(self.method)
        chosen = give_seed(model, self.random_state if seed is None else seed)
        order = None if self.keep_order else self.key or key or drawn_key()
        return replace(self, method=model, random_state=chosen, key=order)

    def as_dict(self) -> dict[str, Any]:
        """As a manifest holds them."""
        from shoal.catalogue import described

        values = {name: as_json(each.packed(getattr(self, name))) for name, each in self.options().items()}
        return {
            "k": self.k,
            "method": described(self.method),
            **values,
            "roles": self.roles.as_dict(),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """What a manifest asks for, also one of an older version; whatever is missing or odd in it raises."""
        from shoal import methods  # noqa: F401 - they register themselves
        from shoal.catalogue import method_described

        model = method_described(given["method"])
        if given["k"] != model.k:
            raise ShoalError(f"the recipe contradicts itself: k is {given['k']} and {model.k}")
        asked = {}
        for name, each in cls.options().items():
            key = each.before if each.before in given else name
            if key in given:
                asked[name] = each.unpacked(given[key])
            elif each.required:
                raise ShoalError(f"the recipe says nothing about {name}, and without it cannot be repeated")
            elif each.older is not None:
                asked[name] = each.older
        roles = {role: given["roles"][role] for role in ("quasi_identifiers", "confidential", "identifiers")}
        # The k of a manifest is large enough already for those who take part.
        uncertain = {name: asked.pop(name) for name in ("participation", "confidence") if name in asked}
        return replace(cls.of(method=model, **roles, **asked), **uncertain)

    def lines(self) -> list[tuple[str, str]]:
        """What a report says of them, a line each."""
        options = self.options().items()
        shown = ((each.label, each.show(getattr(self, name))) for name, each in options if each.label)
        return [(label, text) for label, text in shown if text]


def as_json(value: Any) -> Any:
    """A value as it comes back from JSON, which has lists and dictionaries only."""
    if isinstance(value, Mapping):
        return {name: as_json(part) for name, part in value.items()}
    return [as_json(part) for part in value] if isinstance(value, tuple | list) else value


def give_seed(model: "Microaggregator", seed: int | None) -> int | None:
    """Hand the seed to a method that takes one; where it needs one and none is given, draw one to write down."""
    from shoal.wrapper import Wrapper

    if isinstance(model, Wrapper):
        return seed if model.method is None else give_seed(model.method, seed)
    if "random_state" not in model.get_params(deep=False):
        return seed
    own = model.get_params(deep=False)["random_state"]
    if seed is not None and own not in (seed, type(model)().get_params(deep=False)["random_state"]):
        raise ShoalError(f"random_state={seed} and {model!r} contradict each other; give it once")
    chosen = own if seed is None else seed
    if chosen is None and model._draws:
        chosen = secrets.randbits(32)
    model.set_params(random_state=chosen)
    return chosen
