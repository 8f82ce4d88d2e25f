"""Passes over a tree as loops: each kind of link is traced once, its numbers stand in a table.

A pass goes outward (a link reads what its parent gave) or inward (a link reads the sum of what its
children gave).  Links whose passes have the same structure form a case: the same kind of joint, the same
zeros and ones among their numbers, the same place in the tree (leaf, root, first child).  Within a case
a number that is the same for all is a literal, the others are read from the table of the link.

All passes of a case are traced on one tape.  What a later pass needs of an earlier one is found on that
tape and kept in the link's row of ``work``; nobody has to say what that is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, apply, is_number
from kinode.algebra.trace import Tape, Traced, needed
from kinode.jit.program import Block, Store

Values = dict[str, Array]
Roots = Callable[[str, Tape], Array]


@dataclass(frozen=True)
class TreePass:
    """One sweep: what a link reads, what it gives (names and sizes), and how it computes one from the other.

    ``run(link, read)`` returns what it gives and, under ``out``, what goes to arrays by view name.
    """

    outward: bool
    reads: Mapping[str, int]
    gives: Mapping[str, int]
    run: Callable[[TracedLink, Values], tuple[Values, dict[str, Array]]]


@dataclass
class TracedLink:
    """A link of a case while it is traced: its mechanics, its numbers and what earlier passes left."""

    mechanics: Any
    numbers: Array
    is_root: bool
    is_leaf: bool
    flags: tuple[Any, ...]
    tape: Tape
    local: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """The links of a tree as the sweeps see them, by node."""

    parents: Sequence[int]
    mechanics: Sequence[Any]
    numbers: Sequence[Array]  # floats, or traced numbers of the prelude
    flags: Sequence[tuple[Any, ...]]
    views: Mapping[str, tuple[str, np.ndarray]]  # other arrays that passes use, with an offset for each node


@dataclass(frozen=True)
class SweepLayout:
    """Blocks, the table of constants, the size of ``work``, and where each node's given values stand."""

    blocks: list[Block]
    table: np.ndarray
    work: int
    places: dict[str, np.ndarray]
    prelude: list[tuple[int, Scalar]]  # numbers that depend on parameters: (place in work, value)


def lay_out(
    plan: Plan, passes: Sequence[TreePass], start: int, prefix: str, roots: Roots, lasting: Collection[str]
) -> SweepLayout:
    """The blocks of the passes; ``start`` is where in ``work`` they may begin, ``roots`` what the world gives.

    What is named in ``lasting`` keeps a place for each node; other given values share places as soon as
    nobody will read them any more, so that a long tree stays in the cache.
    """
    n = len(plan.parents)
    builders = [_LinkCase(plan, members, key, passes, roots) for key, members in _group(plan).items()]
    width = max((b.width for b in builders), default=0)
    case_of = np.zeros(n, dtype=np.int64)
    at_row, at_prow = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    rows = start + width * np.arange(n, dtype=np.int64)
    free = start + width * n
    table: list[float] = []
    prelude: list[tuple[int, Scalar]] = []
    for c, builder in enumerate(builders):
        for i in builder.members:
            case_of[i] = c
            at_row[i], at_prow[i] = len(table), free
            table.extend(float(plan.numbers[i][k]) for k in builder.tabled)
            for k in builder.computed:
                prelude.append((free, plan.numbers[i][k]))
                free += 1
    views = {"own": ("work", rows), "row": (f"{prefix}rows", at_row), "prow": ("work", at_prow), **plan.views}
    places: dict[str, np.ndarray] = {}
    for sweep in passes:
        for name, size in sweep.gives.items():
            slots = np.arange(n + 1) if name in lasting else _share_slots(plan.parents, sweep.outward)
            places[name] = free + size * slots.astype(np.int64)  # the world last, as index -1
            free += size * (int(slots.max()) + 1)
            views[f"own.{name}"] = ("work", places[name][:-1])
            views[f"up.{name}"] = ("work", places[name][np.asarray(plan.parents, dtype=np.int64)])
    blocks = []
    for k, sweep in enumerate(passes):
        order = np.arange(n) if sweep.outward else np.arange(n)[::-1]
        turned = {name: (array, offsets[order]) for name, (array, offsets) in views.items()}
        blocks.append(Block(n, turned, [b.stores[k] for b in builders], case_of[order]))
    return SweepLayout(blocks, np.array(table or [0.0]), free, places, prelude)


