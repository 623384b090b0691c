"""From file to file: in memory where the table fits, else streamed, and resumed after an interruption."""

import errno
import json
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from shoal.attributes import Kept
from shoal.design import check_k
from shoal.engines import jobs
from shoal.errors import ShoalError, warn_of_all
from shoal.files import Dialect, Reader, Said, format_of, look, read
from shoal.files.atomic import check_target, flush_to_disk, give_names, remove_leftovers, undisturbed
from shoal.files.file import hash_of, stamp
from shoal.files.memory import NoRoomError, bytes_of, check_free, check_room, give_back, size_in_memory
from shoal.files.objects import is_object
from shoal.files.parts import is_several
from shoal.files.sidecar import manifest_path
from shoal.files.source import reader_from
from shoal.manifest import Manifest, file_of, manifest_of, output_of
from shoal.measures import (
    Figure,
    InformationLoss,
    Untouched,
    given_away,
)
from shoal.parameters import Maybe, Names, Progress, Whole
from shoal.pipeline import heed, released, warn_of
from shoal.privacy import Buckets, count
from shoal.privacy.parts import Judged, Promises, columns_of, judged, spread
from shoal.progress import check_progress, shown_progress
from shoal.pseudonyms import check_key_place
from shoal.release import other_records, refuse_broken, refuse_small
from shoal.report import Edition, Pages, refuse_same
from shoal.settings import FileOptions, Settings
from shoal.space import aggregate_of, checked_weights, digits_of, digits_said, weight_of
from shoal.stream.blocks import cut
from shoal.stream.figures import (
    FileRelease,
    block_figures,
    check_wishes,
    checks_from,
    loss_of,
    packed,
    refuse_patterns,
    release_of,
    said_of,
)
from shoal.stream.groups import Done, Lost, check_block, group, read_together, release
from shoal.stream.memory import PROMISED, VALUE, blocks_for, room_beside, size_in_blocks
from shoal.stream.passes import Passes
from shoal.stream.sampling import Sample
from shoal.stream.scan import scan, settle
from shoal.stream.spill import SpillWriter, names_of, only, opened
from shoal.stream.work import Work
from shoal.stream.writing import ReleaseWriter
from shoal.table import Roles

OWN = (
    "memory",
    "blocks",
    "overwrite",
    "report",
    "public_report",
    "progress",
    "engine",
    "scheduler",
    "workers",
    "encrypt_cells",
)
"""The options of `anonymize_file` that are neither settings nor about CSV files."""


