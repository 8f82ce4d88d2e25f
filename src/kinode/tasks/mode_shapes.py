"""Mode shapes at a state, and the root locus: eigenvalues along the values of a parameter or an input.

A mode is x(t) = Re(shape exp(eigenvalue t)).  Its coordinates are those of ``kn.linearize``: in a mechanism with loops
an independent set, which the others follow in the tangent space (``Slopes.follow_q``), delta q = N T delta.  For the
picture the displacement is finite; loops are closed again after it, so that nothing comes apart.  Growth and decay are
left out of the picture: it shows the shape over one period.

Eigenvalues come in no order that lasts from one value to the next.  They are joined to lines: each line is continued by
extrapolation, and the assignment of least total distance is taken, in which a mode of similar shape counts as nearer.
Lines that cross between two values are followed so where the values are close enough for the extrapolation to hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, AssemblyError, Error
from kinode.kernels.state import State
from kinode.model.base.fields import unknown
from kinode.model.base.parameters import is_hidden
from kinode.simulation.run_arguments import read_row, read_seconds
from kinode.simulation.solver import CLOSED_TOLERANCE
from kinode.tasks.equilibrium import equilibrium
from kinode.tasks.linearize import Linearization, Mode, Slopes, close_loops, fitted_state, linearize_at, modes_table
from kinode.tasks.start_argument import find_start
from kinode.tasks.steady_motion import find_steady

DEFAULT_PHASES = 24
DEFAULT_AMPLITUDE = 0.1
"""Largest displacement in the picture, as a share of the model's size."""
LARGEST_TURN = 0.6
"""Largest rotation of a body in the picture, rad."""
PROBE = 1e-6
"""Displacement with which the motion of points is measured, rad or m."""
STILL = 1e-9
"""Motion of points and bodies, relative to the amplitude of the mode, below which nothing moves."""
HALVINGS = 6
"""How often the amplitude is halved where the loops do not close."""


@dataclass(frozen=True, eq=False)
class ModeShape:
    """A mode with the amplitude of every coordinate.

    Attributes
    ----------
    eigenvalue : complex
        1/s.
    frequency : float
        Angular frequency, rad/s.
    damping : float
        Damping ratio: 1 without oscillation, negative where it grows.
    q : complex array
        Amplitude of each entry of q.
    coordinates : dict of str to complex
        The same by name.
    mode : Mode
        The mode of ``kn.linearize``, with speeds and other states.
    """

    eigenvalue: complex
    frequency: float
    damping: float
    q: Array
    coordinates: dict[str, complex]
    mode: Mode


@dataclass(frozen=True, eq=False)
class ModeSwing:
    """One period of a mode, for a picture.

    Attributes
    ----------
    phases : array
        From 0, in rad; the end, 2 pi, is left out.
    bodies : tuple of str
        Names of the bodies.
    poses : float32 array
        (bodies, 7, phases): position x, y, z in m, quaternion w, x, y, z, in the world.
    q : array
        (phases, n_q), coordinates.
    amplitude : float
        Largest displacement or, where that was the limit, less; share of the model's size.
    moves : bool
        Whether any body moves; in a mode of currents alone none does.
    """

    phases: Array
    bodies: tuple[str, ...]
    poses: Array
    q: Array
    amplitude: float
    moves: bool


