"""From loops in plain Python to LLVM text: the integrators, which go round a kernel without coming back to Python.

Why our own: numba took 5 to 7 s for the loop with step control, at each upgrade of either package and on each new
machine, and 0.9 s to be imported; this takes 0.02 s, and LLVM 0.1 s (two cores at 2 GHz, 2026). What the loops need
is little, and all types are known from annotations. A compiler of typed Python that starts in some 0.1 s and keeps the
bits of Python would make this module, expression_translator.py and vectorizer.py obsolete.

The language, a part of Python:

- functions of ``int`` (64 bits), ``float``, ``bool``, `Floats`, `Ints` and records (`Struct`), annotated, that may call
  each other;
- assignments, also of several at a time and in place, ``if``, ``while``, ``for`` over ``range``, ``break``,
  ``continue``, ``return``; a variable keeps its type and is set before it is read, on every way;
- arithmetic, comparisons, ``and``, ``or``, ``not``, ``a if c else b``; ``min max abs int float``, functions of `math`,
  those of kinode.jit.pointers; numbers of the module and of enclosing functions, which count as constants, and
  functions of either.

Whatever else is met is refused with its file and line. Results are those of Python to the last bit, save that
nothing raises: integers wrap around at 64 bits and give 0 when divided by zero, real numbers follow IEEE 754.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Mapping, Sequence
from functools import cache as remember
from types import FunctionType
from typing import Any

from kinode.jit.expression_translator import LIBRARY, ExpressionTranslator, TranslationError
from kinode.jit.loop_kinds import INT, NOTHING, TRUTH, Kind, Value, find_kind
from kinode.jit.vectorizer import by_fours

LONG = 20  # instructions
DECLARATIONS = """\
declare double @pow(double, double) nounwind
declare double @llvm.floor.f64(double)
declare <4 x double> @llvm.fabs.v4f64(<4 x double>)
declare i64 @llvm.fptosi.sat.i64.f64(double)
"""


@remember
def _tree(file: str) -> ast.Module:
    lines = linecache.getlines(file)
    if not lines:
        raise TranslationError(f"{file}: the source of this file is needed to compile its loops and cannot be read")
    return ast.parse("".join(lines), file)


def _definition(function: FunctionType) -> ast.FunctionDef:
    """The syntax tree of a function."""
    code = function.__code__
    for node in ast.walk(_tree(code.co_filename)):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    raise TranslationError(f"{code.co_filename}:{code.co_firstlineno}: no function '{code.co_name}' there")


def translate(function: Callable[..., Any], name: str) -> str:
    """LLVM text of a function, seen from outside under that name, and of all that it calls."""
    return translate_together({name: function})


def translate_together(functions: Mapping[str, Callable[..., Any]]) -> str:
    """LLVM text of several functions, seen from outside under their names; what they call is written once."""
    module = _Module()
    for name, function in functions.items():
        if not isinstance(function, FunctionType):
            raise TranslationError(f"{function!r} is not written in Python")
        module.find(function, name)
    parts = [DECLARATIONS]
    parts += [f"declare double @{there}(double) nounwind" for there in dict.fromkeys(LIBRARY.values())]
    while module.waiting:
        module.waiting.pop().write()
    return "\n".join([*parts, *(each.definition() for each in module.found.values())])


class _Module:
    """The functions met so far, and those that are still to be written."""

    def __init__(self) -> None:
        self.found: dict[FunctionType, _Function] = {}
        self.waiting: list[_Function] = []

    def find(self, function: FunctionType, name: str | None = None) -> _Function:
        """The function, under a name of its own where none is given."""
        made = self.found.get(function)
        if made is None:
            inner = f"{function.__name__}.{len(self.found)}"
            made = self.found[function] = _Function(self, function, name or inner, name is not None)
            self.waiting.append(made)
        return made


class _Function(ExpressionTranslator):
    """One function under way: its statements, and what others see of it."""

    def __init__(self, module: _Module, function: FunctionType, symbol: str, public: bool) -> None:
        super().__init__(function, _definition(function))
        self.module, self.symbol, self.public = module, symbol, public
        self.loops: list[tuple[str, str]] = []
        self.left: set[str] = set()
        arguments = self.node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults or arguments.posonlyargs:
            self.refuse(self.node, "arguments must be plain: no defaults, no keywords, no stars")
        self.parameters = [
            (argument.arg, self.annotation(argument, argument.annotation)) for argument in arguments.args
        ]
        self.result = self.annotation(self.node, self.node.returns)

    def annotation(self, place: ast.AST, node: ast.expr | None) -> Kind:
        """The kind that an annotation names."""
        if node is None:
            name = f"argument '{place.arg}'" if isinstance(place, ast.arg) else "what is returned"
            self.refuse(place, f"{name} has no annotation")
        meant = None if isinstance(node, ast.Constant) and node.value is None else self.static(node)
        kind = find_kind(meant)
        if kind is None:
            known = "int, float, bool, Floats, Ints, a Struct, None"
            self.refuse(node, f"'{ast.unparse(node)}' is no type of a loop: {known}")
        return kind

    def write(self) -> None:
        """Write the instructions."""
        for name, kind in self.parameters:
            self.store(self.node, name, Value(kind, f"%{name}"))
        self.statements(self.node.body)
        if self.open:
            if self.result != NOTHING:
                self.refuse(self.node, f"there is a way to its end without returning {self.result.words}")
            self.end("ret void")

    def definition(self) -> str:
        """The text of the whole function; what is short is compiled into its callers."""
        parameters = ", ".join(f"{kind.llvm} %{name}" for name, kind in self.parameters)
        slots = [f"  %{name}.at = alloca {kind.llvm}" for name, kind in self.kinds.items()]
        linkage = "" if self.public else "internal "
        place = "noinline" if len(self.text) > LONG or self.public else "alwaysinline"
        head = f"define {linkage}{self.result.llvm} @{self.symbol}({parameters}) {place} nounwind {{\nentry:"
        return "\n".join([head, *slots, *self.text, "}\n"])

    def store(self, node: ast.AST, name: str, value: Value) -> None:
        """Set a variable; the first value decides on its kind."""
        if value.kind == NOTHING:
            self.refuse(node, f"'{name}' would be nothing")
        kind = self.kinds.setdefault(name, value.kind)
        value = self.convert(node, value, kind, f"'{name}'")
        self.text.append(f"  store {value.typed}, ptr %{name}.at")
        self.sure.add(name)

    # Statements

    def statements(self, nodes: Sequence[ast.stmt]) -> None:
        """One after the other, as far as there is a way."""
        for node in nodes:
            if self.open:
                self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                pass
            case ast.Expr(value=ast.Call() as made):
                self.value(made)
            case ast.Assign(targets=[target]):
                self.assign(target, node.value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as source):
                kind = self.annotation(node, node.annotation)
                self.store(node, name, self.convert(node, self.value(source), kind, f"'{name}'"))
            case ast.AugAssign():
                self.update(node)
            case ast.If():
                self.choose(node)
            case ast.While(orelse=[]):
                self.repeat(node)
            case ast.For(orelse=[], target=ast.Name()):
                self.count_through(node)
            case ast.Break() | ast.Continue():
                goal = self.loops[-1][isinstance(node, ast.Break)]
                self.left.add(goal)
                self.end(f"br label %{goal}")
            case ast.Return():
                self.give(node)
            case _:
                self.refuse(node, f"'{ast.unparse(node).splitlines()[0]}' is not part of the language of loops")

    def assign(self, target: ast.expr, source: ast.expr) -> None:
        """Of one variable or entry, or of several once all values are known."""
        if isinstance(target, ast.Tuple):
            if not isinstance(source, ast.Tuple) or len(source.elts) != len(target.elts):
                self.refuse(target, "as many values as targets must be written out")
            pairs = list(zip(target.elts, [self.value(each) for each in source.elts], strict=True))
        else:
            pairs = [(target, self.value(source))]
        for place, value in pairs:
            match place:
                case ast.Name(id=name):
                    self.store(place, name, value)
                case ast.Subscript() | ast.Attribute():
                    kind, address = self.target(place)
                    value = self.convert(place, value, kind, f"'{ast.unparse(place)}'")
                    self.text.append(f"  store {value.typed}, ptr {address}, align 8")
                case _:
                    self.refuse(place, f"'{ast.unparse(place)}' cannot be assigned to")

    def target(self, place: ast.Subscript | ast.Attribute) -> tuple[Kind, str]:
        """Kind and address of an entry of a row, or of a field, that is assigned to."""
        if isinstance(place, ast.Subscript):
            return self.entry(place)
        if not self.is_field(place):
            self.refuse(place, f"'{ast.unparse(place)}' cannot be assigned to")
        kind, address = self.field(place)
        if kind.record is not None:
            self.refuse(place, f"'{ast.unparse(place)}' is {kind.words}: its fields are assigned to one by one")
        return kind, address

    def update(self, node: ast.AugAssign) -> None:
        match node.target:
            case ast.Name(id=name):
                made = self.operation(node, node.op, self.variable(node.target), self.value(node.value))
                self.store(node, name, made)
            case (ast.Subscript() | ast.Attribute()) as place:
                kind, address = self.target(place)
                made = self.operation(node, node.op, self.load(kind, address), self.value(node.value))
                made = self.convert(node, made, kind, f"'{ast.unparse(place)}'")
                self.text.append(f"  store {made.typed}, ptr {address}, align 8")
            case other:
                self.refuse(node, f"'{ast.unparse(other)}' cannot be assigned to")

    def choose(self, node: ast.If) -> None:
        yes, no, after = self.label(), self.label(), self.label()
        self.branch(self.truth(node.test), yes, no)
        before, ends = set(self.sure), []
        for label, body in ((yes, node.body), (no, node.orelse)):
            self.begin(label)
            self.sure = set(before)
            self.statements(body)
            if self.open:
                ends.append(self.sure)
                self.end(f"br label %{after}")
        self.sure = set.intersection(*ends) if ends else before
        if ends:
            self.begin(after)

    def repeat(self, node: ast.While) -> None:
        head, body, after = self.label(), self.label(), self.label()
        forever = isinstance(node.test, ast.Constant) and node.test.value is True
        self.end(f"br label %{head}")
        self.begin(head)
        if forever:
            self.end(f"br label %{body}")
        else:
            self.branch(self.truth(node.test), body, after)
        self.around(node.body, body, head, after)
        if not forever or after in self.left:
            self.begin(after)

    def around(self, nodes: Sequence[ast.stmt], body: str, again: str, after: str) -> None:
        """The body of a loop; what it sets is not sure afterwards."""
        before = set(self.sure)
        self.begin(body)
        self.loops.append((again, after))
        self.statements(nodes)
        self.loops.pop()
        if self.open:
            self.end(f"br label %{again}")
        self.sure = before

    def count_through(self, node: ast.For) -> None:
        """A loop over a range, whose ends are found once; the counter is not the variable, which the body may set."""
        match node.iter, node.target:
            case ast.Call(func=ast.Name(id="range"), args=[*given], keywords=[]), ast.Name(id=name) if given:
                pass
            case _:
                self.refuse(node, "a loop goes over a range")
        ends = [self.integer(each) for each in given]
        start, stop = (Value(INT, "0"), ends[0]) if len(ends) == 1 else (ends[0], ends[1])
        step = 1 if len(ends) < 3 else self.constant_step(given[2])
        if step == 1:
            start = by_fours(self, node, name, start, stop)
        head, body, again, after = self.label(), self.label(), self.label(), self.label()
        source, counter, following = self.block, f"%{head}.i", f"%{head}.next"
        self.end(f"br label %{head}")
        self.begin(head)
        self.text.append(f"  {counter} = phi i64 [ {start.text}, %{source} ], [ {following}, %{again} ]")
        more = self.put(f"icmp {'slt' if step > 0 else 'sgt'} i64 {counter}, {stop.text}")
        self.branch(Value(TRUTH, more), body, after)
        before = set(self.sure)
        self.begin(body)
        self.store(node, name, Value(INT, counter))
        inner = self.label()
        self.end(f"br label %{inner}")
        self.around(node.body, inner, again, after)
        self.begin(again)
        self.text.append(f"  {following} = add nsw i64 {counter}, {step}")
        self.end(f"br label %{head}")
        self.begin(after)
        self.sure = before

    def constant_step(self, node: ast.expr) -> int:
        try:
            step = ast.literal_eval(node)
        except ValueError:
            step = 0
        if not isinstance(step, int) or step == 0:
            self.refuse(node, "the step of a range is written as a number other than 0")
        return step

    def give(self, node: ast.Return) -> None:
        if node.value is None or self.result == NOTHING:
            if node.value is not None or self.result != NOTHING:
                self.refuse(node, f"must return {self.result.words}")
            self.end("ret void")
        else:
            value = self.convert(node, self.value(node.value), self.result, "what is returned")
            self.end(f"ret {value.typed}")

    def call_ours(self, node: ast.Call, meant: FunctionType, values: list[Value]) -> Value:
        there = self.module.find(meant)
        if len(values) != len(there.parameters):
            self.refuse(node, f"'{meant.__name__}' takes {len(there.parameters)} arguments, not {len(values)}")
        given = [
            self.convert(node, value, kind, f"argument '{name}' of '{meant.__name__}'").typed
            for value, (name, kind) in zip(values, there.parameters, strict=True)
        ]
        text = f"call {there.result.llvm} @{there.symbol}({', '.join(given)})"
        if there.result == NOTHING:
            self.text.append(f"  {text}")
            return Value(NOTHING, "")
        return Value(there.result, self.put(text))
