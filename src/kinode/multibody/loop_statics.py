"""Static equilibrium of mechanisms with loops: it gives the static share of a reaction.

In a tree every freedom supports itself, and the static share follows from the loads behind a joint (T-9.24).  In a loop
it depends on the support: the supported freedoms take efforts e, all others only the efforts that act in them anyway,

    S'W - tau = G' lam + H' e                                              (T-5.3)

with W the wrenches that carry weight and loads along the tree, tau the own efforts of the joints, G the constraint rows
and H the rates of the supported freedoms, both by the speeds of the state.  Driven joints are not in the state: they
take whatever effort is needed.  A supported freedom of the tree takes the residual of its own equation, and so does
every freedom outside loops.  The remaining equations are as many as the unknowns: lam, and the efforts of supported cut
joints.  A freedom is given by the name of its joint and its number there.

The inertia of a body can be added to the loads (d'Alembert); this adds the body's share of the kinetic reaction.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.sparse_ldl import Saddle, sparse
from kinode.algebra.spatial import ZERO3, dot
from kinode.errors import SupportError
from kinode.model.base.element import Load
from kinode.model.base.field_reader import FRAME
from kinode.model.base.frames import Frame
from kinode.model.constraints.constraint import Constraint
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.multibody import loop_constraints
from kinode.multibody.link_steps import LinkKinematics, Spatial
from kinode.multibody.recursive_dynamics import MovingTree
from kinode.structure.topology import Topology

if TYPE_CHECKING:
    from kinode.model.base.scene import SlidingScene
    from kinode.multibody.constraint_scenes import LoopScene
    from kinode.multibody.kinematics import Kinematics
    from kinode.multibody.snapshot import Snapshot


Freedom = tuple[str, int]  # a joint and the number of one of its freedoms
Support = tuple[Freedom, ...] | None  # None: no requested quantity depends on the support
INERTIA_OF = "inertia of "  # with the name of a body: the share of reactions that is due to the motion of this body
DOUBT = 1e-8  # square of the relative error above which a static solution is rejected
ROW_ROUNDING = 1e-15  # relative rounding error of the constraint rows
ZERO_GUARD = 1e-300  # added to denominators that may be zero


# -- joints and speeds in loops --------------------------------------------------------------------
def joints_in_loops(topology: Topology) -> tuple[str, ...]:
    """The joints whose loads depend on the constraints: all joints between the frames of a constraint.

    Joints that are geared to one of these are included, as they move with it.
    """
    names = set[str]().union(*find_loops(topology))
    leaders = {_leader(topology, name) for name in names}
    return tuple(name for name in topology.system.joints if name in names or _leader(topology, name) in leaders)


def find_loops(topology: Topology) -> list[set[str]]:
    """The joints of each loop: those of a cut joint, and those between the frames of a constraint."""
    cut_loops = [{cut.joint.name, *cut.loop} for cut in topology.cuts]
    return cut_loops + [_joints_between(topology, constraint) for constraint in topology.constraints]


def _joints_between(topology: Topology, constraint: Constraint) -> set[str]:
    """The joints on the paths between the bodies, or between the joints, of a constraint element."""
    if isinstance(constraint, CoordinateCoupling):
        loop_of = {cut.joint.name: cut.loop for cut in topology.cuts}
        return {name for joint in constraint.joints().values() for name in (joint, *loop_of.get(joint, ()))}
    return topology.joints_between({frame.body for frame in constraint.values_of(FRAME).values()})


def _leader(topology: Topology, name: str) -> str:
    """The joint at the head of a joint's gear train; the joint itself if no gear drives it."""
    while name in topology.couplings:
        name = topology.couplings[name].leader
    return name


def speeds_in_loops(topology: Topology) -> tuple[int, ...]:
    """Indices in u of the speeds of joints in loops."""
    names = [name for name in joints_in_loops(topology) if name in topology.u_of]
    return tuple(k for name in names for k in range(topology.u_of[name].start, topology.u_of[name].stop))


def speed_of(topology: Topology, freedom: Freedom) -> int | None:
    """Index in u of a freedom, or of the one that it is geared to; None for a freedom of a cut or driven joint."""
    name = _leader(topology, freedom[0])
    return topology.u_of[name].start + freedom[1] if name in topology.u_of else None


# -- equilibrium -----------------------------------------------------------------------------------
class SupportedJoint:
    """A supported freedom of a cut joint, as a constraint: its speed is a slip that must vanish."""

    units: tuple[str, ...] = ("velocity",)
    relative = True

    def __init__(self, kinematics: Kinematics, freedom: Freedom) -> None:
        self.name, self.number = freedom
        self.kinematics = kinematics

    def residual(self, scene: LoopScene) -> Array:
        """Empty: the freedom can be supported in any position."""
        return np.empty(0)

    def slip(self, scene: SlidingScene) -> Array:
        """The speed of the freedom."""
        q = self.kinematics.joint_state(self.name)[0]
        return self.kinematics.relative_speeds(self.name, q, scene.velocity)[self.number : self.number + 1]

    def find_dependencies(self, kinematics: Kinematics) -> tuple[list[Frame], list[str]]:
        """The frames of the cut joint."""
        return loop_constraints.find_dependencies(kinematics, self)


