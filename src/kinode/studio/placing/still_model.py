"""A model at its start, whole or not: where its bodies are, and which loops stay open.

The model is completed where it is not whole: a body that nothing joins to the world gets a free joint of its own, which
the pictures leave out.  What acts on the bodies is left out too; it does not place them.  Loops are closed by the
assembly of every run (dynamics/starts/assembler.py), at first in plain numbers: most pictures compile nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import islice

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose, quaternion_from_rotation
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.starts.assembler import Assembler
from kinode.dynamics.starts.assembly import find_closure_errors
from kinode.dynamics.starts.initial_values import InitialValues
from kinode.errors import AssemblyError, Error, Gap
from kinode.kernels.state import State
from kinode.model.joints.joint import Joint
from kinode.model.system import System, joint_frame
from kinode.multibody.snapshot import Snapshot
from kinode.structure.loop_closure import CLOSED_ENOUGH
from kinode.structure.state_layout import EvaluationPoint

PLAIN_CALLS = 300  # evaluations in plain numbers: most loops are closed by then, and nothing is compiled
STARTS = 5  # positions from which loops are closed before they are said to be open
APART = 1.3  # of its size: the room that a body without joints gets


class StillModel:
    """The bodies of a system at its start.

    Parameters
    ----------
    system : System
        As much of a model as could be built.
    near : StillModel, optional
        The same model before a small change: its closed position is followed, which is quicker.

    Examples
    --------
    >>> from kinode.studio.placing.still_model import StillModel
    >>> model = StillModel(kn.load("examples/four_bar.yaml"))
    >>> model.closure_errors, model.loose
    ({}, {})
    """

    def __init__(self, system: System, near: StillModel | None = None) -> None:
        self.given = system
        self.loose: dict[str, str] = {}
        """Joints that the model does not have, with the bodies that they hold."""
        self.words = ""
        """Why the model is drawn without its laws, or its loops open."""
        try:
            self.dynamics = self._complete(_without_elements(system))
        except (Error, ArithmeticError, ValueError) as error:
            self.words = str(error)
            self.dynamics = self._complete(_bare(system))
        self._shifts = _beside(self.dynamics.system, self.loose)
        self.x = self._solve(near)

    def _complete(self, system: System) -> Dynamics:
        """The system with free joints for bodies that nothing joins to the world, ready to be evaluated."""
        self.loose = {}
        for body, *_ in find_groups(system)[1:]:
            name = next(n for k in range(1, 999) if (n := f"loose_{body.replace('.', '_')}_{k}") not in system)
            system.joint(name, "free", system.world, system.bodies[body])
            self.loose[name] = body
        return Dynamics(system)

    @property
    def system(self) -> System:
        """The completed system."""
        return self.dynamics.system

    # -- positions ---------------------------------------------------------------------------------
    @cached_property
    def assembler(self) -> Assembler:
        """The assembly problem of the model's own initial values."""
        start = self.dynamics.start
        assembler = start.assembler(_shifted(start.initial_values, self._shifts), 0.0, None, None)
        assembler.problem.poses.layout.uncompiled_calls = PLAIN_CALLS
        return assembler

    def _solve(self, near: StillModel | None) -> Array:
        """The coordinates of all joints, closed where they can be."""
        problem = self.assembler.problem
        if near is not None and problem.bound and self._is_like(near):
            x, error = self._follow(near)
            if error <= CLOSED_ENOUGH or near.closure_errors:  # loops that were open are not searched again in a drag
                return x
        nearest = self._find_open() if problem.bound else None
        if nearest is not None:
            listed = ", ".join(f"{name} is off by {gap}" for name, gap in find_closure_errors(problem, nearest).items())
            self.words = f"the loops are open: {listed}"
            return nearest
        try:
            return self.assembler.solve_positions()
        except AssemblyError as error:  # the initial values are in conflict
            self.words = str(error)
            return problem.requested_position()

    def _find_open(self) -> Array | None:
        """A position where loops are least open, if a few starts close none; None where they can be closed.

        The whole search of the assembly takes seconds where nothing closes, and a picture cannot wait for it.
        """
        assembler = self.assembler
        x = assembler.problem.requested_position()
        is_open = False
        for group in assembler.loop_groups(~assembler.exact[: assembler.problem.n_u]):
            ends = [assembler.close(group, start, None) for start in islice(assembler.starts(group, x), 1)]
            if ends[0][1] > CLOSED_ENOUGH:
                ends += [assembler.close(group, start, None) for start in islice(assembler.starts(group, x), 1, STARTS)]
            x, error = min(ends, key=lambda end: end[1])
            is_open = is_open or error > CLOSED_ENOUGH
        return x if is_open else None

    def _is_like(self, other: StillModel) -> bool:
        """Whether another model has the same unknowns."""
        mine, theirs = self.assembler.problem, other.assembler.problem
        return dict(mine.q_of) == dict(theirs.q_of) and list(mine.names) == list(theirs.names)

    def _follow(self, near: StillModel) -> tuple[Array, float]:
        """The position near another model's, exact values as they are asked for."""
        assembler, problem = self.assembler, self.assembler.problem
        x, asked, n = near.x.copy(), problem.requested_position(), problem.n_u
        for name, where in problem.u_of.items():
            if assembler.exact[where].any():
                x[problem.q_of[name]] = asked[problem.q_of[name]]
        error = 0.0
        for group in assembler.loop_groups(~assembler.exact[:n]):
            x, off = assembler.close(group, x, None)
            error = max(error, off)
        return x, error

    @cached_property
    def closure_errors(self) -> dict[str, Gap]:
        """By how much loops stay open, by the joint or constraint that closes them."""
        if not self.assembler.problem.bound:
            return {}
        return find_closure_errors(self.assembler.problem, self.x)

    # -- poses -------------------------------------------------------------------------------------
    def point(self, x: Array) -> EvaluationPoint:
        """Where the model is evaluated for coordinates of all joints."""
        start, topology = self.dynamics.start, self.dynamics.start.open_topology
        return start.point(State(0.0, x[: topology.n_q], np.zeros(topology.n_u), start.initial_values.z))

    def poses_at(self, x: Array) -> dict[str, Pose]:
        """Poses of bodies and of moving frames in the world, by name."""
        snapshot = Snapshot(self.dynamics.start.open_topology, self.point(x))
        poses = {}
        for name in (*self.system.bodies, *self.system.frames):
            R, p = snapshot.quantity(f"{name}.rotation"), snapshot.quantity(f"{name}.position")
            poses[name] = Pose(np.asarray(R, dtype=float).reshape(3, 3), np.asarray(p, dtype=float))
        return poses

    @cached_property
    def poses(self) -> dict[str, Pose]:
        """Poses at the start."""
        return self.poses_at(self.x)

    def values(self, x: Array) -> dict[str, list[float]]:
        """The coordinates of the joints that assembly may move, by name."""
        of = self.assembler.problem.coordinates(x)
        return {name: [float(value) for value in q] for name, q in of.items() if name not in self.loose}

    def gaps(self, poses: Mapping[str, Pose]) -> list[tuple[str, Array, Array]]:
        """Joints whose two sides are apart: where each side is in the world."""
        found = []
        for name in self.closure_errors:
            joint = self.system.joints.get(name)
            if joint is not None:
                a, b = (self._place(joint, side, poses) for side in ("parent", "child"))
                found.append((name, a, b))
        return found

    def _place(self, joint: Joint, side: str, poses: Mapping[str, Pose]) -> Array:
        frame = joint_frame(joint, side)
        p = np.asarray(frame.pose(self.system.nominal).p, dtype=float)
        if frame.body == "world":
            return p
        X = poses[frame.body]
        return np.asarray(X.p + X.R @ p, dtype=float)


