"""Contact of two surfaces: friction that sticks and slides, ends that push, and the locks that keep joints at rest.

A joint is locked by sticking friction, a stop that a body rests on, a brake, a clutch.  While a lock is ``stuck`` it
keeps a weighted sum of joint speeds constant, with the effort that this takes.  Otherwise it has no effect.  The owner
of the lock limits the effort: its event functions end the mode.

The mode of friction is 1 or -1 while it slides forward or back, and 0 while it sticks.  It sticks when its speed comes
to zero.  It slides when the effort to stay at rest exceeds its limit, or after an impact.  Speeds are divided by a
small reference speed, of which 1e-9 counts as zero.

The mode of surfaces that push is their side, 1 or -1, while they touch, and 0 while they are free.  Let p be the
penetration depth and p' its time derivative.  A compliant contact pushes with stiffness p + damping p', as long as that
is positive:

    in contact while  min(stiffness p + damping p', stiffness p) > 0,    free while it is negative

So nothing adheres, no energy is created, and a contact that ends while the surfaces still overlap does not begin again
at once.  A rigid contact reverses the speed times the restitution, by an impulse through the whole mechanism.  If the
rebound is slower than ``rest_speed`` it comes to rest, so that bouncing ends; a lock then keeps it as long as it has to
push.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, absolute, less, maximum, minimum, sign, where
from kinode.model.base.events import Root
from kinode.model.base.scene import LawScene, Scene, VelocityScene

if TYPE_CHECKING:
    from kinode.model.base.fields import Value

REST_SPEED = 1e-6  # of the reference speed: below this a contact that begins to stick is at rest
REST_ACCELERATION = 1e-9  # m/s^2, rad/s^2: below this it takes a second to reach the tolerance of the speed
DEPTH_SCALE = 1e-3  # m, rad: 1e-9 of it counts as zero depth
SMALLEST_EFFORT = 1e-200  # N, N*m: keeps a quotient of two zero efforts finite
CONTACT_PREVIEW = 1e-9  # s: how far ahead the speed of a rigid contact is predicted
DIRECTIONS = ((1.0, "slides forward"), (-1.0, "slides back"))

SceneFunction = Callable[[Scene], Scalar]
Members = tuple[tuple[str, Any], ...]  # joints, each with the factor of its speed, which may be a law


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


def chosen(condition: Scalar, new: Array, old: Array) -> Array:
    """The speeds of the state after an event where it happens, else those before it."""
    return np.array([where(condition, a, b) for a, b in zip(new, old, strict=True)], dtype=object)


# -- friction --------------------------------------------------------------------------------------
class StickSlip:
    """Friction that sticks and slides.

    ``speed`` is its speed over the reference speed, ``rate`` the derivative or a positive multiple of it, ``limit`` the
    largest effort at rest, ``effort`` the present one, and ``rest`` the word for rest.
    """

    mode = "mode"

    def __init__(
        self, speed: SceneFunction, rate: SceneFunction, limit: SceneFunction, effort: SceneFunction, rest: str
    ) -> None:
        self.speed, self.rate, self.limit, self.effort, self.rest = speed, rate, limit, effort, rest

    @property
    def roots(self) -> tuple[Root, ...]:
        """Event functions for each direction of sliding: the one that ends it, and the one that begins it."""
        roots: list[Root] = []
        for direction, words in DIRECTIONS:
            ends = partial(self._sliding_speed, direction), partial(self._sliding_rate, direction)
            roots += [
                Root(self.mode, direction, 0.0, *ends, (words, self.rest), by_state=True),
                Root(self.mode, 0.0, direction, partial(self._reserve, direction), words=(self.rest, words)),
            ]
        return tuple(roots)

    def comes_to_rest(self, scene: Scene) -> Scalar:
        """Whether it is at rest within rounding when it begins to stick; an impact may have reversed its speed."""
        return less(absolute(self.speed(scene)), REST_SPEED)

    def _sliding_speed(self, direction: float, scene: Scene) -> Scalar:
        return direction * self.speed(scene)

    def _sliding_rate(self, direction: float, scene: Scene) -> Scalar:
        """The time derivative of the sliding speed; rounding counts as zero, as in a loop that other joints lock."""
        rate = self.rate(scene)
        return where(less(absolute(rate), REST_ACCELERATION), 0.0, direction * rate)

    def _reserve(self, direction: float, scene: Scene) -> Scalar:
        """The remaining share of the limit against sliding in one direction."""
        v, largest, effort = self.speed(scene), self.limit(scene), self.effort(scene)
        share = (largest + direction * effort) / (largest + absolute(effort) + SMALLEST_EFFORT)
        return where(less(absolute(v), REST_SPEED), share, -direction * v)


class JointSlip(StickSlip):
    """Stick-slip of joints: of the sum of factor * speed over its ``members``, which a lock keeps at zero.

    Without a ``limit`` the joint ``owner`` has Coulomb friction, whose limit follows from its reaction.
    """

    def __init__(
        self, owner: str, part: str, members: Members, slow: float, limit: SceneFunction | None = None,
        mode: str = "mode",
    ) -> None:  # fmt: skip
        super().__init__(self._speed, self._rate, limit or self._friction_limit, self._held_effort, "sticks")
        self.owner, self.part, self.members, self.slow, self.mode = owner, part, members, slow, mode

    def slip(self, scene: VelocityScene) -> Scalar:
        """The sliding speed, m/s or rad/s."""
        return sum((scene.resolve(factor) * scene.joint_state(name)[1][0] for name, factor in self.members), 0.0)

    def _speed(self, scene: Scene) -> Scalar:
        return self.slip(scene) / self.slow

    def _rate(self, scene: Scene) -> Scalar:
        return sum((scene.resolve(factor) * scene.joint_acceleration(name)[0] for name, factor in self.members), 0.0)

    def _friction_limit(self, scene: Scene) -> Scalar:
        return scene.friction_limit(self.owner)

    def _held_effort(self, scene: Scene) -> Scalar:
        return scene.held_effort(self.owner, self.part)

    def _sliding_speed(self, direction: float, scene: Scene) -> Scalar:
        """Laws of time may bring the speed to zero and keep it there."""
        prescribed = all(scene.joint_state(name)[2] is not None for name, _ in self.members)
        return super()._sliding_speed(direction, scene) - (0.5 * REST_SPEED if prescribed else 0.0)

    def _sliding_rate(self, direction: float, scene: Scene) -> Scalar:
        """Friction that comes to rest while another lock keeps the same speed at zero sticks too."""
        return where(scene.held_beside(self.owner, self.part), -1.0, super()._sliding_rate(direction, scene))

    def lock(self, scene: LawScene, stuck: Scalar, takes: Callable[[Scalar], Scalar] | None = None) -> Lock:
        """The lock while it sticks."""
        members = tuple((name, scene.resolve(factor)) for name, factor in self.members)
        return Lock(self.owner, self.part, members, stuck, takes=takes)

    def first_mode(self, scene: VelocityScene) -> Scalar:
        """The mode that a motion starts with, before modes are iterated."""
        return sign(self.slip(scene))

    def settle(self, scene: Scene, fired: Sequence[Any], now: Mapping[str, Any]) -> dict[str, Any]:
        """The reset map: speeds ``u`` of the state, zero where it begins to stick, and the mode."""
        rests, mode, at_rest = 0.0, now[self.mode], self.comes_to_rest(scene)
        for one, root in zip(fired, self.roots, strict=True):
            then: Scalar = root.then
            if root.then == 0.0:
                rests, then = rests + one * at_rest, where(at_rest, 0.0, sign(self.speed(scene)))
            mode = where(one, then, mode)
        return {"u": chosen(rests, scene.stopped(self.owner, self.part), now["u"]), self.mode: mode}


# -- surfaces that push ----------------------------------------------------------------------------
@dataclass(frozen=True)
class ContactLaw:
    """The numbers of a contact: stiffness and damping of a compliant one, the others of a rigid one."""

    rigid: bool
    stiffness: Value = 0.0
    damping: Value = 0.0
    restitution: Value = 0.0
    rest_speed: Value = 1e-5  # m/s, rad/s


class Contact:
    """Two surfaces that meet and part, on one ``side``; ``words`` say what they do while they touch.

    ``owner`` is their component.  ``part`` is the lock that keeps rigid surfaces together, ``slow`` the reference speed
    of ``REST_SPEED``.
    """

    part = ""

    def __init__(self, owner: str, mode: str, side: float, words: str, law: ContactLaw, slow: float = 1.0) -> None:
        self.owner, self.mode, self.side, self.law, self.slow = owner, mode, side, law, slow
        self.words = ("is free", words)

    def depth(self, scene: VelocityScene) -> Scalar:
        """How far the surfaces overlap, m or rad; negative while they are apart."""
        raise NotImplementedError

    def speed(self, scene: VelocityScene) -> Scalar:
        """The time derivative of the depth."""
        raise NotImplementedError

    def acceleration(self, scene: Scene) -> Scalar:
        """That of the speed; None where it is not known."""
        return None

    @property
    def roots(self) -> tuple[Root, Root]:
        """The event functions that begin and end the contact."""
        meets, parts = (self.mode, 0.0, self.side), (self.mode, self.side, 0.0)
        if self.law.rigid:
            found = Root(*meets, self._distance, self._parting_speed, self.words, by_state=True)
            return found, Root(*parts, self._rigid_push, words=self.words[::-1])
        begin, end = ((partial(self._reach, sense), partial(self._reach_rate, sense)) for sense in (-1.0, 1.0))
        return Root(*meets, *begin, self.words, by_state=True), Root(*parts, *end, self.words[::-1], by_state=True)

    # -- compliant ---------------------------------------------------------------------------------
    def push(self, scene: VelocityScene) -> Scalar:
        """Its effort, N or N*m; zero for rigid surfaces, which a lock keeps together."""
        if self.law.rigid:
            return 0.0
        mode, stiffness = scene.discrete_states(self.owner)[self.mode], scene.resolve(self.law.stiffness)
        active = 0.5 * mode * (mode + self.side)  # 1 while it touches, 0 on the other side and between
        return active * (stiffness * self.depth(scene) + scene.resolve(self.law.damping) * self.speed(scene))

    def first_mode(self, scene: VelocityScene) -> Scalar:
        """The side if it begins a motion in contact; that of rigid surfaces is found by their event functions."""
        return 0.0 if self.law.rigid else self.side * less(0.0, self.depth(scene))

    def _reach(self, sense: float, scene: Scene) -> Scalar:
        """Positive while it pushes."""
        depth, lag = self.depth(scene), scene.resolve(self.law.damping) / scene.resolve(self.law.stiffness)
        return sense * minimum(depth + lag * self.speed(scene), depth) / DEPTH_SCALE

    def _reach_rate(self, sense: float, scene: Scene) -> Scalar:
        speed, acceleration, damping = self.speed(scene), self.acceleration(scene), scene.resolve(self.law.damping)
        if acceleration is None:
            return sense * speed
        lag = damping / scene.resolve(self.law.stiffness)
        return sense * where(less(damping * speed, 0.0), speed + lag * acceleration, speed)

    # -- rigid -------------------------------------------------------------------------------------
    def _distance(self, scene: Scene) -> Scalar:
        """The distance, scaled; not negative for surfaces at rest or moving apart.

        Such surfaces may overlap by the error of a step or the rounding of the event time.
        """
        distance = -self.depth(scene) / DEPTH_SCALE
        return where(less(0.0, self.speed(scene)), distance, maximum(distance, 0.0))

    def _parting_speed(self, scene: Scene) -> Scalar:
        """The speed apart a moment later: negative for surfaces that are at rest and pressed together."""
        return -(self.speed(scene) + CONTACT_PREVIEW * self.acceleration(scene))

    def _rigid_push(self, scene: Scene) -> Scalar:
        """Positive while it pushes and does not move apart; the push as the acceleration that it prevents."""
        push = -self.side * scene.held_effort(self.owner, self.part) * scene.lock_response(self.owner, self.part)
        return minimum(push, REST_SPEED + self.speed(scene) / self.slow)

    def settle(self, scene: Scene, fired: Sequence[Any], now: Mapping[str, Any]) -> dict[str, Any]:
        """The reset map: speeds ``u`` of the state after an impact, and the mode."""
        (meets, parts), u, then = fired, now["u"], self.side
        if self.law.rigid:
            restitution = scene.resolve(self.law.restitution)
            slow = less(restitution * self.speed(scene), scene.resolve(self.law.rest_speed))
            u = chosen(meets, scene.struck(self.owner, self.part, where(slow, 0.0, restitution)), u)
            then = where(slow, self.side, 0.0)
        return {"u": u, self.mode: where(parts, 0.0, where(meets, then, now[self.mode]))}
