"""Figures of tables that say whose their records are: strata, sampling weights, combinations, linked rows."""

from collections.abc import Iterable

from shoal.cards import counted
from shoal.measures.figures import Figure, Known, measure


@measure
def strata(known: Known) -> Iterable[Figure]:
    """How many parts the table has that groups do not cross, and what was left out."""
    found = known.design.get("strata")
    if found is None:
        return
    columns = ", ".join(found["columns"])
    there, joined, out = found["number"], found["merged"], found["dropped"]
    merged = f"; {joined} {'was' if joined == 1 else 'were'} merged into others" if joined else ""
    small = f"; {out} {'record' if out == 1 else 'records'} of strata that are too small"
    dropped = f"{small} {'was' if out == 1 else 'were'} left out" if out else ""
    yield Figure(
        "strata", found["number"], "strata", counted(found["number"]), f"strata of {columns}",
        f"no group crosses a border of the {there} strata of {columns}{merged}{dropped}"
        if there > 1
        else f"only 1 stratum of {columns} is left{merged}{dropped}",
        "groups",
        details=found,
    )  # fmt: skip


@measure
def weighted_loss(known: Known) -> Iterable[Figure]:
    """The loss in which each record counts by its sampling weight."""
    if known.weighted_loss is None:
        return
    percent, name = known.weighted_loss.percent, known.design["weight"]
    yield Figure(
        "weighted_information_loss", percent, "%", f"{percent:.2f} %",
        f"information loss weighted by {name}", f"information loss weighted by {name!r}: {percent:.2f} %",
        "utility", "public",
        details={"attributes": {part.name: part.percent for part in known.weighted_loss.attributes}},
    )  # fmt: skip


@measure
def larger_k(known: Known) -> Iterable[Figure]:
    """What a larger k on some columns took."""
    whom = known.design.get("whom", "records")
    for found in known.design.get("also", ()):
        columns = ", ".join(found["columns"])
        where = columns + (f" within {', '.join(found['strata'])}" if found["strata"] else "")
        extra = known.loss.percent - found["information_loss_before"]
        asked, before, now = found["k"], found["before"], found["found"]
        if before >= asked:
            said = f"k = {before} {whom} on {where} (asked for {asked}): it held already"
        else:
            said = (
                f"k = {now} {whom} on {where} (asked for {asked}; it was {before}): near groups got one common "
                f"value there; every larger k together took {extra:.2f} points more loss"
            )
        yield Figure(
            f"k_on_{columns}", now, whom, f"k = {now}", f"on {where} alone", said, "groups", "public",
            details=found | {"extra_information_loss": extra},
        )  # fmt: skip


def linkage(k: int, asked: int, whom: str, column: str) -> Figure:
    """How many persons have the same rows, where a pseudonym links them."""
    have = f"1 {whom.removesuffix('s')} has" if k == 1 else f"{k} {whom} have"
    risk = "" if k >= asked else "; whoever knows all rows of a person may find them"
    return Figure(
        "linked_k", k, whom, f"k = {k}", f"{whom} with the same rows, linked by {column}",
        f"rows linked by {column!r}: at least {have} the same rows (asked for {asked}){risk}", "risk",
        details={"column": column, "asked": asked},
    )  # fmt: skip