def _share_slots(parents: Sequence[int], outward: bool) -> np.ndarray:
    """A slot for each node, and the world's last, such that no two that are in use at once share one.

    Outward a node's values are in use from its own step to its last child's; inward from its first
    child's step to its own.
    """
    n = len(parents)
    last = list(range(n))  # the latest node, in outward order, that has to do with a node's values
    for i, p in enumerate(parents):
        if p >= 0:
            last[p] = max(last[p], i)
    slots = np.zeros(n + 1, dtype=np.int64)
    idle: list[int] = []
    count = 1  # slot 0 is the world's
    ends: dict[int, list[int]] = {}
    begins: dict[int, list[int]] = {}
    for i in range(n):
        begins.setdefault(i if outward else n - 1 - last[i], []).append(i)
        ends.setdefault(last[i] if outward else n - 1 - i, []).append(i)
    for step in range(n):
        for i in begins.get(step, ()):
            if not idle:
                idle.append(count)
                count += 1
            slots[i] = idle.pop()
        idle.extend(int(slots[i]) for i in ends.get(step, ()))
    slots[n] = 0
    return slots


def _group(plan: Plan) -> dict[tuple[Any, ...], list[int]]:
    """Nodes by structure."""
    n = len(plan.parents)
    children = [0] * n
    for p in plan.parents:
        if p >= 0:
            children[p] += 1
    given: set[int] = set()
    first = [False] * n
    for i in reversed(range(n)):
        first[i] = plan.parents[i] not in given
        given.add(plan.parents[i])
    groups: dict[tuple[Any, ...], list[int]] = {}
    for i in range(n):
        pattern = tuple(_mark(x) for x in plan.numbers[i])
        kind = plan.mechanics[i].kind
        key = (kind, pattern, plan.parents[i] < 0, children[i] == 0, first[i], plan.flags[i])
        groups.setdefault(key, []).append(i)
    if len(groups) > MOST_CASES:  # too many structures: give up the zeros, keep the rest
        joined: dict[tuple[Any, ...], list[int]] = {}
        for (kind, pattern, *rest), members in groups.items():
            joined.setdefault((kind, (None,) * len(pattern), *rest), []).extend(members)
        groups = joined
    return groups


MOST_CASES = 24


def _mark(x: Scalar) -> float | None:
    return float(x) if is_number(x) and x in (0, 1, -1) else None


class _LinkCase:
    """The traced passes of one structure."""

    def __init__(
        self, plan: Plan, members: list[int], key: tuple[Any, ...], passes: Sequence[TreePass], roots: Roots
    ) -> None:
        self.members = members
        _, pattern, is_root, is_leaf, first, flags = key
        tape = Tape()
        self.tabled: list[int] = []
        self.computed: list[int] = []
        numbers = self._numbers(plan, pattern, tape)
        link = TracedLink(plan.mechanics[members[0]], numbers, is_root, is_leaf, flags, tape)
        outputs: list[list[Store]] = []
        for k, sweep in enumerate(passes):
            read = self._reads(sweep, k, tape, roots, is_root, is_leaf)
            gives, out = sweep.run(link, read)
            stores = []
            for name, values in gives.items():
                view = f"own.{name}" if sweep.outward else f"up.{name}"
                for i, value in enumerate(values):
                    added = value if sweep.outward or first else tape.input(f"{view} {k}", i) + value
                    stores.append((view, i, added))
            for name, values in out.items():
                stores.extend((name, i, value) for i, value in enumerate(values))
            outputs.append(stores)
        self.stores, self.width = _cut(outputs)

    def _numbers(self, plan: Plan, pattern: tuple[float | None, ...], tape: Tape) -> Array:
        """Literals where all members agree, else entries of the tables."""
        columns = zip(*(plan.numbers[i] for i in self.members), strict=True)
        found: list[Scalar] = []
        for k, column in enumerate(columns):
            if all(is_number(x) for x in column):
                if pattern[k] is not None or all(x == column[0] for x in column):
                    found.append(float(column[0]))
                else:
                    found.append(tape.input("row", len(self.tabled)))
                    self.tabled.append(k)
            else:
                found.append(tape.input("prow", len(self.computed)))
                self.computed.append(k)
        return np.array(found, dtype=object)

    def _reads(self, sweep: TreePass, k: int, tape: Tape, roots: Roots, is_root: bool, is_leaf: bool) -> Values:
        read: Values = {}
        for name, size in sweep.reads.items():
            if sweep.outward and is_root:
                read[name] = roots(name, tape)
            elif not sweep.outward and is_leaf:
                read[name] = np.zeros(size)
            else:
                read[name] = tape.inputs(f"{'up' if sweep.outward else 'own'}.{name} {k}", size)
        return read


