"""Writes a program as LLVM text, for any number of lanes.

The same code writes one lane (``double``) and several (``<4 x double>``).  With several lanes the caller's arrays are
lane-interleaved, and the lanes share the constant tables.  ``contract`` is the only fast-math flag: a product and a sum
may become one FMA, while NaN and infinity follow IEEE 754.  No optimizer runs on this text.  It therefore contains
no unused operation or view, and no table for offsets in arithmetic progression.  ``ir_text.py`` says why the text is
our own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kinode.algebra.named_data import NamedData
from kinode.algebra.trace import Traced, needed
from kinode.jit import shared_routines
from kinode.jit.ir_text import IrText, number, vector_type
from kinode.jit.program import ARGUMENTS, TABLES, Block, Finish, Program, Store, global_name, routine_symbol

LIBRARY = dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log"), 1)
LIBRARY |= {"atan2": 2, "pow": 2}
SHARED = {"sin": "sincos", "cos": "sincos", "exp": "exp"}  # operations with a shared routine, by its name
CALLS = frozenset({*LIBRARY, *TABLES})
BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul"}
COMPARE = {"less": "olt", "less_equal": "ole", "equal": "oeq"}
LONGEST_BLOCK = 500  # operations of a basic block: with more, the time of the code generator grows faster than linearly
STORE_WEIGHT = 10  # operations that a store counts as: memory operations of one block cost the most


def write(program: Program, lanes: int, pack: int = 1) -> str:
    """LLVM text of the kernel ``program.name`` and of its batch driver ``<name>_batch``.

    With one lane, sines, cosines and exponentials that depend on no other function are computed as vectors of ``pack``
    numbers, or of twice as many if there are enough of them.
    """
    writer = _Writer(program, lanes, pack if lanes == 1 else 1)
    line = writer.line
    shared = shared_routines.names(lanes)
    parts = [writer.kernel(), shared_routines.batch_driver(program.name, program.sizes, lanes), *writer.tables]
    for count in sorted({lanes, *writer.packs}):
        vector, own = vector_type(count), shared_routines.names(count)
        parts.append(f"declare {{ {vector}, {vector} }} @{own.sincos}({vector}) nounwind")
        parts.append(f"declare {vector} @{own.exp}({vector}) nounwind")
    parts.append(f"declare double @{shared.interval}(ptr, i64, double) nounwind")
    parts.append(f"declare double @{shared.fetch}(ptr, i64, double) nounwind")
    parts.append(f"declare void @{shared.batch}(i64, i64, ptr, ptr, ptr, ptr, ptr, ptr) nounwind")
    for name, count in LIBRARY.items():
        parts.append(f"declare double @{name}({', '.join(['double'] * count)}) nounwind")
    parts += [f"declare {line.type} @llvm.{name}.{line.suffix}({line.type})" for name in ("sqrt", "floor", "fabs")]
    parts.append("!1 = !{}")
    return "\n".join(parts) + "\n"


class _Writer:
    """Writes one kernel: its lines so far, and the constant tables that they use."""

    def __init__(self, program: Program, lanes: int, pack: int) -> None:
        self.program = program
        self.lanes = lanes
        self.packs: tuple[int, ...] = (pack, 2 * pack) if pack > 1 else ()
        self.line = IrText(lanes)
        self.tables: list[str] = []
        self.table_names: dict[Any, str] = {}
        self.named: dict[NamedData, str] = {}
        self.label, self.n_blocks = "%entry", 0
        self.written = {block.view(view)[0] for block in program.blocks for case in block.cases for view, _, _ in case}
        self.written |= set() if program.finish is None else {"work", "out"}

    def kernel(self) -> str:
        """The function of the kernel."""
        for name, table in self.program.constants.items():
            self.table_names[name] = self.add_table("double", map(number, np.asarray(table, dtype=float).tolist()))
        for index, block in enumerate(self.program.blocks):
            if block.count == 1:
                case = 0 if block.case_of is None else int(block.case_of[0])
                views = block.views.items()
                bases = {name: (array, "", 0 if at is None else int(at[0])) for name, (array, at) in views}
                _Case(self, bases).write(block.cases[case], LONGEST_BLOCK)
            elif block.count > 1:
                self.loop(index, block)
        if self.program.finish is not None:
            self.finish(self.program.finish)
        arguments = ", ".join(self.argument(name) for name in ARGUMENTS)
        body = "\n".join(self.line.text)
        return f"define void @{self.program.name}({arguments}) nounwind {{\nentry:\n{body}\n  ret void\n}}\n"

    def finish(self, finish: Finish) -> None:
        """Call a function of the loop language."""
        symbol, table = routine_symbol(finish.name), self.add_table("i64", map(str, finish.table))
        self.line.text.append(f"  call void @{symbol}(ptr {table}, ptr %work, ptr %out)")
        self.tables.append(f"declare void @{symbol}(ptr, ptr, ptr) nounwind")

    def begin_block(self) -> None:
        """Begin another basic block."""
        self.n_blocks += 1
        self.label = f"%block{self.n_blocks}"
        self.line.text.append(f"  br label {self.label}\n{self.label[1:]}:")

    def argument(self, name: str) -> str:
        access = "" if name in self.written else "readonly "
        return f"ptr noalias nocapture {access}%{name}"

    def add_table(self, llvm_type: str, entries: Iterable[str], key: Any = None) -> str:
        """The name of a constant global table; tables with the same key are written once."""
        if key is not None and key in self.table_names:
            return self.table_names[key]
        name = f"@table{len(self.tables)}"
        texts = [f"{llvm_type} {entry}" for entry in entries]
        self.tables.append(f"{name} = internal constant [{len(texts)} x {llvm_type}] [{', '.join(texts)}], align 64")
        if key is not None:
            self.table_names[key] = name
        return name

    def add_named(self, data: NamedData) -> str:
        """The name of a global table that is filled when the code is loaded."""
        name = f"@{global_name(data.name)}"
        if data not in self.named:
            self.named[data] = texts = ", ".join(f"double {number(x)}" for x in data)
            self.tables.append(f"{name} = global [{len(data)} x double] [{texts}], align 64")
        return name

    def scale(self, array: str) -> int:
        """Distance between neighboring entries of an array, in doubles."""
        return 1 if array in self.program.constants else self.lanes

    def base(self, array: str) -> str:
        """Address of an array."""
        if array in self.program.constants:
            return self.table_names[array]
        if array not in ARGUMENTS:
            raise KeyError(f"program {self.program.name!r} has no array {array!r}")
        return f"%{array}"

    def loop(self, index: int, block: Block) -> None:
        """Write a loop over the iterations, with a switch if there are several cases."""
        line, text = self.line, self.line.text
        counter, following = f"%i{index}", f"%next{index}"
        text.append(f"  br label %loop{index}\nloop{index}:")
        text.append(f"  {counter} = phi i64 [ 0, {self.label} ], [ {following}, %latch{index} ]")
        used = block.used_views()
        bases = {name: self.offset_base(counter, *view) for name, view in block.views.items() if name in used}
        case_of = np.zeros(block.count, dtype=int) if block.case_of is None else np.asarray(block.case_of)
        taken = sorted({int(case) for case in case_of})
        if len(taken) > 1:
            table = self.add_table("i32", map(str, case_of.tolist()))
            address = line.put(f"getelementptr inbounds i32, ptr {table}, i64 {counter}")
            case_now = line.put(f"load i32, ptr {address}, align 4, !invariant.load !1")
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
        """Array, its shifted address in this iteration (empty: not shifted), and a constant offset to add."""
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
        address = line.put(f"getelementptr inbounds i64, ptr {table}, i64 {counter}")
        shift = line.put(f"load i64, ptr {address}, align 8, !invariant.load !1")
        return array, line.put(f"getelementptr double, ptr {self.base(array)}, i64 {shift}"), 0


class _Case:
    """The operations of one case of one block."""

    def __init__(self, writer: _Writer, bases: Mapping[str, tuple[str, str, int]]) -> None:
        self.writer = writer
        self.line = writer.line
        self.bases = bases
        self.values: dict[int, str] = {}
        self.conditions: dict[int, str] = {}
        self.called: dict[tuple[str, str], list[str]] = {}

    def write(self, stores: Iterable[Store], longest_block: int | None = None) -> None:
        """Write loads, operations and stores, in basic blocks of at most ``longest_block`` operations.

        With blocks, a result is stored as soon as it is known if nothing reads its array here; the others come last.
        """
        stores = list(stores)
        nodes = needed(value for _, _, value in stores)
        early = {} if longest_block is None else self.find_early_stores(stores, nodes)
        if self.writer.packs:
            self.call_early(nodes)
        size = 0  # of the basic block
        for node in nodes:
            if node.op != "input" and node.index not in self.values:
                self.values[node.index] = self.operation(node)
            for store in early.get(node.index, ()):
                self.store(store, self.values[node.index])
                size += STORE_WEIGHT
            size = self.end_block(size + 1, longest_block)
        done = {id(store) for several in early.values() for store in several}
        late = [store for store in stores if id(store) not in done]
        for store, result in zip(late, [self.operand(value) for _, _, value in late], strict=True):
            self.store(store, result)
            size = self.end_block(size + STORE_WEIGHT, longest_block)

    def end_block(self, size: int, longest: int | None) -> int:
        """Begin another basic block if this one is long enough; returns the size of the one that goes on."""
        if longest is not None and size >= longest:
            self.writer.begin_block()
            return 0
        return size

    def find_early_stores(self, stores: Sequence[Store], nodes: Sequence[Traced]) -> dict[int, list[Store]]:
        """The stores that may be done as soon as their values are known, by the index of the value."""
        read = {self.bases.get(node.args[0], node.args)[0] for node in nodes if node.op == "input"}
        early: dict[int, list[Store]] = {}
        if len({(view, position) for view, position, _ in stores}) < len(stores):
            return early  # of several stores into one place the last counts
        for store in stores:
            view, _, value = store
            if type(value) is Traced and value.op != "input" and self.bases.get(view, (view,))[0] not in read:
                early.setdefault(value.index, []).append(store)
        return early

    def store(self, store: Store, result: str) -> None:
        """Write one store."""
        array, address = self.address(*store[:2])
        if array in self.writer.program.constants:
            raise ValueError(f"program {self.writer.program.name!r} stores into the constant {array!r}")
        self.line.text.append(f"  store {self.line.type} {result}, ptr {address}, align 8")

    def address(self, view: str, position: int) -> tuple[str, str]:
        array, base, offset = self.bases.get(view, (view, "", 0))
        base = base or self.writer.base(array)
        shift = (position + offset) * self.writer.scale(array)
        return array, self.line.put(f"getelementptr inbounds double, ptr {base}, i64 {shift}") if shift else base

    def operand(self, value: Any) -> str:
        """A value as an operand; an input is loaded where it is first used."""
        if type(value) is not Traced:
            return self.line.number(float(value))
        operand = self.values.get(value.index)
        if operand is None:
            operand = self.values[value.index] = self.load(*value.args)
        return operand

    def load(self, view: str, position: int) -> str:
        array, address = self.address(view, position)
        line = self.line
        invariant = "" if array in self.writer.written else ", !invariant.load !1"
        if array not in self.writer.program.constants or line.lanes == 1:
            return line.put(f"load {line.type}, ptr {address}, align 8{invariant}")
        entry = line.put(f"load double, ptr {address}, align 8{invariant}")
        entry = line.put(f"insertelement {line.type} undef, double {entry}, i32 0")
        mask = f"<{line.lanes} x i32> zeroinitializer"
        return line.put(f"shufflevector {line.type} {entry}, {line.type} undef, {mask}")

    def operation(self, node: Traced) -> str:
        """Write one operation, and return the name of its result."""
        op, line = node.op, self.line
        if op in TABLES:
            values, add = node.args[0], self.writer.add_table
            named = isinstance(values, NamedData)
            table = self.writer.add_named(values) if named else add("double", map(number, values), ("table", values))
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
        mask_type = vector_type(self.line.lanes, "i1")
        return self.line.put(f"select {mask_type} {condition}, {self.line.type} {yes}, {self.line.type} {no}")

    def choose(self, test: Any, yes: Any, no: Any) -> str:
        """One of two values, by a condition.

        The code generator turns a comparison of single numbers into branches if several selections use it.  It never
        does so with vectors, so single numbers are compared as vectors of two.
        """
        line, values = self.line, (self.operand(yes), self.operand(no))
        if line.lanes != 1 or type(test) is not Traced or test.op not in COMPARE:
            return self.select(self.condition(test), *values)
        operands = (*(self.operand(arg) for arg in test.args), *values)
        wide = vector_type(2)
        a, b, yes, no = (line.put(f"insertelement {wide} undef, double {x}, i32 0") for x in operands)
        mask = line.put(f"fcmp {COMPARE[test.op]} {wide} {a}, {b}")
        selected = line.put(f"select {vector_type(2, 'i1')} {mask}, {wide} {yes}, {wide} {no}")
        return line.put(f"extractelement {wide} {selected}, i32 0")

    def condition(self, value: Any) -> str:
        """Whether a value is not zero, lane by lane; the result of a comparison is used directly."""
        comparison = self.conditions.get(value.index) if type(value) is Traced else None
        return comparison or self.compare("une", self.operand(value), self.line.number(0.0))

    def call(self, routine: str, x: str) -> list[str]:
        """The results of a shared routine; it is called once for each argument."""
        if (routine, x) not in self.called:
            self.called[routine, x] = self.results(routine, self.line.lanes, x)
        return self.called[routine, x]

    def results(self, routine: str, lanes: int, x: str) -> list[str]:
        """Write a call of a shared routine, and return the names of its results."""
        line, wide, name = self.line, vector_type(lanes), getattr(shared_routines.names(lanes), routine)
        if routine == "exp":
            return [line.put(f"call {wide} @{name}({wide} {x})")]
        pair_type = f"{{ {wide}, {wide} }}"
        pair = line.put(f"call {pair_type} @{name}({wide} {x})")
        return [line.put(f"extractvalue {pair_type} {pair}, {k}") for k in (0, 1)]

    def call_early(self, nodes: Iterable[Traced]) -> None:
        """Call the shared routines of arguments that need no call themselves: first of all, and several at a time.

        At the beginning no register holds a value that a call would destroy.
        """
        early: set[int] = set()
        arguments: dict[str, dict[int, Traced]] = {routine: {} for routine in SHARED.values()}
        for node in nodes:
            operands = [arg for arg in node.args if type(arg) is Traced]
            if not all(arg.index in early for arg in operands):
                continue
            if node.op in SHARED:
                arguments[SHARED[node.op]] |= {arg.index: arg for arg in operands}
            elif node.op not in CALLS:
                early.add(node.index)
        for routine, nodes_by_index in arguments.items():
            waiting, (narrow, wide) = list(nodes_by_index.values()), self.writer.packs
            while len(waiting) > 1:
                pack = wide if len(waiting) > narrow else narrow
                self.call_packed(routine, waiting[:pack], pack)
                waiting = waiting[pack:]

    def call_packed(self, routine: str, arguments: Sequence[Traced], pack: int) -> None:
        """Call a shared routine for several arguments at once, as one vector of ``pack`` lanes."""
        line = self.line
        for node in needed(arguments):
            if node.op != "input" and node.index not in self.values:
                self.values[node.index] = self.operation(node)
        wide, vector, operands = vector_type(pack), "zeroinitializer", [self.operand(node) for node in arguments]
        for i, operand in enumerate(operands):
            vector = line.put(f"insertelement {wide} {vector}, double {operand}, i32 {i}")
        vectors = self.results(routine, pack, vector)
        for i, operand in enumerate(operands):
            self.called[routine, operand] = [line.put(f"extractelement {wide} {x}, i32 {i}") for x in vectors]

    def power(self, base: str, exponent: str) -> str:
        """The power as ``FLOAT_FUNCTIONS`` defines it: plus infinity for an overflow or a division by zero."""
        line = self.line
        result = line.each_lane("pow", base, exponent)
        is_minus_infinity = self.compare("oeq", result, line.number(float("-inf")))
        corrected = self.select(is_minus_infinity, line.number(float("inf")), result)
        infinite_base = self.compare("oeq", base, line.number(float("-inf")))
        return self.select(infinite_base, result, corrected)
