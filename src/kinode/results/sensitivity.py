"""Sensitivities of quantities along a run, dQ = (dQ/dy) S + dQ/dp at each time, and first-order tolerances.

Reactions that equilibrium alone does not determine follow from a rule, which is no part of the compiled code.  They are
differentiated along each column by differences of order four, at states that are projected onto the constraints.

A tolerance says how far results spread where parameters do.  Parameters vary independently, each with a standard
deviation s.  A quantity then has the variance

    sigma^2 = (dQ/dp1 s1)^2 + (dQ/dp2 s2)^2 + ...

at each time, of which every term is the share of one parameter.  The peak of a quantity varies as its value at the time
of the peak: where that time moves, the value changes by nothing of first order (envelope theorem).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.reactions.joint_reactions import evaluate_names
from kinode.dynamics.reactions.lost_values import is_shared
from kinode.dynamics.reactions.redundancy import share
from kinode.dynamics.state_batch import StateBatch
from kinode.errors import ArgumentError
from kinode.expressions.syntax_tree import Expression
from kinode.hooks import hook
from kinode.kernels.derivatives.derivative_words import shape_of
from kinode.kernels.kernel_options import ColumnOptions, Kernel
from kinode.model.base.fields import short, unknown
from kinode.model.base.parameters import is_hidden
from kinode.model.quantities import QuantityExpression, find_expression, find_quantity
from kinode.ode.input_table import inputs_at
from kinode.sheets.tables import Sheet, Shown, Table, format_number, format_percent
from kinode.simulation.column_values import LOADED, RunColumns
from kinode.structure.state_layout import EvaluationPoint

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities
    from kinode.results.trajectory import Trajectory


STEP = 1e-3
"""Change of states and parameters in a difference, as a share of their size."""
WEIGHTS = {-2: 1.0 / 12.0, -1: -8.0 / 12.0, 1: 8.0 / 12.0, 2: -1.0 / 12.0}


def find_sensitivity(run: RunQuantities, of: str, by: str) -> Array:
    """The derivative of a quantity by a name, (time, ...)."""
    columns = check_columns(run, [by])
    derivatives = all_sensitivities(run, columns, of)
    return np.ascontiguousarray(derivatives[:, columns.request.names.index(by)])


def all_sensitivities(run: RunQuantities, columns: RunColumns, of: str) -> Array:
    """The derivatives of a quantity by all names, (time, name, ...)."""
    _check_end(run, columns)
    if not isinstance(of, str):
        raise ArgumentError(f"of: the name of a quantity is expected, not {of!r}")
    expression = find_expression(run.system, of)
    if expression is not None:
        return _of_expression(run, columns, expression)
    shape, m = shape_of(run.dynamics.topology, of), len(columns.request.names)
    if is_shared(run.dynamics, find_quantity(run.system, of)):
        return np.stack([_difference(run, columns, k, of) for k in range(m)], axis=1)
    kernel = Kernel("columns", ColumnOptions(Kernel("evaluate", (of,)), columns.request.by))
    at = EvaluationPoint(run.t, run.q, run.u, run.z, run.p, inputs_at(run.inputs, run.t))
    result = run.dynamics.kernels.call(kernel, at, columns.values.reshape(len(run), -1))
    size = int(np.prod(shape, dtype=int))
    return result[:, size:].reshape(len(run), m, *shape)


def _of_expression(run: RunQuantities, columns: RunColumns, expression: QuantityExpression) -> Array:
    """The derivatives of an expression, by the chain rule from those of the quantities in it."""
    total, values = np.zeros((len(run), len(columns.request.names))), run.evaluate(expression.names)
    for name in expression.names:
        assert isinstance(expression.value, Expression)
        partial_derivative = expression._replace(value=expression.value.derivative(name))
        factor = partial_derivative.evaluate(run.system, values, len(run))
        total += factor[:, None] * all_sensitivities(run, columns, name)
    return total


def _difference(run: RunQuantities, columns: RunColumns, k: int, of: str) -> Array:
    """The derivative of a quantity along a column, by differences."""
    S, by = columns.values[:, k], columns.request.by[k]
    value = columns.request.values(run.p, run.inputs)[k]
    sizes = np.maximum(abs(run.y).max(axis=0, initial=0.0), 1.0)
    steepest = max(float((abs(S) / sizes).max(initial=0.0)), 1.0 / (abs(value or 0.0) or 1.0))
    step, total = STEP / steepest, np.zeros(())
    for i, weight in WEIGHTS.items():
        p, inputs = run.p.copy(), inputs_at(run.inputs, run.t).copy()
        if by is not None:
            (p if by[0] == "p" else inputs)[..., by[1]] += i * step
        states = _closed(run, run.y + i * step * S, p, inputs)
        values = evaluate_names(run.dynamics, (of,), states, partial(share, run.dynamics, states))
        total = total + weight / step * values[of]
    return total


def _closed(run: RunQuantities, y: Array, p: Array, inputs: Array) -> StateBatch:
    """States projected onto the constraints, by two Newton steps."""
    for _ in range(2):
        y = run.dynamics.kernels.call(Kernel("projection"), run.dynamics.point_of(run.t, y, p, inputs))[:, : y.shape[1]]
    q, u, z = run.dynamics.topology.layout.split(y)
    return StateBatch(t=run.t, q=q, u=u, z=z, p=p, inputs=inputs)


def check_columns(run: RunQuantities, names: list[str]) -> RunColumns:
    """The derivatives of the states, if the run has them by these names."""
    if run.columns is None:
        raise ArgumentError(f"by: the run has no derivatives; simulate it with sensitivity={names!r}")
    for by in names:
        if by not in run.columns.request.names:
            raise ArgumentError(unknown("by: the run was not differentiated by", by, run.columns.request.names))
    return run.columns


def _check_end(run: RunQuantities, columns: RunColumns) -> None:
    """Refuse a run that goes on after the derivatives ended."""
    if columns.lost_time is not None and len(run) and run.t[-1] >= columns.lost_time:
        raise ArgumentError(f"{columns.message}; end the run before")


LIMITS = ("+-", "+/-", "\u00b1")
"""Signs before a tolerance that is three standard deviations wide."""
NEGLIGIBLE = 1e-12
"""Share of the largest load in the run: a smaller one is none."""


@dataclass(frozen=True, eq=False)
class Spread:
    """One quantity: its peak, the time of that, its standard deviation, and the courses of both over the run.

    ``parts`` are the changes over the run where each parameter alone is larger by one standard deviation.
    """

    name: str
    unit: str
    t: Array
    value: Array
    parts: dict[str, Array]
    checked: float | None = None
    """Standard deviation of the peak in the runs of a check."""

    @property
    def sigma(self) -> Array:
        """The standard deviation over the run."""
        total: Array = np.sqrt(sum((part * part for part in self.parts.values()), np.zeros(len(self.t))))
        return total

    @cached_property
    def _weights(self) -> dict[int, float]:
        """The weights of the states about the peak in the values there.

        It is the vertex of a parabola through three of them: beside the peak a quantity that moves along the time axis
        would seem to change its peak.  At the ends of a run, and beside a jump, it is the largest state itself.
        """
        k, size = int(np.argmax(abs(self.value))), abs(self.value)
        if not 0 < k < len(self.t) - 1 or not self.t[k - 1] < self.t[k] < self.t[k + 1]:
            return {k: 1.0}
        before, after = self.t[k - 1] - self.t[k], self.t[k + 1] - self.t[k]
        down, up = (size[k - 1] - size[k]) / before, (size[k + 1] - size[k]) / after
        bend = (up - down) / (after - before)
        x = 0.0 if bend >= 0.0 else min(max((bend * before - down) / (2.0 * bend), before), after)
        return {
            k - 1: x * (x - after) / (before * (before - after)),
            k: (x - before) * (x - after) / (before * after),
            k + 1: x * (x - before) / (after * (after - before)),
        }

    def _at_peak(self, course: Array) -> float:
        return float(sum(weight * course[k] for k, weight in self._weights.items()))

    @property
    def peak(self) -> float:
        """The value of largest size."""
        return self._at_peak(self.value)

    @property
    def time(self) -> float:
        """The time of the peak in s."""
        return self._at_peak(self.t)

    @property
    def peak_sigma(self) -> float:
        """The standard deviation of the peak."""
        return math.sqrt(sum(self._at_peak(part) ** 2 for part in self.parts.values()))

    @property
    def shares(self) -> dict[str, float]:
        """The share of each parameter in the variance of the peak."""
        total = self.peak_sigma**2
        return {name: self._at_peak(part) ** 2 / total if total else math.nan for name, part in self.parts.items()}


@dataclass(frozen=True, eq=False)
class Tolerance(Shown):
    """How far quantities of a run spread where parameters do.

    ``spreads`` has a record for each quantity: ``peak``, ``time``, ``peak_sigma``, ``shares``, and over the run ``t``,
    ``value``, ``sigma``, ``parts``.  It prints as a table, and ``plot()`` draws the courses.
    """

    spreads: dict[str, Spread]
    sigmas: dict[str, float]
    runs: int = 0
    """Runs of the check."""
    failed: int = 0
    """Those of them that failed."""

    def __getitem__(self, name: str) -> Spread:
        if name not in self.spreads:
            raise ArgumentError(f"tolerance: {name!r} is not among the quantities {', '.join(self.spreads)}")
        return self.spreads[name]

    @property
    def sheet(self) -> Sheet:
        head = ["quantity", "unit", "peak", "at s", "sigma", *(["of the check"] if self.runs else []), *self.sigmas]
        rows = []
        for spread in self.spreads.values():
            checked = (
                [] if not self.runs else [format_number(math.nan if spread.checked is None else spread.checked, 3)]
            )
            rows.append(
                [spread.name, spread.unit, format_number(spread.peak), format_number(spread.time, 3),
                 format_number(spread.peak_sigma, 3), *checked,
                 *(format_percent(spread.shares[name]) for name in self.sigmas)]
            )  # fmt: skip
        given = ", ".join(f"{name} {format_number(sigma, 3)}" for name, sigma in self.sigmas.items())
        title = "peaks, their standard deviation sigma, and shares of the variance"
        failed = f", {self.failed} of which failed" if self.failed else ""
        check = [f"the check made {self.runs} runs{failed}"] if self.runs else []
        return Sheet(title, parts=(Table(head, rows, "wu".ljust(len(head), "n")), f"sigma in SI: {given}", *check))

    def plot(self, *names: str, **options: Any) -> Any:
        """Plot quantities over time with a band of three standard deviations; all of them without names.

        Options are those of ``kinode.views.plots.fit_plots.plot_tolerance``.
        """
        return hook("plot_tolerance")(self, *names, **options)


def find_tolerance(
    run: Trajectory, spread: Mapping[str, Any], of: str | Iterable[str] | None, check: int, seed: int
) -> Tolerance:
    """The spread of quantities, loads of all joints by default."""
    if not isinstance(spread, Mapping) or not spread:
        raise ArgumentError(f"tolerance: standard deviations by name are expected, not {short(spread)}")
    columns = check_columns(run, list(spread))
    sigmas = {name: read_sigma(run, name, value) for name, value in spread.items()}
    names = _joint_loads(run) if of is None else [of] if isinstance(of, str) else list(of)
    spreads = {name: _find_spread(run, columns, name, sigmas) for name in names}
    if of is None:
        largest = {unit: max(abs(x.peak) for x in spreads.values() if x.unit == unit) for unit in ("N", "N*m")}
        spreads = {k: x for k, x in spreads.items() if abs(x.peak) > NEGLIGIBLE * largest[x.unit]}
    found = Tolerance(spreads, sigmas)
    return _check(run, columns, found, check, seed) if check else found


def _joint_loads(run: Trajectory) -> list[str]:
    """The names of the reactions of all joints."""
    return [f"{joint}.reaction.{part}" for joint in run.system.joints for part in ("force", "moment")]


def read_sigma(run: Trajectory, name: str, value: Any) -> float:
    """A standard deviation in SI: a number, a text with a unit, or a third of one behind +-."""
    text = value.strip() if isinstance(value, str) else value
    sign = next((sign for sign in LIMITS if isinstance(text, str) and text.startswith(sign)), None)
    number = text if sign is None else text.removeprefix(sign).strip()
    if isinstance(number, str):
        number = _read_text(run, name, number)
    try:
        sigma = float(number)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"tolerance: {name}: a number or a text with a unit is expected, not {short(value)}"
        ) from None
    if not (math.isfinite(sigma) and sigma >= 0.0):
        raise ArgumentError(f"tolerance: {name}: must not be negative, not {short(value)}")
    return sigma / 3.0 if sign is not None else sigma


def _read_text(run: Trajectory, name: str, text: str) -> float:
    """A text with a unit that fits a parameter, an input, a live number or a state, in SI."""
    system, live = run.dynamics.system, run.dynamics.live
    declared = system.parameters.get(name) or system.inputs.get(name)
    if declared is not None:
        return system.nominal(system.read_value(name, text, declared.dimension, declared.angle)[0])
    dimension = live[name].dimension if name in live else find_quantity(system, name).dimension
    return system.nominal(
        system.reader(name).number(text, dimension if isinstance(dimension, str) else None, "tolerance")
    )


def _find_spread(run: Trajectory, columns: RunColumns, name: str, sigmas: Mapping[str, float]) -> Spread:
    """The spread of one quantity; a vector counts by its magnitude."""
    values, derivatives = run[name], all_sensitivities(run, columns, name)
    if values.ndim > 2:
        raise ArgumentError(f"tolerance: {name} is a matrix; name one of its components")
    if values.ndim == 2:
        size = np.linalg.norm(values, axis=1)
        along = np.divide(values, size[:, None], out=np.zeros_like(values), where=size[:, None] > 0.0)
        values, derivatives = size, np.einsum("tki,ti->tk", derivatives, along)
    order = columns.request.names
    parts = {by: sigma * derivatives[:, order.index(by)] for by, sigma in sigmas.items()}
    unit = run.units(name)
    return Spread(name, unit if isinstance(unit, str) else ", ".join(unit), run.t, values, parts)


def _check(run: Trajectory, columns: RunColumns, found: Tolerance, check: int, seed: int) -> Tolerance:
    """The same, with the standard deviations of the peaks of as many runs with drawn values."""
    if columns.start is LOADED:
        raise ArgumentError("tolerance: check: a run from a file does not know its start; simulate it again")
    if getattr(columns.start, "columns", None) is not None:
        raise ArgumentError("tolerance: check: the run continues another, which would have to vary too; make one run")
    over: dict[str, Array] = {}
    values, names = columns.request.values(run.p, run.inputs), [c.name for c in run.dynamics.coordinates]
    for name, sigma in found.sigmas.items():
        value = values[columns.request.names.index(name)]
        mean = float(run.y[0, names.index(name)]) if value is None else value
        over[name] = mean + sigma * np.random.default_rng([seed, len(over)]).standard_normal(check)
    given = dict(zip(run.dynamics.topology.parameters, run.p.tolist(), strict=True))
    free = {name: x for name, x in given.items() if not is_hidden(name)} | run.live
    free = {name: x for name, x in free.items() if name not in over}
    fields = {key: run.facts[key] for key in ("method", "step", "rtol", "atol") if key in run.facts}
    study = hook("sweep")(
        run.dynamics, over, float(run.t[-1]), keep=[f"{name}|peak" for name in found.spreads], design="rows",
        start=columns.start, times=run.t, parameters=free or None,
        inputs={k: x for k, x in run.input_values.items() if k not in over} or None, progress=False, **fields,
    )  # fmt: skip
    spreads = {}
    for name, spread in found.spreads.items():
        peaks = np.asarray(study[f"{name}|peak"], dtype=float)
        checked = float(np.nanstd(peaks, ddof=1)) if np.isfinite(peaks).sum() > 1 else math.nan
        spreads[name] = Spread(spread.name, spread.unit, spread.t, spread.value, spread.parts, checked)
    failed = int(sum(~np.isfinite(np.asarray(study[f"{next(iter(spreads))}|peak"], dtype=float)))) if spreads else 0
    return Tolerance(spreads, found.sigmas, check, failed)
