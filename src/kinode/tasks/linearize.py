"""Small motions about a state: ``kn.linearize``.

    x_dot = A x + B inputs,    outputs = C x + D inputs

x holds small changes of coordinates, speeds and other states.  The coordinates of a tree change along its speeds,
delta q = N delta, so that a quaternion counts as three small turns about the child's axes:

    N delta_dot = (J_qq N - N_dot) delta + J_qu delta u

Where loops are closed, an independent set of the tree's coordinates is kept; the others follow,

    G delta = 0,    G delta u + (d(G u)/dq) delta = 0

All derivatives are those of the compiled code and exact, but for d(G u)/dq in loops that move, a central difference.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, rate
from kinode.dynamics.compile import compile as compile_system
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.mode_fitting import fit_modes
from kinode.errors import ArgumentError
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.state import State
from kinode.model.quantity_names import QuantityName, find_quantity
from kinode.model.system import System
from kinode.model.system_checks import find_steering
from kinode.simulation.solver import find_start
from kinode.simulation.task_arguments import find_model, read_row, read_seconds

STEADY = 1e-6  # of the accelerations that the state's own forces make: what is less is none
DIFFERENCE = 1e-5


@dataclass(frozen=True, eq=False)
class Mode:
    """One way of moving: exp(eigenvalue t) times ``shape``, a complex amplitude for each state by name."""

    eigenvalue: complex
    shape: dict[str, complex]

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
        """The coordinates that move most, lengths and angles as they are."""
        moving = {name: abs(x) for name, x in self.shape.items() if ".u" not in name}
        top = max(moving.values(), default=0.0)
        ranked = sorted(moving, key=lambda name: -moving[name])
        return [name for name in ranked[:count] if moving[name] > 0.05 * top > 0.0]


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
    drift: Array  # x_dot at the state itself: zero for an equilibrium but for coordinates that do not matter
    held: tuple[str, ...] = ()  # sampled parts whose outputs act and stay as they are: loops through them are open

    @cached_property
    def eigenvalues(self) -> Array:
        """Of A, the fastest growing first."""
        return np.array([mode.eigenvalue for mode in self.modes])

    @cached_property
    def modes(self) -> list[Mode]:
        """All modes, the fastest growing first, each shape's largest entry 1."""
        values, vectors = np.linalg.eig(self.A) if len(self.A) else (np.empty(0), np.empty((0, 0)))
        found = []
        for k in np.lexsort((-values.imag, -values.real.round(9))):
            shape = vectors[:, k] / vectors[np.argmax(abs(vectors[:, k])), k]
            found.append(Mode(complex(values[k]), dict(zip(self.states, map(complex, shape), strict=True))))
        return found

    @property
    def stable(self) -> bool:
        """Whether no small motion grows, to the precision of eigenvalues that occur twice."""
        size = abs(self.A).max(initial=0.0)
        return bool(all(value.real <= 1e-6 * size for value in self.eigenvalues))

    def __str__(self) -> str:
        lines = [f"{self.name}, small motions about the state at t = {self.at.t:g} s: {len(self.states)} states"]
        lines.append(f"{'eigenvalue, 1/s':>28}  {'rad/s':>10}  {'damping':>8}  moving most")
        for mode in self.modes:
            if mode.eigenvalue.imag < 0:
                continue  # its partner is shown
            value = f"{mode.eigenvalue.real:.6g}"
            value += f" +- {mode.eigenvalue.imag:.6g}i" if mode.eigenvalue.imag else ""
            cells = f"{value:>28}  {mode.frequency:10.5g}  {mode.damping:8.3f}"
            lines.append(f"{cells}  {', '.join(mode.largest())}".rstrip())
        lines.append("stable" if self.stable else "unstable: small motions grow")
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
        With A, B, C, D, the names of states, inputs and outputs, ``modes`` and ``stable``.

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
    found = find_model(model)
    dynamics = found if isinstance(found, Dynamics) else compile_system(found)
    p, given = read_row(dynamics, "p", parameters), read_row(dynamics, "inputs", inputs)
    at = getattr(at, "state", at)
    begin = find_start(dynamics, at, None if t0 is None else read_seconds(dynamics, "t0", t0), p, given)
    names = [outputs] if isinstance(outputs, str) else list(outputs)
    fitted = fit_modes(dynamics.kernels, dynamics.point(begin, p, given))
    return linearize_at(dynamics, replace(begin, z=fitted.z), p, given, names, anywhere=anywhere)


