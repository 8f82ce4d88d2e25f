"""The poses of bodies at chosen times, and their geometry for a picture.

Bodies with a shape (or with solids from a file) are drawn as solids.  The others are drawn as links between their
joints, springs, named frames and centers of mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kinode.algebra.scalars import Array
from kinode.model.base.bodies import Body
from kinode.model.base.frames import Frame, Resolve, given_axis, rotation_matrix
from kinode.model.base.meshes import MeshSolid, find_visual_mesh
from kinode.model.elements.spring import Spring
from kinode.model.system import System, joint_frame
from kinode.views.mechanism.camera import Camera, Patch, box_patches, cylinder_patches, mesh_patches, sphere_patches

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kinode.dynamics.compiled_system import Dynamics

AXES = ("x", "y", "z")
TINTS = ("#e3a72f", "#5b8fb9", "#d9774a", "#5fa784", "#9c7bb0", "#6fb3b8", "#b5a16a", "#8a97a6")


class ShownStates(Protocol):
    """What a picture needs of a run: its system, and quantities at its rows."""

    @property
    def system(self) -> System:
        """The model."""

    @property
    def dynamics(self) -> Dynamics:
        """The system that was compiled."""

    @property
    def p(self) -> Any:
        """The values of the parameters."""

    def __len__(self) -> int:
        """How many rows there are."""

    def evaluate(self, names: Iterable[str], /) -> Mapping[str, Array]:
        """Quantities by name, one row for each stored time."""


@dataclass(frozen=True, eq=False)
class DrawnSolid:
    """A convex solid on paper: how near its middle is to the viewer, and what is seen of it."""

    depth: float
    patches: list[Patch]


@dataclass(frozen=True, eq=False)
class DrawnScene:
    """Poses of every body at some rows of a run."""

    system: System
    resolve: Resolve  # constants at the run's parameters
    rows: Array
    R: dict[str, Array]  # (row, 3, 3)
    p: dict[str, Array]  # (row, 3)

    def point(self, frame: Frame, k: int) -> Array:
        """Where a frame is in the world at the k-th row."""
        return np.asarray(self.p[frame.body][k] + self.R[frame.body][k] @ self.local(frame))

    def path(self, frame: Frame) -> Array:
        """Where a frame is at every row."""
        return np.asarray(self.p[frame.body] + self.R[frame.body] @ self.local(frame))

    def local(self, frame: Frame) -> Array:
        """Where a frame is on its body."""
        return np.array([self.resolve(x) for x in frame.position])

    def axis(self, joint: Any, k: int) -> Array | None:
        """A joint's axis in the world at the k-th row."""
        given = given_axis(joint, self.resolve)
        if given is None:
            return None
        F = joint_frame(joint, "parent")
        R = np.asarray(F.pose(self.resolve).R, dtype=float)
        return np.asarray(self.R[F.body][k] @ R @ given)


def find_scene(run: ShownStates, rows: Any, seen_from: str | None = None) -> DrawnScene:
    """The poses of all bodies of a run at some of its rows, in the axes of the world or of a body or frame."""
    rows = np.asarray(rows, dtype=int)
    R = {"world": np.broadcast_to(np.eye(3), (len(rows), 3, 3))}
    p = {"world": np.zeros((len(rows), 3))}
    owners = [*run.system.bodies, *([] if seen_from is None else [seen_from])]
    poses = run.evaluate(f"{name}.{what}" for name in owners for what in ("rotation", "position"))
    for name in run.system.bodies:
        R[name], p[name] = poses[f"{name}.rotation"][rows], poses[f"{name}.position"][rows]
    if seen_from is not None:
        back, origin = poses[f"{seen_from}.rotation"][rows].transpose(0, 2, 1), poses[f"{seen_from}.position"][rows]
        R = {name: back @ turn for name, turn in R.items()}
        p = {name: np.einsum("kij,kj->ki", back, position - origin) for name, position in p.items()}
    return DrawnScene(run.system, run.dynamics.arguments.resolver(run.p), rows, R, p)


def link_frames(system: System) -> dict[str, list[Frame]]:
    """For every body its frames: of the joint that carries it, of its other joints, named ones, of springs."""
    frames: dict[str, list[Frame]] = {name: [] for name in ("world", *system.bodies)}
    for joint in system.joints.values():
        for side in ("child", "parent"):
            frame = joint_frame(joint, side)
            if side == "child":
                frames[frame.body].insert(0, frame)
            else:
                frames[frame.body].append(frame)
    for body in system.bodies.values():
        frames[body.name] += list(body.frames)
    for element in system.elements.values():
        if isinstance(element, Spring):
            for frame in (element.a, element.b):
                frames[frame.body].append(frame)
    return frames


