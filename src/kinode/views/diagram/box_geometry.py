"""The extents of components of a circuit diagram, and the sides of their ports.

An extent is that of the symbol with its labels and the stubs at references.  A port is on the side toward the
components that it is connected to: in the spine, parents are to the left, children to the right, and elements below.
Below the spine, energy ports face up toward it, and information enters from the left or from below.  A circuit without
a spine runs from left to right.
"""

from __future__ import annotations

import math

from kinode.model.base.symbols import Outline
from kinode.model.circuit_topology import INFORMATION, VECTOR
from kinode.views.diagram.circuit_graph import GRID, Box, CircuitGraph, Connection, Port

LETTER_WIDTH = 6.4  # largest width of a letter in names
SMALL_LETTER_WIDTH = 5.4  # the same in values, whose letters are smaller
STUB = 20.0  # length of the line from a port to the symbol of the base or the ground
Room = tuple[float, float, float, float]  # left, top, right, bottom


def snap(x: float) -> float:
    """Up to a multiple of the grid."""
    return math.ceil(x / GRID - 1e-9) * GRID


def round_up_to_even(x: float) -> float:
    """Up to a multiple of twice the grid, so that half of it is on the grid."""
    return math.ceil(x / (2 * GRID) - 1e-9) * 2 * GRID


def find_size(box: Box) -> tuple[float, float]:
    """Width and height of the symbol of a component: one with an outline has room for all its ports."""
    ports = box.ports.values()
    if box.role == "SB":
        joints = sum(bool(port.joint) for port in ports)
        below = max(LETTER_WIDTH * len(box.label) + 16.0, 20.0 * (len(ports) - joints + 1))
        return max(60.0, round_up_to_even(below)), max(40.0, round_up_to_even(20.0 * (joints - 1)))
    if box.role == "signal":
        below = sum(port.from_signal for port in ports)
        aside = sum(not port.from_signal and not port.out for port in ports)
        return max(60.0, round_up_to_even(20.0 * (below + 1))), max(40.0, round_up_to_even(20.0 * aside))
    if box.role != "part" or box.symbol.outline is Outline.NONE:
        return 40.0, 40.0
    aside = sum(bool(port.reference) or port.kind == INFORMATION for port in ports)
    return max(40.0, round_up_to_even(20.0 * (len(ports) - aside - 1))), max(40.0, round_up_to_even(20.0 * aside))


def is_grounded(box: Box) -> bool:
    """Whether a two-pole has one port at a reference."""
    ends = [port for port in box.ports.values() if port.kind != INFORMATION]
    return box.is_two_pole and len(ends) > 1 and sum(not port.reference for port in ends) == 1


def words_width(box: Box) -> float:
    """Width of the label above a kinematic node; of other boxes, whose labels are inside or beside, their own width."""
    return LETTER_WIDTH * len(box.label) if box.role == "KN" and box.spine else box.width


def words_at(box: Box) -> dict[str, Room]:
    """The labels beside a component, name and value, with their extents; those of a body are inside it."""
    if box.role == "SB":
        return {}
    lines = [(box.label, LETTER_WIDTH), (box.value, SMALL_LETTER_WIDTH)] if box.value else [(box.label, LETTER_WIDTH)]
    if box.spine or (not box.upright and not stands_upright(box)):  # above, in the middle
        height, middle = 13.0, True
        y = box.y - box.height / 2 - 6.0 - height * len(lines)
    else:
        height, middle = 13.0, False
        y = box.y - height * len(lines) / 2
    rooms: dict[str, Room] = {}
    for k, (text, letter) in enumerate(lines):
        width = letter * len(text)
        x = box.x - width / 2 if middle else box.x + box.width / 2 + 5.0
        rooms[text if text not in rooms else f"{text} "] = (x, y + k * height, x + width, y + (k + 1) * height)
    return rooms


def stands_upright(box: Box) -> bool:
    """Whether the ports of a two-pole are above and below it."""
    return any(port.side in ("top", "bottom") for port in box.ports.values()) and box.is_two_pole


def _words_beside(box: Box) -> float:
    """Room for words to the right of a symbol."""
    return max([LETTER_WIDTH * len(box.label), SMALL_LETTER_WIDTH * len(box.value)]) + 8.0


def find_room(box: Box, upright: bool = True) -> tuple[float, float]:
    """Room to the left and right of a component's middle, its words and stubs included."""
    stubs = any(port.reference or port.kind == INFORMATION for port in box.ports.values())
    left = box.width / 2 + (STUB + GRID if stubs else GRID)
    return left, box.width / 2 + (_words_beside(box) if upright or box.role != "signal" else GRID)


