"""The class of the operating space: which rotations and translations bodies have, and who gives them.

A body's space is told by the presence of Rx, Ry, Rz and Tx, Ty, Tz: components of its angular velocity, and of the
velocity of its mass center (of its origin, if it has no mass), that do not vanish always.  The class P1 to P6 is their
number, in the notation of component circuits: a planar arm moves in P3 = (Tx ∩ Ty) ∩ Rz.  How many of them are
independent is the number of freedoms.

All is found from velocities at random positions, those of loops reached by walking along their freedoms, with laws of
drives taken off: a drive may move in any way, unless its law is constant.  What moves then although all drives stand
still moves by forces, and is in dynamic mode; the rest is given, in kinematic mode, and its forces are results.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import cross
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import AssemblyError
from kinode.expressions.syntax_tree import Expression
from kinode.kernels.state import State
from kinode.model.base.frames import Frame
from kinode.model.joints.joint import Joint
from kinode.model.network.nodes import find_nodes
from kinode.model.system import System, joint_frame
from kinode.multibody.snapshot import Snapshot
from kinode.simulation.task_arguments import find_model
from kinode.structure.loop_closure import RANK, WALK_LENGTH, characteristic_length

PLACES = 5  # positions that are looked at
WALKS = 4  # steps from one to the next in loops
MOTIONS = 7  # in each position: one more than a body can have freedoms
NOTHING = 1e-8  # share of the largest velocity below which there is none
ROUNDING = 1e-4  # of turning times the mechanism's length: velocities no larger than this are not the measure
LONG = 40  # letters of a law that are shown
PAIRS = ("", "V", "IV", "III", "II", "I")  # class of a kinematic pair by its freedoms: what it takes from six


@dataclass(frozen=True)
class Space:
    """Which translations and rotations there are, and how many of them are independent."""

    travels: tuple[str, ...]
    turns: tuple[str, ...]
    freedoms: int

    @property
    def dimension(self) -> int:
        """The number of the class: how many of the six components are there."""
        return len(self.travels) + len(self.turns)

    @property
    def name(self) -> str:
        """P1 to P6, or P0 of what stands still."""
        return f"P{self.dimension}"

    @property
    def short(self) -> str:
        """Such as (Tx, Ty) Rz."""
        return self._written(", ", " ") or "none"

    @property
    def word(self) -> str:
        """What motion that is: planar, spherical, spatial, along or about one axis, or none."""
        if self.dimension <= 1:
            return "rest" if not self.dimension else "rotation" if self.turns else "translation"
        if not self.turns:
            return "translation"
        axes = {turn[1] for turn in self.turns}
        if len(axes) == 1 and axes.isdisjoint(travel[1] for travel in self.travels):
            return "planar motion"
        return "motion in space" if self.travels else "turning about a point"

    def __str__(self) -> str:
        return f"{self.name} = {self._written(' ∩ ', ' ∩ ')}" if self.dimension else self.name

    def _written(self, within: str, between: str) -> str:
        both = self.travels and self.turns
        groups = [group for group in (self.travels, self.turns) if group]
        return between.join(
            f"({within.join(group)})" if both and len(group) > 1 else within.join(group) for group in groups
        )


@dataclass(frozen=True)
class JointSpace:
    """How a joint's child moves relative to its parent, in the joint's axes, and whether that is given."""

    space: Space
    pair: str  # class of the kinematic pair, V to I; nothing if the joint is fixed
    mode: str  # kinematic, dynamic or rest
    source: str  # what gives or drives the motion


@dataclass(frozen=True)
class OperatingSpace:
    """The class of a system's operating space, those of its bodies and joints, and the mode of each; printed, a table.

    ``driven`` freedoms are given by laws, ``free`` ones move by forces.
    """

    system: str
    axes: str
    whole: Space
    bodies: dict[str, Space]
    joints: dict[str, JointSpace]
    driven: int
    free: int

    @property
    def mode(self) -> str:
        """Kinematic if laws give all motion, dynamic if forces decide about some of it."""
        return "dynamic" if self.free else "kinematic" if self.driven else "rest"

    def __str__(self) -> str:
        counts = [f"{_count(self.free, 'freedom')} by forces"] if self.free else []
        counts += [f"{_count(self.driven, 'freedom')} given by laws"] if self.driven else []
        lines = [f"{self.system}: {self.whole}, {self.whole.word}, in the axes of {self.axes}"]
        lines.append(f"mode: {self.mode}" + (f", {' and '.join(counts)}" if counts else ""))
        rows = [["body", "class", "motion", "freedoms"]]
        rows += [[name, s.name, s.short, str(s.freedoms)] for name, s in self.bodies.items()]
        lines += ["", *_lines(rows)]
        rows = [["joint", "pair", "motion", "mode", "by"]]
        rows += [[name, j.pair or "-", j.space.short, j.mode, j.source] for name, j in self.joints.items()]
        return "\n".join([*lines, "", *_lines(rows)] if self.joints else lines)


def operating_space(model: Any, *, expressed_in: Any = None) -> OperatingSpace:
    """Find the rotations and translations that each body can have relative to the world, and the class of the whole.

    Parameters
    ----------
    model : System, Dynamics, str or path
        The system, a compiled one, or the name of a file.  Drives may move in any way, unless their laws are constant.
    expressed_in : body, frame or name, optional
        The axes in which motions are told; left out, those of the world.

    Returns
    -------
    OperatingSpace
        For each joint it says how it moves, and whether that is given (kinematic) or by forces (dynamic).

    Examples
    --------
    >>> str(kn.operating_space("examples/motor_axis.yaml").whole)
    'P3 = (Tx ∩ Ty) ∩ Rz'
    """
    model = find_model(model)
    system = model.system if isinstance(model, Dynamics) else model
    axes = None if expressed_in is None else system.find_frame(expressed_in)
    search = _ReleasedMechanism(system, model if isinstance(model, Dynamics) else Dynamics(system))
    frames = {name: _point(system, name) for name in system.bodies}
    of_bodies: dict[str, list[Array]] = {name: [] for name in frames}
    of_joints: dict[str, list[Array]] = {name: [] for name in system.joints}
    undriven = dict.fromkeys(system.joints, 0.0)
    for place in search.places():
        moved = [place.at(u) for u in place.motions]
        for name, frame in frames.items():
            of_bodies[name].append(np.array([_velocity(snapshot, frame, axes) for snapshot in moved]))
        for name, joint in system.joints.items():
            of_joints[name].append(np.array([_relative(snapshot, joint) for snapshot in moved]))
            by_forces = [_relative(place.at(u), joint) for u in place.free_motions]
            undriven[name] = max([undriven[name], *(float(abs(V).max()) for V in by_forces)])
    scale = _scale([*of_bodies.values(), *of_joints.values()], search.length)
    bodies = {name: _space(group, scale) for name, group in of_bodies.items()}
    spaces = {name: _space(group, scale) for name, group in of_joints.items()}
    joints = {name: _judge(system, system.joints[name], spaces[name], undriven[name]) for name in spaces}
    whole = Space(*_union(bodies.values()), freedoms=search.freedoms)
    told = "the world" if axes is None else str(axes)
    return OperatingSpace(
        system.name, told, whole, bodies, joints, search.freedoms - search.free_freedoms, search.free_freedoms
    )


@dataclass(frozen=True, eq=False)
class _ReleasedPosition:
    """A position of the released mechanism and speeds that it may have there."""

    dynamics: Dynamics
    state: State
    motions: Array
    free_motions: Array  # with all drives at rest

    def at(self, u: Array) -> Snapshot:
        return self.dynamics.snapshot(State(self.state.t, self.state.q, u, self.state.z))


class _ReleasedMechanism:
    """Positions and motions of a mechanism whose drives are released."""

    def __init__(self, system: System, dynamics: Dynamics) -> None:
        self.system = system
        self.rng = np.random.default_rng(0)
        self.dynamics = Dynamics(_released(system, dynamics))
        topology = self.dynamics.topology
        self.held = np.zeros((0, topology.n_u))
        self.drives = np.zeros((0, topology.n_u))
        for name, where in topology.u_of.items():
            joint = system.joints[name]
            rows = np.eye(topology.n_u)[where]
            if joint.driven:
                still = np.array([_is_still(system, joint, k) for k in range(joint.n_u)])
                self.held = np.vstack([self.held, rows[still]])
                self.drives = np.vstack([self.drives, rows[~still]])
        start = self.dynamics.initial
        self.length = characteristic_length(topology)
        self._states = [State(start.t, q, np.zeros(topology.n_u), start.z) for q in self._positions(start)]
        ranks = [self._null(state, self.held).shape[1] for state in self._states]
        self.freedoms = min(ranks)  # positions with more are singular
        self._states = [state for state, n in zip(self._states, ranks, strict=True) if n == self.freedoms]
        held = np.vstack([self.held, self.drives])
        self.free_freedoms = min(self._null(state, held).shape[1] for state in self._states)

    def places(self) -> Iterator[_ReleasedPosition]:
        """Positions without symmetry, each with some motions."""
        held = np.vstack([self.held, self.drives])
        for state in self._states:
            N, N_free = self._null(state, self.held), self._null(state, held)[:, : self.free_freedoms]
            motions = self.rng.normal(size=(MOTIONS if N.size else 1, N.shape[1])) @ N.T
            yield _ReleasedPosition(
                self.dynamics, state, motions, self.rng.normal(size=(2, N_free.shape[1])) @ N_free.T
            )

    def _null(self, state: State, held: Array) -> Array:
        """Speeds that constraints and rows held at rest leave, a column for each freedom."""
        G = held
        if self.dynamics.topology.constrained:
            at_rest = replace(state, u=np.zeros(self.dynamics.n_u))
            G = np.vstack([self.dynamics.loops.evaluate(self.dynamics.point(at_rest))[1], held])
        if not len(G):
            return np.eye(self.dynamics.n_u)
        _, sizes, V = np.linalg.svd(G)
        found: Array = V[int((sizes > RANK * sizes.max(initial=0.0)).sum()) :].T
        return found

    def _positions(self, start: State) -> Iterator[Array]:
        """Coordinates of the start's neighborhood, in which all loops are closed."""
        constrained, q = self.dynamics.topology.constrained, start.q
        none = np.zeros(self.dynamics.n_u, dtype=bool)
        yield q
        for _ in range(PLACES):
            for _ in range(WALKS if constrained else 1):
                N = self._null(State(start.t, q, np.zeros(self.dynamics.n_u), start.z), self.held)
                step = N @ self.rng.normal(size=N.shape[1])
                length = WALK_LENGTH / max(float(np.linalg.norm(step)), 1e-12) if constrained else 1.0
                there = self.dynamics.topology.advance_q(q, length * step)
                if constrained:
                    try:
                        there = self.dynamics.loops.close(self.dynamics.point(replace(start, q=there)), none)
                    except AssemblyError:
                        continue
                q = there
            yield q


