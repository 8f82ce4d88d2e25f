"""The symbols of balances in scalars, as the trade writes them: u v w, p q r, phi, masses, tensors, positions.

Each symbol knows what it is, its unit, and how its value follows from an instant.  Bodies that keep their axes parallel
to those of the carrier have positions, travels and tensors; constants that vanish whatever the parameters are do not
appear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from kinode.model.base.frames import Resolve
from kinode.sheets.terms import SymbolStyle
from kinode.symbolic.balances.frame_carrier import FrameCarrier, Slide
from kinode.symbolic.balances.instant_in_frame import InstantInFrame

XYZ = "XYZ"
SPEEDS, TURNS, PLACES = "uvw", "pqr", "xyz"


class BalanceSymbol(NamedTuple):
    """A symbol: what it is, its unit, and its value at an instant."""

    symbol: Any
    words: str
    unit: str
    value: Callable[[InstantInFrame], float]


class BalanceSymbols:
    """The symbols that the balances about one frame use; made when they are asked for."""

    def __init__(self, carrier: FrameCarrier) -> None:
        self.carrier, self.system = carrier, carrier.system
        self.known: dict[str, BalanceSymbol] = {}
        self.styles: dict[str, SymbolStyle] = {}
        self.groups = carrier.groups
        self.alone = len(self.groups) == 1

    def make(
        self, name: str, style: SymbolStyle, words: str, unit: str, value: Callable[[InstantInFrame], float]
    ) -> Any:
        """A symbol; the same one if it is known already."""
        import sympy

        if name not in self.known:
            self.known[name] = BalanceSymbol(sympy.Symbol(name), words, unit, value)
            self.styles[name] = style
        return self.known[name].symbol

    def _vector(
        self, names: Sequence[str], styles: Sequence[SymbolStyle], words: str, unit: str,
        value: Callable[[InstantInFrame], Any],
    ) -> tuple[Any, ...]:  # fmt: skip
        return tuple(self.make(names[k], styles[k], words, unit, component(value, k)) for k in range(3))

    def _of_group(self, group: str, k: int, motion: Callable[..., Sequence[Any]]) -> Callable[[InstantInFrame], Any]:
        """The k-th rate of a vector of a group."""
        return lambda m: motion(m, self.groups[group])[k]

    def place_value(self, group: str) -> Callable[[InstantInFrame], Any]:
        """The mass center of a group from o."""
        return self._of_group(group, 0, InstantInFrame.center)

    def tag(self, body: str) -> tuple[str, str]:
        """The index of a body in names and in print; none if there is one body."""
        return ("", "") if self.alone else (f"_{body.replace('.', '_')}", body)

    # -- the frame ---------------------------------------------------------------------------------
    def velocity(self) -> tuple[Any, ...]:
        """V, the velocity of o."""
        if not self.carrier.moving:
            return (0, 0, 0)
        words = f"velocity of the origin of {self.carrier.name}"
        return self._vector(SPEEDS, [_plain(x) for x in SPEEDS], words, "m/s", lambda m: m.V)

    def velocity_rate(self) -> tuple[Any, ...]:
        """V°, the rates of its components."""
        if not self.carrier.moving or self.carrier.steady:
            return (0, 0, 0)
        names, styles = [f"{x}_dot" for x in SPEEDS], [_plain(x, 1) for x in SPEEDS]
        return self._vector(names, styles, "rates of u, v, w", "m/s^2", lambda m: m.V1)

    def turning(self) -> tuple[Any, ...]:
        """Omega, the angular velocity of XYZ; with a tilde if a body rolls in it."""
        if not self.carrier.turning:
            return (0, 0, 0)
        if self.carrier.base is not None and self.carrier.shared is None:
            return self.spin()
        tilde, mark = ("~", True) if self.carrier.shared is not None else ("", False)
        words = f"angular velocity of {self.carrier.name}"
        styles = [SymbolStyle(x, tilde=mark, plain=True) for x in TURNS]
        return self._vector([f"{x}{tilde}" for x in TURNS], styles, words, "rad/s", lambda m: m.W)

    def turning_rate(self) -> tuple[Any, ...]:
        """Omega°."""
        if not self.carrier.turning:
            return (0, 0, 0)
        if self.carrier.base is not None and self.carrier.shared is None:
            return self.spin_rate()
        tilde, mark = ("~", True) if self.carrier.shared is not None else ("", False)
        styles = [SymbolStyle(x, 1, tilde=mark, plain=True) for x in TURNS]
        words = f"rates of the angular velocity of {self.carrier.name}"
        return self._vector([f"{x}{tilde}_dot" for x in TURNS], styles, words, "rad/s^2", lambda m: m.W1)

    def gravity(self) -> tuple[Any, ...]:
        """Components of the acceleration of free fall; zero if there is none."""
        if all(float(resolve(x)) == 0.0 for resolve in self.carrier.samples for x in self.system.gravity):
            return (0, 0, 0)
        styles = [SymbolStyle("g", below=x) for x in XYZ]
        return self._vector([f"g_{x}" for x in XYZ], styles, "acceleration of free fall", "m/s^2", lambda m: m.g)

    # -- the carrier -------------------------------------------------------------------------------
    def spin(self) -> tuple[Any, ...]:
        """p, q, r of the carrier, in its own axes."""
        words = f"angular velocity of {self.carrier.body}, in its own axes"
        return self._vector(TURNS, [_plain(x) for x in TURNS], words, "rad/s", lambda m: m.w)

    def spin_rate(self) -> tuple[Any, ...]:
        """Their rates."""
        names, styles = [f"{x}_dot" for x in TURNS], [_plain(x, 1) for x in TURNS]
        return self._vector(names, styles, "rates of p, q, r", "rad/s^2", lambda m: m.w1)

    def roll(self) -> tuple[Any, Any]:
        """phi of the carrier relative to XYZ, and its rate."""
        words = f"roll of {self.carrier.body} relative to {self.carrier.name}"
        phi = self.make("phi", SymbolStyle("phi"), words, "rad", lambda m: m.phi)
        return phi, self.make("phi_dot", SymbolStyle("phi", 1), "rate of phi", "rad/s", lambda m: m.phi_dot)

    # -- bodies ------------------------------------------------------------------------------------
    def mass(self, group: str) -> Any:
        """Mass of a body, with all that is fixed to it."""
        name, below = self.tag(group)
        masses = [self.system.bodies[b].mass for b in self.groups[group]]
        words = f"mass of {self.called(group)}"
        style = SymbolStyle("m", below=below)
        return self.make(f"m{name}", style, words, "kg", lambda m: sum(float(m.resolve(x)) for x in masses))

    def called(self, group: str) -> str:
        """A body, with the bodies that are fixed to it, in words."""
        return " with ".join(self.groups[group]) if len(self.groups[group]) < 4 else f"{group} and all fixed to it"

    def total_mass(self) -> Any:
        """Mass of the system."""
        if self.alone:
            return self.mass(next(iter(self.groups)))
        masses = [self.system.bodies[b].mass for bodies in self.groups.values() for b in bodies]
        style, words = SymbolStyle("m"), "mass of the system"
        return self.make("m", style, words, "kg", lambda m: sum(float(m.resolve(x)) for x in masses))

    def outer(self, body: str | None = None) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Force and moment about o on a body, or on the system, without weight."""
        name, below = ("", "") if body is None else self.tag(body)
        of = "the system" if body is None else self.called(body)
        members = list(self.system.bodies) if body is None else self.groups[body]
        both = []
        for k, (letter, words, unit) in enumerate((("F", "force", "N"), ("M", "moment about o", "N*m"))):
            names = [f"{letter}_{x}{name}" for x in XYZ]
            styles = [SymbolStyle(letter, below=f"{x},{below}" if below else x) for x in XYZ]

            def value(m: InstantInFrame, k: int = k) -> Any:
                return m.outer(members)[k]

            both.append(self._vector(names, styles, f"{words} on {of}, without weight", unit, value))
        return both[0], both[1]

    def place(self, body: str) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
        """The mass center of a body from o, in XYZ, and its first and second rates."""
        name, below = self.tag(body)
        vectors = []
        for k, (dots, unit) in enumerate((("", "m"), ("_dot", "m/s"), ("_ddot", "m/s^2"))):
            names = [f"{x}{dots}{name}" for x in PLACES]
            styles = [SymbolStyle(x, k, below) for x in PLACES]
            words = ("", "rates of ", "second rates of ")[k] + f"the mass center of {self.called(body)} from o"
            vectors.append(self._vector(names, styles, words, unit, self._of_group(body, k, InstantInFrame.center)))
        return vectors[0], vectors[1], vectors[2]

    def momentum(self, body: str) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Moment of momentum of a body about its mass center, in XYZ, and its rates."""
        name, below = self.tag(body)
        vectors = []
        for k, (dots, unit) in enumerate((("", "kg*m^2/s"), ("_dot", "N*m"))):
            names = [f"H_{x}{dots}{name}" for x in XYZ]
            styles = [SymbolStyle("H", k, f"{x},{below}" if below else x) for x in XYZ]
            words = "rates of " * k + f"the moment of momentum of {self.called(body)} about its mass center"
            vectors.append(self._vector(names, styles, words, unit, self._of_group(body, k, InstantInFrame.spin)))
        return vectors[0], vectors[1]


def component(value: Callable[[InstantInFrame], Any], k: int) -> Callable[[InstantInFrame], float]:
    """A component of a vector as a function of the instant."""
    return lambda m: float(value(m)[k])


def _plain(letter: str, dots: int = 0) -> SymbolStyle:
    return SymbolStyle(letter, dots, plain=True)


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
