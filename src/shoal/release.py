"""A release: the table to hand on, the groups behind it, what it lost; written whole and verified."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes import CommonValues
from shoal.bounds import LowerBound
from shoal.cards import Card, named
from shoal.certificate import Certificate, certify
from shoal.design import Design, counted_as
from shoal.errors import ShoalError, some, warn
from shoal.files import Dialect, Said, atomically, format_of, write
from shoal.files.atomic import check_target, naming, together
from shoal.files.sidecar import manifest_path
from shoal.files.spelling import number_pattern
from shoal.files.target import write_texts
from shoal.manifest import Manifest, output_of
from shoal.measures import Figure, Figured, InformationLoss, by_name, classes, replaced, verified
from shoal.measures.figures import wildcards
from shoal.measures.promises import promises
from shoal.measures.survey import linkage
from shoal.partition import Partition
from shoal.privacy.checking import Check
from shoal.privacy.coding import coding_for, settled
from shoal.privacy.k_anonymity import distinct, grouped, groups_in
from shoal.privacy.models import Model
from shoal.privacy.persons import sizes_of
from shoal.pseudonyms import check_key_place
from shoal.released_columns import Placed, distinct_texts
from shoal.report import Edition, refuse_same
from shoal.row_order import order_of
from shoal.settings import Settings
from shoal.space import Cells, Space
from shoal.table import Table, arrow_of, framed, texts
from shoal.verification import Verification, Whose, verify_as

Int = NDArray[np.int64]

Texts = Sequence[str] | Any  # a list, or a column of Arrow

WRITTEN = "the bytes written"
"""Where k is counted when a release is written."""

MOST_BARS = 12  # quasi-identifiers whose loss is drawn on a card


@dataclass(frozen=True, eq=False, repr=False)
class Release(Figured):
    """A k-anonymous table and all that is known about it.

    Attributes
    ----------
    table : the released table, of the kind that came in, its rows in the order of the input
    labels : the group of each record
    information_loss : 100 * SSE / SST of the values as released, on the scaled quasi-identifiers
    loss : the same in all and for each quasi-identifier
    figures : everything that is said about the release in numbers
    utility, risk : those of them that say what it is still good for, and what it gives away, by their names
    settings : all that was asked for
    partition : the groups
    cells : for each quasi-identifier the records that share its value: the groups, or more of them
    design : whose the records are
    manifest : what was done, as a dictionary; `output` is None until the release is written
    """

    original: Table
    space: Space
    partition: Partition
    cells: Cells
    common: Mapping[str, CommonValues]
    placed: Mapping[str, Placed]
    design: Design
    loss: InformationLoss
    settings: Settings
    figures: tuple[Figure, ...]
    manifest: Manifest

    def __repr__(self) -> str:
        return (
            f"Release(k={self.partition.k}, records={len(self.original)}, groups={self.partition.n_groups}, "
            f"information_loss={self.information_loss:.2f} %)"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        output = self.manifest["output"]
        steps = [
            ("release.table", "is the table to hand on"),
            ('release.write("safe.csv")', "writes it and verifies the bytes"),
            ('release.report("report.html")', "is for the owner of the table: it shows original data"),
        ]
        title = f"Release{': ' + output['name'] if output else ''}"
        return card_of(title, self.shown_figures, self.manifest, self.loss, steps, self.space.constant)

    @property
    def labels(self) -> Int:
        """The group of each record, numbered from 0."""
        return self.partition.labels

    @property
    def information_loss(self) -> float:
        """100 * SSE / SST of the values as released, on the scaled quasi-identifiers."""
        return self.loss.percent

    @cached_property
    def table(self) -> Any:
        """The released table, of the kind that came in, with its index and its rows in the order of the input.

        Whoever knows that order can match the records by their position; `write` puts them in a random one.
        """
        return self._released()

    @property
    def verified_k(self) -> int:
        """The smallest group of the released table, counted on its values; in persons where these are known."""
        return self._on_table[0]

    @cached_property
    def _on_table(self) -> tuple[int, int]:
        """The smallest group of the released table, and how many combinations of values it has."""
        names = self._verified_names
        groups = groups_in(arrow_of(framed(self._released()).select(*names)), names)
        return int(sizes_of(groups, self.design.counted).min()), int(groups.max()) + 1

    @property
    def _verified_names(self) -> tuple[str, ...]:
        """The columns that k is counted on: quasi-identifiers, strata and common weights."""
        roles = self.original.roles
        return (*roles.quasi_identifiers, *(each for each in roles.designed if each != self.settings.pseudonym))

    @property
    def shown_figures(self) -> tuple[Figure, ...]:
        """All figures, the k that was counted first: on the bytes, or on the table where nothing is written."""
        known = {figure.name: figure for figure in self.figures}
        if "verified_k" not in known:
            k, different = self._on_table
            counted = verified(k, self.partition.k, "the released table", self.design.whom)
            return counted, *self.figures, classes(different, self.partition.n_groups)
        return known.pop("verified_k"), *known.values()

    def _released(self) -> Any:
        """Made anew for each use: whoever changes `table` changes their copy."""
        frame, keep = self.original.frame, not self.settings.exact
        return self.original.replaced(
            values.column(frame[name], labels, keep) for name, (values, labels) in self.by_column.items()
        )

    @property
    def by_column(self) -> dict[str, Placed]:
        """The values of each column that changes, and which of them each record has."""
        common = {
            column: Placed(self.common[attribute.name].of(column), self.cells[attribute.name])
            for attribute in self.space.attributes
            for column in attribute.columns
        }
        return common | dict(self.placed)

    def write(
        self,
        path: str | os.PathLike[str],
        overwrite: bool = False,
        report: str | os.PathLike[str] | None = None,
        public_report: str | os.PathLike[str] | None = None,
    ) -> Verification:
        """Write the release and, beside it, its manifest; returns what was verified on the bytes.

        The rows leave in a random order, which follows from the key in the manifest, unless `keep_order` is set.
        The format follows from the name: .csv, .csv.gz, .tsv, .parquet or .arrow. The file appears whole,
        after it was read back and found k-anonymous, or not at all. With `report` or `public_report`, the
        owner's or the public edition of the report is written too; all files appear together or not at all.
        """
        target = Path(path)
        check_target(target, overwrite)
        asked: dict[Edition, str | os.PathLike[str] | None] = {"owner": report, "public": public_report}
        editions = {edition: Path(page) for edition, page in asked.items() if page is not None}
        pages = list(editions.values())
        for each in (*pages, target):
            self._refuse_input(each)
        refuse_same(pages, target)
        check_key_place(self.settings.pseudonym_key, [*pages, manifest_path(target), target])
        with together([*pages, manifest_path(target), target], overwrite) as (*drawn, described, temporary):
            dialect = self._write_to(temporary, target)
            verification = replace(self._verified(temporary, target, dialect), name=target.name)
            sha256 = hashlib.sha256(temporary.read_bytes()).hexdigest()
            output = output_of(target, sha256, verification.anonymity, dialect)
            figures = self._counted(verification)
            manifest = self.manifest | {"figures": by_name(figures), "output": output}
            whole = replace(self, figures=figures, manifest=manifest)
            text = json.dumps(whole.manifest, indent=2, ensure_ascii=False)
            with naming(manifest_path(target)):
                described.write_text(text + "\n", encoding="utf-8")
            whole._draw(
                {page: (draft, edition) for (edition, page), draft in zip(editions.items(), drawn, strict=True)}
            )
        self._know(figures)
        self.manifest["output"] = output
        return verification

    def _counted(self, verification: Verification) -> tuple[Figure, ...]:
        """The figures with what was counted on the bytes."""
        by = verification.counts[0].where if verification.counts else ""
        k = verified(verification.k, self.partition.k, WRITTEN, verification.whom, by)
        figures = replaced(self.figures, k)
        figures = replaced(figures, classes(verification.n_groups, self.partition.n_groups))
        if verification.links:
            found, column = verification.links[0], self.settings.pseudonym or ""
            figures = replaced(figures, linkage(found.k, self.partition.k, found.whom, column))
        for figure in promises(verification.models, WRITTEN):
            figures = replaced(figures, figure)
        if verification.wildcard_k is not None:
            figures = replaced(figures, wildcards(verification.wildcard_k))
        return figures

    def _know(self, figures: tuple[Figure, ...]) -> None:
        """What was found out about the release after it was made."""
        object.__setattr__(self, "figures", figures)
        self.manifest["figures"] = by_name(figures)

    def certificate(
        self, seconds: float = 10.0, *, n_jobs: int = 1, progress: Callable[[LowerBound], None] | None = None
    ) -> Certificate:
        """How far the groups can be from the best that there are: "at most 0.3 % above the optimum".

        The longer it may take, the sharper; `progress` is called with the lower bound so far. What was proven last
        stands in the manifest, if it is written after that.
        """
        if self.design.weights is not None:
            raise ShoalError(
                "a certificate speaks of records that count alike, and these have sampling weights; make a "
                "release without sampling_weight to certify its groups"
            )
        if self.settings.models:
            warn(
                "the lower bound of a certificate knows of k alone, and these groups keep privacy models too; "
                "what the models cost is part of the gap"
            )
        if not self.space.has_cells(self.cells, self.labels):
            why = "also" if self.settings.also else "person_rows='apart'"
            raise ShoalError(
                f"a certificate speaks of groups whose records share every value, and {why} gave some columns "
                f"other cells than the groups; make a release without {why} to certify its groups"
            )
        near = [each.name for each in self.space.attributes if each.said().get("distances") == "approximate"]
        if near:
            warn(
                f"the certificate speaks of the approximate distances that groups were formed by (columns "
                f"{some(map(repr, near))}); more coordinates make them exact"
            )
        proven = certify(self.space.points, self.partition, seconds, n_jobs=n_jobs, progress=progress)
        self._know(replaced(self.figures, certified(proven)))
        return proven

    def report(self, path: str | os.PathLike[str], overwrite: bool = False, edition: Edition = "owner") -> Path:
        """Write the report: one HTML file that needs nothing else.

        The owner's edition describes the original data too, so it is not for publication. The public one has only
        what may stand beside the published file.
        """
        target = Path(path)
        self._refuse_input(target)
        check_key_place(self.settings.pseudonym_key, [target])
        with atomically(target, overwrite) as temporary:
            self._draw({target: (temporary, edition)})
        return target

    def _draw(self, pages: Mapping[Path, tuple[Path, Edition]]) -> None:
        """Write pages, each to its temporary file."""
        if not pages:
            return
        from shoal.report.released import render  # takes long to load, and few need it

        with naming(next(iter(pages))):
            drawn = render(self, [edition for _, edition in pages.values()])
        for (target, (temporary, _)), text in zip(pages.items(), drawn, strict=True):
            with naming(target):
                temporary.write_text(text, encoding="utf-8")

    def _refuse_input(self, target: Path) -> None:
        source = self.original.source
        if source and source.path and target.exists() and source.path.exists() and target.samefile(source.path):
            raise ShoalError(f"{target} is the input; choose another name for what is written")

    def _write_to(self, temporary: Path, target: Path) -> Dialect | None:
        """Write the bytes of the release; returns the dialect where it is a CSV file."""
        kind, source = format_of(target), self.original.source
        style = kind.style_for(target, source.dialect if source else Dialect())
        if style is None:
            write(arrow_of(self._released()), temporary, kind, self._order())
            return None
        dialect = style.dialect
        released = self.by_column
        columns = {name: self._text(name, released.get(name), dialect) for name in self.original.kept}
        warn_of_formulas(
            columns, [name for name in columns if name not in self.original.roles.quasi_identifiers], dialect
        )
        write_texts(list(columns), list(columns.values()), temporary, kind, style, self._order())
        return dialect

    def _order(self) -> Int | None:
        """The places of the rows in the order in which they are written; None where they keep their order."""
        key = self.settings.key
        return None if key is None else order_of(key, np.arange(len(self.original)))

    def _text(self, name: str, placed: Placed | None, dialect: Dialect) -> Sequence[str]:
        """A column as text: released values, or what stood in the file that came in."""
        if placed is None:
            return column_text(self.original, name)
        short = np.array(placed.values.text(dialect.decimal), dtype=object)
        released: list[str] = short[placed.labels].tolist()
        return released

    def _whose(self) -> list[Whose]:
        """Who is counted on the bytes, where several rows may be of one: what k counts first."""
        order, link = self._order(), self.settings.pseudonym

        def rows(name: str | None, codes: Int) -> str | Int:
            if name is not None and name == link:
                return name
            return codes if order is None else codes[order]

        crowds = self.design.crowds(self.partition.k, len(self.original))
        return [Whose(each.whom, rows(each.name, each.codes), each.least) for each in crowds]

    def _written_groups(self, dialect: Dialect | None) -> Int:
        """The group of each row by all that k is counted on, in the order in which rows are written."""
        names, order = self._verified_names, self._order()
        if dialect is None:
            groups = groups_in(arrow_of(framed(self._released()).select(*names)), names)
        else:
            released = self.by_column
            groups = grouped([self._text_codes(name, released.get(name), dialect) for name in names])
        return groups if order is None else groups[order]

    def _text_codes(self, name: str, placed: Placed | None, dialect: Dialect) -> Int:
        """Which rows of a column are written alike."""
        if placed is None:
            return distinct(name, pa.chunked_array([column_text(self.original, name)], pa.string())).codes
        return distinct_texts(placed.values, dialect.decimal)[placed.labels]

    def _gap_texts(self) -> dict[str, tuple[str, ...] | None]:
        """What stands for a gap in each quasi-identifier and each column of a model, where that was said."""
        wishes = self.settings.wishes().items()
        said = {name: wish.gap_values for columns, wish in wishes for name in columns}
        return said | self.settings.promised_gaps()

    def _settled_models(self) -> list[Model]:
        """The privacy models as the columns have them: a file does not say in which order words are."""
        gaps, table = self.settings.promised_gaps(), self.original
        return [
            settled(model, coding_for(model, table.column(model.on), gaps[model.on]))
            for model in self.settings.models
        ]

    def _verified(self, written: Path, target: Path, dialect: Dialect | None) -> Verification:
        """Read the bytes back and count; what is not as promised never gets its name."""
        said, whose = Said(**({} if dialect is None else dialect.said())), self._whose()
        by_order = any(not isinstance(each.rows, str) for each in whose)
        strata = [name for name in self.settings.within if name in self.original.kept]
        try:
            verification = verify_as(
                format_of(target),
                written,
                self._verified_names,
                said,
                gaps=self._gap_texts(),
                whose=whose,
                linked_by=self.settings.pseudonym,
                also=self.settings.also,
                strata=strata,
                expected=self._written_groups(dialect) if by_order else None,
                models=self._settled_models(),
            )
        except ShoalError as error:
            raise ShoalError(f"not released, because {error}".replace(written.name, target.name)) from None
        refuse_small(verification.k, self.partition.k, verification.whom)
        refuse_few(verification, self.settings.accept_linkage)
        if verification.columns != self.original.kept or verification.n_records != len(self.original):
            raise other_records()
        return verification


def refuse_small(found: int, k: int, whom: str = "records") -> None:
    """A file whose smallest group is below k is never released."""
    if found < k:
        counted = "" if whom == "records" else f" in {whom}"
        raise ShoalError(f"the file as written is only {found}-anonymous{counted}, not {k}; it was not released")


def refuse_few(verification: Verification, accept_linkage: bool) -> None:
    """Neither is one that breaks another promise: on households, on some of the columns, on linked rows."""
    for found in verification.counts:
        if found.k < found.least:
            raise ShoalError(
                f"a group of the file as written has only {counted_as(found.k, found.whom)}, not {found.least}; "
                "it was not released"
            )
    for asked, columns, there in verification.combinations:
        if there < asked:
            raise ShoalError(
                f"the file as written has k={there} on {', '.join(columns)}, not {asked}; it was not released"
            )
    refuse_broken(verification.models)
    for link in verification.links:
        if not accept_linkage:
            refuse_links(link.k, link.whom, link.least)


def refuse_broken(checks: Sequence[Check]) -> None:
    """A file with a group that does not keep a privacy model is never released."""
    for check in checks:
        if not check.holds:
            raise ShoalError(
                f"{check.model} does not hold on the file as written: {len(check.broken)} groups break it; it was "
                "not released"
            )


def refuse_links(found: int, whom: str, least: int) -> None:
    """Linked rows that fewer have than must are not released, unless that is accepted."""
    if found < least:
        have = f"{counted_as(found, whom)} {'has' if found == 1 else 'have'}"
        raise ShoalError(
            f"pseudonyms link rows, and only {have} the same rows, fewer than {least}, so a sequence of rows may "
            "single somebody out; it was not released; leave out the pseudonym, or accept this (--accept-linkage)"
        )


def other_records() -> ShoalError:
    """A file that does not hold what was written is never released."""
    return ShoalError("the file as written reads back with other columns or records; it was not released")


def column_text(table: Table, name: str) -> list[str]:
    """A column that is released as it is: what stood in the file that came in, or its values as text."""
    if table.source and table.source.text is not None:
        kept: list[str] = table.source.text[name].to_pylist()
        return kept
    return texts(table.frame[name])


def warn_of_formulas(columns: Mapping[str, Sequence[str]], untouched: Sequence[str], dialect: Dialect) -> None:
    """Text that a spreadsheet would run as a formula, in columns that are released as they are."""
    for name in untouched:
        rows = formula_rows(columns[name], dialect)
        if len(rows):
            warn_of_formula(name, some(rows), len(rows))
    warn_of_names(columns)


def formula_rows(values: Texts, dialect: Dialect) -> Int:
    """The rows, counted from 1, that a spreadsheet would run as a formula."""
    texts = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, pa.string())
    suspect = pc.and_(
        pc.match_substring_regex(texts, r"^[=+\-@\t\r]"),
        pc.invert(pc.match_substring_regex(texts, number_pattern(dialect.decimal, dialect.thousands))),
    )
    return np.flatnonzero(suspect.to_numpy(zero_copy_only=False)) + 1


def warn_of_formula(name: str, rows: str, count: int) -> None:
    """Say which rows of a column hold formulas."""
    warn(
        f"column {name!r} holds text that a spreadsheet would run as a formula "
        f"(row{'s' if count > 1 else ''} {rows}); open the file as text only"
    )


def warn_of_names(columns: Iterable[str]) -> None:
    """Say which names of columns would run."""
    risky = [name for name in columns if name[:1] in "=+-@\t\r" and name]
    if risky:
        warn(f"column names that a spreadsheet would run as formulas: {some(map(repr, risky))}")


def certified(proven: Certificate) -> Figure:
    """The certificate of a release as a figure: how far its groups can be from the best ones."""
    gap = proven.gap if isfinite(proven.gap) else None
    details = {"sse": proven.sse, "lower_bound": float(proven.bound), "stage": proven.bound.stage}
    return Figure(
        "certificate", gap, "of the lower bound", "", "certificate", f"certificate: {proven}", "utility",
        details={"says": str(proven), "gap": gap, **details},
    )  # fmt: skip


def card_of(
    title: str,
    figures: Sequence[Figure],
    manifest: Manifest,
    loss: InformationLoss,
    steps: Sequence[tuple[str, str]],
    constant: Sequence[str] = (),
) -> str:
    """What a notebook shows of a release: figures and names of columns, and no value of the table."""
    method = manifest["method"]
    made = method["name"] + (f" ({method['chosen']['name']})" if "chosen" in method else "")
    public = [figure for figure in figures if figure.eyes == "public"]
    parts = [(part.name, part.percent) for part in loss.attributes]
    largest = parts if len(parts) <= MOST_BARS else sorted(parts, key=lambda part: -part[1])[:MOST_BARS]
    return Card(
        title,
        [*((each.shown, each.label) for each in public if each.shown), (made, "method")],
        largest,
        notes=notes_of(manifest, constant),
        steps=steps,
    ).html()


def notes_of(manifest: Manifest, constant: Sequence[str] = ()) -> list[str]:
    """What the owner should know before handing the release on."""
    notes = []
    if others := manifest["roles"]["others"]:
        notes.append(
            f"Columns without a role are released as they are: {named(others)}. "
            "Any of them may help to recognise a person."
        )
    if constant:
        notes.append(f"These columns have one value only and were not used for grouping: {named(constant)}.")
    if manifest["method"].get("interrupted"):
        notes.append("The method was interrupted: this is the best that it had found by then.")
    return notes
