"""Compiles loops in plain Python to LLVM text: the integrators, which call a kernel many times without Python.

Why our own: numba took 5 to 7 s for the loop with step control, at each upgrade of either package and on each new
machine, and 0.9 s to be imported; this takes 0.02 s, and LLVM 0.1 s (two cores at 2 GHz, 2026). The loops need little
of Python, and all types are known from annotations. A compiler of typed Python that starts in some 0.1 s and keeps the
bits of Python would make this module, expressions.py and vectorizer.py obsolete.

The loop language, a subset of Python:

- functions of ``int`` (64 bits), ``float``, ``bool``, `Floats`, `Ints` and records (`Struct`), annotated, that may call
  each other;
- assignments, also of several values and in place, ``if``, ``while``, ``for`` over ``range`` or
  `apart`, ``break``, ``continue``, ``return``; a variable keeps its type and is set before it is read, on every path;
- arithmetic, comparisons, ``and``, ``or``, ``not``, ``a if c else b``; ``min max abs int float``, functions of `math`
  and of kinode.jit.loop.memory; numbers of the module and of enclosing functions, as constants; functions of either;
- ``if enabled:`` and ``if enabled and x:`` with a truth value of an enclosing function: a branch that it rules out is
  not compiled.

Anything else raises a `TranslationError` with its file and line. Results are those of Python to the last bit, but
nothing raises: integers wrap around at 64 bits and give 0 when divided by zero, real numbers follow IEEE 754.
"""

from __future__ import annotations

import ast
import linecache
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache as remember
from types import FunctionType
from typing import Any

from kinode.jit.loop.expressions import FUNCTIONS, ExpressionTranslator
from kinode.jit.loop.syntax import INT, NOTHING, TRUTH, Kind, TranslationError, Value, find_kind
from kinode.jit.loop.vectorizer import vectorize

_READING = threading.Lock()  # one counter of depth for the syntax trees of all threads: SystemError in Python 3.11
LONGEST_INLINED = 20  # instructions of a function that is compiled into its callers
DECLARATIONS = """\
declare double @pow(double, double) nounwind
declare double @llvm.floor.f64(double)
declare <4 x double> @llvm.fabs.v4f64(<4 x double>)
declare i64 @llvm.fptosi.sat.i64.f64(double)
"""


@remember
def _tree(file: str) -> ast.Module:
    """The syntax tree of a file."""
    lines = linecache.getlines(file)
    if not lines:
        raise TranslationError(f"{file}: the source of this file cannot be read; it is needed to compile its loops")
    with _READING:
        return ast.parse("".join(lines), file)


def find_definition(function: FunctionType) -> ast.FunctionDef:
    """The syntax tree of a function."""
    code = function.__code__
    for node in ast.walk(_tree(code.co_filename)):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    raise TranslationError(f"{code.co_filename}:{code.co_firstlineno}: no function '{code.co_name}' there")


def translate(function: Callable[..., Any], name: str) -> str:
    """LLVM text of a function, exported under a name, and of the functions that it calls."""
    return translate_together({name: function})


def translate_together(functions: Mapping[str, Callable[..., Any]], longest_inlined: int = LONGEST_INLINED) -> str:
    """LLVM text of several functions, exported under their names; functions that they share are written once."""
    module = _Module(longest_inlined)
    for name, function in functions.items():
        if not isinstance(function, FunctionType):
            raise TranslationError(f"{function!r} is not written in Python")
        module.find(function, name)
    parts = [DECLARATIONS]
    parts += [f"declare double @{name}(double) nounwind" for name in dict.fromkeys(FUNCTIONS.values())]
    while module.waiting:
        module.waiting.pop().write()
    return "\n".join([*parts, *(function.definition() for function in module.functions.values())])


class _Module:
    """The functions of one LLVM module; ``waiting`` are those still to be written."""

    def __init__(self, longest_inlined: int) -> None:
        self.longest_inlined = longest_inlined
        self.functions: dict[FunctionType, _Function] = {}
        self.waiting: list[_Function] = []

    def find(self, function: FunctionType, name: str | None = None) -> _Function:
        """The translation of a function; it is exported if a name is given."""
        translated = self.functions.get(function)
        if translated is None:
            internal_name = f"{function.__name__}.{len(self.functions)}"
            translated = self.functions[function] = _Function(self, function, name or internal_name, name is not None)
            self.waiting.append(translated)
        return translated


