"""Completion: what may be typed next, and what is wrong with a law while it is typed.

Offered are sections, kinds, fields, names of nodes, bodies and joints, and the words of laws; within a field that is a
mapping itself, such as a shape or a frame, what the schema of files has.  The text need not be whole: where a cursor
stands is found from the lines before it.  Of a law, its dimension, its names and its brackets are checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, NotRequired, TypedDict

from kinode.editing.checked_text import check_text
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits
from kinode.errors import Error
from kinode.expressions.function_table import CONSTANTS, FUNCTIONS
from kinode.expressions.units import DIMENSIONS, find_units
from kinode.formats.json_schema import schema
from kinode.formats.yaml_files import FIELDS, TOP
from kinode.model.base.element import ELEMENTS
from kinode.model.base.fields import Component
from kinode.model.base.observers.moving_frames import FRAMES
from kinode.model.base.parameters import RunDefaults
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.joints.joint import JOINTS
from kinode.model.system import System
from kinode.studio.editor.checked_model import CheckedVersion
from kinode.studio.editor.drawn_circuit import KINDLESS
from kinode.studio.editor.kinds import Plain, describe_class, fields_of, find_class

Node = dict[str, Any]
FRAME = "#/$defs/frame"


@cache
def _whole() -> Node:
    return schema()


def find_nested(path: Sequence[str], kind: str) -> list[Node]:
    """The parts of the schema at the end of a path of keys; ``kind`` is that of the component around."""
    nodes = [_whole()]
    for step in path:
        nodes = [inner for node in nodes for inner in _step(node, step, kind)]
    return nodes


def list_keys(path: Sequence[str], kind: str) -> dict[str, str]:
    """The keys of a mapping at a path, with their documentation."""
    keys: dict[str, str] = {}
    for node in find_nested(path, kind):
        for each in _alternatives(node, kind):
            for name, inner in each.get("properties", {}).items():
                keys.setdefault(name, _words(inner))
    return keys


def list_words(path: Sequence[str], kind: str) -> list[str]:
    """The words that a value at a path may be."""
    found = [word for node in find_nested(path, kind) for each in _alternatives(node, kind) for word in _enum(each)]
    return list(dict.fromkeys(found))


def is_frame(path: Sequence[str], kind: str) -> bool:
    """Whether a value at a path names a frame or a body."""
    return path[-1] == "body" or any(_names_frame(node) for node in find_nested(path, kind))


def _names_frame(node: Node) -> bool:
    inner = [*node.get("oneOf", ()), *node.get("anyOf", ()), *([node["items"]] if "items" in node else [])]
    return node.get("$ref") == FRAME or any(_names_frame(each) for each in inner)


def _step(node: Node, key: str, kind: str) -> Iterator[Node]:
    for each in _alternatives(node, kind):
        if key in each.get("properties", {}):
            yield each["properties"][key]
        elif isinstance(each.get("additionalProperties"), dict):
            yield each["additionalProperties"]


def _alternatives(node: Node, kind: str) -> Iterator[Node]:
    """What a node may be, with references followed; of several kinds the one that is given."""
    if "$ref" in node:
        name = str(node["$ref"]).rpartition("/")[2]
        yield from _alternatives(_whole()["$defs"][name], kind)
        return
    given = node.get("properties", {}).get("kind", {})
    if kind and given.get("const", kind) != kind:
        return
    yield node
    for word in ("oneOf", "anyOf", "allOf"):
        for each in node.get(word, ()):
            yield from _alternatives(each, kind)
    if "then" in node and node.get("if", {}).get("properties", {}).get("kind", {}).get("const") == kind:
        yield from _alternatives(node["then"], kind)


def _enum(node: Node) -> list[str]:
    words = [*node.get("enum", ()), *([node["const"]] if "const" in node else [])]
    return [word for word in words if isinstance(word, str)]


def _words(node: Node) -> str:
    return str(node.get("description", ""))


def nested_fields(path: Sequence[str], kind: str) -> list[CompletionOption]:
    """The keys as rows of options."""
    return [_option(name, words, f"{name}: ") for name, words in list_keys(path, kind).items()]


MOST = 200  # options of one answer
LAWS = ("law", "laws", "laws_per_coordinate", "input_laws")
NUMBERS = ("number", "vector", "per_coordinate", "initial", "initial_rate", "inertia", "times", "range", "limits")
BODY_WORDS = ("position", "velocity", "acceleration", "rpy", "quaternion", "angular_velocity")
JOINT_WORDS = ("q", "u", "u_dot", "effort", "power")
_WORD = re.compile(r"[A-Za-z_][\w.]*\Z")
_UNIT = re.compile(r"(?<![\w.])[-+]?\d[\d.eE+-]*\s+([A-Za-z%][\w^*/]*)?\Z")
_KEY = re.compile(r"\s*(?:- )?(?:\"([^\"]+)\"|'([^']+)'|([^\s:#{}\[\],][^:#{}\[\],]*?))\s*:(?=\s|\Z)")
_KIND = re.compile(r"\bkind\s*:\s*([\w.]+)")


class Spot(NamedTuple):
    """Where a cursor is: keys from the top, the key whose value is being typed, and what of it is there."""

    path: tuple[str, ...]
    key: str | None
    word: str
    entry: str
    """The text of the entry around, for its kind."""


class CompletionOption(TypedDict):
    """What may be typed, what is said of it, and what is put in."""

    label: str
    detail: str
    apply: str


Completion = TypedDict(
    "Completion", {"from": int, "options": list[CompletionOption], "problem": NotRequired[str]}
)  # fmt: skip
"""What may be typed next: where what is typed begins, and why a law would be refused."""


def complete_text(text: str, position: int, system: System) -> Completion:
    """The options at a place of a model's text: ``from`` is where what is typed begins."""
    position = min(position, len(text))
    spot = find_spot(text, position)
    options = list(_offer(spot, system))
    start = position - len(spot.word)
    if spot.key is not None and (unit := _UNIT.search(text[max(0, position - 60) : position])):
        word = unit.group(1) or ""
        return _answer(position - len(word), word, _units(_dimension_of(spot, system)))
    return _answer(start, spot.word, options)