class ModeShapes:
    """The modes of small motions about a state; a pair of conjugate eigenvalues counts once."""

    def __init__(self, slopes: Slopes) -> None:
        self._slopes = slopes
        self.dynamics, self.state = slopes.dynamics, slopes.at

    @cached_property
    def modes(self) -> tuple[ModeShape, ...]:
        """All modes, the fastest growing first."""
        slopes, linear = self._slopes, self._slopes.linearization(())
        k, map_to_q = slopes.sizes[0], slopes.N @ slopes.follow_q
        names, shapes = [c.name for c in self.dynamics.coordinates if c.role == "q"], []
        for mode in linear.modes:
            if mode.eigenvalue.imag >= 0.0:
                q = map_to_q @ np.array(list(mode.shape.values()))[:k]
                by_name = dict(zip(names, map(complex, q), strict=True))
                shapes.append(ModeShape(mode.eigenvalue, mode.frequency, mode.damping, q, by_name, mode))
        return tuple(shapes)

    def __len__(self) -> int:
        return len(self.modes)

    def __getitem__(self, k: int) -> ModeShape:
        return self.modes[k]

    def __str__(self) -> str:
        return "\n".join(modes_table(shape.mode for shape in self.modes).lines())

    # -- pictures --------------------------------------------------------------------------------------
    def swing(self, mode: int, phases: int = DEFAULT_PHASES, amplitude: float = DEFAULT_AMPLITUDE) -> ModeSwing:
        """Poses of all bodies over one period of a mode.

        Parameters
        ----------
        mode : int
            Its place among ``modes``.
        phases : int, default 24
            How many pictures.
        amplitude : float, default 0.1
            Largest displacement of a point, as a share of the model's size.  Rotations are limited to 0.6 rad, and
            where loops cannot follow so far, the amplitude is halved.

        Returns
        -------
        ModeSwing

        Examples
        --------
        >>> from kinode.tasks.mode_shapes import mode_shapes
        >>> hanging = {"shoulder.q": "-90 deg", "elbow.q": 0.0}
        >>> shapes = mode_shapes(kn.compile(kn.load("examples/double_pendulum.yaml")), hanging)
        >>> shapes.swing(0).poses.shape
        (2, 7, 24)
        """
        if not -len(self) <= mode < len(self):
            raise ArgumentError(f"mode: there are {len(self)} modes, and no number {mode}")
        if phases < 1 or not amplitude > 0.0:
            raise ArgumentError(f"phases, amplitude: positive numbers are expected, not {phases!r} and {amplitude!r}")
        x, (per_unit, turn, size) = self._displacement(mode), self._motion(self._displacement(mode))
        angles = 2.0 * np.pi * np.arange(phases) / phases
        moves = max(per_unit / size, turn) > STILL * float(np.abs(x).max(initial=0.0))
        scale = min(amplitude * size / per_unit if per_unit else np.inf, LARGEST_TURN / turn if turn else np.inf)
        scale = float(scale) if moves else 0.0
        for _ in range(HALVINGS):
            states = self._swung(x, angles, scale)
            if states is not None:
                break
            scale *= 0.5
        else:
            scale, states = 0.0, [self.state] * phases
        q = np.array([state.q for state in states]).reshape(phases, -1)
        poses = self._poses(states)
        return ModeSwing(angles, tuple(self.dynamics.system.bodies), poses, q, scale * per_unit / size, moves)

    def _displacement(self, mode: int) -> Array:
        """The shape without speeds: independent coordinates and other states."""
        (k, m, _), x = self._slopes.sizes, np.array(list(self.modes[mode].mode.shape.values()))
        x[k : k + m] = 0.0
        return x

    def _swung(self, x: Array, angles: Array, scale: float) -> list[State] | None:
        """The states at all phases; None where a loop does not close."""
        states = []
        for angle in angles:
            change = scale * (x * np.exp(1j * angle)).real
            try:
                state = self._slopes.displaced(change) if scale else self.state
            except Error:
                return None
            if not self._is_closed(state):
                return None
            states.append(state)
        return states

    def _is_closed(self, state: State) -> bool:
        dynamics, slopes = self.dynamics, self._slopes
        if not np.isfinite(state.y).all():
            return False
        if not dynamics.topology.constrained:
            return True
        error = dynamics.loops.judge(dynamics.point(state, slopes.p, slopes.inputs), dynamics.closure)[0]
        return bool(error <= CLOSED_TOLERANCE)

    def _motion(self, x: Array) -> tuple[float, float, float]:
        """Largest motion of a point and largest rotation for a unit of the shape, and the size of the model."""
        system, largest = self.dynamics.system, float(np.abs(x).max(initial=0.0))
        bodies = list(system.bodies)
        if not bodies or not largest:
            return 0.0, 0.0, 1.0
        step = PROBE / largest
        states = [
            self.state,
            *(self._slopes.displaced(sign * step * part) for part in (x.real, x.imag) for sign in (1, -1)),
        ]
        names = [f"{body}{point}.position" for body in bodies for point in ("", ".com")]
        names += [f"{joint}.{side}.position" for joint in system.joints for side in ("parent", "child")]
        values = self._evaluate([*names, *(f"{body}.quaternion" for body in bodies)], states)
        points = np.array([values[name] for name in names])
        at = points[:, 0]
        size = float(np.linalg.norm(at.max(axis=0) - at.min(axis=0))) or 1.0
        moved = np.array([points[:, 1] - points[:, 2], points[:, 3] - points[:, 4]]) / (2.0 * step)
        turned = [values[f"{body}.quaternion"] for body in bodies]
        turns = [[_angle(each[1], each[2]), _angle(each[3], each[4])] for each in turned]
        turn = float(np.linalg.norm(np.array(turns) / (2.0 * step), axis=1).max())
        return float(np.sqrt((moved**2).sum(axis=(0, 2))).max()), turn, size

    def _poses(self, states: list[State]) -> Array:
        """Positions and quaternions of all bodies, (bodies, 7, states)."""
        bodies = list(self.dynamics.system.bodies)
        if not bodies:
            return np.zeros((0, 7, len(states)), dtype=np.float32)
        values = self._evaluate([f"{body}.{part}" for body in bodies for part in ("position", "quaternion")], states)
        poses = np.array([np.hstack([values[f"{body}.position"], values[f"{body}.quaternion"]]).T for body in bodies])
        for pose in poses:
            for k in range(1, len(states)):
                if pose[3:, k] @ pose[3:, k - 1] < 0.0:
                    pose[3:, k] *= -1.0
        return poses.astype(np.float32)

    def _evaluate(self, names: list[str], states: list[State]) -> dict[str, Array]:
        """Quantities at several states."""
        t = np.array([state.t for state in states])
        q, u, z = (np.array([getattr(state, part) for state in states]).reshape(len(states), -1) for part in "quz")
        return self.dynamics.evaluate(names, t, q, u, z=z, p=self._slopes.p, inputs=self._slopes.inputs)


