"""A model file under change: its text, its entries, the edits so far, and what a gesture makes, removes and renames.

Every change goes through spans, and the text is read again after each.  ``draft.system`` is the system of the text at
the beginning, ``draft.places`` are those of the text now.  What cannot be patched is refused with the reason: values
that aliases share, and components that come from another file.  What is changed of components that come from the file
that a model extends stands in ``changes``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from kinode.editing.checked_text import CheckedText, check_text
from kinode.editing.chunked_spans import reread_spans
from kinode.editing.name_sites import NameSite, find_sites
from kinode.editing.places import SHORT, Box, EntryPlaces, Path, find_box, find_box_entry
from kinode.editing.spans import (
    INDENT,
    Edit,
    EditedText,
    flow_spans,
    format_key,
    format_value,
    insert_entry,
    insert_in_flow,
    insert_line,
    is_json,
    line_break,
    line_end,
    line_start,
    remove_entry,
    remove_from_flow,
    remove_lines,
    rename_key,
    replace_node,
    replace_value,
    value_end,
)
from kinode.errors import ArgumentError, ModelError
from kinode.expressions.function_table import CONSTANTS, FUNCTIONS
from kinode.formats.yaml_files import SECTIONS
from kinode.formats.yaml_text import NodeKind, SpanNode, plain_value, read_spans
from kinode.formats.yaml_writer import WIDTH, write_flow
from kinode.model.base.field_reader import IN_PORTS
from kinode.model.base.fields import Component, Spec
from kinode.model.base.frames import NAME
from kinode.model.component_store import RESERVED
from kinode.model.network.part import Part
from kinode.model.system import System

ORDER = ("kinode", "name", "gravity", "extends", "domains", "components", "parameters", "inputs", "tables", "bodies",
         "frames", "circuit", "joints", "systems", "drives", "constraints", "signals", "elements", "changes", "run",
         "notes")  # fmt: skip


NO_CHANGE = ("kind", "unit")  # of an inherited component


class InheritedPartError(ArgumentError):
    """A component of an extended file cannot be changed so here; it can after the gesture ``take_base``."""


@lru_cache(maxsize=8)
def read_places(text: str, box: Box = ()) -> EntryPlaces:
    """The entries of a text or of a box in it; the last few are kept, since most gestures begin where one ended."""
    return EntryPlaces(text, find_box(reread_spans(text), box))


class ModelDraft:
    """The text of a model and what has been changed in it; with a ``box`` the inside of that subsystem.

    The edits are those of the whole text in any case, and paths begin at the top of the box.
    """

    def __init__(
        self, text: str, file: str | os.PathLike[str] | None = None, checked: CheckedText | None = None, box: Box = ()
    ) -> None:
        self.edited = EditedText(text)
        self.file, self.box = file, box
        self._checked, self._checked_text = checked, text
        self.places = read_places(text, box)
        self._sites: list[NameSite] | None = None
        if self.places.root.kind is not NodeKind.MAP:
            raise ArgumentError("the text is no model yet: a model is a mapping that starts with 'kinode: 1'")

    @property
    def text(self) -> str:
        """The present text."""
        return self.edited.text

    @property
    def checked(self) -> CheckedText:
        """What the text meant at the beginning."""
        if self._checked is None:
            self._checked = check_text(self._checked_text, self.file, box=self.box)
        return self._checked

    @property
    def system(self) -> System:
        """The system of the text as it was at the beginning, as far as it could be built."""
        return self.checked.system

    def beside(self, text: str) -> ModelDraft:
        """Another text whose names are understood as in this system."""
        return ModelDraft(text, self.file, CheckedText(self.system, (), True, {}))

    def restart(self) -> None:
        """Let the present text be the one whose system is asked for."""
        if self._checked_text != self.text:
            self._checked, self._checked_text = None, self.text

    @property
    def root(self) -> SpanNode:
        """The whole text as a node."""
        return self.places.root

    @property
    def sites(self) -> list[NameSite]:
        """The places of the present text where names stand."""
        if self._sites is None:
            self._sites = find_sites(self.places, self.system.kinds)
        return self._sites

    @property
    def as_json(self) -> bool:
        """Whether the text is JSON."""
        return is_json(reread_spans(self.text))

    def apply(self, edits: Iterable[Edit]) -> None:
        """Make edits of the present text, which must be a text that can be read again."""
        self.edited.apply(edits)
        self._sites = None
        try:
            self.places = read_places(self.text, self.box)
        except ModelError as error:
            raise ArgumentError(f"this cannot be written into the file: {error.message}") from None

    # -- finding -----------------------------------------------------------------------------------
    def path_of(self, name: str) -> Path:
        """The path of a component's entry; one that stands in no entry of this text is refused with the reason."""
        path = self.places.paths.get(name)
        if path is not None:
            return path
        owner = name
        while "." in owner:
            owner = owner.rpartition(".")[0]
            if owner in self.places.paths:
                what = {"systems": "the subsystem", "drives": "the drive"}.get(self.places.section_of(owner), "")
                raise ArgumentError(f"{name} belongs to {what or 'the component'} {owner}, and is changed there")
        if name == "world":
            raise ArgumentError("the world has no entry: it cannot be changed")
        origin = self.find_origin(name)
        if origin:
            raise InheritedPartError(
                f"{name} comes from {origin}, which this model extends: fields and connections of it can be changed "
                f"here; to rename or delete it, take over the text of {origin} first"
            )
        raise ArgumentError(f"there is nothing called {name!r} in this model")

    def find_origin(self, name: str) -> str:
        """The file that a component comes from by ``extends``; empty where it does not."""
        heads = [name[:k] for k, letter in enumerate(name) if letter == "."]
        if name in self.places.paths or any(head in self.places.paths for head in heads):
            return ""
        extended = self.root.find("extends")
        if extended is None or name not in self.system.declared:
            return ""
        file = extended.find("file") or extended
        return file.value if isinstance(file.value, str) else "another file"

    def guard(self, path: Path, inside: bool = False) -> None:
        """Refuse to touch a value that is an alias or that aliases repeat; with ``inside`` also what is in it."""
        for count in range(1, len(path) + 1):
            node = self.root.find(*path[:count])
            if node is not None and (node.anchor is not None or node.kind is NodeKind.ALIAS):
                raise _shared(path[:count])
        node = self.root.find(*path)
        if inside and node is not None and _has_anchor(node):
            raise _shared(path)

    def in_flow(self, path: Path) -> bool:
        """Whether the values of the mapping or list at a path stand in brackets."""
        nodes = (self.root.find(*path[:count]) for count in range(len(path) + 1))
        return any(node is not None and node.in_flow for node in nodes)

    # -- fields, also of components that the file inherits -----------------------------------------
    def section_of(self, name: str) -> str:
        """The section of a component, inherited or not; empty if there is none."""
        return self.system.declared[name].section if self.find_origin(name) else self.places.section_of(name)

    def class_of(self, name: str) -> type[Component] | None:
        """The class of a component, inherited or not."""
        if self.find_origin(name):
            return type(self.system.declared[name])
        return self.places.class_of(name, self.system.kinds)

    def specs_of(self, name: str) -> dict[str, Spec]:
        """The fields of a component with what they take."""
        if self.find_origin(name):
            return {field: spec for field, (_, spec) in type(self.system.declared[name]).specs().items()}
        return self.places.specs_of(name, self.system.kinds)

    def field_path(self, name: str, field: Path) -> Path:
        """The path of a field; that of an inherited component is among the changes of this file."""
        return ("changes", name, *field) if self.find_origin(name) else self.places.field_path(name, field)

    def _change(self, path: Path, value: str | None) -> None:
        """Change a field of an inherited component; None takes the change out, or else the field."""
        name, field = str(path[1]), path[2]
        entry, origin = self.root.find("changes", name), self.find_origin(name)
        if entry is not None and entry.kind is not NodeKind.MAP:
            if SHORT.get(self.section_of(name)) != field:
                message = f"{name} is given in changes as a value alone: write its fields there as {{value: ...}}"
                raise ArgumentError(message)
            path = (*path[:2], *path[3:])
        elif field in NO_CHANGE:
            raise ArgumentError(f"the {field} of {name} is that of the file {origin}, and stays")
        if len(path) > 3 and self.root.find(*path[:3]) is None:
            raise ArgumentError(f"{name}.{field} is given as a whole in {origin}: give all of it anew")
        if value is None and self.root.find(*path) is not None:
            alone = entry is None or len(entry.entries) <= 1
            self.remove(path[:2] if alone else path)
        elif entry is None:
            self.add("changes", name, {str(field): "null" if value is None else value})
        else:
            self._put(path, "null" if value is None else value)

    # -- values ------------------------------------------------------------------------------------
    def set(self, path: Path, value: str | None) -> None:
        """Give the value at a path, or take it out by None; what is missing on the way is made."""
        if path[:1] == ("changes",) and len(path) > 2 and self.find_origin(str(path[1])):
            self._change(path, value)
        else:
            self._put(path, value)

    def _put(self, path: Path, value: str | None) -> None:
        """The same at that path and nowhere else."""
        if not path:
            raise ArgumentError("the name of a field is needed")
        self.guard(path, inside=True)
        node = self.root.find(*path)
        if value is None:
            if node is not None:
                self.remove(path)
            return
        if node is not None:
            new = format_value(value, in_flow=self.in_flow(path[:-1]), as_json=self.as_json)
            entry = self.places.entry(path)
            self.apply(replace_node(self.text, node, new) if entry is None else replace_value(self.text, entry, new))
            return
        count = next(k for k in range(len(path) - 1, -1, -1) if self.root.find(*path[:k]) is not None)
        content = value
        for key in reversed(path[count + 1 :]):
            content = "{" + f"{format_key(str(key))}: {format_value(content, in_flow=True)}" + "}"
        self._insert(path[:count], path[count], content)

    def _insert(self, path: Path, key: str | int, content: str) -> None:
        """A new entry at a path where there is a mapping, a list, nothing, or a value alone."""
        node = self.root.find(*path)
        assert node is not None
        flow = self.in_flow(path) or node.kind is NodeKind.SCALAR
        value = format_value(content, in_flow=flow, as_json=self.as_json)
        label = format_key(str(key), self.as_json)
        entry = self.places.entry(path) if path else None
        if node.kind is NodeKind.MAP:
            if not path and not node.in_flow:
                self.insert_section(str(key), [f"{label}: {value}"])
            else:
                self.apply(insert_entry(self.text, node, str(key), value, self.as_json))
        elif node.kind is NodeKind.LIST and node.in_flow and key == len(node.items):
            self.apply(insert_in_flow(self.text, node, value))
        elif node.value is None and entry is not None:
            self.apply(replace_value(self.text, entry, f"{{{label}: {value}}}"))
        elif entry is not None and path[0] in SHORT and len(path) == 2:
            alone = format_value(self.text[node.start : value_end(self.text, node)], in_flow=True, as_json=self.as_json)
            short = format_key(SHORT[str(path[0])], self.as_json)
            self.apply(replace_value(self.text, entry, f"{{{short}: {alone}, {label}: {value}}}"))
        else:
            where = ".".join(map(str, path))
            raise ArgumentError(f"{where} is a value of its own, and has no field {key!r}; give it anew as a whole")

    # -- entries -----------------------------------------------------------------------------------
    def add(self, section: str, name: str, fields: Mapping[str, str]) -> None:
        """A new entry of a section, which is made where it is missing; values are given as typed."""
        node = self.root.find(section)
        if node is not None and node.kind is not NodeKind.MAP and node.value is not None:
            raise ArgumentError(f"{section} is no mapping of names in this text")
        self.guard((section,))
        single = SHORT.get(section)
        whole = fields[single] if single is not None and list(fields) == [single] else None
        label = format_key(name, self.as_json)
        if node is not None and node.kind is NodeKind.MAP and (node.in_flow or self.root.in_flow):
            self.apply(insert_entry(self.text, node, name, self._flow(fields, whole), self.as_json))
        elif node is not None and node.kind is NodeKind.MAP:
            lines = self._lines(label, fields, whole, node)
            if len(lines) > 1:
                last = list(node.entries.values())[-1]
                self.apply(insert_line(self.text, last, "\n".join(lines)))
            else:
                self.apply(insert_entry(self.text, node, name, self._one_line(fields, whole)))
        elif self.root.in_flow:
            content = f"{{{label}: {self._flow(fields, whole)}}}"
            entry = self.root.entries.get(section)
            change = insert_entry(self.text, self.root, section, content, self.as_json)
            self.apply(change if entry is None else replace_value(self.text, entry, content))
        else:
            lines = [" " * INDENT + line for line in self._lines(label, fields, whole, None)]
            if node is None:
                self.insert_section(section, [f"{section}:", *lines])
            else:  # the key of the section stands alone
                at = line_end(self.text, self.root.entries[section].end)
                start = line_break(self.text) + " " * self._column
                self.apply([Edit(at, at, "".join(f"{start}{line}" for line in lines))])

    def add_entry(self, section: str, name: str, block: list[str]) -> None:
        """A new entry as it is written on lines, its key included; in brackets where the section is."""
        node = self.root.find(section)
        self.guard((section,))
        if self.root.in_flow or (node is not None and node.in_flow):
            value = plain_value(read_spans("\n".join(block)))[name]
            fields = value if isinstance(value, Mapping) else {SHORT.get(section, "at"): value}
            self.add(section, name, {key: write_flow(item) for key, item in fields.items()})
            return
        if node is not None and node.kind is NodeKind.MAP:
            self.apply(insert_line(self.text, list(node.entries.values())[-1], "\n".join(block)))
        else:
            if node is not None:
                self.remove((section,))
            self.insert_section(section, [f"{section}:", *(f"{' ' * INDENT}{line}".rstrip() for line in block)])

    @property
    def _column(self) -> int:
        """Where the sections stand."""
        return next((entry.column for entry in self.root.entries.values()), 0)

    def _flow(self, fields: Mapping[str, str], whole: str | None) -> str:
        """The fields of an entry in braces."""
        if whole is not None:
            return format_value(whole, in_flow=True, as_json=self.as_json)
        pairs = (
            f"{format_key(key, self.as_json)}: {format_value(value, in_flow=True, as_json=self.as_json)}"
            for key, value in fields.items()
        )
        return "{" + ", ".join(pairs) + "}"

    def _one_line(self, fields: Mapping[str, str], whole: str | None) -> str:
        return self._flow(fields, None) if whole is None else format_value(whole, in_flow=False)

    def _lines(self, label: str, fields: Mapping[str, str], whole: str | None, parent: SpanNode | None) -> list[str]:
        """The lines of an entry, without their common indentation: one if it fits."""
        line = f"{label}: {self._one_line(fields, whole)}"
        column = self._column + INDENT if parent is None else next(iter(parent.entries.values())).column
        if whole is not None or column + len(line) <= WIDTH:
            return [line]
        inner = (f"{' ' * INDENT}{format_key(k)}: {format_value(v, in_flow=False)}" for k, v in fields.items())
        return [f"{label}:", *inner]

    def insert_section(self, section: str, lines: list[str]) -> None:
        """A new section at the top level, in the usual order, apart from the others as they are from each other."""
        present = list(self.root.entries.values())
        if not present:
            raise ArgumentError("the text is no model yet: it starts with 'kinode: 1'")
        place = ORDER.index(section) if section in ORDER else len(ORDER)
        before = [entry for entry in present if entry.key in ORDER and ORDER.index(entry.key) < place]
        last = before[-1] if before else present[0]
        new = line_break(self.text)
        apart = last is not present[0] and self._stands_apart(last.start)
        at = line_end(self.text, max(last.end, value_end(self.text, last.node)))
        start = new + " " * self._column
        self.apply([Edit(at, at, new * apart + "".join(f"{start}{line}" for line in lines))])

    def _stands_apart(self, position: int) -> bool:
        """Whether the line before that of a position is empty."""
        start = line_start(self.text, position)
        return start > 1 and not self.text[line_start(self.text, start - 1) : start].strip()

    def remove(self, path: Path) -> None:
        """Take out what is at a path; a section that gets empty goes as a whole."""
        self.guard(path, inside=True)
        parent_path, key = path[:-1], path[-1]
        parent = self.root.find(*parent_path)
        assert parent is not None
        several = len(parent.items) + len(parent.entries) > 1
        if not several and len(parent_path) == 1 and parent_path[0] in SECTIONS:
            self.remove(parent_path)
        elif not several and not parent.in_flow and parent_path and self.places.entry(parent_path) is not None:
            empty = "[]" if parent.kind is NodeKind.LIST else "{}"
            entry = self.places.entry(parent_path)
            assert entry is not None
            self.apply(replace_value(self.text, entry, empty))
        elif isinstance(key, int):
            self._remove_item(parent, key)
        elif several or parent.in_flow:
            self.apply(remove_entry(self.text, parent, str(key)))
        elif self.box and not parent_path:
            entry = find_box_entry(reread_spans(self.text), self.box)
            assert entry is not None
            self.apply(replace_value(self.text, entry, "{}"))
        else:
            raise ArgumentError(f"{key} is all that is there, and cannot be taken out")

    def _remove_item(self, parent: SpanNode, index: int) -> None:
        if parent.in_flow:
            self.apply(remove_from_flow(self.text, flow_spans(parent), index))
            return
        item = parent.items[index]
        self.apply(remove_lines(self.text, line_start(self.text, item.start), line_end(self.text, item.end)))

    def rename(self, path: Path, new: str) -> list[Edit]:
        """The edits that give an entry another key; they are not made yet."""
        self.guard(path[:-1])
        parent = self.root.find(*path[:-1])
        assert parent is not None
        return rename_key(self.text, parent, str(path[-1]), new, self.as_json)


