"""A system as a component circuit: components with ports, and the links between them.

Every body is a solid body SB, every joint a kinematic node KN with two vector links and a third link for what acts in
it; laws that drive a joint, and forces on bodies, are sources E; springs, dampers and friction are dynamic components
DC; network parts, signals and inputs are components too.  Links are vector links (v, w | F, M), energy links (one
potential, one flow) and information links, from a quantity to the expression that reads it.  The world and gnd are
drawn where they are needed and are no components.  circuit_layout.py places the components.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kinode.errors import ModelError
from kinode.expressions.syntax_tree import Expression
from kinode.expressions.units import DIMENSIONS
from kinode.model.base.fields import Component, find_expressions
from kinode.model.base.frames import Frame
from kinode.model.base.symbols import Outline, Symbol, find_symbol, symbol_of
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.joints.joint import DERIVED, Joint
from kinode.model.network.domains.domain import BASE
from kinode.model.network.nodes import find_nodes
from kinode.model.network.part import Part
from kinode.model.quantity_names import find_quantity
from kinode.views.style import number, pretty_unit

if TYPE_CHECKING:
    from kinode.model.system import System

GRID = 10.0  # all positions are multiples of it
VECTOR, ENERGY, INFORMATION = "vector", "energy", "information"
LAWS = {"motion": "position", "speed": "velocity", "effort": "effort"}
EFFECTS = ("stiffness", "damping", "friction", "stop", "backlash")
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


class CircuitGraph:
    """The boxes and links of a system."""

    def __init__(self, system: System) -> None:
        self.system = system = system.as_declared()
        self.boxes: dict[str, Box] = {}
        self.links: dict[str, Connection] = {}
        self._bodies()
        self._joints()
        self._constraints()
        self._elements()
        self._signals()
        self._information()
        # a link with a single end needs no line
        self.links = {name: link for name, link in self.links.items() if len(link.ends) > 1}

    # -- boxes -------------------------------------------------------------------------------------
    def _add(self, name: str, role: str, kind: str, symbol: Symbol, label: str, value: str = "") -> Box:
        box = self.boxes[name] = Box(name, role, kind, symbol, label, value)
        return box

    def _connect(self, link: str, kind: str, box: Box, port: str, *, label: str = "", **more: Any) -> None:
        """Connect a port to a link, which is created at the first call."""
        connection = self.links.setdefault(link, Connection(link, kind, []))
        connection.label = connection.label or label
        connection.ends.append((box, box.port(port, kind, **more)))

    def _bodies(self) -> None:
        for name, body in self.system.bodies.items():
            mass = self._value(body.mass, "mass")
            self._add(name, "SB", "body", symbol_of(type(body)), name, mass)

    def _joints(self) -> None:
        for name, joint in self.system.joints.items():
            box = self._add(name, "KN", joint.kind, symbol_of(type(joint)), name)
            for port, side in (("1", joint.a), ("2", joint.b)):
                self._to_body(f"{name}.{port}", box, port, side.body, joint=name)
            kind = ENERGY if joint.n_u == 1 else VECTOR
            for law, word in LAWS.items():
                if getattr(joint, law, None) is not None:
                    quantity = _effort_word(joint) if law == "effort" else f"{word}_{_turns(joint)}"
                    text = self._text(getattr(joint, law))
                    source = self._add(f"{name}.{law}", "E", quantity, find_symbol(quantity), "E", text)
                    self._third(box, source, "1", kind)
            for effect in EFFECTS:
                given = getattr(joint, effect, None)
                if given is not None:
                    text = self._effect(joint, effect, given)
                    part = self._add(f"{name}.{effect}", "DC", effect, find_symbol(effect), "DC", text)
                    self._third(box, part, "1", kind)

    def _third(self, joint: Box, box: Box, port: str, kind: str) -> None:
        """Connect a component to the third link of a joint, which is that of its freedoms."""
        link = f"{joint.name}.3"
        if link not in self.links:
            self._connect(link, kind, joint, "3")
        self._connect(link, kind, box, port)

    def _to_body(self, link: str, box: Box, port: str, body: str, joint: str = "") -> None:
        """Add a vector link from a box to a body, or to the world; ``joint`` is the joint whose link it is."""
        if body == "world" or body not in self.boxes:
            box.port(port, VECTOR, reference=BASE)
            return
        self._connect(link, VECTOR, box, port)
        self._connect(link, VECTOR, self.boxes[body], link, joint=joint)

    def _constraints(self) -> None:
        for name, constraint in self.system.constraints.items():
            box = self._add(name, "KN", constraint.kind, symbol_of(type(constraint)), name)
            if isinstance(constraint, CoordinateCoupling):
                for word, joint in constraint.joints().items():
                    if joint in self.boxes:
                        self._third(self.boxes[joint], box, word, ENERGY)
                continue
            for field_name, frame in _frames(constraint):
                self._to_body(f"{name}.{field_name}", box, field_name, frame.body)

    def _elements(self) -> None:
        nodes = find_nodes(self.system)
        at = {(part, port): node for node in nodes.values() for part, port in node.ports}
        for name, element in self.system.elements.items():
            symbol = symbol_of(type(element))
            if isinstance(element, Part):
                box = self._add(name, "part", element.kind, symbol, name, self._main_value(element, symbol))
                for port in element.ports():
                    node = at[name, port]
                    if node.reference:
                        box.port(port, ENERGY, reference=node.domain.symbol)
                    elif node.joint is not None:
                        self._third_of(node.joint, node.name, box, port)
                    else:
                        self._connect(node.name, ENERGY, box, port, label=node.name)
            else:
                acts = any(_frames(element)) or any(_joints(element))
                role = "E" if symbol.source else "DC" if acts else "signal"
                value = "" if role == "signal" else self._main_value(element, symbol)
                box = self._add(name, role, element.kind, symbol, name, value)
            for field_name, frame in _frames(element):
                self._to_body(f"{name}.{field_name}", box, field_name, frame.body)
            for field_name, joint in _joints(element):
                self._third(self.boxes[joint], box, field_name, ENERGY)

    def _third_of(self, joint: str, node: str, box: Box, port: str) -> None:
        """A part on a joint: on its one freedom, or on a named one of several."""
        if node == joint:
            self._third(self.boxes[joint], box, port, ENERGY)
            return
        if node not in self.links:
            self._connect(node, ENERGY, self.boxes[joint], node.removeprefix(f"{joint}."))
        self._connect(node, ENERGY, box, port)

    def _signals(self) -> None:
        for name, signal in self.system.signals.items():
            self._add(name, "signal", "signal", symbol_of(type(signal)), name, self._text((signal.law,)))
        for name, value in self.system.inputs.items():
            self._add(name, "signal", "input", symbol_of(type(value)), name)

    # -- information -------------------------------------------------------------------------------
    def _information(self) -> None:
        """Information links: from the component whose quantity an expression reads to the owner of the expression."""
        for reader, laws in self._laws():
            sources = dict.fromkeys(source for law in laws for source in self._read_by(law) if source is not reader)
            for source in sources:
                link = f"{source.name}.out"
                if link not in self.links:
                    self._connect(link, INFORMATION, source, "out", out=True)
                self._connect(link, INFORMATION, reader, f"in {source.name}", from_signal=source.role == "signal")

    def _laws(self) -> Iterator[tuple[Box, list[Expression]]]:
        for name, joint in self.system.joints.items():
            for law in LAWS:
                if f"{name}.{law}" in self.boxes:
                    yield self.boxes[f"{name}.{law}"], list(find_expressions(getattr(joint, law)))
        for name, element in (*self.system.elements.items(), *self.system.constraints.items()):
            values = (getattr(element, spec_field.name) for spec_field, _ in element.specs().values())
            yield self.boxes[name], [law for value in values for law in _expressions(value)]
        for name, signal in self.system.signals.items():
            yield self.boxes[name], list(find_expressions(signal.law))

    def _read_by(self, law: Expression) -> Iterator[Box]:
        for name in sorted(law.names()):
            try:
                quantity = find_quantity(self.system, name)
            except ModelError:
                continue
            owner = quantity.frame.body if quantity.frame is not None else quantity.owner
            owner = owner if owner in self.boxes else self._at_node(owner)
            if owner in self.boxes:
                yield self.boxes[owner]

    def _at_node(self, name: str) -> str:
        """The part that is connected first to a node."""
        link = self.links.get(name)
        return link.ends[0][0].name if link is not None else name

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
        for name, (spec_field, spec) in element.specs().items():
            value = getattr(element, spec_field.name)
            if name in MAIN_FIELDS and spec.shape in ("number", "law") and value is not None:
                return self._value(value, spec.dimension)
        return ""

    def _effect(self, joint: Joint, effect: str, given: Any) -> str:
        if not isinstance(given, tuple) or len(given) > 1 or effect not in DERIVED:
            return effect
        return self._value(given[0], DERIVED[effect][joint.coordinates[0][1]])


def _frames(component: Component) -> Iterator[tuple[str, Frame]]:
    """The frames on bodies that a component acts on."""
    for spec_field, spec in component.specs().values():
        value = getattr(component, spec_field.name)
        if isinstance(value, Frame) and (spec.shape == "frame" or spec_field.name == "reaction_on"):
            yield spec_field.name, value


def _joints(component: Component) -> Iterator[tuple[str, str]]:
    """The joints that an element acts in."""
    for spec_field, spec in component.specs().values():
        value = getattr(component, spec_field.name)
        if spec.shape == "joint" and value is not None:
            yield spec_field.name, str(value)


def _expressions(value: Any) -> Iterator[Expression]:
    try:
        yield from find_expressions(value)
    except TypeError:
        return


def _turns(joint: Joint) -> str:
    kinds = {kind for _, kind in joint.coordinates}
    return "both" if len(kinds) > 1 else "turn" if kinds == {"angle"} else "slide"


def _effort_word(joint: Joint) -> str:
    return {"turn": "moment", "slide": "force", "both": "effort"}[_turns(joint)]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
