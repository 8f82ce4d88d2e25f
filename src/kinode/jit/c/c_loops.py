"""Writes loops in plain Python as C99: the integrators, from the same syntax trees as ``jit/loop/translator.py``.

No integrator is written by hand in C.  Records become structures with the same fields; a kernel is called by its
number, which stands where its address stands in machine code.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType

from kinode.jit.c.c_expressions import CExpressions, CValue
from kinode.jit.c.c_numbers import HelperNames, bare, identifier
from kinode.jit.loop.memory import Struct, field_types
from kinode.jit.loop.syntax import FLOATS, INT, INTS, NOTHING, REAL, TRUTH, Kind, TranslationError, find_kind
from kinode.jit.loop.translator import find_definition

TYPES = {INT: "int64_t", REAL: "double", TRUTH: "int", FLOATS: "double *", NOTHING: "void"}


class CLoopWriter:
    """Writes functions of the loop language with a prefix; those that they call are written with them, before them.

    ``helpers`` are the helper functions that they call, ``records`` their structures, each after those within it.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.helpers = HelperNames(prefix)
        self.records: dict[type[Struct], str] = {}
        self.functions: dict[FunctionType, _CFunction] = {}
        self.texts: list[str] = []
        self._names: set[str] = set()

    def find(self, function: object) -> _CFunction:
        """The translation of a function."""
        if not isinstance(function, FunctionType):
            raise TranslationError(f"{function!r} is not written in Python")
        known = self.functions.get(function)
        if known is None:
            name, k = identifier(function.__name__.strip("_")), 1
            while f"{self.prefix}_{name}" in self._names:
                name, k = f"{identifier(function.__name__.strip('_'))}_{k + 1}", k + 1
            self._names.add(f"{self.prefix}_{name}")
            known = self.functions[function] = _CFunction(self, function, f"{self.prefix}_{name}")
            self.texts.append(known.write())
        return known

    def name_of(self, function: object) -> str:
        """The name of a translated function in C."""
        return self.find(function).symbol

    def record(self, cls: type[Struct]) -> str:
        """The name of the structure of a record."""
        if cls not in self.records:
            for hint in field_types(cls).values():
                kind = find_kind(hint)
                if kind is not None and kind.record is not None:
                    self.record(kind.record)
            self.records[cls] = f"{self.prefix}_{_snake(cls.__name__)}"
        return self.records[cls]

    def type_text(self, kind: Kind) -> str:
        """A type in C."""
        if kind.record is not None:
            return f"{self.record(kind.record)} *"
        return f"{self.prefix}_int *" if kind == INTS else TYPES[kind]

    def structures(self) -> str:
        """The definitions of all structures."""
        parts = []
        for cls, name in self.records.items():
            fields = []
            for field, hint in field_types(cls).items():
                kind = find_kind(hint)
                assert kind is not None
                text = self.record(kind.record) + " " if kind.record is not None else self.type_text(kind) + " "
                fields.append(f"    {text.replace('* ', '*')}{identifier(field)};")
            parts.append("\n".join([f"typedef struct {name} {{", *fields, f"}} {name};\n"]))
        return "\n".join(parts)


def _snake(name: str) -> str:
    return "".join(f"_{x.lower()}" if x.isupper() and k else x.lower() for k, x in enumerate(name))