class Statics:
    """The static equilibrium of an instant, with the freedoms ``support`` supported.

    If ``moving`` names a body, its inertia is added to the loads.
    """

    def __init__(self, instant: Snapshot, support: Support, moving: str | None = None) -> None:
        self.instant, self.kinematics, self.moving = instant, instant.kinematics, moving
        self.closed = support is not None
        self.support = support = support or ()
        topology = self.kinematics.topology
        supported = {speed_of(topology, freedom) for freedom in support}
        self.bound = speeds_in_loops(topology)
        self.free = [k for k in self.bound if k not in supported]
        self.supported_cuts = [
            SupportedJoint(self.kinematics, freedom) for freedom in support if freedom[0] in topology.cut_names
        ]

    @cached_property
    def rows(self) -> Array:
        """Rows of the unknowns, [G; H], by the speeds of the state."""
        rows = [
            self.kinematics.constraints.jacobian,
            *(loop_constraints.jacobian(self.kinematics, joint) for joint in self.supported_cuts),
        ]
        A: Array = np.concatenate(rows)
        if len(A) != len(self.free):
            message = f"{len(self.free)} freedoms in loops have {len(A)} unknowns: held are too few joints or too many"
            raise SupportError(f"hold: {message}")
        return A

    @cached_property
    def _demand(self) -> Array:
        """S'W - tau."""
        loads = [*self.instant.loads.applied_loads, *self._inertia]
        return self.instant.motion.efforts_beyond(_wrenches(self.instant, loads))

    @property
    def _inertia(self) -> list[Load]:
        return [] if self.moving is None else [self.instant.full.motion.inertia_load(self.moving)]

    @cached_property
    def _solution(self) -> tuple[Array, Scalar]:
        """The unknowns, and an estimate of the square of their relative error.

        Each freedom is weighted by the square of its column of the rows.  The solution is refined once.  The error is
        the correction, plus the rounding of the rows, which counts as far as the unknowns exceed the loads.
        """
        if not len(self.rows):
            return np.zeros(0), 0.0
        A, f = self.rows[:, self.free], self._demand[self.free]
        weights = {k: dot(self.rows[:, k], self.rows[:, k]) + ZERO_GUARD for k in self.bound}
        scale = tidy([weights[k] for k in self.free])
        solve, none = Saddle([{k: w} for k, w in enumerate(scale)], sparse(A)), np.zeros(len(A))
        solution = solve(-f, none)[1]
        correction = solve(A.T @ solution - f, none)[1]
        sizes = tidy([sum((row[k] * row[k] / w for k, w in weights.items()), 0.0) for row in self.rows])
        size = dot(sizes * solution, solution) + ZERO_GUARD
        rounding = ROW_ROUNDING * ROW_ROUNDING * size / (dot(f / scale, f) + ZERO_GUARD)
        doubt = dot(sizes * correction, correction) / size + rounding
        return tidy(solution + correction), doubt

    @property
    def doubt(self) -> Scalar:
        """Square of the relative error.  Above ``DOUBT``, or not finite: the support does not bear this position."""
        return self._solution[1]

    @property
    def multipliers(self) -> Array:
        """Multipliers of the independent constraint rows."""
        return self._solution[0][: len(self._solution[0]) - len(self.supported_cuts)]

    def loads_of(self, name: str) -> list[Load]:
        """Loads on bodies by the supported freedoms of a cut joint."""
        efforts = self._solution[0][len(self._solution[0]) - len(self.supported_cuts) :]
        pairs = zip(self.supported_cuts, efforts, strict=True)
        constraints = self.kinematics.constraints
        each = [constraints.loads_of(joint, tidy([e])) for joint, e in pairs if joint.name == name]
        return [load for loads in each for load in loads]

    @property
    def loads(self) -> list[Load]:
        """Loads on bodies by constraints and by supported cut joints."""
        if not self.closed:
            return []
        names = dict.fromkeys(joint.name for joint in self.supported_cuts)
        supporting = [load for name in names for load in self.loads_of(name)]
        return self.kinematics.constraints.loads(self.multipliers) + supporting

    @cached_property
    def link_wrenches(self) -> list[Spatial]:
        """The wrench of each joint of the full tree on its link, about the link's origin, in link axes."""
        full = self.instant.full
        return _wrenches(full, [*full.loads.applied_loads, *self._inertia, *self.loads])

    def joint_effort(self, name: str) -> Array:
        """The effort along the freedoms of a joint of the tree, supported or not."""
        full = self.instant.full.kinematics
        i = full.node_named[name]
        effort: Array = full.link_kinematics[i].S.T @ np.concatenate(self.link_wrenches[i])
        return effort

    def passed_effort(self, name: str) -> Array:
        """The same without the support effort of a gear's follower, which the gear does not transmit."""
        effort = self.joint_effort(name)
        if (name, 0) not in self.support or name not in self.kinematics.topology.couplings:
            return effort
        state = self.kinematics.state_of(name)
        assert state is not None
        k, ratio = state
        passed: Array = effort - (self._demand[k] - dot(self.rows[:, k], self._solution[0])) / ratio
        return passed


def _wrenches(instant: Snapshot, loads: list[Load]) -> list[Spatial]:
    """Joint wrenches that balance gravity and loads on bodies, with all links at rest."""
    kinematics = instant.kinematics
    links_at_rest = [LinkKinematics(link.X, link.S, ZERO3, ZERO3, ZERO3) for link in kinematics.link_kinematics]
    A = [(X.R.T @ kinematics.base[0], X.R.T @ kinematics.base[1]) for X in kinematics.link_poses]
    link_loads = instant.loads.sum_on_links(loads)
    return MovingTree(kinematics.tree, kinematics.geometry, links_at_rest).inverse_dynamics(A, link_loads)
