"""Pseudonyms: keyed hashes of identifiers; rows of one person stay linked, and nobody can guess whose they are.

A pseudonym is the BLAKE2b hash of an identifier's text, keyed with 32 bytes from a file of the owner's, in 24
hexadecimal digits. Without the key nobody can try out identifiers. With the same key, the same person has the same
pseudonym in the next release.
"""

import os
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attributes import CommonValues
from shoal.errors import ShoalError, warn
from shoal.files.atomic import is_one

Float = NDArray[np.float64]

DIGITS = 24


@dataclass(frozen=True, eq=False)
class Pseudonyms(CommonValues):
    """A pseudonym for each person."""

    texts: list[str]

    @classmethod
    def made_of(cls, identifiers: Sequence[str], key: bytes) -> "Pseudonyms":
        """The pseudonyms of identifiers."""
        made = [blake2b(each.encode(), key=key, digest_size=DIGITS // 2).hexdigest() for each in identifiers]
        return cls(made)

    @property
    def raw(self) -> Float:  # type: ignore[override]
        """Their numbers."""
        return np.arange(len(self.texts), dtype=np.float64)

    def keeps_type(self, asked: bool) -> bool:
        """They are text, whatever the identifiers were."""
        return False

    def native(self) -> Sequence[Any]:
        """Text."""
        return self.texts

    def text(self, decimal_sign: str = ".") -> list[str]:
        """Text."""
        return self.texts


def check_key_place(key: str | None, written: Iterable[Path] = (), source: Path | None = None) -> None:
    """The key has a file of its own, which is neither the input nor anything that is written."""
    if key is None:
        return
    place = Path(key)
    if place.is_symlink() and not place.exists():
        raise ShoalError(
            f"cannot use {key} for the key of pseudonyms: it is a link to a file that does not exist; correct the "
            "link, or name another file"
        )
    for path in written:
        if is_same(path, place):
            raise ShoalError(f"{path} is the key of pseudonyms; choose another name for what is written")
    if source is not None and is_same(source, place):
        raise ShoalError(
            f"{key} is the input, and is to hold the key of pseudonyms; name another file for the key"
        )


def is_same(path: Path, other: Path) -> bool:
    """Whether two names are those of one file, or would be."""
    return path.resolve() == other.resolve() or is_one(path, other)


def fingerprint(key: bytes) -> str:
    """What tells keys apart in a manifest, and nothing about the pseudonyms: 16 hexadecimal digits."""
    return blake2b(key, digest_size=8, person=b"shoal key").hexdigest()


def key_in(path: str, may_be_new: bool = True) -> bytes:
    """The key in a file: 64 hexadecimal digits; one is drawn and written where there is no such file, and said."""
    place = Path(path)
    try:
        if may_be_new and not place.exists():
            drawn = secrets.token_hex(32)
            with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(drawn + "\n")
            warn(
                f"a new key was made in {path}, so these pseudonyms are not those of another release; "
                "keep the file, and keep it secret"
            )
        text = place.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is not text"
        raise ShoalError(f"cannot use {path} for the key of pseudonyms: {said}") from None
    if not re.fullmatch("[0-9a-fA-F]{64}", text):
        raise ShoalError(
            f"{path} is not the key of pseudonyms: it must hold 64 hexadecimal digits and nothing else; "
            "name another file, or one that does not exist, and a key is made there"
        )
    return bytes.fromhex(text)
