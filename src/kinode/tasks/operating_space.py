"""The class of the operating space: which rotations and translations bodies have, and what causes them.

The space of a body lists Rx, Ry, Rz and Tx, Ty, Tz: the components of its angular velocity, and of the velocity of its
mass center (of its origin, if it has no mass), that are not always zero.  The class P1 to P6 is their number, in the
notation of component circuits: a planar arm moves in P3 = (Tx ∩ Ty) ∩ Rz.  The number of freedoms is how many of them
are independent.

The components are computed from velocities at random positions.  Positions of loops are reached by steps along their
freedoms.  Drives are released: they may move in any way, unless their expression is constant.  What still moves while
all drives are at rest is moved by forces (dynamic mode).  The rest is prescribed (kinematic mode): its forces are
results.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import cross
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import AssemblyError, counted
from kinode.expressions.syntax_tree import Expression
from kinode.kernels.state import State
from kinode.model.base.frames import Frame
from kinode.model.joints.joint import Joint
from kinode.model.network.nodes import find_nodes
from kinode.model.system import System, joint_frame
from kinode.multibody.snapshot import Snapshot
from kinode.sheets.tables import Sheet, Shown, Table, word_table
from kinode.simulation.run_arguments import find_model
from kinode.structure.loop_closure import RANK, WALK_LENGTH, characteristic_length

POSITIONS = 5  # random positions beside the initial one
LOOP_STEPS = 4  # from one position to the next in loops
MOTIONS = 7  # in each position: one more than a body can have freedoms
FREE_MOTIONS = 2  # in each position, with all drives at rest
ZERO_VELOCITY = 1e-8  # relative to the largest velocity
MIN_VELOCITY_SCALE = 1e-4  # relative to angular velocity times length: keeps rounding from becoming the scale
MIN_STEP = 1e-12  # smallest norm of a random step that is normalized
MAX_EXPRESSION = 40  # characters of an expression that are printed
PAIRS = ("", "V", "IV", "III", "II", "I")  # class of a kinematic pair by its freedoms: six minus these
INITIAL_FIELDS = frozenset({"q", "u", "guess", "position", "rotation", "velocity", "angular_velocity"})
LOAD_FIELDS = ("motion", "speed", "effort", "stiffness", "neutral", "damping", "friction", "stop", "backlash")


@dataclass(frozen=True)
class Space:
    """The translations and rotations of a motion, and how many of them are independent."""

    travels: tuple[str, ...]
    turns: tuple[str, ...]
    freedoms: int

    @property
    def dimension(self) -> int:
        """The number of the class: how many of the six components occur."""
        return len(self.travels) + len(self.turns)

    @property
    def name(self) -> str:
        """P1 to P6, or P0 at rest."""
        return f"P{self.dimension}"

    @property
    def short(self) -> str:
        """Such as (Tx, Ty) Rz."""
        return self._written(", ", " ") or "none"

    @property
    def word(self) -> str:
        """The type of motion in words: planar, spherical, spatial, along or about one axis, or none."""
        if self.dimension <= 1:
            return "rest" if not self.dimension else "rotation" if self.turns else "translation"
        if not self.turns:
            return "translation"
        axes = {rotation[1] for rotation in self.turns}
        if len(axes) == 1 and axes.isdisjoint(translation[1] for translation in self.travels):
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
    """Motion of a joint's child relative to its parent, in the joint's axes, and whether it is prescribed."""

    space: Space
    pair: str  # class of the kinematic pair, V to I; empty if the joint is fixed
    mode: str  # kinematic, dynamic or rest
    source: str  # what prescribes or drives the motion


@dataclass(frozen=True)
class OperatingSpace(Shown):
    """The class of a system's operating space, those of its bodies and joints, and the mode of each.

    ``driven`` freedoms are prescribed, ``free`` ones are moved by forces.  It prints as a table.
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
        """Kinematic if all motion is prescribed, dynamic if forces determine some of it, or rest."""
        return "dynamic" if self.free else "kinematic" if self.driven else "rest"

    @property
    def sheet(self) -> Sheet:
        counts = [f"{counted(self.free, 'freedom')} by forces"] if self.free else []
        counts += [f"{counted(self.driven, 'freedom')} given by laws"] if self.driven else []
        where = f": {self.whole}, {self.whole.word}, in the axes of {self.axes}"
        mode = f"mode: {self.mode}" + (f", {' and '.join(counts)}" if counts else "")
        parts = [part for table in self.tables for part in ("", table)]
        return Sheet(self.system, where, [mode, *parts])

    @property
    def tables(self) -> list[Table]:
        """The bodies, and the joints if there are any."""
        rows = [(name, s.name, s.short, str(s.freedoms)) for name, s in self.bodies.items()]
        joints = [(name, j.pair or "-", j.space.short, j.mode, j.source) for name, j in self.joints.items()]
        tables = [word_table(("body", "class", "motion", "freedoms"), rows)]
        return [*tables, word_table(("joint", "pair", "motion", "mode", "by"), joints)] if joints else tables