def _shared(path: Path) -> ArgumentError:
    where = ".".join(map(str, path))
    return ArgumentError(f"{where} is written once and used in several places (& and *): change it in the text")


def _has_anchor(node: SpanNode) -> bool:
    inner = [*node.items, *(entry.node for entry in node.entries.values())]
    return any(item.anchor is not None or _has_anchor(item) for item in inner)


FRESH = re.compile(r"n\d+\Z")


@dataclass
class GesturePlan:
    """The outcome of a gesture.

    Attributes
    ----------
    edits : list of Edit
        Of the text before; empty where only the drawing changes.
    made, removed : list of str
        Names of components.
    renamed : dict
        Old names with the new ones, those of nodes included.
    words : str
        What was done, for an undo menu.
    """

    edits: list[Edit] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)
    words: str = ""


def names_in_use(draft: ModelDraft) -> set[str]:
    """Names that nothing new can have: of components, nodes, subsystems, and words of laws."""
    system = draft.system
    nodes = {site.name for site in draft.sites if site.role == IN_PORTS}
    taken = {*draft.places.paths, *system.declared, *system.prefixes, *nodes, *RESERVED, *CONSTANTS, *FUNCTIONS}
    return taken | set(system.references) | {frame.name or "" for frame in system.world.frames}


def free_name(wanted: str, taken: set[str]) -> str:
    """A name that is free: ``motor``, ``motor_2`` ..."""
    if wanted not in taken:
        return wanted
    stem = re.sub(r"_\d+\Z", "", wanted)
    return next(name for k in range(2, len(taken) + 3) if (name := f"{stem}_{k}") not in taken)


