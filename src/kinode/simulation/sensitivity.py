"""Derivatives of runs: reads ``sensitivity=``, compiles the functions of a run with columns, finds breaks and jumps.

Parameters, inputs and initial values are given by name.  Each compiled function of a run with columns gives the
derivatives of its result beside it.

At a break the argument x(t, p) of a comparison, a ``floor`` or a table is at one of its levels, which are numbers.  So
its time has the rate -(dx/dp) / (dx/dt).

Events with a threshold of their own (stops, friction, switches, relays) are located, and derivatives pass them.  A law
such as ``10*(elbow.q > 1)`` or ``sign(elbow.u)`` jumps within a step, which error control makes short there; nothing
locates the jump, and a run has no derivative behind that time.  So the run is repeated without derivatives at its own
steps, the results of all comparisons in laws are compared from step to step, and where one changes, the rates of the
state on both sides of it.  Equal rates are no jump: most comparisons join the pieces of a continuous law.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinode.algebra.scalars import PIECEWISE_CONSTANT, Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.derivatives.derivative_request import ARRAYS, Names, read_direction, read_names
from kinode.errors import ArgumentError
from kinode.expressions.syntax_tree import Expression, walk
from kinode.jit.machine_code import Machine
from kinode.kernels.kernel_options import ColumnOptions, Kernel
from kinode.kernels.tree_size import is_large
from kinode.model.base.fields import unknown
from kinode.model.system import System
from kinode.model.system_checks import laws_of
from kinode.ode.input_table import Inputs, inputs_at, split_inputs
from kinode.ode.kernel_spec import ColumnSpec, EventSpec, KernelSpec
from kinode.ode.loops.run_codes import JacobianForm
from kinode.simulation.column_values import ColumnRequest
from kinode.simulation.run_kernels import find_event_kernels
from kinode.simulation.time_events import TIME_ROUNDING, TimeAnalysis, constant_values, find_levels


def read_columns(dynamics: Dynamics, names: Names) -> ColumnRequest:
    """What ``sensitivity=`` asks for; every name that cannot be is refused."""
    listed = read_names("sensitivity", names, "elbow.q")
    return ColumnRequest(listed, tuple(_read_name(dynamics, name) for name in listed))


def _read_name(dynamics: Dynamics, name: str) -> tuple[str, int] | None:
    topology, live = dynamics.arguments.topology, dynamics.arguments.live_numbers
    if name in topology.parameters:
        return "p", topology.parameters.index(name)
    if name in ARRAYS and name not in topology.inputs:
        raise ArgumentError(
            f"sensitivity: a parameter, an input or an initial value is expected by its name, not {name!r}"
        )
    if name in topology.inputs or name in dynamics.system.parameters or name in live:
        array, position = read_direction(dynamics, name, "sensitivity")
        assert position is not None
        return array, position
    states = {c.name: c for c in dynamics.coordinates}
    if name not in states:
        known = [*topology.parameters, *topology.inputs, *states, *live]
        raise ArgumentError(unknown("sensitivity: no parameter, input or initial value is called", name, known))
    _check_coordinate(dynamics, name)
    return None


def _check_coordinate(dynamics: Dynamics, name: str) -> None:
    """Refuse an initial value that cannot change by itself: a component of a quaternion, a mode."""
    layout = dynamics.topology.layout
    coordinate = next(c for c in dynamics.coordinates if c.name == name)
    index = layout.role_slices[coordinate.role].start + coordinate.index
    if any(start <= index < start + 4 for start in layout.quaternions):
        raise ArgumentError(f"sensitivity: {name} is part of a quaternion, whose entries depend on each other")
    events = dynamics.topology.events
    if events is not None and coordinate.role == "z" and coordinate.index in events.modes:
        raise ArgumentError(f"sensitivity: {name} is a mode, which has no derivative")


def check_method(dynamics: Dynamics, formulation: str) -> None:
    """Refuse what cannot carry columns: other formulations, functions in Python."""
    if formulation != "recursive":
        raise ArgumentError(f"sensitivity: needs the formulation 'recursive', not {formulation!r}")
    if is_large(dynamics.topology):
        links = len(dynamics.topology.tree.nodes)
        raise ArgumentError(
            f"sensitivity: {links} links are too many: code with derivatives would take long to compile"
        )
    for element in dynamics.system.elements.values():
        if element.doors and element.event_functions:
            message = "may have events in an FMU, whose derivatives are not known; events=False leaves them out"
            raise ArgumentError(f"sensitivity: {element.name} {message}")
    events = dynamics.topology.events
    for entry in () if events is None else events.samplers:
        if entry.sampler.call is not None:
            raise ArgumentError(f"sensitivity: {entry.owner} is {entry.sampler.what}, which has no derivative")
        if getattr(dynamics.system[entry.owner], "resolution", None) is not None:
            message = "rounds its samples (resolution), and a rounded number has no derivative of use"
            raise ArgumentError(f"sensitivity: {entry.owner} {message}")


def check_inputs(request: ColumnRequest, inputs: Inputs) -> None:
    """Refuse inputs over time as what is differentiated by."""
    courses = split_inputs(inputs)[1]
    for name, by in zip(request.names, request.by, strict=True):
        if courses is not None and by is not None and by[0] == "inputs" and by[1] in courses.entries:
            raise ArgumentError(f"sensitivity: {name} changes over time, and is no single number to differentiate by")


def add_columns(
    dynamics: Dynamics, kernel: KernelSpec, request: ColumnRequest, scales: tuple[float, ...], break_rates: Array | None
) -> KernelSpec:
    """The functions of an integration with columns.

    Parameters
    ----------
    dynamics : Dynamics
    kernel : KernelSpec
        Its functions without columns.
    request : ColumnRequest
        What the columns are derivatives by.
    scales : tuple of float
        The size of each of these.
    break_rates : array or None
        Rates of the times of breaks, a row for each.
    """
    kernels = _find_options(dynamics, request)
    dynamics.kernels.prepare(kernels.values())
    machines = {name: dynamics.kernels.machine(options) for name, options in kernels.items()}
    works = [machine.sizes["work"] for machine in machines.values()]
    functions = machines.get("roots")
    columns = ColumnSpec(
        len(request.names), scales,
        functions=0 if functions is None else functions.address,
        n_functions=0 if functions is None else functions.sizes["out"],
        n_inputs=len(dynamics.topology.inputs),
        n_argument=max(machine.sizes["x"] for machine in machines.values()),
        break_rates=break_rates,
    )  # fmt: skip
    return replace(
        kernel, address=machines["rate"].address, n_work=max(kernel.n_work, *works), columns=columns,
        jacobian=kernel.jacobian if kernel.jacobian and kernel.jacobian.form == JacobianForm.WHOLE else None,
        projection=machines["projection"].address if "projection" in machines else 0,
        events=None if kernel.events is None else _replace_events(kernel.events, machines),
    )  # fmt: skip


def _find_options(dynamics: Dynamics, request: ColumnRequest) -> dict[str, Kernel]:
    """The kernels with columns, by the name of the kernel without."""
    table, by = dynamics.topology.events, request.by
    options = {"rate": ColumnOptions(Kernel("rate"), by)}
    if dynamics.topology.constrained:
        options["projection"] = ColumnOptions(Kernel("projection"), by)
    used = () if table is None else find_event_kernels(table)
    for name in ("jump", "sample"):
        if name in used:
            options[name] = ColumnOptions(Kernel(name), by, with_time=True)
    if "roots" in used:
        options["roots"] = ColumnOptions(Kernel("roots"), (*by, None), with_time=True)
    return {name: Kernel("columns", each) for name, each in options.items()}


def _replace_events(events: EventSpec, machines: dict[str, Machine]) -> EventSpec:
    """The events with reset maps and samples that give columns too."""
    jump, sample = machines.get("jump"), machines.get("sample")
    reset = events.reset if jump is None else jump.address
    return replace(events, reset=reset, sample=events.sample if sample is None else sample.address)


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


SWITCHES, RATE = Kernel("switches"), Kernel("rate")
BISECTIONS = 50  # of the way between two steps
JUMP = 1e-6  # change of a rate, as a share of the largest along the run
JUMPING = PIECEWISE_CONSTANT | {"call"}


def has_switches(dynamics: Dynamics) -> bool:
    """Whether a comparison, a sign or a table in a law is decided by the state."""
    return dynamics.kernels.machine(SWITCHES).sizes["out"] > 1


def find_jump(dynamics: Dynamics, t: Array, y: Array, p: Array, inputs: Inputs) -> tuple[float, str] | None:
    """The time at which a law jumps first, and its name in words; None if no law jumps.

    ``t, y`` are the steps of the run.
    """

    def call(kernel: Kernel, times: Array, states: Array) -> Array:
        return dynamics.kernels.call(kernel, dynamics.point_of(times, states, p, inputs_at(inputs, times)))

    pattern = call(SWITCHES, t, y)
    changes = np.flatnonzero((pattern[1:] != pattern[:-1]).any(axis=1) & (np.diff(t) > 0.0))
    if not len(changes):
        return None
    largest = abs(call(RATE, t, y)).max(axis=0)
    low, high = np.zeros(len(changes)), np.ones(len(changes))
    t0, dt, y0, dy = t[changes], np.diff(t)[changes], y[changes], np.diff(y, axis=0)[changes]

    def at(share: Array) -> tuple[Array, Array]:
        return t0 + share * dt, y0 + share[:, None] * dy

    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        same = (call(SWITCHES, *at(middle)) == pattern[changes]).all(axis=1)
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    jumps = abs(call(RATE, *at(high)) - call(RATE, *at(low)))
    jumping = np.flatnonzero((jumps > JUMP * largest + 1e-300).any(axis=1))
    if not len(jumping):
        return None
    return float(t0[jumping[0]]), _describe(dynamics)


def _describe(dynamics: Dynamics) -> str:
    """The laws that may jump, by name."""
    names = [
        f"{component.name}.{field}"
        for component in dynamics.system.components.values()
        for field, law in laws_of(component)
        if isinstance(law, Expression) and any(node.op in JUMPING for node in walk(law))
    ]
    which = f"one of the laws {', '.join(names)}" if len(names) > 1 else f"the law {names[0]}" if names else "a law"
    advice = "give the jump a width, as tanh(x/width) for sign(x), or use a relay, a switch, friction= or stop="
    return f"{which} jumps there, and only events are located exactly; {advice}"