class _CFunction(CExpressions):
    """One function: its statements and signature."""

    def __init__(self, writer: CLoopWriter, function: FunctionType, symbol: str) -> None:
        super().__init__(function, find_definition(function))
        self.writer, self.symbol = writer, symbol
        self.parameters = [(x.arg, self.annotation(x, x.annotation)) for x in self.node.args.args]
        self.result = self.annotation(self.node, self.node.returns)
        self.read = {x.id for x in ast.walk(self.node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)}

    def annotation(self, owner: ast.AST, node: ast.expr | None) -> Kind:
        """The data type that an annotation names."""
        annotated = None if node is None or isinstance(node, ast.Constant) else self.static(node)
        kind = find_kind(annotated)
        if kind is None:
            self.refuse(owner, "no type of a loop")
        return kind

    def type_text(self, kind: Kind) -> str:
        return self.writer.type_text(kind)

    def helper(self, name: str) -> str:
        return self.writer.helpers[name]

    def head(self) -> str:
        """The signature."""
        parameters = ", ".join(_declare(self.type_text(kind), identifier(name)) for name, kind in self.parameters)
        return f"static {_declare(self.type_text(self.result), self.symbol)}({parameters or 'void'})"

    def write(self) -> str:
        """The text of the function."""
        for name, kind in self.parameters:
            self.kinds[name] = kind
        self.statements(self.node.body)
        own = {name for name, _ in self.parameters}
        body = [f"    (void){identifier(name)};" for name, _ in self.parameters if name not in self.read]
        for name, kind in self.kinds.items():
            if name not in own:
                zero = "0.0" if kind == REAL else "0"
                body.append(f"    {_declare(self.type_text(kind), identifier(name))} = {zero};")
                if name not in self.read:
                    body.append(f"    (void){identifier(name)};")
        return "\n".join([self.head(), "{", *body, *self.lines, "}\n"])

    # Statements

    def block(self, nodes: Sequence[ast.stmt]) -> None:
        """Statements within braces."""
        self.indent += "    "
        self.statements(nodes)
        self.indent = self.indent[:-4]

    def statements(self, nodes: Sequence[ast.stmt]) -> None:
        """Statements one after the other, up to the first that leaves the block."""
        for node in nodes:
            self.statement(node)
            if isinstance(node, ast.Return | ast.Break | ast.Continue):
                return

    def evaluate(self, node: ast.Call) -> None:
        value = self.value(node)
        self.put(f"{'' if value.kind == NOTHING else '(void)'}{value.text};")

    def leave_loop(self, node: ast.Break | ast.Continue) -> None:
        self.put("break;" if isinstance(node, ast.Break) else "continue;")

    def write_return(self, node: ast.Return) -> None:
        if node.value is None:
            self.put("return;")
        else:
            self.put(f"return {self.convert(node, self.value(node.value), self.result, 'the result').text};")

    def store(self, node: ast.AST, name: str, value: CValue) -> None:
        """Set a variable; its first value decides its type."""
        kind = self.kinds.setdefault(name, value.kind)
        self.put(f"{identifier(name)} = {self.convert(node, value, kind, repr(name)).text};")

    def assign(self, target: ast.expr, source: ast.expr) -> None:
        """Assign to a variable, an entry or a field; to several after all values are computed."""
        if not isinstance(target, ast.Tuple):
            self.set(target, self.value(source))
            return
        if not isinstance(source, ast.Tuple) or len(source.elts) != len(target.elts):
            self.refuse(target, "as many values as targets must be written")
        dependent = not all(isinstance(x, ast.Name) for x in target.elts)
        for k, part in enumerate(source.elts):
            before = {x.id for x in target.elts[:k] if isinstance(x, ast.Name)}
            inner = list(ast.walk(part))
            dependent = dependent or any(isinstance(x, ast.Call) for x in inner)
            dependent = dependent or any(isinstance(x, ast.Name) and x.id in before for x in inner)
        values = []
        for part in source.elts:
            value = self.value(part)
            values.append(self.hoist(value) if dependent and not value.text.isdigit() else value)
        for destination, value in zip(target.elts, values, strict=True):
            self.set(destination, value)

    def set(self, destination: ast.expr, value: CValue) -> None:
        """Assign a value to one target."""
        match destination:
            case ast.Name(id=name):
                self.store(destination, name, value)
            case ast.Subscript() | ast.Attribute():
                self.pure = False
                place = self.value(destination)
                if value.calls and place.text.count("[") > 0:
                    value = self.hoist(value)
                value = self.convert(destination, value, place.kind, f"'{ast.unparse(destination)}'")
                self.put(f"{place.text} = {value.text};")
            case _:
                self.refuse(destination, f"'{ast.unparse(destination)}' cannot be assigned to")

    def update(self, node: ast.AugAssign) -> None:
        """An assignment in place, such as ``x += 1``."""
        self.pure = self.pure and isinstance(node.target, ast.Name)
        place = self.value(node.target)
        value = self.value(node.value)
        if value.calls:
            self.refuse(node, "an assignment in place calls no functions")
        result = self.convert(node, self.operation(node, node.op, place, value), place.kind, "the target")
        self.put(f"{place.text} = {result.text};")

    def choose(self, node: ast.If) -> None:
        """An ``if``; where a truth value of an enclosing function decides, only the branch that it chooses."""
        test = node.test
        parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
        first = parts[0]
        chosen = self.static(first) if isinstance(first, ast.Name) and first.id in self.constants else None
        if isinstance(chosen, bool) and (not chosen or len(parts) == 1):
            self.statements(node.body if chosen else node.orelse)
            return
        self.put(f"if ({bare(self.truth(test).text)}) {{")
        self.block(node.body)
        if node.orelse:
            self.put("} else {")
            self.block(node.orelse)
        self.put("}")

    def repeat(self, node: ast.While) -> None:
        """A ``while``; its condition is evaluated in place."""
        forever = isinstance(node.test, ast.Constant) and node.test.value is True
        self.conditional += 1
        test = "" if forever else bare(self.truth(node.test).text)
        self.conditional -= 1
        self.put("for (;;) {" if forever else f"while ({test}) {{")
        self.block(node.body)
        self.put("}")

    def for_range(self, node: ast.For) -> None:
        """A loop over a range; the counter is separate from the variable, to which the body may assign."""
        match node.iter, node.target:
            case (
                ast.Call(func=ast.Name(id="range" | "apart"), args=[*bounds], keywords=[]),
                ast.Name(id=name),
            ) if bounds:
                pass
            case _:
                self.refuse(node, "a loop goes over a range")
        limits = [self.value(bound) for bound in bounds]
        step = 1 if len(limits) < 3 else int(ast.literal_eval(bounds[2]))
        start, stop = ("0", limits[0].text) if len(limits) == 1 else (limits[0].text, limits[1].text)
        self.count += 1
        i, end = f"i{self.count}", f"end{self.count}"
        self.kinds.setdefault(name, INT)
        more, by = (f"{i} < {end}", f"{i} += {step}") if step > 0 else (f"{i} > {end}", f"{i} -= {-step}")
        by = f"++{i}" if step == 1 else f"--{i}" if step == -1 else by
        self.put(f"for (int64_t {i} = {start}, {end} = {stop}; {more}; {by}) {{")
        self.indent += "    "
        self.put(f"{identifier(name)} = {i};")
        self.statements(node.body)
        self.indent = self.indent[:-4]
        self.put("}")

    def call_function(self, node: ast.Call, function: FunctionType, values: list[CValue]) -> CValue:
        callee = self.writer.find(function)
        if len(values) != len(callee.parameters):
            self.refuse(node, f"'{function.__name__}' takes {len(callee.parameters)} arguments, not {len(values)}")
        texts = [
            self.convert(node, value, kind, f"argument '{name}'").text
            for value, (name, kind) in zip(values, callee.parameters, strict=True)
        ]
        self.pure = self.pure and callee.pure
        return CValue(callee.result, f"{callee.symbol}({', '.join(texts)})", not callee.pure, True)


def _declare(kind: str, name: str) -> str:
    """A type with a name."""
    return f"{kind}{'' if kind.endswith('*') else ' '}{name}"
