"""Where a system can rest: ``kn.equilibrium``.

Generalized forces of the state at rest, f(q), are brought to zero by Newton steps along the independent coordinates.
Each step goes the way that the forces push, also where the slope of the forces would have it otherwise (its eigenvalues
are taken as negative), so that a resting place is found into which the system would settle, not one on a summit; it is
halved until the forces do work along it.  Loops are closed again after each.  Joints that are held do not move, and
what they have to hold with is part of the result.

Other states z (currents, shafts of networks, controllers) rest where their rates vanish.  In each position they are
brought there first, so that the forces are those of the currents which flow when nothing moves.  Where a position does
not decide them (the integral of a controller), positions and states are sought together.  States that nothing depends
on, such as the angle of a shaft that turns freely, need not rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compile import compile as compile_system
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.mode_fitting import find_misfit, with_mode
from kinode.errors import ArgumentError, Error, ModelError
from kinode.kernels.state import State
from kinode.model.base.fields import short
from kinode.model.system import System
from kinode.model.system_checks import find_steering
from kinode.simulation.solver import find_start
from kinode.simulation.task_arguments import find_model, read_row, read_seconds
from kinode.tasks.equilibrium_stops import check_rigid_ends, off_rigid_ends
from kinode.tasks.linearize import Linearization, Slopes, linearize_at

STEPS = 200
MODES = 40  # that are changed until all fit
LONGEST = 0.5  # of a step: radians, or characteristic lengths
RESTS = 1e-9  # of the forces at the start or of the weight
DIFFERENCE = 1e-6  # of steps for slopes, relative for states
SINGULAR = 1e-9  # of slopes scaled to 1: what does not decide
SETTLED = 1e-11  # of states, relative


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A state of rest; ``holding`` is what the held joints have to give, ``small`` the linear system about it.

    It rests without friction.  What can stick (``sticking``) may hold the system elsewhere too: where it really comes
    to rest, and with which loads, depends on how it got there, which a simulation tells.
    """

    name: str
    state: State
    values: dict[str, float]
    residual: float  # largest force or moment that is left, of those that act
    holding: dict[str, float]
    small: Linearization | None
    sticking: tuple[str, ...] = ()

    @property
    def stable(self) -> bool | None:
        """Whether small motions stay small; None where that was not looked at (held joints)."""
        return None if self.small is None else self.small.stable

    def __str__(self) -> str:
        word = {True: "stable", False: "unstable", None: "held"}[self.stable]
        lines = [f"{self.name} at rest, {word}; forces balance to {self.residual:.1e}"]
        width = max(map(len, [*self.values, *self.holding]), default=0)
        lines += [f"  {name:<{width}}  {value:12.6g}" for name, value in self.values.items()]
        lines += [f"  {name:<{width}}  {value:12.6g}  to hold it" for name, value in self.holding.items()]
        if self.sticking:
            lines.append(f"  without friction; it may rest elsewhere too, held by {', '.join(self.sticking)}")
        return "\n".join(lines)


def equilibrium(
    model: System | Dynamics | str | os.PathLike[str], start: Any = None, *, hold: Sequence[str] | str = (),
    t0: Any = None, parameters: Any = None, inputs: Any = None,
) -> Equilibrium:  # fmt: skip
    """Find the state of rest into which a system settles.

    Parameters
    ----------
    model : System, Dynamics, str or path
        The system, a compiled one, or the name of a file.
    start : mapping, State, Assembly or Trajectory, optional
        Where the search begins; initial values by name replace the model's own.
    hold : joint or sequence of joints, default ()
        Joints that stay where they are; what they have to hold with is part of the result.
    t0 : float or text, optional
        Time in s at which laws are taken; that of the start.
    parameters, inputs : mapping, optional
        Values by name, in SI units or as text with a unit; nothing is compiled anew for them.

    Returns
    -------
    Equilibrium
        Without friction, which may hold the system elsewhere too.

    Examples
    --------
    >>> rest = kn.equilibrium("examples/elastic_system.yaml")
    >>> rest.stable, abs(rest.values["rail.q"]) < 1e-9
    (True, True)
    """
    found = find_model(model)
    dynamics = found if isinstance(found, Dynamics) else compile_system(found)
    p, given = read_row(dynamics, "p", parameters), read_row(dynamics, "inputs", inputs)
    begin = find_start(dynamics, start, None if t0 is None else read_seconds(dynamics, "t0", t0), p, given)
    held: set[int] = set()
    for name in [hold] if isinstance(hold, str) else hold:
        if name not in dynamics.topology.u_of:
            known = ", ".join(dynamics.topology.u_of)
            raise ArgumentError(f"hold: {short(name)} is no joint that moves by itself; these are: {known}")
        where = dynamics.topology.u_of[name]
        held |= set(range(where.start, where.stop))
    return solve_equilibrium(dynamics, begin, p, given, held)


