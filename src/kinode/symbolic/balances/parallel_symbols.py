"""Symbols of bodies that keep their axes parallel to those of the carrier: positions, travels, tensors.

Constants that vanish whatever the parameters are do not appear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kinode.model.base.frames import Resolve
from kinode.symbolic.balances.balance_symbols import PLACES, XYZ, BalanceSymbols
from kinode.symbolic.balances.frame_carrier import Slide
from kinode.symbolic.balances.instant_in_frame import InstantInFrame
from kinode.symbolic.notation import SymbolStyle

PAIRS = ((0, 1), (0, 2), (1, 2))


@dataclass(frozen=True)
class Tensor:
    """Moments I and products J of inertia about the mass center (tensor entries are minus J), in the carrier's axes."""

    I: tuple[Any, Any, Any]
    J: dict[tuple[int, int], Any]

    def product(self, i: int, k: int) -> Any:
        """J of two axes."""
        return self.J[min(i, k), max(i, k)]


class ParallelSymbols:
    """The symbols of one group of bodies: fixed to the carrier, or sliding along its axes."""

    def __init__(self, symbols: BalanceSymbols, group: str) -> None:
        self.symbols, self.group, self.carrier = symbols, group, symbols.carrier
        self.bodies = symbols.groups[group]
        self.slides: tuple[Slide, ...] = self.carrier.parallel[self.bodies[0]].slides
        self.name, self.below = symbols.tag(group)
        self.definitions: list[tuple[Any, Any]] = []

    @property
    def is_aligned(self) -> bool:
        """Whether every slide is along an axis of the carrier."""
        return all(slide.axis is not None for slide in self.slides)

    @property
    def is_fixed(self) -> bool:
        """Whether the group does not move in the carrier."""
        return not self.slides

    def slides_along(self, axis: int) -> list[Slide]:
        """The slides along one axis."""
        return [slide for slide in self.slides if slide.axis == axis]

    # -- position ----------------------------------------------------------------------------------
    def offset(self, axis: int) -> Any:
        """The constant part of the mass center's position, or 0."""

        def value(resolve: Resolve) -> float:
            return float(self.carrier.properties(self.bodies, resolve).center[axis])

        def scale(resolve: Resolve) -> float:
            return 1.0 + float(abs(self.carrier.properties(self.bodies, resolve).center).max())

        if self.carrier.is_zero(value, scale):
            return 0
        letter = PLACES[axis]
        own = self.symbols.alone
        name = f"{letter}_cg" if own else f"{letter}0{self.name}"
        style = SymbolStyle(letter, below="cg" if own else f"0,{self.below}")
        at_rest = " before it slides" if self.slides else ""
        words = f"mass center of {self.symbols.called(self.group)} from o, in body axes{at_rest}"
        return self.symbols.make(name, style, words, "m", lambda m: value(m.resolve))

    def travel(self, axis: int) -> tuple[Any, Any, Any]:
        """The travel of the slides along an axis, its speed and acceleration; zeros if there are none."""
        slides = self.slides_along(axis)
        if not slides:
            return 0, 0, 0
        letter, result = PLACES[axis], []
        formula = " ".join(f"{'-' if s.sign < 0 else '+'} {s.joint}.q" for s in slides).removeprefix("+ ")
        for k, (dots, unit) in enumerate((("", "m"), ("_dot", "m/s"), ("_ddot", "m/s^2"))):
            style = SymbolStyle(letter, k, self.below)
            words = ("", "rate of ", "second rate of ")[k] + f"the travel along {XYZ[axis]}, {formula}"
            name = f"{letter}{dots}{self.name}"
            result.append(self.symbols.make(name, style, words, unit, _travelled(slides, k)))
        return result[0], result[1], result[2]

    @cached_property
    def position(self) -> tuple[Any, Any, Any]:
        """The mass center from o in the carrier's axes: constants, or Y with the definition Y = y0 + y."""
        places = []
        for axis in range(3):
            offset, travel = self.offset(axis), self.travel(axis)[0]
            if travel == 0 or offset == 0:
                places.append(travel + offset)
                continue
            whole = f"{XYZ[axis]}{self.name}"
            words = f"mass center of {self.symbols.called(self.group)} from o along {XYZ[axis]}"
            values = [self.symbols.known[str(x)].value for x in (offset, travel)]
            style = SymbolStyle(XYZ[axis], below=self.below)
            symbol = self.symbols.make(whole, style, words, "m", _added(values))
            self.definitions.append((symbol, (offset, travel)))
            places.append(symbol)
        return places[0], places[1], places[2]

    @property
    def rate(self) -> tuple[Any, Any, Any]:
        """The rates of the position."""
        x, y, z = (self.travel(axis)[1] for axis in range(3))
        return x, y, z

    @property
    def second_rate(self) -> tuple[Any, Any, Any]:
        """The second rates of the position."""
        x, y, z = (self.travel(axis)[2] for axis in range(3))
        return x, y, z


def _travelled(slides: Sequence[Slide], k: int) -> Callable[[InstantInFrame], float]:
    """The k-th rate of the travel of several slides."""
    return lambda m: sum(slide.sign * m.slide(slide.joint)[k] for slide in slides)


def _added(values: Sequence[Callable[[InstantInFrame], float]]) -> Callable[[InstantInFrame], float]:
    return lambda m: sum(value(m) for value in values)


# -- tensors ---------------------------------------------------------------------------------------
def tensor_of(symbols: BalanceSymbols, groups: Sequence[str]) -> tuple[Tensor, list[tuple[Any, tuple[Any, ...]]]]:
    """The sum of the tensors of parallel groups, each about its own mass center, and the definitions of the sums."""
    definitions: list[tuple[Any, tuple[Any, ...]]] = []

    def entry(i: int, k: int) -> Any:
        parts = [x for group in groups if (x := _entry(symbols, group, i, k)) != 0]
        if len(parts) < 2:
            return parts[0] if parts else 0
        letter, index = ("I", XYZ[i]) if i == k else ("J", XYZ[i] + XYZ[k])
        values = [symbols.known[str(x)].value for x in parts]
        words = f"{'moment' if i == k else 'product'} of inertia, of all bodies about their own mass centers"
        style = SymbolStyle(letter, below=index)
        symbol = symbols.make(f"{letter}_{index}", style, words, "kg*m^2", lambda m: sum(value(m) for value in values))
        definitions.append((symbol, tuple(parts)))
        return symbol

    moments = tuple(entry(i, i) for i in range(3))
    return Tensor(moments, {pair: entry(*pair) for pair in PAIRS}), definitions


def _entry(symbols: BalanceSymbols, group: str, i: int, k: int) -> Any:
    carrier, bodies = symbols.carrier, symbols.groups[group]

    def value(resolve: Resolve) -> float:
        entry = float(carrier.properties(bodies, resolve).tensor[i, k])
        return entry if i == k else -entry

    def scale(resolve: Resolve) -> float:
        return float(carrier.properties(bodies, resolve).tensor.trace())

    if carrier.is_zero(value, scale):
        return 0
    name, below = symbols.tag(group)
    letter, index = ("I", XYZ[i]) if i == k else ("J", XYZ[i] + XYZ[k])
    what = "moments" if i == k else "products"
    words = f"{what} of inertia of {symbols.called(group)} about its mass center"
    style = SymbolStyle(letter, below=f"{index},{below}" if below else index)
    return symbols.make(f"{letter}_{index}{name}", style, words, "kg*m^2", lambda m: value(m.resolve))
