"""Stick-slip: locks that keep joints at rest, and the event functions of friction, of joints, brakes and network parts.

A joint is locked by sticking friction, a stop that a body rests on, a brake, a clutch.  While a lock is ``stuck`` it
keeps a weighted sum of joint speeds constant, with the effort that this takes.  Otherwise it has no effect.  The owner
of the lock limits the effort: its event functions end the mode.

The mode is 1 or -1 while a contact slides forward or back, and 0 while it sticks.  A contact sticks when its speed
comes to zero.  It slides when the effort to stay at rest exceeds its limit, or after an impact.  Speeds are divided by
a small reference speed, of which 1e-9 counts as zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from kinode.algebra.scalars import Scalar, absolute, less, where
from kinode.model.base.events import Root
from kinode.model.base.scene import Scene


@dataclass(frozen=True, eq=False)
class Lock:
    """A lock of the sum of factor * speed over its ``joints``; ``stuck`` is 1 while it is active, else 0.

    ``owner`` is its component, ``part`` names the lock within it.  The locking effort acts along each joint, times its
    factor.  With a ``side``, 1 or -1, the lock is an end stop that takes part in impacts: it only pushes, against the
    speed of that sign.

    If several locks act on one joint, only the sum of their efforts is unique.  ``takes(effort)`` is the share of a
    required effort that this lock can take: stops come first, then brakes, and friction takes the rest.  Without the
    function a lock takes all.
    """

    owner: str
    part: str
    joints: tuple[tuple[str, Scalar], ...]
    stuck: Scalar
    side: Scalar = 0.0
    takes: Callable[[Scalar], Scalar] | None = None


SceneFunction = Callable[[Scene], Scalar]
ScenePredicate = Callable[[Scene], bool]

REST_SPEED = 1e-6  # of the reference speed: below this a contact that begins to stick is at rest
REST_ACCELERATION = 1e-9  # m/s^2, rad/s^2: below this it takes a second to reach the tolerance of the speed
SMALLEST_EFFORT = 1e-200  # N, N*m: keeps a quotient of two zero efforts finite
DIRECTIONS = ((1.0, "slides forward"), (-1.0, "slides back"))


def sticking_roots(
    mode: str, speed: SceneFunction, rate: SceneFunction, limit: SceneFunction, locking: SceneFunction, *,
    rest: str = "sticks", beside: SceneFunction | None = None, given: ScenePredicate | None = None,
) -> tuple[Root, ...]:  # fmt: skip
    """Event functions for each direction of sliding: the one that ends it, and the one that begins it.

    ``limit`` is the largest locking effort, ``locking`` the present one.  ``beside`` is 1 while another lock keeps the
    same speed at zero: a contact that comes to rest by it sticks too. ``given`` says whether the speed is prescribed by
    laws of time, which may bring it to zero and keep it there.
    """
    roots: list[Root] = []
    for direction, words in DIRECTIONS:
        ends = partial(_sliding_speed, direction, speed, given), partial(_sliding_rate, direction, rate, beside)
        roots += [
            Root(mode, direction, 0.0, *ends, (words, rest), by_state=True),
            Root(
                mode, 0.0, direction, partial(_sticking_reserve, direction, speed, limit, locking), words=(rest, words)
            ),
        ]
    return tuple(roots)


def comes_to_rest(speed: Scalar) -> Scalar:
    """Whether a contact that begins to stick is at rest within rounding; an impact may have reversed its speed."""
    return less(absolute(speed), REST_SPEED)


def _sliding_speed(direction: float, speed: SceneFunction, given: ScenePredicate | None, scene: Scene) -> Scalar:
    least = 0.5 * REST_SPEED if given is not None and given(scene) else 0.0
    return direction * speed(scene) - least


def _sliding_rate(direction: float, rate: SceneFunction, beside: SceneFunction | None, scene: Scene) -> Scalar:
    """The time derivative of the sliding speed; rounding counts as zero, as in a loop that other joints lock."""
    derivative = rate(scene)
    derivative = where(less(absolute(derivative), REST_ACCELERATION), 0.0, direction * derivative)
    return derivative if beside is None else where(beside(scene), -1.0, derivative)


def _sticking_reserve(
    direction: float, speed: SceneFunction, limit: SceneFunction, locking: SceneFunction, scene: Scene
) -> Scalar:
    """The remaining share of the locking effort's limit against sliding in one direction."""
    v, largest, effort = speed(scene), limit(scene), locking(scene)
    share = (largest + direction * effort) / (largest + absolute(effort) + SMALLEST_EFFORT)
    return where(less(absolute(v), REST_SPEED), share, -direction * v)
