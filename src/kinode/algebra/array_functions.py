"""The elementary functions on NumPy arrays, entry by entry, and on symbols of SymPy, as ``scalars.apply`` applies them.

Arrays of floats are computed at once; of arrays of other scalars each entry by itself.  Outside its domain a function
returns nan or infinity, without a warning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinode.algebra.named_data import ExternalResult
from kinode.algebra.scalars import ARITHMETIC, Array, Scalar, apply, exact, is_number

ARRAY_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative, "inv": np.reciprocal,
    "pow": lambda a, b: np.where((a == 0) & (b < 0), np.inf, np.power(a, b)),  # of minus zero as of zero
    "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "exp": np.exp,
    "log": np.log, "abs": np.abs, "sign": np.sign, "min": np.minimum, "max": np.maximum, "floor": np.floor,
    "less": np.less, "less_equal": np.less_equal, "equal": np.equal,
    "where": lambda c, a, b: np.where(c != 0, a, b),
}  # fmt: skip
_LOOKUPS: dict[str, Callable[..., Any]] = {
    "interval": lambda breaks, x: np.clip(np.searchsorted(breaks, x, "right") - 1, 0, len(breaks) - 2),
    "fetch": lambda values, index: np.take(values, index.astype(np.int64)),
}


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
        function = _LOOKUPS[name] if name in _LOOKUPS else ARRAY_FUNCTIONS[name]
        values: Array = np.asarray(
            function(*(np.asarray(arg, dtype=float) if not isinstance(arg, tuple) else arg for arg in args)),
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