def anonymize_file(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    k: int | None = None,
    quasi_identifiers: Names = None,
    confidential: Names = None,
    identifiers: Names = None,
    *,
    memory: str | int | None = None,
    blocks: int | None = None,
    overwrite: bool = False,
    report: str | os.PathLike[str] | None = None,
    public_report: str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
    engine: str | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    encrypt_cells: bool = False,
    **given: Unpack[FileOptions],
) -> FileRelease:
    """Hide every record of a file in a group of at least k, and write the release to another file.

    A table that fits into memory is read, grouped and written as `anonymize` and `Release.write` do. A larger
    one is streamed: its records are cut into blocks of neighbours that fit, each block is grouped on its own,
    and the release is written, read back and verified some records at a time. Interrupted, even killed, it
    leaves nothing under the output's name, and the same call resumes where it stopped, to the same bytes.

    Parameters
    ----------
    path, output : paths of CSV, Parquet or Arrow files
        What comes in, and where the release goes; its manifest is written beside it.
    k, quasi_identifiers, confidential, identifiers
        As for `anonymize`.
    memory : str or int
        The most memory to use, such as "1GB"; 4 GB by default, and 512 MB at least. Whether the table is streamed
        and in how many blocks follows from this and the table, never from what is free; too little is an error.
    blocks : int
        How many blocks to cut the records into, whatever the memory; a manifest says how many there were.
    overwrite : bool
        Replace an output that exists, and discard unfinished work that was begun with other settings.
    report, public_report : paths
        Write the owner's or the public edition of the report too, together with the release or not at all. That of
        a table that is streamed is drawn from a sample, and says so.
    progress : bool or callable
        True shows a bar in a terminal or a notebook; a function is called now and then with (work done, work in
        all), in bytes of the input over all passes.
    engine : {"threads", "processes", "dask"}
        Who does the work, where several workers share it. The input is then a folder, or a pattern such as
        "folder/*.parquet", and the output a folder; `memory` is the most for each worker.
    scheduler : str
        The address of a Dask scheduler, such as "tcp://10.0.0.1:8786"; workers must see the same files under the
        same names. Without it the workers are processes on this machine.
    workers : int
        How many workers there are on this machine; one for each core by default. The release does
        not depend on it.
    encrypt_cells : bool
        Encrypt what workers write to the private folder. The key is drawn for one run, and an interrupted job
        begins anew; or it is in the environment variable SHOAL_CELLS_KEY of the client and of all workers.
    given
        Every other setting of `anonymize` by its name; and what is known about a CSV file: delimiter, quote,
        encoding, decimal and thousands are text, header says whether its first line names the columns, names is
        what to call them, number_names gives columns of the same name a number. The rest is detected.
    """
    check_progress(progress)
    options = Settings.options()
    dialect: dict[str, Any] = {name: value for name, value in given.items() if name not in (*options, "method")}
    if odd := [name for name in dialect if name not in Said.names_of()]:
        raise Settings.no_option(odd[0], [*Said.names_of(), *OWN])
    asked: dict[str, Any] = {name: value for name, value in given.items() if name not in dialect}
    settings = Settings.of(k, quasi_identifiers, confidential, identifiers, **asked)
    asked_for: tuple[tuple[Edition, Any], ...] = ("owner", report), ("public", public_report)
    pages = {edition: Path(page) for edition, page in asked_for if page is not None}
    if engine is not None or scheduler is not None or workers is not None:
        by = By(engine or "dask", scheduler, workers, encrypt_cells)
        return released_folder(
            path, output, settings, Said(**dialect), by, memory, blocks, overwrite, progress, pages
        )
    if encrypt_cells:
        raise ShoalError("encrypt_cells is for several workers: say which by engine")
    return released_file(path, output, settings, Said(**dialect), memory, blocks, overwrite, progress, pages)


@dataclass(frozen=True)
class By:
    """Who does the work: the name of an engine, the address of a scheduler, how many workers; what they hide."""

    engine: str
    scheduler: str | None = None
    workers: int | None = None
    encrypt_cells: bool = False


def released_folder(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    settings: Settings,
    said: Said,
    by: By,
    memory: str | int | None = None,
    blocks: int | None = None,
    overwrite: bool = False,
    progress: Progress | bool | None = None,
    pages: Pages | None = None,
) -> FileRelease:
    """The same for several files that many workers share."""
    from shoal.engines.named import engine_named
    from shoal.stream.cluster.run import ClusterJob

    Maybe(Whole(1)).check("blocks", blocks)
    Maybe(Whole(1)).check("workers", by.workers)
    limit = bytes_of(memory)
    if pages:
        raise ShoalError("workers draw no report; leave it out, or assess the release afterwards")
    refuse_design(settings)
    if by.encrypt_cells:
        refuse_open_ways(path, by)
    engine, n_jobs = engine_named(by.engine, by.scheduler, limit), jobs(by.workers)
    place = str(output).rstrip("/")
    store = place if is_object(place) else None
    target = Path(place) if store is None else Path(place.rsplit("/", 1)[-1]).resolve()
    job = ClusterJob(
        str(path), target, settings, said, memory, limit, blocks, engine, n_jobs, store, by.encrypt_cells
    )
    with shown_progress(progress, "anonymizing") as report:
        return job.run(overwrite, report)


