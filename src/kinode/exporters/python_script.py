"""A System as a Python script that builds an equal one, in the style of the examples.

Numbers are SI and exact, laws are text; what comes from a model's text stays as it was typed there, ``20 deg`` and not
0.349, with the comments beside its entries.  Bodies and parameters are variables where a later line uses them.  Kinds
that kinode does not have itself are imported from the module that registers them.  A Python function of a controller
cannot be written down; it is refused by name.
"""

from __future__ import annotations

import keyword
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kinode.editing.places import SHORT
from kinode.errors import ModelError
from kinode.expressions.printer import write_number
from kinode.expressions.syntax_tree import Expression
from kinode.formats.yaml_text import Map, read_text
from kinode.formats.yaml_writer import PlainRecords
from kinode.model.base.bodies import Body
from kinode.model.base.element import ELEMENTS
from kinode.model.base.fields import Component
from kinode.model.base.frames import ZERO, Frame
from kinode.model.base.observers.moving_frames import Observer
from kinode.model.base.shapes import SHAPE_SIZES, Shape
from kinode.model.constraints.constraint import Constraint
from kinode.model.joints.coulomb_friction import Coulomb
from kinode.model.joints.joint import Joint
from kinode.model.network.declared_domains import write_domain
from kinode.model.network.declared_parts import write_declaration
from kinode.model.signals.python_controller import Controller
from kinode.model.system import System
from kinode.version import __version__

WIDTH = 110
INDENT = "    "
DEFAULT_UNTIL = 10.0  # s, where the model does not say how long it runs
TAKEN = ("kn", "run", "t")  # names that scripts use for something else


class Code(str):
    """Text that is Python already."""

    __slots__ = ()


def write_script(system: System, text: str = "") -> str:
    """A Python script that builds a system equal to this one, and simulates it where it is run itself.

    Parameters
    ----------
    system : System
    text : str, optional
        The text that the system was loaded from: its values stay as they were typed, and its comments stay.

    Returns
    -------
    str

    Examples
    --------
    >>> print(write_script(kn.load("examples/pendulum.yaml")).split("import kinode as kn")[1].strip()[:49])
    pendulum = kn.System("pendulum", gravity=(0, -9.8
    """
    return _Script(system.as_declared(), TypedValues(text)).text()


