"""The symbols of balances in scalars, as the trade writes them: u v w, p q r, phi, masses, tensors, positions.

Each symbol knows what it is, its unit, and how its value follows from an instant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kinode.symbolic.balances.frame_carrier import FrameCarrier
from kinode.symbolic.balances.instant_in_frame import InstantInFrame
from kinode.symbolic.notation import SymbolStyle

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
