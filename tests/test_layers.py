"""Imports go one way: a module of kinode imports only from its own room and the rooms before it.

Imports at the top of a module and within functions count alike.  What stands under ``TYPE_CHECKING`` counts between
packages (``simulation`` may not name a type of ``views``), not between the rooms of one: a joint knows of its System.
There are no exceptions.  What a class offers but a later package does goes through the one table in ``hooks.py``.

The numbers of modules that a first run and a view load (``LOADED``) may only get smaller.
"""

import ast
import re
import sys
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from count_walks import count_loaded

import kinode
from kinode.hooks import HOOKS
from kinode.jit.code_cache import find_sources

SOURCE = Path(__file__).resolve().parent.parent / "src" / "kinode"

# From first to last; a folder stands for its modules, less those of rooms that are named themselves.
ORDER = (
    "version", "paused_collection", "other_words", "notebook_traceback", "errors", "hooks",
    "atomic_files", "optional_packages",
    "algebra", "expressions", "sheets",
    "jit", "ode.loops", "ode", "fmi",
    "model.base", "model.joints", "model.constraints", "model.elements", "model.environment", "model.network",
    "model.signals", "model",
    "importers", "formats", "editing", "comparing",
    "structure", "multibody", "formulations",
    "kernels", "dynamics.starts", "dynamics",
    "symbolic", "simulation", "results", "tasks", "studies", "exporters",
    "example_files", "views.style", "views.diagram", "views.mechanism", "views.plots", "views", "player", "report",
    "studio.server", "studio.live", "studio.document", "studio.placing", "studio.editor", "studio",
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
        "paused_collection",
        "atomic_files",
        "algebra.named_data",
        "algebra.scalars",
        "algebra.trace",
    ),
    "ode": ("ode", "jit"),
}
# Modules of kinode at most, packages included; `python tools/count_walks.py modules` counts them.
LOADED = {"a pendulum, empty cache": 200, "a pendulum": 132, "a view": 271}


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts if len(parts) == 1 or parts[-1] != "__init__" else parts[:-1])


def room_of(module: str) -> str:
    """The entry of the order that a module belongs to: the longest that fits."""
    fits = [room for room in ORDER if module == room or module.startswith(room + ".")]
    return max(fits, key=len, default="__init__")


@cache
def imports_of(path: Path, text: str) -> tuple[tuple[int, str, bool], ...]:
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
    return tuple(found)


def wrong_imports(path: Path, text: str) -> list[str]:
    """The imports that go against the order, as messages."""
    own = room_of(module_of(path))
    return [
        f"{path.relative_to(SOURCE.parent)}:{line}: {own} imports {module or 'the public face'}"
        for line, module, typed in imports_of(path, text)
        if (PACKAGE if typed else PLACE)[room_of(module)] > (PACKAGE if typed else PLACE)[own]
    ]


def test_every_module_has_its_place_in_the_order():
    modules = [module_of(path) for path in MODULES]
    assert len(modules) > 500
    assert not [module for module in modules if module not in {"__init__", "views"} and room_of(module) == "__init__"]


def test_imports_go_one_way():
    assert not [wrong for path in MODULES for wrong in wrong_imports(path, path.read_text())]


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


@pytest.mark.skipif(sys.platform != "linux", reason="other systems load code by other modules")
def test_a_first_run_and_a_view_load_no_more_than_they_do():
    player = SOURCE / "studio" / "static" / "player.js"
    for name, count in count_loaded(view=player.is_file()):
        assert count <= LOADED[name], name


@pytest.mark.parametrize("package", FREE_OF_MECHANICS)
def test_jit_and_ode_know_no_mechanics(package):
    for path in sorted((SOURCE / package).rglob("*.py")):
        for line, module, _ in imports_of(path, path.read_text()):
            assert f"{module}.".startswith(tuple(f"{x}." for x in FREE_OF_MECHANICS[package])), (
                f"{path}:{line}: {module}"
            )


def test_modules_have_names_of_their_own_in_their_package():
    modules = [path.relative_to(SOURCE) for path in MODULES if path.stem not in ("__init__", "__main__")]
    folders = [path.relative_to(SOURCE).parent for path in MODULES if path.name == "__init__.py"]
    names = Counter((path.parts[0], path.stem) for path in modules + folders if path.parts)
    assert not {name for name, count in names.items() if count > 1}


def test_public_names_are_free_of_packages():
    """``import kinode.x`` binds ``kinode.x``: a package ``equations`` would take the place of the function."""
    tops = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in MODULES}
    assert not tops & set(kinode._FACE)


def test_hooks_are_the_only_names_of_modules_in_strings():
    for name, module in HOOKS.items():
        assert callable(getattr(import_module(module), name))
    for path in MODULES:
        if module_of(path) not in ("__init__", "hooks"):
            assert not re.search(r"import_module\(\s*[\"']kinode", path.read_text()), path


def test_the_cache_depends_on_all_that_kernels_come_from():
    behind = {room.split(".")[0] for room in ORDER[: PLACE["dynamics"] + 1]}
    assert behind - {"importers", "formats", "editing", "comparing"} <= {*find_sources(), "paused_collection"} <= behind


def test_contributing_begins_with_the_packages_in_their_order():
    text = (SOURCE.parents[1] / "CONTRIBUTING.md").read_text()
    lines = re.findall(r"^\d+\. ([^:]*):", text, re.MULTILINE)
    named = re.findall(r"`(\w+)`", " ".join(lines))
    assert named == [room for room in ORDER if (SOURCE / room).is_dir()]
    assert text.index("docs/reference/design.md") == text.index("](") + 2
