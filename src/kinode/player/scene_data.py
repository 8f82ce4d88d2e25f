"""What the player draws of a model, as plain data: bodies with their shapes, frames, joints, springs.

All of it is in the axes of the bodies, so that poses alone move it.  ``web/src/data/run_document.ts`` has the same
records.  Bodies are drawn as in ``views.mechanism``: as solids, or as bars and plates between their joints.  Records
that depend on parameters are cached: made anew only when a parameter that they have read has another value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import quaternion_from_rotation
from kinode.model.base.bodies import Body
from kinode.model.base.frames import Frame, Resolve, given_axis, rotation_matrix
from kinode.model.base.meshes import MeshSolid
from kinode.model.elements.spring import Spring
from kinode.model.system import System, joint_frame
from kinode.results.run_frames import RunFrames, make_continuous
from kinode.views.mechanism.camera import find_camera, find_common_axis, find_up
from kinode.views.mechanism.drawn_scene import AXES, DrawnScene, ShownStates, find_scene, link_frames, mesh_places, tips
from kinode.views.mechanism.mechanism_symbols import glyph_of


class KeptRecords:
    """Records by key, each with the parameters that were read while it was made.

    Examples
    --------
    >>> from kinode.player.scene_data import KeptRecords
    >>> system = kn.System("arm")
    >>> length = system.parameter("L", 2.0)
    >>> kept = KeptRecords()
    >>> kept.use({"L": 2.0})
    >>> first = kept.find("bar", lambda: [kept.resolve(length)])
    >>> first is kept.find("bar", lambda: [kept.resolve(length)])
    True
    >>> kept.use({"L": 3.0})
    >>> kept.find("bar", lambda: [kept.resolve(length)])
    [3.0]
    """

    def __init__(self) -> None:
        self._records: dict[Hashable, tuple[dict[str, float], Any]] = {}
        self._values: Mapping[str, float] = {}
        self._read: dict[str, float] = {}

    def use(self, values: Mapping[str, float]) -> None:
        """Take other values of the parameters, all of them by name."""
        self._values = values

    def resolve(self, value: Any) -> float:
        """A number of the model at the values in use."""
        return float(value) if isinstance(value, float | int) else float(value.evaluate(self._get))

    def find(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The record of a key: the one that is kept, or what ``make`` gives."""
        known = self._records.get(key)
        if known is None or any(self._values[name] != x for name, x in known[0].items()):
            outer, self._read = self._read, {}
            try:
                record = make()
                known = self._records[key] = self._read, record
            finally:
                self._read = outer
        self._read.update(known[0])  # what is made of it depends on the same
        return known[1]

    def _get(self, name: str) -> float:
        value = self._read[name] = self._values[name]
        return value


Plain = dict[str, Any]

PALETTE = 8  # colors of bodies
WORLD = -1
NEAR = 1e-6  # of the mechanism's size: points closer than that are one
THIN = 0.012  # radius of a bar, of the mechanism's size
IDENTITY = [1.0, 0.0, 0.0, 0.0]
TURN_TO_Z = {  # rotations that turn z to the axis of a cylinder
    "x": [np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0],
    "y": [np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0],
    "z": IDENTITY,
}

MOST_TRIANGLES = 4000  # of a mesh in a page: some 200 kB
MOST_IN_ALL = 40_000  # of all meshes in a page: some 2 MB


