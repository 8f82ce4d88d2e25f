"""What a frame stands on, and the bodies that keep their axes parallel to it: fixed to its carrier, or sliding on it.

A frame XYZ of the balances is fixed in a body (its carrier), shares an axis with one that rolls in it, does not turn at
all, or moves in another way.  Bodies that joints without rotation connect with the carrier have constant tensors in its
axes, and positions that are linear in the travels of the slides: their balances can be written in scalars.

Lengths, masses and tensors are functions of the parameters; what vanishes at several values of them vanishes always.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose
from kinode.model.base.frames import Frame, Resolve, axis_vector
from kinode.model.base.observers.following_frames import MassCenter
from kinode.model.base.observers.moving_frames import FixedFrame, Inertial
from kinode.model.base.observers.rolled_frames import FixedPlane, Nonrolling
from kinode.model.joints.fixed import Fixed
from kinode.model.joints.prismatic import Prismatic
from kinode.model.system import System

SAMPLES = 3  # sets of parameters at which a value is compared with zero
VANISHING = 1e-13  # relative to the largest value of its kind
LETTERS = ("x", "y", "z")


class MassProperties(NamedTuple):
    """Mass, mass center from o, and tensor about the mass center, in the axes of the carrier."""

    mass: float
    center: Array
    tensor: Array


@dataclass(frozen=True)
class Slide:
    """A prismatic joint on the way from the carrier to a body; ``axis`` of the carrier's axes that it is along."""

    joint: str
    axis: int | None
    sign: float


@dataclass(frozen=True)
class ParallelBody:
    """A body that keeps its attitude in the carrier, and the slides on the way to it."""

    name: str
    slides: tuple[Slide, ...] = ()


@dataclass(frozen=True)
class FrameCarrier:
    """A frame by its name, and what is known about how it moves.

    Attributes
    ----------
    system : System
        The system.
    name : str
        The frame.
    base : Frame, optional
        The place on a body whose axes XYZ has, or rolls against; None if it stands on no body.
    shared : int, optional
        The axis that it shares with a body that rolls in it.
    closure : str
        How it rolls: nonrolling, fixed_plane, or nothing.
    turning, moving : bool
        Whether it turns, and whether its origin moves.
    """

    system: System
    name: str
    base: Frame | None = None
    shared: int | None = None
    closure: str = ""
    turning: bool = True
    moving: bool = True
    steady: bool = False  # its origin moves evenly

    @property
    def body(self) -> str | None:
        """The carrier."""
        return None if self.base is None else self.base.body

    # -- numbers -----------------------------------------------------------------------------------
    @cached_property
    def samples(self) -> list[Resolve]:
        """Functions that evaluate numbers of the model, at several values of its parameters."""
        system, rng = self.system, np.random.default_rng(5)
        free = [name for name, parameter in system.parameters.items() if isinstance(parameter.value, float)]
        resolvers: list[Resolve] = [system.nominal]
        for _ in range(SAMPLES - 1 if free else 0):
            changed = {}
            for name in free:
                value, factor = float(system.parameters[name].value), rng.uniform(0.9, 1.1)
                changed[name] = value * factor if value else factor - 0.9
            resolvers.append(_resolver(system, changed))
        return resolvers

    def properties(self, bodies: Sequence[str], resolve: Resolve) -> MassProperties:
        """Of parallel bodies that are fixed to each other, their slides at zero."""
        mass, moment = 0.0, np.zeros(3)
        each = []
        for body in bodies:
            X, record = self.place_of(body, resolve), self.system.bodies[body]
            center = X.p + X.R @ np.array([resolve(x) for x in record.center_of_mass], dtype=float)
            tensor = X.R @ np.asarray(record.central_inertia(resolve), dtype=float) @ X.R.T
            m = float(resolve(record.mass))
            mass, moment = mass + m, moment + m * center
            each.append((m, center, tensor))
        middle = moment / mass if mass else each[0][1]
        arms = [(m, center - middle, tensor) for m, center, tensor in each]
        total = sum((J + m * ((d @ d) * np.eye(3) - np.outer(d, d)) for m, d, J in arms), np.zeros((3, 3)))
        return MassProperties(mass, middle, total)

    def is_zero(self, value: Callable[[Resolve], float], scale: Callable[[Resolve], float]) -> bool:
        """Whether a value vanishes whatever the parameters are."""
        return all(abs(value(s)) <= VANISHING * max(abs(scale(s)), 1e-300) for s in self.samples)

    # -- bodies ------------------------------------------------------------------------------------
    @cached_property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Bodies that are fixed to each other, by the name of the first; those without mass and inertia are left out.

        The group of the carrier comes first.
        """
        leader = {name: name for name in self.system.bodies}

        def find(name: str) -> str:
            while leader[name] != name:
                name = leader[name]
            return name

        order = {name: k for k, name in enumerate(self.system.bodies)}
        if self.body in order:
            order[self.body] = -1
        for joint in self.system.joints.values():
            ends = [joint.a.body, joint.b.body]
            if isinstance(joint, Fixed) and all(end in leader for end in ends):
                one, two = sorted((find(end) for end in ends), key=order.__getitem__)
                leader[two] = one
        groups: dict[str, list[str]] = {name: [] for name in sorted(order, key=order.__getitem__) if find(name) == name}
        for name in sorted(order, key=order.__getitem__):
            if not self.is_massless(name):
                groups[find(name)].append(name)
        return {name: tuple(members) for name, members in groups.items() if members}

    def is_massless(self, body: str) -> bool:
        """Whether a body has neither mass nor inertia, whatever the parameters are."""
        record = self.system.bodies[body]
        return all(float(resolve(x)) == 0.0 for resolve in self.samples for x in (record.mass, *record.inertia))

    @cached_property
    def parallel(self) -> dict[str, ParallelBody]:
        """The bodies that keep their attitude in the carrier, itself first."""
        if self.body is None or self.body not in self.system.bodies:
            return {}
        walks = [dict(self._walk(resolve, steps=True)) for resolve in self.samples]
        return {
            name: ParallelBody(name, tuple(_same(steps) for steps in zip(*(walk[name] for walk in walks), strict=True)))
            for name in walks[0]
        }

    def place_of(self, body: str, resolve: Resolve) -> Pose:
        """The pose of a parallel body's frame relative to XYZ's origin and the carrier's axes, its slides at zero."""
        place: Pose = dict(self._walk(resolve))[body]
        return place

    def _walk(self, resolve: Resolve, steps: bool = False) -> Iterator[tuple[str, Any]]:
        """Parallel bodies with their poses, or with the slides on the way."""
        assert self.base is not None
        start = _numbers(self.base.pose(resolve)).inverse()
        queue: list[tuple[str, Pose, list[Slide]]] = [(self.base.body, start, [])]
        seen = {self.base.body, "world"}
        while queue:
            body, X, slides = queue.pop(0)
            yield body, (slides if steps else X)
            for joint in self.system.joints.values():
                if not isinstance(joint, Fixed | Prismatic) or body not in (joint.a.body, joint.b.body):
                    continue
                near, far = (joint.a, joint.b) if joint.a.body == body else (joint.b, joint.a)
                if far.body in seen:
                    continue
                seen.add(far.body)
                X_J = X @ _numbers(near.pose(resolve))
                more = list(slides)
                if isinstance(joint, Prismatic):
                    e = X_J.R @ np.array([resolve(x) for x in axis_vector(joint.axis)], dtype=float)
                    more.append(self._slide(joint.name, e if near is joint.a else -e))
                queue.append((far.body, X_J @ _numbers(far.pose(resolve)).inverse(), more))

    def _slide(self, joint: str, direction: Array) -> Slide:
        k = int(np.argmax(np.abs(direction)))
        along = abs(abs(direction[k]) - np.linalg.norm(direction)) <= VANISHING
        return Slide(joint, k if along else None, float(np.sign(direction[k])))