def operating_space(model: Any, *, expressed_in: Any = None) -> OperatingSpace:
    """Find the rotations and translations that each body can have relative to the world, and the class of the whole.

    Parameters
    ----------
    model : System, Dynamics, str or path
        The system, a compiled one, or the name of a file.  Drives may move in any way, unless their expressions are
        constant.
    expressed_in : body, frame or name, optional
        The axes in which motions are expressed; left out, those of the world.

    Returns
    -------
    OperatingSpace
        For each joint it says how it moves, and whether that is prescribed (kinematic) or caused by forces (dynamic).

    Examples
    --------
    >>> str(kn.operating_space("examples/motor_axis.yaml").whole)
    'P3 = (Tx ∩ Ty) ∩ Rz'
    """
    model = find_model(model)
    system = model.system if isinstance(model, Dynamics) else model
    axes = None if expressed_in is None else system.find_frame(expressed_in)
    released = _ReleasedMechanism(system, model if isinstance(model, Dynamics) else Dynamics(system))
    frames = {name: _point(system, name) for name in system.bodies}
    of_bodies: dict[str, list[Array]] = {name: [] for name in frames}
    of_joints: dict[str, list[Array]] = {name: [] for name in system.joints}
    undriven = dict.fromkeys(system.joints, 0.0)
    for position in released.positions():
        snapshots = [position.at(u) for u in position.motions]
        for name, frame in frames.items():
            of_bodies[name].append(np.array([_velocity(snapshot, frame, axes) for snapshot in snapshots]))
        for name, joint in system.joints.items():
            of_joints[name].append(np.array([_relative(snapshot, joint) for snapshot in snapshots]))
            by_forces = [_relative(position.at(u), joint) for u in position.free_motions]
            undriven[name] = max([undriven[name], *(float(abs(V).max()) for V in by_forces)])
    scale = _scale([*of_bodies.values(), *of_joints.values()], released.length)
    bodies = {name: _space(velocities, scale) for name, velocities in of_bodies.items()}
    spaces = {name: _space(velocities, scale) for name, velocities in of_joints.items()}
    joints = {name: _judge(system, system.joints[name], spaces[name], undriven[name]) for name in spaces}
    whole = Space(*_union(bodies.values()), freedoms=released.freedoms)
    axes_name = "the world" if axes is None else str(axes)
    driven, free = released.freedoms - released.free_freedoms, released.free_freedoms
    return OperatingSpace(system.name, axes_name, whole, bodies, joints, driven, free)


@dataclass(frozen=True, eq=False)
class _ReleasedPosition:
    """A position of the released mechanism, with random speeds that the constraints allow."""

    dynamics: Dynamics
    state: State
    motions: Array  # speeds, a row for each motion
    free_motions: Array  # likewise, with all drives at rest

    def at(self, u: Array) -> Snapshot:
        """The position with speeds u."""
        return self.dynamics.snapshot(State(self.state.t, self.state.q, u, self.state.z))


