"""Expressions of the loop language (``jit/loop/translator.py``) as C text.

Python evaluates operands from left to right and C in any order.  Where an operand calls a translated function, which
may change memory, the operands become variables in Python's order.
"""

from __future__ import annotations

import ast
import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any, NamedTuple

from kinode.jit.c.c_numbers import bare, identifier, real
from kinode.jit.loop import memory
from kinode.jit.loop.expressions import FUNCTIONS
from kinode.jit.loop.memory import field_types
from kinode.jit.loop.syntax import FLOATS, INT, INTS, NOTHING, REAL, TRUTH, Kind, LoopSyntax, find_kind

NAMES = {function: function.__name__ for function in FUNCTIONS}
BINARY: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
BITS: dict[type, str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
COMPARE: dict[type, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


class CValue(NamedTuple):
    """An expression: its type, its text, and whether it calls a translated function or reads memory."""

    kind: Kind
    text: str
    calls: bool = False
    loads: bool = False


class CExpressions(LoopSyntax[CValue]):
    """Writes the expressions of one function of the loop language.

    ``conditional`` is above zero within operands that are not always evaluated.
    """

    def __init__(self, function: FunctionType, node: ast.FunctionDef) -> None:
        super().__init__(function, node)
        self.conditional = 0
        self.count = 0
        self.lines: list[str] = []
        self.indent = "    "
        self.pure = True  # whether it changes no memory

    def put(self, text: str) -> None:
        """Write a line."""
        self.lines.append(self.indent + text)

    @abstractmethod
    def type_text(self, kind: Kind) -> str:
        """A type in C."""

    @abstractmethod
    def helper(self, name: str) -> str:
        """The name of a helper function."""

    @abstractmethod
    def call_function(self, node: ast.Call, function: FunctionType, values: list[CValue]) -> CValue:
        """A call of another translated function."""

    def hoist(self, value: CValue) -> CValue:
        """A value in a variable of its own."""
        self.count += 1
        kind = self.type_text(value.kind)
        constant = f"{kind}const " if kind.endswith("*") else f"const {kind} "
        self.put(f"{constant}value{self.count} = {value.text};")
        return CValue(value.kind, f"value{self.count}")

    def in_order(self, node: ast.AST, parts: Sequence[ast.expr]) -> list[CValue]:
        """Operands, evaluated from left to right."""
        values: list[CValue] = []
        for part in parts:
            value = self.value(part)
            if value.calls and any(x.calls or x.loads for x in values):
                if self.conditional:
                    self.refuse(node, f"'{ast.unparse(node)}' calls functions in an order that C does not keep")
                values = [self.hoist(x) if x.calls or x.loads else x for x in values]
            values.append(value)
        for k, value in enumerate(values[:-1]):
            if value.calls and any(x.loads for x in values[k + 1 :]) and not self.conditional:
                values[k] = self.hoist(value)
            elif value.calls and any(x.loads for x in values[k + 1 :]):
                self.refuse(node, f"'{ast.unparse(node)}' reads after a call in an order that C does not keep")
        return values

    def join(self, kind: Kind, text: str, *values: CValue) -> CValue:
        """A value made of others."""
        return CValue(kind, text, any(x.calls for x in values), any(x.loads for x in values))

    # Values

    def variable(self, node: ast.Name) -> CValue:
        """A variable, by its name in C."""
        if node.id not in self.kinds:
            self.refuse(node, f"'{node.id}' is not set on every path to this point")
        return CValue(self.kinds[node.id], identifier(node.id))

    def binary(self, node: ast.BinOp) -> CValue:
        """An operation of two values, the left one first."""
        return self.operation(node, node.op, *self.in_order(node, [node.left, node.right]))

    def constant(self, node: ast.expr, value: Any) -> CValue:
        """A Python number."""
        if isinstance(value, bool):
            return CValue(TRUTH, "1" if value else "0")
        if isinstance(value, int) and -(2**63) < value < 2**63:
            text = str(int(value)) if abs(value) < 2**31 else f"INT64_C({int(value)})"
            return CValue(INT, f"({text})" if value < 0 else text)
        if isinstance(value, float):
            text = real(value)
            return CValue(REAL, f"({text})" if text.startswith("-") else text)
        self.refuse(node, f"'{ast.unparse(node)}' is no number of the loop language")

    def read_field(self, node: ast.Attribute) -> CValue:
        """A field of a record; a record within another is its address."""
        owner = self.value(node.value)
        if owner.kind.record is None:
            self.refuse(node, f"'{ast.unparse(node.value)}' is {owner.kind.words} and has no fields")
        kind = find_kind(field_types(owner.kind.record)[node.attr])
        assert kind is not None  # as `struct` has checked
        inner = owner.text.removeprefix("&")
        text = f"{inner}{'.' if inner != owner.text else '->'}{identifier(node.attr)}"
        return CValue(kind, f"&{text}" if kind.record else text, loads=kind.record is None)

    def read_entry(self, node: ast.Subscript) -> CValue:
        """An entry of an array."""
        array, index = self.in_order(node, [node.value, node.slice])
        if array.kind.entry is None or index.kind != INT:
            self.refuse(node, f"'{ast.unparse(node)}' is no entry of an array")
        return CValue(array.kind.entry, f"{array.text}[{index.text}]", array.calls or index.calls, True)

    def truth(self, node: ast.expr) -> CValue:
        """The truth of a condition; a number is true if it is not zero."""
        value = self.value(node)
        if value.kind in (INT, REAL):
            return self.join(TRUTH, f"{value.text} != 0", value)
        if value.kind != TRUTH:
            self.refuse(node, f"'{ast.unparse(node)}' is neither true nor false")
        return value

    def convert(self, node: ast.AST, value: CValue, kind: Kind, what: str) -> CValue:
        """The value as this type; only an integer can be converted, to a real number."""
        if value.kind == kind:
            return value
        if (value.kind, kind) != (INT, REAL):
            self.refuse(node, f"{what} is {kind.words} and would become {value.kind.words}")
        return self.join(REAL, f"(double){_whole(value.text)}", value)

    def promote(self, node: ast.AST, *values: CValue) -> list[CValue]:
        """Numbers of one type: integers if all are, else real numbers."""
        if all(value.kind == INT for value in values):
            return list(values)
        return [self.convert(node, value, REAL, "an operand") for value in values]

    def unary(self, node: ast.UnaryOp) -> CValue:
        """``-x`` or ``not x``."""
        if isinstance(node.op, ast.Not):
            value = self.truth(node.operand)
            return self.join(TRUTH, f"!{_whole(value.text)}", value)
        value = self.value(node.operand)
        if not isinstance(node.op, ast.USub) or value.kind not in (INT, REAL):
            self.refuse(node, f"'{ast.unparse(node)}' is not part of the loop language")
        return self.join(value.kind, f"(-{value.text})", value)

    def operation(self, node: ast.AST, op: ast.operator, left: CValue, right: CValue) -> CValue:
        """A binary operation; it is one of integers if both are integers, except division and power."""
        operator = type(op)
        a, b = self.promote(node, left, right)
        if a.kind == INT and operator in BITS:
            return self.join(INT, f"({a.text} {BITS[operator]} {b.text})", a, b)
        if a.kind == INT and operator in (ast.FloorDiv, ast.Mod):
            name = self.helper("divide" if operator is ast.FloorDiv else "remainder")
            return self.join(INT, f"{name}({a.text}, {b.text})", a, b)
        if operator in BINARY:
            return self.join(a.kind, f"({a.text} {BINARY[operator]} {b.text})", a, b)
        a, b = (self.convert(node, x, REAL, "an operand") for x in (a, b))
        if operator is ast.Pow:
            return self.join(REAL, f"pow({a.text}, {b.text})", a, b)
        if operator is not ast.Div:
            self.refuse(node, f"no such operation: '{ast.unparse(node)}'")
        return self.join(REAL, f"({a.text} / {b.text})", a, b)

    def compare(self, node: ast.AST, op: ast.cmpop, left: CValue, right: CValue) -> CValue:
        if type(op) not in COMPARE:
            self.refuse(node, f"'{ast.unparse(node)}' is not part of the loop language")
        a, b = self.promote(node, left, right)
        return self.join(TRUTH, f"({a.text} {COMPARE[type(op)]} {b.text})", a, b)

    def comparison(self, node: ast.Compare) -> CValue:
        """One comparison, or a chain of them whose operands have no side effects."""
        values = self.in_order(node, [node.left, *node.comparators])
        if len(node.ops) > 1 and any(x.calls for x in values):
            self.refuse(node, f"'{ast.unparse(node)}': a chain of comparisons calls no functions")
        pairs = [self.compare(node, op, *values[k : k + 2]) for k, op in enumerate(node.ops)]
        text = " && ".join(pair.text for pair in pairs)
        return self.join(TRUTH, f"({text})" if len(pairs) > 1 else text, *pairs)

    def all_or_any(self, node: ast.BoolOp) -> CValue:
        """Conditions joined by ``or`` or ``and``, evaluated up to the first that decides."""
        values = [self.truth(node.values[0])]
        self.conditional += 1
        values += [self.truth(part) for part in node.values[1:]]
        self.conditional -= 1
        sign = " || " if isinstance(node.op, ast.Or) else " && "
        return self.join(TRUTH, f"({sign.join(value.text for value in values)})", *values)

    def choice(self, node: ast.IfExp) -> CValue:
        """``a if condition else b``."""
        test = self.truth(node.test)
        if not self.conditional and any(isinstance(x, ast.Call) for x in ast.walk(node)):
            return self.branches(node, test)
        self.conditional += 1
        yes, no = self.value(node.body), self.value(node.orelse)
        self.conditional -= 1
        if yes.kind != no.kind or yes.kind == NOTHING:
            self.refuse(node, f"'{ast.unparse(node)}' may be {yes.kind.words} or {no.kind.words}")
        return self.join(yes.kind, f"({test.text} ? {yes.text} : {no.text})", test, yes, no)

    def branches(self, node: ast.IfExp, test: CValue) -> CValue:
        """A choice as a statement, so that the operands of its calls keep their order."""
        self.count += 1
        name, parts = f"value{self.count}", []
        for branch in (node.body, node.orelse):
            with self.apart() as lines:
                value = self.value(branch)
                self.put(f"{name} = {value.text};")
            parts.append((value.kind, lines))
        kind = parts[0][0]
        if kind != parts[1][0] or kind == NOTHING:
            self.refuse(node, f"'{ast.unparse(node)}' may be {kind.words} or {parts[1][0].words}")
        self.put(f"{self.type_text(kind)} {name} = 0;")
        self.put(f"if ({bare(test.text)}) {{")
        self.lines += parts[0][1]
        self.put("} else {")
        self.lines += parts[1][1]
        self.put("}")
        return CValue(kind, name)

    @contextmanager
    def apart(self) -> Iterator[list[str]]:
        """Lines that are written within go into a list of their own."""
        before, self.lines = self.lines, []
        self.indent += "    "
        yield self.lines
        self.lines, self.indent = before, self.indent[:-4]

    # Calls

    def call(self, node: ast.Call) -> CValue:
        """A call of a built-in function, of the C library, of ``pointers`` or of another translated function."""
        function, values = self.static(node.func), self.in_order(node, node.args)
        if function in (min, max) and len(values) > 1:
            return self.extreme(node, values, "least" if function is min else "most")
        if function in NAMES and len(values) == 1:
            value = self.convert(node, values[0], REAL, "an argument")
            return self.join(REAL, f"{NAMES[function]}({value.text})", value)
        if len(values) == 1 and (known := self.inline(node, function, values[0])) is not None:
            return known
        if function is memory.call and len(values) == 10:
            self.pure = False
            return CValue(NOTHING, f"{self.helper('call')}({', '.join(x.text for x in values)})", True)
        if function is memory.tail and len(values) == 2:
            return self.join(FLOATS, f"({values[0].text} + {values[1].text})", *values)
        if not isinstance(function, FunctionType):
            self.refuse(node, f"'{ast.unparse(node)}' is not part of the loop language")
        return self.call_function(node, function, values)

    def extreme(self, node: ast.AST, values: list[CValue], name: str) -> CValue:
        """``min`` or ``max`` as in Python: a later value counts only if it compares as beyond."""
        best, *others = self.promote(node, *values)
        function = self.helper(name if best.kind == REAL else f"{name}_int")
        for other in others:
            best = self.join(best.kind, f"{function}({best.text}, {other.text})", best, other)
        return best

    def inline(self, node: ast.AST, function: Any, value: CValue) -> CValue | None:
        """A function of one argument that needs no call of a translated one; None if it is another."""
        if function is abs:
            name = "fabs" if value.kind == REAL else self.helper("size_int")
            return self.join(value.kind, f"{name}({value.text})", value)
        if function is int or function is math.floor:
            if value.kind in (TRUTH, INT):
                return self.join(INT, f"(int64_t){_whole(value.text)}" if value.kind == TRUTH else value.text, value)
            inner = f"floor({value.text})" if function is math.floor else value.text
            return self.join(INT, f"{self.helper('whole')}({inner})", value)
        if function is float:
            return self.convert(node, value, REAL, "an argument")
        if function is math.isfinite:
            number = self.convert(node, value, REAL, "an argument")
            return self.join(TRUTH, f"(fabs({number.text}) < INFINITY)", value)
        if function is memory.bits:
            return self.join(INTS, f"({self.type_text(INTS)}){_whole(value.text)}", value)
        return None


def _whole(text: str) -> str:
    """An operand of a sign or a cast: in parentheses, unless it is a name, a number or in parentheses."""
    return text if text.isidentifier() or text.isdigit() or text.startswith("(") else f"({text})"