def _without_elements(system: System) -> System:
    """A copy without what acts on bodies and joints; signals stay that laws of motion read."""
    copy = system.copy()
    for joint in list(copy.declared_joints.values()):
        if joint.effort is not None or joint.speed is not None:
            copy.replace(_undriven(joint, system))
    placing = [*copy.declared_joints.values(), *copy.constraints.values(), *copy.frames.values()]
    read = {word.partition(".")[0] for part in placing for word in part.used_names}
    while more := {word for signal in read & copy.signals.keys() for word in copy.signals[signal].used_names} - read:
        read |= more
    for name in [*copy.elements, *(signal for signal in copy.signals if signal not in read)]:
        if name in copy.declared:
            copy.discard(name)
    return copy


def _undriven(joint: Joint, system: System) -> Joint:
    """A joint without its effort; one that a speed drives starts at its own coordinates, and can be pulled."""
    if joint.speed is None:
        return replace(joint, effort=None)
    start = joint.q if joint.q is not None else tuple(float(x) for x in joint.initial_q(system.nominal))
    return replace(joint, effort=None, speed=None, q=start)


def _bare(system: System) -> System:
    """A copy with nothing but bodies and joints, whose laws are left out."""
    copy = _without_elements(system)
    for name in [*copy.constraints, *copy.frames, *copy.signals]:
        copy.discard(name)
    for joint in list(copy.declared_joints.values()):
        copy.replace(replace(joint, motion=None, speed=None, effort=None))
    return copy


