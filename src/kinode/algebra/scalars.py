"""Scalar types, and the elementary functions that work on all of them, and on arrays of them.

The mechanics is written once, on NumPy arrays.  The entries are floats (to compute), traced scalars (to compile),
symbols (to print), expressions (to describe a model) or duals of any of these (to differentiate).  This is the only
module that looks at the type of a scalar.

Another scalar type joins with ``register_scalar_type(type, handler)``: ``handler(name, args)`` applies the named
function.  Duals and affine forms wrap scalars of other types.  The partial derivatives are defined here once, for duals
and expressions alike.

Arrays of floats are computed at once; of arrays of other scalars, and of symbols of SymPy, each entry by itself.
Outside its domain a function returns nan or infinity and does not raise or warn, as compiled code does.
"""

from __future__ import annotations

import itertools
import math
import operator
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.named_data import ExternalResult, NamedData

Scalar = Any
Array = np.ndarray

_HANDLERS: dict[type, Callable[[str, tuple[Scalar, ...]], Scalar]] = {}
_WRAPS: dict[type, int] = {}


def register_scalar_type(type_: type, handler: Callable[[str, tuple[Scalar, ...]], Scalar], wraps: int = 0) -> None:
    """Let ``handler(name, args)`` apply the named functions to scalars of a type.

    If the arguments have several types, the handler of the type with the largest ``wraps`` is called: a type that wraps
    other scalars accepts them as arguments.
    """
    _HANDLERS[type_] = handler
    if wraps:
        _WRAPS[type_] = wraps


def _wraps(type_: type) -> int:
    return _WRAPS.get(type_, 0)


def _sign(x: float) -> float:
    return float(x > 0) - float(x < 0)


def find_interval(breaks: Sequence[float], x: float) -> float:
    """Index of the interval of ``breaks`` that contains x; the first and the last one extend outwards."""
    return float(min(max(bisect_right(breaks, x) - 1, 0), len(breaks) - 2))


def _guarded(function: Callable[[float], float], a: float) -> float:
    """The function, with infinity in place of an overflow."""
    try:
        return function(a)
    except OverflowError:
        return math.inf


def _float_power(a: float, b: float) -> float:
    if a < 0 and math.isfinite(a) and math.isfinite(b) and not float(b).is_integer():
        return math.nan
    try:
        return float(float(a) ** b)
    except (ZeroDivisionError, OverflowError):
        return -math.inf if a < 0 and b % 2 == 1 else math.inf


