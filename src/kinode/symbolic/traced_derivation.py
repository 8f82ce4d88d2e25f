"""A formulation traced once: mass matrix, bias, constraints and reactions as nodes of a tape.

    M u_dot + h = G' lam,    G u_dot = gamma

M is the mass matrix.  h are all other terms on the left side, those of the model's efforts and loads included.  G and
gamma are the independent constraint rows of the loops.  Efforts of friction are inputs of the tape, because they depend
on the reactions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Dual, Scalar, rate, tidy
from kinode.algebra.trace import Tape, count_operations, replay
from kinode.errors import ArgumentError
from kinode.formulations.lagrange import LAGRANGE, LagrangeMotion
from kinode.formulations.vector_methods import QUASI_BASE, ROTATORS, RotatorMotion, Term
from kinode.model.joints.joint import Joint
from kinode.multibody import loop_constraints
from kinode.multibody.given import Given
from kinode.multibody.snapshot import RECURSIVE, Composition, Snapshot
from kinode.structure.topology import Topology
from kinode.symbolic.notation import Notation, independent_rows, other_states

LARGEST_DEVIATION = 1e-9  # of a bracket from the sum of directions, and of a constant from one place to another


def structure_constants(joint: Joint) -> Array:
    """c[j, i, k] of a joint, with [n_j, n_i] = sum over k of c[j, i, k] n_k; an error if they are not constant.

    n_i are the rates of a joint's coordinates for a unit of each speed.  They commute for angles and lengths.  For
    angular velocities in child axes the constants are those of the cross product.
    """
    first, second = (_at(joint, _generic(joint, size)) for size in (0.3, 0.7))
    if np.abs(first - second).max(initial=0.0) > LARGEST_DEVIATION:
        raise ArgumentError(
            f"the speeds of {joint.name} have no constant structure: their brackets change with the position"
        )
    constants: Array = np.round(first, 9) + 0.0
    return constants


def _generic(joint: Joint, size: float) -> Array:
    return joint.advance(joint.neutral_q(), size + 0.17 * np.arange(joint.n_u))


def _direction(joint: Joint, unit: Array, q: Array) -> Array:
    return joint.rate_map(q, unit)


def _at(joint: Joint, q: Array) -> Array:
    units = np.eye(joint.n_u)
    N = np.array([np.asarray(joint.rate_map(q, unit), dtype=float) for unit in units]).T
    c = np.zeros((joint.n_u,) * 3)
    for j in range(joint.n_u):
        for i in range(joint.n_u):
            along = (rate(partial(_direction, joint, units[k]), q, N[:, m]) for k, m in ((i, j), (j, i)))
            bracket = np.asarray(np.subtract(*along), dtype=float)
            c[j, i], *_ = np.linalg.lstsq(N, bracket, rcond=None)
            if np.abs(N @ c[j, i] - bracket).max(initial=0.0) > LARGEST_DEVIATION:
                raise ArgumentError(
                    f"the speeds of {joint.name} have no constant structure: their brackets change with the position"
                )
    return c


TRACED_FORMULATIONS: dict[str, Composition] = {
    "recursive": RECURSIVE, "lagrange": LAGRANGE, "quasi_base": QUASI_BASE, "rotators": ROTATORS,
}  # fmt: skip


def friction_of(topology: Topology, tape: Tape) -> dict[str, Array] | None:
    """Efforts of friction by joint, as inputs of the tape; None if there are none."""
    efforts: dict[str, Array] = {}
    start = 0
    for joint in topology.system.joints.values():
        if joint.friction is not None:
            efforts[joint.name] = np.array([tape.input("friction", start + k) for k in range(joint.n_u)], dtype=object)
            start += joint.n_u
    return efforts or None


class Derivation:
    """The outputs of one formulation as nodes of a tape."""

    def __init__(self, topology: Topology, method: str, reactions: Sequence[str] = ()) -> None:
        self.topology, self.method, self.joints = topology, method, list(reactions)
        self.tape = Tape()
        point = topology.layout.traced_point(self.tape)
        friction = friction_of(topology, self.tape)
        self.snapshot = Snapshot(topology, point, friction=friction, formulation=TRACED_FORMULATIONS[method])
        self.u_dot = self.tape.inputs("u_dot", topology.n_u)
        reaction_formulation = TRACED_FORMULATIONS[method] if method in ("rotators", "quasi_base") else RECURSIVE
        lam = self.tape.inputs("lam", len(independent_rows(topology))) if topology.constrained else None
        given = Given(u_dot=self.u_dot, friction=friction, multipliers=lam)
        self.given = Snapshot(topology, point, given=given, formulation=reaction_formulation)
        self.notation = Notation(topology)

    @cached_property
    def M(self) -> Array:
        return np.asarray(self.snapshot.mass_matrix, dtype=object)

    @cached_property
    def h(self) -> Array:
        """M u_dot + h = G' lam."""
        return tidy(-self.snapshot.bias_effort) if self.topology.n_u else np.empty(0)

    @cached_property
    def jacobian(self) -> Array:
        """G."""
        n = self.topology.n_u
        return self.snapshot.constraints.jacobian if self.topology.constrained else np.empty((0, n), dtype=object)

    @cached_property
    def gamma(self) -> Array:
        """The right side of G u_dot = gamma."""
        return -self._rows(loop_constraints.bias)

    @cached_property
    def residuals(self) -> Array:
        """Residuals of the constraint rows; zero for constraints on velocities."""
        return self._rows(loop_constraints.residual)

    def _rows(self, function: Any) -> Array:
        return self.snapshot.constraints.chosen(function) if self.topology.constrained else np.empty(0, dtype=object)

    @cached_property
    def z_dot(self) -> Array:
        """Time derivatives of the states of networks and controllers, for the accelerations ``u_dot``."""
        indices = [c.index for c in other_states(self.topology)]
        return tidy([self.given.z_dot[i] for i in indices]) if indices else np.empty(0, dtype=object)

    @cached_property
    def reactions(self) -> dict[str, tuple[Array, Array]]:
        """Moment and force of each requested joint."""
        return {name: self.given.reaction(name) for name in self.joints}

    @cached_property
    def D(self) -> Array:
        """All terms of inertia without u_dot: d/dt dT/du - dT/dq, with those of prescribed motions."""
        if isinstance(self.snapshot.motion, LagrangeMotion):
            return np.asarray(self.snapshot.motion.inertial_bias, dtype=object)
        n, T = self.topology.n_u, [self.snapshot.energies["kinetic"]]
        momenta = [self.slopes(T, {("u", i): 1.0})[0] for i in range(n)]
        drifting = {("t", 0): 1.0, **{("q", i): x for i, x in enumerate(self.snapshot.q_dot)}}
        driven = [where for name, where in self.topology.z_of.items() if name in self.topology.system.joints]
        for where in driven:
            drifting |= {("z", i): self.snapshot.z_dot[i] for i in range(where.start, where.stop)}
        rates = self.slopes(momenta, drifting)
        slopes = [self.along(T, d)[0] for d in self.directions]
        turning = self.turning(tidy(momenta))
        return tidy([rate - slope - turn for rate, slope, turn in zip(rates, slopes, turning, strict=True)])

    def turning(self, momenta: Array) -> list[Scalar]:
        """The rates of quasi-momenta by the turning of their axes: sum of u_j c[j, i, k] p_k; zero without any."""
        total: list[Scalar] = [0.0] * self.topology.n_u
        u = self.snapshot.u
        for name, where in self.topology.u_of.items():
            c = structure_constants(self.topology.system.joints[name])
            for j, i, k in np.argwhere(c != 0.0):
                term = float(c[j, i, k]) * u[where.start + j] * momenta[where.start + k]
                total[where.start + i] = total[where.start + i] + term
        return total

    @cached_property
    def Q(self) -> Array:
        """Generalized forces alone: efforts, damping, loads; A u_dot + D + G = Q."""
        if isinstance(self.snapshot.motion, LagrangeMotion):
            return tidy(np.asarray(self.snapshot.motion.generalized_force, dtype=object) + self.G)
        return tidy(self.D + self.G - self.h)

    @cached_property
    def terms(self) -> dict[str, list[tuple[Term, tuple[Array, Array]]]]:
        """The kinetic shares of the reactions, term by term, of the formulation ``rotators``."""
        motion = self.given.motion
        assert isinstance(motion, RotatorMotion)
        return {name: motion.joint_terms(name) for name in self.joints}

    @property
    def operations(self) -> int:
        """Number of operations on the tape for M, h, constraints, z_dot and reactions."""
        flat = [*self.M.ravel(), *self.h, *self.jacobian.ravel(), *self.gamma, *self.z_dot]
        flat += [x for pair in self.reactions.values() for part in pair for x in part]
        return sum(count_operations(flat).values())

    def along(self, outputs: Sequence[Scalar], direction: Array) -> list[Scalar]:
        """Directional derivatives of outputs along a direction of q."""
        return self.slopes(outputs, {("q", i): direction[i] for i in range(self.topology.n_q)})

    def slopes(self, outputs: Sequence[Scalar], rates: Mapping[tuple[str, int], Scalar]) -> list[Scalar]:
        """Rates of outputs while inputs of the tape change at given rates."""
        seeds = {entry: Dual(self.tape.input(*entry), rate) for entry, rate in rates.items()}
        return [x.rate if isinstance(x, Dual) else 0.0 for x in replay(outputs, seeds)]

    @cached_property
    def directions(self) -> list[Array]:
        """q_dot for a unit of each speed."""
        units = np.eye(self.topology.n_u)
        return [
            np.asarray(self.snapshot.at(self.snapshot.point.replaced(u=unit)).q_dot, dtype=object) for unit in units
        ]

    @cached_property
    def G(self) -> Array:
        """Derivative of the potential energy along each speed."""
        V = [self.snapshot.potential_energy]
        return tidy([self.along(V, n)[0] for n in self.directions])

    @cached_property
    def C(self) -> Array:
        """Christoffel symbols times the speeds: C_ij = sum_k (d_k M_ij + d_j M_ik - d_i M_jk) u_k / 2."""
        if self.topology.layout.quaternions:
            message = "C: with quaternions the speeds are not the rates of coordinates, and Christoffel's symbols"
            raise ArgumentError(f"{message} do not exist; .bias holds all but M u_dot")
        n = self.topology.n_u
        dM = [np.array(self.along(list(self.M.ravel()), d), dtype=object).reshape(n, n) for d in self.directions]
        u = self.snapshot.u
        C = np.zeros((n, n), dtype=object)
        for i in range(n):
            for j in range(n):
                terms = [(dM[k][i, j] + dM[j][i, k] - dM[i][j, k]) * u[k] for k in range(n)]
                C[i, j] = 0.5 * sum(terms[1:], terms[0])
        return C
