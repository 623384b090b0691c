"""The manifest beside a release: what was done, with which settings, to which bytes; and its repetition."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

import shoal
from shoal.errors import ShoalError
from shoal.measures import InformationLoss
from shoal.methods import METHODS, Microaggregator
from shoal.partition import Partition
from shoal.table import Table

Manifest = dict[str, Any]


def manifest_of(
    table: Table,
    model: Microaggregator,
    partition: Partition,
    loss: InformationLoss,
    settings: dict[str, Any],
) -> Manifest:
    """All that is needed to repeat a release and to check it; `output` is filled in when it is written."""
    return {
        "shoal": shoal.__version__,
        "k": partition.k,
        "method": {"name": type(model).__name__, "parameters": model.get_params(deep=False)},
        **settings,
        "roles": {
            "quasi_identifiers": list(table.roles.quasi_identifiers),
            "confidential": list(table.roles.confidential),
            "identifiers": list(table.roles.identifiers),
            "others": list(table.others),
        },
        "records": len(table),
        "groups": partition.n_groups,
        "information_loss": loss.percent,
        "input": input_of(table),
        "output": None,
    }


def input_of(table: Table) -> Manifest:
    """What came in: the file with the hash of its bytes, or the kind of dataframe with one of its values."""
    if table.source is None:
        kind = str(table.frame.implementation).split(".")[-1].lower()
        return {"kind": kind, "sha256": hash_of_values(table)}
    source = table.source
    described = {"name": source.name, "format": source.format, "sha256": source.sha256}
    return described | ({"dialect": asdict(source.dialect)} if source.format == "csv" else {})


def hash_of_values(table: Table) -> str:
    """A hash of the names, types and values of a dataframe."""
    digest = hashlib.sha256()
    for name in table.frame.columns:
        column = table.frame[name]
        digest.update(repr((name, str(column.dtype))).encode())
        try:
            values = pa.array(column.to_arrow())
            batch = pa.record_batch([values], names=["values"])
            digest.update(batch.serialize())
        except (pa.ArrowException, TypeError):  # objects that Arrow has no type for
            digest.update(repr(column.to_list()).encode())
    return digest.hexdigest()


def load_recipe(path: Path) -> Manifest:
    """A manifest read back, to repeat its release."""
    try:
        recipe = json.loads(path.read_text(encoding="utf-8"))
        recipe["k"], recipe["method"]["name"], recipe["roles"]["quasi_identifiers"], recipe["input"]["sha256"]
    except OSError as error:
        raise ShoalError(f"cannot read the recipe {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ShoalError(f"{path} is not a manifest of Shoal ({type(error).__name__}: {error})") from None
    return dict(recipe)


def arguments_of(recipe: Manifest) -> dict[str, Any]:
    """The arguments of `anonymize` that repeat a release."""
    name = recipe["method"]["name"].lower()
    if name not in METHODS:
        raise ShoalError(
            f"the recipe's method {recipe['method']['name']!r} is not known to Shoal {shoal.__version__}"
        )
    roles = recipe["roles"]
    return {
        "quasi_identifiers": roles["quasi_identifiers"],
        "confidential": roles["confidential"],
        "identifiers": roles["identifiers"],
        "method": METHODS[name](**recipe["method"]["parameters"]),
        **{key: recipe[key] for key in ("scaling", "weights", "aggregate", "exact", "random_state")},
    }
