"""Packets: the one binary form in which arrays go to a page, by the socket or in a file.

::

    4 bytes    length H of the header, little-endian
    H bytes    header, JSON in UTF-8; spaces at its end, so that what follows begins at a multiple of 8
    arrays     each at a multiple of 8, little-endian, in order of the header

The header is an object of the sender with the key ``arrays``: for each array ``name``, ``dtype`` (f4 f8 u1 u2 u4 i4),
``shape``, ``offset`` (from the end of the header, rounded up to a multiple of 8) and ``bytes``.  JSON has no NaN: in
headers such numbers become null.

Series in files are encoded (``"encoding": "delta"``), which deflates to a fraction.  Each column (all entries over the
last axis, time) is quantised: value = low + step (k - 1), and k = 0 is NaN.  Stored are the second differences of k
over time (differences of another ``order`` where the entry says so), modulo the size of their container (``dtype`` u2
for 16 bits, u4 for 24), with bytes shuffled: the first of each number, then the second, and so on.  ``shape`` is that
of the values, ``values`` their own dtype (f4 unless said).
``low`` and ``step`` of the columns are arrays of their own, ``<name>:low`` and ``<name>:step``.

A reader trusts nothing: lengths, shapes and places are checked before they are used, and nothing is executed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinode.errors import ArgumentError

Header = dict[str, Any]
DTYPES: dict[str, np.dtype[Any]] = {name: np.dtype(f"<{name}") for name in ("f4", "f8", "u1", "u2", "u4", "i4")}
CONTAINERS: dict[int, np.dtype[Any]] = {16: DTYPES["u2"], 24: DTYPES["u4"]}
"""The numbers that hold k, by bits."""
BITS = {"u2": 16, "u4": 24}
LONGEST_HEADER = 1 << 26
MOST_ARRAYS = 100_000
MOST_AXES = 8
SECOND = 2
ORDERS = (2, 3)  # of differences


class PacketError(ArgumentError):
    """A packet cannot be read or written."""


@dataclass(frozen=True)
class EncodedSeries:
    """A series whose columns are quantised; ``data`` holds the shuffled differences of an order."""

    data: NDArray[np.uint8]
    low: NDArray[np.float64]
    step: NDArray[np.float64]
    bits: int
    dtype: str
    shape: tuple[int, ...]
    order: int = SECOND


def encode_series(
    array: NDArray[Any], bits: int = 16, *, span: NDArray[Any] | float = 0.0, order: int = SECOND
) -> EncodedSeries:
    """Quantise a series, time along its last axis, to steps of each column's range.

    Parameters
    ----------
    array : array
        The values; float32 stays so, anything else is taken as float64.
    bits : int
        16 or 24: a column has 2^bits - 2 steps between its least and its greatest value.
    span : float or array, optional
        Ranges of the columns, where steps are to be coarser than by their own ranges: coordinates of one point, say.
    order : int, default 2
        Of the differences: 3 is smaller for smooth series of many numbers.

    Returns
    -------
    EncodedSeries
        What `write_packet` takes in the place of an array.  Values come back within half a step.  NaN stays NaN;
        infinite values become NaN too.

    Examples
    --------
    >>> import numpy as np
    >>> series = encode_series(np.array([[0.0, 1.0, np.nan, 0.25]]), 16)
    >>> decode_series(series).round(4)
    array([[0.  , 1.  ,  nan, 0.25]])
    """
    if bits not in CONTAINERS:
        raise PacketError(f"bits: 16 or 24, not {bits}")
    given = np.asarray(array)
    if given.ndim == 0:
        raise PacketError("a series needs an axis of time")
    dtype = "f4" if given.dtype == np.float32 else "f8"
    values = given.astype(np.float64)
    known = np.isfinite(values)
    some = known.any(axis=-1)
    low = np.where(some, np.min(values, axis=-1, where=known, initial=math.inf), 0.0)
    high = np.where(some, np.max(values, axis=-1, where=known, initial=-math.inf), 0.0)
    steps = (1 << bits) - 2
    step = np.maximum(high - low, np.where(some, span, 0.0)) / steps
    place = np.where(known, values, 0.0) - low[..., None]
    place = np.divide(place, step[..., None], out=np.zeros_like(place), where=step[..., None] > 0)
    k = np.where(known, np.rint(place).clip(0, steps) + 1, 0).astype(CONTAINERS[bits])
    for _ in range(order):
        k = _differences(k)
    data = np.ascontiguousarray(k.reshape(-1, 1).view(np.uint8).T).reshape(-1)
    return EncodedSeries(data, low, step, bits, dtype, given.shape, order)


def _differences(k: NDArray[Any]) -> NDArray[Any]:
    """Differences along the last axis, the first from 0; they wrap around."""
    differences = k.copy()
    differences[..., 1:] -= k[..., :-1]
    return differences


def decode_series(series: EncodedSeries) -> NDArray[Any]:
    """The values of an encoded series."""
    container = CONTAINERS[series.bits]
    planes = series.data.reshape(container.itemsize, -1)
    k = np.ascontiguousarray(planes.T).reshape(-1).view(container).reshape(series.shape)
    for _ in range(series.order):
        k = np.cumsum(k, axis=-1, dtype=container)
    with np.errstate(over="ignore", invalid="ignore"):  # strangers' low and step may be anything
        values = series.low[..., None] + series.step[..., None] * (k.astype(np.float64) - 1)
        return np.where(k == 0, np.nan, values).astype(DTYPES[series.dtype])


def write_json(value: object) -> str:
    """Compact JSON; NumPy's numbers and arrays as plain ones, NaN and infinite numbers as null."""
    try:
        return json.dumps(value, allow_nan=False, default=_plain, separators=(",", ":"))
    except ValueError:
        return json.dumps(_without_nan(value), allow_nan=False, separators=(",", ":"))


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text from a stranger; ValueError if it is none, NaN and Infinity included."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no number of JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise ValueError("lists are nested too deeply") from None


