"""Which reactions are unique, and how redundant ones are shared.

The unknowns are the reactions of all joints (cut joints included) along their constrained directions, the efforts of
drives and gears, and the multipliers of constraints.  The equations are the balances of force and moment of every body,
with moments divided by a characteristic length.  If this equilibrium matrix E has a null space N, the joints can carry
internal stress without effect on the motion (T-5.4), (T-5.5):

    E x + loads = 0    has the solutions    x + N a

A component is unique if its row of N vanishes.  The others are shared by a rule that does not depend on which joints
are cut: first the least complementary energy x'Cx / 2 of the joints whose compliance is given, then the least norm of
the remaining ones.  Multipliers are part of x, so all balances hold after sharing.

It works on floats only, because ranks need numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose, skew
from kinode.errors import ArgumentError
from kinode.model.base.fields import unknown
from kinode.model.constraints.constraint import ANGULAR
from kinode.model.joints.joint import Joint
from kinode.model.system import System, joint_frame
from kinode.multibody.joint_efforts import EffortOrigins
from kinode.multibody.loop_constraints import loop_constraints_of
from kinode.structure.topology import Topology

RANK_TOLERANCE = 1e-9  # singular values below this share of the largest count as zero; rounding leaves 1e-15
UNIQUE = 1e-8  # norm of a component's row of the null space, below which the component is unique
COMPONENTS = ("force x", "force y", "force z", "moment x", "moment y", "moment z")


def complement(S: Array, length: float) -> Array:
    """N with N'S = 0: wrenches [moment; force] without work along S; orthonormal with moments over ``length``."""
    scale = np.repeat([length, 1.0], 3)[:, None]
    U, _, _ = np.linalg.svd(scale * S) if S.shape[1] else (np.eye(6), None, None)
    N: Array = scale * U[:, S.shape[1] :]
    return N


def characteristic_length(system: System) -> float:
    """The characteristic length: the largest coordinate of a joint or mass center on its body; 1 m if all are zero."""
    sides = [joint_frame(joint, side) for joint in system.joints.values() for side in ("parent", "child")]
    arms = [frame.pose(system.nominal).p for frame in sides]
    arms += [_floats([system.nominal(x) for x in body.center_of_mass]) for body in system.bodies.values()]
    return max((float(abs(_floats(arm)).max()) for arm in arms), default=0.0) or 1.0


@dataclass(frozen=True, eq=False)
class Uniqueness:
    """Uniqueness of the reactions in one position.

    The six components of a joint are force x, y, z and moment x, y, z, by a on b, about b's joint point, in a's joint
    axes.
    """

    unique: dict[str, Array]  # joint -> whether each of its six components is unique
    unique_multipliers: dict[str, Array]  # the same of drives and gears ("joint.effort") and constraints (by name)
    null_space: Array  # orthonormal columns; the rows are the unknowns
    rows_of: dict[str, slice]  # rows of the null space: of a joint's reaction, or of multipliers
    scales: dict[str, Array]  # divisor of multipliers: the length for moments
    directions: dict[str, Array]  # joint -> its unknowns as six components, moments divided by the length
    along: dict[str, Array]  # joint -> six components of unit efforts
    roots: dict[str, Array]  # joint -> W with the energy |W x|^2 / 2 of its six components, of those that are compliant
    length: float

    @property
    def redundancy(self) -> int:
        """The number of independent internal stresses."""
        return int(self.null_space.shape[1])

    def stresses(self, name: str) -> Array:
        """The components of a joint, or multipliers, in each column of the null space; moments over the length."""
        rows = self.null_space[self.rows_of[name]]
        return rows if name in self.scales else np.asarray(self.directions[name] @ rows)

    def share(self, given: Mapping[str, Any]) -> dict[str, Array]:
        """Reactions and multipliers that balance the same loads as the given ones, shared by the rule of this module.

        ``given`` has six components for each joint, and multipliers by their names ("joint.effort", a constraint).
        """
        scaled = self._scaled(given)
        x = np.concatenate(list(scaled.values()))
        ends = np.cumsum([len(values) for values in scaled.values()])[:-1]
        shared = np.split(x + self.change(x), ends)
        return {name: values * self._scale(name) for name, values in zip(scaled, shared, strict=True)}

    def change(self, x: Array) -> Array:
        """What the rule adds to components in the order of ``names``, with moments over the length."""
        if not self.redundancy:
            return np.zeros_like(x)
        N, K = self.rule
        return np.asarray(N @ (K @ x))

    @property
    def names(self) -> list[str]:
        """The names of all unknowns in their order: joints, then multipliers."""
        return [*self.directions, *self.scales]

    @cached_property
    def rule(self) -> tuple[Array, Array]:
        """N, the components in all states of stress, and K of the rule: x is replaced by x + N K x."""
        N, K, undetermined = self._all_stresses, *self._by_energy
        return N, _minimize(np.eye(len(N)), N, K, undetermined)[0]

    @cached_property
    def elastic(self) -> dict[str, bool]:
        """Whether compliances alone determine the redundant components of a joint or multiplier."""
        undetermined = self._by_energy[1]
        return {name: bool(_is_zero(self.stresses(name) @ undetermined).all()) for name in self.names}

    @cached_property
    def _all_stresses(self) -> Array:
        return np.vstack([self.stresses(name) for name in self.names])

    @cached_property
    def _by_energy(self) -> tuple[Array, Array]:
        """K by compliances alone, and the stresses that it leaves undetermined."""
        N = self._all_stresses
        return _minimize(self._energy, N, np.zeros(N.T.shape), np.eye(self.redundancy))

    @property
    def _energy(self) -> Array:
        """W of all joints, with a column for each unknown; joints without compliance have no rows."""
        names = self.names
        sizes = [6 if name in self.directions else len(self.scales[name]) for name in names]
        starts = dict(zip(names, np.cumsum([0, *sizes]), strict=False))
        W = np.zeros((6 * len(self.roots), sum(sizes)))
        for k, (name, root) in enumerate(self.roots.items()):
            W[6 * k : 6 * k + 6, starts[name] : starts[name] + 6] = root
        return W

    @property
    def units(self) -> Array:
        """The divisor of each component: the length for moments."""
        return np.concatenate([self._scale(name) for name in self.names])

    def _scale(self, name: str) -> Array:
        return self.scales[name] if name in self.scales else np.repeat([1.0, self.length], 3)

    def _scaled(self, given: Mapping[str, Any]) -> dict[str, Array]:
        """Components of each joint, then multipliers; moments divided by the length."""
        known = self.names
        for name in given:
            if name not in known:
                raise ArgumentError(unknown("share: nothing with a reaction is called", name, known))
        for name in known:
            if name not in given:
                raise ArgumentError(f"share: the reaction of {name} is missing; those of all are needed")
        return {name: np.asarray(given[name], dtype=float).ravel() / self._scale(name) for name in known}


