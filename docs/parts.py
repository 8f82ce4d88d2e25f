"""The tables of parts in reference/network-parts.md, written from the classes: ``python docs/parts.py``."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from pathlib import Path

from kinode.model.base.element import ELEMENTS
from kinode.model.network.part import OWN, Part

PAGE = Path(__file__).resolve().parent / "reference" / "network-parts.md"
TABLE = re.compile(r"(<!-- parts: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
# Said of all parts at once: what goes in comes out; a voltage is that between two ports.
PLAIN = re.compile(r"[\w.]+( \+ [\w.]+)+ = 0|\w+ = -?\w+\.\w+( - \w+\.\w+)?")
LONG = 80
COLUMN = 70  # characters of an equation in a line


def parts_of(module: str) -> list[type[Part]]:
    """The kinds of a module, in its order."""
    return [
        cls for cls in ELEMENTS.values() if issubclass(cls, Part) and cls.__module__ == f"kinode.model.network.{module}"
    ]


def write_table(module: str) -> str:
    """A table with ports, fields and quantities, and the equations."""
    lines = ["| part | fields | what it is | can be asked for |", "|---|---|---|---|"]
    rows = []
    for cls in parts_of(module):
        ports = ", ".join(_port(cls, name) for name in cls.ports())
        cells = (f"`{cls.kind}({ports})`", _fields(cls), _sentence(cls), _quantities(cls))
        lines.append("| " + " | ".join(cells) + " |")
        said = [row.text for row in cls.class_rows()]
        said += [f"{name} = {formula.text}" for name, formula in cls.formulas().items() if len(formula.text) < LONG]
        said = [text for text in said if not PLAIN.fullmatch(text)]
        rows += [f"{cls.kind if not k else '':<18}{line}" for k, line in enumerate(_wrap(said))]
    return "\n".join([*lines, "", '```text title="equations"', *rows, "```", ""])


def _wrap(equations: list[str]) -> list[str]:
    """Equations on lines that fit the column of a page."""
    wrapper = textwrap.TextWrapper(COLUMN, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [line for text in equations for line in wrapper.wrap(text)]


def _port(cls: type[Part], name: str) -> str:
    default = cls.specs()[name][0].default
    return name if default is dataclasses.MISSING else f"{name}={default}"


def _fields(cls: type[Part]) -> str:
    needed, others = [], []
    for name, (field, spec) in cls.specs().items():
        if spec.shape != "port":
            text = f"`{name}`" + (" *law*" if spec.shape == "law" else "")
            (needed if field.default is dataclasses.MISSING else others).append(text)
    return ", ".join([*needed, *([f"({', '.join(others)})"] if others else [])])


def _sentence(cls: type[Part]) -> str:
    first = (cls.__doc__ or "").strip().partition("\n")[0]
    return first.rstrip(".").replace("``", "`").replace(".  ", ". ")


def _quantities(cls: type[Part]) -> str:
    laws = [name for name, (_, spec) in cls.specs().items() if spec.shape == "law"]
    names = [name for name in cls.units() if "." not in name and name not in OWN and name not in laws]
    return ", ".join(f"`{name}`" for name in names)


def rewrite(text: str) -> str:
    """A page with its tables as they should be."""
    return TABLE.sub(lambda found: found[1] + write_table(found[2]) + found[4], text)


if __name__ == "__main__":
    PAGE.write_text(rewrite(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
