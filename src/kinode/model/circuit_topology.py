"""The component circuit that a system is: components, links, the nodes where links meet, names of link variables.

Every body is a solid body SB, every joint a kinematic node KN with two vector links and a third link for what acts
along its freedoms.  Laws that drive a joint and forces on bodies are sources E, springs, dampers and friction dynamic
components DC; parts of networks, signals and inputs are components too.  The world is a source E of zero velocity.

A link belongs to one component and has a number there: ``elbow.1`` is the first link of the joint ``elbow``.  It is a
vector link (v, w | F, M), an energy link (one potential, one flow), or an information link, from a quantity to the
expression that reads it.  Links meet at nodes.  Two nodes need no potential of their own, the world and ``gnd``.

Variables of links have names: ``elbow.1.force``, ``elbow.damping.1.moment``, ``wire.2.current``.  Every link also has
its ``power``, into the component, and every vector a ``size``: ``elbow.1.force.size``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from kinode.errors import LawError, ModelError
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.field_reader import FRAME, JOINT, TAKER
from kinode.model.base.fields import unknown
from kinode.model.base.frames import Frame
from kinode.model.base.observers.moving_frames import Row
from kinode.model.base.symbols import symbol_of
from kinode.model.base.value_walk import find_expressions
from kinode.model.component_store import joint_frame
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.joints.joint import EFFECTS
from kinode.model.network.domain import Domain, domain_of_coordinate
from kinode.model.network.joint_sources import JointDrive
from kinode.model.network.nodes import find_nodes
from kinode.model.network.part import Part
from kinode.model.network.two_port import TwoPole, TwoShaft, TwoSlide
from kinode.model.quantities import LINK_NUMBER, XYZ, QuantityName, find_quantity, name_quantity

if TYPE_CHECKING:
    from kinode.model.system import System


VECTOR, ENERGY, INFORMATION = "vector", "energy", "information"
WORLD = "world"
SOURCES = {"motion": "position", "speed": "velocity", "effort": "effort"}  # laws of a joint that are sources


class CircuitLink(NamedTuple):
    """A link of a component.

    Attributes
    ----------
    component : str
        The component.
    number : int
        Number of the link there, from 1.
    port : str
        Its name in the model: ``plus``, ``a``, a coordinate of a joint; empty for links of bodies.
    kind : str
        ``vector``, ``energy`` or ``information``.
    domain : Domain, optional
        The declaration of an energy link's domain; ``words`` is the same for links that have one.
    node : str
        The node that it is connected to.
    frame : Frame, optional
        Where a vector link acts: a frame of a body.
    freedom : int, optional
        Number of the freedom of a joint that an energy link belongs to.
    out : bool
        Whether information goes out here.
    """

    component: str
    number: int
    port: str
    kind: str
    domain: Domain | None
    node: str
    frame: Frame | None = None
    freedom: int | None = None
    out: bool = False

    @property
    def words(self) -> Domain:
        """The declaration of the domain of an energy link."""
        assert self.domain is not None, self.name
        return self.domain

    @property
    def name(self) -> str:
        """Component and number: ``elbow.1``."""
        return f"{self.component}.{self.number}"


@dataclass(frozen=True)
class CircuitComponent:
    """A component: its name, its role (SB, KN, E, DC, part, signal), its kind, and its links.

    ``owner`` is the component of the model that it comes from: the joint ``elbow`` of its spring ``elbow.stiffness``;
    ``through`` says that what flows into its first link flows out of its second; ``field`` is the field of the joint
    that a source or an effect on its third link is.
    """

    name: str
    role: str
    kind: str
    owner: str
    links: tuple[CircuitLink, ...] = ()
    through: bool = False
    field: str = ""


class CircuitNode(NamedTuple):
    """A node: its number, name and kind (``vector`` or a domain), and whether it is a reference."""

    number: int
    name: str
    kind: str
    links: tuple[CircuitLink, ...]
    reference: bool = False


@dataclass(frozen=True)
class CircuitTopology:
    """Components by name, nodes by name, and all links in the order in which the model makes them.

    ``read`` has the quantities of each component that expressions of others read: what its information link carries.
    """

    components: Mapping[str, CircuitComponent]
    nodes: Mapping[str, CircuitNode]
    links: tuple[CircuitLink, ...]
    read: Mapping[str, tuple[str, ...]]

    def link(self, component: str, number: int) -> CircuitLink:
        """The link of a component that has a number."""
        return next(x for x in self.components[component].links if x.number == number)

    def other_end(self, link: CircuitLink) -> CircuitLink:
        """The link that a vector link is joined to: two of them meet at a node."""
        (other,) = (x for x in self.nodes[link.node].links if x != link)
        return other

    def at_joint(self, link: CircuitLink) -> CircuitLink:
        """The joint's own third link at the node of a link to a freedom: the first that was made there."""
        return self.nodes[link.node].links[0]


