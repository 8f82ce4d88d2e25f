"""Steady motions (relative equilibria): axes in which the linear system about a motion does not change.

Along a motion y(t), small changes follow delta_dot = A(t) delta.  The motion is steady where axes exist, turning evenly
against those of the speeds, in which A is constant and so are the speeds:

    W = exp(t S),    W^-1 A(t) W - S = constant,    u(t) = W u(0)

S = 0 holds for all coordinates that are angles and travels, and for a body whose surroundings turn with it.  A body of
revolution that spins in a ball joint, or a disc that rolls, keeps the place of its axis in space while the axes of the
child, in which u stands, turn away: S takes the spin out.  The condition is linear in S:

    S u = u_dot,    dA/dt = S A - A S

Of its solutions that is taken which is nearest to axes without rotation in space.  What follows is compared at later
times along the motion, which S gives in closed form: X = X(0) exp(t (V + xi)) exp(-t xi) for the pose of a free joint
whose axes move at xi.  The times are a few at fixed travels, and that at which a motion beside this one accelerates
most differently, of many on a turn: a cam or a stop that acts within a few degrees is met.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose, skew
from kinode.errors import Error
from kinode.kernels.state import State
from kinode.multibody.loop_constraints import probe_rates

if TYPE_CHECKING:
    from kinode.tasks.linearize import Slopes

STEADY_TOLERANCE = 1e-6  # change of an acceleration or of an entry of the matrix, relative to its usual size
ENTRY_NOISE = 1e-10  # of the matrix, relative to its largest entry
WEIGHT_FLOOR = 1e-4  # the same where entries are weighted against each other
TRAVELS = (0.7, 1.9, 3.3, 5.1)  # rad or m of each moving coordinate, on no symmetry of a machine
MOMENTS = tuple(math.sqrt(x) / 100 for x in (0.5, 3.5, 11.0, 26.0))  # s; laws of time are looked at; on no period
SOLVED_TRAVELS = (0.005, 0.02, 0.1, 0.4, 0.7, 1.7, 3.3, 3.3)  # rad or m of the fastest coordinate, to solve for axes
AXES_STEP = 1e-2  # of their speeds in a difference, relative to the fastest coordinate
AXES_CUTOFF = 1e-5  # relative singular value below which the matrix does not decide about axes
LEFT_OVER = 0.1  # share of the change of the matrix that the first step may leave
AXES_ACCURACY = 1e-8  # of their speeds, relative to the fastest coordinate
CAUSE_STEP = 0.02  # rad or m of one coordinate by itself
LOOKS = 120  # places on a turn of each moving coordinate, at which the accelerations of a displaced motion are compared
DISPLACEMENT = 0.03  # rad, m, and the same a second, of that motion


@dataclass(frozen=True, eq=False)
class SteadyMotion:
    """What was found about a motion.

    Attributes
    ----------
    slopes : Slopes
        The derivatives, in axes in which they do not change; in those of the speeds where there are none.
    fault : str
        Why the motion is not steady; empty if it is.
    axes : dict of str to array
        The joints with axes other than those of their speeds, and how fast they move against these.
    changing : bool array
        The inputs and outputs whose entries in B, C and D change all the same.
    """

    slopes: Slopes
    fault: str
    axes: dict[str, Array]
    changing: Array


def find_steady(slopes: Slopes, outputs: tuple[str, ...] = (), *, anywhere: bool = False) -> SteadyMotion:
    """The axes in which A, B, C and D do not change along the motion through a state, or A at least.

    With ``anywhere`` a motion that is not steady is of no interest, and nothing is looked at that finds no other axes.
    """
    motion = _Motion(slopes, outputs)
    can_turn = bool(motion.turning) and bool(motion.u.any() or motion.z_dot.any())
    if anywhere and not can_turn:
        return SteadyMotion(slopes, "", {}, np.zeros(sum(motion.M.shape) - 2 * motion.n, dtype=bool))
    best = motion.tried(np.zeros(slopes.n_u))
    for speeds in motion.candidates() if can_turn else ():
        if not (best.fault or best.changing.any()):
            break
        other = motion.tried(speeds)
        better = best.fault or other.changing.sum() < best.changing.sum()
        best = other if better and not other.fault else best
    return best


def _matrix(twist: Array) -> Array:
    """The matrix whose exponential is the displacement by a twist."""
    return np.block([[skew(twist[:3]), twist[3:, None]], [np.zeros((1, 4))]]).astype(float)


class _Motion:
    """The motion through a state, as it goes on if it is steady; what moves too slowly to matter stands still."""

    def __init__(self, slopes: Slopes, outputs: tuple[str, ...]) -> None:
        self.slopes, self.outputs, self.at = slopes, outputs, slopes.at
        self.dynamics, self.topology = slopes.dynamics, slopes.topology
        self.joints = {name: self.dynamics.system.joints[name] for name in self.topology.u_of}
        self.turning = [name for name, joint in self.joints.items() if joint.axes_rate(np.ones(joint.n_u)).any()]
        self.M = slopes.matrices(outputs)
        (k, m, _), n = slopes.sizes, sum(slopes.sizes)
        self.n = n
        u, z, z_dot = self.at.u, self.at.z[: slopes.n_other], slopes.rates[1]
        self.u = np.where(abs(u) > STEADY_TOLERANCE * max(1.0, abs(u).max(initial=0.0)), u, 0.0)
        own = np.maximum(abs(self.M[k + m : n, :n]).max(axis=1, initial=0.0), 1.0)
        self.z_dot = np.where(abs(z_dot) > STEADY_TOLERANCE * (1.0 + abs(z)) * own, z_dot, 0.0)
        self.timed = any(joint.motion is not None for joint in self.dynamics.system.joints.values())

    def spin(self, speeds: Array) -> Array:
        """S, from how fast each joint's axes turn."""
        S = np.zeros((self.slopes.n_u, self.slopes.n_u))
        for name in self.turning:
            where = self.topology.u_of[name]
            S[where, where] = self.joints[name].axes_rate(speeds[where])
        return S

    def along(self, step: float, speeds: Array, timed: bool) -> Iterator[tuple[State, Array]]:
        """The states at multiples of a time, and W."""
        from scipy.linalg import expm

        n, S, free = self.slopes.n_u, self.spin(speeds), []
        both = expm(step * np.block([[S, np.eye(n)], [np.zeros((n, 2 * n))]]))
        for name, where in self.topology.q_of.items():
            joint, own = self.joints[name], self.topology.u_of[name]
            if joint.quaternion is not None:
                form = joint.form(self.dynamics.system.nominal)
                X, to_twist = joint.transform(self.at.q[where], form), joint.motion_subspace(self.at.q[where], form)
                twists = (to_twist @ x for x in (self.u[own] + speeds[own], -speeds[own]))
                steps = [expm(step * _matrix(twist.astype(float))) for twist in twists]
                free.append((name, joint, form, X, steps))
        W, travel, powers = np.eye(n), np.zeros(n), [[np.eye(4), np.eye(4)] for _ in free]
        for count in itertools.count():
            q, z = self.at.q.copy(), self.at.z.copy()
            for name, where in self.topology.q_of.items():
                if self.joints[name].quaternion is None:
                    q[where] = q[where] + self.joints[name].rate_map(q[where], travel[self.topology.u_of[name]])
            for (name, joint, form, X, _), (one, two) in zip(free, powers, strict=True):
                moved = one @ two
                there = Pose(X.R @ moved[:3, :3], X.p + X.R @ moved[:3, 3])
                q[self.topology.q_of[name]] = joint.solve_coordinates(there, form)
            z[: self.slopes.n_other] += count * step * self.z_dot
            t = self.at.t + count * step if timed else self.at.t
            yield replace(self.at, t=t, q=q, u=W @ self.at.u, z=z), W
            travel = travel + both[:n, n:] @ W @ self.u
            W = both[:n, :n] @ W
            powers = [
                [a @ b for a, b in zip(each, steps, strict=True)]
                for each, (*_, steps) in zip(powers, free, strict=True)
            ]

    def state(self, duration: float, speeds: Array, timed: bool) -> tuple[State, Array]:
        """The state after some time, and W."""
        return next(itertools.islice(self.along(duration, speeds, timed), 1, None))

    def _rates(self) -> list[float]:
        """How fast coordinates move, the fastest first."""
        driven = [f"{name}.u" for name, joint in self.dynamics.system.joints.items() if joint.motion is not None]
        given = {"z": self.at.z, "p": self.slopes.p, "inputs": self.slopes.inputs}
        speeds = self.dynamics.evaluate(driven, self.at.t, self.at.q, self.at.u, **given)
        rates = abs(np.concatenate([self.u, self.z_dot, *(np.ravel(x) for x in speeds.values())]))
        return sorted({float(f"{x:.3g}") for x in rates if x > 0.0}, reverse=True)

    def _rate_scale(self, slopes: Slopes) -> float:
        """The usual size of accelerations."""
        (k, _, _), at, A = slopes.sizes, slopes.at, slopes.matrices(self.outputs)[: self.n, : self.n]
        at_rest = np.zeros(slopes.n_u)
        accelerations = self.dynamics.acceleration(at.t, at.q, at_rest, z=at.z, p=slopes.p, inputs=slopes.inputs)
        return float(max(abs(accelerations).max(initial=0.0), abs(A[k:]).max(initial=0.0), 1.0))

    def _times(self) -> Iterator[tuple[float, bool]]:
        """Later times, and whether laws of time go on meanwhile; where they drive nothing they stay as they are."""
        for rate in self._rates():
            yield from ((travel / rate, self.timed) for travel in TRAVELS)
        yield from ((moment, True) for moment in MOMENTS)

    def _striking_times(self, speeds: Array) -> Iterator[tuple[float, bool]]:
        """When the accelerations of a motion beside this one differ most from those at its start, in the axes."""
        irregular = DISPLACEMENT * probe_rates(2 * self.slopes.n_u + self.slopes.n_other)
        n = self.slopes.n_u
        for rate in self._rates():
            step, turns, times, y = 2.0 * math.pi / LOOKS / rate, list[Array](), list[float](), list[Array]()
            for at, W in itertools.islice(self.along(step, speeds, self.timed), LOOKS):
                z = at.z.copy()
                z[: self.slopes.n_other] += irregular[2 * n :]
                q = self.topology.advance_q(at.q, W @ irregular[:n])
                beside = replace(at, q=q, u=at.u + W @ irregular[n : 2 * n], z=z)
                turns, times, y = [*turns, W], [*times, at.t], [*y, beside.y]
            try:
                y_dot = self.dynamics.rate(np.array(times), np.array(y), p=self.slopes.p, inputs=self.slopes.inputs)
            except Error:  # a law that ends on the way; where the motion itself meets that, it is said
                continue
            _, u_dot, z_dot = self.topology.layout.split(y_dot)
            u_dot = np.linalg.solve(np.array(turns), u_dot[..., None])[..., 0]
            change = np.nan_to_num(abs(np.hstack([u_dot - u_dot[0], z_dot - z_dot[0]])))
            sizes = change.max(axis=0, initial=0.0) + np.nan_to_num(abs(np.hstack([u_dot, z_dot])[0])) + 1.0
            yield step * int(np.argmax((change / sizes).max(axis=1, initial=0.0))), self.timed

    # -- whether the motion is steady in some axes -----------------------------------------------------------
    def tried(self, speeds: Array) -> SteadyMotion:
        """What becomes of the linear system along the motion, in axes that turn at some speeds."""
        n, S = self.n, self.spin(speeds)
        slopes = self.slopes.moved(self.at, np.eye(self.slopes.n_u), S) if S.any() else self.slopes
        M = slopes.matrices(self.outputs) if S.any() else self.M
        fault, changed = self._find_drift(slopes, M), np.zeros(M.shape, dtype=bool)
        for duration, timed in () if fault else itertools.chain(self._times(), self._striking_times(speeds)):
            at, W = self.state(duration, speeds, timed)
            later = slopes.moved(at, W, S)
            try:
                changed |= self._difference(later.matrices(self.outputs), M) > STEADY_TOLERANCE
                leaving = self._find_leaving(slopes, later, timed)
            except Error as error:
                fault = "" if timed else f"the motion is not steady: as it goes on, {error}"
                leaving = ""
            if changed[:n, :n].any():
                cause = self._find_cause(later, timed)
                fault = f"the motion is not steady: as {cause} goes on, the matrix changes, and there are no modes"
            elif leaving:
                fault = f"the motion is not steady: as {self._find_cause(later, timed)} goes on, {leaving}"
            if fault:
                break
        axes = {
            name: speeds[self.topology.u_of[name]] for name in self.turning if speeds[self.topology.u_of[name]].any()
        }
        return SteadyMotion(slopes, fault, axes, np.concatenate([changed[:, n:].any(axis=0), changed[n:].any(axis=1)]))

    def _weights(self, M: Array, floor: float) -> Array:
        """The usual size of each entry: of the largest in its row and column; at least a share of the largest in A."""
        size = abs(M)
        rows, columns = size.max(axis=1, initial=0.0), size.max(axis=0, initial=0.0)
        least = floor * max(1.0, size[: self.n, : self.n].max(initial=0.0))
        return np.asarray(np.sqrt(np.outer(rows, columns)) + least)

    def _difference(self, there: Array, M: Array) -> Array:
        sizes = self._weights(np.maximum(abs(there), abs(M)), ENTRY_NOISE / STEADY_TOLERANCE)
        return np.asarray(abs(there - M) / sizes)

    def _find_drift(self, slopes: Slopes, M: Array) -> str:
        """What changes at this instant, or an instant later, though it is no coordinate; empty if nothing does."""
        (k, m, _), at, A, drift = slopes.sizes, self.at, M[: self.n, : self.n], slopes.drift
        scale = self._rate_scale(slopes)
        names = slopes.states[k:]
        worst = max(zip(abs(drift[k : k + m]), names, strict=False), default=(0.0, ""))
        if worst[0] > STEADY_TOLERANCE * scale:
            change = f"{worst[1]} changes by {worst[0]:.3g} a second"
            return f"the state is not steady: {change}; kn.equilibrium finds one that is"
        turning = (slopes.spin @ at.u)[slopes.independent]
        later = A @ np.concatenate([drift[:k], turning, drift[k + m :]])
        worst = max(zip(abs(later[k:]), names, strict=True), default=(0.0, ""))
        if worst[0] > STEADY_TOLERANCE * scale * max(1.0, abs(drift).max(initial=0.0)):
            return f"the motion is not steady: as it goes on, {worst[1]} would not stay as it is"
        return ""

    def _find_leaving(self, slopes: Slopes, later: Slopes, timed: bool) -> str:
        """What does not stay as it is later on the motion; empty if all does, or if A does not depend on it.

        Laws of time that only push may do so, as long as what they push is linear.
        """
        (k, m, _), n = slopes.sizes, self.n
        if timed and not self.timed:
            return ""
        change = later.drift - slopes.drift
        change[:k] = 0.0
        worst = int(np.argmax(abs(change)))
        if not abs(change[worst]) > STEADY_TOLERANCE * self._rate_scale(slopes):
            return ""
        if timed:
            aside = np.concatenate([change[k : k + m], change[k:]]) * DISPLACEMENT / abs(change[worst])
            there = slopes.moved(slopes.displaced(aside), slopes.turn, slopes.spin).matrices(self.outputs)
            if not self._difference(there, slopes.matrices(self.outputs))[:n, :n].max() > STEADY_TOLERANCE:
                return ""
        return f"{slopes.states[worst]} would not stay as it is"

    def _find_cause(self, later: Slopes, timed: bool) -> str:
        """The coordinate that changes the matrix or the accelerations most, as each goes on alone, a little or far."""
        at, start = self.at, self.slopes.moved(self.at, later.turn, later.spin)
        for whole in (False, True):
            states = dict[str, State]()
            for name, where in self.topology.u_of.items():
                if self.u[where].any():
                    own, q = np.zeros(start.n_u), at.q.copy()
                    own[where] = CAUSE_STEP * at.u[where] / abs(at.u[where]).max()
                    q[self.topology.q_of[name]] = later.at.q[self.topology.q_of[name]]
                    states[f"{name}.q"] = replace(at, q=q if whole else self.topology.advance_q(at.q, own))
            others = [c.name for c in self.topology.coordinates if c.role == "z"]
            for k in np.flatnonzero(self.z_dot):
                z = at.z.copy()
                z[k] = later.at.z[k] if whole else z[k] + CAUSE_STEP * np.sign(self.z_dot[k])
                states[others[k]] = replace(at, z=z)
            if timed:
                states["time"] = replace(at, t=later.at.t if whole else at.t + CAUSE_STEP)
            there = {name: start.moved(state, start.turn, start.spin) for name, state in states.items()}
            changes = {name: self._change(start, each) for name, each in there.items()}
            most = max(changes, key=changes.__getitem__)
            if changes[most] > STEADY_TOLERANCE:
                break
        return most

    def _change(self, start: Slopes, there: Slopes) -> float:
        """Of A and of the accelerations, relative to their usual size."""
        n, (k, _, _) = self.n, start.sizes
        change = self._difference(there.matrices(self.outputs), start.matrices(self.outputs))[:n, :n].max()
        return max(float(change), float(abs(there.drift - start.drift)[k:].max() / self._rate_scale(start)))

    # -- the axes --------------------------------------------------------------------------------------------
    def candidates(self) -> Iterator[Array]:
        """How fast the axes of each joint may turn: without rotation in space, or on the parent; or as they have to."""
        yield self._still_axes()
        on_parent = np.zeros(self.slopes.n_u)
        for name in self.turning:
            if self.joints[name].quaternion is not None:
                on_parent[self.topology.u_of[name]] = -self.at.u[self.topology.u_of[name]]
        yield on_parent
        shares = dict.fromkeys([self.M.shape, (self.n, self.n)])
        solved = (self.solve_axes((slice(rows), slice(columns))) for rows, columns in shares)
        yield from (speeds for speeds in solved if speeds is not None)

    def solve_axes(self, share: tuple[slice, slice]) -> Array | None:
        """How fast the axes of each joint turn if they are to leave a share of the matrix as it is, by Newton's method.

        The time over which it stays grows with each step, and with it the accuracy.  None where a step leads nowhere.
        """
        unknown = [k for name in self.turning for k in range(self.slopes.n_u)[self.topology.u_of[name]]]
        weights, u_dot, start = self._weights(self.M, WEIGHT_FLOOR)[share], self.slopes.rates[0], self.slopes
        fastest = max(abs(self.u).max(initial=0.0), abs(self.z_dot).max(initial=0.0))

        def entries(slopes: Slopes) -> Array:
            small = slopes.matrices(self.outputs)[share] / weights
            return np.concatenate([x.ravel() for x in (small, slopes.follow, slopes.follow_q, slopes.speed_changes)])

        def change(speeds: Array, duration: float) -> Array:
            at, W = self.state(duration, speeds, self.timed)
            turned = (self.spin(speeds) @ self.at.u - u_dot) / max(1.0, abs(u_dot).max(initial=0.0))
            return np.concatenate([turned, (entries(start.moved(at, W)) - here) / (duration * fastest)])

        here, still, largest = entries(start), self._still_axes(), np.inf
        speeds, steps = still.copy(), AXES_STEP * fastest * np.eye(len(still))[unknown]
        for travel in SOLVED_TRAVELS:
            duration = travel / fastest
            rest = change(speeds, duration)
            size = abs(rest).max()
            if size > max(LEFT_OVER * largest, STEADY_TOLERANCE):
                return None
            if size < ENTRY_NOISE:
                continue
            largest = min(largest, size)
            slope = np.array([change(speeds + step, duration) - rest for step in steps]).T / (AXES_STEP * fastest)
            speeds[unknown] -= np.linalg.lstsq(slope, rest, rcond=AXES_CUTOFF)[0]
        speeds = np.where(abs(speeds - still) > AXES_ACCURACY * fastest, speeds, still)
        return np.where(abs(speeds) > AXES_ACCURACY * fastest, speeds, 0.0)

    def _still_axes(self) -> Array:
        """How fast axes without rotation in space turn against those of quaternions."""
        speeds, at = np.zeros(self.slopes.n_u), self.at
        for name in self.turning:
            joint, where = self.joints[name], self.topology.u_of[name]
            if joint.quaternion is not None:
                key = f"{name}.child.angular_velocity@{name}.child"
                value = self.dynamics.evaluate(
                    key, at.t, at.q, at.u, z=at.z, p=self.slopes.p, inputs=self.slopes.inputs
                )
                speeds[where][-3:] = -value[key]
        return speeds
