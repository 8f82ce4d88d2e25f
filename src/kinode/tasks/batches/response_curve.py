"""Response curves: one number of a run over the range of one value.

    curve = response_curve(dynamics, "counterweight", 0.0, 2.0, of="main.reaction.force|peak", until=0.2)
    curve.values, curve.responses, curve.least

``start_response_curve`` does the same in the background, from coarse to fine, as the page under a slider needs it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError
from kinode.model.quantity_expressions import unit_of
from kinode.tasks.batches.reducers import BY_SIZE, Reduction, read_reduction
from kinode.tasks.batches.run_many import Batch, refined_order, run_many
from kinode.tasks.batches.run_rows import RunRow
from kinode.tasks.batches.value_sets import read_value

DEFAULT_POINTS = 33
"""Points of a curve: their number less one is a power of two, so that refining halves the spacing."""


class LeastResponse(NamedTuple):
    """The point of a curve with the least response."""

    point: int
    value: float
    response: float


@dataclass(frozen=True, eq=False)
class ResponseCurve:
    """A response over the values of a parameter, an input or an initial value.

    Attributes
    ----------
    name : str
        What varies.
    of : str
        The response, such as "elbow.reaction.force|peak".
    unit, response_unit : str
        SI units of values and responses; "" where not known.
    values, responses : array
        The points in the order of the values; nan where the run failed, or is not made yet.
    rows : dict of int to RunRow
        The runs that are made, by point.

    Examples
    --------
    >>> from kinode.tasks.batches.response_curve import response_curve
    >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
    >>> curve = response_curve(dynamics, "elbow.q", 0.0, "60 deg", of="elbow.reaction.force|peak", until=0.5, points=5)
    >>> curve.responses.shape, curve.response_unit
    ((5,), 'N')
    """

    name: str
    of: str
    unit: str
    response_unit: str
    values: Array
    responses: Array
    rows: dict[int, RunRow]
    by_size: bool = False
    """Whether responses are compared by their size, as signed peaks are."""

    @property
    def least(self) -> LeastResponse | None:
        """The least response of all points that have one: of peaks the least in size; None if there is none."""
        sizes = np.abs(self.responses) if self.by_size else self.responses
        if not np.isfinite(sizes).any():
            return None
        k = int(np.nanargmin(np.where(np.isfinite(sizes), sizes, np.nan)))
        return LeastResponse(k, float(self.values[k]), float(self.responses[k]))

    @property
    def failures(self) -> dict[float, str]:
        """The values at which the run failed, with the reason."""
        return {float(self.values[k]): row.message for k, row in sorted(self.rows.items()) if row.failed}

    @property
    def complete(self) -> bool:
        """Whether every point's run was made."""
        return len(self.rows) == len(self.values)

    def __str__(self) -> str:
        unit, response_unit = (f" {unit}" if unit else "" for unit in (self.unit, self.response_unit))
        lines = [f"{self.of} over {self.name}: {len(self.rows)} of {len(self.values)} runs"]
        if self.least is not None:
            lines.append(f"least {self.least.response:.6g}{response_unit} at {self.least.value:.6g}{unit}")
        lines += [f"failed at {value:.6g}{unit}: {message}" for value, message in self.failures.items()]
        return "\n".join(lines)


class CurveRun:
    """A response curve that is computed in the background; ``curve`` is what is known of it."""

    def __init__(self, name: str, units: tuple[str, str], reduction: Reduction, values: Array, batch: Batch) -> None:
        self.batch, self.values = batch, values
        self._name, self._units, self._reduction = name, units, reduction

    @property
    def curve(self) -> ResponseCurve:
        """The curve so far."""
        rows, responses = {row.index: row for row in self.batch.rows}, np.full(len(self.values), np.nan)
        for k, row in rows.items():
            responses[k] = row.results[self._reduction.text]
        by_size = self._reduction.by in BY_SIZE
        return ResponseCurve(self._name, self._reduction.text, *self._units, self.values, responses, rows, by_size)

    def wait(self, timeout: float | None = None) -> ResponseCurve:
        """The curve when all runs are made, or what is known of it after ``timeout`` s."""
        self.batch.wait(timeout)
        return self.curve

    def cancel(self) -> None:
        """Stop after what is done."""
        self.batch.cancel()