def _finite(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda a: function(a) if math.isfinite(a) else math.nan


def _inside(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda a: function(a) if -1 <= a <= 1 else math.nan


def apply(name: str, *args: Scalar) -> Scalar:
    """Apply the named function to scalars of any type, or to each entry of arrays; the types may be mixed."""
    for arg in args:
        type_ = type(arg)
        if type_ is float or type_ is int or type_ is tuple or type_ is NamedData or type_ is ExternalResult:
            continue
        if len(args) > 1:
            type_ = max(type_, *map(type, args), key=_wraps)
        handler = _HANDLERS.get(type_)
        if handler is not None:
            return handler(name, args)
        if _is_symbolic(arg):
            return apply_symbolic(name, args)
        if any(isinstance(x, np.ndarray) for x in args):
            return apply_to_arrays(name, args)
        if not isinstance(arg, (np.floating, np.integer)):
            raise TypeError(f"{name}() was given {arg!r}, which is no number that kinode knows")
    return FLOAT_FUNCTIONS[name](*args)


def _is_symbolic(x: object) -> bool:
    for name in ("sympy", "symengine"):
        basic = getattr(sys.modules.get(name), "Basic", None)  # another thread may be importing it
        if basic is not None and isinstance(x, basic):
            return True
    return False


def exact(x: Scalar) -> Scalar:
    """A symbolic number without a needless decimal point: 2.0 becomes 2; 0.5 stays."""
    if getattr(x, "is_Float", False) and float(x).is_integer():
        import sympy

        return sympy.Integer(int(x))
    return x


def _function(name: str) -> Callable[..., Scalar]:
    def function(*args: Scalar) -> Scalar:
        return apply(name, *args)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name} of any scalar type."
    return function


Unary = Callable[[Scalar], Scalar]
Binary = Callable[[Scalar, Scalar], Scalar]
sin: Unary = _function("sin")
cos: Unary = _function("cos")
tan: Unary = _function("tan")
asin: Unary = _function("asin")
acos: Unary = _function("acos")
atan: Unary = _function("atan")
sinh: Unary = _function("sinh")
cosh: Unary = _function("cosh")
tanh: Unary = _function("tanh")
exp: Unary = _function("exp")
log: Unary = _function("log")
sqrt: Unary = _function("sqrt")
absolute: Unary = _function("abs")
sign: Unary = _function("sign")
floor: Unary = _function("floor")
atan2: Binary = _function("atan2")
power: Binary = _function("pow")
minimum: Binary = _function("min")
maximum: Binary = _function("max")
less: Binary = _function("less")
less_equal: Binary = _function("less_equal")
equal: Binary = _function("equal")
where: Callable[[Scalar, Scalar, Scalar], Scalar] = _function("where")
inverse, interval, fetch = _function("inv"), _function("interval"), _function("fetch")


def mod(a: Scalar, b: Scalar) -> Scalar:
    """What is left of a beyond whole multiples of b, with the sign of b, of any scalar type."""
    if is_zero(b) and is_number(a):
        return math.nan
    return a - b * floor(a / b)


def _external_partial(result: ExternalResult, k: int, args: Sequence[Scalar]) -> Scalar:
    """The partial derivative of a result of an external function by its argument k."""
    derivative = result.function.derivative(result.index, k)
    return 0.0 if derivative is None else apply("external", derivative, *args)


class Operation(NamedTuple):
    """What an operation means for each kind of number, and how code writes it.

    ``partials`` has the partial derivative by each argument, for all scalar types; callers treat "where", "interval"
    and "fetch" themselves.  ``array`` is NumPy's function of this name if nothing else is given.  ``llvm`` is an
    instruction, the condition of a comparison, an intrinsic function, or "call" for the C library's function of this
    name.  ``c`` has operands ``{0}``, those without needless parentheses ``{bare[0]}``, and helper functions
    ``{call[sign]}``; if it is empty, the function of this name is called.
    """

    name: str
    value: Callable[..., float]
    partials: Callable[..., tuple[Scalar, ...]] | None = None
    array: Callable[..., Any] | None = None
    llvm: str = ""
    c: str = ""
    arity: int = 1
    commutative: bool = False
    steps: bool = False  # whether it is piecewise constant
    breaks_at: str = ""  # "zero" of its argument, or where both are "equal"


def _steady(*args: Scalar) -> tuple[Scalar, ...]:
    return (0.0,) * len(args)


def _less_than(sign: str) -> str:
    return f"({{0}} {sign} {{1}} ? 1.0 : 0.0)"


_STEP: dict[str, Any] = {"partials": _steady, "steps": True}
_TEST: dict[str, Any] = {**_STEP, "arity": 2, "breaks_at": "equal"}
_ROWS = (
    Operation("add", operator.add, lambda a, b: (1.0, 1.0), np.add, "fadd", "({0} + {1})", 2, commutative=True),
    Operation("sub", operator.sub, lambda a, b: (1.0, -1.0), np.subtract, "fsub", "({0} - {1})", 2),
    Operation("mul", operator.mul, lambda a, b: (b, a), np.multiply, "fmul", "({0} * {1})", 2, commutative=True),
    Operation("neg", operator.neg, lambda a: (-1.0,), np.negative, "fneg", "(-{0})"),
    Operation(
        "inv", lambda a: 1.0 / a if a != 0 else math.copysign(math.inf, a),
        lambda a: (-1.0 * inverse(a) * inverse(a),), np.reciprocal, c="(1.0 / {0})",
    ),
    Operation(
        "pow", _float_power, lambda a, b: (b * power(a, b - 1.0), power(a, b) * log(a)),
        lambda a, b: np.where((a == 0) & (b < 0), np.inf, np.power(a, b)),  # of minus zero as of zero
        "call", "{call[power]}({bare[0]}, {bare[1]})", 2,
    ),
    Operation(
        "sqrt", lambda a: math.sqrt(a) if a >= 0 else math.nan, lambda a: (0.5 * inverse(sqrt(a)),), llvm="sqrt"
    ),
    Operation("sin", _finite(math.sin), lambda a: (cos(a),), llvm="call"),
    Operation("cos", _finite(math.cos), lambda a: (-1.0 * sin(a),), llvm="call"),
    Operation("tan", _finite(math.tan), lambda a: (1.0 + tan(a) * tan(a),), llvm="call"),
    Operation("asin", _inside(math.asin), lambda a: (inverse(sqrt(1.0 - a * a)),), llvm="call"),
    Operation("acos", _inside(math.acos), lambda a: (-1.0 * inverse(sqrt(1.0 - a * a)),), llvm="call"),
    Operation("atan", math.atan, lambda a: (inverse(1.0 + a * a),), llvm="call"),
    Operation(
        "atan2", math.atan2,
        lambda a, b: (b * inverse(a * a + b * b), -1.0 * a * inverse(a * a + b * b)), llvm="call", arity=2,
    ),
    Operation("sinh", lambda a: math.copysign(_guarded(math.sinh, a), a), lambda a: (cosh(a),), llvm="call"),
    Operation("cosh", lambda a: _guarded(math.cosh, a), lambda a: (sinh(a),), llvm="call"),
    Operation("tanh", math.tanh, lambda a: (1.0 - tanh(a) * tanh(a),), llvm="call"),
    Operation("exp", lambda a: _guarded(math.exp, a), lambda a: (exp(a),), llvm="call"),
    Operation(
        "log", lambda a: math.log(a) if a > 0 else (-math.inf if a == 0 else math.nan),
        lambda a: (inverse(a),), llvm="call",
    ),
    Operation("abs", abs, lambda a: (sign(a),), llvm="fabs", c="fabs({bare[0]})", breaks_at="zero"),
    Operation("sign", _sign, c="{call[sign]}({bare[0]})", breaks_at="zero", **_STEP),
    Operation(
        "min", lambda a, b: a if a < b else b, lambda a, b: (less(a, b), 1.0 - less(a, b)), np.minimum,
        c="{call[least]}({bare[1]}, {bare[0]})", arity=2, commutative=True, breaks_at="equal",
    ),
    Operation(
        "max", lambda a, b: a if a > b else b, lambda a, b: (less(b, a), 1.0 - less(b, a)), np.maximum,
        c="{call[most]}({bare[1]}, {bare[0]})", arity=2, commutative=True, breaks_at="equal",
    ),
    Operation(
        "floor", lambda a: float(math.floor(a)) if math.isfinite(a) else a,
        llvm="floor", c="(floor({bare[0]}) + 0.0)", **_STEP,
    ),
    Operation("less", lambda a, b: 1.0 if a < b else 0.0, llvm="olt", c=_less_than("<"), **_TEST),
    Operation("less_equal", lambda a, b: 1.0 if a <= b else 0.0, llvm="ole", c=_less_than("<="), **_TEST),
    Operation("equal", lambda a, b: 1.0 if a == b else 0.0, llvm="oeq", c=_less_than("=="), commutative=True, **_TEST),
    Operation(
        "where", lambda c, a, b: a if c != 0 else b, None, lambda c, a, b: np.where(c != 0, a, b),
        c="({0} != 0.0 ? {1} : {2})", arity=3,
    ),
    Operation(
        "interval", lambda breaks, x: find_interval(breaks, x), None,
        lambda breaks, x: np.clip(np.searchsorted(breaks, x, "right") - 1, 0, len(breaks) - 2), arity=2, steps=True,
    ),
    Operation(
        "fetch", lambda values, index: values[int(index)] if math.isfinite(index) else math.nan, None,
        lambda values, index: np.take(values, index.astype(np.int64)), arity=2, steps=True,
    ),
    Operation(
        "external", lambda result, *args: result(*args),
        lambda result, *args: (0.0, *(_external_partial(result, k, args) for k in range(len(args)))),
    ),
)  # fmt: skip
OPERATIONS = {row.name: row for row in _ROWS}
FLOAT_FUNCTIONS = {row.name: row.value for row in _ROWS}
PARTIALS = {row.name: row.partials for row in _ROWS if row.partials is not None}
ARRAY_FUNCTIONS = {row.name: row.array or getattr(np, row.name) for row in _ROWS if row.name != "external"}
ARITHMETIC = {name: FLOAT_FUNCTIONS[name] for name in ("add", "sub", "mul", "neg")}
"""Operations that all scalar types have as Python operators."""
COMMUTATIVE = frozenset(row.name for row in _ROWS if row.commutative)
PIECEWISE_CONSTANT = frozenset(row.name for row in _ROWS if row.steps)
COMPARISONS = frozenset(row.name for row in _ROWS if row.steps and row.breaks_at == "equal")
LIBRARY = {row.name: row.arity for row in _ROWS if row.llvm == "call"}
"""Operations that are functions of the C library, with their numbers of arguments."""


def is_number(x: object) -> bool:
    """Whether x is a plain number, which is a constant to every other scalar type."""
    return type(x) is float or isinstance(x, (float, int, np.floating, np.integer))


def is_zero(x: Scalar) -> bool:
    """Whether x is a plain zero: known to vanish, whatever the state."""
    return x == 0.0 if type(x) is float else is_number(x) and bool(x == 0)


class Dual:
    """A value and its rate of change, both of one other scalar type (a dual number: forward differentiation).

    ``level`` keeps nested derivatives apart: a dual of a lower level is a constant to this one.  So a function that
    differentiates inside can be differentiated itself.
    """

    __slots__ = ("level", "rate", "value")

    def __init__(self, value: Scalar, rate: Scalar = 0.0, level: int = 0) -> None:
        self.value = value
        self.rate = rate
        self.level = level

    def __add__(self, other: Scalar) -> Dual:
        kind = type(other)
        if kind is float:
            return Dual(self.value + other, self.rate, self.level)
        if kind is Dual:
            if other.level == self.level:
                return Dual(self.value + other.value, self.rate + other.rate, self.level)
            if other.level > self.level:
                return Dual(self + other.value, other.rate, other.level)
        elif kind is np.ndarray:  # NumPy applies the operation to each entry
            return NotImplemented
        return Dual(self.value + other, self.rate, self.level)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Dual:
        kind = type(other)
        if kind is float:
            return Dual(self.value - other, self.rate, self.level)
        if kind is Dual:
            if other.level == self.level:
                return Dual(self.value - other.value, self.rate - other.rate, self.level)
            if other.level > self.level:
                return Dual(self - other.value, -other.rate, other.level)
        elif kind is np.ndarray:
            return NotImplemented
        return Dual(self.value - other, self.rate, self.level)

    def __rsub__(self, other: Scalar) -> Dual:
        return Dual(other - self.value, -self.rate, self.level)

    def __mul__(self, other: Scalar) -> Dual:
        kind = type(other)
        if kind is float:
            return Dual(self.value * other, self.rate * other, self.level)
        if kind is Dual:
            if other.level == self.level:
                return Dual(self.value * other.value, self.rate * other.value + self.value * other.rate, self.level)
            if other.level > self.level:
                return Dual(self * other.value, self * other.rate, other.level)
        elif kind is np.ndarray:
            return NotImplemented
        return Dual(self.value * other, self.rate * other, self.level)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        return self * apply("inv", other)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return other * apply("inv", self)

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.rate, self.level)

    def __pos__(self) -> Dual:
        return self

    def __pow__(self, exponent: Scalar) -> Scalar:
        return apply("pow", self, exponent)

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.rate!r})"


