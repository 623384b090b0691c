"""The manifest beside a release: where it stands, and how it says that the release was written."""

import json
from pathlib import Path
from typing import Any

from shoal.files.dialect import Dialect
from shoal.files.file import hash_of


def manifest_path(target: Path) -> Path:
    """Where the manifest of a release stands."""
    return target.with_name(f"{target.name}.manifest.json")


def written_dialect(path: Path) -> dict[str, Any]:
    """How Shoal wrote a CSV file, if the manifest beside it is about these very bytes; else nothing."""
    try:
        output = json.loads(manifest_path(path).read_text(encoding="utf-8"))["output"]
        return Dialect(**output["dialect"]).said() if hash_of(path) == output["sha256"] else {}
    except (OSError, ValueError, KeyError, TypeError):  # no manifest, or none of a CSV file
        return {}
