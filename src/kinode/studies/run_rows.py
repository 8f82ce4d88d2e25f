"""One run of a batch, from its values to a row of results.

What distinguishes the runs are values of parameters, inputs and initial values by name.  All names of a system are in
one space, so that a flat mapping says it: ``{"stiffness": 250, "elbow.q": "30 deg"}``.

It is the run that ``kn.simulate`` makes of the same compiled system and values, bit for bit.  Whatever goes wrong in it
is a row that says so, and leaves the other runs alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.direct_calls import forget_builtins
from kinode.dynamics.starts.initial_values import read_initial_values
from kinode.errors import ArgumentError, Error, LawError, UnitError
from kinode.model.base.fields import short
from kinode.ode.input_table import Inputs
from kinode.results.trajectory import Trajectory
from kinode.simulation.input_courses import read_run_inputs
from kinode.simulation.run_arguments import read_row
from kinode.studies.kept_results import Kept, reduce_run
from kinode.tasks.simulate import RunStart, RunTask, compute_run, find_begin

Values = Mapping[str, Any]


@dataclass(frozen=True)
class SplitValues:
    """The values of one run by what they are."""

    parameters: dict[str, Any]
    inputs: dict[str, Any]
    start: dict[str, Any]


def split_values(dynamics: Dynamics, values: Values) -> SplitValues:
    """Values by name as parameters, live numbers among them, inputs and, what remains, initial values."""
    topology, split = dynamics.arguments.topology, SplitValues({}, {}, {})
    for name, value in values.items():
        is_parameter = name in dynamics.system.parameters or name in topology.parameters or _is_live(dynamics, name)
        of = split.parameters if is_parameter else split.inputs if name in topology.inputs else split.start
        of[name] = value
    return split


def _is_live(dynamics: Dynamics, name: str) -> bool:
    """Whether a name is that of a live number that takes other values."""
    return name in dynamics.live and not dynamics.live[name].structural


def check_names(dynamics: Dynamics, values: Values) -> None:
    """Raise for a name that is no parameter, no input and no coordinate."""
    for name in values:
        if name in dynamics.live and dynamics.live[name].structural:
            reason = dynamics.live[name].reason
            raise ArgumentError(f"{name}: other values need a new compilation: {reason}")
    for name, value in split_values(dynamics, values).start.items():
        try:
            read_initial_values(dynamics.arguments, {name: value}, dynamics.system.nominal)
        except (LawError, UnitError):
            raise  # the name is known, and its value cannot be read
        except Error as error:
            raise ArgumentError(f"{name}: neither a parameter nor an input nor an initial value: {error}") from None


def read_sets(values: Sequence[Values] | Mapping[str, Any]) -> list[dict[str, Any]]:
    """One mapping for each run, from a sequence of them, or from a table of columns by name."""
    if isinstance(values, Mapping):
        lengths = {name: np.size(column) for name, column in values.items()}
        if len(set(lengths.values())) > 1:
            each = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise ArgumentError(f"values: the columns of a table have the same length, not {each}")
        columns = [list(np.atleast_1d(np.asarray(column)).tolist()) for column in values.values()]
        return [dict(zip(values, row, strict=True)) for row in zip(*columns, strict=True)]
    sets = []
    for row in values:
        if not isinstance(row, Mapping):
            raise ArgumentError(f"values: a mapping of names to values is expected for each run, not {short(row)}")
        sets.append(dict(row))
    return sets


def read_value(dynamics: Dynamics, name: str, value: Any) -> float:
    """One value of a parameter, an input or a coordinate, in SI units; a text may have a unit."""
    split, read = split_values(dynamics, {name: value}), dynamics.arguments
    if split.parameters:
        vector = read.read_parameters(split.parameters)
        place = dynamics.live[name].parameter if _is_live(dynamics, name) else name
        return float(vector[list(read.topology.parameters).index(place)])
    if split.inputs:
        return float(read.read_inputs(split.inputs)[list(read.topology.inputs).index(name)])
    check_names(dynamics, split.start)
    return read.read_number(name, value)


FAILED = "failed"


@dataclass(frozen=True, eq=False)
class RunRow:
    """What a run of a batch gave.

    Attributes
    ----------
    index : int
        The place of its values among those of the batch.
    values : mapping
        What distinguishes the run, by name.
    status : str
        "done", "condition" (``stop_when`` became true) or "failed".
    message : str
        How the run ended, in words.
    results : mapping of str to float or array
        What was asked for, by its text; nan where the run failed.
    notes : tuple of str
        Guesses of the start that were not kept.
    """

    index: int
    values: Values
    status: str
    message: str
    results: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the run failed."""
        return self.status == FAILED