def linearize_at(
    dynamics: Dynamics, at: State, p: Any, inputs: Any, outputs: Sequence[str] = (), *, anywhere: bool = False
) -> Linearization:
    """The linear system about a state; one that is not steady is refused unless it may be ``anywhere``."""
    slopes = Slopes(dynamics, at, p, inputs)
    found = slopes.linearization(outputs)
    if not anywhere:
        slopes.check_steady(found)
    return found


class Slopes:
    """Derivatives of the rate at a state, in independent small changes."""

    def __init__(self, dynamics: Dynamics, at: State, p: Any, inputs: Any, first: Sequence[int] = ()) -> None:
        """``first`` are speeds that are kept if they can be."""
        self.dynamics, self.at, self.p, self.inputs, self.first = dynamics, at, p, inputs, first
        self.topology = dynamics.topology
        self.n_q, self.n_u, self.n_z = dynamics.n_q, dynamics.n_u, dynamics.n_z
        self.n_other = self.n_z - (self.topology.events.n_held if self.topology.events else 0)  # modes stay as they are

    @cached_property
    def N(self) -> Array:
        """How q changes for small changes along the speeds."""
        return self._along(lambda joint, q, unit: joint.rate_map(q, unit))

    @cached_property
    def N_dot(self) -> Array:
        """Its rate as the state moves."""
        moving = self.N @ self.at.u
        return self._along(
            lambda joint, q, unit, where: rate(lambda x: joint.rate_map(x, unit), q, moving[where]), True
        )

    def _along(self, column: Any, placed: bool = False) -> Array:
        found = np.zeros((self.n_q, self.n_u))
        for name, where in self.topology.q_of.items():
            joint, speeds, q = self.dynamics.system.joints[name], self.topology.u_of[name], self.at.q[where]
            for k in range(joint.n_u):
                more = (where,) if placed else ()
                found[where, speeds.start + k] = column(joint, q, np.eye(joint.n_u)[k], *more)
        return found

    def slope(self, directions: Array, names: tuple[str, ...] = ()) -> Array:
        """Changes of the rate (or of quantities) along directions of [q, u, z, inputs], one a row."""
        count = len(directions)
        q, u, z = (np.broadcast_to(x, (count, len(x))) for x in (self.at.q, self.at.u, self.at.z))
        kernel = Kernel("slope", names)
        if not count:
            return np.zeros((0, self.dynamics.kernels.machine(kernel).sizes["out"]))
        point = self.dynamics.point(State(self.at.t, q, u, z), self.p, self.inputs)
        return self.dynamics.kernels.call(kernel, point, directions)

    # -- independent changes -----------------------------------------------------------------------
    @cached_property
    def kept(self) -> list[int]:
        """Speeds of the tree whose coordinates are independent: all, or those that the loops leave."""
        if not self.topology.constrained:
            return list(range(self.n_u))
        _, sizes, V = np.linalg.svd(self._jacobian)
        rank = int((sizes > 1e-8 * sizes.max(initial=0.0)).sum())
        return sorted(_pivots(V[rank:], self.first))

    @cached_property
    def _jacobian(self) -> Array:
        return self.dynamics.loops.evaluate(self.dynamics.point(self.at, self.p, self.inputs))[1]

    @cached_property
    def follow(self) -> Array:
        """All changes of the tree's coordinates for unit changes of those that are kept."""
        T = np.zeros((self.n_u, len(self.kept)))
        T[self.kept] = np.eye(len(self.kept))
        left = [k for k in range(self.n_u) if k not in self.kept]
        if left:
            G = self._jacobian
            T[left] = -np.linalg.lstsq(G[:, left], G[:, self.kept], rcond=1e-10)[0]
        return T

    @cached_property
    def turned(self) -> Array:
        """How speeds change along with positions so that loops stay closed, for unit changes of what is kept."""
        found = np.zeros((self.n_u, len(self.kept)))
        left = [k for k in range(self.n_u) if k not in self.kept]
        if not left or not self.at.u.any():
            return found
        change = [
            (self._drift(DIFFERENCE * d) - self._drift(-DIFFERENCE * d)) / (2 * DIFFERENCE) for d in self.follow.T
        ]
        found[left] = -np.linalg.lstsq(self._jacobian[:, left], np.array(change).T, rcond=1e-10)[0]
        return found

    def _drift(self, step: Array) -> Array:
        moved = replace(self.at, q=self.topology.advance_q(self.at.q, step))
        return self.dynamics.loops.evaluate(self.dynamics.point(moved, self.p, self.inputs))[2]

    @cached_property
    def basis(self) -> Array:
        """Changes of [q, u, z, inputs] for unit entries of x and of inputs, one a row."""
        k, m, layout = len(self.kept), len(self.topology.inputs), self.topology.layout
        changes = np.zeros((2 * k + self.n_other + m, layout.n_y + m))
        q, u, rest = layout.split(changes)
        q[:k] = (self.N @ self.follow).T
        u[:k], u[k : 2 * k] = self.turned.T, self.follow.T
        rest[2 * k : 2 * k + self.n_other, : self.n_other] = np.eye(self.n_other)
        rest[2 * k + self.n_other :, self.n_z :] = np.eye(m)
        return changes

    def linearization(self, outputs: Sequence[str]) -> Linearization:
        """A, B, C, D."""
        k = len(self.kept)
        n, (J_q, J_u, J_z) = 2 * k + self.n_other, self.topology.layout.split(self.slope(self.basis))
        back = np.linalg.pinv(self.N)
        turning = J_q.copy()
        turning[:k] -= (self.N_dot @ self.follow).T
        rows = np.hstack([(turning @ back.T)[:, self.kept], J_u[:, self.kept], J_z[:, : self.n_other]])
        names = tuple(outputs)
        parts = [part for name in names for part in _parts(find_quantity(self.dynamics.system, name))]
        seen = self.slope(self.basis, names).T if names else np.zeros((0, len(self.basis)))
        return Linearization(
            self.dynamics.system.name, self.at, rows[:n].T, rows[n:].T, seen[:, :n], seen[:, n:],
            self._states(), tuple(self.topology.inputs), tuple(parts), self._drifts(),
            find_steering(self.dynamics.system),
        )  # fmt: skip

    def _states(self) -> tuple[str, ...]:
        speeds = [c.name for c in self.topology.coordinates if c.role == "u"]
        kept = [speeds[k] for k in self.kept]
        other = [c.name for c in self.topology.coordinates if c.role == "z" and c.index < self.n_other]
        return (*(name.replace(".u", ".q", 1) for name in kept), *kept, *other)

    def _drifts(self) -> Array:
        at = self.at
        y_dot = self.dynamics.rate(at.t, at.y, p=self.p, inputs=self.inputs)
        _, u_dot, z_dot = self.topology.layout.split(y_dot)
        return np.concatenate([at.u[self.kept], u_dot[self.kept], z_dot[: self.n_other]])

    # -- steady motion -----------------------------------------------------------------------------
    def check_steady(self, found: Linearization) -> None:
        """Refuse a state whose speeds change, now or as it moves on."""
        k = len(self.kept)
        forced = replace(self.at, u=np.zeros(self.n_u))
        still = self.dynamics.acceleration(forced.t, forced.q, forced.u, z=forced.z, p=self.p, inputs=self.inputs)
        scale = max(abs(still).max(initial=0.0), abs(found.A[k:]).max(initial=0.0), 1.0)
        names = found.states[k:]
        moving = [(abs(x), name) for x, name in zip(found.drift[k : 2 * k], names, strict=False)]
        worst = max(moving, default=(0.0, ""))
        if worst[0] > STEADY * scale:
            raise ArgumentError(
                f"linearize: the state is not steady: {worst[1]} changes by {worst[0]:.3g} a second; kn.equilibrium "
                f"finds one that is, anywhere=True linearizes all the same"
            )
        onward = found.A @ np.concatenate([found.drift[:k], np.zeros(k), found.drift[2 * k :]])
        worst = max(zip(abs(onward[k:]), names, strict=True), default=(0.0, ""))
        if worst[0] > STEADY * scale * max(1.0, abs(found.drift).max(initial=0.0)):
            raise ArgumentError(
                f"linearize: the motion is not steady: as it goes on, {worst[1]} would not stay as it is; "
                f"anywhere=True linearizes all the same"
            )


def _pivots(T: Array, first: Sequence[int]) -> list[int]:
    """Columns of T that are independent, the largest first: elimination with column pivoting."""
    left, found = T.copy(), []
    for _ in range(len(T)):
        sizes = np.linalg.norm(left, axis=0)
        early = [j for j in first if sizes[j] > 1e-3 and j not in found]
        j = early[0] if early else int(np.argmax(sizes))
        found.append(j)
        direction = left[:, j] / sizes[j]
        left -= np.outer(direction, direction @ left)
    return found


def _parts(name: QuantityName) -> list[str]:
    """The names of the numbers of a quantity: one of its parts is one number."""
    head, at, axes = name.text.partition("@")
    return [f"{head}.{part}{at}{axes}" for part in name.parts] if name.size else [name.text]
