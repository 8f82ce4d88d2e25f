"""How a derivation is written down: its symbols, and two ways from the tape to SymPy expressions.

``Writer`` writes harmonics as a person would, with common factors taken out, in three ways: with angles of sums as they
come out, with powers of sines and with powers of cosines; the shortest is kept: cos(q1 + q2) for the arm,
sin(nutation)^2 for the top.  ``Namer`` writes the operations of the tape and names what is used again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from kinode.algebra.harmonics import Angle, Atom, Harmonic, Monomial, Wave, as_fraction
from kinode.algebra.scalars import Scalar, apply, is_number
from kinode.algebra.trace import Traced, needed, replay
from kinode.topology import Topology

MOST_TERMS = 60  # beyond, only the first way is tried
MOST_FACTORED = 25  # sums of more terms stay as they are: finding their factors takes long and seldom succeeds
SMALL = 64  # denominators up to this stay fractions


class Notation:
    """Symbols for the inputs of a tape: q_elbow, u_elbow, u_dot_elbow, parameters by their names."""

    def __init__(self, topology: Topology) -> None:
        self.names: dict[tuple[str, int], str] = {("t", 0): "t"}
        self.latex: dict[str, str] = {}  # where SymPy's own spelling would not do
        self._taken = {"t"}
        for role, named in (("p", topology.parameters), ("inputs", topology.inputs)):
            for i, name in enumerate(named):
                self._name((role, i), name.replace(".", "_"))
        rates = not topology.quaternions  # else speeds are not the rates of coordinates
        for c in topology.coordinates:
            letter = "q" if c.role == "z" else c.role
            owner = c.name.replace(f".{letter}", "", 1).replace(".", "_")
            subscript = rf"_{{\mathrm{{{owner}}}}}".replace("_", r"\_").replace(r"\_", "_", 1)
            self._name(
                (c.role, c.index), f"{letter}_{owner}", (r"\dot{q}" if rates and letter == "u" else letter) + subscript
            )
            if c.role == "u":
                dotted = r"\ddot{q}" if rates else r"\dot{u}"
                self._name(("u_dot", c.index), f"u_dot_{owner}", dotted + subscript)

    def _name(self, place: tuple[str, int], name: str, latex: str | None = None) -> None:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        self.names[place] = name
        if latex is not None:
            self.latex[name] = latex

    @cached_property
    def symbols(self) -> dict[str, Any]:
        """SymPy symbols by name."""
        import sympy

        return {name: sympy.Symbol(name) for name in self.names.values()}

    @cached_property
    def harmonics(self) -> dict[tuple[str, int], Harmonic]:
        """The inputs of the tape as readable numbers."""
        return {place: Harmonic.symbol(name) for place, name in self.names.items()}

    def of(self, role: str) -> list[Any]:
        """The symbols of one array, in order."""
        found = sorted((i, name) for (array, i), name in self.names.items() if array == role)
        return [self.symbols[name] for _, name in found]


class Namer:
    """Writes the operations of a tape, with a name for each value that is used more than once."""

    def __init__(self, notation: Notation) -> None:
        self.notation = notation
        self._written: dict[int, Any] = {}
        self._named: dict[int, tuple[Any, Any]] = {}

    @property
    def intermediates(self) -> list[tuple[Any, Any]]:
        """Names and formulas so far, in the order in which they can be computed."""
        return [self._named[index] for index in sorted(self._named)]

    def write_all(self, outputs: Sequence[Scalar]) -> list[Any]:
        """Outputs as expressions in named values."""
        import sympy

        nodes = needed(outputs)
        uses: dict[int, int] = {}
        for node in nodes:
            for arg in node.args:
                if type(arg) is Traced:
                    uses[arg.index] = uses.get(arg.index, 0) + 1
        for x in outputs:
            if type(x) is Traced:
                uses[x.index] = uses.get(x.index, 0) + 1
        symbols = self.notation.symbols
        for node in nodes:
            if node.index in self._written:
                continue
            if node.op == "input":
                self._written[node.index] = symbols[self.notation.names[node.args]]
                continue
            formula = apply(node.op, *(self._argument(arg) for arg in node.args))
            if uses[node.index] > 1 and node.op != "neg":
                name = sympy.Symbol(self._fresh())
                self._named[node.index] = (name, formula)
                formula = name
            self._written[node.index] = formula
        return [self._argument(x) for x in outputs]

    def _fresh(self) -> str:
        return f"x{len(self._named) + 1}"

    def _argument(self, arg: Any) -> Any:
        import sympy

        if type(arg) is Traced:
            return self._written[arg.index]
        return arg if isinstance(arg, tuple) else _plain_number(as_fraction(arg), sympy)


def _plain_number(value: Fraction, sympy: Any) -> Any:
    if not _is_ugly(value.denominator):
        return sympy.Rational(value.numerator, value.denominator)
    return _decimal(value)


class Writer:
    """Writes harmonics with the symbols of one derivation."""

    def __init__(self, notation: Notation) -> None:
        self.notation = notation
        self.symbols = notation.symbols
        self.intermediates: list[tuple[Any, Any]] = []  # there are none

    def write_all(self, outputs: Sequence[Scalar]) -> list[Any]:
        """Outputs of a tape, each in full."""
        return [self.write(x) for x in replay(outputs, self.notation.harmonics)]

    def write(self, x: Scalar) -> Any:
        """A scalar as the shortest expression that is found."""
        import sympy

        if is_number(x):
            return self._decimals(self._rational(as_fraction(x)))
        if not isinstance(x, Harmonic):
            return sympy.sympify(x)
        waves: dict[Wave, Any] = {}
        for (mono, wave), value in x.terms.items():
            waves[wave] = waves.get(wave, sympy.S.Zero) + self._rational(value) * self._monomial(mono)
        found = [_sum(waves, self._wave)]
        if len(x.terms) <= MOST_TERMS and any(self._is_compound(wave) for wave in waves):
            found += [self._in_powers(waves, keep) for keep in (sympy.sin, sympy.cos)]
        return self._decimals(min(found, key=lambda expr: expr.count_ops()))

    # -- pieces ------------------------------------------------------------------------------------
    def _rational(self, value: Fraction) -> Any:
        import sympy

        return sympy.Rational(value.numerator, value.denominator)

    def _monomial(self, mono: Monomial) -> Any:
        import sympy

        return sympy.Mul(*(self._atom(atom) ** power for atom, power in mono))

    def _atom(self, atom: Atom) -> Any:
        if not atom.function:
            return self.symbols[atom.text]
        if atom.function == "inv":
            return 1 / self.write(atom.args[0])
        return apply(atom.function, *(arg if isinstance(arg, tuple) else self.write(arg) for arg in atom.args))

    def _angle(self, angle: Angle) -> Any:
        import sympy

        return sympy.Add(*(self._rational(value) * self._monomial(mono) for mono, value in angle))

    def _wave(self, wave: Wave) -> Any:
        import sympy

        return getattr(sympy, wave[0])(self._angle(wave[1])) if wave[0] else sympy.S.One

    @staticmethod
    def _is_compound(wave: Wave) -> bool:
        """Whether an angle is a sum or a multiple, which products of sines and cosines could say otherwise."""
        return len(wave[1]) > 1 or any(abs(value) > 1 for _, value in wave[1])

    def _in_powers(self, waves: Mapping[Wave, Any], keep: Any) -> Any:
        """The same with sines and cosines of single angles; of their squares only ``keep``'s stay."""
        import sympy

        total: dict[Any, Any] = {}
        other = sympy.cos if keep is sympy.sin else sympy.sin
        for wave, coefficient in waves.items():
            product = sympy.expand(sympy.expand_trig(self._wave(wave)))
            product = sympy.expand(product.replace(_is_square_of(other), lambda power: _exchanged(power, keep)))
            for term in sympy.Add.make_args(product):
                number, trig = term.as_coeff_Mul()
                total[trig] = total.get(trig, sympy.S.Zero) + number * coefficient
        return _sum(total, lambda trig: trig)

    def _decimals(self, expr: Any) -> Any:
        """Fractions that nobody would write become decimals: 981/100 is 9.81."""
        import sympy

        ugly = {x for x in expr.atoms(sympy.Rational) if _is_ugly(x.q)}
        return expr.xreplace({x: _decimal(x) for x in ugly}) if ugly else expr


