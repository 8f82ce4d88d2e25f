"""How the times at which laws jump or have a corner depend on parameters and inputs.

At a break the argument x(t, p) of a comparison, a ``floor`` or a table is at one of its levels, which are numbers.  So
its time has the rate -(dx/dp) / (dx/dt).
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.break_levels import find_levels
from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.expressions.syntax_tree import Expression
from kinode.model.system import System
from kinode.ode.runs.input_table import Inputs
from kinode.simulation.state_columns.column_values import ColumnRequest
from kinode.simulation.time_events import TIME_ROUNDING, TimeAnalysis, constant_values

LEVEL_TOLERANCE = 1e-9
"""Distance of an argument from a level, as a share of its size, at which it is there."""
SAME_RATE = 1e-9
"""Share of the larger of two rates: nearer ones are the same."""


def find_break_rates(
    dynamics: Dynamics, p: Array, inputs: Inputs, breaks: Array, request: ColumnRequest
) -> Array | None:
    """The rates of the times of breaks, a row for each break, a column for each name; None if all are zero.

    Where two laws break at once with different rates the rate is not a number.
    """
    names = [_name_of(dynamics, by) for by in request.by]
    if not len(breaks) or not any(names):
        return None
    analysis = TimeAnalysis(dynamics.system, constant_values(dynamics, p, inputs), float(breaks[0]), float(breaks[-1]))
    rates, known = np.zeros((len(breaks), len(names))), np.zeros(len(breaks), dtype=bool)
    for argument, levels in analysis.break_arguments():
        x = _with_free_parameters(dynamics.system, argument)
        margin = 4.0 * TIME_ROUNDING * max(abs(float(breaks[0])), abs(float(breaks[-1])))
        for side in (-1.0, 1.0):
            at = breaks + side * margin
            slope = _values(analysis, x.derivative("t"), at)
            value = _values(analysis, x, at)
            slack = LEVEL_TOLERANCE * np.maximum(1.0, abs(value)) + 2.0 * margin * abs(slope)
            hits = np.unique(find_levels(levels, value - slack, value + slack)[0])
            hits = hits[abs(slope[hits]) > 0.0]
            own = np.zeros((len(hits), len(names)))
            for k, name in enumerate(names):
                if name is not None and name in x.names():
                    own[:, k] = -_values(analysis, x.derivative(name), at)[hits] / slope[hits]
            differs = abs(own - rates[hits]) > SAME_RATE * np.maximum(abs(own), abs(rates[hits]))
            rates[hits] = np.where(known[hits, None] & differs, np.nan, own)
            known[hits] = True
    return rates if rates.any() else None


def _name_of(dynamics: Dynamics, by: tuple[str, int] | None) -> str | None:
    """The name of a parameter or input as laws write it."""
    if by is None:
        return None
    topology = dynamics.topology
    return (topology.parameters if by[0] == "p" else topology.inputs)[by[1]]


def _values(analysis: TimeAnalysis, x: Expression | float, times: Array) -> Array:
    return analysis.values(x, times) if isinstance(x, Expression) else np.full(len(times), float(x))


def _with_free_parameters(system: System, x: Expression) -> Expression:
    """An expression in which parameters that are calculated from others are written out."""
    while True:
        derived = {
            name: system.parameters[name].value
            for name in x.names() & system.parameters.keys()
            if isinstance(system.parameters[name].value, Expression)
        }
        written = x.substitute(derived) if derived else x
        if written is x or not isinstance(written, Expression):
            return x
        x = written
