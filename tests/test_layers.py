"""Imports go one way: a module of kinode imports only from its own layer and the layers before it.

Every import statement counts, wherever it stands: inside functions, and under ``TYPE_CHECKING`` too, since a type
that is needed is a dependency.  The one exception is named here: methods that only hand on to a later layer.
"""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "kinode"

# DESIGN.md, section 1. A folder stands for all its modules; __init__ is the public face, above everything.
LAYERS = {
    "version": 0,
    "errors": 0,
    "algebra": 0,
    "model": 1,
    "formats": 1,
    "geometry": 2,
    "topology": 2,
    "network": 2,
    "formulations": 3,
    "codegen": 4,
    "solve": 5,
    "results": 6,
    "views": 7,
    "studio": 7,
    "cli_options": 7,
    "cli": 7,
    "__main__": 8,
    "__init__": 8,
}
# ``run.plot``, ``run.report`` and ``plot`` of its records are functions of views, imported when they are called.
HANDS_ON = {(f"results/{name}.py", "views") for name in ("trajectory", "causes", "shafts", "shaking", "spectra")}
HANDS_ON |= {("codegen/explained.py", "views")}  # ``explanation.html`` and ``.draw``
MODULES = sorted(SOURCE.rglob("*.py"))


def part_of(path: Path) -> str:
    """The entry of the layer table that a file belongs to."""
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def imported_parts(path: Path, text: str) -> list[tuple[int, str]]:
    """Line and part of kinode of every import in the text of a module that counts, absolute and relative alike."""
    package = ["kinode", *path.relative_to(SOURCE).parts[:-1]]
    tree, found = ast.parse(text), []
    late = {node for function in ast.walk(tree) if isinstance(function, ast.FunctionDef) for node in ast.walk(function)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = base + (node.module.split(".") if node.module else [])
            targets = [[*module, alias.name] for alias in node.names]
        else:
            continue
        for target in targets:
            if target[0] == "kinode":
                # `from kinode import Name` is the public face, unless Name is a part.
                part = target[1] if len(target) > 1 and target[1] in LAYERS else "__init__"
                if node not in late or (str(path.relative_to(SOURCE)), part) not in HANDS_ON:
                    found.append((node.lineno, part))
    return found


def wrong_imports(path: Path, text: str) -> list[str]:
    """The imports that go against the layers, as messages."""
    own = part_of(path)
    return [
        f"{path.relative_to(SOURCE.parent)}:{line}: {own} (layer {LAYERS[own]}) imports {part} (layer {LAYERS[part]})"
        for line, part in imported_parts(path, text)
        if LAYERS[part] > LAYERS[own]
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    assert part_of(path) in LAYERS, "a new part of kinode needs its place in the layer table"
    assert not wrong_imports(path, path.read_text())


@pytest.mark.parametrize(
    ("line", "caught"),
    [
        ("from kinode.codegen.program import Program", True),
        ("import kinode.solve", True),
        ("import kinode as kn", True),
        ("from kinode import System", True),
        ("from kinode import results", True),
        ("from ..solve import integrators", True),
        ("from .. import views", True),
        ("def f():\n    from kinode.cli import main", True),
        ("if TYPE_CHECKING:\n    from kinode.topology import Tree", True),
        ("from kinode.algebra import spatial", False),
        ("from ..errors import ModelError", False),
        ("from .frames import Frame", False),
        ("from . import frames", False),
        ("import numpy", False),
    ],
)
def test_the_check_itself(line, caught):
    assert bool(wrong_imports(SOURCE / "model" / "example.py", line)) == caught


def test_handing_on_is_for_methods_of_one_module():
    late, early = "def f():\n    from kinode.views import plots", "from kinode.views import plots"
    assert not wrong_imports(SOURCE / "results" / "trajectory.py", late)
    assert wrong_imports(SOURCE / "results" / "trajectory.py", early)
    assert wrong_imports(SOURCE / "results" / "files.py", late)
