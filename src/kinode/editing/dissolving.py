"""The gesture ``dissolve``: what is in a subsystem is put in its place, with the same equations as before.

Nodes become those that they were connected to, inputs the quantities that they were bound to, parameters those that
they were given.  An input that is bound to a law becomes a signal; a parameter that has a value of its own stays one.

References from outside are kept right while the inside is changed too.  A component, node, parameter or input that gets
another name inside gets it in ``connect``, ``bind`` and ``parameters`` of the subsystem and in all references outside.
What is no longer there is taken out of these three.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kinode.editing.connecting import merge_nodes
from kinode.editing.copying import typed_value
from kinode.editing.draft import FRESH, GesturePlan, ModelDraft, free_name, fresh_nodes, names_in_use
from kinode.editing.enclosing import EMPTY, has_alias
from kinode.editing.name_sites import NameSite
from kinode.editing.places import NAMED, Box, box_prefix, find_box_entry
from kinode.editing.removing import rename_references
from kinode.editing.spans import Edit, entry_text
from kinode.errors import ArgumentError
from kinode.formats.yaml_text import SpanNode, plain_value
from kinode.model.base.field_reader import IN_PORTS

LEFT_OUT = ("kinode", "name", "gravity", "run", "notes")  # of a subsystem they have no meaning
DECLARED = ("domains", "components")
QUANTITY = re.compile(r"[^\W\d]\w*(?:\.\w+)*(?:@\w+(?:\.\w+)*)?\Z")


def dissolve(draft: ModelDraft, plan: GesturePlan, *, name: str) -> None:
    """What is in a subsystem, put in its place."""
    draft.path_of(name)
    if draft.places.section_of(name) != "systems":
        raise ArgumentError(f"{name} is no subsystem")
    box = _OpenedBox(draft, name)
    apart = box.write_apart()
    box.name_from_outside()
    draft.remove(draft.places.paths[name])
    for section, key in box.declared:
        entry = apart.places.entry((section, key))
        assert entry is not None
        draft.add_entry(section, key, entry_text(apart.text, entry, 0).splitlines())
    for key, path in apart.places.paths.items():
        entry = apart.places.entry(path)
        assert entry is not None
        draft.add_entry(str(path[0]), key, entry_text(apart.text, entry, 0).splitlines())
        plan.made.append(key)
    plan.removed.append(name)
    plan.renamed |= {f"{name}.{old}": new for old, new in box.names.items() if QUANTITY.match(new)}
    plan.words = f"dissolve the subsystem {name}"


class _OpenedBox:
    """A subsystem that is being dissolved: the names that its content gets outside."""

    def __init__(self, draft: ModelDraft, name: str) -> None:
        self.draft, self.name = draft, name
        self.entry = draft.root.find("systems", name)
        assert self.entry is not None
        draft.guard(("systems", name), inside=True)
        find_box_entry(draft.root, (name,))  # says why where it is not written out
        self.inside = ModelDraft(draft.text, draft.file, box=(*draft.box, name))
        self._check(self.entry)
        self.names: dict[str, str] = {}
        self.signals: dict[str, str] = {}  # inputs that are bound to laws
        self.declared = list(self._new_declarations())
        self._find_names()

    def _check(self, entry: SpanNode) -> None:
        on = entry.find("on")
        if on is not None and on.value not in (None, "world"):
            raise ArgumentError(f"{self.name} stands on another frame, whose axes its content uses: it stays a box")
        for key in self.inside.root.entries:
            if key not in (*NAMED, *LEFT_OUT, *DECLARED):
                raise ArgumentError(f"{self.name} has a section {key!r} of its own: dissolve it in the text")
        if has_alias(entry):
            raise ArgumentError(f"{self.name} uses values that are written elsewhere (& and *): change it in the text")
        frames = self.inside.root.find("frames")
        for key, own in frames.entries.items() if frames is not None else ():
            here = self.draft.root.find("frames", key)
            if here is not None and plain_value(own.node) != plain_value(here):
                raise ArgumentError(f"{key} is a frame in {self.name}, and another outside: rename one of them")

    def _new_declarations(self) -> Iterator[tuple[str, str]]:
        """Declared kinds and domains that the model does not have yet."""
        for section in DECLARED:
            own, outer = self.inside.root.find(section), self.draft.root.find(section)
            for key, entry in own.entries.items() if own is not None else ():
                if outer is None or key not in outer.entries:
                    yield section, key
                elif plain_value(outer.entries[key].node) != plain_value(entry.node):
                    raise ArgumentError(f"{key} is declared in {self.name}, and otherwise outside: rename one of them")

    # -- names -------------------------------------------------------------------------------------
    def given(self, key: str, *fields: str) -> str | None:
        """What the subsystem's entry gives to a name inside, as typed."""
        for field in fields:
            node = None if self.entry is None else self.entry.find(field, key)
            if node is not None:
                return str(node.value) if isinstance(node.value, str) else typed_value(self.draft.text, node)
        return None

    def _find_names(self) -> None:
        taken = names_in_use(self.draft) - {self.name}
        paths, outer = self.inside.places.paths, self.draft.places
        for key, path in paths.items():
            given = self.given(key, "bind", "parameters") if path[0] in ("inputs", "parameters") else None
            plain = given is not None and QUANTITY.match(given) is not None
            if given is not None and plain and (path[0] == "inputs" or outer.section_of(given) == "parameters"):
                self.names[key] = given
                continue
            if self._is_same_outside(path):
                self.names[key] = key
                continue
            self.names[key] = free_name(key, taken)
            taken.add(self.names[key])
            if given is not None and path[0] == "inputs":
                self.signals[key] = given
        nodes = fresh_nodes(taken)
        known = {*self.draft.system.references, *self.inside.system.references}
        for site in self.inside.sites:
            head = site.name.partition(".")[0]
            if site.role != IN_PORTS or site.name in known or head in paths or site.name in self.names:
                continue
            own = next(nodes) if FRESH.match(site.name) and site.name in taken else free_name(site.name, taken)
            self.names[site.name] = self.given(site.name, "connect") or own
            taken.add(self.names[site.name])

    def _is_same_outside(self, path: tuple[str | int, ...]) -> bool:
        """Whether a table or a frame of the world stands outside too, word for word."""
        if path[0] not in ("tables", "frames"):
            return False
        one, two = self.inside.root.find(*path), self.draft.root.find(*path)
        return one is not None and two is not None and plain_value(one) == plain_value(two)

    def outer_name(self, name: str) -> str | None:
        """A name inside as it is outside; None where it stays."""
        words = name.split(".")
        for count in range(len(words), 0, -1):
            head = ".".join(words[:count])
            if head in self.names:
                new = self.names[head] + name[len(head) :]
                return None if new == name else new
        return None

    # -- texts -------------------------------------------------------------------------------------
    def write_apart(self) -> ModelDraft:
        """The entries of the subsystem under the names that they get."""
        text = EMPTY
        for section, node in self.inside.root.entries.items():
            entries = [entry for key, entry in node.node.entries.items() if self._goes(section, key)]
            if section not in LEFT_OUT and entries:
                lines = "".join(f"{entry_text(self.draft.text, entry)}\n" for entry in entries)
                text += f"{section}:\n{lines}"
        apart = ModelDraft(text, self.draft.file, self.inside.checked)
        edits = [edit for site in apart.sites for edit in self._edits(site, apart.text)]
        for key, path in apart.places.paths.items():
            if self.names[key] != key:
                edits += apart.rename(path, self.names[key])
        apart.apply(edits)
        for key, path in self.inside.places.paths.items():
            value = self.given(key, "parameters", "bind") if path[0] == "parameters" else None
            if value is not None and self._goes("parameters", key):
                apart.set(apart.places.field_path(self.names[key], ("value",)), value)
        for key, law in self.signals.items():
            apart.add("signals", self.names[key], {"law": law})
        return apart

    def _goes(self, section: str, key: str) -> bool:
        """Whether an entry becomes one outside."""
        if section in DECLARED:
            return (section, key) in self.declared
        if section in ("inputs", "parameters"):
            given = self.given(key, "bind", "parameters")
            return given is None or (section == "parameters" and self.names[key] != given)
        return not self._is_same_outside((section, key))

    def _edits(self, site: NameSite, text: str) -> Iterator[Edit]:
        new = self.outer_name(site.name)
        if new is not None:
            if "@" in new and text[site.end : site.end + 1] == "@":
                raise ArgumentError(f"{site.name} of {self.name} is a vector in given axes: dissolve it in the text")
            yield Edit(site.start, site.end, new)

    def name_from_outside(self) -> None:
        """Write the names that the content has from now on wherever the rest of the model names it."""
        prefix, edits = f"{self.name}.", []
        for site in self.draft.sites:
            world = f"world.{prefix}"
            start = len(world) if site.name.startswith(world) else len(prefix) if site.name.startswith(prefix) else 0
            if not start or site.owner == self.name:
                continue
            rest = site.name[start:]
            new = rest if start == len(world) else self.outer_name(rest) or rest
            self.draft.guard(site.path)
            edits.append(Edit(site.start, site.end, f"world.{new}" if start == len(world) else new))
        self.draft.apply(edits)


