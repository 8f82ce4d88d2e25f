"""Traced scalars: arithmetic that is recorded on a tape, each operation once.

A ``Tape`` holds the operations in an order in which they can be computed.  Equal operations on equal operands are one
node (hash-consing).  Some results are simplified while tracing: products with 0 and 1, sums with 0, signs,
``c - (c - x) = x``, ``D * (1/D) = 1`` and ``D * (e * (1/D)) = e``.  The last two find the zero rows of an articulated
inertia.  Constants stay Python floats until they meet a node.  There are no loops and no branches on a tape; a
``where`` computes both sides.

Why our own: the tape serves three purposes at once (machine code, printed equations, derivatives by ``replay``) and is
made for scalars in NumPy object arrays.  The accelerations of a chain of 7 revolute joints take 10 ms to trace to 1,754
operations.  The same code on CasADi's SX (3.8) takes 166 ms and 1,860 operations after its elimination of common
subexpressions, because each scalar is a matrix object of its own; for 30 joints it is 47 ms against 741 ms.  JAX (0.10)
cannot hold its traced values in object arrays; given this tape, XLA compiles it for the CPU in 14 s, while kinode needs
0.35 s from the model to the first result, without a cache.  A tracer of scalars with hash-consing and compile times of
this order would make this module obsolete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from kinode.algebra.scalars import ARITHMETIC, COMMUTATIVE, Scalar, apply, is_number, register_scalar_type


class Traced:
    """One node of a tape: an operation and its operands (nodes, floats or tuples of floats)."""

    __slots__ = ("args", "index", "key", "op", "opposite", "tape")

    def __init__(self, tape: Tape, op: str, args: tuple[Any, ...], index: int) -> None:
        self.tape = tape
        self.op = op
        self.args = args
        self.index = index
        self.key = 0  # tells what it computes, whatever its tape; zero if not known yet (jit/program_walk.py)
        self.opposite: Traced | None = None

    def __add__(self, other: Scalar) -> Scalar:
        if type(other) is Traced:
            if other.op == "neg":
                return self - other.args[0]
            if self.op == "neg":
                return other - self.args[0]
            if self is other:
                return self * 2.0
            tape = self.tape
            args = (other, self) if self.index > other.index else (self, other)
            node = tape.sums.get(args)
            return tape.append("add", args, tape.sums) if node is None else node
        if type(other) is not float:
            if not is_number(other):
                return NotImplemented
            other = float(other)
        return self if other == 0.0 else self.tape.node("add", self, other)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        if type(other) is Traced:
            if self is other:
                return 0.0
            if other.op == "neg":
                return self + other.args[0]
            if self.op == "neg":
                return -(self.args[0] + other)
            tape = self.tape
            if self.index > other.index:
                args = (other, self)
                node = tape.differences.get(args)
                return -(tape.append("sub", args, tape.differences) if node is None else node)
            args = (self, other)
            node = tape.differences.get(args)
            return tape.append("sub", args, tape.differences) if node is None else node
        if not is_number(other):
            return NotImplemented
        return self + (-other)

    def __rsub__(self, other: Scalar) -> Scalar:
        if not is_number(other):
            return NotImplemented
        if other == 0:
            return -self
        if self.op == "neg":
            return self.args[0] + other
        if self.op == "sub" and self.args[0] == other:
            return self.args[1]
        return self.tape.node("sub", float(other), self)

    def __mul__(self, other: Scalar) -> Scalar:
        if type(other) is Traced:
            return self._times_node(other)
        if type(other) is not float:
            if not is_number(other):
                return NotImplemented
            other = float(other)
        if other == 0.0:
            return 0.0
        if other == 1.0:
            return self
        if other < 0.0:
            return -(self * -other)
        if self.op == "neg":
            return -(self.args[0] * other)
        if self.op == "mul" and type(self.args[1]) is float:
            return self.args[0] * (self.args[1] * other)
        return self.tape.node("mul", self, other)

    __rmul__ = __mul__

    def _times_node(self, other: Traced) -> Scalar:
        a, b = self, other
        negative = False
        if a.op == "neg":
            a, negative = a.args[0], True
        if b.op == "neg":
            b, negative = b.args[0], not negative
        product: Scalar | None = None
        if b.op == "inv" or b.op == "mul":
            product = _cancelled(a, b)
        if product is None and (a.op == "inv" or a.op == "mul"):
            product = _cancelled(b, a)
        if product is None:
            tape = a.tape
            args = (b, a) if a.index > b.index else (a, b)
            product = tape.products.get(args)
            if product is None:
                product = tape.append("mul", args, tape.products)
        return -product if negative else product

    def __truediv__(self, other: Scalar) -> Scalar:
        if is_number(other):
            return self * (1.0 / other)
        return self * apply("inv", other)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return apply("inv", self) * other

    def __neg__(self) -> Scalar:
        opposite = self.opposite
        if opposite is None:
            if self.op == "pack":
                return self.tape.pack([-entry for entry in self.args])
            opposite = self.opposite = self.tape.node("neg", self)
            opposite.opposite = self
        return opposite

    def __pos__(self) -> Traced:
        return self

    def __pow__(self, exponent: Scalar) -> Scalar:
        return apply("pow", self, exponent)

    def __repr__(self) -> str:
        return f"<{self.op} {self.index}>"


def _cancelled(x: Traced, other: Traced) -> Scalar | None:
    """x times an inverse or a product that contains the inverse of x; None if it does not."""
    a = other.args[0]
    if other.op == "inv":
        return 1.0 if a is x else None
    b = other.args[1]
    if type(a) is Traced and a.op == "inv" and a.args[0] is x:
        return b
    if type(b) is Traced and b.op == "inv" and b.args[0] is x:
        return a
    return None


Nodes = dict[tuple[Any, ...], Traced]
"""Nodes of one operation, by their operands."""


class Tape:
    """The operations recorded so far; a node refers to earlier nodes only."""

    def __init__(self) -> None:
        self.nodes: list[Traced] = []
        self.sums: Nodes = {}
        self.differences: Nodes = {}
        self.products: Nodes = {}
        self._known: dict[str, Nodes] = {"add": self.sums, "sub": self.differences, "mul": self.products}

    def node(self, op: str, *args: Any) -> Traced:
        """The node of this operation; a new one if there is none yet."""
        known = self._known.get(op)
        if known is None:
            known = self._known[op] = {}
        node = known.get(args)
        return self.append(op, args, known) if node is None else node

    def append(self, op: str, args: tuple[Any, ...], known: Nodes) -> Traced:
        """A new node of an operation whose other nodes are ``known``, by their operands."""
        node = known[args] = Traced(self, op, args, len(self.nodes))
        self.nodes.append(node)
        return node

    def input(self, array: str, position: int) -> Traced:
        """Entry ``position`` of the named array; its value is known when the code runs."""
        return self.node("input", array, position)

    def inputs(self, array: str, size: int) -> np.ndarray:
        """All entries of a named input array."""
        return np.array([self.input(array, i) for i in range(size)], dtype=object)

    def pack(self, entries: Sequence[Scalar]) -> Traced:
        """A vector of several scalars: sums and products with it are computed for all of them by one operation."""
        return self.node("pack", *entries)

    def lanes(self, vector: Scalar, width: int) -> list[Scalar]:
        """The scalars of a vector; a number is the same in all of them."""
        if type(vector) is not Traced:
            return [vector] * width
        return [self.node("lane", vector, k, width) for k in range(width)]

    def load(self, array: str, position: int) -> Traced:
        """Another name of ``input``, for values that earlier code stored in a table."""
        return self.input(array, position)


def _apply_traced(name: str, args: tuple[Scalar, ...]) -> Scalar:
    if name in ARITHMETIC:
        return ARITHMETIC[name](*args)
    node = next(arg for arg in args if type(arg) is Traced)
    tape = node.tape
    match name:
        case "inv":
            return _invert(node)
        case "pow":
            return _raise(args[0], args[1])
        case "sin" if node.op == "neg":
            return -apply("sin", node.args[0])
        case "cos" | "abs" if node.op == "neg":
            return apply(name, node.args[0])
        case "where" if is_number(args[0]):
            return args[1] if args[0] != 0 else args[2]
        case "where" if args[1] is args[2]:
            return args[1]
    args = tuple(float(arg) if is_number(arg) else arg for arg in args)
    if name in COMMUTATIVE and type(args[0]) is Traced and type(args[1]) is Traced and args[0].index > args[1].index:
        args = (args[1], args[0])
    return tape.node(name, *args)


def _invert(x: Traced) -> Scalar:
    if x.op == "inv":
        return x.args[0]
    if x.op == "neg":
        return -apply("inv", x.args[0])
    if x.op == "mul" and type(x.args[1]) is float:
        return apply("inv", x.args[0]) * (1.0 / x.args[1])
    return x.tape.node("inv", x)


def _raise(base: Scalar, exponent: Scalar) -> Scalar:
    if is_number(exponent) and float(exponent).is_integer() and abs(exponent) <= 16:
        count = int(abs(exponent))
        result: Scalar = 1.0
        square = base
        while count:
            if count & 1:
                result = square if is_number(result) else result * square
            square = square * square if count > 1 else square
            count >>= 1
        return apply("inv", result) if exponent < 0 else result
    if is_number(exponent) and exponent == 0.5:
        return apply("sqrt", base)
    tape = base.tape if type(base) is Traced else exponent.tape
    base, exponent = (float(x) if is_number(x) else x for x in (base, exponent))
    return tape.node("pow", base, exponent)


register_scalar_type(Traced, _apply_traced)


_INDEX = attrgetter("index")


def needed(outputs: Iterable[Scalar]) -> list[Traced]:
    """The nodes that the outputs depend on, in an order in which they can be computed."""
    visited: set[int] = set()
    nodes: list[Traced] = []
    stack: list[Traced] = []
    for x in outputs:
        if type(x) is Traced and x.index not in visited:
            visited.add(x.index)
            stack.append(x)
    while stack:
        node = stack.pop()
        nodes.append(node)
        for arg in node.args:
            if type(arg) is Traced and arg.index not in visited:
                visited.add(arg.index)
                stack.append(arg)
    nodes.sort(key=_INDEX)
    return nodes


def replay(
    outputs: Iterable[Scalar], inputs: Mapping[tuple[str, int], Scalar], known: dict[int, Scalar] | None = None
) -> list[Scalar]:
    """Compute the outputs again, with other scalars in place of the inputs.

    Floats give values, symbols formulas, duals of nodes the code of a directional derivative.  An input without a
    replacement stays an input.  ``known`` keeps the values of nodes for the next call with the same tape and inputs.
    """
    outputs = list(outputs)
    values = {} if known is None else known
    for node in needed(outputs):
        if node.index in values:
            continue
        if node.op == "input":
            values[node.index] = inputs.get(node.args, node)
        else:
            args = (values[arg.index] if type(arg) is Traced else arg for arg in node.args)
            values[node.index] = apply(node.op, *args)
    return [values[x.index] if type(x) is Traced else x for x in outputs]


def count_operations(outputs: Iterable[Scalar]) -> dict[str, int]:
    """The number of operations of each type that the outputs need; signs and inputs are not counted."""
    counts: dict[str, int] = {}
    for node in needed(outputs):
        if node.op not in ("input", "neg", "pack", "lane"):
            counts[node.op] = counts.get(node.op, 0) + 1
    return counts