def solve_equilibrium(dynamics: Dynamics, start: State, p: Any, inputs: Any, held: set[int]) -> Equilibrium:
    """The state of rest nearest to a start, in the sense that damped steps downhill reach it.

    Modes stay as they are while it is looked for; one that contradicts what was found is changed, and all begins anew.
    """
    start = off_rigid_ends(dynamics, start)
    search = _RestSearch(dynamics, start, p, inputs, held)
    state, residual = search.run()
    changes = 0
    while (wrong := find_misfit(dynamics.kernels, dynamics.point(state, p, inputs))) is not None:
        if (changes := changes + 1) > MODES:
            message = "changes its mode again and again: in none all rests; a simulation tells what it does"
            raise ModelError(message, component=wrong.owner)
        start = replace(start, z=with_mode(dynamics.point(start, p, inputs), wrong).z)
        search = _RestSearch(dynamics, start, p, inputs, held)
        state, residual = search.run()
    check_rigid_ends(dynamics, state, p)
    speeds = {c.name for c in dynamics.coordinates if c.role == "u"}
    values = {name: x for name, x in dynamics.values(state).items() if name not in speeds}
    holding = search.holding(state) if held else {}
    small = None if held else linearize_at(dynamics, state, p, inputs, anywhere=True)
    sticking = _find_sticking(dynamics, state, p, inputs)
    return Equilibrium(dynamics.system.name, state, values, residual, holding, small, sticking)


def _find_sticking(dynamics: Dynamics, state: State, p: Any, inputs: Any) -> tuple[str, ...]:
    """What rubs and could hold something: no stop, and no brake that is released."""
    locks = dynamics.snapshot(state, p, inputs).locking.locks if dynamics.topology.layout.discrete_of else []
    rubbing = (lock for lock in locks if lock.part != "stop" and (lock.takes is None or float(lock.takes(1.0)) > 0))
    return tuple(dict.fromkeys(lock.owner for lock in rubbing))


class _Undecided(Exception):
    """A position does not decide where other states rest."""