class Sides:
    """The sides of boxes on which ports are, and where on them."""

    def __init__(self, circuit: CircuitGraph, spine: list[list[tuple[int, Box]]], carrier: dict[str, str]) -> None:
        self.circuit, self.spine, self.carrier = circuit, spine, carrier
        self.link_of = {(box.name, port.name): link for link in self.circuit.links.values() for box, port in link.ends}

    def find(self) -> None:
        for box in self.circuit.boxes.values():
            for port in box.ports.values():
                port.side = self._side(box, port)
            if box.is_two_pole:
                self._oppose(box)
            for side in ("left", "right", "top", "bottom"):
                self._order(box, [port for port in box.ports.values() if port.side == side], side)

    def _others(self, box: Box, port: Port) -> list[Box]:
        link: Connection | None = self.link_of.get((box.name, port.name))
        return [] if link is None else [other for other, _ in link.ends if other is not box]

    def _side(self, box: Box, port: Port) -> str:
        if box.spine:
            return self._spine_side(box, port)
        others = self._others(box, port)
        if not box.upright:
            if port.reference:
                return "bottom"
            if port.kind == INFORMATION:
                return "right" if port.out else "left"
            return "left" if _mean(others, "x", box.x) < box.x else "right"
        if port.reference:
            return "left" if box.role == "part" and not box.is_two_pole else "bottom"
        if port.kind == INFORMATION and box.role == "part":
            return "left"  # words are to the right
        if port.kind == INFORMATION and not port.out:
            return "left" if _mean(others, "y", box.y) < box.y else "bottom"
        if port.kind == INFORMATION:
            return "top" if any(other.y < box.y for other in others) or not others else "right"
        return "top" if _mean(others, "y", box.y) < box.y else "bottom"

    def _spine_side(self, box: Box, port: Port) -> str:
        if port.kind != VECTOR or port.name == "3":
            return "bottom"
        carrier = self.carrier
        if box.role == "KN":
            joint = self.circuit.system.joints[box.name]
            first = self.circuit.shown(joint.a.body if port.name == "1" else joint.b.body)
            both = self.circuit.shown(joint.a.body) == self.circuit.shown(joint.b.body)
            return "left" if first == carrier[box.name] and not both else "right"
        if port.joint not in carrier:
            return "bottom"
        return "right" if carrier[port.joint] == box.name or self._closes(box, port.joint) else "left"

    def _closes(self, box: Box, joint: str) -> bool:
        """Whether a joint closes a loop: its body is already reached by another joint."""
        row = next(row for row in self.spine if any(other.name == joint for _, other in row))
        names = [other.name for _, other in row]
        k = names.index(joint)
        return not (k + 1 < len(names) and names[k + 1] == box.name)

    def _oppose(self, box: Box) -> None:
        """The two ports of a two-pole are on opposite sides."""
        ports = [port for port in box.ports.values() if port.kind != INFORMATION]
        main = [port for port in ports if not port.reference]
        if len(main) == 2 and not box.upright:
            a, b = sorted(main, key=lambda port: _mean(self._others(box, port), "x", box.x))
            a.side, b.side = "left", "right"
        elif len(main) == 2:
            a, b = sorted(main, key=lambda port: _mean(self._others(box, port), "y", box.y))
            a.side, b.side = "top", "bottom"
        elif len(main) == 1 and len(ports) > 1:
            main[0].side = "top"
        for port in ports:
            if port.reference:
                port.side = "left" if len(main) == 2 and box.upright else "bottom"

    def _order(self, box: Box, ports: list[Port], side: str) -> None:
        along = "y" if side in ("left", "right") else "x"
        ports.sort(key=lambda port: _mean(self._others(box, port), along, getattr(box, along)))
        if box.role in ("KN", "SB") and side == "bottom":
            self._around_third(box, ports)
            return
        if box.role == "SB" and side == "right" and ports:  # the first goes straight on, the others go down
            first = ports[0] if any(other.y == box.y for other in self._others(box, ports[0])) else None
            for k, port in enumerate(ports):
                port.offset = GRID * (k + (first is None and len(ports) > 1))
            return
        for k, port in enumerate(ports):
            port.offset = (k - (len(ports) - 1) / 2) * 2 * GRID
            if port.offset % GRID:
                port.offset += GRID / 2

    def _around_third(self, box: Box, ports: list[Port]) -> None:
        """The third link is in the middle of a kinematic node, information beside it."""
        main = [port for port in ports if port.kind != INFORMATION]
        rest = [port for port in ports if port.kind == INFORMATION]
        for k, port in enumerate(main):
            port.offset = GRID * (2 * k - len(main) + 1)
        edge = max((abs(port.offset) for port in main), default=-GRID)
        for k, port in enumerate(rest):
            left = _mean(self._others(box, port), "x", box.x) <= box.x
            port.offset = (-1 if left else 1) * (edge + GRID * (k + 1)) if main else GRID * k


def _mean(boxes: list[Box], along: str, default: float) -> float:
    return sum(getattr(box, along) for box in boxes) / len(boxes) if boxes else default
