"""The gesture ``enclose``: a subsystem made of a selection of components, with the same equations as before.

A component that stands on a body outside, or acts in a joint outside, stays outside: the world of a subsystem is one
frame, and here it is the world.  So vectors in world axes and gravity mean inside what they meant before.  Everything
else may cross the edge of the selection: a node, or the freedom of a joint, becomes a node of the subsystem that is
connected outside; a parameter stays outside and is given; any other quantity that a law reads becomes an input that is
bound to it.  Tables, declared kinds and frames of the world are written inside too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kinode.editing.copying import typed_fields
from kinode.editing.draft import ORDER, GesturePlan, ModelDraft, claim_new_name, free_name, names_in_use
from kinode.editing.gesture_words import Names
from kinode.editing.name_sites import NameSite
from kinode.editing.places import DRAWN
from kinode.editing.spans import Edit, entry_text, format_key, value_end
from kinode.errors import ArgumentError, Error
from kinode.formats.yaml_text import NodeKind, SpanNode
from kinode.formats.yaml_writer import write_scalar
from kinode.model.base.field_reader import IN_FRAMES, IN_JOINTS, IN_LAWS, IN_PORTS
from kinode.model.base.parameters import Input, Parameter
from kinode.model.component_store import RESERVED
from kinode.model.quantities import unit_of

FIRST_NAME = "subsystem"


def enclose(draft: ModelDraft, plan: GesturePlan, *, names: Names, name: str | None = None) -> None:
    """A subsystem made of components; what crosses its edge becomes nodes, inputs and parameters of it."""
    name = claim_new_name(name, FIRST_NAME, names_in_use(draft))
    edge = SelectionEdge(draft, names)
    inside = _write_inside(edge)
    given = {
        "parameters": {each: each for each in edge.parameters},
        "bind": {each: each for each in edge.given_inputs} | {new: old for old, new in edge.inputs.items()},
        "connect": {inner: outer for outer, inner in edge.ports.items()},
    }
    _name_from_outside(edge, name)
    for member in edge.members:
        draft.remove(draft.places.paths[member])
    for table in edge.tables:
        if table in draft.places.paths and not any(site.role == IN_LAWS and site.means(table) for site in draft.sites):
            draft.remove(draft.places.paths[table])
    lines = [*_given_lines(given), "system:", *(f"  {line}" for line in inside)]
    draft.add_entry("systems", name, [f"{format_key(name)}:", *(f"  {line}".rstrip() for line in lines)])
    plan.made.append(name)
    plan.renamed |= {member: f"{name}.{member}" for member in edge.members}
    plan.renamed |= {node: f"{name}.{node}" for node in edge.own_nodes}
    stay = f"; outside stays {', '.join(edge.stays)}: {next(iter(edge.stays.values()))}" if edge.stays else ""
    plan.words = f"make the subsystem {name} of {', '.join(edge.members)}{stay}"


def _given_lines(given: Mapping[str, Mapping[str, str]]) -> Iterable[str]:
    for field, pairs in given.items():
        if pairs:
            inner = ", ".join(f"{format_key(key)}: {value}" for key, value in pairs.items())
            yield f"{field}: {{{inner}}}"


def _write_inside(edge: SelectionEdge) -> list[str]:
    """The lines of the subsystem, from its first section on."""
    draft, places = edge.draft, edge.draft.places
    sections: dict[str, list[str]] = {}
    for name in (*edge.tables, *edge.frames, *edge.members):
        path = places.paths[name]
        entry = places.entry(path)
        assert entry is not None
        sections.setdefault(str(path[0]), []).append(entry_text(draft.text, entry))
    kinds = {places.kind_of(name) for name in edge.members}
    for section, wanted in (("domains", None), ("components", kinds)):
        node = draft.root.find(section)
        for key, entry in node.entries.items() if node is not None else ():
            if (wanted is None and kinds & draft.system.kinds.keys()) or (wanted is not None and key in wanted):
                sections.setdefault(section, []).append(entry_text(draft.text, entry))
    ordered = sorted(sections.items(), key=lambda item: ORDER.index(item[0]))
    text = "".join(f"{section}:\n" + "".join(f"{entry}\n" for entry in entries) for section, entries in ordered)
    apart = draft.beside(EMPTY + text)
    _name_from_inside(edge, apart)
    for name in edge.parameters:
        apart.add("parameters", name, _constant(edge, "parameters", name))
    for name in edge.given_inputs:
        apart.add("inputs", name, _constant(edge, "inputs", name))
    for quantity, name in edge.inputs.items():
        unit = edge.unit_of(quantity)
        apart.add("inputs", name, {"value": "0", **({"unit": unit} if unit else {})})
    gravity = draft.root.find("gravity")
    plain = not any(site.path[:1] == ("gravity",) for site in draft.sites)
    if gravity is not None and plain and "bodies" in sections:
        apart.set(("gravity",), draft.text[gravity.start : value_end(draft.text, gravity)])
    return apart.text.removeprefix(EMPTY).splitlines()


def _name_from_inside(edge: SelectionEdge, apart: ModelDraft) -> None:
    """Write the names of nodes and inputs that the subsystem has for what is outside."""
    edits = []
    for site in apart.sites:
        if site.role == IN_PORTS and edge.ports.get(site.name, site.name) != site.name:
            edits.append(Edit(site.start, site.end, edge.ports[site.name]))
        elif site.role == IN_LAWS and apart.text[site.start - 1 : site.start] != "@":
            for quantity, name in edge.inputs.items():
                end = site.start + len(quantity)
                exact = apart.text[site.start : end] == quantity and apart.text[end : end + 1] != "@"
                if exact and site.name == quantity.partition("@")[0]:
                    edits.append(Edit(site.start, end, name))
    axes = {(edit.start, edit.end) for edit in edits}
    apart.apply([Edit(*span, next(e.text for e in edits if (e.start, e.end) == span)) for span in sorted(axes)])


def _constant(edge: SelectionEdge, section: str, name: str) -> dict[str, str]:
    """The value of a parameter or an input, as it is now, for the entry inside."""
    draft = edge.draft
    used = any(site.owner == name for site in draft.sites)
    if name in draft.places.paths and not used:
        typed = typed_fields(draft.places, section, name)
        return {key: value for key, value in typed if key in ("value", "unit")}
    record = draft.system.declared[name]
    assert isinstance(record, Parameter | Input)
    unit = {} if record.dimension is None else {"unit": record.dimension.unit}
    return {"value": write_scalar(float(draft.system.nominal(record.value))), **unit}


def _name_from_outside(edge: SelectionEdge, name: str) -> None:
    """Write the names that members have from outside."""
    edits = []
    for site in edge.outside_sites():
        owner = edge.owner_of(site.name)
        if owner in edge.members or (owner in edge.own_nodes and site.role == IN_LAWS):
            edge.draft.guard(site.path)
            edits.append(Edit(site.start, site.start, f"{name}."))
    edge.draft.apply(edits)


OUTSIDE = ("parameters", "inputs", "tables")  # they are given, or written inside too
WORLD = "world"
EMPTY = "kinode: 1\n"


class SelectionEdge:
    """The members of a subsystem that is to be made, and what they have in common with the rest.

    Attributes
    ----------
    members : list of str
        The components that go in, frames on their bodies included.
    stays : dict
        Those that were chosen and stay outside, with the reason.
    ports : dict
        What members are connected to outside, with the name of the node inside.
    inputs : dict
        Quantities outside that laws of members read, with the name of the input inside.
    parameters, given_inputs, tables, frames : list of str
        Of the text, that members use; of frames those on the world.
    own_nodes : set of str
        Nodes that only members are connected to.
    """

    def __init__(self, draft: ModelDraft, names: Iterable[str]) -> None:
        self.draft = draft
        self.heads = {*draft.places.paths, *draft.system.declared}
        self.nodes = {site.name for site in draft.sites if site.role == IN_PORTS} - set(draft.system.references)
        self.stays: dict[str, str] = {}
        self.members = self._find_members(list(names))
        self.ports: dict[str, str] = {}
        self.inputs: dict[str, str] = {}
        self.parameters: list[str] = []
        self.given_inputs: list[str] = []
        self.tables: list[str] = []
        self.frames: list[str] = []
        self.own_nodes: set[str] = set()
        self._find_nodes()
        self._find_read()

    # -- names -------------------------------------------------------------------------------------
    def owner_of(self, name: str) -> str:
        """The component, or else the node, that a name begins with; empty where it is a word of laws."""
        words = name.split(".")
        heads = [".".join(words[:count]) for count in range(len(words), 0, -1)]
        for known in (self.draft.places.paths, (*self.heads, WORLD)):  # of a subsystem, the entry that it is
            for head in heads:
                if head in known:
                    return head
        for head in heads:
            if head in self.nodes:
                return head
        return "" if words[0] in RESERVED else name

    def sites_of(self, *roles: str) -> Iterator[NameSite]:
        """Where members name something."""
        members = set(self.members)
        return (site for site in self.draft.sites if site.owner in members and site.role in roles)

    def outside_sites(self) -> Iterator[NameSite]:
        """Where the rest of the text names something."""
        members = set(self.members)
        return (site for site in self.draft.sites if site.owner not in members)

    def full_name(self, site: NameSite) -> str:
        """The quantity that a law names, with the axes that it is taken in."""
        text, end = self.draft.text, site.end
        if text[end : end + 1] != "@":
            return site.name
        axes = next(other.name for other in self.draft.sites if other.start == end + 1)
        return f"{site.name}@{axes}"

    def is_axes(self, site: NameSite) -> bool:
        """Whether a name says in which axes the quantity before it is taken."""
        return self.draft.text[site.start - 1 : site.start] == "@"

    # -- members -----------------------------------------------------------------------------------
    def _find_members(self, names: list[str]) -> list[str]:
        places = self.draft.places
        chosen = []
        for name in names:
            path = self.draft.path_of(name)
            if path[:1] == DRAWN[:1]:
                raise ArgumentError(f"{name} is part of a circuit as drawn, which cannot be taken apart here")
            if places.section_of(name) not in OUTSIDE and not self._is_plain_frame(name):
                chosen.append(name)
        for name in places.paths:
            if self._is_plain_frame(name) and self._body_of_frame(name) in chosen:
                chosen.append(name)
        while True:
            reasons = {name: why for name in chosen if (why := self._why_outside(name, chosen))}
            if not reasons:
                break
            self.stays |= reasons
            chosen = [name for name in chosen if name not in reasons and self._body_of_frame(name) not in reasons]
        if not any(not self._is_plain_frame(name) for name in chosen):
            why = "; ".join(self.stays.values()) or "parameters, inputs and tables stay outside"
            raise ArgumentError(f"nothing of this can be in a subsystem of its own: {why}")
        for name in chosen:
            self.draft.guard(places.paths[name], inside=True)
            node = places.node(name)
            if node is not None and has_alias(node):
                raise ArgumentError(f"{name} uses values that are written elsewhere (& and *): change it in the text")
        return [name for name in places.paths if name in chosen]

    def _why_outside(self, name: str, chosen: list[str]) -> str:
        """Why a component cannot be in a box with others; empty where it can."""
        for site in self.draft.sites:
            owner = self.owner_of(site.name)
            if site.owner == name and site.role in (IN_FRAMES, IN_JOINTS):
                if owner not in chosen and owner != WORLD and not self._is_world_frame(owner):
                    return f"{name} {'acts in' if site.role == IN_JOINTS else 'is joined to'} {owner}, which is outside"
            elif site.owner == name and site.role == IN_LAWS:
                beside = self.draft.text[site.end : site.end + 1] == "@" and owner not in (*chosen, WORLD)
                if beside or (self.is_axes(site) and owner not in (*chosen, WORLD)):
                    return f"{name} reads a vector in the axes of something else, {site.name}"
            elif owner == name and site.owner not in chosen:
                if self.draft.places.section_of(site.owner) == "systems" and site.role == IN_FRAMES:
                    return f"the subsystem {site.owner} stands on {name}"
                if site.owner == "" and site.path[:1] == ("changes",):
                    return f"{name} is changed in this file"
        return ""

    def _is_plain_frame(self, name: str) -> bool:
        return self.draft.places.section_of(name) == "frames" and not self.draft.places.kind_of(name)

    def _body_of_frame(self, name: str) -> str:
        """The body that a plain frame is on; empty for other components."""
        if not self._is_plain_frame(name):
            return ""
        node = self.draft.places.node(name)
        body = None if node is None else node.find("body")
        return WORLD if body is None else self.owner_of(str(body.value))

    def _is_world_frame(self, name: str) -> bool:
        return self._body_of_frame(name) == WORLD

    # -- what crosses ------------------------------------------------------------------------------
    def _find_nodes(self) -> None:
        outside = {site.name for site in self.outside_sites() if site.role == IN_PORTS}
        taken = {*self.heads, *self.nodes}
        references = self.draft.system.references
        for site in self.sites_of(IN_PORTS):
            if site.name in references or site.name in self.ports:
                continue
            owner = self.owner_of(site.name)
            if owner in self.members:
                continue
            if owner != site.name or site.name in self.heads or "." in site.name:  # a joint, or part of a subsystem
                word = next(str(step) for step in site.path[::-1] if isinstance(step, str))
                self.ports[site.name] = free_name(word, taken)
                taken.add(self.ports[site.name])
            elif site.name in outside:
                self.ports[site.name] = site.name
            else:
                self.own_nodes.add(site.name)

    def _find_read(self) -> None:
        taken = {*self.members, *self.own_nodes, *self.ports.values(), *RESERVED}
        inside = {*self.own_nodes, *(name for name in self.ports if self.ports[name] == name)}
        quantities: list[str] = []
        for site in self.sites_of(IN_LAWS, IN_FRAMES):
            owner = self.owner_of(site.name)
            world_frame = site.name.removeprefix(f"{WORLD}.").partition(".")[0]
            if site.role == IN_FRAMES or owner == WORLD:
                for name in (owner, world_frame if owner == WORLD else ""):
                    if name and self._is_world_frame(name) and name not in self.frames:
                        self.frames.append(name)
                continue
            if not owner or owner in self.members or owner in inside or self.is_axes(site):
                continue
            self._read(site, owner, quantities)
        taken |= {*self.parameters, *self.given_inputs, *self.tables, *self.frames}
        for quantity in quantities:
            wanted = quantity.replace(".", "_").replace("@", "_in_")
            self.inputs[quantity] = free_name(wanted, taken)
            taken.add(self.inputs[quantity])

    def _read(self, site: NameSite, owner: str, quantities: list[str]) -> None:
        section = self.draft.places.section_of(owner) or getattr(self.draft.system.declared.get(owner), "section", "")
        lists = {"parameters": self.parameters, "inputs": self.given_inputs, "tables": self.tables}
        if section in lists:
            if owner not in lists[section]:
                lists[section].append(owner)
        elif owner in self.heads or owner in self.nodes:
            quantity = self.full_name(site)
            if quantity not in quantities:
                quantities.append(quantity)

    def unit_of(self, quantity: str) -> str:
        """The SI unit of a quantity; empty where it is not known."""
        try:
            unit = unit_of(self.draft.system, quantity)
        except Error:
            return ""
        return unit if isinstance(unit, str) and unit != "1" else ""


def has_alias(node: SpanNode) -> bool:
    """Whether something in a value is written elsewhere."""
    inner = [*node.items, *(entry.node for entry in node.entries.values())]
    return any(item.kind is NodeKind.ALIAS or has_alias(item) for item in inner)