def _same(slides: tuple[Slide, ...]) -> Slide:
    """A slide at several values of the parameters; its axis, if it has one and the same at all of them."""
    first = slides[0]
    return first if all(slide == first for slide in slides) else Slide(first.joint, None, first.sign)


def _numbers(X: Pose) -> Pose:
    return Pose(np.asarray(X.R, dtype=float), np.asarray(X.p, dtype=float))


def _resolver(system: System, changed: Mapping[str, float]) -> Resolve:
    values = system.parameter_values(changed)
    return lambda value: float(value) if isinstance(value, float | int) else float(value.evaluate(values.__getitem__))


def find_carrier(system: System, name: str) -> FrameCarrier:
    """What a frame, a body or a place on one stands on."""
    frame = system.find_frame(name)
    observer = system.frames.get(frame.body)
    if observer is None:
        if frame.body == "world":
            return FrameCarrier(system, name, turning=False, moving=False)
        return FrameCarrier(system, name, frame)
    if isinstance(observer, Inertial):
        return FrameCarrier(system, name, turning=False, steady=True)
    below = observer.on
    standing = below.body in system.bodies
    if isinstance(observer, FixedFrame) and frame.is_plain:
        inner = find_carrier(system, str(below)) if below.is_plain and not standing else None
        if standing or below.body == "world":
            return FrameCarrier(system, name, below if standing else None, turning=standing, moving=standing)
        if inner is not None:
            return FrameCarrier(
                system, name, inner.base, inner.shared, inner.closure, inner.turning, inner.moving, inner.steady
            )
    if isinstance(observer, MassCenter) and below.body == "world":
        return FrameCarrier(system, name, turning=False)
    if isinstance(observer, Nonrolling | FixedPlane) and standing and observer.axis in LETTERS:
        kind = "nonrolling" if isinstance(observer, Nonrolling) else "fixed_plane"
        return FrameCarrier(system, name, below, LETTERS.index(observer.axis), kind)
    return FrameCarrier(system, name)
