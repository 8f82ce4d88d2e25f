"""Runs as files and tables: NetCDF, xarray, CSV.

A NetCDF file contains each entry of the state as a variable with its name and unit, the parameters and inputs by name,
and the model as YAML text, so that it can be loaded by itself.  Loading reads numbers and text; nothing in a file is
executed.  A file is written under a temporary name and then renamed, so that an interrupted write leaves no damaged
file.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compile import compile as compile_system
from kinode.errors import ArgumentError, Error
from kinode.ode.ending import Ending, EndKind
from kinode.results.trajectory import Trajectory
from kinode.simulation.event_log import Event
from kinode.simulation.solver import split
from kinode.version import __version__

if TYPE_CHECKING:
    import xarray

FORMAT = "kinode run 1"


def save(run: Trajectory, path: str | os.PathLike[str]) -> None:
    """Write a run to a NetCDF file."""
    import xarray

    from kinode.formats import yaml_files

    data = to_xarray(run, None)
    for names, values, role in (
        (run.dynamics.topology.parameters, run.p, "parameter"), (run.dynamics.topology.inputs, run.inputs, "input"),
    ):  # fmt: skip
        if names:
            data[f"{role}_values"] = xarray.DataArray(values, dims=role, coords={role: list(names)})
    data["model"] = xarray.DataArray(yaml_files.dumps(run.system), attrs={"note": "the system as kinode YAML"})
    end = run.end
    data["end_state"] = xarray.DataArray(
        end.y, dims="coordinate", coords={"coordinate": [c.name for c in run.dynamics.coordinates]}
    )
    data.attrs.update(
        format=FORMAT, kinode_version=__version__, status=run.status, message=run.message, end_time=end.t,
        ending=json.dumps(_write_ending(run.ending)),
        title=run.system.name, facts=json.dumps(run.facts), events=json.dumps([asdict(event) for event in run.events]),
    )  # fmt: skip
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        data.to_netcdf(temporary, engine="h5netcdf")
        temporary.replace(target)
    except OSError as error:
        raise Error(f"{target}: cannot be written: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _write_ending(ending: Ending) -> dict[str, Any]:
    """How a run ended, beyond its status and message."""
    return {"kind": ending.kind.value, "time": ending.time, "component": ending.component, "entry": ending.entry}


def _read_ending(data: xarray.Dataset, t_end: float) -> Ending:
    """How a run ended; files of version 0.1 keep its status and message."""
    status, message = str(data.attrs["status"]), str(data.attrs["message"])
    more = {"kind": status, "time": t_end} | json.loads(str(data.attrs.get("ending", "{}")))
    more["kind"] = EndKind(more["kind"])
    return Ending(message=message, **more)


def load_run(path: str | os.PathLike[str]) -> Trajectory:
    """A run from a NetCDF file that ``save`` wrote."""
    from kinode.formats import yaml_files

    data = _read(path)
    try:
        file_format = str(data.attrs.get("format", ""))
        if file_format != FORMAT:
            reason = (
                f"is {file_format!r}, which another version of kinode wrote"
                if file_format.startswith("kinode run")
                else "is no run of kinode"
            )
            raise Error(f"{path}: {reason}")
        try:
            dynamics = compile_system(yaml_files.loads(str(data["model"].item())))
        except Error as error:
            raise Error(f"{path}: the model in the file cannot be read: {error}") from None
        names = [c.name for c in dynamics.coordinates]
        missing = [name for name in names if name not in data]
        if missing:
            raise Error(f"{path}: has no values for {', '.join(missing)}")
        t = np.asarray(data["time"].values, dtype=float)
        y = np.column_stack([_column(data, name, len(t)) for name in names]) if names else np.zeros((len(t), 0))
        p, inputs = (_numbers(path, data, role) for role in ("parameter", "input"))
        final = (
            dict(zip((str(x) for x in data["coordinate"].values), data["end_state"].values.tolist())) if names else {}
        )
        end = split(dynamics, float(data.attrs["end_time"]), np.array([final[name] for name in names]))
        ending = _read_ending(data, end.t)
        facts = dict(json.loads(str(data.attrs.get("facts", "{}"))))
        events = tuple(_event(record) for record in json.loads(str(data.attrs.get("events", "[]"))))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, Error):
            raise
        raise Error(f"{path}: a run of kinode, but incomplete or damaged ({error})") from None
    finally:
        data.close()
    run = Trajectory(dynamics, t, y, p=p, inputs=inputs, ending=ending, end=end)
    run.facts, run.events = facts, events
    return run


def _event(record: dict[str, Any]) -> Event:
    names = tuple(str(name) for name in record["components"])
    words = (str(record.get(key, "")) for key in ("was", "becomes"))
    return Event(float(record["time"]), str(record["kind"]), names, str(record["message"]), *words)


def _read(path: Any) -> xarray.Dataset:
    """The contents of a file; any failure of the reader becomes an ``Error`` that names the file."""
    import xarray

    if not Path(path).exists():
        raise Error(f"{path}: there is no such file")
    try:
        with xarray.open_dataset(path, engine="h5netcdf", decode_times=False, phony_dims="sort") as stored:
            return stored.load()
    except MemoryError:
        raise
    except Exception as error:  # the libraries raise many types of errors for damaged files
        raise Error(
            f"{path}: cannot be read as NetCDF; it is damaged, cut short or another kind of file ({error})"
        ) from None


def _column(data: Any, name: str, rows: int) -> Array:
    values = np.asarray(data[name].values, dtype=float)
    if values.shape != (rows,):
        raise ValueError(f"{name} has shape {values.shape}")
    return values


def _numbers(path: Any, data: Any, role: str) -> dict[str, float]:
    """Values of the parameters or inputs in a file, by name."""
    if f"{role}_values" not in data:
        return {}
    return dict(zip((str(x) for x in data[role].values), data[f"{role}_values"].values.tolist()))


def to_xarray(run: Trajectory, names: Iterable[str] | None) -> xarray.Dataset:
    """Quantities over time with their units; the states if no names are given."""
    import xarray

    data = xarray.Dataset(coords={"time": ("time", run.t, {"units": "s", "long_name": "time"})})
    if names is None:
        for k, coordinate in enumerate(run.dynamics.coordinates):
            attrs = {"units": _unit_text(run, coordinate.name), "role": coordinate.role}
            data[coordinate.name] = ("time", run.y[:, k], attrs)
        return data
    for name, values in run.evaluate(_listed(names)).items():
        parts = run.parts(name)
        dims: tuple[str, ...] = ("time",)
        if values.ndim == 3:
            dims, data = (*dims, "row", "column"), data.assign_coords(row=list("xyz"), column=list("xyz"))
        elif values.ndim == 2:
            part = ("" if max(map(len, parts)) == 1 else "_").join(parts)
            dims, data = (*dims, part), data.assign_coords({part: list(parts)})
        data[name] = (dims, values, {"units": _unit_text(run, name)})
    return data


def to_csv(run: Trajectory, path: str | os.PathLike[str], names: Iterable[str] | None) -> None:
    """Write a table with a row for each time; the header of a column is its name and unit: ``elbow.q [rad]``."""
    listed = [c.name for c in run.dynamics.coordinates] if names is None else _listed(names)
    values = run.evaluate(listed)
    headers, columns = ["t [s]"], [run.t]
    for name in listed:
        for header, column in _columns(run, name, values[name]):
            headers.append(header)
            columns.append(column)
    try:
        with open(path, "w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(headers)
            writer.writerows([repr(float(x)) for x in row] for row in zip(*columns))
    except OSError as error:
        raise Error(f"{path}: cannot be written: {error.strerror or error}") from None


def _columns(run: Trajectory, name: str, values: Array) -> Iterator[tuple[str, Array]]:
    """Header and values of each column of a quantity."""
    units, parts = run.units(name), run.parts(name)
    if values.ndim == 1:
        yield f"{name} [{units}]", values
        return
    head, at, axes = name.partition("@")
    flat = values.reshape(len(values), -1)
    for k, part in enumerate(parts):
        yield f"{head}.{part}{at}{axes} [{units if isinstance(units, str) else units[k]}]", flat[:, k]


def _unit_text(run: Trajectory, name: str) -> str:
    units = run.units(name)
    return units if isinstance(units, str) else ", ".join(units)


def _listed(names: Any) -> list[str]:
    if isinstance(names, str):
        return [names]
    listed = list(names)
    if not all(isinstance(name, str) for name in listed):
        raise ArgumentError(f"names of quantities are expected, not {listed!r:.80}")
    return listed
