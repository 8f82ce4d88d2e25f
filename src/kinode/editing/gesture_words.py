"""The words of gestures: what each may be, and the one reader of the dictionaries that a page sends.

A gesture is declared by a function: its arguments by name are the words, their annotations what these may be, those
with a default may be left out, and its docstring says what it does (``GESTURES`` in ``gestures.py``).  ``from_`` stands
for ``from``.  A named tuple is declared in the same way: a word that has words of its own.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from kinode.errors import ArgumentError


class Word(NamedTuple):
    """What a word may be: for messages, and beside its type."""

    words: str
    verb: str = "is"
    fits: Callable[[Any], bool] = lambda value: True


Step = Annotated[float, Word("a positive number", fits=lambda value: value > 0)]
Vector = Annotated[tuple[float, float, float], Word("three numbers in SI", "are")]
Axis = Annotated[
    Literal["x", "y", "z", "-x", "-y", "-z"] | tuple[float, float, float],
    Word("one of x, y, z, -x, -y, -z, or three numbers,"),
]
Typed = Annotated[str, Word("a value as text, as it would be typed,")]
Fields = Annotated[dict[str, str], Word("a mapping of names to values as they would be typed")]
FieldPath = Annotated[tuple[str | int, ...] | str, Word("the path of a field, names and numbers in lists,")]
Names = Annotated[tuple[str, ...], Word("a list of names", fits=bool)]
BoxNames = Annotated[tuple[str, ...], Word("a list of names of subsystems")]
Edits = Annotated[tuple[tuple[int, int, str], ...], Word("a list of [start, end, text]")]
Inner = Annotated[dict[str, Any], Word("a gesture")]
Several = Annotated[tuple[Any, ...], Word("a list of gestures")]
Target = Annotated[
    dict[Literal["frame", "center", "shape", "joint"], str],
    Word("{frame: arm.tip}, {center: arm}, {shape: arm} or {joint: elbow}", fits=lambda value: len(value) == 1),
]


class Place(NamedTuple):
    """A frame, or a place on a body, in its axes and SI."""

    frame: str = ""
    body: str = ""
    at: Vector | None = None


class Port(NamedTuple):
    """A component with its port, a wire by its name, or a reference."""

    component: str = ""
    port: str = ""
    link: str = ""
    reference: str = ""


Side = Annotated[Place, Word("{frame: arm.tip} or {body: arm, at: [x, y, z]}", fits=any)]
End = Annotated[Port, Word("{component, port}, {link} or {reference}", fits=any)]


def read_words(what: str, declaration: Callable[..., Any], given: Mapping[Any, Any]) -> dict[str, Any]:
    """The arguments of a declaration from a dictionary; what it does not declare is left alone."""
    read = {}
    for argument, (kind, needed) in find_words(declaration).items():
        name = argument.rstrip("_")
        raw = given.get(name)
        if raw is not None and not (needed and raw == ""):
            read[argument] = read_word(name, raw, kind)
        elif needed:
            raise ArgumentError(f"the gesture {what!r} needs {name!r}, {word_of(kind).words.rstrip(',')}")
    return read


def read_word(name: str, raw: Any, kind: Any) -> Any:
    """The value of a word; what is none is refused."""
    word = word_of(kind)
    try:
        value = _read(kind, raw)
        if word.fits(value):
            return value
    except TypeError:
        pass
    raise ArgumentError(f"{name}: {word.words} {word.verb} expected, not {raw!r:.60}")


@cache
def find_words(declaration: Callable[..., Any]) -> Mapping[str, tuple[Any, bool]]:
    """The arguments of a declaration: what each may be, and whether it is needed."""
    kinds = get_type_hints(declaration, include_extras=True)
    arguments = inspect.signature(declaration).parameters.values()
    own = [each for each in arguments if isinstance(declaration, type) or each.kind is each.KEYWORD_ONLY]
    return {each.name: (kinds[each.name], each.default is each.empty) for each in own}


def word_of(kind: Any) -> Word:
    """What an annotation is in words."""
    if kind in (str, bool):
        return Word("a text" if kind is str else "true or false")
    inner = get_args(kind)
    return next((each for each in inner if isinstance(each, Word)), None) or word_of(inner[0])


def _read(kind: Any, raw: Any) -> Any:
    """A value of a type from plain data; TypeError where it is none."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _read(inner[0], raw)
    if origin in (Union, UnionType):
        return _read_one_of(inner, raw)
    if origin is Literal and isinstance(raw, str) and raw in inner:
        return raw
    if origin is dict and isinstance(raw, Mapping):
        return {_read(inner[0], key): _read(inner[1], value) for key, value in raw.items()}
    if origin is tuple and isinstance(raw, list | tuple):
        kinds = inner[:1] * len(raw) if inner[-1] is ... else inner
        if len(kinds) == len(raw):
            return tuple(map(_read, kinds, raw))
    if kind is float and type(raw) in (int, float) and math.isfinite(raw):
        return float(raw)
    if kind is Any or (kind in (str, int, bool) and type(raw) is kind):
        return raw
    if isinstance(kind, type) and issubclass(kind, tuple) and isinstance(raw, Mapping):
        return kind(**read_words("", kind, raw))
    raise TypeError


def _read_one_of(kinds: tuple[Any, ...], raw: Any) -> Any:
    for kind in kinds:
        try:
            return _read(kind, raw)
        except TypeError:
            continue
    raise TypeError
