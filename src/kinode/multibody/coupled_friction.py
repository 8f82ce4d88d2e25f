"""Friction that depends on reactions, solved together with the motion of the same instant.

Friction changes accelerations, these change reactions, and reactions change friction.  With x the brake efforts of all
contacts (model/joints/coulomb_friction.py), every wrench in a joint is affine in x, whatever the tree, loops, gears and
drives are:

    W(x) = W_0 + B x,      x = b(W(x))

B is the derivative of the wrenches with respect to x: the same equations of motion, evaluated with dual numbers.
Newton's method solves for x in a fixed number of steps, so that it becomes straight-line code.

Each brake b is a seminorm, so that |b(W(x)) - b(W(y))| <= C |x - y| with C = b(B).  If the spectral radius of C is
below 1 the solution exists and is unique for every load; that is so if and only if I - C has positive pivots.  For one
contact it is also necessary: beyond it there are two solutions or none (Painleve's paradox; a drawer that jams).  In
that case, and where Newton's method has not converged, x is not finite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar, absolute, inverse, less, less_equal, rate, tidy, value_and_rate
from kinode.errors import ModelError
from kinode.model.joints.coulomb_friction import PressingLoad, Sizes, SlidingContact
from kinode.model.joints.joint import FRICTION, Joint
from kinode.structure.state_layout import EMPTY

if TYPE_CHECKING:
    from kinode.multibody.kinematics import Kinematics
    from kinode.multibody.snapshot import Snapshot


NEWTON_STEPS = 7  # five reach CONVERGED wherever the spectral radius is below 0.9, seven reach rounding
CONVERGED = 1e-9  # residual of x = b(W(x)), relative to the sum of all brakes
JAM_RADIUS = 0.98  # spectral radius of C from which a failure is explained as a jam
UNIQUE_SHARE = 1e-8  # share of the largest reaction of an internal stress, below which a component counts as zero


class FrictionSolution(NamedTuple):
    """Efforts of sliding friction by joint, and the largest locking efforts of the joints that can stick."""

    efforts: Mapping[str, Array]
    limits: Mapping[str, Scalar]


class Friction:
    """Sliding friction at an instant: given, or solved for together with the reactions.

    Where accelerations in loops are given, it follows from the instant with the model's own accelerations.  With other
    given accelerations it follows from their own reactions.
    """

    def __init__(self, instant: Snapshot) -> None:
        self._instant = instant

    @cached_property
    def sliding(self) -> Mapping[str, Array]:
        """Efforts along the freedoms, by joint, without the locking efforts of sticking friction."""
        given, own_motion = self._instant.given.friction, self._instant.own_motion
        if given is not None:
            return given
        return self._solution.efforts if own_motion is None else own_motion.friction.sliding

    @cached_property
    def _solution(self) -> FrictionSolution:
        return self._instant.motion.solve_friction()

    def limit(self, name: str) -> Scalar:
        """The largest locking effort of a joint's friction."""
        return self._solution.limits[name]