def tips(system: System, frames: dict[str, list[Frame]]) -> dict[str, Frame]:
    """The point whose path is drawn, for each body at the end of a chain: its only named frame, or its mass center."""
    carriers = {joint.a.body for joint in system.joints.values()}
    ends = {}
    for name, body in system.bodies.items():
        if name not in carriers:
            ends[name] = body.frames[0] if len(body.frames) == 1 else body.com
    return ends


def solids(scene: DrawnScene, camera: Camera, body: Body, k: int) -> list[DrawnSolid]:
    """The shape of a body, or its visuals that are simple solids; none if it has neither."""
    R, p, resolve = scene.R[body.name][k], scene.p[body.name][k], scene.resolve
    drawn = [
        DrawnSolid(
            float(camera.depth(p + R @ (at + turn @ mesh.middle))), mesh_patches(camera, R @ turn, p + R @ at, mesh)
        )
        for mesh, at, turn in mesh_places(body, resolve)
    ]
    if body.shape is not None and body.shape.kind not in ("rod", "mesh"):
        shape = body.shape
        center = p + R @ np.array([resolve(x) for x in shape.at])
        sizes = {name: resolve(value) for name, value in shape.sizes if name != "axis"}
        axis = AXES.index(shape.size("axis")) if shape.kind == "cylinder" else 2
        return [DrawnSolid(float(camera.depth(center)), _patches(camera, shape.kind, R, center, sizes, axis))]
    for visual in body.meshes if body.shape is None else ():
        if visual.role != "visual" or visual.kind == "mesh":
            continue
        rotation = ("quaternion", visual.quaternion) if visual.quaternion else ("rpy", visual.rpy)
        turn = np.asarray(rotation_matrix(rotation, resolve), dtype=float)
        names = {"box": ("x", "y", "z"), "sphere": ("radius",)}.get(visual.kind, ("radius", "length"))
        sizes = dict(zip(names, visual.sizes))
        center = p + R @ np.array(visual.at)
        patches = _patches(camera, visual.kind, R @ turn, center, sizes, 2)
        drawn.append(DrawnSolid(float(camera.depth(center)), patches))
    return drawn


def mesh_places(body: Body, resolve: Resolve) -> list[tuple[MeshSolid, Array, Array]]:
    """The meshes that a body is drawn with: its shape, or visuals whose files were found; position and rotation."""
    if body.shape is not None:
        at = np.array([float(resolve(x)) for x in body.shape.at])
        return [] if body.shape.mesh is None else [(body.shape.mesh, at, np.eye(3))]
    places = []
    for visual in body.meshes:
        mesh = find_visual_mesh(visual, body.name) if visual.role == "visual" and visual.kind == "mesh" else None
        if mesh is not None:
            rotation = ("quaternion", visual.quaternion) if visual.quaternion else ("rpy", visual.rpy)
            places.append((mesh, np.array(visual.at), np.asarray(rotation_matrix(rotation, resolve), dtype=float)))
    return places


def _patches(camera: Camera, kind: str, R: Array, p: Array, sizes: dict[str, float], axis: int) -> list[Patch]:
    if kind == "box":
        return box_patches(camera, R, p, np.array([sizes[a] for a in AXES]))
    if kind == "sphere":
        return sphere_patches(camera, p, sizes["radius"])
    patches = cylinder_patches(camera, R, p, sizes["radius"], sizes["length"], axis)
    if kind == "capsule":
        ends = [p + R[:, axis] * s * sizes["length"] / 2 for s in (1, -1)]
        ends.sort(key=lambda end: float(camera.depth(end)))
        back, front = (sphere_patches(camera, end, sizes["radius"]) for end in ends)
        patches = back + patches + front
    return patches


def rod_ends(scene: DrawnScene, body: Body, k: int) -> Array | None:
    """The two ends of a body that is a rod."""
    if body.shape is None or body.shape.kind != "rod":
        return None
    resolve = scene.resolve
    start = np.array([resolve(x) for x in body.shape.at])
    end = start.copy()
    end[AXES.index(body.shape.size("axis"))] += resolve(body.shape.size("length"))
    return np.array(np.array([start, end]) @ scene.R[body.name][k].T + scene.p[body.name][k])