class _RestSearch:
    """Damped Newton steps on the forces of the independent coordinates."""

    def __init__(self, dynamics: Dynamics, start: State, p: Any, inputs: Any, held: set[int]) -> None:
        self.dynamics, self.p, self.inputs, self.held = dynamics, p, inputs, held
        steering = find_steering(dynamics.system)
        if steering:
            message = "acts at its samples alone: where it brings the system to rest, a simulation finds"
            raise ModelError(message, component=steering[0])
        self.kept: tuple[int, ...] = ()  # independent speeds of the step before
        self.begin = self.start = State(start.t, start.q, np.zeros(dynamics.n_u), start.z)
        rates = dynamics.rate(start.t, self.start.y, p=p, inputs=inputs)
        z_dot = dynamics.topology.layout.split(rates)[2]
        moving = [c.joint for c in dynamics.coordinates if c.role == "z" and z_dot[c.index] != 0]
        driven = [name for name in moving if name in dynamics.system.joints]
        if driven:
            raise ModelError("is driven at a speed: the system has no state of rest", component=driven[0])
        self.active = self._find_active()
        self.apart = True  # whether a position decides the other states
        settled = self.newton(self.start, moving=False)
        if settled is None:
            self.apart = False
        else:
            self.start = settled

    def _find_active(self) -> list[int]:
        """The other states that anything depends on, here or when all moves."""
        found: set[int] = set()
        rng = np.random.default_rng(0)
        at = self.start
        count = Slopes(self.dynamics, at, self.p, self.inputs).n_other  # modes stay as they are
        z = at.z + np.append(rng.uniform(-1, 1, count), np.zeros(len(at.z) - count))
        moving = State(at.t, at.q, rng.uniform(-1, 1, len(at.u)), z)
        for state in (at, moving):
            slopes = Slopes(self.dynamics, state, self.p, self.inputs)
            directions = np.zeros((count, slopes.topology.layout.n_y + len(slopes.topology.inputs)))
            slopes.topology.layout.split(directions)[2][:, :count] = np.eye(count)
            found |= set(np.flatnonzero(abs(slopes.slope(directions)).max(axis=1, initial=0.0)))
        return sorted(found)

    def rates(self, state: State) -> Array:
        """Rates of the other states that count."""
        found = self.dynamics.rate(state.t, state.y, p=self.p, inputs=self.inputs)
        return self.dynamics.topology.layout.split(found)[2][self.active]

    def newton(self, state: State, *, moving: bool) -> State | None:
        """Other states at rest, with positions where these may move; None where they are not decided."""
        if not self.active and not moving:
            return state
        for _ in range(STEPS):
            T = self.reduced(state)[1] if moving else np.zeros((self.dynamics.n_u, 0))

            def residual(there: State, T: Array = T) -> Array:
                return np.concatenate([T.T @ self.forces(there), self.rates(there)])

            r, J = residual(state), self._slopes(state, T, residual)
            rows = np.maximum(abs(J).max(axis=1), 1e-300)
            columns = np.maximum(abs(J / rows[:, None]).max(axis=0), 1e-300)
            scaled = J / rows[:, None] / columns
            if np.linalg.svd(scaled, compute_uv=False).min(initial=1.0) < SINGULAR:
                return None
            step = np.linalg.solve(scaled, -r / rows) / columns
            size = 1.0 + np.concatenate([np.zeros(T.shape[1]), abs(state.z[self.active])])
            if not np.all(np.isfinite(step)):
                return None
            if (abs(step) / size).max() < SETTLED:
                return state
            longest = abs(T @ step[: T.shape[1]]).max(initial=0.0)
            step = step * min(1.0, LONGEST / longest) if longest > 0 else step
            for _ in range(40):
                there = self._changed(state, T, step)
                if np.linalg.norm(residual(there) / rows) < np.linalg.norm(r / rows):
                    break
                step = step / 2
            else:
                return state if (abs(step) / size).max() < RESTS else None
            state = there
        return None

    def _slopes(self, state: State, T: Array, residual: Callable[[State], Array]) -> Array:
        """Change of a residual along each reduced coordinate and each other state, by central differences."""
        steps = np.concatenate([np.ones(T.shape[1]), 1.0 + abs(state.z[self.active])]) * DIFFERENCE
        columns = []
        for k, size in enumerate(steps):
            unit = np.eye(len(steps))[k] * size
            ahead, behind = (residual(self._changed(state, T, sign * unit, near=True)) for sign in (1, -1))
            columns.append((ahead - behind) / (2 * size))
        return np.array(columns).T

    def _changed(self, state: State, T: Array, step: Array, *, near: bool = False) -> State:
        z = state.z.copy()
        z[self.active] += step[T.shape[1] :]
        there = State(state.t, state.q, state.u, z)
        if not T.shape[1]:
            return there
        along = T @ step[: T.shape[1]]
        return self._near(there, along) if near else self._moved(there, along)

    def forces(self, state: State) -> Array:
        """Generalized forces at rest, of the tree; constraints not included."""
        t, q, z = state.t, state.q, state.z
        found: Array = -self.dynamics.bias(t, q, np.zeros(self.dynamics.n_u), z=z, p=self.p, inputs=self.inputs)
        return found

    def reduced(self, state: State) -> tuple[Array, Array]:
        """Forces along the independent coordinates that may move, and how these move all."""
        slopes = Slopes(self.dynamics, state, self.p, self.inputs, (*self.held, *self.kept))
        self.kept = tuple(slopes.kept)
        free = [i for i, k in enumerate(slopes.kept) if k not in self.held]
        T = slopes.follow[:, free]
        return T.T @ self.forces(state), T

    def holding(self, state: State) -> dict[str, float]:
        """What held freedoms have to give: against the work of all forces as the loops take the others along."""
        slopes = Slopes(self.dynamics, state, self.p, self.inputs, tuple(self.held))
        speeds = [c for c in self.dynamics.coordinates if c.role == "u"]
        idle = [speeds[k].joint for k in sorted(self.held) if k not in slopes.kept]
        if idle:
            beside = " and ".join(speeds[k].joint for k in slopes.kept if k in self.held)
            left = f"none beside {beside}" if beside else "none in this position"
            raise ArgumentError(f"hold: {idle[0]} has no freedom to hold: the loops leave {left}")
        work = slopes.follow.T @ self.forces(state)
        mine = [(speeds[k].name, i) for i, k in enumerate(slopes.kept) if k in self.held]
        return {name.replace(".u", ".effort", 1): -float(work[i]) for name, i in mine}

    def moved(self, state: State, step: Array) -> State:
        """The state a step further, with other states where they rest there."""
        return self._settled(self._moved(state, step))

    def _settled(self, state: State) -> State:
        found = self.newton(state, moving=False)
        if found is None:
            raise _Undecided
        return found

    def _moved(self, state: State, step: Array) -> State:
        q = self.dynamics.topology.advance_q(state.q, step)
        if self.dynamics.topology.constrained:
            mask = np.zeros(self.dynamics.n_u, dtype=bool)
            mask[list(self.held)] = True
            q = self.dynamics.loops.close(self.dynamics.point(replace(state, q=q), self.p, self.inputs), mask)
        return State(state.t, q, state.u, state.z)

    def stiffness(self, state: State, T: Array) -> Array:
        """Change of the reduced forces along each reduced coordinate, by central differences of exact forces."""
        step, columns = DIFFERENCE, []
        for direction in T.T:
            ahead, behind = (self.forces(self._settled(self._near(state, sign * step * direction))) for sign in (1, -1))
            columns.append(T.T @ (ahead - behind) / (2 * step))
        return np.array(columns).T if columns else np.zeros((0, 0))

    def _near(self, state: State, step: Array) -> State:
        return State(state.t, self.dynamics.topology.advance_q(state.q, step), state.u, state.z)

    def run(self) -> tuple[State, float]:
        """The state of rest, and what is left of the forces."""
        if not self.apart:
            return self._together(self.begin)
        state = self.start
        f, T = self.reduced(state)
        scale = max(self._scale(state), abs(f).max(initial=0.0), 1e-12)
        for _ in range(STEPS):
            size = float(abs(f).max(initial=0.0))
            if size <= RESTS * scale:
                return state, size / scale
            try:
                found = self._step(state, f, T)
            except _Undecided:
                return self._together(self.begin)
            if found is None:
                break
            state, f, T = found
        raise self._failure(f, T)

    def _together(self, state: State) -> tuple[State, float]:
        """Positions and other states at once."""
        found = self.newton(state, moving=True)
        if found is not None:
            f, _ = self.reduced(found)
            return found, float(abs(f).max(initial=0.0)) / max(self._scale(self.start), 1e-12)
        stuck = self._find_stuck(state)
        if stuck:
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
        """Parts that hold still by friction: what they take is as large as it has to be."""
        table, parts = self.dynamics.topology.events, self.dynamics.system.parts
        entries = () if table is None else table.roots
        mine = (x for x in entries if x.owner in parts and x.at >= 0 and not x.root.by_state)
        return [x.owner for x in mine if state.z[x.at] == x.root.value]

    def _step(self, state: State, f: Array, T: Array) -> tuple[State, Array, Array] | None:
        """One step the way the forces push, no longer than they do work; None where none is found."""
        K = self.stiffness(state, T)
        sizes, V = np.linalg.eigh(-(K + K.T) / 2)
        floor = max(abs(sizes).max(initial=0.0), abs(f).max()) * 1e-6
        newton = np.linalg.lstsq(-K, f, rcond=1e-9)[0] if sizes.min(initial=1.0) > floor else None
        step = V @ ((V.T @ f) / np.maximum(abs(sizes), floor)) if newton is None else newton
        longest = abs(T @ step).max(initial=0.0)
        step = step * min(1.0, LONGEST / longest) if longest > 0 else step
        for _ in range(40):
            try:
                there = self.moved(state, T @ step)
                found = self.reduced(there)
            except Error:
                step = step / 2
                continue
            # in a singular position of a loop there are more ways to move, and no work to compare
            if len(found[0]) == len(f):
                nearer = np.linalg.norm(found[0]) < 0.5 * np.linalg.norm(f)
                if nearer or (f + found[0]) @ step > 0:
                    return there, *found
            step = step / 2
        return None

    def _scale(self, state: State) -> float:
        """How large forces are here: the weight times lengths, or what acts at the start."""
        system = self.dynamics.system
        mass = sum(float(system.nominal(body.total_mass())) for body in system.bodies.values())
        gravity = max(abs(float(system.nominal(x))) for x in system.gravity)
        topology = self.dynamics.topology
        places = [X.p for X in topology.geometry(topology.tree, system.nominal).placements]
        length = max((float(abs(np.asarray(x, dtype=float)).max()) for x in places), default=0.0) or 1.0
        return float(max(mass * gravity * length, abs(self.forces(state)).max(initial=0.0)))

    def _failure(self, f: Array, T: Array) -> ModelError:
        names = [c.joint for c in self.dynamics.coordinates if c.role == "u"]
        push = T @ f
        worst = names[int(np.argmax(abs(push)))] if len(push) else self.dynamics.system.name
        left = float(abs(f).max(initial=0.0))
        message = (
            f"nothing balances it: no state of rest was found, and {left:.3g} N (or N m) is left along this joint;"
        )
        return ModelError(f"{message} hold it, or start elsewhere", component=worst)