def write_packet(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any] | EncodedSeries]) -> bytes:
    """One packet of a header and arrays.

    Parameters
    ----------
    header : mapping
        What the sender says; the key ``arrays`` is the packet's own.
    arrays : mapping
        Arrays by name, of float32, float64, uint8, uint16, uint32 or int32; encoded series take three.

    Examples
    --------
    >>> import numpy as np
    >>> data = write_packet({"kind": "run"}, {"t": np.array([0.0, 0.5])})
    >>> header, arrays = read_packet(data)
    >>> header["kind"], arrays["t"]
    ('run', array([0. , 0.5]))
    """
    if "arrays" in header:
        raise PacketError("header: the key 'arrays' is written by the packet itself")
    entries, parts, offset = [], list[bytes](), 0
    for name, entry, data in _laid_out(arrays):
        entries.append({"name": name, **entry, "offset": offset, "bytes": len(data)})
        padding = -len(data) % 8
        parts += [data, bytes(padding)]
        offset += len(data) + padding
    names = [entry["name"] for entry in entries]
    if len(set(names)) < len(names):
        raise PacketError(f"arrays: {next(x for x in names if names.count(x) > 1)!r} stands twice")
    text = write_json({**header, "arrays": entries}).encode()
    text += b" " * (-(4 + len(text)) % 8)
    if len(text) > LONGEST_HEADER:
        raise PacketError(f"header: {len(text)} bytes, at most {LONGEST_HEADER}")
    return b"".join([len(text).to_bytes(4, "little"), text, *parts])


def read_packet(data: bytes | bytearray | memoryview) -> tuple[Header, dict[str, NDArray[Any]]]:
    """Header and arrays of a packet; series are decoded, other arrays are views that cannot be written to.

    Raises
    ------
    PacketError
        Where anything does not fit: it says which array, and why.
    """
    view = memoryview(data).cast("B").toreadonly()
    header, base = _read_header(view)
    entries = header.pop("arrays", None)
    if not isinstance(entries, list) or len(entries) > MOST_ARRAYS:
        raise PacketError(f"header: 'arrays' is to be a list of at most {MOST_ARRAYS}")
    raw: dict[str, NDArray[Any]] = {}
    encoded: dict[str, tuple[str, str, int]] = {}
    end = 0
    for entry in entries:
        name, dtype, shape, values = _checked_entry(entry)
        if name in raw:
            raise PacketError(f"{name}: stands twice")
        offset, length = entry["offset"], entry["bytes"]
        if offset % 8 or offset < end or base + offset + length > len(view):
            raise PacketError(f"{name}: bytes {offset} to {offset + length} are not its own, or not there")
        end = offset + length
        raw[name] = np.frombuffer(view[base + offset : base + end], DTYPES[dtype]).reshape(shape)
        if values:
            encoded[name] = values, dtype, entry.get("order", SECOND)
    arrays = {name: array for name, array in raw.items() if not _belongs(name, encoded)}
    for name, (values, dtype, order) in encoded.items():
        stored, shape = raw[name].reshape(-1).view(np.uint8), raw[name].shape
        low, step = (_column_array(raw, f"{name}:{part}", shape[:-1]) for part in ("low", "step"))
        arrays[name] = decode_series(EncodedSeries(stored, low, step, BITS[dtype], values, shape, order))
    return header, arrays


