"""How compiled kernels are kept on the disk, so that what is found there is whole, and is what was looked for.

Numba writes an index of types first, then the code under the number that the index gives it. Who is stopped in
between, or whose disk is full then, leaves an index that names code of an older version; two processes that start
at once can take the same number for code of different types, or for different processors. So code says itself
what it is of, and a hash says whether it is whole. The hash is against accidents, not against attacks.
"""

import os
import pickle
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, IndexDataCacheFile

from shoal.machine_code import circumstances, digest_of

_DIGEST = len(digest_of(b""))
_BROKEN = (OSError, ValueError, AttributeError, ImportError)  # the last two where a type is no longer there


class Index(IndexDataCacheFile):
    """What the cache holds of a function, by the types of its arguments.

    One that is broken, or of types that are no longer there, is empty.
    """

    def __init__(self, cache_path: str, filename_base: str, source_stamp: str) -> None:
        super().__init__(cache_path, filename_base, source_stamp)  # type: ignore[no-untyped-call]
        self._version = made_for()

    def save(self, key: Any, data: Any) -> None:
        """Keep the code of these types."""
        super().save(key, (self._source_stamp, key, data))  # type: ignore[no-untyped-call]

    def load(self, key: Any) -> Any:
        """The code of these types; None where there is none, or that of others in its place."""
        try:
            found = super().load(key)  # type: ignore[no-untyped-call]
        except _BROKEN:
            return None
        return found[2] if found is not None and found[:2] == (self._source_stamp, key) else None

    def _load_index(self) -> Any:
        head = pickle.dumps(self._version, protocol=-1)
        try:
            whole = Path(self._index_path).read_bytes()
            if not whole.startswith(head):
                return {}
            stamp, places = pickle.loads(unsealed(whole[len(head) :]))
        except _BROKEN:
            return {}
        return places if stamp == self._source_stamp else {}

    def _load_data(self, name: str) -> Any:
        path = Path(self._data_path(name))  # type: ignore[no-untyped-call]
        return pickle.loads(unsealed(path.read_bytes()))

    def _dump(self, what: Any) -> bytes:
        return sealed(super()._dump(what))  # type: ignore[no-untyped-call]


def sealed(data: bytes) -> bytes:
    """Bytes behind their hash."""
    return digest_of(data).encode() + data


def unsealed(whole: bytes) -> bytes:
    """The bytes behind their hash; an error where they are not those."""
    digest, data = whole[:_DIGEST], whole[_DIGEST:]
    if digest_of(data).encode() != digest:
        raise ValueError("the file is damaged")
    return data


@cache
def made_for() -> str:
    """All that kept code depends on beside its text, its types and the processor."""
    return repr(circumstances())


def only_at_home(locator: Any) -> Any:
    """The way to the user's folder, where it is known which that is.

    Without a home, and with an empty XDG_CACHE_HOME, it would be one in the current folder, and code would run
    that somebody else has put there.
    """

    class AtHome(locator):  # type: ignore[misc]
        """The user's folder."""

        def ensure_cache_path(self) -> None:
            """Raise an error where it cannot be written."""
            if not os.path.isabs(self.get_cache_path()):  # noqa: PTH117 - a text, not a path
                raise FileNotFoundError("no home is known")
            super().ensure_cache_path()

    return AtHome


class Kept(CompileResultCacheImpl):
    """What Numba keeps of a kernel, and where: as a rule beside its source, or in the user's folder."""

    _locator_classes = [  # noqa: RUF012 - as Numba declares it
        only_at_home(each) if each.__name__.endswith("UserWideCacheLocator") else each
        for each in CompileResultCacheImpl._locator_classes
    ]