def start_response_curve(
    dynamics: Dynamics, name: str, low: Any, high: Any, *, of: str, until: Any = None, points: int = DEFAULT_POINTS,
    parameters: dict[str, Any] | None = None, inputs: dict[str, Any] | None = None, start: Any = None,
    threads: int | None = None, on_row: Callable[[RunRow], Any] | None = None, **fields: Any,
) -> CurveRun:  # fmt: skip
    """Begin a response curve in the background, from coarse to fine; arguments as in ``response_curve``.

    ``threads`` is the number of runs at a time, ``on_row`` is called with each row as it comes.
    """
    if isinstance(points, bool) or not isinstance(points, int) or points < 2:
        raise ArgumentError(f"points: a number from 2 is expected, not {points!r}")
    reduction = read_reduction(dynamics.system, of)
    ends = [read_value(dynamics, name, end) for end in (low, high)]
    if not all(map(math.isfinite, ends)) or ends[0] == ends[1]:
        raise ArgumentError(f"low, high: two different values of {name} are expected, not {low!r} and {high!r}")
    values = np.linspace(ends[0], ends[1], points)
    fixed = {**(parameters or {}), **(inputs or {})}
    sets = [{**fixed, name: float(value)} for value in values]
    order = refined_order(points)
    batch = run_many(
        dynamics, sets, until, of=reduction.text, start=start, order=order, threads=threads, on_row=on_row, **fields
    )
    return CurveRun(name, (_unit(dynamics, name), reduction.unit), reduction, values, batch)


def _unit(dynamics: Dynamics, name: str) -> str:
    if name in dynamics.live:
        return dynamics.live[name].unit
    if name in dynamics.arguments.topology.parameters and name not in dynamics.system.parameters:
        return ""
    unit = unit_of(dynamics.system, name)
    return unit if isinstance(unit, str) else ""


def response_curve(
    dynamics: Dynamics, name: str, low: Any, high: Any, *, of: str, until: Any = None, points: int = DEFAULT_POINTS,
    parameters: dict[str, Any] | None = None, inputs: dict[str, Any] | None = None, start: Any = None, **fields: Any,
) -> ResponseCurve:  # fmt: skip
    """One number of a run, over the range of a parameter, an input or an initial value.

    Parameters
    ----------
    dynamics : Dynamics
        The compiled system.
    name : str
        What varies: a parameter, an input or an initial value such as "elbow.q".
    low, high : float or str
        The range, in SI units or as text with a unit.
    of : str
        The response: a quantity or an expression, and after a bar peak, least, mean, rms, final or time_of_peak.
    until : float or str, optional
        End of the runs in s.
    points : int, default 33
        How many values of the range, evenly spaced.
    parameters, inputs : mapping, optional
        Values that stay the same.
    start : mapping, State, Assembly, Equilibrium or Trajectory, optional
        The start of all runs.
    **fields
        As in ``kn.simulate``: t0, times, samples, every, method, step, rtol, atol, stop_when, max_step.

    Returns
    -------
    ResponseCurve
        Values, responses and the least of them.  Where a run fails the response is nan, and ``failures`` says why.

    Raises
    ------
    ArgumentError
        A name, the range or a field is wrong.

    Examples
    --------
    >>> from kinode.tasks.batches.response_curve import response_curve
    >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
    >>> curve = response_curve(dynamics, "elbow.q", 0.0, 1.0, of="elbow.u|peak", until=0.5, points=3)
    >>> curve.values
    array([0. , 0.5, 1. ])
    """
    return start_response_curve(
        dynamics, name, low, high, of=of, until=until, points=points,
        parameters=parameters, inputs=inputs, start=start, **fields,
    ).wait()  # fmt: skip