def find_groups(system: System) -> list[list[str]]:
    """The bodies that joints connect: first those joined to the world, then each group that floats."""
    near: dict[str, list[str]] = {name: [] for name in ("world", *system.bodies)}
    for joint in system.joints.values():
        near[joint.a.body].append(joint.b.body)
        near[joint.b.body].append(joint.a.body)
    groups: list[list[str]] = []
    for start in near:
        if any(start in group for group in groups):
            continue
        group, stack = list[str](), [start]
        while stack:
            body = stack.pop()
            if body not in group:
                group.append(body)
                stack += near[body]
        groups.append(group)
    return groups


def _extent(system: System, body: str) -> float:
    """How large a body is about its origin, m."""
    own, resolve = system.bodies[body], system.nominal
    points = [np.asarray(frame.pose(resolve).p, dtype=float) for frame in (own.com, *own.frames)]
    sizes = [float(np.linalg.norm(p)) for p in points]
    if own.shape is not None and own.shape.mesh is not None:
        sizes.append(own.shape.mesh.reach + float(np.linalg.norm(own.shape.mesh.middle)))
    elif own.shape is not None:
        sizes += [float(resolve(value)) for name, value in own.shape.sizes if name != "axis"]
    return max([0.05, *sizes])


def _beside(system: System, loose: Mapping[str, str]) -> dict[str, Array]:
    """Where groups that nothing joins to the world are drawn: beside the others, along x; alone, at the origin."""
    shifts: dict[str, Array] = {}
    groups = find_groups(_without(system, loose))
    reach = max((_extent(system, body) for body in groups[0] if body != "world"), default=0.0)
    for (joint, body), group in zip(loose.items(), groups[1:], strict=True):
        assert body == group[0]
        size = max(_extent(system, member) for member in group)
        shifts[joint] = np.array([reach + APART * size if reach else 0.0, 0.0, 0.0])
        reach = shifts[joint][0] + APART * size
    return shifts


def _without(system: System, joints: Iterable[str]) -> System:
    copy = system.copy()
    for name in joints:
        copy.discard(name)
    return copy


def _shifted(values: InitialValues, shifts: Mapping[str, Array]) -> InitialValues:
    """Initial values with bodies that have no joints of the model beside the others."""
    if not shifts:
        return values
    joints = dict(values.joints)
    for name, p in shifts.items():
        q = joints[name].q.copy()
        q[:3] = p
        joints[name] = replace(joints[name], q=q, exact_q=np.ones_like(joints[name].exact_q))
    return replace(values, joints=joints)


def pose_array(poses: Iterable[Pose]) -> Array:
    """Poses as the player takes them: (rows, 7, 1) of position and quaternion, scalar first."""
    rows = [np.concatenate([X.p, np.asarray(quaternion_from_rotation(X.R), dtype=float)]) for X in poses]
    return np.array(rows, dtype=np.float32).reshape(len(rows), 7, 1)
