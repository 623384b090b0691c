"""Files in object storage, such as S3: pinned, brought here, and put there whole or not at all."""

import hashlib
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from shoal.errors import ShoalError

_PIECE = 1 << 22  # bytes that are copied at a time


def is_object(place: str) -> bool:
    """Whether this is the address of an object: it has a protocol, as in `s3://bucket/people.parquet`."""
    return "://" in place


def store_of(place: str) -> tuple[Any, str]:
    """The storage that an address names, and the name there."""
    try:
        core: Any = import_module("fsspec.core")
    except ImportError:
        raise ShoalError(f"{place} needs fsspec: pip install 'shoal[objects]'") from None
    try:
        found: tuple[Any, str] = core.url_to_fs(place)
    except (ImportError, ValueError) as error:
        raise ShoalError(f"{place} cannot be reached: {str(error).splitlines()[0]}") from None
    return found


def objects_in(place: str) -> list[str]:
    """The objects that a pattern or the name of a folder stands for, in the order of their names."""
    store, name = store_of(place)
    found = store.glob(name) if any(sign in name for sign in "*?[") else store.find(name)
    protocol = place.split("://", 1)[0]
    names = sorted(f"{protocol}://{each.lstrip('/')}" for each in found if not store.isdir(each))
    if not names:
        raise ShoalError(f"there are no objects {place}")
    return names


def mark_of(place: str) -> str:
    """What changes when the object does: its ETag and size, or what the storage has in their place."""
    store, name = store_of(place)
    try:
        store.invalidate_cache()
        said: Mapping[str, Any] = store.info(name)
    except FileNotFoundError:
        raise ShoalError(f"there is no object {place}") from None
    tag = said.get("ETag") or said.get("etag") or store.ukey(name)
    return f"{tag} {said.get('size')}"


def brought(place: str, path: Path) -> str:
    """Copy an object to a file; returns its mark, which must be the same before and after."""
    before = mark_of(place)
    store, name = store_of(place)
    with store.open(name, "rb") as source, path.open("wb") as file:
        while piece := source.read(_PIECE):
            file.write(piece)
    check_mark(place, before)
    return before


def check_mark(place: str, mark: str) -> None:
    """An object that changes while it is read has no release."""
    if mark_of(place) != mark:
        raise ShoalError(f"{place} has changed since the work began; start again when it is at rest")


def exists(place: str) -> bool:
    """Whether there is an object of this name, or one below it."""
    store, name = store_of(place)
    store.invalidate_cache()
    return bool(store.exists(name) or store.find(name))


def put_all(files: Sequence[tuple[Path, str]], overwrite: bool) -> None:
    """Put files there, in their order, and read them back; where that fails, none of them stays."""
    done: list[str] = []
    try:
        for path, place in files:
            store, name = store_of(place)
            done.append(place)
            store.put_file(str(path), name)
            if hash_at(place) != hashlib.sha256(path.read_bytes()).hexdigest():
                raise ShoalError(f"{place} does not hold what was put there")
    except BaseException:
        for place in [] if overwrite else done:
            remove(place)
        raise


def hash_at(place: str) -> str:
    """The hash of an object's bytes."""
    store, name = store_of(place)
    digest = hashlib.sha256()
    with store.open(name, "rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def remove(place: str) -> None:
    """Remove an object, or all below a name, if there are some."""
    store, name = store_of(place)
    store.invalidate_cache()
    if store.exists(name):
        store.rm(name, recursive=True)
