"""Studies as files: NetCDF written whole at the end, a Zarr store while the runs are made."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.atomic_files import write_bytes
from kinode.errors import Error, caller_depth
from kinode.results.run_file_reader import read_dataset
from kinode.results.run_files import encode_dataset
from kinode.tasks.studies.study import Study, describe, read_description
from kinode.tasks.studies.study_store import FORMAT, StoredRuns, StudyStore
from kinode.version import __version__

if TYPE_CHECKING:
    import xarray

TIME = "time"
_SLASH = "\u2215"
"""In the place of the slash of an expression, which NetCDF keeps for groups."""

Coordinate = tuple[str, str, str, list[Any]]
"""Name, unit, dimension and values of what varied."""


def compose_data(
    dims: Mapping[str, int], coordinates: Iterable[Coordinate], times: Sequence[float],
    results: Iterable[tuple[str, str, Array]], status: Array, messages: Sequence[str],
) -> xarray.Dataset:  # fmt: skip
    """The results of all runs as arrays with named dimensions."""
    import xarray

    shape = tuple(dims.values())
    data = xarray.Dataset()
    for name, unit, dim, listed in coordinates:
        attrs = {"units": unit} if unit else {}
        data = data.assign_coords({name: xarray.Variable(dim, np.asarray(listed), attrs)})
    for text, unit, values in results:
        attrs = {"units": unit, "long_name": text} if unit else {"long_name": text}
        inner = values.shape[1:]
        names = [TIME, *(f"{text} part" for _ in inner[1:])] if inner else []
        names = names[:2] + [f"{name} {k}" for k, name in enumerate(names[2:], 2)]
        data[text] = xarray.Variable((*dims, *names), values.reshape(*shape, *inner), attrs)
        if inner and TIME not in data.coords:
            data = data.assign_coords({TIME: xarray.Variable(TIME, np.asarray(times), {"units": "s"})})
    data["status"] = xarray.Variable(tuple(dims), np.asarray(status, dtype=np.int8).reshape(shape))
    data["message"] = xarray.Variable(tuple(dims), np.asarray(messages, dtype=object).reshape(shape))
    return data


def save_study(study: Study, path: str | os.PathLike[str]) -> None:
    """Write a study to a NetCDF file."""
    data = _rename(study.data, "/", _SLASH)
    data["message"] = data["message"].astype(str)
    data.attrs = {
        "format": FORMAT,
        "kinode_version": __version__,
        "study": describe(study.kept, study.axes, study.notes),
    }
    write_bytes(path, encode_dataset(data))


def load_study(path: str | os.PathLike[str]) -> Study:
    """A study from a NetCDF file that ``save`` wrote, or from a Zarr store."""
    return _load_store(Path(path)) if os.path.isdir(path) else _load_file(path)


def _load_file(path: str | os.PathLike[str]) -> Study:
    data = read_dataset(path)
    told = read_description(data.attrs.get("study"))
    if data.attrs.get("format") != FORMAT or "status" not in data or not _lists(told, "kept", "axes"):
        raise Error(f"{path}: is no study of kinode, or one of another version")
    data = _rename(data, _SLASH, "/")
    missing = [name for name in (*told["kept"], *told["axes"]) if name not in data.variables]
    if missing:
        raise Error(f"{path}: has no values for {', '.join(map(str, missing))}")
    data.attrs = {}
    return Study(data, told["kept"], told["axes"], told.get("notes", ()))


def _load_store(path: Path) -> Study:
    store = StudyStore(path)
    store.open()
    stored = store.read()
    study = read_store(store, stored)
    if stored.damage:
        warnings.warn(study.notes[-1], UserWarning, stacklevel=caller_depth())
    return study


def read_store(store: StudyStore, stored: StoredRuns | None = None) -> Study:
    """The study in a store, as far as its runs are made; ``stored`` is what was read of it already."""
    stored = stored or store.read()
    about = store.description
    coordinates = [(str(name), str(unit), str(dim), list(values)) for name, unit, dim, values in about["coordinates"]]
    data = compose_data(
        about["dims"], coordinates, about["times"], stored.results, stored.status, stored.messages
    )  # fmt: skip
    notes = list(about["notes"])
    if stored.damage:
        notes.append(f"{store.path}: {stored.damage}; the same study, started with this store, makes them again")
    return Study(data, [text for text, _, _ in stored.results], [name for name, _, _, _ in coordinates], notes)


def _lists(told: Mapping[str, Any], *keys: str) -> bool:
    return all(isinstance(told.get(key), list) and all(isinstance(text, str) for text in told[key]) for key in keys)


def _rename(data: xarray.Dataset, old: str, new: str) -> xarray.Dataset:
    """The names of variables and dimensions with another sign in the place of one."""
    names = {str(name) for name in (*data.variables, *data.dims)}
    return data.rename({name: name.replace(old, new) for name in names if old in name})
