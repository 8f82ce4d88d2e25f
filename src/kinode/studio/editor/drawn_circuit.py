"""What is drawn of a model that is being made: its circuit, ports that nothing is connected to, and broken parts.

Subsystems are closed boxes: what they hold is not drawn, and links that cross their edge end at ports.

=============================  ===============================================  ==================================
a port of a box                is                                               called
=============================  ===============================================  ==================================
a node                         one that is connected outside, or has one end    as the node inside
the freedom of a joint inside  what a part outside acts in                      as the joint
a body inside                  what a joint outside holds; the last of a chain  as the body
its frame                      the body outside that it stands on               on
information                    an input; a quantity that is read outside        as the input; as its component
=============================  ===============================================  ==================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kinode.editing.places import EntryPlaces, file_of
from kinode.expressions.syntax_tree import Expression
from kinode.formats.yaml_text import NodeKind, SpanNode
from kinode.model.base.field_reader import LAW
from kinode.model.base.fields import Component
from kinode.model.base.frames import Frame
from kinode.model.base.symbols import Outline, Stroke, StrokeRole, Symbol, find_symbol
from kinode.model.circuit_topology import ENERGY, INFORMATION, VECTOR
from kinode.model.joints.joint import Joint
from kinode.model.network.domain import BASE
from kinode.model.network.part import Part
from kinode.model.system import System
from kinode.studio.editor.kinds import find_class, make_box, ports_of
from kinode.views.diagram.circuit_graph import Box, CircuitGraph, Connection, Port
from kinode.views.diagram.link_marks import links_at

ON = "on"
KIND = "subsystem"
SYMBOL = Symbol(
    shapes=(
        Stroke("M-13,-9h9v8h-9z", StrokeRole.THIN),
        Stroke("M4,1h9v8h-9z", StrokeRole.THIN),
        Stroke("M-4,-5H8V1", StrokeRole.THIN),
    ),
    outline=Outline.BOX,
)


@dataclass(frozen=True)
class BoxEntry:
    """The entry of a subsystem in a text: its file, empty if it is written out, and what its nodes are connected to."""

    name: str
    file: str = ""
    connect: Mapping[str, str] = field(default_factory=dict)


class ClosedBox:
    """A box in a circuit, with the components that it hides and the domains of its ports."""

    def __init__(self, entry: BoxEntry, circuit: CircuitGraph) -> None:
        self.entry = entry
        prefix = f"{entry.name}."
        self.hidden = [box for name, box in circuit.boxes.items() if name.startswith(prefix)]
        self.box = Box(entry.name, "part", KIND, SYMBOL, entry.name, entry.file)
        self.domains: dict[str, str] = {}

    def add_port(self, name: str, like: Port, domain: str, joint: str = "") -> Port:
        """A port on the edge."""
        self.domains.setdefault(name, domain)
        port = self.box.port(name, like.kind, out=like.out)
        port.joint = port.joint or joint
        return port

    def field_of(self, port: Port) -> str:
        """The field of the subsystem's entry that a port stands for; empty where there is none."""
        if port.kind == VECTOR:
            return ON if port.name == ON else ""
        if port.kind == INFORMATION:
            return "" if port.out else f"bind.{port.name}"
        inner = [box.name for box in self.hidden if box.role == "KN"]
        return "" if f"{self.entry.name}.{port.name}" in inner else f"connect.{port.name}"


def read_entries(places: EntryPlaces) -> list[BoxEntry]:
    """The subsystems that a text, or a box in it, has."""
    systems = places.root.find("systems")
    if systems is None or systems.kind is not NodeKind.MAP:
        return []
    return [BoxEntry(name, file_of(entry.node), dict(_texts(entry.node))) for name, entry in systems.entries.items()]


def _texts(node: SpanNode) -> Iterator[tuple[str, str]]:
    connect = node.find("connect")
    for key, entry in connect.entries.items() if connect is not None else ():
        if isinstance(entry.node.value, str):
            yield key, entry.node.value


def close_boxes(circuit: CircuitGraph, entries: Iterable[BoxEntry]) -> dict[str, ClosedBox]:
    """Draw subsystems as boxes: the graph is changed, and the boxes that it got are returned by name."""
    closed = {entry.name: ClosedBox(entry, circuit) for entry in entries if entry.name not in circuit.boxes}
    closed = {name: box for name, box in closed.items() if box.hidden}
    home = {inner.name: box for box in closed.values() for inner in box.hidden}
    if not home:
        return {}
    lone, last = list(_lone_ends(circuit, home)), list(_last_bodies(circuit, home))
    for name, link in list(circuit.links.items()):
        if not any(box.name in home for box, _ in link.ends):
            continue
        ends = list(_ends(circuit, link, home))
        if len({box.name for box, _ in ends}) > 1:
            link.ends = ends
        else:
            del circuit.links[name]
    for box, name, port, domain in lone:
        box.add_port(name, port, domain)
    for box, name in last:
        box.add_port(name, Port("", VECTOR), "")
    for name in home:
        del circuit.boxes[name]
        circuit.inside[name] = home[name].entry.name
    for name, each in closed.items():
        circuit.boxes[name] = each.box
    _add_edge_ports(closed.values())
    return closed


