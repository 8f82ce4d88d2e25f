"""The syntax tree of laws: expressions of named quantities, immutable and compared by structure; their derivatives and
dimensions.

An expression is an operation and its arguments, which are expressions and floats.  The operations are those of
``scalars.FLOAT_FUNCTIONS`` and three more:

    name              (name,)                     a quantity: t, a parameter, "lower.velocity.y@lower"
    call              (table, argument, ...)      a declared table
    call_derivative   (table, axes, argument, ...)  its partial derivative along each of the axes in turn

A quotient a/b is a * inv(b).  Operators simplify constants, products with 0 and 1 and sums with 0, nothing more: a law
prints as it was written.  Nothing is simplified that could hide a value which does not exist: 0*sin(x) is 0, but 0/x
and 0*log(x) stay, for they have no value where 1/x and log(x) have none.

Common subexpressions are visited once, and no function is recursive, so an expression may be deep.  ``parser.py`` makes
expressions from text.  The caller defines what a name or a table means.

Partial derivatives are those of ``algebra.scalars.PARTIALS``; a table is differentiated by calls of its derivative
along an axis.  At corners and jumps (``abs``, ``min``, ``where``) the derivative is one-sided.

A plain number, or a name of unknown dimension, has the dimension None: it may be added to anything, and a product with
it has the dimension None.  Functions such as sin(t) accept any dimension and return None, because "sin(t)" is how
people write sin(1 rad/s * t).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partialmethod
from typing import TYPE_CHECKING, Any, Protocol

from kinode.algebra.scalars import (
    FLOAT_FUNCTIONS,
    PARTIALS,
    Dual,
    Scalar,
    apply,
    is_number,
    is_zero,
    mod,
    register_scalar_type,
)
from kinode.errors import LawError, UnitError
from kinode.expressions.units import DIMENSIONLESS, Dimension, describe_dimension

if TYPE_CHECKING:
    from kinode.expressions.definitions import Definitions


DEEPEST = 100_000  # levels of operations; nothing here is recursive, so that signals may be substituted in long chains
_OTHER_OPS = frozenset({"name", "call", "call_derivative"})
_PARTIAL_OPS = frozenset({"sqrt", "log", "asin", "acos", "call", "call_derivative", "external"})
_NO_TRUTH = (
    "a law is neither true nor false while it is being written down: "
    "use where(condition, a, b) for if, minimum and maximum for min and max"
)


class Calling(Protocol):
    """Evaluates a table: given its name, the arguments and, for a derivative, the axes to differentiate along."""

    def __call__(self, table: str, args: tuple[Scalar, ...], axes: tuple[int, ...] = ..., /) -> Scalar: ...


def _operator(make: Callable[[Scalar, Scalar], Scalar]) -> Callable[[Expression, Scalar], Scalar]:
    def method(self: Expression, other: Scalar) -> Scalar:
        return make(self, other) if type(other) is Expression or is_number(other) else NotImplemented

    return method


class Expression:
    """An operation and its arguments; == compares structure, < <= > >= give expressions of 0 and 1.

    ``total`` tells that it has a value wherever its names have one.
    """

    __slots__ = ("_hash", "args", "depth", "op", "total")
    op: str
    args: tuple[Any, ...]
    depth: int
    total: bool

    def __init__(self, op: str, args: tuple[Any, ...]) -> None:
        if op not in FLOAT_FUNCTIONS and op not in _OTHER_OPS:
            raise LawError(f"{op!r} is no operation of a law")
        args = tuple(_accept(arg) for arg in args)
        depth = 1 + max((arg.depth for arg in args if type(arg) is Expression), default=0)
        if depth > DEEPEST:
            raise LawError(f"the law is nested more than {DEEPEST} operations deep; split it into signals")
        total = _is_total(op, args) and all(arg.total for arg in args if type(arg) is Expression)
        slots = (("op", op), ("args", args), ("depth", depth), ("total", total), ("_hash", hash((op, args))))
        for slot, value in slots:
            object.__setattr__(self, slot, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an expression cannot be changed ({name})")

    def __hash__(self) -> int:
        return self._hash  # type: ignore[attr-defined, no-any-return]

    def __eq__(self, other: object) -> bool:
        if type(other) is not Expression:
            return NotImplemented
        return _same(self, other)

    def __bool__(self) -> bool:
        raise LawError(_NO_TRUTH)

    def __float__(self) -> float:
        raise LawError(f"the law {self!r} is no number yet: use kinode's functions in laws, not those of math")

    def __reduce__(self) -> tuple[Any, ...]:
        nodes = list(walk(self))
        indices = {id(node): i for i, node in enumerate(nodes)}
        flat = [
            (node.op, tuple(_NodeIndex(indices[id(a)]) if type(a) is Expression else a for a in node.args))
            for node in nodes
        ]
        return _unflatten, (flat,)

    def __repr__(self) -> str:
        return f"<law {self.excerpt()}>"

    # --- operators ---

    __add__ = _operator(lambda a, b: build("add", (a, b)))
    __radd__ = _operator(lambda a, b: build("add", (b, a)))
    __sub__ = _operator(lambda a, b: build("sub", (a, b)))
    __rsub__ = _operator(lambda a, b: build("sub", (b, a)))
    __mul__ = _operator(lambda a, b: build("mul", (a, b)))
    __rmul__ = _operator(lambda a, b: build("mul", (b, a)))
    __truediv__ = _operator(lambda a, b: divide(a, b))
    __rtruediv__ = _operator(lambda a, b: divide(b, a))
    __pow__ = _operator(lambda a, b: build("pow", (a, b)))
    __rpow__ = _operator(lambda a, b: build("pow", (b, a)))
    __mod__ = _operator(lambda a, b: mod(a, b))
    __rmod__ = _operator(lambda a, b: mod(b, a))
    __lt__ = _operator(lambda a, b: build("less", (a, b)))
    __le__ = _operator(lambda a, b: build("less_equal", (a, b)))
    __gt__ = _operator(lambda a, b: build("less", (b, a)))
    __ge__ = _operator(lambda a, b: build("less_equal", (b, a)))

    def __neg__(self) -> Scalar:
        return build("neg", (self,))

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Scalar:
        return build("abs", (self,))

    # --- contents, value, derivative ---

    def names(self) -> frozenset[str]:
        """The names of the quantities it depends on."""
        return frozenset(node.args[0] for node in walk(self) if node.op == "name")

    def calls(self) -> frozenset[str]:
        """The tables it calls, also those of which it needs a derivative only."""
        return frozenset(node.args[0] for node in walk(self) if node.op in ("call", "call_derivative"))

    def text(self) -> str:
        """The law as text, without needless parentheses; parsing it gives the same expression."""
        from kinode.expressions.printer import write

        return write(self)

    def excerpt(self) -> str:
        """At most 200 characters of its text, for messages."""
        try:
            text = self.text()
        except LawError:
            text = f"{self.op}(...)"
        return text if len(text) <= 200 else text[:200] + "..."

    def evaluate(
        self, lookup: Callable[[str], Scalar], call: Calling | None = None, definitions: Definitions | None = None
    ) -> Scalar:
        """Its value, of any scalar type; if a condition is a plain number, only the selected branch is computed.

        The laws of defined names are evaluated on the way, however long their chain.
        """
        from kinode.expressions.definitions import evaluate

        return evaluate(self, lookup, call, definitions)

    def derivative(self, name: str) -> Expression | float:
        """Its partial derivative with respect to a name."""

        return differentiate(self, name)

    def substitute(self, values: Mapping[str, Expression | float]) -> Expression | float:
        """The expression with other expressions, or numbers, in place of names."""
        result: Expression | float = self._rebuilt(
            lambda node: values.get(node.args[0], node) if node.op == "name" else None
        )
        return result

    def rename(self, function: Callable[[str], str]) -> Expression:
        """The expression with every name, and the name of every table, replaced by function(name)."""

        def leaf(node: Expression) -> Expression | None:
            return Expression("name", (function(node.args[0]),)) if node.op == "name" else None

        result = self._rebuilt(leaf, function)
        assert type(result) is Expression
        return result

    def dimension(self, lookup: Callable[[str], Dimension | None]) -> Dimension | None:
        """Its dimension; None if numbers and names of unknown dimension leave it undetermined."""

        return find_dimension(self, lookup)

    def _rebuilt(
        self, leaf: Callable[[Expression], Scalar | None], table: Callable[[str], str] | None = None
    ) -> Scalar:
        rebuilt: dict[int, Scalar] = {}
        for node in walk(self):
            new = leaf(node)
            if new is None:
                args = tuple(rebuilt[id(arg)] if type(arg) is Expression else arg for arg in node.args)
                if table is not None and node.op in ("call", "call_derivative"):
                    args = (table(args[0]), *args[1:])
                same = all(old is arg for old, arg in zip(node.args, args, strict=True))
                new = node if same else build(node.op, args)
            rebuilt[id(node)] = new
        return plain_inverse(rebuilt[id(self)])


def symbol(name: str) -> Expression:
    """The expression that is the named quantity."""
    return Expression("name", (name,))


def walk(expression: Expression) -> Iterator[Expression]:
    """Every subexpression once, arguments before the operations that use them."""
    visited: set[int] = set()
    stack = [(expression, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif id(node) not in visited:
            visited.add(id(node))
            stack.append((node, True))
            args = (arg for arg in reversed(node.args) if type(arg) is Expression and id(arg) not in visited)
            stack.extend((arg, False) for arg in args)


def build(op: str, args: tuple[Any, ...]) -> Scalar:
    """The operation on these arguments, simplified by the few rules of this module."""
    if op == "mul":
        return _multiply(args[0], args[1])
    args = tuple(plain_inverse(arg) for arg in args)
    if op in FLOAT_FUNCTIONS and all(is_number(arg) for arg in args):
        return FLOAT_FUNCTIONS[op](*(float(arg) for arg in args))
    a, b = args[0], args[1] if len(args) > 1 else None
    match op:
        case "add" | "sub":
            return _sum(op, a, b)
        case "neg" if a.op == "neg":
            return a.args[0]
        case "inv" if a.op == "inv":
            return a.args[0]
        case "pow" if is_number(b) and (b == 1 or (b == 0 and a.total)):
            return a if b == 1 else 1.0
        case "where" if is_number(a):
            return args[1] if a != 0 else args[2]
        case "where" if args[1] == args[2]:
            return args[1]
        case "interval" | "fetch":
            raise LawError("a law looks values up by calling a declared table")
    return Expression(op, args)


def _sum(op: str, a: Scalar, b: Scalar) -> Scalar:
    opposite = "sub" if op == "add" else "add"
    if is_number(b):
        if b == 0:
            return a
        return Expression(opposite, (a, -b)) if b < 0 else Expression(op, (a, b))
    if is_number(a) and a == 0:
        return b if op == "add" else build("neg", (b,))
    if b.op == "neg":
        return build(opposite, (a, b.args[0]))
    return Expression(op, (a, b))


def _multiply(a: Scalar, b: Scalar) -> Scalar:
    a = plain_inverse(a)
    if is_number(a) and _is_constant_inverse(b):
        return divide(a, b.args[0])
    if is_number(a) and is_number(b):
        return a * b
    for constant, other in ((a, b), (b, a)):
        if is_number(constant) and (constant in (1, -1) or (constant == 0 and other.total)):
            return 0.0 if constant == 0 else (other if constant == 1 else build("neg", (other,)))
    return Expression("mul", (a, b))


def divide(a: Scalar, b: Scalar) -> Scalar:
    """a/b of expressions and plain numbers; LawError if b is plain zero."""
    a, b = plain_inverse(a), plain_inverse(b)
    if is_number(b):
        if b == 0:
            raise LawError("a law divides by zero")
        if is_number(a):
            return a / b
        return a if b == 1 else Expression("mul", (a, Expression("inv", (b,))))
    return build("mul", (a, build("inv", (b,))))


def _is_total(op: str, args: tuple[Any, ...]) -> bool:
    """Whether an operation has a finite result for all finite arguments, but for numbers too large for a computer."""
    if op == "inv":
        return is_number(args[0]) and bool(args[0] != 0)
    if op == "pow":
        return is_number(args[1]) and args[1] >= 0 and float(args[1]).is_integer()
    return op not in _PARTIAL_OPS


def _is_constant_inverse(x: Scalar) -> bool:
    return type(x) is Expression and x.op == "inv" and is_number(x.args[0])


def plain_inverse(x: Scalar) -> Scalar:
    """The float 1/x in place of inv(x) of a number x, which is kept only as a divisor, so that a/3 prints as a/3."""
    return 1.0 / x.args[0] if _is_constant_inverse(x) else x


def _accept(arg: Any) -> Any:
    if type(arg) in (Expression, str, tuple):
        return arg
    if not is_number(arg):
        raise LawError(f"{arg!r} cannot stand in a law: it is neither a number nor a quantity")
    if not math.isfinite(arg):
        raise LawError(f"{float(arg)} cannot stand in a law: numbers are finite there")
    return float(arg)


def _same(a: Expression, b: Expression) -> bool:
    compared: set[tuple[int, int]] = set()
    stack = [(a, b)]
    while stack:
        a, b = stack.pop()
        if a is b or (id(a), id(b)) in compared:
            continue
        if hash(a) != hash(b) or a.op != b.op or len(a.args) != len(b.args):
            return False
        compared.add((id(a), id(b)))
        for one, two in zip(a.args, b.args, strict=True):
            if type(one) is Expression and type(two) is Expression:
                stack.append((one, two))
            elif type(one) is not type(two) or one != two:
                return False
    return True


class _NodeIndex(int):
    """In a pickled expression: the index of a subexpression that is an argument."""


def _unflatten(flat: list[tuple[str, tuple[Any, ...]]]) -> Expression:
    nodes: list[Expression] = []
    for op, args in flat:
        nodes.append(Expression(op, tuple(nodes[arg] if type(arg) is _NodeIndex else arg for arg in args)))
    return nodes[-1]


def _apply_expression(name: str, args: tuple[Scalar, ...]) -> Scalar:
    if any(type(arg) is Dual for arg in args):
        return apply(name, *(Dual(arg) if type(arg) is Expression else arg for arg in args))
    return build(name, args)


register_scalar_type(Expression, _apply_expression)
# np.sin of an object array calls the method sin of each entry, and so on.
for _op in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt"):
    setattr(Expression, _op, partialmethod(lambda self, op: build(op, (self,)), _op))


def differentiate(expression: Expression, name: str) -> Expression | float:
    """The partial derivative of an expression with respect to a name."""
    derivatives: dict[int, Scalar] = {}
    for node in walk(expression):
        derivatives[id(node)] = _derivative(node, name, derivatives)
    result: Expression | float = plain_inverse(derivatives[id(expression)])
    return result


def _derivative(node: Expression, name: str, derivatives: dict[int, Scalar]) -> Scalar:
    """The derivative of an operation, by the chain rule from those of its arguments."""
    if node.op == "name":
        return 1.0 if node.args[0] == name else 0.0
    changes = [derivatives[id(arg)] if type(arg) is Expression else 0.0 for arg in node.args]
    if all(is_zero(change) for change in changes):
        return 0.0
    if node.op == "where":
        return build("where", (node.args[0], *changes[1:]))
    if node.op in ("call", "call_derivative"):
        table, *args = node.args
        axes = args.pop(0) if node.op == "call_derivative" else ()
        changes = changes[-len(args) :]
        partials: tuple[Scalar, ...] = tuple(
            Expression("call_derivative", (table, tuple(sorted((*axes, i))), *args)) for i in range(len(args))
        )
    else:
        partials = PARTIALS[node.op](*node.args)
    total: Scalar = 0.0
    for partial, change in zip(partials, changes, strict=True):
        if not is_zero(change):
            total = total + partial * change
    return total


_ALIKE = frozenset({"add", "sub", "min", "max", "less", "less_equal", "equal", "where", "atan2"})


def find_dimension(expression: Expression, lookup: Callable[[str], Dimension | None]) -> Dimension | None:
    """The dimension of an expression; ``lookup`` gives the dimension of a name.  UnitError if terms do not fit."""
    dimensions: dict[int, Dimension | None] = {}
    for node in walk(expression):
        args = [dimensions[id(arg)] if type(arg) is Expression else None for arg in node.args]
        dimensions[id(node)] = lookup(node.args[0]) if node.op == "name" else _combine(node, args)
    return dimensions[id(expression)]


def _combine(node: Expression, dimensions: list[Dimension | None]) -> Dimension | None:
    a = dimensions[0]
    b = dimensions[1] if len(dimensions) > 1 else None
    if node.op in _ALIKE:
        known = [x for x in dimensions[node.op == "where" :] if x is not None]
        if len(set(known)) > 1:
            what = " and ".join(describe_dimension(x) for x in known[:2])
            raise UnitError(f"{node.excerpt()} puts {what} together")
        if node.op == "atan2":
            return DIMENSIONLESS
        return known[0] if known and node.op in ("add", "sub", "min", "max", "where") else None
    if node.op == "mul":
        return a * b if a is not None and b is not None else None
    if node.op in ("neg", "abs", "floor"):
        return a
    if node.op in ("asin", "acos", "atan"):
        return DIMENSIONLESS
    power = {"inv": -1.0, "sqrt": 0.5}.get(node.op) or (node.args[1] if node.op == "pow" else None)
    return a**power if a is not None and power is not None and is_number(power) else None