class _ReleasedMechanism:
    """Positions and motions of a mechanism whose drives are released."""

    def __init__(self, system: System, dynamics: Dynamics) -> None:
        self.system = system
        self.rng = np.random.default_rng(0)
        self.dynamics = Dynamics(_released(system, dynamics))
        topology = self.dynamics.topology
        self.constant_rows = np.zeros((0, topology.n_u))  # u = 0 of drives with constant expressions
        self.drive_rows = np.zeros((0, topology.n_u))  # u = 0 of all other drives
        for name, where in topology.u_of.items():
            joint = system.joints[name]
            rows = np.eye(topology.n_u)[where]
            if joint.driven:
                still = np.array([_is_still(system, joint, k) for k in range(joint.n_u)])
                self.constant_rows = np.vstack([self.constant_rows, rows[still]])
                self.drive_rows = np.vstack([self.drive_rows, rows[~still]])
        start = self.dynamics.initial
        self.length = characteristic_length(topology)
        self._states = [State(start.t, q, np.zeros(topology.n_u), start.z) for q in self._positions(start)]
        counts = [self._null_space(state, self.constant_rows).shape[1] for state in self._states]
        self.freedoms = min(counts)  # positions with more are singular
        self._states = [state for state, n in zip(self._states, counts, strict=True) if n == self.freedoms]
        at_rest = np.vstack([self.constant_rows, self.drive_rows])
        self.free_freedoms = min(self._null_space(state, at_rest).shape[1] for state in self._states)

    def positions(self) -> Iterator[_ReleasedPosition]:
        """Generic positions, each with random motions."""
        at_rest = np.vstack([self.constant_rows, self.drive_rows])
        for state in self._states:
            N = self._null_space(state, self.constant_rows)
            N_free = self._null_space(state, at_rest)[:, : self.free_freedoms]
            motions = self.rng.normal(size=(MOTIONS if N.size else 1, N.shape[1])) @ N.T
            free_motions = self.rng.normal(size=(FREE_MOTIONS, N_free.shape[1])) @ N_free.T
            yield _ReleasedPosition(self.dynamics, state, motions, free_motions)

    def _null_space(self, state: State, rows: Array) -> Array:
        """Speeds that satisfy the loop constraints and rows @ u = 0; a column for each freedom."""
        G = rows
        if self.dynamics.topology.constrained:
            at_rest = replace(state, u=np.zeros(self.dynamics.n_u))
            G = np.vstack([self.dynamics.loops.evaluate(self.dynamics.point(at_rest))[1], rows])
        if not len(G):
            return np.eye(self.dynamics.n_u)
        _, sizes, V = np.linalg.svd(G)
        null_space: Array = V[int((sizes > RANK * sizes.max(initial=0.0)).sum()) :].T
        return null_space

    def _positions(self, start: State) -> Iterator[Array]:
        """Coordinates q of the start and of random positions near it, all loops closed."""
        constrained, q = self.dynamics.topology.constrained, start.q
        no_fixed = np.zeros(self.dynamics.n_u, dtype=bool)
        yield q
        for _ in range(POSITIONS):
            for _ in range(LOOP_STEPS if constrained else 1):
                N = self._null_space(State(start.t, q, np.zeros(self.dynamics.n_u), start.z), self.constant_rows)
                step = N @ self.rng.normal(size=N.shape[1])
                length = WALK_LENGTH / max(float(np.linalg.norm(step)), MIN_STEP) if constrained else 1.0
                there = self.dynamics.topology.advance_q(q, length * step)
                if constrained:
                    try:
                        there = self.dynamics.loops.close(self.dynamics.point(replace(start, q=there)), no_fixed)
                    except AssemblyError:
                        continue
                q = there
            yield q


def _released(system: System, dynamics: Dynamics) -> System:
    """A copy of the system at the initial position, without drives and without loads inside joints."""
    released = system.applied()
    start = dynamics.snapshot(dynamics.initial)
    empty = dict.fromkeys(LOAD_FIELDS)
    for name, joint in system.joints.items():
        if joint.driven:
            q = [float(x) for x in start.joint_state(name)[0]]
            # with an effort of zero the spanning tree still prefers this joint, so that its speed is a state
            released.change(name, **{**empty, **_empty_initial_fields(joint), "q": q, "effort": [0.0] * joint.n_u})
        else:
            given = {key: None for key in empty if getattr(joint, key, None) is not None}
            if given:
                released.change(name, **given)
    return released


def _empty_initial_fields(joint: Joint) -> dict[str, None]:
    """The fields of a joint for initial values, without values."""
    return {key: None for key in joint.specs() if key in INITIAL_FIELDS}


def _is_still(system: System, joint: Joint, k: int) -> bool:
    """Whether the expression of a driven freedom keeps it at rest."""
    law: Any = (joint.speed if joint.motion is None else joint.motion)[k]  # type: ignore[index]
    if isinstance(law, Expression) and not law.names() <= system.parameters.keys():
        return False
    return joint.speed is None or system.nominal(law) == 0.0


def _point(system: System, body: str) -> Frame:
    """The mass center of a body, or its origin if it has no mass."""
    massive = system.nominal(system.bodies[body].mass) > 0.0
    return system.find_frame(f"{body}.com" if massive else body)