def _belongs(name: str, encoded: Mapping[str, object]) -> bool:
    owner, colon, part = name.rpartition(":")
    return bool(colon) and part in ("low", "step") and owner in encoded


def _laid_out(arrays: Mapping[str, NDArray[Any] | EncodedSeries]) -> list[tuple[str, Header, bytes]]:
    """Name, entry of the header and bytes of each array to be written."""
    rows: list[tuple[str, Header, bytes]] = []
    for name, array in arrays.items():
        if isinstance(array, EncodedSeries):
            entry: Header = {"dtype": CONTAINERS[array.bits].str[1:], "shape": list(array.shape)}
            entry |= {"encoding": "delta", "values": array.dtype}
            entry |= {"order": array.order} if array.order != SECOND else {}
            rows.append((name, entry, array.data.tobytes()))
            rows += _laid_out({f"{name}:low": array.low, f"{name}:step": array.step})
            continue
        given = np.asarray(array)
        dtype = f"{given.dtype.kind}{given.dtype.itemsize}"
        if dtype not in DTYPES:
            raise PacketError(f"{name}: arrays of {given.dtype} do not travel; take one of {', '.join(DTYPES)}")
        rows.append(
            (name, {"dtype": dtype, "shape": list(given.shape)}, given.astype(DTYPES[dtype], copy=False).tobytes())
        )
    return rows


def _read_header(view: memoryview) -> tuple[Header, int]:
    """The header, and where the arrays begin."""
    if len(view) < 4:
        raise PacketError(f"a packet has at least 4 bytes, this one {len(view)}")
    length = int.from_bytes(view[:4], "little")
    if length % 4 or length > min(len(view) - 4, LONGEST_HEADER):
        raise PacketError(f"header: its length of {length} bytes does not fit the packet of {len(view)}")
    try:
        header = read_json(str(view[4 : 4 + length], "utf-8"))
    except ValueError as error:
        raise PacketError(f"header: {error}") from None
    if not isinstance(header, dict):
        raise PacketError("header: is to be an object")
    return header, -(-(4 + length) // 8) * 8


def _checked_entry(entry: object) -> tuple[str, str, tuple[int, ...], str]:
    """Name, dtype, shape and dtype of the decoded values ("": not encoded), if they agree with the length."""
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise PacketError("arrays: an entry without a name")
    name, dtype, shape, values = entry["name"], entry.get("dtype"), entry.get("shape"), ""
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise PacketError(f"{name}: dtype {dtype!r}; known are {', '.join(DTYPES)}")
    if not isinstance(shape, list) or len(shape) > MOST_AXES or not all(_is_size(n) for n in shape):
        raise PacketError(f"{name}: a shape is a list of at most {MOST_AXES} whole numbers")
    if not _is_size(entry.get("offset")) or not _is_size(entry.get("bytes")):
        raise PacketError(f"{name}: offset and bytes are to be whole numbers")
    if math.prod(shape) * DTYPES[dtype].itemsize != entry["bytes"]:
        raise PacketError(f"{name}: shape {shape} does not have {entry['bytes']} bytes")
    if "encoding" in entry:
        values = entry.get("values", "f4")
        known = entry["encoding"] == "delta" and values in ("f4", "f8") and dtype in BITS
        if not known or entry.get("order", SECOND) not in ORDERS or not shape:
            raise PacketError(f"{name}: an encoding that this version does not know")
    return name, dtype, tuple(shape), values


def _is_size(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 40


def _column_array(raw: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = raw.get(name)
    if array is None or array.dtype != DTYPES["f8"] or array.shape != shape:
        raise PacketError(f"{name}: is missing, or does not fit its series")
    return array


def _plain(value: object) -> object:
    """What JSON can hold, of NumPy's values."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nan(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(x) for x in value]
    if isinstance(value, np.ndarray | np.generic):
        return _without_nan(_plain(value))
    return None if isinstance(value, float) and not math.isfinite(value) else value
