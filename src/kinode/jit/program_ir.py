"""From a program to LLVM text, for any number of lanes.

One writer serves one lane (``double``) and several (``<4 x double>``); every array of the caller is then
lane-interleaved, while constant tables are shared by the lanes.  Only the flag ``contract`` is set: a
product and a sum may become one FMA, and NaN and infinity mean what IEEE 754 says.  There is no
optimizer behind this text, so what is not needed is not written: dead operations, unused views, tables
of offsets that are an arithmetic progression.  Why the text is our own: see ``ir_text.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kinode.algebra.trace import Traced, needed
from kinode.jit import shared_routines
from kinode.jit.ir_text import IrText, number, vector_type
from kinode.jit.program import ARGUMENTS, Block, Program, Store

LIBRARY = dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log"), 1)
LIBRARY |= {"atan2": 2, "pow": 2}
SHARED = {"sin": "sincos", "cos": "sincos", "exp": "exp"}  # functions of our own, by name in shared_routines.py
CALLS = frozenset({*LIBRARY, "interval", "fetch"})
BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul"}
COMPARE = {"less": "olt", "less_equal": "ole", "equal": "oeq"}
PIECE = 500  # operations in a row, beyond which the code generator's time grows faster than they do
STACK_LIMIT = 16384  # bytes of scratch that the batch driver takes from the stack


def write(program: Program, lanes: int, pack: int = 1) -> str:
    """LLVM text of the kernel ``program.name`` and of its batch driver ``<name>_batch``.

    With one lane, sines, cosines and exponentials that depend on no other function are computed ``pack`` at a time, as
    one vector, or twice as many where there are more.
    """
    writer = _Writer(program, lanes, pack if lanes == 1 else 1)
    line = writer.line
    shared = shared_routines.names(lanes)
    parts = [writer.kernel(), _batch(program, lanes), *writer.tables]
    for count in sorted({lanes, *writer.packs}):
        kind, own = vector_type(count), shared_routines.names(count)
        parts.append(f"declare {{ {kind}, {kind} }} @{own.sincos}({kind}) nounwind")
        parts.append(f"declare {kind} @{own.exp}({kind}) nounwind")
    parts.append(f"declare double @{shared.interval}(ptr, i64, double) nounwind")
    parts.append(f"declare double @{shared.fetch}(ptr, i64, double) nounwind")
    parts.append(f"declare void @{shared.batch}(i64, i64, ptr, ptr, ptr, ptr, ptr, ptr) nounwind")
    for name, count in LIBRARY.items():
        parts.append(f"declare double @{name}({', '.join(['double'] * count)}) nounwind")
    parts += [f"declare {line.type} @llvm.{name}.{line.suffix}({line.type})" for name in ("sqrt", "floor", "fabs")]
    parts.append("!1 = !{}")
    return "\n".join(parts) + "\n"


def batch_work(sizes: Mapping[str, int], lanes: int) -> int:
    """How many doubles the batch driver wants in its ``work``: the kernel's, and scratch too big for the stack."""
    scratch = _scratch_size(sizes, lanes)
    return sizes["work"] * lanes + (scratch if scratch * 8 > STACK_LIMIT else 0)


def _scratch_size(sizes: Mapping[str, int], lanes: int) -> int:
    return 0 if lanes == 1 else lanes * sum(sizes[name] for name in ARGUMENTS if name != "work")


