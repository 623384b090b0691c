"""The client of a job: it hands out tasks, joins what they have found, and gives the release its name."""

import errno
import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from shoal.attributes import Kept, Stored
from shoal.attributes.gaps import GAP
from shoal.attributes.numeric_stream import as_it_is
from shoal.attributes.tallies import Tally
from shoal.design import check_k
from shoal.engines import Engine
from shoal.errors import ShoalError, warn_of_all
from shoal.files import Said
from shoal.files.atomic import current_umask, exists_already, flush_folder, flush_to_disk, undisturbed
from shoal.files.file import hash_of
from shoal.files.formats import by_suffix
from shoal.files.objects import exists, put_all, remove
from shoal.files.parts import Part, PartsReader, files_in
from shoal.files.sidecar import manifest_path
from shoal.files.source import look as look_at
from shoal.manifest import Manifest, manifest_of
from shoal.measures import Untouched
from shoal.parameters import Progress
from shoal.pipeline import heed, warn_of
from shoal.privacy.parts import Judged, Promises, columns_of, judged
from shoal.privacy.parts import spread as spread_values
from shoal.progress import quietly
from shoal.release import other_records, refuse_broken, refuse_small
from shoal.settings import Settings
from shoal.space import aggregate_of, checked_weights, digits_of, digits_said, weight_of
from shoal.stream.cluster import borders, cells
from shoal.stream.cluster.folder import Folder, whole
from shoal.stream.cluster.job import Counts, Job, Plan
from shoal.stream.cluster.reading import added, chunks_of, column_of, raw_of, renumbered, scanned
from shoal.stream.cluster.seal import Seal, sealed
from shoal.stream.cluster.steps import LostError, Steps, steps_by
from shoal.stream.cluster.untouched import asked_of, figures_of, sample_of
from shoal.stream.cluster.untouched import partitions_of as partitions_in
from shoal.stream.cluster.writing import formulas_of, partitions_of, style_of
from shoal.stream.figures import (
    FileRelease,
    block_figures,
    check_wishes,
    kinds_of,
    loss_of,
    refuse_patterns,
    release_of,
    said_of,
)
from shoal.stream.groups import Done, Lost
from shoal.stream.memory import PROMISED, records_within, room_beside
from shoal.stream.scan import Scan, joined, scan, settle
from shoal.stream.spill import SpillWriter, names_of, spilled
from shoal.stream.spill import whole as all_of
from shoal.stream.work import VERSION, Work
from shoal.stream.writing import warn_of_formulas

CELL = 1 << 20
"""Records that a cell has at most, where memory does not ask for fewer."""

OUTPUT = 1 << 20
"""Records of a part of the output, at most and about."""

SAMPLED = 2000
"""Records of the sample for each cell;"""

LEAST_SAMPLED = 50_000
"""and in all, if there are so many."""

_SPARE = 0.8  # of what a cell may have: cuts from a sample are not exact


