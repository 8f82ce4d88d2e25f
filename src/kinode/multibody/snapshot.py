"""A snapshot: one evaluation of a system at an instant; it gives every quantity by name.

It is composed of parts, each of which is computed on demand, and once:

    laws          expressions
    kinematics    positions, velocities, inertia: independent of efforts, shared between instants by reference
    loads         loads on bodies and efforts along joints
    friction      sliding friction, given or solved for
    motion        accelerations, by the chosen formulation
    locking       locking efforts
    network       networks at these accelerations
    reactions     wrenches of joints
    efforts       efforts along joints, by share

All its inputs are arguments of the constructor.  Formulations differ in their ``Composition`` alone.  ``project``
brings a state back onto its constraints, and so removes the drift of rounding and integration.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.sparse_ldl import Row, Saddle
from kinode.algebra.spatial import Pose, cross
from kinode.model.base.fields import Value
from kinode.model.base.frames import Frame, Resolve
from kinode.model.base.observers.moving_frames import needs_jerk
from kinode.model.base.scene import Solid
from kinode.model.constraints.constraint import POSITIONS
from kinode.model.network.domain import ENERGIES
from kinode.model.quantities import QuantityName, find_quantity
from kinode.multibody import loop_constraints
from kinode.multibody.coupled_friction import Friction
from kinode.multibody.given import Given, JointState
from kinode.multibody.instant_reactions import Reactions
from kinode.multibody.joint_efforts import JointEfforts
from kinode.multibody.kinematics import Kinematics
from kinode.multibody.laws import Laws
from kinode.multibody.link_steps import Spatial
from kinode.multibody.loads import Loads
from kinode.multibody.locked_joints import Locking, LockRows
from kinode.multibody.loop_constraints import Constraints
from kinode.multibody.loop_statics import Statics, Support
from kinode.multibody.motion import Motion, RecursiveMotion
from kinode.multibody.network_motion import NetworkMotion
from kinode.multibody.quantity_values import VALUES, unit_wrenches
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology, has_friction
from kinode.structure.tree import Tree

if TYPE_CHECKING:
    from kinode.model.system import System
    from kinode.multibody.network_condensation import Condensed


@dataclass(frozen=True, eq=False)
class Composition:
    """The constructors of the parts of a snapshot; the defaults are those of the recursive formulation.

    ``whole_tree``: every body is a link of its own.  ``condenses``: networks are condensed to efforts and inertia of
    joints; otherwise their flows are unknowns of the formulation.
    """

    whole_tree: bool = False
    condenses: bool = True
    kinematics: Callable[[Topology, Tree, EvaluationPoint, Laws, Given], Kinematics] = Kinematics
    motion: Callable[[Snapshot], Motion] = RecursiveMotion
    network: Callable[[Snapshot], NetworkMotion] = NetworkMotion
    reactions: Callable[[Snapshot], Reactions] = Reactions


RECURSIVE = Composition()


class Shared(NamedTuple):
    """What two instants at one point can share: the kinematics; if only efforts differ, network and matrix too."""

    kinematics: Kinematics | None = None
    find_condensed: Callable[[], Condensed | None] | None = None
    find_solver: Callable[[], Saddle] | None = None


NOT_SHARED = Shared()


class Snapshot:
    """One instant of a system, in the scalar type of its point: the ``Scene`` in which components are evaluated.

    Parameters
    ----------
    topology : Topology
        The structure of the system.
    point : EvaluationPoint
        Time, state, parameters and inputs.
    effort, wrenches, u_dot, friction : optional
        Further given values, as in ``Given``.
    given : Given, optional
        All given values, in place of the four arguments before it.
    full : bool
        Whether every body is a link of its own, also those that fixed joints connect.
    formulation : Composition
        The parts that solve for the motion; by default the recursive formulation.
    shared : Shared
        Parts of an instant at the same point.
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
        given: Given | None = None,
        full: bool = False,
        formulation: Composition = RECURSIVE,
        shared: Shared = NOT_SHARED,
    ) -> None:
        if given is None:
            given = Given(effort=effort, wrenches=wrenches or {}, u_dot=u_dot, friction=friction)
        self.topology, self.point, self.given = topology, point, given
        self.system: System = topology.system
        self.t: Scalar = point.t
        self.q, self.u, self.z = point.q, point.u, point.z
        self.p, self.inputs = point.p, point.inputs
        self.laws = Laws(topology, point, self.quantity)
        self.resolve: Resolve = self.laws.resolve
        self.law: Resolve = self.laws.resolve
        self.lookup: Callable[[str], Scalar] = self.laws.lookup
        self.formulation, self.shared = formulation, shared
        self._full_tree = full or formulation.whole_tree
        self._quantities: dict[str, Any] = {}

    # -- parts -------------------------------------------------------------------------------------
    @cached_property
    def kinematics(self) -> Kinematics:
        """Positions, velocities, inertia."""
        if self.shared.kinematics is not None:
            return self.shared.kinematics
        tree = self.topology.full if self._full_tree else self.topology.tree
        return self.formulation.kinematics(self.topology, tree, self.point, self.laws, self.given)

    @property
    def tree(self) -> Tree:
        """The tree of links."""
        return self.kinematics.tree

    @cached_property
    def condensed(self) -> Condensed | None:
        """The condensed network at this instant; None if the system has none."""
        if self.shared.find_condensed is not None:
            return self.shared.find_condensed()
        network = self.topology.network
        if network is None:
            return None
        from kinode.multibody.network_condensation import Condensed  # few models have a network

        return Condensed(self.kinematics, self, network)

    @cached_property
    def friction(self) -> Friction:
        """Sliding friction."""
        return Friction(self)

    @cached_property
    def loads(self) -> Loads:
        """Loads on bodies and efforts along joints."""
        return Loads(self)

    @cached_property
    def lock_rows(self) -> LockRows:
        """The locks of joints."""
        return LockRows(self)

    @cached_property
    def motion(self) -> Motion:
        """Accelerations, and the forces that they need."""
        return self.formulation.motion(self)

    @cached_property
    def locking(self) -> Locking:
        """Locking efforts."""
        return Locking(self)

    @cached_property
    def network(self) -> NetworkMotion:
        """Networks at these accelerations."""
        return self.formulation.network(self)

    @cached_property
    def reactions(self) -> Reactions:
        """Wrenches of joints."""
        return self.formulation.reactions(self)

    @cached_property
    def efforts(self) -> JointEfforts:
        """Efforts along joints, by share."""
        return JointEfforts(self)

    # -- other instants ----------------------------------------------------------------------------
    def at(self, point: EvaluationPoint) -> Snapshot:
        """An instant at another point, with nothing given."""
        return Snapshot(self.topology, point, formulation=self.formulation)

    def again(self, given: Given, *, full: bool = False) -> Snapshot:
        """The same instant with other given values; the kinematics is shared if it does not depend on them."""
        tree = self.topology.full if full or self.formulation.whole_tree else self.topology.tree
        known = self.kinematics if tree is self.tree else self.kinematics.full if full else None
        shared = Shared(known if known is not None and known.serves(given) else None)
        return Snapshot(self.topology, self.point, given=given, full=full, formulation=self.formulation, shared=shared)

    def with_friction(self, efforts: Mapping[str, Array], /) -> Snapshot:
        """The same instant with given efforts of friction; the parts that do not depend on them are shared."""
        if not has_friction(self.system):
            return self
        given = replace(self.given, friction=efforts, sticking=self.given.locks_hold)
        shared = Shared(self.kinematics, lambda: self.condensed, self.motion.find_solver)
        full = self.tree is self.topology.full
        return Snapshot(self.topology, self.point, given=given, full=full, formulation=self.formulation, shared=shared)

    def stressed(self, multipliers: Array, /) -> Snapshot:
        """The same instant without accelerations and friction, with known multipliers, on the full tree."""
        no_acceleration = np.zeros(self.topology.n_u)
        return self.again(Given(u_dot=no_acceleration, friction={}, multipliers=multipliers), full=True)

    @cached_property
    def own_motion(self) -> Snapshot | None:
        """The same instant with the model's own accelerations, if accelerations in loops are given; else None."""
        if self.given.u_dot is None or not self.topology.constrained:
            return None
        return self.again(Given(effort=self.given.effort, wrenches=self.given.wrenches))

    @cached_property
    def full(self) -> Snapshot:
        """The same instant with every body a link of its own, and with locking efforts as known efforts."""
        motion, given = self.motion, self.given
        locked = motion.articulated and given.u_dot is None and bool(self.lock_rows.locks)
        if self.tree is self.topology.full and not locked:
            return self
        if not motion.sweeps_full_tree:
            given = Given(
                effort=given.effort, wrenches=given.wrenches, u_dot=self.u_dot, friction=self.friction.sliding,
                lock_efforts=self.lock_efforts, joint_states=given.joint_states,
                multipliers=self.multipliers if self.topology.constrained else None,
            )  # fmt: skip
        elif self.topology.constrained:
            given = replace(given, multipliers=self.multipliers)
        return Snapshot(
            self.topology, self.point, given=given, full=True, formulation=self.formulation,
            shared=Shared(self.kinematics.full),
        )  # fmt: skip

    # -- laws and states ---------------------------------------------------------------------------
    @cached_property
    def network_rates(self) -> Mapping[str, str]:
        """The states of networks that are time derivatives of others: name and unit, in the order of z."""
        network = self.topology.network
        states = () if network is None else network.states
        units = {f"{state.owner}.{state.name}": state.unit for state in states if state.order == 1}
        return {c.name: units[c.name] for c in self.topology.coordinates if c.role == "z" and c.name in units}

    def timely(self, laws: Sequence[Value], order: int) -> list[Array]:
        """Expressions of time, with their derivatives up to an order."""
        return self.laws.timely(laws, order)

    def other_states(self, name: str, /) -> Array:
        """The entries of z that belong to a component."""
        return self.kinematics.other_states(name)

    def discrete_states(self, name: str, /) -> Mapping[str, Scalar]:
        """The discrete states of a component, by name."""
        return self.kinematics.discrete_states(name)

    def held(self, name: str, /) -> Mapping[str, Scalar]:
        """``discrete_states`` as version 0.1 called it, for plug-ins in its words."""
        warnings.warn("scene.held is now called scene.discrete_states", FutureWarning, stacklevel=2)
        return self.discrete_states(name)

    def joint_state(self, name: str, /) -> JointState:
        """q, u of a joint, and u_dot where it is prescribed."""
        return self.kinematics.joint_state(name)

    def joint_rate(self, name: str, /) -> Array:
        """Rate of a joint's coordinates."""
        return self.kinematics.joint_rate(name)

    def joint_acceleration(self, name: str, /) -> Array:
        """u_dot of a joint of the tree, or of a cut joint."""
        return self.motion.joint_acceleration(name)

    def shifted(self, state: str, by: Scalar, /) -> Snapshot:
        """The same instant with one of the other states, by name, increased."""
        z = self.z.copy()
        index = next(c.index for c in self.topology.coordinates if c.role == "z" and c.name == state)
        z[index] = z[index] + by
        return self.at(self.point.replaced(z=z))

    # -- frames ------------------------------------------------------------------------------------
    def pose(self, frame: Frame, /) -> Pose:
        """X_WF."""
        return self.kinematics.pose(frame)

    def velocity(self, frame: Frame, /) -> tuple[Array, Array]:
        """Angular velocity and velocity of a frame's origin, in world axes."""
        observer = self.system.frames.get(frame.body)
        if observer is None or not needs_jerk(self.system, frame):
            return self.kinematics.velocity(frame)
        w, v = observer.velocity(self)
        return w, v + cross(w, self.pose(frame).p - observer.pose(self).p)

    def acceleration(self, frame: Frame, /) -> tuple[Array, Array]:
        """Angular acceleration and acceleration of a frame's origin, in world axes."""
        observer = self.system.frames.get(frame.body)
        if observer is None:
            return self.motion.body_acceleration(frame)
        (w, _), (eps, a), arm = observer.velocity(self), observer.acceleration(self), self.pose(frame).p
        arm = arm - observer.pose(self).p
        return eps, a + cross(eps, arm) + cross(w, cross(w, arm))

    # -- bodies -----------------------------------------------------------------------------------
    @property
    def gravity(self) -> Array:
        """The acceleration of free fall, in world axes."""
        return self.kinematics.gravity

    @property
    def solids(self) -> Sequence[Solid]:
        """Every body with its mass and its inertia about its mass center."""
        return self.kinematics.solids

    # -- by name -----------------------------------------------------------------------------------
    def quantity(self, name: str | QuantityName) -> Any:
        """Any quantity: a number or an array."""
        quantity_name = find_quantity(self.system, name) if isinstance(name, str) else name
        if quantity_name.text not in self._quantities:
            value = VALUES[quantity_name.sort](self, quantity_name)
            self._quantities[quantity_name.text] = (
                value if quantity_name.part is None else np.asarray(value, dtype=object).reshape(-1)[quantity_name.part]
            )
        return self._quantities[quantity_name.text]

    def unit_wrenches(self, name: QuantityName) -> list[Scalar]:
        """The force or moment of a constraint on a body, as its name requests it, for each unit multiplier."""
        return unit_wrenches(self, name)

    # -- rates of the state ------------------------------------------------------------------------
    @cached_property
    def q_dot(self) -> Array:
        """Rates of the coordinates."""
        return _joined(self.topology.q_of, self.topology.n_q, self.kinematics.joint_rate)

    @property
    def u_dot(self) -> Array:
        """Accelerations of the state."""
        return self.motion.u_dot

    @cached_property
    def z_dot(self) -> Array:
        """Rates of all other states."""
        own = {} if self.topology.network is None else self.topology.network.states_of

        def rates(name: str) -> Array:
            return self.network.state_rates(name) if name in own else self.system[name].state_rates(self)

        return _joined(self.topology.z_of, self.topology.n_z, rates)

    # -- equations and sums ------------------------------------------------------------------------
    @property
    def mass_matrix(self) -> Array:
        """M by the speeds of the state."""
        return self.motion.mass_matrix

    @property
    def mass_rows(self) -> list[Row]:
        """The rows of M without the entries that are known to be zero."""
        return self.motion.mass_rows

    @property
    def bias_effort(self) -> Array:
        """Generalized forces that accelerate the state: tau - h."""
        return self.motion.bias_effort

    @property
    def inverse_effort(self) -> Array:
        """Efforts, added to the model's own, that the given accelerations need."""
        return self.motion.inverse_effort

    @property
    def constraints(self) -> Constraints:
        """The loop constraints."""
        return self.kinematics.constraints

    @property
    def multipliers(self) -> Array:
        """One for each independent constraint row."""
        return self.motion.multipliers

    def projected(self) -> tuple[Array, Array, Scalar]:
        """q and u on the constraints, and the effective mass of the rows."""
        return project(self)

    @property
    def kinetic_energy(self) -> Scalar:
        """Of all bodies [J]."""
        return self.kinematics.kinetic_energy

    @cached_property
    def potential_energy(self) -> Scalar:
        """Of gravity, joint stiffness and elements that have one; zero at the world's origin [J]."""
        return self.kinematics.potential_energy(x.potential(self) for x in self.system.elements.values())

    @property
    def momenta(self) -> tuple[Array, Array, Array, Scalar]:
        """Momentum, angular momentum about the world's origin, first moment, mass."""
        return self.kinematics.momenta

    @property
    def energies(self) -> dict[str, Scalar]:
        """The energy of bodies, joints, elements and networks by kind: kinetic, potential, electric, thermal [J]."""
        mechanical = {"kinetic": self.kinetic_energy, "potential": self.potential_energy}
        return {kind: mechanical.get(kind, 0.0) + self.network.energy(kind) for kind in ENERGIES}

    # -- friction and locked joints ----------------------------------------------------------------
    def friction_limit(self, name: str, /) -> Scalar:
        """The largest locking effort of a joint's friction."""
        return self.friction.limit(name)

    def held_effort(self, owner: str, part: str, /) -> Scalar:
        """The locking effort of a lock; zero if accelerations are given."""
        if self.own_motion is not None:
            return self.own_motion.held_effort(owner, part)
        return 0.0 if self.given.u_dot is not None else self.locking.effort_of(owner, part)

    def held_beside(self, owner: str, part: str, /) -> Scalar:
        """1 while another active lock of the same joint could take more, else 0."""
        return self.locking.beside(owner, part)

    def lock_response(self, owner: str, part: str, /) -> Scalar:
        """The acceleration of a lock's joints for a unit of its effort, by the diagonal of the mass matrix."""
        return self.locking.response_of(owner, part)

    def stopped(self, owner: str, part: str, /) -> Array:
        """The speeds of the state when a lock becomes active."""
        return self.locking.stopped(owner, part)

    def struck(self, owner: str, part: str, restitution: Scalar, /) -> Array:
        """The speeds of the state after an impact: that of a lock returns times the restitution."""
        return self.locking.struck(owner, part, restitution)

    @cached_property
    def friction_efforts(self) -> Mapping[str, Array]:
        """Efforts of friction by joint, the locking efforts of sticking friction included."""
        sliding = self.friction.sliding
        if not self.given.locks_hold:
            return sliding
        return {name: effort + self.held_effort(name, "friction") for name, effort in sliding.items()}

    @cached_property
    def lock_efforts(self) -> Mapping[str, Scalar]:
        """The sum of the locking efforts along each joint."""
        if self.given.u_dot is not None and self.own_motion is None:
            return self.given.lock_efforts
        return (self.own_motion or self).locking.by_joint

    # -- reactions ---------------------------------------------------------------------------------
    def statics(self, hold: Support = None) -> Statics:
        """Static equilibrium, with the freedoms ``hold`` as support of loops."""
        return self.reactions.statics(hold)

    def joint_wrench(self, name: str, part: str = "total", hold: Support = None) -> tuple[Spatial, Spatial]:
        """The whole wrench of a joint, and its reaction: (moment, force) by a on b, about M, in F's given axes."""
        return self.reactions.joint_wrench(name, part, hold)

    def pressing_wrench(self, name: str) -> tuple[Spatial, Array]:
        """The reaction of a joint without separating forces of teeth, and the efforts of the gears that have them."""
        return self.reactions.pressing_wrench(name)

    def reaction(
        self, name: str, part: str = "total", *, hold: Support = None, whole: bool = False,
        on: str | None = None, about: Frame | None = None, expressed_in: Frame | None = None,
    ) -> Spatial:  # fmt: skip
        """Moment and force of a joint's reaction (or of its whole wrench), on a body, about a point, in axes.

        By default on the child, about its joint point, in the parent's joint axes.  ``part`` is total, static, kinetic
        or ``inertia of`` a body; the freedoms ``hold`` are the support of a static share in loops.
        """
        wrench = self.joint_wrench(name, part, hold)[0 if whole else 1]
        return self.reactions.seen(name, wrench, on, about, expressed_in)

    def joint_effort(self, name: str) -> Array:
        """The effort along a joint's freedoms, including the drive of a prescribed motion and efforts of gears."""
        return self.reactions.joint_effort(name)

    def holding(self, origin: str, part: str = "total", hold: Support = None) -> Array:
        """Force and moment of a joint, effort of a drive or gear, or multipliers (``topology.holding``)."""
        return self.efforts.holding(origin, part, hold)

    def multipliers_of(self, constraint: str, balance: Statics | None = None) -> Array:
        """The multipliers of a constraint: a force or moment for each of its rows."""
        return self.efforts.multipliers_of(constraint, balance)