def _sum(parts: Mapping[Any, Any], write: Callable[[Any], Any]) -> Any:
    import sympy

    return sympy.Add(*(_factored(sympy.expand(value)) * write(key) for key, value in parts.items()))


def _factored(expr: Any) -> Any:
    """The shortest of a polynomial as it is and with factors taken out."""
    import sympy

    if not expr.is_Add or len(expr.args) > MOST_FACTORED:
        return expr
    return min((expr, sympy.factor_terms(expr), sympy.factor(expr)), key=lambda form: form.count_ops())


def _is_square_of(function: Any) -> Callable[[Any], bool]:
    return lambda expr: bool(expr.is_Pow and expr.base.func == function and expr.exp.is_Integer and expr.exp >= 2)


def _exchanged(power: Any, keep: Any) -> Any:
    """cos^n by sines, or sin^n by cosines."""
    count, rest = divmod(int(power.exp), 2)
    return (1 - keep(power.base.args[0]) ** 2) ** count * power.base**rest


def _is_ugly(denominator: int) -> bool:
    """Whether a person would write a decimal: 9.81 and 0.05, but 1/12."""
    return denominator > SMALL or denominator % 5 == 0


def _decimal(x: Any) -> Any:
    import sympy

    return sympy.Float(f"{float(x):.15g}", 15)
