"""Runs as files and tables: NetCDF, xarray, CSV.

A NetCDF file contains each entry of the state as a variable with its name and unit, the parameters and inputs by name,
and the model as YAML text, so that it can be loaded by itself.  Loading reads numbers and text; nothing in a file is
executed.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.atomic_files import write_bytes, writing
from kinode.dynamics.compile import compile as compile_system
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import Error
from kinode.hooks import hook
from kinode.kernels.state import State
from kinode.model.base.parameters import is_hidden
from kinode.ode.ending import Ending, EndKind
from kinode.ode.runs.input_table import VaryingInputs, split_inputs
from kinode.results.course_files import read_courses, write_courses
from kinode.results.run_file_reader import finite, read_column, read_dataset, read_flat, read_named, read_records
from kinode.results.sensitivities.column_files import load_columns, save_columns
from kinode.results.trajectory import Trajectory
from kinode.results.written_tables.written_columns import chosen_names, columns_of
from kinode.simulation.event_log import Event
from kinode.simulation.solver import split
from kinode.version import __version__

if TYPE_CHECKING:
    import xarray

FORMAT = "kinode run 1"
WITH_COURSES = "kinode run 2"
"""The format of runs with inputs that change: readers of the first would take them for constant."""


def save(run: Trajectory, path: str | os.PathLike[str]) -> None:
    """Write a run to a NetCDF file."""
    import xarray

    from kinode.formats import yaml_files

    data, (row, courses) = _states_to_xarray(run), split_inputs(run.inputs)
    own = [k for k, name in enumerate(run.dynamics.topology.parameters) if not is_hidden(name)]
    parameters = [run.dynamics.topology.parameters[k] for k in own]
    for names, values, role in (
        (parameters, run.p[own], "parameter"), (run.dynamics.topology.inputs, row, "input"),
    ):  # fmt: skip
        if names:
            data[f"{role}_values"] = xarray.DataArray(values, dims=role, coords={role: list(names)})
    if courses is not None:
        write_courses(data, run.dynamics.topology.inputs, courses)
    data["model"] = xarray.DataArray(yaml_files.dumps(run.system), attrs={"note": "the system as kinode YAML"})
    end, coordinates = run.end, {"coordinate": [c.name for c in run.dynamics.coordinates]}
    data["end_state"] = xarray.DataArray(end.y, dims="coordinate", coords=coordinates)
    if run.begin is not None:
        data["begin_state"] = xarray.DataArray(run.begin.y, dims="coordinate", coords=coordinates)
        data.attrs["begin_time"] = run.begin.t
    facts = run.facts | save_columns(run, data)
    data.attrs.update(
        format=FORMAT if courses is None else WITH_COURSES, kinode_version=__version__, status=run.status,
        message=run.message, end_time=end.t,
        ending=json.dumps(_write_ending(run.ending)),
        title=run.system.name, facts=json.dumps(facts), events=json.dumps([asdict(event) for event in run.events]),
    )  # fmt: skip
    write_bytes(path, encode_dataset(data))


def encode_dataset(data: xarray.Dataset) -> memoryview:
    """The contents of a NetCDF file, made in memory: HDF5 ends the process where a disk is full."""
    import h5netcdf
    from xarray.backends import H5NetCDFStore

    image = BytesIO()
    with h5netcdf.File(image, "w") as file:
        data.dump_to_store(H5NetCDFStore(file))
    return image.getbuffer()


def _write_ending(ending: Ending) -> dict[str, Any]:
    """How a run ended, beyond its status and message."""
    return {"kind": ending.kind.value, "time": ending.time, "component": ending.component, "entry": ending.entry}


def _read_ending(data: xarray.Dataset, t_end: float) -> Ending:
    """How a run ended; files of version 0.1 keep its status and message."""
    status, message = str(data.attrs["status"]), str(data.attrs["message"])
    given: dict[str, Any] = {"kind": status, "time": t_end, "component": None, "entry": None}
    given |= read_flat(data, "ending", {})
    if given.keys() != {"kind", "time", "component", "entry"}:
        raise ValueError(f"an ending has no {', '.join(sorted(given.keys() - {'kind', 'time', 'component', 'entry'}))}")
    component, entry = given["component"], given["entry"]
    return Ending(
        EndKind(given["kind"]),
        finite(float(given["time"]), "the time of its ending"),
        message,
        None if component is None else str(component),
        None if entry is None else int(entry),
    )


def load_results(path: str | os.PathLike[str], trust: bool = False) -> Any:
    """A run or a study from a NetCDF file; ``trust``: what the model of a run names may execute code."""
    data = read_dataset(path)
    try:
        is_study = str(data.attrs.get("format", "")).startswith("kinode study")
    finally:
        data.close()
    return hook("load_study")(path) if is_study else hook("load_run")(path, trust)


def load_run(path: str | os.PathLike[str], trust: bool = False) -> Trajectory:
    """A run from a NetCDF file that ``save`` wrote; ``trust``: what its model names may execute code."""
    from kinode.formats import yaml_files

    data = read_dataset(path)
    try:
        file_format = str(data.attrs.get("format", ""))
        if file_format not in (FORMAT, WITH_COURSES):
            reason = (
                f"is {file_format!r}, which another version of kinode wrote"
                if file_format.startswith("kinode run")
                else "is a study, which kn.load reads"
                if file_format.startswith("kinode study")
                else "is no run of kinode"
            )
            raise Error(f"{path}: {reason}")
        try:
            dynamics = compile_system(yaml_files.loads(str(data["model"].item()), trust=trust))
        except Error as error:
            raise Error(f"{path}: the model in the file cannot be read: {error}") from None
        names = [c.name for c in dynamics.coordinates]
        missing = [name for name in names if name not in data]
        if missing:
            raise Error(f"{path}: has no values for {', '.join(missing)}")
        t = finite(np.asarray(data["time"].values, dtype=float), "time")
        if t.ndim != 1 or (np.any(np.diff(t) < 0) and np.any(np.diff(t) > 0)):
            raise ValueError("its times go forth and back")
        y = np.column_stack([read_column(data, name, len(t)) for name in names]) if names else np.zeros((len(t), 0))
        topology = dynamics.topology
        p = read_named(data, "parameter", "parameter_values", topology.parameters)
        inputs: Any = read_named(data, "input", "input_values", topology.inputs)
        if file_format == WITH_COURSES:
            inputs = VaryingInputs(dynamics.arguments.read_inputs(inputs), read_courses(data, topology.inputs))
        final = read_named(data, "coordinate", "end_state", names)
        t_end = finite(float(data.attrs["end_time"]), "the time of its end")
        end = split(dynamics, t_end, np.array([final[name] for name in names]))
        ending, begin = _read_ending(data, t_end), _read_begin(data, dynamics)
        facts = read_flat(data, "facts", {})
        columns = load_columns(data, dynamics, len(t))
        events = tuple(_event(record) for record in read_records(data, "events"))
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        if isinstance(error, Error):
            raise
        raise Error(f"{path}: a run of kinode, but incomplete or damaged ({error})") from None
    finally:
        data.close()
    run = Trajectory(dynamics, t, y, p=p, inputs=inputs, ending=ending, end=end)
    run.facts, run.events, run.begin, run.columns = facts, events, begin, columns
    return run


def _read_begin(data: xarray.Dataset, dynamics: Dynamics) -> State | None:
    """The state that a run was integrated from; None in older files, and for runs that were not simulated."""
    if "begin_state" not in data:
        return None
    names = [c.name for c in dynamics.coordinates]
    values = read_named(data, "coordinate", "begin_state", names)
    t = finite(float(data.attrs["begin_time"]), "the time of its start")
    return split(dynamics, t, np.array([values[name] for name in names]))


def _event(record: dict[str, Any]) -> Event:
    names = tuple(str(name) for name in record["components"])
    words = (str(record.get(key, "")) for key in ("was", "becomes"))
    time = finite(float(record["time"]), "the time of an event")
    return Event(time, str(record["kind"]), names, str(record["message"]), *words)


def _empty_dataset(run: Trajectory) -> xarray.Dataset:
    """A dataset with the times of a run alone."""
    import xarray

    return xarray.Dataset(coords={"time": ("time", run.t, {"units": "s", "long_name": "time"})})


def _states_to_xarray(run: Trajectory) -> xarray.Dataset:
    """The entries of the state over time with their units and roles."""
    data = _empty_dataset(run)
    for k, coordinate in enumerate(run.dynamics.coordinates):
        attrs = {"units": _unit_text(run, coordinate.name), "role": coordinate.role}
        data[coordinate.name] = ("time", run.y[:, k], attrs)
    return data


def to_xarray(run: Trajectory, names: Iterable[str] | None) -> xarray.Dataset:
    """Quantities over time with their units; without names those of ``table_names``."""
    data, roles = _empty_dataset(run), {c.name: {"role": c.role} for c in run.dynamics.coordinates}
    for name, values in run.evaluate(chosen_names(run, names)).items():
        parts = run.parts(name)
        dims: tuple[str, ...] = ("time",)
        if values.ndim == 3:
            dims, data = (*dims, "row", "column"), data.assign_coords(row=list("xyz"), column=list("xyz"))
        elif values.ndim == 2:
            part = ("" if max(map(len, parts)) == 1 else "_").join(parts)
            dims, data = (*dims, part), data.assign_coords({part: list(parts)})
        left_out = {"left_out": ", ".join(run.left_out(name))} if run.left_out(name) else {}
        data[name] = (dims, values, {"units": _unit_text(run, name), **left_out, **roles.get(name, {})})
    return data


def to_csv(run: Trajectory, path: str | os.PathLike[str], names: Iterable[str] | None) -> None:
    """Write a table with a row for each time; the header of a column is its name and unit: ``elbow.q [rad]``."""
    listed = chosen_names(run, names)
    values = run.evaluate(listed)
    headers, columns = ["t [s]"], [run.t]
    for name in listed:
        for header, column in columns_of(run, name, values[name]):
            headers.append(header)
            columns.append(column)
    with writing(path) as stream:
        writer = csv.writer(stream)
        writer.writerow(headers)
        writer.writerows([repr(float(x)) for x in row] for row in zip(*columns))


def _unit_text(run: Trajectory, name: str) -> str:
    units = run.units(name)
    return units if isinstance(units, str) else ", ".join(units)
