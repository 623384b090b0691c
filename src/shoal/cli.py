"""The command line: parse, call the library, print. Heavy imports wait until a command runs."""

import json
import logging
import os
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from shoal.errors import ShoalError
from shoal.locations.command import app as locations
from shoal.option_rules import combinations_read, gap_values_read, names_read, pairs
from shoal.options import DIALECT, MODELS, SETTINGS, split, takes
from shoal.parameters import Maybe, Number, Whole
from shoal.progress import progress_bar
from shoal.signals import StoppedError, forget_signals, is_closed, signalled, words_on
from shoal.terminal import (
    checked_output,
    collected_warnings,
    complain,
    preparing,
    print_assessment,
    print_comparison,
    print_inspection,
    print_result,
    print_table,
    print_times,
    prove,
    write_release,
)

if TYPE_CHECKING:
    from shoal.recipe import Recipe
    from shoal.report import Edition, Pages
    from shoal.settings import Settings
    from shoal.verification import Verification

app = typer.Typer(
    name="shoal",
    help="k-anonymous microaggregation: publish the table, and hide every person in a shoal of at least k.",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(locations)

File = Annotated[str, typer.Argument(metavar="FILE", help="CSV, Parquet or Arrow file; - for standard input.")]
Quasi = Annotated[
    list[str],
    typer.Option(
        "-q", "--quasi-identifiers", metavar="A,B", help="Columns by which a person could be recognised."
    ),
]
Confidential = Annotated[
    list[str], typer.Option("-c", "--confidential", metavar="A,B", help="Columns to keep as they are.")
]
Identifiers = Annotated[list[str], typer.Option("-i", "--identifiers", metavar="A,B", help="Columns to drop.")]
Anonymity = Annotated[str | None, typer.Option("-k", metavar="K", help="Least number of records in a group.")]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Most memory to use, such as 1GB; larger tables are streamed. [4GB]"),
]
Person = Annotated[
    str | None, typer.Option(metavar="A", help="The column that tells whose row it is; k counts persons.")
]
Household = Annotated[
    str | None,
    typer.Option(metavar="A", help="The household of each row; k counts households, or persons of two or more."),
]
Within = Annotated[list[str], typer.Option(metavar="A,B", help="Strata, which k is counted together with.")]
AcceptLinkage = Annotated[
    bool, typer.Option("--accept-linkage", help="Do not ask that K persons have the same rows.")
]
Also = Annotated[
    list[str],
    typer.Option(metavar="k=N:A,B", help="Count some of the columns alone, for a larger k; repeat for more."),
]
GapValues = Annotated[
    list[str],
    typer.Option(metavar="[A=]V,W", help="What means a missing value, beside empty cells; repeat for more."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print warnings and errors only.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", "-f", help="Replace files that exist.")]


def version(asked: bool) -> None:
    """Print the version and stop."""
    if asked:
        from shoal.version import __version__

        print(f"shoal {__version__}")
        raise typer.Exit


@app.callback()
def shoal_command(
    context: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """k-anonymous microaggregation: publish the table, and hide every person in a shoal of at least k."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
@takes(settings=SETTINGS, dialect=DIALECT)
def anonymize(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="CSV, Parquet or Arrow file; - for standard input.")
    ] = None,
    k: Anonymity = None,
    quasi_identifiers: Quasi = [],  # noqa: B006 - typer wants a list and never changes it
    confidential: Confidential = [],  # noqa: B006
    identifiers: Identifiers = [],  # noqa: B006
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="The release; - for standard output.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write an HTML report; keep it private.")
    ] = None,
    public_report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a report that may be published.")
    ] = None,
    method: Annotated[str | None, typer.Option(metavar="NAME", help="See `shoal methods`. [auto]")] = None,
    parameter: Annotated[
        list[str],
        typer.Option("-p", "--parameter", metavar="A=2", help="A parameter of the method; repeat for more."),
    ] = [],  # noqa: B006
    settings: Any = None,  # one option for each setting
    recipe: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Repeat the release that this manifest describes.")
    ] = None,
    certificate: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Prove how far the groups can be from the optimum.")
    ] = None,
    memory: Memory = None,
    engine: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Share a folder of files among workers: dask, processes or threads."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="The scheduler of a Dask cluster, such as tcp://host:8786."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", help="How many workers on this machine. [one for each core]")
    ] = None,
    encrypt_cells: Annotated[
        bool, typer.Option("--encrypt-cells", help="Encrypt what workers write to the private folder.")
    ] = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    dialect: Any = None,  # one option for each thing that can be said of a CSV file
) -> None:
    """Release a table in which every person hides among at least K.

    shoal anonymize people.csv -k 5 -q age,zip,income -c diagnosis -i name -o safe.csv --report safe.html

    A table that does not fit into memory is processed in parts. Interrupted, the same command resumes.
    """
    Maybe(Number(0)).check("--certificate", certificate)
    roles = {"quasi_identifiers": quasi_identifiers, "confidential": confidential, "identifiers": identifiers}
    given = {
        **({} if k is None else {"k": whole_k(k)}),
        **{role: split(names) for role, names in roles.items() if names},
        **({} if method is None and not parameter else {"method": "auto" if method is None else method}),
        **settings,
    }
    expected: Recipe | None = None
    if recipe is not None:
        if given or dialect:
            raise ShoalError(
                f"the recipe already contains these settings; leave out {', '.join([*given, *dialect])}"
            )
        file, expected = from_recipe(recipe, file)
        dialect = expected.dialect
    elif file is None:
        raise ShoalError("no input: name a CSV, Parquet or Arrow file, or - for standard input")
    elif k is None:
        raise ShoalError("k is missing: give the least number of records in a group, for example -k 5")
    if output is None:
        raise ShoalError(
            "no output: say where to write the release, for example -o safe.csv, or -o - for standard output"
        )
    pages = pages_of(report, public_report)
    if engine or scheduler or workers or encrypt_cells:
        if expected is not None or certificate is not None:
            raise ShoalError("workers repeat no recipe and prove no certificate; leave these out")
        asked = settings_from(given, parameter)
        by = engine, scheduler, workers, encrypt_cells
        share(file, output, asked, dialect, by, pages, memory, overwrite, quiet, as_json)
        return
    check_outputs(file, output, pages, overwrite)
    asked = settings_from(given, parameter) if expected is None else expected.settings
    check_key(asked.pseudonym_key, file, output, pages)
    if is_streamed(file, output, memory, expected):
        if certificate is not None:
            raise ShoalError("a table that is streamed cannot be certified: leave --certificate out")
        stream(file, output, pages, expected, asked, dialect, memory, overwrite, quiet, as_json)
        return

    from shoal.files import read
    from shoal.files.memory import check_room
    from shoal.pipeline import released

    with collected_warnings(show=not as_json) as noted:
        check_room(Path(file))
        source = read(file, **dialect)
        if expected is not None and source.sha256 != expected.input_sha256:
            raise other_input(file)
        hidden = quiet or as_json
        with preparing(hidden), progress_bar(hidden, alone=output == "-") as progress:
            release = released(source, asked, progress)
        if release.manifest["method"].get("interrupted"):
            forget_signals()
        if certificate is not None:
            prove(release, certificate, quiet or as_json)
            forget_signals()
        verification = write_release(release, output, overwrite, pages)
    say = sys.stderr if output == "-" else sys.stdout
    if as_json:
        made = summary(release.manifest, verification.k, output, pages, noted)
        print(json.dumps(made, indent=2, default=str), file=say)
    elif not quiet:
        print_result(release.manifest, output, pages, say)
    check_repeated(expected, release.manifest)


def is_streamed(file: str, output: str, memory: str | None, expected: "Recipe | None") -> bool:
    """Whether the table is too large for memory; a recipe is repeated in the way that it was made."""
    from shoal.files.memory import bytes_of
    from shoal.stream.run import fits

    limit = bytes_of(memory)
    if memory is not None and expected is not None:
        raise ShoalError("the recipe fixes the number of blocks; leave out --memory")
    in_blocks = expected is not None and expected.blocks is not None
    if "-" in (file, output):
        if memory is not None or in_blocks:
            raise ShoalError("standard input and output cannot be streamed; name files, or leave out --memory")
        return False
    return in_blocks or (expected is None and not fits(Path(file), Path(output), limit))


def stream(
    file: str,
    output: str,
    pages: "Pages",
    expected: "Recipe | None",
    settings: "Settings",
    dialect: dict[str, Any],
    memory: str | None,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Anonymize a table that is larger than memory."""
    from shoal.files import Said
    from shoal.files.file import hash_of
    from shoal.stream.run import released_file
    from shoal.stream.work import unfinished

    if expected is not None and hash_of(Path(file)) != expected.input_sha256:
        raise other_input(file)
    blocks = None if expected is None else expected.blocks
    with collected_warnings(show=not as_json) as noted:
        if (waiting := unfinished(output)) and not quiet and not as_json:
            print(f"shoal: {waiting}", file=sys.stderr)
        try:
            with preparing(quiet or as_json), progress_bar(quiet or as_json, "anonymizing") as progress:
                said = Said(**dialect)
                release = released_file(file, output, settings, said, memory, blocks, overwrite, progress, pages)
        except (KeyboardInterrupt, StoppedError) as stop:
            raise PausedError(stop) from None
    if as_json:
        print(
            json.dumps(summary(release.manifest, release.verified_k, output, pages, noted), indent=2, default=str)
        )
    elif not quiet:
        print_result(release.manifest, output, pages)
    check_repeated(expected, release.manifest)


def share(
    file: str,
    output: str,
    settings: "Settings",
    dialect: dict[str, Any],
    by: tuple[str | None, str | None, int | None, bool],
    pages: "Pages",
    memory: str | None,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Anonymize several files by several workers."""
    from shoal.files import Said
    from shoal.stream.cluster.seal import KEY
    from shoal.stream.run import By, released_folder

    asked = By(by[0] or "dask", *by[1:])
    with collected_warnings(show=not as_json) as noted:
        try:
            with progress_bar(quiet or as_json, "anonymizing") as progress:
                said = Said(**dialect)
                release = released_folder(
                    file, output, settings, said, asked, memory, None, overwrite, progress, pages
                )
        except (KeyboardInterrupt, StoppedError) as stop:
            raise stop if asked.encrypt_cells and KEY not in os.environ else PausedError(stop) from None
    if as_json:
        made = summary(release.manifest, release.verified_k, output, pages, noted)
        print(json.dumps(made | {"times": {step: asdict(time) for step, time in release.times.items()}}, indent=2))
    elif not quiet:
        print_result(release.manifest, output, pages)
        print_times(release.times)


def check_repeated(expected: "Recipe | None", manifest: dict[str, Any]) -> None:
    """Whether a recipe has given the same release again."""
    if expected is not None and expected.output_sha256 not in (None, manifest["output"]["sha256"]):
        raise FailedError(
            "the new release differs from the one in the recipe; possible causes are another version of Shoal, "
            "another file format, or a method with a time limit in seconds"
        )


def other_input(file: str) -> ShoalError:
    """A recipe is for one input."""
    return ShoalError(f"{file} is not the input of the recipe: its hash is different")


@app.command()
@takes(settings=SETTINGS, dialect=DIALECT)
def compare(
    file: File,
    ks: Annotated[
        list[str], typer.Option("-k", metavar="K,K", help="The values of k to compare. [3,5,10,25]")
    ] = [],  # noqa: B006 - typer wants a list and never changes it
    quasi_identifiers: Quasi = [],  # noqa: B006
    confidential: Confidential = [],  # noqa: B006
    identifiers: Identifiers = [],  # noqa: B006
    methods: Annotated[
        list[str],
        typer.Option("--methods", metavar="A,B", help="See `shoal methods`. [mdav,vmdav,imhm,pcl,auto]"),
    ] = [],  # noqa: B006
    parameter: Annotated[
        list[str],
        typer.Option("-p", "--parameter", metavar="M:A=2", help="A parameter of the method M; repeat for more."),
    ] = [],  # noqa: B006
    settings: Any = None,  # one option for each setting
    seconds: Annotated[
        float | None, typer.Option(metavar="S", help="Most time of a setting; one that takes longer is ended.")
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where figures are kept, to resume. [a folder of yours for such files]"),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Keep no figures.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the rows: .json or .csv.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw loss, risk and time: .svg or .png.")
    ] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all of it as an HTML page.")] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    dialect: Any = None,  # one option for each thing that can be said of a CSV file
) -> None:
    """Set methods and values of k side by side: loss, time, risk. Nothing is released.

    shoal compare people.csv -k 3,5,10 --methods mdav,auto -q age,zip,income -c diagnosis -i name

    Interrupted, the same command resumes.
    """
    from shoal.comparison.caching import usual_folder
    from shoal.comparison.grid import DEFAULT_K, DEFAULT_METHODS, checked_seconds, grid, numbers_read
    from shoal.comparison.result import check_files
    from shoal.comparison.run import compared
    from shoal.files import read
    from shoal.files.memory import check_room

    if cache is not None and no_cache:
        raise ShoalError("--cache and --no-cache contradict each other; leave one of them out")
    limit = checked_seconds(seconds)
    names = split(methods) or list(DEFAULT_METHODS)
    asked = grid(
        numbers_read(ks) or DEFAULT_K,
        with_parameters(names, parameter) if parameter else names,
        split(quasi_identifiers), split(confidential), split(identifiers), settings, limit,
    )  # fmt: skip
    check_files(None if file == "-" else Path(file), output, plot, report, overwrite)
    place = None if no_cache else cache or usual_folder()
    with collected_warnings(show=not as_json) as noted:
        if file != "-":
            check_room(Path(file))
        source = read(file, **dialect)
        try:
            with progress_bar(quiet or as_json, "comparing") as progress:
                found = compared(source, asked, limit, place, progress)
        except StoppedError as stop:
            raise stop if no_cache else PausedError(stop) from None
    if as_json:
        print(json.dumps(found.as_dict() | {"warnings": noted}, indent=2))
    elif not quiet:
        print_comparison(found, place)
    if found.interrupted:
        raise KeyboardInterrupt if no_cache else PausedError(KeyboardInterrupt())
    for target, write in ((output, found.write), (plot, found.plot), (report, found.report)):
        if target is not None:
            write(target, overwrite=overwrite)
            if not quiet and not as_json:
                print(f"written: {target}")


@app.command()
@takes(models=MODELS, dialect=DIALECT)
def verify(
    file: File,
    quasi_identifiers: Quasi = [],  # noqa: B006
    k: Anonymity = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    memory: Memory = None,
    person: Person = None,
    household: Household = None,
    within: Within = [],  # noqa: B006
    accept_linkage: AcceptLinkage = False,
    also: Also = [],  # noqa: B006
    gap_values: GapValues = [],  # noqa: B006
    models: Any = None,  # one option for each privacy model
    dialect: Any = None,  # one option for each thing that can be said of a CSV file
) -> None:
    """Count how many records share their quasi-identifiers; exit status 1 if fewer than K.

    shoal verify safe.csv -q age,zip,income -k 5
    """
    from shoal.verification import verify as run

    if accept_linkage and person is None and household is None:
        raise ShoalError("--accept-linkage says nothing without --person; give --person too, or leave it out")
    asked = None if k is None else whole_k(k)
    larger = combinations_read(also)
    found = run(
        file,
        split(quasi_identifiers),
        memory=memory,
        person=person,
        household=household,
        within=names_read(within),
        also=larger,
        models=models,
        gap_values=gap_values_read(gap_values) if gap_values else None,
        **dialect,
    )
    below = found.below(asked) if asked else 0
    holds = asked is None or found.k >= asked
    missed = [each for each in found.combinations if each.k < each.asked]
    few = [each for each in found.counts[1:] if asked is not None and each.k < each.least]
    alone = [each for each in found.links[:1] if asked is not None and each.k < asked and not accept_linkage]
    if as_json:
        said = {
            "records": found.n_records,
            "groups": found.n_groups,
            "k": found.k,
            "asked": asked,
            "below": below,
            "k_with_gaps_as_wildcards": found.wildcard_k,
            "wildcards_not_counted": found.not_counted,
            "counts": found.whom,
            "same_rows": found.links[0].k if found.links else None,
            "households": next((each.k for each in found.counts if each.whom == "households"), None),
            "also": [
                {"columns": list(each.columns), "k": each.k, "asked": each.asked} for each in found.combinations
            ],
            "models": [check.as_dict() for check in found.models],
        }
        print(json.dumps(said, indent=2))
    elif not quiet:
        print_found(found)
        if asked and found.counts:
            first = found.counts[0]
            many = f"1 {first.one} is" if below == 1 else f"{below} {first.whom} are"
            no = f"No, {many} in combinations of fewer than {asked} {first.whom}."
            print(f"Yes, at least {asked} {first.whom} share each combination." if holds else no)
            for each in few:
                print(f"No, some combinations are those of 1 {each.one} alone, and {each.least} must share each.")
            for link in alone:
                print(
                    f"No, only {link.have} the same rows, fewer than {asked}: "
                    f"whoever knows all rows of a {link.one} may find them."
                )
        elif asked:
            no = f"No, the file is not {asked}-anonymous: {below} records are in smaller groups."
            print(f"Yes, the file is {asked}-anonymous." if holds else no)
    broken = [check for check in found.models if not check.holds]
    if not holds or missed or alone or few or broken:
        raise typer.Exit(1)


def print_found(found: "Verification") -> None:
    """What was counted on a file, in sentences."""
    whom = f" {found.counts[0].whom if found.k != 1 else found.counts[0].one}" if found.counts else ""
    print(f"{found.name}: {found.n_records} records in {found.n_groups} groups, the smallest has {found.k}{whom}")
    if found.wildcard_k is not None:
        print(f"With a missing value as a wildcard, at least {found.wildcard_k} records fit each record.")
    if found.not_counted:
        print(f"With a missing value as a wildcard, it was not counted: {found.not_counted}.")
    for link in found.links[:1]:
        print(f"Rows of a {link.one} are linked {link.where}: at least {link.have} the same rows.")
    print_models(found)
    for asked, columns, k in found.combinations:
        verdict, whom = "Yes" if k >= asked else "No", found.whom if k != 1 else found.whom.removesuffix("s")
        print(f"{verdict}, on {', '.join(columns)} alone the smallest group has {k} {whom}, asked for {asked}.")


def print_models(found: "Verification") -> None:
    """What privacy models found in a file."""
    for check in found.models:
        worst = check.model.said(check.value)
        gaps = f" Values missing: {check.gaps}." if check.gaps else ""
        if check.holds:
            print(f"Yes, {check.model} holds: the worst group has {worst}.{gaps}")
        else:
            print(
                f"No, {check.model} does not hold: {len(check.broken)} of {len(check.values)} groups break it, "
                f"with {check.records_broken} records; the worst has {worst}.{gaps}"
            )


@app.command()
@takes(dialect=DIALECT)
def assess(
    original: Annotated[str, typer.Argument(metavar="ORIGINAL", help="The table that the release was made of.")],
    released: Annotated[str, typer.Argument(metavar="RELEASED", help="The release, whichever tool made it.")],
    quasi_identifiers: Quasi = [],  # noqa: B006
    confidential: Annotated[
        list[str], typer.Option("-c", "--confidential", metavar="A,B", help="Columns that the release is about.")
    ] = [],  # noqa: B006
    key: Annotated[
        str | None, typer.Option(metavar="A", help="A column of both tables that tells records apart.")
    ] = None,
    by_position: Annotated[
        bool, typer.Option("--by-position", help="The rows of both tables have the same order.")
    ] = False,
    other: Annotated[
        str | None, typer.Option("--with", metavar="FILE", help="Another release that somebody may hold too.")
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="A", help="The sampling weights of the released records.")
    ] = None,
    control: Annotated[
        str | None, typer.Option(metavar="FILE", help="People like these who are not in the table.")
    ] = None,
    population: Annotated[
        str | None, typer.Option(metavar="FILE", help="Everybody whom an attacker may think of.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all figures as a page; keep it private.")
    ] = None,
    public_report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page that may stand beside the release.")
    ] = None,
    seed: Annotated[str, typer.Option(metavar="N", help="Of what is drawn at random.")] = "0",
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
    dialect: Any = None,  # one option for each thing that can be said of a CSV file
) -> None:
    """Measure what a release lost and what it gives away, whichever tool made it.

    shoal assess people.csv safe.csv -q age,zip,income -c diagnosis --report assessed.html

    Of a release of Shoal, the manifest beside it says whose row is whose, and which columns are meant.
    """
    files = {"the original": original, "the release": released, "the control table": control}
    files |= {"the population": population, "the other release": other}
    pages = [page for page in (report, public_report) if page is not None]
    check_assessed(files, pages, overwrite)

    from shoal.assessment import assess as run

    with collected_warnings(show=True), progress_bar(quiet or as_json, "assessing") as progress:
        found = run(
            original, released, split(quasi_identifiers), split(confidential), key=key, by_position=by_position,
            weight=weight, control=control, population=population, other=other, seed=whole_seed(seed),
            progress=progress, **dialect,
        )  # fmt: skip
        if report is not None:
            found.report(report, "owner", overwrite)
        if public_report is not None:
            found.report(public_report, "public", overwrite)
    if as_json:
        print(found.to_json())
    elif not quiet:
        print_assessment(found, Path(released).name, report, public_report)


def check_assessed(files: dict[str, str | None], pages: list[Path], overwrite: bool) -> None:
    """Whether everything can be read and written, before any work is done."""
    from shoal.files.atomic import check_target, remove_leftovers

    from_input = [called for called, name in files.items() if name == "-"]
    if len(from_input) > 1:
        raise ShoalError(f"{' and '.join(from_input)} cannot both come from standard input; name a file for one")
    if any(str(page) == "-" for page in pages):
        raise ShoalError("a report goes to a file, not to standard output; name one")
    if len({page.resolve() for page in pages}) < len(pages):
        raise ShoalError(f"{pages[0]} is to be both reports; choose another name for one")
    for page in pages:
        remove_leftovers([page])
        for called, name in files.items():
            if (
                name not in (None, "-")
                and page.is_file()
                and Path(str(name)).exists()
                and page.samefile(str(name))
            ):
                raise ShoalError(f"{page} is {called}; choose another name for the report")
        check_target(page, overwrite)


def whole_seed(text: str) -> int:
    """A seed from the command line."""
    try:
        return Whole(0).check("seed", int(text))
    except ValueError:
        raise ShoalError(f"seed must be a whole number of at least 0, not {text!r}") from None


@app.command()
@takes(dialect=DIALECT)
def inspect(
    file: File,
    as_json: AsJson = False,
    memory: Annotated[str | None, typer.Option(metavar="SIZE", help="Most memory to use. [512MB]")] = None,
    dialect: Any = None,  # one option for each thing that can be said of a CSV file
) -> None:
    """Show the columns of a table and suggest a role for each.

    shoal inspect people.csv
    """
    from shoal.inspection.look import inspect as run

    with collected_warnings(show=not as_json):
        found = run(file, memory=memory, **dialect)
    if found.numbered:
        dialect["number_names"] = True
    if as_json:
        print(json.dumps(found.as_dict(), indent=2, default=str))
        return
    streamed = file != "-" and is_streamed(file, "safe.csv", memory, None)
    print_inspection(found, file, dialect | ({"memory": memory} if memory else {}), streamed)


@app.command()
def methods(as_json: AsJson = False) -> None:
    """List the methods that group records."""
    from shoal import methods  # noqa: F401 - they register themselves
    from shoal.catalogue import listed

    rows: list[dict[str, Any]] = [
        {
            "name": kind.name,
            "family": kind.family,
            "class": kind.__name__,
            "idea": kind.idea,
            "parameters": {key: value for key, value in kind().get_params().items() if key != "k"},
            "cost": kind.cost,
            "reference": kind.reference,
        }
        for kind in listed()
    ]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    table = [
        (
            row["name"],
            row["idea"],
            ", ".join(f"{key}={value}" for key, value in row["parameters"].items()),
            row["cost"],
            row["reference"],
        )
        for row in rows
    ]
    print_table(("method", "idea", "parameters beside k", "cost", "reference"), table)


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to put the files.")] = Path("shoal-demo"),
    overwrite: Overwrite = False,
) -> None:
    """Anonymize a clinic's table of 3000 invented patients, from end to end."""
    import pyarrow.csv

    from shoal.datasets import clinic
    from shoal.files import atomically

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ShoalError(f"cannot make the folder {folder}: {error.strerror}") from None
    patients = folder / "patients.csv"
    with atomically(patients, overwrite) as temporary:
        pyarrow.csv.write_csv(clinic(), temporary)
    command = [
        *("anonymize", str(patients), "-k", "5", "-q", "birth_year,postcode,height,weight,income"),
        *("-c", "diagnosis", "-i", "name", "-o", str(folder / "release.csv")),
        *("--report", str(folder / "report.html"), *(["--overwrite"] if overwrite else [])),
    ]
    print(f"$ shoal {' '.join(command)}")
    app(command, standalone_mode=False)


INTERRUPTED = 130


class FailedError(Exception):
    """The work was done and its result is not what was asked for: exit status 1."""


class PausedError(Exception):
    """Interrupted, with work on the disk from which the same command resumes."""

    def __init__(self, stop: BaseException) -> None:
        super().__init__()
        self.stop = stop


def main() -> NoReturn:
    """Run the command line; whatever goes wrong is said in one line, without a traceback."""
    logging.getLogger().addHandler(logging.NullHandler())  # no library speaks in between
    try:
        with collected_warnings(show=True):
            status = app(standalone_mode=False) or 0
        sys.stdout.flush()
        if status == INTERRUPTED:  # typer turns an interrupt into a status
            raise KeyboardInterrupt
        status = checked_output(status)
    except FailedError as error:
        status = complain(str(error), 1)
    except ShoalError as error:
        status = complain(str(error), 2)
    except typer.TyperException as error:
        status = complain(error.format_message(), 2)
    except PausedError as paused:
        words, status = words_on(paused.stop)
        complain(f"{words}; run the same command again to resume", status)
    except (KeyboardInterrupt, StoppedError, typer.Abort) as stop:
        status = complain(*words_on(stop))
    except OSError as error:
        status = complain(f"{error.strerror or error}", 2)
    except MemoryError:
        status = complain("out of memory; try --memory 1GB, which streams a large table, or fewer records", 2)
    except Exception as error:
        if os.environ.get("SHOAL_DEBUG"):
            raise
        if (asked := signalled()) is not None:  # half of an import, for one, gives errors of all kinds
            sys.exit(complain(*words_on(asked)))
        status = complain(
            f"internal error ({type(error).__name__}: {error}); "
            "set SHOAL_DEBUG=1 to see where, and please report it",
            70,
        )
    sys.exit(status)


def whole_k(text: str) -> int:
    """k from the command line."""
    try:
        return Whole(1).check("k", int(text))
    except ShoalError:
        raise
    except ValueError:
        raise ShoalError(f"k must be a whole number of at least 1, not {text!r}") from None


def settings_from(given: dict[str, Any], parameter: list[str]) -> "Settings":
    """The settings that the options ask for."""
    from shoal.catalogue import method_of
    from shoal.settings import Settings

    if parameter:
        from shoal import methods  # noqa: F401 - they register themselves

        given["method"] = method_of(given["method"], given.pop("k"), parameters_of(parameter))
    return Settings.of(**given)


def parameters_of(given: list[str]) -> dict[str, bool | int | float | str]:
    """Parameters of a method from options such as gamma=1.1; numbers, true and false where they are."""
    parameters: dict[str, bool | int | float | str] = {}
    for name, value in pairs(given, "parameter", "name=value, such as gamma=1.1").items():
        parameters[name] = {"true": True, "false": False}.get(value.lower(), value)
        for number in (float, int):
            with suppress(ValueError):
                parameters[name] = number(value)
    return parameters


def with_parameters(methods: list[str], given: list[str]) -> list[Any]:
    """Methods of a comparison, with parameters from options such as pcl:hierarchy=1000."""
    from shoal import methods as _  # noqa: F401 - they register themselves
    from shoal.catalogue import method_of

    of: dict[str, list[str]] = {name: [] for name in methods}
    for item in given:
        name, sign, pair = item.partition(":")
        if not sign or name not in of:
            raise ShoalError(
                f"a parameter is given with its method, such as {methods[0]}:name=value, not {item!r}; "
                f"the methods are {', '.join(methods)}"
            )
        of[name].append(pair)
    return [method_of(name, 5, parameters_of(own)) if own else name for name, own in of.items()]


def from_recipe(path: Path, file: str | None) -> tuple[str, "Recipe"]:
    """The input and the recipe; an input that is not named is looked for by the recipe's name for it."""
    from shoal.recipe import load_recipe

    recipe = load_recipe(path)
    recipe.check_key()
    if file is not None:
        return file, recipe
    name = recipe.input_name
    found = [place for place in (Path(name or ""), path.parent / (name or "")) if place.is_file()]
    if not found:
        raise ShoalError(f"the recipe's input {name!r} is not here; name the input file")
    return str(found[0]), recipe


def pages_of(report: Path | None, public_report: Path | None) -> "Pages":
    """Where the editions of the report go that are asked for."""
    asked: tuple[tuple[Edition, Path | None], ...] = ("owner", report), ("public", public_report)
    return {edition: page for edition, page in asked if page is not None}


def check_outputs(file: str, output: str, pages: "Pages", overwrite: bool) -> None:
    """Whether everything can be written, before any work is done."""
    from shoal.files import format_of
    from shoal.files.atomic import check_target, remove_leftovers
    from shoal.report import refuse_same
    from shoal.stream.work import Work

    if output == "-" and is_closed("stdout"):
        raise ShoalError("standard output is closed; name a file for the release, for example -o safe.csv")
    work = None
    if output != "-":
        check_target(Path(output), overwrite=True)
        work = Work(Path(output), pages)
        work.sweep(overwrite)
        remove_leftovers([*pages.values(), *work.names])
    if any(str(page) == "-" for page in pages.values()):
        raise ShoalError("the report goes to a file, not to standard output; name one")
    refuse_same(list(pages.values()), Path(output))
    for target in [*(reversed(work.names) if work else ()), *pages.values()]:
        if file != "-" and target.is_file() and Path(file).exists() and target.samefile(file):
            raise ShoalError(f"{target} is the input; choose another name for what is written")
        check_target(target, overwrite or (work is not None and work.has_named(target)))
    if work is not None:
        format_of(Path(output))


def check_key(key: str | None, file: str, output: str, pages: "Pages") -> None:
    """The key of pseudonyms is none of the other files."""
    from shoal.files.sidecar import manifest_path
    from shoal.pseudonyms import check_key_place

    release = [] if output == "-" else [Path(output), manifest_path(Path(output))]
    check_key_place(key, [*release, *pages.values()], None if file == "-" else Path(file))


def summary(
    manifest: dict[str, Any], verified_k: int, output: str, pages: "Pages", noted: list[str]
) -> dict[str, Any]:
    """What was done, for programs."""
    return {
        "output": output,
        "report": pages.get("owner"),
        "public_report": pages.get("public"),
        "verified_k": verified_k,
        "warnings": noted,
        "manifest": manifest,
    }