@dataclass
class ClusterJob:
    """One job: several files come in, and several go out."""

    path: str
    target: Path
    settings: Settings
    said: Said
    memory: str | int | None
    limit: int
    asked: int | None
    engine: Engine
    n_jobs: int
    store: str | None = None  # where the output goes, if that is object storage
    encrypt_cells: bool = False

    def run(self, overwrite: bool, progress: Progress | None) -> FileRelease:
        """All steps, or those that an earlier run has left."""
        check_wishes(self.settings.wishes(), self.settings.aggregate)
        files = files_in(self.path)
        with sealed(self.target, self.encrypt_cells, overwrite) as seal:
            return self._run(files, seal, overwrite, progress)

    def _run(self, files: list[str], seal: Seal | None, overwrite: bool, progress: Progress | None) -> FileRelease:
        work = Work(self.target)
        work.sweep(overwrite)
        try:
            with work.locked():
                self._check_names(work, files, overwrite)
                self._begin(work, files, seal, overwrite)
                folder = Folder(work.folder.absolute())  # workers stand in folders of their own
                try:
                    with steps_by(self.engine, self.n_jobs, folder, progress) as steps:
                        made = Steering(self, work, Job(folder), steps).all()
                except LostError:
                    raise
                except ShoalError:
                    work.clear()
                    raise
                if self.store is None:
                    self._move(work, overwrite)
                else:
                    self._upload(work, self.store, overwrite)
                return made
        except OSError as error:
            raise disk_error(self.target, error) from None

    def _check_names(self, work: Work, files: list[str], overwrite: bool) -> None:
        """Whether the output may have its name."""
        if by_suffix(self.target.name):
            raise ShoalError(f"workers write several files: {self.target} is to be a folder, without an ending")
        if not self.target.parent.is_dir():
            raise ShoalError(f"cannot write {self.target}: the folder {self.target.parent} does not exist")
        if self.target.exists() and not self.target.is_dir():
            raise ShoalError(f"cannot write {self.target}: it is there and no folder")
        within = [Path(each) for each in files if self.target.resolve() in Path(each).parents]
        if self.store is None and within:
            raise ShoalError(
                f"{self.target} holds {within[0].name} of the input; choose another name for the output"
            )
        if work.stage == "moving" or overwrite:
            return
        if self.store is not None and (exists(self.store) or exists(f"{self.store}.manifest.json")):
            raise ShoalError(
                f"{self.store} exists already; choose another name or ask to overwrite it (--overwrite)"
            )
        self._check_free()

    def _check_free(self) -> None:
        """Nobody else's files are where the output goes; an empty folder may be."""
        for path in (self.target, manifest_path(self.target)):
            if path.exists() and not (path.is_dir() and not any(path.iterdir())):
                raise exists_already(path)

    def _begin(self, work: Work, files: list[str], seal: Seal | None, overwrite: bool) -> None:
        """Begin a job, or resume the one that waits if it is the same."""
        wanted = {
            "input": files,
            **self.settings.as_dict(),
            **asdict(self.said),
            "blocks": self.asked,
            "memory": self.memory,
            "store": self.store,
        }
        wanted = json.loads(json.dumps(wanted))
        state = work.state
        if state and state.get("settings") == wanted:
            self.settings = self.settings.seeded(state["seed"], state["key"])
            return
        if state and not overwrite:
            raise ShoalError(
                f"unfinished work for {self.target.name} was started with other settings or files; use those, "
                "or discard it by asking to overwrite (--overwrite)"
            )
        work.clear()
        if seal is not None:
            seal.write(work.folder)
        self.settings = self.settings.seeded()
        ending = "".join(
            Path(files[0]).suffixes[-2:] if files[0].endswith(".gz") else Path(files[0]).suffixes[-1:]
        )
        Folder(work.folder).keep("plan", Plan(self.settings, self.said, tuple(files), ending))
        work.save(
            version=VERSION,
            stage="begun",
            settings=wanted,
            seed=self.settings.random_state,
            key=self.settings.key,
        )

    def _upload(self, work: Work, store: str, overwrite: bool) -> None:
        """Put the output into object storage, its manifest last."""
        if overwrite:
            remove(f"{store}.manifest.json")
            remove(store)
        parts = [(path, f"{store}/{path.name}") for path in sorted(work.path("out").iterdir())]
        put_all([*parts, (work.path("manifest"), f"{store}.manifest.json")], overwrite=False)
        work.remove()

    def _move(self, work: Work, overwrite: bool) -> None:
        """Give the output its name, then its manifest, which says that all of it is there.

        An earlier manifest goes first, so that it never stands beside another release than its own.
        """
        made, manifest = work.path("out"), manifest_path(self.target)
        with undisturbed():
            if made.exists():
                if not overwrite:
                    self._check_free()
                for path, old in ((manifest, work.path("old-manifest")), (self.target, work.path("old"))):
                    if path.exists():
                        shutil.rmtree(old, ignore_errors=True)
                        path.rename(old)
                flush_folder(made)
                made.rename(self.target)
                flush_folder(self.target.parent)
            work.path("manifest").replace(manifest)
            flush_folder(self.target.parent)
            work.remove()


