"""The manifest beside a release: what was done, with which settings, to which bytes; and its repetition."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import ShoalError
from shoal.estimator import Microaggregator
from shoal.files import Dialect, Format
from shoal.measures import InformationLoss
from shoal.methods import METHODS
from shoal.methods.auto import Auto
from shoal.partition import Partition
from shoal.table import Roles, Table, arrow_column, type_name
from shoal.version import __version__

Manifest = dict[str, Any]


def manifest_of(
    table: Table,
    model: Microaggregator,
    partition: Partition,
    loss: InformationLoss,
    settings: Manifest,
) -> Manifest:
    """All that is needed to repeat a release and to check it; `output` is filled in when it is written."""
    counts = {"records": len(table), "groups": partition.n_groups}
    return described_release(table.roles, table.others, model, loss, settings, counts, input_of(table))


def described_release(
    roles: Roles,
    others: tuple[str, ...],
    model: Microaggregator,
    loss: InformationLoss,
    settings: Manifest,
    counts: Manifest,
    came_from: Manifest,
) -> Manifest:
    """The manifest of a table that need not be in memory."""
    return {
        "shoal": __version__,
        "k": model.k,
        "method": described(model),
        **settings,
        "roles": {
            "quasi_identifiers": list(roles.quasi_identifiers),
            "confidential": list(roles.confidential),
            "identifiers": list(roles.identifiers),
            "others": list(others),
        },
        **counts,
        "information_loss": loss.percent,
        "input": came_from,
        "output": None,
    }


def described(model: Microaggregator) -> Manifest:
    """A method with its parameters in words and numbers, what it found out, and whether it was interrupted."""
    parameters = {name: plain(value) for name, value in model.get_params(deep=False).items()}
    said: Manifest = {"name": type(model).__name__, "parameters": parameters} | spectrum_of(model)
    if getattr(model, "interrupted_", False):
        said["interrupted"] = True
    if isinstance(model, Auto) and hasattr(model, "chosen_"):
        said |= {"chosen": described(model.chosen_), "reason": model.reason_}
    return said


def spectrum_of(model: Microaggregator) -> Manifest:
    """The variance along the principal axes and how many of these were kept, where a method looked at them."""
    if not hasattr(model, "spectrum_"):
        return {}
    return {"spectrum": plain(model.spectrum_), "axes_kept": len(model.components_)}


def plain(value: Any) -> Any:
    """A parameter as JSON can hold it."""
    if isinstance(value, Microaggregator):
        return described(value)
    return np.asarray(value).tolist() if isinstance(value, np.ndarray | np.generic | list | tuple) else value


def method_described(description: Manifest) -> Microaggregator:
    """The unfitted method of a description; whatever is odd in it raises."""
    kinds = {kind.__name__: kind for kind in METHODS.values()}
    name = description["name"]
    if name not in kinds:
        raise ShoalError(f"the recipe's method {name!r} is not known to Shoal {__version__}")
    parameters = {
        key: method_described(value) if isinstance(value, dict) else value
        for key, value in description["parameters"].items()
    }
    return kinds[name](**parameters)


def input_of(table: Table) -> Manifest:
    """What came in: the file with the hash of its bytes, or the kind of dataframe with one of its values."""
    if table.source is None:
        kind = str(table.frame.implementation).split(".")[-1].lower()
        return {"kind": kind, "sha256": hash_of_values(table)}
    return file_of(table.source.name, table.source.format, table.source.sha256, table.source.dialect)


def file_of(name: str, kind: Format, sha256: str, dialect: Dialect) -> Manifest:
    """A file, with the hash of its bytes."""
    described = {"name": name, "format": kind.name, "sha256": sha256}
    return described | ({"dialect": asdict(dialect)} if kind.is_text else {})


def hash_of_values(table: Table) -> str:
    """A hash of the names, types and values of a dataframe."""
    digest = hashlib.sha256()
    for name in table.frame.columns:
        column = table.frame[name]
        digest.update(repr((name, type_name(column))).encode())
        try:
            batch = pa.record_batch([pa.array(arrow_column(column))], names=["values"])
            digest.update(batch.serialize())
        except (pa.ArrowException, TypeError, ValueError, OverflowError):  # Arrow has no type for it
            digest.update(repr(column.to_list()).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


@dataclass(frozen=True)
class Recipe:
    """A manifest read back, to repeat its release."""

    input_name: str | None
    input_sha256: str
    output_sha256: str | None
    dialect: dict[str, Any]
    arguments: dict[str, Any]  # of `anonymize`
    blocks: int | None = None  # that a table larger than memory was cut into


def load_recipe(path: Path) -> Recipe:
    """Read a manifest."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        recipe = recipe_of(manifest)
    except OSError as error:
        raise ShoalError(f"cannot read the recipe {path}: {error.strerror}") from None
    except ShoalError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ShoalError(f"{path} is not a manifest of Shoal ({type(error).__name__}: {error})") from None
    return recipe


def recipe_of(manifest: Manifest) -> Recipe:
    """What a manifest asks for; whatever is missing or odd in it raises."""
    model = method_described(manifest["method"])
    if manifest["k"] != model.k:
        raise ShoalError(f"the recipe contradicts itself: k is {manifest['k']} and {model.k}")
    dialect: dict[str, Any] = dict(manifest["input"].get("dialect", {}))
    if dialect:
        dialect.setdefault("header", True)  # older manifests do not say so
        dialect.pop("newline", None)
    roles = manifest["roles"]
    settings = {key: manifest[key] for key in ("scaling", "weights", "aggregate", "exact", "random_state")}
    settings["strict"] = manifest.get("strict", False)  # manifests of older versions do not have it
    settings["digits"] = manifest.get("digits", {}).get("asked")
    return Recipe(
        manifest["input"].get("name"),
        manifest["input"]["sha256"],
        (manifest["output"] or {}).get("sha256"),
        dialect,
        {key: roles[key] for key in ("quasi_identifiers", "confidential", "identifiers")}
        | {"method": model}
        | settings,
        manifest.get("blocks"),
    )
