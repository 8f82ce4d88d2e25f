"""One instant of a system, in one kind of number: its laws, coordinates, poses, velocities and loads.

Takes t, q, u, z, parameters and inputs (floats, traced numbers, symbols).  Everything is computed when it
is asked for, and once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.spatial import ZERO3, Pose, cross
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.element import Load, Solid
from kinode.model.base.fields import Value
from kinode.model.base.frames import Frame
from kinode.model.joints.end_stops import Range
from kinode.model.joints.joint import Joint
from kinode.model.joints.joint_events import STOP
from kinode.model.quantity_names import EFFORT_SHARES
from kinode.model.system import joint_frame
from kinode.multibody.links import recursive_dynamics
from kinode.multibody.links.link_steps import LinkKinematics, Spatial
from kinode.structure.evaluation_point import EMPTY, EvaluationPoint
from kinode.structure.link_geometry import WORLD, Geometry, Tree, find_node_frame
from kinode.structure.topology import Topology

if TYPE_CHECKING:
    from kinode.multibody.network_condensation import Condensed


class Instant:
    """The state of a system and all that follows from it.

    ``effort`` adds to the model's own joint efforts (one entry for each u), ``wrenches`` to its loads
    (body -> (force, moment) in world axes at the body's origin), ``u_dot`` replaces forward dynamics, ``friction`` the
    efforts of friction that follow from the reactions.
    """

    def __init__(
        self,
        topology: Topology,
        point: EvaluationPoint,
        *,
        effort: Array | None = None,
        wrenches: Mapping[str, tuple[Array, Array]] | None = None,
        u_dot: Array | None = None,
        friction: Mapping[str, Array] | None = None,
        full: bool = False,
    ) -> None:
        self.topology = topology
        self.system = topology.system
        self.tree: Tree = topology.full if full else topology.tree
        self.point = point
        self.t, self.q, self.u, self.z = point.t, point.q, point.u, point.z
        self.p, self.inputs = point.p, point.inputs
        self.extra_effort = effort
        self.wrenches = wrenches or {}
        self.given_u_dot = u_dot
        self.given_friction = friction
        self.locked = friction is None  # whether what sticks holds; friction that is given from outside is all there is
        self.given_holding: Mapping[str, Scalar] = {}  # what locks do along joints, beyond their own efforts
        self._names: dict[str, Scalar] = {"t": point.t}
        self._names.update(zip(topology.parameters, point.p, strict=True))
        self._names.update(zip(topology.inputs, point.inputs, strict=True))
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
        return self.system.callable_tables[table].call(args, axes)

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
        if name in topology.cut_names and not joint.driven:
            return (*self.cut_state(name), None)
        if joint.motion is not None:
            q, u, u_dot = self.timely(joint.motion, 2)
            return q, u, u_dot
        assert joint.speed is not None
        u, u_dot = self.timely(joint.speed, 1)
        return self.other_states(name), u, u_dot

    def other_states(self, name: str) -> Array:
        """The states that a component has of its own."""
        return self.z[self.topology.z_of[name]]

    def held(self, name: str) -> dict[str, Scalar]:
        """The entries of a component that only events change, by name; of a state without them as they settle."""
        if not len(self.z):
            return dict(self.system[name].settled(self))
        where = self.topology.layout.discrete_of.get(name)
        return {} if where is None else dict(zip((n for n, _ in self.system[name].held), self.z[where], strict=True))

    def timely(self, laws: Sequence[Value], order: int) -> list[Array]:
        """Laws of time with their derivatives up to an order."""
        found = [list(laws)] if order == 0 else [self._written_out(laws)]
        for _ in range(order):
            found.append([_derivative(x) for x in found[-1]])
        return [tidy([self.resolve(x) for x in part]) for part in found]

    def passes(self, law: Value) -> bool:
        """Whether a law changes with time."""
        return any(isinstance(x, Expression) and "t" in x.names() for x in self._written_out([law]))

    def _written_out(self, laws: Sequence[Value]) -> list[Value]:
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
    def moved(self) -> list[LinkKinematics]:
        states = self.node_states
        return recursive_dynamics.move_tree(
            self.tree.nodes, self.geometry, [s[0] for s in states], [s[1] for s in states]
        )

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
        return recursive_dynamics.velocities(
            self.tree.nodes, self.geometry, self.moved, [s[1] for s in self.node_states]
        )

    def place(self, frame: Frame) -> tuple[int, Pose]:
        """The node that carries a frame and its pose in the link."""
        return find_node_frame(self.tree, self.geometry, frame, self.resolve)

    def pose(self, frame: Frame) -> Pose:
        """X_WF."""
        if frame not in self._frames:
            observer = self.system.frames.get(frame.body)
            if observer is None:
                self._frames[frame] = self.body_pose(frame)
            else:
                X = observer.pose(self)
                self._frames[frame] = X if frame.is_plain else X @ frame.pose(self.resolve)
        return self._frames[frame]

    def body_pose(self, frame: Frame) -> Pose:
        """The same of a frame on a body."""
        node, X = self.place(frame)
        return X if node == WORLD else self.link_poses[node] @ X

    def velocity(self, frame: Frame) -> tuple[Array, Array]:
        """Angular velocity and velocity of a frame's origin, in world axes."""
        observer = self.system.frames.get(frame.body)
        if observer is None:
            return self.body_velocity(frame)
        w, v = observer.velocity(self)
        return w, v + cross(w, self.pose(frame).p - observer.pose(self).p)

    def acceleration(self, frame: Frame) -> tuple[Array, Array]:
        """Angular acceleration and acceleration of a frame's origin, in world axes."""
        observer = self.system.frames.get(frame.body)
        if observer is None:
            return self.body_acceleration(frame)
        (w, _), (eps, a), arm = observer.velocity(self), observer.acceleration(self), self.pose(frame).p
        arm = arm - observer.pose(self).p
        return eps, a + cross(eps, arm) + cross(w, cross(w, arm))

    def body_acceleration(self, frame: Frame) -> tuple[Array, Array]:
        """The same of a frame on a body; ``Motion`` finds it."""
        raise NotImplementedError(frame)

    def body_velocity(self, frame: Frame) -> tuple[Array, Array]:
        """Angular velocity and velocity of a frame on a body."""
        node, X = self.place(frame)
        if node == WORLD:
            return ZERO3, ZERO3
        R, w = self.link_poses[node].R, self.moved[node].w
        return R @ w, R @ (self.link_velocities[node] + cross(w, X.p))

    # -- loads -------------------------------------------------------------------------------------
    @cached_property
    def gravity(self) -> Array:
        return tidy([self.resolve(x) for x in self.system.gravity])

    @cached_property
    def solids(self) -> list[Solid]:
        """Every body with its mass and its inertia about its mass center."""
        bodies = self.system.bodies.values()
        return [Solid(b.com, self.resolve(b.total_mass()), b.central_inertia(self.resolve)) for b in bodies]

    @cached_property
    def base(self) -> Spatial:
        """Acceleration of the base that stands for gravity."""
        return ZERO3, -self.gravity

    @cached_property
    def loads(self) -> list[Spatial | None]:
        """Moment about the link's origin and force on each link, in link axes, of all that acts on bodies."""
        return self.gathered([*self.applied_loads, *self.closing_loads])

    @cached_property
    def applied_loads(self) -> list[Load]:
        """Of elements, given wrenches, and the efforts of joints that close loops."""
        loads = [load for element in self.system.elements.values() for load in element.wrenches(self)]
        loads += [Load(Frame(body), force, moment) for body, (force, moment) in self.wrenches.items()]
        return loads + [load for name in self.topology.cut_names for load in self.cut_efforts(name)]

    def gathered(self, loads: list[Load]) -> list[Spatial | None]:
        """Loads on bodies as moment about the link's origin and force on each link, in link axes."""
        total: list[Spatial | None] = [None] * len(self.tree.nodes)
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

    @property
    def closing_loads(self) -> list[Load]:
        """What constraints do to bodies, where it is known already."""
        return []

    def cut_pose(self, name: str) -> tuple[Pose, Pose, Pose]:
        """X_WF, X_WM and X_FM of a joint, from the poses of its frames, in canonical axes."""
        joint = self.system.joints[name]
        C = Pose(joint.axis_rotation(self.resolve, self.system.nominal), ZERO3)
        F, M = (self.pose(joint_frame(joint, side)) @ C for side in ("parent", "child"))
        return F, M, F.inverse() @ M

    def cut_state(self, name: str) -> tuple[Array, Array]:
        """q and u of a joint that closes a loop, from the poses and velocities of its frames; angles within a turn."""
        joint = self.system.joints[name]
        q = tidy(joint.solve_coordinates(self.cut_pose(name)[2], joint.form(self.resolve)))
        return q, self.relative_speeds(name, q, self.velocity)

    def relative_speeds(self, name: str, q: Array, velocity: Callable[[Frame], tuple[Array, Array]]) -> Array:
        """u of a joint from velocities of its frames: their part along its freedoms."""
        joint = self.system.joints[name]
        F, M, _ = self.cut_pose(name)
        (w_F, v_F), (w_M, v_M) = (velocity(joint_frame(joint, side)) for side in ("parent", "child"))
        w, v = w_M - w_F, v_M - v_F - cross(w_F, M.p - F.p)
        relative = np.concatenate([M.R.T @ w, M.R.T @ v])
        return tidy(joint.effort_wrench(q, joint.form(self.resolve)).T @ relative)

    def cut_efforts(self, name: str) -> list[Load]:
        """The efforts of a joint that closes a loop, as loads on its two bodies."""
        joint = self.system.joints[name]
        laws = (joint.effort, joint.stiffness, joint.damping, joint.friction, joint.ends)
        if all(x is None for x in laws) and name not in self.given_holding and self.part_effort(name) is None:
            return []
        _, M, _ = self.cut_pose(name)
        tau = self.own_effort(name)
        wrench = joint.effort_wrench(self.joint_state(name)[0], joint.form(self.resolve)) @ tau
        moment, force = M.R @ wrench[:3], M.R @ wrench[3:]
        return [Load(joint.b, force, moment, at=M.p), Load(joint.a, -force, -moment, at=M.p)]

    def effort_shares(self, name: str, friction: Mapping[str, Array] | None = None) -> dict[str, Array]:
        """The model's own efforts of a joint: drive (its law), spring, damping, friction, stop."""
        joint = self.system.joints[name]
        q, u, _ = self.joint_state(name)
        zero = np.zeros(joint.n_u)
        shares = dict.fromkeys(EFFORT_SHARES, zero)
        if joint.effort is not None:
            shares["drive"] = tidy([self.resolve(x) for x in joint.effort])
        if joint.stiffness is not None:
            neutral = zero if joint.neutral is None else tidy([self.resolve(x) for x in joint.neutral])
            shares["spring"] = -tidy([self.resolve(k) for k in joint.stiffness]) * (q - neutral)
        if joint.damping is not None:
            shares["damping"] = -tidy([self.resolve(d) for d in joint.damping]) * u
        if joint.friction is not None:
            shares["friction"] = (self.friction_efforts if friction is None else friction).get(name, zero)
        if joint.ends is not None:
            resting = self.held_effort(name, "stop") if friction is None else 0.0
            shares["stop"] = tidy([self.stop_effort(joint) + resting])
        return shares

    def held_effort(self, owner: str, part: str) -> Scalar:
        """What a lock holds with; ``Motion`` finds it."""
        return 0.0

    def stop_effort(self, joint: Joint) -> Scalar:
        """What a compliant end of its range does along a joint."""
        assert joint.ends is not None
        if joint.ends.rigid:
            return 0.0
        q, u, _ = self.joint_state(joint.name)
        return Range(joint, self.resolve, q, u, self.held(joint.name)[STOP]).effort()

    @cached_property
    def friction_efforts(self) -> Mapping[str, Array]:
        """Efforts of friction, by joint, as far as they are given; ``Motion`` finds them."""
        return self.given_friction or {}

    @cached_property
    def sliding(self) -> Mapping[str, Array]:
        """The same without what friction holds with where it sticks."""
        return self.given_friction or {}

    def own_effort(self, name: str) -> Array:
        """The model's own efforts of a joint, all together, without what locks hold with unless that is given."""
        total: Array = sum(self.effort_shares(name, self.sliding).values(), np.zeros(self.system.joints[name].n_u))
        parts = self.part_effort(name)
        total = total if parts is None else total + parts
        return total + self.given_holding[name] if name in self.given_holding else total

    def part_effort(self, name: str) -> Array | None:
        """What the parts of a network do along a joint, but for the inertia that they add; None where none acts."""
        parts = None if self.condensed is None else self.condensed.effort(name)
        own = self.element_efforts.get(name)
        if own is None:
            return parts
        return tidy([own]) if parts is None else parts + own

    @cached_property
    def element_efforts(self) -> dict[str, Scalar]:
        """What elements do along joints, which is no load on bodies."""
        found: dict[str, Scalar] = {}
        for element in self.system.elements.values():
            for name, effort in element.efforts(self).items():
                found[name] = found.get(name, 0.0) + effort
        return found

    @cached_property
    def condensed(self) -> Condensed | None:
        """The network at this instant; None where there is none."""
        if self.topology.network is None:
            return None
        from kinode.multibody.network_condensation import Condensed

        return Condensed(self, self.topology.network)

    @cached_property
    def efforts(self) -> list[Array]:
        """Efforts that act in each node's joint; of driven joints without the drive."""
        found = []
        for node in self.tree.nodes:
            name = node.joint.name
            tau = self.own_effort(name)
            if self.extra_effort is not None and name in self.topology.u_of:
                tau = tau + self.extra_effort[self.topology.u_of[name]]
            found.append(tau)
        return found

    def quantity(self, name: str) -> Any:
        """A quantity by name; ``Snapshot`` knows them."""
        raise NotImplementedError(name)


@lru_cache(maxsize=1024)  # laws outlive the many instants that ask for their rates
def _derivative(value: Value) -> Value:
    return value.derivative("t") if isinstance(value, Expression) else 0.0
