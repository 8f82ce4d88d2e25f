"""From a system to its network: rows in the order in which they are solved, states, and what is wrong with it by name.

The rows (``network_equations.py``) are analyzed with those of the mechanism, of which no more is known here than that
it decides the accelerations of the joints that parts touch:

    motion of elbow:    elbow.q (order 2), flows at elbow (order 0)

The Sigma method (``sigma_method.py``) says how often each row is differentiated, so that at each level one linear
system is left: first dependent potentials, flows and speeds from the states, level by level, then rates and flows.
Coordinates and speeds of joints are given at every level, their accelerations stay open.

    network = find_network(system)            None without parts
    network.states                            what z holds for it
    network.stages                            blocks of rows and unknowns, in the order of solving
    network.differentiated                    rows that had to be differentiated: a capacitor across a source ...
    network.reports                           what that means, in words

Structure alone does not see that voltages around a loop of capacitors, or currents of inductors through a cut, are not
independent where no node of theirs is the reference.  There a sample of numbers shows which rows depend on each other,
and their combination takes the place of one of them [G. Tan, N. S. Nedialkov, J. D. Pryce, "Conversion methods for
improving structural analysis of differential-algebraic equation systems", BIT 57 (2017) 845-865].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinode.algebra.affine import Affine, NonlinearError
from kinode.algebra.null_space import SINGULAR, null_vectors, smallness
from kinode.algebra.scalars import Array, Scalar, is_number, is_zero
from kinode.expressions.equation_parser import rate_name, split_rate
from kinode.expressions.syntax_tree import Expression
from kinode.model.system import System
from kinode.structure import network_errors
from kinode.structure.network_blocks import Network, NetworkBlock, NetworkState, single_order
from kinode.structure.network_equations import ExpressionOrNumber, NetworkEquation, NetworkEquations, Order, UnknownRate
from kinode.structure.sample_values import SampleValues
from kinode.structure.sigma_method import (
    StructureError,
    choose_states,
    find_blocks,
    find_parts,
    find_structure,
    match_largest,
)

GIVEN, BOUND = 1e3, 1e6  # priorities of variables whose start is given, and of the coordinates of joints
CANCELLED = 1e-9  # of what was added up: what is left then is rounding
RATES = {"angle": "angular_velocity", "length": "velocity"}


def find_network(system: System) -> Network | None:
    """The network of a system's parts; None where it has none."""
    rows = NetworkEquations(system)
    if not rows.parts:
        return None
    return Analysis(system, rows).network()


