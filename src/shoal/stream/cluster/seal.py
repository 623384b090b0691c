"""The key of a job whose private folder is encrypted: drawn for one run, or given to the client and all workers.

The folder says in plain which key it wants, and nothing else. The key itself is in the environment of the
processes that work on the job. It never passes through a scheduler.
"""

import hmac
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from shoal.errors import ShoalError
from shoal.files.sealing import SealError, ready, under
from shoal.stream.work import Work, folder_for, write_whole

KEY = "SHOAL_CELLS_KEY"
"""The variable in which a key is given: 64 hexadecimal digits."""

_RESUMES = "it resumes here"
_ANEW = f"it begins anew, because the key of its encrypted folder was drawn for one run (give one in {KEY})"


@dataclass(frozen=True)
class Seal:
    """What a folder says of its key."""

    mark: str  # that no other job has; every job has a key of its own, whatever was given
    is_drawn: bool
    check: str  # by which the key is known

    def write(self, folder: Path) -> None:
        """Say it, in plain."""
        with under(None):
            write_whole(seal_in(folder), asdict(self))

    def key(self) -> bytes:
        """The key from the environment; an error where it is missing or another one."""
        name = self.variable if self.variable in os.environ else KEY
        if name not in os.environ:
            raise SealError(f"the private folder is encrypted; give its key in {KEY}")
        key = key_from(os.environ[name], self.mark)
        if not hmac.compare_digest(check_of(key), self.check):
            raise SealError(f"the private folder was encrypted with another key than that in {KEY}")
        return key

    @property
    def variable(self) -> str:
        """Where a drawn key is."""
        return f"{KEY}_{self.mark}"


def seal_in(folder: Path) -> Path:
    """The file that says which key a folder wants."""
    return folder / "seal.json"


def seal_of(folder: Path) -> Seal | None:
    """What a folder says of its key; None where it is plain."""
    try:
        return Seal(**json.loads(seal_in(folder).read_bytes()))
    except FileNotFoundError:
        return None


def key_of(folder: Path) -> bytes | None:
    """The key of a job's folder, for whoever works on it; None where it is plain."""
    seal = seal_of(folder)
    return None if seal is None else seal.key()


def key_from(text: str, mark: str) -> bytes:
    """The key of one job."""
    try:
        secret = bytes.fromhex(text)
    except ValueError:
        secret = b""
    if len(secret) != 32:
        raise SealError(f"{KEY} is to be 64 hexadecimal digits, such as openssl rand -hex 32 gives")
    return hmac.digest(secret, mark.encode(), "sha256")


def check_of(key: bytes) -> str:
    """What is known of a key by whoever does not have it."""
    return hmac.digest(key, b"this key", "sha256").hex()


@contextmanager
def sealed(target: Path, wanted: bool, overwrite: bool) -> Iterator[Seal | None]:
    """What a job reads and writes in its folder is encrypted in here, if that is wanted.

    Nobody can resume work whose key was drawn by an earlier run: it is discarded. So is work with such a key that
    ends early in here.
    """
    if wanted:
        ready()
    seal = earlier(target, wanted, overwrite)
    if seal is None and not wanted:
        yield None
        return
    drawn = None if KEY in os.environ else secrets.token_hex(32)
    if seal is None:
        mark = secrets.token_hex(8)
        seal = Seal(mark, drawn is not None, check_of(key_from(drawn or os.environ[KEY], mark)))
    if drawn is not None:
        os.environ[seal.variable] = drawn
    try:
        with under(seal.key()):
            yield seal
    except BaseException as error:
        if drawn is None:
            raise
        discard(target)
        if isinstance(error, ShoalError) and _RESUMES in str(error):
            raise ShoalError(str(error).replace(_RESUMES, _ANEW)) from None
        raise
    finally:
        os.environ.pop(seal.variable, None)


def earlier(target: Path, wanted: bool, overwrite: bool) -> Seal | None:
    """The seal of work that can be resumed; other work is an error, or discarded."""
    folder = folder_for(target)
    seal = seal_of(folder)
    if seal is None and not (wanted and (folder / "state.json").exists()):
        return None
    if seal is not None and wanted and not seal.is_drawn:
        try:
            seal.key()
        except SealError as error:
            if not overwrite:
                raise ShoalError(f"{error}; or discard the work by asking to overwrite (--overwrite)") from None
        else:
            return seal
    elif not overwrite and not (seal and seal.is_drawn):
        how = (
            "is not encrypted; leave that out" if seal is None else "is encrypted; ask for that (--encrypt-cells)"
        )
        raise ShoalError(
            f"unfinished work for {target.name} {how}, or discard it by asking to overwrite (--overwrite)"
        )
    discard(target)
    return None


def discard(target: Path) -> None:
    """Throw away work, unless somebody is at it."""
    work = Work(target)
    with work.locked():
        work.clear()
