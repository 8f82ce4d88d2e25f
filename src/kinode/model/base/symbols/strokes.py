"""What symbols are made of: strokes along paths, discs and lettering.

Paths are written as in SVG, with x to the right and y down.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from kinode.errors import ModelError

Point = tuple[float, float]

# Numbers that follow each command of a path; relative commands are in small letters.
ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "Q": 4, "A": 7, "Z": 0}
TOKEN = re.compile(r"\s*,?\s*(?:([A-Za-z])|([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?))")


class StrokeRole(StrEnum):
    """How a stroke is drawn; the view chooses widths and colors."""

    LINE = "line"
    """An open line, or an outline that is not filled."""
    FACE = "face"
    """An outline filled with the color of the paper."""
    MASS = "mass"
    """An outline filled with gray."""
    INK = "ink"
    """An outline filled with the color of the line."""
    PLATE = "plate"
    """A thick line, as the plate of a capacitor."""
    THIN = "thin"
    """A thin line, as the axes of a characteristic."""
    DASHED = "dashed"
    """A dashed line."""


class PathStep(NamedTuple):
    """One command of a path with its numbers, such as ``V`` and (12.0,)."""

    command: str
    numbers: tuple[float, ...]


def parse_path(text: str) -> tuple[PathStep, ...]:
    """The commands of a path that is written as in SVG.

    Parameters
    ----------
    text : str
        Commands M, L, H, V, C, Q, A, Z (absolute) or in small letters (relative), each with its numbers.
        A command whose numbers are repeated is repeated.

    Returns
    -------
    tuple of PathStep

    Raises
    ------
    ModelError
        Where the text is no path; the message names the character.

    Examples
    --------
    >>> parse_path("M0,-20V-12")
    (PathStep(command='M', numbers=(0.0, -20.0)), PathStep(command='V', numbers=(-12.0,)))
    """
    steps: list[PathStep] = []
    for command, numbers, at in _commands(text):
        count = ARGUMENTS[command.upper()]
        if count == 0 and numbers:
            raise _wrong_path(text, at, f"{command} takes no numbers")
        if count and (not numbers or len(numbers) % count):
            raise _wrong_path(text, at, f"{command} takes {count} number{'s' * (count > 1)}, not {len(numbers)}")
        if not steps and command.upper() != "M":
            raise _wrong_path(text, at, "a path begins with M")
        groups = range(0, len(numbers), count) if count else (0,)
        steps += [PathStep(command, tuple(numbers[k : k + count])) for k in groups]
    if not steps:
        raise _wrong_path(text, 0, "a path begins with M")
    return tuple(steps)


def _commands(text: str) -> Iterator[tuple[str, list[float], int]]:
    """Each command with all numbers up to the next one, and the character at which it stands."""
    command, numbers, start, at = "", list[float](), 0, 0
    while text[at:].strip():
        token = TOKEN.match(text, at)
        if token is None:
            raise _wrong_path(text, at, f"{text[at]!r} is neither a command nor a number")
        if token[1] is None:
            numbers.append(float(token[2]))
        else:
            if token[1].upper() not in ARGUMENTS:
                raise _wrong_path(text, token.start(1), f"there is no command {token[1]}")
            if command or numbers:
                yield command or "L", numbers, start
            command, numbers, start = token[1], [], token.start(1)
        at = token.end()
    if command or numbers:
        yield command or "L", numbers, start


def _wrong_path(text: str, at: int, message: str) -> ModelError:
    return ModelError(f"path {text!r}, character {at + 1}: {message}")


@dataclass(frozen=True)
class Stroke:
    """A line along a path, in the notation of SVG."""

    path: str
    role: StrokeRole = StrokeRole.LINE

    def __post_init__(self) -> None:
        object.__setattr__(self, "role", StrokeRole(self.role))
        self.steps()

    def steps(self) -> tuple[PathStep, ...]:
        """The commands of its path."""
        return parse_path(self.path)

    def polylines(self) -> tuple[tuple[Point, ...], ...]:
        """The lines of a path without curves, each as its points; one that is closed ends where it begins.

        Raises
        ------
        ModelError
            Where the path has a curve.
        """
        lines: list[list[Point]] = []
        x = y = 0.0
        for command, numbers in self.steps():
            x0, y0 = (x, y) if command.islower() else (0.0, 0.0)
            match command.upper():
                case "M" | "L":
                    x, y = x0 + numbers[0], y0 + numbers[1]
                case "H":
                    x = x0 + numbers[0]
                case "V":
                    y = y0 + numbers[0]
                case "Z":
                    x, y = lines[-1][0]
                case _:
                    raise ModelError(f"path {self.path!r}: a path of straight lines is expected, without {command}")
            if command.upper() == "M":
                lines.append([(x, y)])
            else:
                lines[-1].append((x, y))
        return tuple(tuple(line) for line in lines)


@dataclass(frozen=True)
class Disc:
    """A circle about (x, y)."""

    radius: float
    x: float = 0.0
    y: float = 0.0
    role: StrokeRole = StrokeRole.LINE

    def __post_init__(self) -> None:
        object.__setattr__(self, "role", StrokeRole(self.role))
        if not (0 < self.radius < math.inf and math.isfinite(self.x) and math.isfinite(self.y)):
            raise ModelError(f"a disc of radius {self.radius} about ({self.x}, {self.y}) cannot be drawn")


@dataclass(frozen=True)
class Lettering:
    """A text whose middle is at x and whose base line is at y."""

    text: str
    size: float = 13.0
    x: float = 0.0
    y: float = 0.0
    slanted: bool = False

    def __post_init__(self) -> None:
        if not self.text or not (0 < self.size < math.inf):
            raise ModelError(f"lettering {self.text!r} of size {self.size} cannot be drawn")


def shape_to_dict(shape: Stroke | Disc) -> dict[str, Any]:
    """A shape as plain data."""
    if isinstance(shape, Stroke):
        return {"path": shape.path, "role": shape.role.value}
    return {"disc": [shape.x, shape.y, shape.radius], "role": shape.role.value}


def shape_from_dict(data: Mapping[str, Any]) -> Stroke | Disc:
    """The shape of what ``shape_to_dict`` gave."""
    role = StrokeRole(data.get("role", StrokeRole.LINE))
    if "disc" in data:
        x, y, radius = data["disc"]
        return Disc(radius, x, y, role)
    return Stroke(data["path"], role)
