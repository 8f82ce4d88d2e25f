"""Routing of links: on a grid, with right angles, around components and labels, with few crossings.

Each link is a search for the cheapest path (A*, Hart, Nilsson and Raphael 1968).  A bend costs as much as three steps,
a crossing as much as forty.  A link of several ends grows by the cheapest path from its cells to the next end; one that
a person has led through waypoints runs through those first.  Links
that cross others are removed and routed again, as long as that reduces crossings.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from kinode.model.circuit_topology import INFORMATION, VECTOR
from kinode.views.diagram.box_geometry import STUB, words_at
from kinode.views.diagram.circuit_graph import GRID, Box, CircuitGraph, Connection, Port

STEP_COST = 1.0
BEND_COST = 3.0
CROSSING_COST = 40.0
NEIGHBOR_COST = 0.2  # of a step, for each blocked cell beside it
MARGIN_CELLS = 6  # around the whole diagram
MOST_ROUNDS = 3  # of routing again the links that cross others
MOST_SEARCHES = 60  # in these rounds
MOST_CELLS = 1_000_000  # searched before routing ends: some seconds
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))
OUTWARD = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "bottom": (0, 1)}  # from a port, by its side
PASSAGES = {"h": 1, "v": 0, "x": 2}  # in which direction a link can be crossed that runs so
Cell = tuple[int, int]
Edge = tuple[Cell, Cell]


def port_point(box: Box, port: Port) -> tuple[float, float]:
    """The position of a port."""
    if port.side in ("left", "right"):
        return box.x + (-1 if port.side == "left" else 1) * box.width / 2, box.y + port.offset
    return box.x + port.offset, box.y + (-1 if port.side == "top" else 1) * box.height / 2


def _cell(point: tuple[float, float]) -> Cell:
    return round(point[0] / GRID), round(point[1] / GRID)


class Router:
    """Routes all links of a circuit after its layout."""

    def __init__(self, circuit: CircuitGraph) -> None:
        self.circuit, self.cells_seen = circuit, 0
        self.blocked: set[Cell] = set()
        self.kept: dict[Cell, Connection] = {}  # cells before ports, each for its own link
        self.edges: dict[str, set[Edge]] = {}
        self.straight: dict[Cell, dict[str, str]] = {}  # cell -> link -> h, v, or x where it bends, ends or branches
        for box in circuit.boxes.values():
            self._block_box(box)
        led = {_cell(point) for link in circuit.links.values() for point in link.waypoints}
        cells = self.blocked | led or {(0, 0)}
        self.low = min(i for i, _ in cells) - MARGIN_CELLS, min(j for _, j in cells) - MARGIN_CELLS
        self.high = max(i for i, _ in cells) + MARGIN_CELLS, max(j for _, j in cells) + MARGIN_CELLS
        for link in circuit.links.values():
            for box, port in link.ends:
                self.kept[self._before(box, port)] = link

    def _block_box(self, box: Box) -> None:
        self._block(box.x - box.width / 2, box.y - box.height / 2, box.x + box.width / 2, box.y + box.height / 2)
        for left, top, right, bottom in words_at(box).values():
            self._block(left, top, right, bottom)
        for port in box.ports.values():
            if port.reference:
                (x, y), (dx, dy) = port_point(box, port), OUTWARD[port.side]
                x, y = x + dx * STUB, y + dy * STUB
                self._block(min(x, x - dx * STUB) - 10, min(y, y - dy * STUB) - 4, max(x, x - dx * STUB) + 10, y + 12)

    def _block(self, left: float, top: float, right: float, bottom: float) -> None:
        for i in range(-int(-left // GRID), int(right // GRID) + 1):
            self.blocked.update((i, j) for j in range(-int(-top // GRID), int(bottom // GRID) + 1))

    def _before(self, box: Box, port: Port) -> Cell:
        i, j = _cell(port_point(box, port))
        di, dj = OUTWARD[port.side]
        return i + di, j + dj

    # -- all links ---------------------------------------------------------------------------------
    def route(self) -> int:
        """Set the lines of all links, and return how often links cross."""
        for cell in self.kept:
            self.blocked.discard(cell)
        self._measure()
        links = sorted(self.circuit.links.values(), key=self._order)
        for link in links:
            self._route_link(link)
        best, searches = self.count_crossings(), 0
        for link in links * MOST_ROUNDS:
            if best and searches < MOST_SEARCHES and self.cells_seen < MOST_CELLS and self._crossed(link):
                kept = {name: set(edges) for name, edges in self.edges.items()}
                again = [link, *(self.circuit.links[name] for name in self._crossed(link))][:: (-1) ** (searches % 2)]
                searches += sum(len(one.ends) - 1 for one in again)
                for one in again:
                    self._remove(one)
                for one in again:
                    self._route_link(one)
                crossings = self.count_crossings()
                if crossings > best:
                    self._restore(kept)
                else:
                    best = crossings
        for link in links:
            link.path, link.dots = self._lines(link)
        return best

    def _order(self, link: Connection) -> tuple[int, float]:
        cells = [self._before(box, port) for box, port in link.ends]
        span = max(i for i, _ in cells) - min(i for i, _ in cells) + max(j for _, j in cells) - min(j for _, j in cells)
        return {VECTOR: 0, INFORMATION: 2}.get(link.kind, 1), span

    def count_crossings(self) -> int:
        """Cells in which two links cross."""
        return sum(len(links) - 1 for links in self.straight.values() if len(links) > 1)

    def _crossed(self, link: Connection) -> list[str]:
        """The links that cross one."""
        cells = {cell for edge in self.edges.get(link.name, ()) for cell in edge}
        return sorted({name for cell in cells for name in self.straight.get(cell, {}) if name != link.name})

    # -- one link ----------------------------------------------------------------------------------
    def _route_link(self, link: Connection) -> None:
        ends = [self._before(box, port) for box, port in link.ends]
        path = self._fan(link) if link.kind == VECTOR and len(ends) == 2 and not link.waypoints else None
        if path is not None:
            self.edges[link.name] = set(pairwise(path))
            self._mark(link)
            return
        edges: set[Edge] = set()
        tree = start = {ends[0]}
        left, through = ends[1:], [_cell(point) for point in link.waypoints]
        through = [cell for cell in through if self.price[self._number(cell)] < math.inf]
        while left:
            if through:
                goal = through.pop(0)
                if goal in tree:
                    continue
            else:
                left.sort(key=lambda cell: min(abs(cell[0] - i) + abs(cell[1] - j) for i, j in start))
                goal = left.pop(0)
            path = self._search(link, start, goal, tree)
            edges |= set(pairwise(path))
            tree = tree | set(path)
            start = {goal} if goal not in ends else tree
        self.edges[link.name] = edges
        self._mark(link)

    def _mark(self, link: Connection) -> None:
        directions: dict[Cell, list[Cell]] = {}
        for a, b in self.edges[link.name]:
            directions.setdefault(a, []).append((b[0] - a[0], b[1] - a[1]))
            directions.setdefault(b, []).append((a[0] - b[0], a[1] - b[1]))
        for box, port in link.ends:
            outward = OUTWARD[port.side]
            directions.setdefault(self._before(box, port), []).append((-outward[0], -outward[1]))
        for cell, leads in directions.items():
            through = len(leads) == 2 and leads[0][0] == -leads[1][0] and leads[0][1] == -leads[1][1]
            self.straight.setdefault(cell, {})[link.name] = ("h" if leads[0][0] else "v") if through else "x"

    def _remove(self, link: Connection) -> None:
        cells = {cell for edge in self.edges.pop(link.name, ()) for cell in edge}
        for cell in cells | {self._before(box, port) for box, port in link.ends}:
            links = self.straight.get(cell, {})
            links.pop(link.name, None)
            if not links:
                self.straight.pop(cell, None)

    def _restore(self, edges: dict[str, set[Edge]]) -> None:
        self.edges, self.straight = edges, {}
        for name in edges:
            self._mark(self.circuit.links[name])

    def _search(self, link: Connection, start: set[Cell], goal: Cell, tree: set[Cell]) -> list[Cell]:
        """The cheapest path from some of the cells of a link, its tree, to another cell.

        A state of the search is a cell and one of four directions, as a number.
        """
        if goal in start:
            return [goal]
        out = {self._before(box, port): OUTWARD[port.side] for box, port in link.ends}
        steps, target = self.steps, self._number(goal)
        into = STEPS.index((-out[goal][0], -out[goal][1])) if goal in out else -1
        price, ahead = self.price, self._ahead(goal)
        taken, own = dict[int, int](), {self._number(cell) for cell in tree}  # passages of cells, as they are met
        front: list[tuple[float, float, int]] = []
        cost: dict[int, float] = {}
        came: dict[int, int] = {}
        inner = sorted(start - out.keys()) or sorted(start)  # no branch right before a port, where arrow heads are
        for cell in inner:
            if len(self.straight.get(cell, {})) > (link.name in self.straight.get(cell, {})):
                continue  # a branch where another link crosses could not be distinguished
            for heading in [STEPS.index(out[cell])] if cell in out and len(start) == 1 else range(4):
                state = 4 * self._number(cell) + heading
                cost[state] = 0.0
                heapq.heappush(front, (ahead(state), 0.0, state))
        while front:
            self.cells_seen += 1
            _, spent, state = heapq.heappop(front)
            if spent > cost[state]:
                continue
            cell_, heading = divmod(state, 4)
            if cell_ == target:
                return self._trace_back(came, state)
            crossed = cell_ not in own and taken.get(cell_, -1) >= 0
            for step in range(4):
                if step != heading and (step == heading ^ 1 or crossed):
                    continue  # neither back nor a bend upon another link
                there = cell_ + steps[step]
                total = price[there]
                if total == math.inf or there in own:
                    continue
                passage = taken.get(there)
                if passage is None:
                    passage = taken[there] = self._passage(there, link, goal)
                if passage >= 0:
                    if passage != step >> 1:
                        continue
                    total += CROSSING_COST
                total += spent + BEND_COST * ((step != heading) + (there == target and into >= 0 and step != into))
                after = 4 * there + step
                if total < cost.get(after, math.inf):
                    cost[after], came[after] = total, state
                    heapq.heappush(front, (total + ahead(after), total, after))
        return [min(start, key=lambda cell: abs(cell[0] - goal[0]) + abs(cell[1] - goal[1])), goal]  # walled in

    def _number(self, cell: Cell) -> int:
        return (cell[0] - self.low[0]) * self.rows + cell[1] - self.low[1]

    def _measure(self) -> None:
        """Costs of cells without links: infinite for blocked cells and along the edge, higher beside a box."""
        columns, self.rows = self.high[0] - self.low[0] + 1, self.high[1] - self.low[1] + 1
        self.steps = (-self.rows, self.rows, -1, 1)
        taken = np.zeros((columns, self.rows))
        if self.blocked:
            taken[tuple(np.array(list(self.blocked)).T - np.array(self.low)[:, None])] = 1.0
        price = np.full((columns, self.rows), math.inf)
        beside = taken[:-2, 1:-1] + taken[2:, 1:-1] + taken[1:-1, :-2] + taken[1:-1, 2:]
        price[1:-1, 1:-1] = np.where(taken[1:-1, 1:-1] > 0.0, math.inf, STEP_COST + NEIGHBOR_COST * beside)
        self.price: list[float] = price.ravel().tolist()

    def _passage(self, number: int, link: Connection, goal: Cell) -> int:
        """How a cell can be entered with regard to other links: -1 freely, 0 across, 1 up and down, 2 not at all."""
        cell = number // self.rows + self.low[0], number % self.rows + self.low[1]
        owner = self.kept.get(cell)
        passage = -1 if owner is None or owner is link else 2
        links = self.straight.get(cell)
        if links:
            sorts = [sort for name, sort in links.items() if name != link.name]
            if sorts:
                passage = max(passage, PASSAGES[sorts[0]] if len(sorts) == 1 and cell != goal else 2)
        return passage

    def _ahead(self, goal: Cell) -> Callable[[int], float]:
        """A lower bound of the cost of the rest of a path."""
        gi, gj = goal[0] - self.low[0], goal[1] - self.low[1]
        rows = self.rows

        def ahead(state: int) -> float:
            cell, heading = divmod(state, 4)
            i, j = divmod(cell, rows)
            i, j = gi - i, gj - j
            aside = j if heading < 2 else i  # distance that this direction does not lead along
            return abs(i) + abs(j) + (BEND_COST if aside else 0.0)

        return ahead

    def _trace_back(self, came: dict[int, int], state: int) -> list[Cell]:
        states = [state]
        while states[-1] in came:
            states.append(came[states[-1]])
        cells = (divmod(number // 4, self.rows) for number in reversed(states))
        return [(i + self.low[0], j + self.low[1]) for i, j in cells]

    # -- the spine ---------------------------------------------------------------------------------
    def _fan(self, link: Connection) -> list[Cell] | None:
        """A branch of the spine in the channel beside its body, if that is free: lower rows take the nearer channel."""
        (one, port), (other, its) = sorted(link.ends, key=lambda end: end[0].role != "SB")
        if not (one.spine and other.spine and port.side == "right" and its.side == "left" and other.x > one.x):
            return None
        last = max(p.offset for p in one.ports.values() if p.side == "right")
        start, end = self._before(one, port), self._before(other, its)
        turn = start[0] + round((last - port.offset) / GRID)
        if turn > end[0]:
            return None
        cells = [(i, start[1]) for i in range(start[0], turn)]
        step = 1 if end[1] >= start[1] else -1
        cells += [(turn, j) for j in range(start[1], end[1] + step, step)]
        cells += [(i, end[1]) for i in range(turn + 1, end[0] + 1)]
        free = all(c not in self.blocked and c not in self.straight and self.kept.get(c, link) is link for c in cells)
        return cells if free else None

    # -- lines -------------------------------------------------------------------------------------
    def _lines(self, link: Connection) -> tuple[list[list[tuple[float, float]]], list[tuple[float, float]]]:
        """Lines between ends and branches of a link, corners only, and the dots where more than two meet."""
        near: dict[Cell, set[Cell]] = {}
        points: list[tuple[Cell, Cell]] = list(self.edges[link.name])
        for box, port in link.ends:
            points.append((_cell(port_point(box, port)), self._before(box, port)))
        for a, b in points:
            near.setdefault(a, set()).add(b)
            near.setdefault(b, set()).add(a)
        knots = {cell for cell, others in near.items() if len(others) != 2}
        ports = {_cell(port_point(box, port)): port_point(box, port) for box, port in link.ends}
        lines = []
        for cells in _walk(near, knots):
            corners = [cells[0]]
            for a, b, c in zip(cells, cells[1:], cells[2:], strict=False):
                if (b[0] - a[0], b[1] - a[1]) != (c[0] - b[0], c[1] - b[1]):
                    corners.append(b)
            corners.append(cells[-1])
            lines.append([ports.get(cell, (cell[0] * GRID, cell[1] * GRID)) for cell in corners])
        return lines, [(i * GRID, j * GRID) for i, j in sorted(knots) if len(near[i, j]) > 2]


def _walk(near: dict[Cell, set[Cell]], knots: set[Cell]) -> Iterator[list[Cell]]:
    """Each line from one knot to the next, once."""
    done: set[frozenset[Cell]] = set()
    for start in sorted(knots):
        for first in sorted(near[start]):
            if frozenset((start, first)) in done:
                continue
            path = [start, first]
            done.add(frozenset((start, first)))
            while path[-1] not in knots:
                (after,) = near[path[-1]] - {path[-2]}
                done.add(frozenset((path[-1], after)))
                path.append(after)
            yield path