def complete_law(system: System, law: str, position: int) -> Completion:
    """The options in a law that is typed into a field."""
    before = law[: min(position, len(law))]
    if unit := _UNIT.search(before):
        word = unit.group(1) or ""
        return _answer(len(before) - len(word), word, _units(""))
    found = _WORD.search(before)
    word = found.group() if found else ""
    return _answer(len(before) - len(word), word, list(_law_words(system)))


def _answer(start: int, word: str, options: Iterable[CompletionOption]) -> Completion:
    """Those that begin with what was typed first, then those that contain it; else in the order given."""
    low = word.lower()
    fits = [x for x in options if low in x["label"].lower()]
    fits.sort(key=lambda x: (not x["label"].startswith(word), not x["label"].lower().startswith(low)))
    return {"from": start, "options": fits[:MOST]}


def _option(label: str, detail: str = "", apply: str | None = None) -> CompletionOption:
    return {"label": label, "detail": detail, "apply": label if apply is None else apply}


def _units(dimension: str) -> list[CompletionOption]:
    """The units, those of a dimension first, plain ones before those with a prefix."""
    wanted = DIMENSIONS[dimension].dimension if dimension in DIMENSIONS else None
    own = DIMENSIONS[dimension].unit if wanted is not None else ""
    units = find_units()
    ranked = sorted(units, key=lambda name: (name != own, units[name].dimension != wanted, len(name), name))
    return [_option(name, "unit") for name in ranked]


def _dimension_of(spot: Spot, system: System) -> str:
    """The dimension of the field whose value is typed."""
    rows = _rows_of(spot, system) if len(spot.path) == 2 else []
    return next((str(row["dimension"]) for row in rows if row["name"] == spot.key), "")


# -- where the cursor is ---------------------------------------------------------------------------
def find_spot(text: str, position: int) -> Spot:
    """Where a cursor is in a text: by the indentation of the lines before, then by brackets."""
    before = text[:position]
    found = _WORD.search(before)
    word = found.group() if found else ""
    start = before.rfind("\n") + 1
    first, flow = _logical_start(before, start)
    path = _block_path(before, first)
    here = before[first:]
    if not flow:
        key = _KEY.match(here)
        entry = _entry_text(text, first)
        if key is None:
            return Spot(path, None, word, entry)
        return Spot(path, _name(key), word, entry)
    return _flow_spot(here, path, word, _entry_text(text, first))


def _logical_start(before: str, start: int) -> tuple[int, bool]:
    """The start of the line on which the outermost open bracket stands, and whether there is one."""
    depth, first, line, k = 0, start, 0, 0
    opened = -1
    quote = ""
    while k < len(before):
        char = before[k]
        if char == "\n":
            line, quote = k + 1, "" if depth == 0 else quote
        elif quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and (k == 0 or not before[k - 1].isalnum()):
            quote = char
        elif char == "#" and (k == 0 or before[k - 1].isspace()):
            k = before.find("\n", k)
            if k < 0:
                break
            continue
        elif char in "{[":
            if depth == 0:
                opened = line
            depth += 1
        elif char in "}]":
            depth = max(0, depth - 1)
        k += 1
    return (opened, True) if depth and opened >= 0 else (first, False)


