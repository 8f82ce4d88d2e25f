"""Passes over a tree as loops: each structure of link is traced once, its numbers stand in a table.

A pass goes outward (a link reads what its parent gave) or inward (a link reads the sum of what its children gave).
Links whose passes have the same structure form a case.  They have the same type of joint, the same zeros and ones among
their numbers, and the same position in the tree (leaf, root, first child).  Within a case a number that is the same for
all links is a literal; the others are read from the table row of the link.

All passes of a case are traced on one tape.  ``_split_by_pass`` finds on that tape what a later pass needs of an
earlier one, and keeps it in the link's row of ``work``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache as remember
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar, apply
from kinode.algebra.trace import Tape, Traced, needed
from kinode.jit.program import Block, Store
from kinode.kernels.alike import Columns, pattern_of

Values = dict[str, Array]
WorldValues = Callable[[str, Tape], Array]  # what the world gives to its children, by name
MOST_CASES = 24  # of one tree; above that, links are not distinguished by the zeros and ones among their numbers
NO_PASS = -1  # stage of a node that depends on tables and the state alone


class StagedView(str):
    """The name of a view on the tape of a case, with the index of the pass that reads it.

    What a pass reads may change between passes, so the same entry read by two passes is two nodes of the tape.
    """

    view: str
    stage: int

    def __new__(cls, view: str, stage: int) -> StagedView:
        name = super().__new__(cls, f"{view} {stage}")
        name.view, name.stage = view, stage
        return name


class LinkFlags(NamedTuple):
    """What decides about the operations of a link besides its numbers."""

    is_driven: bool
    """Whether the motion of its joint is prescribed."""
    has_effort: bool
    """Whether its joint has an effort by an expression."""
    has_load: bool
    """Whether elements load it."""
    has_reaction: bool = False
    """Whether the reaction of its joint is a result."""


class Iterations(NamedTuple):
    """The iterations of a pass that does not go once over all links: the node of each, and the views by iteration."""

    nodes: np.ndarray
    views: Mapping[str, tuple[str, np.ndarray]]


@dataclass(frozen=True)
class TreePass:
    """One pass over the tree: what a link reads and what it gives (names and sizes), and the function between them.

    ``run(link, read)`` returns the values that the link gives, and the values that go to other arrays, by view: one
    after the other, or by position.  A pass with ``iterations`` of its own reads and gives through views alone.
    """

    outward: bool
    reads: Mapping[str, int]
    gives: Mapping[str, int]
    run: Callable[[TracedLink, Values], tuple[Values, Mapping[str, Array | dict[int, Scalar]]]]
    iterations: Iterations | None = None


@dataclass
class TracedLink:
    """A link of a case while it is traced; ``local`` passes values from one pass to the next."""

    mechanics: Any
    numbers: Array
    is_root: bool
    is_leaf: bool
    flags: LinkFlags
    tape: Tape
    local: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """The links of a tree as the passes see them, by node."""

    parents: Sequence[int]
    mechanics: Sequence[Any]
    numbers: Sequence[Array]  # floats, or traced numbers of the prelude
    flags: Sequence[LinkFlags]
    views: Mapping[str, tuple[str, np.ndarray]]  # other arrays that passes use, with an offset for each node


@dataclass(frozen=True)
class SweepLayout:
    """The blocks of the passes and the memory that they use.

    ``table`` holds the numbers of the links; ``work`` is the size of the scratch.  ``positions`` are the indices in
    ``work`` of the values that each node gives, by name.
    """

    blocks: list[Block]
    table: np.ndarray
    work: int
    positions: dict[str, np.ndarray]
    prelude: list[tuple[int, Scalar]]  # numbers that depend on parameters: (position in work, value)


def lay_out(
    plan: Plan,
    passes: Sequence[TreePass],
    start: int,
    prefix: str,
    world_values: WorldValues,
    lasting: Collection[str],
) -> SweepLayout:
    """The blocks of the passes; ``work`` is free from ``start`` on.

    The values named in ``lasting`` are kept for each node.  Other values share memory with values that no link reads
    any more, so that the memory of a long tree fits into the processor's cache.
    """
    n = len(plan.parents)
    cases = [_LinkCase(plan, members, key, passes, world_values) for key, members in _group(plan).items()]
    width = max((case.width for case in cases), default=0)
    case_of = np.zeros(n, dtype=np.int64)
    table_rows, parameter_rows = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    rows = start + width * np.arange(n, dtype=np.int64)
    free = start + width * n
    table: list[float] = []
    prelude: list[tuple[int, Scalar]] = []
    for c, case in enumerate(cases):
        members, columns = case.members, case.columns
        case_of[members] = c
        table_rows[members] = columns.starts(columns.tabled, len(table))
        parameter_rows[members] = columns.starts(columns.computed, free)
        table += columns.table.ravel().tolist()
        prelude += enumerate(columns.prelude, free)
        free += len(columns.prelude)
    views = {
        "own": ("work", rows),
        "row": (f"{prefix}rows", table_rows),
        "prow": ("work", parameter_rows),
        **plan.views,
    }
    positions: dict[str, np.ndarray] = {}
    share_slots = remember(lambda outward: _share_slots(plan.parents, outward))
    for tree_pass in passes:
        for name, size in tree_pass.gives.items():
            slots = np.arange(n + 1) if name in lasting else share_slots(tree_pass.outward)
            positions[name] = free + size * slots.astype(np.int64)  # the world last, as index -1
            free += size * (int(slots.max()) + 1)
            views[f"own.{name}"] = ("work", positions[name][:-1])
            views[f"up.{name}"] = ("work", positions[name][np.asarray(plan.parents, dtype=np.int64)])
    blocks = []
    for k, tree_pass in enumerate(passes):
        once = Iterations(np.arange(n) if tree_pass.outward else np.arange(n)[::-1], {})
        order, own_views = once if tree_pass.iterations is None else tree_pass.iterations
        ordered = {**{name: (array, offsets[order]) for name, (array, offsets) in views.items()}, **own_views}
        blocks.append(Block(len(order), ordered, [case.stores[k] for case in cases], case_of[order]))
    return SweepLayout(blocks, np.array(table or [0.0]), free, positions, prelude)


def _share_slots(parents: Sequence[int], outward: bool) -> np.ndarray:
    """A memory slot for each node, and the world's last; values that are in use at the same time have different slots.

    In an outward pass the values of a node are in use from its own step to that of its last child, in an inward pass
    from the step of its first child to its own.
    """
    n = len(parents)
    last = list(range(n))  # the latest node, in outward order, that reads or writes a node's values
    for i, parent in enumerate(parents):
        if parent >= 0:
            last[parent] = max(last[parent], i)
    slots = [0] * (n + 1)  # the world's last
    free_slots: list[int] = []
    count = 1  # slot 0 is the world's
    at_last: list[list[int]] = [[] for _ in range(n)]  # the nodes by their latest ones
    for i, k in enumerate(last):
        at_last[k].append(i)
    for step in range(n):
        k = step if outward else n - 1 - step
        for i in (k,) if outward else at_last[k]:
            if not free_slots:
                free_slots.append(count)
                count += 1
            slots[i] = free_slots.pop()
        free_slots.extend([slots[i] for i in at_last[k]] if outward else (slots[k],))
    return np.array(slots, dtype=np.int64)


def _group(plan: Plan) -> dict[tuple[Any, ...], list[int]]:
    """The nodes of each case: those with the same structure."""
    n = len(plan.parents)
    children = [0] * n
    for parent in plan.parents:
        if parent >= 0:
            children[parent] += 1
    served: set[int] = set()
    is_first = [False] * n
    for i in reversed(range(n)):
        is_first[i] = plan.parents[i] not in served
        served.add(plan.parents[i])
    groups: dict[tuple[Any, ...], list[int]] = {}
    patterns = _patterns(plan.numbers)
    for i in range(n):
        kind = plan.mechanics[i].kind
        key = (kind, patterns[i], plan.parents[i] < 0, children[i] == 0, is_first[i], plan.flags[i])
        groups.setdefault(key, []).append(i)
    if len(groups) > MOST_CASES:  # too many structures: do not distinguish them by zeros and ones
        joined: dict[tuple[Any, ...], list[int]] = {}
        for (kind, pattern, *rest), members in groups.items():
            joined.setdefault((kind, (None,) * len(pattern), *rest), []).extend(members)
        groups = joined
    return groups


def _patterns(numbers: Sequence[Array]) -> list[tuple[float | None, ...]]:
    """The numbers of each link that simplify its operations, None for others; links of floats are done together."""
    patterns: list[tuple[float | None, ...]] = [()] * len(numbers)
    alike: dict[int, list[int]] = {}
    for i, values in enumerate(numbers):
        if values.dtype == float:
            alike.setdefault(len(values), []).append(i)
        else:
            patterns[i] = pattern_of(values)
    for members in alike.values():
        codes = np.array([numbers[i] for i in members])
        codes[~np.isin(codes, (0.0, 1.0, -1.0))] = np.nan
        codes += 0.0  # no negative zeros
        made: dict[bytes, tuple[float | None, ...]] = {}
        for i, row in zip(members, codes, strict=True):
            key = row.tobytes()
            if key not in made:
                made[key] = tuple(None if x != x else x for x in row.tolist())
            patterns[i] = made[key]
    return patterns


class _LinkCase:
    """The traced passes of the links of one structure, and their numbers."""

    def __init__(
        self,
        plan: Plan,
        members: list[int],
        key: tuple[Any, ...],
        passes: Sequence[TreePass],
        world_values: WorldValues,
    ) -> None:
        self.members = members
        *_, is_root, is_leaf, is_first, flags = key
        rows, tape = [plan.numbers[i] for i in members], Tape()
        self.columns = Columns(np.array(rows, dtype=float if all(row.dtype == float for row in rows) else object))
        link = TracedLink(plan.mechanics[members[0]], self.columns.traced(tape), is_root, is_leaf, flags, tape)
        outputs: list[list[Store]] = []
        for k, tree_pass in enumerate(passes):
            read = self._reads(tree_pass, k, tape, world_values, is_root, is_leaf)
            gives, out = tree_pass.run(link, read)
            stores = []
            for name, values in gives.items():
                view = f"own.{name}" if tree_pass.outward else f"up.{name}"
                for i, value in enumerate(values):
                    total = value if tree_pass.outward or is_first else tape.input(StagedView(view, k), i) + value
                    stores.append((view, i, total))
            for name, entries in out.items():
                placed = entries.items() if isinstance(entries, dict) else enumerate(entries)
                stores.extend((name, i, value) for i, value in placed)
            outputs.append(stores)
        self.stores, self.width = _split_by_pass(outputs)

    def _reads(
        self, tree_pass: TreePass, k: int, tape: Tape, world_values: WorldValues, is_root: bool, is_leaf: bool
    ) -> Values:
        """What a link reads in pass k: from its parent or its children, or from the world."""
        read: Values = {}
        for name, size in tree_pass.reads.items():
            if tree_pass.outward and is_root:
                read[name] = world_values(name, tape)
            elif not tree_pass.outward and is_leaf:
                read[name] = np.zeros(size)
            else:
                read[name] = tape.inputs(StagedView(f"{'up' if tree_pass.outward else 'own'}.{name}", k), size)
        return read


def _split_by_pass(outputs: list[list[Store]]) -> tuple[list[list[Store]], int]:
    """The stores of each pass on a tape of its own, and the size of the link's row.

    A value that one pass computes and a later one needs is stored in the link's row of ``work``.
    """
    nodes = needed(value for stores in outputs for _, _, value in stores)
    stage: dict[int, int] = {}
    for node in nodes:
        if node.op == "input":
            stage[node.index] = node.args[0].stage if isinstance(node.args[0], StagedView) else NO_PASS
        else:
            stage[node.index] = max((stage[a.index] for a in node.args if type(a) is Traced), default=NO_PASS)
    _assign_free_nodes(outputs, nodes, stage)
    node_of = {node.index: node for node in nodes}
    slots: dict[int, int] = {}
    result: list[list[Store]] = [[] for _ in outputs]
    for k in reversed(range(len(outputs))):
        stores = [*outputs[k], *(("own", slot, node_of[i]) for i, slot in slots.items() if stage[i] == k)]
        tape = Tape()
        copies: dict[int, Scalar] = {}
        for node in _nodes_of_pass([value for _, _, value in stores], stage, k):
            copies[node.index] = _copy(node, copies, tape, stage, k, slots)
        result[k] = [(view, position, copies[v.index] if type(v) is Traced else v) for view, position, v in stores]
    return result, len(slots)


def _assign_free_nodes(outputs: list[list[Store]], nodes: list[Traced], stage: dict[int, int]) -> None:
    """Assign each node that depends on tables and the state alone to the first pass that needs it."""
    first: dict[int, int] = {}
    for k in reversed(range(len(outputs))):
        first.update({value.index: k for _, _, value in outputs[k] if type(value) is Traced})
    for node in reversed(nodes):
        if node.op == "input":
            continue
        if stage[node.index] == NO_PASS:
            stage[node.index] = first[node.index]
        for arg in node.args:
            if type(arg) is Traced:
                first[arg.index] = min(first.get(arg.index, len(outputs)), stage[node.index])


def _nodes_of_pass(values: list[Scalar], stage: dict[int, int], k: int) -> list[Traced]:
    """The nodes that pass k computes or loads, in order; what earlier passes computed is loaded."""
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
    node: Traced, copies: dict[int, Scalar], tape: Tape, stage: dict[int, int], k: int, slots: dict[int, int]
) -> Scalar:
    """A node on the tape of pass k; ``slots`` collects the nodes that are loaded from the link's row."""
    if node.op == "input":
        view, position = node.args
        if stage[node.index] in (NO_PASS, k):
            return tape.input(view.view if isinstance(view, StagedView) else view, position)
    elif stage[node.index] == k or node.op == "neg":
        return apply(node.op, *(copies[a.index] if type(a) is Traced else a for a in node.args))
    slot = slots.setdefault(node.index, len(slots))
    return tape.input("own", slot)
