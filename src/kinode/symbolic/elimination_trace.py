"""The matrices of the elimination as nodes of a tape, in the velocities of the bodies, and Euler angles of bodies.

    M v_dot = -Omega v + Q + L lam,    L'v = ...,    v = (V, w) of each body, in its axes about its origin

Velocities come before angular velocities here, and forces before moments, as in (T-10.1); inside, kinode has the
angular part first.  Positions are functions of the joint coordinates, velocities are symbols of their own.

    R = Rz(psi) Rx(theta) Rz(phi) C,    w = C' P(phi) P(theta) (psi_dot, theta_dot, phi_dot)        (T-10.3)

The angles are singular where sin(theta) = 0, that is where the third axis of R C' is along z.  With one of three
rotations C, which turn different body axes into the third, sin(theta) is at least 0.8 in every position.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.rotations import UPRIGHT, euler_angles
from kinode.algebra.scalars import Array, Dual, Scalar, cos, is_zero, sin, tidy
from kinode.algebra.spatial import cross, turn_about
from kinode.algebra.trace import Tape, replay
from kinode.formulations.absolute_coordinates import Absolute
from kinode.formulations.elimination_rows import EliminationRow, EliminationRows, ReactionDirections, RowName
from kinode.model.base.frames import Frame
from kinode.multibody.kinematics import Kinematics
from kinode.multibody.snapshot import Composition, Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology

ORDER = (3, 4, 5, 0, 1, 2)  # velocities before angular velocities, forces before moments


class BodyVelocities(Kinematics):
    """Poses of the tree, with velocities of bodies that are given by themselves."""

    def __init__(self, *arguments: Any, velocities: Mapping[str, Array]) -> None:
        super().__init__(*arguments)
        self.velocities = velocities

    def on_tree(self, tree: Any) -> BodyVelocities:
        """The same point on another tree."""
        return BodyVelocities(self.topology, tree, self.point, self.laws, self.given, velocities=self.velocities)

    def body_velocity(self, frame: Frame) -> tuple[Array, Array]:
        """Angular velocity and velocity of the origin of a frame on a body, in world axes."""
        if frame.body == "world":
            return np.zeros(3), np.zeros(3)
        v, R = self.velocities[frame.body], self.pose(Frame(frame.body)).R
        return R @ v[:3], R @ (v[3:] + cross(v[:3], frame.pose(self.resolve).p))


class EliminationTrace:
    """M, Omega, v, Q, L, L_dot, sigma of a system as nodes of a tape.

    Parameters
    ----------
    topology : Topology
        The system, with its independent constraint rows.
    tape, point
        The tape, and the point whose entries are its inputs.
    velocities : mapping of body to array
        [w; V] of each body: inputs of the tape, and zeros where a velocity is zero in every motion.
    formulas : mapping of body to array
        The same as functions of the state.
    """

    def __init__(
        self, topology: Topology, tape: Tape, point: EvaluationPoint, velocities: Mapping[str, Array],
        formulas: Mapping[str, Array],
    ) -> None:  # fmt: skip
        self.topology, self.tape, self.formulas = topology, tape, formulas
        kinematics = partial(BodyVelocities, velocities=velocities)
        self.snapshot = Snapshot(topology, point, formulation=Composition(whole_tree=True, kinematics=kinematics))
        self.absolute = Absolute(self.snapshot, velocities)
        self._velocities = velocities

    @cached_property
    def _system_rows(self) -> EliminationRows:
        return EliminationRows(self.absolute)

    @property
    def rows(self) -> list[EliminationRow]:
        """The rows of all joints, drives, gears and constraints."""
        return self._system_rows.rows

    @property
    def directions(self) -> dict[str, ReactionDirections | None]:
        """The directions of the reactions of each tree joint; None where they change with its position."""
        return self._system_rows.directions

    @property
    def names(self) -> list[RowName]:
        """Their names."""
        return [row.name for row in self.rows]

    @cached_property
    def v(self) -> Array:
        """The velocities of all bodies, in the order of the document."""
        return np.concatenate([np.asarray(self._velocities[body], dtype=object)[list(ORDER)] for body in self.bodies])

    @property
    def bodies(self) -> list[str]:
        return list(self.absolute.bodies)

    def _blocks(self, name: str) -> Array:
        n, place = 6 * len(self.bodies), list(ORDER)
        A = np.full((n, n), 0.0, dtype=object)
        for k, link in enumerate(self.absolute.links.values()):
            A[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = np.asarray(getattr(link, name), dtype=object)[
                np.ix_(place, place)
            ]
        return A

    @cached_property
    def M(self) -> Array:
        """The matrices of all bodies."""
        return self._blocks("M")

    @cached_property
    def Omega(self) -> Array:
        """The gyroscopic matrices of all bodies."""
        return self._blocks("Omega")

    @cached_property
    def Q(self) -> Array:
        """Weight and loads on all bodies."""
        links = self.absolute.links.values()
        return np.concatenate([np.asarray(link.Q, dtype=object)[list(ORDER)] for link in links])

    @cached_property
    def L(self) -> Array:
        """What a unit of each multiplier does to the bodies."""
        return self._columns([row.entries for row in self.rows])

    @cached_property
    def L_dot(self) -> Array:
        """Its time derivative."""
        L = self._columns([row.rates or {} for row in self.rows])
        closures = [k for k, row in enumerate(self.rows) if row.rates is None]
        if closures:
            rates = self._rates(list(self.L[:, closures].ravel()))
            L[:, closures] = np.array(rates, dtype=object).reshape(len(L), len(closures))
        return L

    def _columns(self, rows: Sequence[Mapping[int, Scalar]]) -> Array:
        L = np.full((6 * len(self.bodies), len(rows)), 0.0, dtype=object)
        for k, row in enumerate(rows):
            for i, x in row.items():
                L[6 * (i // 6) + ORDER.index(i % 6), k] = x
        return L

    def _rates(self, outputs: Sequence[Scalar]) -> list[Scalar]:
        """Time derivatives of functions of time and position, along the motion of the state."""
        s = self.snapshot
        plain = Snapshot(self.topology, s.point)
        seeds: dict[tuple[str, int], Any] = {("t", 0): Dual(self.tape.input("t", 0), 1.0)}
        for name, rates in (("q", plain.q_dot), ("z", plain.z_dot if len(s.z) else ())):
            for i, rate in enumerate(rates):
                seeds[name, i] = Dual(self.tape.input(name, i), rate)
        return [x.rate if isinstance(x, Dual) else 0.0 for x in replay(outputs, seeds)]

    @cached_property
    def gamma(self) -> Array:
        """The right side of L'v_dot = gamma."""
        return np.array([row.gamma for row in self.rows], dtype=object)

    @cached_property
    def poses(self) -> Array:
        """R and p of each body, 12 numbers each."""
        poses = [self.snapshot.pose(Frame(body)) for body in self.bodies]
        return np.concatenate([np.concatenate([np.asarray(X.R, dtype=object).ravel(), X.p]) for X in poses])


