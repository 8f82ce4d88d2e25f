"""The tables of kinds in the pages, written from the classes: ``python docs/parts.py``.

``<!-- kinds: joints -->`` stands before a table of all joints; likewise constraints, elements, signals, parts, frames.
``<!-- parts: electrical -->`` stands before the parts of one module of ``model/network`` with their equations, and
``<!-- parts: others -->`` before those of modules that the page does not name.
``<!-- table: methods -->`` stands before the methods of integration, ``<!-- table: gestures -->`` before the gestures.
"""

from __future__ import annotations

import dataclasses
import re
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path

from kinode.editing.gesture_words import find_words, word_of
from kinode.editing.gestures import GESTURES, edit_text
from kinode.model.base.element import ELEMENTS, Element
from kinode.model.base.fields import Component
from kinode.model.base.observers.moving_frames import FRAMES, Observer
from kinode.model.constraints.constraint import CONSTRAINTS, Constraint
from kinode.model.joints.joint import JOINTS, Joint
from kinode.model.network.part import OWN, Part
from kinode.model.signals.continuous import SignalPart
from kinode.ode.method_table import write_methods

REFERENCE, HOW_TO = (Path(__file__).resolve().parent / folder for folder in ("reference", "how-to"))
PAGES = (REFERENCE / "network-parts.md", REFERENCE / "kinds.md", REFERENCE / "constraints.md", HOW_TO / "simulate.md",
         REFERENCE / "design.md")  # fmt: skip
