"""Runs as files and tables: NetCDF, xarray, CSV.

A NetCDF file contains each entry of the state as a variable with its name and unit, the parameters and inputs by name,
the courses of inputs (all samples one after the other, with the input that each belongs to), the derivatives by time,
name and coordinate, and the model as YAML text, so that it can be loaded by itself.  Derivatives by live numbers are
not kept: the model in a file has its numbers as they are.

A file can be from anyone.  Loading reads numbers and text; nothing in a file is executed.  Its data lie in the file
itself: links, data in other files and data that are put together from others are refused before a number is read, and
so is a file that declares more than it can hold.  Numbers are finite, JSON is flat.
"""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kinode.algebra.scalars import Array
from kinode.atomic_files import write_bytes, writing
from kinode.dynamics.compile import compile as compile_system
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, Error
from kinode.hooks import hook
from kinode.kernels.state import State
from kinode.model.base.parameters import is_hidden
from kinode.ode.endings import Ending, EndKind
from kinode.ode.input_table import CourseTable, InputCourse, VaryingInputs, find_table, split_inputs
from kinode.results.run_tables import chosen_names, columns_of
from kinode.results.trajectory import Trajectory
from kinode.simulation.column_values import LOADED, RunColumns
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


MOST_COMPRESSED = 1100  # bytes that one byte of a compressed file can stand for
SMALL = 1_000_000  # bytes that any file may declare
LONGEST_TEXT = 100_000_000  # characters of JSON
Number = TypeVar("Number", float, Array)


def read_dataset(path: str | os.PathLike[str]) -> xarray.Dataset:
    """The contents of a file; any failure of the reader becomes an ``Error`` that names the file."""
    import xarray

    if not Path(path).is_file():
        reason = "is no ordinary file" if Path(path).exists() else "there is no such file"
        raise Error(f"{path}: {reason}")
    try:
        _check_storage(path)
        with xarray.open_dataset(path, engine="h5netcdf", decode_times=False, phony_dims="sort") as stored:
            return stored.load()
    except (MemoryError, Error):
        raise
    except Exception as error:  # the libraries raise many types of errors for damaged files
        raise Error(
            f"{path}: cannot be read as NetCDF; it is damaged, cut short or another kind of file ({error})"
        ) from None


def _check_storage(path: str | os.PathLike[str]) -> None:
    """Refuse a file that leads elsewhere, or whose data would be larger than a file of its size can hold."""
    import h5py

    declared = 0
    with h5py.File(path, "r") as file:
        for name in file:
            own = isinstance(file.get(name, getlink=True), h5py.HardLink)
            data = file[name] if own else None
            if not own or (isinstance(data, h5py.Dataset) and (data.external or data.is_virtual)):
                raise Error(f"{path}: {name} lies in another place or file, which a run does not; it is not read")
            if isinstance(data, h5py.Dataset):
                declared += math.prod(data.shape or (1,)) * data.dtype.itemsize
    if declared > SMALL + MOST_COMPRESSED * os.path.getsize(path):
        raise Error(f"{path}: declares {declared:.3g} bytes, more than a file of its size can hold; it is damaged")


def read_column(data: xarray.Dataset, name: str, rows: int) -> Array:
    """A quantity over time."""
    values = np.asarray(data[name].values, dtype=float)
    if values.shape != (rows,):
        raise ValueError(f"{name} has shape {values.shape}")
    return finite(values, name)


def read_named(data: xarray.Dataset, index: str, values: str, names: Iterable[str]) -> dict[str, float]:
    """Numbers by name: those that the model has, each once."""
    wanted = list(names)
    if not wanted and values not in data:
        return {}
    given = [str(name) for name in data[index].values]
    numbers = finite(np.asarray(data[values].values, dtype=float), values)
    if sorted(given) != sorted(wanted) or numbers.shape != (len(given),):
        raise ValueError(f"{values} are not those of the model")
    return dict(zip(given, numbers.tolist()))


def finite(values: Number, name: str) -> Number:
    """The values, all of which are finite."""
    if not np.all(np.isfinite(values)):
        raise ValueError(f"{name} is not finite")
    return values


def read_flat(data: xarray.Dataset, name: str, default: dict[str, Any]) -> dict[str, Any]:
    """An attribute that holds one record of words and numbers, as JSON."""
    given = _read_json(data, name, default)
    if not isinstance(given, dict) or not all(_is_flat(value) for value in given.values()):
        raise ValueError(f"{name} is no record of words and numbers")
    return given


def read_records(data: xarray.Dataset, name: str) -> list[dict[str, Any]]:
    """An attribute that holds a list of such records."""
    given = _read_json(data, name, [])
    if not isinstance(given, list) or not all(isinstance(record, dict) for record in given):
        raise ValueError(f"{name} are no list of records")
    if not all(_is_flat(value) for record in given for value in record.values()):
        raise ValueError(f"{name} are no records of words and numbers")
    return given


def _is_flat(value: Any) -> bool:
    """Whether a value is a word, a number, or a list of those."""
    parts = value if isinstance(value, list) else [value]
    return not any(isinstance(part, dict | list) for part in parts)


def _read_json(data: xarray.Dataset, name: str, default: Any) -> Any:
    if name not in data.attrs:
        return default
    text = str(data.attrs[name])
    try:
        return json.loads(text) if len(text) <= LONGEST_TEXT else None
    except RecursionError:
        raise ValueError(f"{name} is nested too deep") from None


HELD_NOTE = "1 where each value holds until the next time, 0 where the course is linear between times"


def write_courses(data: xarray.Dataset, names: Sequence[str], table: CourseTable) -> None:
    """Add the courses of inputs to the data of a run."""
    of_course = [names[k] for k, _ in table.pairs]
    counts = [len(course.times) for _, course in table.pairs]
    data.coords["course"] = ("course", of_course)
    data["course_samples"] = ("course", np.array(counts, dtype=np.int64))
    held = np.array([course.held for _, course in table.pairs], dtype=np.int8)
    data["course_held"] = ("course", held, {"note": HELD_NOTE})
    for name, unit in (("times", "s"), ("values", "")):
        joined = np.concatenate([getattr(course, name) for _, course in table.pairs])
        data[f"course_{name}"] = ("course_sample", joined, {"units": unit} if unit else {})


def read_courses(data: xarray.Dataset, names: Sequence[str]) -> CourseTable:
    """The courses of inputs from the data of a run; raises ``ValueError`` for what is none."""
    of_course, counts = [str(name) for name in data["course"].values], data["course_samples"].values.astype(int)
    times, values = (finite(np.asarray(data[f"course_{x}"].values, dtype=float), x) for x in ("times", "values"))
    known = len(set(of_course)) == len(of_course) and set(of_course) <= set(names)
    if not known or not len(counts) or counts.min() < 1 or times.shape != values.shape or counts.sum() != times.size:
        raise ValueError("its courses of inputs are not those of the model")
    pairs, ends = [], np.cumsum(counts)
    for name, held, end, count in zip(of_course, data["course_held"].values, ends, counts, strict=True):
        span = slice(end - count, end)
        if not (np.diff(times[span]) > 0.0).all():
            raise ValueError(f"the times of {name} do not rise")
        pairs.append((names.index(name), InputCourse(times[span].copy(), values[span].copy(), bool(held))))
    return find_table(pairs)


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
    from kinode.simulation.sensitivity import read_columns  # few files have them

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