def product(A: Array, B: Array) -> Array:
    """A B, without the products of zeros."""
    C = np.full((A.shape[0], B.shape[1]), 0.0, dtype=object)
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            terms: list[Scalar] = [x * y for x, y in zip(A[i], B[:, j], strict=True) if not (is_zero(x) or is_zero(y))]
            if terms:
                C[i, j] = sum(terms[1:], terms[0])
    return C


ANGLES = ("psi", "theta", "phi")


class EulerChart(NamedTuple):
    """The angles psi, theta, phi with a rotation C; ``text`` names it."""

    text: str
    C: Array

    def rotation(self, angles: Array) -> Array:
        """R of the angles."""
        psi, theta, phi = angles
        R: Array = turn_about(2, psi)[0] @ turn_about(0, theta)[0] @ turn_about(2, phi)[0] @ self.C
        return R

    def rates(self, angles: Array) -> Array:
        """T: the rates of the angles for an angular velocity in body axes."""
        _, theta, phi = angles
        s, c, over = sin(phi), cos(phi), 1.0 / sin(theta)
        inverse = np.array(
            [
                [s * over, c * over, 0.0],
                [c, -1.0 * s, 0.0],
                [-1.0 * s * over * cos(theta), -1.0 * c * over * cos(theta), 1.0],
            ],
            dtype=object,
        )
        return tidy(inverse @ self.C)

    def angles(self, R: Array) -> Array:
        """The angles of a rotation of plain numbers."""
        return np.asarray(euler_angles(np.asarray(R, dtype=float), self.C), dtype=float)

    def distance(self, R: Array) -> float:
        """|sin(theta)| of a rotation: 0 in the singular position."""
        cosine = float((np.asarray(R, dtype=float) @ self.C.T)[2, 2])
        return math.sqrt(max(0.0, 1.0 - cosine * cosine))


CHARTS = (
    EulerChart("C = 1", np.eye(3)),
    EulerChart("C = Rx(-pi/2)", UPRIGHT),
    EulerChart("C = Ry(pi/2)", np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])),
)
"""The first is the paper's; where it is singular, the second is."""
NEAR = 0.7  # |sin(theta)| below which another rotation C is looked for


def find_chart(R: Array) -> EulerChart:
    """The first chart that is far from its singular position; one of the three always is."""
    far = [chart for chart in CHARTS if chart.distance(R) >= NEAR]
    return far[0]
