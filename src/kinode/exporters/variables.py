"""The variables of an exported model: names, value references, roles, units and start values.

Value references of an FMU are ranges, one after the other: the time, continuous states, their derivatives, discrete
states, parameters, inputs, outputs, event indicators.  The C code finds a value by its range alone
(``fmu/c/fmu_core.h``).  An output that is a state is that state: no name appears twice.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.reactions.lost_values import left_out_of
from kinode.dynamics.reactions.sharing_pattern import has_start_pattern
from kinode.errors import ArgumentError
from kinode.expressions.dimensions import DIMENSIONLESS, Dimension
from kinode.expressions.units import DIMENSIONS, parse_si_unit
from kinode.model.base.fields import unknown
from kinode.model.quantities import QuantityName, find_quantity
from kinode.results.run_quantities import table_names

PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
QUOTED_NAME = re.compile(r"[A-Za-z0-9_!#$%&()*+,\-./:;<>=?@\[\]^{}|~ ]+\Z")
LEAST_NOMINAL = 1e-9
"""A state that stays smaller has no typical size."""
FROZEN_NOTE = "(The initial state does not follow it: set the states, too.)"
WHOLE_SYSTEM = ("system.energy",)
"""Outputs of every FMU besides the names of tables."""


@dataclass(frozen=True)
class ExportedVariable:
    """One scalar variable, as ``modelDescription.xml`` declares it."""

    name: str
    reference: int
    causality: str = "local"
    variability: str = "continuous"
    initial: str | None = "calculated"
    unit: str = ""
    start: float | None = None
    low: float | None = None
    high: float | None = None
    nominal: float | None = None
    note: str = ""
    derivative_of: int | None = None
    """The value reference of the state whose derivative it is."""
    depends_on: tuple[int, ...] | None = None
    """Value references of the states and inputs that it depends on; None if that is not known."""


@dataclass(frozen=True)
class ReferenceRanges:
    """Where the value references of each role begin; they are in this order."""

    state: int
    derivative: int
    discrete: int
    parameter: int
    input: int
    output: int
    indicator: int
    end: int


@dataclass(frozen=True, eq=False)
class ExportedVariables:
    """All variables of an FMU."""

    ranges: ReferenceRanges
    time: ExportedVariable
    states: tuple[ExportedVariable, ...]
    derivatives: tuple[ExportedVariable, ...]
    discrete: tuple[ExportedVariable, ...]
    parameters: tuple[ExportedVariable, ...]
    inputs: tuple[ExportedVariable, ...]
    outputs: tuple[ExportedVariable, ...]
    indicators: tuple[ExportedVariable, ...]
    quantities: tuple[str, ...]
    """Names for the kernel that evaluates the outputs which are no states, in the order of their references."""

    @property
    def all(self) -> tuple[ExportedVariable, ...]:
        """All variables but event indicators, which FMI 2.0 does not list."""
        return (
            self.time, *self.states, *self.derivatives, *self.discrete, *self.parameters, *self.inputs, *self.outputs
        )  # fmt: skip

    @property
    def results(self) -> tuple[ExportedVariable, ...]:
        """The variables with the causality of outputs."""
        return tuple(x for x in (*self.states, *self.discrete, *self.outputs) if x.causality == "output")

    @cached_property
    def is_structured(self) -> bool:
        """Whether all names follow the convention for structured names."""
        return all(structured(text) is not None for text in self._texts)

    @property
    def _texts(self) -> Iterable[str]:
        return (x.name for x in (*self.states, *self.discrete, *self.parameters, *self.inputs, *self.outputs))


def structured(text: str) -> str | None:
    """A name by the convention for structured names; None if it has letters that the convention does not know."""
    head, at, axes = text.partition("@")
    parts = head.split(".")
    if at:
        parts = [*parts[:-1], f"{parts[-1]}@{axes}"]
    if not all(QUOTED_NAME.match(part) for part in parts):
        return None
    return ".".join(part if PLAIN_NAME.match(part) else f"'{part}'" for part in parts)


def default_outputs(dynamics: Dynamics) -> tuple[str, ...]:
    """Coordinates and speeds of all joints, other states, joint loads that equilibrium determines, and the energy."""
    system = dynamics.system
    names = [name for name in table_names(dynamics) if has_start_pattern(dynamics, find_quantity(system, name))]
    return (*names, *(WHOLE_SYSTEM if system.bodies else ()))


@dataclass(frozen=True, eq=False)
class VariableSource:
    """What the variables of an FMU are made from."""

    dynamics: Dynamics
    outputs: Sequence[str] | None
    inputs: Sequence[str] | None
    start: Array
    """The state at the start, after all modes have been fitted."""
    fixed: frozenset[str]
    """Parameters that act at initialization alone."""
    frozen: frozenset[str]
    """Those that the start does not follow."""
    n_indicators: int
    started_by: bool
    """Whether the start depends on parameters."""
    sizes: Array
    """How large each state becomes; zero where that is not known."""


def find_variables(source: VariableSource) -> ExportedVariables:
    """All variables; an output or input that is wrong raises an error with its name."""
    dynamics, system = source.dynamics, source.dynamics.system
    coordinates, n_discrete = dynamics.coordinates, _count_discrete(dynamics)
    n_states = len(coordinates) - n_discrete
    texts = _check_outputs(dynamics, source.outputs)
    known = {c.name for c in coordinates}
    entries = [entry for text in texts for entry in _entries(find_quantity(system, text))]
    wanted = {name for name, _ in entries}
    values = [(name, unit) for name, unit in entries if name not in known]
    p, given = dynamics.topology.parameters, dynamics.topology.inputs
    sizes = (1, n_states, n_states, n_discrete, len(p), len(given), len(values), source.n_indicators)
    ranges = ReferenceRanges(*np.cumsum(sizes).tolist())
    states = tuple(_state(source, k, ranges.state + k, wanted) for k in range(n_states))
    return ExportedVariables(
        ranges,
        ExportedVariable("time", 0, "independent", "continuous", None, "s", note="time"),
        states,
        tuple(_derivative(x, ranges.derivative + k) for k, x in enumerate(states)),
        tuple(_discrete(source, n_states + k, ranges.discrete + k, wanted) for k in range(n_discrete)),
        tuple(_parameter(source, name, ranges.parameter + k) for k, name in enumerate(p)),
        tuple(_input(source, name, ranges.input + k) for k, name in enumerate(given) if _is_chosen(source, name)),
        tuple(
            ExportedVariable(
                name, ranges.output + k, "output", "continuous", "calculated", unit, note=_left_out(dynamics, name)
            )
            for k, (name, unit) in enumerate(values)
        ),
        tuple(
            ExportedVariable(f"event_indicators[{k + 1}]", ranges.indicator + k) for k in range(source.n_indicators)
        ),
        tuple(name for name, _ in values),
    )  # fmt: skip


def _left_out(dynamics: Dynamics, name: str) -> str:
    loads = left_out_of(dynamics.topology, find_quantity(dynamics.system, name))
    return f"without {' and '.join(loads)}" if loads else ""


def _count_discrete(dynamics: Dynamics) -> int:
    events = dynamics.topology.events
    return 0 if events is None else events.n_held


def _check_outputs(dynamics: Dynamics, outputs: Sequence[str] | None) -> tuple[str, ...]:
    """The names of the outputs, each once; those that an FMU cannot give are refused by name."""
    if outputs is None:
        return default_outputs(dynamics)
    if isinstance(outputs, str):
        raise ArgumentError(f"outputs: a list of names is expected, not the text {outputs!r}")
    for text in outputs:
        quantity = find_quantity(dynamics.system, text)
        if quantity.sort in ("parameter", "input", "time"):
            raise ArgumentError(f"outputs: {text} is a variable of the FMU already, as {quantity.sort}")
        if not has_start_pattern(dynamics, quantity):
            message = "equilibrium alone does not determine it, and the rule that shares it here is not in the FMU"
            raise ArgumentError(f"outputs: {text}: {message}")
    return tuple(dict.fromkeys(outputs))


def _entries(quantity: QuantityName) -> list[tuple[str, str]]:
    """The scalars of a quantity, each with its name and unit."""
    if quantity.part is not None or not quantity.parts:
        dimension = quantity.dimension if isinstance(quantity.dimension, str) else quantity.dimension[0]
        return [(quantity.text, _unit(dimension, quantity.sort))]
    head, at, axes = quantity.text.partition("@")
    each = (quantity.dimension,) * len(quantity.parts) if isinstance(quantity.dimension, str) else quantity.dimension
    return [(f"{head}.{part}{at}{axes}", _unit(x, quantity.sort)) for part, x in zip(quantity.parts, each, strict=True)]


def _unit(dimension: str, sort: str) -> str:
    unit = "" if sort == "signal" else DIMENSIONS[dimension].unit
    return "" if unit == "1" else unit


def find_exponents(unit: str) -> Dimension:
    """The exponents of the SI base units in a unit."""
    known = next((named for named in DIMENSIONS.values() if named.unit == unit), None)
    return parse_si_unit(unit) if known is None else known.dimension


def _nominal(size: float) -> float | None:
    """A typical size of a state as a power of ten; importers scale their tolerances by it."""
    if not LEAST_NOMINAL < size < 1.0 / LEAST_NOMINAL:
        return None
    power = round(math.log10(size))
    return None if power == 0 else float(f"1e{power}")


def _state(source: VariableSource, k: int, reference: int, wanted: set[str]) -> ExportedVariable:
    name = source.dynamics.coordinates[k].name
    unit, start = _entries(find_quantity(source.dynamics.system, name))[0][1], float(source.start[k])
    return ExportedVariable(
        name, reference, "output" if name in wanted else "local", "continuous",
        "approx" if source.started_by else "exact", unit, start, nominal=_nominal(float(source.sizes[k])),
    )  # fmt: skip


def _derivative(state: ExportedVariable, reference: int) -> ExportedVariable:
    unit = "rad/s" if state.unit == "rad" else "rad/s^2" if state.unit == "rad/s" else _per_second(state.unit)
    return ExportedVariable(f"der({state.name})", reference, unit=unit, derivative_of=state.reference)


def _per_second(unit: str) -> str:
    """The SI unit of the rate of a quantity."""
    rate = (find_exponents(unit) if unit else DIMENSIONLESS) / DIMENSIONS["time"].dimension
    text = rate.unit
    return "" if text == "1" else text


def _discrete(source: VariableSource, k: int, reference: int, wanted: set[str]) -> ExportedVariable:
    name = source.dynamics.coordinates[k].name
    unit = _entries(find_quantity(source.dynamics.system, name))[0][1]
    return ExportedVariable(name, reference, "output" if name in wanted else "local", "discrete", "calculated", unit)


def _parameter(source: VariableSource, name: str, reference: int) -> ExportedVariable:
    record, k = source.dynamics.system.parameters[name], reference
    value = float(source.dynamics.arguments.parameters[source.dynamics.topology.parameters.index(name)])
    low, high = record.bounds or (None, None)
    variability = "fixed" if name in source.fixed else "tunable"
    note = " ".join(text for text in (record.note, FROZEN_NOTE if name in source.frozen else "") if text)
    return ExportedVariable(
        name, k, "parameter", variability, "exact", _own_unit(record.dimension), value,
        low if low is not None and math.isfinite(low) else None,
        high if high is not None and math.isfinite(high) else None, note=note,
    )  # fmt: skip


def _input(source: VariableSource, name: str, reference: int) -> ExportedVariable:
    record = source.dynamics.system.inputs[name]
    value = float(source.dynamics.arguments.inputs[source.dynamics.topology.inputs.index(name)])
    return ExportedVariable(name, reference, "input", "continuous", None, _own_unit(record.dimension), value)


def _own_unit(dimension: Dimension | None) -> str:
    return "" if dimension is None or dimension == DIMENSIONLESS else dimension.unit


def _is_chosen(source: VariableSource, name: str) -> bool:
    """Whether an input of the model is one of the FMU; a name that is no input is refused."""
    chosen = source.inputs
    if chosen is None:
        return True
    for text in chosen:
        if text not in source.dynamics.topology.inputs:
            raise ArgumentError(unknown("inputs: no input is called", text, source.dynamics.topology.inputs))
    return name in chosen


def with_dependencies(variables: ExportedVariables, of_rates: Sequence[frozenset[int]] | None,
                      of_outputs: Sequence[frozenset[int]] | None) -> ExportedVariables:  # fmt: skip
    """The same variables with what derivatives and outputs depend on, as value references."""
    exposed = {x.reference for x in (*variables.states, *variables.inputs)}

    def add(targets: Sequence[ExportedVariable], each: Sequence[frozenset[int]] | None) -> tuple[ExportedVariable, ...]:
        if each is None:
            return tuple(targets)
        return tuple(
            replace(x, depends_on=tuple(sorted(known & exposed))) for x, known in zip(targets, each, strict=True)
        )

    return replace(
        variables, derivatives=add(variables.derivatives, of_rates), outputs=add(variables.outputs, of_outputs)
    )