class JointFriction:
    """A joint with friction at one instant; ``where`` is the slice of its contacts in x."""

    def __init__(self, kinematics: Kinematics, joint: Joint, start: int) -> None:
        assert joint.friction is not None
        self.name, self.joint = joint.name, joint
        q, u, _ = kinematics.joint_state(joint.name)
        form = joint.form(kinematics.resolve)
        speed, mode = (u[0], kinematics.discrete_states(joint.name)[FRICTION]) if joint.sticks else (0.0, None)
        self.sizes = Sizes(joint.friction, joint.coordinates[0][1], kinematics.resolve, speed, mode)
        self.contacts: list[SlidingContact] = joint.contacts(self.sizes, q, u, form)
        loaded = joint.friction.coefficient != 0.0 or joint.friction.static_coefficient is not None
        self.where = slice(start, start + len(self.contacts) * loaded)  # none where no load changes the brakes
        self.T, self.R = joint.effort_wrench(q, form), joint.transform(q, form).R
        self.C = joint.axis_rotation(kinematics.resolve, kinematics.system.nominal)
        apart = kinematics.tooth_forces.apart(joint.name)
        self.apart = np.vstack([self.C.T @ apart[:3], self.C.T @ apart[3:]])  # by the separating forces of teeth

    def efforts(self, x: Array) -> Array:
        """Efforts of friction along the freedoms, for the brakes x of all contacts."""
        total: Array = np.zeros(self.joint.n_u)
        for contact, brake in zip(self.contacts, self.own_brakes(x), strict=True):
            total = total - contact.direction * (brake + contact.steady)
        return total

    def own_brakes(self, x: Array) -> Array:
        """The brakes of this joint's contacts; zero where no load changes them."""
        own = x[self.where]
        return own if len(own) else np.zeros(len(self.contacts))

    def limit(self, x: Array) -> Scalar:
        """The largest locking effort of the first contact."""
        return self.own_brakes(x)[0] + self.contacts[0].steady

    def wrench(self, instant: Snapshot) -> Array:
        """The wrench that the surfaces transmit: the reaction and the friction itself.

        Separating forces of teeth are left to ``brakes``; the efforts of their gears follow the six components.
        """
        own = self.own(instant.friction_efforts[self.name])
        reaction, gears = instant.pressing_wrench(self.name)
        return np.concatenate([self.turned(*reaction) + own, gears])

    def own(self, efforts: Array) -> Array:
        """The wrench of friction efforts, in F's canonical axes."""
        wrench = self.T @ efforts
        return np.concatenate([self.R @ wrench[:3], self.R @ wrench[3:]])

    def turned(self, moment: Array, force: Array) -> Array:
        """A wrench in F's given axes, turned to the canonical ones."""
        return np.concatenate([self.C.T @ moment, self.C.T @ force])

    @property
    def size(self) -> int:
        """The number of components of ``wrench``."""
        return 6 + int(self.apart.shape[1])

    def brakes(self, W: Array) -> Array:
        """The brake of each contact, as far as it depends on loads, for ``wrench``."""
        if self.size == 6:
            return self.brakes_of(W)
        return self.brakes_of(W[:6] + self.apart @ tidy([absolute(effort) for effort in W[6:]]))

    def gains(self, change: Array) -> Array:
        """An upper bound of the change of the brakes, for a change of ``wrench``."""
        total = self.brakes_of(change[:6])
        for column, effort in zip(self.apart.T, change[6:], strict=True):
            total = total + absolute(effort) * self.brakes_of(column)
        return total

    def brakes_of(self, W: Array) -> Array:
        """The same for six components, separating forces included."""
        return tidy([contact.brake(W) for contact in self.contacts[: self.where.stop - self.where.start]])


def find_joint_friction(kinematics: Kinematics) -> list[JointFriction]:
    """The joints with friction."""
    frictions: list[JointFriction] = []
    for joint in kinematics.system.joints.values():
        if joint.friction is not None:
            frictions.append(JointFriction(kinematics, joint, frictions[-1].where.stop if frictions else 0))
    return frictions


def solve_friction(instant: Snapshot) -> FrictionSolution:
    """Friction of all joints of an instant."""
    frictions, x = find_joint_friction(instant.kinematics), EMPTY
    if frictions and frictions[-1].where.stop:
        x, sound = solve_brakes(frictions, *find_wrench_response(instant, frictions))
        x = x * inverse(sound)
    return friction_of_brakes(frictions, x)


def friction_of_brakes(frictions: Sequence[JointFriction], x: Array) -> FrictionSolution:
    """Efforts and limits for the brakes x of all contacts."""
    efforts = {friction.name: tidy(friction.efforts(x)) for friction in frictions}
    return FrictionSolution(
        efforts, {friction.name: friction.limit(x) for friction in frictions if friction.joint.sticks}
    )


Wrenches = list[Array]  # for each joint with friction: its ``wrench``, or a matrix with a column for each brake


def find_wrench_response(instant: Snapshot, frictions: Sequence[JointFriction]) -> tuple[Wrenches, Wrenches]:
    """W_0 and B: the wrenches without brakes, and their derivative by x, a matrix for each joint."""
    m = frictions[-1].where.stop

    def wrenches(x: Array) -> Array:
        rubbing = instant.with_friction({friction.name: friction.efforts(x) for friction in frictions})
        return np.concatenate([friction.wrench(rubbing) for friction in frictions])

    columns = [value_and_rate(wrenches, np.zeros(m), np.eye(m)[k]) for k in range(m)]
    B = np.column_stack([column for _, column in columns])
    ends = np.cumsum([friction.size for friction in frictions])
    blocks = [slice(end - friction.size, end) for friction, end in zip(frictions, ends, strict=True)]
    return [columns[0][0][block] for block in blocks], [B[block] for block in blocks]