class Analysis:
    """One network under way."""

    def __init__(self, system: System, rows: NetworkEquations) -> None:
        self.system, self.rows = system, rows
        self.samplers = [SampleValues(system), SampleValues(system, shift=1)]

    def network(self) -> Network:
        for _ in range(len(self.rows.rows) + 1):
            self._match()
            singular = self._find_singular()
            if singular is None:
                break
            self._combine(*singular)
        states, levels = self._choose_states()
        stages = [self._stage(level, pairs) for level, pairs in levels]
        self._check_affine(stages)
        c = self.structure.c
        told = tuple((row, c[i]) for i, row in enumerate(self.rows.rows) if c[i])
        return Network(self.system, self.rows, self.structure, states, tuple(stages), told)

    # -- structure ---------------------------------------------------------------------------------
    def _match(self) -> None:
        """Sigma method on all rows, and a variable for each row of the network."""
        rows = self.rows
        self.names = list(rows.variables)
        self.place = {name: j for j, name in enumerate(self.names)}
        orders = [row.orders(rows.variables) for row in rows.rows] + [self._motion(name) for name in rows.joint_of]
        problem = [{self.place[name]: order for name, order in row.items()} for row in orders]
        try:
            self.structure = find_structure(problem, len(self.names))
        except StructureError as error:
            raise network_errors.explain(self.rows, error.over.rows, self._named(error.over.variables),
                                 self._named(error.under.variables)) from None  # fmt: skip
        self._check_motion()
        free = [[j for j in self.structure.leading(i) if not self._is_joint(j)] for i in range(len(rows.rows))]
        columns = sorted({j for row in free for j in row})
        at = {j: k for k, j in enumerate(columns)}
        compact = [dict.fromkeys((at[j] for j in row), 0) for row in free]
        wanted = len(self.names) - len(rows.joint_of)
        over, under = find_parts(compact, len(columns))
        if over.rows or under.variables or len(columns) != wanted:
            names = [self.names[columns[k]] for k in over.variables]
            raise network_errors.explain_joint(self.rows, over.rows, names)
        self.free = free
        self.matching = [columns[k] for k in match_largest(compact, len(columns))]
        self.blocks = find_blocks(free, self.matching)

    def _named(self, places: Sequence[int]) -> list[str]:
        return [self.names[j] for j in places]

    def _is_joint(self, j: int) -> bool:
        return self.names[j] in self.rows.joint_of

    def _motion(self, name: str) -> dict[str, int]:
        """The row of the mechanism for one coordinate; what drives a joint takes any flow."""
        joint = self.system.joints[self.rows.joint_of[name][0]]
        flows = () if joint.driven else self.rows.flows_at.get(name, ())
        return {name: 2, **dict.fromkeys(flows, 0)}

    def _check_motion(self) -> None:
        """The mechanism is not differentiated: nobody knows the rates of its accelerations."""
        first = len(self.rows.rows)
        for k, name in enumerate(self.rows.joint_of):
            if self.structure.c[first + k] or self.structure.d[self.place[name]] > 2:
                raise network_errors.explain_jerk(self.rows, name, self._highest(name))

    def _highest(self, name: str) -> list[NetworkEquation]:
        """The rows that ask for the highest derivative of a variable."""
        j = self.place[name]
        return [row for i, row in enumerate(self.rows.rows) if j in self.structure.leading(i)]

    # -- numbers of a sample -----------------------------------------------------------------------
    def _coefficient(self, i: int, j: int, sampler: SampleValues) -> float:
        order = self.structure.d[j] - self.structure.c[i]
        return sampler.coefficient(self.rows.rows[i], self.names[j], order)

    def _find_singular(self) -> tuple[list[int], list[int], Array] | None:
        """Rows and unknowns of a block that depend on each other at a sample, and the matrix there."""
        for block in self.blocks:
            places = {self.matching[i]: k for k, i in enumerate(block)}
            for sampler in self.samplers:
                entries = [
                    (a, places[j], self._coefficient(i, j, sampler))
                    for a, i in enumerate(block)
                    for j in self.free[i]
                    if j in places
                ]
                if smallness(entries, len(block)) < SINGULAR:
                    return list(block), [self.matching[i] for i in block], self._matrix(block, sampler)
        return None

    def _combine(self, block: list[int], unknowns: list[int], A: Array) -> None:
        """A combination of rows that depend on each other in the place of one of them."""
        left, right = null_vectors(A)
        open_names = [self.names[unknowns[k]] for k in np.flatnonzero(np.abs(right).max(axis=1) > 1e-6)]
        made: dict[int, NetworkEquation] = {}
        for vector in left:
            members = {block[k]: float(x) for k, x in enumerate(vector) if x}
            least = min(self.structure.c[i] for i in members)
            first = next(iter(members))  # which no other combination has
            goes = first if self.structure.c[first] == least else min(members, key=lambda i: self.structure.c[i])
            if goes != first and made:
                continue  # it has its turn once these have taken their places
            members = self._extended(block, members)
            least = min(self.structure.c[i] for i in members)
            goes = goes if self.structure.c[goes] == least else min(members, key=lambda i: self.structure.c[i])
            combined = self._combined(members, least)
            if combined is None or (not combined.terms and not combined.orders(self.rows.variables)):
                raise network_errors.explain(self.rows, tuple(members), self._shared(members), open_names, combined)
            made[goes] = combined
            if goes != first:
                break
        for i, row in made.items():
            self.rows.rows[i] = row

    def _extended(self, block: Sequence[int], members: Mapping[int, float]) -> dict[int, float]:
        """With so much of the rows solved before that what these are solved for cancels too."""
        found = dict(members)
        sampler = self.samplers[0]
        left: dict[int, float] = {}
        size: dict[int, float] = {}  # of what was added: by it is seen what has cancelled

        def add(i: int, factor: float) -> None:
            for j in self.free[i]:
                x = factor * self._coefficient(i, j, sampler)
                left[j], size[j] = left.get(j, 0.0) + x, size.get(j, 0.0) + abs(x)

        for i, factor in members.items():
            add(i, factor)
        at = next(k for k, other in enumerate(self.blocks) if other[0] == block[0])
        for rows in reversed(self.blocks[:at]):
            unknowns = [self.matching[i] for i in rows]
            wanted = np.array(
                [-left[j] if abs(left.get(j, 0.0)) > CANCELLED * size.get(j, 0.0) else 0.0 for j in unknowns]
            )
            if wanted.any():
                A = self._matrix(rows, sampler)
                for i, factor, row in zip(rows, np.linalg.solve(A.T, wanted), A, strict=True):
                    if np.any(np.abs(factor * row) > CANCELLED * np.abs(wanted).max()):
                        found[i] = float(round(factor)) if abs(factor - round(factor)) < 1e-9 else float(factor)
                        add(i, found[i])
        return found

    def _matrix(self, rows: Sequence[int], sampler: SampleValues) -> Array:
        """A block at a sample, dense."""
        A, places = np.zeros((len(rows), len(rows))), {self.matching[i]: k for k, i in enumerate(rows)}
        for a, i in enumerate(rows):
            for j in self.free[i]:
                if j in places:
                    A[a, places[j]] = self._coefficient(i, j, sampler)
        return A

    def _shared(self, members: Mapping[int, float]) -> list[str]:
        """The unknowns that cancel."""
        return sorted({self.names[j] for i in members for j in self.free[i]})

    def _combined(self, members: Mapping[int, float], least: int) -> NetworkEquation | None:
        """The sum of rows by factors, each differentiated so that their highest derivatives cancel; None if not so."""
        terms: dict[Order, Scalar] = {}
        size: dict[Order, float] = {}
        rest: ExpressionOrNumber = 0.0
        through: frozenset[Order] = frozenset()
        for i, factor in members.items():
            row = self._differentiated(i, self.structure.c[i] - least)
            for order, x in row.terms.items():
                terms[order] = terms.get(order, 0.0) + factor * x
                size[order] = size.get(order, 0.0) + (abs(factor * x) if is_number(x) else 0.0)
            rest = rest + factor * row.rest
            through |= row.through
        terms = {order: x for order, x in terms.items() if not (is_number(x) and abs(x) <= CANCELLED * size[order])}
        owners = list(dict.fromkeys(self.rows.rows[i].owner for i in members))
        first = next(iter(members))
        if any(
            name not in self.rows.joint_of and times + least >= self.structure.d[self.place[name]]
            for name, times in terms
        ):
            return None
        rest = 0.0 if is_zero(rest) else rest
        return NetworkEquation(
            f"what {', '.join(owners)} have in common", self.rows.rows[first].owner, terms, rest, through
        )

    # -- states and stages -------------------------------------------------------------------------
    def _choose_states(self) -> tuple[tuple[NetworkState, ...], list[tuple[int, tuple[tuple[int, int], ...]]]]:
        structure, count = self.structure, len(self.rows.rows)
        values = {
            (i, j): self._coefficient(i, j, self.samplers[0])
            for i in range(count)
            if structure.c[i]
            for j in structure.leading(i)
        }
        values |= {(count + k, self.place[name]): 1.0 for k, name in enumerate(self.rows.joint_of)}
        try:
            found = choose_states(structure, self._priorities(), values)
        except StructureError as error:
            lost = [i for i in error.over.rows if i < count]
            raise network_errors.explain(self.rows, tuple(lost), self._named(error.over.variables), []) from None
        for pairs in found.dependent:
            for i, j in pairs:
                if self._is_joint(j):
                    raise network_errors.explain_joint(self.rows, (i,), [self.names[j]])
        own = [(self.names[j], k) for j, k in found.states if not self._is_joint(j)]
        levels = [(m + 1, pairs) for m, pairs in enumerate(found.dependent)][::-1]
        everything = tuple((i, self.matching[i]) for i in range(count))
        return self._named_states(own), [*levels, (0, everything)]

    def _priorities(self) -> dict[int, float]:
        """Joints are states, then what has a start, then unknowns of parts before potentials and flows."""
        found = {self.place[name]: BOUND for name in self.rows.joint_of}
        for start in (start for part in self.rows.parts.values() for start in part.initial_values()):
            order = single_order(self.rows.expand(start.quantity))
            if order is not None and order[0] in self.place and order[0] not in self.rows.joint_of:
                j = self.place[order[0]]
                found[j] = max(found.get(j, 0.0), GIVEN + start.priority)
        for part in self.rows.parts.values():
            for name, one in part.all_unknowns().items():
                found.setdefault(self.place[f"{part.name}.{name}"], 0.5 + one.priority)
        return found

    def _named_states(self, orders: Sequence[Order]) -> tuple[NetworkState, ...]:
        owners = {name: k for k, name in enumerate((*self.rows.parts, *self.rows.nodes))}
        states = [self._named_state(name, order) for name, order in orders]
        return tuple(sorted(states, key=lambda s: (owners[s.owner], s.variable, s.order)))

    def _named_state(self, name: str, order: int) -> NetworkState:
        variable = self.rows.variables[name]
        word = name[len(variable.owner) + 1 :]
        unit = variable.unit
        if variable.owner in self.rows.nodes:
            word = self.rows.nodes[variable.owner].domain.potential if order == 1 else word
            unit = RATES[unit] if order == 1 else unit
        elif order or variable.sort == "flow":
            part = self.rows.parts[variable.owner]
            named = (n for n in part.formulas() if single_order(self.rows.expand(part.formula(n))) == (name, order))
            word = next(named, rate_name(word, order))
            unit = part.units().get(word, "dimensionless" if order else unit)
        return NetworkState(variable.owner, word, unit, name, order)

    def _stage(self, level: int, pairs: tuple[tuple[int, int], ...]) -> tuple[NetworkBlock, ...]:
        """The blocks of one level: rows differentiated as often as they have to be, less the level."""
        structure = self.structure
        chosen = {j for _, j in pairs}
        leading = [[j for j in structure.leading(i) if j in chosen] for i, _ in pairs]
        matching = [j for _, j in pairs]
        found = []
        for block in find_blocks(leading, matching):
            rows = tuple(self._differentiated(pairs[k][0], structure.c[pairs[k][0]] - level) for k in block)
            unknowns = tuple((self.names[pairs[k][1]], structure.d[pairs[k][1]] - level) for k in block)
            found.append(NetworkBlock(rows, unknowns))
        return tuple(found)

    def _check_affine(self, stages: Sequence[Sequence[NetworkBlock]]) -> None:
        """Rows are affine in what they are solved for, and in the accelerations of joints."""
        sampler = self.samplers[0]
        open_orders: set[Order] = {(name, 2) for name in self.rows.joint_of}
        for stage in stages:
            for block in stage:
                wanted = open_orders | set(block.unknowns)

                def lookup(name: str, wanted: set[Order] = wanted) -> Scalar:
                    order = split_rate(name)
                    return Affine.unknown(order) if order in wanted else sampler.lookup(name)

                for row in block.rows:
                    try:
                        for x in (row.rest, *row.terms.values()):
                            if isinstance(x, Expression):
                                x.evaluate(lookup, sampler.call)
                    except NonlinearError as error:
                        raise network_errors.explain_nonlinear(row, error.unknowns, error.operation) from None
                if any(open_orders.intersection((*row.terms, *row.rest_orders)) for row in block.rows):
                    open_orders |= set(block.unknowns)

    def _differentiated(self, i: int, times: int) -> NetworkEquation:
        row = self.rows.rows[i]
        try:
            for _ in range(times):
                row = self.rows.differentiate(row)
        except UnknownRate as error:
            raise network_errors.explain_rate(self.rows, row, str(error)) from None
        return row
