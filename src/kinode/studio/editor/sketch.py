"""The sketch of a model: what the canvas of the studio draws, as plain data, also of a model that is not whole.

Parts that have a position keep it; the others stand where the automatic layout puts them, aside where that is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, Literal, TypedDict

from kinode.model.base.fields import Component
from kinode.model.circuit_topology import ENERGY, INFORMATION, VECTOR
from kinode.model.network.part import Part
from kinode.model.system import System
from kinode.studio.editor.drawn_circuit import BoxEntry, BrokenPart, DrawnCircuit, is_connected
from kinode.studio.editor.kinds import port_domain
from kinode.views.diagram import circuit_symbols
from kinode.views.diagram.box_geometry import Sides, words_at
from kinode.views.diagram.circuit_graph import GRID, Box, Connection, Port
from kinode.views.diagram.circuit_layout import Layout
from kinode.views.diagram.link_marks import links_at
from kinode.views.diagram.link_routing import Router, port_point

WIDTH = 1200.0  # of a row of the automatic layout
GAP = 20.0  # between a part that is put aside and those that stay
MARGIN = 40.0
Places = Mapping[str, Sequence[float]]


At = Annotated[list[float], 2]
"""A point in the drawing; the middle of what has a size."""
LinkKind = Annotated[str, Literal["vector", "energy", "information"]]


class PortPlace(TypedDict):
    """A port of a component."""

    component: str
    port: str


class SketchPort(TypedDict):
    """A port as it is drawn."""

    name: str
    kind: LinkKind
    domain: str
    side: Annotated[str, Literal["left", "right", "top", "bottom"]]
    at: At
    offset: float
    reference: str  # what it is connected to: world, gnd; else empty
    out: bool
    open: bool  # nothing is connected
    field: list[str]  # of the model file
    edge: str  # of a subsystem that is open: what the port is connected to outside


class InsideBox(TypedDict):
    """What a closed box holds: the file that it is from, empty if it is written out, and how many components."""

    file: str
    count: int


class SketchBox(TypedDict):
    """A part as it is drawn."""

    name: str
    owner: str
    role: str
    kind: str
    label: str
    value: str
    at: At
    size: At
    svg: str  # around the middle
    pinned: bool
    broken: str | None
    spine: bool  # the router keeps a channel beside it
    upright: bool
    inside: InsideBox | None
    ports: list[SketchPort]


class SketchLink(TypedDict):
    """A link; without lines the page finds them."""

    name: str
    kind: LinkKind
    domain: str
    label: str
    edge: str  # of a subsystem that is open: what the node is connected to outside
    ends: list[PortPlace]
    path: list[list[At]] | None
    dots: list[At]
    waypoints: list[At]


class Sketch(TypedDict):
    """The drawing of a model."""

    version: int
    extent: list[float]
    boxes: list[SketchBox]
    links: list[SketchLink]


class Sketcher:
    """Draws the sketch of a system.

    Parameters
    ----------
    system : System
        As much of the model as could be built.
    broken : iterable of BrokenPart
        What could not.
    places : mapping
        Positions [x, y] of parts by name, which they keep.
    pinned : collection of str, optional
        Those among them that were placed by hand; all if left out.
    waypoints : mapping
        Points of links by name through which they are to run.
    boxes : iterable of BoxEntry
        Subsystems that are drawn as closed boxes.
    edges : mapping
        Of a subsystem that is drawn: its nodes that are connected outside, with what they are there.

    Examples
    --------
    >>> from kinode.studio.editor.sketch import Sketcher
    >>> sketch = Sketcher(kn.load("examples/rlc.yaml"), places={"coil": [300, 40]}).draw()
    >>> [box["at"] for box in sketch["boxes"] if box["name"] == "coil"]
    [[300.0, 40.0]]
    """

    def __init__(
        self, system: System, broken: Iterable[BrokenPart] = (), places: Places | None = None,
        waypoints: Mapping[str, Sequence[Sequence[float]]] | None = None, pinned: Collection[str] | None = None,
        boxes: Iterable[BoxEntry] = (), edges: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.drawn = DrawnCircuit(system, broken, boxes)
        self.circuit = self.drawn.graph
        self.places, self.waypoints = places or {}, waypoints or {}
        self.edges = edges or {}
        self.pinned = self.places if pinned is None else pinned
        if self.circuit.boxes:
            layout = Layout(self.circuit, WIDTH)
            if self._place():
                Sides(self.circuit, layout.spine, layout.carrier).find()

    def draw(self, version: int = 0, routed: bool = False) -> Sketch:
        """The sketch; with ``routed`` the lines of links are found too, which else the page does."""
        if routed and self.circuit.boxes:
            for link in self.circuit.links.values():
                link.waypoints = [(float(x), float(y)) for x, y in self.waypoints.get(link.name, ())]
            Router(self.circuit).route()
        at = {(box.name, port.name) for link in self.circuit.links.values() for box, port in link.ends}
        return {
            "version": version,
            "extent": self._extent(),
            "boxes": [self._box(box, at) for box in self.circuit.boxes.values()],
            "links": [self._link(link, routed) for link in self.circuit.links.values()],
        }

    def positions(self) -> dict[str, list[float]]:
        """Where all parts stand."""
        return {name: [box.x, box.y] for name, box in self.circuit.boxes.items()}

    # -- places ------------------------------------------------------------------------------------
    def _place(self) -> bool:
        """Give parts their own places, and put others aside; whether any was moved."""
        kept = [box for box in self.circuit.boxes.values() if box.name in self.places]
        if not kept:
            return False
        for box in kept:
            x, y = self.places[box.name]
            box.x, box.y = round(float(x) / GRID) * GRID, round(float(y) / GRID) * GRID
        placed = list(kept)
        for box in self.circuit.boxes.values():
            if box.name not in self.places:
                self._put_below_owner(box)
                self._put_aside(box, placed)
                placed.append(box)
        return True

    def _put_below_owner(self, box: Box) -> None:
        """Put what a field of a component is drawn as, such as the damping of a joint, below a component that stays."""
        owner = self.circuit.boxes.get(self._owner(box))
        if owner is not None and owner is not box and owner.name in self.places:
            box.x, box.y = owner.x, owner.y + (owner.height + box.height) / 2 + 2 * GAP
            box.y = round(box.y / GRID) * GRID

    def _owner(self, box: Box) -> str:
        """The component that a box belongs to: mostly its own."""
        component = self.circuit.topology.components.get(box.name)
        return box.name if component is None else component.owner

    def _put_aside(self, box: Box, placed: list[Box]) -> None:
        """Move a part that has no place of its own to a free one below where the layout has put it."""
        while any(_overlap(box, other) for other in placed):
            box.y += 2 * GRID

    def _extent(self) -> list[float]:
        boxes = list(self.circuit.boxes.values())
        if not boxes:
            return [0.0, 0.0, 0.0, 0.0]
        rooms = [room for box in boxes for room in words_at(box).values()]
        rooms += [(b.x - b.width / 2, b.y - b.height / 2, b.x + b.width / 2, b.y + b.height / 2) for b in boxes]
        left, top = min(room[0] for room in rooms) - MARGIN, min(room[1] for room in rooms) - MARGIN
        right, bottom = max(room[2] for room in rooms) + MARGIN, max(room[3] for room in rooms) + MARGIN
        return [left, top, right - left, bottom - top]

    # -- plain data --------------------------------------------------------------------------------
    def _box(self, box: Box, joined: set[tuple[str, str]]) -> SketchBox:
        broken = self.drawn.broken.get(box.name)
        return {
            "name": box.name,
            "owner": self._owner(box),
            "role": box.role,
            "kind": box.kind,
            "label": box.label,
            "value": box.value,
            "at": [box.x, box.y],
            "size": [box.width, box.height],
            "svg": f"<g>{circuit_symbols.draw(box)}</g>",
            "pinned": box.name in self.pinned,
            "broken": None if broken is None else broken.words,
            "spine": box.spine,
            "upright": box.upright,
            "inside": self._inside(box),
            "ports": [self._port(box, port, (box.name, port.name) in joined) for port in box.ports.values()],
        }

    def _inside(self, box: Box) -> InsideBox | None:
        closed = self.drawn.closed.get(box.name)
        return None if closed is None else {"file": closed.entry.file, "count": len(closed.hidden)}

    def _port(self, box: Box, port: Port, joined: bool) -> SketchPort:
        model = self.drawn.model_of(box)
        field = self.drawn.field_of(box, port)
        return {
            "name": port.name,
            "kind": port.kind,
            "domain": self._domain(box, port),
            "side": port.side,
            "at": list(port_point(box, port)),
            "offset": port.offset,
            "reference": self._reference(box, port),
            "out": port.out,
            "open": not joined and not is_connected(model, port),
            "field": field.split(".") if field else [],
            "edge": "" if joined else self._edge(model, port),
        }

    def _edge(self, model: Component | None, port: Port) -> str:
        """What a port at the edge of a subsystem is connected to outside."""
        node = getattr(model, port.name, None) if isinstance(model, Part) and port.kind == ENERGY else None
        return self.edges.get(node, "") if isinstance(node, str) else ""

    def _domain(self, box: Box, port: Port) -> str:
        if port.kind == INFORMATION:
            return ""
        if box.name in self.drawn.closed:
            return self.drawn.closed[box.name].domains.get(port.name, "")
        links = links_at(self.circuit, box, port) if box.name in self.circuit.topology.components else []
        kinds = dict.fromkeys(link.domain.kind for link in links if link.domain is not None)
        model = self.drawn.model_of(box)
        return ", ".join(kinds) or ("" if model is None else port_domain(type(model), port.name))

    def _reference(self, box: Box, port: Port) -> str:
        """The name of the reference that a port is connected to: world, gnd."""
        if not port.reference:
            return ""
        links = links_at(self.circuit, box, port) if box.name in self.circuit.topology.components else []
        domains = [link.domain for link in links if link.domain is not None]
        if port.kind == VECTOR or not domains:
            return "gnd" if port.reference == "ground" else "world"
        return domains[0].reference

    def _link(self, link: Connection, routed: bool) -> SketchLink:
        box, port = link.ends[0]
        return {
            "name": link.name,
            "kind": link.kind,
            "domain": self._domain(box, port),
            "label": link.label,
            "edge": self.edges.get(link.name.removesuffix(".3"), ""),
            "ends": [{"component": box.name, "port": port.name} for box, port in link.ends],
            "path": [[list(point) for point in line] for line in link.path] if routed else None,
            "dots": [list(point) for point in link.dots],
            "waypoints": [list(point) for point in self.waypoints.get(link.name, ())],
        }


def _overlap(one: Box, other: Box) -> bool:
    """Whether two boxes are nearer than a gap."""
    wide = abs(one.x - other.x) < (one.width + other.width) / 2 + GAP
    return wide and abs(one.y - other.y) < (one.height + other.height) / 2 + GAP
