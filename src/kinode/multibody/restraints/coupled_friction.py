"""Friction that depends on reactions: solved together with the motion, not from the reactions of a step ago.

Friction changes accelerations, these change reactions, and reactions change friction.  With x the brakes of all
contacts (model/joints/coulomb_friction.py), every wrench in a joint is affine in x, whatever the tree, loops, gears and
drives are:

    W(x) = W_0 + B x,      x = b(W(x))

B is the rate of the wrenches along each x: the same equations of motion, asked with dual numbers.  Newton's method
solves for x, a fixed number of times, so that it is straight-line code.

Each brake b is a seminorm, so that |b(W(x)) - b(W(y))| <= C |x - y| with C = b(B).  If the spectral radius of C is
below 1 the solution exists and is unique for every load; that is so if and only if I - C has positive pivots.  For one
contact it is also necessary: beyond it there are two solutions or none (Painleve's paradox; a drawer that jams).  Then,
and where Newton's method has not arrived, no number is given: x is not finite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from kinode.algebra.scalars import Array, Scalar, absolute, inverse, less, less_equal, rate, tidy, value_and_rate
from kinode.errors import ModelError
from kinode.model.joints.coulomb_friction import Contact, Sizes
from kinode.model.joints.joint import Joint
from kinode.model.joints.joint_events import FRICTION
from kinode.model.system import System
from kinode.multibody.links.link_steps import Spatial
from kinode.structure.evaluation_point import EMPTY

if TYPE_CHECKING:
    from kinode.multibody.given import Given
    from kinode.multibody.kinematics import Kinematics

NEWTON = 7  # steps: five reach ARRIVED wherever the spectral radius is below 0.9, and seven rounding
ARRIVED = 1e-9  # of the sum of all brakes
NEARLY = 0.98  # spectral radius from which a failure is a jam
UNIQUE = 1e-8  # of the reactions of a stress: below this a part is none


class RubbedInstant(Protocol):
    """An instant as friction sees it: what its joints transmit, and the same with other friction."""

    @property
    def kinematics(self) -> Kinematics:
        """What no friction changes."""
        ...

    @property
    def friction(self) -> Friction:
        """The friction that slides."""
        ...

    @property
    def friction_efforts(self) -> Mapping[str, Array]:
        """Efforts of friction by joint, with what it holds with where it sticks."""
        ...

    def joint_wrench(self, name: str, /) -> tuple[Spatial, Spatial]:
        """All that a joint transmits, and its reaction."""
        ...

    def with_friction(self, efforts: Mapping[str, Array], /) -> RubbedInstant:
        """The same instant with other efforts of friction."""
        ...

    def stressed(self, multipliers: Array, /) -> RubbedInstant:
        """The same instant without accelerations and friction, with known multipliers of the constraints."""
        ...


class FrictionSolution(NamedTuple):
    """Efforts of friction that slides, by joint, and what the joints that can stick may hold with."""

    efforts: Mapping[str, Array]
    limits: Mapping[str, Scalar]


class Friction:
    """The friction that slides at an instant: given, or solved for together with the reactions.

    ``own_motion`` gives the model's own motion where accelerations in loops are given: friction follows from that one.
    Other given accelerations have reactions of their own.
    """

    def __init__(
        self,
        given: Given,
        own_motion: Callable[[], RubbedInstant | None],
        solve: Callable[[], FrictionSolution],
    ) -> None:
        self._given, self._own_motion, self._solve = given.friction, own_motion, solve

    @cached_property
    def sliding(self) -> Mapping[str, Array]:
        """Efforts along the freedoms, by joint, without what friction holds with where it sticks."""
        if self._given is not None:
            return self._given
        own_motion = self._own_motion()
        return self._solution.efforts if own_motion is None else own_motion.friction.sliding

    @cached_property
    def _solution(self) -> FrictionSolution:
        return self._solve()

    def limit(self, name: str) -> Scalar:
        """What the friction of a joint may hold with."""
        return self._solution.limits[name]


class JointFriction:
    """A joint with friction at one instant; ``where`` tells its contacts among all."""

    def __init__(self, kinematics: Kinematics, joint: Joint, start: int) -> None:
        assert joint.friction is not None
        self.name, self.joint = joint.name, joint
        q, u, _ = kinematics.joint_state(joint.name)
        form = joint.form(kinematics.resolve)
        speed, mode = (u[0], kinematics.discrete_states(joint.name)[FRICTION]) if joint.sticks else (0.0, None)
        self.sizes = Sizes(joint.friction, joint.coordinates[0][1], kinematics.resolve, speed, mode)
        self.contacts: list[Contact] = joint.contacts(self.sizes, q, u, form)
        loaded = joint.friction.coefficient != 0.0 or joint.friction.static_coefficient is not None
        self.where = slice(start, start + len(self.contacts) * loaded)  # none where no load changes the brakes
        self.T, self.R = joint.effort_wrench(q, form), joint.transform(q, form).R
        self.C = joint.axis_rotation(kinematics.resolve, kinematics.system.nominal)

    def efforts(self, x: Array) -> Array:
        """What friction does along the freedoms when the contacts brake by x."""
        total: Array = np.zeros(self.joint.n_u)
        for contact, brake in zip(self.contacts, self.own_brakes(x), strict=True):
            total = total - contact.direction * (brake + contact.steady)
        return total

    def own_brakes(self, x: Array) -> Array:
        """Its part of the brakes of all contacts."""
        own = x[self.where]
        return own if len(own) else np.zeros(len(self.contacts))

    def limit(self, x: Array) -> Scalar:
        """What a contact can hold with."""
        return self.own_brakes(x)[0] + self.contacts[0].steady

    def wrench(self, instant: RubbedInstant) -> Array:
        """What the surfaces pass on: the reaction, and the friction itself."""
        own = self.own(instant.friction_efforts[self.name])
        whole: Array = self.turned(*instant.joint_wrench(self.name)[1]) + own
        return whole

    def own(self, efforts: Array) -> Array:
        """The wrench of friction efforts, in F's canonical axes."""
        wrench = self.T @ efforts
        return np.concatenate([self.R @ wrench[:3], self.R @ wrench[3:]])

    def turned(self, moment: Array, force: Array) -> Array:
        """A wrench from F's given axes to the canonical ones."""
        return np.concatenate([self.C.T @ moment, self.C.T @ force])

    def brakes(self, W: Array) -> Array:
        """How hard a wrench makes each contact brake, as far as loads do."""
        return tidy([contact.brake(W) for contact in self.contacts[: self.where.stop - self.where.start]])


