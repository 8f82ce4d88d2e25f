"""Terms with values in the place of free indices: a definition for all joints becomes the equation of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from kinode.symbolic.formulas.indices import Bindings, Index, IndexCondition, IndexFunction, IndexSet
from kinode.symbolic.formulas.vector_terms import Cases, Definition, SumOver, VectorTerm


def substituted(definition: Definition, bindings: Bindings) -> Definition:
    """A definition for some values of its indices."""
    return replace(
        definition, left=_replaced(definition.left, bindings), right=_replaced(definition.right, bindings), where=None
    )


def _replaced(x: Any, bindings: Bindings) -> Any:
    """The same with values for indices, whatever it is that has them."""
    if isinstance(x, Index):
        return bindings.get(x.letter, x)
    if isinstance(x, IndexFunction):
        arguments = tuple(_replaced(a, bindings) for a in x.arguments)
        free = any(isinstance(a, Index | IndexFunction) for a in arguments)
        return replace(x, arguments=arguments) if free else x.function(*arguments)
    if isinstance(x, IndexSet | IndexCondition):
        return replace(x, arguments=tuple(_replaced(a, bindings) for a in x.arguments))
    if isinstance(x, SumOver):
        inner = {letter: value for letter, value in bindings.items() if letter not in {s.index.letter for s in x.over}}
        return SumOver(tuple(_replaced(s, bindings) for s in x.over), _replaced(x.term, inner))
    if isinstance(x, Cases):
        return _chosen(x, bindings)
    if isinstance(x, tuple):
        return tuple(_replaced(part, bindings) for part in x)
    return _with_parts(x, bindings) if isinstance(x, VectorTerm) else x


def _chosen(cases: Cases, bindings: Bindings) -> VectorTerm:
    """The case that holds, if that can be said; else all of them."""
    left = []
    for term, condition in cases.cases:
        bound = None if condition is None else _replaced(condition, bindings)
        if bound is None or any(isinstance(a, Index | IndexFunction) for a in bound.arguments):
            left.append((_replaced(term, bindings), bound))
        elif bound.check({}):
            left.append((_replaced(term, bindings), None))
        if left and left[-1][1] is None:
            break
    only: VectorTerm = left[0][0]
    return only if left[0][1] is None else Cases(tuple(left))


def _with_parts(term: VectorTerm, bindings: Bindings) -> VectorTerm:
    parts: Mapping[str, Any] = {f.name: getattr(term, f.name) for f in fields(term)}  # type: ignore[arg-type]
    changed = {
        name: _replaced(x, bindings)
        for name, x in parts.items()
        if isinstance(x, VectorTerm | tuple | Index | IndexFunction)
    }
    return replace(term, **changed)  # type: ignore[type-var]