def _block_path(before: str, first: int) -> tuple[str, ...]:
    """The keys of the lines above that are less indented."""
    end = before.find("\n", first)
    line = before[first : end if end >= 0 else len(before)]
    indent = len(line) - len(line.lstrip(" "))
    path: list[str] = []
    for above in reversed(before[:first].splitlines()):
        key = _KEY.match(above)
        depth = len(above) - len(above.lstrip(" "))
        if key is not None and depth < indent and not above.lstrip().startswith("#"):
            path.insert(0, _name(key))
            indent = depth
        if indent == 0:
            break
    return tuple(path)


def _flow_spot(here: str, path: tuple[str, ...], word: str, entry: str) -> Spot:
    """The place within brackets: keys of those that are open, and the key whose value is typed."""
    stack: list[str | None] = []
    keys, key, piece, quote = list(path), None, "", ""
    for char in here:
        if quote:
            quote = "" if char == quote else quote
            piece += char
        elif char in "\"'":
            quote, piece = char, piece + char
        elif char == ":" and piece.strip() and key is None:
            key, piece = piece.strip().strip("\"'"), ""
        elif char in "{[":
            stack.append(key)
            if char == "{" and key is not None:
                keys.append(key)
                key = None
            piece = ""
        elif char in "}]":
            key = stack.pop() if stack else None
            if keys and keys[-1] == key:
                keys.pop()
            piece = ""
        elif char == ",":
            key, piece = key if stack and stack[-1] == key and key is not None else None, ""
        else:
            piece += char
    return Spot(tuple(keys), key, word, entry)


def _entry_text(text: str, first: int) -> str:
    """The lines of the entry around a line: its own, and those near it that are at least as much indented."""
    end = text.find("\n", first)
    line = text[first : end if end >= 0 else len(text)]
    indent = len(line) - len(line.lstrip(" "))
    above, below = text[:first].splitlines(), text[first:].splitlines()
    taken = [below[0]] if below else []
    for other in below[1:]:
        if other.strip() and len(other) - len(other.lstrip(" ")) < max(indent, 1):
            break
        if indent and _KEY.match(other) and len(other) - len(other.lstrip(" ")) == indent and "{" in line:
            break
        taken.append(other)
    if "{" not in line:
        for other in reversed(above):
            if other.strip() and len(other) - len(other.lstrip(" ")) < indent:
                break
            taken.insert(0, other)
    return "\n".join(taken)


def _name(key: re.Match[str]) -> str:
    return (key.group(1) or key.group(2) or key.group(3) or "").strip()


# -- what fits there -------------------------------------------------------------------------------
def _offer(spot: Spot, system: System) -> Iterator[CompletionOption]:
    path, key = spot.path, spot.key
    if not path and key is None:
        yield from (_option(name, "section", f"{name}: ") for name in TOP)
        return
    section = path[0] if path else str(key)
    if section == "run":
        yield from _of_fields(fields_of(RunDefaults), key if path else None, system)
    elif len(path) >= 2:
        yield from _of_entry(section, spot, system)
    elif len(path) == 1 and key is not None and section in ("parameters", "inputs", "signals"):
        yield from _law_words(system)


def _of_entry(section: str, spot: Spot, system: System) -> Iterator[CompletionOption]:
    """Within the entry of a component: its kind, its fields, or the value of one."""
    if spot.key == "kind":
        registry = kinds_of(section, system)
        yield from (_option(kind, describe_class(cls)) for kind, cls in registry.items())
        return
    found, rows = _KIND.search(spot.entry), _rows_of(spot, system)
    if spot.key is None and len(spot.path) == 2:
        if kinds_of(section, system) and found is None:
            yield _option("kind", "what it is", "kind: ")
        if section in ("joints", "constraints"):
            yield _option("between", "the two bodies or frames that it joins", "between: [")
        for name in FIELDS.get(section, ()) if not rows else ():
            yield _option(name, "field", f"{name}: ")
    kind = found.group(1) if found else KINDLESS.get(section, "")
    known = any(row["name"] == spot.key for row in rows)
    if len(spot.path) == 2 and (spot.key is None or known or spot.key == "between"):
        yield from _of_fields(rows, spot.key, system)
    elif spot.key is None:
        yield from nested_fields(spot.path, kind)
    elif is_frame((*spot.path, spot.key), kind):
        yield from _frames(system)
    else:
        yield from (_option(word, "choice") for word in list_words((*spot.path, spot.key), kind))
        if len(spot.path) > 2:
            yield from (_option(name, "parameter") for name in system.parameters)