def _velocity(snapshot: Snapshot, frame: Frame, axes: Frame | None) -> Array:
    """Velocity and angular velocity of a frame, [v; w] with translations first."""
    w, v = snapshot.velocity(frame)
    R = np.eye(3) if axes is None else np.asarray(snapshot.pose(axes).R, dtype=float)
    return np.concatenate([R.T @ np.asarray(v, dtype=float), R.T @ np.asarray(w, dtype=float)])


def _relative(snapshot: Snapshot, joint: Joint) -> Array:
    """[v; w] of a joint's child relative to its parent, in the parent's joint axes."""
    F, M = joint_frame(joint, "parent"), joint_frame(joint, "child")
    X_F, X_M = snapshot.pose(F), snapshot.pose(M)
    (w_F, v_F), (w_M, v_M) = snapshot.velocity(F), snapshot.velocity(M)
    v = v_M - v_F - cross(w_F, X_M.p - X_F.p)
    R = np.asarray(X_F.R, dtype=float)
    return np.concatenate([R.T @ np.asarray(v, dtype=float), R.T @ np.asarray(w_M - w_F, dtype=float)])


def _scale(velocities: list[list[Array]], length: float) -> Array:
    """Scale of [v; w]: the largest components of all bodies; rounding in a mechanism that only rotates is no scale."""
    largest = np.max([np.zeros(6), *(abs(V).max(axis=0) for of_one in velocities for V in of_one)], axis=0)
    w_max = float(largest[3:].max()) or 1.0
    return np.repeat([max(float(largest[:3].max()), MIN_VELOCITY_SCALE * length * w_max), w_max], 3)


def _space(velocities: list[Array], scale: Array) -> Space:
    """The space of a body or joint, from its velocities in several positions."""
    sizes = np.max([abs(V).max(axis=0) for V in velocities], axis=0) / scale
    translations = tuple(f"T{axis}" for axis, size in zip("xyz", sizes[:3], strict=True) if size > ZERO_VELOCITY)
    rotations = tuple(f"R{axis}" for axis, size in zip("xyz", sizes[3:], strict=True) if size > ZERO_VELOCITY)
    ranks = [int((np.linalg.svd(V / scale, compute_uv=False) > ZERO_VELOCITY).sum()) for V in velocities]
    return Space(translations, rotations, max(ranks))


def _union(spaces: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Translations and rotations that occur in any of the spaces."""
    every = list(spaces)
    travels = tuple(x for x in ("Tx", "Ty", "Tz") if any(x in space.travels for space in every))
    return travels, tuple(x for x in ("Rx", "Ry", "Rz") if any(x in space.turns for space in every))


def _judge(system: System, joint: Joint, space: Space, undriven: float) -> JointSpace:
    """The space of a joint with its mode, and its source in words."""
    mode = "rest" if not space.dimension else "dynamic" if undriven > ZERO_VELOCITY else "kinematic"
    coupling = next((c for c in system.constraints.values() if _follower(system, c) == joint.name), None)
    words = {"motion": "position source", "speed": "velocity source", "effort": "effort"}
    sources = [f"{word} {_law(getattr(joint, key))}" for key, word in words.items() if getattr(joint, key) is not None]
    acting = {"stiffness": "spring", "damping": "damper", "friction": "friction"}
    sources += [word for key, word in acting.items() if getattr(joint, key) is not None]
    if coupling is not None:
        sources.append(f"gear {coupling.name}")
    nodes = [node for node in find_nodes(system).values() if node.joint == joint.name]
    sources += [part for node in nodes for part, _ in node.ports]
    if mode == "kinematic" and not joint.driven and coupling is None:
        sources.append("the drives of its loop")
    return JointSpace(space, PAIRS[joint.n_u] if joint.n_u < len(PAIRS) else "", mode, ", ".join(sources))


def _follower(system: System, constraint: Any) -> str | None:
    """The joint that follows another in a gear, or None for other constraints."""
    relation = constraint.relation(system)
    return None if relation is None else str(relation.follower)


def _law(values: tuple[Any, ...]) -> str:
    """Expressions of a joint as text, cut to a printable length."""
    texts = [f"{x:.6g}" if isinstance(x, float) else x.excerpt() for x in values]
    text = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
    return text if len(text) <= MAX_EXPRESSION else f"{text[: MAX_EXPRESSION - 3]}..."
