"""What a run is differentiated by: parameters, inputs and initial values by name, a column for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.derivative_calls.derivative_request import ARRAYS, read_direction, read_names
from kinode.errors import ArgumentError
from kinode.kernels.tree_size import is_large
from kinode.model.base.fields import unknown
from kinode.ode.method_table import METHODS
from kinode.ode.runs.input_table import Inputs, split_inputs
from kinode.records import dataclass

Names = str | Iterable[str]
LOADED = "loaded"
"""In place of the start of a run that was read from a file."""


@dataclass(frozen=True, eq=False)
class ColumnRequest:
    """Names, and for each the array and position of a parameter or input; None for an initial value."""

    names: tuple[str, ...]
    by: tuple[tuple[str, int] | None, ...]

    def values(self, p: Array, inputs: Inputs) -> list[float | None]:
        """The values of parameters and inputs; None for initial values."""
        arrays = {"p": p, "inputs": split_inputs(inputs)[0]}
        return [None if by is None else float(arrays[by[0]][by[1]]) for by in self.by]


@dataclass(frozen=True, eq=False)
class StartColumns:
    """A request with the derivatives of the start: a row for each name."""

    request: ColumnRequest
    matrix: Array
    start: Any = None
    """The argument ``start=`` of the run."""

    def scales(self, p: Array, inputs: Inputs) -> tuple[float, ...]:
        """For each column the size of what it is the derivative by, for its tolerance; 1 where that is zero."""
        return tuple(abs(value or 0.0) or 1.0 for value in self.request.values(p, inputs))


@dataclass(frozen=True, eq=False)
class RunColumns:
    """The derivatives of the states of a run, ``values[k, j]`` of y[k] by the j-th name.

    ``lost`` says from when on they do not exist, and why; rows after ``lost_time`` mean nothing.
    """

    request: ColumnRequest
    values: Array
    lost_time: float | None = None
    lost: str = ""
    start: Any = None
    """The argument ``start=`` of the run; ``LOADED`` for one from a file, which does not keep it."""

    @property
    def message(self) -> str:
        """From when on there are no derivatives, and why; empty if there are to the end."""
        if self.lost_time is None:
            return ""
        return f"the run has no derivative from t = {self.lost_time:.9g} s on: {self.lost}"

    @property
    def facts(self) -> dict[str, str]:
        """What the facts of a run say of its derivatives."""
        return {"sensitivity": ", ".join(self.request.names)} | (
            {"sensitivity_end": self.message} if self.message else {}
        )

    def cut(self, rows: int) -> RunColumns:
        """The first rows."""
        return replace(self, values=self.values[:rows])


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


def join_row(y: Array, columns: StartColumns | None) -> Array:
    """The start of a run: the state, then its columns."""
    return y if columns is None else np.concatenate([y, columns.matrix.ravel()])


def describe_lost(dynamics: Dynamics, why: Any, function: int) -> str:
    """Why derivatives do not exist any more, in words."""
    from kinode.ode.loops.run_codes import Lost

    table = dynamics.topology.events
    owner = table.roots[function].owner if table is not None and table.roots else "a law of time"
    return {
        Lost.GRAZING: f"{owner} only touches a threshold there (grazing): a small change decides whether it is crossed",
        Lost.TOGETHER: f"{owner} changes at the same instant as another: a small change decides which comes first",
        Lost.APPEARS: f"a condition of {owner} is met just there: a small change decides whether its mode changes",
    }[why]
