"""Structural analysis of differential-algebraic equations by the Sigma method.

Only the incidence is used: which derivatives of which variables occur in which equation.  Row i of the Sigma matrix
stands for equation i, as ``{variable j: highest order of its derivatives that occurs}``; both are counted from 0.

    structure = find_structure(rows, count)
    structure.c[i]          how often equation i is to be differentiated
    structure.d[j]          the order of variable j that the differentiated equations are solved for
    structure.matching[i]   the variable that equation i is matched with
    structure.index         structural index of the problem as given
    structure.blocks        groups of equations in the order in which they can be solved for their matched variables
    states = choose_states(structure, priorities)
    states.states           (j, k): derivative k of variable j is a state
    states.dependent        for each level m = 1, 2, ... pairs (equation i, variable j): equation i, differentiated
                            c[i] - m times, gives derivative d[j] - m of j; the last level is solved first, level 0 last

The Sigma method is that of J. D. Pryce, "A simple structural analysis method for DAEs", BIT 41 (2001) 364-394: a
transversal of largest total order, and the smallest c, d >= 0 with d[j] - c[i] >= sigma[i, j], equal where matched.
Dependent derivatives are chosen level by level, and the states are the remaining ones: S. E. Mattsson and G. Soderlind,
"Index reduction in differential-algebraic equations using dummy derivatives", SIAM J. Sci. Comput. 14 (1993) 677-692.
Equations without a match are found by the decomposition of A. L. Dulmage and N. S. Mendelsohn, "Coverings of bipartite
graphs", Canad. J. Math. 10 (1958) 517-534, and raised as ``StructureError``.

Structure does not show coefficients that cancel (redundant constraint rows of a loop): ``choose_states`` takes sample
values where that matters.  The work grows about as the number of entries, to tens of thousands of equations.
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

Incidence = Sequence[Mapping[int, int]]  # for each equation: variable -> highest order of its derivatives
Pairs = tuple[tuple[int, int], ...]  # of equation and variable, or of variable and order
CANCELLED = 1e-9  # of the largest entry: a smaller coefficient has cancelled


@dataclass(frozen=True)
class UnbalancedSubset:
    """Equations (``rows``) and variables whose numbers do not match.

    Too many equations, with the variables that occur in them; or too many variables, with the equations that they
    occur in.
    """

    rows: tuple[int, ...]
    variables: tuple[int, ...]


class StructureError(Error):
    """The rows cannot determine the variables: ``over`` has more rows than variables, ``under`` fewer."""

    def __init__(self, over: UnbalancedSubset, under: UnbalancedSubset) -> None:
        subsets = [subset for subset in (over, under) if subset.rows or subset.variables]
        counts = [f"{len(subset.rows)} rows for {len(subset.variables)} variables" for subset in subsets]
        super().__init__("the rows cannot be matched with the variables: " + "; ".join(counts))
        self.over = over
        self.under = under


@dataclass(frozen=True)
class StructuralAnalysis:
    """The result of ``find_structure``: offsets c and d, and a matching of equations with variables."""

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
        """The number of initial values that can be chosen."""
        return sum(self.d) - sum(self.c)

    def leading(self, i: int) -> tuple[int, ...]:
        """The variables whose highest derivatives occur in the differentiated equation i."""
        return tuple(j for j, order in self.rows[i].items() if order + self.c[i] == self.d[j])

    @cached_property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Groups of equations that are solved together, in the order of solving."""
        return find_blocks([self.leading(i) for i in range(len(self.rows))], self.matching)


@dataclass(frozen=True)
class StateSelection:
    """Which derivatives are states, and which equations give the dependent ones."""

    states: Pairs
    dependent: tuple[Pairs, ...]


# -- the transversal and the offsets ------------------------------------------------------------------
def find_structure(rows: Incidence, count: int) -> StructuralAnalysis:
    """The structure of equations in ``count`` variables; StructureError if they cannot determine these."""
    over, under = find_parts(rows, count)
    if over.rows or under.variables:
        raise StructureError(over, under)
    matching = _best_matching(rows, count, lambda i, j: rows[i][j])
    c, d = _offsets(rows, count, matching)
    return StructuralAnalysis(tuple(dict(row) for row in rows), tuple(c), tuple(d), tuple(matching))


def _best_matching(
    rows: Incidence, count: int, weight: Callable[[int, int], float], smallest: bool = False
) -> list[int]:
    """A variable for each equation, with the largest (smallest) total weight."""
    if not rows:
        return []
    entries = [(i, j, weight(i, j)) for i, row in enumerate(rows) for j in row]
    i, j, w = (np.array(column) for column in zip(*entries, strict=True))
    shifted = w - w.min() + 1.0  # a zero would count as no entry
    matrix = csr_array((shifted, (i, j)), shape=(len(rows), count))
    matched_rows, columns = min_weight_full_bipartite_matching(matrix, maximize=not smallest)
    matching = np.empty(len(rows), dtype=int)
    matching[matched_rows] = columns
    return [int(j) for j in matching]


def _offsets(rows: Incidence, count: int, matching: Sequence[int]) -> tuple[list[int], list[int]]:
    """The smallest c and d [Pryce, algorithm 3.1]; a queue visits only the equations that a change affects."""
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


