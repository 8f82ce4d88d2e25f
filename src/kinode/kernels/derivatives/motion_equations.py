"""The equations of motion as equations for unknown accelerations: what follows from them is differentiated implicitly.

Accelerations x and multipliers lam = -nu of an instant are the solution of

    inverse dynamics(q, u, x, -nu) - effort = 0,    G x + bias = 0

with the symmetric matrix K = [M G'; G 0].  Changes of anything else change the left sides by r, and the solution by
-K^-1 r.  Inverse dynamics has a third of the operations of forward dynamics, and K is factorized once; without
constraints this is d(u_dot) = -M^-1 d(inverse dynamics) (G. Garofalo, C. Ott, A. Albu-Schaeffer, IROS 2013).  Networks
are condensed: their inertia is in M, their efforts in inverse dynamics.

Where accelerations do not follow from these equations alone (friction that depends on reactions, joints that may be
locked, other formulations than the recursive one), and in large trees with gears, whose M has too many entries,
``find_equations`` returns None, and forward dynamics itself is differentiated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array, Scalar, is_zero
from kinode.algebra.sparse_ldl import Factor
from kinode.algebra.trace import Tape, Traced, needed, replay
from kinode.kernels.derivatives.tape_sweeps import sweep_backward, sweep_forward
from kinode.multibody import loop_constraints
from kinode.multibody.given import Given
from kinode.multibody.snapshot import RECURSIVE, Snapshot
from kinode.structure.massless_freedoms import MOST_ENTRIES, count_entries
from kinode.structure.topology import has_friction

UNKNOWNS = "unknowns"  # array of a tape: x and nu while they are free variables


def find_equations(snapshot: Snapshot, tape: Tape) -> MotionEquations | None:
    """The equations of an instant whose accelerations are not given; None if forward dynamics is differentiated."""
    if snapshot.given.u_dot is not None or snapshot.formulation is not RECURSIVE or snapshot.topology.n_u == 0:
        return None
    if has_friction(snapshot.system) or snapshot.lock_rows.locks or snapshot.topology.unmoved is not None:
        return None
    if snapshot.topology.has_articulated_gears and count_entries(snapshot.topology) > MOST_ENTRIES:
        return None
    return MotionEquations(snapshot, tape)


class MotionEquations:
    """The equations of motion of one instant on a tape.

    ``instant`` is the same instant with the unknowns as given accelerations and multipliers.
    """

    def __init__(self, snapshot: Snapshot, tape: Tape) -> None:
        self.snapshot = snapshot
        self.n, constrained = snapshot.topology.n_u, snapshot.topology.constrained
        self.rows = snapshot.constraints.rows if constrained else []
        self.unknowns = tape.inputs(UNKNOWNS, self.n + len(self.rows))
        self.instant = self._moving(-self.unknowns[self.n :] if constrained else None)

    def _moving(self, multipliers: Array | None) -> Snapshot:
        """The same instant with the unknowns as given accelerations."""
        given = self.snapshot.given
        return self.snapshot.again(
            Given(
                effort=given.effort, wrenches=given.wrenches, u_dot=self.unknowns[: self.n], friction={},
                multipliers=multipliers, joint_states=given.joint_states,
            )
        )  # fmt: skip

    @cached_property
    def residuals(self) -> list[Scalar]:
        """The left sides: inverse dynamics, then the accelerations of the constraint rows."""
        if not self.rows:
            return list(self.instant.inverse_effort)
        x, left = self.unknowns, list(self._moving(None).inverse_effort)
        for row, nu in zip(self.rows, x[self.n :], strict=True):
            for j, a in row.items():
                left[j] = left[j] + a * nu
        bias = self.snapshot.constraints.chosen(loop_constraints.bias)
        rates = (sum((a * x[j] for j, a in row.items()), 0.0) for row in self.rows)
        return [*left, *(rate + c for rate, c in zip(rates, bias, strict=True))]

    @cached_property
    def _nodes(self) -> list[Traced]:
        return needed(self.residuals)

    @property
    def _factor(self) -> Factor:
        return self.snapshot.motion.find_solver().factor

    @cached_property
    def solution(self) -> Array:
        """x and nu as the equations give them."""
        motion = self.snapshot.motion
        gamma = -self.snapshot.constraints.chosen(loop_constraints.bias) if self.rows else ()
        return self._factor.solve([*motion.bias_effort, *gamma])

    @cached_property
    def values(self) -> dict[int, Scalar]:
        """The values of all nodes of the left sides, with the solution in place of the unknowns."""
        values: dict[int, Scalar] = {}
        self.evaluate(self.residuals, values)
        return values

    def evaluate(self, outputs: Sequence[Scalar], values: dict[int, Scalar]) -> list[Scalar]:
        """Results of ``instant`` with the solution in place of the unknowns; ``values`` keeps those of the nodes."""
        return replay(outputs, {(UNKNOWNS, i): x for i, x in enumerate(self.solution)}, values)

    def changes(self, seeds: Mapping[int, Scalar]) -> dict[int, Scalar]:
        """The rates of the unknowns, by index of their nodes, for rates of the inputs."""
        opposite = {index: -rate for index, rate in seeds.items()}
        rates = sweep_forward(self._nodes, opposite, self.values)
        right = [rates.get(r.index, 0.0) if type(r) is Traced else 0.0 for r in self.residuals]
        solution = self._solve(right)
        return {node.index: x for node, x in zip(self.unknowns, solution, strict=True)}

    def sensitivities(self, of_unknowns: Sequence[Scalar]) -> dict[int, Scalar]:
        """The sensitivities of the inputs by index, for those of the unknowns: one solution and one sweep."""
        multipliers = self._solve(of_unknowns)
        seeds: dict[int, Scalar] = {}
        for residual, x in zip(self.residuals, multipliers, strict=True):
            if type(residual) is Traced:
                seeds[residual.index] = seeds.get(residual.index, 0.0) - x
        return sweep_backward(self._nodes, seeds, self.values)

    # -- the symmetric matrix ----------------------------------------------------------------------
    def _solve(self, right: Sequence[Scalar]) -> Array:
        """K^-1 right; where ``right`` is a unit vector, from half of the symmetric inverse."""
        entries = [k for k, x in enumerate(right) if not is_zero(x)]
        if len(entries) == 1 and right[entries[0]] == 1.0:
            return self._unit_solution(entries[0])
        return self._factor.solve(right)

    def _unit_solution(self, k: int) -> Array:
        """Column k of K^-1."""
        place, half = self._places, self._half_inverse
        entries = [half[k][i] if place[i] >= place[k] else half[i][k] for i in range(len(place))]
        column = np.empty(len(entries), dtype=object)
        column[:] = entries
        return column

    @cached_property
    def _places(self) -> list[int]:
        """Where each index stands in the order of elimination."""
        places = [0] * len(self._factor.order)
        for place, i in enumerate(self._factor.order):
            places[i] = place
        return places

    @cached_property
    def _half_inverse(self) -> list[dict[int, Scalar]]:
        """For each column of K^-1 its entries from the diagonal on, in the order of elimination."""
        return [self._factor.unit_solution(k) for k in range(len(self._factor.order))]
