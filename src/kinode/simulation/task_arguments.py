"""Arguments of tasks: a model or its file, times, parameters and inputs."""

from __future__ import annotations

import os
from typing import Any

from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError
from kinode.model.system import System
from kinode.model.system_checks import check_parameters


def find_model(model: Any) -> System | Dynamics:
    """The model; a path is read as a file."""
    if isinstance(model, System | Dynamics):
        return model
    if isinstance(model, str | os.PathLike):
        from kinode.formats.load import load

        model = load(model)
    if not isinstance(model, System | Dynamics):
        raise ArgumentError(f"a System, a compiled one or a file is expected, not {type(model).__name__}")
    return model


def read_seconds(dynamics: Dynamics, name: str, value: Any) -> float:
    """A time in seconds from a number or a text with a unit."""
    if isinstance(value, bool) or value is None:
        raise ArgumentError(f"{name}: a time in seconds is expected, not {value!r}")
    if isinstance(value, str):
        return dynamics.system.nominal(dynamics.system.reader("simulate").number(value, "time", name))
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: a time in seconds is expected, not {value!r}") from None


def read_row(dynamics: Dynamics, name: str, value: Any) -> Any:
    """Parameters (p) or inputs as a vector, given by name or as a vector: one number each, in its valid range."""
    read = dynamics.arguments
    values = read.settle_parameters(value) if name == "p" else read.read_inputs(value)
    if values.ndim != 1:
        raise ArgumentError(f"{'parameters' if name == 'p' else name}: one value for each name is expected")
    if name == "p" and value is not None:
        check_parameters(dynamics.system, read.resolver(values), read.find_changed(values), parts=False)  # were read
    return values
