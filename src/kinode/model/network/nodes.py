"""Nodes of a network: where ports meet.

A node is made by being named, as in a netlist.  Three names are known without that: the references ``gnd`` and
``world``, and joints, whose one freedom (or a named one of several: ``slide.angle``) is a link that parts can act on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kinode.errors import DomainError, ModelError
from kinode.model.base.fields import unknown
from kinode.model.joints.joint import Joint
from kinode.model.network.domains.domain import Domain, domain_of_coordinate
from kinode.model.network.joint_sources import find_freedom, split_link
from kinode.model.network.part import Part

if TYPE_CHECKING:
    from kinode.model.system import System


class Node(NamedTuple):
    """A node: its kind, the ports that meet there, and the coordinate of a joint where it is one."""

    name: str
    domain: Domain
    ports: tuple[tuple[str, str], ...] = ()  # (part, port)
    joint: str | None = None
    coordinate: int | None = None  # index in the joint's u
    reference: bool = False
    quasi: bool = False  # whether the freedom is a quasi-velocity, which is no rate of a coordinate

    @property
    def kind(self) -> str:
        return self.domain.kind


def find_parts(system: System) -> dict[str, Part]:
    """The elements that are parts of a network; they are kept until the system changes."""
    known: dict[str, Part] | None = system.derived.get("parts")
    if known is None:
        known = {name: element for name, element in system.elements.items() if isinstance(element, Part)}
        system.derived["parts"] = known
    return known


def find_nodes(system: System) -> dict[str, Node]:
    """The nodes by name, in the order in which they are first named.

    The two mechanical references are ``world.angle`` and ``world.position``; a joint with one freedom has its name.
    """
    ports: dict[str, list[tuple[str, str]]] = {}
    nodes: dict[str, Node] = {}
    for part in find_parts(system).values():
        for port, kind in part.ports().items():
            node = find_node(system, part, port, kind)
            known = nodes.setdefault(node.name, node)
            if known.kind != node.kind:
                other = ".".join(ports[node.name][0])
                message = (
                    f"is {kind.kind}, and {node.name} is {known.kind} by {other}: ports of one kind meet at a node"
                )
                raise DomainError(message, component=part.name, field=port)
            ports.setdefault(node.name, []).append((part.name, port))
    return {
        name: Node(node.name, node.domain, tuple(ports[name]), node.joint, node.coordinate, node.reference, node.quasi)
        for name, node in nodes.items()
    }


def find_node(system: System, part: Part, port: str, kind: Domain) -> Node:
    """The node, still without ports, that a port is connected to."""
    name: str = getattr(part, port)
    if name == kind.reference:
        return Node(kind.reference_node, kind, reference=True)
    freedom = find_freedom(system.joints, name)
    if freedom is not None:
        return _joint_node(*freedom, part, port, kind)
    head, _ = split_link(name)
    if head != name:
        message = unknown(f"{name} is the third link of a joint, and no joint is called", head, system.joints)
        raise ModelError(message, component=part.name, field=port)
    words = name.split(".")
    for count in range(len(words), 0, -1):
        owner = ".".join(words[:count])
        taken = system.components.get(owner)
        if taken is not None or owner in system.references:
            what = "the reference" if taken is None else f"{article(taken.sort())} {taken.sort()}"
            wanted = "a node, a joint or the world" if kind.moves else f"a node or {kind.reference}"
            more = _other_names(taken) if isinstance(taken, Part) else ""
            raise ModelError(f"{owner} is {what}; {wanted} is expected{more}", component=part.name, field=port)
    if name in system.prefixes:
        raise ModelError(f"{name} is a subsystem; write {name}.… for a node in it", component=part.name, field=port)
    return Node(name, kind)


def _other_names(part: Part) -> str:
    """What may have been meant by the name of a part where a node is expected."""
    ends = [f"{getattr(part, port)} for {part.name}.{port}" for port in part.ports()]
    return f"; ports that name the same node are connected: write {', '.join(ends)}, or rename one of the two"


def article(word: str) -> str:
    """a or an."""
    return "an" if word[0] in "aeiou" else "a"


def _joint_node(joint: Joint, coordinate: str | None, part: Part, port: str, kind: Domain) -> Node:
    def fail(message: str) -> ModelError:
        return ModelError(message, component=part.name, field=port)

    links = dict(joint.coordinates)
    if not links:
        raise fail(f"{joint.name} is {joint.kind} and has no freedom to act on")
    if len(joint.coordinates) == 1 and coordinate is None:
        coordinate = next(iter(links))
    if coordinate is None:
        raise fail(f"{joint.name} has several freedoms: write {' or '.join(f'{joint.name}.{c}' for c in links)}")
    if coordinate not in links:
        raise fail(unknown(f"{joint.name} has no freedom", coordinate, links) + f"; it has {', '.join(links)}")
    own = domain_of_coordinate(links[coordinate])
    if own != kind:
        message = f"is {kind.kind}, and {joint.name}.{coordinate} {own.moves}: it takes a {own.kind} port"
        raise DomainError(message, component=part.name, field=port)
    name = joint.name if len(links) == 1 else f"{joint.name}.{coordinate}"
    return Node(
        name, kind, joint=joint.name, coordinate=list(links).index(coordinate), quasi=joint.quaternion is not None
    )
