"""Secrets: the ring of keys that homes are sealed with, and credentials, of which only hashes are kept.

Homes are sealed with AES-GCM under a key of 256 random bits and a fresh nonce, bound to the row that they belong
to, so that no sealed home can be put into another row. A ring holds the present key and older ones, until all rows
have been sealed anew. The key of the hashes of places is one for all time: hashes under two keys would count a
place twice.
"""

import base64
import hashlib
import hmac
import json
import os
import secrets
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from shoal.errors import ShoalError, warn
from shoal.files.atomic import check_target

VARIABLE = "SHOAL_LOCATIONS_KEYS"
"""The environment variable that holds a ring in place of a file."""

DEVICE, OPERATOR, INVITATION = "shd_", "sho_", "shi_"
_SECRET = 32  # bytes
_NONCE = 12
_PLACE = 16
_FORM = 1  # of the JSON


@dataclass(frozen=True, repr=False)
class KeyRing:
    """The keys of one service. It shows no key, whoever prints it."""

    present: int
    keys: dict[int, bytes]
    place_key: bytes

    def __repr__(self) -> str:
        return f"KeyRing({len(self.keys)} keys, number {self.present} is present)"

    @classmethod
    def fresh(cls) -> "KeyRing":
        """A ring of one random key."""
        return cls(1, {1: secrets.token_bytes(_SECRET)}, secrets.token_bytes(_SECRET))

    @classmethod
    def create(cls, path: Path) -> "KeyRing":
        """A fresh ring in a new file that only its owner may read."""
        ring = cls.fresh()
        ring.save(path)
        return ring

    @classmethod
    def load(cls, path: Path) -> "KeyRing":
        """The ring of a file."""
        try:
            text = path.read_text(encoding="utf-8")
            open_to_others = stat.S_IMODE(path.stat().st_mode) & 0o077
        except (OSError, UnicodeDecodeError) as error:
            raise ShoalError(
                f"cannot read the keys in {path}: {getattr(error, 'strerror', None) or 'it is no text'}; "
                "name the file with --keys"
            ) from error
        if open_to_others and os.name == "posix":
            warn(f"other users of this machine may read the keys in {path}; chmod 600 {path.name} prevents it")
        return cls.from_text(text, str(path))

    @classmethod
    def from_environment(cls) -> "KeyRing | None":
        """The ring in the environment, or None where there is none."""
        text = os.environ.get(VARIABLE)
        return None if text is None else cls.from_text(text, f"the variable {VARIABLE}")

    @classmethod
    def from_text(cls, text: str, where: str) -> "KeyRing":
        """The ring that `to_text` wrote. An error repeats nothing of the text."""
        try:
            held: Any = json.loads(text)
            keys = {int(number): _decoded(key) for number, key in held["keys"].items()}
            ring = cls(int(held["present"]), keys, _decoded(held["place_key"]))
            whole = held["ring"] == _FORM and ring.present in keys
        except (ValueError, TypeError, KeyError, AttributeError):
            whole = False
        if not whole:
            raise ShoalError(f"{where} holds no ring of keys; make one with: shoal locations keys FILE")
        return ring

    def to_text(self) -> str:
        """The ring as JSON, with all its secrets."""
        keys = {str(number): _encoded(key) for number, key in self.keys.items()}
        ring = {"ring": _FORM, "present": self.present, "keys": keys, "place_key": _encoded(self.place_key)}
        return json.dumps(ring, indent=1)

    def save(self, path: Path, overwrite: bool = False) -> None:
        """Write the ring to a file that only its owner may read, whole or not at all."""
        check_target(path, overwrite)
        number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # for its owner alone
        with os.fdopen(number, "w", encoding="utf-8") as temporary:
            temporary.write(self.to_text() + "\n")
            temporary.flush()
            os.fsync(number)
        Path(name).replace(path)

    def rotated(self) -> "KeyRing":
        """The same ring with a new present key; older rows can still be opened."""
        number = max(self.keys) + 1
        return KeyRing(number, {**self.keys, number: secrets.token_bytes(_SECRET)}, self.place_key)

    def without_old(self) -> "KeyRing":
        """The ring with its present key alone, once every row is sealed with it."""
        return KeyRing(self.present, {self.present: self.keys[self.present]}, self.place_key)

    def seal(self, content: bytes, owner: str) -> bytes:
        """The content sealed for the row of that owner, with the present key."""
        nonce = secrets.token_bytes(_NONCE)
        return nonce + AESGCM(self.keys[self.present]).encrypt(nonce, content, owner.encode())

    def open(self, sealed: bytes, key: int, owner: str) -> bytes:
        """What was sealed for that row."""
        if key not in self.keys:
            raise ShoalError(f"homes are sealed with key {key}, which the ring does not have; use the newer ring")
        try:
            return AESGCM(self.keys[key]).decrypt(sealed[:_NONCE], sealed[_NONCE:], owner.encode())
        except InvalidTag as error:
            raise ShoalError(
                "a sealed home cannot be opened: the keys belong to another database, or it was changed"
            ) from error

    def place(self, latitude: float, longitude: float, digits: int) -> bytes:
        """A keyed hash of the place, the same for all homes that agree in so many decimals of a degree."""
        longitude = 0.0 if abs(latitude) == 90 else longitude  # a pole is one place
        parts = [f"{round(part, digits) + 0.0:.{digits}f}" for part in (latitude, longitude)]
        if float(parts[1]) == -180:
            parts[1] = f"{180:.{digits}f}"
        return hmac.digest(self.place_key, ",".join(parts).encode(), "sha256")[:_PLACE]


def new_secret(kind: str) -> str:
    """A credential of 256 random bits; what it is for stands in front."""
    return kind + _encoded(secrets.token_bytes(_SECRET)).rstrip("=")


def digest_of(secret: str, kind: str) -> bytes:
    """The hash under which a credential is kept. What cannot be one has a hash that nobody has.

    Every text takes the same way, so that neither its form nor its length can be found out from the time it takes.
    """
    scoped = kind + ":" + secret
    return hashlib.sha256(scoped.encode("utf-8", "surrogatepass")).digest()


def same(first: bytes, second: bytes) -> bool:
    """Whether two hashes are one, in a time that does not depend on where they differ."""
    return hmac.compare_digest(first, second)


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode()


def _decoded(text: str) -> bytes:
    content = base64.urlsafe_b64decode(text.encode())
    if len(content) != _SECRET:
        raise ValueError("a key has 32 bytes")
    return content