def refuse_open_ways(path: str | os.PathLike[str], by: By) -> None:
    """A folder is encrypted as a whole or not at all, and no key passes through a scheduler."""
    from shoal.stream.cluster.seal import KEY

    if is_object(str(path)):
        raise ShoalError(
            "objects are copied into the private folder as they are; copy them to an encrypted disk yourself, or "
            "leave out encrypt_cells (--encrypt-cells)"
        )
    if by.scheduler is not None and KEY not in os.environ:
        raise ShoalError(
            f"no key passes through a scheduler: give this program and all workers the same {KEY}, 64 hexadecimal "
            "digits such as openssl rand -hex 32 gives"
        )


def released_file(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    settings: Settings,
    said: Said,
    memory: str | int | None = None,
    blocks: int | None = None,
    overwrite: bool = False,
    progress: Progress | bool | None = None,
    pages: Pages | None = None,
) -> FileRelease:
    """The same for settings that were checked."""
    source, target = Path(path), Path(output)
    limit = bytes_of(memory)
    Maybe(Whole(1)).check("blocks", blocks)
    if is_several(str(path)):
        raise ShoalError(
            f"{path} is several files, which workers share: say engine='processes' or engine='dask' (--engine)"
        )
    format_of(target)
    if source.exists() and target.exists() and target.samefile(source):
        raise ShoalError(f"{target} is the input; choose another name for what is written")
    pages = pages or {}
    refuse_same(list(pages.values()), target)
    for page in pages.values():
        if source.exists() and page.exists() and page.samefile(source):
            raise ShoalError(f"{page} is the input; choose another name for what is written")
    Work(target).sweep(overwrite)
    if blocks is None and fits(source, target, limit):
        return in_memory(source, target, settings, said, overwrite, progress, pages)
    refuse_design(settings)
    stream = Stream(source.resolve(), target, settings, said, memory, limit, blocks, pages)
    with shown_progress(progress, "anonymizing") as report:
        return stream.run(overwrite, report)


def refuse_design(settings: Settings) -> None:
    """Blocks are cut by the values of records, and do not know whose they are."""
    asked = ("person", "household", "within", "sampling_weight", "also")
    if given := [name for name in asked if getattr(settings, name)]:
        raise ShoalError(
            f"{given[0]} needs the whole table in memory, and this one is to be anonymized in blocks; give it "
            f"more memory (--memory) and leave out blocks, or leave out {given[0]}"
        )


def fits(source: Path, target: Path, limit: int) -> bool:
    """Whether a file is anonymized in memory: it fits, and no streamed work for this output waits."""
    stamp(source)
    return Work(target).stage is None and (not source.is_file() or size_in_memory(source) <= limit)


def in_memory(
    source: Path,
    target: Path,
    settings: Settings,
    said: Said,
    overwrite: bool,
    progress: Progress | bool | None,
    pages: Pages,
) -> FileRelease:
    """The same for a table that fits into memory."""
    check_target(target, overwrite)
    check_key_place(settings.pseudonym_key, [manifest_path(target), target], source)
    check_room(source)
    made = released(read(source, **said.given()), settings, progress)
    verification = made.write(target, overwrite, pages.get("owner"), pages.get("public"))
    sizes = made.partition.sizes
    return FileRelease(
        target,
        made.manifest,
        made.loss,
        made.shown_figures,
        len(made.original),
        len(sizes),
        (int(sizes.min()), int(sizes.max())),
        verification.k,
        1,
    )


