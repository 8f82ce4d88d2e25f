"""The extents of components of a circuit diagram: symbols, labels, and the stubs at references."""

from __future__ import annotations

import math

from kinode.model.base.symbols import Outline
from kinode.model.circuit_links.circuit_topology import INFORMATION
from kinode.views.diagram.circuit_graph import GRID, Box

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