def _released(system: System, dynamics: Dynamics) -> System:
    """A copy in which no joint is driven and none has loads of its own, in the position of the start."""
    found = system.copy()
    start = dynamics.snapshot(dynamics.initial)
    own = ("motion", "speed", "effort", "stiffness", "neutral", "damping", "friction", "stop", "backlash")
    empty = dict.fromkeys(own)
    for name, joint in system.joints.items():
        if joint.driven:
            q = [float(x) for x in start.joint_state(name)[0]]
            # an effort of nothing: the tree keeps joints with laws, so that the drives are entries of the state
            found.change(name, **{**empty, **_places(joint), "q": q, "effort": [0.0] * joint.n_u})
        else:
            given = {key: None for key in empty if getattr(joint, key, None) is not None}
            if given:
                found.change(name, **given)
    return found


def _places(joint: Joint) -> dict[str, None]:
    """The fields that say where a joint starts, emptied."""
    known = {"q", "u", "guess", "position", "rotation", "velocity", "angular_velocity"}
    return {key: None for key in joint.specs() if key in known}


def _is_still(system: System, joint: Joint, k: int) -> bool:
    """Whether the law of a driven freedom keeps it at rest."""
    law: Any = (joint.speed if joint.motion is None else joint.motion)[k]  # type: ignore[index]
    if isinstance(law, Expression) and not law.names() <= system.parameters.keys():
        return False
    return joint.speed is None or system.nominal(law) == 0.0


