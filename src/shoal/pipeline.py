"""The way data takes, top to bottom: table, space, partition, release."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shoal.attributes.digits import EXACT, Digits, checked_digits, digits_asked, digits_used, total_of
from shoal.attributes.numbers import Aggregate
from shoal.attributes.quantities import finding_of, warn_of_quantities
from shoal.catalogue import method_of
from shoal.errors import ShoalError, some, warn_of_all
from shoal.estimator import Microaggregator, Progress
from shoal.files import Dialect
from shoal.files.batches import batches
from shoal.manifest import manifest_of
from shoal.measures import Untouched, given_away, information_loss
from shoal.measures.untouched import refusal_of, warning_of
from shoal.parameters import Flag, Names, OneOf, Seed, Whole
from shoal.release import Release
from shoal.space import AGGREGATES, Scaling, Space
from shoal.table import Roles, Table
from shoal.wrapper import Wrapper


def anonymize(
    data: Any,
    k: int | None = None,
    quasi_identifiers: Names = None,
    confidential: Names = None,
    identifiers: Names = None,
    *,
    method: str | Microaggregator = "auto",
    scaling: Scaling = "zscore",
    weights: Mapping[str, float] | None = None,
    aggregate: Aggregate = "mean",
    exact: bool = False,
    digits: Digits = None,
    random_state: int | None = None,
    strict: bool = False,
    progress: Progress | bool | None = None,
) -> Release:
    """Hide every record of a table in a group of at least k.

    Parameters
    ----------
    data : pandas, polars or pyarrow table, or the path of a CSV, Parquet or Arrow file
        The table; it is not changed. A lazy table of polars is collected. What hands its records on by Arrow, such
        as a relation of DuckDB or a reader of record batches, comes back as a pyarrow table.
    k : int
        The least number of records that share their quasi-identifiers in the release.
    quasi_identifiers : column names
        The columns by which somebody could recognise a person; each gets the common value of its group.
    confidential : column names
        The columns that the release is about; kept as they are.
    identifiers : column names
        The columns that name a person; they never leave.
    method : str or estimator
        How to group the records: a name, or an estimator such as ``MDAV(k=5)``. By default the one that suits the
        table; the manifest says which that was and why.
    scaling : {"zscore", "range", "robust", "none"}
        How to make the quasi-identifiers comparable before distances are taken.
    weights : mapping from column name to number
        How much a quasi-identifier counts in the distance, 1 where it is not named.
    aggregate : {"mean", "median"}
        The common value of a group.
    exact : bool
        Release the plain centroid as a float, with all its digits. By default a column keeps its type, and floats
        leave with no more digits than the spread inside the groups justifies.
    digits : int or mapping from column name to int
        The decimals to round to instead, for all quasi-identifiers or for some: 2 for hundredths, -2 for hundreds.
    random_state : int
        The seed of methods that draw random numbers.
    strict : bool
        Make it an error if columns without a role tell people apart or give a quasi-identifier back.
    progress : bool or callable
        True shows a bar in a terminal or a notebook; a function is called now and then with (records grouped so
        far, records in all).
    """
    from shoal.terminal import check_progress, shown_progress

    check_progress(progress)
    Flag().check("strict", strict)
    model = checked_method(method, k, aggregate, exact)
    seed = give_seed(model, Seed().check("random_state", random_state))
    roles = Roles.of(quasi_identifiers, confidential, identifiers)
    asked = checked_digits(digits, roles.quasi_identifiers, exact)
    table = Table.of(data, roles)
    check_k(model.k, len(table))
    space = Space.of(table, scaling, weights)
    for name, numbers in space.numbers():
        digits_asked(name, numbers, asked)
    left = left_by(table, model.k)
    heed(left, strict)
    warn_of(space.constant, model.k, exact)
    warn_of_quantities((name, finding_of(name, [numbers])) for name, numbers in space.numbers())
    with shown_progress(progress, "grouping records") as report:
        partition = model.fit(space.points, progress=report).partition_
    squares = {name: total_of([part]) for name, part in space.squares(partition, aggregate).items()}
    used = {} if exact else digits_used(dict(space.numbers()), squares, len(table), model.k, asked)
    common = space.common_values(partition, aggregate, exact, used)
    loss = information_loss(space, common, partition.labels)
    settings = settings_of(scaling, weights, aggregate, exact, asked, seed, strict)
    settings["digits"]["used"] = used
    manifest = manifest_of(table, model, partition, loss, settings) | {"untouched": left.as_dict()}
    return Release(table, space, partition, common, loss, exact, manifest)


def checked_method(
    method: str | Microaggregator, k: int | None, aggregate: Aggregate, exact: bool
) -> Microaggregator:
    """The method to group by, if all that was said about it can be honoured."""
    OneOf(AGGREGATES).check("aggregate", aggregate)
    Flag().check("exact", exact)
    model = method_of(method, None if k is None else Whole(1).check("k", k))
    model.check_parameters()
    if model.not_k_anonymous:
        raise ShoalError(model.not_k_anonymous)
    return model


def check_k(k: int, records: int) -> None:
    """There must be records for a group."""
    if k > records:
        raise ShoalError(f"k={k} is more than there are records ({records}); choose k <= {records}")


def settings_of(
    scaling: Scaling,
    weights: Mapping[str, float] | None,
    aggregate: Aggregate,
    exact: bool,
    asked: int | dict[str, int] | None,
    seed: int | None,
    strict: bool = False,
) -> dict[str, Any]:
    """What a manifest holds beside the method and the roles."""
    return {
        "scaling": scaling,
        "weights": {name: float(weight) for name, weight in (weights or {}).items()},
        "aggregate": aggregate,
        "exact": exact,
        "digits": {"asked": asked},
        "random_state": seed,
        "strict": strict,
    }


def give_seed(model: Microaggregator, seed: int | None) -> int | None:
    """Hand the seed to a method that takes one; where it needs one and none is given, draw one to write down."""
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


def left_by(table: Table, k: int) -> Untouched:
    """What the columns that are released as they are still give away."""
    dialect = table.source.dialect if table.source else Dialect()
    roles = table.roles

    def parts(names: Sequence[str]) -> Iterator[Any]:
        return batches(table.shown(names))

    return given_away(
        parts, roles.quasi_identifiers, table.others, roles.confidential, len(table), k, dialect.signs
    )


def heed(left: Untouched, strict: bool) -> list[str]:
    """Warn of what columns without a role give away; where the user is strict, refuse. Returns what was said."""
    if left.others is None or not left.others.gives_away:
        return []
    if strict:
        raise ShoalError(refusal_of(left.others))
    return warn_of_all([warning_of(left.others)])


def warn_of(constant: Sequence[str], k: int, exact: bool) -> list[str]:
    """What the owner of the table should know about its quasi-identifiers, k and plain centroids."""
    said = []
    if constant:
        listed = some(map(repr, constant), 10)
        said.append(f"constant quasi-identifiers take no part in the distance: {listed}")
    if k == 1:
        said.append("k=1 hides nobody: every record may stand alone")
    return warn_of_all(said + ([EXACT] if exact else []))
