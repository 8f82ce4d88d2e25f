"""A system as a component circuit: components with ports, and the links between them.

Every body is a solid body SB, every joint a kinematic node KN with two vector links and a third link for what acts in
it; laws that drive a joint, and forces on bodies, are sources E; springs, dampers and friction are dynamic components
DC; network parts, signals and inputs are components too.  Links are vector links (v, w | F, M), energy links (one
potential, one flow) and information links, from a quantity to the expression that reads it.  The world and gnd are
drawn where they are needed and are no components.  circuit_layout.py places the components.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kinode.expressions.syntax_tree import Expression
from kinode.expressions.units import DIMENSIONS
from kinode.model.base.field_reader import LAW, NUMBER
from kinode.model.base.fields import Component
from kinode.model.base.parameters import Signal
from kinode.model.base.symbols import Outline, Symbol, find_symbol, symbol_of
from kinode.model.circuit_topology import (
    ENERGY,
    INFORMATION,
    VECTOR,
    WORLD,
    CircuitComponent,
    CircuitLink,
    CircuitNode,
    find_circuit_topology,
)
from kinode.model.joints.joint import DERIVED, Joint
from kinode.model.network.domain import BASE
from kinode.sheets.tables import number, pretty_unit

if TYPE_CHECKING:
    from kinode.model.system import System

GRID = 10.0  # all positions are multiples of it
MAIN_FIELDS = frozenset(
    [
        "resistance",
        "capacitance",
        "inductance",
        "voltage",
        "current",
        "ratio",
        "stiffness",
        "damping",
        "inertia",
        "mass",
        "speed",
        "angle",
        "moment",
        "velocity",
        "position",
        "force",
        "thrust",
        "tension",
    ]
)
LONGEST_VALUE = 18  # letters of a value that are shown


@dataclass(eq=False)
class Port:
    """The end of a link at a component, with the type of the link; the layout sets side and offset."""

    name: str
    kind: str
    reference: str = ""  # gnd or world
    out: bool = False  # information goes out here
    from_signal: bool = False  # or comes in from another signal
    joint: str = ""  # the joint that connects a body here
    side: str = ""
    offset: float = 0.0


@dataclass(eq=False)
class Box:
    """A component of the diagram: its name, its role and its symbol; the layout sets position and size."""

    name: str
    role: str  # SB, KN, E, DC, part, signal
    kind: str
    symbol: Symbol
    label: str
    value: str = ""
    ports: dict[str, Port] = field(default_factory=dict)
    x: float = 0.0
    y: float = 0.0
    width: float = 40.0
    height: float = 40.0
    upright: bool = True  # its ports lead up and down, not left and right
    spine: bool = False  # it is in the row of bodies and kinematic nodes

    @property
    def is_two_pole(self) -> bool:
        """Whether it is drawn along the line between its two ports."""
        return self.symbol.is_two_pole

    def port(self, name: str, kind: str, **more: Any) -> Port:
        """The port of a name, created at the first call."""
        return self.ports.setdefault(name, Port(name, kind, **more))


@dataclass(eq=False)
class Connection:
    """What connects ports: two, or more that meet at a node."""

    name: str
    kind: str
    ends: list[tuple[Box, Port]]
    label: str = ""
    path: list[list[tuple[float, float]]] = field(default_factory=list)  # lines, set by link_routing.py
    dots: list[tuple[float, float]] = field(default_factory=list)
    waypoints: list[tuple[float, float]] = field(default_factory=list)  # through which a person has led it


class CircuitGraph:
    """The boxes and links of a system."""

    def __init__(self, system: System) -> None:
        self.system = system = system.as_declared()
        self.boxes: dict[str, Box] = {}
        self.links: dict[str, Connection] = {}
        self.inside: dict[str, str] = {}  # components that are drawn as part of a box, and that box
        self.topology = find_circuit_topology(system)
        for component in self.topology.components.values():
            if component.name != WORLD:
                self._box(component)
        for link in self.topology.links:
            self._link(self.topology.components[link.component], link)
        # a link with a single end needs no line
        self.links = {name: link for name, link in self.links.items() if len(link.ends) > 1}

    def shown(self, name: str) -> str:
        """The box that a component is drawn as, or is inside of."""
        return self.inside.get(name, name)

    # -- boxes -------------------------------------------------------------------------------------
    def _box(self, component: CircuitComponent) -> None:
        """The box of a component: that of a source or an effect of a joint is named by its role."""
        name, model = component.name, self.system[component.owner]
        if component.name == component.owner:
            symbol = symbol_of(type(model))
            self._add(name, component.role, component.kind, symbol, name, self._shown_value(component, model, symbol))
            return
        assert isinstance(model, Joint)
        field_name = component.field
        given = getattr(model, field_name)
        if component.role == "E":
            quantity = _effort_word(model) if field_name == "effort" else f"{component.kind}_{_turns(model)}"
            self._add(name, "E", quantity, find_symbol(quantity), "E", self._text(given))
        else:
            text = self._effect(model, field_name, given)
            self._add(name, "DC", field_name, find_symbol(field_name), "DC", text)

    def _shown_value(self, component: CircuitComponent, model: Any, symbol: Symbol) -> str:
        """The number or law that is written beside a component."""
        if component.role == "SB":
            return self._value(model.mass, "mass")
        if isinstance(model, Signal):
            return self._text((model.law,))
        return self._main_value(model, symbol) if component.role in ("part", "E", "DC") else ""

    def _add(self, name: str, role: str, kind: str, symbol: Symbol, label: str, value: str = "") -> Box:
        box = self.boxes[name] = Box(name, role, kind, symbol, label, value)
        return box

    # -- links -------------------------------------------------------------------------------------
    def _link(self, component: CircuitComponent, link: CircuitLink) -> None:
        """Connect a link of a component; the third links of a joint's freedoms are drawn as one."""
        if component.name == WORLD:
            return
        box, node = self.boxes[component.name], self.topology.nodes[link.node]
        if link.kind == INFORMATION:
            source = node.links[0].component
            from_signal = self.topology.components[source].role == "signal" and not link.out
            self._connect(link.node, INFORMATION, box, link.port, out=link.out, from_signal=from_signal)
        elif link.kind == VECTOR:
            self._vector_link(box, link, node)
        elif node.reference:
            box.port(link.port, ENERGY, reference=link.words.symbol)
        elif link.freedom is None:
            self._connect(link.node, ENERGY, box, link.port, label=link.node)
        else:
            self._third_link(component, box, link, node)

    def _vector_link(self, box: Box, link: CircuitLink, node: CircuitNode) -> None:
        """A vector link to a body, or to the world."""
        if any(other.component == WORLD for other in node.links):
            box.port(link.port, VECTOR, reference=BASE)
            return
        other = next(x for x in node.links if x.component != box.name)
        owner = other.component if box.role == "SB" and other.component in self.system.joints else ""
        name = f"{other.component}.{other.port}" if box.role == "SB" else f"{box.name}.{link.port}"
        self._connect(name, VECTOR, box, name if box.role == "SB" else link.port, joint=owner)

    def _third_link(self, component: CircuitComponent, box: Box, link: CircuitLink, node: CircuitNode) -> None:
        """A link to the freedoms of a joint: to all of them, or of a part to a named one of several."""
        joint = self.boxes[next(x.component for x in node.links if self.topology.components[x.component].role == "KN")]
        if box is joint:
            return
        several = self.system.joints[joint.name].n_u > 1
        if several and component.role == "part":
            if link.node not in self.links:
                self._connect(link.node, ENERGY, joint, link.node.removeprefix(f"{joint.name}."))
            self._connect(link.node, ENERGY, box, link.port)
            return
        third, kind = f"{joint.name}.3", VECTOR if several else ENERGY
        if third not in self.links:
            self._connect(third, kind, joint, "3")
        if not any(end is box and port.name == link.port for end, port in self.links[third].ends):
            self._connect(third, kind, box, link.port)

    def _connect(self, link: str, kind: str, box: Box, port: str, *, label: str = "", **more: Any) -> None:
        """Connect a port to a link, which is created at the first call."""
        connection = self.links.setdefault(link, Connection(link, kind, []))
        connection.label = connection.label or label
        connection.ends.append((box, box.port(port, kind, **more)))

    # -- words -------------------------------------------------------------------------------------
    def _value(self, value: Any, dimension: str | None) -> str:
        if isinstance(value, Expression):
            if not value.names() <= self.system.parameters.keys():
                return _cut(value.text())
            value = self.system.nominal(value)
        if not isinstance(value, float):
            return ""
        unit = "" if dimension in (None, "dimensionless") else pretty_unit(DIMENSIONS[str(dimension)].unit)
        shown = {"Ohm": "Ω", "rad": "rad"}.get(unit, unit)
        return f"{number(value)} {shown}".strip()

    def _text(self, values: Any) -> str:
        texts = [number(x) if isinstance(x, float) else x.text() for x in values]
        return _cut(texts[0] if len(texts) == 1 else ", ".join(texts))

    def _main_value(self, element: Component, symbol: Symbol) -> str:
        """The characteristic number or law of an element, such as a resistance; none for a machine."""
        if symbol.outline is Outline.MACHINE:
            return ""
        for name, value in element.values_of(NUMBER, LAW).items():
            if name in MAIN_FIELDS:
                return self._value(value, element.specs()[name][1].dimension)
        return ""

    def _effect(self, joint: Joint, effect: str, given: Any) -> str:
        if not isinstance(given, tuple) or len(given) > 1 or effect not in DERIVED:
            return effect
        return self._value(given[0], DERIVED[effect][joint.coordinates[0][1]])


def _turns(joint: Joint) -> str:
    kinds = {kind for _, kind in joint.coordinates}
    return "both" if len(kinds) > 1 else "turn" if kinds == {"angle"} else "slide"


def _effort_word(joint: Joint) -> str:
    return {"turn": "moment", "slide": "force", "both": "effort"}[_turns(joint)]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