def _angle(a: Array, b: Array) -> float:
    """The angle in rad between two orientations, by quaternions that are close to each other."""
    return 2.0 * float(min(np.linalg.norm(a - b), np.linalg.norm(a + b)))


def mode_shapes(
    dynamics: Dynamics, state: Any = None, *, t0: Any = None, parameters: Any = None, inputs: Any = None
) -> ModeShapes:
    """The modes of small motions about a state, which need not be steady, with the amplitude of every coordinate.

    Parameters
    ----------
    dynamics : Dynamics
        The compiled system.
    state : State, mapping, Equilibrium, Assembly or Trajectory, optional
        The state: a whole one, values by name, or the end of a run; left out, the model's start.
    t0 : float or str, optional
        Time in s at which laws are taken.
    parameters, inputs : mapping, optional
        Values by name, in SI units or as text with a unit.

    Returns
    -------
    ModeShapes
        ``modes`` with eigenvalue, frequency, damping and amplitudes; ``swing(k)`` gives poses over a period.

    Examples
    --------
    >>> from kinode.tasks.mode_shapes import mode_shapes
    >>> hanging = {"shoulder.q": "-90 deg", "elbow.q": 0.0}
    >>> shapes = mode_shapes(kn.compile(kn.load("examples/double_pendulum.yaml")), hanging)
    >>> len(shapes)
    2
    """
    p, given = read_row(dynamics, "p", parameters), read_row(dynamics, "inputs", inputs)
    begin = find_start(dynamics, state, None if t0 is None else read_seconds(dynamics, "t0", t0), p, given)
    slopes = Slopes(dynamics, fitted_state(dynamics, begin, p, given), p, given)
    return ModeShapes(find_steady(slopes, anywhere=True).slopes)