GIVEN = {"connect": IN_PORTS, "bind": "inputs", "parameters": "parameters"}


class EdgeNames(NamedTuple):
    """What a subsystem offers to those who use it: its nodes, inputs and parameters."""

    nodes: frozenset[str]
    inputs: frozenset[str]
    parameters: frozenset[str]

    @classmethod
    def of(cls, inside: ModelDraft) -> EdgeNames:
        """Those of the present text."""
        paths = inside.places.paths
        nodes = {site.name for site in inside.sites if site.role == IN_PORTS}
        return cls(
            frozenset(nodes),
            frozenset(name for name, path in paths.items() if path[0] in ("inputs", "parameters")),
            frozenset(name for name, path in paths.items() if path[0] == "parameters"),
        )


def follow_inside(draft: ModelDraft, box: Box, before: EdgeNames, renamed: Mapping[str, str]) -> None:
    """Bring what is outside a box in line with a change inside; ``draft`` is the whole, with the change made."""
    after = EdgeNames.of(ModelDraft(draft.text, draft.file, box=box))
    if not renamed and after == before:
        return
    outer = ModelDraft(draft.text, draft.file, box=box[:-1])
    for old, new in renamed.items():
        _rename_given(outer, box[-1], old, new)
    _drop_given(outer, box[-1], before, after)
    draft.apply(outer.edited.edits())
    for count in range(len(box)):
        level = ModelDraft(draft.text, draft.file, box=box[:count])
        prefix = box_prefix(box[count:])
        for old, new in renamed.items():
            rename_references(level, None, prefix + old, prefix + new)
        draft.apply(level.edited.edits())


def _rename_given(outer: ModelDraft, name: str, old: str, new: str) -> None:
    """Another key in what a subsystem is given; where the new one is there already, the two become one."""
    for field in GIVEN:
        path = ("systems", name, field)
        mapping = outer.root.find(*path)
        if mapping is None or old not in mapping.entries:
            continue
        if new not in mapping.entries:
            outer.apply(outer.rename((*path, old), new))
            continue
        gone, keep = mapping.entries[old].node.value, mapping.entries[new].node.value
        outer.remove((*path, old))
        if field == "connect" and isinstance(gone, str) and isinstance(keep, str) and gone != keep:
            merge_nodes(outer, gone, keep, GesturePlan())


def _drop_given(outer: ModelDraft, name: str, before: EdgeNames, after: EdgeNames) -> None:
    """Take out what is given to nodes, inputs and parameters that went."""
    for field, had, has in zip(GIVEN, before, after):
        path = ("systems", name, field)
        mapping = outer.root.find(*path)
        gone = [key for key in mapping.entries if key in had and key not in has] if mapping is not None else []
        if mapping is not None and gone and len(gone) == len(mapping.entries):
            outer.remove(path)
            continue
        for key in gone:
            outer.remove((*path, key))
