"""Where to begin the search for a closed position, and how its equations curve along the constraints.

Every joint has a coordinate that is exact (given, driven, or of no freedom), a guess, or none.  The bodies are placed
along the spanning tree of the surest joints, whatever tree the state uses.  The coordinates of the others follow from
the poses of their frames.  Where given and guessed joints alone connect all bodies, that is the closed position itself,
if there is one.

Curvature is exact second derivatives along directions.  The Jacobian of the pose errors is part of what the kernel of
poses gives, so that its rate along a direction is a forward sweep over that kernel's tape, or dual numbers in large
systems.  In a closed position the errors are zero and stay zero along the constraints; so the map from angular
velocities to rotation vectors does not change there.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from enum import IntEnum
from functools import cached_property

import numpy as np

from kinode.algebra.rotations import inverse_right_jacobian_rate, inverse_right_jacobians
from kinode.algebra.scalars import Array
from kinode.algebra.spatial import IDENTITY_POSE, ZERO3, Pose, rotation_from_quaternion, skew
from kinode.dynamics.starts.assembly_problem import AssemblyProblem
from kinode.dynamics.starts.initial_values import find_offset, is_guessed
from kinode.model.joints.joint import Joint
from kinode.model.system import joint_frame
from kinode.multibody.snapshot import Snapshot


class Surety(IntEnum):
    """How sure the coordinates of a joint are, the surest first."""

    EXACT = 0
    GUESSED = 1
    IN_TREE = 2  # nothing is requested of it, and it is a joint of the state
    OPEN = 3


class PositionGuess:
    """Makes positions to begin with, from coordinates of some joints."""

    def __init__(self, problem: AssemblyProblem) -> None:
        self.problem = problem
        self._placed = {name: self._place(joint) for name, joint in problem.joints.items()}
        self._given = self._given_coordinates()
        self.surety = {name: self._surety(joint) for name, joint in problem.joints.items()}
        self._order = self._surest_tree()

    def _place(self, joint: Joint) -> tuple[Joint, Pose, Pose, Array]:
        resolve, system = self.problem.resolve, self.problem.topology.system
        C = Pose(np.asarray(joint.axis_rotation(resolve, system.nominal), dtype=float), ZERO3)
        F, M = (_plain(joint_frame(joint, side).pose(resolve) @ C) for side in ("parent", "child"))
        return joint, F, M, np.asarray(joint.form(resolve), dtype=float)

    def _given_coordinates(self) -> dict[str, Array]:
        """Coordinates of all joints as requested or driven; a leader's from its follower where only that has one."""
        problem = self.problem
        values = problem.requested.joints
        at = problem.point.replaced(q=problem.requested_position()[: problem.topology.n_q])
        snapshot = Snapshot(problem.topology, at)
        given = {name: np.asarray(value.q, dtype=float) for name, value in values.items()}
        for name, joint in problem.joints.items():
            if joint.driven:
                given[name] = np.asarray(snapshot.joint_state(name)[0], dtype=float)
            elif not joint.n_u:
                given[name] = np.empty(0)
        for name in problem.followers:
            coupling = problem.topology.couplings[name]
            ratio, offset = (float(problem.resolve(x)) for x in (coupling.ratio, coupling.offset))
            if self._requested(coupling.leader) or not self._requested(name):
                given[name] = ratio * given[coupling.leader] + offset
            else:
                given[coupling.leader] = (given[name] - offset) / ratio
        return given

    def _requested(self, name: str) -> bool:
        values = self.problem.requested
        return name not in values.joints or is_guessed(values, name) or bool(values.joints[name].exact_q.any())

    def _surety(self, joint: Joint) -> Surety:
        values = self.problem.requested
        if joint.name not in values.joints or values.joints[joint.name].exact_q.all():
            return Surety.EXACT
        if joint.name in self.problem.followers or self._requested(joint.name):
            return Surety.GUESSED
        return Surety.IN_TREE if joint.name in self.problem.topology.q_of else Surety.OPEN

    def _surest_tree(self) -> list[tuple[str, bool]]:
        """Joints in the order in which bodies are placed, and whether from parent side to child side."""
        at: dict[str, list[str]] = {}
        for name, joint in self.problem.joints.items():
            at.setdefault(joint.a.body, []).append(name)
            at.setdefault(joint.b.body, []).append(name)
        order, reached = [], {"world"}
        places = {name: k for k, name in enumerate([*self.problem.topology.q_of, *self.problem.joints])}
        waiting = [(self.surety[name], places[name], name) for name in at.get("world", ())]
        heapq.heapify(waiting)
        while waiting:
            *_, name = heapq.heappop(waiting)
            a, b = self.problem.joints[name].a.body, self.problem.joints[name].b.body
            if a in reached and b in reached:
                continue
            forwards = a in reached
            body = b if forwards else a
            reached.add(body)
            order.append((name, forwards))
            for other in at[body]:
                heapq.heappush(waiting, (self.surety[other], places[other], other))
        return order

    def position(self, coordinates: Mapping[str, Array] | None = None) -> Array:
        """The position with some coordinates in the place of requested ones; joints off the tree follow from poses."""
        q_of = {**self._given, **(coordinates or {})}
        poses = {"world": IDENTITY_POSE}
        used = set()
        for name, forwards in self._order:
            joint, F, M, form = self._placed[name]
            T = _plain(joint.transform(q_of[name], form))
            if forwards:
                poses[joint.b.body] = poses[joint.a.body] @ F @ T @ M.inverse()
            else:
                poses[joint.a.body] = poses[joint.b.body] @ M @ T.inverse() @ F.inverse()
            used.add(name)
        x = np.zeros(self.problem.n_q)
        for name, where in self.problem.q_of.items():
            joint, F, M, form = self._placed[name]
            if name in used or self.surety[name] <= Surety.GUESSED or not joint.n_u:
                x[where] = q_of[name]
            else:
                X = (poses[joint.a.body] @ F).inverse() @ (poses[joint.b.body] @ M)
                x[where] = np.asarray(joint.solve_coordinates(X, form), dtype=float)
        return x

    def settle(self, x: Array) -> tuple[Array, Array]:
        """A position with the coordinates that follow from exact ones, and a mark for each freedom that does."""
        there, placed = x.copy(), self.position()
        for name in self._settled:
            there[self.problem.q_of[name]] = placed[self.problem.q_of[name]]
        return there, np.array([owner in self._settled for owner in self.problem.owners], dtype=bool)

    @cached_property
    def _settled(self) -> frozenset[str]:
        """Joints within a group of bodies that exact joints place."""
        groups = {body: body for body in ("world", *self.problem.topology.system.bodies)}
        for name, forwards in self._order:
            joint = self.problem.joints[name]
            if self.surety[name] == Surety.EXACT:
                old, new = (joint.a.body, joint.b.body) if forwards else (joint.b.body, joint.a.body)
                groups[new] = groups[old]
        joints = self.problem.joints
        inside = [name for name, joint in joints.items() if groups[joint.a.body] == groups[joint.b.body]]
        return frozenset(name for name in inside if name in self.problem.u_of and self.surety[name] != Surety.EXACT)

    def scattered(self, rng: np.random.Generator, scale: float) -> Array:
        """A position in which joints of which nothing is requested stand anywhere; ``scale`` 1 is half a turn."""
        others = {}
        for name in self.problem.u_of:
            joint = self.problem.joints[name]
            if self.surety[name] > Surety.GUESSED and joint.n_u:
                kinds = np.array([kind == "angle" for _, kind in joint.coordinates])
                reach = np.where(kinds, np.pi, self.problem.length)
                others[name] = joint.advance(self._given[name], scale * reach * rng.uniform(-1.0, 1.0, joint.n_u))
        return self.position(others)


