"""One instant of a system, in one kind of number: everything about it, computed when asked for.

A snapshot takes t, q, u, z, parameters and inputs (floats, traced numbers, symbols) and answers for
coordinates, poses, velocities, loads, efforts, accelerations, reactions, energies, and for any quantity
by name.  The formulations do the mechanics; this class only connects them to the model's laws.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.expressions import Expression
from kinode.algebra.scalars import Array, Scalar, sqrt, tidy
from kinode.algebra.spatial import ZERO3, Pose, cross, dot, rpy_from_rotation, solve_spd
from kinode.formulations import recursive, steps
from kinode.formulations.power import element_power
from kinode.formulations.steps import Moved, Spatial
from kinode.model.elements import Load
from kinode.model.fields import Value
from kinode.model.frames import Frame
from kinode.model.names import QuantityName, find_quantity
from kinode.topology import WORLD, Geometry, Topology, Tree, find_node_frame

EMPTY = np.empty(0)


class Snapshot:
    """The state of a system and all that follows from it.

    ``effort`` adds to the model's own joint efforts (one entry for each u), ``wrenches`` to its loads
    (body -> (force, moment) in world axes at the body's origin), ``u_dot`` replaces forward dynamics.
    """

    def __init__(
        self,
        topology: Topology,
        t: Scalar,
        q: Array,
        u: Array,
        z: Array = EMPTY,
        p: Array = EMPTY,
        inputs: Array = EMPTY,
        *,
        effort: Array | None = None,
        wrenches: Mapping[str, tuple[Array, Array]] | None = None,
        u_dot: Array | None = None,
        full: bool = False,
    ) -> None:
        self.topology = topology
        self.system = topology.system
        self.tree: Tree = topology.full if full else topology.tree
        self.t, self.q, self.u, self.z = t, q, u, z
        self.p, self.inputs = p, inputs
        self.extra_effort = effort
        self.wrenches = wrenches or {}
        self.given_u_dot = u_dot
        self._names: dict[str, Scalar] = {"t": t}
        self._names.update(zip(topology.parameters, p, strict=True))
        self._names.update(zip(topology.inputs, inputs, strict=True))
        self._quantities: dict[str, Any] = {}
        self._frames: dict[Frame, Pose] = {}

    # -- laws --------------------------------------------------------------------------------------
    def resolve(self, value: Value) -> Scalar:
        """A constant or a law as a number."""
        if not isinstance(value, Expression):
            return value
        return value.evaluate(self.lookup, self.call)

    law = resolve

    def call(self, table: str, args: tuple[Scalar, ...], axes: tuple[int, ...] = ()) -> Scalar:
        """The value of a table."""
        return self.system.tables[table].call(args, axes)

    def lookup(self, name: str) -> Scalar:
        """The number that a name in a law stands for."""
        found = self._names.get(name)
        if found is None:
            parameter = self.system.parameters.get(name)
            signal = self.system.signals.get(name)
            if parameter is not None:
                found = self.resolve(parameter.value)
            elif signal is not None:
                found = self.resolve(signal.law)
            else:
                found = self.quantity(name)
            self._names[name] = found
        return found

    # -- coordinates -------------------------------------------------------------------------------
    @cached_property
    def geometry(self) -> Geometry:
        return self.topology.geometry(self.tree, self.resolve)

    def joint_state(self, name: str) -> tuple[Array, Array, Array | None]:
        """q, u of a joint, and u_dot where it is prescribed."""
        known = self._joint_states.get(name)
        if known is None:
            known = self._joint_states[name] = self._find_joint_state(name)
        return known

    @cached_property
    def _joint_states(self) -> dict[str, tuple[Array, Array, Array | None]]:
        return {}

    def _find_joint_state(self, name: str) -> tuple[Array, Array, Array | None]:
        topology, joint = self.topology, self.system.joints[name]
        if name in topology.q_of:
            return self.q[topology.q_of[name]], self.u[topology.u_of[name]], None
        if joint.n_u == 0:
            return EMPTY, EMPTY, EMPTY
        if name in topology.couplings:
            coupling = topology.couplings[name]
            q, u, u_dot = self.joint_state(coupling.leader)
            ratio, offset = self.resolve(coupling.ratio), self.resolve(coupling.offset)
            return ratio * q + offset, ratio * u, None if u_dot is None else ratio * u_dot
        if joint.motion is not None:
            first = [_derivative(x) for x in self._timely(joint.motion)]
            second = [_derivative(x) for x in first]
            return tuple(tidy([self.resolve(x) for x in part]) for part in (joint.motion, first, second))  # type: ignore[return-value]
        assert joint.speed is not None
        rates = [_derivative(x) for x in self._timely(joint.speed)]
        u, u_dot = (tidy([self.resolve(x) for x in part]) for part in (joint.speed, rates))
        return self.z[topology.z_of[name]], u, u_dot

    def _timely(self, laws: tuple[Value, ...]) -> list[Value]:
        """Laws with their signals written out, so that they can be differentiated by t."""
        found = list(laws)
        while any(isinstance(x, Expression) and x.names() & self.system.signals.keys() for x in found):
            signals = {name: signal.law for name, signal in self.system.signals.items()}
            found = [x.substitute(signals) if isinstance(x, Expression) else x for x in found]
        return found

    @cached_property
    def node_states(self) -> list[tuple[Array, Array, Array | None]]:
        return [self.joint_state(node.joint.name) for node in self.tree.nodes]

    # -- motion ------------------------------------------------------------------------------------
    @cached_property
    def moved(self) -> list[Moved]:
        states = self.node_states
        return recursive.move_tree(self.tree.nodes, self.geometry, [s[0] for s in states], [s[1] for s in states])

    @cached_property
    def link_poses(self) -> list[Pose]:
        """X_WL of each link."""
        found: list[Pose] = []
        for node, moved, X_PF in zip(self.tree.nodes, self.moved, self.geometry.placements, strict=True):
            step = X_PF @ moved.X
            found.append(step if node.parent == WORLD else found[node.parent] @ step)
        return found

    @cached_property
    def link_velocities(self) -> list[Array]:
        return recursive.velocities(self.tree.nodes, self.geometry, self.moved, [s[1] for s in self.node_states])

    def place(self, frame: Frame) -> tuple[int, Pose]:
        """The node that carries a frame and its pose in the link."""
        return find_node_frame(self.topology, self.tree, self.geometry, frame, self.resolve)

    def pose(self, frame: Frame) -> Pose:
        """X_WF."""
        if frame not in self._frames:
            node, X = self.place(frame)
            self._frames[frame] = X if node == WORLD else self.link_poses[node] @ X
        return self._frames[frame]

    def velocity(self, frame: Frame) -> tuple[Array, Array]:
        """Angular velocity and velocity of a frame's origin, in world axes."""
        node, X = self.place(frame)
        if node == WORLD:
            return ZERO3, ZERO3
        R, w = self.link_poses[node].R, self.moved[node].w
        return R @ w, R @ (self.link_velocities[node] + cross(w, X.p))

    def acceleration(self, frame: Frame) -> tuple[Array, Array]:
        """Angular acceleration and acceleration of a frame's origin, in world axes."""
        node, X = self.place(frame)
        if node == WORLD:
            return ZERO3, ZERO3
        R, w = self.link_poses[node].R, self.moved[node].w
        eps, W = self.link_accelerations[node]
        return R @ eps, R @ (W + cross(eps, X.p) + cross(w, cross(w, X.p))) + self.gravity

    # -- loads -------------------------------------------------------------------------------------
    @cached_property
    def gravity(self) -> Array:
        return tidy([self.resolve(x) for x in self.system.gravity])

    @cached_property
    def base(self) -> Spatial:
        """Acceleration of the base that stands for gravity."""
        return ZERO3, -self.gravity

    @cached_property
    def loads(self) -> list[Spatial | None]:
        """Moment about the link's origin and force on each link, in link axes, of elements and given wrenches."""
        total: list[Spatial | None] = [None] * len(self.tree.nodes)
        loads = [load for element in self.system.elements.values() for load in element.wrenches(self)]
        loads += [Load(Frame(body), force, moment) for body, (force, moment) in self.wrenches.items()]
        for load in loads:
            node, X = self.place(load.on)
            if node == WORLD:
                continue
            X_WL = self.link_poses[node]
            force = X_WL.R.T @ load.force
            arm = X.p if load.at is None else X_WL.R.T @ (load.at - X_WL.p)
            moment = X_WL.R.T @ load.moment + cross(arm, force)
            old = total[node]
            total[node] = (moment, force) if old is None else (old[0] + moment, old[1] + force)
        return total

    def effort_shares(self, name: str) -> dict[str, Array]:
        """The model's own efforts of a joint: drive (its law), spring, damping."""
        joint = self.system.joints[name]
        q, u, _ = self.joint_state(name)
        zero = np.zeros(joint.n_u)
        shares = {"drive": zero, "spring": zero, "damping": zero}
        if joint.effort is not None:
            shares["drive"] = tidy([self.resolve(x) for x in joint.effort])
        if joint.stiffness is not None:
            neutral = zero if joint.neutral is None else tidy([self.resolve(x) for x in joint.neutral])
            shares["spring"] = -tidy([self.resolve(k) for k in joint.stiffness]) * (q - neutral)
        if joint.damping is not None:
            shares["damping"] = -tidy([self.resolve(d) for d in joint.damping]) * u
        return shares

    @cached_property
    def efforts(self) -> list[Array]:
        """Efforts that act in each node's joint; of driven joints without the drive."""
        found = []
        for node in self.tree.nodes:
            name = node.joint.name
            shares = self.effort_shares(name)
            tau = shares["drive"] + shares["spring"] + shares["damping"]
            if self.extra_effort is not None and name in self.topology.u_of:
                tau = tau + self.extra_effort[self.topology.u_of[name]]
            found.append(tau)
        return found

    # -- dynamics ----------------------------------------------------------------------------------
    def spread(self, u_dot: Array) -> list[Array]:
        """Accelerations of all node joints from those of the state: given, prescribed and coupled."""
        found = []
        for node, (_, _, known) in zip(self.tree.nodes, self.node_states, strict=True):
            name, ratio = node.joint.name, 1.0
            if known is not None:
                found.append(known)
                continue
            while name in self.topology.couplings:
                ratio = ratio * self.resolve(self.topology.couplings[name].ratio)
                name = self.topology.couplings[name].leader
            found.append(ratio * u_dot[self.topology.u_of[name]])
        return found

    def collect(self, per_node: list[Array]) -> Array:
        """Generalized forces of the state from those of the node joints: the transpose of ``spread``."""
        total: list[Any] = [0.0] * self.topology.n_u
        for node, (_, _, known), values in zip(self.tree.nodes, self.node_states, per_node, strict=True):
            name, ratio = node.joint.name, 1.0
            if known is not None:
                continue
            while name in self.topology.couplings:
                ratio = ratio * self.resolve(self.topology.couplings[name].ratio)
                name = self.topology.couplings[name].leader
            start = self.topology.u_of[name].start
            for k, value in enumerate(values):
                total[start + k] = total[start + k] + ratio * value
        return tidy(total)

    @cached_property
    def _accelerations(self) -> tuple[list[Array], list[Spatial]]:
        """Accelerations of node joints and links."""
        nodes, geometry, moved = self.tree.nodes, self.geometry, self.moved
        if self.given_u_dot is not None:
            each = self.spread(self.given_u_dot)
            return each, recursive.accelerate_tree(nodes, geometry, moved, each, self.base)
        if self.topology.couplings:
            each = self.spread(solve_spd(self.mass_matrix, self.bias_effort))
            return each, recursive.accelerate_tree(nodes, geometry, moved, each, self.base)
        prescribed = [known for _, _, known in self.node_states]
        return recursive.forward_dynamics(nodes, geometry, moved, self.efforts, self.loads, self.base, prescribed)

    @cached_property
    def bias_effort(self) -> Array:
        """Generalized forces that are left to accelerate the state: tau - h."""
        nodes = self.tree.nodes
        still = self.spread(np.zeros(self.topology.n_u))
        A = recursive.accelerate_tree(nodes, self.geometry, self.moved, still, self.base)
        wrench = recursive.inverse_dynamics(nodes, self.geometry, self.moved, A, self.loads)
        needed = [_along(m.S, w) for m, w in zip(self.moved, wrench, strict=True)]
        return self.collect([tau - h for tau, h in zip(self.efforts, needed, strict=True)])

    @property
    def node_accelerations(self) -> list[Array]:
        return self._accelerations[0]

    @property
    def link_accelerations(self) -> list[Spatial]:
        """Classical accelerations of links less gravity, in link axes."""
        return self._accelerations[1]

    @cached_property
    def u_dot(self) -> Array:
        """Accelerations of the state."""
        if self.given_u_dot is not None:
            return self.given_u_dot
        found: list[Any] = [0.0] * self.topology.n_u
        for node, values in zip(self.tree.nodes, self.node_accelerations, strict=True):
            if node.joint.name in self.topology.u_of:
                for k, value in enumerate(values):
                    found[self.topology.u_of[node.joint.name].start + k] = value
        return tidy(found)

    @cached_property
    def q_dot(self) -> Array:
        found: list[Any] = [0.0] * self.topology.n_q
        for name, where in self.topology.q_of.items():
            rates = self.system.joints[name].rate_map(*self.joint_state(name)[:2])
            for k, value in enumerate(rates):
                found[where.start + k] = value
        return tidy(found)

    @cached_property
    def z_dot(self) -> Array:
        found: list[Any] = [0.0] * self.topology.n_z
        for name, where in self.topology.z_of.items():
            rates = self.system.joints[name].rate_map(*self.joint_state(name)[:2])
            for k, value in enumerate(rates):
                found[where.start + k] = value
        return tidy(found)

    @cached_property
    def link_wrenches(self) -> list[Spatial]:
        """What each node's joint passes on to its link, about the link's origin, in link axes."""
        return recursive.inverse_dynamics(self.tree.nodes, self.geometry, self.moved, self.link_accelerations, self.loads)

    @cached_property
    def static_wrenches(self) -> list[Spatial]:
        """The part of the link wrenches that balances gravity and loads, without inertia [3.24]."""
        still = [Moved(m.X, m.S, ZERO3, ZERO3, ZERO3) for m in self.moved]
        A = [_turned(X, self.base) for X in self.link_poses]
        return recursive.inverse_dynamics(self.tree.nodes, self.geometry, still, A, self.loads)

    def wrenches_of(self, part: str) -> list[Spatial]:
        """Link wrenches: total, static (gravity and loads alone) or kinetic (inertia alone) [3.24-3.26]."""
        if part == "total":
            return self.link_wrenches
        if part == "static":
            return self.static_wrenches
        pairs = zip(self.link_wrenches, self.static_wrenches, strict=True)
        return [(total[0] - static[0], total[1] - static[1]) for total, static in pairs]

    @cached_property
    def inverse_effort(self) -> Array:
        """Efforts beyond the model's own that the given accelerations need."""
        needed = [_along(m.S, w) for m, w in zip(self.moved, self.link_wrenches, strict=True)]
        return self.collect([h - tau for h, tau in zip(needed, self.efforts, strict=True)])

    @cached_property
    def mass_matrix(self) -> Array:
        n = self.topology.n_u
        M = np.zeros((n, n), dtype=object)
        M[:] = 0.0
        ways = [self._state_of(node.joint.name) for node in self.tree.nodes]

        def place(i: int, S: Array, j: int, F: Array) -> None:
            if ways[i] is None or ways[j] is None:
                return
            (a, ratio_a), (b, ratio_b) = ways[i], ways[j]  # type: ignore[misc]
            block = S.T @ F * (ratio_a * ratio_b)
            for k in range(block.shape[0]):
                for l in range(block.shape[1]):
                    M[a + k, b + l] = M[a + k, b + l] + block[k, l]
                    if i != j:
                        M[b + l, a + k] = M[b + l, a + k] + block[k, l]

        recursive.mass_matrix(self.tree.nodes, self.geometry, self.moved, place)
        return M

    def _state_of(self, name: str) -> tuple[int, Scalar] | None:
        """Where in u a joint's speeds are found, and times what; None where they are prescribed."""
        ratio: Scalar = 1.0
        while name in self.topology.couplings:
            ratio = ratio * self.resolve(self.topology.couplings[name].ratio)
            name = self.topology.couplings[name].leader
        return (self.topology.u_of[name].start, ratio) if name in self.topology.u_of else None

    # -- whole -------------------------------------------------------------------------------------
    @cached_property
    def sums(self) -> Array:
        """Kinetic energy, momentum, angular momentum, first moment and mass of all bodies, 11 numbers."""
        ground = self.geometry.ground
        return self.link_sums + np.concatenate([np.zeros(7), ground.moment, [ground.mass]])

    @cached_property
    def link_sums(self) -> Array:
        """The same of the links alone, without what rests in the world."""
        total: Array = np.zeros(11)
        for inertia, moved, v, X in zip(self.geometry.inertias, self.moved, self.link_velocities, self.link_poses, strict=True):
            total = total + np.concatenate(steps.momentum_sums(inertia, moved.w, v, X))
        return total

    @property
    def kinetic_energy(self) -> Scalar:
        return self.sums[0]

    @property
    def momenta(self) -> tuple[Array, Array, Array, Scalar]:
        """Momentum, angular momentum about the world's origin, first moment, mass."""
        return self.sums[1:4], self.sums[4:7], self.sums[7:10], self.sums[10]

    @cached_property
    def potential_energy(self) -> Scalar:
        """Of gravity, joint stiffness and elements that have one; zero at the world's origin."""
        total: Scalar = -dot(self.gravity, self.sums[7:10])
        for joint in self.system.joints.values():
            if joint.stiffness is not None:
                q = self.joint_state(joint.name)[0]
                neutral = np.zeros(joint.n_u) if joint.neutral is None else [self.resolve(x) for x in joint.neutral]
                for k, x, x0 in zip(joint.stiffness, q, neutral, strict=True):
                    total = total + 0.5 * self.resolve(k) * (x - x0) * (x - x0)
        for element in self.system.elements.values():
            total = total + element.potential(self)
        return total

    # -- reactions ---------------------------------------------------------------------------------
    @cached_property
    def full(self) -> Snapshot:
        """The same instant with every body a node of its own."""
        if self.tree is self.topology.full:
            return self
        return Snapshot(
            self.topology, self.t, self.q, self.u, self.z, self.p, self.inputs,
            effort=self.extra_effort, wrenches=self.wrenches, u_dot=self.u_dot, full=True,
        )  # fmt: skip

    @cached_property
    def node_named(self) -> dict[str, int]:
        return {node.joint.name: node.index for node in self.tree.nodes}

    def joint_wrench(self, name: str, part: str = "total") -> tuple[Spatial, Spatial]:
        """All that a joint transmits, and its reaction: (moment, force) by a on b, about M's origin, in F's given axes."""
        full = self.full
        i = full.node_named[name]
        node, moved = full.tree.nodes[i], full.moved[i]
        moment, force = full.wrenches_of(part)[i]
        T = node.mechanics.effort_wrench(full.node_states[i][0], full.geometry.forms[i])
        own = T @ _along(moved.S, (moment, force)) if node.joint.n_u else np.zeros(6)
        C = node.joint.axis_rotation(self.resolve, self.system.nominal)
        p_FM = moved.X.inverse().p
        found = []
        for m, f in ((moment, force), (moment - own[:3], force - own[3:])):
            if node.reversed:  # the tree's child is a and its axes are F's; b takes the opposite, about its own origin
                found.append((C @ (cross(p_FM, f) - m), C @ -f))
            else:
                R = C @ moved.X.R
                found.append((R @ m, R @ f))
        return found[0], found[1]

    def reaction(
        self, name: str, part: str = "total", *, whole: bool = False,
        on: str | None = None, about: Frame | None = None, expressed_in: Frame | None = None,
    ) -> Spatial:  # fmt: skip
        """Moment and force of a joint's reaction (or of all that it transmits), on a body, about a point, in axes.

        Left out: on the child, about its joint point, in the parent's joint axes.
        """
        joint = self.system.joints[name]
        moment, force = self.joint_wrench(name, part)[0 if whole else 1]
        if on is not None and on == joint.a.body:
            moment, force = -moment, -force
        if about is None and expressed_in is None:
            return moment, force
        R = self.pose(self.system.find_frame(f"{name}.parent")).R
        moment, force = R @ moment, R @ force
        if about is not None:
            arm = self.pose(self.system.find_frame(f"{name}.child")).p - self.pose(about).p
            moment = moment + cross(arm, force)
        back = (R if expressed_in is None else self.pose(expressed_in).R).T
        return back @ moment, back @ force

    def joint_effort(self, name: str) -> Array:
        """What acts along a joint's freedoms, the drive of a prescribed motion and what gears pass on included."""
        full = self.full
        i = full.node_named[name]
        joint = self.system.joints[name]
        if joint.n_u == 0:
            return EMPTY
        if joint.driven or name in self.topology.tied or self.given_u_dot is not None:
            return _along(full.moved[i].S, full.link_wrenches[i])
        return full.efforts[i]

    # -- by name -----------------------------------------------------------------------------------
    def quantity(self, name: str | QuantityName) -> Any:
        """Any quantity: a number or an array."""
        found = find_quantity(self.system, name) if isinstance(name, str) else name
        if found.text not in self._quantities:
            value = getattr(self, f"_{found.sort}_quantity")(found)
            self._quantities[found.text] = value if found.part is None else np.asarray(value, dtype=object).reshape(-1)[found.part]
        return self._quantities[found.text]

    def _time_quantity(self, name: QuantityName) -> Scalar:
        return self.t

    def _parameter_quantity(self, name: QuantityName) -> Scalar:
        return self.lookup(name.owner)

    _input_quantity = _signal_quantity = _parameter_quantity

    def _in_axes(self, vector: Array, axes: Frame | None) -> Array:
        return vector if axes is None else self.pose(axes).R.T @ vector

    def _frame_quantity(self, name: QuantityName) -> Any:
        frame = name.frame
        assert frame is not None
        match name.quantity:
            case "position":
                return self._in_axes(self.pose(frame).p, name.axes)
            case "velocity" | "angular_velocity":
                return self._in_axes(self.velocity(frame)[name.quantity == "velocity"], name.axes)
            case "acceleration" | "angular_acceleration":
                return self._in_axes(self.acceleration(frame)[name.quantity == "acceleration"], name.axes)
        R = self.pose(frame).R if name.axes is None else self.pose(name.axes).R.T @ self.pose(frame).R
        if name.quantity == "rotation":
            return R
        return rpy_from_rotation(R) if name.quantity == "rpy" else _quaternion(R)

    def _system_quantity(self, name: QuantityName) -> Any:
        match name.quantity:
            case "energy":
                return self.kinetic_energy + self.potential_energy
            case "kinetic_energy":
                return self.kinetic_energy
            case "potential_energy":
                return self.potential_energy
        P, L, first, mass = self.momenta
        return self._in_axes({"momentum": P, "angular_momentum": L, "com": first / mass}[name.quantity], name.axes)

    def _element_quantity(self, name: QuantityName) -> Any:
        if name.quantity == "power":
            return element_power(self, self.system.elements[name.owner])
        value = self.system.elements[name.owner].quantity(name.quantity, self)
        return self._in_axes(value, name.axes) if name.parts else value

    def _joint_quantity(self, name: QuantityName) -> Any:
        joint, key = self.system.joints[name.owner], name.quantity
        if key in ("q", "u"):
            value = self.joint_state(joint.name)[key == "u"]
            return value if name.parts else value[0] if len(value) else 0.0
        if key == "u_dot":
            value = self.node_accelerations[self.node_named[joint.name]]
        elif key == "power":
            return dot(self.joint_effort(joint.name), self.joint_state(joint.name)[1]) if joint.n_u else 0.0
        elif key == "effort":
            value = self.joint_effort(joint.name)
        elif key.startswith("effort."):
            value = self._effort_share(joint.name, key.removeprefix("effort."))
        else:
            return self._wrench_quantity(name)
        return value if name.parts else value[0] if len(value) else 0.0

    def _effort_share(self, name: str, share: str) -> Array:
        shares = self.effort_shares(name)
        if share == "drive" and self.system.joints[name].driven:
            drive: Array = self.joint_effort(name) - shares["spring"] - shares["damping"] + self._passed_on(name)
            return drive
        return shares[share]

    def _passed_on(self, name: str) -> Scalar:
        """What gears take from a joint for those that follow it."""
        total: Scalar = 0.0
        for follower, coupling in self.topology.couplings.items():
            if coupling.leader == name:
                needed = self.joint_effort(follower) - sum(self.effort_shares(follower).values())
                total = total + self.resolve(coupling.ratio) * (needed + self._passed_on(follower))
        return total

    def _wrench_quantity(self, name: QuantityName) -> Any:
        kind, _, part = name.quantity.partition(".")
        moment, force = self.reaction(name.owner, whole=kind == "wrench", expressed_in=name.axes)
        if part in ("axial", "radial"):
            joint = self.system.joints[name.owner]
            axis = joint.axis_rotation(self.resolve, self.system.nominal) @ np.array([0.0, 0.0, 1.0])
            along = dot(axis, force)
            if part == "axial":
                return along
            across = force - along * axis
            return sqrt(dot(across, across))
        return moment if part == "moment" else force


def _turned(X: Pose, motion: Spatial) -> Spatial:
    """A motion without a point, from world axes to those of a link."""
    return X.R.T @ motion[0], X.R.T @ motion[1]


def _along(S: Array, wrench: Spatial) -> Array:
    """S'F: the part of a wrench along a joint's freedoms."""
    return S.T @ np.concatenate(wrench) if S.shape[1] else EMPTY


def _derivative(value: Value) -> Value:
    return value.derivative("t") if isinstance(value, Expression) else 0.0


def _quaternion(R: Array) -> Array:
    """Unit quaternion of a rotation of any kind of number, by the largest of its four squares."""
    from kinode.algebra.scalars import less, where

    squares = [
        1.0 + R[0, 0] + R[1, 1] + R[2, 2],
        1.0 + R[0, 0] - R[1, 1] - R[2, 2],
        1.0 - R[0, 0] + R[1, 1] - R[2, 2],
        1.0 - R[0, 0] - R[1, 1] + R[2, 2],
    ]
    x, y, z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    xy, xz, yz = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    rows = [[squares[0], x, y, z], [x, squares[1], xy, xz], [y, xy, squares[2], yz], [z, xz, yz, squares[3]]]
    best, row = squares[0], rows[0]
    for k in range(1, 4):
        better = less(best, squares[k])
        best = where(better, squares[k], best)
        row = [where(better, a, b) for a, b in zip(rows[k], row, strict=True)]
    scale = 0.5 / sqrt(best)
    flip = where(less(row[0], 0.0), -1.0, 1.0)
    return tidy([entry * scale * flip for entry in row])