def solve_brakes(frictions: Sequence[JointFriction], W_0: Wrenches, B: Wrenches) -> tuple[Array, Scalar]:
    """x with x = b(W_0 + B x), and 1 where it is unique and Newton's method has converged, else 0."""
    x = _brakes(frictions, W_0)
    m = len(x)
    if not m:
        return EMPTY, 1.0
    for _ in range(NEWTON_STEPS):
        W = [w + b @ x for w, b in zip(W_0, B, strict=True)]
        slope = np.vstack(
            [
                np.column_stack([rate(friction.brakes, w, b[:, k]) for k in range(m)])
                for friction, w, b in zip(frictions, W, B, strict=True)
            ]
        )
        x = x + eliminate(np.eye(m) - slope, _brakes(frictions, W) - x)[0]
    residual = _brakes(frictions, [w + b @ x for w, b in zip(W_0, B, strict=True)]) - x
    error = sum((absolute(r) for r in residual), 0.0)
    tolerance = CONVERGED * sum((absolute(b) for b in x), 1e-280)
    _, pivots = eliminate(np.eye(m) - find_brake_gains(frictions, B), np.zeros(m))
    sound: Scalar = less_equal(error, tolerance)
    for pivot in pivots:
        sound = sound * less(0.0, pivot)
    return x, sound


def _brakes(frictions: Sequence[JointFriction], W: Wrenches) -> Array:
    return np.concatenate([friction.brakes(w) for friction, w in zip(frictions, W, strict=True)])


def find_brake_gains(frictions: Sequence[JointFriction], B: Wrenches) -> Array:
    """C: an upper bound of the growth of each brake for a unit of each brake (m x m)."""
    each = list(zip(frictions, B, strict=True))
    columns = range(B[0].shape[1])
    return np.column_stack([np.concatenate([friction.gains(b[:, k]) for friction, b in each]) for k in columns])


def eliminate(A: Array, b: Array) -> tuple[Array, list[Scalar]]:
    """The solution of A x = b and the pivots, by elimination without pivoting, for matrices near the unit matrix."""
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


# -- failures --------------------------------------------------------------------------------------


def find_jammed(instant: Snapshot) -> str | None:
    """Why friction has no solution, or more than one, at an instant of floats; None where it has exactly one."""
    frictions = find_joint_friction(instant.kinematics)
    if not frictions or not frictions[-1].where.stop:
        return None
    B = find_wrench_response(instant, frictions)[1]
    C = np.asarray(find_brake_gains(frictions, B), dtype=float)
    if not np.isfinite(C).all():
        return None
    eigenvalues, vectors = np.linalg.eig(C)
    worst = int(np.argmax(abs(eigenvalues)))
    if abs(eigenvalues[worst]) < JAM_RADIUS:
        return None
    share = abs(vectors[:, worst])
    names = [friction.name for friction in frictions if share[friction.where].max() > 0.5 * share.max()]
    gain = f"friction makes its own load grow {abs(eigenvalues[worst]):.3g} times as fast as itself"
    verb = "jam" if len(names) > 1 else "jams"
    return f"{' and '.join(names)} {verb}: {gain}; from 1 on there is no motion, or more than one"


def check_unique(instant: Snapshot, stresses: Array) -> None:
    """Refuse friction that depends on components of reactions that the motion does not determine.

    ``stresses`` are internal stresses: multipliers of all constraint rows, one set in each column, in balance with
    each other.
    """
    frictions = find_joint_friction(instant.kinematics)
    if not frictions or not stresses.shape[1]:
        return
    wrenches = [_stress(instant, frictions, lam) for lam in stresses.T]
    for i, friction in enumerate(frictions):
        for contact in friction.contacts:
            for load in contact.parts(np.zeros(6)):
                gain = max(float(contact.parts(unit)[load]) for unit in np.eye(6))
                size = max(float(np.abs(W).max()) for W in wrenches)
                if any(float(contact.parts(W[i])[load]) > UNIQUE_SHARE * gain * size for W in wrenches):
                    raise _not_unique(friction, load)


def _stress(instant: Snapshot, frictions: Sequence[JointFriction], lam: Array) -> Array:
    """Wrenches of the joints with friction (one row each) under an internal stress and no other load."""

    def reactions(x: Array) -> Array:
        stressed = instant.stressed(x[0] * lam)
        return np.concatenate([friction.turned(*stressed.joint_wrench(friction.name)[1]) for friction in frictions])

    return np.asarray(rate(reactions, np.zeros(1), np.ones(1)), dtype=float).reshape(-1, 6)


def _not_unique(friction: JointFriction, load: PressingLoad) -> ModelError:
    field = load.optional_field
    remedies = [f"leave out {field}"] if field and getattr(friction.joint.friction, field) is not None else []
    remedies += [
        "free what is held twice (by a ball, a cylindrical or a universal joint in the loop)",
        "give a constant effort instead",
    ]
    message = f"depends on the {load.value}, which is not unique: joints of its loop are redundant (see kn.mobility)"
    return ModelError(f"{message}; {', or '.join(remedies)}", component=friction.name, field="friction")
