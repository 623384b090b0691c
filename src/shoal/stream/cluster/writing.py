"""The last steps: parts read once more and dealt to those of the output, which are written and read back."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from shutil import rmtree
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.files import Said, Style
from shoal.files.dialect import Dialect
from shoal.files.sealing import content_of, writing
from shoal.files.source import look
from shoal.privacy.counting import hashes_of, sizes_of
from shoal.progress import quietly
from shoal.stream.cluster.folder import all_whole, private, whole
from shoal.stream.cluster.job import Job, pieces
from shoal.stream.cluster.reading import check_object
from shoal.stream.ordering import Spread, by_hash, read
from shoal.stream.writing import Formulas, ReleaseWriter, put_tables, put_texts

TUPLES = 1 << 21
"""Released tuples that are counted at a time, about."""


class Dealing:
    """Writes hashes to files, by partition; the stack closes these."""

    def __init__(self, path: Callable[[int], Path], partitions: int, stack: ExitStack) -> None:
        self._path, self._partitions, self._stack = path, partitions, stack
        self._files: dict[int, BinaryIO] = {}

    def add(self, hashes: NDArray[np.uint64]) -> None:
        """Take some more; of pairs, the first one says where they belong."""
        first = hashes if hashes.ndim == 1 else hashes[:, 0]
        where = first % np.uint64(self._partitions)
        for partition in np.unique(where).tolist():
            if partition not in self._files:
                self._files[partition] = self._stack.enter_context(writing(self._path(partition)))
            self._files[partition].write(hashes[where == partition].tobytes())


def style_of(job: Job, dialect: Dialect) -> Style | None:
    """How text is written; values hold carriage returns where any part of the input has some."""
    style = job.format.style_for(Path(f"part{job.plan.ending}"), dialect)
    return style and Style(style.dialect, style.zipped, job.folder.kept("returns"))


def deal(job: Job, number: int) -> dict[str, Any]:
    """Read the bytes of a part once more, and deal its records to the parts of the output."""
    part, columns = job.part(number), job.columns("rounded")
    check_object(job, number)
    with part.opened_again() as reader:
        if not job.counts.records[number]:
            return {"formulas": {}}
        writer = ReleaseWriter(
            reader,
            job.roles,
            columns,
            job.settings.exact,
            {},
            job.folder.kept("returns"),
            pieces(job.folder, "released", number),
            job.counts.records[number],
            job.settings.key,
            job.folder.path,
            first=job.counts.starts[number],
        )
        formulas = writer.formulas()
        coming = writer.tables(job.format, style_of(job, reader.dialect), formulas, quietly)
        if job.settings.key is None:
            put(job, job.output_of(number), coming, reader.dialect)
        else:
            spread_rows(job, number, coming)
    return {"formulas": {name: [found.first, found.count] for name, found in formulas.items()}}


def spread_rows(job: Job, number: int, tables: Iterator[pa.Table]) -> None:
    """Spread records over the parts of the output by the leading bits of their keyed hashes."""
    done = job.counts.starts[number]
    key = job.settings.key
    assert key is not None
    with (
        all_whole(lambda output: job.folder.file(f"dealt/{output:06d}", number, ending=".arrow")) as path,
        Spread(key, path, 0, job.counts.bits) as spread,
    ):
        for table in tables:
            rows = np.arange(done, done + table.num_rows)
            spread.add(table.append_column("row", pa.array(rows)))
            done += table.num_rows
        spread.flush()


def put(job: Job, output: int, tables: Iterator[pa.Table], dialect: Dialect) -> None:
    """Write a part of the output."""
    style, kind = style_of(job, dialect), job.format
    first = next(tables, None)
    with whole(job.output(output)) as path:
        if first is None:
            first = pa.table({})
        coming = chain([first], tables)
        if style is None:
            put_tables(coming, first.schema, path, kind, job.settings.key is not None)
        else:
            put_texts(coming, first.column_names, path, kind, style)


def write(job: Job, output: int) -> dict[str, Any]:
    """Put the records of a part of the output in order, and write them."""
    own = private(job.folder.path)
    try:
        tables = (table for path in pieces(job.folder, "dealt", output) for table in read(path))
        key = job.settings.key
        assert key is not None
        with job.part(0).opened() as reader:
            dialect = reader.dialect
        put(job, output, by_hash(tables, key, own, job.counts.bits), dialect)
    finally:
        rmtree(own, ignore_errors=True)
    return {}


def check(job: Job, output: int) -> dict[str, Any]:
    """Read a part of the output back: the hash of its bytes, and the hashes of its tuples in partitions."""
    with job.part(0).opened() as reader:
        style = style_of(job, reader.dialect)
    written = look(job.output(output), Said() if style is None else Said(**style.dialect.said()), quietly)
    names, records, partitions = job.roles.quasi_identifiers, 0, partitions_of(job)
    with (
        all_whole(lambda partition: job.folder.file(f"tuples/{partition:06d}", output, ending=".bin")) as path,
        ExitStack() as files,
    ):
        dealing = Dealing(path, partitions, files)
        for table in written.batches(names):
            dealing.add(hashes_of(table.select(list(dict.fromkeys(names)))))
            records += table.num_rows
    file = written.file
    return {"records": records, "sha256": file.sha256, "bytes": file.size, "columns": list(written.columns)}


def partitions_of(job: Job) -> int:
    """How many partitions tuples are counted in."""
    return max(1, -(-job.counts.total // TUPLES))


def count(job: Job, partition: int) -> dict[str, Any]:
    """How many groups there are of each size, among the tuples of a partition, wherever they stand."""
    found = [
        np.frombuffer(content_of(path), np.uint64).reshape(-1, 2)
        for path in pieces(job.folder, "tuples", partition)
    ]
    sizes = sizes_of(np.concatenate(found)) if found else np.zeros(0, np.int64)
    different, often = np.unique(sizes, return_counts=True)
    return {"sizes": different.tolist(), "often": often.tolist()}


def formulas_of(found: list[dict[str, Any]]) -> dict[str, Formulas]:
    """What was counted in all parts."""
    whole_table: dict[str, Formulas] = {}
    for each in found:
        for name, (first, counted) in each["formulas"].items():
            known = whole_table.setdefault(name, Formulas())
            known.first, known.count = (known.first + first)[:5], known.count + counted
    return whole_table
