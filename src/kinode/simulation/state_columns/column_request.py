"""Reads ``sensitivity=``: parameters, inputs and initial values by name, and checks that a run can have them."""

from __future__ import annotations

from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.derivative_calls.derivative_request import ARRAYS, Names, read_direction, read_names
from kinode.errors import ArgumentError
from kinode.kernels.tree_size import is_large
from kinode.model.base.fields import unknown
from kinode.ode.method_table import METHODS
from kinode.ode.runs.input_table import Inputs, split_inputs
from kinode.simulation.state_columns.column_values import ColumnRequest


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


def check_method(dynamics: Dynamics, method: str, formulation: str) -> None:
    """Refuse what cannot carry columns: external solvers, other formulations, functions in Python."""
    chosen = METHODS[method]
    if chosen.tableau is None:
        others = [x.name for x in METHODS.values() if x.tableau is not None]
        raise ArgumentError(f"sensitivity: method {method!r} does not integrate derivatives; use {', '.join(others)}")
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