def has_friction(system: System) -> bool:
    """Whether any joint has friction."""
    return any(joint.friction is not None for joint in system.joints.values())


def find_joint_friction(kinematics: Kinematics) -> list[JointFriction]:
    """The joints with friction."""
    rubbing: list[JointFriction] = []
    for joint in kinematics.system.joints.values():
        if joint.friction is not None:
            rubbing.append(JointFriction(kinematics, joint, rubbing[-1].where.stop if rubbing else 0))
    return rubbing


WithFriction = Callable[[Mapping[str, Array]], RubbedInstant]


def solve_friction(kinematics: Kinematics, with_friction: WithFriction) -> FrictionSolution:
    """The friction of all joints that have some, by the reactions of the same instant with other friction."""
    rubbing, x = find_joint_friction(kinematics), EMPTY
    if rubbing and rubbing[-1].where.stop:
        x, sound = solve_brakes(rubbing, *respond(with_friction, rubbing))
        x = x * inverse(sound)
    return friction_of_brakes(rubbing, x)


def friction_of_brakes(rubbing: Sequence[JointFriction], x: Array) -> FrictionSolution:
    """Efforts and limits when the contacts brake by x."""
    efforts = {one.name: tidy(one.efforts(x)) for one in rubbing}
    return FrictionSolution(efforts, {one.name: one.limit(x) for one in rubbing if one.joint.sticks})


Wrenches = list[Array]  # for each joint with friction its six components, or these for each brake


def respond(with_friction: WithFriction, rubbing: Sequence[JointFriction]) -> tuple[Wrenches, Wrenches]:
    """W_0 and B: the wrenches without brakes, and their growth with each, a 6 x m matrix for each joint."""
    m = rubbing[-1].where.stop

    def wrenches(x: Array) -> Array:
        there = with_friction({one.name: one.efforts(x) for one in rubbing})
        return np.concatenate([one.wrench(there) for one in rubbing])

    columns = [value_and_rate(wrenches, np.zeros(m), np.eye(m)[k]) for k in range(m)]
    B = np.column_stack([column for _, column in columns])
    parts = [slice(6 * i, 6 * i + 6) for i in range(len(rubbing))]
    return [columns[0][0][part] for part in parts], [B[part] for part in parts]


def solve_brakes(rubbing: Sequence[JointFriction], W_0: Wrenches, B: Wrenches) -> tuple[Array, Scalar]:
    """x with x = b(W_0 + B x), and 1 where it is unique and found, else 0."""
    x = _brakes(rubbing, W_0)
    m = len(x)
    if not m:
        return EMPTY, 1.0
    for _ in range(NEWTON):
        W = [w + b @ x for w, b in zip(W_0, B, strict=True)]
        slope = np.vstack(
            [
                np.column_stack([rate(one.brakes, w, b[:, k]) for k in range(m)])
                for one, w, b in zip(rubbing, W, B, strict=True)
            ]
        )
        x = x + eliminate(np.eye(m) - slope, _brakes(rubbing, W) - x)[0]
    left = _brakes(rubbing, [w + b @ x for w, b in zip(W_0, B, strict=True)]) - x
    near = sum((absolute(r) for r in left), 0.0), ARRIVED * sum((absolute(b) for b in x), 1e-280)
    _, pivots = eliminate(np.eye(m) - growth(rubbing, B), np.zeros(m))
    sound: Scalar = less_equal(*near)
    for pivot in pivots:
        sound = sound * less(0.0, pivot)
    return x, sound


