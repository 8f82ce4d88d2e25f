"""The elementary functions on NumPy arrays, entry by entry, as ``scalars.apply`` applies them to single numbers.

Arrays of floats are computed at once; of arrays of other scalars each entry by itself.  Outside its domain a function
returns nan or infinity, without a warning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, apply, is_number

ARRAY_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative, "inv": np.reciprocal, "pow": np.power,
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
