"""Reads the axes of a study: what varies, and which values it takes.

The name of an axis is that of a parameter, an input or an initial value of the model; else an argument of
``kn.simulate`` (method, rtol, ...); else ``model``, for whole models.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, Error, find_close
from kinode.model.quantity_expressions import unit_of
from kinode.simulation.task_arguments import find_model, read_seconds
from kinode.tasks.batches.value_sets import check_names, read_value, split_values
from kinode.tasks.studies.random_values import Distribution
from kinode.tasks.studies.study_design import Axis

RESERVED = ("run", "time", "status", "message")
"""Names of a study's own arrays."""
MODEL = "model"
"""The axis of whole models."""
FIELDS = {"until": "s", "t0": "s", "method": "", "step": "s", "rtol": "", "atol": "", "max_step": "s"}
"""Arguments of ``kn.simulate`` that may vary, with their units."""


def read_table(over: Any) -> tuple[dict[str, Any], bool]:
    """What varies as columns by name, and whether they are the rows of a table (a DataFrame, or a list of mappings)."""
    if isinstance(over, Mapping):
        return dict(over), False
    if hasattr(over, "columns") and hasattr(over, "to_dict"):
        return {str(name): list(over[name]) for name in over.columns}, True
    if isinstance(over, Sequence) and not isinstance(over, str) and all(isinstance(row, Mapping) for row in over):
        names = list(dict.fromkeys(name for row in over for name in row))
        for k, row in enumerate(over):
            missing = [name for name in names if name not in row]
            if missing:
                raise ArgumentError(f"over: row {k} has no value of {missing[0]}")
        return {name: [row[name] for row in over] for name in names}, True
    raise ArgumentError("over: a mapping of names to values is expected, such as {'length': [0.4, 0.5]}; or a table")


def read_models(model: Any, columns: Mapping[str, Any]) -> tuple[list[Any], list[str]]:
    """The models of a study, and what they are called: the one given, or those of the axis ``model``."""
    if model is not None:
        if MODEL in columns and not _has_name(model, MODEL):
            raise ArgumentError("over: the models are given twice: as the first argument, and as the axis model")
        return [find_model(model)], [_name_of(model, 0)]
    if MODEL not in columns:
        raise ArgumentError("model: a System, a file, or an axis model with a list of them is expected")
    wanted = list(dict.fromkeys(columns[MODEL]))
    models, names = [find_model(each) for each in wanted], [_name_of(each, k) for k, each in enumerate(wanted)]
    if len(set(names)) < len(names):
        names = [f"{name} {k + 1}" for k, name in enumerate(names)]
    return models, names


def _has_name(model: Any, name: str) -> bool:
    found = find_model(model)
    system = found.system if isinstance(found, Dynamics) else found
    return name in system.parameters or name in system.inputs


def _name_of(model: Any, place: int) -> str:
    if isinstance(model, str | os.PathLike):
        return Path(model).name
    system = model.system if isinstance(model, Dynamics) else model
    return str(system.name or f"model {place + 1}")


def read_axes(
    dynamics: Sequence[Dynamics], names: Sequence[str], columns: Mapping[str, Any], several: bool
) -> list[Axis]:
    """The axes with their values in SI units; ``several`` says that the axis ``model`` is among them."""
    axes = []
    for name, values in columns.items():
        if not isinstance(name, str):
            raise ArgumentError(f"over: the name of what varies is expected, not {name!r}")
        if name == MODEL and several:
            axes.append(_read_model_axis(values, names))
        elif name in FIELDS and not _is_value(dynamics[0], name):
            axes.append(_read_field(dynamics[0], name, values))
        else:
            axes.append(_read_values(dynamics, name, values))
    if not axes:
        raise ArgumentError("over: nothing varies; name a parameter and its values")
    return axes


def _read_model_axis(values: Sequence[Any], names: Sequence[str]) -> Axis:
    order = list(dict.fromkeys(values))
    return Axis(MODEL, "", [names[order.index(value)] for value in values], role="model")


def _is_value(dynamics: Dynamics, name: str) -> bool:
    split = split_values(dynamics, {name: 0.0})
    return bool(split.parameters or split.inputs)


def _read_field(dynamics: Dynamics, name: str, values: Any) -> Axis:
    if isinstance(values, Distribution):
        if name == "method":
            raise ArgumentError(f"method: a list of methods is expected, not {values}")
        return Axis(name, FIELDS[name], spread=(values, values.numbers(name, float)), role="field")
    listed = _listed(name, values)
    if name != "method":
        listed = [read_seconds(dynamics, name, value) if FIELDS[name] else float(value) for value in listed]
    return Axis(name, FIELDS[name], listed, role="field")


def _read_values(dynamics: Sequence[Dynamics], name: str, values: Any) -> Axis:
    unit = _unit_of(dynamics[0], name, values)
    if isinstance(values, Distribution):
        numbers = values.numbers(name, lambda value: read_value(dynamics[0], name, value))
        return Axis(name, unit, spread=(values, numbers))
    return Axis(name, unit, [_read_one(dynamics[0], name, value) for value in _listed(name, values)])


def _unit_of(dynamics: Dynamics, name: str, values: Any) -> str:
    """The unit of an axis in SI; raises for a name that no value of the model has."""
    sample = values.first if isinstance(values, Distribution) else next(iter(_listed(name, values)), 0.0)
    try:
        check_names(dynamics, {name: sample})
    except Error as error:
        system = dynamics.system
        near = find_close(name, [*system.parameters, *system.inputs, *FIELDS])
        raise ArgumentError(f"over: {error}" + (f"; did you mean {near[0]!r}?" if near else "")) from None
    try:
        unit = unit_of(dynamics.system, name)
    except Error:
        return ""
    return unit if isinstance(unit, str) else ""


def _read_one(dynamics: Dynamics, name: str, value: Any) -> float:
    try:
        return read_value(dynamics, name, value)
    except ArgumentError:
        raise
    except Error as error:
        raise ArgumentError(f"{name}: {error}") from None
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: numbers are expected, not {value!r:.40}") from None


def _listed(name: str, values: Any) -> list[Any]:
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise ArgumentError(f"{name}: a list of values is expected, not {values!r}; see also kn.between and kn.normal")
    array = np.asarray(values, dtype=object)
    if array.ndim != 1:
        raise ArgumentError(f"{name}: a list of single values is expected, not an array of shape {array.shape}")
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def label_axes(axes: Sequence[Axis], taken: Sequence[str]) -> list[Axis]:
    """The axes, each with a name of its own among the results: one that a result has is "elbow.q (value)"."""
    reserved = {*taken, *RESERVED}
    words = {"field": "setting", "model": "model"}
    return [
        replace(axis, label=f"{axis.name} ({words.get(axis.role, 'value')})") if axis.name in reserved else axis
        for axis in axes
    ]