def _apply_dual(name: str, args: tuple[Scalar, ...]) -> Scalar:
    level = max(arg.level for arg in args if isinstance(arg, Dual))
    is_variable = [isinstance(arg, Dual) and arg.level == level for arg in args]
    values = tuple(arg.value if variable else arg for arg, variable in zip(args, is_variable, strict=True))
    rates = tuple(arg.rate if variable else 0.0 for arg, variable in zip(args, is_variable, strict=True))
    value = apply(name, *values)
    if name == "where":
        return Dual(value, apply("where", values[0], rates[1], rates[2]), level)
    if name in ("interval", "fetch"):
        return value
    rate: Scalar = 0.0
    for partial, change in zip(PARTIALS[name](*values), rates, strict=True):
        if not is_zero(change) and not is_zero(partial):
            rate = rate + partial * change
    return Dual(value, rate, level)


register_scalar_type(Dual, _apply_dual, wraps=2)


_LEVELS = itertools.count(1)


def new_level() -> int:
    """A level of duals that no other derivative uses."""
    return next(_LEVELS)


def value_and_rate(function: Callable[[Array], Array], q: Array, q_dot: Array) -> tuple[Array, Array]:
    """``function(q)`` and its rate of change while q changes at ``q_dot``: exact, for every scalar type."""
    level = new_level()
    duals = np.empty(len(q), dtype=object)
    for i in range(len(q)):
        duals[i] = q[i] if is_zero(q_dot[i]) else Dual(q[i], q_dot[i], level)
    result = np.asarray(function(duals), dtype=object)
    values, rates = np.empty(result.shape, dtype=object), np.empty(result.shape, dtype=object)
    for index, entry in np.ndenumerate(result):
        moves = isinstance(entry, Dual) and entry.level == level
        values[index], rates[index] = (entry.value, entry.rate) if moves else (entry, 0.0)
    return tidy(values), tidy(rates)