def _plain(X: Pose) -> Pose:
    return Pose(np.asarray(X.R, dtype=float), np.asarray(X.p, dtype=float))


def find_curvature(
    problem: AssemblyProblem, x: Array, tangent: Array, rows: Array, weights: Array, lam: Array
) -> Array:  # fmt: skip
    """Second derivatives of 1/2 d' W d + lam' r along the columns of a tangent, at a closed position.

    ``d`` are the offsets from the requested coordinates, ``r`` the equations in ``rows``.
    """
    d, D = problem.offsets(x)
    second = np.zeros((tangent.shape[1], tangent.shape[1]))
    for k, step in enumerate(tangent.T):
        out = problem.rates_along(x, step)
        change = D.T @ (weights * (D @ step)) + _offset_rates(problem, x, step, out).T @ (weights * d)
        change += _equation_rates(problem, out)[rows].T @ lam
        second[:, k] = tangent.T @ change
    return 0.5 * (second + second.T)


def _equation_rates(problem: AssemblyProblem, out: Array) -> Array:
    """The rate of the Jacobian of the equations, from that of the kernel's result."""
    plan, n = problem.poses.plan, len(problem.poses.cuts)
    A = np.zeros((6 * n, problem.n_u))
    A[plan.rows, plan.columns] = out[plan.entries]
    A.reshape(n, 6, problem.n_u)[:, 3:] /= problem.length
    parts = [A]
    if problem.loops is not None and problem.element_rows.any():
        m, (rows, columns) = len(problem.loops.names), problem.loops.pattern
        G = np.zeros((m, problem.n_u))
        G[rows, columns] = out[len(out) - len(rows) :]
        parts.append((G / problem.loops.scale[:, None])[problem.element_rows])
    if problem.given_followers:
        parts.append(_follower_rates(problem, out)[problem.given_followers])
    return np.vstack(parts)


def _follower_rates(problem: AssemblyProblem, out: Array) -> Array:
    """The rates of how speeds change the offsets of followers."""
    ratios = out[problem.poses.plan.followers][:, 2]
    units = problem.units[len(problem.units) - len(problem.followers) :]
    rates: Array = problem.poses.leading * (ratios / units)[:, None]
    return rates


def _offset_rates(problem: AssemblyProblem, x: Array, step: Array, out: Array) -> Array:
    """The rates of how speeds change the offsets of all joints; quaternions and followers have some."""
    n = problem.n_u
    rates = np.zeros((n, n))
    for name, where in problem.u_of.items():
        head = problem.joints[name].quaternion
        if head is None or name not in problem.requested.joints:
            continue
        q, u = x[problem.q_of[name]], step[where]
        block = np.zeros((len(u), len(u)))
        if head:
            block[:head, :head] = (rotation_from_quaternion(q[head:]) @ skew(u[head:])).astype(float)
        turn = find_offset(problem.joints[name], q, problem.requested.joints[name].q)[0][head:]
        turning = inverse_right_jacobians(turn[None])[0] @ u[head:]
        block[head:, head:] = inverse_right_jacobian_rate(turn, turning)
        rates[where, where] = block
    rates /= problem.units[:n, None]
    return np.vstack([rates, _follower_rates(problem, out)]) if problem.followers else rates
