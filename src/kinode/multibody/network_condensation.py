"""A network condensed at one instant (Schur complement): the efforts of its parts on joints, the rates of its states.

Given t, q, u and z the levels of the network (``structure/network_analysis.py``) are solved one after the other:
potentials, flows and speeds that depend on the states, then flows and rates.  Accelerations of joints are not known
yet; all that follows is affine in them,

    effort on a joint = tau_0 - J_a u_dot

so that the mechanism is solved with tau_0 as an effort and J_a as inertia of its own: on the diagonal it joins the
articulated inertia of its joint, else it goes through the mass matrix.  Nothing here depends on accelerations, efforts
or loads, so that instants which differ in these alone share one ``Condensed``.  Elements that the equations use see
a ``SolvingScene`` meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from kinode.algebra.affine import Affine, NonlinearError, constant_and_terms, form
from kinode.algebra.elimination import SingularError, solve
from kinode.algebra.scalars import Array, Scalar, is_number, tidy
from kinode.errors import LawError, ModelError
from kinode.expressions.equation_parser import split_rate
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.fields import Value
from kinode.model.base.scene import Scene
from kinode.model.quantities import find_quantity
from kinode.structure import network_errors
from kinode.structure.network_blocks import Network
from kinode.structure.network_records import ExpressionOrNumber, NetworkEquation, Order

if TYPE_CHECKING:
    from kinode.multibody.kinematics import Kinematics


class SolvingScene:
    """A scene whose laws are affine in the unknowns of the network; everything else is that of the instant."""

    def __init__(self, condensed: Condensed) -> None:
        self.condensed, self.scene, self.system = condensed, condensed.scene, condensed.kinematics.system

    def law(self, value: Value, /) -> Scalar:
        """A law with the network's variables."""
        if not isinstance(value, Expression):
            return value
        return self.condensed.form_of(self.condensed.network.rows.expand(value))

    def resolve(self, value: Value, /) -> Scalar:
        """The same."""
        return self.law(value)

    def lookup(self, name: str, /) -> Scalar:
        """The number or form behind a name."""
        return self.condensed.lookup(name)

    def quantity(self, name: str) -> Scalar:
        """A quantity of an element by its laws; others are those of the instant."""
        quantity = find_quantity(self.system, name)
        if quantity.sort != "element":
            return self.scene.lookup(quantity.text)
        value = self.system.elements[quantity.owner].quantity(quantity.quantity, cast("Scene", self))
        return value if quantity.part is None else value[quantity.part]

    def __getattr__(self, name: str) -> Any:
        """All others are those of the instant."""
        return getattr(self.scene, name)


class StateAcceleration(NamedTuple):
    """The unknown acceleration of a speed of the state, by its index in u; messages quote ``label``."""

    label: str
    speed: int


class CutJointAcceleration(NamedTuple):
    """The unknown acceleration of a coordinate of a cut joint; messages quote ``label``."""

    label: str
    coordinate: int
    joint: str


