"""What a set of differential and algebraic rows needs before it can be solved, from who occurs where alone.

A row i is ``{variable j: highest order of its derivatives that occurs}``; rows and variables are counted from 0.

    structure = find_structure(rows, count)
    structure.c[i]          how often row i is to be differentiated
    structure.d[j]          the order of variable j that the differentiated rows are solved for
    structure.matching[i]   the variable that row i is matched with
    structure.index         structural index of the problem as given
    structure.blocks        groups of rows in the order in which they can be solved for their matched variables
    states = choose_states(structure, priorities)
    states.states           (j, k): derivative k of variable j is a state
    states.dependent        for each level m = 1, 2, ... pairs (row i, variable j): the row differentiated c[i] - m
                            times gives derivative d[j] - m of j; solved from the last level to the first, then level 0

That is the Sigma method of J. D. Pryce, "A simple structural analysis method for DAEs", BIT 41 (2001) 364-394: a
transversal of largest total order, and the smallest c, d >= 0 with d[j] - c[i] >= sigma[i, j], equal where matched.
States are what is left when dependent derivatives are chosen level by level, S. E. Mattsson and G. Soderlind, "Index
reduction in differential-algebraic equations using dummy derivatives", SIAM J. Sci. Comput. 14 (1993) 677-692.  Rows
that nobody can be matched with are found by A. L. Dulmage and N. S. Mendelsohn, "Coverings of bipartite graphs",
Canad. J. Math. 10 (1958) 517-534, and raised as ``StructureError``.

Structure is blind to coefficients that cancel (redundant closing rows of a loop): ``choose_states`` takes the values of
a sample where that matters.  The work grows about as the number of entries, to tens of thousands of rows.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import (
    connected_components,
    maximum_bipartite_matching,
    min_weight_full_bipartite_matching,
)

from kinode.errors import Error

Incidence = Sequence[Mapping[int, int]]
Pairs = tuple[tuple[int, int], ...]
SMALL = 1e-9  # of the largest entry: below that a coefficient has cancelled


@dataclass(frozen=True)
class UnbalancedSubset:
    """Some rows and the variables that occur in them (too many rows), or some variables and their rows (too few)."""

    rows: tuple[int, ...]
    variables: tuple[int, ...]


class StructureError(Error):
    """The rows cannot determine the variables: ``over`` has more rows than variables, ``under`` fewer."""

    def __init__(self, over: UnbalancedSubset, under: UnbalancedSubset) -> None:
        said = [f"{len(p.rows)} rows for {len(p.variables)} variables" for p in (over, under) if p.rows or p.variables]
        super().__init__("the rows cannot be matched with the variables: " + "; ".join(said))
        self.over = over
        self.under = under


@dataclass(frozen=True)
class StructuralAnalysis:
    """What ``find_structure`` found."""

    rows: tuple[Mapping[int, int], ...]
    c: tuple[int, ...]
    d: tuple[int, ...]
    matching: tuple[int, ...]

    @property
    def index(self) -> int:
        """The structural index: differentiations that make the problem an ordinary one in all its variables."""
        return max(self.c, default=0) + (1 if 0 in self.d else 0)

    @property
    def freedom(self) -> int:
        """How many initial values can be chosen."""
        return sum(self.d) - sum(self.c)

    def leading(self, i: int) -> tuple[int, ...]:
        """The variables whose highest derivatives occur in row i once it is differentiated."""
        return tuple(j for j, order in self.rows[i].items() if order + self.c[i] == self.d[j])

    @cached_property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Rows that have to be solved at once, in the order in which that can be done."""
        return find_blocks([self.leading(i) for i in range(len(self.rows))], self.matching)


@dataclass(frozen=True)
class StateSelection:
    """Which derivatives are states, and which rows give those that are not."""

    states: Pairs
    dependent: tuple[Pairs, ...]


# -- the transversal and the offsets ------------------------------------------------------------------
def find_structure(rows: Incidence, count: int) -> StructuralAnalysis:
    """The structure of rows in ``count`` variables; StructureError if they cannot determine these."""
    over, under = find_parts(rows, count)
    if over.rows or under.variables:
        raise StructureError(over, under)
    matching = _best_matching(rows, count, lambda i, j: rows[i][j])
    c, d = _offsets(rows, count, matching)
    return StructuralAnalysis(tuple(dict(row) for row in rows), tuple(c), tuple(d), tuple(matching))


def _best_matching(
    rows: Incidence, count: int, weight: Callable[[int, int], float], smallest: bool = False
) -> list[int]:
    """A variable for each row, of the largest (smallest) total weight."""
    if not rows:
        return []
    entries = [(i, j, weight(i, j)) for i, row in enumerate(rows) for j in row]
    i, j, w = (np.array(column) for column in zip(*entries, strict=True))
    shifted = w - w.min() + 1.0  # a zero would count as no entry
    matrix = csr_array((shifted, (i, j)), shape=(len(rows), count))
    found, columns = min_weight_full_bipartite_matching(matrix, maximize=not smallest)
    chosen = np.empty(len(rows), dtype=int)
    chosen[found] = columns
    return [int(x) for x in chosen]


