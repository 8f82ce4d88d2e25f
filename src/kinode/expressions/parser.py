"""Laws as text: "0.5*sin(2*t)" to an expression.  Text is parsed, never evaluated.

    comparison = sum [(< | <= | > | >= | ==) sum]          1 where it holds, else 0
    sum        = product {(+ | -) product}
    product    = sign {(* | /) sign}
    sign       = [- | +] sign | power
    power      = atom [(^ | **) sign]                      to the right: -a^2 = -(a^2), 2^-x, a^b^c = a^(b^c)
    atom       = number | name | function(arguments) | (comparison)
    name       = word{.word}[@word{.word}]                 elbow.q, lower.velocity.y@lower

Constants: pi, deg (pi/180), rpm (2 pi/60).  The functions stand in FUNCTIONS.  A declared table is called by its
name, its derivative along axis n as ``table.dn(...)``.  Which names exist is for the model to say; ``locate`` finds
the character at which to point then.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple, NoReturn

import numpy as np

from kinode.algebra.scalars import Scalar, apply
from kinode.errors import LawError, find_close
from kinode.expressions.printer import COMPARISON, POWER, PRODUCT, SIGN, SUM
from kinode.expressions.syntax_tree import Expression, build, divide, modulo, symbol
from kinode.expressions.waveforms import WAVEFORMS

__all__ = ["CONSTANTS", "FUNCTIONS", "RESERVED", "Expression", "is_name", "locate", "parse", "symbol"]

LONGEST_TEXT = 10_000
DEEPEST_TEXT = 100
PREFIXES = {"k": "e3", "M": "e6", "G": "e9", "u": "e-6", "n": "e-9", "p": "e-12"}
PREFIX = re.compile(r"([kMGunp])(\d*)")  # as written on resistors and capacitors: 10k, 4k7
CONSTANTS = {"pi": math.pi, "deg": math.pi / 180, "rpm": math.pi / 30}


class Function(NamedTuple):
    """A function of laws: how many arguments it takes (most: None for any number) and what it builds."""

    least: int
    most: int | None
    apply: Callable[..., Scalar]
    note: str


def _fold(op: str) -> Callable[..., Scalar]:
    def function(first: Scalar, *rest: Scalar) -> Scalar:
        for arg in rest:
            first = apply(op, first, arg)
        return first

    return function


def _clamp(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    return apply("min", apply("max", x, low), high)


def _hypot(*args: Scalar) -> Scalar:
    squares = [apply("pow", arg, 2.0) for arg in args]
    return apply("sqrt", _fold("add")(*squares))


def _smoothstep(x: Scalar, start: Scalar, end: Scalar) -> Scalar:
    s = _clamp(divide(x - start, end - start), 0.0, 1.0)
    return s * s * (3.0 - 2.0 * s)


def _plain(op: str, count: int, note: str) -> Function:
    return Function(count, count, lambda *args: apply(op, *args), note)


FUNCTIONS: dict[str, Function] = {
    "sin": _plain("sin", 1, "sine of an angle in rad"),
    "cos": _plain("cos", 1, "cosine of an angle in rad"),
    "tan": _plain("tan", 1, "tangent of an angle in rad"),
    "asin": _plain("asin", 1, "angle with this sine"),
    "acos": _plain("acos", 1, "angle with this cosine"),
    "atan": _plain("atan", 1, "angle with this tangent"),
    "atan2": _plain("atan2", 2, "atan2(y, x): angle of the point (x, y)"),
    "sinh": _plain("sinh", 1, "hyperbolic sine"),
    "cosh": _plain("cosh", 1, "hyperbolic cosine"),
    "tanh": _plain("tanh", 1, "hyperbolic tangent"),
    "exp": _plain("exp", 1, "exponential"),
    "log": _plain("log", 1, "natural logarithm"),
    "sqrt": _plain("sqrt", 1, "square root"),
    "abs": _plain("abs", 1, "absolute value"),
    "sign": _plain("sign", 1, "-1, 0 or 1"),
    "floor": _plain("floor", 1, "the next whole number below"),
    "min": Function(2, None, _fold("min"), "the least of its arguments"),
    "max": Function(2, None, _fold("max"), "the greatest of its arguments"),
    "hypot": Function(2, None, _hypot, "root of the sum of squares"),
    "where": _plain("where", 3, "where(c, a, b): a where c is not 0, else b"),
    "step": Function(1, 1, lambda x: apply("less_equal", 0.0, x), "0 before x = 0, 1 from there on"),
    "ramp": Function(1, 1, lambda x: apply("max", x, 0.0), "0 before x = 0, x after"),
    "clamp": Function(3, 3, _clamp, "clamp(x, low, high): x kept between low and high"),
    "mod": Function(2, 2, modulo, "mod(a, b): what is left of a beyond whole multiples of b, with the sign of b"),
    "smoothstep": Function(
        3, 3, _smoothstep, "smoothstep(x, x0, x1): from 0 at x0 to 1 at x1 by a cubic, level at both ends"
    ),
    **{name: Function(*entry) for name, entry in WAVEFORMS.items()},
}
RESERVED = frozenset(FUNCTIONS) | frozenset(CONSTANTS) | frozenset(keyword.kwlist)
_OTHER_NAMES = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "ln": "log", "pow": "^"}
_OTHER_NAMES |= {"sgn": "sign", "fabs": "abs", "if": "where", "iff": "where", "heaviside": "step", "fmod": "mod"}
_OTHER_NAMES |= {"minimum": "min", "maximum": "max", "clip": "clamp", "power": "^", "ifelse": "where"}

_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_WORD = r"[^\W\d]\w*"
_NAME = re.compile(rf"{_WORD}(?:\.{_WORD})*(?:@{_WORD}(?:\.{_WORD})*)?")
_MARK = r"\*\*|<=|>=|==|!=|[-+*/^(),<>=]"
_TOKEN = re.compile(f"(?P<number>{_NUMBER})|(?P<name>{_NAME.pattern})|(?P<mark>{_MARK})")
_OPERATORS: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "<": lambda a, b: build("less", (a, b)),
    "<=": lambda a, b: build("less_equal", (a, b)),
    ">": lambda a, b: build("less", (b, a)),
    ">=": lambda a, b: build("less_equal", (b, a)),
    "==": lambda a, b: build("equal", (a, b)),
    "+": lambda a, b: build("add", (a, b)),
    "-": lambda a, b: build("sub", (a, b)),
    "*": lambda a, b: build("mul", (a, b)),
    "/": divide,
    "^": lambda a, b: build("pow", (a, b)),
    "**": lambda a, b: build("pow", (a, b)),
}
_STRENGTHS = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "^": POWER, "**": POWER}
_STRENGTHS |= dict.fromkeys(("<", "<=", ">", ">=", "=="), COMPARISON)


def is_name(text: str) -> bool:
    """Whether a text can name a quantity in a law."""
    return _NAME.fullmatch(text) is not None and not any(
        not word.isidentifier() or word.startswith("_") for word in re.split("[.@]", text)
    )


class Token(NamedTuple):
    """A piece of the text; kind is number, name, end, or the mark itself."""

    kind: str
    text: str
    position: int


def _fail(text: str, position: int, message: str) -> NoReturn:
    raise LawError(message, text=text, position=position)


def tokenize(text: str) -> list[Token]:
    """The pieces of a law, an end at the end."""
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        match = _TOKEN.match(text, position)
        if match is None:
            _refuse_character(text, position)
        kind = "" if match.lastgroup == "mark" else str(match.lastgroup)
        tokens.append(Token(kind or match.group(), match.group(), position))
        if kind == "name":
            _check_name(text, tokens[-1])
        position = match.end()
    return [*tokens, Token("end", "", len(text))]


def _check_name(text: str, token: Token) -> None:
    start = token.position
    for word in re.split("[.@]", token.text):
        if word.startswith("_"):
            _fail(text, start, f"{word!r} cannot be a name: names do not begin with an underscore")
        if not word.isidentifier():
            _fail(text, start, f"{word!r} cannot be a name: powers are written x^2")
        start += len(word) + 1


def _refuse_character(text: str, position: int) -> NoReturn:
    character = text[position]
    if character in "\"'`":
        _fail(text, position, "a law holds no quoted text")
    if character in "[]{}":
        _fail(text, position, f"{character!r} has no meaning in a law; parts of a vector are named: velocity.x")
    if character == ".":
        _fail(text, position, "only a name has parts after a point")
    if character == "@":
        _fail(text, position, "'@' stands between a quantity and a frame: lower.velocity.y@lower")
    if character in "&|!~":
        _fail(text, position, f"{character!r} has no meaning in a law: a*b is 'and', max(a, b) 'or', 1 - a 'not'")
    if character == "%":
        _fail(text, position, "'%' has no meaning in a law; the remainder is mod(a, b)")
    _fail(text, position, f"{character!r} has no meaning in a law")


class _Parser:
    """One text being read; ``at`` is the place in its tokens."""

    def __init__(self, text: str, tables: Collection[str]) -> None:
        self.text = text
        self.tables = tables
        self.tokens = tokenize(text)
        self.at = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        _fail(self.text, (token or self.token).position, message)

    def make(self, token: Token, function: Callable[..., Scalar], *args: Scalar) -> Scalar:
        """Apply, and let an error or a value that is not finite point at the operation."""
        try:
            with np.errstate(all="ignore"):
                value = function(*args)
        except LawError as error:
            self.fail(error.message, token)
        except OverflowError:
            value = math.inf
        if type(value) is not Expression and not math.isfinite(value):
            self.fail(f"{token.text!r} has no finite value here", token)
        return value

    def law(self) -> Scalar:
        if self.token.kind == "end":
            self.fail("the law is empty")
        value = self.expression()
        if self.token.kind != "end":
            self.refuse_rest()
        return value

    def refuse_rest(self) -> NoReturn:
        token, before = self.token, self.tokens[self.at - 1]
        if token.kind == ")":
            self.fail("this parenthesis closes none")
        if token.kind == "=":
            self.fail("a law has no '='; to compare write ==")
        if token.kind == "!=":
            self.fail("'!=' has no meaning in a law: write 1 - (a == b)")
        if _STRENGTHS.get(token.kind) == COMPARISON:
            self.fail("comparisons do not chain: write (a < b)*(b < c)")
        if token.kind == ",":
            self.fail("a comma stands between the arguments of a function; decimals follow a point")
        if keyword.iskeyword(token.text):
            self.refuse_keyword(token)
        if before.kind == "number" and token.kind == "number":
            self.fail("two numbers side by side")
        if token.kind in ("number", "name", "("):
            unit = f" (a quantity with its unit, such as '{before.text} {token.text}', stands alone)"
            hint = unit if before.kind == "number" and token.kind == "name" else ""
            if hint and before.position + len(before.text) == token.position:
                self.refuse_joined(before.text, token.text)
            self.fail(f"an operator is missing: write {before.text}*{token.text}{'...)' * (token.kind == '(')}{hint}")
        self.fail(f"{token.text!r} is not expected here")

    def refuse_joined(self, number: str, word: str) -> NoReturn:
        """A number with a word right behind it: 10kOhm, 10k, 2x."""
        letter = PREFIX.fullmatch(word)
        if letter:
            decimals = f"{number}{'.' * bool(letter[2])}{letter[2]}{PREFIXES[letter[1]]}"
            self.fail(f"{letter[1]!r} is no unit: write {decimals}, or the unit with its prefix, '10 kOhm'")
        self.fail(
            f"number and unit stand apart: write '{number} {word}' for a quantity; for a product write {number}*{word}"
        )

    def expression(self, least: int = COMPARISON) -> Scalar:
        """What stands here, up to the first operator that binds less tightly than ``least``."""
        if self.token.kind in ("-", "+"):
            token = self.take()
            left = self.inner(SIGN)
            left = left if token.kind == "+" else self.make(token, build, "neg", (left,))
        else:
            left = self.atom()
        compared = False
        while (strength := _STRENGTHS.get(self.token.kind, 0)) >= least:
            if compared and strength == COMPARISON:
                self.refuse_rest()
            compared = strength == COMPARISON
            token = self.take()
            right = self.inner(SIGN) if strength == POWER else self.expression(strength + 1)
            left = self.make(token, _OPERATORS[token.kind], left, right)
        return left

    def inner(self, least: int = COMPARISON) -> Scalar:
        """An expression one level further in."""
        self.depth += 1
        if self.depth > DEEPEST_TEXT:
            self.fail(f"the law is nested more than {DEEPEST_TEXT} deep; split it into signals")
        value = self.expression(least)
        self.depth -= 1
        return value

    def atom(self) -> Scalar:
        token = self.take()
        if token.kind == "number":
            return self.make(token, float, token.text)
        if token.kind == "(":
            value = self.inner()
            self.close(token)
            return value
        if token.kind == "name":
            return self.called(token) if self.token.kind == "(" else self.named(token)
        if token.kind == "end":
            self.fail("the law ends too early", token)
        self.fail(f"a number, a name or a function is expected, not {token.text!r}", token)

    def close(self, opening: Token) -> None:
        if self.token.kind == "end":
            self.fail("this parenthesis is not closed", opening)
        if self.token.kind != ")":
            self.refuse_rest()
        self.take()

    def named(self, token: Token) -> Scalar:
        if token.text in CONSTANTS:
            return CONSTANTS[token.text]
        if token.text in FUNCTIONS or token.text in self.tables:
            self.fail(f"{token.text!r} is a function: write {token.text}(...)", token)
        if keyword.iskeyword(token.text):
            self.refuse_keyword(token)
        return symbol(token.text)

    def refuse_keyword(self, token: Token) -> NoReturn:
        hints = {"and": "a*b", "or": "max(a, b)", "not": "1 - a", "if": "where(condition, a, b)"}
        hints |= {"else": "where(condition, a, b)", "True": "1", "False": "0"}
        hint = f": write {hints[token.text]}" if token.text in hints else ""
        self.fail(f"{token.text!r} has no meaning in a law{hint}", token)

    def called(self, token: Token) -> Scalar:
        function = FUNCTIONS.get(token.text)
        table, axes = ("", ()) if function else self.find_table(token)
        opening = self.take()
        args: list[Scalar] = []
        if self.token.kind != ")":
            args.append(self.inner())
            while self.token.kind == ",":
                self.take()
                args.append(self.inner())
        self.close(opening)
        if function is not None:
            self.check_count(token, len(args), function.least, function.most)
            return self.make(token, function.apply, *args)
        count = self.tables[table] if isinstance(self.tables, Mapping) else None
        self.check_count(token, len(args), count or 1, count)
        if any(axis >= len(args) for axis in axes):
            self.fail(f"the table {table!r} has no axis {max(axes)}; the first is 0", token)
        if axes:
            return self.make(token, Expression, "call_derivative", (table, axes, *args))
        return self.make(token, Expression, "call", (table, *args))

    def find_table(self, token: Token) -> tuple[str, tuple[int, ...]]:
        name, axes = token.text, []
        while name not in self.tables:
            match = re.fullmatch(r"(.+)\.d(\d)", name)
            if match is None:
                self.refuse_function(token)
            name = match[1]
            axes.append(int(match[2]))
        return name, tuple(sorted(axes))

    def refuse_function(self, token: Token) -> NoReturn:
        if keyword.iskeyword(token.text):
            self.refuse_keyword(token)
        if token.text in CONSTANTS:
            self.fail(f"{token.text!r} is a number: to multiply write {token.text}*(...)", token)
        close = find_close(token.text, [*FUNCTIONS, *self.tables])
        hint = _OTHER_NAMES.get(token.text.lower()) or (close[0] if close else None)
        said = f"did you mean {hint}?" if hint else f"to multiply write {token.text}*(...)"
        self.fail(f"{token.text!r} is no function or table; {said}", token)

    def check_count(self, token: Token, count: int, least: int, most: int | None) -> None:
        if count < least or (most is not None and count > most):
            need = str(least) if least == most else f"at least {least}" if most is None else f"{least} to {most}"
            plural = "" if need == "1" else "s"
            note = FUNCTIONS[token.text].note if token.text in FUNCTIONS else ""
            hint = f" ({note})" if note.startswith(token.text) else ""
            self.fail(f"{token.text!r} takes {need} argument{plural}, not {count}{hint}", token)


def parse(text: str, functions: Collection[str] = ()) -> Expression | float:
    """The law that a text holds: an expression, or a float where it is constant.

    ``functions`` are the tables that may be called; a mapping also says how many arguments each takes.
    """
    if len(text) > LONGEST_TEXT:
        raise LawError(f"a law of {len(text)} characters is too long (at most {LONGEST_TEXT}); split it into signals")
    try:
        result: Expression | float = _Parser(text, functions).law()
    except RecursionError:
        raise LawError("the law is nested too deep; split it into signals", text=text, position=0) from None
    return result


def locate(text: str, name: str) -> int | None:
    """Where in the text of a law a name, or a table, first stands; None where it does not."""
    for token in tokenize(text):
        if token.kind == "name" and (token.text == name or re.fullmatch(re.escape(name) + r"(\.d\d)+", token.text)):
            return token.position
    return None
