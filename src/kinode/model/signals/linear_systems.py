"""Signal parts that are linear systems: by a transfer function, or by the matrices of a state space.

A transfer function becomes its controllable canonical form [1].  In powers of s the entries of that form are many
orders of magnitude apart where poles are fast; with s = w p, and w such that no coefficient of the denominator in p is
larger than 1, all states have the size of the output's own:

    b(s)/a(s) = d + c(p)/a(p),    a(p) = p^n + a_(n-1) p^(n-1) + ... + a_0
    x_1' = w x_2, ..., x_n' = w (g input - a_0 x_1 - ... - a_(n-1) x_n),    output = (c . x)/g + d input

with g the largest of |c|.  [1] T. Kailath, Linear Systems, Prentice-Hall 1980, section 2.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.model.base.field_reader import Reader
from kinode.model.base.fields import Spec, Value, Values, law, number, record, short, special
from kinode.model.base.frames import NAME
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene, PositionScene
from kinode.model.signals.continuous import PLAIN, SignalPart

if TYPE_CHECKING:
    from kinode.model.system import System

ORDER = 40  # in lists of kinds

Matrix = tuple[Values, ...]
Resolve = Callable[[Any], Any]


def read_list(reader: Reader, raw: Any, field: str, what: str, read: Callable[[Any], Any]) -> tuple[Any, ...]:
    """One or more items; one alone needs no list."""
    raw = raw.tolist() if isinstance(raw, np.ndarray) else raw
    items = raw if isinstance(raw, (list, tuple)) else [raw]
    if not items:
        raise reader.fail(field, f"takes {what}, and is empty")
    return reader.sequence(items, len(items), field, read)


def read_matrix(reader: Reader, raw: Any, field: str) -> Matrix:
    """Rows of numbers of one length; a flat list is one row, a number the whole matrix."""
    raw = raw.tolist() if isinstance(raw, np.ndarray) else raw
    items = list(raw) if isinstance(raw, (list, tuple)) else [raw]
    nested = [isinstance(item, (list, tuple)) for item in items]
    if any(nested) and not all(nested):
        raise reader.fail(field, f"is a matrix, a list of rows of numbers, not {short(raw)}")
    rows = items if any(nested) else [items]
    if not all(rows):
        raise reader.fail(field, "is a matrix, and is empty")
    if len({len(row) for row in rows}) > 1:
        raise reader.fail(field, f"has rows of {' and '.join(sorted({str(len(row)) for row in rows}))} numbers")
    return tuple(read_list(reader, row, field, "numbers", lambda x: reader.number(x, None, field)) for row in rows)


def apply_row(row: Sequence[Scalar], x: Sequence[Scalar] | Array) -> Scalar:
    """A row of a matrix times a column; plain zeros cost nothing."""
    total: Scalar = 0.0
    for a, b in zip(row, x, strict=True):
        if not (isinstance(a, float) and a == 0.0):
            total = total + a * b
    return total


@record
class Coefficients(SignalPart):
    """Lists and matrices of numbers, read."""

    @classmethod
    def read_numbers(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Values:
        return read_list(reader, raw, field, "coefficients", lambda x: reader.number(x, None, field))

    @classmethod
    def read_matrix(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Matrix:
        return read_matrix(reader, raw, field)

    @classmethod
    def read_input_laws(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Values:
        if callable(raw):
            raw = [raw]
        return read_list(reader, raw, field, "laws", lambda x: reader.law(x, None, field))

    @classmethod
    def read_words(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> tuple[str, ...]:
        names = read_list(reader, raw, field, "names", lambda x: reader.text(x, field))
        for name in names:
            if "." in name or not NAME.match(name):
                raise reader.fail(field, f"{name!r} is no name: use letters, digits and _, starting with a letter")
        if len(set(names)) < len(names):
            raise reader.fail(field, "has one name twice")
        return names


@record
class Rational(Coefficients):
    """A quotient of polynomials, the highest power first."""

    improper: ClassVar[str] = "the output would need rates of the input; add poles"

    input: Value = law(None, "the signal that goes in", ...)
    numerator: Values = special("numbers", "coefficients of the powers, the highest first", ...)
    denominator: Values = special("numbers", "coefficients of the powers, the highest first", ...)
    initial: Value = number(None, "steady output at the start", 0.0, aside=True)

    def check(self) -> None:
        super().check()
        if not trim(self.denominator):
            raise self.error_at("denominator", "is zero")
        n, m = self.order, len(trim(self.numerator)) - 1
        if m > n:
            raise self.error_at("numerator", f"is of order {m}, above that of the denominator, {n}: {self.improper}")

    def check_in(self, system: System) -> None:
        super().check_in(system)
        leading = trim(self.denominator)[0]
        if system.nominal(leading) == 0.0:
            message = "the leading coefficient is 0 at the parameters' present values, which changes the order"
            raise self.error_at("denominator", message)

    @property
    def order(self) -> int:
        """How many states it has."""
        return len(trim(self.denominator)) - 1

    @property
    def direct(self) -> bool:
        """Whether the input goes through to the output at once."""
        return len(trim(self.numerator)) == len(trim(self.denominator))

    def fractions(self, resolve: Resolve, pace: float = 1.0) -> tuple[list[Scalar], list[Scalar], Scalar]:
        """a_0.. a_(n-1), c_0.. c_(n-1) and d of the form d + c(p)/a(p), with the variable ``pace`` p."""
        n = self.order
        a = [resolve(x) for x in trim(self.denominator)]
        given = [resolve(x) for x in trim(self.numerator)]
        b = [*[0.0] * (n + 1 - len(given)), *given]
        low_a = [a[n - k] / a[0] / pace ** (n - k) for k in range(n)]
        d = b[0] / a[0]
        return low_a, [b[n - k] / a[0] / pace ** (n - k) - d * low_a[k] for k in range(n)], d

    def state_names(self) -> tuple[tuple[str, str], ...]:
        """x1, x2, ..."""
        return tuple((f"x{k + 1}", PLAIN) for k in range(self.order))


def trim(coefficients: Values) -> Values:
    """Without leading zeros."""
    first = next((k for k, x in enumerate(coefficients) if x != 0.0), len(coefficients))
    return coefficients[first:]


@register("transfer_function", symbol="transfer_function", shortcut=True)
class TransferFunction(Rational):
    """A linear system by its transfer function, coefficients of powers of s."""

    def check(self) -> None:
        super().check()
        if self.initial != 0.0 and (self.order == 0 or self.numerator[-1] == 0.0):
            why = "there is no state" if self.order == 0 else "the numerator ends in 0"
            raise self.error_at("initial", f"no steady output but 0 is possible: {why}")

    @property
    def _pace(self) -> float:
        """w; 1 where coefficients are not plain numbers."""
        a = trim(self.denominator)
        if not all(isinstance(x, float) for x in a):
            return 1.0
        sizes = [abs(x / a[0]) ** (1.0 / k) for k, x in enumerate(a) if k and x]
        return float(max(sizes, default=1.0))

    @property
    def _gain(self) -> float:
        """g, by what was written, so that states mean the same in every kind of number; 1 likewise."""
        if not all(isinstance(x, float) for x in (*self.numerator, *self.denominator)):
            return 1.0
        _, c, _ = self.fractions(float, self._pace)
        return max((abs(float(x)) for x in c), default=1.0) or 1.0

    def _form(self, resolve: Resolve) -> tuple[list[Scalar], list[Scalar], Scalar, float]:
        """a_0.. a_(n-1), (c_0.. c_(n-1))/g, d and g, of the scaled form."""
        a, c, d = self.fractions(resolve, self._pace)
        g = self._gain
        return a, [x / g for x in c], d, g

    @property
    def states(self) -> tuple[tuple[str, str], ...]:
        return self.state_names()

    @property
    def immediate(self) -> frozenset[str]:
        """The output, where numerator and denominator are of one order."""
        return frozenset({"output"}) if self.direct else frozenset()

    @property
    def late(self) -> frozenset[str]:
        return frozenset() if self.direct else frozenset({"input"})

    def initial_states(self, resolve: Resolve) -> Array:
        """In a steady state x_1 alone is not zero, and the output is b_0 x_1."""
        x = np.zeros(self.order)
        if self.initial != 0.0:
            a, c, d, g = self._form(resolve)
            x[0] = resolve(self.initial) * g / (g * c[0] + d * a[0])
        return x

    def state_rates(self, scene: PositionScene) -> Array:
        a, _, _, g = self._form(scene.law)
        x, w = scene.other_states(self.name), self._pace
        last = g * scene.law(self.input) - apply_row(a, x)
        return tidy([w * value for value in (*x[1:], last)])

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        if name != "output":
            return self.state(name, scene)
        _, c, d, _ = self._form(scene.law)
        direct = 0.0 if isinstance(d, float) and d == 0.0 else d * scene.law(self.input)
        return apply_row(c, scene.other_states(self.name)) + direct if c else direct


@record
class StateSpaceMatrices(Coefficients):
    """A linear system by its matrices."""

    inputs: Values = special("input_laws", "the signals that go in, one law for each column of B", ...)
    A: Matrix = special("matrix", "from the states to their rates, or to the next states", ...)
    B: Matrix = special("matrix", "from the inputs to these", ...)
    C: Matrix = special("matrix", "from the states to the outputs", ...)
    D: Matrix | None = special("matrix", "from the inputs to the outputs; none if left out")
    outputs: tuple[str, ...] | None = special("words", "names of several outputs; y1, y2, ... if left out")
    initial: Values | None = special("numbers", "states at the start; 0 if left out", aside=True)

    def check(self) -> None:
        super().check()
        n, m, B, C, D = len(self.A), len(self.inputs), self._B, self.C, self._D
        sizes = {"A": (self.A, n, n), "B": (B, n, m), "C": (C, len(C), n), "D": (D, len(C), m)}
        for field, (matrix, rows, columns) in sizes.items():
            if (len(matrix), len(matrix[0])) != (rows, columns):
                message = f"is {len(matrix)} by {len(matrix[0])}; with {n} states, {m} inputs and {len(C)} outputs it "
                raise self.error_at(field, f"{message}has to be {rows} by {columns}")
        if self.outputs is not None and (len(self.outputs) != len(C) or len(C) == 1):
            message = "one output is called output" if len(C) == 1 else f"{len(C)} names are expected"
            raise self.error_at("outputs", message)
        if self.initial is not None and len(self.initial) != n:
            raise self.error_at("initial", f"{n} numbers are expected, not {len(self.initial)}")

    @property
    def _B(self) -> Matrix:
        return _column(self.B, len(self.A), len(self.inputs))

    @property
    def _D(self) -> Matrix:
        if self.D is None:
            return ((0.0,) * len(self.inputs),) * len(self.C)
        return _column(self.D, len(self.C), len(self.inputs))

    def state_names(self) -> tuple[tuple[str, str], ...]:
        """x1, x2, ..."""
        return tuple((f"x{k + 1}", PLAIN) for k in range(len(self.A)))

    def state_values(self, resolve: Resolve) -> list[float]:
        """The states at the start."""
        return [0.0] * len(self.A) if self.initial is None else [float(resolve(x)) for x in self.initial]

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of its outputs; none for one alone."""
        count = len(self.C)
        return (self.outputs or tuple(f"y{k + 1}" for k in range(count))) if count > 1 else ()

    @property
    def direct(self) -> bool:
        """Whether an input goes through to an output at once."""
        return any(x != 0.0 for row in self._D for x in row)

    def stepped(self, scene: LawScene, x: Sequence[Scalar] | Array) -> list[Scalar]:
        """A x + B inputs."""
        given = [scene.law(law) for law in self.inputs]
        return [a + b for a, b in zip(_times(self.A, x, scene), _times(self._B, given, scene), strict=True)]

    def shown(self, scene: LawScene, x: Sequence[Scalar] | Array) -> list[Scalar]:
        """C x + D inputs."""
        outputs = _times(self.C, x, scene)
        if self.direct:
            through = _times(self._D, [scene.law(law) for law in self.inputs], scene)
            outputs = [a + b for a, b in zip(outputs, through, strict=True)]
        return outputs


