"""The circuit diagram of a system, as SVG (``kn.diagram``) and as plain data for an editor or a player.

circuit_graph.py finds components and links, circuit_layout.py places them, link_routing.py routes the links.  This file
writes the SVG as text, without a plotting library.  In the plain data all values are texts, numbers, lists and
dictionaries, and positions are those of the SVG.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from kinode.atomic_files import write_text
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, Error, counted
from kinode.model.circuit_topology import ENERGY, INFORMATION, VECTOR
from kinode.model.network.domain import GROUND
from kinode.model.system import System
from kinode.simulation.run_arguments import find_model
from kinode.views.diagram import circuit_symbols
from kinode.views.diagram.box_geometry import STUB, words_at
from kinode.views.diagram.circuit_graph import Box, CircuitGraph, Connection, Port
from kinode.views.diagram.circuit_layout import Layout
from kinode.views.diagram.link_marks import BUNDLE, branch_numbers, links_at, number_nodes, parallel_lines
from kinode.views.diagram.link_routing import OUTWARD, Router, port_point
from kinode.views.style import COLORS, INK, MUTED

Plain = dict[str, Any]
Extent = tuple[float, float, float, float]  # left, top, width, height


def plain_diagram(circuit: CircuitGraph, extent: Extent) -> Plain:
    """The boxes with their ports, and the links, of a diagram after layout and routing."""
    return {
        "name": circuit.system.name,
        "extent": list(extent),
        "boxes": [_box(circuit, box) for box in circuit.boxes.values()],
        "links": [_plain_link(circuit, link) for link in circuit.links.values()],
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


def _plain_link(circuit: CircuitGraph, link: Connection) -> Plain:
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


MARGIN = 24.0
WIDTH = 1600.0  # of a page: letters stay readable
LEAST_WIDTH = 240.0
MODES = ("dynamic", "kinematic")
SCALAR_WORDS = "vx vy vz ωx ωy ωz | Fx Fy Fz Mx My Mz"
STYLE = f"""
.circuit text {{ font-family: "DejaVu Sans", Verdana, Arial, sans-serif; fill: {INK}; stroke: none; }}
.circuit .component {{ fill: none; stroke: {INK}; stroke-width: 1.4; stroke-linejoin: round; }}
.circuit .face {{ fill: white; }} .circuit .body {{ fill: #eef1f4; stroke-width: 1.8; }}
.circuit .mass {{ fill: #c9d0d8; }} .circuit .ink {{ fill: {INK}; }} .circuit .muted {{ fill: {MUTED}; }}
.circuit .told {{ stroke: {COLORS[0]}; }}
.circuit .plate {{ stroke-width: 2.6; }} .circuit .thin {{ stroke-width: 0.8; stroke: {MUTED}; }}
.circuit .link path {{ fill: none; stroke: {INK}; stroke-linejoin: round; stroke-linecap: round; }}
.circuit .vector path {{ stroke-width: 3.6; }} .circuit .energy path {{ stroke-width: 1.4; }}
.circuit .information path {{ stroke-width: 1.3; stroke: {COLORS[0]}; stroke-dasharray: 5 3.5; stroke-linecap: butt; }}
.circuit .vector.told path {{ stroke: {COLORS[0]}; stroke-dasharray: 9 4; stroke-linecap: butt; }}
.circuit .vector.scalar path {{ stroke-width: 0.7; }} .circuit .branch {{ fill: {COLORS[1]}; }}
.circuit .information .head, .circuit .information .dot {{ fill: {COLORS[0]}; }} .circuit .dot {{ fill: {INK}; }}
""".strip()


@dataclass(frozen=True, eq=False, repr=False)
class Diagram:
    """A circuit diagram: ``svg`` is its text; a notebook shows it.

    ``components`` gives the role of each component by name: SB, KN, E, DC, part or signal.  ``links`` gives the ends of
    each link as (component, port).  ``crossings`` is the number of crossings of links.  ``data`` is the same as plain
    data: ``boxes`` with their ports (kind of link, domain, side, place), ``links`` with their lines, ``extent``.
    """

    svg: str
    components: dict[str, str]
    links: dict[str, tuple[tuple[str, str], ...]]
    crossings: int
    size: tuple[float, float]
    data: dict[str, Any] = field(default_factory=dict)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the SVG file."""
        file = Path(path)
        if file.suffix.lower() != ".svg":
            raise ArgumentError(f"{file}: a diagram is written as .svg")
        write_text(file, self.svg)
        return file

    def __repr__(self) -> str:
        counts = f"{len(self.components)} components, {len(self.links)} links"
        return f"<Diagram: {counts}, {counted(self.crossings, 'crossing')}>"

    def _repr_svg_(self) -> str:
        return self.svg


def diagram(
    model: System | Dynamics | str | os.PathLike[str], file: str | os.PathLike[str] | None = None, *,
    width: float | None = WIDTH, legend: bool = True, note: str = "", numbers: bool = False, scalar: bool = False,
    mode: str = "dynamic",
) -> Diagram:  # fmt: skip
    """The circuit diagram of a system: solid bodies, kinematic nodes, sources, parts, signals, and their links.

    Parameters
    ----------
    model : System, Dynamics, str or path
        A system, a compiled one, or a model file.
    file : str or path, optional
        An .svg file to write.
    width : float or None, default 1600
        Longest row, in units of which a component is 40 wide; a longer chain of bodies is folded.  None never folds.
    legend : bool, default True
        Whether lines and letters are explained below the diagram.
    note : str, default ""
        Text beside the name of the system.
    numbers : bool, default False
        Whether nodes (in brackets) and branches have their numbers, those of ``kn.circuit``.
    scalar : bool, default False
        Whether vector links are drawn as the scalar links that they consist of.
    mode : {"dynamic", "kinematic"}
        In the kinematic problem vector links carry information only, and are drawn so.

    Returns
    -------
    Diagram
        With ``svg``, ``components``, ``links``, ``crossings``, ``size`` and ``data``; a notebook shows it.

    Raises
    ------
    ArgumentError
        If the width is no number from 240 on, or the file does not end in .svg.
    Error
        If the system has no components.

    Examples
    --------
    >>> kn.diagram("examples/motor_axis.yaml")
    <Diagram: 9 components, 8 links, 0 crossings>
    """
    model = find_model(model)
    system = model.system if isinstance(model, Dynamics) else model
    if width is not None and not (isinstance(width, int | float) and LEAST_WIDTH <= width < math.inf):
        raise ArgumentError(f"width: a number from {LEAST_WIDTH:g} on is expected, not {width!r}")
    if mode not in MODES:
        raise ArgumentError(f"mode: {mode!r} is none of {', '.join(MODES)}")
    system.check()
    circuit = CircuitGraph(system)
    if not circuit.boxes:
        raise Error(f"{system.name} has no components to draw")
    Layout(circuit, width)
    router = Router(circuit)
    crossings = router.route()
    if numbers:
        number_nodes(circuit)
    look = Look(numbers, scalar, mode == "kinematic")
    svg, extent = _write(circuit, system.name, note, legend, look)
    drawing = Diagram(
        svg,
        {box.name: box.role for box in circuit.boxes.values()},
        {link.name: tuple((box.name, port.name) for box, port in link.ends) for link in circuit.links.values()},
        crossings,
        extent[2:],
        plain_diagram(circuit, extent),
    )
    if file is not None:
        drawing.save(file)
    return drawing


class Look(NamedTuple):
    """How links are drawn: with numbers, vector links taken apart, vector links as information."""

    numbers: bool
    scalar: bool
    kinematic: bool


def _write(circuit: CircuitGraph, name: str, note: str, legend: bool, look: Look) -> tuple[str, Extent]:
    boxes, links = list(circuit.boxes.values()), list(circuit.links.values())
    low, high = _bounds(boxes, links)
    parts = [_link(link, look) for link in sorted(links, key=lambda link: link.kind == INFORMATION)]
    parts += [_component(box, look) for box in boxes]
    parts += _node_names(circuit, look.scalar)
    parts += branch_numbers(circuit, look.scalar) if look.numbers else []
    head = 30.0
    left, top = low[0] - MARGIN, low[1] - MARGIN - head
    width = max(high[0] - low[0] + 2 * MARGIN, 7.6 * len(f"{name} {note}") + 2 * MARGIN, 470.0 if legend else 0.0)
    height = high[1] - low[1] + 2 * MARGIN + head + (40.0 if legend else 0.0)
    words = f'<tspan font-weight="bold">{escape(name)}</tspan>'
    words += f'<tspan class="muted" dx="10">{escape(note)}</tspan>' if note else ""
    title = f'<text x="{left + MARGIN:g}" y="{top + MARGIN + 2:g}" font-size="13">{words}</text>'
    foot = _legend(left + MARGIN, top + height - 28.0, boxes, links, look) if legend else ""
    view = f"{left:g} {top:g} {width:g} {height:g}"
    text = "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}" width="{width:g}" height="{height:g}" '
        f'role="img" aria-label="Circuit diagram of {escape(name)}" class="circuit">',
        f"<style>{STYLE}</style>",
        f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}" fill="white" class="paper"/>',
        title, *parts, foot, "</svg>", "",
    ])  # fmt: skip
    return text, (left, top, width, height)


def _bounds(boxes: list[Box], links: list[Connection]) -> tuple[tuple[float, float], tuple[float, float]]:
    points = [p for link in links for line in link.path for p in line]
    for box in boxes:
        points += [(box.x - box.width / 2, box.y - box.height / 2), (box.x + box.width / 2, box.y + box.height / 2)]
        for left, top, right, bottom in words_at(box).values():
            points += [(left, top), (right, bottom)]
        for port in box.ports.values():
            if port.reference:
                (x, y), (dx, dy) = port_point(box, port), OUTWARD[port.side]
                points += [(x + dx * STUB - 10, y + dy * STUB - 10), (x + dx * STUB + 10, y + dy * STUB + 12)]
    return (min(x for x, _ in points), min(y for _, y in points)), (
        max(x for x, _ in points),
        max(y for _, y in points),
    )


def _link(link: Connection, look: Look) -> str:
    apart = look.scalar and link.kind == VECTOR
    paths = [each for line in link.path for each in (parallel_lines(line) if apart else [line])]
    lines = "".join(f'<path d="{_path(line)}"/>' for line in paths)
    radius = 4 if link.kind == VECTOR else 3
    dots = "".join(f'<circle cx="{x:g}" cy="{y:g}" r="{radius}" class="dot"/>' for x, y in link.dots)
    heads = "".join(_head(box, port) for box, port in link.ends if link.kind == INFORMATION and not port.out)
    ends = " ".join(f"{box.name}:{port.name.replace(' ', '_')}" for box, port in link.ends)
    look_of = f"{link.kind}{' told' if look.kinematic and link.kind == VECTOR else ''}{' scalar' if apart else ''}"
    head = f'<g class="link {look_of}" data-name="{escape(link.name)}" data-ends="{escape(ends)}">'
    return f"{head}{lines}{dots}{heads}</g>"


def _path(line: list[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g},{y:g}" for x, y in line)


def _head(box: Box, port: Port) -> str:
    """The arrow head at the end of an information link."""
    (x, y), (dx, dy) = port_point(box, port), OUTWARD[port.side]
    ax, ay = x + 8 * dx, y + 8 * dy
    corners = f"{x:g},{y:g} {ax + 3.6 * dy:g},{ay + 3.6 * dx:g} {ax - 3.6 * dy:g},{ay - 3.6 * dx:g}"
    return f'<polygon points="{corners}" class="head"/>'


def _component(box: Box, look: Look) -> str:
    sign = f'<g transform="translate({box.x:g} {box.y:g})">{circuit_symbols.draw(box)}</g>'
    words = ""
    for k, (text, (left, top, _, bottom)) in enumerate(words_at(box).items()):
        how = 'font-size="10.5" font-weight="bold"' if not k else 'font-size="9" class="muted"'
        words += f'<text x="{left:g}" y="{0.5 * (top + bottom) + 3.6:g}" {how}>{escape(text.strip())}</text>'
    bases = "".join(_reference(box, port, look) for port in box.ports.values() if port.reference)
    head = f'<g class="component {box.role}" data-name="{escape(box.name)}" data-kind="{escape(box.kind)}">'
    return f"{head}{bases}{sign}{words}</g>"


def _reference(box: Box, port: Port, look: Look) -> str:
    """The base or the ground at a port."""
    (x, y), (dx, dy) = port_point(box, port), OUTWARD[port.side]
    ex, ey = x + dx * STUB, y + dy * STUB
    lead = f'<path d="M{x:g},{y:g}L{ex:g},{ey:g}" stroke-width="{3.6 if port.kind == VECTOR else 1.4}"/>'
    if port.kind == VECTOR and (look.scalar or look.kinematic):
        paths = parallel_lines([(x, y), (ex, ey)]) if look.scalar else [[(x, y), (ex, ey)]]
        classes = f"link vector{' told' * look.kinematic}{' scalar' * look.scalar}"
        lead = f'<g class="{classes}">{"".join(f"""<path d="{_path(line)}"/>""" for line in paths)}</g>'
    if port.reference == GROUND:
        down = 6.0 if dx else 0.0
        bars = f"M{ex:g},{ey:g}v{down:g}m-7,0h14m-11,3.5h8m-5.5,3.5h3"
        return f'<g class="gnd">{lead}<path d="{bars}"/></g>'
    tx, ty = (0, 1) if dx else (1, 0)
    plate = f"M{ex - 10 * tx:g},{ey - 10 * ty:g}L{ex + 10 * tx:g},{ey + 10 * ty:g}"
    for k in (-8, -2, 4):
        px, py = ex + k * tx, ey + k * ty
        plate += f"M{px:g},{py:g}l{6 * dx + 4 * tx:g},{6 * dy + 4 * ty:g}"
    return f'<g class="base">{lead}<path d="{plate}"/></g>'


def _node_names(circuit: CircuitGraph, scalar: bool) -> list[str]:
    """The names of nodes, each beside one of its lines where there is room."""
    taken = [
        (b.x - b.width / 2, b.y - b.height / 2, b.x + b.width / 2, b.y + b.height / 2) for b in circuit.boxes.values()
    ]
    taken += [room for box in circuit.boxes.values() for room in words_at(box).values()]
    lines = [
        (min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1]))
        for link in circuit.links.values() for line in link.path for a, b in pairwise(line)
    ]  # fmt: skip
    names = []
    for link in circuit.links.values():
        if not link.label:
            continue
        away = BUNDLE if scalar and link.kind == VECTOR else 0.0
        position = _find_label_position(link, 5.6 * len(link.label), taken + lines, away)
        if position is not None:
            x, y, width = position
            taken.append((x, y, x + width, y + 10.0))
            text = f'<text x="{x:g}" y="{y + 8.5:g}" font-size="9" font-style="italic" class="muted node">'
            names.append(f"{text}{escape(link.label)}</text>")
    return names


