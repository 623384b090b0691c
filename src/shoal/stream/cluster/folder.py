"""The private folder of a job, which all workers see: files under fixed names, there whole or not at all."""

import json
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

from shoal.files.atomic import flush_to_disk
from shoal.files.sealing import content_of, put

PATIENCE = 60
"""Seconds to wait for a file that another machine has written."""


@dataclass(frozen=True)
class Folder:
    """Where a job's files stand: of original values, so it is for its owner only."""

    path: Path

    def file(self, step: str, *numbers: int, ending: str = "") -> Path:
        """What a task of a step has made; its folder is there."""
        name = "-".join(f"{number:06d}" for number in numbers) + ending
        path = self.path / step / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path

    def marked(self, step: str, *numbers: int) -> dict[str, Any] | None:
        """What is known of a task that was done."""
        try:
            found: dict[str, Any] = json.loads(content_of(self.file("done", *numbers, ending=f"-{step}.json")))
        except FileNotFoundError:
            return None
        return found

    def mark(self, step: str, *numbers: int, said: dict[str, Any]) -> None:
        """Say that a task was done: the last thing that it does."""
        with whole(self.file("done", *numbers, ending=f"-{step}.json")) as path:
            put(path, json.dumps(said).encode())

    def awaited(self, step: str, *numbers: int) -> dict[str, Any] | None:
        """The same of a task that was done by another machine: its disk may show what is there late."""
        until = monotonic() + PATIENCE
        while (said := self.marked(step, *numbers)) is None and monotonic() < until:
            sleep(0.1)
            list(self.file("done").parent.iterdir())  # a system that remembers what is not there looks again
        return said

    def keep(self, name: str, what: Any) -> None:
        """Keep an object for the workers."""
        with whole(self.path / name) as path:
            put(path, pickle.dumps(what))

    def kept(self, name: str) -> Any:
        """What was kept under a name."""
        return pickle.loads(content_of(self.path / name))


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Another name, which a file has until it is whole and on the disk: a task may run twice, even at once."""
    part = path.with_name(f".{uuid4().hex}.part")
    try:
        yield part
        flush_to_disk(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def all_whole(named: Callable[[int], Path]) -> Iterator[Callable[[int], Path]]:
    """The same for several files, by number; those that are written get their names at the end."""
    mark, made = uuid4().hex, dict[int, Path]()

    def part(number: int) -> Path:
        path = named(number)
        made[number] = path.with_name(f".{path.name}.{mark}.part")
        return made[number]

    try:
        yield part
        for path in made.values():
            flush_to_disk(path)
        for number, path in made.items():
            path.replace(named(number))
    finally:
        for path in made.values():
            path.unlink(missing_ok=True)


def private(path: Path) -> Path:
    """A folder of this process alone, for what it needs while it works."""
    folder = path / f"own-{os.getpid()}-{uuid4().hex}"
    folder.mkdir(mode=0o700)
    return folder