def _offsets(rows: Incidence, count: int, matching: Sequence[int]) -> tuple[list[int], list[int]]:
    """The smallest c and d [Pryce, algorithm 3.1]; a queue, so that a change reaches only whom it concerns."""
    row_of = {j: i for i, j in enumerate(matching)}
    c, d = [0] * len(rows), [0] * count
    waiting = deque(range(len(rows)))
    while waiting:
        i = waiting.popleft()
        for j, order in rows[i].items():
            if order + c[i] > d[j]:
                d[j] = order + c[i]
        for j in rows[i]:
            k = row_of[j]
            if d[j] - rows[k][j] > c[k]:
                c[k] = d[j] - rows[k][j]
                waiting.append(k)
    return c, d


# -- what cannot be matched ---------------------------------------------------------------------------
def find_parts(rows: Incidence, count: int) -> tuple[UnbalancedSubset, UnbalancedSubset]:
    """The part with too many rows and the part with too few, both empty for a square problem that can be matched."""
    columns: list[list[int]] = [[] for _ in range(count)]
    for i, row in enumerate(rows):
        for j in row:
            columns[j].append(i)
    variable_of = match_largest(rows, count)
    row_of = [-1] * count
    for i, j in enumerate(variable_of):
        if j >= 0:
            row_of[j] = i
    too_many, over = _alternate((i for i, j in enumerate(variable_of) if j < 0), rows, row_of)
    too_few, under = _alternate((j for j, i in enumerate(row_of) if i < 0), columns, variable_of)
    return UnbalancedSubset(too_many, over), UnbalancedSubset(under, too_few)


def match_largest(rows: Incidence, count: int) -> list[int]:
    """A variable for as many rows as possible; -1 for the others."""
    indices = [j for row in rows for j in row]
    if not indices:
        return [-1] * len(rows)
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    matrix = csr_array((np.ones(len(indices)), indices, starts), shape=(len(rows), count))
    return [int(j) for j in maximum_bipartite_matching(matrix, perm_type="column")]