SHAPE_WEIGHT = 1.0
"""How much nearer a mode of the same shape counts than one of a shape at right angles: a factor of 1 + this."""


@dataclass(frozen=True, eq=False)
class RootLocus:
    """Eigenvalues along a parameter.

    Attributes
    ----------
    name : str
        The parameter or input.
    values : array
        Its values, SI.
    eigenvalues : complex array
        (values, lines), 1/s; nan where there is no such state.
    failures : dict of float to str
        The values without eigenvalues, and why.
    """

    name: str
    values: Array
    eigenvalues: Array
    failures: dict[float, str]

    @property
    def frequencies(self) -> Array:
        """Angular frequencies, (values, lines), rad/s."""
        return np.asarray(np.abs(self.eigenvalues.imag))

    @property
    def damping(self) -> Array:
        """Damping ratios, (values, lines): 1 without oscillation, negative where it grows."""
        size = np.abs(self.eigenvalues)
        return np.asarray(np.divide(-self.eigenvalues.real, size, out=np.zeros_like(size), where=size != 0.0))

    def __str__(self) -> str:
        n_values, lines = self.eigenvalues.shape
        text = f"{lines} eigenvalues over {n_values} values of {self.name}"
        return text + "".join(f"\nnone at {value:.6g}: {message}" for value, message in self.failures.items())


def root_locus(
    dynamics: Dynamics, state: Any, name: str, values: Sequence[Any], *,
    steady: bool = False, parameters: Any = None, inputs: Any = None,
) -> RootLocus:  # fmt: skip
    """The eigenvalues of small motions about a state, along values of a parameter or an input.

    Parameters
    ----------
    dynamics : Dynamics
        The compiled system.
    state : State, mapping, Equilibrium, Assembly or Trajectory, or None
        The state.  A whole state is kept for all values, with its loops closed anew; of values by name, or None, the
        start is found for each.
    name : str
        The parameter, input or live number.
    values : sequence
        Its values in order, in SI units or as text with a unit.
    steady : bool, default False
        Whether the equilibrium is searched for at each value, from the one before, beginning at ``state``.
    parameters, inputs : mapping, optional
        Other values, which stay the same.

    Returns
    -------
    RootLocus
        With ``eigenvalues`` (values, lines), each line continuous.

    Raises
    ------
    ArgumentError
        The name is no parameter and no input, or there are no values.

    Examples
    --------
    >>> from kinode.tasks.mode_shapes import root_locus
    >>> system = kn.System("oscillator", gravity=(0, 0, 0))
    >>> k = system.parameter("k", "100 N/m")
    >>> _ = system.prismatic("rail", system.world, system.body("cart", mass=1.0), axis="x", stiffness=k)
    >>> locus = root_locus(kn.compile(system), None, "k", [100.0, 400.0])
    >>> locus.frequencies.round(6)
    array([[10., 10.],
           [20., 20.]])
    """
    topology = dynamics.arguments.topology
    free = [number.name for number in dynamics.live.values() if not number.structural]
    known = (*(x for x in topology.parameters if not is_hidden(x)), *topology.inputs, *free)
    if name not in known:
        raise ArgumentError(unknown("root_locus: no parameter or input is called", name, known))
    if not len(values):
        raise ArgumentError(f"values: at least one value of {name} is expected")
    place = _LocusPoint(dynamics, state, name, parameters or {}, inputs or {}, steady)
    numbers, found, failures = [], list[Linearization | None](), {}
    for value in values:
        number, linear = place.read(value), None
        try:
            linear = place.linearized(value)
        except Error as error:
            failures[number] = str(error)
        numbers.append(number)
        found.append(linear)
    return RootLocus(name, np.array(numbers), join_lines(np.array(numbers), found), failures)


