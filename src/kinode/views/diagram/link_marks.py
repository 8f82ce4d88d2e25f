"""Numbers of nodes and branches in a circuit diagram, and vector links taken apart into scalar ones."""

from __future__ import annotations

from html import escape
from itertools import pairwise

from kinode.model.circuit_topology import INFORMATION, VECTOR, WORLD, CircuitLink
from kinode.views.diagram.box_geometry import STUB
from kinode.views.diagram.circuit_graph import Box, CircuitGraph, Port
from kinode.views.diagram.link_routing import OUTWARD, port_point

SPACING = 3.0  # between the scalar links of a vector link
BUNDLE = 6.0  # by how much numbers are farther away from scalar links
SCALARS = 6  # vx, vy, vz, and the three rotations
Point = tuple[float, float]


# -- scalar links ----------------------------------------------------------------------------------
def parallel_lines(line: list[Point]) -> list[list[Point]]:
    """The scalar links of a vector link: lines beside each other along the line of a vector link."""
    shifts = [SPACING * (k - (SCALARS - 1) / 2) for k in range(SCALARS)]
    return [_shifted(line, shift) for shift in shifts]


def _shifted(line: list[Point], shift: float) -> list[Point]:
    """A line of level and upright pieces, moved to its left by a distance; corners stay corners."""
    normals = [_normal(a, b) for a, b in pairwise(line)]
    points = []
    for k, (x, y) in enumerate(line):
        around = {normals[max(k - 1, 0)], normals[min(k, len(normals) - 1)]}
        points.append((x + shift * sum(n[0] for n in around), y + shift * sum(n[1] for n in around)))
    return points


def _normal(a: Point, b: Point) -> Point:
    dx, dy = b[0] - a[0], b[1] - a[1]
    return (float((dy > 0) - (dy < 0)), float((dx < 0) - (dx > 0)))


# -- numbers ---------------------------------------------------------------------------------------
def number_nodes(circuit: CircuitGraph) -> None:
    """Write the numbers of nodes into the labels of links."""
    for link in circuit.links.values():
        if link.kind == INFORMATION:
            continue
        box, port = link.ends[0]
        numbers = sorted({circuit.topology.nodes[x.node].number for x in links_at(circuit, box, port)})
        link.label = f"{link.label} ({_range(numbers)})".strip()


def branch_numbers(circuit: CircuitGraph, scalar: bool) -> list[str]:
    """The number of a branch at each end of a link, and the node and the branch of the world at a base."""
    branches = [link.name for link in circuit.topology.links if link.kind != INFORMATION]
    place = {name: k + 1 for k, name in enumerate(branches)}
    texts = []
    for box in circuit.boxes.values():
        for port in box.ports.values():
            if port.kind == INFORMATION or not port.side:
                continue
            links = links_at(circuit, box, port)
            numbers = sorted(place[link.name] for link in links)
            (x, y), (dx, dy) = port_point(box, port), OUTWARD[port.side]
            if numbers:
                away = BUNDLE if scalar and port.kind == VECTOR else 0.0
                texts.append(_text(x + 6 * dx, y + 5 * dy, dx, _range(numbers), away))
            if port.reference and links:
                node = circuit.topology.nodes[links[0].node]
                base = [place[link.name] for link in node.links if link.component == WORLD]
                words = f"({node.number})" + (f" {_range(base)}" if base else "")
                anchor = "middle" if not dx else "start" if dx > 0 else "end"
                texts.append(_written(x + dx * (STUB + 9), y + dy * (STUB + 17) + 2.5 * abs(dx), anchor, words))
    return texts


def links_at(circuit: CircuitGraph, box: Box, port: Port) -> list[CircuitLink]:
    """The links of a component that are drawn at one port."""
    component = circuit.topology.components[box.name]
    if box.role == "SB":
        nodes = {f"{x.component}.{x.port}": x.node for x in circuit.topology.links if x.kind == VECTOR}
        return [link for link in component.links if link.node == nodes.get(port.name)]
    if box.role == "KN" and port.name == "3" and box.name in circuit.system.joints:
        return [link for link in component.links if link.freedom is not None]
    return [link for link in component.links if link.port == port.name and link.kind != INFORMATION]


def _range(numbers: list[int]) -> str:
    if len(numbers) > 1 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]}-{numbers[-1]}"
    return ", ".join(map(str, numbers))


def _text(x: float, y: float, level: float, words: str, away: float) -> str:
    """A number above a level line, or to the right of an upright one."""
    if level:
        return _written(x, y - 4.5 - away, "middle", words)
    return _written(x + 3.5 + away, y + 2.5, "start", words)


def _written(x: float, y: float, anchor: str, words: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="7.5" text-anchor="{anchor}" class="branch">{escape(words)}</text>'
