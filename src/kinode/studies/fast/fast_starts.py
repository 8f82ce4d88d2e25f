"""The starts of many runs of one task as matrices: parameters, inputs and states, a row for each run.

What the runs vary tells how their starts are found.  Where it moves no start, that of the first run serves all.  In a
tree, initial values are put into their columns, and following states are computed for all runs in one call.  Where a
network has to be solved, each start is found by itself.  All of them are those of single runs to the last bit.  A run
whose start says anything (a wrong value, a guess not kept) is left out: it is made by itself, and says it there.

Not served are systems whose loops have to be closed: their runs are made one by one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.starts.initial_values import LATER_FIELDS, read_initial_values
from kinode.dynamics.starts.start_quantities import make_consistent
from kinode.errors import Error
from kinode.expressions.syntax_tree import Expression
from kinode.kernels.start_outputs import find_followers
from kinode.model.joints.joint import Joint
from kinode.model.system_checks import check_parameters
from kinode.ode.input_table import Inputs, VaryingInputs, inputs_at, split_inputs
from kinode.simulation.solver import check_start
from kinode.structure.state_layout import EvaluationPoint
from kinode.studies.batch import RowMaker, Values, split_values
from kinode.tasks.simulate import RunStart


@dataclass(frozen=True, eq=False)
class Starts:
    """The starts of some runs.

    Attributes
    ----------
    y, p : array
        States and parameters, (run, ...).
    inputs : array or VaryingInputs
        (run, ...); those that change with time are common to all runs.
    ready : array of bool
        The runs that can begin; others are made by themselves.
    """

    y: Array
    p: Array
    inputs: Inputs
    ready: Array

    def chosen(self, which: Array) -> Starts:
        """The starts of some of the runs."""
        inputs = self.inputs if isinstance(self.inputs, VaryingInputs) else self.inputs[which]
        return Starts(self.y[which], self.p[which], inputs, self.ready[which])

    @property
    def input_rows(self) -> Array:
        """The inputs of each run; of those that change with time the first value."""
        return np.tile(self.inputs.row, (len(self.y), 1)) if isinstance(self.inputs, VaryingInputs) else self.inputs

    def inputs_of(self, k: int) -> Inputs:
        """The inputs of a run."""
        return self.inputs if isinstance(self.inputs, VaryingInputs) else self.inputs[k]


class StartTable:
    """Finds the starts of runs that vary the same names.

    Parameters
    ----------
    maker : RowMaker
        What makes a run by itself.
    values : mapping
        The values of a run that can begin.
    varying : set of str
        The names whose values differ from run to run.
    """

    def __init__(self, maker: RowMaker, values: Values, varying: frozenset[str]) -> None:
        self.maker, self.dynamics = maker, maker.task.dynamics
        self.begin, self.p, self.inputs = maker.find_start(values)
        check_start(self.dynamics, self.begin.state, self.p, self.inputs)
        self.usable = not self.begin.notices
        """Whether the start of that run says nothing."""
        self.values, self.varying = values, varying
        parameters, entries, initial = split_values(self.dynamics, {name: values[name] for name in varying})
        self.parameters = {name: self._find_place(name) for name in parameters}
        self.entries = {name: self.dynamics.topology.inputs.index(name) for name in entries}
        self.initial = tuple(initial)
        self.changed = self._find_changed()
        self.rows_are_read = None not in self.parameters.values() and (
            not self.entries or not isinstance(self.inputs, VaryingInputs)
        )
        """Whether parameters and inputs are put into matrices as they are."""
        self._checked = self._needs_checks()
        self._moved = self._moves_start()
        self._placed = self._moved and self.rows_are_read and self._can_place()

    # -- what varies --------------------------------------------------------------------------------------
    def _find_place(self, name: str) -> int | None:
        """The place of a parameter in its vector; None for one that has to be read by name."""
        known, live = self.dynamics.topology.parameters, self.dynamics.live
        if name in live:
            return known.index(live[name].parameter)
        return known.index(name) if name in known else None

    def _find_changed(self) -> frozenset[str]:
        """The names of the parameters that vary, those calculated from others among them."""
        known, live = self.dynamics.system.parameters, self.dynamics.live
        changed = {live[name].parameter if name in live else name for name in self.parameters}
        for name, parameter in known.items():  # each after those that it is calculated from
            value = parameter.value
            if isinstance(value, Expression) and not changed.isdisjoint(value.names()):
                changed.add(name)
        return frozenset(changed)

    def _needs_checks(self) -> bool:
        """Whether other values of the parameters may be impossible, so that each run's are checked."""
        system = self.dynamics.system
        if len(self.changed) > len(self.parameters):  # some are calculated from others
            return True
        joints = [joint for joint in system.joints.values() if joint.friction is not None or joint.ends is not None]
        checked = (*system.bodies.values(), *joints, *system.elements.values(), *system.parts.values())
        return any(self.changed & component.used_names for component in checked)

    def _has_rigid_ends(self) -> bool:
        return any(joint.ends is not None and joint.ends.rigid for joint in self.dynamics.system.joints.values())

    def _moves_start(self) -> bool:
        """Whether starts differ."""
        start = self.dynamics.start
        counting = {start.open_topology.parameters[k] for k in start.parameters_that_count}
        if self.initial or self.entries or None in self.parameters.values():
            return True
        return not counting.isdisjoint(self.changed) or bool(self._has_rigid_ends() and self.changed)

    def _can_place(self) -> bool:
        """Whether coordinates are given as they are, and other states follow by one function."""
        topology, system = self.dynamics.topology, self.dynamics.system
        if topology.network is not None or self._has_rigid_ends():
            return False
        followers = find_followers(topology)
        if topology.layout.quaternions and (followers or self.initial):
            return False
        if any(self.changed & system[name].used_names for name in (*topology.z_of, *topology.layout.discrete_of)):
            return False
        for joint in system.joints.values():
            fields = (law for field, law in joint.expressions() if field not in LATER_FIELDS)
            if any(not self.changed.isdisjoint(law.names()) for law in fields):
                return False
        return all(self._find_column(name) is not None for name in self.initial)

    def _find_column(self, name: str) -> int | None:
        """The column of an initial value in the state; None for one that others depend on."""
        roles = self.dynamics.topology.layout.role_slices
        coordinate = next((c for c in self.dynamics.coordinates if c.name == name), None)
        if coordinate is None or (coordinate.role == "z" and self.dynamics.topology.events is not None):
            return None
        joint = self.dynamics.system.joints.get(coordinate.joint)
        if coordinate.role != "z" and (joint is None or type(joint).initial_u is not Joint.initial_u):
            return None
        return int(roles[coordinate.role].start) + coordinate.index

    # -- starts -------------------------------------------------------------------------------------------
    def find(self, sets: Sequence[Values]) -> Starts:
        """The starts of some runs."""
        columns = {name: [values[name] for values in sets] for name in self.varying}
        plain = all(type(value) is float and math.isfinite(value) for column in columns.values() for value in column)
        if not plain or not self.rows_are_read or (self._moved and not self._placed):
            return self._find_each(sets)
        count = len(sets)
        p, ready = np.tile(self.p, (count, 1)), np.ones(count, dtype=bool)
        for name, place in self.parameters.items():
            assert place is not None
            p[:, place] = columns[name]
            ready &= self._is_within(name, p[:, place])
        inputs = self.inputs if isinstance(self.inputs, VaryingInputs) else np.tile(self.inputs, (count, 1))
        for name, entry in self.entries.items():
            assert not isinstance(inputs, VaryingInputs)
            inputs[:, entry] = columns[name]
        if self._checked:
            self._check(p, ready)
        y = np.tile(self.begin.state.y, (count, 1))
        if self._placed:
            self._place(y, columns, p, inputs)
            ready &= np.isfinite(y).all(axis=1)
        return Starts(y, p, inputs, ready)

    def _is_within(self, name: str, values: Array) -> Any:
        bounds = None if name in self.dynamics.live else self.dynamics.system.parameters[name].bounds
        return True if bounds is None else (bounds[0] <= values) & (values <= bounds[1])

    def _check(self, p: Array, ready: Array) -> None:
        """Leave out runs with impossible values of parameters."""
        arguments = self.dynamics.arguments
        for k in np.flatnonzero(ready):
            try:
                check_parameters(self.dynamics.system, arguments.resolver(p[k]), self.changed)
            except Error:
                ready[k] = False

    def _place(self, y: Array, columns: dict[str, list[Any]], p: Array, inputs: Inputs) -> None:
        """Put initial values into their columns, and let following states follow."""
        dynamics = self.dynamics
        given = {**(self.maker.start or {}), **split_values(dynamics, self.values)[2]}
        requested = read_initial_values(dynamics.arguments, given, dynamics.arguments.resolver(self.p))
        y[:, dynamics.topology.layout.role_slices["z"]] = requested.z
        for name in self.initial:
            y[:, self._find_column(name)] = columns[name]
        q, u, z = dynamics.topology.layout.split(y)
        t = self.begin.state.t
        point = EvaluationPoint(np.full(len(y), t), q, u, z, p, inputs_at(inputs, t))
        z[:] = make_consistent(dynamics.start.quantities, point, requested.given_states).z

    def _find_each(self, sets: Sequence[Values]) -> Starts:
        """The starts of runs one by one."""
        count = len(sets)
        y, p = np.zeros((count, len(self.begin.state.y))), np.zeros((count, len(self.p)))
        inputs = np.zeros((count, len(split_inputs(self.inputs)[0])))
        ready = np.zeros(count, dtype=bool)
        for k, values in enumerate(sets):
            try:
                begin, row, run_inputs = self.maker.find_start(values)
                check_start(self.dynamics, begin.state, row, run_inputs)
            except Error:
                continue
            if not self._is_alike(begin, run_inputs):
                continue
            y[k], p[k], inputs[k], ready[k] = begin.state.y, row, split_inputs(run_inputs)[0], True
        return Starts(y, p, self.inputs if isinstance(self.inputs, VaryingInputs) else inputs, ready)

    def _is_alike(self, begin: RunStart, inputs: Inputs) -> bool:
        """Whether a start says nothing, and goes with that of the first run."""
        (row, courses), (own_row, own) = split_inputs(inputs), split_inputs(self.inputs)
        alike = courses is own and (own is None or np.array_equal(row, own_row))
        return alike and begin.state.t == self.begin.state.t and not begin.notices