def fresh_nodes(taken: set[str]) -> Iterator[str]:
    """Names for new nodes: n1, n2 ..."""
    k = 0
    while True:
        k += 1
        if f"n{k}" not in taken:
            taken.add(f"n{k}")
            yield f"n{k}"


def claim_new_name(wanted: str | None, usual: str, taken: set[str]) -> str:
    """The name that is wanted for something new, or the usual one with a number, which is taken from now on."""
    name = free_name(usual, taken) if wanted is None else check_new_name(wanted, taken)
    taken.add(name)
    return name


def check_new_name(name: str, taken: set[str]) -> str:
    """A name for something new; what cannot be one is refused."""
    if not NAME.match(name) or "." in name:
        raise ArgumentError(f"{name!r:.60} is no name: use letters, digits and _, starting with a letter")
    if name in taken:
        raise ArgumentError(f"the name {name!r} is taken; choose another")
    return name


def inherited_ports(draft: ModelDraft, node: str) -> list[tuple[str, str]]:
    """The ports of inherited parts that are at a node."""
    if draft.root.find("extends") is None:
        return []
    parts = [part for part in draft.system.declared.values() if isinstance(part, Part) and draft.find_origin(part.name)]
    return [(part.name, port) for part in parts for port in part.ports() if getattr(part, port) == node]
