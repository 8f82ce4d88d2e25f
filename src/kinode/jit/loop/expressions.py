"""Translates expressions of the loop language (translator.py) to LLVM text: numbers, arrays, records, calls."""

from __future__ import annotations

import ast
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from kinode.algebra.scalars import LIBRARY
from kinode.jit.llvm_text import number
from kinode.jit.loop import memory
from kinode.jit.loop.memory import field_types
from kinode.jit.loop.syntax import FLOATS, INT, INTS, NOTHING, REAL, TRUTH, Kind, LoopSyntax, Value, find_kind

INTEGER_OPERATIONS: dict[type, str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
INTEGER_OPERATIONS |= {ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor"}
REAL_OPERATIONS: dict[type, str] = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
COMPARISONS: dict[type, tuple[str, str]] = {
    ast.Lt: ("slt", "olt"),
    ast.LtE: ("sle", "ole"),
    ast.Gt: ("sgt", "ogt"),
    ast.GtE: ("sge", "oge"),
    ast.Eq: ("eq", "oeq"),
    ast.NotEq: ("ne", "une"),
}
FUNCTIONS = {math.sqrt: "llvm.sqrt.f64", math.fabs: "llvm.fabs.f64"}
FUNCTIONS |= {getattr(math, name): name for name, arity in LIBRARY.items() if arity == 1}


class ExpressionTranslator(LoopSyntax[Value]):
    """Translates the expressions of one function.

    Variables are kept in memory, and LLVM moves them into registers. ``assigned`` are the variables that are set on
    every path to the present point; ``reachable`` tells whether there is such a path.
    """

    def __init__(self, function: FunctionType, node: ast.FunctionDef) -> None:
        super().__init__(function, node)
        self.text: list[str] = []
        self.block, self.count, self.reachable = "entry", 0, True
        self.assigned: set[str] = set()

    # Text

    def put(self, text: str) -> str:
        """Write an instruction that has a result, and return the name of the result."""
        self.count += 1
        self.text.append(f"  %.{self.count} = {text}")
        return f"%.{self.count}"

    def label(self) -> str:
        """A new label."""
        self.count += 1
        return f".{self.count}"

    def begin(self, label: str) -> None:
        """Begin the basic block of a label."""
        self.text.append(f"{label}:")
        self.block, self.reachable = label, True

    def end(self, text: str) -> None:
        """End the basic block with an instruction."""
        self.text.append(f"  {text}")
        self.reachable = False

    def branch(self, condition: Value, yes: str, no: str) -> None:
        """End the basic block with a conditional branch."""
        self.end(f"br i1 {condition.text}, label %{yes}, label %{no}")

    # Values

    def constant(self, node: ast.expr, value: Any) -> Value:
        """A Python number as an operand."""
        if isinstance(value, bool):
            return Value(TRUTH, "true" if value else "false")
        if isinstance(value, int) and -(2**63) <= value < 2**63:
            return Value(INT, str(int(value)))
        if isinstance(value, float):
            return Value(REAL, number(value))
        self.refuse(node, f"'{ast.unparse(node)}' is no number of the loop language")

    def variable(self, node: ast.Name) -> Value:
        if node.id not in self.assigned:
            self.refuse(node, f"'{node.id}' is not set on every path to this point")
        kind = self.kinds[node.id]
        return Value(kind, self.put(f"load {kind.llvm}, ptr %{node.id}.at"))

    def read_field(self, node: ast.Attribute) -> Value:
        """The value of a field; a record within another is its address."""
        kind, address = self.field(node)
        return Value(kind, address) if kind.record else self.load(kind, address)

    def read_entry(self, node: ast.Subscript) -> Value:
        """The value of an entry of an array."""
        return self.load(*self.entry(node))

    def binary(self, node: ast.BinOp) -> Value:
        """An operation of two values, the left one first."""
        return self.operation(node, node.op, self.value(node.left), self.value(node.right))

    def all_or_any(self, node: ast.BoolOp) -> Value:
        """``and``, ``or``: what decides ends the evaluation."""
        parts: list[Callable[[], Value]] = [lambda part=part: self.logical(part) for part in node.values]  # type: ignore[misc]
        return self.short_circuit(parts, isinstance(node.op, ast.Or))

    def load(self, kind: Kind, address: str) -> Value:
        """The value stored at an address."""
        return Value(kind, self.put(f"load {kind.llvm}, ptr {address}, align 8"))

    def entry(self, node: ast.Subscript) -> tuple[Kind, str]:
        """Type and address of an entry of an array."""
        array, index = self.value(node.value), self.integer(node.slice)
        if array.kind.entry is None:
            self.refuse(node, f"'{ast.unparse(node.value)}' is {array.kind.words} and has no entries")
        return array.kind.entry, self.put(
            f"getelementptr inbounds {array.kind.entry.llvm}, ptr {array.text}, i64 {index.text}"
        )

    def field(self, node: ast.Attribute) -> tuple[Kind, str]:
        """Type and address of a field of a record; the offsets of nested records add up to a constant."""
        attributes: list[ast.Attribute] = [node]
        while isinstance(attributes[-1].value, ast.Attribute):
            attributes.append(attributes[-1].value)
        owner, offset = self.value(attributes[-1].value), 0
        kind = owner.kind
        for attribute in reversed(attributes):
            if kind.record is None:
                self.refuse(attribute, f"'{ast.unparse(attribute.value)}' is {kind.words} and has no fields")
            types = field_types(kind.record)
            if attribute.attr not in types:
                self.refuse(attribute, f"{kind.words} has no field '{attribute.attr}'")
            offset += getattr(kind.record, attribute.attr).offset
            field_kind = find_kind(types[attribute.attr])
            assert field_kind is not None  # as `struct` has checked
            kind = field_kind
        return kind, self.put(f"getelementptr inbounds i8, ptr {owner.text}, i64 {offset}") if offset else owner.text

    def integer(self, node: ast.expr) -> Value:
        """The value of an expression that must be an integer."""
        return self.expect(node, self.value(node), INT)

    def truth(self, node: ast.expr) -> Value:
        """The truth of a condition; a number is true if it is not zero."""
        value = self.value(node)
        if value.kind in (INT, REAL):
            return self.compare(node, ast.NotEq(), value, Value(INT, "0"))
        return self.expect(node, value, TRUTH)

    def logical(self, node: ast.expr) -> Value:
        """The value of an expression that must be true or false."""
        return self.expect(node, self.value(node), TRUTH)

    def expect(self, node: ast.AST, value: Value, *kinds: Kind) -> Value:
        """The value, which must have one of these types."""
        if value.kind not in kinds:
            needed = " or ".join(kind.words for kind in kinds)
            self.refuse(node, f"'{ast.unparse(node)}' works on {value.kind.words} where {needed} is needed")
        return value

    def convert(self, node: ast.AST, value: Value, kind: Kind, what: str) -> Value:
        """The value as this type; only an integer can be converted, to a real number."""
        if value.kind == kind:
            return value
        if (value.kind, kind) != (INT, REAL):
            self.refuse(node, f"{what} is {kind.words} and would become {value.kind.words}")
        return Value(REAL, self.put(f"sitofp i64 {value.text} to double"))

    def real(self, node: ast.AST, value: Value) -> Value:
        return self.convert(node, self.expect(node, value, INT, REAL), REAL, "")

    def promote(self, node: ast.AST, *values: Value) -> list[Value]:
        """Numbers of one type: integers if all are, else real numbers."""
        if all(value.kind == INT for value in values):
            return list(values)
        return [self.real(node, value) for value in values]

    def unary(self, node: ast.UnaryOp) -> Value:
        """``-x`` or ``not x``."""
        if isinstance(node.op, ast.Not):
            return Value(TRUTH, self.put(f"xor i1 {self.truth(node.operand).text}, true"))
        value = self.expect(node, self.value(node.operand), INT, REAL)
        if not isinstance(node.op, ast.USub):
            self.refuse(node, f"'{ast.unparse(node)}' is not part of the loop language")
        if value.kind == INT:
            return Value(INT, self.put(f"sub i64 0, {value.text}"))
        return Value(REAL, self.put(f"fneg double {value.text}"))

    def operation(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        """A binary operation; it is one of integers if both are integers, except division and power."""
        operator = type(op)
        a, b = self.promote(node, left, right)
        if a.kind == INT and operator in INTEGER_OPERATIONS:
            return Value(INT, self.put(f"{INTEGER_OPERATIONS[operator]} i64 {a.text}, {b.text}"))
        if a.kind == INT and operator in (ast.FloorDiv, ast.Mod):
            return self.divide(a.text, b.text, operator is ast.Mod)
        if operator is ast.Pow:
            if a.kind == INT:
                self.refuse(node, "a power of integers may be an integer or not: write one of them as a real number")
            return Value(REAL, self.put(f"call double @pow({a.typed}, {b.typed})"))
        if operator not in REAL_OPERATIONS:
            self.refuse(node, f"no such operation on real numbers: '{ast.unparse(node)}'")
        a, b = self.real(node, a), self.real(node, b)
        return Value(REAL, self.put(f"{REAL_OPERATIONS[operator]} double {a.text}, {b.text}"))

    def divide(self, a: str, b: str, remainder: bool) -> Value:
        """Quotient or remainder of integers as in Python, rounding down; 0 if the divisor is 0 (the CPU would trap)."""
        by_zero = self.put(f"icmp eq i64 {b}, 0")
        safe = self.put(f"select i1 {by_zero}, i64 1, i64 {b}")
        truncated_remainder = self.put(f"srem i64 {a}, {safe}")
        inexact = self.put(f"icmp ne i64 {truncated_remainder}, 0")
        signs = self.put(f"xor i64 {truncated_remainder}, {safe}")
        opposite = self.put(f"icmp slt i64 {signs}, 0")
        round_down = self.put(f"and i1 {inexact}, {opposite}")
        if remainder:
            raised = self.put(f"add i64 {truncated_remainder}, {safe}")
            result = self.put(f"select i1 {round_down}, i64 {raised}, i64 {truncated_remainder}")
        else:
            quotient = self.put(f"sdiv i64 {a}, {safe}")
            result = self.put(f"sub i64 {quotient}, {self.put(f'zext i1 {round_down} to i64')}")
        return Value(INT, self.put(f"select i1 {by_zero}, i64 0, i64 {result}"))

    def compare(self, node: ast.AST, op: ast.cmpop, left: Value, right: Value) -> Value:
        if type(op) not in COMPARISONS:
            self.refuse(node, f"'{ast.unparse(node)}' is not part of the loop language")
        integers, reals = COMPARISONS[type(op)]
        a, b = self.promote(node, left, right)
        test = f"icmp {integers} i64" if a.kind == INT else f"fcmp {reals} double"
        return Value(TRUTH, self.put(f"{test} {a.text}, {b.text}"))

    def comparison(self, node: ast.Compare) -> Value:
        """One comparison or a chain of them; each operand is evaluated at most once, up to the first that is false."""
        last = [self.value(node.left)]

        def step(op: ast.cmpop, operand: ast.expr) -> Value:
            right = self.value(operand)
            result = self.compare(node, op, last[0], right)
            last[0] = right
            return result

        pairs = zip(node.ops, node.comparators, strict=True)
        return self.short_circuit([lambda pair=pair: step(*pair) for pair in pairs], False)  # type: ignore[misc]

    def short_circuit(self, parts: Sequence[Callable[[], Value]], decisive: bool) -> Value:
        """Conditions joined by ``or`` (decisive: true) or ``and``, evaluated up to the first that decides."""
        if len(parts) == 1:
            return parts[0]()
        after, incoming = self.label(), []
        for part in parts[:-1]:
            condition, following = part(), self.label()
            incoming.append(f"[ {'true' if decisive else 'false'}, %{self.block} ]")
            self.branch(condition, *((after, following) if decisive else (following, after)))
            self.begin(following)
        incoming.append(f"[ {parts[-1]().text}, %{self.block} ]")
        self.end(f"br label %{after}")
        self.begin(after)
        return Value(TRUTH, self.put(f"phi i1 {', '.join(incoming)}"))

    def choice(self, node: ast.IfExp) -> Value:
        """``a if condition else b``."""
        yes, no, after = self.label(), self.label(), self.label()
        self.branch(self.truth(node.test), yes, no)
        branches = []
        for label, part in ((yes, node.body), (no, node.orelse)):
            self.begin(label)
            value = self.value(part)
            branches.append((value, self.block))
            self.end(f"br label %{after}")
        self.begin(after)
        kind = branches[0][0].kind
        if branches[1][0].kind != kind or kind == NOTHING:
            self.refuse(node, f"'{ast.unparse(node)}' may be {kind.words} or {branches[1][0].kind.words}")
        incoming = ", ".join(f"[ {value.text}, %{block} ]" for value, block in branches)
        return Value(kind, self.put(f"phi {kind.llvm} {incoming}"))

    # Calls

    def call(self, node: ast.Call) -> Value:
        """A call of a built-in function, of the C library, of ``pointers`` or of another translated function."""
        function = self.static(node.func)
        if function is memory.struct_at and len(node.args) == 2:
            kind = find_kind(self.static(node.args[0]))
            if kind is None or kind.record is None:
                self.refuse(node, f"'{ast.unparse(node.args[0])}' is no record")
            return Value(kind, self.put(f"inttoptr {self.integer(node.args[1]).typed} to ptr"))
        values = [self.value(argument) for argument in node.args]
        if function in (min, max) and len(values) > 1:
            return self.extreme(node, values, ast.Lt() if function is min else ast.Gt())
        if function in FUNCTIONS and len(values) == 1:
            return Value(REAL, self.put(f"call double @{FUNCTIONS[function]}({self.real(node, values[0]).typed})"))
        if function in INLINE_FUNCTIONS and len(values) == 1:
            return INLINE_FUNCTIONS[function](self, node, values[0])
        if function is memory.call and len(values) == 10:
            kernel = self.put(f"inttoptr {self.expect(node, values[0], INT).typed} to ptr")
            arguments = [self.expect(node, value, FLOATS).typed for value in values[1:]]
            self.text.append(f"  call void {kernel}({', '.join(arguments)})")
            return Value(NOTHING, "")
        if function is memory.invoke and values:
            called, *arguments = [self.expect(node, value, INT).typed for value in values]
            return Value(INT, self.put(f"call i64 {self.put(f'inttoptr {called} to ptr')}({', '.join(arguments)})"))
        if function is memory.tail and len(values) == 2:
            array, start = self.expect(node, values[0], FLOATS), self.expect(node, values[1], INT)
            return Value(FLOATS, self.put(f"getelementptr inbounds double, {array.typed}, {start.typed}"))
        if not isinstance(function, FunctionType):
            self.refuse(node, f"'{ast.unparse(node)}' is not part of the loop language")
        return self.call_function(node, function, values)

    @abstractmethod
    def call_function(self, node: ast.Call, function: FunctionType, values: list[Value]) -> Value:
        """A call of another translated function."""

    def extreme(self, node: ast.AST, values: list[Value], op: ast.cmpop) -> Value:
        """``min`` or ``max`` as in Python: a later value counts only if it compares as beyond, which NaN never does."""
        best, *others = self.promote(node, *values)
        for other in others:
            beyond = self.compare(node, op, other, best)
            best = Value(best.kind, self.put(f"select i1 {beyond.text}, {other.typed}, {best.typed}"))
        return best

    def size(self, node: ast.AST, value: Value) -> Value:
        """The absolute value."""
        if self.expect(node, value, INT, REAL).kind == REAL:
            return Value(REAL, self.put(f"call double @llvm.fabs.f64({value.typed})"))
        return self.extreme(node, [value, Value(INT, self.put(f"sub i64 0, {value.text}"))], ast.Gt())

    def to_integer(self, node: ast.AST, value: Value) -> Value:
        """The integer towards zero; beyond 64 bits the nearest possible one, and 0 for NaN."""
        if value.kind == TRUTH:
            return Value(INT, self.put(f"zext i1 {value.text} to i64"))
        if self.expect(node, value, INT, REAL).kind == INT:
            return value
        return Value(INT, self.put(f"call i64 @llvm.fptosi.sat.i64.f64({value.typed})"))

    def floor(self, node: ast.AST, value: Value) -> Value:
        lower = self.put(f"call double @llvm.floor.f64({self.real(node, value).typed})")
        return self.to_integer(node, Value(REAL, lower))

    def finite(self, node: ast.AST, value: Value) -> Value:
        size = self.size(node, self.real(node, value))
        return Value(TRUTH, self.put(f"fcmp olt double {size.text}, {number(math.inf)}"))

    def bits(self, node: ast.AST, value: Value) -> Value:
        """An array of real numbers, read as integers."""
        return Value(INTS, self.expect(node, value, FLOATS).text)

    def floats(self, node: ast.AST, value: Value) -> Value:
        """The array of real numbers at an address."""
        return Value(FLOATS, self.put(f"inttoptr {self.expect(node, value, INT).typed} to ptr"))


INLINE_FUNCTIONS: dict[Any, Callable[[ExpressionTranslator, ast.AST, Value], Value]] = {
    abs: ExpressionTranslator.size, int: ExpressionTranslator.to_integer, float: ExpressionTranslator.real,
    math.floor: ExpressionTranslator.floor,
    math.isfinite: ExpressionTranslator.finite,
    memory.bits: ExpressionTranslator.bits,
    memory.floats: ExpressionTranslator.floats,
}  # fmt: skip
"""Functions of one argument that become a few instructions in place of a call."""
