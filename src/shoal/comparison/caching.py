"""Rows that were made before, a file each in a folder of the user's: a comparison resumes where it stopped.

A file holds the figures of a row and nothing of the table. Its name is a hash of the input, of the settings as a
recipe has them, and of the version of Shoal: whatever changes one of these is another row.
"""

import hashlib
import json
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.comparison.grid import Setting
from shoal.comparison.rows import Row
from shoal.errors import ShoalError, warn
from shoal.files.atomic import atomically
from shoal.manifest import input_of
from shoal.table import Table
from shoal.version import __version__

_FORM = 1  # of the files; another number makes every row anew
_KEPT = ("ok", "refused", "unfinished")
"""What is kept: what failed may be mended by the next run."""


@dataclass(frozen=True)
class Cache:
    """A folder of rows, for one table."""

    folder: Path
    table: str

    @classmethod
    def of(cls, folder: str | os.PathLike[str], table: Table) -> "Cache":
        """The rows of a table in a folder, which is made where there is none; nobody else may look into it."""
        place = Path(folder)
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ShoalError(
                f"cannot make the folder {place} for the cache: {error.strerror}; name another one (--cache), or "
                "do without (--no-cache)"
            ) from None
        return cls(place, table_key(table))

    def path(self, setting: Setting) -> Path | None:
        """Where the row of a setting is kept; nowhere if it holds a function of the user's, which has no hash."""
        try:
            return self.folder / f"{hash_of([self.table, setting.settings.as_dict()])}.json"
        except TypeError:
            return None

    def row(self, setting: Setting, seconds: float | None) -> Row | None:
        """The row of a setting, if it is there and a limit of so many seconds would not give another one.

        One that was unfinished is tried again with more time. A file that is broken is none.
        """
        path = self.path(setting)
        if path is None:
            return None
        try:
            row = Row.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        if row.status == "unfinished" and (seconds is None or row.limit is None or seconds > row.limit):
            return None
        return replace(row, method=setting.method, k=setting.k, cached=True)

    def keep(self, setting: Setting, row: Row) -> None:
        """Keep a row, whole or not at all; a disk that is full is no reason to end."""
        path = self.path(setting)
        if path is None or row.status not in _KEPT:
            return
        try:
            with atomically(path, overwrite=True) as temporary:
                temporary.write_text(json.dumps(row.as_dict()) + "\n", encoding="utf-8")
        except ShoalError as error:
            warn(f"the figures of {setting} are not kept: {error}")


def table_key(table: Table) -> str:
    """A hash of what came in, and of how it was read; the name of a file makes no difference."""
    return hash_of([_FORM, __version__, {key: value for key, value in input_of(table).items() if key != "name"}])


def hash_of(described: Any) -> str:
    """A hash of what JSON can hold."""
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def usual_folder() -> Path:
    """The folder of the user's for what programs keep, by the custom of the system."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "shoal" / "comparisons"
    given = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME", "")
    base = Path(given) if Path(given).is_absolute() else Path.home() / ".cache"
    return base / "shoal" / "comparisons"
