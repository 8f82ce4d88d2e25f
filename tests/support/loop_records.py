"""Records and functions of the loop language that several tests use."""

from __future__ import annotations

from enum import IntEnum

from kinode.jit.loop.memory import Floats, Ints, Struct, struct


@struct
class Point(Struct):
    """A record within others."""

    x: float
    y: float
    hits: int


class Step(IntEnum):
    """Numbers with names."""

    FORTH = 1
    BACK = -1


@struct
class Walk(Struct):
    """Numbers, records and rows."""

    steps: int
    here: Point
    there: Point
    path: Floats
    marks: Ints
    scale: float


def move(point: Point, by: int) -> int:
    point.y += by
    return by * point.hits


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