def _rows_of(spot: Spot, system: System) -> list[Plain]:
    """The fields of the component in whose entry the cursor is."""
    section, found = spot.path[0], _KIND.search(spot.entry)
    kind = found.group(1) if found else KINDLESS.get(section, "")
    try:
        return fields_of(find_class(kind, section, system.kinds))
    except KeyError:
        return []


def kinds_of(section: str, system: System) -> Mapping[str, type[Component]]:
    """The kinds that a section of a file may hold."""
    registries: dict[str, Mapping[str, type[Component]]] = {
        "joints": JOINTS, "constraints": CONSTRAINTS, "frames": FRAMES,
        "elements": {**ELEMENTS, **system.kinds},
    }  # fmt: skip
    return registries.get(section, {})


def _of_fields(rows: Iterable[Plain], key: str | None, system: System) -> Iterator[CompletionOption]:
    """The names of fields, or what the value of one may be."""
    if key is None:
        for row in rows:
            unit = f" ({row['unit']})" if row["unit"] else ""
            yield _option(row["name"], f"{row['doc']}{unit}", f"{row['name']}: ")
        return
    if key == "between":
        yield from _frames(system)
        return
    for row in rows:
        if row["name"] == key:
            yield from _of_value(row, system)


def _of_value(row: Plain, system: System) -> Iterator[CompletionOption]:
    shape = row["shape"]
    if row["choices"]:
        yield from (_option(word, "choice") for word in row["choices"])
    elif shape == "port":
        yield from (_option(name, f"node, {node.domain.kind}") for name, node in system.nodes.items())
        yield from (_option(name, "joint") for name in system.joints)
        yield from (_option(name, "reference") for name in ("gnd", "world"))
    elif shape in ("frame", "base", "bodies", "axes"):
        yield from _frames(system)
    elif shape == "joint":
        yield from (_option(name, joint.kind) for name, joint in system.joints.items())
    elif shape in LAWS:
        yield from _law_words(system)
    elif shape in NUMBERS:
        yield from (_option(name, "parameter") for name in system.parameters)


def _frames(system: System) -> Iterator[CompletionOption]:
    yield _option("world", "the world")
    for name, body in system.bodies.items():
        yield _option(name, "body")
        yield from (_option(f"{name}.{frame.name}", "frame") for frame in body.frames if frame.name)


def _law_words(system: System) -> Iterator[CompletionOption]:
    """Names that a law may use: time, parameters, signals, quantities of joints, bodies and elements, functions."""
    yield _option("t", "time, s")
    for section, word in (("parameters", "parameter"), ("inputs", "input"), ("signals", "signal")):
        yield from (_option(name, word) for name in getattr(system, section))
    for name, joint in system.joints.items():
        yield from (_option(f"{name}.{word}", joint.kind) for word in JOINT_WORDS if joint.n_u)
    for name, element in system.elements.items():
        yield from (_option(f"{name}.{word}", element.kind) for word in element.offered())
    for name in system.bodies:
        yield from (_option(f"{name}.{word}", "body") for word in BODY_WORDS)
    for name, function in FUNCTIONS.items():
        yield _option(name, function.note, f"{name}(")
    yield from (_option(name, "constant") for name in CONSTANTS)
    yield from (_option(name, "table", f"{name}(") for name in getattr(system, "tables", ()))


LARGEST = 200_000  # characters of a text that is checked at every key


class FieldPlace(TypedDict):
    """A field: the name of its component, and the path in its entry."""

    name: str
    path: list[str | int]


def find_law_problem(found: CheckedVersion, field: FieldPlace | None, law: str, completion: Completion) -> str:
    """Why a field would refuse what is typed; empty where it would not, or where a word is still being typed.

    Parameters
    ----------
    found : CheckedVersion
        The text as it is.
    field : FieldPlace, optional
        Without it nothing is checked.
    law : str
        What is typed.
    completion : dict
        What it may go on with.
    """
    if field is None or not field["path"] or not law.strip() or len(found.of.text) > LARGEST:
        return ""
    name, path = field["name"], field["path"]
    if _goes_on(law, completion):
        return ""
    text = found.of.text
    try:
        gesture = {"do": "set", "name": name, "path": path, "value": law}
        edits = plan_gesture(text, gesture, found.of.place, found.checked).edits
    except Error as error:
        return str(error)
    for problem in check_text(apply_edits(text, edits), found.of.place).problems:
        if problem.component == name and problem.field.partition(".")[0].partition("[")[0] == str(path[0]):
            return problem.message
    return ""


def _goes_on(law: str, completion: Completion) -> bool:
    """Whether the last word is the beginning of one that is known."""
    word = law[completion["from"] :]
    labels = [option["label"] for option in completion["options"]]
    return bool(word) and word not in labels and any(label.startswith(word) for label in labels)