class _LocusPoint:
    """The state about which motions are small, for each value."""

    def __init__(
        self, dynamics: Dynamics, state: Any, name: str, parameters: Any, inputs: Any, steady: bool
    ) -> None:  # fmt: skip
        self.dynamics, self.state, self.name, self.steady = dynamics, state, name, steady
        self.is_parameter = name in dynamics.arguments.topology.parameters or name in dynamics.live
        self.parameters, self.inputs = dict(parameters), dict(inputs)

    def _rows(self, value: Any) -> tuple[Array, Array]:
        """Vectors of parameters and inputs."""
        more = {self.name: value}
        p = read_row(self.dynamics, "p", {**self.parameters, **(more if self.is_parameter else {})} or None)
        given = {**self.inputs, **({} if self.is_parameter else more)}
        return p, read_row(self.dynamics, "inputs", given or None)

    def read(self, value: Any) -> float:
        """The value in SI."""
        topology, (p, inputs) = self.dynamics.arguments.topology, self._rows(value)
        names, row = (topology.parameters, p) if self.is_parameter else (topology.inputs, inputs)
        live = self.dynamics.live.get(self.name)
        return float(row[list(names).index(self.name if live is None else live.parameter)])

    def linearized(self, value: Any) -> Linearization:
        """The small motions at a value."""
        p, inputs = self._rows(value)
        if self.steady:
            rest = equilibrium(self.dynamics, self.state, parameters=p, inputs=inputs)
            self.state = rest.state
            return rest.small or linearize_at(self.dynamics, rest.state, p, inputs, anywhere=True)
        at = self._closed(find_start(self.dynamics, self.state, None, p, inputs), p, inputs)
        return linearize_at(self.dynamics, fitted_state(self.dynamics, at, p, inputs), p, inputs, anywhere=True)

    def _closed(self, at: State, p: Array, inputs: Array) -> State:
        """The state with its loops closed for these values."""
        if not self.dynamics.topology.constrained:
            return at
        closed = close_loops(self.dynamics, at, p, inputs)
        if not np.isfinite(closed.y).all():
            raise AssemblyError("the loops do not close near the state")
        error = self.dynamics.loops.judge(self.dynamics.point(closed, p, inputs), self.dynamics.closure)[0]
        if not error <= CLOSED_TOLERANCE:
            raise AssemblyError(
                f"the loops do not close near the state: {error:.1e} of the mechanism's size are missing"
            )
        return replace(closed, t=at.t)


def join_lines(values: Array, found: Sequence[Linearization | None]) -> Array:
    """Eigenvalues as lines, (values, lines): the order of the first is kept, each next one is assigned."""
    from scipy.optimize import linear_sum_assignment

    size = max((len(linear.A) for linear in found if linear is not None), default=0)
    lines = np.full((len(values), size), np.nan, dtype=complex)
    known = list[int]()
    shapes = np.zeros((size, size), dtype=complex)
    for k, linear in enumerate(found):
        if linear is None or len(linear.A) != size:
            continue
        new = linear.eigenvalues
        vectors = np.array([list(mode.shape.values()) for mode in linear.modes]).reshape(size, -1)
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True) if size else vectors
        order = np.arange(size)
        if known:
            expected = _extrapolated(values, lines, known, k)
            likeness = np.abs(shapes.conj() @ vectors.T)
            cost = np.abs(expected[:, None] - new[None, :]) * (1.0 + SHAPE_WEIGHT * (1.0 - likeness))
            order = linear_sum_assignment(cost)[1]
        lines[k], shapes = new[order], vectors[order]
        known.append(k)
    return lines


def _extrapolated(values: Array, lines: Array, known: Sequence[int], k: int) -> Array:
    """Where the lines would go on at value k, from the last two that are known."""
    last = known[-1]
    expected: Array = lines[last]
    before = known[-2] if len(known) > 1 else last
    if values[last] != values[before]:
        slope = (lines[last] - lines[before]) / (values[last] - values[before])
        expected = expected + slope * (values[k] - values[last])
    return expected
