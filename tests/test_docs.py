"""The docs and the code agree."""

import contextlib
import io
import re
import shlex
import sys
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import pytest

import shoal
from shoal import cli
from shoal.datasets import clinic, extract
from shoal.methods import METHODS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOR_ENGINEERS = ("architecture", "decisions", "lab-log", "changelog", "api")
KINDS = {"python": "run", "console": "run", "bash": "run", "text": "shown", "rooms": "shown"}


def test_the_api_page_has_everything_that_is_offered_and_nothing_else():
    pages = [ROOT / "docs" / "api.md", *(ROOT / "docs" / "methods").glob("*.md")]
    listed = [name for page in pages for name in re.findall(r"^::: shoal\.(\w+)$", page.read_text(), re.MULTILINE)]
    assert sorted(listed) == sorted(shoal.__all__)


def test_every_method_has_its_page_and_its_row_in_the_readme():
    readme = (ROOT / "README.md").read_text()
    overview = (ROOT / "docs" / "methods" / "index.md").read_text()
    for name, kind in METHODS.items():
        assert f"::: shoal.{kind.__name__}\n" in (ROOT / "docs" / "methods" / f"{name}.md").read_text()
        assert f"[`{kind.__name__}`](docs/methods/{name}.md)" in readme
        assert f"[{kind.__name__}]({name}.md)" in overview
        assert kind.__name__ in shoal.__all__


def test_every_room_stands_in_the_architecture():
    page = (ROOT / "docs" / "architecture.md").read_text()
    rooms = [path for path in (ROOT / "src" / "shoal").iterdir() if not path.name.startswith("__")]
    missing = [
        p.name for p in rooms if p.suffix in ("", ".py") and f"`{p.name}{'/' if p.is_dir() else ''}`" not in page
    ]
    assert missing == []


def test_links_between_files_lead_somewhere():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_what_a_page_includes_is_there():
    for page in (ROOT / "docs").rglob("*.md"):
        text = page.read_text()
        assert "--8 <" not in text, f"{page.name}: a formatter has been here"
        for target in re.findall(r'^--8<-- "(.*)"$', text, re.MULTILINE):
            assert (ROOT / target).is_file()


def test_names_that_pages_show_can_be_imported_from_shoal():
    for page in PAGES:
        if page.stem in FOR_ENGINEERS:
            continue
        for name in re.findall(r"\bshoal\.([A-Za-z]\w*)\b(?!\.(?:csv|json|html|md))", page.read_text()):
            assert name in [*shoal.__all__, "datasets"], f"{page.name}: shoal.{name}"


# Code blocks: each one is run, shown as text, or carries a comment that says why it is not run.


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    line: int
    kind: str
    text: str
    reason: str | None  # why it is not run

    @property
    def runs(self) -> bool:
        included = self.text.startswith('--8<-- "examples/')  # tests/test_examples.py runs these
        return KINDS.get(self.kind) == "run" and self.reason is None and not included


def blocks_of(text: str) -> list[Block]:
    """All fenced blocks of a page; `<!-- not run: reason -->` on the line before one is its reason."""
    lines, found = text.splitlines(), []
    opened = None
    for number, line in enumerate(lines):
        if opened is None and (fence := re.fullmatch(r"( *)```(\w*).*", line)):
            before = re.fullmatch(r"<!-- not run: (.+) -->", lines[number - 1].strip()) if number else None
            opened = number, fence[2], len(fence[1]), before and before[1]
        elif opened is not None and line.strip() == "```":
            start, kind, indent, reason = opened
            inside = "\n".join(each[indent:] for each in lines[start + 1 : number])
            found.append(Block(start + 1, kind, inside, reason))
            opened = None
    assert opened is None, "a block has no end"
    return found


