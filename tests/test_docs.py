"""The docs and the code agree."""

import re
from pathlib import Path

import pytest

import shoal
from shoal.methods import METHODS

ROOT = Path(__file__).parents[1]


def test_the_api_page_has_everything_that_is_offered_and_nothing_else():
    page = (ROOT / "docs" / "api.md").read_text()
    listed = re.findall(r"^::: shoal\.(\w+)$", page, re.MULTILINE)
    assert sorted(listed) == sorted(shoal.__all__)


def test_every_method_has_its_page_and_its_row_in_the_readme():
    readme = (ROOT / "README.md").read_text()
    overview = (ROOT / "docs" / "methods" / "index.md").read_text()
    for name, kind in METHODS.items():
        assert (ROOT / "docs" / "methods" / f"{name}.md").is_file()
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


def test_the_python_in_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[0]
    scope = {}
    with pytest.warns(shoal.ShoalWarning, match="'postcode' looks like codes of places"):
        exec(first, scope)
    stated = float(re.search(r"information_loss\s+# ([\d.]+) \(percent\)", first).group(1))
    assert round(scope["release"].information_loss, 2) == stated
    assert (tmp_path / "safe.html").is_file()


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
