"""Root locus: the eigenvalues of small motions along the values of a parameter or an input.

Eigenvalues come in no order that lasts from one value to the next.  They are joined to lines: each line is continued by
extrapolation, and the assignment of least total distance is taken, in which a mode of similar shape counts as nearer.
Lines that cross between two values are followed so where the values are close enough for the extrapolation to hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, AssemblyError, Error
from kinode.kernels.state import State
from kinode.model.base.fields import unknown
from kinode.model.base.parameters import is_hidden
from kinode.simulation.solver import CLOSED_TOLERANCE
from kinode.simulation.task_arguments import read_row
from kinode.tasks.equilibrium import equilibrium
from kinode.tasks.linearize import Linearization, fitted_state, linearize_at
from kinode.tasks.stability import close_loops
from kinode.tasks.start_argument import find_start

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
    >>> from kinode.tasks.vibrations.root_locus import root_locus
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
