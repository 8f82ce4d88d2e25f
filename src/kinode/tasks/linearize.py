"""Small motions about a state, and whether they are stable: ``kn.linearize``.

    x_dot = A x + B inputs,    outputs = C x + D inputs

x holds small changes of coordinates, speeds and other states.  The coordinates of a tree change along its speeds,
delta q = N delta, so that a quaternion counts as three small rotations about the child's axes:

    N delta_dot = (J_qq N - N_dot) delta + J_qu delta u

In a mechanism with loops, x holds an independent set of the tree's coordinates.  The others follow from

    G delta = 0,    G delta u + (d(G u)/dq) delta = 0

All derivatives come from the compiled code and are exact.

A positive real part of an eigenvalue decides: unstable.  If all are negative, every small motion dies out: stable.
Eigenvalues on the imaginary axis decide nothing by themselves:

- Oscillations that neither grow nor die out are neutral, unless the energy decides: at rest, with no causes of energy
  but damping, a positive definite stiffness makes the energy a minimum, and the position is stable (Lagrange,
  Dirichlet).
- An eigenvalue of zero is neutral if the system, displaced by a finite amount along the eigenvector, is steady again
  there or close to it: a balanced wheel, a cart on a level track, a disc that rolls upright in another direction.
  Otherwise higher orders decide, as of a force -x^3: undecided.

The real part is compared with the accuracy of its eigenvalue in the balanced matrix: eps |A| / |y' x| for unit left and
right eigenvectors y and x, much more for double eigenvalues.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, rate
from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.derivatives.derivative_request import Derivatives
from kinode.dynamics.mode_fitting import fit_modes
from kinode.errors import ArgumentError, Error
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.state import State
from kinode.model.quantities import QuantityName, find_quantity
from kinode.model.system import System
from kinode.model.system_checks import find_steering
from kinode.multibody.power import find_causes
from kinode.sheets.tables import Sheet, Shown, Table
from kinode.simulation.run_arguments import find_model, read_row, read_seconds
from kinode.tasks.start_argument import find_start
from kinode.tasks.steady_motion import find_steady

ENTRY_ACCURACY = 1e-9  # of A, relative to its norm: differences in moving loops
LARGEST_ERROR = 1e-4  # of an eigenvalue, relative to the norm of A: that of double ones in moving loops
NULL_TOLERANCE = 1e-9  # singular value of the balanced A that counts as zero, relative to its norm
DISPLACEMENTS = (0.03, -0.03, 0.1, -0.1)  # rad or m, along eigenvectors of zero
STEADY_CHANGE = 1e-8  # change of accelerations by a displacement, relative to the norm of A times the displacement
CORRECTIONS = 20  # simplified Newton steps from a displacement to the steady motion next to it
CLOSING_STEPS = 20  # projections that close the loops after a displacement


class Stability(Enum):
    """The verdict on small motions, with its meaning."""

    STABLE = ("stable", "small motions stay small")
    NEUTRAL = ("neutral", "small motions neither grow nor die out")
    UNDECIDED = ("undecided", "linear theory cannot tell: higher orders decide")
    UNSTABLE = ("unstable", "small motions grow")

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return self.value[0]

    @property
    def meaning(self) -> str:
        """The verdict in words."""
        return self.value[1]


def judge(slopes: Slopes, whole: Array) -> Stability:
    """The verdict on small motions about a steady state, from the whole matrix A."""
    acting = _find_acting(slopes, whole)
    A = whole[np.ix_(acting, acting)]
    if not len(A):
        return Stability.STABLE
    from scipy.linalg import eig, matrix_balance

    balanced, scaling = matrix_balance(A, permute=False)
    size = float(np.abs(balanced).sum(axis=1).max())
    values, left, right = eig(balanced, left=True, right=True)
    with np.errstate(divide="ignore"):
        errors = ENTRY_ACCURACY * size / np.abs(np.sum(left.conj() * right, axis=0))
    errors = np.minimum(errors, LARGEST_ERROR * size)
    if (values.real > errors).any():
        return Stability.UNSTABLE
    critical = values.real >= -errors
    if not critical.any():
        return Stability.STABLE
    zeros = critical & (np.abs(values) <= errors)
    if zeros.any():
        changes = np.zeros((len(null := _null_space(balanced, size)), len(whole)))
        changes[:, acting] = null @ scaling.T
        stays = len(null) and all(_stays(slopes, whole, x, size) for x in changes)
        return Stability.NEUTRAL if stays else Stability.UNDECIDED
    return Stability.STABLE if _has_least_energy(slopes, whole, len(acting)) else Stability.NEUTRAL


def _find_acting(slopes: Slopes, A: Array) -> list[int]:
    """The states without those that only record, such as the charge drawn from a battery: nothing depends on them."""
    acting, n = list(range(len(A))), sum(slopes.sizes[:2])
    while True:
        recording = [k for k in acting if k >= n and not A[acting, k].any()]
        if not recording:
            return acting
        acting = [k for k in acting if k not in recording]


def _null_space(A: Array, size: float) -> Array:
    """Unit vectors x with A x = 0, one in each row."""
    _, sizes, V = np.linalg.svd(A)
    return np.asarray(V[sizes <= NULL_TOLERANCE * size])


def _stays(slopes: Slopes, A: Array, x: Array, size: float) -> bool:
    """Whether the system is steady again after finite displacements along x, corrected to higher order."""
    k, largest = slopes.sizes[0], float(np.abs(x).max())
    try:
        for length in DISPLACEMENTS:
            displacement, limit = x * (length / largest), STEADY_CHANGE * max(size, 1.0) * abs(length)
            for _ in range(CORRECTIONS):
                change = slopes.apart(slopes.displaced(displacement))
                if not np.abs(change).max(initial=0.0) > limit:
                    break
                displacement = displacement - np.linalg.lstsq(A, change, rcond=NULL_TOLERANCE)[0]
            if not np.abs(change[k:]).max(initial=0.0) <= limit:
                return False
    except Error:  # a displacement that a law or a table refuses
        return False
    return True


def _has_least_energy(slopes: Slopes, A: Array, n_acting: int) -> bool:
    """Whether the state is at rest at a strict minimum of the energy, which only damping changes."""
    n, n_speeds, _ = slopes.sizes
    damped = all(cause.endswith(".damping") for cause in find_causes(slopes.topology))
    if slopes.at.u.any() or n_speeds != n or n_acting != 2 * n or not damped:
        return False
    squares = np.linalg.eigvals(-A[n:, :n])  # of the frequencies without damping
    return bool((squares.real > 0.0).all())


def close_loops(dynamics: Dynamics, state: State, p: Array, inputs: Array) -> State:
    """The state with its loops closed, next to one where they are nearly closed."""
    if not dynamics.topology.constrained:
        return state
    layout, still = dynamics.topology.layout, np.zeros(dynamics.n_u)
    for _ in range(CLOSING_STEPS):
        point = dynamics.point_of(state.t, state.y, p, inputs)
        q, u, z = layout.split(np.asarray(dynamics.kernels.call(Kernel("projection"), point)[:-1]))
        state = replace(state, q=dynamics.topology.advance_q(q, still), u=u, z=z)  # quaternions of unit length
    return state


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
class Linearization(Shown):
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
    axes: dict[str, Array] = field(default_factory=dict)  # of joints in other axes: their speeds against those of u
    changing: tuple[str, ...] = ()  # inputs and outputs whose entries in B, C, D are those of this instant alone

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

    @property
    def sheet(self) -> Sheet:
        where = f", small motions about the state at t = {self.at.t:g} s: {len(self.states)} states"
        lines = list[Table | str]([modes_table(self.modes)])
        stable = self.stability is Stability.STABLE
        lines.append(self.stability.word if stable else f"{self.stability.word}: {self.stability.meaning}")
        for name, speeds in self.axes.items():
            turn = ", ".join(f"{x:.6g}" for x in speeds[-3:].round(6) + 0.0)
            lines.append(f"small motions of {name} are along axes that turn with ({turn}) rad/s against those of its u")
        if self.changing:
            lines.append(f"of this instant alone in B, C, D: {', '.join(self.changing)}, which other axes would need")
        if self.held:
            lines.append(f"between samples: {', '.join(self.held)} hold their outputs, and loops through them are open")
        return Sheet(self.name, where, lines)


def modes_table(modes: Iterable[Mode]) -> Table:
    """Eigenvalue, frequency, damping and largest states of modes; of a conjugate pair the first."""
    rows = []
    for mode in modes:
        if mode.eigenvalue.imag >= 0:
            pair = f" +- {mode.eigenvalue.imag:.6g}i" if mode.eigenvalue.imag else ""
            numbers = (f"{mode.eigenvalue.real:.6g}{pair}", f"{mode.frequency:.5g}", f"{mode.damping:.3f}")
            rows.append((*numbers, ", ".join(mode.largest())))
    return Table(("eigenvalue, 1/s", "rad/s", "damping", "moving most"), rows, "nnnw")


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
    names = tuple(outputs)
    found = find_steady(Slopes(dynamics, at, p, inputs), names, anywhere=anywhere)
    if found.fault and not anywhere:
        raise ArgumentError(f"linearize: {found.fault}; anywhere=True linearizes all the same")
    linear = found.slopes.linearization(names)
    ends = zip((*linear.inputs, *linear.outputs), found.changing, strict=True)
    return replace(linear, axes=found.axes, changing=tuple(name for name, changes in ends if changes))


class Slopes:
    """Derivatives of y_dot at a state, with respect to independent small changes.

    ``preferred`` are indices of speeds to choose as independent where the loops allow it.  ``turn`` maps speeds in
    other axes to those of the state, and ``spin`` is the rate of those axes: turn_dot = turn spin.
    """

    def __init__(
        self, dynamics: Dynamics, at: State, p: Any, inputs: Any, preferred: Sequence[int] = (),
        turn: Array | None = None, spin: Array | None = None,
    ) -> None:  # fmt: skip
        self.dynamics, self.at, self.p, self.inputs, self.preferred = dynamics, at, p, inputs, preferred
        self.topology = dynamics.topology
        self.n_q, self.n_u, self.n_z = dynamics.n_q, dynamics.n_u, dynamics.n_z
        self.turn = np.eye(self.n_u) if turn is None else turn
        self.spin = np.zeros((self.n_u, self.n_u)) if spin is None else spin
        n_discrete = self.topology.events.n_held if self.topology.events else 0
        self.n_other = self.n_z - n_discrete  # discrete states do not change

    def moved(self, at: State, turn: Array, spin: Array | None = None) -> Slopes:
        """The same at another state and in other axes, with the same independent changes."""
        there = Slopes(self.dynamics, at, self.p, self.inputs, self.preferred, turn, spin)
        there.independent, there.independent_q = self.independent, self.independent_q
        return there

    @cached_property
    def N(self) -> Array:
        """q_dot = N u for speeds u in the axes, shape (n_q, n_u)."""
        return np.asarray(self._by_joints(lambda joint, q, unit, _: joint.rate_map(q, unit)) @ self.turn)

    @cached_property
    def N_dot(self) -> Array:
        """Time derivative of N at the speeds of the state."""
        q_dot = self.N @ np.linalg.solve(self.turn, self.at.u)
        own = self._by_joints(lambda joint, q, unit, where: rate(lambda x: joint.rate_map(x, unit), q, q_dot[where]))
        return np.asarray(own @ self.turn + self.N @ self.spin)

    def _by_joints(self, column: Any) -> Array:
        """A matrix of shape (n_q, n_u) whose column of each speed has entries for the joint's own coordinates only."""
        matrix = np.zeros((self.n_q, self.n_u))
        for name, where in self.topology.q_of.items():
            joint, speeds, q = self.dynamics.system.joints[name], self.topology.u_of[name], self.at.q[where]
            for k in range(joint.n_u):
                matrix[where, speeds.start + k] = column(joint, q, np.eye(joint.n_u)[k], where)
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
        return self._independent(self._jacobian)

    @cached_property
    def independent_q(self) -> list[int]:
        """The same of small changes of position, on which conditions on speeds alone have no hold."""
        return self.independent if self._all_positions else self._independent(self._position_jacobian)

    def _independent(self, G: Array) -> list[int]:
        if not len(G):
            return list(range(self.n_u))
        _, sizes, V = np.linalg.svd(G)
        rank = int((sizes > RANK_TOLERANCE * sizes.max(initial=0.0)).sum())
        return sorted(_pivots(V[rank:], self.preferred))

    @cached_property
    def _jacobian(self) -> Array:
        """Of all constraint rows, by speeds in the axes."""
        if not self.topology.constrained:
            return np.zeros((0, self.n_u))
        G = self.dynamics.loops.evaluate(self.dynamics.point(self.at, self.p, self.inputs))[1]
        return np.asarray(G @ self.turn)

    @property
    def _all_positions(self) -> bool:
        return not self.topology.constrained or bool(self.dynamics.loops.position_rows.all())

    @property
    def _position_jacobian(self) -> Array:
        return np.asarray(self._jacobian[self.dynamics.loops.position_rows])

    @cached_property
    def follow(self) -> Array:
        """T, shape (n_u, n_independent): changes of all speeds for unit changes of the independent ones."""
        return self._follow(self._jacobian, self.independent)

    @cached_property
    def follow_q(self) -> Array:
        """The same of small changes of position."""
        return self.follow if self._all_positions else self._follow(self._position_jacobian, self.independent_q)

    def _follow(self, G: Array, independent: list[int]) -> Array:
        T = np.zeros((self.n_u, len(independent)))
        T[independent] = np.eye(len(independent))
        dependent = [k for k in range(self.n_u) if k not in independent]
        if dependent:
            T[dependent] = -np.linalg.lstsq(G[:, dependent], G[:, independent], rcond=LSTSQ_CUTOFF)[0]
        return T

    @cached_property
    def speed_changes(self) -> Array:
        """Changes of u that keep the constraints G u = 0 for unit changes of the independent coordinates."""
        changes = np.zeros((self.n_u, len(self.independent_q)))
        dependent = [k for k in range(self.n_u) if k not in self.independent]
        if not dependent or not self.at.u.any():
            return changes
        scale = self.dynamics.loops.scale
        by_position = self._derivatives(("closure_rates",), ("q",))["q"] @ self.turn
        change = by_position @ self.follow_q / scale[:, None]
        changes[dependent] = -np.linalg.lstsq(self._jacobian[:, dependent], change, rcond=LSTSQ_CUTOFF)[0]
        return changes

    @property
    def sizes(self) -> tuple[int, int, int]:
        """How many independent coordinates, speeds and other states x has."""
        return len(self.independent_q), len(self.independent), self.n_other

    @cached_property
    def turned_changes(self) -> Array:
        """Changes of the speeds in the axes for unit entries of x; a row for each."""
        return np.vstack([self.speed_changes.T, self.follow.T, np.zeros((self.n_other, self.n_u))])

    @cached_property
    def basis(self) -> Array:
        """Changes of [q, u, z, inputs] for unit entries of x and of inputs; a row for each."""
        n_inputs, layout = len(self.topology.inputs), self.topology.layout
        n, k = sum(self.sizes), self.sizes[0]
        changes = np.zeros((n + n_inputs, layout.n_y + n_inputs))
        q, u, rest = layout.split(changes)
        q[:k] = (self.N @ self.follow_q).T
        u[:n] = self.turned_changes @ self.turn.T
        rest[n - self.n_other : n, : self.n_other] = np.eye(self.n_other)
        rest[n:, self.n_z :] = np.eye(n_inputs)
        return changes

    def matrices(self, outputs: tuple[str, ...]) -> Array:
        """A and B above C and D."""
        (k, _, _), n = self.sizes, sum(self.sizes)
        J_q, J_u, J_z = (part.copy() for part in self.topology.layout.split(self.slope(self.basis)))
        J_q[:k] -= (self.N_dot @ self.follow_q).T
        J_u = np.linalg.solve(self.turn, J_u.T).T
        J_u[:n] -= self.turned_changes @ self.spin.T
        rows = [(J_q @ np.linalg.pinv(self.N).T)[:, self.independent_q], J_u[:, self.independent]]
        rows += [J_z[:, : self.n_other], *([self.slope(self.basis, outputs)] if outputs else [])]
        return np.hstack(rows).T

    def linearization(self, outputs: Sequence[str]) -> Linearization:
        """The linear system with its matrices A, B, C, D."""
        (k, m, _), n = self.sizes, sum(self.sizes)
        states, names = self.states, tuple(outputs)
        parts = [part for name in names for part in _parts(find_quantity(self.dynamics.system, name))]
        M = self.matrices(names)
        return Linearization(
            self.dynamics.system.name, self.at, M[:n, :n], M[:n, n:], M[n:, :n], M[n:, n:],
            states, tuple(self.topology.inputs), tuple(parts), self.drift,
            find_steering(self.dynamics.system), frozenset(states[k : k + m]), judge(self, M[:n, :n]),
        )  # fmt: skip

    def displaced(self, x: Array) -> State:
        """The state after a finite change x of independent coordinates, speeds and other states."""
        (k, m, _), at = self.sizes, self.at
        z = at.z.copy()
        z[: self.n_other] += x[k + m :]
        u = at.u + self.speed_changes @ x[:k] + self.follow @ x[k : k + m]
        q = self.topology.advance_q(at.q, self.follow_q @ x[:k])
        return close_loops(self.dynamics, replace(at, q=q, u=u, z=z), self.p, self.inputs)

    def apart(self, state: State) -> Array:
        """x_dot of a motion beside this one, less that of this one, in the axes: zero where it stays beside it."""
        change, apart = self.moved(state, self.turn, self.spin).drift - self.drift, state.u - self.at.u
        for name, where in self.topology.u_of.items():
            own, joint = self.spin[where, where], self.dynamics.system.joints[name]
            q = [at.q[self.topology.q_of[name]] for at in (self.at, state)]
            if joint.quaternion is None:
                apart[where] -= own @ (q[1] - q[0]) if own.any() else 0.0
                continue
            form, unit = joint.form(self.dynamics.system.nominal), np.eye(joint.n_u)
            basis = np.array([joint.axes_rate(each).ravel() for each in unit], dtype=float).T
            axes, S = np.linalg.lstsq(basis, own.ravel(), rcond=None)[0], joint.motion_subspace(q[0], form)
            X = joint.transform(q[0], form).inverse() @ joint.transform(q[1], form)
            w, v = np.split(np.asarray(S @ (self.at.u[where] + axes), dtype=float), 2)
            here = np.concatenate([X.R.T @ w, X.R.T @ (v + np.cross(w, X.p.astype(float)))])
            apart[where] = state.u[where] + axes - (S.T @ here).astype(float)
        change[: self.sizes[0]] = apart[self.independent_q]
        return np.asarray(change)

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the entries of x: independent coordinates, their speeds, other states."""
        speeds = [c for c in self.topology.coordinates if c.role == "u"]
        positions = [f"{speeds[k].joint}.q{speeds[k].suffix}" for k in self.independent_q]
        other = [c.name for c in self.topology.coordinates if c.role == "z" and c.index < self.n_other]
        return (*positions, *(speeds[k].name for k in self.independent), *other)

    @cached_property
    def rates(self) -> tuple[Array, Array]:
        """Rates of the speeds and of the other states, as the state has them."""
        y_dot = self.dynamics.rate(self.at.t, self.at.y, p=self.p, inputs=self.inputs)
        _, u_dot, z_dot = self.topology.layout.split(y_dot)
        return u_dot, z_dot[: self.n_other]

    @cached_property
    def drift(self) -> Array:
        """x_dot at the state."""
        (u_dot, z_dot), u = self.rates, np.linalg.solve(self.turn, self.at.u)
        change = np.linalg.solve(self.turn, u_dot) - self.spin @ u
        return np.concatenate([u[self.independent_q], change[self.independent], z_dot])


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
