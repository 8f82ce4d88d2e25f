"""A circuit diagram as plain data, and the ports of every kind of component: what an editor or a player needs.

All values are texts, numbers, lists and dictionaries.  Positions are those of the SVG.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kinode.model.base.element import ELEMENTS
from kinode.model.circuit_links.circuit_topology import ENERGY, INFORMATION, VECTOR
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.joints.joint import JOINTS, Joint
from kinode.model.network.domains.domain import domain_of_coordinate
from kinode.model.network.part import Part
from kinode.views.diagram.link_marks import links_at
from kinode.views.diagram.link_routing import port_point

if TYPE_CHECKING:
    from kinode.model.base.fields import Component
    from kinode.views.diagram.circuit_graph import Box, CircuitGraph, Connection, Port

Plain = dict[str, Any]
Extent = tuple[float, float, float, float]  # left, top, width, height


def plain_diagram(circuit: CircuitGraph, extent: Extent) -> Plain:
    """The boxes with their ports, and the links, of a diagram after layout and routing."""
    return {
        "name": circuit.system.name,
        "extent": list(extent),
        "boxes": [_box(circuit, box) for box in circuit.boxes.values()],
        "links": [_link(circuit, link) for link in circuit.links.values()],
    }


def _box(circuit: CircuitGraph, box: Box) -> Plain:
    component = circuit.topology.components[box.name]
    return {
        "name": box.name,
        "owner": component.owner,
        "role": box.role,
        "kind": box.kind,
        "label": box.label,
        "value": box.value,
        "at": [box.x, box.y],
        "size": [box.width, box.height],
        "ports": [_port(circuit, box, port) for port in box.ports.values() if port.side],
    }


def _port(circuit: CircuitGraph, box: Box, port: Port) -> Plain:
    links = [] if port.kind == INFORMATION else links_at(circuit, box, port)
    return {
        "name": port.name,
        "kind": port.kind,
        "domain": ", ".join(dict.fromkeys(link.domain.kind for link in links if link.domain is not None)),
        "side": port.side,
        "at": list(port_point(box, port)),
        "reference": port.reference,
        "out": port.out,
        "links": [link.name for link in links],
    }


def _link(circuit: CircuitGraph, link: Connection) -> Plain:
    ends = [{"component": box.name, "port": port.name, "at": list(port_point(box, port))} for box, port in link.ends]
    box, port = link.ends[0]
    return {
        "name": link.name,
        "kind": link.kind,
        "domain": _port(circuit, box, port)["domain"],
        "label": link.label,
        "ends": ends,
        "path": [[list(point) for point in line] for line in link.path],
        "dots": [list(point) for point in link.dots],
    }


# -- ports of kinds --------------------------------------------------------------------------------
def kind_ports() -> dict[str, list[Plain]]:
    """The ports of every kind of joint, constraint and element: name, kind of link, domain.

    Energy ports of joints are their freedoms; an element that acts in a joint has a port for its freedoms, whose domain
    is that of the joint.

    Examples
    --------
    >>> from kinode.views.diagram.plain_diagram import kind_ports
    >>> [(port["name"], port["domain"]) for port in kind_ports()["dc_motor"]]
    [('plus', 'electrical'), ('minus', 'electrical'), ('shaft', 'rotational')]
    """
    registered = (*JOINTS.items(), *CONSTRAINTS.items(), *ELEMENTS.items())
    return {kind: list(_ports_of(component)) for kind, component in registered}


def _ports_of(component: type[Component]) -> Iterator[Plain]:
    domains = component.ports() if issubclass(component, Part) else {}
    for name, (_, spec) in component.specs().items():
        if spec.shape == "frame":
            yield {"name": name, "kind": VECTOR, "domain": ""}
        elif spec.shape == "joint":
            yield {"name": name, "kind": ENERGY, "domain": ""}
        elif name in domains:
            yield {"name": name, "kind": ENERGY, "domain": domains[name].kind}
    if issubclass(component, Joint):
        for name, unit in component.coordinates:
            yield {"name": name, "kind": ENERGY, "domain": domain_of_coordinate(unit).kind}
