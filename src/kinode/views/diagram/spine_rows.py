"""The spine of a circuit: kinematic nodes and bodies in turn, in rows from the base along the longest chain first."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from kinode.views.diagram.circuit_graph import Box, CircuitGraph

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