def commands_of(block: Block) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with the output that the page shows for it."""
    found: list[tuple[str, list[str]]] = []
    for line in block.text.replace("\\\n", " ").splitlines():
        command = line.removeprefix("$ ")
        if block.kind == "bash" or line.startswith("$ "):
            if command.strip() and not command.startswith("#"):
                found.append((command, []))
        elif line.strip():
            found[-1][1].append(line.strip())
    return found


@cache
def patients() -> pa.Table:
    """The table of `shoal demo`."""
    return clinic()


@cache
def stays() -> pa.Table:
    """The table that pages call extract.csv: a raw extract of a clinic."""
    return extract()


@cache
def people() -> pa.Table:
    """The table that pages call people.csv: 120 invented people."""
    table = clinic(120)
    age = pc.subtract(2024, table["birth_year"])
    columns = [table["name"], age, table["postcode"], table["income"], table["diagnosis"]]
    return pa.table(columns, names=["name", "age", "zip", "income", "diagnosis"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the pages use."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()
    tables = (("people.csv", people), ("big.csv", people), ("demo/patients.csv", patients), ("extract.csv", stays))
    for name, table in tables:
        pyarrow.csv.write_csv(table(), tmp_path / name)
    pyarrow.parquet.write_table(people(), tmp_path / "big.parquet")
    return tmp_path


def run_command(line: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a command of Shoal in this process; what it prints."""
    words = shlex.split(line, comments=True)
    assert words[0] == "shoal", f"only commands of Shoal are run, mark the block as not run: {line}"
    monkeypatch.setattr(sys, "argv", words)
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        cli.main()
    assert not ended.value.code, f"{line}\n{err.getvalue()}"
    return out.getvalue() + err.getvalue()


def run_page(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the blocks of a page in order; Python shares its names, and what a page shows as output is printed."""
    scope: dict[str, object] = {"__name__": "page"}
    for block in blocks_of(text):
        where = f"the block in line {block.line}"
        if not block.runs:
            continue
        if block.kind == "python":
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore", shoal.ShoalWarning)
                try:
                    exec(compile(block.text, where, "exec"), scope)
                except Exception as error:
                    raise AssertionError(f"{where} fails: {type(error).__name__}: {error}") from error
                for what, stated in re.findall(r"^(\S.*?) +# ([\d.]+) \(percent\)$", block.text, re.MULTILINE):
                    assert f"{eval(what, scope):.2f}" == stated, f"{where}: {what} is {eval(what, scope)}"
        else:
            for command, shown in commands_of(block):
                printed = [" ".join(line.split()) for line in run_command(command, monkeypatch).splitlines()]
                for line in shown:
                    assert " ".join(line.split()) in printed, f"{where}: {command} does not print {line!r}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_code_block_of_a_page_runs_or_says_why_not(page, folder, monkeypatch):
    blocks = blocks_of(page.read_text())
    for block in blocks:
        assert block.kind in KINDS, f"line {block.line}: a block is one of {', '.join(KINDS)}"
    run_page(page.read_text(), monkeypatch)


def test_no_command_hides_in_an_indented_block():
    for page in PAGES:
        outside = re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        code = r"^\n {4}(?:shoal|pip|make|python|import|from|\w+ =|\w+\.\w+).*"
        hidden = re.findall(code, outside, re.MULTILINE)
        assert hidden == [], f"{page.name}: put it into a fenced block"


@pytest.mark.parametrize(
    "wrong",
    [
        "```python\nimport shoal\nshoal.no_such_name\n```",
        "```python\n1 / 0\n```",
        "```python\nhalf = 50\nhalf  # 51.00 (percent)\n```",
        "```python\nleft = 1\n```\n\n```python\nassert left == 2\n```",
        "```bash\nshoal anonymize people.csv -q age -o safe.csv\n```",
        "```bash\npip install .\n```",
        "```console\n$ shoal verify people.csv -q age\nall is well\n```",
    ],
)
def test_a_block_that_fails_is_found(wrong, folder, monkeypatch):
    with pytest.raises(AssertionError):
        run_page(f"# A page\n\n{wrong}\n", monkeypatch)
    marked = re.sub("^```(?=[a-z])", "<!-- not run: wrong -->\n```", wrong, flags=re.MULTILINE)
    run_page(f"# A page\n\n{marked}\n", monkeypatch)
