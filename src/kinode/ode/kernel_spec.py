"""A compiled model for an integrator: addresses of machine code, sizes, tables of its event functions and clocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinode.ode.loops.run_codes import JacobianForm

Array = npt.NDArray[np.float64]
Call = Callable[[float, Array, Sequence[int]], None]


class Fired(NamedTuple):
    """An event function that triggered."""

    time: float  # s
    function: int  # index of the event function
    before: float  # value of its mode
    after: float


@dataclass(frozen=True, eq=False)
class EventSpec:
    """Addresses of compiled event functions, reset maps and samples, and their tables.

    The kernels have the signature of a rate. ``functions`` gives all event functions, then their time derivatives.
    ``reset`` and ``sample`` give the whole state; x is 1 for the event function that triggered, or for the clocks that
    tick. The address of a kernel that is not needed is 0.
    """

    owners: tuple[str, ...]
    """The component of each event function."""
    modes: tuple[int, ...]
    """Index in y of the mode of each event function; -1 for none."""
    values: tuple[float, ...]
    """The value of the mode for which the event function is active."""
    of_state: tuple[bool, ...] = ()
    """Whether ``cheap`` gives the event function, without accelerations; it gives 0 for the others."""
    functions: int = 0
    cheap: int = 0
    reset: int = 0
    sample: int = 0
    n_discrete: int = 0
    """Discrete states: entries at the end of y that only events change."""
    ticks: tuple[tuple[int, int], ...] = ()
    """Period and phase of each clock in ticks."""
    tick: Fraction = Fraction(1)
    """Length of a tick in s."""
    modes_depend: bool = True
    """Whether event functions depend on states that clocks change; if not, a tick leaves all modes as they are."""
    in_python: tuple[bool, ...] = ()
    """Whether a clock is a Python function; ``call(t, y, clocks)`` calls some of them, and changes y."""
    call: Call | None = None

    def first_tick(self, t0: float) -> int:
        """The first tick at a time or after it."""
        k = max(0, math.ceil(Fraction(t0) / self.tick))
        while k > 0 and self.time_of(k - 1) >= t0:
            k -= 1
        return k

    def time_of(self, k: int) -> float:
        """The time of a tick in s."""
        return float(k * self.tick.numerator) / float(self.tick.denominator)

    def seconds_after(self, t0: float, k: int) -> float:
        """The time from t0 to a tick in s, exact; zero for the tick whose time is t0 in floats."""
        return 0.0 if self.time_of(k) == t0 else float(k * self.tick - Fraction(t0))

    def due(self, k: int) -> list[int]:
        """The clocks that tick at a tick."""
        return [s for s, (period, phase) in enumerate(self.ticks) if k >= phase and (k - phase) % period == 0]


@dataclass(frozen=True)
class BoundSpec:
    """Compiled bounds of laws and event functions within a step (ode/loops/step_bounds.py).

    The kernels have the signature of a rate. That of the ``bounds`` gives the lower, then the upper bounds for ranges
    of the arguments in x. That of the ``arguments`` gives these and their rates; x is the state's rate. That of the
    ``laws`` gives them for arguments in x.
    """

    bounds: int = 0
    arguments: int = 0
    laws: int = 0
    n_arguments: int = 0
    widths: tuple[float, ...] = ()
    """For each argument the longest range in which it hides nothing of a law; 0 where a law may have corners."""
    n_laws: int = 0
    functions: tuple[int, ...] = ()
    """Indices of the event functions, which follow the laws."""


@dataclass(frozen=True)
class JacobianSpec:
    """Compiled derivatives of the rate by the state, with the signature of a rate.

    One of directional derivatives gives that along x, for as many directions as it has lanes, over which its arguments
    are interleaved.
    """

    address: int
    n_work: int
    """Size of its work array for each lane."""
    lanes: int = 1
    form: JacobianForm = JacobianForm.WHOLE


@dataclass(frozen=True)
class ColumnSpec:
    """Derivatives of the state that are integrated with it, as columns behind it in every row.

    The other kernels of a spec with columns give them too: the rate, the projection, reset maps and samples give the
    state, then its columns.  Their arguments end with the columns; those of reset maps and samples have a rate of time
    for each column, and the slope of each input, before.
    """

    count: int
    scales: tuple[float, ...]
    """For each column, the size of what it is the derivative by: with it its tolerance is that of the state."""
    functions: int = 0
    """Address of the kernel of event functions, with their rates along each column and along the motion."""
    n_functions: int = 0
    """Its number of results."""
    n_inputs: int = 0
    """Inputs of the model."""
    n_argument: int = 0
    """The most entries of an argument of these kernels."""
    break_rates: Array | None = None
    """Rates of the times of breaks, a row for each break; None if all are zero."""


@dataclass(frozen=True)
class KernelSpec:
    """A compiled rate: f(t, q, u, z, p, inputs, x, work, out) at an address, all interleaved over the lanes."""

    address: int
    n_q: int
    n_u: int
    n_z: int = 0
    lanes: int = 1
    n_work: int = 0
    """Size of the work array for each lane."""
    projection: int = 0
    """Address of the kernel that projects a state onto its constraints; 0 for none. ``n_work`` is enough for it."""
    completed: int = 0
    """Address of the kernel that tells parts of a completed step, and gives 0, or the code of one that cannot go on."""
    bounds: BoundSpec | None = None
    """Bounds of the model's laws and event functions; ``n_work`` is enough for their kernel."""
    jacobian: JacobianSpec | None = None
    """Derivatives of the rate, for implicit methods; None for differences."""
    events: EventSpec | None = None
    """The events of the model; ``n_work`` is enough for their kernels."""

    columns: ColumnSpec | None = None
    """Derivatives that are integrated with the state."""

    @property
    def n_y(self) -> int:
        """Size of the state y = [q, u, z] of one lane."""
        return self.n_q + self.n_u + self.n_z

    @property
    def n_row(self) -> int:
        """Size of the state and its columns."""
        return self.n_y * (1 + (0 if self.columns is None else self.columns.count))
