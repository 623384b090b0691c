"""The manifest beside a release: where it stands, and how it says that the release was written."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.files.dialect import Dialect
from shoal.files.file import hash_of


def manifest_path(target: Path) -> Path:
    """Where the manifest of a release stands."""
    return target.with_name(f"{target.name}.manifest.json")


def manifest_about(path: Path) -> dict[str, Any]:
    """The manifest beside a file, if it is about these very bytes; else an empty one."""
    try:
        manifest: dict[str, Any] = json.loads(manifest_path(path).read_text(encoding="utf-8"))
        return manifest if hash_of(path) == manifest["output"]["sha256"] else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def written_dialect(manifest: dict[str, Any]) -> dict[str, Any]:
    """How Shoal wrote a CSV file; nothing for another format, or without a manifest."""
    try:
        return Dialect(**manifest["output"]["dialect"]).said()
    except (ValueError, KeyError, TypeError):
        return {}


def written_gap_values(manifest: dict[str, Any], names: Sequence[str]) -> dict[str, Sequence[str] | None]:
    """What stands for a gap in columns of a release; None for a column of which its manifest says nothing."""
    said = manifest.get("gap_values")
    values = said if isinstance(said, dict) else {"": said}  # one list for all columns
    return {name: values.get(name, values.get("")) for name in names}