def _find_label_position(
    link: Connection, width: float, taken: list[tuple[float, float, float, float]], away: float
) -> tuple[float, float, float] | None:
    """Left, top and width of a free space for the name of a node; None if there is none."""
    segments = [(a, b) for line in link.path for a, b in pairwise(line)]
    segments.sort(key=lambda s: -abs(s[0][0] - s[1][0]) - abs(s[0][1] - s[1][1]))
    for (ax, ay), (bx, by) in segments:
        mx, my = 0.5 * (ax + bx), 0.5 * (ay + by)
        flat = ay == by
        choices = [(mx - width / 2, my - 13.0 - away), (mx - width / 2, my + 3.0 + away)] if flat else []
        choices += [] if flat else [(mx + 4.0 + away, my - 5.0), (mx - 4.0 - away - width, my - 5.0)]
        for x, y in choices:
            room = (x, y, x + width, y + 10.0)
            if not any(_meet(room, other) for other in taken):
                return x, y, width
    return None


def _meet(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _legend(x: float, y: float, boxes: list[Box], links: list[Connection], look: Look) -> str:
    """The legend: what the kinds of lines and the letters mean."""
    roles = {box.role for box in boxes}
    words = {"SB": "solid body", "KN": "kinematic node", "E": "source", "DC": "dynamic component"}
    parts, at = [], x
    kinds = {port.kind for box in boxes for port in box.ports.values()} | {link.kind for link in links}
    for kind, word in ((VECTOR, "vector link"), (ENERGY, "energy link"), (INFORMATION, "information link")):
        if kind not in kinds:
            continue
        lines, classes = f'<path d="M{at:g},{y:g}h26"/>', kind
        if kind == VECTOR and look.kinematic:
            word, classes = "vector link, information", f"{kind} told"
        if kind == VECTOR and look.scalar:
            word, classes = f"scalar links {SCALAR_WORDS}", f"{classes} scalar"
            lines = "".join(f'<path d="{_path(line)}"/>' for line in parallel_lines([(at, y), (at + 26, y)]))
        parts.append(f'<g class="link {classes} key">{lines}</g>')
        parts.append(f'<text x="{at + 32:g}" y="{y + 3.4:g}" font-size="9.5" class="muted">{word}</text>')
        at += 46.0 + 5.6 * len(word)
    letters = "   ".join(f"{role} {word}" for role, word in words.items() if role in roles)
    parts.append(f'<text x="{x:g}" y="{y + 19:g}" font-size="9.5" class="muted" xml:space="preserve">{letters}</text>')
    return "".join(parts)
