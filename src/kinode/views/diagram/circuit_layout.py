"""The layout of a circuit diagram: its spine in rows, and the layers below them.

The mechanism is the spine: from the base, kinematic nodes and solid bodies in turn from left to right, along the
longest chain first, so that a closed loop is a row from base to base; other branches are rows below, the inner ones
nearer, so that no branch crosses another.  What acts in a joint or on a body hangs below it in layers by its distance
along energy links, ordered by the mean position of its neighbors; information flows upwards to where it acts.  A
circuit without mechanics runs from left to right.  All positions are multiples of ``GRID``, so that links can be routed
on a grid.

This is the layered drawing of Sugiyama, Tagawa and Toda (IEEE Trans. Syst. Man Cybern. 11, 1981) with the spine as its
first layer.  It is written here since no library that Python can call has ports, links of several ends and a first
layer that is given: Graphviz's orthogonal lines do not end at ports (its documentation of ``splines``), and ``dot``
2.43 draws the six-axis robot of the tests with 19 crossings, the Stewart platform with 31, where there are none here.
ELK has ports and links of several ends, but needs a Java or JavaScript engine.  A layered layout with all three in a
Python wheel would make this file, the sides of ports (box_geometry.py) and link_routing.py obsolete.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from kinode.model.circuit_topology import ENERGY, VECTOR
from kinode.views.diagram.box_geometry import STUB, Sides, find_room, find_size, is_grounded, snap, words_width
from kinode.views.diagram.circuit_graph import GRID, Box, CircuitGraph

MOST_CHAINS = 2000  # searched for the length of a branch; the longest of these counts
SpineRow = list[tuple[int, Box]]  # (column, component)


class Spine(NamedTuple):
    """Rows, and for each joint the body, or the world, that it is reached from."""

    rows: list[SpineRow]
    carrier: dict[str, str]


class _SpineStep(NamedTuple):
    """A joint that is to be placed: the body that it is reached from, its column and its row."""

    joint: str
    origin: str
    column: int
    row: SpineRow


def find_spine(circuit: CircuitGraph) -> Spine:
    """Rows of kinematic nodes and bodies; a branch begins a row of its own, after the row that it leaves."""
    boxes = circuit.boxes
    joints_at = _joints_at(circuit)
    spine, seen = Spine([], {}), set[str]()
    for root in joints_at.get("world", ()):
        stack = [_SpineStep(root, "world", 0, [])]
        while stack:
            joint, origin, column, row = stack.pop()
            if joint in seen:
                continue
            seen.add(joint)
            if not row:
                spine.rows.append(row)
            spine.carrier[joint] = origin
            row.append((column, boxes[joint]))
            body = _other_side(circuit, joint, origin)
            if body == "world" or body in seen:
                continue
            seen.add(body)
            row.append((column + 1, boxes[body]))
            branches = [name for name in joints_at[body] if name not in seen]
            branches.sort(key=lambda name: -_chain_length(circuit, joints_at, name, body, seen))
            steps = [_SpineStep(name, body, column + 2, [] if k else row) for k, name in enumerate(branches)]
            stack.extend(reversed(steps))
    return spine


def fold_rows(rows: list[SpineRow], columns: int) -> list[SpineRow]:
    """Rows of at most so many columns; a longer one goes on in the next."""
    folded = []
    for row in rows:
        first, start = row[0][0] % columns, 0
        while start < len(row):
            piece = row[start : start + columns - first]
            folded.append([(first + k, box) for k, (_, box) in enumerate(piece)])
            start, first = start + len(piece), 0
    return folded


def _joints_at(circuit: CircuitGraph) -> dict[str, list[str]]:
    """The joints of each body and of the world."""
    joints_at: dict[str, list[str]] = {}
    for name in circuit.system.joints:
        if name in circuit.boxes:
            for body in _sides(circuit, name):
                joints_at.setdefault(body, []).append(name)
    return joints_at


def _sides(circuit: CircuitGraph, joint: str) -> tuple[str, str]:
    """The two bodies of a joint, as they are drawn."""
    model = circuit.system.joints[joint]
    return circuit.shown(model.a.body), circuit.shown(model.b.body)


def _other_side(circuit: CircuitGraph, joint: str, body: str) -> str:
    a, b = _sides(circuit, joint)
    return b if a == body else a


def _chain_length(
    circuit: CircuitGraph, joints_at: dict[str, list[str]], joint: str, origin: str, seen: Collection[str]
) -> int:
    """How many joints the longest chain has that begins with one and goes to no body twice."""
    longest, stack = 0, [(joint, origin, frozenset(seen), 1)]
    for _ in range(MOST_CHAINS):
        if not stack:
            break
        name, start, passed, length = stack.pop()
        longest = max(longest, length)
        body = _other_side(circuit, name, start)
        if body == "world" or body in passed:
            continue
        here = passed | {body, name}
        stack += [(other, body, here, length + 1) for other in joints_at[body] if other not in here]
    return longest


BOX_GAP = 30.0  # between boxes beside each other: room for two links
LAYER_GAP = 60.0  # between layers
STRIP = 60.0  # between rows of the spine, where names are above boxes


@dataclass(eq=False)
class Position:
    """A component in the layout: its layer below the spine, and its extents to the left and right of its middle."""

    box: Box
    home: Box | None = None
    depth: int = 0
    left: float = 0.0
    right: float = 0.0
    x: float = 0.0  # relative to ``home``, the component of the spine above it


@dataclass(eq=False)
class LayoutBlock:
    """The components below a component of the spine, in layers."""

    layers: list[list[Position]] = field(default_factory=list)

    def levels(self, home: Box) -> list[float]:
        """Distance of each layer below the component of the spine."""
        levels, y, above = [], 0.0, home.height / 2
        for layer in self.layers:
            half = max(position.box.height for position in layer) / 2
            y += above + half + LAYER_GAP
            above = half
            levels.append(y)
        return levels

    @property
    def left(self) -> float:
        return max((position.left - position.x for layer in self.layers for position in layer), default=0.0)

    @property
    def right(self) -> float:
        return max((position.right + position.x for layer in self.layers for position in layer), default=0.0)


class Layout:
    """Positions of all boxes and sides of all ports of a circuit; ``width`` is the largest width of a row."""

    def __init__(self, circuit: CircuitGraph, width: float | None = None) -> None:
        self.circuit, self.width = circuit, width
        self.neighbors = _neighbors(circuit)
        for box in circuit.boxes.values():
            box.width, box.height = find_size(box)
        self.rows, self.carrier = find_spine(circuit)
        self.spine = self.rows
        for row in self.spine:
            for _, box in row:
                box.spine = True
        self.positions = self._find_positions()
        self.blocks = {box.name: self._arrange(box) for row in self.spine for _, box in row}
        self._fit()
        bottom = self._put_spine()
        self._put_networks(bottom)
        Sides(circuit, self.spine, self.carrier).find()

    # -- the spine ---------------------------------------------------------------------------------
    def _fit(self) -> None:
        """Fold the spine until its rows fit the width; a body stays with the kinematic node before it."""
        columns = 2 * math.ceil(1 + max((column for row in self.rows for column, _ in row), default=1) / 2)
        self.spine = fold_rows(self.rows, columns)
        while self.width is not None and columns > 2 and self._columns()[-1:] > [self.width - 3 * STRIP]:
            columns -= 2
            self.spine = fold_rows(self.rows, columns)

    # -- below the spine ---------------------------------------------------------------------------
    def _find_positions(self) -> dict[str, Position]:
        """For each component outside the spine, the component of the spine above it, and its layer."""
        spine = [box for row in self.spine for _, box in row]
        known = {box.name: Position(box, box) for box in spine}
        nodes = [box for box in spine if box.role == "KN"]
        bodies = [box for box in spine if box.role == "SB"]
        self._assign(known, nodes, (ENERGY, VECTOR))
        self._assign(known, bodies, (VECTOR, ENERGY))
        self._rank_information(known)
        hanging = {name: position for name, position in known.items() if position.depth}
        for position in hanging.values():
            position.left, position.right = find_room(position.box)
        return hanging

    def _assign(self, known: dict[str, Position], start: list[Box], kinds: tuple[str, ...]) -> None:
        """Assign components along links of some types, breadth first from ``start``."""
        front = list(start)
        while front:
            after = []
            for box in front:
                for other, kind in self.neighbors[box.name]:
                    if kind in kinds and other.name not in known:
                        here = known[box.name]
                        known[other.name] = Position(other, here.home, here.depth + 1)
                        after.append(other)
            front = after

    def _rank_information(self, known: dict[str, Position]) -> None:
        """Put signals one layer below the deepest of their readers, or below the component that they measure."""
        left = [box for box in self.circuit.boxes.values() if box.name not in known]
        for _ in range(len(left)):
            for box in left:
                readers = [known[other.name] for other in self._readers(box) if other.name in known]
                if readers:
                    deepest = max(readers, key=lambda position: position.depth)
                    known[box.name] = Position(box, deepest.home, deepest.depth + 1)
            waiting = [box for box in left if box.name not in known]
            if len(waiting) == len(left):
                break
            left = waiting
        for box in left:
            origins = [known[other.name] for other, _ in self.neighbors[box.name] if other.name in known]
            if origins and box.name not in known:
                known[box.name] = Position(box, origins[0].home, origins[0].depth + 1)

    def _readers(self, box: Box) -> list[Box]:
        link = self.circuit.links.get(f"{box.name}.out")
        return [other for other, port in link.ends if not port.out] if link is not None else []

    def _arrange(self, home: Box) -> LayoutBlock:
        """The layers below a component, each ordered by the mean position of the neighbors of its members."""
        mine = [position for position in self.positions.values() if position.home is home]
        block = LayoutBlock(
            [[p for p in mine if p.depth == d] for d in range(1, 1 + max((p.depth for p in mine), default=0))]
        )
        x = {home.name: 0.0}
        for layer in block.layers:
            desired = {}
            for k, position in enumerate(layer):
                near = [x[other.name] for other in self._readers(position.box) if other.name in x]
                near = near or [x[other.name] for other, _ in self.neighbors[position.box.name] if other.name in x]
                desired[position.box.name] = (sum(near) / len(near) if near else 0.0, k)
            layer.sort(
                key=lambda position: (position.box.role != "signal", desired[position.box.name])
            )  # signals to the left
            _spread_out(layer, [desired[position.box.name][0] for position in layer])
            x.update({position.box.name: position.x for position in layer})
        return block

    # -- coordinates -------------------------------------------------------------------------------
    def _put_spine(self) -> float:
        """Position the spine and the components below it; return the lowest y that is used."""
        columns = self._columns()
        taken: list[tuple[float, float, float]] = []  # left, right, bottom
        bottom = 0.0
        for row in self.spine:
            rooms = []  # left, right and height below the middle of the row
            for column, box in row:
                x, block = columns[column], self.blocks[box.name]
                half = max(box.width / 2, words_width(box) / 2)
                rooms.append((x - half - STUB, x + half + STUB, box.height / 2))
                for low, layer in zip(block.levels(box), block.layers, strict=True):
                    rooms += [(x + p.x - p.left, x + p.x + p.right, low + p.box.height / 2 + STUB) for p in layer]
            above = max(box.height / 2 for _, box in row)
            y = max((low for left, right, low in taken for a, b, _ in rooms if a < right and left < b), default=0.0)
            y = snap(y + above + STRIP) if taken else snap(above)
            for column, box in row:
                box.x, box.y = columns[column], y
                block = self.blocks[box.name]
                for low, layer in zip(block.levels(box), block.layers, strict=True):
                    for position in layer:
                        position.box.x, position.box.y = columns[column] + position.x, y + low
            taken += [(a, b, y + c) for a, b, c in rooms]
            bottom = max([bottom, *(y + c for _, _, c in rooms)])
        return bottom

    def _columns(self) -> list[float]:
        """The x of each column, such that neither boxes nor blocks side by side overlap."""
        count = 1 + max((column for row in self.spine for column, _ in row), default=-1)
        half, left, right, fan = ([0.0] * count for _ in range(4))  # fan: channels for branches
        for row in self.spine:
            for column, box in row:
                half[column] = max(half[column], box.width / 2, words_width(box) / 2)
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
                at = x[-1] + half[column - 1] + half[column] + 2 * GRID + BOX_GAP + fan[column - 1]
            for other in range(column):
                if right[other] and left[column]:
                    at = max(at, x[other] + right[other] + left[column] + GRID)
            x.append(snap(at))
        return x

    def _put_networks(self, top: float) -> None:
        """Circuits without mechanics, below: from left to right, in layers from their sources."""
        left = [box for box in self.circuit.boxes.values() if box.name not in self.positions and not box.spine]
        y = top + (STRIP if self.spine else 0.0)
        while left:
            layers = self._network(left)
            tallest, x = 0.0, 0.0
            for layer in layers:
                rooms = [find_room(box, upright=False) for box in layer]
                x += max(room[0] for room in rooms)
                for k, box in enumerate(layer):
                    box.x, box.y, box.upright = snap(x), snap(y + 50.0 + k * (LAYER_GAP + 60.0)), False
                    box.y += (
                        box.height / 2 + GRID if is_grounded(box) else 0.0
                    )  # its upper port is level with the others
                x += max(room[1] for room in rooms) + BOX_GAP
                tallest = max(tallest, len(layer) * (LAYER_GAP + 60.0))
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


def _neighbors(circuit: CircuitGraph) -> dict[str, list[tuple[Box, str]]]:
    """For each component those that links connect it to, with the kind of the link."""
    neighbors: dict[str, list[tuple[Box, str]]] = {name: [] for name in circuit.boxes}
    for link in circuit.links.values():
        for box, _ in link.ends:
            neighbors[box.name] += [(other, link.kind) for other, _ in link.ends if other is not box]
    return neighbors


def _spread_out(layer: list[Position], desired: list[float]) -> None:
    """Move the members of a layer as close to their desired positions as order and extents allow."""
    edge = -math.inf
    for position, x in zip(layer, desired, strict=True):
        position.x = snap(max(x, edge + position.left)) if edge > -math.inf else snap(x)
        edge = position.x + position.right + GRID
    if len(layer) > 1:
        shift = snap(sum(position.x - x for position, x in zip(layer, desired, strict=True)) / len(layer))
        for position in layer:
            position.x -= shift
