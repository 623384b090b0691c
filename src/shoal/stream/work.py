"""The folder beside the output in which unfinished work waits to be resumed."""

import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from shoal.attributes import Kept, kept_from
from shoal.errors import ShoalError
from shoal.files import Reader
from shoal.files.atomic import flush_to_disk, is_one, lock
from shoal.files.sealing import content_of, put
from shoal.files.sidecar import manifest_path
from shoal.report import Edition
from shoal.stream.groups import Done, Lost

VERSION = 6
STAGES = ("begun", "scanned", "cut", "moving")


def folder_for(target: Path) -> Path:
    """Where the work for an output stands."""
    return target.parent / f".{target.name}.shoal"


class Work:
    """The state of the work for one output: kept on the disk after every step that took time."""

    def __init__(self, target: Path, pages: Mapping[Edition, Path] | None = None) -> None:
        self.folder = folder_for(target)
        self.pages = {page: self.path(f"{edition}.html") for edition, page in (pages or {}).items()}
        made = {manifest_path(target): self.path("manifest"), target: self.path(f"finished-{target.name}")}
        self.names = self.pages | made
        self.state: dict[str, Any] = self._load()

    @property
    def stage(self) -> str | None:
        """How far the work is, or None where there is none."""
        return self.state.get("stage")

    def reached(self, stage: str) -> bool:
        """Whether the work has come so far."""
        return self.stage is not None and STAGES.index(self.stage) >= STAGES.index(stage)

    def save(self, **news: Any) -> None:
        """Remember what was done, whole or not at all."""
        self.state |= news
        write_whole(self.folder / "state.json", self.state)

    def begin(self, settings: dict[str, Any], seed: int | None, key: str | None, source: Reader) -> None:
        """Make the folder; it holds original values and the key of the order, so it is for its owner only."""
        self.clear()
        self.save(version=VERSION, stage="begun", settings=settings, seed=seed, key=key, input=source.as_dict())

    def clear(self) -> None:
        """Throw away what was done, but not the folder, which is locked."""
        self.state = {}
        for path in self.folder.iterdir():
            if path.name != "lock":
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def remove(self) -> None:
        """Nothing is left to be done. The state goes first: killed meanwhile, the rest is nobody's work."""
        self.state = {}
        with suppress(OSError):
            self.path("state.json").unlink()
        shutil.rmtree(self.folder, ignore_errors=True)

    def has_named(self, path: Path) -> bool:
        """Whether the file at this place is the work's own: its run was killed when it had given the name."""
        return path in self.names and is_one(self.names[path], path)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else works on this output meanwhile."""
        with self._lock():
            try:
                self.state = self._load()
                yield
            finally:
                if not self.path("state.json").exists():
                    self.remove()

    def _lock(self) -> IO[str]:
        """The folder's lock file, locked; made anew where another run has just removed it with its folder."""
        path = self.path("lock")
        while True:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            with suppress(FileNotFoundError):
                check_own(self.folder)
                file = path.open("w")
                try:
                    if lock(file.fileno()) is False:
                        raise ShoalError(
                            f"another run is at work on this output (in {self.folder.name}); "
                            "wait for it or choose another name"
                        )
                    if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                        return file
                except BaseException:
                    file.close()
                    raise
                file.close()

    def sweep(self, overwrite: bool) -> None:
        """Remove a folder without a state that nobody works in: its run was killed at the start or at the end.

        A state that cannot be read, or is of another version, may be somebody's hours: it stays until it may be
        overwritten.
        """
        if self.state or not self.folder.is_dir():
            return
        if not self.path("state.json").exists():
            with suppress(ShoalError, OSError), self.locked():
                pass
        elif overwrite:
            with self.locked():
                self.clear()
        else:
            raise ShoalError(
                f"{self.folder} holds unfinished work that this version cannot resume; finish it with the "
                "version that began it, or discard it by asking to overwrite (--overwrite)"
            )

    def columns(self) -> list[Kept]:
        """The quasi-identifiers, once they were read."""
        return [kept_from(column) for column in self.state["columns"]]

    def path(self, name: str) -> Path:
        """A file of the work."""
        return self.folder / name

    def done(self, block: int) -> Done | None:
        """What is known of a block, if it was grouped."""
        found = read_whole(self.path(f"done-{block}.json"))
        return None if found is None else Done(**found)

    def lost(self, block: int) -> Lost | None:
        """What a block has lost, if its numbers were released."""
        found = read_whole(self.path(f"lost-{block}.json"))
        return None if found is None else Lost(**found)

    def finish(self, block: int, found: Done | Lost, made: Path) -> None:
        """A block was grouped or its numbers were released, and what was made is on the disk."""
        flush_to_disk(made)
        write_whole(self.path(f"{type(found).__name__.lower()}-{block}.json"), asdict(found))

    def _load(self) -> dict[str, Any]:
        try:
            state: dict[str, Any] = json.loads(content_of(self.folder / "state.json"))
        except (OSError, ValueError):
            return {}
        return state if isinstance(state, dict) and state.get("version") == VERSION else {}


def check_own(folder: Path) -> None:
    """A folder for original values is made by Shoal: not a link, nobody else's, and closed to others."""
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise ShoalError(f"{folder} is a link; remove it: original values will stand there while Shoal works")
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        raise ShoalError(f"{folder} belongs to somebody else; choose another name, or have it removed")
    if found.st_mode & 0o077:
        folder.chmod(0o700)


def write_whole(path: Path, content: Any) -> None:
    """Write JSON under another name, then give it its own."""
    part = path.with_suffix(".part")
    put(part, json.dumps(content).encode())
    flush_to_disk(part)
    part.replace(path)


def read_whole(path: Path) -> Any:
    """What was written so, or None."""
    try:
        return json.loads(content_of(path))
    except FileNotFoundError:
        return None


def unfinished(output: str | os.PathLike[str]) -> str | None:
    """What to tell somebody whose command will resume earlier work."""
    work = Work(Path(output))
    if work.stage is None or not work.reached("scanned"):
        return None
    blocks = work.state.get("blocks", 0)
    done = sum(work.done(block) is not None for block in range(blocks))
    return f"resuming the unfinished work in {work.folder}: {done} of {blocks} blocks are grouped"