@dataclass(eq=False)
class RowMaker:
    """Makes the runs of a batch; several threads may call it at a time."""

    task: RunTask
    start: Any
    """The start that all runs have in common: values by name, a state, a run or None."""
    kept: Sequence[Kept]
    """What is kept of each run."""
    _with_rows: dict[tuple[int, ...], Dynamics] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self, values: Values) -> None:
        """Raise for initial values beside a start that is not given by name."""
        by_name = self.start is None or isinstance(self.start, Mapping)
        names = split_values(self.task.dynamics, values).start
        if names and not by_name:
            name = next(iter(names))
            raise ArgumentError(f"start: {name} is to vary, and the start is a whole state: give its values by name")

    def make(self, index: int, values: Values, progress: Callable[[float], Any] | None = None) -> RunRow | None:
        """The row of a run; None for a run that ``progress`` stopped."""
        try:
            begin, p, inputs = self.find_start(values)
            run = compute_run(self.task, begin, p, inputs, False if progress is None else progress)
            return None if run.status == "stopped" else self.finish(index, values, begin, run)
        except Exception as error:  # a fault of one run is no reason to lose the others
            return self.fail(index, values, error)

    def finish(self, index: int, values: Values, begin: RunStart, run: Trajectory) -> RunRow:
        """The row of a run that was made."""
        notes = tuple(notice.message for notice in begin.notices)
        if run.ending.failed:
            return fail_row(index, values, self.kept, run.message, notes)
        return RunRow(index, values, run.status, run.message, reduce_run(run, self.kept), notes)

    def fail(self, index: int, values: Values, error: Exception) -> RunRow:
        """The row of a run that an error ended."""
        words = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
        return fail_row(index, values, self.kept, words)

    def find_start(self, values: Values) -> tuple[RunStart, Array, Inputs]:
        """The start of a run, with its parameters and inputs."""
        dynamics = self.task.dynamics
        split = split_values(dynamics, values)
        p = read_row(dynamics, "p", split.parameters or None)
        inputs = read_run_inputs(dynamics, split.inputs or None)
        start = {**(self.start or {}), **split.start} if split.start else self.start
        return self._begin(start, p, inputs), p, inputs

    def _begin(self, start: Any, p: Array, inputs: Inputs) -> RunStart:
        """The start of a run; what it found about constraint rows is kept from the other runs."""
        dynamics = self.task.dynamics
        if not dynamics.start.open_topology.constrained:
            return find_begin(self.task, start, p, inputs)
        with dynamics.start.lock:
            rows = dynamics.start.known_rows
            begin = find_begin(self.task, start, p, inputs)
            now = dynamics.start.known_rows
            if rows is None or now is None or now == rows:
                return begin
            dynamics.start.use_rows(rows)
            forget_builtins(dynamics)
            if begin.dynamics is dynamics:
                return RunStart(self._compiled_with(now), begin.state, begin.notices)
            return begin

    def _compiled_with(self, rows: tuple[int, ...]) -> Dynamics:
        """The system compiled with other independent constraint rows."""
        with self._lock:
            if rows not in self._with_rows:
                dynamics = self.task.dynamics
                self._with_rows[rows] = Dynamics(dynamics.system, dynamics.formulation, rows=rows)
            return self._with_rows[rows]


def fail_row(index: int, values: Values, kept: Sequence[Kept], message: str, notes: tuple[str, ...] = ()) -> RunRow:
    """The row of a run that failed."""
    nothing = {each.text: np.full(each.size, np.nan) if each.size else np.nan for each in kept}
    return RunRow(index, values, FAILED, message, nothing, notes)