def find_circuit_topology(system: System) -> CircuitTopology:
    """The component circuit of a system; found anew when a component has changed."""
    return system.once("circuit", lambda: _TopologyWriter(system).topology())


class _TopologyWriter:
    """Collects components and links."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.components: dict[str, CircuitComponent] = {}
        self.links: dict[str, list[CircuitLink]] = {}
        self.order: list[CircuitLink] = []
        self.references: dict[str, str] = {}  # name -> kind
        self.read: dict[str, dict[str, None]] = {}  # component -> its quantities that others read
        for name in system.bodies:
            self.add(name, "SB", "body")
        self._joints()
        self._constraints()
        self._elements()
        for name in (*system.signals, *system.inputs):
            self.add(name, "signal", "signal" if name in system.signals else "input")
        self._information()

    def topology(self) -> CircuitTopology:
        """The collected circuit; reference nodes come first."""
        components = {name: replace(c, links=tuple(self.links[name])) for name, c in self.components.items()}
        at: dict[str, list[CircuitLink]] = {name: [] for name in self.references}
        kinds = dict(self.references)
        for link in self.order:
            at.setdefault(link.node, []).append(link)
            kinds.setdefault(link.node, link.kind if link.domain is None else link.domain.kind)
        nodes = {
            name: CircuitNode(number, name, kinds[name], tuple(links), name in self.references)
            for number, (name, links) in enumerate(at.items())
        }
        read = {source: tuple(names) for source, names in self.read.items()}
        return CircuitTopology(components, nodes, tuple(self.order), read)

    # -- components and links ----------------------------------------------------------------------
    def add(
        self, name: str, role: str, kind: str, owner: str = "", through: bool = False, field: str = ""
    ) -> None:  # fmt: skip
        """Add a component."""
        self.components[name] = CircuitComponent(name, role, kind, owner or name, (), through, field)
        self.links[name] = []

    def link(
        self, component: str, kind: str, node: str, port: str = "", domain: Domain | None = None,
        frame: Frame | None = None, freedom: int | None = None, out: bool = False,
    ) -> None:  # fmt: skip
        """Add a link to a component."""
        number = len(self.links[component]) + 1
        self.order.append(CircuitLink(component, number, port, kind, domain, node, frame, freedom, out))
        self.links[component].append(self.order[-1])

    def to_body(self, component: str, port: str, frame: Frame) -> None:
        """Add a vector link between a component and a body, or the world, which is a source of zero velocity."""
        node = f"{component}.{len(self.links[component]) + 1}"
        self.link(component, VECTOR, node, port, frame=frame)
        body = frame.body
        if body not in self.system.bodies:
            body = WORLD
            if WORLD not in self.components:
                self.references[WORLD] = VECTOR
                self.add(WORLD, "E", "base")
        self.link(body, VECTOR, node, frame=frame)

    def third(self, joint: str, component: str, port: str, freedom: int | None = None) -> None:
        """Connect a component to the third link of a joint: to all its freedoms, or to one."""
        for link in [x for x in self.links[joint] if x.freedom is not None and freedom in (None, x.freedom)]:
            self.link(component, ENERGY, link.node, port, link.domain, freedom=link.freedom)

    def _joints(self) -> None:
        drives = [x for x in self.system.elements.values() if isinstance(x, JointDrive)]
        driven = {(drive.link.joint, drive.field) for drive in drives}  # by sources, which are components themselves
        for name, joint in self.system.joints.items():
            self.add(name, "KN", joint.kind)
            self.to_body(name, "1", joint_frame(joint, "parent"))
            self.to_body(name, "2", joint_frame(joint, "child"))
            several = joint.n_u > 1
            for k, (coordinate, unit) in enumerate(joint.coordinates):
                node = f"{name}.{coordinate}" if several else name
                self.link(name, ENERGY, node, coordinate, domain_of_coordinate(unit), freedom=k)
            for field in (field for effect in EFFECTS for field in effect.fields):
                if getattr(joint, field, None) is not None and (name, field) not in driven:
                    own = f"{name}.{field}"
                    self.add(own, "E" if field in SOURCES else "DC", SOURCES.get(field, field), name, field=field)
                    self.third(name, own, "1")

    def _constraints(self) -> None:
        for name, constraint in self.system.constraints.items():
            self.add(name, "KN", constraint.kind)
            if isinstance(constraint, CoordinateCoupling):
                for word, joint in constraint.joints().items():
                    self.third(joint, name, word)
            else:
                for word, frame in constraint.values_of(FRAME).items():
                    self.to_body(name, word, frame)

    def _elements(self) -> None:
        nodes = find_nodes(self.system)
        at = {(part, port): node for node in nodes.values() for part, port in node.ports}
        for name, element in self.system.elements.items():
            if isinstance(element, JointDrive):
                joint, freedom, _ = element.link
                self.add(name, "E", SOURCES[element.field], joint, field=element.field)
                self.third(joint, name, element.port, freedom)
                continue
            if isinstance(element, Part):
                through = isinstance(element, TwoPole | TwoShaft | TwoSlide) and len(element.ports()) == 2
                self.add(name, "part", element.kind, through=through)
                for port, domain in element.ports().items():
                    node = at[name, port]
                    if node.reference:
                        self.references[node.name] = domain.kind
                    if node.joint is not None:
                        self.third(node.joint, name, port, node.coordinate)
                    else:
                        self.link(name, ENERGY, node.name, port, domain)
            else:
                acts = element.everywhere or bool(element.values_of(FRAME, TAKER, JOINT))
                role = "E" if symbol_of(type(element)).source else "DC" if acts else "signal"
                self.add(name, role, element.kind)
            for word, frame in () if element.everywhere else element.values_of(FRAME, TAKER).items():
                self.to_body(name, word, frame)
            for word, joint in element.values_of(JOINT).items():
                self.third(joint, name, word)

    # -- information -------------------------------------------------------------------------------
    def _information(self) -> None:
        """Information links: from the component whose quantity an expression reads to the owner of the expression."""
        for reader, laws in self._laws():
            pairs = [pair for law in laws for pair in self._read_by(law) if pair[0] != reader]
            for source, quantity in pairs:
                self.read.setdefault(source, {})[quantity] = None
            for source in dict.fromkeys(source for source, _ in pairs):
                node = f"{source}.out"
                if not any(link.node == node for link in self.links[source]):
                    self.link(source, INFORMATION, node, "out", out=True)
                self.link(reader, INFORMATION, node, f"in {source}")

    def _laws(self) -> Iterator[tuple[str, list[Expression]]]:
        for name, joint in self.system.joints.items():
            for field in SOURCES:
                if f"{name}.{field}" in self.components:
                    yield f"{name}.{field}", find_expressions(getattr(joint, field))
        system = self.system
        for name, component in (*system.elements.items(), *system.constraints.items(), *system.signals.items()):
            yield name, [law for _, law in component.expressions()]

    def _read_by(self, law: Expression) -> Iterator[tuple[str, str]]:
        """Components whose quantities an expression reads, each with the name of the quantity."""
        for name in sorted(law.names()):
            try:
                quantity = find_quantity(self.system, name)
            except ModelError:
                continue
            owner = quantity.frame.body if quantity.frame is not None else quantity.owner
            owner = owner if owner in self.components else self._at_node(owner)
            if owner in self.components:
                yield owner, name

    def _at_node(self, name: str) -> str:
        """The component that is connected first to a node."""
        for component, links in self.links.items():
            if any(link.node == name for link in links):
                return component
        return name


def is_outlet(node: CircuitNode, link: CircuitLink) -> bool:
    """Whether power enters or leaves at a link: at the reference of a domain whose flow itself is a power."""
    return node.reference and link.domain is not None and not link.domain.product_is_power


# Of a vector link of the component circuit, in the axes of the body that it is on.
VECTOR_LINK_QUANTITIES: dict[str, Row] = {
    "velocity": ("velocity", XYZ, "velocity"),
    "angular_velocity": ("angular_velocity", XYZ, "velocity"),
    "force": ("force", XYZ, "acceleration"),
    "moment": ("moment", XYZ, "acceleration"),
}
POWER = "power"  # into the component; laws cannot use it
SIZE = "size"  # the length of a vector; laws cannot use it: it has no slope at zero


def find_link_quantity(system: System, text: str, owner: str, rest: str, axes: Frame | None) -> QuantityName:
    """A link variable by the number of the link: ``elbow.1.force``, ``elbow.damping.1.moment``, ``wire.2.current``."""
    number = LINK_NUMBER.search(rest)
    assert number is not None
    component = ".".join(x for x in (owner, rest[: number.start()].rstrip(".")) if x)
    quantity, _, part = rest[number.end() :].lstrip(".").partition(".")
    components, position = find_circuit_topology(system).components, len(owner) + 1
    if component not in components:
        raise LawError(unknown("no component of the circuit is called", component, components), text=text, position=0)
    links = {str(link.number): link for link in components[component].links if link.kind != "information"}
    if number.group() not in links:
        count = f"has {len(links) or 'no'} link{'s' * (len(links) != 1)}"
        raise LawError(f"{component} {count}, and none has the number {number.group()}", text=text, position=position)
    link = links[number.group()]
    if link.kind == "vector":
        table = VECTOR_LINK_QUANTITIES
    else:
        table = {word: (unit, (), "acceleration") for word, unit in link.words.units.items()}
        if axes is not None:
            raise LawError(f"{link.name} has no axes to be expressed in", text=text, position=text.index("@"))
    table = {**table, POWER: ("power", (), "acceleration")}
    if quantity not in table:
        raise LawError(unknown(f"link {link.name} has no variable", quantity, table), text=text, position=position)
    if link.domain is not None and quantity == link.domain.position and link.freedom is not None:
        _check_position(system, link, text, position)
    row, name = table[quantity], f"{link.number}.{quantity}"
    if part == SIZE and row[1]:
        row = row[0], (), "acceleration"
        return name_quantity(text, component, "link", f"{name}.{SIZE}", row, frame=link.frame)
    return name_quantity(text, component, "link", name, row, part, link.frame, axes)


def _check_position(system: System, link: CircuitLink, text: str, position: int) -> None:
    """Refuse the angle or position of a freedom whose speed is no rate of a coordinate, unless a part integrates it."""
    topology = find_circuit_topology(system)
    joint = system.joints[topology.at_joint(link).component]
    parts = any(topology.components[x.component].role == "part" for x in topology.nodes[link.node].links)
    if joint.quaternion is not None and not parts:
        why = f"the speeds of a {joint.kind} joint are no rates of coordinates; its pose is in {joint.name}.q"
        raise LawError(f"link {link.name} has no {link.words.position}: {why}", text=text, position=position)