def _joined(slices: Mapping[str, slice], size: int, values: Callable[[str], Array]) -> Array:
    """An array of ``size`` entries, put together from the values of each name."""
    joined: list[Any] = [0.0] * size
    for name, where in slices.items():
        joined[where] = values(name)
    return tidy(joined)


def project(snapshot: Snapshot) -> tuple[Array, Array, Scalar]:
    """q and u on the constraints, by one Newton step each (the shortest in the metric of the mass matrix).

    Slips restrict speeds alone, so their rows are left out of the step of q.  The third value is the effective mass
    b' (G M^-1 G')^-1 b before the step, for certain rates b of the rows: it grows without bound where the rows become
    dependent.  The rates b are irregular, so that no symmetry of a mechanism can hide this.
    """
    kinematics, locks, solve = snapshot.kinematics, snapshot.lock_rows, snapshot.motion.find_solver()
    constraints = kinematics.constraints
    no_force, no_lock_rates = np.zeros(kinematics.topology.n_u), np.zeros(len(locks.locks))
    solve_positions = solve
    position_rows = [k for k, unit in enumerate(constraints.units) if unit in POSITIONS]
    if len(position_rows) < len(constraints.rows):
        held_rows = [constraints.rows[k] for k in position_rows]
        solve_positions = Saddle(snapshot.mass_rows, held_rows, locks.rows, locks.stuck)
    residual = constraints.chosen(loop_constraints.residual)[position_rows]
    step, _ = solve_positions(no_force, np.concatenate([-residual, no_lock_rates]))
    q = kinematics.advanced_q(locks.still(step))
    projected = snapshot.at(snapshot.point.replaced(q=q))
    drift = constraints.combine(projected.constraints.every(loop_constraints.drift))
    change, _ = solve(no_force, tidy([*-drift, *projected.lock_rows.drift]))
    return q, locks.still(kinematics.u + change), solve.effective_mass(constraints.probe_rates)