class Condensed:
    """The network of one instant, before accelerations are known; its laws and elements are evaluated in ``scene``."""

    def __init__(self, kinematics: Kinematics, scene: Scene, network: Network) -> None:
        self.kinematics, self.scene, self.network = kinematics, scene, network
        self.values: dict[Order, Scalar] = {}
        self.solving: frozenset[Order] = frozenset()
        self._done = False
        for name, (joint, coordinate) in network.joint_of.items():
            q, u, _ = kinematics.joint_state(joint)
            order = network.rows.speed_order(name)
            if order:
                self.values[name, 0] = q[coordinate]
            self.values[name, order] = u[coordinate]
            self.values[name, order + 1] = self.acceleration(joint, coordinate)
        for owner in network.states_of:
            own = [state for state in network.states if state.owner == owner]
            for state, z in zip(own, kinematics.other_states(owner), strict=True):
                self.values[state.variable, state.order] = z

    def acceleration(self, joint: str, coordinate: int) -> Scalar:
        """The acceleration of a joint: known, or affine in those of the state."""
        known = self.kinematics.joint_state(joint)[2]
        if known is not None:
            return known[coordinate]
        state = self.kinematics.state_of(joint)
        if state is None:
            return Affine.unknown(CutJointAcceleration(f"acceleration of {joint}", coordinate, joint))
        start, ratio = state
        return Affine(0.0, {StateAcceleration("acceleration", start + coordinate): ratio})

    # -- solving -----------------------------------------------------------------------------------
    def solve(self) -> None:
        """Solve all levels, once."""
        if not self._done:
            self._done = True
            self.solve_stages(range(len(self.network.stages)))

    def solve_stages(self, stages: Iterable[int]) -> None:
        """Solve some levels, in their order."""
        for stage in stages:
            for number in range(len(self.network.stages[stage])):
                self.solve_block(stage, number)

    def solve_block(self, stage: int, number: int) -> None:
        """Solve one block of a level for its unknowns."""
        block = self.network.stages[stage][number]
        self.solving = frozenset(block.unknowns)
        rows = [self._form(row) for row in block.rows]
        try:
            solution = solve(rows, self.network.pivots(stage, number))
        except SingularError as error:
            wrong = [block.rows[i] for i in error.rows]
            raise network_errors.explain_singular(self.network.rows, wrong, error.unknowns) from None
        self.values.update((order, solution[order]) for order in block.unknowns)
        self.solving = frozenset()

    def _form(self, row: NetworkEquation) -> Scalar:
        """An equation as an affine form in the unknowns of its block."""
        try:
            return self.sum(row)
        except NonlinearError as error:
            raise network_errors.explain_nonlinear(row, error.unknowns, error.operation) from None

    def sum(self, row: NetworkEquation) -> Scalar:
        """The sum of an equation's terms, affine in the unknowns of the block."""
        total = self.form_of(row.rest)
        for order, x in row.terms.items():
            total = total + self.form_of(x) * self.value(order)
        return total

    def value(self, order: Order) -> Scalar:
        """A variable or its derivative: a number, or affine in accelerations and in the unknowns of the block."""
        if order in self.solving:
            return Affine.unknown(order)
        if order not in self.values:
            self.solve()
        if order not in self.values:
            raise LawError(f"{'rate of ' * order[1]}{order[0]} is needed and does not follow from the network")
        return self.values[order]

    def form_of(self, formula: ExpressionOrNumber) -> Scalar:
        """A formula in variables, affine in the unknowns of the block."""
        return formula.evaluate(self.lookup, self.kinematics.laws.call) if isinstance(formula, Expression) else formula

    def lookup(self, name: str) -> Scalar:
        """The value of a name in an equation."""
        order = split_rate(name)
        if order[0] in self.network.variables:
            return self.value(order)
        if self.network.rows.indirect_variables(name):
            return SolvingScene(self).quantity(name)
        return self.scene.lookup(name)

    def evaluate(self, formula: ExpressionOrNumber) -> Scalar:
        """A formula in variables: a number, or affine in accelerations."""
        try:
            return self.form_of(formula)
        except NonlinearError as error:
            message = f"is not linear in accelerations: {error.operation}"
            raise LawError(message) from None

    # -- joints ------------------------------------------------------------------------------------
    @cached_property
    def _efforts(self) -> dict[str, tuple[Array, list[dict[Any, Scalar]]]]:
        """For each joint that parts act on: tau_0, and the coefficients of accelerations, by freedom."""
        efforts: dict[str, tuple[Array, list[dict[Any, Scalar]]]] = {}
        for name, flows in self.network.flows_at.items():
            joint, coordinate = self.network.joint_of[name]
            count = self.kinematics.system.joints[joint].n_u
            tau, slopes = efforts.setdefault(joint, (np.zeros(count, dtype=object), [{} for _ in range(count)]))
            total: Scalar = 0.0
            for flow in flows:
                total = total - self.value((flow, 0))
            tau[coordinate], slopes[coordinate] = constant_and_terms(total)
            self._check_slopes(name, slopes[coordinate])
        return efforts

    def _check_slopes(self, name: str, slopes: Mapping[Any, Scalar]) -> None:
        for key in slopes:
            if isinstance(key, CutJointAcceleration):
                message = (
                    f"closes a loop, and parts add inertia to it at {name}; let them act on another joint of the loop"
                )
                raise ModelError(message, component=key.joint)

    def effort_forms(self, joint: str) -> list[Scalar]:
        """Efforts on a joint, one for each freedom, affine in accelerations: tau_0 - J_a u_dot."""
        tau, slopes = self._efforts[joint]
        return [form(x, dict(terms)) for x, terms in zip(tau, slopes, strict=True)]

    def effort(self, joint: str) -> Array | None:
        """tau_0 of a joint; None if no network acts on it."""
        return tidy(self._efforts[joint][0]) if joint in self.network.touched else None

    @cached_property
    def inertia(self) -> list[tuple[int, int, Scalar]]:
        """J_a by speeds of the state: row, column, value."""
        entries: dict[tuple[int, int], Scalar] = {}
        for joint, (_, slopes) in self._efforts.items():
            state = self.kinematics.state_of(joint)
            if state is None:
                continue
            start, ratio = state
            for coordinate, terms in enumerate(slopes):
                for (_, column), x in terms.items():
                    key = (start + coordinate, column)
                    entries[key] = entries.get(key, 0.0) - ratio * x
        self._check_symmetric(entries)
        return [(i, j, x) for (i, j), x in entries.items()]

    def check_inertia(self) -> None:
        """Refuse networks whose J_a is not symmetric."""
        self._check_symmetric({(i, j): x for i, j, x in self.inertia})

    def _check_symmetric(self, entries: Mapping[tuple[int, int], Scalar]) -> None:
        """Refuse a matrix that is not symmetric: it would be no inertia, and would create or lose energy."""
        size = max((abs(x) for x in entries.values() if is_number(x)), default=0.0)
        for (i, j), x in entries.items():
            other = entries.get((j, i), 0.0)
            if is_number(x) and is_number(other) and abs(x - other) > 1e-9 * size:
                first = next(iter(self.network.parts))
                message = "by laws of parts the acceleration of one joint moves another, which is no inertia"
                raise ModelError(f"{message}; put a resistance, a spring or a damper in between", component=first)

    @cached_property
    def diagonal(self) -> dict[int, Scalar] | None:
        """J_a of each speed if J_a is diagonal, else None."""
        if any(i != j for i, j, _ in self.inertia) or self.kinematics.topology.couplings:
            return None if self.inertia else {}
        return {i: x for i, _, x in self.inertia}

    @property
    def couples(self) -> bool:
        """Whether the network couples the accelerations of joints."""
        return self.diagonal is None

    @cached_property
    def armature(self) -> dict[int, Array]:
        """The inertia that the network adds to the freedoms of nodes, where it does not couple them."""
        armature: dict[int, Array] = {}
        own, u_of = self.diagonal or {}, self.kinematics.topology.u_of
        for node in self.kinematics.tree.nodes if own else ():
            speeds = u_of.get(node.joint.name, slice(0, 0))
            if any(k in own for k in range(speeds.start, speeds.stop)):
                armature[node.index] = tidy([own.get(k, 0.0) for k in range(speeds.start, speeds.stop)])
        return armature

    def armature_effort(self, u_dot: Array) -> Array:
        """The effort that accelerates the inertia of the network: J_a u_dot."""
        total: list[Any] = [0.0] * self.kinematics.topology.n_u
        for i, j, x in self.inertia:
            total[i] = total[i] + x * u_dot[j]
        return tidy(total)

    # -- energy ------------------------------------------------------------------------------------
    def energy(self, kind: str) -> Scalar:
        """The energy of one kind that all parts store [J]."""
        total: Scalar = 0.0
        for part in self.network.parts.values():
            total = total + self.evaluate(self.network.energies(part).get(kind, 0.0))
        return total

    def stored_rate(self, part: str) -> Scalar | None:
        """The rate of a part's stored energy, affine in accelerations; None if it needs rates that no equation has."""
        rate = self.network.stored_rate(part)
        self.solve()
        orders = (split_rate(name) for name in rate.names()) if isinstance(rate, Expression) else ()
        known = (x in self.values or x in self.solving for x in orders if x[0] in self.network.variables)
        return self.evaluate(rate) if all(known) else None