# -- equations and variables without a match ----------------------------------------------------------
def find_parts(rows: Incidence, count: int) -> tuple[UnbalancedSubset, UnbalancedSubset]:
    """The overdetermined and the underdetermined subset; both are empty where all can be matched."""
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
    """A variable for as many equations as possible; -1 for the others."""
    indices = [j for row in rows for j in row]
    if not indices:
        return [-1] * len(rows)
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    matrix = csr_array((np.ones(len(indices)), indices, starts), shape=(len(rows), count))
    return [int(j) for j in maximum_bipartite_matching(matrix, perm_type="column")]


def _alternate(
    start: Iterable[int], there: Sequence[Iterable[int]], back: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The nodes on alternating paths: on the side of ``start``, and on the other side.

    A path goes to the other side by any entry (``there``), and comes back by the matching (``back``).
    """
    near, far = set(start), set()
    stack = list(near)
    while stack:
        for other in there[stack.pop()]:
            if other not in far:
                far.add(other)
                if back[other] not in near:
                    near.add(back[other])
                    stack.append(back[other])
    return tuple(sorted(near)), tuple(sorted(far))


# -- order of solving ---------------------------------------------------------------------------------
def find_blocks(leading: Sequence[Iterable[int]], matching: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Strongly connected groups of equations in the order of solving; ``leading`` are the variables of each."""
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
    for group_users in users.values():
        for user in group_users:
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
    """States and dependent derivatives; variables of higher priority are preferred as states (0 by default).

    ``values`` are the coefficients of the highest derivatives in the differentiated equations, by (equation, variable),
    at a generic sample.  With them the choice is numerically regular, without them structurally.
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
    """A variable for each equation, with the least total priority; all equations can be matched."""
    columns = sorted({j for variables in leading.values() for j in variables})
    column_of = {j: k for k, j in enumerate(columns)}
    rows = [dict.fromkeys((column_of[j] for j in variables), 0) for variables in leading.values()]
    matching = _best_matching(rows, len(columns), lambda i, k: float(priorities.get(columns[k], 0.0)), smallest=True)
    return tuple((i, columns[k]) for i, k in zip(leading, matching, strict=True))


def _choose_by_values(
    leading: Mapping[int, Sequence[int]], priorities: Mapping[int, float], values: Mapping[tuple[int, int], float]
) -> Pairs:
    """The same with a regular matrix of coefficients: the equations fall into groups without common variables."""
    pairs: list[tuple[int, int]] = []
    for rows in _connected_groups(leading):
        entries = {i: {j: values.get((i, j), 0.0) for j in leading[i]} for i in rows}
        pivots = _independent_columns(entries, priorities)
        if len(pivots) < len(rows):
            dependent = tuple(i for i in rows if i not in {p for p, _ in pivots})
            columns = tuple(sorted({j for i in rows for j in leading[i]}))
            raise StructureError(UnbalancedSubset(dependent, columns), UnbalancedSubset((), ()))
        pairs += pivots
    return tuple(sorted(pairs))


def _connected_groups(leading: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """Groups of equations that are connected by common variables."""
    rows = list(leading)
    first: dict[int, int] = {}
    pairs = [(k, first.setdefault(j, k)) for k, i in enumerate(rows) for j in leading[i]]
    if not pairs:
        return [[i] for i in rows]
    graph = csr_array((np.ones(len(pairs)), tuple(np.array(pairs).T)), shape=(len(rows), len(rows)))
    _, label = connected_components(graph, directed=False)
    groups: dict[int, list[int]] = {}
    for k, group in enumerate(label):
        groups.setdefault(int(group), []).append(rows[k])
    return list(groups.values())


def _independent_columns(
    entries: Mapping[int, Mapping[int, float]], priorities: Mapping[int, float]
) -> list[tuple[int, int]]:
    """Pivots (row, column) by elimination: columns of low priority first; the shortest row next, its largest entry."""
    rows = {i: {j: x / _largest(row) for j, x in row.items() if x} for i, row in entries.items()}
    columns: dict[int, set[int]] = {}
    for i, row in rows.items():
        for j in row:
            columns.setdefault(j, set()).add(i)
    pivots: list[tuple[int, int]] = []
    for rank in sorted({priorities.get(j, 0.0) for j in columns}):
        of_rank = {j for j in columns if priorities.get(j, 0.0) == rank}
        waiting = [(len(row), i) for i, row in rows.items()]
        heapq.heapify(waiting)
        while waiting:
            count, i = heapq.heappop(waiting)
            if i not in rows or count != len(rows[i]):
                continue  # an outdated entry: the row was a pivot, or has changed
            candidates = [j for j in rows[i] if j in of_rank]
            k = max(candidates, key=lambda j: abs(rows[i][j]), default=None)
            if k is None or abs(rows[i][k]) <= CANCELLED:
                continue
            pivot = rows.pop(i)
            pivots.append((i, k))
            for j in pivot:
                columns[j].discard(i)
            for other in sorted(columns[k]):
                _eliminate(rows[other], pivot, k, other, columns)
                heapq.heappush(waiting, (len(rows[other]), other))
    return pivots


def _eliminate(
    row: dict[int, float], pivot: Mapping[int, float], k: int, index: int, columns: Mapping[int, set[int]]
) -> None:
    """Eliminate column k from a row (number ``index``) by a multiple of the pivot's row."""
    factor = row[k] / pivot[k]
    for j, x in pivot.items():
        left = row.get(j, 0.0) - factor * x
        if j == k or abs(left) <= CANCELLED * abs(factor * x):
            row.pop(j, None)
            columns[j].discard(index)
        else:
            row[j] = left
            columns[j].add(index)


def _largest(row: Mapping[int, float]) -> float:
    return max((abs(x) for x in row.values()), default=0.0) or 1.0
