"""Equilibrium without inertia where constraints close loops: what the static part of a reaction is made of.

In a tree every freedom holds itself, and the static part follows from the loads behind a joint (T-9.24).  In a loop
it matters who holds: the freedoms that are held take efforts e, all others have only what acts in them anyway,

    S'W - tau = G' lam + H' e                                              (T-5.3)

with W the wrenches that carry weight and loads along the tree, tau the own efforts of the joints, G the rows of the
constraints and H the rates of the held freedoms, both by the speeds of the state.  Driven joints are not in the state:
they hold what they have to.  A held freedom of the tree takes what its own equation leaves, and so does every freedom
that no loop touches; the equations that remain have as many unknowns, lam and the efforts of held joints that close
loops.  Joints are told by name, freedoms by joint and number.

The inertia of a body can be among the loads, as d'Alembert has it: it adds the body's share of the kinetic part.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.sparse_ldl import Saddle, sparse
from kinode.algebra.spatial import ZERO3, dot
from kinode.errors import SupportError
from kinode.model.base.element import Load
from kinode.model.base.frames import Frame
from kinode.model.constraints.constraint import Constraint
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.multibody.links import recursive_dynamics
from kinode.multibody.links.link_steps import LinkKinematics, Spatial
from kinode.multibody.restraints import loop_constraints
from kinode.structure.link_geometry import WORLD
from kinode.structure.topology import Topology

if TYPE_CHECKING:
    from kinode.model.base.scene import SlidingScene
    from kinode.multibody.kinematics import Kinematics
    from kinode.multibody.loads import Loads
    from kinode.multibody.motion import Motion
    from kinode.multibody.restraints.constraint_scenes import LoopScene

Freedom = tuple[str, int]  # a joint and the number of one of its freedoms
Support = tuple[Freedom, ...] | None  # None: nothing that is asked for depends on who holds
INERTIA_OF = "inertia of "  # a body: the part of reactions that the motion of this body alone asks for
DOUBT = 1e-8  # square of the relative error from which on a solution is worth nothing
ROUNDING = 1e-15  # relative, of the rows
TINY = 1e-300


# -- what loops touch ------------------------------------------------------------------------------
def joints_in_loops(topology: Topology) -> tuple[str, ...]:
    """The joints whose loads depend on the constraints: all between the frames that a constraint ties together.

    Joints that a gear ties to one of these move with it, and count too.
    """
    found = {name for cut in topology.cuts for name in (cut.joint.name, *cut.loop)}
    for constraint in topology.constraints:
        found |= _between(topology, constraint)
    roots = {_root(topology, name) for name in found}
    return tuple(name for name in topology.system.joints if name in found or _root(topology, name) in roots)


def _between(topology: Topology, constraint: Constraint) -> set[str]:
    if isinstance(constraint, CoordinateCoupling):
        loop_of = {cut.joint.name: cut.loop for cut in topology.cuts}
        return {name for joint in constraint.joints().values() for name in (joint, *loop_of.get(joint, ()))}
    fields = constraint.specs().values()
    bodies = {getattr(constraint, field.name).body for field, spec in fields if spec.shape == "frame"}
    ways = [_way(topology, body) for body in bodies]
    return set[str]().union(*ways) - set[str].intersection(*ways)


def _way(topology: Topology, body: str) -> set[str]:
    """The joints of the tree that carry a body."""
    tree = topology.full
    node, found = tree.node_of[body], set()
    while node != WORLD:
        found.add(tree.nodes[node].joint.name)
        node = tree.nodes[node].parent
    return found


def _root(topology: Topology, name: str) -> str:
    """The joint that leads the gears of a joint."""
    while name in topology.couplings:
        name = topology.couplings[name].leader
    return name


def speeds_in_loops(topology: Topology) -> tuple[int, ...]:
    """The speeds of the state that constraints bind."""
    names = [name for name in joints_in_loops(topology) if name in topology.u_of]
    return tuple(k for name in names for k in range(topology.u_of[name].start, topology.u_of[name].stop))


def speed_of(topology: Topology, freedom: Freedom) -> int | None:
    """Where in u a freedom is found; None for one that is measured (its joint closes a loop) or driven."""
    name = _root(topology, freedom[0])
    return topology.u_of[name].start + freedom[1] if name in topology.u_of else None


# -- equilibrium -----------------------------------------------------------------------------------
class SupportedJoint:
    """A freedom of a cut joint as a constraint: its speed is a slip that must vanish."""

    units: tuple[str, ...] = ("velocity",)
    relative = True

    def __init__(self, kinematics: Kinematics, freedom: Freedom) -> None:
        self.name, self.number = freedom
        self.kinematics = kinematics

    def residual(self, scene: LoopScene) -> Array:
        """None: a position can be held anywhere."""
        return np.empty(0)

    def slip(self, scene: SlidingScene) -> Array:
        """The speed of the freedom."""
        q = self.kinematics.joint_state(self.name)[0]
        return self.kinematics.relative_speeds(self.name, q, scene.velocity)[self.number : self.number + 1]

    def looks(self, kinematics: Kinematics) -> tuple[list[Frame], list[str]]:
        """The frames of the joint."""
        return loop_constraints.look(kinematics, self)


class LoadedTree(Protocol):
    """An instant on one tree: what moves, what acts, and what follows."""

    @property
    def kinematics(self) -> Kinematics: ...

    @property
    def loads(self) -> Loads: ...

    @property
    def motion(self) -> Motion: ...


class Statics:
    """The static equilibrium of an instant, with the freedoms ``hold`` as support.

    ``full`` gives the same instant with every body a link of its own.  The inertia of the body ``moving`` is among the
    loads, where there is one.
    """

    def __init__(
        self, instant: LoadedTree, full: Callable[[], LoadedTree], hold: Support, moving: str | None = None
    ) -> None:
        self.instant, self.kinematics, self._full = instant, instant.kinematics, full
        self.moving = moving
        self.closed = hold is not None
        self.hold = hold = hold or ()
        topology = self.kinematics.topology
        taken = {speed_of(topology, freedom) for freedom in hold}
        self.bound = speeds_in_loops(topology)
        self.free = [k for k in self.bound if k not in taken]
        self.held = [SupportedJoint(self.kinematics, freedom) for freedom in hold if freedom[0] in topology.cut_names]

    @cached_property
    def rows(self) -> Array:
        """Of the unknowns, by the speeds of the state."""
        rows = [
            self.kinematics.constraints.jacobian,
            *(loop_constraints.jacobian(self.kinematics, joint) for joint in self.held),
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
        return [] if self.moving is None else [self._full().motion.inertia_load(self.moving)]

    @cached_property
    def _solution(self) -> tuple[Array, Scalar]:
        """The unknowns, and the square of how far they can be wrong, relative to them.

        Each freedom is weighted by what the rows say of it.  The solution is improved once; what it is wrong by is the
        correction, and rounding of the rows as far as the unknowns exceed the loads.
        """
        A, f = self.rows[:, self.free], self._demand[self.free]
        weights = {k: dot(self.rows[:, k], self.rows[:, k]) + TINY for k in self.bound}
        scale = tidy([weights[k] for k in self.free])
        solve, none = Saddle([{k: w} for k, w in enumerate(scale)], sparse(A)), np.zeros(len(A))
        first = solve(-f, none)[1]
        change = solve(A.T @ first - f, none)[1]
        sizes = tidy([sum((row[k] * row[k] / w for k, w in weights.items()), 0.0) for row in self.rows])
        size = dot(sizes * first, first) + TINY
        doubt = dot(sizes * change, change) / size + ROUNDING * ROUNDING * size / (dot(f / scale, f) + TINY)
        return tidy(first + change), doubt

    @property
    def doubt(self) -> Scalar:
        """Beyond ``DOUBT``, or not finite, the held freedoms cannot hold in this position."""
        return self._solution[1] if len(self.rows) else 0.0

    @property
    def multipliers(self) -> Array:
        """Of the constraints, the independent rows."""
        return self._solution[0][: len(self._solution[0]) - len(self.held)]

    def loads_of(self, name: str) -> list[Load]:
        """What held freedoms of a cut joint do to its bodies."""
        efforts = self._solution[0][len(self._solution[0]) - len(self.held) :]
        pairs = zip(self.held, efforts, strict=True)
        constraints = self.kinematics.constraints
        each = [constraints.loads_of(joint, tidy([e])) for joint, e in pairs if joint.name == name]
        return [load for loads in each for load in loads]

    @property
    def loads(self) -> list[Load]:
        """What constraints and held cut joints do to bodies."""
        if not self.closed:
            return []
        held = [load for name in dict.fromkeys(joint.name for joint in self.held) for load in self.loads_of(name)]
        return self.kinematics.constraints.loads(self.multipliers) + held

    @cached_property
    def link_wrenches(self) -> list[Spatial]:
        """What each joint of the full tree passes on to its link, about the link's origin, in link axes."""
        full = self._full()
        return _wrenches(full, [*full.loads.applied_loads, *self._inertia, *self.loads])

    def joint_effort(self, name: str) -> Array:
        """What acts along the freedoms of a joint of the tree, held or not."""
        full = self._full().kinematics
        i = full.node_named[name]
        effort: Array = full.link_kinematics[i].S.T @ np.concatenate(self.link_wrenches[i])
        return effort

    def passed_effort(self, name: str) -> Array:
        """The same without what the joint of a gear's follower holds with, which the gear does not pass on."""
        effort = self.joint_effort(name)
        if (name, 0) not in self.hold or name not in self.kinematics.topology.couplings:
            return effort
        way = self.kinematics.state_of(name)
        assert way is not None
        k, ratio = way
        unheld: Array = effort - (self._demand[k] - dot(self.rows[:, k], self._solution[0])) / ratio
        return unheld


def _wrenches(instant: LoadedTree, loads: list[Load]) -> list[Spatial]:
    """Link wrenches that balance gravity and loads on bodies while nothing moves."""
    kinematics = instant.kinematics
    still = [LinkKinematics(link.X, link.S, ZERO3, ZERO3, ZERO3) for link in kinematics.link_kinematics]
    A = [(X.R.T @ kinematics.base[0], X.R.T @ kinematics.base[1]) for X in kinematics.link_poses]
    gathered = instant.loads.gathered(loads)
    return recursive_dynamics.inverse_dynamics(kinematics.tree.nodes, kinematics.geometry, still, A, gathered)
