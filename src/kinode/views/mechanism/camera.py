"""From space to paper: parallel projection, the view that suits a mechanism, and solids as flat patches.

A patch is a filled polygon.  Only what faces the viewer is made; solids are convex, so that patches of one
solid need no sorting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.model.base.meshes import MeshSolid
from kinode.model.system import System

LIGHT = np.array([-0.35, 0.75, 0.56])  # in the viewer's axes: right, up, toward
MOST_TRIANGLES = 1500  # of a mesh on paper
VIEWS = ("auto", "side", "front", "top", "isometric")


@dataclass(frozen=True, eq=False)
class Camera:
    """The viewer's axes in the world's: ``axes`` has the rows right, up and toward the viewer."""

    axes: Array

    def project(self, points: Any) -> Array:
        """Points on paper."""
        return np.array(np.asarray(points, dtype=float) @ self.axes[:2].T)

    def depth(self, points: Any) -> Array:
        """How near points are to the viewer."""
        return np.array(np.asarray(points, dtype=float) @ self.axes[2])

    def see(self, direction: Any) -> Array:
        """A direction in the viewer's axes."""
        return np.array(self.axes @ np.asarray(direction, dtype=float))


@dataclass(frozen=True, eq=False)
class Patch:
    """A filled polygon on paper; ``shade`` from -1 (dark) to 1 (light); an ``edge`` gets an outline."""

    points: Array
    shade: float
    edge: bool = False


def find_camera(system: System, view: Any = "auto", axes: Any = ()) -> Camera:
    """The camera of a view: a name, or a viewing direction; ``axes`` are the joint axes in world axes."""
    up = find_up(system)
    if isinstance(view, str) and view not in VIEWS:
        raise ArgumentError(f"view: one of {', '.join(VIEWS)} or a direction, not {view!r}")
    if not isinstance(view, str):
        return _camera_along(np.asarray(view, dtype=float), up)
    common = find_common_axis(axes)
    if view in ("auto", "side") and common is not None:
        return _camera_along(_readable(common, up), up)
    right = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    forward = np.cross(up, right)
    if view in ("side", "front"):
        return _camera_along(forward, up)
    if view == "top":
        return Camera(np.array([right, forward, up]))
    # From the right, the front and above; flatter than isometric, where long arms would fold together.
    return _camera_along(forward * 0.8 - right * 0.55 - up * 0.42, up)


def find_up(system: System) -> Array:
    """Against gravity; z where there is none."""
    g = np.array([system.nominal(x) for x in system.gravity])
    size = float(np.linalg.norm(g))
    return -g / size if size > 0 else np.array([0.0, 0.0, 1.0])


def find_common_axis(axes: Any) -> Array | None:
    """The direction that all axes share, if they do: then the mechanism moves in a plane."""
    directions = [np.asarray(a, dtype=float) / np.linalg.norm(a) for a in axes]
    if not directions:
        return None
    return directions[0] if all(abs(a @ directions[0]) > 1.0 - 1e-6 for a in directions) else None


def _readable(axis: Array, up: Array) -> Array:
    """Along or against an axis, so that x (else y) runs to the right."""
    right = np.cross(axis, up)
    lead = right[np.argmax(np.abs(right) > 0.3)]
    return axis if lead >= 0 else -axis


def _camera_along(forward: Array, up: Array) -> Camera:
    forward = forward / np.linalg.norm(forward)
    if abs(forward @ up) > 0.999:
        up = np.array([0.0, 1.0, 0.0]) if abs(forward[1]) < 0.9 else np.array([1.0, 0.0, 0.0])
    right = np.cross(forward, up)
    right /= np.linalg.norm(right)
    return Camera(np.array([right, np.cross(right, forward), -forward]))


