"""The numbers of an exported model by role: names, units, own values, bounds and notes; the same for every export.

An output that is a state is that state: no name appears twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.reactions.lost_values import left_out_of
from kinode.dynamics.reactions.sharing_pattern import has_start_pattern
from kinode.errors import ArgumentError
from kinode.expressions.units import DIMENSIONS
from kinode.model.base.fields import unknown
from kinode.model.quantities import QuantityName, find_quantity, unit_of
from kinode.results.run_quantities import table_names
from kinode.tasks.start_argument import find_start

WHOLE_SYSTEM = ("system.energy",)
"""Outputs of every FMU besides the names of tables."""


@dataclass(frozen=True)
class Variable:
    """One scalar of a model."""

    name: str
    unit: str = ""
    """Its SI unit; empty for a plain number, and where it is not known."""
    value: float | None = None
    """The model's own, at the start."""
    low: float | None = None
    high: float | None = None
    note: str = ""
    causality: str = "local"
    variability: str = "continuous"
    # What an FMU says besides.
    initial: str | None = "calculated"
    reference: int = 0
    nominal: float | None = None
    derivative_of: int | None = None
    """The value reference of the state whose derivative it is."""
    depends_on: tuple[int, ...] | None = None
    """Value references of the states and inputs that it depends on; None if that is not known."""


@dataclass(frozen=True, eq=False)
class Variables:
    """All variables of a model."""

    start: Array
    """The state at the start, after all modes have been fitted."""
    states: tuple[Variable, ...]
    discrete: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    """Those that are no states: a kernel evaluates them, in this order."""

    @property
    def results(self) -> tuple[Variable, ...]:
        """The variables with the causality of outputs."""
        return tuple(x for x in (*self.states, *self.discrete, *self.outputs) if x.causality == "output")


def default_outputs(dynamics: Dynamics) -> tuple[str, ...]:
    """Coordinates and speeds of all joints, other states, joint loads that equilibrium determines, and the energy."""
    system = dynamics.system
    names = [name for name in table_names(dynamics) if has_start_pattern(dynamics, find_quantity(system, name))]
    return (*names, *(WHOLE_SYSTEM if system.bodies else ()))


def list_variables(dynamics: Dynamics, outputs: Sequence[str] | None, inputs: Sequence[str] | None) -> Variables:
    """All variables; an output or input that is wrong raises an error with its name."""
    system, topology, own = dynamics.system, dynamics.topology, dynamics.arguments
    start = find_start(dynamics, None, float(system.run_defaults.get("t0") or 0.0), own.parameters, own.inputs).y
    texts = _check_outputs(dynamics, outputs)
    entries = [entry for text in texts for entry in _entries(find_quantity(system, text))]
    wanted, known = {name for name, _ in entries}, {c.name for c in dynamics.coordinates}
    states = [
        Variable(c.name, _unit_of(dynamics, c.name), float(value), causality="output" if c.name in wanted else "local")
        for c, value in zip(dynamics.coordinates, start, strict=True)
    ]
    n_states = len(states) - (0 if topology.events is None else topology.events.n_held)
    discrete = (Variable(x.name, x.unit, causality=x.causality, variability="discrete") for x in states[n_states:])
    chosen = _check_inputs(dynamics, inputs)
    return Variables(
        start, tuple(states[:n_states]), tuple(discrete),
        tuple(_parameter(dynamics, name, float(value)) for name, value in zip(topology.parameters, own.parameters)),
        tuple(
            Variable(name, _unit_of(dynamics, name), float(value), causality="input", initial=None)
            for name, value in zip(topology.inputs, own.inputs) if name in chosen
        ),
        tuple(
            Variable(name, unit, note=_left_out(dynamics, name), causality="output")
            for name, unit in entries if name not in known
        ),
    )  # fmt: skip


def _left_out(dynamics: Dynamics, name: str) -> str:
    loads = left_out_of(dynamics.topology, find_quantity(dynamics.system, name))
    return f"without {' and '.join(loads)}" if loads else ""


def _check_outputs(dynamics: Dynamics, outputs: Sequence[str] | None) -> tuple[str, ...]:
    """The names of the outputs, each once; those that an FMU cannot give are refused by name."""
    if outputs is None:
        return default_outputs(dynamics)
    if isinstance(outputs, str):
        raise ArgumentError(f"outputs: a list of names is expected, not the text {outputs!r}")
    for text in outputs:
        quantity = find_quantity(dynamics.system, text)
        if quantity.needs == "time":
            raise ArgumentError(f"outputs: {text} is a variable of the FMU already, as {quantity.sort}")
        if not has_start_pattern(dynamics, quantity):
            message = "equilibrium alone does not determine it, and the rule that shares it here is not in the FMU"
            raise ArgumentError(f"outputs: {text}: {message}")
    return tuple(dict.fromkeys(outputs))


def _entries(quantity: QuantityName) -> list[tuple[str, str]]:
    """The scalars of a quantity, each with its name and unit."""
    if quantity.part is not None or not quantity.parts:
        dimension = quantity.dimension if isinstance(quantity.dimension, str) else quantity.dimension[0]
        return [(quantity.text, _unit(dimension))]
    head, at, axes = quantity.text.partition("@")
    each = (quantity.dimension,) * len(quantity.parts) if isinstance(quantity.dimension, str) else quantity.dimension
    return [(f"{head}.{part}{at}{axes}", _unit(x)) for part, x in zip(quantity.parts, each, strict=True)]


def _unit(dimension: str) -> str:
    unit = DIMENSIONS[dimension].unit
    return "" if unit == "1" else unit


def _unit_of(dynamics: Dynamics, name: str) -> str:
    unit = unit_of(dynamics.system, name)
    return unit if isinstance(unit, str) and unit != "1" else ""


def _parameter(dynamics: Dynamics, name: str, value: float) -> Variable:
    record = dynamics.system.parameters[name]
    low, high = (x if x is not None and math.isfinite(x) else None for x in record.bounds or (None, None))
    unit = _unit_of(dynamics, name)
    return Variable(name, unit, value, low, high, record.note or "", "parameter", "tunable", "exact")


def _check_inputs(dynamics: Dynamics, inputs: Sequence[str] | None) -> Sequence[str]:
    """The inputs of the model that are those of the export; a name that is no input is refused."""
    known = dynamics.topology.inputs
    for text in inputs or ():
        if text not in known:
            raise ArgumentError(unknown("inputs: no input is called", text, known))
    return known if inputs is None else inputs
