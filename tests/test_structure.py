"""The house as it is meant to be: sizes that a reader can take in, names that mean one thing, no back doors."""

import ast
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "kinode"
MODULES = sorted(SOURCE.rglob("*.py"))
LINES_OF_A_FILE = 600
FILES_OF_A_FOLDER = 3  # at least, without ``__init__``
LINES_OF_A_SLICE = 40  # a shorter file that one other imports is a slice of that one's story
# Files that are shorter all the same, and why; those in folders of kinds are members of a registry.
SHORT = {
    "cli/__main__.py": "what python -m runs",
    "kernels/undefined_rows.py": "loaded where rows are undefined: a run that goes well does without",
    "model/builtin_kinds.py": "found by the table of hooks: it loads all kinds",
    "model/shortcuts.py": "has a stub of its own, which lists the methods of all kinds",
}
KINDS = tuple(f"model/{name}/" for name in ("joints", "constraints", "elements", "environment", "network", "signals"))
LINES_OF_A_FUNCTION = 60  # its docstring and signature apart
# Functions that are longer, and why that is right.
LONGER: dict[str, str] = {}
FILE = re.compile(r"(?<![\w*/.-])[\w-]+(?:/[\w.-]+)*\.(?:py|ts|md)\b")
ROOT = SOURCE.parents[1]
# Private names of libraries that have no public one.
FOREIGN = {"_ARRAY_API", "_print", "_replace", "_fields", "_asdict", "_make"}


@dataclass
class ModuleFacts:
    """What one walk through a module finds; places are ``file:line``."""

    classes: list[str] = field(default_factory=list)
    long_functions: list[str] = field(default_factory=list)
    star_imports: list[str] = field(default_factory=list)
    foreign_private: list[str] = field(default_factory=list)
    untyped_scenes: list[str] = field(default_factory=list)
    written_dictionaries: list[str] = field(default_factory=list)
    named_files: list[str] = field(default_factory=list)
    """Files that docstrings send a reader to."""
    imported: set[str] = field(default_factory=set, compare=False)
    """Modules of kinode, without its name; and what may be one."""


@cache
def every_module():
    """The facts of all modules: they are parsed once."""
    return [find_facts(path.relative_to(SOURCE), path.read_text()) for path in MODULES]


def _prose(node):
    """The docstring without its examples."""
    lines = (ast.get_docstring(node) or "").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith((">>>", "...")))


def find_facts(name, text):
    facts = ModuleFacts()
    nodes = list(ast.walk(ast.parse(text)))
    own = {word for node in nodes for word in defined(node)} | FOREIGN
    for node in nodes:
        place = f"{name}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            facts.named_files += [f"{name} {file}" for file in FILE.findall(_prose(node))]
        match node:
            case ast.ClassDef():
                facts.classes.append(node.name)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if length(node) > LINES_OF_A_FUNCTION:
                facts.long_functions.append(f"{name}:{node.name}")
            case ast.ImportFrom() if any(alias.name == "*" for alias in node.names):
                facts.star_imports.append(place)
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] == "kinode":
                room = module.removeprefix("kinode").lstrip(".")
                facts.imported |= {room, *(f"{room}.{alias.name}".lstrip(".") for alias in node.names)}
            case ast.arg(arg="scene") if node.annotation is None or ast.unparse(node.annotation) == "Any":
                facts.untyped_scenes.append(place)
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass
            case ast.Attribute(attr="update", value=ast.Attribute(attr="__dict__")):
                facts.written_dictionaries.append(str(name))
            case ast.Attribute(attr=attr) if attr.startswith("_") and not attr.startswith("__") and attr not in own:
                facts.foreign_private.append(f"{place}: {ast.unparse(node)}")
    return facts


def defined(node):
    """Names that a statement gives to functions, attributes and variables."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr


def length(function):
    """Lines of a function's body, without its docstring."""
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1:
        body = body[1:]
    return body[-1].end_lineno - body[0].lineno + 1


def test_a_file_tells_one_story():
    lengths = {str(path.relative_to(SOURCE)): len(path.read_text().splitlines()) for path in MODULES}
    assert len(lengths) > 500
    assert not {name: lines for name, lines in lengths.items() if lines > LINES_OF_A_FILE}


def test_a_folder_is_a_family():
    folders = Counter(path.parent.relative_to(SOURCE) for path in MODULES if path.name != "__init__.py")
    assert len(folders) > 30
    assert not {str(folder): count for folder, count in folders.items() if count < FILES_OF_A_FOLDER}


def test_a_slice_of_a_story_has_no_file_of_its_own():
    importers = Counter(name for facts in every_module() for name in facts.imported)
    names = [str(path.relative_to(SOURCE)) for path in MODULES if path.name != "__init__.py"]
    short = {
        name
        for name, path in zip(names, map(SOURCE.joinpath, names))
        if len(path.read_text().splitlines()) < LINES_OF_A_SLICE
    }
    slices = {
        name
        for name in short
        if importers[name.removesuffix(".py").replace("/", ".")] <= 1 and not name.startswith(KINDS)
    }
    assert slices == set(SHORT)


def test_a_function_fits_a_screen():
    assert {name for facts in every_module() for name in facts.long_functions} == set(LONGER)


def test_classes_have_names_of_their_own_in_their_package():
    packages = [path.relative_to(SOURCE).parts[0] for path in MODULES]
    names = Counter((package, name) for package, facts in zip(packages, every_module()) for name in facts.classes)
    assert len(names) > 500
    assert not {name for name, count in names.items() if count > 1}


def test_nothing_is_imported_by_star():
    assert not [place for facts in every_module() for place in facts.star_imports]


def test_what_is_private_stays_in_its_file():
    assert not [place for facts in every_module() for place in facts.foreign_private]


def test_a_scene_has_a_type():
    assert not [place for facts in every_module() for place in facts.untyped_scenes]


def test_nothing_is_written_into_another_object():
    """No attributes by ``__dict__``; a method that replaces itself when first asked is the one exception."""
    written = {place for facts in every_module() for place in facts.written_dictionaries}
    assert {place.rpartition("/")[2] for place in written} <= {"fast_method.py"}


def test_docstrings_send_to_files_that_are_there():
    trees = [SOURCE, *(ROOT / folder for folder in ("docs", "examples", "tests", "tools", "web/src"))]
    names = {path.name for tree in trees for path in tree.rglob("*") if path.is_file()}
    named = [facts.split() for module in every_module() for facts in module.named_files]
    lost = [
        (place, file) for place, file in named
        if not (file in names or any((base / file).is_file() for base in (ROOT, SOURCE, (SOURCE / place).parent)))
    ]  # fmt: skip
    assert not lost


def test_the_walk_finds_what_is_wrong():
    text = "'See lost/a.py.'\nfrom x import *\nclass A:\n    def f(self, scene, other):\n"
    text += "        other.__dict__.update({})\n"
    text += "        return other._secret + self._mine\n    def g(self, scene: Any):\n" + 61 * "        pass\n"
    assert find_facts("a.py", text) == ModuleFacts(
        ["A"], ["a.py:g"], ["a.py:2"], ["a.py:6: other._secret"], ["a.py:4", "a.py:7"], ["a.py"], ["a.py lost/a.py"]
    )
