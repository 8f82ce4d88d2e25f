"""A network condensed at one instant: what its parts do to joints, and the rates of its states.

Given t, q, u and z the levels of the network (``structure/network_analysis.py``) are solved one after the other:
potentials, flows and speeds that depend on the states, then flows and rates.  Accelerations of joints are not known
yet; all that follows is affine in them,

    effort on a joint = tau_0 - J_a u_dot

so that the mechanism is solved with tau_0 as an effort and J_a as inertia of its own: on the diagonal it joins the
articulated inertia of its joint, else it goes through the mass matrix.  Nothing here depends on accelerations, efforts
or loads, so that instants which differ in these alone share one ``Condensed``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.affine import Affine, NonlinearError, constant_and_terms, form
from kinode.algebra.elimination import SingularError, solve
from kinode.algebra.scalars import Array, Scalar, is_number, tidy
from kinode.errors import LawError, ModelError
from kinode.expressions.equation_parser import split_rate
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.scene import Scene
from kinode.multibody.networks.solving_scene import SolvingScene
from kinode.structure import network_errors
from kinode.structure.network_blocks import Network
from kinode.structure.network_equations import ExpressionOrNumber, NetworkEquation, Order

if TYPE_CHECKING:
    from kinode.multibody.kinematics import Kinematics

ACCELERATION = "acceleration"  # with the index of a speed of the state: what stays open


class Condensed:
    """The network of one instant, whatever its accelerations are; ``scene`` is what its laws and elements ask."""

    def __init__(self, kinematics: Kinematics, scene: Scene, network: Network) -> None:
        self.kinematics, self.scene, self.network = kinematics, scene, network
        self.values: dict[Order, Scalar] = {}
        self.solving: frozenset[Order] = frozenset()
        self._done = False
        for name, (joint, coordinate) in network.joint_of.items():
            q, u, _ = kinematics.joint_state(joint)
            self.values[name, 0], self.values[name, 1] = q[coordinate], u[coordinate]
            self.values[name, 2] = self.acceleration(joint, coordinate)
        for owner in network.states_of:
            own = [state for state in network.states if state.owner == owner]
            for state, z in zip(own, kinematics.other_states(owner), strict=True):
                self.values[state.variable, state.order] = z

    def acceleration(self, joint: str, coordinate: int) -> Scalar:
        """The acceleration of a joint: known, or a form in those of the state."""
        known = self.kinematics.joint_state(joint)[2]
        if known is not None:
            return known[coordinate]
        way = self.kinematics.state_of(joint)
        if way is None:
            return Affine.unknown((f"{ACCELERATION} of {joint}", coordinate))
        return Affine(0.0, {(ACCELERATION, way[0] + coordinate): way[1]})

    # -- solving -----------------------------------------------------------------------------------
    def solve(self) -> None:
        """All levels, once."""
        if not self._done:
            self._done = True
            self.solve_stages(range(len(self.network.stages)))

    def solve_stages(self, stages: Iterable[int]) -> None:
        """Some levels, in their order."""
        for s in stages:
            for b in range(len(self.network.stages[s])):
                self.solve_block(s, b)

    def solve_block(self, stage: int, number: int) -> None:
        """What one block of a level is solved for."""
        block = self.network.stages[stage][number]
        self.solving = frozenset(block.unknowns)
        rows = [self._form(row) for row in block.rows]
        try:
            found = solve(rows, self.network.pivots(stage, number))
        except SingularError as error:
            wrong = [block.rows[i] for i in error.rows]
            raise network_errors.explain_singular(self.network.rows, wrong, error.unknowns) from None
        self.values.update((order, found[order]) for order in block.unknowns)
        self.solving = frozenset()

    def _form(self, row: NetworkEquation) -> Scalar:
        """A row as a form in the unknowns of its block."""
        try:
            return self.sum(row)
        except NonlinearError as error:
            raise network_errors.explain_nonlinear(row, error.unknowns, error.operation) from None

    def sum(self, row: NetworkEquation) -> Scalar:
        """What a row adds up to, with forms for what is being solved for."""
        total = self.form_of(row.rest)
        for order, x in row.terms.items():
            total = total + self.form_of(x) * self.value(order)
        return total

    def value(self, order: Order) -> Scalar:
        """A variable or its derivative: a number, or a form in accelerations and in what is being solved for."""
        if order in self.solving:
            return Affine.unknown(order)
        if order not in self.values:
            self.solve()
        if order not in self.values:
            raise LawError(f"{'rate of ' * order[1]}{order[0]} is needed and does not follow from the network")
        return self.values[order]

    def form_of(self, formula: ExpressionOrNumber) -> Scalar:
        """A formula in variables, with forms for what is being solved for."""
        return formula.evaluate(self.lookup, self.kinematics.laws.call) if isinstance(formula, Expression) else formula

    def lookup(self, name: str) -> Scalar:
        """The number behind a name in a row."""
        order = split_rate(name)
        if order[0] in self.network.variables:
            return self.value(order)
        if self.network.rows.indirect_variables(name):
            return SolvingScene(self).quantity(name)
        return self.scene.lookup(name)

    def evaluate(self, formula: ExpressionOrNumber) -> Scalar:
        """A formula in variables: a number, or a form in accelerations."""
        try:
            return self.form_of(formula)
        except NonlinearError as error:
            message = f"is not linear in accelerations: {error.operation}"
            raise LawError(message) from None

    # -- joints ------------------------------------------------------------------------------------
    @cached_property
    def _efforts(self) -> dict[str, tuple[Array, list[dict[Any, Scalar]]]]:
        """For each joint that parts act on: tau_0, and the coefficients of accelerations, by freedom."""
        found: dict[str, tuple[Array, list[dict[Any, Scalar]]]] = {}
        for name, flows in self.network.flows_at.items():
            joint, coordinate = self.network.joint_of[name]
            count = self.kinematics.system.joints[joint].n_u
            tau, slopes = found.setdefault(joint, (np.zeros(count, dtype=object), [{} for _ in range(count)]))
            total: Scalar = 0.0
            for flow in flows:
                total = total - self.value((flow, 0))
            tau[coordinate], slopes[coordinate] = constant_and_terms(total)
            self._check_slopes(name, slopes[coordinate])
        return found

    def _check_slopes(self, name: str, slopes: Mapping[Any, Scalar]) -> None:
        for key in slopes:
            if key[0] != ACCELERATION:
                joint = str(key[0]).removeprefix(f"{ACCELERATION} of ")
                message = (
                    f"closes a loop, and parts add inertia to it at {name}; let them act on another joint of the loop"
                )
                raise ModelError(message, component=joint)

    def effort_forms(self, joint: str) -> list[Scalar]:
        """The same with the inertia that parts add, as forms in accelerations."""
        tau, slopes = self._efforts[joint]
        return [form(x, dict(terms)) for x, terms in zip(tau, slopes, strict=True)]

    def effort(self, joint: str) -> Array | None:
        """tau_0 of a joint; None where parts leave it alone."""
        return tidy(self._efforts[joint][0]) if joint in self.network.touched else None

    @cached_property
    def inertia(self) -> list[tuple[int, int, Scalar]]:
        """J_a by speeds of the state: row, column, value."""
        found: dict[tuple[int, int], Scalar] = {}
        for joint, (_, slopes) in self._efforts.items():
            way = self.kinematics.state_of(joint)
            for coordinate, terms in enumerate(slopes):
                for (_, column), x in terms.items() if way is not None else ():
                    key = (way[0] + coordinate, column)  # type: ignore[index]
                    found[key] = found.get(key, 0.0) - way[1] * x  # type: ignore[index]
        self._check_symmetric(found)
        return [(i, j, x) for (i, j), x in found.items()]

    def check_inertia(self) -> None:
        """Refuse accelerations that act on others as no inertia does."""
        self._check_symmetric({(i, j): x for i, j, x in self.inertia})

    def _check_symmetric(self, found: Mapping[tuple[int, int], Scalar]) -> None:
        """An effort by accelerations that is no inertia would make or lose energy: it is refused where it shows."""
        size = max((abs(x) for x in found.values() if is_number(x)), default=0.0)
        for (i, j), x in found.items():
            other = found.get((j, i), 0.0)
            if is_number(x) and is_number(other) and abs(x - other) > 1e-9 * size:
                first = next(iter(self.network.parts))
                message = "by laws of parts the acceleration of one joint moves another, which is no inertia"
                raise ModelError(f"{message}; put a resistance, a spring or a damper in between", component=first)

    @cached_property
    def diagonal(self) -> dict[int, Scalar] | None:
        """J_a of each speed, where no acceleration acts on another joint; None where one does."""
        if any(i != j for i, j, _ in self.inertia) or self.kinematics.topology.couplings:
            return None if self.inertia else {}
        return {i: x for i, _, x in self.inertia}

    @property
    def couples(self) -> bool:
        """Whether the network makes the acceleration of a joint act on another."""
        return self.diagonal is None

    @cached_property
    def armature(self) -> dict[int, Array]:
        """The inertia that the network adds to the freedoms of nodes, where it does not couple them."""
        armature: dict[int, Array] = {}
        own, u_of = self.diagonal or {}, self.kinematics.topology.u_of
        for node in self.kinematics.tree.nodes if own else ():
            place = u_of.get(node.joint.name, slice(0, 0))
            if any(k in own for k in range(place.start, place.stop)):
                armature[node.index] = tidy([own.get(k, 0.0) for k in range(place.start, place.stop)])
        return armature

    def armature_effort(self, u_dot: Array) -> Array:
        """What accelerations of the state take for the inertia of the network: J_a u_dot."""
        total: list[Any] = [0.0] * self.kinematics.topology.n_u
        for i, j, x in self.inertia:
            total[i] = total[i] + x * u_dot[j]
        return tidy(total)

    # -- energy ------------------------------------------------------------------------------------
    def energy(self, kind: str) -> Scalar:
        """What all parts store of one kind of energy."""
        total: Scalar = 0.0
        for part in self.network.parts.values():
            total = total + self.evaluate(self.network.energies(part).get(kind, 0.0))
        return total

    def stored_rate(self, part: str) -> Scalar | None:
        """The rate of what a part stores, a form in accelerations; None where it takes rates that no row has."""
        rate = self.network.stored_rate(part)
        self.solve()
        orders = (split_rate(name) for name in rate.names()) if isinstance(rate, Expression) else ()
        known = (x in self.values or x in self.solving for x in orders if x[0] in self.network.variables)
        return self.evaluate(rate) if all(known) else None
