"""Small motions about a state: ``kn.linearize``.

    x_dot = A x + B inputs,    outputs = C x + D inputs

x holds small changes of coordinates, speeds and other states.  The coordinates of a tree change along its speeds,
delta q = N delta, so that a quaternion counts as three small rotations about the child's axes:

    N delta_dot = (J_qq N - N_dot) delta + J_qu delta u

In a mechanism with loops, x holds an independent set of the tree's coordinates.  The others follow from

    G delta = 0,    G delta u + (d(G u)/dq) delta = 0

All derivatives come from the compiled code and are exact.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, rate
from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.derivative_calls.derivative_blocks import Derivatives
from kinode.dynamics.mode_fitting import fit_modes
from kinode.errors import ArgumentError
from kinode.kernels.state import State
from kinode.model.quantity_names import QuantityName, find_quantity
from kinode.model.system import System
from kinode.model.system_checks import find_steering
from kinode.simulation.task_arguments import find_model, read_row, read_seconds
from kinode.tasks.stability import SmallMotion, Stability, close_loops, judge
from kinode.tasks.start_argument import find_start

STEADY_TOLERANCE = 1e-6  # acceleration of a steady motion, relative to that of the same position at rest
SMALL_AMPLITUDE = 0.05  # of the largest coordinate in a mode: below, a coordinate is not named
RANK_TOLERANCE = 1e-8  # relative singular value below which constraint rows depend on each other
LSTSQ_CUTOFF = 1e-10  # relative singular value that least squares leaves out
PREFERRED_PIVOT = 1e-3  # smallest column with which a preferred coordinate is chosen as independent


@dataclass(frozen=True, eq=False)
class Mode:
    """A mode of vibration: exp(eigenvalue t) times ``shape``, a complex amplitude for each state by name."""

    eigenvalue: complex
    shape: dict[str, complex]
    speeds: frozenset[str] = frozenset()  # the states that are speeds

    @property
    def frequency(self) -> float:
        """Angular frequency of the oscillation, rad/s."""
        return abs(self.eigenvalue.imag)

    @property
    def damping(self) -> float:
        """Damping ratio: 1 without oscillation, negative where it grows."""
        size = abs(self.eigenvalue)
        return -self.eigenvalue.real / size if size else 0.0

    def largest(self, count: int = 2) -> list[str]:
        """The states with the largest amplitudes, speeds left out; m and rad are compared as numbers."""
        amplitudes = {name: abs(x) for name, x in self.shape.items() if name not in self.speeds}
        top = max(amplitudes.values(), default=0.0)
        ranked = sorted(amplitudes, key=lambda name: -amplitudes[name])
        return [name for name in ranked[:count] if amplitudes[name] > SMALL_AMPLITUDE * top > 0.0]


@dataclass(frozen=True, eq=False)
class Linearization:
    """x_dot = A x + B inputs, outputs = C x + D inputs about ``at``; ``states`` names the entries of x."""

    name: str
    at: State
    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    drift: Array  # x_dot at the state itself: zero in an equilibrium, except for coordinates without influence
    held: tuple[str, ...] = ()  # sampled components: their outputs stay constant, and control loops are open there
    speeds: frozenset[str] = frozenset()  # the states that are speeds
    stability: Stability = Stability.UNDECIDED

    @cached_property
    def eigenvalues(self) -> Array:
        """Of A, the fastest growing first."""
        return np.array([mode.eigenvalue for mode in self.modes])

    @cached_property
    def modes(self) -> list[Mode]:
        """All modes, the fastest growing first, each shape's largest entry 1."""
        values, vectors = np.linalg.eig(self.A) if len(self.A) else (np.empty(0), np.empty((0, 0)))
        modes = []
        for k in np.lexsort((-values.imag, -values.real.round(9))):
            shape = vectors[:, k] / vectors[np.argmax(abs(vectors[:, k])), k]
            by_state = dict(zip(self.states, map(complex, shape), strict=True))
            modes.append(Mode(complex(values[k]), by_state, self.speeds))
        return modes

    @property
    def stable(self) -> bool | None:
        """Whether no small motion grows, stable or neutral; None where linear theory cannot tell (``stability``)."""
        decided = self.stability is not Stability.UNDECIDED
        return self.stability is not Stability.UNSTABLE if decided else None

    def __str__(self) -> str:
        lines = [f"{self.name}, small motions about the state at t = {self.at.t:g} s: {len(self.states)} states"]
        lines.append(f"{'eigenvalue, 1/s':>28}  {'rad/s':>10}  {'damping':>8}  moving most")
        for mode in self.modes:
            if mode.eigenvalue.imag < 0:
                continue  # its complex conjugate is shown
            value = f"{mode.eigenvalue.real:.6g}"
            value += f" +- {mode.eigenvalue.imag:.6g}i" if mode.eigenvalue.imag else ""
            cells = f"{value:>28}  {mode.frequency:10.5g}  {mode.damping:8.3f}"
            lines.append(f"{cells}  {', '.join(mode.largest())}".rstrip())
        stable = self.stability is Stability.STABLE
        lines.append(self.stability.word if stable else f"{self.stability.word}: {self.stability.meaning}")
        if self.held:
            lines.append(f"between samples: {', '.join(self.held)} hold their outputs, and loops through them are open")
        return "\n".join(lines)


