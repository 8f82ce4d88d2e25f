"""Message schema: which requests there are and what fields they have, read from the methods that answer them.

A request of a page is a method with the decorator `request`.  The arguments of the method are the fields of the
request, with their types and defaults; one called ``job`` is the request itself (`Job`).  It returns the answer: plain
data, or a header and arrays, which go as a packet (player/packet.py)::

    @request("copy", lane="copy")
    def copy(self, names: list[str], box: Box = ()) -> dict[Literal["text"], str]: ...

    session.add(desk)                                  # answers all requests that the desk has methods for

One validator checks the fields that a page sends by the annotations.  ``tools/write_messages.py`` writes the same types
for the page.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

from numpy.typing import NDArray

from kinode.errors import ArgumentError, AssemblyError, Error, LawError, ModelError, SimulationError
from kinode.model.base.fields import short, unknown
from kinode.player.packet import EncodedSeries, read_json, write_json, write_packet

Arrays = Mapping[str, NDArray[Any] | EncodedSeries]
Method = TypeVar("Method", bound=Callable[..., Any])
Quantity = float | str
"""A number in SI, or a text with a unit."""
LARGEST_SEQ = 1 << 53  # beyond that, numbers of a page are not exact
ENVELOPE = ("seq", "kind")  # what every request has
WORDS: Mapping[Any, str] = {
    str: "a text", int: "a whole number", float: "a number", bool: "true or false", list: "a list", tuple: "a list",
    "names": "a list of names", Mapping: "an object",
}  # fmt: skip


# -- messages as they go ---------------------------------------------------------------------------
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


# -- requests --------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Request:
    """How a request is answered: its kind, the lane in which it waits, whether it changes something."""

    kind: str
    lane: str
    changes: bool


def request(kind: str, *, lane: str = "", changes: bool = False) -> Callable[[Method], Method]:
    """Mark a method as the answer to a kind of request; kinds of one lane are answered in the order of coming."""

    def mark(method: Method) -> Method:
        vars(method)["request"] = Request(kind, lane, changes)
        return method

    return mark


def find_requests(owner: type) -> Iterator[tuple[Request, Callable[..., Any]]]:
    """The requests that a class answers, each with its method."""
    for method in vars(owner).values():
        if isinstance(told := getattr(method, "request", None), Request):
            yield told, method


@cache
def fields_of(method: Callable[..., Any]) -> Mapping[str, tuple[Any, Any]]:
    """The fields of a request: type and default by name; of one that must be given the default is `inspect._empty`."""
    hints = get_type_hints(method)
    arguments = list(inspect.signature(method).parameters.values())[1:]
    return {each.name: (hints[each.name], each.default) for each in arguments if each.name != "job"}


def takes_job(method: Callable[..., Any]) -> bool:
    """Whether a method is given the request itself."""
    return "job" in inspect.signature(method).parameters


def read_fields(method: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that a page sent, as arguments of the method; ArgumentError where one is wrong, missing or unknown."""
    known = fields_of(method)
    for name, value in given.items():
        if name in known:
            if wrong := find_misfit(value, known[name][0], name):
                raise ArgumentError(wrong)
        elif name not in ENVELOPE:
            raise ArgumentError(unknown(f"{given['kind']}: no field of this request is called", name, known))
    for name, (kind, default) in known.items():
        if default is inspect.Parameter.empty and name not in given:
            raise ArgumentError(f"{name}: {expected(kind)} is expected, and nothing was sent")
    return {name: value for name, value in given.items() if name in known}


# -- the validator ---------------------------------------------------------------------------------
def find_misfit(value: Any, kind: Any, path: str) -> str:
    """Why a value from JSON is not of a type, with the path to what is wrong; empty where it is.

    Examples
    --------
    >>> find_misfit({"arm.mass": [2]}, Mapping[str, Quantity], "values")
    'values: arm.mass: a number is expected, not [2]'
    """
    if is_optional(kind):
        kind = get_args(kind)[0]
    choices, optional = choices_of(kind)
    if value is None and optional:
        return ""
    if len(choices) == 1 and has_form(value, choices[0]):
        inside = (find_misfit(inner, each, f"{path}: {name}") for name, inner, each in members_of(value, choices[0]))
        return next((wrong for wrong in inside if wrong), "")
    if len(choices) > 1 and not all(find_misfit(value, each, path) for each in choices):
        return ""
    return f"{path}: {expected(kind)} is expected, not {short(value)}"


@cache
def choices_of(kind: Any) -> tuple[tuple[Any, ...], bool]:
    """The types that a union offers, or the type itself; and whether null is among them."""
    choices = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return tuple(each for each in choices if each is not NoneType), NoneType in choices


def has_form(value: Any, kind: Any) -> bool:
    """Whether a value has the form of a type, whatever its members are."""
    form = get_origin(kind) or kind
    if form is Any:
        return True
    if form is Literal:
        return value in get_args(kind)
    if form is float:  # no bool, and finite
        return type(value) in (int, float) and -sys.float_info.max <= value <= sys.float_info.max
    if form is tuple:
        many = get_args(kind)[-1] is Ellipsis
        return isinstance(value, list | tuple) and (many or len(value) == len(get_args(kind)))
    if is_typeddict(form):
        return isinstance(value, dict) and required(form) <= value.keys()
    return isinstance(value, Mapping) if form is Mapping else type(value) is form


def members_of(value: Any, kind: Any) -> Iterator[tuple[object, Any, Any]]:
    """What is inside of a value, each with its name or number and its type."""
    form, inner = get_origin(kind) or kind, get_args(kind)
    if form is Mapping and inner:
        yield from ((name, each, inner[1]) for name, each in value.items())
    elif form in (list, tuple) and inner:
        alike = form is list or inner[-1] is Ellipsis
        yield from ((k, each, inner[0] if alike else inner[k]) for k, each in enumerate(value))
    elif is_typeddict(form):
        yield from ((name, value[name], each) for name, each in members(form).items() if name in value)


@cache
def members(record: type) -> dict[str, Any]:
    """The fields of a record with their types."""
    return get_type_hints(record, include_extras=True)


def required(record: type) -> set[str]:
    """The fields that a record must have."""
    return {name for name, kind in members(record).items() if not is_optional(kind)}


def is_optional(kind: Any) -> bool:
    """Whether a field may be missing."""
    return get_origin(kind) is NotRequired


def expected(kind: Any) -> str:
    """What is expected, in words."""
    form, choices = get_origin(kind) or kind, choices_of(kind)[0]
    if choices == get_args(Quantity):
        return "a number"
    if choices != (kind,):
        return " or ".join(expected(each) for each in choices)
    if form is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    if is_typeddict(form):
        return f"an object with {', '.join(sorted(required(form)))}"
    if form is tuple and Ellipsis not in get_args(kind):
        return f"{len(get_args(kind))} numbers"
    return WORDS["names"] if kind == list[str] else WORDS[form]
