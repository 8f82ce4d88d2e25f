"""The house as it is meant to be: sizes that a reader can take in, names that mean one thing, no back doors."""

import ast
from collections import Counter
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "kinode"
MODULES = sorted(SOURCE.rglob("*.py"))
LINES_OF_A_FILE = 400
LINES_OF_A_FUNCTION = 60  # its docstring and signature apart
# Functions that are longer, and why that is right.
LONGER: dict[str, str] = {}
# Private names of libraries that have no public one.
FOREIGN = {"_ARRAY_API", "_print", "_replace", "_fields", "_asdict", "_make"}


def trees():
    for path in MODULES:
        yield path.relative_to(SOURCE), ast.parse(path.read_text())


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_tells_one_story(path):
    assert len(path.read_text().splitlines()) <= LINES_OF_A_FILE


def length(function):
    """Lines of a function's body, without its docstring."""
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1:
        body = body[1:]
    return body[-1].end_lineno - body[0].lineno + 1


def test_a_function_fits_a_screen():
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    longer = {
        f"{path}:{node.name}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, functions) and length(node) > LINES_OF_A_FUNCTION
    }
    assert longer == set(LONGER)


def test_classes_have_names_of_their_own():
    names = Counter(node.name for _, tree in trees() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert not {name for name, count in names.items() if count > 1}


def test_nothing_is_imported_by_star():
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                assert all(alias.name != "*" for alias in node.names), path


def defined(tree):
    """Names that a module gives to functions, attributes and variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def test_what_is_private_stays_in_its_file():
    for path, tree in trees():
        own = set(defined(tree)) | FOREIGN
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute) or not node.attr.startswith("_") or node.attr.startswith("__"):
                continue
            if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
                continue
            assert node.attr in own, f"{path}:{node.lineno}: {ast.unparse(node)}"


def test_a_scene_has_a_type():
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.arg) and node.arg == "scene":
                assert node.annotation is not None, f"{path}:{node.lineno}"
                assert ast.unparse(node.annotation) != "Any", f"{path}:{node.lineno}"


def test_nothing_is_written_into_another_object():
    """No attributes by ``__dict__``; a method that replaces itself when first asked is the one exception."""
    for path, tree in trees():
        if path.name == "fast_method.py":
            continue
        assert "__dict__.update" not in ast.unparse(tree), path