def linearize(
    model: System | Dynamics | str | os.PathLike[str], at: Any = None, *, outputs: Sequence[str] | str = (),
    t0: Any = None, parameters: Any = None, inputs: Any = None, anywhere: bool = False,
) -> Linearization:  # fmt: skip
    """Find the linear system of small motions about a state: x_dot = A x + B inputs, outputs = C x + D inputs.

    Parameters
    ----------
    model : System, Dynamics, str or path
        The system, a compiled one, or the name of a file.
    at : mapping, State, Equilibrium, Assembly or Trajectory, optional
        The state: values by name, or the end of a run; left out, the model's start.
    outputs : str or sequence of str, default ()
        Names of quantities.
    t0 : float or text, optional
        Time in s at which laws are taken.
    parameters, inputs : mapping, optional
        Values by name, in SI units or as text with a unit; nothing is compiled anew for them.
    anywhere : bool, default False
        Whether a state is accepted that is not steady.  A steady motion is at rest, or nothing changes in it but
        coordinates without influence, such as the angle of a shaft that turns evenly.

    Returns
    -------
    Linearization
        With A, B, C, D, the names of states, inputs and outputs, ``modes``, ``stability`` and ``stable``.

    Raises
    ------
    ArgumentError
        The motion is not steady.

    Examples
    --------
    >>> rest = kn.equilibrium("examples/elastic_system.yaml")
    >>> kn.linearize("examples/elastic_system.yaml", rest).states
    ('rail.q', 'hinge.q', 'rail.u', 'hinge.u')
    """
    model = find_model(model)
    dynamics = model if isinstance(model, Dynamics) else find_compiled(model)
    p, given = read_row(dynamics, "p", parameters), read_row(dynamics, "inputs", inputs)
    begin = find_start(dynamics, at, None if t0 is None else read_seconds(dynamics, "t0", t0), p, given)
    names = [outputs] if isinstance(outputs, str) else list(outputs)
    return linearize_at(dynamics, fitted_state(dynamics, begin, p, given), p, given, names, anywhere=anywhere)


def fitted_state(dynamics: Dynamics, state: State, p: Any, inputs: Any) -> State:
    """A state with the modes of its components fitted to it."""
    return replace(state, z=fit_modes(dynamics.kernels, dynamics.point(state, p, inputs)).z)


def linearize_at(
    dynamics: Dynamics, at: State, p: Any, inputs: Any, outputs: Sequence[str] = (), *, anywhere: bool = False
) -> Linearization:
    """The linear system about a state; a state that is not steady is refused unless ``anywhere``."""
    slopes = Slopes(dynamics, at, p, inputs)
    linear = slopes.linearization(outputs)
    if not anywhere:
        slopes.check_steady(linear)
    return linear


