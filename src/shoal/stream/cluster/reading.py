"""The first steps of a job: every part of the input looked at, read into numbers, and measured."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attributes import Stored
from shoal.attributes.base import Settle
from shoal.attributes.gaps import is_gap
from shoal.attributes.tallies import Tally
from shoal.files import look as look_at
from shoal.files.objects import brought, check_mark, is_object
from shoal.progress import quietly
from shoal.stream.cluster.folder import whole
from shoal.stream.cluster.job import Job
from shoal.stream.scan import Scan, scan_apart
from shoal.stream.spill import SpillWriter, names_of, spilled

Hashes = NDArray[np.uint64]
Int = NDArray[np.int64]

_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_STEP = np.uint64(0x9E3779B97F4A7C15)


def look(job: Job, number: int) -> dict[str, Any]:
    """Find out how a part is written, and pin its size and the hash of its bytes."""
    place = job.plan.files[number]
    mark, path = None, Path(place)
    if is_object(place):
        path = job.folder.file("objects", number, ending=f"-{place.rsplit('/', 1)[-1]}")
        with whole(path) as part:
            mark = brought(place, part)
    reader = look_at(path, job.plan.said, quietly)
    job.roles.check(reader.columns)
    return {"reader": reader.as_dict(), "bytes": reader.file.size, "mark": mark}


def scan(job: Job, number: int) -> dict[str, Any]:
    """Read a part's quasi-identifiers and write what is kept of them."""
    with job.part(number).opened() as reader, whole(raw_of(job, number)) as raw:
        found = scan_apart(reader, job.roles, job.settings.wishes(), job.format, raw, quietly)
        if not found.records:
            SpillWriter(raw, [np.dtype(np.int64)] * (len(found.gatherings) + 1)).__exit__()
    job.folder.keep(f"scan-{number:06d}", found)
    return {"records": found.records}


def raw_of(job: Job, number: int) -> Path:
    """What is kept of a part."""
    return job.folder.file("raw", number, ending=".parquet")


def check_object(job: Job, number: int) -> None:
    """A part that was brought from object storage must be there as it was."""
    said = job.folder.marked("look", number)
    if said is not None and said["mark"] is not None:
        check_mark(job.plan.files[number], said["mark"])


def scanned(job: Job, number: int) -> Scan:
    """What was found in a part."""
    found: Scan = job.folder.kept(f"scan-{number:06d}")
    return found


def settled(job: Job, number: int, m: int) -> Iterator[list[Stored]]:
    """The rows of a part in the whole table, and its numbers as every column has them in all."""
    start = done = job.counts.starts[number]
    settles = settles_of(job, number)
    for rows, *stored in spilled(raw_of(job, number), names_of(m)):
        values = [settle(part, done) for settle, part in zip(settles, stored, strict=True)]
        done += len(rows)
        yield [rows + start, *values]


def settles_of(job: Job, number: int) -> list[Settle]:
    """How a part's numbers are written as every column has them in all."""
    numbers = job.numbers(number)
    if numbers is None:
        return list(job.counts.settles)
    pairs = zip(job.counts.settles, numbers, strict=True)
    return [settle if own is None else partial(renumbered, numbers=own) for settle, own in pairs]


def renumbered(stored: Stored, _: int = 0, *, numbers: Int) -> Stored:
    """The new number of each old one; the last is that of a gap."""
    return np.asarray(numbers[np.where(is_gap(stored), -1, stored)])


def measure(job: Job, number: int) -> dict[str, Any]:
    """Sum a part's numbers exactly, and draw its share of the sample by which cells are cut."""
    columns = job.columns("read")
    tallies: list[Tally | None] = [None] * len(columns)
    sample: list[list[Stored]] = []
    for rows, *values in settled(job, number, len(columns)):
        for place, (column, stored) in enumerate(zip(columns, values, strict=True)):
            tallies[place] = added(tallies[place], column.tally(stored))
            columns[place] = column.seen(stored)
        chosen = hashes_of_rows(rows) < np.uint64(min(job.counts.sampled, 1.0) * (2**64 - 2**11))
        chosen |= job.counts.sampled >= 1
        sample.append([part[chosen] for part in (rows, *values)])
    with whole(job.folder.file("sample", number, ending=".parquet")) as path:
        kinds = [np.dtype(np.int64), *(column.dtype for column in columns)]
        with SpillWriter(path, kinds) as writer:
            for part in sample:
                writer.write(part)
    return {"tallies": [tally and tally.as_dict() for tally in tallies]}


def added(tally: Tally | None, more: Tally | None) -> Tally | None:
    """Both together."""
    return more if tally is None or more is None else tally + more


def column_of(job: Job, place: int) -> Iterator[Stored]:
    """One column of all parts, for what cannot be summed."""
    starts = job.counts.starts
    for number in range(len(job.plan.files)):
        done, settle = starts[number], settles_of(job, number)[place]
        for (stored,) in spilled(raw_of(job, number), [names_of(place + 1)[-1]]):
            yield settle(stored, done)
            done += len(stored)


def chunks_of(job: Job, place: int) -> Any:
    """The same, to be read again and again."""
    return partial(column_of, job, place)


def hashes_of_rows(rows: Int) -> Hashes:
    """A number for each row of the table, in no order: it tells who is in the sample, and breaks ties."""
    mixed = rows.astype(np.uint64) * _STEP
    for shift, factor in zip((30, 27), _MIX, strict=True):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * factor
    return mixed ^ (mixed >> np.uint64(31))