@dataclass
class Steering:
    """What the client does between the steps."""

    asked: ClusterJob
    work: Work
    job: Job
    steps: Steps
    renumbered: bool = False  # parts have numbered values by themselves

    @property
    def settings(self) -> Settings:
        """With the seed and the key."""
        return self.asked.settings

    def all(self) -> FileRelease:
        """From the first step to the release without its name."""
        numbers = range(len(self.job.plan.files))
        looked = self.steps.all("look", numbers)
        self.steps.size = sum(each["bytes"] for each in looked)
        table = PartsReader.of(self.asked.path, [Part(each["reader"]) for each in looked])
        self.settings.roles.check(table.columns)
        if not self.work.reached("scanned"):
            self._read(table)
        else:
            warn_of_all(self.work.state["warnings"])
        cells_ = range(self.job.counts.blocks)
        if not self.work.reached("cut"):
            self._cut(numbers)
        found = self._grouped(cells_)
        columns = self._rounded(found)
        lost = [only(each, Lost) for each in self.steps.all("release", cells_)]
        dealt = self.steps.all("deal", numbers)
        outputs = range(self.job.counts.outputs)
        if self.settings.key is not None:
            self.steps.all("write", outputs)
        checked = self.steps.all("check", outputs)
        return self._described(table, columns, found, lost, dealt, checked)

    # Reading.

    def _read(self, table: PartsReader) -> None:
        """Read all parts, and measure them."""
        numbers = range(len(table.each))
        settings = self.settings
        given, wishes = settings.attribute_weights, settings.wishes()
        by_name = checked_weights(given, settings.roles.quasi_identifiers)
        weights = [weight_of(columns, by_name, given) for columns in wishes]
        found, columns, settles, records = self._scanned(table, weights)
        total = sum(records)
        check_k(settings.k, total)
        gaps = [each.facts for each in found.gatherings if each.gaps]
        for column in columns:
            one = column.attribute(np.zeros(1, column.dtype))
            one.check_digits(settings.digits)
            one.check_aggregate(aggregate_of(one, settings.aggregate))
        promises = self._gathered(table)
        values = 0 if promises is None else promises.n_values
        width = sum(column.width for column in columns) + PROMISED * len(settings.models)
        blocks = self.asked.asked or cells_for(total, width, room_beside(values, self.asked.limit))
        blocks = max(1, min(blocks, total // (2 * settings.k)))
        refuse_patterns(gaps, blocks)
        outputs = sum(size > 0 for size in records) if settings.key is None else power_of_two(-(-total // OUTPUT))
        sampled = max(LEAST_SAMPLED, SAMPLED * blocks) / total
        self._keep("read", columns)
        folder = self.job.folder
        folder.keep("returns", found.returns)
        folder.keep("counts", Counts(tuple(records), tuple(settles), blocks, outputs, sampled, self.renumbered))
        left = self._left(table, numbers)
        said = heed(left, settings.strict)
        columns = self._measured(columns, numbers)
        self._keep("scaled", columns)
        constant = [c.name for c in columns if c.is_constant]
        said += warn_of(constant, settings.k, settings.exact, settings.keep_order)
        sample = self._sample(len(columns))
        odd = (
            column.warning(lambda values=values: iter([values]))  # type: ignore[misc]
            for column, values in zip(columns, sample[1:], strict=True)
        )
        said += warn_of_all(warning for warning in odd if warning is not None)
        tree = cells.drawn(columns, sample, blocks)
        folder.keep("tree", tree)
        wanted = blocks > 1 and borders.are_wanted(settings.method)
        folder.keep("borders", borders.paired(tree, columns) if wanted else None)
        self.work.save(
            stage="scanned",
            records=total,
            blocks=blocks,
            columns=[column.as_dict() for column in columns],
            untouched=left.as_dict(),
            gaps={each.name: each.as_dict() for each in gaps},
            warnings=said,
        )

    def _scanned(self, table: PartsReader, weights: list[float]) -> tuple[Scan, list[Kept], list[Any], list[int]]:
        """What is kept of each column: put together from parts that were read apart, or read by the client."""
        numbers = range(len(table.each))
        try:
            records = [each["records"] for each in self.steps.all("scan", numbers)]
            whole_table = joined([scanned(self.job, number) for number in numbers])
        except LostError:
            raise
        except ShoalError:  # said of a part; the rows of the whole table are told by whoever reads all of it
            whole_table, records = None, []
        if records:
            check_k(self.settings.k, sum(records))
        if whole_table is None:
            read_here = partial(self._read_here, table, weights, records)
            found: tuple[Scan, list[Kept], list[Any], list[int]] = self.steps.here("scan", read_here)
            return found
        kept: list[Kept] = []
        settles: list[Any] = []
        by_part: list[list[Stored | None]] = [[] for _ in records]
        for place, (gathering, weight) in enumerate(zip(whole_table.gatherings, weights, strict=True)):
            new = numbers_of_parts(gathering.new_numbers, records)
            column, settle = gathering.kept(weight, self._raw_column(place, new))
            for each, own in zip(by_part, new, strict=True):
                gap = [GAP] if gathering.gaps else []
                each.append(None if own is None else settle(np.concatenate([own, np.array(gap, np.int64)]), 0))
            kept.append(column)
            settles.append(as_it_is if gathering.new_numbers else settle)
        self.renumbered = any(gathering.new_numbers for gathering in whole_table.gatherings)
        if self.renumbered:
            for number, each in enumerate(by_part):
                self.job.folder.keep(f"numbers-{number:06d}", each)
        return whole_table, kept, settles, records

    def _raw_column(self, place: int, numbers: "Sequence[Stored | None]") -> Callable[[], Any]:
        def chunks() -> Any:
            for number, own in enumerate(numbers):
                for (values,) in spilled(raw_of(self.job, number), [names_of(place + 1)[-1]]):
                    yield values if own is None else renumbered(values, numbers=np.append(own, GAP))

        return chunks

    def _read_here(
        self, table: PartsReader, weights: list[float], records: list[int], progress: Progress
    ) -> tuple[Scan, list[Kept], list[Any], list[int]]:
        """Read all parts one after the other, as a stream reads a file: some kinds of columns ask for it."""
        settings, folder = self.settings, self.job.folder
        raw, numbers = folder.path / "scan.parquet", folder.path / "numbers.parquet"
        found = scan(table, settings.roles, settings.wishes(), self.job.format, raw, progress)
        columns = settle(found, weights, raw, numbers, quietly)
        raw.unlink()
        if not records:
            first = [settings.roles.quasi_identifiers[0]]
            for part in table.each:
                with part.opened() as reader:
                    records.append(sum(each.num_rows for each in reader.batches(first)))
        ends = np.cumsum(records)
        kinds = [np.dtype(np.int64), *(column.dtype for column in columns)]
        for number, end in enumerate(ends.tolist()):
            first_row = end - records[number]
            with whole(raw_of(self.job, number)) as path, SpillWriter(path, kinds) as writer:
                for rows, *values in spilled(numbers, names_of(len(columns))):
                    low, high = np.searchsorted(rows, [first_row, end])
                    if low < high:
                        writer.write([rows[low:high] - first_row, *(each[low:high] for each in values)])
        numbers.unlink()
        return found, columns, [as_it_is] * len(columns), records

    def _gathered(self, table: PartsReader) -> Promises | None:
        """The confidential values that privacy models are about."""
        settings = self.settings
        if not settings.models:
            return None
        signs, gaps = table.dialect.signs, settings.promised_gaps()
        values = self.work.path("values")
        spread_values(table.batches(columns_of(settings.models)), settings.models, values, signs, gaps)
        promises = Promises.of(settings.models, values, signs, gaps)
        promises.rank(settings.key)
        return promises

    def _left(self, table: PartsReader, numbers: range) -> Untouched:
        """What the columns that are released as they are give away."""
        asked = asked_of(self.job)
        if not asked.groups:
            return Untouched()
        self.steps.all("untouched", numbers)
        tallies = self.steps.all("tally", range(len(asked.groups) * partitions_in(self.job)))
        figures = figures_of(self.job, tallies)
        return asked.told(sample_of(self.job), figures, lambda names: table.batches(names, quietly))

    def _measured(self, columns: list[Kept], numbers: range) -> list[Kept]:
        """The columns with their scales, from sums that do not depend on the parts."""
        said = self.steps.all("measure", numbers)
        made = []
        for place, column in enumerate(columns):
            tally: Tally | None = None
            for each in said:
                if (more := each["tallies"][place]) is not None:
                    tally = added(tally, Tally(**more))
            if tally is None:
                for stored in column_of(self.job, place):
                    column = column.seen(stored)
            made.append(column.scaled_by(tally, self.settings.scaling, chunks_of(self.job, place)))
        return made

    def _sample(self, m: int) -> list[Any]:
        """The sample of all parts, in the order of the rows."""
        files = [
            self.job.folder.file("sample", number, ending=".parquet") for number in range(len(self.job.plan.files))
        ]
        parts = [all_of(path, names_of(m)) for path in files if any(True for _ in spilled(path, ["row"]))]
        return [np.concatenate(pieces) for pieces in zip(*parts, strict=True)]

    def _keep(self, name: str, columns: list[Kept]) -> None:
        self.job.folder.keep(name, [column.as_dict() for column in columns])

    # Grouping.

    def _cut(self, numbers: range) -> None:
        """Write the records of every cell, and count them exactly."""
        said = self.steps.all("spread", numbers)
        sizes = np.sum([each["sizes"] for each in said], axis=0)
        if (sizes < self.settings.k).any() or sizes.sum() != self.job.counts.total:
            raise ShoalError(
                f"a cell has only {int(sizes.min())} of {self.job.counts.total} records; use fewer blocks"
            )
        self.work.save(stage="cut")

    def _grouped(self, cells_: range) -> list[Done]:
        """The groups of every cell, after the exchanges between neighbours."""
        found = self.steps.all("group", cells_)
        if (pairs := self.job.borders) is None or not pairs.pairs:
            return [only(each, Done) for each in found]
        self.steps.all("edge", cells_)
        self.steps.all("exchange", range(len(pairs.pairs)))
        return [only(each, Done) for each in self.steps.all("close", cells_)]

    def _rounded(self, found: list[Done]) -> list[Kept]:
        """The columns with the digits that the groups of all cells justify."""
        columns = self.job.columns("scaled")
        self.digits: dict[str, int | None] = {}
        if not self.settings.exact:
            squares = {c.name: [block.squares[i] for block in found] for i, c in enumerate(columns)}
            bare = tuple(column.bare() for column in columns)
            total, settings = self.job.counts.total, self.settings
            self.digits = digits_of(bare, squares, total, settings.k, settings.digits)
            columns = [replace(column, digits=self.digits.get(column.name)) for column in columns]
        self._keep("rounded", columns)
        return columns

    # The release.

    def _described(
        self,
        table: PartsReader,
        columns: list[Kept],
        found: list[Done],
        lost: list[Lost],
        dealt: list[dict[str, Any]],
        checked: list[dict[str, Any]],
    ) -> FileRelease:
        """Check what was written, and describe it."""
        settings, state = self.settings, self.work.state
        kept = [name for name in table.columns if name not in settings.roles.identifiers]
        counted, judgement = self._verified(table, kept, checked)
        told = found[0].told if len(found) == 1 else judgement.information if judgement else {}
        loss = loss_of(columns, lost)
        checks = judgement.checks if judgement else []
        figures = block_figures(settings, state, found, loss, counted, checks, told)
        others = settings.roles.others(table.columns)
        kinds = kinds_of(columns)
        said = digits_said(tuple(column.bare() for column in columns), self.digits)
        manifest = manifest_of(settings, others, said, figures, came_from(table), kinds)
        manifest["method"] |= said_of(found)
        if len(found) > 1:
            manifest["blocks"] = len(found)
        manifest["output"] = self._output(checked, counted[0])
        text = json.dumps(manifest, indent=2, ensure_ascii=False)
        self.work.path("manifest").write_text(text + "\n", encoding="utf-8")
        flush_to_disk(self.work.path("manifest"))
        if self.job.format.is_text:
            warn_of_formulas(formulas_of(dealt), kept)
        self._open_to_others(checked)
        self.work.save(stage="moving")
        return release_of(self.asked.target, manifest, len(found), loss, figures, self.steps.times)

    def _where(self) -> Path:
        """Where the parts of the output are: killed late, an earlier run may have given them their names."""
        made = self.work.path("out")
        return made if made.exists() or self.work.stage != "moving" else self.asked.target

    def _open_to_others(self, checked: list[dict[str, Any]]) -> None:
        """Give the output the permissions of new files; one that has its name already must be the very same."""
        out, mask = self._where(), current_umask()
        if out == self.asked.target:
            for number, each in enumerate(checked):
                path = out / self.job.name(number)
                if not path.is_file() or hash_of(path) != each["sha256"]:
                    raise ShoalError(f"{path} is not what was written; start again with another name")
        out.chmod(0o777 & ~mask)
        for path in out.iterdir():
            path.chmod(0o666 & ~mask)

    def _verified(
        self, table: PartsReader, kept: list[str], checked: list[dict[str, Any]]
    ) -> tuple[tuple[int, int], Judged | None]:
        """Count the tuples of all parts of the output together; what is not as promised never gets its name.

        The smallest class comes back, and how many there are.
        """
        counted = self.steps.all("count", range(partitions_of(self.job)))
        k = min(size for each in counted for size in each["sizes"])
        records = sum(
            size * often for each in counted for size, often in zip(each["sizes"], each["often"], strict=True)
        )
        refuse_small(k, self.settings.k)
        total = self.job.counts.total
        if records != total or any(each["columns"] != kept for each in checked):
            raise other_records()
        classes = sum(often for each in counted for often in each["often"])
        if not self.settings.models:
            return (k, classes), None
        models = self.settings.models
        style = style_of(self.job, table.dialect)
        said = Said() if style is None else Said(**style.dialect.said())
        parts = [
            Part(look_at(self._where() / self.job.name(number), said, quietly).as_dict())
            for number in range(self.job.counts.outputs)
        ]
        written = PartsReader.of(self.asked.target.name, parts)
        names = self.settings.roles.quasi_identifiers
        found = judged(
            written.batches([*names, *columns_of(models)]),
            names,
            models,
            total,
            self.work.path("written"),
            written.dialect.signs,
            self.job.counts.blocks > 1,
            self.settings.promised_gaps(),
        )
        refuse_small(found.anonymity.k, self.settings.k)
        refuse_broken(found.checks)
        return (k, classes), found

    def _output(self, checked: list[dict[str, Any]], k: int) -> Manifest:
        """What was written."""
        parts = [
            {"name": self.job.name(number), "sha256": each["sha256"], "records": each["records"]}
            for number, each in enumerate(checked)
        ]
        digest = hashlib.sha256("".join(each["sha256"] for each in parts).encode()).hexdigest()
        return {
            "name": self.asked.target.name,
            "format": self.job.format.name,
            "sha256": digest,
            "records": self.job.counts.total,
            "verified_k": k,
            "parts": parts,
        }


def came_from(table: PartsReader) -> Manifest:
    """What came in: every file with its size and the hash of its bytes."""
    each = [{"name": part.name, "size": part.size, "sha256": part.sha256} for part in table.each]
    described = {"name": table.file.name, "format": table.format.name, "sha256": table.file.sha256, "parts": each}
    return described | ({"dialect": asdict(table.dialect)} if table.format.is_text else {})


def numbers_of_parts(new: "Sequence[Stored]", records: Sequence[int]) -> "list[Stored | None]":
    """The new numbers of every part, where only those with records have some; None where numbers stay."""
    coming = iter(new)
    return [next(coming, None) if size else None for size in records]


def only(said: dict[str, Any], made: Any) -> Any:
    """What is known of a task, as what it has made."""
    return made(**{name: value for name, value in said.items() if name != "used"})


def cells_for(records: int, width: int, memory: int) -> int:
    """How many cells: one if all records fit, else a power of two: a little more memory changes nothing."""
    most = min(CELL, records_within(memory, width))
    if records <= most:
        return 1
    return power_of_two(-(-records // max(1, int(_SPARE * most))))


def power_of_two(least: int) -> int:
    """The lowest one that is not below a number."""
    return 1 << max(0, least - 1).bit_length()


def disk_error(target: Path, error: OSError) -> ShoalError:
    """The disk does not do what it should."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return ShoalError(
            f"the disk of {target} is full; make room and run the same command again; it resumes here"
        )
    return ShoalError(f"cannot write {target}: {error.strerror or type(error).__name__}")
