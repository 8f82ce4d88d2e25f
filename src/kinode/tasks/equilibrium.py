"""Equilibrium of a system, at rest or while drives turn: ``kn.equilibrium``.

Newton steps along the independent coordinates bring the generalized forces at rest, f(q), to zero.  The eigenvalues of
the stiffness are taken by their size, so that each step goes the way the forces push: the search ends in a minimum of
the potential, not on a summit.  A step is halved until the forces do work along it.  The loops are closed after each
step.  Locked joints (``hold=``) do not move, and their locking efforts are part of the result.  The contact forces of
rigid end stops are unknown, only their positions known.

Other states z (currents, shafts of networks, controllers) are in equilibrium where their time derivatives vanish.  They
are solved first in each position, so that the forces belong to the currents that flow when nothing moves.  Where a
position does not determine them (the integral of a controller), one Newton search solves positions and states together.
States that nothing depends on, such as the angle of a shaft that turns freely, need not rest.

The coordinates of a joint with ``speed=`` are given, not searched for: they stay where the search begins.  With a speed
of zero the joint holds like a locked one.  If it turns evenly, an equilibrium of the other joints is a steady motion,
such as that of a governor, provided that nothing depends on how far the drive has turned.  That is checked.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.derivatives.derivative_request import Derivatives
from kinode.dynamics.mode_fitting import find_misfit, with_mode
from kinode.errors import ArgumentError, Error, ModelError, caller_depth
from kinode.kernels.state import State
from kinode.model.base.fields import short
from kinode.model.joints.end_stops import passed_end
from kinode.model.joints.joint import STOP, Joint
from kinode.model.system import System
from kinode.model.system_checks import find_steering
from kinode.sheets.tables import Sheet, Shown, Table
from kinode.simulation.run_arguments import find_model, read_row, read_seconds
from kinode.tasks.linearize import Linearization, Slopes, linearize_at
from kinode.tasks.start_argument import find_start

MAX_NEWTON_STEPS = 200
MAX_HALVINGS = 40  # of one Newton step
MAX_MODE_CHANGES = 40  # until all modes are consistent with the equilibrium
MAX_STEP = 0.5  # largest change of a coordinate in one step, rad or m
FORCE_TOLERANCE = 1e-9  # remaining force, relative to the force scale of the system
RANK_TOLERANCE = 1e-9  # singular value of the scaled Jacobian below which the states are not determined
STATE_TOLERANCE = 1e-11  # last Newton step, relative to 1 + |state|
FORCE_FLOOR = 1e-12  # N or N m: smallest force scale
JACOBIAN_FLOOR = 1e-300  # keeps empty rows and columns out of a division by zero


@dataclass(frozen=True, eq=False)
class Equilibrium(Shown):
    """A state of rest; ``holding`` has the efforts of the locked joints, ``small`` the linear system about the state.

    With joints that are driven at a speed (``drives``) it is a steady motion, in which the others rest.

    Friction is left out.  The components in ``sticking`` may also keep the system at rest elsewhere: where it comes to
    rest, and with which loads, depends on its motion before.  A simulation answers that.
    """

    name: str
    state: State
    values: dict[str, float]
    residual: float  # largest remaining force or moment, relative to the force scale of the system
    holding: dict[str, float]
    small: Linearization | None
    sticking: tuple[str, ...] = ()
    drives: dict[str, float] = field(default_factory=dict)  # speeds of the joints that turn on: a steady motion
    moving: tuple[str, ...] = ()  # joints that their motion= moves at that time: the balance does not last

    @property
    def stable(self) -> bool | None:
        """Whether no small motion grows; None if linear theory cannot tell, or if joints are locked."""
        return None if self.small is None else self.small.stable

    @property
    def sheet(self) -> Sheet:
        word = "held" if self.small is None else self.small.stability.word
        motion = "in balance for an instant" if self.moving else "in steady motion" if self.drives else "at rest"
        given = ((self.drives, "driven"), (self.values, ""), (self.holding, "to hold it"))
        rows = [(name, f"{value:.6g}", words) for values, words in given for name, value in values.items()]
        lines: list[Table | str] = [Table(("", "", ""), rows, "wnw")]
        if self.sticking:
            lines.append(f"without friction; it may rest elsewhere too, held by {', '.join(self.sticking)}")
        if self.moving:
            lines.append(f"at t = {self.state.t:g} s alone: {', '.join(self.moving)} moves by its motion=")
        return Sheet(self.name, f" {motion}, {word}; forces balance to {self.residual:.1e}", lines)


def equilibrium(
    model: System | Dynamics | str | os.PathLike[str], start: Any = None, *, hold: Sequence[str] | str = (),
    t0: Any = None, parameters: Any = None, inputs: Any = None,
) -> Equilibrium:  # fmt: skip
    """Find an equilibrium into which the system would settle: at rest, or steady while drives turn at a speed.

    Parameters
    ----------
    model : System, Dynamics, str or path
        The system, a compiled one, or the name of a file.
    start : mapping, State, Assembly, Equilibrium or Trajectory, optional
        Where the search begins; initial values by name replace the model's own.
    hold : joint or sequence of joints, default ()
        Joints locked at their initial values; the efforts that this takes are part of the result.
    t0 : float or text, optional
        Time in s at which laws are taken; that of the start.
    parameters, inputs : mapping, optional
        Values by name, in SI units or as text with a unit; nothing is compiled anew for them.

    Returns
    -------
    Equilibrium
        The state without friction, which may keep the system at rest elsewhere too.  Joints with a ``speed=`` stay at
        their angles if it is zero, else turn on; it is refused if that changes what acts on the others.  Of a
        ``motion=`` that moves then, the position, speed and acceleration of that time act: a warning names the joint.

    Examples
    --------
    >>> rest = kn.equilibrium("examples/elastic_system.yaml")
    >>> rest.stable, abs(rest.values["rail.q"]) < 1e-9
    (True, True)
    """
    model = find_model(model)
    dynamics = model if isinstance(model, Dynamics) else find_compiled(model)
    p, given = read_row(dynamics, "p", parameters), read_row(dynamics, "inputs", inputs)
    begin = find_start(dynamics, start, None if t0 is None else read_seconds(dynamics, "t0", t0), p, given)
    locked: set[int] = set()
    for name in [hold] if isinstance(hold, str) else hold:
        if name not in dynamics.topology.u_of:
            known = ", ".join(dynamics.topology.u_of)
            raise ArgumentError(f"hold: {short(name)} is no joint that moves by itself; these are: {known}")
        speeds = dynamics.topology.u_of[name]
        locked |= set(range(speeds.start, speeds.stop))
    return solve_equilibrium(dynamics, begin, p, given, locked)


def solve_equilibrium(dynamics: Dynamics, start: State, p: Any, inputs: Any, locked: set[int]) -> Equilibrium:
    """The state of rest that damped Newton steps reach from a start; ``locked`` are indices of speeds that stay zero.

    Discrete modes are fixed during a search.  If one is inconsistent with the result, it is changed and the search
    begins again from the start.
    """
    start = off_rigid_ends(dynamics, start)
    search = _RestSearch(dynamics, start, p, inputs, locked)
    state, residual = search.run()
    changes = 0
    while (wrong := find_misfit(dynamics.kernels, dynamics.point(state, p, inputs))) is not None:
        if (changes := changes + 1) > MAX_MODE_CHANGES:
            message = "changes its mode again and again: in none all rests; a simulation tells what it does"
            raise ModelError(message, component=wrong.owner)
        start = replace(start, z=with_mode(dynamics.point(start, p, inputs), wrong).z)
        search = _RestSearch(dynamics, start, p, inputs, locked)
        state, residual = search.run()
    check_rigid_ends(dynamics, state, p)
    search.drives.check(state, search.forces, search.force_scale(state))
    speeds = {c.name for c in dynamics.coordinates if c.role == "u"}
    values = {name: x for name, x in dynamics.values(state).items() if name not in speeds}
    holding = search.locking_efforts(state) if locked else {}
    small = None if locked else linearize_at(dynamics, state, p, inputs, anywhere=True)
    sticking = find_sticking(dynamics, state, p, inputs)
    return Equilibrium(
        dynamics.system.name, state, values, residual, holding, small, sticking, search.drives.speeds,
        note_moving(dynamics, state, p, inputs),
    )  # fmt: skip


class _Undecided(Exception):
    """The equilibrium of the other states does not follow from the position."""


class _RestSearch:
    """Damped Newton search for zero force along the independent coordinates."""

    def __init__(self, dynamics: Dynamics, start: State, p: Any, inputs: Any, locked: set[int]) -> None:
        self.dynamics, self.p, self.inputs, self.locked = dynamics, p, inputs, locked
        if steering := find_steering(dynamics.system):
            message = "acts at its samples alone: where it brings the system to rest, a simulation finds"
            raise ModelError(message, component=steering[0])
        self.independent: tuple[int, ...] = ()  # independent speeds of the step before
        self.begin = self.start = State(start.t, start.q, np.zeros(dynamics.n_u), start.z)
        self.drives = SteadyDrives(dynamics, self.start, p, inputs)
        self.active = self._find_active()
        balanced = self.solve_states(self.start, moving=False)
        self.states_follow_position = balanced is not None  # else positions and states are solved together
        if balanced is not None:
            self.start = balanced

    def _find_active(self) -> list[int]:
        """Indices of the other states that influence any time derivative, at the start or in motion."""
        active: set[int] = set()
        rng = np.random.default_rng(0)
        at = self.start
        count = Slopes(self.dynamics, at, self.p, self.inputs).n_other  # modes stay as they are
        z = at.z + np.append(rng.uniform(-1, 1, count), np.zeros(len(at.z) - count))
        moving = State(at.t, at.q, rng.uniform(-1, 1, len(at.u)), z)
        for state in (at, moving):
            slopes = self._derivatives(state, ("rate",), ("z",))["z"]
            active |= set(np.flatnonzero(abs(slopes).max(axis=0, initial=0.0)))
        return sorted(active - self.drives.states)

    def rates(self, state: State) -> Array:
        """Time derivatives of the active other states."""
        y_dot = self.dynamics.rate(state.t, state.y, p=self.p, inputs=self.inputs)
        return self.dynamics.topology.layout.split(y_dot)[2][self.active]

    def solve_states(self, state: State, *, moving: bool) -> State | None:
        """Newton search for the equilibrium of the other states, and of positions if ``moving``; None if it fails."""
        if not self.active and not moving:
            return state
        for _ in range(MAX_NEWTON_STEPS):
            T = self.reduced(state)[1] if moving else np.zeros((self.dynamics.n_u, 0))

            def residual(there: State, T: Array = T) -> Array:
                return np.concatenate([T.T @ self.forces(there), self.rates(there)])

            r, J = residual(state), self._jacobian(state, T)
            row_scale = np.maximum(abs(J).max(axis=1), JACOBIAN_FLOOR)
            column_scale = np.maximum(abs(J / row_scale[:, None]).max(axis=0), JACOBIAN_FLOOR)
            scaled = J / row_scale[:, None] / column_scale
            if np.linalg.svd(scaled, compute_uv=False).min(initial=1.0) < RANK_TOLERANCE:
                return None
            step = np.linalg.solve(scaled, -r / row_scale) / column_scale
            size = 1.0 + np.concatenate([np.zeros(T.shape[1]), abs(state.z[self.active])])
            if not np.all(np.isfinite(step)):
                return None
            if (abs(step) / size).max() < STATE_TOLERANCE:
                return state
            longest = abs(T @ step[: T.shape[1]]).max(initial=0.0)
            step = step * min(1.0, MAX_STEP / longest) if longest > 0 else step
            for _ in range(MAX_HALVINGS):
                there = self._stepped(state, T, step)
                if np.linalg.norm(residual(there) / row_scale) < np.linalg.norm(r / row_scale):
                    break
                step = step / 2
            else:
                return state if (abs(step) / size).max() < FORCE_TOLERANCE else None
            state = there
        return None

    def _derivatives(self, state: State, of: tuple[str, ...], by: tuple[str, ...]) -> Derivatives:
        t, q, u, z = state.t, state.q, state.u, state.z
        return self.dynamics.derivatives(t, q, u, of=of, by=by, z=z, p=self.p, inputs=self.inputs)

    def _jacobian(self, state: State, T: Array) -> Array:
        """Derivatives of [reduced forces, rates of active states] by [reduced coordinates, active states]."""
        d = self._derivatives(state, ("bias", "z_dot"), ("q", "z"))
        forces = np.hstack([-d["bias", "q"] @ T, -d["bias", "z"][:, self.active]])
        rates = np.hstack([d["z_dot", "q"] @ T, d["z_dot", "z"][:, self.active]])
        return np.vstack([T.T @ forces, rates[self.active]])

    def _stepped(self, state: State, T: Array, step: Array) -> State:
        """The state after a step of [reduced coordinates, active states], with its loops closed."""
        z = state.z.copy()
        z[self.active] += step[T.shape[1] :]
        there = State(state.t, state.q, state.u, z)
        return self._advanced_and_closed(there, T @ step[: T.shape[1]]) if T.shape[1] else there

    def forces(self, state: State) -> Array:
        """Generalized forces on the tree at rest, without those of loop constraints; N or N m."""
        t, q, z = state.t, state.q, state.z
        bias: Array = self.dynamics.bias(t, q, np.zeros(self.dynamics.n_u), z=z, p=self.p, inputs=self.inputs)
        return -bias

    def reduced(self, state: State) -> tuple[Array, Array]:
        """Forces along the free independent coordinates, and the matrix T that maps these to all coordinates."""
        slopes = Slopes(self.dynamics, state, self.p, self.inputs, (*self.locked, *self.independent))
        self.independent = tuple(slopes.independent)
        free = [i for i, k in enumerate(slopes.independent) if k not in self.locked]
        T = slopes.follow[:, free]
        return T.T @ self.forces(state), T

    def locking_efforts(self, state: State) -> dict[str, float]:
        """Effort of each locked freedom: minus the virtual work of all forces for a unit motion of that freedom."""
        slopes = Slopes(self.dynamics, state, self.p, self.inputs, tuple(self.locked))
        speeds = [c for c in self.dynamics.coordinates if c.role == "u"]
        dependent = [speeds[k].joint for k in sorted(self.locked) if k not in slopes.independent]
        if dependent:
            beside = " and ".join(speeds[k].joint for k in slopes.independent if k in self.locked)
            left = f"none beside {beside}" if beside else "none in this position"
            raise ArgumentError(f"hold: {dependent[0]} has no freedom to hold: the loops leave {left}")
        work = slopes.follow.T @ self.forces(state)
        freedoms = [(speeds[k], i) for i, k in enumerate(slopes.independent) if k in self.locked]
        return {f"{speed.joint}.effort{speed.suffix}": -float(work[i]) for speed, i in freedoms}

    def _with_balanced_states(self, state: State) -> State:
        """The state with its other states in equilibrium at the same position."""
        balanced = self.solve_states(state, moving=False)
        if balanced is None:
            raise _Undecided
        return balanced

    def _advanced_and_closed(self, state: State, step: Array) -> State:
        q = self.dynamics.topology.advance_q(state.q, step)
        if self.dynamics.topology.constrained:
            mask = np.zeros(self.dynamics.n_u, dtype=bool)
            mask[list(self.locked)] = True
            q = self.dynamics.loops.close(self.dynamics.point(replace(state, q=q), self.p, self.inputs), mask)
        return State(state.t, q, state.u, state.z)

    def stiffness(self, state: State, T: Array) -> Array:
        """Derivatives of the reduced forces by the reduced coordinates, with the other states in equilibrium."""
        k, J = T.shape[1], self._jacobian(state, T)
        if not self.active:
            return J
        by_position, by_state = J[:, :k], J[:, k:]
        if np.linalg.matrix_rank(by_state[k:]) < len(self.active):
            raise _Undecided
        following = -np.linalg.solve(by_state[k:], by_position[k:])
        stiffness: Array = by_position[:k] + by_state[:k] @ following
        return stiffness

    def run(self) -> tuple[State, float]:
        """The state of rest, and the largest remaining force relative to the force scale."""
        if not self.states_follow_position:
            return self._solve_together(self.begin)
        state = self.start
        f, T = self.reduced(state)
        scale = max(self.force_scale(state), abs(f).max(initial=0.0), FORCE_FLOOR)
        for _ in range(MAX_NEWTON_STEPS):
            size = float(abs(f).max(initial=0.0))
            if size <= FORCE_TOLERANCE * scale:
                return state, size / scale
            try:
                accepted = self._step(state, f, T)
            except _Undecided:
                return self._solve_together(self.begin)
            if accepted is None:
                break
            state, f, T = accepted
        raise self._failure(f, T)

    def _solve_together(self, state: State) -> tuple[State, float]:
        """Positions and other states in one Newton search; returns the same as ``run``."""
        rest = self.solve_states(state, moving=True)
        if rest is not None:
            f, _ = self.reduced(rest)
            return rest, float(abs(f).max(initial=0.0)) / max(self.force_scale(self.start), FORCE_FLOOR)
        if stuck := self._find_stuck(state):
            message = (
                "sticks, and may rest in many places: a simulation tells where; its friction left out, one is found"
            )
            raise ModelError(message, component=stuck[0])
        rates = abs(self.rates(state))
        others = [c.joint for c in self.dynamics.coordinates if c.role == "z"]
        worst = others[self.active[int(np.argmax(rates))]]
        message = "no state of rest was found in which it stays as it is; start elsewhere, such as at the end of a run"
        raise ModelError(message, component=worst)

    def _find_stuck(self, state: State) -> list[str]:
        """Names of the network components that stick: their friction is whatever the balance asks for."""
        table, parts = self.dynamics.topology.events, self.dynamics.system.parts
        entries = () if table is None else table.roots
        of_parts = (x for x in entries if x.owner in parts and x.at >= 0 and not x.root.by_state)
        return [x.owner for x in of_parts if state.z[x.at] == x.root.value]

    def _step(self, state: State, f: Array, T: Array) -> tuple[State, Array, Array] | None:
        """State, forces and T after one damped step along which the forces do work; None if there is none."""
        K = self.stiffness(state, T)
        sizes, V = np.linalg.eigh(-(K + K.T) / 2)
        floor = max(abs(sizes).max(initial=0.0), abs(f).max()) * 1e-6
        newton = np.linalg.lstsq(-K, f, rcond=1e-9)[0] if sizes.min(initial=1.0) > floor else None
        step = V @ ((V.T @ f) / np.maximum(abs(sizes), floor)) if newton is None else newton
        longest = abs(T @ step).max(initial=0.0)
        step = step * min(1.0, MAX_STEP / longest) if longest > 0 else step
        for _ in range(MAX_HALVINGS):
            try:
                there = self._with_balanced_states(self._advanced_and_closed(state, T @ step))
                f_there, T_there = self.reduced(there)
            except Error:
                step = step / 2
                continue
            # in a singular position of a loop there are more freedoms, and the work cannot be compared
            if len(f_there) == len(f):
                much_smaller = np.linalg.norm(f_there) < 0.5 * np.linalg.norm(f)
                if much_smaller or (f + f_there) @ step > 0:
                    return there, f_there, T_there
            step = step / 2
        return None

    def force_scale(self, state: State) -> float:
        """Size of typical forces, N or N m: weight times the largest offset, or the largest force at a state."""
        system = self.dynamics.system
        mass = sum(float(system.nominal(body.mass)) for body in system.bodies.values())
        gravity = max(abs(float(system.nominal(x))) for x in system.gravity)
        topology = self.dynamics.topology
        offsets = [X.p for X in topology.geometry(topology.tree, system.nominal).placements]
        length = max((float(abs(np.asarray(x, dtype=float)).max()) for x in offsets), default=0.0) or 1.0
        return float(max(mass * gravity * length, abs(self.forces(state)).max(initial=0.0)))

    def _failure(self, f: Array, T: Array) -> ModelError:
        """The error that names the joint with the largest remaining force."""
        joints = [c.joint for c in self.dynamics.coordinates if c.role == "u"]
        joint_forces = T @ f
        worst = joints[int(np.argmax(abs(joint_forces)))] if len(joint_forces) else self.dynamics.system.name
        remaining = float(abs(f).max(initial=0.0))
        message = f"nothing balances it: no state of rest was found, and {remaining:.3g} N (or N m) is left"
        return ModelError(f"{message} along this joint; hold it, or start elsewhere", component=worst)


def _rigid_ends(dynamics: Dynamics) -> list[Joint]:
    """The joints with rigid end stops."""
    with_modes = (
        dynamics.system.joints[name] for name in dynamics.topology.layout.discrete_of if name in dynamics.system.joints
    )
    return [joint for joint in with_modes if joint.ends is not None and joint.ends.rigid]


def off_rigid_ends(dynamics: Dynamics, start: State) -> State:
    """The start with no joint in contact with a rigid end: the search does not know contact forces."""
    z, z_index = start.z.copy(), {c.name: c.index for c in dynamics.coordinates if c.role == "z"}
    for joint in _rigid_ends(dynamics):
        z[z_index[f"{joint.name}.{STOP}"]] = 0.0
    return State(start.t, start.q, start.u, z)


def check_rigid_ends(dynamics: Dynamics, state: State, p: Any) -> None:
    """Refuse an equilibrium beyond a rigid end, which has no stiffness to push back with."""
    values = dynamics.values(state)
    for joint in _rigid_ends(dynamics):
        q = values[f"{joint.name}.q"]
        end = passed_end(joint, dynamics.arguments.resolver(p), q)
        if end is not None:
            message = f"would rest at {q:g}, beyond its rigid end at {end:g}"
            raise ModelError(f"{message}: start there and hold it, or give the end a stiffness", component=joint.name)


def find_sticking(dynamics: Dynamics, state: State, p: Any, inputs: Any) -> tuple[str, ...]:
    """The components whose friction could keep a joint at rest: no stops, and no released brakes."""
    locks = dynamics.snapshot(state, p, inputs).locking.locks if dynamics.topology.layout.discrete_of else []
    frictional = (lock for lock in locks if lock.part != "stop" and (lock.takes is None or float(lock.takes(1.0)) > 0))
    return tuple(dict.fromkeys(lock.owner for lock in frictional))


CHECKED_TRAVEL = (0.7, 1.9, 3.3, 5.1)  # rad or m, on no symmetry of a machine
TRAVEL_STEPS = 32  # Runge-Kutta steps to each of them, for joints that turn about several axes
STEADY_TOLERANCE = 1e-7  # change of a force, relative to the force scale, that counts as none
CLOSED_TOLERANCE = 1e-7  # closure error after the travel, relative to the size of the mechanism

Forces = Callable[[State], Array]


class SteadyDrives:
    """The joints of a system whose speeds are prescribed, at one time.

    Parameters
    ----------
    dynamics, state, p, inputs
        The system, and where its drives are looked at.

    Attributes
    ----------
    states : frozenset of int
        Indices in z of their coordinates.
    speeds : dict
        The speeds that are not zero, by name.
    """

    def __init__(self, dynamics: Dynamics, state: State, p: Any, inputs: Any) -> None:
        self.dynamics, self.p, self.inputs = dynamics, p, inputs
        z_of = {name: where for name, where in dynamics.topology.z_of.items() if name in dynamics.system.joints}
        self.states = frozenset(k for where in z_of.values() for k in range(where.start, where.stop))
        self.speeds: dict[str, float] = {}
        snapshot = dynamics.snapshot(state, p, inputs) if z_of else None
        for name in z_of:
            assert snapshot is not None
            _, u, u_dot = snapshot.joint_state(name)
            joint = dynamics.system.joints[name]
            if u_dot is not None and np.any(np.asarray(u_dot, dtype=float) != 0.0):
                raise ModelError("its speed changes: the system has no steady state", component=name, field="speed")
            names = [f"{name}.u"] if joint.n_u == 1 else [f"{name}.u.{word}" for word, _ in joint.coordinates]
            self.speeds |= {key: float(speed) for key, speed in zip(names, u, strict=True) if float(speed) != 0.0}

    def check(self, state: State, forces: Forces, scale: float) -> None:
        """Refuse an equilibrium that would not last while the drives turn on.

        ``forces`` gives the forces along all tree coordinates, without those of loops; ``scale`` is their usual size.
        """
        if not self.speeds:
            return
        owner = max(self.speeds, key=lambda name: abs(self.speeds[name])).partition(".u")[0]
        if not self.dynamics.n_u:
            raise ModelError("is driven at a speed, and no other joint is left to come to rest", component=owner)
        for speed in {abs(x) for x in self.speeds.values()}:
            for travel in CHECKED_TRAVEL:
                there = self._advanced(state, travel / speed)
                worst = self._find_change(state, there, forces, scale)
                if worst is not None:
                    message = f"is driven at a speed, and what acts on {worst} changes as it turns"
                    raise ModelError(f"{message}: there is no steady state", component=owner)

    def _find_change(self, state: State, there: State, forces: Forces, scale: float) -> str | None:
        """The joint on which the load is another at another state, or whose loop opens; None if all is the same."""
        dynamics = self.dynamics
        motions = np.eye(dynamics.n_u)
        if dynamics.topology.constrained:
            loops = dynamics.loops
            c, G, _ = loops.evaluate(dynamics.point(there, self.p, self.inputs))
            if abs(c).max(initial=0.0) > CLOSED_TOLERANCE:
                return "its loop"
            _, sizes, V = np.linalg.svd(G)
            motions = V[int((sizes > 1e-9 * sizes.max(initial=0.0)).sum()) :].T
        change = motions @ (motions.T @ (forces(there) - forces(state)))
        if not len(change) or abs(change).max() <= STEADY_TOLERANCE * scale:
            return None
        speeds = [c.joint for c in dynamics.coordinates if c.role == "u"]
        return speeds[int(np.argmax(abs(change)))]

    def _advanced(self, state: State, duration: float) -> State:
        """The state after the drives have turned on for a time in s, while all else stays as it is."""
        here, driven = state.z.copy(), sorted(self.states)
        h = duration / TRAVEL_STEPS

        def rate(z: Array) -> Array:
            y = replace(state, z=z).y
            y_dot = self.dynamics.rate(state.t, y, p=self.p, inputs=self.inputs)
            z_dot = np.zeros_like(z)
            z_dot[driven] = self.dynamics.topology.layout.split(y_dot)[2][driven]
            return z_dot

        for _ in range(TRAVEL_STEPS):
            k1 = rate(here)
            k2 = rate(here + 0.5 * h * k1)
            k3 = rate(here + 0.5 * h * k2)
            here = here + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + rate(here + h * k3))
        return replace(state, z=here)


def note_moving(dynamics: Dynamics, state: State, p: Any, inputs: Any) -> tuple[str, ...]:
    """The joints that a ``motion=`` moves at the time of a state, by a speed or an acceleration; warns of them."""
    driven = [name for name, joint in dynamics.system.joints.items() if joint.motion is not None]
    snapshot = dynamics.snapshot(state, p, inputs) if driven else None
    moving = []
    for name in driven:
        assert snapshot is not None
        _, *rates = snapshot.joint_state(name)
        if any(x is not None and np.any(np.asarray(x, dtype=float) != 0.0) for x in rates):
            moving.append(name)
    if moving:
        message = (
            f"equilibrium: at t = {state.t:g} s {' and '.join(moving)} moves by its motion=; the balance is that of "
            "this instant and does not last; speed= gives a steady motion, t0= another time"
        )
        warnings.warn(message, stacklevel=caller_depth())
    return tuple(moving)