class _Writer:
    """State while one kernel is written: the lines so far, and the tables met on the way."""

    def __init__(self, program: Program, lanes: int, pack: int) -> None:
        self.program = program
        self.lanes = lanes
        self.packs: tuple[int, ...] = (pack, 2 * pack) if pack > 1 else ()
        self.line = IrText(lanes)
        self.tables: list[str] = []
        self.table_names: dict[Any, str] = {}
        self.label, self.pieces = "%entry", 0
        self.written = {block.view(view)[0] for block in program.blocks for case in block.cases for view, _, _ in case}

    def kernel(self) -> str:
        """The function itself."""
        for name, table in self.program.constants.items():
            self.table_names[name] = self.add_table("double", map(number, np.asarray(table, dtype=float).tolist()))
        for index, block in enumerate(self.program.blocks):
            if block.count == 1:
                case = 0 if block.case_of is None else int(block.case_of[0])
                views = block.views.items()
                bases = {name: (array, "", 0 if at is None else int(at[0])) for name, (array, at) in views}
                _Case(self, bases).write(block.cases[case], PIECE)
            elif block.count > 1:
                self.loop(index, block)
        arguments = ", ".join(self.argument(name) for name in ARGUMENTS)
        body = "\n".join(self.line.text)
        return f"define void @{self.program.name}({arguments}) nounwind {{\nentry:\n{body}\n  ret void\n}}\n"

    def begin_piece(self) -> None:
        """Go on in another basic block."""
        self.pieces += 1
        self.label = f"%piece{self.pieces}"
        self.line.text.append(f"  br label {self.label}\n{self.label[1:]}:")

    def argument(self, name: str) -> str:
        access = "" if name in self.written else "readonly "
        return f"ptr noalias nocapture {access}%{name}"

    def add_table(self, kind: str, entries: Iterable[str], key: Any = None) -> str:
        """A constant global table; with a key, the same one when it comes again."""
        if key is not None and key in self.table_names:
            return self.table_names[key]
        name = f"@table{len(self.tables)}"
        texts = [f"{kind} {entry}" for entry in entries]
        self.tables.append(f"{name} = internal constant [{len(texts)} x {kind}] [{', '.join(texts)}], align 64")
        if key is not None:
            self.table_names[key] = name
        return name

    def scale(self, array: str) -> int:
        """Distance of neighboring entries of an array, in doubles."""
        return 1 if array in self.program.constants else self.lanes

    def base(self, array: str) -> str:
        """Address of an array."""
        if array in self.program.constants:
            return self.table_names[array]
        if array not in ARGUMENTS:
            raise KeyError(f"program {self.program.name!r} has no array {array!r}")
        return f"%{array}"

    def loop(self, index: int, block: Block) -> None:
        """A loop over the iterations, with a switch where there are several cases."""
        line, text = self.line, self.line.text
        counter, following = f"%i{index}", f"%next{index}"
        text.append(f"  br label %loop{index}\nloop{index}:")
        text.append(f"  {counter} = phi i64 [ 0, {self.label} ], [ {following}, %latch{index} ]")
        used = _views_used(block)
        bases = {name: self.offset_base(counter, *view) for name, view in block.views.items() if name in used}
        case_of = np.zeros(block.count, dtype=int) if block.case_of is None else np.asarray(block.case_of)
        taken = sorted({int(case) for case in case_of})
        if len(taken) > 1:
            table = self.add_table("i32", map(str, case_of.tolist()))
            place = line.put(f"getelementptr inbounds i32, ptr {table}, i64 {counter}")
            case_now = line.put(f"load i32, ptr {place}, align 4, !invariant.load !1")
            targets = " ".join(f"i32 {case}, label %case{index}_{case}" for case in taken[1:])
            text.append(f"  switch i32 {case_now}, label %case{index}_{taken[0]} [ {targets} ]")
        for case in taken:
            if len(taken) > 1:
                text.append(f"case{index}_{case}:")
            _Case(self, bases).write(block.cases[case])
            text.append(f"  br label %latch{index}")
        text.append(f"latch{index}:\n  {following} = add nuw nsw i64 {counter}, 1")
        more = line.put(f"icmp slt i64 {following}, {block.count}")
        text.append(f"  br i1 {more}, label %loop{index}, label %after{index}\nafter{index}:")
        self.label = f"%after{index}"

    def offset_base(self, counter: str, array: str, offsets: np.ndarray | None) -> tuple[str, str, int]:
        """Array, address in this iteration, and a constant offset that comes on top."""
        if offsets is None:
            return array, "", 0
        line = self.line
        offsets = np.asarray(offsets, dtype=np.int64)
        steps = np.diff(offsets)
        if not steps.any():
            return array, "", int(offsets[0])
        if (steps == steps[0]).all():
            shift = line.put(f"mul nsw i64 {counter}, {int(steps[0]) * self.scale(array)}")
            return array, line.put(f"getelementptr double, ptr {self.base(array)}, i64 {shift}"), int(offsets[0])
        scaled = offsets * self.scale(array)
        table = self.add_table("i64", map(str, scaled.tolist()), ("offsets", scaled.tobytes()))
        place = line.put(f"getelementptr inbounds i64, ptr {table}, i64 {counter}")
        shift = line.put(f"load i64, ptr {place}, align 8, !invariant.load !1")
        return array, line.put(f"getelementptr double, ptr {self.base(array)}, i64 {shift}"), 0


def _views_used(block: Block) -> set[str]:
    names = set()
    for stores in block.cases:
        names |= {view for view, _, _ in stores}
        names |= {node.args[0] for node in needed(value for _, _, value in stores) if node.op == "input"}
    return names


