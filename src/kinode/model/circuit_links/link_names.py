"""Names of link variables: ``elbow.1.force``, ``elbow.damping.1.moment``, ``wire.2.current``.

Every link also has its ``power``, into the component, and every vector a ``size``: ``elbow.1.force.size``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinode.errors import LawError
from kinode.model.base.fields import unknown
from kinode.model.base.frames import Frame
from kinode.model.circuit_links.circuit_topology import CircuitLink, find_circuit_topology
from kinode.model.quantity_names import LINK_NUMBER, XYZ, QuantityName, part_number

if TYPE_CHECKING:
    from kinode.model.system import System

# Of a vector link of the component circuit, in the axes of the body that it is on.
VECTOR_LINK_QUANTITIES: dict[str, tuple[str, tuple[str, ...], str]] = {
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
    unit, parts, needs = table[quantity]
    if part == SIZE and parts:
        size = f"{link.number}.{quantity}.{SIZE}"
        return QuantityName(text, component, "link", size, (), None, link.frame, None, unit, "acceleration")
    index, name = part_number(text, part, parts), f"{link.number}.{quantity}"
    return QuantityName(text, component, "link", name, parts, index, link.frame, axes, unit, needs)


def _check_position(system: System, link: CircuitLink, text: str, position: int) -> None:
    """Refuse the angle or position of a freedom whose speed is no rate of a coordinate, unless a part integrates it."""
    topology = find_circuit_topology(system)
    joint = system.joints[topology.at_joint(link).component]
    parts = any(topology.components[x.component].role == "part" for x in topology.nodes[link.node].links)
    if joint.quaternion is not None and not parts:
        why = f"the speeds of a {joint.kind} joint are no rates of coordinates; its pose is in {joint.name}.q"
        raise LawError(f"link {link.name} has no {link.words.position}: {why}", text=text, position=position)
