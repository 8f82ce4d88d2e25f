"""Analysis of a system's network: its states, and its equations in the order in which they are solved.

The equations (``network_equations.py``) are analyzed together with those of the mechanism.  The mechanism is known
only as one equation for each joint coordinate that components act on, which determines its acceleration:

    motion of elbow:    elbow.q (order 2), flows at elbow (order 0)

The Sigma method (``sigma_method.py``) determines how often each equation is differentiated.  One linear system is left
at each level: first dependent potentials, flows and speeds from the states, level by level, then rates and flows.
Coordinates and speeds of joints are given at every level.  Their accelerations stay unknown.

    network = find_network(system)            None without components of a network
    network.states                            its entries of z
    network.stages                            blocks of equations and unknowns, in the order of solving
    network.differentiated                    equations that are differentiated: a capacitor across a source ...
    network.reports                           notes on the states that this costs

Structure alone does not show that voltages around a loop of capacitors, or currents of inductors through a cut, are
dependent where none of their nodes is the reference.  Sample values show which equations are dependent there.  Their
linear combination replaces one of them [G. Tan, N. S. Nedialkov, J. D. Pryce, "Conversion methods for improving
structural analysis of differential-algebraic equation systems", BIT 57 (2017) 845-865].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinode.algebra.affine import Affine, NonlinearError
from kinode.algebra.elimination import SINGULAR, null_vectors, smallness
from kinode.algebra.scalars import Array, Scalar, is_number, is_zero
from kinode.expressions.equation_parser import rate_name, split_rate
from kinode.expressions.syntax_tree import Expression
from kinode.model.system import System
from kinode.structure import network_errors
from kinode.structure.network_blocks import Network, NetworkBlock, NetworkState, SampleValues
from kinode.structure.network_equations import NetworkEquations
from kinode.structure.network_records import ExpressionOrNumber, NetworkEquation, Order, UnknownRate, single_order
from kinode.structure.sigma_method import (
    StructureError,
    choose_states,
    find_blocks,
    find_parts,
    find_structure,
    match_largest,
)

INITIAL_VALUE_PRIORITY = 1e3  # of variables with an initial value, for the choice of states
JOINT_PRIORITY = 1e6  # of the coordinates of joints, which are always states
CANCELLED = 1e-9  # of the sum of absolute terms: a smaller sum is rounding
RATES = {"angle": "angular_velocity", "length": "velocity"}


def find_network(system: System) -> Network | None:
    """The network of a system; None where it has no components of a network."""
    rows = NetworkEquations(system)
    if not rows.parts:
        return None
    return Analysis(system, rows).network()


class Analysis:
    """The analysis of one network; ``network`` runs it."""

    def __init__(self, system: System, rows: NetworkEquations) -> None:
        self.system, self.rows = system, rows
        self.samplers = [SampleValues(system), SampleValues(system, shift=1)]

    def network(self) -> Network:
        """Match equations and variables, replace dependent equations, choose states, and order the equations."""
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
        differentiated = tuple((equation, c[i]) for i, equation in enumerate(self.rows.rows) if c[i])
        return Network(self.system, self.rows, self.structure, states, tuple(stages), differentiated)

    # -- structure ---------------------------------------------------------------------------------
    def _match(self) -> None:
        """Apply the Sigma method to all equations, and match each equation of the network with a variable."""
        rows = self.rows
        self.names = list(rows.variables)
        self.index_of = {name: j for j, name in enumerate(self.names)}
        orders = [equation.orders(rows.variables) for equation in rows.rows]
        orders += [self._motion(name) for name in rows.joint_of]
        problem = [{self.index_of[name]: order for name, order in row.items()} for row in orders]
        try:
            self.structure = find_structure(problem, len(self.names))
        except StructureError as error:
            raise network_errors.explain(self.rows, error.over.rows, self._named(error.over.variables),
                                 self._named(error.under.variables)) from None  # fmt: skip
        self._check_motion()
        free = [[j for j in self.structure.leading(i) if not self._is_joint(j)] for i in range(len(rows.rows))]
        columns = sorted({j for row in free for j in row})
        column_of = {j: k for k, j in enumerate(columns)}
        compact = [dict.fromkeys((column_of[j] for j in row), 0) for row in free]
        wanted = len(self.names) - len(rows.joint_of)
        over, under = find_parts(compact, len(columns))
        if over.rows or under.variables or len(columns) != wanted:
            names = [self.names[columns[k]] for k in over.variables]
            raise network_errors.explain_joint(self.rows, over.rows, names)
        self.free = free
        self.matching = [columns[k] for k in match_largest(compact, len(columns))]
        self.blocks = find_blocks(free, self.matching)

    def _named(self, indices: Sequence[int]) -> list[str]:
        return [self.names[j] for j in indices]

    def _is_joint(self, j: int) -> bool:
        return self.names[j] in self.rows.joint_of

    def _motion(self, name: str) -> dict[str, int]:
        """The equation of motion of one coordinate; a drive balances any flow, so that none occurs in it."""
        joint = self.system.joints[self.rows.joint_of[name][0]]
        flows = () if joint.driven else self.rows.flows_at.get(name, ())
        return {name: self.rows.acceleration_of(name)[1], **dict.fromkeys(flows, 0)}

    def _check_motion(self) -> None:
        """Refuse a network that needs the rate of an acceleration: the mechanism cannot be differentiated."""
        first = len(self.rows.rows)
        for k, name in enumerate(self.rows.joint_of):
            if (
                self.structure.c[first + k]
                or self.structure.d[self.index_of[name]] > self.rows.acceleration_of(name)[1]
            ):
                raise network_errors.explain_jerk(self.rows, name, self._highest(name))

    def _highest(self, name: str) -> list[NetworkEquation]:
        """The equations in which the highest derivative of a variable occurs."""
        j = self.index_of[name]
        return [equation for i, equation in enumerate(self.rows.rows) if j in self.structure.leading(i)]

    # -- sample values -----------------------------------------------------------------------------
    def _coefficient(self, i: int, j: int, sampler: SampleValues) -> float:
        """The coefficient of the highest derivative of variable j in the differentiated equation i, at a sample."""
        order = self.structure.d[j] - self.structure.c[i]
        return sampler.coefficient(self.rows.rows[i], self.names[j], order)

    def _find_singular(self) -> tuple[list[int], list[int], Array] | None:
        """Equations, unknowns and matrix of a block that is singular at a sample; None where there is none."""
        for block in self.blocks:
            column_of = {self.matching[i]: k for k, i in enumerate(block)}
            for sampler in self.samplers:
                entries = [
                    (row, column_of[j], self._coefficient(i, j, sampler))
                    for row, i in enumerate(block)
                    for j in self.free[i]
                    if j in column_of
                ]
                if smallness(entries, len(block)) < SINGULAR:
                    return list(block), [self.matching[i] for i in block], self._matrix(block, sampler)
        return None

    def _combine(self, block: list[int], unknowns: list[int], A: Array) -> None:
        """Replace equations of a singular block by linear combinations in which the unknowns cancel."""
        left, right = null_vectors(A)
        open_names = [self.names[unknowns[k]] for k in np.flatnonzero(np.abs(right).max(axis=1) > 1e-6)]
        replacements: dict[int, NetworkEquation] = {}
        for vector in left:
            members = {block[k]: float(x) for k, x in enumerate(vector) if x}
            least = min(self.structure.c[i] for i in members)
            first = next(iter(members))  # no other combination has it
            replaced = first if self.structure.c[first] == least else min(members, key=lambda i: self.structure.c[i])
            if replaced != first and replacements:
                continue  # the next round does it, with the replacements of this one
            members = self._extended(block, members)
            least = min(self.structure.c[i] for i in members)
            if self.structure.c[replaced] != least:
                replaced = min(members, key=lambda i: self.structure.c[i])
            combined = self._combined(members, least)
            if combined is None or (not combined.terms and not combined.orders(self.rows.variables)):
                raise network_errors.explain(self.rows, tuple(members), self._shared(members), open_names, combined)
            replacements[replaced] = combined
            if replaced != first:
                break
        for i, equation in replacements.items():
            self.rows.rows[i] = equation

    def _extended(self, block: Sequence[int], members: Mapping[int, float]) -> dict[int, float]:
        """The factors of a combination, with equations of earlier blocks added so that their unknowns cancel too."""
        factors = dict(members)
        sampler = self.samplers[0]
        left: dict[int, float] = {}  # coefficient of each variable in the combination
        size: dict[int, float] = {}  # sum of absolute terms of each coefficient, to see what has cancelled

        def add(i: int, factor: float) -> None:
            for j in self.free[i]:
                x = factor * self._coefficient(i, j, sampler)
                left[j], size[j] = left.get(j, 0.0) + x, size.get(j, 0.0) + abs(x)

        for i, factor in members.items():
            add(i, factor)
        number = next(k for k, other in enumerate(self.blocks) if other[0] == block[0])
        for rows in reversed(self.blocks[:number]):
            unknowns = [self.matching[i] for i in rows]
            wanted = np.array(
                [-left[j] if abs(left.get(j, 0.0)) > CANCELLED * size.get(j, 0.0) else 0.0 for j in unknowns]
            )
            if wanted.any():
                A = self._matrix(rows, sampler)
                for i, factor, row in zip(rows, np.linalg.solve(A.T, wanted), A, strict=True):
                    if np.any(np.abs(factor * row) > CANCELLED * np.abs(wanted).max()):
                        factors[i] = float(round(factor)) if abs(factor - round(factor)) < 1e-9 else float(factor)
                        add(i, factors[i])
        return factors

    def _matrix(self, rows: Sequence[int], sampler: SampleValues) -> Array:
        """The dense matrix of a block at a sample."""
        A, column_of = np.zeros((len(rows), len(rows))), {self.matching[i]: k for k, i in enumerate(rows)}
        for row, i in enumerate(rows):
            for j in self.free[i]:
                if j in column_of:
                    A[row, column_of[j]] = self._coefficient(i, j, sampler)
        return A

    def _shared(self, members: Mapping[int, float]) -> list[str]:
        """The unknowns of the equations of a combination."""
        return sorted({self.names[j] for i in members for j in self.free[i]})

    def _combined(self, members: Mapping[int, float], least: int) -> NetworkEquation | None:
        """The sum of differentiated equations times factors; None where their highest derivatives do not cancel."""
        terms: dict[Order, Scalar] = {}
        size: dict[Order, float] = {}
        rest: ExpressionOrNumber = 0.0
        indirect: frozenset[Order] = frozenset()
        for i, factor in members.items():
            equation = self._differentiated(i, self.structure.c[i] - least)
            for order, x in equation.terms.items():
                terms[order] = terms.get(order, 0.0) + factor * x
                size[order] = size.get(order, 0.0) + (abs(factor * x) if is_number(x) else 0.0)
            rest = rest + factor * equation.rest
            indirect |= equation.indirect
        terms = {order: x for order, x in terms.items() if not (is_number(x) and abs(x) <= CANCELLED * size[order])}
        owners = list(dict.fromkeys(self.rows.rows[i].owner for i in members))
        first = next(iter(members))
        if any(
            name not in self.rows.joint_of and times + least >= self.structure.d[self.index_of[name]]
            for name, times in terms
        ):
            return None
        rest = 0.0 if is_zero(rest) else rest
        return NetworkEquation(
            f"what {', '.join(owners)} have in common", self.rows.rows[first].owner, terms, rest, indirect
        )

    # -- states and stages -------------------------------------------------------------------------
    def _choose_states(self) -> tuple[tuple[NetworkState, ...], list[tuple[int, tuple[tuple[int, int], ...]]]]:
        """The states, and for each level, in the order of solving, pairs of equation and variable."""
        structure, count = self.structure, len(self.rows.rows)
        values = {
            (i, j): self._coefficient(i, j, self.samplers[0])
            for i in range(count)
            if structure.c[i]
            for j in structure.leading(i)
        }
        values |= {(count + k, self.index_of[name]): 1.0 for k, name in enumerate(self.rows.joint_of)}
        try:
            selection = choose_states(structure, self._priorities(), values)
        except StructureError as error:
            lost = [i for i in error.over.rows if i < count]
            raise network_errors.explain(self.rows, tuple(lost), self._named(error.over.variables), []) from None
        for pairs in selection.dependent:
            for i, j in pairs:
                if self._is_joint(j):
                    raise network_errors.explain_joint(self.rows, (i,), [self.names[j]])
        own = [(self.names[j], k) for j, k in selection.states if not self._is_joint(j)]
        levels = [(m + 1, pairs) for m, pairs in enumerate(selection.dependent)][::-1]
        everything = tuple((i, self.matching[i]) for i in range(count))
        return self._named_states(own), [*levels, (0, everything)]

    def _priorities(self) -> dict[int, float]:
        """Preference as states: joint coordinates, then variables with an initial value, then components' unknowns.

        Potentials and flows come last.
        """
        priorities = {self.index_of[name]: JOINT_PRIORITY for name in self.rows.joint_of}
        for start in (start for part in self.rows.parts.values() for start in part.initial_values()):
            order = single_order(self.rows.expand(start.quantity))
            if order is not None and order[0] in self.index_of and order[0] not in self.rows.joint_of:
                j = self.index_of[order[0]]
                priorities[j] = max(priorities.get(j, 0.0), INITIAL_VALUE_PRIORITY + start.priority)
        for part in self.rows.parts.values():
            for name, unknown in part.all_unknowns().items():
                priorities.setdefault(self.index_of[f"{part.name}.{name}"], 0.5 + unknown.priority)
        return priorities

    def _named_states(self, orders: Sequence[Order]) -> tuple[NetworkState, ...]:
        owners = {name: k for k, name in enumerate((*self.rows.parts, *self.rows.nodes))}
        states = [self._named_state(name, order) for name, order in orders]
        return tuple(sorted(states, key=lambda s: (owners[s.owner], s.variable, s.order)))

    def _named_state(self, name: str, order: int) -> NetworkState:
        """A derivative of a variable as a state, under the name that its component has for it."""
        variable = self.rows.variables[name]
        quantity = name[len(variable.owner) + 1 :]
        unit = variable.unit
        if variable.owner in self.rows.nodes:
            quantity = self.rows.nodes[variable.owner].domain.potential if order == 1 else quantity
            unit = RATES[unit] if order == 1 else unit
        elif order or variable.sort == "flow":
            part = self.rows.parts[variable.owner]
            named = (n for n in part.formulas() if single_order(self.rows.expand(part.formula(n))) == (name, order))
            quantity = next(named, rate_name(quantity, order))
            unit = part.units().get(quantity, "dimensionless" if order else unit)
        return NetworkState(variable.owner, quantity, unit, name, order)

    def _stage(self, level: int, pairs: tuple[tuple[int, int], ...]) -> tuple[NetworkBlock, ...]:
        """The blocks of one level, in the order of solving: equation i is differentiated c[i] - level times."""
        structure = self.structure
        chosen = {j for _, j in pairs}
        leading = [[j for j in structure.leading(i) if j in chosen] for i, _ in pairs]
        matching = [j for _, j in pairs]
        blocks = []
        for block in find_blocks(leading, matching):
            rows = tuple(self._differentiated(pairs[k][0], structure.c[pairs[k][0]] - level) for k in block)
            unknowns = tuple((self.names[pairs[k][1]], structure.d[pairs[k][1]] - level) for k in block)
            blocks.append(NetworkBlock(rows, unknowns))
        return tuple(blocks)

    def _check_affine(self, stages: Sequence[Sequence[NetworkBlock]]) -> None:
        """Refuse equations that are not affine in their unknowns and in the accelerations of joints."""
        sampler = self.samplers[0]
        open_orders: set[Order] = {self.rows.acceleration_of(name) for name in self.rows.joint_of}
        for stage in stages:
            for block in stage:
                wanted = open_orders | set(block.unknowns)

                def lookup(name: str, wanted: set[Order] = wanted) -> Scalar:
                    order = split_rate(name)
                    return Affine.unknown(order) if order in wanted else sampler.lookup(name)

                for equation in block.rows:
                    try:
                        for x in (equation.rest, *equation.terms.values()):
                            if isinstance(x, Expression):
                                x.evaluate(lookup, sampler.call)
                    except NonlinearError as error:
                        raise network_errors.explain_nonlinear(equation, error.unknowns, error.operation) from None
                if any(open_orders.intersection((*e.terms, *e.rest_orders)) for e in block.rows):
                    open_orders |= set(block.unknowns)

    def _differentiated(self, i: int, times: int) -> NetworkEquation:
        """Equation i, differentiated some times."""
        equation = self.rows.rows[i]
        try:
            for _ in range(times):
                equation = self.rows.differentiate(equation)
        except UnknownRate as error:
            raise network_errors.explain_rate(equation, str(error)) from None
        return equation
