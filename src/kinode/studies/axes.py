"""Reads the axes of a study: what varies, and which values it takes.

The name of an axis is that of a parameter, an input or an initial value of the model; else an argument of
``kn.simulate`` (method, rtol, ...); else ``model``, for whole models.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, Error, ModelError, find_close
from kinode.expressions.measured_columns import split_heading
from kinode.expressions.units import convert_all, parse_quantity
from kinode.model.base.parameters import is_plain
from kinode.model.quantities import unit_of
from kinode.simulation.run_arguments import find_model, read_seconds
from kinode.studies.batch import check_names, read_value, split_values
from kinode.studies.design import Axis, Distribution, between, normal, uniform

FEW_TEXTS = 32
"""Texts that are read one by one."""
RESERVED = ("run", "time", "status", "message")
"""Names of a study's own arrays."""
MODEL = "model"
"""The axis of whole models."""
FIELDS = {"until": "s", "t0": "s", "method": "", "step": "s", "rtol": "", "atol": "", "max_step": "s"}
"""Arguments of ``kn.simulate`` that may vary, with their units."""


_RANGE = re.compile(r"(.+?)\.\.(.+?)(?::(\d+))?")
_CALL = re.compile(r"(normal|uniform|between)\((.+),(.+)\)")
_NUMBER = re.compile(r"([-+0-9.eE]+)(?:\s+(.+))?")
_DRAWN = {"normal": normal, "uniform": uniform, "between": between}


def read_table(over: Any) -> tuple[dict[str, Any], bool]:
    """What varies as columns by name, and whether they are the rows of a table (a DataFrame, or a list of mappings)."""
    if isinstance(over, Mapping):
        return dict(over), False
    if hasattr(over, "columns") and hasattr(over, "to_dict"):
        return dict(_read_column(str(name), list(over[name])) for name in over.columns), True
    if isinstance(over, Sequence) and not isinstance(over, str) and all(isinstance(row, Mapping) for row in over):
        names = list(dict.fromkeys(name for row in over for name in row))
        for k, row in enumerate(over):
            missing = [name for name in names if name not in row]
            if missing:
                raise ArgumentError(f"over: row {k} has no value of {missing[0]}")
        return dict(_read_column(str(name), [row[name] for row in over]) for name in names), True
    raise ArgumentError("over: a mapping of names to values is expected, such as {'length': [0.4, 0.5]}; or a table")


def _read_column(heading: str, values: list[Any]) -> tuple[str, list[Any]]:
    """What a column of a table varies, with its values; a unit in the heading is theirs."""
    name, unit = split_heading(heading)
    return name, values if unit is None else [f"{value} {unit}" for value in values]


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
    return not split_values(dynamics, {name: 0.0})[2]


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
    listed = _listed(name, values)
    if listed and all(map(is_plain, listed)):  # numbers in SI: if the ends are possible, all are
        for end in (min(listed), max(listed)):
            _read_one(dynamics[0], name, end)
        return Axis(name, unit, listed)
    return Axis(name, unit, _read_texts(dynamics[0], name, listed) or [_read_one(dynamics[0], name, x) for x in listed])


def _read_texts(dynamics: Dynamics, name: str, listed: Sequence[Any]) -> list[float] | None:
    """Many texts of numbers in one unit, which is read once; None where each has to be read."""
    matches = [_NUMBER.fullmatch(value) if isinstance(value, str) else None for value in listed]
    units = {(match[2] or "").strip() if match else None for match in matches}
    unit = next(iter(units), None)
    if len(listed) < FEW_TEXTS or len(units) > 1 or unit is None:
        return None
    texts = [match[1] for match in matches if match]
    try:
        numbers = convert_all(texts, unit) if unit else [float(text) for text in texts]
    except (Error, ValueError):
        return None
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    tried = {*order[:2], *order[-2:], *order[:: max(1, len(order) // 8)]}  # the ends: if they are possible, all are
    return numbers if all(_read_one(dynamics, name, listed[k]) == numbers[k] for k in tried) else None


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
        raise ArgumentError(f"{name}: {getattr(error, 'message', error)}") from None
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


# -- axes as text ----------------------------------------------------------------------------------
def read_axis_text(text: str, field: str = "over") -> tuple[str, Any]:
    """An axis from one line: its name, and its values as ``over=`` of `sweep` takes them.

    Examples
    --------
    >>> from kinode.studies.axes import read_axis_text
    >>> read_axis_text("L=400 mm..600 mm:3")
    ('L', ['400.0 mm', '500.0 mm', '600.0 mm'])
    >>> print(*read_axis_text("k=normal(100, 5)"))
    k normal(100, 5)
    """
    name, sign, values = (part.strip() for part in text.partition("="))
    if not sign or not name or not values:
        raise ArgumentError(f"{field}: NAME=VALUES is expected, such as k=100..900:81, not {text!r}")
    call = _CALL.fullmatch(values)
    if call is not None:
        return name, _DRAWN[call[1]](call[2].strip(), call[3].strip())
    span = _RANGE.fullmatch(values)
    if span is None:
        return name, [value.strip() for value in values.split(",") if value.strip()]
    first, last, count = span[1].strip(), span[2].strip(), span[3]
    if count is None:
        return name, between(first, last)
    return name, _space(f"{field}: {text}", first, last, int(count))


def _space(where: str, first: str, last: str, count: int) -> list[str]:
    """Evenly spaced values from one text to another, which may have units; both ends have the same."""
    try:
        for end in (first, last):
            parse_quantity(end)  # which says what is wrong with a unit
    except ModelError as error:
        raise ArgumentError(f"{where}: {error.message}") from None
    ends = [_NUMBER.fullmatch(end) for end in (first, last)]
    if ends[0] is None or ends[1] is None or count < 2:
        raise ArgumentError(f"{where}: two numbers and a count from 2 are expected, such as 0.4..0.6:21")
    (low, unit), (high, other) = ends[0].groups(""), ends[1].groups("")
    if unit and other and unit != other:
        raise ArgumentError(f"{where}: both ends have the same unit")
    try:
        a, b = float(low), float(high)
    except ValueError:
        raise ArgumentError(f"{where}: numbers are expected at both ends") from None
    return [f"{(a + (b - a) * k / (count - 1))!r} {other or unit}".strip() for k in range(count)]