def _brakes(rubbing: Sequence[JointFriction], W: Wrenches) -> Array:
    return np.concatenate([one.brakes(w) for one, w in zip(rubbing, W, strict=True)])


def growth(rubbing: Sequence[JointFriction], B: Wrenches) -> Array:
    """C: the most by which each brake can grow with each."""
    return np.column_stack([_brakes(rubbing, [b[:, k] for b in B]) for k in range(B[0].shape[1])])


def eliminate(A: Array, b: Array) -> tuple[Array, list[Scalar]]:
    """The solution of A x = b and the pivots; by Gauss without exchanges, for matrices near to the unit matrix."""
    n = len(b)
    A, x = np.array(A, dtype=object), np.array(b, dtype=object)
    for j in range(n):
        for i in range(j + 1, n):
            factor = A[i, j] / A[j, j]
            A[i, j + 1 :] = A[i, j + 1 :] - factor * A[j, j + 1 :]
            x[i] = x[i] - factor * x[j]
    for j in reversed(range(n)):
        for k in range(j + 1, n):
            x[j] = x[j] - A[j, k] * x[k]
        x[j] = x[j] / A[j, j]
    return tidy(x), [A[j, j] for j in range(n)]


# -- what goes wrong -------------------------------------------------------------------------------


def find_jammed(instant: RubbedInstant) -> str | None:
    """Why friction has no solution at an instant of plain numbers, or more than one; None where it has one."""
    rubbing = find_joint_friction(instant.kinematics)
    if not rubbing or not rubbing[-1].where.stop:
        return None
    B = respond(instant.with_friction, rubbing)[1]
    C = np.asarray(growth(rubbing, B), dtype=float)
    if not np.isfinite(C).all():
        return None
    sizes, ways = np.linalg.eig(C)
    worst = int(np.argmax(abs(sizes)))
    if abs(sizes[worst]) < NEARLY:
        return None
    share = abs(ways[:, worst])
    names = [one.name for one in rubbing if share[one.where].max() > 0.5 * share.max()]
    gain = f"friction makes its own load grow {abs(sizes[worst]):.3g} times as fast as itself"
    verb = "jam" if len(names) > 1 else "jams"
    return f"{' and '.join(names)} {verb}: {gain}; from 1 on there is no motion, or more than one"


def check_unique(instant: RubbedInstant, stresses: Array) -> None:
    """Refuse friction by components of reactions that do not follow from the motion.

    ``stresses`` are multipliers of all constraint rows, one set in each column, that hold each other in balance.
    """
    rubbing = find_joint_friction(instant.kinematics)
    if not rubbing or not stresses.shape[1]:
        return
    wrenches = [_stress(instant, rubbing, lam) for lam in stresses.T]
    for i, one in enumerate(rubbing):
        for contact in one.contacts:
            for part in contact.parts(np.zeros(6)):
                most = max(float(contact.parts(unit)[part]) for unit in np.eye(6))
                size = max(float(np.abs(W).max()) for W in wrenches)
                if any(float(contact.parts(W[i])[part]) > UNIQUE * most * size for W in wrenches):
                    raise _not_unique(one, part)


def _stress(instant: RubbedInstant, rubbing: Sequence[JointFriction], lam: Array) -> Array:
    """The reactions of joints with friction while multipliers hold each other in balance and nothing else acts."""

    def reactions(x: Array) -> Array:
        there = instant.stressed(x[0] * lam)
        return np.concatenate([one.turned(*there.joint_wrench(one.name)[1]) for one in rubbing])

    return np.asarray(rate(reactions, np.zeros(1), np.ones(1)), dtype=float).reshape(-1, 6)


def _not_unique(one: JointFriction, part: str) -> ModelError:
    friction = one.joint.friction
    assert friction is not None
    fields = {"moment": "length", "force along": "thrust_radius"}
    field = next((f for word, f in fields.items() if part.startswith(word) and getattr(friction, f) is not None), None)
    ways = [f"leave out {field}"] if field else []
    ways += [
        "free what is held twice (by a ball, a cylindrical or a universal joint in the loop)",
        "give a constant effort instead",
    ]
    message = f"depends on the {part}, which is not unique: joints of its loop are redundant (see kn.mobility)"
    return ModelError(f"{message}; {', or '.join(ways)}", component=one.name, field="friction")
