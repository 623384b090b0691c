"""The rooms of the house: who may know whom, as docs/architecture.md draws it."""

import ast
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import shoal

PACKAGE = Path(shoal.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"


def imports_of(package):
    """Every module with the modules that it imports, also inside functions; what only types need does not count."""
    names = {name_of(path, package) for path in package.rglob("*.py")}
    found = {}
    for path in sorted(package.rglob("*.py")):
        found[name_of(path, package)] = {
            target for node in imported(ast.parse(path.read_text())) for target in targets_of(node, names)
        }
    return found


def name_of(path, package):
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree):
    """The import statements of a module, at any depth, but those for type checkers."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        waiting.extend(ast.iter_child_nodes(node))


def targets_of(node, names):
    if isinstance(node, ast.Import):
        wanted = [alias.name for alias in node.names]
    else:
        assert node.level == 0, "imports are absolute here"
        wanted = [f"{node.module}.{alias.name}" for alias in node.names]
    for name in wanted:
        while name and name not in names:
            name = name.rpartition(".")[0]
        if name:
            yield name


def room_of(module):
    """The room of a module: its folder in the package, or itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def order_on(page):
    """The rooms from left to right, as the page has them; those on one line do not know each other."""
    block = re.search(r"```rooms\n(.*?)```", page.read_text(), re.DOTALL).group(1)
    return {room: place for place, line in enumerate(block.splitlines()) for room in line.split("#")[0].split()}


def against(graph, order):
    """The imports that go from left to right."""
    return sorted(
        f"{module} imports {target}"
        for module, targets in graph.items()
        for target in targets
        if room_of(module) != room_of(target) and not order[room_of(target)] < order[room_of(module)]
    )


def circle(graph):
    """Modules that import each other in a circle, if there are such."""
    try:
        tuple(TopologicalSorter({module: targets - {module} for module, targets in graph.items()}).static_order())
    except CycleError as error:
        return error.args[1]
    return None


def test_every_room_stands_in_the_diagram_once():
    assert set(order_on(PAGE)) == {room_of(module) for module in imports_of(PACKAGE)}


def test_rooms_know_only_what_stands_to_their_left():
    assert against(imports_of(PACKAGE), order_on(PAGE)) == []


def test_no_modules_import_each_other_in_a_circle():
    assert circle(imports_of(PACKAGE)) is None


@pytest.mark.parametrize(
    ("module", "line", "said"),
    [
        ("files/atomic.py", "from shoal.table import Table", "shoal.files.atomic imports shoal.table"),
        ("space.py", "def later():\n    from shoal.release import Release", "shoal.space imports shoal.release"),
        (
            "kernels/sums/exact.py",
            "import shoal.measures.loss",
            "shoal.kernels.sums.exact imports shoal.measures.loss",
        ),
        ("methods/mdav.py", "from shoal import cli", "shoal.methods.mdav imports shoal.cli"),
    ],
)
def test_a_forbidden_import_is_found_also_inside_a_function(tmp_path, module, line, said):
    copy = tmp_path / "shoal"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.nb?"))
    with (copy / module).open("a") as file:
        file.write(f"\n\n{line}\n")
    assert against(imports_of(copy), order_on(PAGE)) == [said]


def test_a_circle_within_a_room_is_found(tmp_path):
    copy = tmp_path / "shoal"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.nb?"))
    with (copy / "attributes" / "rounding.py").open("a") as file:
        file.write("\n\ndef later():\n    from shoal.attributes.numbers import Fixed\n")
    assert {"shoal.attributes.rounding", "shoal.attributes.numbers"} <= set(circle(imports_of(copy)))


def test_what_only_type_checkers_read_is_no_import():
    tree = ast.parse("if TYPE_CHECKING:\n    import a\nelse:\n    import b\nimport c\n")
    assert [node.names[0].name for node in imported(tree)] == ["c"]


def test_verifying_a_small_file_loads_neither_kernels_nor_methods(tmp_path):
    (tmp_path / "small.csv").write_text("a,b\n1,x\n1,y\n2,x\n2,y\n")
    code = (
        "import sys\nfrom shoal.cli import app\n"
        "app(['verify', 'small.csv', '-q', 'a', '-k', '2'], standalone_mode=False)\n"
        "print([m for m in ('numba', 'sklearn', 'scipy', 'matplotlib', 'jinja2') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == "[]"


if __name__ == "__main__":  # how the rooms know each other today, to draw the page by
    rooms = defaultdict(set)
    for module, targets in imports_of(PACKAGE).items():
        rooms[room_of(module)] |= {room_of(target) for target in targets} - {room_of(module)}
    for room in TopologicalSorter(rooms).static_order():
        print(room, "<-", *sorted(rooms[room]))
