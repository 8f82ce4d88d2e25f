"""Where the components of a circuit stand.

The mechanism is the spine: from the base, kinematic nodes and solid bodies in turn from left to right, along the
longest way first, so that a closed loop is a row from base to base; other branches are rows below, the inner ones
nearer, so that no branch crosses another.  What acts in a joint or on a body hangs below it in layers by its distance
along energy links, ordered by the mean place of what it is connected to; information flows upwards to where it acts.
A circuit without mechanics runs from left to right.  This is the layered drawing of Sugiyama, Tagawa and Toda (IEEE
Trans. Syst. Man Cybern. 11, 1981) with the spine as its first layer; the libraries that have it know no ports, no
links of several ends and no spine.  All places are multiples of ``GRID``, so that links can be routed on a grid.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from kinode.model.base.symbols import Outline
from kinode.views.diagram.circuit_graph import ENERGY, GRID, INFORMATION, VECTOR, Box, CircuitGraph
from kinode.views.diagram.port_sides import Sides

LETTER = 6.4  # width of a letter, at the most, of names; of what is small SMALL
SMALL = 5.4
GAP = 30.0  # between boxes beside each other: room for two links
ROW = 60.0  # between layers
STRIP = 60.0  # between rows of the spine: names stand above boxes there
STUB = 20.0  # from a port to the sign of the base


@dataclass(eq=False)
class Place:
    """A component within the layout: its distance from the spine, and room to the left and right of its middle."""

    box: Box
    home: Box | None = None
    depth: int = 0
    left: float = 0.0
    right: float = 0.0
    x: float = 0.0  # from its home


@dataclass(eq=False)
class LayoutBlock:
    """What hangs below a component of the spine, in layers."""

    layers: list[list[Place]] = field(default_factory=list)

    def levels(self, home: Box) -> list[float]:
        """How far below its home each layer is."""
        found, y, above = [], 0.0, home.height / 2
        for layer in self.layers:
            half = max(place.box.height for place in layer) / 2
            y += above + half + ROW
            above = half
            found.append(y)
        return found

    @property
    def left(self) -> float:
        return max((place.left - place.x for layer in self.layers for place in layer), default=0.0)

    @property
    def right(self) -> float:
        return max((place.right + place.x for layer in self.layers for place in layer), default=0.0)


class Layout:
    """Places of all boxes and sides of all ports of a circuit; ``width`` is how wide a row may be."""

    def __init__(self, circuit: CircuitGraph, width: float | None = None) -> None:
        self.circuit, self.width = circuit, width
        self.neighbors = _neighbors(circuit)
        for box in circuit.boxes.values():
            box.width, box.height = _size(box)
        self.rows = self.spine = self._find_spine()
        for row in self.spine:
            for _, box in row:
                box.spine = True
        self.places = self._find_homes()
        self.blocks = {box.name: self._arrange(box) for row in self.spine for _, box in row}
        self._fit()
        bottom = self._put_spine()
        self._put_networks(bottom)
        Sides(circuit, self.spine, self.carrier).find()

    # -- the spine ---------------------------------------------------------------------------------
    def _find_spine(self) -> list[list[tuple[int, Box]]]:
        """Rows of (column, box): kinematic nodes and bodies in turn, the longest way first."""
        boxes, system = self.circuit.boxes, self.circuit.system
        at: dict[str, list[str]] = {}
        for name, joint in system.joints.items():
            for side in (joint.a.body, joint.b.body):
                at.setdefault(side, []).append(name)
        seen: set[str] = set()
        self.carrier: dict[str, str] = {}  # joint -> the body, or world, that it is reached from
        rows: list[list[tuple[int, Box]]] = []

        def follow(joint: str, origin: str, column: int, row: list[tuple[int, Box]]) -> None:
            stack = [(joint, origin, column, row)]
            while stack:
                joint, origin, column, row = stack.pop()
                if joint in seen:
                    continue
                seen.add(joint)
                if row is not current[-1] and not row:
                    rows.append(row)
                    current.append(row)
                self.carrier[joint] = origin
                row.append((column, boxes[joint]))
                a, b = system.joints[joint].a.body, system.joints[joint].b.body
                body = b if a == origin else a
                if body == "world" or body in seen:
                    continue
                seen.add(body)
                row.append((column + 1, boxes[body]))
                ways = [name for name in at[body] if name not in seen]
                ways.sort(key=lambda name: -_length(system, at, name, body, seen))
                fresh = [(name, body, column + 2, row if not k else []) for k, name in enumerate(ways)]
                stack.extend(reversed(fresh))

        current: list[list[tuple[int, Box]]] = [[]]
        for name in at.get("world", ()):
            if name not in seen:
                follow(name, "world", 0, [])
        return rows

    def _fold(self, most: int) -> list[list[tuple[int, Box]]]:
        """Rows of so many columns at the most; what is longer goes on in the next one."""
        found = []
        for row in self.rows:
            first, start = row[0][0] % most, 0
            while start < len(row):
                part = row[start : start + most - first]
                found.append([(first + k, box) for k, (_, box) in enumerate(part)])
                start, first = start + len(part), 0
        return found

    def _fit(self) -> None:
        """Fold the spine until it is no wider than it may be; a body stays with the kinematic node before it."""
        most = 2 * math.ceil(1 + max((column for row in self.rows for column, _ in row), default=1) / 2)
        self.spine = self._fold(most)
        while self.width is not None and most > 2 and self._columns()[-1:] > [self.width - 3 * STRIP]:
            most -= 2
            self.spine = self._fold(most)

    # -- what hangs below --------------------------------------------------------------------------
    def _find_homes(self) -> dict[str, Place]:
        """The component of the spine below which each other stands, and in which layer."""
        spine = [box for row in self.spine for _, box in row]
        known = {box.name: Place(box, box) for box in spine}
        nodes = [box for box in spine if box.role == "KN"]
        bodies = [box for box in spine if box.role == "SB"]
        self._spread(known, nodes, (ENERGY, VECTOR))
        self._spread(known, bodies, (VECTOR, ENERGY))
        self._rank_information(known)
        found = {name: place for name, place in known.items() if place.depth}
        for place in found.values():
            place.left, place.right = _room(place.box)
        return found

    def _spread(self, known: dict[str, Place], start: list[Box], kinds: tuple[str, ...]) -> None:
        """Along energy links, breadth first."""
        front = list(start)
        while front:
            after = []
            for box in front:
                for other, kind in self.neighbors[box.name]:
                    if kind in kinds and other.name not in known:
                        here = known[box.name]
                        known[other.name] = Place(other, here.home, here.depth + 1)
                        after.append(other)
            front = after

    def _rank_information(self, known: dict[str, Place]) -> None:
        """Signals stand one layer below the deepest of those that read them, or below what they measure."""
        left = [box for box in self.circuit.boxes.values() if box.name not in known]
        for _ in range(len(left)):
            for box in left:
                readers = [known[other.name] for other in self._readers(box) if other.name in known]
                if readers:
                    deepest = max(readers, key=lambda place: place.depth)
                    known[box.name] = Place(box, deepest.home, deepest.depth + 1)
            waiting = [box for box in left if box.name not in known]
            if len(waiting) == len(left):
                break
            left = waiting
        for box in left:
            origins = [known[other.name] for other, _ in self.neighbors[box.name] if other.name in known]
            if origins and box.name not in known:
                known[box.name] = Place(box, origins[0].home, origins[0].depth + 1)

    def _readers(self, box: Box) -> list[Box]:
        link = self.circuit.links.get(f"{box.name}.out")
        return [other for other, port in link.ends if not port.out] if link is not None else []

    def _arrange(self, home: Box) -> LayoutBlock:
        """Layers below a component, each ordered by the mean place of what its members are connected to."""
        mine = [place for place in self.places.values() if place.home is home]
        block = LayoutBlock(
            [[p for p in mine if p.depth == d] for d in range(1, 1 + max((p.depth for p in mine), default=0))]
        )
        x = {home.name: 0.0}
        for layer in block.layers:
            wishes = {}
            for k, place in enumerate(layer):
                near = [x[other.name] for other in self._readers(place.box) if other.name in x]
                near = near or [x[other.name] for other, _ in self.neighbors[place.box.name] if other.name in x]
                wishes[place.box.name] = (sum(near) / len(near) if near else 0.0, k)
            layer.sort(key=lambda place: (place.box.role != "signal", wishes[place.box.name]))  # signals to the left
            _spread_out(layer, [wishes[place.box.name][0] for place in layer])
            x.update({place.box.name: place.x for place in layer})
        return block

    # -- coordinates -------------------------------------------------------------------------------
    def _put_spine(self) -> float:
        """Places of the spine and of what hangs below it; gives the lowest y that is taken."""
        columns = self._columns()
        taken: list[tuple[float, float, float]] = []  # left, right, bottom
        bottom = 0.0
        for row in self.spine:
            rooms = []  # left, right and height below the middle of the row
            for column, box in row:
                x, block = columns[column], self.blocks[box.name]
                half = max(box.width / 2, _words(box) / 2)
                rooms.append((x - half - STUB, x + half + STUB, box.height / 2))
                for low, layer in zip(block.levels(box), block.layers, strict=True):
                    rooms += [(x + p.x - p.left, x + p.x + p.right, low + p.box.height / 2 + STUB) for p in layer]
            above = max(box.height / 2 for _, box in row)
            y = max((low for left, right, low in taken for a, b, _ in rooms if a < right and left < b), default=0.0)
            y = _snap(y + above + STRIP) if taken else _snap(above)
            for column, box in row:
                box.x, box.y = columns[column], y
                block = self.blocks[box.name]
                for low, layer in zip(block.levels(box), block.layers, strict=True):
                    for place in layer:
                        place.box.x, place.box.y = columns[column] + place.x, y + low
            taken += [(a, b, y + c) for a, b, c in rooms]
            bottom = max([bottom, *(y + c for _, _, c in rooms)])
        return bottom

    def _columns(self) -> list[float]:
        """The x of each column: boxes beside each other do not touch, nor do blocks."""
        count = 1 + max((column for row in self.spine for column, _ in row), default=-1)
        half, left, right, fan = ([0.0] * count for _ in range(4))  # fan: channels for branches
        for row in self.spine:
            for column, box in row:
                half[column] = max(half[column], box.width / 2, _words(box) / 2)
                left[column] = max(left[column], self.blocks[box.name].left)
                right[column] = max(right[column], self.blocks[box.name].right)
        for row in self.spine:
            for column, box in row:
                links = sum(port.kind == VECTOR for port in box.ports.values()) if box.role == "SB" else 0
                fan[column] = max(fan[column], GRID * max(0, links - 3))
        x: list[float] = []
        for column in range(count):
            at = 0.0
            if column:
                at = x[-1] + half[column - 1] + half[column] + 2 * GRID + GAP + fan[column - 1]
            for other in range(column):
                if right[other] and left[column]:
                    at = max(at, x[other] + right[other] + left[column] + GRID)
            x.append(_snap(at))
        return x

    def _put_networks(self, top: float) -> None:
        """Circuits without mechanics, below: from left to right, in layers from their sources."""
        left = [box for box in self.circuit.boxes.values() if box.name not in self.places and not box.spine]
        y = top + (STRIP if self.spine else 0.0)
        while left:
            layers = self._network(left)
            tallest, x = 0.0, 0.0
            for layer in layers:
                rooms = [_room(box, upright=False) for box in layer]
                x += max(room[0] for room in rooms)
                for k, box in enumerate(layer):
                    box.x, box.y, box.upright = _snap(x), _snap(y + 50.0 + k * (ROW + 60.0)), False
                    box.y += box.height / 2 + GRID if _grounded(box) else 0.0  # its upper port is level with the others
                x += max(room[1] for room in rooms) + GAP
                tallest = max(tallest, len(layer) * (ROW + 60.0))
            y += tallest + STRIP
            done = {box.name for layer in layers for box in layer}
            left = [box for box in left if box.name not in done]

    def _network(self, left: list[Box]) -> list[list[Box]]:
        """The layers of one connected circuit, by distance from its first source."""
        names = {box.name for box in left}
        start = next((box for box in left if box.symbol.source and box.role in ("part", "signal")), left[0])
        layers, seen = [[start]], {start.name}
        while True:
            after = [
                other for box in layers[-1] for other, _ in self.neighbors[box.name]
                if other.name in names and other.name not in seen
            ]  # fmt: skip
            after = list({box.name: box for box in after}.values())
            if not after:
                return layers
            seen |= {box.name for box in after}
            layers.append(after)


def _length(system: object, at: dict[str, list[str]], joint: str, origin: str, seen: Iterable[str]) -> int:
    """How many joints there are behind one, at the most, along a way that goes to no body twice."""
    joints = system.joints  # type: ignore[attr-defined]
    best, stack = 0, [(joint, origin, frozenset(seen), 1)]
    tries = 2000
    while stack and tries:
        tries -= 1
        name, start, been, length = stack.pop()
        best = max(best, length)
        a, b = joints[name].a.body, joints[name].b.body
        body = b if a == start else a
        if body == "world" or body in been:
            continue
        here = been | {body, name}
        stack += [(other, body, here, length + 1) for other in at[body] if other not in here]
    return best


def _neighbors(circuit: CircuitGraph) -> dict[str, list[tuple[Box, str]]]:
    found: dict[str, list[tuple[Box, str]]] = {name: [] for name in circuit.boxes}
    for link in circuit.links.values():
        for box, _ in link.ends:
            found[box.name] += [(other, link.kind) for other, _ in link.ends if other is not box]
    return found


def _snap(x: float) -> float:
    return math.ceil(x / GRID - 1e-9) * GRID


def _even(x: float) -> float:
    """Up to a multiple of twice the grid: half of it is on the grid."""
    return math.ceil(x / (2 * GRID) - 1e-9) * 2 * GRID


def _size(box: Box) -> tuple[float, float]:
    """How large the sign of a component is."""
    ports = box.ports.values()
    if box.role == "SB":
        joints = sum(port.name.endswith((".1", ".2")) for port in ports)
        below = max(LETTER * len(box.label) + 16.0, 20.0 * (len(ports) - joints + 1))
        return max(60.0, _even(below)), max(40.0, _even(20.0 * (joints - 1)))
    if box.role == "signal":
        below = sum(port.from_signal for port in ports)
        aside = sum(not port.from_signal and not port.out for port in ports)
        return max(60.0, _even(20.0 * (below + 1))), max(40.0, _even(20.0 * aside))
    if box.role != "part" or box.symbol.outline is Outline.NONE:
        return 40.0, 40.0
    aside = sum(bool(port.reference) or port.kind == INFORMATION for port in ports)
    return max(40.0, _even(20.0 * (len(ports) - aside - 1))), max(40.0, _even(20.0 * aside))


def _grounded(box: Box) -> bool:
    """Whether a two-pole has one port at a reference."""
    ends = [port for port in box.ports.values() if port.kind != INFORMATION]
    return box.is_two_pole and len(ends) > 1 and sum(not port.reference for port in ends) == 1


def _words(box: Box) -> float:
    """How wide the words above a kinematic node are; other boxes hold their words or have them beside."""
    return LETTER * len(box.label) if box.role == "KN" and box.spine else box.width


def words_at(box: Box) -> dict[str, tuple[float, float, float, float]]:
    """The words of a component with the room of each, left, top, right, bottom: name and value, or nothing."""
    if box.role == "SB":
        return {}
    lines = [(box.label, LETTER), (box.value, SMALL)] if box.value else [(box.label, LETTER)]
    if box.spine or (not box.upright and not _stands(box)):  # above, in the middle
        height, middle = 13.0, True
        y = box.y - box.height / 2 - 6.0 - height * len(lines)
    else:
        height, middle = 13.0, False
        y = box.y - height * len(lines) / 2
    found = {}
    for k, (text, letter) in enumerate(lines):
        width = letter * len(text)
        x = box.x - width / 2 if middle else box.x + box.width / 2 + 5.0
        found[text if text not in found else f"{text} "] = (x, y + k * height, x + width, y + (k + 1) * height)
    return found


def _stands(box: Box) -> bool:
    """Whether the ports of a two-pole are above and below it."""
    return any(port.side in ("top", "bottom") for port in box.ports.values()) and box.is_two_pole


def beside(box: Box) -> float:
    """Room for words to the right of a sign."""
    return max([LETTER * len(box.label), SMALL * len(box.value)]) + 8.0


def _room(box: Box, upright: bool = True) -> tuple[float, float]:
    """Room to the left and right of a component's middle, its words and stubs included."""
    stubs = any(port.reference or port.kind == INFORMATION for port in box.ports.values())
    left = box.width / 2 + (STUB + GRID if stubs else GRID)
    return left, box.width / 2 + (beside(box) if upright or box.role != "signal" else GRID)


def _spread_out(layer: list[Place], wishes: list[float]) -> None:
    """Put members of a layer as near to where they wish to be as their order and room allow."""
    edge = -math.inf
    for place, wish in zip(layer, wishes, strict=True):
        place.x = _snap(max(wish, edge + place.left)) if edge > -math.inf else _snap(wish)
        edge = place.x + place.right + GRID
    if len(layer) > 1:
        shift = _snap(sum(place.x - wish for place, wish in zip(layer, wishes, strict=True)) / len(layer))
        for place in layer:
            place.x -= shift
