"""Messages of the socket: how requests are read, answers composed and errors told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from kinode.errors import ArgumentError, AssemblyError, Error, LawError, ModelError, SimulationError
from kinode.studio.packet import EncodedSeries, read_json, write_json, write_packet

Arrays = Mapping[str, NDArray[Any] | EncodedSeries]
LARGEST_SEQ = 1 << 53  # beyond that, numbers of a page are not exact


def compose(header: Mapping[str, Any], arrays: Arrays | None) -> str | bytes:
    """A message: JSON, or a packet where there are arrays."""
    return write_json(dict(header)) if arrays is None else write_packet(header, arrays)


def read_request(message: str | bytes) -> dict[str, Any]:
    """The fields of a request, with a ``seq`` that is right; ArgumentError if it is none."""
    if not isinstance(message, str):
        raise ArgumentError("a request is a text in JSON")
    try:
        fields = read_json(message)
    except ValueError as error:
        raise ArgumentError(f"a request that is not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise ArgumentError("a request is an object with 'seq' and 'kind'")
    seq = fields.get("seq")
    if type(seq) is not int or not 0 <= seq < LARGEST_SEQ:
        raise ArgumentError("seq: a request needs a whole number, from 0 on")
    return fields


def describe_error(error: BaseException) -> dict[str, Any]:
    """An error as data: ``message``, ``type``, and where it is known component, field, file, line, and more.

    Examples
    --------
    >>> from kinode.errors import ModelError
    >>> describe_error(ModelError("must be positive", component="arm", field="mass", line=7))
    {'message': 'must be positive', 'type': 'ModelError', 'component': 'arm', 'field': 'mass', 'line': 7}
    """
    kind = type(error).__name__
    if not isinstance(error, Error):
        return {"message": f"kinode failed, which is a fault of its own: {kind}: {error}", "type": kind}
    said: dict[str, Any] = {"message": error.message if isinstance(error, ModelError) else str(error), "type": kind}
    if isinstance(error, ModelError):
        places = {"component": error.component, "field": error.field, "file": error.file, "line": error.line}
        if isinstance(error, LawError):
            places |= {"text": error.text, "position": error.position}
        said |= {name: value for name, value in places.items() if value is not None}
    if isinstance(error, AssemblyError):
        said["residuals"] = {name: gap._asdict() for name, gap in error.residuals.items()}
    if isinstance(error, SimulationError) and error.run is not None:
        said["t"] = float(error.run.t[-1])
    return said
