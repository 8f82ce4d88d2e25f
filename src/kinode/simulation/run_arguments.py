"""Arguments of runs: a model or its file, parameters and inputs, output times (given, by number, by spacing)."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, caller_depth
from kinode.model.system import System
from kinode.model.system_checks import check_parameters
from kinode.ode.ode_arguments import all_finite


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


MAX_TIMES = 10**9  # output times of a run, before memory runs out
ARGUMENTS = ("times", "samples", "every")


def find_output_times(
    dynamics: Dynamics, defaults: Mapping[str, Any], given: Mapping[str, Any], t0: float, until: float
) -> Array | None:
    """The output times of a run in s; None for the method's own steps.

    Parameters
    ----------
    defaults : values of the model; they count where the caller gives none of ``times``, ``samples``, ``every``.
    given : the caller's values of these three, None for one that is left out.
    t0, until : start and end of the run in s.
    """
    requested = {name: given[name] for name in ARGUMENTS if given.get(name) is not None}
    if len(requested) > 1:
        raise ArgumentError(f"{', '.join(requested)}: give one of them; each says at which times the run is kept")
    if not requested:
        requested = {name: defaults[name] for name in ARGUMENTS if name in defaults}
        if "times" in requested:
            within = [t for t in requested["times"] if t0 <= t <= until]
            requested = {"times": within} if within else {}
    for name, value in requested.items():
        name, value = _read_old_spelling(name, value)
        if name == "samples":
            return _space_evenly(value, t0, until)
        if name == "every":
            return _space_by(read_seconds(dynamics, "every", value), t0, until)
        return _read_list(value, t0, until)
    return None


def _read_old_spelling(name: str, value: Any) -> tuple[str, Any]:
    """``times=601`` stands for ``samples=601``, ``times=0.01`` for ``every=0.01``; both warn."""
    if name != "times" or isinstance(value, bool) or not isinstance(value, int | float | np.integer):
        return name, value
    name = "every" if isinstance(value, float) else "samples"
    meant = "a spacing" if name == "every" else "a number of samples"
    message = f"times={value!r} as {meant} is an old spelling; write {name}={value!r} (times= takes a list of times)"
    warnings.warn(message, FutureWarning, stacklevel=caller_depth())
    return name, value


def _space_evenly(count: Any, t0: float, until: float) -> Array:
    """``count`` times, evenly spaced, both ends included."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer):
        raise ArgumentError(f"samples: a whole number of times is expected, not {count!r}")
    if count < 2:
        raise ArgumentError(f"samples: at least 2 are needed, start and end, not {count}")
    _check_count("samples", int(count))
    return np.linspace(t0, until, int(count))


def _space_by(spacing: float, t0: float, until: float) -> Array:
    """Times from the start on, ``spacing`` seconds apart; the end is among them if it is a multiple."""
    if not (math.isfinite(spacing) and spacing > 0):
        raise ArgumentError(f"every: a positive time in seconds is expected, not {spacing!r}")
    count = (until - t0) / spacing * (1 + 1e-12)  # the end counts as a multiple up to rounding
    _check_count("every", count)
    times: Array = np.minimum(t0 + spacing * np.arange(math.floor(count) + 1), until)
    return times


def _read_list(times: Any, t0: float, until: float) -> Array:
    """Times one by one: finite, in order, within the run."""
    if isinstance(times, bool):
        raise ArgumentError(f"times: numbers are expected, not {times}")
    try:
        array = np.array(times, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(
            "times: a list of numbers is expected; samples= takes how many, every= how far apart"
        ) from None
    if array.ndim != 1 or not array.size or not all_finite(array):
        raise ArgumentError(f"times: finite numbers in a row are expected, not an array of shape {array.shape}")
    if (array[1:] < array[:-1]).any():
        raise ArgumentError("times: must not go back")
    if float(array[0]) < t0 or float(array[-1]) > until:
        span = f"from {t0:g} to {until:g} s are simulated"
        raise ArgumentError(f"times: {span}, {array[0]:g} to {array[-1]:g} are asked for")
    return array


def _check_count(name: str, count: float) -> None:
    if count > MAX_TIMES:
        raise ArgumentError(f"{name}: {count:.3g} are more than memory holds; at most {MAX_TIMES:.0e} can be kept")
