"""What is drawn of a model that is being made: its circuit, ports that nothing is connected to, and broken parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kinode.expressions.syntax_tree import Expression
from kinode.model.base.fields import Component
from kinode.model.base.frames import Frame
from kinode.model.base.symbols import find_symbol
from kinode.model.circuit_links.circuit_topology import ENERGY, INFORMATION, VECTOR, expressions_of
from kinode.model.joints.joint import Joint
from kinode.model.network.part import Part
from kinode.model.system import System
from kinode.studio.drawing.kind_boxes import find_class, make_box, ports_of
from kinode.studio.subsystems.closed_boxes import BoxEntry, close_boxes
from kinode.views.diagram.circuit_graph import Box, CircuitGraph, Connection, Port

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
    laws = [getattr(model, field.name) for field, spec in model.specs().values() if spec.shape == "law"]
    return not any(isinstance(law, Expression) for law in laws)


def _reading_field(model: Component, source: str) -> str:
    """The field of a component whose law reads another."""
    for name, (field, _) in model.specs().items():
        for law in expressions_of(getattr(model, field.name)):
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