class Slopes:
    """Derivatives of y_dot at a state, with respect to independent small changes."""

    def __init__(self, dynamics: Dynamics, at: State, p: Any, inputs: Any, preferred: Sequence[int] = ()) -> None:
        """``preferred`` are indices of speeds to choose as independent where the loops allow it."""
        self.dynamics, self.at, self.p, self.inputs, self.preferred = dynamics, at, p, inputs, preferred
        self.topology = dynamics.topology
        self.n_q, self.n_u, self.n_z = dynamics.n_q, dynamics.n_u, dynamics.n_z
        n_discrete = self.topology.events.n_held if self.topology.events else 0
        self.n_other = self.n_z - n_discrete  # discrete states do not change

    @cached_property
    def N(self) -> Array:
        """q_dot = N u, shape (n_q, n_u)."""
        return self._by_joints(lambda joint, q, unit: joint.rate_map(q, unit))

    @cached_property
    def N_dot(self) -> Array:
        """Time derivative of N at the speeds of the state."""
        q_dot = self.N @ self.at.u
        return self._by_joints(
            lambda joint, q, unit, where: rate(lambda x: joint.rate_map(x, unit), q, q_dot[where]), with_slice=True
        )

    def _by_joints(self, column: Any, with_slice: bool = False) -> Array:
        """A matrix of shape (n_q, n_u) whose column of each speed has entries for the joint's own coordinates only."""
        matrix = np.zeros((self.n_q, self.n_u))
        for name, where in self.topology.q_of.items():
            joint, speeds, q = self.dynamics.system.joints[name], self.topology.u_of[name], self.at.q[where]
            for k in range(joint.n_u):
                more = (where,) if with_slice else ()
                matrix[where, speeds.start + k] = column(joint, q, np.eye(joint.n_u)[k], *more)
        return matrix

    def slope(self, directions: Array, names: tuple[str, ...] = ("rate",)) -> Array:
        """Derivatives of y_dot, or of named quantities, along directions of [q, u, z, inputs]; a row for each."""
        slopes: Array = directions @ self._derivatives(names, ("coordinates", "u", "z", "inputs")).matrix.T
        return slopes

    def _derivatives(self, names: tuple[str, ...], by: tuple[str, ...]) -> Derivatives:
        at = self.at
        return self.dynamics.derivatives(
            at.t, at.q, at.u, of=names, by=by, z=at.z, p=self.p, inputs=self.inputs
        )  # fmt: skip

    # -- independent changes -----------------------------------------------------------------------
    @cached_property
    def independent(self) -> list[int]:
        """Indices of independent speeds of the tree: all, or as many as the loops leave free."""
        if not self.topology.constrained:
            return list(range(self.n_u))
        _, sizes, V = np.linalg.svd(self._jacobian)
        rank = int((sizes > RANK_TOLERANCE * sizes.max(initial=0.0)).sum())
        return sorted(_pivots(V[rank:], self.preferred))

    @cached_property
    def _jacobian(self) -> Array:
        return self.dynamics.loops.evaluate(self.dynamics.point(self.at, self.p, self.inputs))[1]

    @cached_property
    def follow(self) -> Array:
        """T, shape (n_u, n_independent): changes of all coordinates for unit changes of the independent ones."""
        T = np.zeros((self.n_u, len(self.independent)))
        T[self.independent] = np.eye(len(self.independent))
        dependent = [k for k in range(self.n_u) if k not in self.independent]
        if dependent:
            G = self._jacobian
            T[dependent] = -np.linalg.lstsq(G[:, dependent], G[:, self.independent], rcond=LSTSQ_CUTOFF)[0]
        return T

    @cached_property
    def speed_changes(self) -> Array:
        """Changes of u that keep the loop constraints G u = 0 for unit changes of the independent coordinates."""
        changes = np.zeros((self.n_u, len(self.independent)))
        dependent = [k for k in range(self.n_u) if k not in self.independent]
        if not dependent or not self.at.u.any():
            return changes
        scale = self.dynamics.loops.scale
        change = self._derivatives(("closure_rates",), ("q",))["q"] @ self.follow / scale[:, None]
        changes[dependent] = -np.linalg.lstsq(self._jacobian[:, dependent], change, rcond=LSTSQ_CUTOFF)[0]
        return changes

    @cached_property
    def basis(self) -> Array:
        """Changes of [q, u, z, inputs] for unit entries of x and of inputs; a row for each."""
        n_independent, n_inputs, layout = len(self.independent), len(self.topology.inputs), self.topology.layout
        changes = np.zeros((2 * n_independent + self.n_other + n_inputs, layout.n_y + n_inputs))
        q, u, rest = layout.split(changes)
        q[:n_independent] = (self.N @ self.follow).T
        u[:n_independent], u[n_independent : 2 * n_independent] = self.speed_changes.T, self.follow.T
        rest[2 * n_independent : 2 * n_independent + self.n_other, : self.n_other] = np.eye(self.n_other)
        rest[2 * n_independent + self.n_other :, self.n_z :] = np.eye(n_inputs)
        return changes

    def linearization(self, outputs: Sequence[str]) -> Linearization:
        """The linear system with its matrices A, B, C, D."""
        k = len(self.independent)
        n, (J_q, J_u, J_z) = 2 * k + self.n_other, self.topology.layout.split(self.slope(self.basis))
        N_inverse = np.linalg.pinv(self.N)
        J_q = J_q.copy()
        J_q[:k] -= (self.N_dot @ self.follow).T
        rows = np.hstack([(J_q @ N_inverse.T)[:, self.independent], J_u[:, self.independent], J_z[:, : self.n_other]])
        states, names = self._states(), tuple(outputs)
        parts = [part for name in names for part in _parts(find_quantity(self.dynamics.system, name))]
        output_slopes = self.slope(self.basis, names).T if names else np.zeros((0, len(self.basis)))
        motion = SmallMotion(rows[:n].T, self.dynamics, self.at, self.p, self.inputs, k, self.displaced)
        return Linearization(
            self.dynamics.system.name, self.at, rows[:n].T, rows[n:].T,
            output_slopes[:, :n], output_slopes[:, n:],
            states, tuple(self.topology.inputs), tuple(parts), self._drift(),
            find_steering(self.dynamics.system), frozenset(states[k : 2 * k]), judge(motion),
        )  # fmt: skip

    def displaced(self, x: Array) -> State:
        """The state after a finite change x of independent coordinates, speeds and other states."""
        k, at = len(self.independent), self.at
        z = at.z.copy()
        z[: self.n_other] += x[2 * k :]
        u = at.u + self.speed_changes @ x[:k] + self.follow @ x[k : 2 * k]
        q = self.topology.advance_q(at.q, self.follow @ x[:k])
        return close_loops(self.dynamics, replace(at, q=q, u=u, z=z), self.p, self.inputs)

    def _states(self) -> tuple[str, ...]:
        """Names of the entries of x: independent coordinates, their speeds, other states."""
        speeds = [c for c in self.topology.coordinates if c.role == "u"]
        chosen = [speeds[k] for k in self.independent]
        other = [c.name for c in self.topology.coordinates if c.role == "z" and c.index < self.n_other]
        return (*(f"{speed.joint}.q{speed.suffix}" for speed in chosen), *(speed.name for speed in chosen), *other)

    def _drift(self) -> Array:
        """x_dot at the state."""
        at = self.at
        y_dot = self.dynamics.rate(at.t, at.y, p=self.p, inputs=self.inputs)
        _, u_dot, z_dot = self.topology.layout.split(y_dot)
        return np.concatenate([at.u[self.independent], u_dot[self.independent], z_dot[: self.n_other]])

    # -- steady motion -----------------------------------------------------------------------------
    def check_steady(self, linear: Linearization) -> None:
        """Refuse a state whose speeds change, at this instant or an instant later."""
        k = len(self.independent)
        at_rest = replace(self.at, u=np.zeros(self.n_u))
        accelerations = self.dynamics.acceleration(
            at_rest.t, at_rest.q, at_rest.u, z=at_rest.z, p=self.p, inputs=self.inputs
        )
        scale = max(abs(accelerations).max(initial=0.0), abs(linear.A[k:]).max(initial=0.0), 1.0)
        names = linear.states[k:]
        changes = [(abs(x), name) for x, name in zip(linear.drift[k : 2 * k], names, strict=False)]
        worst = max(changes, default=(0.0, ""))
        if worst[0] > STEADY_TOLERANCE * scale:
            raise ArgumentError(
                f"linearize: the state is not steady: {worst[1]} changes by {worst[0]:.3g} a second; kn.equilibrium "
                f"finds one that is, anywhere=True linearizes all the same"
            )
        later = linear.A @ np.concatenate([linear.drift[:k], np.zeros(k), linear.drift[2 * k :]])
        worst = max(zip(abs(later[k:]), names, strict=True), default=(0.0, ""))
        if worst[0] > STEADY_TOLERANCE * scale * max(1.0, abs(linear.drift).max(initial=0.0)):
            raise ArgumentError(
                f"linearize: the motion is not steady: as it goes on, {worst[1]} would not stay as it is; "
                f"anywhere=True linearizes all the same"
            )


def _pivots(T: Array, preferred: Sequence[int]) -> list[int]:
    """Indices of independent columns of T, by elimination with column pivoting: preferred columns, then the largest."""
    rest, pivots = T.copy(), []
    for _ in range(len(T)):
        sizes = np.linalg.norm(rest, axis=0)
        candidates = [j for j in preferred if sizes[j] > PREFERRED_PIVOT and j not in pivots]
        j = candidates[0] if candidates else int(np.argmax(sizes))
        pivots.append(j)
        direction = rest[:, j] / sizes[j]
        rest -= np.outer(direction, direction @ rest)
    return pivots


def _parts(name: QuantityName) -> list[str]:
    """Names of the numbers of a quantity: one name for each component of a vector."""
    head, at, axes = name.text.partition("@")
    return [f"{head}.{part}{at}{axes}" for part in name.parts] if name.size else [name.text]