def _point(system: System, body: str) -> Frame:
    """The mass center of a body, or its origin if it has no mass."""
    massive = system.nominal(system.bodies[body].total_mass()) > 0.0
    return system.find_frame(f"{body}.com" if massive else body)


def _velocity(snapshot: Snapshot, frame: Frame, axes: Frame | None) -> Array:
    """Velocity and angular velocity, translations first."""
    w, v = snapshot.velocity(frame)
    R = np.eye(3) if axes is None else np.asarray(snapshot.pose(axes).R, dtype=float)
    return np.concatenate([R.T @ np.asarray(v, dtype=float), R.T @ np.asarray(w, dtype=float)])


def _relative(snapshot: Snapshot, joint: Joint) -> Array:
    """The same of a joint's child as its parent sees it, in the parent's joint axes."""
    F, M = joint_frame(joint, "parent"), joint_frame(joint, "child")
    X_F, X_M = snapshot.pose(F), snapshot.pose(M)
    (w_F, v_F), (w_M, v_M) = snapshot.velocity(F), snapshot.velocity(M)
    v = v_M - v_F - cross(w_F, X_M.p - X_F.p)
    R = np.asarray(X_F.R, dtype=float)
    return np.concatenate([R.T @ np.asarray(v, dtype=float), R.T @ np.asarray(w_M - w_F, dtype=float)])


