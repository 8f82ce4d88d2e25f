"""Free flight: force and moment balance of bodies and of the whole system about the origin of any moving frame.

XYZ is a frame whose origin o has the velocity V, and which has the angular velocity W.  r is the vector from o to the
origin of a body, rho from there to its mass center, H = I w its angular momentum about its origin, all in components of
XYZ.  ``x1`` is the time derivative of the components of x (a ring in the literature), ``x2`` the second one (T-8.0):

    acc(x) = x2 + W1 x x + 2 W x x1 + W x (W x x),    A0 = V1 + W x V
    F = m (acc(r + rho) + A0)                                                                    (T-8.1)
    M = H1 + W x H + m (r + rho) x A0 + m (r + rho) x acc(r) + m r x acc(rho)                    (T-8.2)
    F = m (A0 + acc(r_cg)),   M = sums of the same                                               (T-8.4), (T-8.5)

The frame may be fixed in a body, nonrolling, inertial, or move by a function of time.  The motion follows from these
balances alone.  The wrench of a joint is the balance of all bodies beyond it; its component along the freedoms is the
effort of the joint.  Only poses and velocities are taken from the recursion; derivatives are those of components along
the motion (dual numbers).  Friction, loops and constraints are not supported.

The loads of elements on bodies, by element, are about the origin of any frame and in its axes too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array, Dual, Scalar, new_level, sign, tidy
from kinode.algebra.spatial import Pose, cross, dot, skew, solve_spd
from kinode.algebra.trace import Tape
from kinode.model.base.frames import Frame
from kinode.model.base.observers.moving_frames import needs_jerk
from kinode.multibody.link_steps import Spatial
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology
from kinode.structure.tree import WORLD, TreeLink


def element_loads(snapshot: Snapshot, frame: Frame) -> dict[tuple[str, str], Spatial]:
    """(element, body) -> moment about the origin of the frame and force, in its axes; loads on the world are left out.

    Which pairs there are depends on the model alone, not on the state.
    """
    X, bodies = snapshot.pose(frame), snapshot.system.bodies
    loads: dict[tuple[str, str], Spatial] = {}
    for name, element in snapshot.system.elements.items():
        for load in element.wrenches(snapshot):
            if load.on.body not in bodies:
                continue
            at = snapshot.pose(load.on).p if load.at is None else load.at
            force = X.R.T @ load.force
            moment = X.R.T @ load.moment + cross(X.R.T @ (at - X.p), force)
            before = loads.get((name, load.on.body))
            loads[name, load.on.body] = (moment, force) if before is None else (before[0] + moment, before[1] + force)
    return loads


def traced_snapshot(topology: Topology) -> Snapshot:
    """An instant of traced scalars, for what depends on the model alone: no number is ever undefined."""
    return Snapshot(topology, topology.layout.traced_point(Tape()))


# Derivatives are matrices 3 x (1 + n): the part without accelerations, then the coefficient of each u_dot.


@dataclass(frozen=True, eq=False)
class Origin:
    """Velocity and angular velocity of XYZ in its axes, with the derivatives of their components."""

    V: Array
    W: Array
    V1: Array
    W1: Array

    def acc(self, x: Array, x1: Array, x2: Array) -> Array:
        """Inertial acceleration of a point x relative to o (T-8.0)."""
        return _plus_constant(x2 - skew(x) @ self.W1, 2.0 * cross(self.W, x1) + cross(self.W, cross(self.W, x)))

    @property
    def A0(self) -> Array:
        """Acceleration of o."""
        return _plus_constant(self.V1, cross(self.W, self.V))


@dataclass(frozen=True, eq=False)
class ObservedBody:
    """A body in components of XYZ."""

    mass: Scalar
    r: Array
    rho: Array
    H: Array
    r1: Array
    rho1: Array
    H1: Array
    r2: Array
    rho2: Array

    @property
    def center(self) -> tuple[Array, Array, Array]:
        """The mass center, with its first and second derivatives."""
        return self.r + self.rho, self.r1 + self.rho1, self.r2 + self.rho2

    def force(self, o: Origin) -> Array:
        """Force balance (T-8.1)."""
        force: Array = self.mass * (o.acc(*self.center) + o.A0)
        return force

    def moment(self, o: Origin) -> Array:
        """Moment balance about o (T-8.2)."""
        arm = self.mass * skew(self.r + self.rho)
        own = _plus_constant(self.H1, cross(o.W, self.H))
        inner = self.mass * skew(self.r) @ o.acc(self.rho, self.rho1, self.rho2)
        moment: Array = own + arm @ o.A0 + arm @ o.acc(self.r, self.r1, self.r2) + inner
        return moment


def mass_center(parts: Iterable[ObservedBody]) -> tuple[Scalar, Array, Array, Array]:
    """Mass of a system, and its mass center with first and second derivatives (T-8.3)."""
    parts = tuple(parts)
    mass = sum(part.mass for part in parts)
    center, first, second = (sum(part.mass * part.center[k] for part in parts) * (1.0 / mass) for k in range(3))
    return mass, center, first, second


def system_balance(o: Origin, parts: Iterable[ObservedBody]) -> tuple[Array, Array]:
    """Force, and moment about o, of the whole system (T-8.4), (T-8.5)."""
    parts = tuple(parts)
    mass, *center = mass_center(parts)
    force = mass * (o.A0 + o.acc(*center))
    H, H1 = (sum((getattr(p, key) for p in parts[1:]), getattr(parts[0], key)) for key in ("H", "H1"))
    moment = _plus_constant(H1, cross(o.W, H)) + mass * skew(center[0]) @ o.A0
    for p in parts:
        moment = moment + p.mass * skew(p.r + p.rho) @ o.acc(p.r, p.r1, p.r2)
        moment = moment + p.mass * skew(p.r) @ o.acc(p.rho, p.rho1, p.rho2)
    return force, moment


def _plus_constant(rates: Array, constant: Array) -> Array:
    """The derivatives plus a term that does not depend on accelerations."""
    total = np.array(rates, dtype=object)
    total[:, 0] = total[:, 0] + constant
    return tidy(total)


@dataclass(frozen=True, eq=False)
class Balance:
    """Both sides of the balance of a body or of the system: the wrench that acts, and the one that its motion needs."""

    acting: Spatial
    needed: Spatial


class FreeFlight:
    """The balances of a tree about the origin of a frame, in its axes, at one evaluation."""

    def __init__(self, snapshot: Snapshot, frame: Frame) -> None:
        self.snapshot, self.frame = snapshot, frame
        self.topology, self.system = snapshot.topology, snapshot.system

    # -- kinematics ----------------------------------------------------------------------------------
    def _components(self, at: Snapshot) -> Array:
        """V and W of XYZ; r, rho, H, r1, rho1 of each body, as columns, in components of XYZ."""
        X, (w, v) = at.pose(self.frame), at.velocity(self.frame)
        back = X.R.T
        V, W = back @ v, back @ w
        columns = [V, W]
        for name, body in self.system.bodies.items():
            B, (w_B, v_B), inertia = at.pose(Frame(name)), at.velocity(Frame(name)), body.rigid_inertia(at.resolve)
            r, rho = back @ (B.p - X.p), back @ (B.R @ self._center(at, name))
            turning, spin = back @ w_B, B.R.T @ w_B
            columns += [r, rho, back @ (B.R @ (inertia.J @ spin))]
            columns += [back @ (v_B - v) - cross(W, r), cross(turning - W, rho)]
        return np.array(columns, dtype=object).T

    def _center(self, at: Snapshot, name: str) -> Array:
        return tidy([at.resolve(x) for x in self.system.bodies[name].center_of_mass])

    @cached_property
    def _moving(self) -> tuple[Array, Array]:
        """All components, and their derivatives along the motion, in one pass with vector-valued duals."""
        s, n, level = self.snapshot, self.topology.n_u, new_level()

        def seed(value: Scalar, flow: Scalar, k: int | None = None) -> Dual:
            rates = np.zeros(1 + n, dtype=object)
            rates[:] = 0.0
            rates[0 if k is None else 1 + k] = flow
            return Dual(value, tidy(rates), level)

        q, z = (
            np.array([seed(x, x_dot) for x, x_dot in zip(values, flow, strict=True)], dtype=object)
            for values, flow in ((s.q, s.q_dot), (s.z, s.z_dot))
        )
        u = np.array([seed(x, 1.0, k) for k, x in enumerate(s.u)], dtype=object)
        components = self._components(Snapshot(self.topology, EvaluationPoint(seed(s.t, 1.0), q, u, z, s.p, s.inputs)))
        values, rates = np.empty(components.shape, dtype=object), np.zeros((*components.shape, 1 + n), dtype=object)
        for index, entry in np.ndenumerate(components):
            moves = isinstance(entry, Dual) and entry.level == level
            values[index] = entry.value if moves else entry
            rates[index] = entry.rate if moves else 0.0
        return tidy(values), tidy(rates)

    @cached_property
    def origin(self) -> Origin:
        """Motion of XYZ."""
        values, rates = self._moving
        return Origin(values[:, 0], values[:, 1], rates[:, 0], rates[:, 1])

    @cached_property
    def parts(self) -> dict[str, ObservedBody]:
        """Motion of each body in XYZ."""
        values, rates = self._moving
        bodies = {}
        for i, (name, body) in enumerate(self.system.bodies.items()):
            r, rho, H, r1, rho1 = range(2 + 5 * i, 7 + 5 * i)
            bodies[name] = ObservedBody(
                self.snapshot.resolve(body.mass), values[:, r], values[:, rho], values[:, H],
                values[:, r1], values[:, rho1], rates[:, H], rates[:, r1], rates[:, rho1],
            )  # fmt: skip
        return bodies

    # -- balances ------------------------------------------------------------------------------------
    @cached_property
    def loads(self) -> dict[str, Spatial]:
        """Moment about o and force of weight and applied loads on each body, in XYZ."""
        s, X = self.snapshot, self.snapshot.pose(self.frame)
        loads = {}
        for name, part in self.parts.items():
            weight = part.mass * (X.R.T @ s.gravity)
            loads[name] = (cross(part.r + part.rho, weight), weight)
        for load in s.loads.applied_loads:
            if load.on.body in loads:
                at = s.pose(load.on).p if load.at is None else load.at
                force, (moment, total) = X.R.T @ load.force, loads[load.on.body]
                turn = X.R.T @ load.moment + cross(X.R.T @ (at - X.p), force)
                loads[load.on.body] = (moment + turn, total + force)
        return loads

    @cached_property
    def passed(self) -> dict[str, Array]:
        """The wrench of the joint before each body: the balance of all bodies beyond it, minus the loads on them.

        Moment about o and force, 6 x (1 + n).
        """
        needed = {name: np.vstack([p.moment(self.origin), p.force(self.origin)]) for name, p in self.parts.items()}
        return self._beyond({name: _plus_constant(x, -np.concatenate(self.loads[name])) for name, x in needed.items()})

    @cached_property
    def borne(self) -> dict[str, Array]:
        """The wrench of each joint without inertia, 6 x 1."""
        return self._beyond({name: -np.concatenate(load).reshape(6, 1) for name, load in self.loads.items()})

    def _beyond(self, each: Mapping[str, Array]) -> dict[str, Array]:
        """Sums over all bodies beyond each joint."""
        nodes = self.topology.full.nodes
        total = [each[node.bodies[0]] for node in nodes]
        for node in reversed(nodes):
            if node.parent != WORLD:
                total[node.parent] = total[node.parent] + total[node.index]
        return {node.joint.name: total[node.index] for node in nodes}

    def wrench(self, node: TreeLink, passed: Mapping[str, Array] | None = None) -> tuple[Array, Pose, Pose]:
        """The wrench by a on b about the joint's point, in its axes, and the poses of F and M in the world."""
        X, (F, M, _) = self.snapshot.pose(self.frame), self.snapshot.kinematics.cut_pose(node.joint.name)
        moment, force = np.split((self.passed if passed is None else passed)[node.joint.name], 2)
        moment = moment - skew(X.R.T @ (M.p - X.p)) @ force
        turn = M.R.T @ X.R * (-1.0 if node.reversed else 1.0)
        return np.vstack([turn @ moment, turn @ force]), F, M

    @cached_property
    def equations(self) -> tuple[Array, Array]:
        """M and h of M u_dot + h = added effort: the balances beyond each joint, along its freedoms."""
        s, n = self.snapshot, self.topology.n_u
        rows = np.zeros((n, 1 + n), dtype=object)
        for node in self.topology.full.nodes:
            joint, state = node.joint, s.kinematics.state_of(node.joint.name)
            if joint.n_u == 0 or state is None:
                continue
            S = joint.motion_subspace(s.joint_state(joint.name)[0], joint.form(s.resolve))
            start, ratio = state
            along = _plus_constant(S.T @ self.wrench(node)[0], -s.loads.own_effort(joint.name))
            rows[start : start + joint.n_u] = rows[start : start + joint.n_u] + ratio * along
        return tidy(rows[:, 1:]), tidy(rows[:, 0])

    @cached_property
    def u_dot(self) -> Array:
        """Accelerations of the state."""
        M, h = self.equations
        added = 0.0 if self.snapshot.given.effort is None else self.snapshot.given.effort
        return solve_spd(0.5 * (M + M.T), added - h) if len(h) else np.empty(0)

    def effort(self, u_dot: Array) -> Array:
        """The effort to be added to those of the model for given accelerations."""
        M, h = self.equations
        return tidy(M @ u_dot + h)

    def reaction(self, node: TreeLink, u_dot: Array) -> Spatial:
        """Moment and force by a on b, about b's joint point, in a's joint axes, without the effort."""
        return self._reaction(node, self._with_teeth(self._at(u_dot)))

    def static_reaction(self, node: TreeLink) -> Spatial:
        """The static share of the reaction; the whole load decides which flank of teeth carries it."""
        efforts = self._gear_efforts(self._at(self.u_dot)) if self.topology.meshes else {}
        flanks = {name: sign(effort) for name, effort in efforts.items()}
        return self._reaction(node, self._with_teeth(self.borne, flanks))

    def _at(self, u_dot: Array) -> dict[str, Array]:
        """The wrench of each joint for given accelerations, 6 x 1."""
        rates = np.concatenate([[1.0], u_dot])[:, None]
        return {name: columns @ rates for name, columns in self.passed.items()}

    def _gear_efforts(self, passed: Mapping[str, Array]) -> dict[str, Scalar]:
        """The effort of each gear along its follower, by constraint: what the follower needs beyond its own effort."""
        s, couplings = self.snapshot, self.topology.couplings
        nodes = {node.joint.name: node for node in self.topology.full.nodes}

        def effort(name: str) -> Scalar:
            joint = nodes[name].joint
            S = joint.motion_subspace(s.joint_state(name)[0], joint.form(s.resolve))
            needed = (S.T @ self.wrench(nodes[name], passed)[0][:, 0])[0] - s.loads.own_effort(name)[0]
            led = [(s.resolve(c.ratio), follower) for follower, c in couplings.items() if c.leader == name]
            return needed + sum((ratio * effort(follower) for ratio, follower in led), 0.0)

        return {coupling.constraint: effort(name) for name, coupling in couplings.items()}

    def _with_teeth(
        self, passed: Mapping[str, Array], flanks: Mapping[str, Scalar] | None = None
    ) -> Mapping[str, Array]:
        """The wrench of each joint where tooth forces are loads on the wheels beyond it."""
        if not self.topology.meshes:
            return passed
        X, teeth = self.snapshot.pose(self.frame), self.snapshot.kinematics.tooth_forces
        each = {name: np.zeros((6, 1)) for name in self.system.bodies}
        efforts = self._gear_efforts(passed)
        for name, mesh in self.topology.meshes.items():
            force = teeth.forces[name].force(efforts[name], None if flanks is None else flanks[name])
            for load in teeth.loads(mesh, force):
                if load.on.body in each:
                    assert load.at is not None
                    f = X.R.T @ load.force
                    wrench = np.concatenate([cross(X.R.T @ (load.at - X.p), f), f])
                    each[load.on.body] = each[load.on.body] - wrench[:, None]
        beyond = self._beyond(each)
        return {name: wrench + beyond[name] for name, wrench in passed.items()}

    def _reaction(self, node: TreeLink, passed: Mapping[str, Array]) -> Spatial:
        columns, F, M = self.wrench(node, passed)
        return self._without_effort(node, columns[:, 0], F, M)

    def _without_effort(self, node: TreeLink, wrench: Array, F: Pose, M: Pose) -> Spatial:
        """A wrench without its component along the freedoms, in the joint's given axes."""
        s, joint = self.snapshot, node.joint
        if joint.n_u:
            q, form = s.joint_state(joint.name)[0], joint.form(s.resolve)
            wrench = wrench - joint.effort_wrench(q, form) @ (joint.motion_subspace(q, form).T @ wrench)
        R = joint.axis_rotation(s.resolve, self.system.nominal) @ F.R.T @ M.R
        return R @ wrench[:3], R @ wrench[3:]

    def balances(self, u_dot: Array | None = None) -> dict[str, Balance]:
        """Both sides of the balance of every body, and as ``system`` of the whole.

        By default with the actual accelerations.  Loads and joints act on a body; loads, and the joints that connect it
        to the world, act on the system.
        """
        u_dot = self.u_dot if u_dot is None else u_dot

        def at(rates: Array) -> Array:
            return tidy(rates[:, 0] + rates[:, 1:] @ u_dot)

        nodes = self.topology.full.nodes
        acting = {node.bodies[0]: np.concatenate(self.loads[node.bodies[0]]) for node in nodes}
        acting["system"] = sum(acting.values(), np.zeros(6))
        for node in nodes:
            passed = at(self.passed[node.joint.name])
            before = "system" if node.parent == WORLD else nodes[node.parent].bodies[0]
            acting[node.bodies[0]] = acting[node.bodies[0]] + passed
            acting[before] = acting[before] + (passed if before == "system" else -passed)
        needed = {
            name: (at(part.moment(self.origin)), at(part.force(self.origin))) for name, part in self.parts.items()
        }
        force, moment = system_balance(self.origin, self.parts.values())
        needed["system"] = at(moment), at(force)
        return {name: Balance((tidy(a[:3]), tidy(a[3:])), needed[name]) for name, a in acting.items()}

    @cached_property
    def momenta(self) -> Spatial:
        """Angular momentum about the world's origin, and momentum, in world axes."""
        o, X = self.origin, self.snapshot.pose(self.frame)
        L, P = np.zeros(3), np.zeros(3)
        for part in self.parts.values():
            v = o.V + part.r1 + cross(o.W, part.r)
            v_center = v + part.rho1 + cross(o.W, part.rho)
            L = L + part.H + part.mass * (cross(part.rho, v) + cross(part.r, v_center))
            P = P + part.mass * v_center
        P = X.R @ P
        return X.R @ L + cross(X.p, P), P

    @property
    def kinetic_energy(self) -> Scalar:
        """Kinetic energy of all bodies (T-1.2)."""
        o, total = self.origin, 0.0
        for name, part in self.parts.items():
            v = o.V + part.r1 + cross(o.W, part.r)
            w = self.snapshot.pose(self.frame).R.T @ self.snapshot.velocity(Frame(name))[0]
            total = total + 0.5 * (part.mass * dot(v, v) + dot(w, part.H)) + part.mass * dot(v, cross(w, part.rho))
        return total


def find_observer(topology: Topology) -> Frame:
    """The default frame of the balances: the first moving frame whose angular acceleration is known, or a body."""
    system = topology.system
    known = (name for name in system.frames if not needs_jerk(system, Frame(name)))
    return Frame(next(known, topology.full.nodes[0].bodies[0]))