@register("state_space", symbol="state_space", shortcut=True)
class StateSpace(StateSpaceMatrices):
    """A linear system by its matrices: x' = A x + B inputs, outputs = C x + D inputs."""

    @property
    def states(self) -> tuple[tuple[str, str], ...]:
        return self.state_names()

    def initial_states(self, resolve: Resolve) -> Array:
        return np.array(self.state_values(resolve))

    def offered(self) -> Mapping[str, tuple[str, tuple[str, ...]]]:
        return {**super().offered(), "output": (PLAIN, self.channels)}

    @property
    def immediate(self) -> frozenset[str]:
        """The outputs, where inputs go through to any of them."""
        return frozenset({"output"} if self.direct else ())

    @property
    def late(self) -> frozenset[str]:
        return frozenset() if self.direct else frozenset({"inputs"})

    def state_rates(self, scene: PositionScene) -> Array:
        return tidy(self.stepped(scene, scene.other_states(self.name)))

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        if name != "output":
            return self.state(name, scene)
        outputs = self.shown(scene, scene.other_states(self.name))
        return tidy(outputs) if len(outputs) > 1 else outputs[0]


def _column(matrix: Matrix, rows: int, columns: int) -> Matrix:
    """A flat list where a column is needed is one."""
    if len(matrix) == 1 and rows > 1 and columns == 1 and len(matrix[0]) == rows:
        return tuple((x,) for x in matrix[0])
    return matrix


def _times(matrix: Matrix, x: Sequence[Scalar] | Array, scene: LawScene) -> list[Scalar]:
    return [apply_row([scene.law(a) for a in row], x) for row in matrix]