def _scale(groups: list[list[Array]], length: float) -> Array:
    """The largest velocity and angular velocity of all; rounding of a mechanism that only turns is none."""
    largest = np.max([np.zeros(6), *(abs(V).max(axis=0) for group in groups for V in group)], axis=0)
    turn = float(largest[3:].max()) or 1.0
    return np.repeat([max(float(largest[:3].max()), ROUNDING * length * turn), turn], 3)


def _space(group: list[Array], scale: Array) -> Space:
    """What moves, of velocities in several positions."""
    sizes = np.max([abs(V).max(axis=0) for V in group], axis=0) / scale
    travels = tuple(f"T{axis}" for axis, size in zip("xyz", sizes[:3], strict=True) if size > NOTHING)
    turns = tuple(f"R{axis}" for axis, size in zip("xyz", sizes[3:], strict=True) if size > NOTHING)
    return Space(travels, turns, max(int((np.linalg.svd(V / scale, compute_uv=False) > NOTHING).sum()) for V in group))


def _union(spaces: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    every = list(spaces)
    travels = tuple(x for x in ("Tx", "Ty", "Tz") if any(x in space.travels for space in every))
    return travels, tuple(x for x in ("Rx", "Ry", "Rz") if any(x in space.turns for space in every))


def _judge(system: System, joint: Joint, space: Space, undriven: float) -> JointSpace:
    """Mode of a joint, and its source in words."""
    mode = "rest" if not space.dimension else "dynamic" if undriven > NOTHING else "kinematic"
    tie = next((c for c in system.constraints.values() if _follower(system, c) == joint.name), None)
    words = {"motion": "position source", "speed": "velocity source", "effort": "effort"}
    laws = [f"{word} {_law(getattr(joint, key))}" for key, word in words.items() if getattr(joint, key) is not None]
    acting = {"stiffness": "spring", "damping": "damper", "friction": "friction"}
    laws += [word for key, word in acting.items() if getattr(joint, key) is not None]
    if tie is not None:
        laws.append(f"gear {tie.name}")
    nodes = [node for node in find_nodes(system).values() if node.joint == joint.name]
    laws += [part for node in nodes for part, _ in node.ports]
    if mode == "kinematic" and not joint.driven and tie is None:
        laws.append("the drives of its loop")
    return JointSpace(space, PAIRS[joint.n_u] if joint.n_u < len(PAIRS) else "", mode, ", ".join(laws))


def _follower(system: System, constraint: Any) -> str | None:
    tie = constraint.relation(system)
    return None if tie is None else str(tie.follower)


def _law(values: tuple[Any, ...]) -> str:
    texts = [f"{x:.6g}" if isinstance(x, float) else x.excerpt() for x in values]
    text = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
    return text if len(text) <= LONG else f"{text[: LONG - 3]}..."


def _count(number: int, one: str) -> str:
    return f"{number} {one}{'' if number == 1 else 's'}"


def _lines(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return ["  " + "  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)).rstrip() for row in rows]
