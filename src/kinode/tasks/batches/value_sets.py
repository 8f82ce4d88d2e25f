"""What distinguishes the runs of a batch: values of parameters, inputs and initial values, by name.

All names of a system are in one space, so that a flat mapping says it: ``{"stiffness": 250, "elbow.q": "30 deg"}``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.initialization.initial_values import read_initial_values
from kinode.errors import ArgumentError, Error, LawError, UnitError
from kinode.model.base.fields import short

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