class _Case:
    """The operations of one case of one block."""

    def __init__(self, writer: _Writer, bases: Mapping[str, tuple[str, str, int]]) -> None:
        self.writer = writer
        self.line = writer.line
        self.bases = bases
        self.values: dict[int, str] = {}
        self.conditions: dict[int, str] = {}
        self.called: dict[tuple[str, str], list[str]] = {}

    def write(self, stores: Iterable[Store], piece: int | None = None) -> None:
        """All loads and operations, then all stores; long rows of operations in pieces."""
        stores = list(stores)
        nodes = needed(value for _, _, value in stores)
        if self.writer.packs:
            self.call_together(nodes)
        for k, node in enumerate(nodes):
            if node.op != "input" and node.index not in self.values:
                self.values[node.index] = self.operation(node)
            if piece is not None and k % piece == piece - 1:
                self.writer.begin_piece()
        results = [self.operand(value) for _, _, value in stores]
        for (view, position, _), result in zip(stores, results, strict=True):
            array, place = self.address(view, position)
            if array in self.writer.program.constants:
                raise ValueError(f"program {self.writer.program.name!r} stores into the constant {array!r}")
            self.line.text.append(f"  store {self.line.type} {result}, ptr {place}, align 8")

    def address(self, view: str, position: int) -> tuple[str, str]:
        array, base, offset = self.bases.get(view, (view, "", 0))
        base = base or self.writer.base(array)
        shift = (position + offset) * self.writer.scale(array)
        return array, self.line.put(f"getelementptr inbounds double, ptr {base}, i64 {shift}") if shift else base

    def operand(self, value: Any) -> str:
        """A value as an operand; an input is loaded where it is first used."""
        if type(value) is not Traced:
            return self.line.number(float(value))
        found = self.values.get(value.index)
        if found is None:
            found = self.values[value.index] = self.load(*value.args)
        return found

    def load(self, view: str, position: int) -> str:
        array, place = self.address(view, position)
        line = self.line
        invariant = "" if array in self.writer.written else ", !invariant.load !1"
        if array not in self.writer.program.constants or line.lanes == 1:
            return line.put(f"load {line.type}, ptr {place}, align 8{invariant}")
        entry = line.put(f"load double, ptr {place}, align 8{invariant}")
        entry = line.put(f"insertelement {line.type} undef, double {entry}, i32 0")
        mask = f"<{line.lanes} x i32> zeroinitializer"
        return line.put(f"shufflevector {line.type} {entry}, {line.type} undef, {mask}")

    def operation(self, node: Traced) -> str:
        """Write one operation; gives the name of its result."""
        op, line = node.op, self.line
        if op in ("interval", "fetch"):
            values = tuple(float(value) for value in node.args[0])
            table = self.writer.add_table("double", map(number, values), ("table", values))
            name = getattr(shared_routines.names(line.lanes), op)
            return line.each_lane(name, self.operand(node.args[1]), before=f"ptr {table}, i64 {len(values)}, ")
        if op == "where":
            return self.choose(*node.args)
        args = [self.operand(arg) for arg in node.args]
        if op in BINARY:
            return line.operation(BINARY[op], *args)
        if op in SHARED:
            return self.call(SHARED[op], args[0])[op == "cos"]
        if op in COMPARE:
            self.conditions[node.index] = self.compare(COMPARE[op], *args)
            return self.select(self.conditions[node.index], line.number(1.0), line.number(0.0))
        if op == "pow":
            return self.power(*args)
        if op in LIBRARY:
            return line.each_lane(op, *args)
        return self.simple(op, args)

    def simple(self, op: str, args: list[str]) -> str:
        line = self.line
        match op:
            case "neg":
                return line.put(f"fneg {line.type} {args[0]}")
            case "inv":
                return line.operation("fdiv", line.number(1.0), args[0])
            case "sqrt" | "floor":
                return line.call(op, args[0])
            case "abs":
                return line.call("fabs", args[0])
            case "min" | "max":
                return self.select(self.compare("olt" if op == "min" else "ogt", *args), *args)
            case "sign":
                zero, one = line.number(0.0), line.number(1.0)
                above = self.select(self.compare("ogt", args[0], zero), one, zero)
                below = self.select(self.compare("olt", args[0], zero), one, zero)
                return line.operation("fsub", above, below)
        raise ValueError(f"no machine code for the operation {op!r}")

    def compare(self, how: str, a: str, b: str) -> str:
        return self.line.put(f"fcmp {how} {self.line.type} {a}, {b}")

    def select(self, condition: str, yes: str, no: str) -> str:
        kind = vector_type(self.line.lanes, "i1")
        return self.line.put(f"select {kind} {condition}, {self.line.type} {yes}, {self.line.type} {no}")

    def choose(self, test: Any, yes: Any, no: Any) -> str:
        """One of two values.

        A comparison of single numbers that decides several times would become branches, and one of vectors never does.
        """
        line, values = self.line, (self.operand(yes), self.operand(no))
        if line.lanes != 1 or type(test) is not Traced or test.op not in COMPARE:
            return self.select(self.condition(test), *values)
        operands = (*(self.operand(arg) for arg in test.args), *values)
        wide = vector_type(2)
        a, b, yes, no = (line.put(f"insertelement {wide} undef, double {x}, i32 0") for x in operands)
        mask = line.put(f"fcmp {COMPARE[test.op]} {wide} {a}, {b}")
        found = line.put(f"select {vector_type(2, 'i1')} {mask}, {wide} {yes}, {wide} {no}")
        return line.put(f"extractelement {wide} {found}, i32 0")

    def condition(self, value: Any) -> str:
        """Whether a value is not zero, lane by lane; a comparison is used as it is."""
        found = self.conditions.get(value.index) if type(value) is Traced else None
        return found or self.compare("une", self.operand(value), self.line.number(0.0))

    def call(self, function: str, x: str) -> list[str]:
        """What a shared function gives; each is called once."""
        if (function, x) not in self.called:
            self.called[function, x] = self.results(function, self.line.lanes, x)
        return self.called[function, x]

    def results(self, function: str, lanes: int, x: str) -> list[str]:
        """The results of a shared function of so many lanes."""
        line, wide, name = self.line, vector_type(lanes), getattr(shared_routines.names(lanes), function)
        if function == "exp":
            return [line.put(f"call {wide} @{name}({wide} {x})")]
        kind = f"{{ {wide}, {wide} }}"
        pair = line.put(f"call {kind} @{name}({wide} {x})")
        return [line.put(f"extractvalue {kind} {pair}, {k}") for k in (0, 1)]

    def call_together(self, nodes: Iterable[Traced]) -> None:
        """Shared functions of what needs no other function, several at a time and before all else.

        No register holds anything then that a call could lose, and what they are functions of takes little.
        """
        early: set[int] = set()
        wanted: dict[str, dict[int, Traced]] = {function: {} for function in SHARED.values()}
        for node in nodes:
            operands = [arg for arg in node.args if type(arg) is Traced]
            if not all(arg.index in early for arg in operands):
                continue
            if node.op in SHARED:
                wanted[SHARED[node.op]] |= {arg.index: arg for arg in operands}
            elif node.op not in CALLS:
                early.add(node.index)
        for function, found in wanted.items():
            given, (narrow, wide) = list(found.values()), self.writer.packs
            while len(given) > 1:
                pack = wide if len(given) > narrow else narrow
                self.call_several(function, given[:pack], pack)
                given = given[pack:]

    def call_several(self, function: str, given: Sequence[Traced], pack: int) -> None:
        """A shared function of several values as one vector of so many lanes."""
        line = self.line
        for node in needed(given):
            if node.op != "input" and node.index not in self.values:
                self.values[node.index] = self.operation(node)
        wide, vector, operands = vector_type(pack), "zeroinitializer", [self.operand(node) for node in given]
        for i, operand in enumerate(operands):
            vector = line.put(f"insertelement {wide} {vector}, double {operand}, i32 {i}")
        vectors = self.results(function, pack, vector)
        for i, operand in enumerate(operands):
            self.called[function, operand] = [line.put(f"extractelement {wide} {x}, i32 {i}") for x in vectors]

    def power(self, base: str, exponent: str) -> str:
        """Power as Python has it: what overflows, or divides by zero, is plus infinity."""
        line = self.line
        result = line.each_lane("pow", base, exponent)
        low = self.compare("oeq", result, line.number(float("-inf")))
        corrected = self.select(low, line.number(float("inf")), result)
        own = self.compare("oeq", base, line.number(float("-inf")))
        return self.select(own, result, corrected)


def _batch(program: Program, lanes: int) -> str:
    """The batch driver: the shared one, given this kernel, its sizes and scratch for the rows in lanes."""
    name, sizes = program.name, program.sizes
    scratch = _scratch_size(sizes, lanes)
    place = f"alloca [{max(scratch, 1)} x double], align 64"
    if scratch * 8 > STACK_LIMIT:
        place = f"getelementptr double, ptr %work, i64 {sizes['work'] * lanes}"
    table = ", ".join(f"i64 {sizes[argument]}" for argument in ARGUMENTS)
    operands = f"{shared_routines.BATCH_ARGUMENTS}, ptr @{name}, ptr @sizes, ptr %scratch"
    return (
        f"@sizes = internal constant [{len(ARGUMENTS)} x i64] [{table}]\n"
        f"define void @{name}_batch({shared_routines.BATCH_ARGUMENTS}) nounwind {{\n"
        f"  %scratch = {place}\n"
        f"  call void @{shared_routines.names(lanes).batch}({operands})\n"
        "  ret void\n}\n"
    )