class _Function(ExpressionTranslator):
    """Translates one function: its statements, signature and symbol.

    ``loops`` holds the labels (next iteration, end) of the enclosing loops, ``jump_targets`` the labels that a
    ``break`` or ``continue`` jumps to.
    """

    def __init__(self, module: _Module, function: FunctionType, symbol: str, public: bool) -> None:
        super().__init__(function, find_definition(function))
        self.module, self.symbol, self.public = module, symbol, public
        self.loops: list[tuple[str, str]] = []
        self.jump_targets: set[str] = set()
        arguments = self.node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults or arguments.posonlyargs:
            self.refuse(self.node, "arguments must be plain: no defaults, no keywords, no stars")
        self.parameters = [
            (argument.arg, self.annotation(argument, argument.annotation)) for argument in arguments.args
        ]
        self.result = self.annotation(self.node, self.node.returns)

    def annotation(self, owner: ast.AST, node: ast.expr | None) -> Kind:
        """The data type that an annotation names."""
        if node is None:
            name = f"argument '{owner.arg}'" if isinstance(owner, ast.arg) else "the result"
            self.refuse(owner, f"{name} has no annotation")
        annotated = None if isinstance(node, ast.Constant) and node.value is None else self.static(node)
        kind = find_kind(annotated)
        if kind is None:
            known = "int, float, bool, Floats, Ints, a Struct, None"
            self.refuse(node, f"'{ast.unparse(node)}' is no type of a loop: {known}")
        return kind

    def write(self) -> None:
        """Write the instructions."""
        for name, kind in self.parameters:
            self.store(self.node, name, Value(kind, f"%{name}"))
        self.statements(self.node.body)
        if self.reachable:
            if self.result != NOTHING:
                self.refuse(self.node, f"a path reaches its end without returning {self.result.words}")
            self.end("ret void")

    def definition(self) -> str:
        """The text of the whole function; a short one is marked to be inlined."""
        parameters = ", ".join(f"{kind.llvm} %{name}" for name, kind in self.parameters)
        slots = [f"  %{name}.at = alloca {kind.llvm}" for name, kind in self.kinds.items()]
        linkage = "" if self.public else "internal "
        inlining = "noinline" if len(self.text) > self.module.longest_inlined or self.public else "alwaysinline"
        head = f"define {linkage}{self.result.llvm} @{self.symbol}({parameters}) {inlining} nounwind {{\nentry:"
        return "\n".join([head, *slots, *self.text, "}\n"])

    def store(self, node: ast.AST, name: str, value: Value) -> None:
        """Set a variable; its first value decides its type."""
        if value.kind == NOTHING:
            self.refuse(node, f"'{name}' would be nothing")
        kind = self.kinds.setdefault(name, value.kind)
        value = self.convert(node, value, kind, f"'{name}'")
        self.text.append(f"  store {value.typed}, ptr %{name}.at")
        self.assigned.add(name)

    # Statements

    def statements(self, nodes: Sequence[ast.stmt]) -> None:
        """Write statements one after the other, up to the first that leaves the block."""
        for node in nodes:
            if self.reachable:
                self.statement(node)

    def evaluate(self, node: ast.Call) -> None:
        self.value(node)

    def leave_loop(self, node: ast.Break | ast.Continue) -> None:
        label = self.loops[-1][isinstance(node, ast.Break)]
        self.jump_targets.add(label)
        self.end(f"br label %{label}")

    def assign(self, target: ast.expr, source: ast.expr) -> None:
        """Assign to a variable, an entry or a field; to several after all values are computed."""
        if isinstance(target, ast.Tuple):
            if not isinstance(source, ast.Tuple) or len(source.elts) != len(target.elts):
                self.refuse(target, "as many values as targets must be written")
            pairs = list(zip(target.elts, [self.value(element) for element in source.elts], strict=True))
        else:
            pairs = [(target, self.value(source))]
        for destination, value in pairs:
            match destination:
                case ast.Name(id=name):
                    self.store(destination, name, value)
                case ast.Subscript() | ast.Attribute():
                    kind, address = self.target(destination)
                    value = self.convert(destination, value, kind, f"'{ast.unparse(destination)}'")
                    self.text.append(f"  store {value.typed}, ptr {address}, align 8")
                case _:
                    self.refuse(destination, f"'{ast.unparse(destination)}' cannot be assigned to")

    def target(self, destination: ast.Subscript | ast.Attribute) -> tuple[Kind, str]:
        """Type and address of an entry of an array, or of a field, that is assigned to."""
        if isinstance(destination, ast.Subscript):
            return self.entry(destination)
        if not self.is_field(destination):
            self.refuse(destination, f"'{ast.unparse(destination)}' cannot be assigned to")
        kind, address = self.field(destination)
        if kind.record is not None:
            self.refuse(
                destination, f"'{ast.unparse(destination)}' is {kind.words}: its fields are assigned to one by one"
            )
        return kind, address

    def update(self, node: ast.AugAssign) -> None:
        """Write an assignment in place, such as ``x += 1``."""
        match node.target:
            case ast.Name(id=name):
                result = self.operation(node, node.op, self.variable(node.target), self.value(node.value))
                self.store(node, name, result)
            case (ast.Subscript() | ast.Attribute()) as destination:
                kind, address = self.target(destination)
                result = self.operation(node, node.op, self.load(kind, address), self.value(node.value))
                result = self.convert(node, result, kind, f"'{ast.unparse(destination)}'")
                self.text.append(f"  store {result.typed}, ptr {address}, align 8")
            case other:
                self.refuse(node, f"'{ast.unparse(other)}' cannot be assigned to")

    def choose(self, node: ast.If) -> None:
        """Write an ``if``; a variable is set after it if both branches set it, or leave.

        Where a truth value of an enclosing function decides, only the branch that it chooses is compiled.
        """
        parts = (
            node.test.values if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And) else [node.test]
        )
        chosen = self.constant_truth(parts[0])
        if chosen is False or (chosen and len(parts) == 1):
            self.statements(node.body if chosen else node.orelse)
            return
        yes, no, after = self.label(), self.label(), self.label()
        self.branch(self.truth(node.test), yes, no)
        before, ends = set(self.assigned), []
        for label, body in ((yes, node.body), (no, node.orelse)):
            self.begin(label)
            self.assigned = set(before)
            self.statements(body)
            if self.reachable:
                ends.append(self.assigned)
                self.end(f"br label %{after}")
        self.assigned = set.intersection(*ends) if ends else before
        if ends:
            self.begin(after)

    def constant_truth(self, node: ast.expr) -> bool | None:
        """A truth value of an enclosing function; None if the expression is something else."""
        if isinstance(node, ast.Name) and node.id in self.constants:
            value = self.static(node)
            return value if isinstance(value, bool) else None
        return None

    def repeat(self, node: ast.While) -> None:
        """Write a ``while``."""
        head, body, after = self.label(), self.label(), self.label()
        forever = isinstance(node.test, ast.Constant) and node.test.value is True
        self.end(f"br label %{head}")
        self.begin(head)
        if forever:
            self.end(f"br label %{body}")
        else:
            self.branch(self.truth(node.test), body, after)
        self.loop_body(node.body, body, head, after)
        if not forever or after in self.jump_targets:
            self.begin(after)

    def loop_body(self, nodes: Sequence[ast.stmt], body: str, again: str, after: str) -> None:
        """Write the body of a loop; a variable that only the body sets may be unset afterwards."""
        before = set(self.assigned)
        self.begin(body)
        self.loops.append((again, after))
        self.statements(nodes)
        self.loops.pop()
        if self.reachable:
            self.end(f"br label %{again}")
        self.assigned = before

    def for_range(self, node: ast.For) -> None:
        """Write a loop over a range; the counter is separate from the variable, to which the body may assign."""
        match node.iter, node.target:
            case (
                ast.Call(func=ast.Name(id=("range" | "apart") as kind), args=[*bounds], keywords=[]),
                ast.Name(id=name),
            ) if bounds:
                pass
            case _:
                self.refuse(node, "a loop goes over a range")
        limits = [self.integer(bound) for bound in bounds]
        start, stop = (Value(INT, "0"), limits[0]) if len(limits) == 1 else (limits[0], limits[1])
        step = 1 if len(limits) < 3 else self.constant_step(bounds[2])
        if step == 1:
            start = vectorize(self, node, name, start, stop, kind == "apart")
        head, body, again, after = self.label(), self.label(), self.label(), self.label()
        source, counter, following = self.block, f"%{head}.i", f"%{head}.next"
        self.end(f"br label %{head}")
        self.begin(head)
        self.text.append(f"  {counter} = phi i64 [ {start.text}, %{source} ], [ {following}, %{again} ]")
        more = self.put(f"icmp {'slt' if step > 0 else 'sgt'} i64 {counter}, {stop.text}")
        self.branch(Value(TRUTH, more), body, after)
        before = set(self.assigned)
        self.begin(body)
        self.store(node, name, Value(INT, counter))
        inner = self.label()
        self.end(f"br label %{inner}")
        self.loop_body(node.body, inner, again, after)
        self.begin(again)
        self.text.append(f"  {following} = add nsw i64 {counter}, {step}")
        self.end(f"br label %{head}")
        self.begin(after)
        self.assigned = before

    def constant_step(self, node: ast.expr) -> int:
        """The step of a range, which must be a literal."""
        try:
            step = ast.literal_eval(node)
        except ValueError:
            step = 0
        if not isinstance(step, int) or step == 0:
            self.refuse(node, "the step of a range must be a literal number other than 0")
        return step

    def write_return(self, node: ast.Return) -> None:
        """Write a ``return``."""
        if node.value is None or self.result == NOTHING:
            if node.value is not None or self.result != NOTHING:
                self.refuse(node, f"must return {self.result.words}")
            self.end("ret void")
        else:
            value = self.convert(node, self.value(node.value), self.result, "the result")
            self.end(f"ret {value.typed}")

    def call_function(self, node: ast.Call, function: FunctionType, values: list[Value]) -> Value:
        callee = self.module.find(function)
        if len(values) != len(callee.parameters):
            self.refuse(node, f"'{function.__name__}' takes {len(callee.parameters)} arguments, not {len(values)}")
        arguments = [
            self.convert(node, value, kind, f"argument '{name}' of '{function.__name__}'").typed
            for value, (name, kind) in zip(values, callee.parameters, strict=True)
        ]
        text = f"call {callee.result.llvm} @{callee.symbol}({', '.join(arguments)})"
        if callee.result == NOTHING:
            self.text.append(f"  {text}")
            return Value(NOTHING, "")
        return Value(callee.result, self.put(text))
