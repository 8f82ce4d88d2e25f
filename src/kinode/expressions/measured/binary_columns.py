"""Columns of MAT files (versions 5 to 7.3) and of Parquet files.

In a MAT file the vectors of one length are columns: that of a vector called t or time, else the most frequent.  Those
in structs are called ``run.elbow.q``; the columns of a matrix ``force.1``, ``force.2`` ...  A struct ``units`` has
units under the same names, as ``run.to_mat`` writes them.  In a Parquet file units stand in the names, or in the
metadata of a column as ``units`` or ``unit``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kinode.errors import ModelError
from kinode.expressions.measured.measured_columns import LARGEST_TABLE, MeasuredColumn, MeasuredColumns
from kinode.optional_packages import need

_TIMES = ("t", "time")


def read_mat(path: Path) -> MeasuredColumns:
    """The vectors of a MAT file."""
    from scipy.io import loadmat

    file = str(path)
    try:
        with path.open("rb") as stream:
            is_hdf = b"MATLAB 7.3" in stream.read(128)
        values = _read_hdf(path) if is_hdf else loadmat(path, simplify_cells=True)
    except Exception as error:  # a file that others made: whatever the readers stumble over
        raise ModelError(f"is no MAT file that can be read: {error}", file=file) from None
    values = {name: value for name, value in values.items() if isinstance(name, str) and not name.startswith("__")}
    units = values.pop("units") if isinstance(values.get("units"), Mapping) else {}
    return _compose(file, dict(_leaves(values, "")), dict(_leaves(units, "")))


def _leaves(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """All that is no struct, by its dotted name."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _compose(file: str, values: Mapping[str, Any], units: Mapping[str, Any]) -> MeasuredColumns:
    vectors, left_out = {}, {}
    for name, value in values.items():
        array = np.asarray(value)
        if array.dtype.kind in "fiub" and array.ndim in (1, 2) and array.size > 1:
            vectors[name] = array
        else:
            left_out[name] = "is no vector of numbers"
    length = _find_length(vectors)
    columns = []
    for name, array in vectors.items():
        own = units.get(name)
        if len(array) != length:
            left_out[name] = f"has {len(array)} rows, and the others {length}"
        elif array.ndim == 1:
            columns.append(MeasuredColumn.of(name, array, own))
        else:
            names = [f"{name}.{k + 1}" for k in range(array.shape[1])]
            columns += [MeasuredColumn.of(each, array[:, k], own) for k, each in enumerate(names)]
    if not columns:
        raise ModelError("holds no vectors of numbers; tables and objects of MATLAB are saved as structs", file=file)
    return MeasuredColumns(file, "", tuple(columns), range(1, length + 1), 0, True, False, left_out)


def _find_length(vectors: Mapping[str, Any]) -> int:
    for name, array in vectors.items():
        if name.rpartition(".")[2] in _TIMES:
            return len(array)
    counts = Counter(len(array) for array in vectors.values())
    return counts.most_common(1)[0][0] if counts else 0


def _read_hdf(path: Path) -> dict[str, Any]:
    """Variables of a file of version 7.3, as loadmat gives those of earlier ones: no references, no objects."""
    import h5py

    def read(group: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, item in group.items():
            if name.startswith("#"):
                continue
            if isinstance(item, h5py.Group):
                found[name] = read(item)
            elif item.size <= LARGEST_TABLE:
                value = item[()].T
                is_text = item.attrs.get("MATLAB_class") == b"char"
                found[name] = "".join(map(chr, value.ravel())) if is_text else _squeezed(value)
        return found

    with h5py.File(path, "r") as opened:
        return read(opened)


def _squeezed(value: Any) -> Any:
    array = np.asarray(value)
    return array.ravel() if array.ndim == 2 and 1 in array.shape else array


def read_parquet(path: Path) -> MeasuredColumns:
    """The columns of a Parquet file."""
    parquet = need("pyarrow.parquet", "parquet", f"{path.name}: a Parquet file")
    file = str(path)
    try:
        opened = parquet.ParquetFile(path)
        if opened.metadata.num_rows * opened.metadata.num_columns > LARGEST_TABLE:
            raise ModelError(f"has more than {LARGEST_TABLE:,} cells", file=file)
        table = opened.read()
    except ModelError:
        raise
    except Exception as error:  # a file that others made: whatever the reader stumbles over
        raise ModelError(f"is no Parquet file that can be read: {error}", file=file) from None
    columns = [
        MeasuredColumn.of(field.name, _cells(values), _unit_of(field))
        for field, values in zip(table.schema, table.columns, strict=True)
    ]
    return MeasuredColumns(file, "", tuple(columns), range(1, table.num_rows + 1), 0, True, False, {})


def _unit_of(field: Any) -> str:
    metadata: Mapping[bytes, bytes] = field.metadata or {}
    return (metadata.get(b"units") or metadata.get(b"unit") or b"").decode("utf-8", "replace")


def _cells(values: Any) -> Any:
    """The cells of a column: an array where all are numbers, else a list with None for what is missing."""
    to_numpy: Callable[[], Any] = values.to_numpy
    array = to_numpy() if not values.null_count else None
    return array if array is not None and array.dtype.kind in "fiu" else values.to_pylist()
