"""The mechanisms of the rows about loops: built by kinode, and read out again so that peers build the same.

Every mechanism comes from the tests or the examples. A peer is given bodies with their poses and velocities at the
start, as kinode assembled them, and joints with their frames on both bodies; it brings back the pose of every body at
the end. Errors are of these poses: the largest of any entry of a rotation matrix, or of a position of a mass center
over the size of the mechanism.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

import kinode as kn
from kinode.model.system import joint_frame

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
Array = Any
TIGHT = {"rtol": 1e-11, "atol": 1e-12}


@dataclass(frozen=True)
class Mechanism:
    """What is simulated, for how long; in the ``plane`` peers may use two-dimensional bodies."""

    title: str
    make: Callable[[], Any]
    until: float
    size: float  # m: the length that errors of positions are divided by
    plane: bool = False


def find_mechanism(name: str) -> Mechanism:
    """By its short name: andrews, four_bars_10, ring_40, stewart_platform, ..."""
    from mechanisms import andrews, four_bars, ring

    if name.startswith("ring_"):
        n = int(name.removeprefix("ring_"))
        return Mechanism(f"closed chain of {n} links, 1 s", lambda: ring(n, "revolute"), 1.0, n / np.pi, plane=True)
    if name.startswith("four_bars_"):
        n = int(name.removeprefix("four_bars_"))
        return Mechanism(f"{n} four-bars, 10 s", lambda: four_bars(n), 10.0, 1.0, plane=True)
    if name == "andrews":
        return Mechanism("Andrews' squeezer, 30 ms", andrews, 0.03, 0.1, plane=True)
    words, until = {
        "stewart_platform": ("Stewart platform without dampers, 2 s", 2.0),
        "spatial_slider_crank": ("spatial slider-crank, 2 s", 2.0),
    }[name]
    return Mechanism(words, lambda: undamped(kn.load(ROOT / "examples" / f"{name}.yaml")), until, 1.0)


NAMES = ("andrews", "four_bars_2", "four_bars_10", "four_bars_40", "stewart_platform", "spatial_slider_crank")


def undamped(system: Any) -> Any:
    """Without damping: a motion that dies out forgives every error."""
    for name, element in system.elements.items():
        if element.kind == "spring":
            system.change(name, damping=0.0)
    return system


@dataclass(frozen=True)
class Solid:
    """A body at the start: in its own axes mass center and inertia about it, in the world's the rest."""

    mass: float
    com: Array
    inertia: Array
    p: Array  # of the mass center
    R: Array
    v: Array  # of the mass center
    w: Array


@dataclass(frozen=True)
class Tie:
    """A joint: the bodies, and in their axes the point and the axes of both sides; the joint's own axis is z."""

    name: str
    kind: str
    bodies: tuple[str, str]
    points: tuple[Array, Array]
    axes: tuple[Array, Array]
    effort: float


@dataclass(frozen=True)
class Pull:
    """A spring between two points of bodies."""

    bodies: tuple[str, str]
    points: tuple[Array, Array]
    stiffness: float
    free_length: float


class Readout:
    """A system as plain numbers, for peers."""

    def __init__(self, system: Any) -> None:
        self.system = system
        self.dynamics = kn.compile(system)
        self.gravity = plain([system.nominal(g) for g in system.gravity])
        self.cuts = frozenset(self.dynamics.topology.cut_names)

    @cached_property
    def solids(self) -> dict[str, Solid]:
        start, found = self.dynamics.initial, {}
        for name, body in self.system.bodies.items():
            whole = body.rigid_inertia(self.system.nominal)
            words = [f"{name}.{word}" for word in ("com.position", "rotation", "com.velocity", "angular_velocity")]
            at = self.dynamics.evaluate(words, start.t, start.q, start.u)
            p, R, v, w = (plain(at[word]) for word in words)
            mass = float(whole.mass)
            com = plain(whole.moment) / mass
            J = plain(whole.J) - mass * (com @ com * np.eye(3) - np.outer(com, com))
            found[name] = Solid(mass, com, J, p, R, v, w)
        return found

    @cached_property
    def ties(self) -> tuple[Tie, ...]:
        nominal, found = self.system.nominal, []
        for joint in self.system.joints.values():
            frames = [joint_frame(joint, side) for side in ("parent", "child")]
            poses = [frame.pose(nominal) for frame in frames]
            C = plain(joint.axis_rotation(nominal, nominal))
            effort = float(nominal(joint.effort[0])) if joint.effort is not None else 0.0
            found.append(
                Tie(
                    joint.name,
                    joint.kind,
                    (frames[0].body, frames[1].body),
                    (plain(poses[0].p), plain(poses[1].p)),
                    (plain(poses[0].R) @ C, plain(poses[1].R) @ C),
                    effort,
                )
            )
        return tuple(found)

    @cached_property
    def pulls(self) -> tuple[Pull, ...]:
        nominal = self.system.nominal
        return tuple(
            Pull(
                (spring.a.body, spring.b.body),
                (plain(spring.a.pose(nominal).p), plain(spring.b.pose(nominal).p)),
                float(nominal(spring.stiffness)),
                float(nominal(spring.free_length)),
            )
            for spring in self.system.elements.values()
        )


def plain(values: Any) -> Array:
    """Numbers as floats."""
    return np.asarray(values, dtype=float)


def poses_of(run: Any) -> Array:
    """Position of the mass center and rotation of every body at the end of a run, a row for each body."""
    return np.array([
        np.concatenate([run[f"{name}.com.position"][-1], run[f"{name}.rotation"][-1].ravel()])
        for name in run.system.bodies
    ])  # fmt: skip


def error_of(poses: Array, reference: Array, size: float) -> float:
    """The largest error of any body's pose."""
    scale = np.concatenate([np.full(3, size), np.ones(9)])
    return float(np.abs((np.asarray(poses) - reference) / scale).max())


@cache
def reference(name: str) -> Array:
    """Poses at the end: of the four-bars exact, otherwise by a run with tight tolerances."""
    mechanism = find_mechanism(name)
    until = mechanism.until
    if name.startswith("four_bars_"):
        return exact_four_bars(int(name.removeprefix("four_bars_")), until)
    return poses_of(kn.simulate(mechanism.make(), until, times=[0.0, until], **TIGHT))


def exact_four_bars(n: int, until: float) -> Array:
    """All uprights stay parallel, and the bars on them level."""
    from mechanisms import four_bars_angle

    angle = -four_bars_angle(n, 1.0, until)
    c, s = np.cos(angle), np.sin(angle)
    turned, level = np.array([c, -s, 0, s, c, 0, 0, 0, 1.0]), np.eye(3).ravel()
    up = np.array([-s, c, 0.0])
    rods = [np.concatenate([[i, 0, 0] + up / 2, turned]) for i in range(n + 1)]
    bars = [np.concatenate([[i + 0.5, 0, 0] + up, level]) for i in range(n)]
    return np.array([*rods, *bars])