def _ends(circuit: CircuitGraph, link: Connection, home: Mapping[str, ClosedBox]) -> Iterator[tuple[Box, Port]]:
    """The ends of a link as they are drawn; several ends in one box are one port there."""
    homes = {home[box.name].entry.name if box.name in home else box.name for box, _ in link.ends}
    seen = set()
    for box, port in link.ends:
        closed = home.get(box.name)
        if closed is None:
            yield box, port
            continue
        if len(homes) == 1:  # all of it is inside
            yield closed.box, port
            continue
        others = [other for other, _ in link.ends if home.get(other.name) is not closed]
        for name in _port_names(closed, link, box, port, others):
            if (closed.entry.name, name) not in seen:
                seen.add((closed.entry.name, name))
                joint = next((other.name for other in others if other.role == "KN"), "")
                yield closed.box, closed.add_port(name, port, _domain(circuit, box, port), joint)


def _port_names(closed: ClosedBox, link: Connection, box: Box, port: Port, others: list[Box]) -> list[str]:
    """What a link that crosses the edge is called there."""
    prefix = f"{closed.entry.name}."
    inner = box.name.removeprefix(prefix)
    if link.kind == VECTOR and port.name != "3":
        return [inner] if box.role == "SB" else [ON]
    if link.kind == INFORMATION:
        return [inner.partition(".")[0]] if port.out or box.kind == "signal" else [port.name]
    node = link.name.removesuffix(".3")
    keys = [key for key, value in closed.entry.connect.items() if value == node]
    return keys or [node.removeprefix(prefix)]


def _domain(circuit: CircuitGraph, box: Box, port: Port) -> str:
    if port.kind == INFORMATION or box.name not in circuit.topology.components:
        return ""
    kinds = dict.fromkeys(link.domain.kind for link in links_at(circuit, box, port) if link.domain is not None)
    return ", ".join(kinds)


def _lone_ends(
    circuit: CircuitGraph, home: Mapping[str, ClosedBox]
) -> Iterator[tuple[ClosedBox, str, Port, str]]:  # fmt: skip
    """Nodes inside boxes that have one end: they wait to be connected."""
    for name, node in circuit.topology.nodes.items():
        if node.reference or len(node.links) != 1 or node.links[0].kind != ENERGY:
            continue
        link = node.links[0]
        closed = home.get(link.component)
        port = circuit.boxes[link.component].ports.get(link.port) if closed is not None else None
        if closed is not None and port is not None and link.freedom is None and link.domain is not None:
            keys = [key for key, value in closed.entry.connect.items() if value == name]
            for key in keys or [name.removeprefix(f"{closed.entry.name}.")]:
                yield closed, key, port, link.domain.kind


def _last_bodies(circuit: CircuitGraph, home: Mapping[str, ClosedBox]) -> Iterator[tuple[ClosedBox, str]]:
    """Bodies that one joint holds, or none: a joint outside goes on from there."""
    held = dict.fromkeys((name for name in home if circuit.boxes[name].role == "SB"), 0)
    for link in circuit.links.values():
        if link.kind == VECTOR and any(box.role == "KN" for box, _ in link.ends):
            for name in {box.name for box, _ in link.ends} & held.keys():
                held[name] += 1
    for name, count in held.items():
        if count < 2:
            yield home[name], name.removeprefix(f"{home[name].entry.name}.")


def _add_edge_ports(closed: Iterable[ClosedBox]) -> None:
    """Inputs that nothing gives are ports too, and the world where it stands on that."""
    for each in closed:
        for inner in each.hidden:
            if inner.kind == "input":
                each.add_port(inner.name.removeprefix(f"{each.entry.name}."), Port("", INFORMATION), "")
            if any(port.kind == VECTOR and port.reference for port in inner.ports.values()):
                each.add_port(ON, Port("", VECTOR), "").reference = BASE


REFERENCES = ("world", "gnd")
KINDLESS = {"bodies": "body", "signals": "signal", "inputs": "input", "parameters": "parameter"}
FREE_PORT = "body"  # of a body: where the next joint is connected


@dataclass(frozen=True)
class BrokenPart:
    """A component of the text that could not be built: its kind as written, what is wrong, and its fields as text."""

    name: str
    section: str
    kind: str
    words: str
    fields: Mapping[str, Any]


