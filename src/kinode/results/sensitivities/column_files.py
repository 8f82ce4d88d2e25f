"""The derivatives of a run in its file: an array by time, name and coordinate.

Derivatives by live numbers are not kept: the model in a file has its numbers as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError
from kinode.results.run_file_reader import finite
from kinode.simulation.state_columns.column_values import LOADED, RunColumns

if TYPE_CHECKING:
    import xarray

    from kinode.results.trajectory import Trajectory

VARIABLE, AXIS = "sensitivity", "sensitivity_by"


def save_columns(run: Trajectory, data: xarray.Dataset) -> dict[str, Any]:
    """Add the derivatives of a run to its dataset; returns what its facts say of those that are not kept."""
    columns = run.columns
    if columns is None:
        return {}
    live = [name for name in columns.request.names if name in run.dynamics.live]
    if live:
        return {"sensitivity": f"not kept in the file: derivatives by live numbers, such as {live[0]}"}
    names = list(columns.request.names)
    attrs = {"long_name": "derivative of each state by each name, SI"}
    data[VARIABLE] = (("time", AXIS, "coordinate"), columns.values, attrs)
    data.coords[AXIS] = names
    if columns.lost_time is not None:
        data.attrs.update(sensitivity_lost=columns.lost, sensitivity_lost_time=columns.lost_time)
    return {}


def load_columns(data: xarray.Dataset, dynamics: Dynamics, rows: int) -> RunColumns | None:
    """The derivatives in the file of a run; None if it has none."""
    if VARIABLE not in data:
        return None
    from kinode.simulation.state_columns.column_request import read_columns  # few files have them

    try:
        request = read_columns(dynamics, [str(name) for name in data[AXIS].values])
    except ArgumentError as error:
        raise ValueError(str(error)) from None
    values = finite(np.asarray(data[VARIABLE].values, dtype=float), VARIABLE)
    if values.shape != (rows, len(request.names), len(dynamics.coordinates)):
        raise ValueError(f"{VARIABLE} has shape {values.shape}")
    lost_time = data.attrs.get("sensitivity_lost_time")
    if lost_time is None:
        return RunColumns(request, values, start=LOADED)
    lost = str(data.attrs.get("sensitivity_lost", ""))
    return RunColumns(request, values, finite(float(lost_time), "the end of its derivatives"), lost, LOADED)