def rate(function: Callable[[Array], Array], q: Array, q_dot: Array) -> Array:
    """Rate of change of ``function(q)`` while q changes at ``q_dot``."""
    return value_and_rate(function, q, q_dot)[1]


def tidy(values: Sequence[Any] | Array) -> Array:
    """A float array if every entry is a plain number, else an object array."""
    array = np.array(values, dtype=object)
    for entry in array.flat:
        if type(entry) is not float and not is_number(entry):
            return array
    return array.astype(float)


def apply_to_arrays(name: str, args: tuple[Scalar, ...]) -> Array:
    """The named function of arguments of which at least one is an array."""
    numbers = [arg for arg in args if not isinstance(arg, tuple)]  # tuples are the constants of a table
    if name == "external":
        return _call_each(args[0], args[1:])
    if not all(is_number(arg) or (isinstance(arg, np.ndarray) and arg.dtype != object) for arg in numbers):
        each = np.frompyfunc(lambda *entries: apply(name, *entries), len(args), 1)
        constants = [_whole(arg) if isinstance(arg, tuple) else arg for arg in args]
        result: Array = each(*constants)
        return result
    with np.errstate(all="ignore"):
        values: Array = np.asarray(
            ARRAY_FUNCTIONS[name](
                *(np.asarray(arg, dtype=float) if not isinstance(arg, tuple) else arg for arg in args)
            ),
            dtype=float,
        )
        return values