class DrawnCircuit:
    """The boxes and links of a system, whole or not, as an editor needs them."""

    def __init__(
        self, system: System, broken: Iterable[BrokenPart] = (), boxes: Iterable[BoxEntry] = ()
    ) -> None:  # fmt: skip
        self.system = system
        self.graph = CircuitGraph(system)
        self.closed = close_boxes(self.graph, boxes)
        self.broken = {part.name: part for part in broken if part.name not in self.graph.boxes}
        for box in self.graph.boxes.values():
            self._open_ports(box)
        for part in self.broken.values():
            self._add_broken(part)

    # -- ports that are open -----------------------------------------------------------------------
    def model_of(self, box: Box) -> Component | None:
        """The component of the model that a box is; None for what a field of a joint is drawn as, and broken parts."""
        if box.name in self.broken:
            return None
        return self.system.components.get(box.name)

    def _open_ports(self, box: Box) -> None:
        """Add the ports that a diagram leaves out since nothing is connected there."""
        model = self.model_of(box)
        if model is None:
            return
        if box.role == "SB":
            box.port(FREE_PORT, VECTOR)
            return
        fields = {self.field_of(box, port) for port in box.ports.values()}
        several = isinstance(model, Joint) and model.n_u > 1
        for port in ports_of(type(model)):
            if port.name in box.ports or port.name in fields or (port.name == "3" and several and _has_freedoms(box)):
                continue
            if port.kind == INFORMATION and not port.out and not _is_open(model, port.name):
                continue
            box.ports[port.name] = Port(port.name, port.kind, out=port.out)

    def field_of(self, box: Box, port: Port) -> str:
        """The field of the model file that a port stands for: ``between.0``, ``plus``; empty where there is none."""
        if box.name in self.closed:
            return self.closed[box.name].field_of(port)
        model = self.model_of(box)
        if isinstance(model, Joint):
            return {"1": "between.0", "2": "between.1"}.get(port.name, "")
        if model is None or box.role == "SB" or port.out:
            return ""
        if port.kind == INFORMATION and port.name.startswith("in "):
            return _reading_field(model, port.name.removeprefix("in "))
        return port.name

    # -- broken parts ------------------------------------------------------------------------------
    def _add_broken(self, part: BrokenPart) -> None:
        try:
            cls = find_class(part.kind or KINDLESS.get(part.section, ""), part.section, self.system.kinds)
        except KeyError:
            box = Box(part.name, "part", part.kind, find_symbol("box").with_name(part.kind or "?"), part.name)
        else:
            box = make_box(part.name, part.kind, cls, part.name)
        self.graph.boxes[part.name] = box
        for port in box.ports.values():
            given = part.fields.get(port.name)
            if port.kind == ENERGY and isinstance(given, str):
                self._join(box, port, given)

    def _join(self, box: Box, port: Port, node: str) -> None:
        """Connect a port of a broken part to the node that its text names."""
        if node in REFERENCES:
            port.reference = "base" if node == "world" else "ground"
            return
        link = self.graph.links.get(node) or self.graph.links.get(f"{node}.3")
        if link is None:
            ends = self._lone_ends(node)
            if not ends:
                return
            link = self.graph.links[node] = Connection(node, ENERGY, ends, node)
        if link.kind == ENERGY:
            link.ends.append((box, port))

    def _lone_ends(self, node: str) -> list[tuple[Box, Port]]:
        """The only port at a node, which the graph draws no line for."""
        at = self.graph.topology.nodes.get(node)
        if at is None or at.reference:
            return []
        boxes = ((self.graph.boxes.get(link.component), link.port) for link in at.links)
        return [(box, box.ports[port]) for box, port in boxes if box is not None and port in box.ports]


def _has_freedoms(box: Box) -> bool:
    return any(port.kind == ENERGY for port in box.ports.values())


def _is_open(model: Component, name: str) -> bool:
    """Whether a signal may be put into a law: in the place of a number, or of nothing where no law is given yet."""
    value = getattr(model, model.specs()[name][0].name)
    if value is not None:
        return isinstance(value, float)
    return not any(isinstance(law, Expression) for law in model.values_of(LAW).values())


def _reading_field(model: Component, source: str) -> str:
    """The field of a component whose law reads another."""
    for name, law in model.expressions():
        if any(word == source or word.startswith(f"{source}.") for word in law.names()):
            return name
    return "law" if model.section == "signals" else ""


def is_connected(model: Component | None, port: Port) -> bool:
    """Whether a port that has no line is connected all the same: to a reference, or to a frame."""
    if port.reference:
        return True
    if model is None or isinstance(model, Part) or not model.section:
        return False
    spec = model.specs().get(port.name)
    return spec is not None and isinstance(getattr(model, spec[0].name), Frame)