def _alternate(
    start: Iterable[int], there: Sequence[Iterable[int]], back: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Whom one reaches by going there by any entry and back by the matching."""
    reached, passed = set(start), set()
    stack = list(reached)
    while stack:
        for other in there[stack.pop()]:
            if other not in passed:
                passed.add(other)
                if back[other] not in reached:
                    reached.add(back[other])
                    stack.append(back[other])
    return tuple(sorted(reached)), tuple(sorted(passed))


# -- order of solving ---------------------------------------------------------------------------------
def find_blocks(leading: Sequence[Iterable[int]], matching: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Strongly connected rows, each group after those that it needs; ``leading`` are the variables of each row."""
    n = len(leading)
    row_of = {j: i for i, j in enumerate(matching)}
    needs = [[row_of[j] for j in variables if j in row_of and row_of[j] != i] for i, variables in enumerate(leading)]
    pairs = [(i, k) for i, rows in enumerate(needs) for k in rows]
    if not pairs:
        return tuple((i,) for i in range(n))
    i, k = np.array(pairs).T
    graph = csr_array((np.ones(len(pairs)), (i, k)), shape=(n, n))
    _, label = connected_components(graph, directed=True, connection="strong")
    members: dict[int, list[int]] = {}
    for row, group in enumerate(label):
        members.setdefault(int(group), []).append(row)
    users: dict[int, set[int]] = {group: set() for group in members}
    for row, other in pairs:
        if label[row] != label[other]:
            users[int(label[other])].add(int(label[row]))
    return tuple(tuple(members[group]) for group in _in_order(users, {g: rows[0] for g, rows in members.items()}))


def _in_order(users: Mapping[int, set[int]], rank: Mapping[int, int]) -> list[int]:
    """Groups before their users, otherwise by rank."""
    open_needs = dict.fromkeys(users, 0)
    for found in users.values():
        for user in found:
            open_needs[user] += 1
    ready = [(rank[group], group) for group, count in open_needs.items() if count == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        _, group = heapq.heappop(ready)
        order.append(group)
        for user in users[group]:
            open_needs[user] -= 1
            if open_needs[user] == 0:
                heapq.heappush(ready, (rank[user], user))
    return order


# -- states -------------------------------------------------------------------------------------------
def choose_states(
    structure: StructuralAnalysis,
    priorities: Mapping[int, float] | None = None,
    values: Mapping[tuple[int, int], float] | None = None,
) -> StateSelection:
    """States and dependent derivatives; a variable of higher priority is rather a state (0 where none is given).

    ``values`` are the coefficients of the highest derivatives in the differentiated rows, by (row, variable), at some
    generic sample: with these the choice holds for the numbers, without them for the structure.
    """
    priorities = priorities or {}
    candidates = set(range(len(structure.d)))
    left = {(j, k) for j, d in enumerate(structure.d) for k in range(d)}
    dependent: list[Pairs] = []
    for level in range(1, max(structure.c, default=0) + 1):
        rows = [i for i, c in enumerate(structure.c) if c >= level]
        leading = {i: [j for j in structure.leading(i) if j in candidates and structure.d[j] >= level] for i in rows}
        pairs = _choose_by_values(leading, priorities, values) if values is not None else _choose(leading, priorities)
        candidates = {j for _, j in pairs}
        left -= {(j, structure.d[j] - level) for j in candidates}
        dependent.append(pairs)
    return StateSelection(tuple(sorted(left)), tuple(dependent))


def _choose(leading: Mapping[int, Sequence[int]], priorities: Mapping[int, float]) -> Pairs:
    """A variable for each row, of the least total priority; structure allows it, since all rows can be matched."""
    columns = sorted({j for variables in leading.values() for j in variables})
    place = {j: k for k, j in enumerate(columns)}
    rows = [dict.fromkeys((place[j] for j in variables), 0) for variables in leading.values()]
    found = _best_matching(rows, len(columns), lambda i, k: float(priorities.get(columns[k], 0.0)), smallest=True)
    return tuple((i, columns[k]) for i, k in zip(leading, found, strict=True))


def _choose_by_values(
    leading: Mapping[int, Sequence[int]], priorities: Mapping[int, float], values: Mapping[tuple[int, int], float]
) -> Pairs:
    """The same, the coefficients of the chosen variables being a regular matrix: piece by piece."""
    found: list[tuple[int, int]] = []
    for rows in _pieces(leading):
        entries = {i: {j: values.get((i, j), 0.0) for j in leading[i]} for i in rows}
        pivots = _independent_columns(entries, priorities)
        if len(pivots) < len(rows):
            lost = tuple(i for i in rows if i not in {p for p, _ in pivots})
            columns = tuple(sorted({j for i in rows for j in leading[i]}))
            raise StructureError(UnbalancedSubset(lost, columns), UnbalancedSubset((), ()))
        found += pivots
    return tuple(sorted(found))


def _pieces(leading: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """Rows that have variables in common, one way or another."""
    rows = list(leading)
    first: dict[int, int] = {}
    pairs = [(k, first.setdefault(j, k)) for k, i in enumerate(rows) for j in leading[i]]
    if not pairs:
        return [[i] for i in rows]
    graph = csr_array((np.ones(len(pairs)), tuple(np.array(pairs).T)), shape=(len(rows), len(rows)))
    _, label = connected_components(graph, directed=False)
    pieces: dict[int, list[int]] = {}
    for k, group in enumerate(label):
        pieces.setdefault(int(group), []).append(rows[k])
    return list(pieces.values())


def _independent_columns(
    entries: Mapping[int, Mapping[int, float]], priorities: Mapping[int, float]
) -> list[tuple[int, int]]:
    """Pivots (row, column) by elimination, columns of low priority first; the shortest row next, its largest entry."""
    rows = {i: {j: x / _largest(row) for j, x in row.items() if x} for i, row in entries.items()}
    columns: dict[int, set[int]] = {}
    for i, row in rows.items():
        for j in row:
            columns.setdefault(j, set()).add(i)
    pivots: list[tuple[int, int]] = []
    for rank in sorted({priorities.get(j, 0.0) for j in columns}):
        mine = {j for j in columns if priorities.get(j, 0.0) == rank}
        waiting = [(len(row), i) for i, row in rows.items()]
        heapq.heapify(waiting)
        while waiting:
            count, i = heapq.heappop(waiting)
            if i not in rows or count != len(rows[i]):
                continue  # it was a pivot, or changed since
            offered = [j for j in rows[i] if j in mine]
            k = max(offered, key=lambda j: abs(rows[i][j]), default=None)
            if k is None or abs(rows[i][k]) <= SMALL:
                continue
            pivot = rows.pop(i)
            pivots.append((i, k))
            for j in pivot:
                columns[j].discard(i)
            for other in sorted(columns[k]):
                _take_out(rows[other], pivot, k, other, columns)
                heapq.heappush(waiting, (len(rows[other]), other))
    return pivots


def _take_out(
    row: dict[int, float], pivot: Mapping[int, float], k: int, place: int, columns: Mapping[int, set[int]]
) -> None:
    """Take so much of the pivot's row from a row that column k is gone from it."""
    factor = row[k] / pivot[k]
    for j, x in pivot.items():
        left = row.get(j, 0.0) - factor * x
        if j == k or abs(left) <= SMALL * abs(factor * x):
            row.pop(j, None)
            columns[j].discard(place)
        else:
            row[j] = left
            columns[j].add(place)


def _largest(row: Mapping[int, float]) -> float:
    return max((abs(x) for x in row.values()), default=0.0) or 1.0