@dataclass
class Stream:
    """One file, streamed."""

    source: Path
    target: Path
    settings: Settings
    said: Said
    memory: str | int | None
    limit: int
    asked: int | None
    pages: Pages = field(default_factory=dict)
    digits: dict[str, int | None] = field(default_factory=dict)  # that values leave with
    promises: Promises | None = None  # the privacy models, while records are grouped

    @property
    def roles(self) -> Roles:
        """The role of each column."""
        return self.settings.roles

    @property
    def k(self) -> int:
        """The least number of records in a group."""
        return self.settings.k

    def run(self, overwrite: bool, progress: Progress | None) -> FileRelease:
        """All passes, or those that an earlier run has left."""
        work = Work(self.target, self.pages)
        remove_leftovers(list(work.names))
        for path in work.names:
            check_target(path, overwrite=True)
        passes = Passes(progress, stamp(self.source)[0])
        try:
            with work.locked():
                for path in work.names:
                    check_target(path, overwrite or work.has_named(path))
                source = self._begun(work, passes, overwrite)
                try:
                    made = self._all(work, source, passes)
                except ShoalError as error:
                    if not (isinstance(error, NoRoomError) and work.reached("scanned")):
                        work.clear()
                    raise
                self._move(work, overwrite)
                passes.end()
                return made
        except OSError as error:
            raise disk_error(self.target, error) from error

    def _all(self, work: Work, source: Reader, passes: Passes) -> FileRelease:
        if not work.reached("scanned"):
            self._scan(work, source, passes)
        else:
            warn_of_all(work.state["warnings"])  # whoever resumes reads them too
            again = "free some memory and run the same command again; it resumes here"
            state = work.state
            self._check_free(state["records"], state["blocks"], state["width"], state["values"], again)
        give_back()
        if not work.reached("cut"):
            self._cut(work, source, passes)
        give_back()
        done = self._group(work, source, passes)
        columns = self._rounded(work, done)
        lost = self._release(work, columns, passes)
        if work.stage == "moving" and (written := self._written(work)):
            loss = loss_of(columns, lost)
            found = checks_from(work.state["checks"]), work.state["told"]
            counted = written["output"]["verified_k"], written["figures"]["classes"]["value"]
            figures = block_figures(self.settings, work.state, done, loss, counted, *found)
            return release_of(self.target, written, len(done), loss, figures)
        return self._write(work, source, columns, done, lost, passes)

    def _begun(self, work: Work, passes: Passes, overwrite: bool) -> Reader:
        """The input, looked at now or earlier; earlier work is resumed if it was the same."""
        wanted = self._wanted()
        state = work.state
        if state and state["settings"] == wanted:
            known = reader_from(state["input"])
            if known.file.is_unchanged():
                self.settings = self.settings.seeded(state["seed"], state["key"])
                return known
            found = look(self.source, self.said, passes.begin("look"))
            if found.file.sha256 == known.file.sha256:
                work.save(input=found.as_dict())
                return self._begun(work, passes, overwrite)
            other = "on another content of the input"
        elif state:
            other = f"with other settings ({', '.join(different(state['settings'], wanted))})"
        if state and not overwrite:
            raise ShoalError(
                f"unfinished work for {self.target.name} was started {other}; use those, "
                "or discard it by asking to overwrite (--overwrite)"
            )
        source = look(self.source, self.said, passes.begin("look"))
        self.roles.check(source.columns)
        self.settings = self.settings.seeded()
        work.begin(wanted, self.settings.random_state, self.settings.key, source)
        return source

    def _wanted(self) -> dict[str, Any]:
        """What must be the same for work to be resumed."""
        wanted = {
            "input": str(self.source),
            **self.settings.as_dict(),
            **asdict(self.said),
            "blocks": self.asked,
            "memory": self.memory,
        }
        same: dict[str, Any] = json.loads(json.dumps(wanted))
        return same

    def _scan(self, work: Work, source: Reader, passes: Passes) -> None:
        given, wishes = self.settings.attribute_weights, self.settings.wishes()
        check_wishes(wishes, self.settings.aggregate)
        by_name = checked_weights(given, self.roles.quasi_identifiers)
        weights = [weight_of(columns, by_name, given) for columns in wishes]
        raw, numbers = work.path("scan.parquet"), work.path("numbers.parquet")
        found = scan(source, self.roles, wishes, format_of(self.target), raw, passes.begin("scan"))
        check_k(self.k, found.records)
        promises = self._gathered(work, source, passes)
        values = 0 if promises is None else promises.n_values
        left = self._left(work, source, found.records, passes)
        said = heed(left, self.settings.strict)
        step = passes.begin("settle")
        columns = settle(found, weights, raw, numbers, lambda done, total: step(done, 2 * total))
        width = sum(column.width for column in columns) + PROMISED * len(self.settings.models)
        blocks = self.asked or blocks_for(found.records, width, self.k, room_beside(values, self.limit))
        blocks = max(1, min(blocks, found.records // (2 * self.k)))
        cure = "give a smaller --memory, or more blocks, or make memory free"
        self._check_free(found.records, blocks, width, values, cure)
        gaps = [each.facts for each in found.gatherings if each.gaps]
        refuse_patterns(gaps, blocks)
        for column in columns:
            one = column.attribute(np.zeros(1, column.dtype))
            one.check_digits(self.settings.digits)
            one.check_aggregate(aggregate_of(one, self.settings.aggregate))
        raw.unlink()
        give_back()
        with opened(numbers) as file:
            chunks = [partial(only, file, name) for name in names_of(len(columns))[1:]]
            columns = [
                column.scaled(self.settings.scaling, read_again, blocks == 1)
                for column, read_again in zip(columns, chunks, strict=True)
            ]
            constant = [c.name for c in columns if c.is_constant]
            said += warn_of(constant, self.k, self.settings.exact, self.settings.keep_order)
            found_odd = (c.warning(read_again) for c, read_again in zip(columns, chunks, strict=True))
            said += warn_of_all(warning for warning in found_odd if warning is not None)
        work.save(
            stage="scanned",
            records=found.records,
            blocks=blocks,
            width=width,
            values=values,
            columns=[column.as_dict() for column in columns],
            types=found.types,
            returns=found.returns,
            untouched=left.as_dict(),
            gaps={each.name: each.as_dict() for each in gaps},
            warnings=said,
        )

    def _gathered(self, work: Work, source: Reader, passes: Passes) -> Promises | None:
        """The confidential values that privacy models are about, read and coded before any record is grouped."""
        models = self.settings.models
        if not models:
            return None
        step = passes.begin("untouched")  # the columns that are released as they are, and these are some of them
        batches = source.batches(columns_of(models), lambda done, total: step(done, 2 * total))
        signs, gaps = source.dialect.signs, self.settings.promised_gaps()
        spread(batches, models, work.path("values"), signs, gaps)
        self.promises = Promises.of(models, work.path("values"), signs, gaps)
        if self.asked is None:
            room_beside(self.promises.n_values, self.limit)
        self.promises.rank(self.settings.key)
        give_back()
        return self.promises

    def _promised(self, work: Work, source: Reader) -> Promises | None:
        """The same, as this run or an earlier one has read it."""
        models = self.settings.models
        if models and self.promises is None:
            signs, gaps = source.dialect.signs, self.settings.promised_gaps()
            self.promises = Promises.of(models, work.path("values"), signs, gaps)
        return self.promises

    def _left(self, work: Work, source: Reader, records: int, passes: Passes) -> Untouched:
        """What the columns that are released as they are still give away, before hours are spent on the others."""
        step, roles = passes.begin("untouched"), self.roles
        with ExitStack() as files:
            left = given_away(
                lambda names: source.batches(names, step),
                roles.quasi_identifiers,
                roles.others(source.columns),
                roles.confidential,
                records,
                self.k,
                source.dialect.signs,
                lambda name: files.enter_context(Buckets(work.folder, records, name, width=1)),
            )
        give_back()
        return left

    def _cut(self, work: Work, source: Reader, passes: Passes) -> None:
        blocks, numbers = work.state["blocks"], work.path("numbers.parquet")
        step = passes.begin("cut")
        if blocks == 1:
            numbers.replace(work.path("block-0.parquet"))
        else:
            for stale in work.folder.glob("node-*.parquet"):
                stale.unlink()
            for number, path in enumerate(cut(numbers, blocks, work.columns(), work.folder, step)):
                path.replace(work.path(f"block-{number}.parquet"))
            if promises := self._promised(work, source):
                for number in range(blocks):
                    check_block(work.path(f"block-{number}.parquet"), number, blocks, promises)
        work.save(stage="cut")
        numbers.unlink(missing_ok=True)

    def _check_free(self, records: int, blocks: int, width: int, values: int, cure: str) -> None:
        needed = size_in_blocks(records, width, blocks) + VALUE * values
        check_free(needed, f"{self.source.name}, streamed in {blocks} block{'s' if blocks > 1 else ''},", cure)

    def _group(self, work: Work, source: Reader, passes: Passes) -> list[Done]:
        """The groups of every block; its numbers stay, to be released when all spreads are known."""
        step, columns = passes.begin("group"), work.columns()
        found, before = [], 0
        records = work.state["records"]
        for number in range(work.state["blocks"]):
            done, target = work.done(number), work.path(f"labels-{number}.npy")
            if done is None:
                done = group(
                    work.path(f"block-{number}.parquet"),
                    number,
                    target,
                    columns,
                    self.settings.method,
                    self.settings.aggregate,
                    lambda part, _, before=before: step(before + part, records),  # type: ignore[misc]
                    self._promised(work, source),
                )
                work.finish(number, done, target)
                give_back()
            before += done.records
            step(before, records)
            found.append(done)
        self.promises = None
        return found

    def _rounded(self, work: Work, done: list[Done]) -> list[Kept]:
        """The columns with the digits that the groups of all blocks justify."""
        columns = work.columns()
        if self.settings.exact:
            return columns
        squares = {c.name: [block.squares[i] for block in done] for i, c in enumerate(columns)}
        bare = tuple(column.bare() for column in columns)
        self.digits = digits_of(bare, squares, work.state["records"], self.k, self.settings.digits)
        return [replace(column, digits=self.digits.get(column.name)) for column in columns]

    def _release(self, work: Work, columns: list[Kept], passes: Passes) -> list[Lost]:
        """The numbers that the records of every block are released with."""
        step, found = passes.begin("release"), []
        blocks = work.state["blocks"]
        for number in range(blocks):
            lost, target = work.lost(number), work.path(f"released-{number}.parquet")
            made_from = work.path(f"block-{number}.parquet"), work.path(f"labels-{number}.npy")
            if lost is None:
                together = read_together(blocks, len(columns))
                aggregate, exact = self.settings.aggregate, self.settings.exact
                spilling = partial(SpillWriter, target, rows=together)
                lost = release(*made_from, spilling, columns, self.k, aggregate, exact, together)
                work.finish(number, lost, target)
                give_back()
            for path in made_from:
                path.unlink(missing_ok=True)
            step(number + 1, blocks)
            found.append(lost)
        return found

    def _write(
        self,
        work: Work,
        source: Reader,
        columns: list[Kept],
        done: list[Done],
        lost: list[Lost],
        passes: Passes,
    ) -> FileRelease:
        """Write the release, read it back, and describe it."""
        kind, path = format_of(self.target), work.names[self.target]
        style = kind.style_for(self.target, source.dialect)
        dialect = style.dialect if style else None
        blocks = [work.path(f"released-{number}.parquet") for number in range(len(done))]
        state = work.state
        for made in work.names.values():  # a run that was killed later may have given them their names
            made.unlink(missing_ok=True)
        sample = Sample(source, self.roles, columns, state["records"], self.settings.exact) if self.pages else None
        writer = ReleaseWriter(
            source,
            self.roles,
            columns,
            self.settings.exact,
            state["types"],
            state["returns"],
            blocks,
            state["records"],
            self.settings.key,
            work.path("order"),
            sample,
        )
        writer.write(path, kind, style, passes)
        flush_to_disk(path)
        give_back()
        written, found = self._verified(
            work, path, dialect, writer.kept, self._promised(work, source), passes.begin("verify")
        )
        counted, told = found.anonymity, done[0].told if len(done) == 1 else found.information
        loss = loss_of(columns, lost)
        figures = block_figures(
            self.settings, state, done, loss, (counted.k, counted.n_groups), found.checks, told
        )
        came_from = file_of(source.file.name, source.format, source.file.sha256, source.dialect)
        others = self.roles.others(source.columns)
        kinds = {c.name: {"kind": (bare := c.bare()).kind, **bare.said()} for c in columns}
        said = digits_said(tuple(column.bare() for column in columns), self.digits)
        manifest = manifest_of(self.settings, others, said, figures, came_from, kinds)
        manifest["method"] |= said_of(done)
        if len(done) > 1:
            manifest["blocks"] = len(done)
        manifest["output"] = output_of(self.target, written.file.sha256, counted, dialect)
        text = json.dumps(manifest, indent=2, ensure_ascii=False)
        work.path("manifest").write_text(text + "\n", encoding="utf-8")
        flush_to_disk(work.path("manifest"))
        if sample is not None:
            self._draw(work, sample, counted.sizes, manifest, figures, loss)
        work.save(stage="moving", checks=[packed(check) for check in found.checks], told=told)
        return release_of(self.target, manifest, len(done), loss, figures)

    def _draw(
        self,
        work: Work,
        sample: Sample,
        sizes: NDArray[np.int64],
        manifest: Manifest,
        figures: Sequence[Figure],
        loss: InformationLoss,
    ) -> None:
        """Write the pages that were asked for."""
        from shoal.report.streamed import render  # takes long to load, and few need it

        drawn = render(sample.pair(), sizes, self.settings, manifest, figures, loss, list(self.pages))
        for path, page in zip(work.pages.values(), drawn, strict=True):
            path.write_text(page, encoding="utf-8")
            flush_to_disk(path)

    def _written(self, work: Work) -> Manifest | None:
        """What an earlier run has written, if it was killed while it gave the whole files their names."""
        try:
            manifest: Manifest = json.loads(work.path("manifest").read_text(encoding="utf-8"))
            sha256 = hash_of(work.names[self.target])
            if not all(path.exists() for path in work.pages.values()):  # asked for since then
                return None
        except (OSError, ValueError):  # written over an older release, they have gone to their places
            return None
        return manifest if manifest["output"]["sha256"] == sha256 else None

    def _verified(
        self,
        work: Work,
        path: Path,
        dialect: Dialect | None,
        kept: list[str],
        promises: Promises | None,
        progress: Progress,
    ) -> tuple[Reader, Judged]:
        """Read the bytes back and count; what is not as promised never gets its name."""
        said = Said() if dialect is None else Said(**dialect.said())
        try:
            written = look(path, said, lambda done, total: progress(done, 4 * total))
            records, models = work.state["records"], () if promises is None else promises.models
            names = self.roles.quasi_identifiers
            batches = written.batches(
                [*names, *columns_of(models)], lambda done, total: progress(total + 3 * done, 4 * total)
            )
            if models:
                several, folder, gaps = (
                    work.state["blocks"] > 1,
                    work.path("written"),
                    self.settings.promised_gaps(),
                )
                found = judged(batches, names, models, records, folder, written.dialect.signs, several, gaps)
            else:
                found = Judged(count(batches, names, records, work.folder))
        except ShoalError as error:
            raise ShoalError(f"not released, because {error}") from None
        refuse_small(found.anonymity.k, self.k)
        refuse_broken(found.checks)
        if list(written.columns) != kept or found.anonymity.n_records != records:
            raise other_records()
        return written, found

    def _move(self, work: Work, overwrite: bool) -> None:
        """Give the files their names, the release last, and forget the work; or keep it, where a name is taken."""
        with undisturbed():
            try:
                give_names(list(work.names.values()), list(work.names), overwrite)
            except ShoalError:
                work.save(stage="cut")
                raise
            work.remove()


def different(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The settings that are not the same."""
    return [name for name in new if old.get(name) != new[name]]


def disk_error(target: Path, error: OSError) -> ShoalError:
    """The disk does not do what it should."""
    if error.errno == errno.ENOSPC:
        return ShoalError(
            f"the disk of {target} is full: streaming needs up to twice the size of a CSV input there, and up to "
            "six times that of a Parquet file; make room and run the same command again; it resumes here"
        )
    return ShoalError(f"cannot write {target}: {error.strerror or error}")