class _Script(PlainRecords):
    """Writes the calls that build a system, one after the other."""

    def __init__(self, system: System, typed: TypedValues) -> None:
        super().__init__(system)
        self.typed = typed
        self.variables: dict[str, str] = {}
        self.used: set[str] = set()
        self.own = self._variable(system.name)

    # -- the whole ---------------------------------------------------------------------------------
    def text(self) -> str:
        """The script."""
        system = self.system
        for name in (*system.parameters, *system.bodies):
            self.variables[name] = self._variable(name)
        blocks = [block for block in self._blocks() if block]
        start = [_call("kn.System", [system.name], {"gravity": self._gravity()}, f"{self.own} = ")]
        body = "\n\n".join("\n".join(self._assigned(block)) for block in blocks)
        modules = sorted({type(x).__module__ for x in system.declared.values() if _is_foreign(type(x))})
        imports = ["import kinode as kn", *(f"import {module}  # registers its kinds" for module in modules)]
        opening = self.typed.opening() or [system.name]
        lines = [re.sub(r'["\\]', "'", x) for x in (*opening, f"Written by kinode {__version__}.")]
        head = [f'"""{lines[0]}', *lines[1:], '"""']
        return "\n".join([*head, "", *imports, "", *start, *([body] if body else []), "", *self._ending(), ""])

    def _blocks(self) -> Iterable[list[tuple[str, str]]]:
        """The calls of each section with the variable of their result, in the order in which they can be made."""
        system, own = self.system, self.own
        kinds = [("domain", kind, write_domain(domain)) for kind, domain in system.domains.items()]
        kinds += [("define", kind, write_declaration(cls.declaration)) for kind, cls in system.kinds.items()]  # type: ignore[attr-defined]
        yield [("", _call(f"{own}.{method}", [kind], fields)) for method, kind, fields in kinds]
        yield self._noted(system.parameters, lambda x: self._quantity("parameter", x))
        if any(isinstance(x, Expression) for x in system.gravity):
            yield [("", f"{own}.gravity = {write_value(self.plain(system.gravity))}")]
        yield self._noted(system.inputs, lambda x: self._quantity("input", x))
        yield [("", _call(f"{own}.table", [name], self.table(table))) for name, table in system.tables.items()]
        yield [line for body in system.bodies.values() for line in (*self._comments(body.name), *self._body(body))]
        yield [("", self._at(f"{own}.world", frame)) for frame in system.world.frames]
        for section in (system.joints, system.frames, system.constraints):
            yield self._noted(section, self._component)
        yield self._noted(system.signals, self._signal)
        yield self._noted(system.elements, self._component)
        given = self.typed.top("run") or {}
        defaults = {name: given.get(name, self.plain(value)) for name, value in system.run_defaults.items()}
        yield [("", f"{own}.run_defaults = {write_value(defaults)}")] if defaults else []
        yield [("", f"{own}.notes.append({write_value(note)})") for note in system.notes]

    def _ending(self) -> list[str]:
        until = (
            "" if "until" in self.system.run_defaults or "times" in self.system.run_defaults else f", {DEFAULT_UNTIL}"
        )
        return [
            "",
            'if __name__ == "__main__":',
            f"{INDENT}run = kn.simulate({self.own}{until})",
            f"{INDENT}print(run)",
        ]

    def _assigned(self, block: Sequence[tuple[str, str]]) -> list[str]:
        """The lines of a block; a result has a name where that is used."""
        return [f"{variable} = {line}" if variable in self.used else line for variable, line in block]

    def _comments(self, name: str) -> list[tuple[str, str]]:
        return [("", f"# {words}") for words in self.typed.comments(name)]

    def _noted(self, section: Mapping[str, Any], write: Callable[[Any], str]) -> list[tuple[str, str]]:
        """The calls of a section, each after its comments."""
        lines = []
        for name, x in section.items():
            lines += [*self._comments(name), (self.variables.get(name, ""), write(x))]
        return lines

    def _variable(self, name: str) -> str:
        """A name for a Python variable that is not taken yet."""
        word = re.sub(r"\W", "_", name)
        word = word if word and not word[0].isdigit() else f"m_{word}"
        while (
            keyword.iskeyword(word)
            or word in TAKEN
            or word in self.variables.values()
            or word == getattr(self, "own", "")
        ):
            word += "_"
        return word

    # -- pieces ------------------------------------------------------------------------------------
    def _gravity(self) -> Any:
        """Gravity as far as it is known before the parameters are."""
        gravity = self.system.gravity
        typed = self.typed.top("gravity")
        if any(isinstance(x, Expression) for x in gravity):
            return (0.0, 0.0, -9.81)
        return tuple(gravity if typed is None else typed)

    def _quantity(self, method: str, record: Any) -> str:
        given = self.quantity(record)
        fields = dict(given) if isinstance(given, Mapping) else {"value": given}
        if self.typed.field(record.name, "value") is not None:
            names = ("value", "unit", *fields)
            typed = {x: self.typed.field(record.name, x) for x in names}
            fields = {x: value for x, value in typed.items() if value is not None}
        return _call(f"{self.own}.{method}", [record.name, fields.pop("value")], fields)

    def _signal(self, signal: Any) -> str:
        law = self.typed.field(signal.name, "law")
        return _call(f"{self.own}.signal", [signal.name, self.plain(signal.law) if law is None else law], {})

    def component(self, component: Component) -> dict[str, Any]:
        """The fields of a component, as they were typed where a text has them; frames and shapes in Python's way."""
        fields = super().component(component)
        for name, value in fields.items():
            typed = self.typed.field(component.name, name)
            if typed is not None and name not in ("kind", "between") and not isinstance(value, Code):
                fields[name] = self._as_typed(typed)
        return fields

    def _as_typed(self, value: Any) -> Any:
        if isinstance(value, str) and value in self.system.parameters:
            return self._use(value)
        if isinstance(value, Mapping):
            return {name: self._as_typed(item) for name, item in value.items()}
        return tuple(map(self._as_typed, value)) if isinstance(value, list) else value

    def _body(self, body: Body) -> list[tuple[str, str]]:
        fields = self.component(body)
        frames = body.frames if all(frame.base is None for frame in body.frames) else ()
        if frames:
            del fields["frames"]
        variable = self.variables[body.name]
        lines = [(variable, _call(f"{self.own}.body", [body.name], fields))]
        return lines + [("", self._at(self._use(body.name), frame)) for frame in frames]

    def _component(self, component: Component) -> str:
        if isinstance(component, Controller) and component.function is not None:
            message = "is a Python function, which a script cannot hold: take it out, and add it to the script by hand"
            raise ModelError(message, component=component.name, field="function")
        fields = self.component(component)
        kind = fields.pop("kind")
        if "between" in fields:
            a, b = fields.pop("between")
            fields = {"a": a, "b": b, **fields}
        cls = ELEMENTS.get(kind, type(component)) if component.section == "elements" else type(component)
        if cls.has_shortcut:
            first = _leading(cls.positional_fields(), fields)
            return _call(f"{self.own}.{kind}", [component.name, *(fields.pop(name) for name in first)], fields)
        if isinstance(component, Joint):
            return _call(f"{self.own}.joint", [component.name, kind, fields.pop("a"), fields.pop("b")], fields)
        method = "constraint" if isinstance(component, Constraint) else "element"
        return _call(
            f"{self.own}.{'frame' if isinstance(component, Observer) else method}", [component.name, kind], fields
        )

    def _use(self, name: str) -> Code:
        """The variable of a body or parameter."""
        self.used.add(self.variables[name])
        return Code(self.variables[name])

    def _at(self, owner: str, frame: Frame) -> str:
        position = [] if frame.position == ZERO else [self.plain(x) for x in frame.position]
        fields = {} if frame.rotation is None else {frame.rotation[0]: self.plain(frame.rotation[1])}
        return _call(f"{owner}.at", position, fields | ({"name": frame.name} if frame.name else {}))

    # -- values ------------------------------------------------------------------------------------
    def plain(self, value: Any) -> Any:
        if isinstance(value, Expression) and value.op == "name" and value.args[0] in self.system.parameters:
            return self._use(value.args[0])
        if isinstance(value, Shape):
            fields = self.shape(value)
            sizes = [fields.pop(name) for name in SHAPE_SIZES.get(value.kind, ("file",))]
            return Code(_call(f"kn.{value.kind}", sizes, fields, wrap=False))
        if isinstance(value, Coulomb):
            return Code(_call("kn.coulomb", [], {name: self.plain(x) for name, x in value.given().items()}, wrap=False))
        if isinstance(value, tuple):
            return tuple(self.plain(item) for item in value)
        return super().plain(value)

    def frame(self, frame: Frame) -> Any:
        given = super().frame(frame)
        if frame.body in self.system.frames:
            return given
        owner = f"{self.own}.world" if frame.body == "world" else None
        if isinstance(given, str):
            if given == frame.body:
                return Code(owner or self._use(frame.body))
            word = given.removeprefix(f"{frame.body}.")
            if given == f"{frame.body}.{word}" and owner is None:
                return Code(f"{self._use(frame.body)}.com" if word == "com" else f'{self._use(frame.body)}["{word}"]')
            return given
        if frame.base is not None:
            return given
        unnamed = Frame(frame.body, frame.position, frame.rotation)
        return Code(self._at(owner or self._use(frame.body), unnamed))


