"""Parser of laws: the text "0.5*sin(2*t)" to tokens and an expression.  The text is never evaluated as Python.

    comparison = sum [(< | <= | > | >= | ==) sum]          1 if it holds, else 0
    sum        = product {(+ | -) product}
    product    = sign {(* | /) sign}
    sign       = [- | +] sign | power
    power      = atom [(^ | **) sign]                      to the right: -a^2 = -(a^2), 2^-x, a^b^c = a^(b^c)
    atom       = number | name | function(arguments) | (comparison)

Constants: pi, deg (pi/180), rpm (2 pi/60).  The functions are in ``function_table.py``.  A name is
``word{.word}[@word{.word}]``: elbow.q, lower.velocity.y@lower.  A declared table is called by its name, its derivative
along axis n as ``table.dn(...)``.  The parser does not know which quantities exist; the model checks that, and
``locate`` gives the position of a name for its error message.

Why our own: ``sympy.sympify`` evaluates its text, so that a model file could run any code
(``sympify("__import__('os').getcwd()")`` does), reads E, N and S as objects of SymPy, and cannot read ``elbow.q``.
Importing SymPy takes 0.7 s, this module 0.05 s; a law takes 0.8 ms there and 0.2 ms here.  Python's ``ast`` is fast
(0.06 ms) but has Python's grammar: ``x^2`` is an exclusive or that binds less tightly than ``+``, ``@`` is a matrix
product, and "invalid syntax" is all it says about ``2 x`` or ``a < b < c``, where this parser says what to write.  A
parser with these operators, dotted names and positions in its errors, which evaluates nothing, would make it obsolete.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple, NoReturn

import numpy as np

from kinode.algebra.scalars import Scalar
from kinode.errors import LawError, find_close, suggest
from kinode.expressions.function_table import CONSTANTS, FUNCTIONS, OTHER_NAMES, RESERVED
from kinode.expressions.printer import COMPARISON, POWER, PRODUCT, SIGN, SUM
from kinode.expressions.syntax_tree import Expression, build, divide, symbol
from kinode.expressions.units import describe_joined

_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_WORD = r"[^\W\d]\w*"
_NAME = re.compile(rf"{_WORD}(?:\.{_WORD})*(?:@{_WORD}(?:\.{_WORD})*)?")
_MARK = r"\*\*|<=|>=|==|!=|[-+*/^(),<>=]"
_TOKEN = re.compile(f"(?P<number>{_NUMBER})|(?P<name>{_NAME.pattern})|(?P<mark>{_MARK})")


def is_name(text: str) -> bool:
    """Whether a text can be the name of a quantity in a law."""
    return _NAME.fullmatch(text) is not None and not any(
        not word.isidentifier() or word.startswith("_") for word in re.split("[.@]", text)
    )


class Token(NamedTuple):
    """A number, name or operator of the text; ``kind`` is number, name, end, or the operator itself."""

    kind: str
    text: str
    position: int


def fail_at(text: str, position: int, message: str) -> NoReturn:
    """Raise a LawError that points at a position of the text."""
    raise LawError(message, text=text, position=position)


def tokenize(text: str) -> list[Token]:
    """The tokens of a law; the last one has the kind ``end``."""
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
    """Refuse words that cannot be part of a name."""
    start = token.position
    for word in re.split("[.@]", token.text):
        if word.startswith("_"):
            fail_at(text, start, f"{word!r} cannot be a name: names do not begin with an underscore")
        if not word.isidentifier():
            fail_at(text, start, f"{word!r} cannot be a name: powers are written x^2")
        start += len(word) + 1


def _refuse_character(text: str, position: int) -> NoReturn:
    character = text[position]
    if character in "\"'`":
        fail_at(text, position, "a law holds no quoted text")
    if character in "[]{}":
        fail_at(text, position, f"{character!r} has no meaning in a law; parts of a vector are named: velocity.x")
    if character == ".":
        fail_at(text, position, "only a name has parts after a point")
    if character == "@":
        fail_at(text, position, "'@' stands between a quantity and a frame: lower.velocity.y@lower")
    if character in "&|!~":
        fail_at(text, position, f"{character!r} has no meaning in a law: a*b is 'and', max(a, b) 'or', 1 - a 'not'")
    if character == "%":
        fail_at(text, position, "'%' has no meaning in a law; the remainder is mod(a, b)")
    fail_at(text, position, f"{character!r} has no meaning in a law")


def locate(text: str, name: str) -> int | None:
    """The position of the first use of a name or table in the text of a law; None if it is not used."""
    for token in tokenize(text):
        if token.kind == "name" and (token.text == name or re.fullmatch(re.escape(name) + r"(\.d\d)+", token.text)):
            return token.position
    return None


__all__ = ["CONSTANTS", "FUNCTIONS", "RESERVED", "Expression", "is_name", "locate", "parse", "symbol"]

LONGEST_TEXT = 10_000  # characters
DEEPEST_TEXT = 100  # levels of nesting
RATES = frozenset({"der", "ddt", "diff", "deriv", "derivative"})  # how others write a derivative with respect to time
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


class _Parser:
    """Recursive descent over the tokens of one text; ``at`` is the index of the next token."""

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
        fail_at(self.text, (token or self.token).position, message)

    def make(self, token: Token, function: Callable[..., Scalar], *args: Scalar) -> Scalar:
        """Apply a function; an error, or a value that is not finite, is reported at the token."""
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
            unit = f" (or {before.text}, in SI units: a quantity such as '{before.text} {token.text}' stands alone)"
            hint = unit if before.kind == "number" and token.kind == "name" else ""
            if hint and before.position + len(before.text) == token.position:
                self.fail(describe_joined(before.text, token.text))
            self.fail(f"an operator is missing: write {before.text}*{token.text}{'...)' * (token.kind == '(')}{hint}")
        self.fail(f"{token.text!r} is not expected here")

    def expression(self, least: int = COMPARISON) -> Scalar:
        """Read an expression up to the first operator that binds less tightly than ``least``."""
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
        """Read an expression one level deeper."""
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
        if token.text in RATES:
            self.fail(
                f"{token.text!r} is no function: the rate of elbow.q is elbow.u, that of elbow.u elbow.u_dot", token
            )
        close = find_close(token.text, [*FUNCTIONS, *self.tables])
        other = OTHER_NAMES.get(token.text.lower())
        near = [other] if other else close
        factor = f"; to multiply write {token.text}*(...)"
        self.fail(suggest(f"{token.text!r} is no function or table", token.text, near, otherwise=factor), token)

    def check_count(self, token: Token, count: int, least: int, most: int | None) -> None:
        if count < least or (most is not None and count > most):
            need = str(least) if least == most else f"at least {least}" if most is None else f"{least} to {most}"
            plural = "" if need == "1" else "s"
            function = FUNCTIONS.get(token.text)
            hint = f" ({function.signature}: {function.note})" if function is not None and function.signature else ""
            self.fail(f"{token.text!r} takes {need} argument{plural}, not {count}{hint}", token)


def parse(text: str, functions: Collection[str] = ()) -> Expression | float:
    """Parse a law.

    Parameters
    ----------
    text : str
        The law, such as "0.5*sin(2*t)".
    functions : collection of str
        The tables that the law may call.  A mapping also gives the number of arguments of each.

    Returns
    -------
    Expression or float
        The expression; a float if the law is constant.

    Examples
    --------
    >>> parse("2*pi*f").names()
    frozenset({'f'})
    >>> parse("2^10")
    1024.0
    """
    if len(text) > LONGEST_TEXT:
        raise LawError(f"a law of {len(text)} characters is too long (at most {LONGEST_TEXT}); split it into signals")
    try:
        result: Expression | float = _Parser(text, functions).law()
    except RecursionError:
        raise LawError("the law is nested too deep; split it into signals", text=text, position=0) from None
    return result