@dataclass(frozen=True, eq=False)
class SceneData:
    """The drawing of a run's model; each property is a list of plain records.

    ``known_size`` is the extent of the mechanism where it is to stay, while numbers change; ``kept`` has records of
    other runs of the same compiled system, which are made anew where a number that they depend on has changed.
    """

    run: ShownStates
    known_size: float | None = None
    kept: KeptRecords = field(default_factory=KeptRecords)

    def __post_init__(self) -> None:
        arguments = self.run.dynamics.arguments
        self.kept.use(arguments.values_by_name(arguments.read_parameters(self.run.p)))

    @cached_property
    def first(self) -> DrawnScene:
        """Poses at the start."""
        return find_scene(self.run, [0] if len(self.run) else [])

    @property
    def _system(self) -> System:
        """The system that was compiled: numbers that are arguments of the code have their values by ``_resolve``."""
        return self.run.dynamics.system

    @property
    def _resolve(self) -> Resolve:
        """Numbers of the system at the values of the run."""
        return self.kept.resolve

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each body and each moving frame in the array of poses."""
        names = [*self._system.bodies, *self._system.frames]
        return {name: k for k, name in enumerate(names)} | {"world": WORLD}

    @cached_property
    def _links(self) -> dict[str, list[Frame]]:
        frames: dict[str, list[Frame]] = self.kept.find("links", lambda: link_frames(self._system))
        return frames

    # -- size and view -----------------------------------------------------------------------------
    @cached_property
    def _cloud(self) -> Array:
        """Points of the mechanism at the start: frames, mass centers and corners of shapes."""
        scene, points = self.first, [np.zeros(3)]
        if not len(scene.rows):
            return np.zeros((1, 3))
        free = [joint.a for joint in self._system.joints.values() if joint.kind == "free"]
        for name, frames in self._links.items():
            points += [scene.point(frame, 0) for frame in frames if not any(frame is start for start in free)]
            body = self._system.bodies.get(name)
            if body is not None:
                points.append(scene.point(body.com, 0))
                corners = [corner for shape in self._solids(body) for corner in _corners(shape)]
                points += [scene.p[name][0] + scene.R[name][0] @ corner for corner in corners]
        cloud = np.array(points[1:] or points)
        return cloud[np.isfinite(cloud).all(axis=1)] if np.isfinite(cloud).all(axis=1).any() else np.zeros((1, 3))

    @cached_property
    def size(self) -> float:
        """The extent of the mechanism at the start, m."""
        if self.known_size is not None:
            return self.known_size
        extent = float(np.linalg.norm(np.ptp(self._cloud, axis=0)))
        return extent if extent > 0 else 1.0

    @property
    def center(self) -> list[float]:
        """The middle of the mechanism at the start."""
        return _list(0.5 * (self._cloud.min(axis=0) + self._cloud.max(axis=0)))

    @property
    def up(self) -> list[float]:
        """Against gravity."""
        return _list(find_up(self.run.system))

    @property
    def plane(self) -> Plain | None:
        """The axes of the view of a plane mechanism; None for others."""
        joints = [joint for joint in self.run.system.joints.values() if joint.n_u]
        axes = [self.first.axis(joint, 0) for joint in joints] if len(self.first.rows) else []
        turning = [axis for joint, axis in zip(joints, axes) if joint.kind != "prismatic"]
        if not joints or not turning or any(axis is None for axis in axes):
            return None
        common = find_common_axis(turning)
        sliding = [axis for joint, axis in zip(joints, axes) if joint.kind == "prismatic"]
        if common is None or any(abs(axis @ common) > 1e-6 for axis in sliding if axis is not None):
            return None
        right, up, toward = find_camera(self.run.system, "side", turning).axes
        return {"right": _list(right), "up": _list(up), "toward": _list(toward)}

    # -- bodies ------------------------------------------------------------------------------------
    @property
    def bodies(self) -> list[Plain]:
        """The bodies, in the order of their poses."""
        ends = self.kept.find("tips", lambda: tips(self._system, self._links))

        def record(k: int, body: Body) -> Plain:
            return {
                "name": body.name,
                "color": k % PALETTE,
                "com": self._local(body.com),
                "shapes": self._shapes(body),
                "tip": self._local(ends[body.name]) if body.name in ends else None,
            }

        bodies = enumerate(self._system.bodies.values())
        shown = [(body, self.kept.find(("body", body.name), partial(record, k, body))) for k, body in bodies]
        return [{**kept, "mass": float(self._resolve(body.mass))} for body, kept in shown]

    def _shapes(self, body: Body) -> list[Plain]:
        """The solids of a body with thin bars to joints outside them; bars or a plate where it has no solids."""
        solids = self._solids(body)
        points = [np.array(self._local(frame)) for frame in self._links[body.name]]
        com = np.array(self._local(body.com))
        if solids:
            outside = [p for p in self._distinct(points) if not any(_contains(solid, p) for solid in solids)]
            return solids + [_bar([com, p], 0.5 * THIN * self.size) for p in outside]
        if body.shape is not None:  # a rod
            start = np.array([self._resolve(x) for x in body.shape.at])
            end = start.copy()
            end[AXES.index(body.shape.size("axis"))] += self._resolve(body.shape.size("length"))
            points += [start, end]
        corners = self._distinct([*points, com])
        if len(corners) < 2:
            return []
        return [_bar(corners, THIN * self.size, "bar" if len(corners) == 2 else "plate")]

    @cached_property
    def _most_triangles(self) -> int:
        """Of each mesh, so that all of them keep the page small."""
        count = sum(len(mesh_places(body, self._resolve)) for body in self._system.bodies.values())
        return min(MOST_TRIANGLES, MOST_IN_ALL // max(count, 1))

    def _solids(self, body: Body) -> list[Plain]:
        resolve = self._resolve
        solids = [_mesh(mesh, at, turn, self._most_triangles) for mesh, at, turn in mesh_places(body, resolve)]
        if solids and body.shape is not None:
            return solids
        if body.shape is not None and body.shape.kind != "rod":
            shape, at = body.shape, [float(resolve(x)) for x in body.shape.at]
            names = {"box": ("x", "y", "z"), "cylinder": ("radius", "length"), "sphere": ("radius",)}[shape.kind]
            turn = TURN_TO_Z[shape.size("axis")] if shape.kind == "cylinder" else IDENTITY
            return [_solid(shape.kind, [float(resolve(shape.size(name))) for name in names], at, turn)]
        for visual in body.meshes:
            if visual.role != "visual" or visual.kind == "mesh":
                continue
            given = ("quaternion", visual.quaternion) if visual.quaternion else ("rpy", visual.rpy)
            turn = _list(quaternion_from_rotation(np.asarray(rotation_matrix(given, resolve), dtype=float)))
            solids.append(_solid(visual.kind, list(visual.sizes), list(visual.at), turn))
        return solids

    def _distinct(self, points: Sequence[Array]) -> list[Array]:
        kept: list[Array] = []
        for point in points:
            if all(np.linalg.norm(point - other) > NEAR * self.size for other in kept):
                kept.append(point)
        return kept

    # -- frames, joints, elements ------------------------------------------------------------------
    @property
    def frames(self) -> list[Plain]:
        """Named frames of bodies and of the world, and moving frames."""
        system = self._system
        owners = [*system.bodies.values(), system.world]
        named = [frame for owner in owners for frame in owner.frames if frame.name]
        fixed = [
            {"name": str(frame), **self.kept.find(("frame", str(frame)), partial(self.place, frame))} for frame in named
        ]
        moving = [
            {"name": name, "body": self.rows[name], "at": [0.0] * 3, "quaternion": IDENTITY} for name in system.frames
        ]
        return fixed + moving

    def with_moving_frames(self, frames: RunFrames) -> Array:
        """Poses of bodies, then of moving frames: (bodies and frames, 7, time)."""
        moving = list(self._system.frames)
        if not moving:
            return frames.poses
        values = frames.evaluate(f"{name}.{word}" for name in moving for word in ("position", "quaternion"))
        poses = np.empty((len(moving), 7, len(frames)), dtype=np.float32)
        for k, name in enumerate(moving):
            poses[k, :3], poses[k, 3:] = values[f"{name}.position"].T, values[f"{name}.quaternion"].T
        make_continuous(poses[:, 3:])
        return np.concatenate([frames.poses, poses])

    def joints(self) -> list[Plain]:
        """The joints, without their loads."""
        joints = self._system.joints.values()
        return [self.kept.find(("joint", joint.name), partial(self._joint, joint)) for joint in joints]

    def _joint(self, joint: Any) -> Plain:
        axis = given_axis(joint, self._resolve)
        glyph = glyph_of(joint)
        return {
            "name": joint.name,
            "kind": joint.kind,
            "symbol": "none" if glyph.mark is None else joint.kind,
            "parent": self.place(joint_frame(joint, "parent")),
            "child": self.place(joint_frame(joint, "child")),
            "axis": None if axis is None else _list(axis),
            "freedoms": joint.n_u,
            "shaft": bool(joint.has_bearings),
            "grounded": "world" in (joint.a.body, joint.b.body),
            "coordinates": [f"{joint.name}.q"] if joint.n_u else [],
        }

    @property
    def elements(self) -> list[Plain]:
        """Springs, dampers, and forces with a place, which are drawn between places on bodies."""
        drawn = [self.kept.find(("element", x.name), partial(self._element, x)) for x in self._system.elements.values()]
        return [record for record in drawn if record is not None]

    def _element(self, element: Any) -> Plain | None:
        a, b = getattr(element, "a", None), getattr(element, "b", None)
        if not isinstance(a, Frame) or not isinstance(b, Frame):
            return None
        return {
            "name": element.name,
            "kind": element.kind,
            "symbol": self._symbol(element),
            "a": self.place(a),
            "b": self.place(b),
            "series": None,
        }

    def _symbol(self, element: Any) -> str:
        if not isinstance(element, Spring):
            return "line"
        stiff, damped = (getattr(element, word, 0.0) not in (0.0, None) for word in ("stiffness", "damping"))
        return "damper" if damped and not stiff else "spring_damper" if damped else "spring"

    def place(self, frame: Frame) -> Plain:
        """A frame on a body, as a place."""
        pose = frame.pose(self._resolve)
        R, p = np.asarray(pose.R, dtype=float), np.asarray(pose.p, dtype=float)
        return {"body": self.rows[frame.body], "at": _list(p), "quaternion": _list(quaternion_from_rotation(R))}

    def _local(self, frame: Frame) -> list[float]:
        return _list(np.asarray(frame.pose(self._resolve).p, dtype=float))


def _list(values: Any) -> list[float]:
    return [float(x) for x in values]


def _solid(kind: str, sizes: list[float], at: list[float], quaternion: list[float]) -> Plain:
    return {"kind": kind, "sizes": sizes, "at": at, "quaternion": _list(quaternion)}


def _mesh(mesh: MeshSolid, at: Array, turn: Array, most: int = MOST_TRIANGLES) -> Plain:
    """A mesh: the box around it, and its triangles about the middle of the box, of a fine one fewer."""
    vertices, faces = mesh.coarser(most)
    middle, extent = mesh.middle, np.ptp(mesh.vertices, axis=0)
    digits = 5 - math.floor(math.log10(max(float(extent.max()), 1e-9)))
    shape = _solid("mesh", _list(extent), _list(at + turn @ middle), _list(quaternion_from_rotation(turn)))
    shape["corners"] = np.round(vertices - middle, digits).ravel().tolist()
    shape["triangles"] = faces.ravel().tolist()
    shape["mesh"] = mesh.digest
    if len(faces) < len(mesh.faces):
        shape["note"] = f"{len(faces):,} of {len(mesh.faces):,} triangles are shown"
    return shape


def _bar(points: Sequence[Array], radius: float, kind: str = "bar") -> Plain:
    corners = [_list(point) for point in points]
    return {"kind": kind, "sizes": [radius], "at": [0.0] * 3, "quaternion": IDENTITY, "points": corners}


def _corners(solid: Plain) -> list[Array]:
    """Points that bound a solid, in the body's axes."""
    at, sizes = np.array(solid["at"]), solid["sizes"]
    reach = (
        float(np.linalg.norm(sizes)) / 2
        if solid["kind"] in ("box", "mesh")
        else max(sizes[0], *(x / 2 for x in sizes[1:]), 0.0)
    )
    return [at + sign * reach * axis for axis in np.eye(3) for sign in (-1.0, 1.0)]


def _contains(solid: Plain, point: Array) -> bool:
    """Whether a point lies in the ball around a solid."""
    corners = np.array(_corners(solid))
    return bool(
        np.linalg.norm(point - np.array(solid["at"])) <= np.linalg.norm(corners[0] - np.array(solid["at"])) * 1.001
    )
