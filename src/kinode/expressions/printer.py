"""Expressions as text, with no more parentheses than the grammar of ``parser.py`` needs.

``parse(write(expression))`` gives the same expression.
"""

from __future__ import annotations

from kinode.algebra.scalars import is_number
from kinode.errors import LawError
from kinode.expressions.syntax_tree import Expression, walk

# Binding strength of operators, weakest first; a number, a name or a call is an atom.
COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 7)
LONGEST_WRITTEN = 1_000_000  # characters
_COMPARISONS = {"less": "<", "less_equal": "<=", "equal": "=="}

Piece = tuple[str, int]


def write(expression: Expression) -> str:
    """The text of an expression."""
    pieces: dict[int, Piece] = {}
    for node in walk(expression):
        piece = _write_node(node, pieces)
        if len(piece[0]) > LONGEST_WRITTEN:
            raise LawError("the law is too long to be written out; split it into signals")
        pieces[id(node)] = piece
    return pieces[id(expression)][0]


def write_number(x: float) -> str:
    """The shortest text that reads back as the same number."""
    text = repr(float(x))
    return text.removesuffix(".0")


def _write_node(node: Expression, pieces: dict[int, Piece]) -> Piece:
    def put(arg: object, least: int) -> str:
        """The text of an argument, in parentheses if it binds less tightly than ``least``."""
        if isinstance(arg, Expression):
            text, strength = pieces[id(arg)]
        else:
            assert is_number(arg)
            text = write_number(arg)  # type: ignore[arg-type]
            strength = SIGN if text.startswith("-") else ATOM
        return text if strength >= least else f"({text})"

    op, args = node.op, node.args
    if op == "name":
        return args[0], ATOM
    if op in ("call", "call_derivative"):
        marks = "".join(f".d{axis}" for axis in args[1]) if op == "call_derivative" else ""
        rest = args[2:] if op == "call_derivative" else args[1:]
        return f"{args[0]}{marks}({', '.join(put(arg, COMPARISON) for arg in rest)})", ATOM
    if op == "add":
        return f"{put(args[0], SUM)} + {put(args[1], PRODUCT)}", SUM
    if op == "sub":
        return f"{put(args[0], SUM)} - {put(args[1], PRODUCT)}", SUM
    if op == "mul":
        if isinstance(args[1], Expression) and args[1].op == "inv":
            return f"{put(args[0], PRODUCT)}/{put(args[1].args[0], SIGN)}", PRODUCT
        return f"{put(args[0], PRODUCT)}*{put(args[1], SIGN)}", PRODUCT
    if op == "inv":
        return f"1/{put(args[0], SIGN)}", PRODUCT
    if op == "neg":
        return f"-{put(args[0], SIGN)}", SIGN
    if op == "pow":
        return f"{put(args[0], ATOM)}^{put(args[1], SIGN)}", POWER
    if op in _COMPARISONS:
        return f"{put(args[0], SUM)} {_COMPARISONS[op]} {put(args[1], SUM)}", COMPARISON
    if op in ("min", "max"):
        args = tuple(_flatten(node))
    return f"{op}({', '.join(put(arg, COMPARISON) for arg in args)})", ATOM


def _flatten(node: Expression) -> list[object]:
    """The arguments of min(min(a, b), c) as a, b, c."""
    later: list[object] = []
    while True:
        left, right = node.args
        later.append(right)
        if not (isinstance(left, Expression) and left.op == node.op):
            return [left, *reversed(later)]
        node = left