TABLE = re.compile(r"(<!-- (parts|kinds|table): (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
# Said of all parts at once: what goes in comes out; a voltage is that between two ports.
PLAIN = re.compile(r"[\w.]+( \+ [\w.]+)+ = 0|\w+ = -?\w+\.\w+( - \w+\.\w+)?")
LONG = 80
COLUMN = 70  # characters of an equation in a line


# -- parts of networks, with their equations ------------------------------------------------------------------
def parts_of(module: str, named: Iterable[str] = ()) -> list[type[Part]]:
    """The kinds of a module, in its order; those of the modules that are not named, for ``others``."""
    parts = [cls for cls in ELEMENTS.values() if issubclass(cls, Part)]
    own = {cls: cls.__module__.removeprefix("kinode.model.network.") for cls in parts}
    return [cls for cls in parts if (own[cls] not in named if module == "others" else own[cls] == module)]


def write_parts(parts: list[type[Part]]) -> str:
    """A table with ports, fields and quantities, and the equations."""
    if not parts:
        return ""
    lines = ["| part | fields | what it is | can be asked for |", "|---|---|---|---|"]
    rows = []
    for cls in parts:
        ports = ", ".join(_port(cls, name) for name in cls.ports())
        cells = (f"`{cls.kind}({ports})`", _fields(cls, cls.ports()), _sentence(cls), _quantities_of_part(cls))
        lines.append("| " + " | ".join(cells) + " |")
        texts = [row.text for row in cls.class_rows()]
        texts += [f"{name} = {formula.text}" for name, formula in cls.formulas().items() if len(formula.text) < LONG]
        texts = [text for text in texts if not PLAIN.fullmatch(text)]
        rows += [f"{cls.kind if not k else '':<18}{line}" for k, line in enumerate(_wrap(texts))]
    return "\n".join([*lines, "", '```text title="equations"', *rows, "```", ""])


def _wrap(equations: list[str]) -> list[str]:
    """Equations on lines that fit the column of a page."""
    wrapper = textwrap.TextWrapper(COLUMN, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [line for text in equations for line in wrapper.wrap(text)]


def _port(cls: type[Part], name: str) -> str:
    default = cls.specs()[name][0].default
    return name if default is dataclasses.MISSING else f"{name}={default}"


def _quantities_of_part(cls: type[Part]) -> str:
    laws = [name for name, (_, spec) in cls.specs().items() if spec.shape == "law"]
    names = [name for name in cls.units() if "." not in name and name not in OWN and name not in laws]
    return ", ".join(f"`{name}`" for name in names)


# -- kinds of all families ------------------------------------------------------------------------------------
def write_kinds(family: str) -> str:
    """A table of the kinds of a family: fields, beside those of the whole family, and what can be asked for."""
    base, classes, ask = FAMILIES[family]
    last = "coordinates" if family == "joints" else "can be asked for"
    lines = [f"| kind | fields | what it is | {last} |", "|---|---|---|---|"]
    for cls in classes():
        cells = (f"`{cls.kind}`", _fields(cls, base.specs()), _sentence(cls), ask(cls))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def _coordinates(cls: type[Joint]) -> str:
    return ", ".join(f"`{name}`" for name, _ in cls.coordinates)


def _quantities(cls: type[Element | Observer]) -> str:
    return ", ".join(f"`{name}`" for name in cls.quantities)


def _elements(keep: Callable[[type[Element]], bool]) -> Callable[[], list[type[Element]]]:
    return lambda: [cls for cls in ELEMENTS.values() if keep(cls)]


# family -> base class, whose fields are described once; its classes; what can be asked of one
FAMILIES: dict[str, tuple[type[Component], Callable[[], Iterable[type[Component]]], Callable[..., str]]] = {
    "joints": (Joint, JOINTS.values, _coordinates),
    "constraints": (Constraint, CONSTRAINTS.values, lambda cls: "`residual`, `reaction`"),
    "elements": (Element, _elements(lambda cls: not issubclass(cls, Part | SignalPart)), _quantities),
    "parts": (Element, _elements(lambda cls: issubclass(cls, Part)), _quantities_of_part),
    "signals": (SignalPart, _elements(lambda cls: issubclass(cls, SignalPart)), lambda cls: "`output`"),
    "frames": (Component, FRAMES.values, _quantities),
}


def _fields(cls: type[Component], beside: Iterable[str]) -> str:
    needed, others = [], []
    for name, (field, spec) in cls.specs().items():
        if name not in beside:
            text = f"`{name}`" + (" *law*" if spec.shape == "law" else "")
            (needed if field.default is dataclasses.MISSING else others).append(text)
    return ", ".join([*needed, *([f"({', '.join(others)})"] if others else [])])


def _sentence(cls: Callable[..., object]) -> str:
    first = (cls.__doc__ or "").strip().partition("\n")[0]
    return first.rstrip(".").replace("``", "`").replace(".  ", ". ").replace("|", "\\|")


# -- gestures -------------------------------------------------------------------------------------------------
def write_gestures() -> str:
    """The gestures with their words; those with a question mark may be left out, and plain ones are texts."""
    lines = ["| `do` | with | what it does |", "|---|---|---|"]
    for do, declaration in {**GESTURES, "text": edit_text}.items():
        words = []
        for argument, (kind, needed) in find_words(declaration).items():
            shown = word_of(kind).words.rstrip(",")
            words.append(f"`{argument.rstrip('_')}{'' if needed else '?'}`{f': {shown}' if shown != 'a text' else ''}")
        lines.append(f"| `{do}` | {'; '.join(words)} | {_sentence(declaration)} |")
    return "\n".join([*lines, ""])


def rewrite(text: str) -> str:
    """A page with its tables as they should be."""
    named = [marker[3] for marker in TABLE.finditer(text) if marker[2] == "parts"]

    def write(marker: re.Match[str]) -> str:
        if marker[2] == "parts":
            return marker[1] + write_parts(parts_of(marker[3], named)) + marker[5]
        if marker[2] == "kinds":
            return marker[1] + write_kinds(marker[3]) + marker[5]
        return marker[1] + {"methods": write_methods, "gestures": write_gestures}[marker[3]]() + marker[5]

    return TABLE.sub(write, text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(rewrite(page.read_text(encoding="utf-8")), encoding="utf-8")
