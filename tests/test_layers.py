"""Imports go one way: a module of kinode imports only from its own room and the rooms before it.

Imports at the top of a module and within functions count alike.  What stands under ``TYPE_CHECKING`` counts between
packages (``simulation`` may not name a type of ``views``), not between the rooms of one: a joint knows of its System.
There are no exceptions.  What a class offers but a later package does goes through the one table in ``hooks.py``.
"""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import kinode
from kinode.hooks import HOOKS
from kinode.jit.code_cache import SOURCES

SOURCE = Path(__file__).resolve().parent.parent / "src" / "kinode"

# From first to last; a folder stands for its modules, less those of rooms that are named themselves.
ORDER = (
    "version", "records", "named_tuples", "paused_collection", "late_patterns", "other_words", "notebook_traceback",
    "errors", "hooks",
    "atomic_files", "optional_packages",
    "algebra", "expressions",
    "jit", "ode.loops", "ode", "fmi",
    "model.base", "model.joints", "model.constraints", "model.elements", "model.environment", "model.network",
    "model.signals", "model",
    "importers", "formats",
    "structure",
    "multibody.links", "multibody.networks", "multibody.restraints", "multibody",
    "formulations.circuit", "formulations",
    "kernels", "dynamics.initialization", "dynamics.state_batches", "dynamics",
    "symbolic", "simulation", "results", "tasks", "exporters",
    "views.style", "views.diagram", "views.mechanism", "views.plots", "views.report", "views",
    "studio",
    "cli",
    "__init__",
)  # fmt: skip
PLACE = {room: k for k, room in enumerate(ORDER)}
PACKAGE = {room: max(PLACE[r] for r in ORDER if r.split(".")[0] == room.split(".")[0]) for room in ORDER}
MODULES = sorted(SOURCE.rglob("*.py"))
FREE_OF_MECHANICS = {
    "jit": (
        "jit",
        "version",
        "records",
        "named_tuples",
        "paused_collection",
        "atomic_files",
        "algebra.named_data",
        "algebra.scalars",
        "algebra.trace",
    ),
    "ode": ("ode", "jit", "records", "named_tuples"),
}


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts if len(parts) == 1 or parts[-1] != "__init__" else parts[:-1])


def room_of(module: str) -> str:
    """The entry of the order that a module belongs to: the longest that fits."""
    fits = [room for room in ORDER if module == room or module.startswith(room + ".")]
    return max(fits, key=len, default="__init__")


def imports_of(path: Path, text: str) -> list[tuple[int, str, bool]]:
    """Line, module of kinode, and whether it is for types alone, of every import in a text."""
    package = ["kinode", *path.relative_to(SOURCE).parts[:-1]]
    nodes, found = list(ast.walk(ast.parse(text))), []
    typed = {
        inner
        for node in nodes
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in nodes:
        if isinstance(node, ast.Import):
            targets = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = base + (node.module.split(".") if node.module else [])
            targets = [[*module, alias.name] for alias in node.names]
        else:
            continue
        found += [(node.lineno, ".".join(t[1:]), node in typed) for t in targets if t[0] == "kinode"]
    return found


def wrong_imports(path: Path, text: str) -> list[str]:
    """The imports that go against the order, as messages."""
    own = room_of(module_of(path))
    return [
        f"{path.relative_to(SOURCE.parent)}:{line}: {own} imports {module or 'the public face'}"
        for line, module, typed in imports_of(path, text)
        if (PACKAGE if typed else PLACE)[room_of(module)] > (PACKAGE if typed else PLACE)[own]
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    module = module_of(path)
    assert module in {"__init__", "views"} or room_of(module) != "__init__", (
        "a new package needs its place in the order"
    )
    assert not wrong_imports(path, path.read_text())


@pytest.mark.parametrize(
    ("line", "caught"),
    [
        ("from kinode.jit.program import Program", False),
        ("import kinode.tasks", True),
        ("import kinode as kn", True),
        ("from kinode import System", True),
        ("from kinode import results", True),
        ("from ...tasks import verify", True),
        ("from ... import views", True),
        ("def f():\n    from kinode.cli import main", True),
        ("if TYPE_CHECKING:\n    from kinode.structure.topology import Tree", True),
        ("if TYPE_CHECKING:\n    from kinode.model.system import System", False),
        ("from kinode.model.system import System", True),
        ("def f():\n    from kinode.model.system import System", True),
        ("from kinode.algebra import spatial", False),
        ("from ...errors import ModelError", False),
        ("from ..base.frames import Frame", False),
        ("from . import joint", False),
        ("import numpy", False),
    ],
)
def test_the_check_itself(line, caught):
    assert bool(wrong_imports(SOURCE / "model" / "joints" / "example.py", line)) == caught


@pytest.mark.parametrize("package", FREE_OF_MECHANICS)
def test_jit_and_ode_know_no_mechanics(package):
    for path in sorted((SOURCE / package).rglob("*.py")):
        for line, module, _ in imports_of(path, path.read_text()):
            assert f"{module}.".startswith(tuple(f"{x}." for x in FREE_OF_MECHANICS[package])), (
                f"{path}:{line}: {module}"
            )


def test_modules_have_names_of_their_own():
    stems = [path.stem for path in MODULES if path.stem not in ("__init__", "__main__")]
    folders = [path.parent.name for path in MODULES if path.name == "__init__.py"]
    assert not {name for name in stems + folders if (stems + folders).count(name) > 1}


def test_public_names_are_free_of_packages():
    """``import kinode.x`` binds ``kinode.x``: a package ``equations`` would take the place of the function."""
    tops = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in MODULES}
    assert not tops & set(kinode._FACE)


def test_folders_are_of_a_size_to_be_read():
    for folder in {path.parent for path in MODULES}:
        assert len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) <= 16, folder


def test_hooks_are_the_only_names_of_modules_in_strings():
    for name, module in HOOKS.items():
        assert callable(getattr(import_module(module), name))
    for path in MODULES:
        if module_of(path) not in ("__init__", "hooks"):
            assert not re.search(r"import_module\(\s*[\"']kinode", path.read_text()), path


def test_the_cache_depends_on_all_that_kernels_come_from():
    behind = {room.split(".")[0] for room in ORDER[: PLACE["dynamics"] + 1]}
    assert set(SOURCES) == behind - {*ORDER[: PLACE["algebra"]], "ode", "fmi", "importers", "formats"}