def _whole(constants: tuple[float, ...]) -> Array:
    """A tuple as one entry, over which NumPy does not go."""
    entry = np.empty((), dtype=object)
    entry[()] = constants
    return entry


def _call_each(result: ExternalResult, args: tuple[Scalar, ...]) -> Array:
    """A result of an external function for each entry of arrays."""
    each = np.frompyfunc(lambda *entries: apply("external", result, *entries), len(args), 1)
    values: Array = each(*args)
    numbers = all(is_number(value) for value in values.flat)
    return values.astype(float) if numbers else values


def apply_symbolic(name: str, args: tuple[Scalar, ...]) -> Scalar:
    """The named function of arguments of which at least one is a symbol."""
    import sympy

    if name == "external":
        return sympy.Function(repr(args[0]))(*map(sympy.sympify, args[1:]))
    args = tuple(arg if isinstance(arg, (tuple, sympy.Symbol)) else exact(sympy.sympify(arg)) for arg in args)
    if name in ARITHMETIC:
        return ARITHMETIC[name](*args)
    match name:
        case "inv":
            return 1 / args[0]
        case "pow":
            return args[0] ** args[1]
        case "abs":
            return sympy.Abs(args[0])
        case "min" | "max":
            return {"min": sympy.Min, "max": sympy.Max}[name](*args)
        case "less":
            return sympy.Piecewise((1, args[0] < args[1]), (0, True))
        case "less_equal":
            return sympy.Piecewise((1, args[0] <= args[1]), (0, True))
        case "equal":
            return sympy.Piecewise((1, sympy.Eq(args[0], args[1])), (0, True))
        case "where":
            return sympy.Piecewise((args[1], sympy.Ne(args[0], 0)), (args[2], True))
        case "interval" | "fetch":
            return sympy.Function(name)(sympy.Tuple(*args[0]), args[1])
        case _:
            return getattr(sympy, name)(*args)
