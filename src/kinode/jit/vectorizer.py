"""Loops over the entries of rows, four entries at a time: ``for i in range(n): out[i] = y[i] + h * k[i]``.

LLVM's own vectorizer finds them too, but costs as much time as all else that is done to a loop of the integrators, and
llvmlite offers it only together with the rest of its pipeline. Each entry is computed by the same operations in either
way, so that the results are the same to the bit. Where rows overlap, which is asked when the loop is reached, and for
what is left of the last four, the plain loop serves.
"""

from __future__ import annotations

import ast
from itertools import product
from typing import TYPE_CHECKING, Any

from kinode.jit.expression_translator import COMPARISONS, REAL_OPERATIONS
from kinode.jit.ir_text import constant
from kinode.jit.loop_kinds import FLOATS, INT, REAL, TRUTH, Value

if TYPE_CHECKING:
    from kinode.jit.expression_translator import ExpressionTranslator

FOUR = "<4 x double>"


def by_fours(own: ExpressionTranslator, node: ast.For, counter: str, start: Value, stop: Value) -> Value:
    """Write the loop for as many fours as there are, if its body allows; gives where the plain loop is to begin."""
    loop = _Fours(own, counter)
    if not all(loop.suits(statement) for statement in node.body):
        return start
    return loop.write(node.body, start, stop)


class _Fours:
    """One loop: the rows it reads and writes, and its body."""

    def __init__(self, own: ExpressionTranslator, counter: str) -> None:
        self.own, self.counter = own, counter
        self.index = ""
        self.rows: dict[str, str] = {}
        self.written: set[str] = set()

    def suits(self, node: ast.AST) -> bool:
        """Whether a part works entry by entry."""
        match node:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=row)) as target], value=value):
                self.written.add(row)
                return self.suits(target) and self.suits(value)
            case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=row)) as target, op=op, value=value):
                self.written.add(row)
                return type(op) in REAL_OPERATIONS and self.suits(target) and self.suits(value)
            case ast.Subscript(value=ast.Name(id=row), slice=ast.Name(id=index)):
                self.rows[row] = ""
                return index == self.counter and self.own.kinds.get(row) == FLOATS
            case ast.BinOp(left=left, op=op, right=right):
                return type(op) in REAL_OPERATIONS and self.suits(left) and self.suits(right)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.suits(operand)
            case ast.Call(func=ast.Name(id=("abs" | "min" | "max") as name), args=[*given], keywords=[]):
                return len(given) == (1 if name == "abs" else 2) and all(map(self.suits, given))
            case ast.Name(id=name):
                return name != self.counter and self.own.kinds.get(name, REAL) == REAL
            case ast.Constant(value=float()):
                return True
        return False

    def write(self, body: list[ast.stmt], start: Value, stop: Value) -> Value:
        own = self.own
        for row in self.rows:
            self.rows[row] = own.variable(ast.Name(row)).text
        count = own.put(f"sub i64 {stop.text}, {start.text}")
        fours = own.put(f"and i64 {count}, -4")
        fours = own.put(f"select i1 {self.apart()}, i64 {fours}, i64 0")
        end = own.put(f"add i64 {start.text}, {fours}")
        head, inner, after = own.label(), own.label(), own.label()
        source, self.index, following = own.block, f"%{head}.i", f"%{head}.next"
        own.end(f"br label %{head}")
        own.begin(head)
        own.text.append(f"  {self.index} = phi i64 [ {start.text}, %{source} ], [ {following}, %{inner} ]")
        own.branch(Value(TRUTH, own.put(f"icmp slt i64 {self.index}, {end}")), inner, after)
        own.begin(inner)
        for statement in body:
            self.statement(statement)
        own.text.append(f"  {following} = add nsw i64 {self.index}, 4")
        own.end(f"br label %{head}")
        own.begin(after)
        return Value(INT, self.index)

    def apart(self) -> str:
        """Whether each row that is written is the same as another or at least four entries away from it."""
        own, fine = self.own, "true"
        places = {row: own.put(f"ptrtoint ptr {text} to i64") for row, text in self.rows.items()}
        for a, b in product(sorted(self.written), self.rows):
            if a != b and not (b in self.written and b < a):
                distance = own.put(f"sub i64 {places[a]}, {places[b]}")
                far = own.put(f"icmp ugt i64 {own.put(f'add i64 {distance}, 31')}, 62")
                same = own.put(f"icmp eq i64 {distance}, 0")
                fine = own.put(f"and i1 {fine}, {own.put(f'or i1 {far}, {same}')}")
        return fine

    def statement(self, node: Any) -> None:
        target: Any = node.targets[0] if isinstance(node, ast.Assign) else node.target
        made = self.value(node.value)
        place = self.place(target.value.id)
        if isinstance(node, ast.AugAssign):
            made = self.operation(node.op, self.own.put(f"load {FOUR}, ptr {place}, align 8"), made)
        self.own.text.append(f"  store {FOUR} {made}, ptr {place}, align 8")

    def place(self, row: str) -> str:
        return self.own.put(f"getelementptr inbounds double, ptr {self.rows[row]}, i64 {self.index}")

    def operation(self, op: ast.operator, a: str, b: str) -> str:
        return self.own.put(f"{REAL_OPERATIONS[type(op)]} {FOUR} {a}, {b}")

    def value(self, node: Any) -> str:
        """Four entries of an expression."""
        own = self.own
        match node:
            case ast.Subscript(value=ast.Name(id=row)):
                return own.put(f"load {FOUR}, ptr {self.place(row)}, align 8")
            case ast.BinOp():
                left = self.value(node.left)
                return self.operation(node.op, left, self.value(node.right))
            case ast.UnaryOp():
                return own.put(f"fneg {FOUR} {self.value(node.operand)}")
            case ast.Call(func=ast.Name(id="abs")):
                return own.put(f"call {FOUR} @llvm.fabs.v4f64({FOUR} {self.value(node.args[0])})")
            case ast.Call(func=ast.Name(id=name)):
                first, second = map(self.value, node.args)
                test = COMPARISONS[ast.Lt if name == "min" else ast.Gt][1]
                beyond = own.put(f"fcmp {test} {FOUR} {second}, {first}")
                return own.put(f"select <4 x i1> {beyond}, {FOUR} {second}, {FOUR} {first}")
            case ast.Constant(value=float(given)):
                return constant(given, 4)
        scalar = own.real(node, own.value(node))
        single = own.put(f"insertelement {FOUR} undef, {scalar.typed}, i32 0")
        return own.put(f"shufflevector {FOUR} {single}, {FOUR} undef, <4 x i32> zeroinitializer")