def _is_foreign(cls: type[Component]) -> bool:
    return cls.__module__.partition(".")[0] not in ("kinode", "__main__", "builtins")


def _leading(positional: Sequence[str], fields: Mapping[str, Any]) -> list[str]:
    """The fields that are given by their position: as many as there are, without a gap."""
    first = []
    for name in positional:
        if name not in fields:
            break
        first.append(name)
    return first


# -- text ------------------------------------------------------------------------------------------
def _call(function: str, given: Sequence[Any], fields: Mapping[str, Any], before: str = "", wrap: bool = True) -> str:
    """A call on one line, or on as many as it needs."""
    named = {name: value for name, value in fields.items() if name.isidentifier() and not keyword.iskeyword(name)}
    rest = {name: value for name, value in fields.items() if name not in named}
    items = [("", x) for x in given] + [(f"{name}=", value) for name, value in named.items()]
    items += [("**", rest)] if rest else []
    return _packed(f"{before}{function}(", items, ")", 0 if wrap else None)


def _packed(start: str, items: Sequence[tuple[str, Any]], end: str, depth: int | None) -> str:
    """Items between brackets: on one line if they fit, else on lines of their own that are filled."""
    line = f"{start}{', '.join(before + write_value(value) for before, value in items)}{end}"
    if depth is None or len(line) + len(INDENT) * depth <= WIDTH or not items:
        return line
    indent = INDENT * (depth + 1)
    rows = [indent]
    for before, value in items:
        text = _broken(before, value, depth + 1)
        if rows[-1] != indent and ("\n" in text or len(rows[-1]) + len(text) + 2 > WIDTH):
            rows.append(indent)
        rows[-1] += f"{text}, "
        if "\n" in text:
            rows.append(indent)
    return "\n".join([start, *(row.rstrip() for row in rows if row.strip()), f"{INDENT * depth}{end}"])


