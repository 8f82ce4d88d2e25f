"""Models in a normal form: parts with their fields in SI, laws by meaning, fields at their defaults left out.

How a file writes it does not matter: units, order, comments, short forms, the section of a frame.  Names can be
replaced on the way, so that parts that only have other names compare as equal.

Names that changed between two models are matched: parts, subsystems, nodes and frames.  A part that one model alone
has, and one that the other alone has, are one part if kind and fields are equal; what they name that is itself in one
model alone does not count.  Nodes are matched by the ports that meet there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kinode.errors import ModelError
from kinode.expressions.syntax_tree import Expression
from kinode.formats.law_forms import LawForms, round_number
from kinode.formats.yaml_writer import PlainRecords
from kinode.model.base.fields import Component
from kinode.model.base.frames import Frame
from kinode.model.base.parameters import Input, Parameter
from kinode.model.system import System

FieldPath = tuple[str, ...]
Rename = Callable[[str], str]
WHOLE, RUN = "", "run"
_WORD = re.compile(r"[^\W\d]\w*(?:\.\w+)*")


class Law(NamedTuple):
    """A law: its text, and the number of its form, by which laws are compared."""

    text: str
    form: int


class NormalPart(NamedTuple):
    """A part of a model: section, name, kind, and its fields by path."""

    section: str
    name: str
    kind: str
    fields: dict[FieldPath, Any]

    def key(self) -> Any:
        """What is equal for parts that differ in name alone."""
        fields = ((_without_frame(path), find_key(value)) for path, value in self.fields.items())
        return self.section, self.kind, frozenset(fields)


def _without_frame(path: FieldPath) -> FieldPath:
    """A path without the name of a frame of a body."""
    return ("frames", *path[2:]) if path[0] == "frames" and len(path) > 1 else path


def rename_words(text: str, names: Mapping[str, str]) -> str:
    """A text with other names; of a dotted word the longest beginning that is a name is replaced."""

    def replace(found: re.Match[str]) -> str:
        head, tail = found.group(), ""
        while head:
            if head in names:
                return names[head] + tail
            head, dot, last = head.rpartition(".")
            tail = f"{dot}{last}{tail}"
        return found.group()

    return _WORD.sub(replace, text) if names else text


class NormalWriter(PlainRecords):
    """Writes the parts of a system in their normal form.

    Parameters
    ----------
    system : System
    forms : LawForms
        Shared by all that is compared.
    names : mapping
        Other names for components, nodes and frames.
    """

    def __init__(self, system: System, forms: LawForms, names: Mapping[str, str] | None = None) -> None:
        super().__init__(system.as_declared())
        self.forms, self.names = forms, dict(names or {})

    def parts(self) -> dict[str, NormalPart]:
        """All parts by name; those of kinds and domains behind the name of their section; the whole as ""."""
        system = self.system
        top: dict[str, Any] = {"name": system.name, "gravity": self.plain(system.gravity)}
        if system.notes:
            top["notes"] = list(system.notes)
        parts = {WHOLE: NormalPart(WHOLE, WHOLE, "", dict(flatten(top)))}
        for section, entries in self.sections().items():
            if section == RUN:
                parts[RUN] = NormalPart(RUN, RUN, "", dict(flatten(entries)))
                continue
            for name, entry in entries.items():
                fields = entry if isinstance(entry, Mapping) else {_main_field(section): entry}
                kind = str(fields.get("kind", "")) if section not in ("domains", "components") else ""
                key = f"{section}.{name}" if section in ("domains", "components") else name
                plain = {field: value for field, value in fields.items() if not kind or field != "kind"}
                parts[key] = NormalPart(section, name, kind, dict(flatten(plain)))
        return parts

    def component(self, component: Component) -> dict[str, Any]:
        """The fields of a component; sides of a joint one by one."""
        fields = super().component(component)
        if "between" in fields:
            a, b = fields.pop("between")
            fields = {"kind": component.kind, "a": a, "b": b, **fields}
        return fields

    def name(self, name: str) -> str:
        return rename_words(name, self.names)

    def plain(self, value: Any) -> Any:
        """A value; a law by its form."""
        if isinstance(value, Expression):
            law = value.rename(lambda word: rename_words(word, self.names)) if self.names else value
            return Law(value.text(), self.forms.find(law))
        return super().plain(value)

    def quantity(self, record: Parameter | Input) -> Any:
        """A parameter or an input with its dimension, however that is written."""
        fields: dict[str, Any] = {"value": self.plain(record.value)}
        if record.dimension is not None:
            fields["unit"] = record.dimension.unit
        if isinstance(record, Parameter):
            fields |= {"bounds": list(record.bounds)} if record.bounds is not None else {}
            fields |= {"note": record.note} if record.note else {}
        return fields

    def frame(self, frame: Frame) -> Any:
        """A frame by name, or by its body and place."""
        plain = super().frame(frame)
        return {**plain, "body": self._renamed(plain["body"])} if isinstance(plain, dict) else self._renamed(plain)

    def _renamed(self, value: Any) -> Any:
        if isinstance(value, str):
            return rename_words(value, self.names)
        return [self._renamed(item) for item in value] if type(value) is list else value


def _main_field(section: str) -> str:
    return {"signals": "law", "frames": "at"}.get(section, "value")


def flatten(fields: Mapping[str, Any], before: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """The values of nested mappings by their paths."""
    for name, value in fields.items():
        if isinstance(value, Mapping) and value:
            yield from flatten(value, (*before, str(name)))
        else:
            yield (*before, str(name)), value


def find_key(value: Any) -> Any:
    """What is equal for equal values: numbers to twelve digits, laws by form."""
    if isinstance(value, Law):
        return "law", value.form
    if isinstance(value, list | tuple):
        return tuple(find_key(item) for item in value)
    if isinstance(value, Mapping):
        return frozenset((key, find_key(item)) for key, item in value.items())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return round_number(value)


UNKNOWN = "any"  # stands for every name that one model alone has


class NameMatches:
    """The names of the first model with those that they have in the second.

    Attributes
    ----------
    parts, groups, nodes, frames : dict
        Names that differ: of components, of subsystems and drives, of nodes, and of frames ``body.frame``.
    """

    def __init__(self, first: System, second: System, forms: LawForms) -> None:
        self._forms = forms
        one, two = set(first.declared), set(second.declared)
        self._groups = [_outermost(a, b) for a, b in ((first, two), (second, one))]
        nodes = [find_node_ports(system) for system in (first, second)]
        known = [{*own, *groups, *ports, *frames_of(system)} for own, groups, ports, system in zip(
            (one, two), self._groups, nodes, (first, second))]  # fmt: skip
        only = [known[0] - known[1] - two, known[1] - known[0] - one]
        masked = [
            NormalWriter(system, forms, dict.fromkeys(names, UNKNOWN)).parts()
            for system, names in zip((first, second), only)
        ]
        self.groups = self._match(masked, [self._group_key(masked[k], self._groups[k]) for k in range(2)])
        alone = [self._alone(masked[k], names - other, self._groups[k]) for k, (names, other) in _sides(one, two)]
        self.parts = self._match(masked, alone)
        self.nodes = self._match_nodes(nodes, {**self.parts, **self.groups})
        self.frames = _match_frames(masked, self.parts)

    @property
    def names(self) -> dict[str, str]:
        """All names that differ, dotted ones too."""
        return {**self.nodes, **self.frames, **self.parts, **self.groups}

    def groups_only(self, side: int) -> list[str]:
        """The subsystems and drives that one side alone has and that were not renamed."""
        known = self.groups.keys() if side == 0 else self.groups.values()
        return [name for name in self._groups[side] if name not in known]

    @staticmethod
    def _alone(parts: Mapping[str, NormalPart], names: set[str], groups: Iterable[str]) -> dict[Any, list[str]]:
        """The parts that are in no group, by what is equal for renamed ones."""
        keys: dict[Any, list[str]] = {}
        for name, part in parts.items():
            if name in names and not any(name.startswith(f"{group}.") for group in groups):
                keys.setdefault(part.key(), []).append(name)
        return keys

    @staticmethod
    def _group_key(parts: Mapping[str, NormalPart], groups: Iterable[str]) -> dict[Any, list[str]]:
        keys: dict[Any, list[str]] = {}
        for group in groups:
            inner = frozenset(
                (name.removeprefix(group), part.key()) for name, part in parts.items() if name.startswith(f"{group}.")
            )
            keys.setdefault(inner, []).append(group)
        return keys

    @staticmethod
    def _match(masked: list[dict[str, NormalPart]], keys: list[dict[Any, list[str]]]) -> dict[str, str]:
        """Names with equal keys in pairs, in the order of the models."""
        return {old: new for key, olds in keys[0].items() for old, new in zip(olds, keys[1].get(key, ()))}

    @staticmethod
    def _match_nodes(nodes: list[dict[str, set[tuple[str, str]]]], renamed: Mapping[str, str]) -> dict[str, str]:
        """Nodes that one model alone has, those first that share the most ports."""
        before = {name: ports for name, ports in nodes[0].items() if name not in nodes[1]}
        after = {name: ports for name, ports in nodes[1].items() if name not in nodes[0]}
        shared = [
            (-len({(renamed.get(part, part), port) for part, port in ports} & others), old, new)
            for old, ports in before.items()
            for new, others in after.items()
        ]
        found: dict[str, str] = {}
        for count, old, new in sorted(shared):
            if count and old not in found and new not in found.values():
                found[old] = new
        return found


def _sides(one: set[str], two: set[str]) -> Iterable[tuple[int, tuple[set[str], set[str]]]]:
    return enumerate(((one, two), (two, one)))


def _outermost(system: System, others: set[str]) -> list[str]:
    """The subsystems and drives of a system of which the other has no part; those in others of them left out."""
    alone = [p for p in sorted(system.prefixes) if not any(name.startswith(f"{p}.") for name in others)]
    return [p for p in alone if not any(p.startswith(f"{outer}.") for outer in alone)]


def frames_of(system: System) -> set[str]:
    """The named frames of bodies, ``body.frame``."""
    return {f"{name}.{frame.name}" for name, body in system.bodies.items() for frame in body.frames if frame.name}


def find_node_ports(system: System) -> dict[str, set[tuple[str, str]]]:
    """The nodes that are no joints and no references, with the ports that meet there."""
    try:
        nodes = system.as_declared().nodes
    except ModelError:
        return {}
    plain = (node for node in nodes.values() if node.joint is None and not node.reference)
    return {node.name: set(node.ports) for node in plain}


def _match_frames(masked: list[dict[str, NormalPart]], renamed: Mapping[str, str]) -> dict[str, str]:
    """Frames of a body that only have another name."""
    found: dict[str, str] = {}
    for name, part in masked[0].items():
        other = masked[1].get(renamed.get(name, name))
        if part.section != "bodies" or other is None or other.section != "bodies":
            continue
        before, after = _frames_of(part), _frames_of(other)
        new = {key: frame for frame, key in after.items() if frame not in before}
        for frame, key in before.items():
            if frame not in after and key in new:
                found[f"{name}.{frame}"] = f"{other.name}.{new.pop(key)}"
    return found


def _frames_of(part: NormalPart) -> dict[str, Any]:
    frames: dict[str, Any] = {}
    for path, value in part.fields.items():
        if path[0] == "frames" and len(path) > 1:
            frames.setdefault(path[1], set()).add((path[2:], find_key(value)))
    return {name: frozenset(fields) for name, fields in frames.items()}
