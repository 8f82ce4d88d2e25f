"""The kinds of number, for tests: the same function of arrays, computed with each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kinode.algebra.trace import Tape, replay

Function = Callable[..., np.ndarray]


def with_floats(function: Function, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Plain numbers."""
    return np.asarray(function(*(np.asarray(a, dtype=float) for a in arrays))).astype(float)


def with_traced(function: Function, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Traced numbers, the tape then replayed with plain ones."""
    tape = Tape()
    traced = [tape.inputs(f"a{k}", len(a)) for k, a in enumerate(arrays)]
    outputs = np.asarray(function(*traced), dtype=object)
    given = {(f"a{k}", i): float(x) for k, a in enumerate(arrays) for i, x in enumerate(a)}
    return np.array(replay(outputs.ravel(), given), dtype=float).reshape(outputs.shape)


def with_symbols(function: Function, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """SymPy symbols, the formulas then computed, each part of them once."""
    import sympy

    symbols = [np.array(sympy.symbols(f"a{k}_:{len(a)}"), dtype=object) for k, a in enumerate(arrays)]
    outputs = np.asarray(function(*symbols), dtype=object)
    known = {s: float(x) for ss, a in zip(symbols, arrays, strict=True) for s, x in zip(ss, a, strict=True)}

    def value(formula: sympy.Basic) -> float:
        if formula not in known:
            args = [value(arg) for arg in formula.args]
            known[formula] = float(formula.func(*args)) if args else float(formula)
        return known[formula]

    return np.array([value(sympy.sympify(x)) for x in outputs.ravel()], dtype=float).reshape(outputs.shape)


KINDS: dict[str, Callable[[Function, Sequence[np.ndarray]], np.ndarray]] = {
    "floats": with_floats,
    "traced": with_traced,
    "symbols": with_symbols,
}