def _broken(before: str, value: Any, depth: int) -> str:
    """A value, on several lines where it is long."""
    text = before + write_value(value)
    if len(text) + len(INDENT) * depth < WIDTH or isinstance(value, Code):
        return text
    if isinstance(value, Mapping):
        return _packed(f"{before}{{", [(f"{_quoted(str(key))}: ", item) for key, item in value.items()], "}", depth)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _packed(f"{before}[", [("", item) for item in value], "]", depth)
    indent = INDENT * (depth + 1)
    pieces = textwrap.wrap(str(value), WIDTH - len(indent) - 3, drop_whitespace=False, break_long_words=False)
    if "".join(pieces) != str(value):  # a line break or the like
        return text
    return "\n".join([f"{before}(", *(f"{indent}{_quoted(piece)}" for piece in pieces), f"{INDENT * depth})"])


def write_value(value: Any) -> str:
    """A plain value as Python."""
    if isinstance(value, Code):
        return str(value)
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, int | float):
        return write_number(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_quoted(str(key))}: {write_value(item)}" for key, item in value.items()) + "}"
    if (
        isinstance(value, tuple)
        and len(value) > 1
        and not any(isinstance(x, Mapping | Sequence) and not isinstance(x, str) for x in value)
    ):
        return "(" + ", ".join(map(write_value, value)) + ")"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(write_value, value)) + "]"
    return _quoted(str(value))


def _quoted(text: str) -> str:
    """A text in double quotes where these need no escape."""
    plain = repr(text)
    return f'"{plain[1:-1]}"' if plain[0] == "'" and '"' not in text and "\\" not in plain else plain


SECTIONS = ("parameters", "inputs", "bodies", "frames", "joints", "constraints", "signals", "elements")


class TypedValues:
    """The entries of a text by name; of no text there are none.

    Parameters
    ----------
    text : str
        A model in YAML that loads.
    """

    def __init__(self, text: str) -> None:
        data = read_text(text, None) if text else Map()
        self._data = data if isinstance(data, Map) else Map()
        self._lines = text.splitlines()
        self._entries: dict[str, dict[str, Any]] = {}
        self._at: dict[str, int] = {}
        circuit = self._data.get("circuit")
        drawn = circuit.get("components") if isinstance(circuit, Map) else None
        changed = self._data.get("changes") or {}
        for section, entries in [("elements", drawn), *((name, self._data.get(name)) for name in SECTIONS)]:
            if not isinstance(entries, Map):
                continue
            for name, entry in entries.items():
                self._at[name] = entries.lines[name]
                if name not in changed:
                    self._entries[name] = entry if isinstance(entry, Map) else {SHORT.get(section, ""): entry}

    def field(self, name: str, field: str) -> Any:
        """What was typed for a field of a component; None where nothing was."""
        return self._entries.get(name, {}).get(field)

    def top(self, name: str) -> Any:
        """What was typed at the top of the file; None where nothing was."""
        return self._data.get(name)

    def comments(self, name: str) -> list[str]:
        """The comments above an entry and at the end of its line."""
        at = self._at.get(name)
        if at is None or at > len(self._lines):
            return []
        above = at - 1
        while above > 0 and self._lines[above - 1].lstrip().startswith("#"):
            above -= 1
        found = [line.strip().lstrip("#").strip() for line in self._lines[above : at - 1]] if above < at - 1 else []
        return [x for x in (*found, end_comment(self._lines[at - 1])) if x]

    def opening(self) -> list[str]:
        """The comments with which the text begins."""
        found = []
        for line in self._lines:
            if not line.lstrip().startswith("#"):
                break
            found.append(line.strip().lstrip("#").strip())
        return found


def end_comment(line: str) -> str:
    """The comment at the end of a line; a # within quotes or a word begins none."""
    quote = ""
    for k, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'" and (k == 0 or line[k - 1] in " [{,:"):
            quote = letter
        elif letter == "#" and k and line[k - 1] in " \t":
            return line[k + 1 :].strip()
    return ""
