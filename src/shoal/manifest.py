"""The manifest beside a release: what was done, with which settings, to which bytes, and what came of it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.files import Dialect, Format, format_of
from shoal.measures import Figure, by_name
from shoal.privacy import Anonymity
from shoal.pseudonyms import fingerprint
from shoal.settings import Settings
from shoal.table import Table, arrow_column, type_name
from shoal.version import __version__

Manifest = dict[str, Any]


def manifest_of(
    settings: Settings,
    others: Sequence[str],
    digits: dict[str, int | str | None],
    figures: Sequence[Figure],
    came_from: Manifest,
    kinds: Mapping[str, Any],
    pseudonym_key: bytes | None = None,
) -> Manifest:
    """All that is needed to repeat a release and to check it; `output` is filled in when it is written.

    `others` are the columns without a role, `digits` those that values leave with, `kinds` what each
    quasi-identifier was taken for. Of the key of pseudonyms, it holds a fingerprint.
    """
    asked = settings.as_dict()
    asked["digits"]["used"] = digits
    asked["roles"]["others"] = list(others)
    facts: Manifest = {"attributes": dict(kinds), "figures": by_name(figures), "input": came_from, "output": None}
    if pseudonym_key is not None:
        facts["key_fingerprint"] = fingerprint(pseudonym_key)
    return {"shoal": __version__, **asked, **facts}


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


def output_of(target: Path, sha256: str, counted: Anonymity, dialect: Dialect | None) -> Manifest:
    """The file that was written, and what was counted on its bytes."""
    return {
        "name": target.name,
        "format": format_of(target).name,
        "sha256": sha256,
        "records": counted.n_records,
        "verified_k": counted.k,
    } | ({"dialect": asdict(dialect)} if dialect else {})