def _cut(outputs: list[list[Store]]) -> tuple[list[list[Store]], int]:
    """Split a tape by passes: what a pass computes and a later one needs is stored in the link's row."""
    nodes = needed(value for stores in outputs for _, _, value in stores)
    stage: dict[int, int] = {}
    for node in nodes:
        if node.op == "input":
            stage[node.index] = int(node.args[0].split()[1]) if " " in node.args[0] else -1
        else:
            stage[node.index] = max((stage[a.index] for a in node.args if type(a) is Traced), default=-1)
    _place_free(outputs, nodes, stage)
    node_of = {node.index: node for node in nodes}
    kept: dict[int, int] = {}
    result: list[list[Store]] = [[] for _ in outputs]
    for k in reversed(range(len(outputs))):
        wanted = [*outputs[k], *(("own", slot, node_of[i]) for i, slot in kept.items() if stage[i] == k)]
        tape = Tape()
        copies: dict[int, Scalar] = {}
        for node in _walk([value for _, _, value in wanted], stage, k):
            copies[node.index] = _copy(node, copies, tape, stage, k, kept)
        result[k] = [(view, place, copies[v.index] if type(v) is Traced else v) for view, place, v in wanted]
    return result, len(kept)


def _place_free(outputs: list[list[Store]], nodes: list[Traced], stage: dict[int, int]) -> None:
    """What depends on tables and state alone is computed by the first pass that wants it."""
    first: dict[int, int] = {}
    for k in reversed(range(len(outputs))):
        first.update({value.index: k for _, _, value in outputs[k] if type(value) is Traced})
    for node in reversed(nodes):
        if node.op == "input":
            continue
        if stage[node.index] == -1:
            stage[node.index] = first[node.index]
        for arg in node.args:
            if type(arg) is Traced:
                first[arg.index] = min(first.get(arg.index, len(outputs)), stage[node.index])


def _walk(values: list[Scalar], stage: dict[int, int], k: int) -> list[Traced]:
    """The nodes that pass k computes or loads, in order; it stops at what earlier passes computed."""
    seen: dict[int, Traced] = {}
    stack = [v for v in values if type(v) is Traced]
    while stack:
        node = stack.pop()
        if node.index in seen:
            continue
        seen[node.index] = node
        if stage[node.index] == k or node.op == "neg":
            stack.extend(a for a in node.args if type(a) is Traced)
    return sorted(seen.values(), key=lambda node: node.index)


def _copy(
    node: Traced, copies: dict[int, Scalar], tape: Tape, stage: dict[int, int], k: int, kept: dict[int, int]
) -> Scalar:
    if node.op == "input":
        view, position = node.args
        if stage[node.index] in (-1, k):
            return tape.input(view.split()[0], position)
    elif stage[node.index] == k or node.op == "neg":
        return apply(node.op, *(copies[a.index] if type(a) is Traced else a for a in node.args))
    slot = kept.setdefault(node.index, len(kept))
    return tape.input("own", slot)