def _minimize(W: Array, N: Array, K: Array, undetermined: Array) -> tuple[Array, Array]:
    """K after minimizing |W x| over the stresses ``undetermined``, and the stresses that this leaves undetermined."""
    stress = W @ (N @ undetermined)
    U, s, Vt = np.linalg.svd(stress, full_matrices=stress.shape[0] < stress.shape[1])
    rank = int(np.sum(s > RANK_TOLERANCE * s.max(initial=0.0)))
    A = undetermined @ Vt[:rank].T @ (U[:, :rank] / s[:rank]).T @ W
    return K - A - (A @ N) @ K, undetermined @ Vt[rank:].T


@dataclass(frozen=True, eq=False)
class ConstraintDirections:
    """A joint in one position: frame M in canonical axes, and directions [moment; force] about it."""

    joint: Joint
    R_WM: Array
    p_WM: Array
    R_FM: Array  # to the given axes of F
    S: Array  # freedoms
    N: Array  # directions of the reaction, with forces as multipliers
    T: Array  # wrench of unit efforts; for angles the unit is the length


class JointConstants:
    """The constants of all joints of a system, and the analysis of a position."""

    def __init__(self, topology: Topology, p: Array, resolve: Callable[[Any], float]) -> None:
        self.system, self.topology, self.p, self.resolve = topology.system, topology, p, resolve
        self.bodies = {name: 6 * k for k, name in enumerate(self.system.bodies)}
        joints = self.system.joints
        self.axes = {
            name: np.asarray(joint.axis_rotation(resolve, self.system.nominal), dtype=float)
            for name, joint in joints.items()
        }
        self.forms = {name: joint.form(resolve) for name, joint in joints.items()}
        self.sides = {name: self._sides(joint) for name, joint in joints.items()}
        self._complements: dict[tuple[int, bytes], Array] = {}
        self.length = characteristic_length(self.system)
        self.multipliers = {
            constraint.name: constraint.units
            for constraint in loop_constraints_of(topology)
            if constraint.name not in topology.cut_names
        }

    def _sides(self, joint: Joint) -> tuple[Pose, Pose]:
        """Frames F and M in their bodies, canonical axes."""
        C = Pose(self.axes[joint.name], np.zeros(3))
        F, M = (joint_frame(joint, side).pose(self.resolve) @ C for side in ("parent", "child"))
        return _plain(F), _plain(M)

    def constraint_directions(self, name: str, poses: dict[str, Pose]) -> ConstraintDirections:
        """A joint between bodies in given poses."""
        joint = self.system.joints[name]
        F, M = self.sides[name]
        X_WF, X_WM = poses[joint.a.body] @ F, poses[joint.b.body] @ M
        X = _plain(X_WF.inverse() @ X_WM)
        form = self.forms[name]
        q = np.asarray(joint.solve_coordinates(X, form), dtype=float)
        S, T = (
            np.asarray(find(q, form), dtype=float).reshape(6, joint.n_u)
            for find in (joint.motion_subspace, joint.effort_wrench)
        )
        return ConstraintDirections(
            joint, X_WM.R, X_WM.p, self.axes[name] @ X.R, S, self._complement(S), T * self._units(joint)
        )

    def _complement(self, S: Array) -> Array:
        """Directions of reactions, cached: most joints have the same freedoms in all positions."""
        key = (S.shape[1], S.tobytes())
        if key not in self._complements:
            self._complements[key] = complement(S, self.length)
        return self._complements[key]

    def columns(self, joint: ConstraintDirections, directions: Array, poses: dict[str, Pose]) -> Array:
        """Balances of all bodies for unit wrenches on b and their opposites on a; moments divided by the length."""
        E = np.zeros((6 * len(self.bodies), directions.shape[1]))
        moment, force = joint.R_WM @ directions[:3], joint.R_WM @ directions[3:]
        for body, sign in ((joint.joint.a.body, -1.0), (joint.joint.b.body, 1.0)):
            if body in self.bodies:
                k = self.bodies[body]
                arm = np.asarray(skew(joint.p_WM - poses[body].p), dtype=float)
                E[k : k + 3] = sign * (moment + arm @ force) / self.length
                E[k + 3 : k + 6] = sign * force
        return E

    def constraints(self, unit_loads: Array) -> dict[str, tuple[Array, Array]]:
        """Balances of all bodies for unit multipliers of each constraint element, and their scales."""
        blocks, start = {}, 0
        balance = np.tile(np.repeat([self.length, 1.0], 3), len(self.bodies))[:, None]
        for name, units in self.multipliers.items():
            scale = np.array([self.length if unit in ANGULAR else 1.0 for unit in units])
            blocks[name] = (unit_loads[:, start : start + len(units)] * scale / balance, scale)
            start += len(units)
        return blocks

    def analyze(self, poses: dict[str, Pose], unit_loads: Array | None = None) -> Uniqueness:
        """The null space of the equilibrium matrix, and the uniqueness of each component.

        ``unit_loads`` are the wrenches of constraint elements for unit multipliers (``Constraints.unit_loads``).
        """
        constraints = self.constraints(unit_loads) if unit_loads is not None else {}
        joints = {name: self.constraint_directions(name, poses) for name in self.system.joints}
        others = {**self._efforts(joints, poses), **constraints}
        stresses = self._null_space(joints, others, poses)
        rows_of, start = {}, 0
        for origin, rows in stresses.items():
            rows_of[origin] = slice(start, start + len(rows))
            start += len(rows)
        null_space = np.linalg.qr(np.vstack(list(stresses.values())))[0]
        directions = {
            name: np.vstack([joint.R_FM @ joint.N[3:], joint.R_FM @ joint.N[:3] / self.length])
            for name, joint in joints.items()
        }
        unique = {name: _is_zero(directions[name] @ null_space[rows_of[name]]) for name in joints}
        multipliers = {origin: _is_zero(null_space[rows_of[origin]]) for origin in others}
        scales = {origin: scale for origin, (_, scale) in others.items()}
        along = {
            name: np.vstack([joint.R_FM @ joint.T[3:], joint.R_FM @ joint.T[:3]]) / self._units(joint.joint)
            for name, joint in joints.items()
        }
        return Uniqueness(unique, multipliers, null_space, rows_of, scales, directions, along, self.roots, self.length)

    @cached_property
    def efforts(self) -> dict[str, dict[str, float]]:
        """The efforts of drives and gears that act along each joint, with their factors."""
        return {
            name: {origin: float(factor) for origin, factor in self.origins.of_share(name, "effort").items()}
            for name in self.system.joints
        }

    @cached_property
    def origins(self) -> EffortOrigins:
        """What the efforts of joints are made up of."""
        return EffortOrigins(self.topology, self.resolve)

    @cached_property
    def roots(self) -> dict[str, Array]:
        """Square roots of the compliances of joints, for moments divided by the length."""
        roots = {}
        for name, joint in self.system.joints.items():
            if joint.compliance is not None:
                roots[name] = joint.compliance.root(self.axes[name], self.resolve) * np.repeat([1.0, self.length], 3)
        return roots

    def _null_space(
        self, joints: dict[str, ConstraintDirections], others: dict[str, tuple[Array, Array]], poses: dict[str, Pose]
    ) -> dict[str, Array]:
        """The unknowns of each origin in all states of stress.

        The tree is statically determinate: its joints balance any forces of cut joints and constraints, except the
        efforts along their freedoms, which must be zero without a drive.  These are the remaining few equations.
        """
        nodes = self.topology.full.nodes
        tree = {node.joint.name for node in nodes}
        drives = {name: f"{name}.effort" for name in tree if joints[name].joint.driven and joints[name].joint.n_u}
        loose = {name: self.columns(joint, joint.N, poses) for name, joint in joints.items() if name not in tree}
        loose.update({origin: block for origin, (block, _) in others.items() if origin not in drives.values()})
        B = np.hstack([np.zeros((6 * len(self.bodies), 0)), *loose.values()])
        unknowns, along = {}, [np.zeros((0, B.shape[1]))]
        for node in reversed(nodes):
            name, body, k = node.joint.name, node.bodies[0], self.bodies[node.bodies[0]]
            if node.carrier in self.bodies:
                home = self.bodies[node.carrier]
                B[home : home + 6] += self._about(B[k : k + 6], poses[body].p - poses[node.carrier].p)
            x, effort = self._joint_unknowns(
                joints[name], B[k : k + 6] * (1.0 if node.reversed else -1.0), poses[body].p
            )
            unknowns[name] = x
            if name in drives:
                unknowns[drives[name]] = effort
            else:
                along.append(effort)
        basis = _null_space(np.vstack(along))
        start = 0
        for origin, block in loose.items():
            unknowns[origin] = np.eye(B.shape[1])[start : start + block.shape[1]]
            start += block.shape[1]
        return {origin: unknowns[origin] @ basis for origin in (*joints, *others)}

    def _about(self, wrench: Array, arm: Array) -> Array:
        """Moment (over the length) and force about another point; ``arm`` is the vector from it to the old one."""
        turned = np.asarray(skew(arm), dtype=float) @ wrench[3:]
        return np.vstack([wrench[:3] + turned / self.length, wrench[3:]])

    def _joint_unknowns(self, joint: ConstraintDirections, wrench: Array, at: Array) -> tuple[Array, Array]:
        """Unknowns of a joint's reaction, and its effort, for wrenches on b about a point, in world axes."""
        scale = np.repeat([self.length, 1.0], 3)[:, None]
        about_M = self._about(wrench, at - joint.p_WM)
        w = scale * np.vstack([joint.R_WM.T @ about_M[:3], joint.R_WM.T @ about_M[3:]])
        effort = (joint.S.T @ w) / self._units(joint.joint)[:, None]
        return (joint.N / scale).T @ ((w - joint.T @ effort) / scale), effort

    def _efforts(
        self, joints: dict[str, ConstraintDirections], poses: dict[str, Pose]
    ) -> dict[str, tuple[Array, Array]]:
        """Balances of all bodies for unit efforts of drives and gears, and their scales."""
        blocks = {}
        for name, joint in joints.items():
            if joint.joint.driven and joint.joint.n_u:
                blocks[f"{name}.effort"] = (self.columns(joint, joint.T, poses), self._units(joint.joint))
        for name, coupling in self.topology.couplings.items():
            follower, leader = joints[name], joints[coupling.leader]
            change = self._units(follower.joint) / self._units(leader.joint)
            against = leader.T * (float(self.resolve(coupling.ratio)) * change)
            gear = self.columns(follower, follower.T, poses) - self.columns(leader, against, poses)
            blocks[f"{name}.effort"] = (gear, self._units(follower.joint))
        return blocks

    def _units(self, joint: Joint) -> Array:
        return np.array([self.length if kind == "angle" else 1.0 for _, kind in joint.coordinates])


def _is_zero(rows: Array) -> Array:
    return np.asarray(np.linalg.norm(rows, axis=1) < UNIQUE)


def _null_space(E: Array) -> Array:
    """The null space of a matrix whose entries are of the order of 1, or rounding."""
    _, s, Vt = np.linalg.svd(E, full_matrices=True)
    return np.asarray(Vt[int(np.sum(s > RANK_TOLERANCE * s.max(initial=1.0))) :].T)


def _floats(values: Any) -> Array:
    return np.asarray(values, dtype=float)


def _plain(X: Pose) -> Pose:
    return Pose(np.asarray(X.R, dtype=float), np.asarray(X.p, dtype=float))
