"""What is read of a run's file, and what is refused: a file can be from anyone.

Its data lie in the file itself: links, data in other files and data that are put together from others are refused
before a number is read, and so is a file that declares more than it can hold.  Numbers are finite, JSON is flat.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import Error

if TYPE_CHECKING:
    import xarray

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
