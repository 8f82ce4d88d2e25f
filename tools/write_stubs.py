"""Types for users, written from the declarations: ``make refresh``, or ``python tools/write_stubs.py``.

- ``src/kinode/model/shortcuts.pyi``: the shortcut methods of System, each with all its fields, so that an editor
  completes them and a type checker knows a misspelt one.  At run time the same methods are made by
  ``model/base/kinds.py``.
- the imports for type checkers in ``src/kinode/__init__.py``: the public names, which at run time are imported when
  they are first used.

``tests/model/test_shortcuts.py`` compares both with what is written here.
"""

from __future__ import annotations

import re
import textwrap
from fractions import Fraction
from pathlib import Path
from typing import Any

import kinode
from kinode.model.base import kinds as field_types
from kinode.model.base.bodies import Body
from kinode.model.base.element import ELEMENTS
from kinode.model.base.fields import Component
from kinode.model.base.kinds import NEEDED, find_arguments, is_builtin, write_docstring
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.drive_unit import DriveUnit
from kinode.model.joints.joint import JOINTS

SOURCE = Path(__file__).resolve().parent.parent / "src" / "kinode"
STUB = SOURCE / "model" / "shortcuts.pyi"
FACE = SOURCE / "__init__.py"
BLOCK = re.compile(r"(?<=# for type checkers: written by tools/write_stubs.py\nif TYPE_CHECKING:\n).*", re.DOTALL)
HEAD = '''"""The shortcut methods of System as type checkers and editors see them: written by tools/write_stubs.py."""

from typing import Any, Literal
'''
FIELD_TYPES = [name for name in vars(field_types) if name.endswith("Like")]


def write_stub() -> str:
    """The text of shortcuts.pyi: the methods of the kinds that come with kinode."""
    kinds = (Body, DriveUnit, *JOINTS.values(), *CONSTRAINTS.values(), *ELEMENTS.values())
    classes: list[type[Component]] = [cls for cls in kinds if cls.has_shortcut and is_builtin(cls)]
    methods = "\n".join(textwrap.indent(write_method(cls), "    ") for cls in classes)
    used = [name for name in FIELD_TYPES if re.search(rf"\b{name}\b", methods)]
    results = dict.fromkeys(cls.shortcut_result() for cls in classes)
    imports = [f"from {cls.__module__} import {cls.__name__}" for cls in results]
    types = "from kinode.model.base.kinds import (\n" + "".join(f"    {name},\n" for name in sorted(used)) + ")"
    head = HEAD if "Any" in methods else HEAD.replace("Any, ", "")
    lines = join_imports([types, *imports])
    return f"{head}\n{lines}\n\nclass Shortcuts:\n{methods}"


def join_imports(statements: list[str]) -> str:
    """Imports in the order of modules, one statement for each module."""
    modules: dict[str, list[str]] = {}
    for statement in statements:
        module, _, names = statement.removeprefix("from ").partition(" import ")
        modules.setdefault(module, []).append(names)
    lines = []
    for module, names in sorted(modules.items()):
        line = f"from {module} import {', '.join(sorted(names))}"
        if len(line) > 88 and "(" not in line:
            line = f"from {module} import (\n" + "".join(f"    {name},\n" for name in sorted(names)) + ")"
        lines.append(line)
    return "\n".join(lines)


def write_method(cls: type[Component]) -> str:
    """One method with its arguments, one to a line, and its documentation."""
    arguments = ["self", "name: str"]
    placed = True
    for argument in find_arguments(cls):
        if placed and not argument.positional:
            arguments.append("*")
            placed = False
        text = f"{argument.name}: {argument.spec.kind.type_for(argument.spec)}"
        if argument.default is None:
            text += " | None"
        if argument.default is not NEEDED:
            text += f" = {write_default(argument.default)}"
        arguments.append(text.replace("'", '"'))
    head = "".join(f"    {argument},\n" for argument in arguments)
    doc = textwrap.indent(write_docstring(cls).rstrip() + "\n", "    ", lambda line: bool(line.strip()))
    return (
        f'def {cls.kind or cls.sort()}(\n{head}) -> {cls.shortcut_result().__name__}:\n    """{doc.lstrip()}    """\n'
    )


def write_default(value: Any) -> str:
    """A default that a stub can hold; others are hidden behind dots."""
    if isinstance(value, tuple):
        return f"({', '.join(write_default(item) for item in value)}{',' * (len(value) == 1)})"
    return (
        "..." if isinstance(value, Fraction) or not isinstance(value, str | bool | int | float | None) else repr(value)
    )


def write_face() -> str:
    """The text of kinode/__init__.py with the imports of all public names for type checkers."""
    lines = []
    for name, module in sorted(kinode._FACE.items(), key=lambda item: (item[1], item[0])):
        package, _, last = module.rpartition(".")
        lines.append(
            f"    from {package if last == name and is_module(module, name) else module} import {name} as {name}\n"
        )
    text = FACE.read_text(encoding="utf-8")
    return BLOCK.sub("".join(sorted(lines, key=import_order)), text)


def is_module(module: str, name: str) -> bool:
    """Whether a public name is the module itself, as ``kn.fields`` is."""
    return not hasattr(__import__(module, fromlist=[name]), name)


def import_order(line: str) -> tuple[str, bool, str]:
    """As isort has it: by module, classes before functions."""
    _, module, _, name, *_ = line.split()
    return module, not name[:1].isupper(), name


if __name__ == "__main__":
    FACE.write_text(write_face(), encoding="utf-8")
    STUB.write_text(write_stub(), encoding="utf-8")
