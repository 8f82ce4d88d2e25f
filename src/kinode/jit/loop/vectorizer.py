"""Vector code for loops over the entries of arrays, such as ``for i in range(n): out[i] = y[i] + h * k[i]``.

Four entries are computed at a time.  Each is computed by the same operations as in the scalar loop, so the results are
the same to the last bit.  The scalar loop computes the remaining entries (fewer than four), and all of them if arrays
overlap, which is checked when the loop is reached, unless the loop goes over `apart`.

Why our own: LLVM's vectorizer finds these loops too, but it takes as long as everything else that is done to a loop of
the integrators, and llvmlite offers it only together with the rest of its pipeline.
"""

from __future__ import annotations

import ast
from itertools import product
from typing import TYPE_CHECKING, Any

from kinode.jit.llvm_text import constant
from kinode.jit.loop.expressions import COMPARISONS, REAL_OPERATIONS
from kinode.jit.loop.syntax import FLOATS, INT, REAL, TRUTH, Value

if TYPE_CHECKING:
    from kinode.jit.loop.expressions import ExpressionTranslator


VECTOR = "<4 x double>"


def vectorize(
    own: ExpressionTranslator, node: ast.For, counter: str, start: Value, stop: Value, apart: bool = False
) -> Value:
    """Write the vector loop if the body allows it; returns the index at which the scalar loop begins."""
    loop = _VectorLoop(own, counter)
    if not all(loop.can_vectorize(statement) for statement in node.body):
        return start
    return loop.write(node.body, start, stop, apart)


class _VectorLoop:
    """One loop: the arrays that it reads and writes, by name, with their addresses."""

    def __init__(self, own: ExpressionTranslator, counter: str) -> None:
        self.own, self.counter = own, counter
        self.index = ""
        self.arrays: dict[str, str] = {}
        self.written: set[str] = set()

    def can_vectorize(self, node: ast.AST) -> bool:
        """Whether a statement or an expression uses entries at the loop's index only."""
        match node:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=array)) as target], value=value):
                self.written.add(array)
                return self.can_vectorize(target) and self.can_vectorize(value)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                return all(isinstance(target, ast.Subscript) for target in targets) and all(
                    self.can_vectorize(ast.Assign([target], value))
                    for target, value in zip(targets, values, strict=False)
                )
            case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=array)) as target, op=op, value=value):
                self.written.add(array)
                return type(op) in REAL_OPERATIONS and self.can_vectorize(target) and self.can_vectorize(value)
            case ast.Subscript(value=ast.Name(id=array), slice=ast.Name(id=index)):
                self.arrays[array] = ""
                return index == self.counter and self.own.kinds.get(array) == FLOATS
            case ast.BinOp(left=left, op=op, right=right):
                return type(op) in REAL_OPERATIONS and self.can_vectorize(left) and self.can_vectorize(right)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.can_vectorize(operand)
            case ast.Call(func=ast.Name(id=("abs" | "min" | "max") as name), args=[*given], keywords=[]):
                return len(given) == (1 if name == "abs" else 2) and all(map(self.can_vectorize, given))
            case ast.Name(id=name):
                return name != self.counter and self.own.kinds.get(name, REAL) == REAL
            case ast.Constant(value=float()):
                return True
        return False

    def write(self, body: list[ast.stmt], start: Value, stop: Value, apart: bool) -> Value:
        """Write the vector loop; returns the index after its last entry."""
        own = self.own
        for array in self.arrays:
            self.arrays[array] = own.variable(ast.Name(array)).text
        count = own.put(f"sub i64 {stop.text}, {start.text}")
        vectorized = own.put(f"and i64 {count}, -4")
        if not apart:
            vectorized = own.put(f"select i1 {self.no_overlap()}, i64 {vectorized}, i64 0")
        end = own.put(f"add i64 {start.text}, {vectorized}")
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

    def no_overlap(self) -> str:
        """Whether each array that is written is identical with another or at least four entries away from it."""
        own, fine = self.own, "true"
        addresses = {array: own.put(f"ptrtoint ptr {text} to i64") for array, text in self.arrays.items()}
        for a, b in product(sorted(self.written), self.arrays):
            if a != b and not (b in self.written and b < a):
                distance = own.put(f"sub i64 {addresses[a]}, {addresses[b]}")
                far = own.put(f"icmp ugt i64 {own.put(f'add i64 {distance}, 31')}, 62")
                same = own.put(f"icmp eq i64 {distance}, 0")
                fine = own.put(f"and i1 {fine}, {own.put(f'or i1 {far}, {same}')}")
        return fine

    def statement(self, node: Any) -> None:
        """Write an assignment, of several values after all of them are computed."""
        target: Any = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Tuple):
            values = [self.value(value) for value in node.value.elts]
            parts: list[Any] = target.elts
            for part, value in zip(parts, values, strict=True):
                self.store(part.value.id, value)
            return
        value = self.value(node.value)
        if isinstance(node, ast.AugAssign):
            before = self.own.put(f"load {VECTOR}, ptr {self.address(target.value.id)}, align 8")
            value = self.operation(node.op, before, value)
        self.store(target.value.id, value)

    def store(self, array: str, value: str) -> None:
        """Store four entries of an array."""
        self.own.text.append(f"  store {VECTOR} {value}, ptr {self.address(array)}, align 8")

    def address(self, array: str) -> str:
        """The address of the array's entry at the loop's index."""
        return self.own.put(f"getelementptr inbounds double, ptr {self.arrays[array]}, i64 {self.index}")

    def operation(self, op: ast.operator, a: str, b: str) -> str:
        return self.own.put(f"{REAL_OPERATIONS[type(op)]} {VECTOR} {a}, {b}")

    def value(self, node: Any) -> str:
        """Write an expression for four entries."""
        own = self.own
        match node:
            case ast.Subscript(value=ast.Name(id=array)):
                return own.put(f"load {VECTOR}, ptr {self.address(array)}, align 8")
            case ast.BinOp():
                left = self.value(node.left)
                return self.operation(node.op, left, self.value(node.right))
            case ast.UnaryOp():
                return own.put(f"fneg {VECTOR} {self.value(node.operand)}")
            case ast.Call(func=ast.Name(id="abs")):
                return own.put(f"call {VECTOR} @llvm.fabs.v4f64({VECTOR} {self.value(node.args[0])})")
            case ast.Call(func=ast.Name(id=name)):
                first, second = map(self.value, node.args)
                test = COMPARISONS[ast.Lt if name == "min" else ast.Gt][1]
                beyond = own.put(f"fcmp {test} {VECTOR} {second}, {first}")
                return own.put(f"select <4 x i1> {beyond}, {VECTOR} {second}, {VECTOR} {first}")
            case ast.Constant(value=float(given)):
                return constant(given, 4)
        scalar = own.real(node, own.value(node))
        single = own.put(f"insertelement {VECTOR} undef, {scalar.typed}, i32 0")
        return own.put(f"shufflevector {VECTOR} {single}, {VECTOR} undef, <4 x i32> zeroinitializer")