# -- solids ----------------------------------------------------------------------------------------
def box_patches(camera: Camera, R: Array, p: Array, sizes: Array) -> list[Patch]:
    """The faces of a box that can be seen."""
    patches = []
    for axis in range(3):
        a, b = (axis + 1) % 3, (axis + 2) % 3
        for sign in (1.0, -1.0):
            normal = camera.see(R[:, axis] * sign)
            if normal[2] <= 1e-6:
                continue
            corners = np.zeros((4, 3))
            corners[:, axis] = sign * sizes[axis] / 2
            corners[:, a] = np.array([-1, 1, 1, -1]) * sizes[a] / 2
            corners[:, b] = np.array([-1, -1, 1, 1]) * sizes[b] / 2
            patches.append(Patch(camera.project(corners @ R.T + p), shade_of(normal), edge=True))
    return patches


def mesh_patches(camera: Camera, R: Array, p: Array, mesh: MeshSolid) -> list[Patch]:
    """The triangles of a mesh that can be seen, those behind first; fine meshes are drawn with fewer."""
    vertices, faces = mesh.coarser(MOST_TRIANGLES)
    corners = vertices @ R.T + p
    a, b, c = (corners[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1)
    seen = (normals / np.where(lengths > 0, lengths, 1.0)[:, None]) @ camera.axes.T
    if not mesh.closed:
        seen[seen[:, 2] < 0] *= -1.0  # both sides of an open surface can be seen
    order = np.argsort(camera.depth((a + b + c) / 3))
    points = camera.project(corners)
    return [Patch(points[faces[k]], shade_of(seen[k])) for k in order if seen[k, 2] > 1e-6]


def cylinder_patches(camera: Camera, R: Array, p: Array, radius: float, length: float, axis: int) -> list[Patch]:
    """The side of a cylinder in strips, its outline, and the end that can be seen."""
    n = 48
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    ring = np.zeros((n, 3))
    a, b = (axis + 1) % 3, (axis + 2) % 3
    ring[:, a], ring[:, b] = radius * np.cos(angle), radius * np.sin(angle)
    half = np.zeros(3)
    half[axis] = length / 2
    ends = [camera.project((ring + side) @ R.T + p) for side in (half, -half)]
    patches = [Patch(hull(np.concatenate(ends)), 0.0, edge=True)]
    for k in range(n):
        j = (k + 1) % n
        normal = camera.see(R @ ((ring[k] + ring[j]) / (2 * radius)))
        if normal[2] > 0:
            strip = np.array([ends[0][k], ends[0][j], ends[1][j], ends[1][k]])
            patches.append(Patch(strip, shade_of(normal)))
    for sign, end in zip((1.0, -1.0), ends):
        normal = camera.see(R[:, axis] * sign)
        if normal[2] > 1e-3:
            patches.append(Patch(end, shade_of(normal), edge=True))
    return patches


def sphere_patches(camera: Camera, p: Array, radius: float) -> list[Patch]:
    """A ball as discs that grow lighter toward the light."""
    angle = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    disc = np.column_stack([np.cos(angle), np.sin(angle)])
    center = camera.project(p)
    patches = [Patch(center + radius * disc, -0.35, edge=True)]
    for k in range(1, 9):
        share = k / 9
        middle = center + LIGHT[:2] * radius * 0.5 * share
        patches.append(Patch(middle + radius * (1 - share) * disc, -0.35 + 1.1 * share))
    return patches


def shade_of(normal: Array) -> float:
    """Brightness of a face, from its normal in the viewer's axes."""
    return float(np.clip(0.95 * (normal @ LIGHT) - 0.38, -0.42, 0.6))


def hull(points: Array) -> Array:
    """The convex outline of points on paper (monotone chain)."""
    order = sorted({(float(x), float(y)) for x, y in points})
    if len(order) < 3:
        return np.array(order)

    def half(sequence: Any) -> list[tuple[float, float]]:
        chain: list[tuple[float, float]] = []
        for point in sequence:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        return chain

    lower, upper = half(order), half(reversed(order))
    return np.array(lower[:-1] + upper[:-1])


def is_inside(point: Array, outline: Array) -> bool:
    """Whether a point lies within a convex outline."""
    edges = np.roll(outline, -1, axis=0) - outline
    sides = edges[:, 0] * (point[1] - outline[:, 1]) - edges[:, 1] * (point[0] - outline[:, 0])
    return bool((sides >= 0).all() or (sides <= 0).all())


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
