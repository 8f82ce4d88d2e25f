"""LLVM text of one case of a program's block: operations, loads, stores, calls of external functions.

Several scalars of a tape that are computed together, as directions of derivatives are, are vectors in straight-line
code: one instruction does the work of several, and the code is shorter by as much; beyond the size of the processor's
caches for instructions that is what counts.

Arguments and results of an external function go through arrays on the stack.  The address of the C function and that of
its context are in a table of two doubles, which is filled in when the code is loaded: addresses of a process are whole
numbers below 2^53.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from kinode.algebra.named_data import ExternalFunction, ExternalResult, NamedData
from kinode.algebra.scalars import ARITHMETIC, COMPARISONS, LIBRARY, OPERATIONS
from kinode.algebra.trace import Traced, needed
from kinode.jit.llvm_text import IrText, constant, number, vector_type
from kinode.jit.machine_code import names
from kinode.jit.program import TABLES, Program, Store
from kinode.jit.program_walk import count_uses, find_early, find_fused, join_constants, join_lanes

SHARED = {"sin": "sincos", "cos": "sincos", "exp": "exp"}  # operations with a shared routine, by its name
CALLS = frozenset({*LIBRARY, *TABLES, "external"})
BINARY = {op: OPERATIONS[op].llvm for op in ARITHMETIC if OPERATIONS[op].arity == 2}
COMPARE = {op: OPERATIONS[op].llvm for op in COMPARISONS}
STORE_WEIGHT = 10  # operations that a store counts as: memory operations of one block cost the most


class KernelWriter(Protocol):
    """What a case needs of the kernel that it is part of."""

    program: Program
    packs: tuple[int, ...]
    fuses: bool
    line: IrText
    written: set[str]
    buffers: list[str]

    def begin_block(self) -> None:
        """Begin another basic block."""

    def add_table(self, llvm_type: str, entries: Iterable[str], key: Any = None) -> str:
        """The name of a constant global table."""

    def add_named(self, data: NamedData) -> str:
        """The name of a global table that is filled when the code is loaded."""

    def scale(self, array: str) -> int:
        """Distance between neighboring entries of an array, in doubles."""

    def base(self, array: str) -> str:
        """Address of an array."""


class CaseWriter:
    """The operations of one case of one block."""

    def __init__(self, writer: KernelWriter, bases: Mapping[str, tuple[str, str, int]]) -> None:
        self.writer = writer
        self.line = writer.line
        self.bases = bases
        self.values: dict[int, str] = {}
        self.wide, self.wide_values = WideText(self.line), dict[int, Wide]()
        self.spreads: dict[tuple[int, int], Wide] = {}
        self.conditions: dict[int, str] = {}
        self.fused: dict[int, int] = {}  # sums with a product, and which of their operands that is
        self.products: frozenset[int] = frozenset()
        self.called: dict[tuple[str, ...], list[str]] = {}

    def write(self, stores: Iterable[Store], longest_block: int | None = None) -> None:
        """Write loads, operations and stores, in basic blocks of at most ``longest_block`` operations.

        With blocks, a result is stored as soon as it is known if nothing reads its array here; the others come last.
        """
        stores = join_lanes(stores)
        if self.line.lanes == 1:
            stores = join_constants(stores)
        nodes = needed(value for _, _, value in stores)
        if self.writer.fuses:
            self.fused, self.products = find_fused(nodes, count_uses(nodes, [value for _, _, value in stores]))
        found = {} if longest_block is None else find_early(stores, nodes, self.array_of)
        early = {index: several for index, several in found.items() if several[0][2].op != "input"}
        if self.writer.packs:
            self.call_early(nodes)
        size, most = 0, len(nodes) + 1 if longest_block is None else longest_block  # of the basic block
        for node in nodes:
            self.evaluate(node)
            if node.index in early:
                for store in early[node.index]:
                    self.store(store)
                    size += STORE_WEIGHT
            size += 1
            if size >= most:
                self.writer.begin_block()
                size = 0
        done = {id(store) for several in early.values() for store in several}
        late = [store for store in stores if id(store) not in done]
        for _, _, value in late:
            if type(value) is Traced:
                self.operand(value)  # all loads come first
        for store in late:
            self.store(store)
            size = self.end_block(size + STORE_WEIGHT, longest_block)

    def evaluate(self, node: Traced) -> None:
        """Write an operation that is not there yet; inputs are loaded, and products fused, where they are used."""
        if node.op != "input" and node.index not in self.values and node.index not in self.products:
            self.values[node.index] = self.operation(node)

    def end_block(self, size: int, longest: int | None) -> int:
        """Begin another basic block if this one is long enough; returns the size of the one that goes on."""
        if longest is not None and size >= longest:
            self.writer.begin_block()
            return 0
        return size

    def array_of(self, view: str) -> str:
        """The array of a view."""
        return self.bases[view][0] if view in self.bases else view

    def store(self, store: Store) -> None:
        """Write one store; of a vector, into neighboring entries."""
        view, position, value = store
        wide = self.wide_values.get(value.index) if type(value) is Traced else None
        if type(value) is tuple:
            wide = self.wide.spread("", float(value[0]), len(value))
        llvm_type = self.line.type if wide is None else self.wide.type(wide.width)
        for k, register in enumerate([self.operand(value)] if wide is None else wide.registers):
            array, address = self.address(view, position + k)
            if array in self.writer.program.constants:
                raise ValueError(f"program {self.writer.program.name!r} stores into the constant {array!r}")
            self.line.text.append(f"  store {llvm_type} {register}, ptr {address}, align 8")

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
        """Write one operation, and return the name of its result; that of a vector is in ``wide_values``."""
        op, line, is_fused = node.op, self.line, node.index in self.fused
        if self.wide_values or op == "pack":
            if op == "lane":
                return self.wide.entry(self.wide_values[node.args[0].index], node.args[1])
            if op == "pack" or self.is_wide(node):
                self.wide_values[node.index] = self.wide_operation(node)
                return ""
        if is_fused:
            return line.fma(*[self.signed(*factor) for factor in self.terms(node)])
        if op in BINARY:
            a, b = node.args
            return line.operation(BINARY[op], self.operand(a), self.operand(b), flags="")
        if op in TABLES:
            values, add = node.args[0], self.writer.add_table
            named = isinstance(values, NamedData)
            table = self.writer.add_named(values) if named else add("double", map(number, values), ("table", values))
            name = getattr(names(line.lanes), op)
            return line.each_lane(name, self.operand(node.args[1]), before=f"ptr {table}, i64 {len(values)}, ")
        if op == "where":
            return self.choose(*node.args)
        if op == "external":
            return self.external(node.args[0], [self.operand(arg) for arg in node.args[1:]])
        args = [self.operand(arg) for arg in node.args]
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

    def external(self, result: ExternalResult, operands: list[str]) -> str:
        """One result of an external function, which is called once for all its results; lane by lane."""
        key = (result.function.name, "", *operands)
        if key not in self.called:
            door, line = self.writer.add_named(result.function.door), self.line
            self.called[key] = [
                write_call(self.writer, door, result.function, [line.lane(x, lane) for x in operands])
                for lane in range(line.lanes)
            ]
        return read_result(self.line, self.called[key], result.index)

    def is_wide(self, node: Traced) -> bool:
        """Whether an operand is a vector; of a fused sum, one of its three."""
        args, known = node.args, self.wide_values
        if node.index in self.fused:
            args = tuple(value for value, _ in self.terms(node))
        for arg in args:  # noqa: SIM110 - asked of every operation, where a generator takes twice as long
            if type(arg) is Traced and arg.index in known:
                return True
        return False

    def terms(self, node: Traced) -> tuple[tuple[Any, bool], tuple[Any, bool], tuple[Any, bool]]:
        """Of a sum with a product its two factors and the other term, each with whether its sign is turned."""
        k = self.fused[node.index]
        (a, b), other, difference = node.args[k].args, node.args[1 - k], node.op == "sub"
        return (a, difference and k == 1), (b, False), (other, difference and k == 0)

    def signed(self, value: Any, turned: bool) -> str:
        """An operand, with its sign turned if that is wanted."""
        if not turned:
            return self.operand(value)
        if type(value) is not Traced:
            return self.line.number(-float(value))
        return self.line.put(f"fneg {self.line.type} {self.operand(value)}")

    def wide_operation(self, node: Traced) -> Wide:
        """Write an operation on vectors; scalars among the operands count for every entry."""
        op, args, known = node.op, node.args, self.wide_values
        if op == "pack":
            constants = [None if type(arg) is Traced else float(arg) for arg in args]
            return self.wide.pack([self.operand(arg) for arg in args], constants)
        if node.index in self.fused:
            terms = self.terms(node)
            width = next(known[x.index].width for x, _ in terms if type(x) is Traced and x.index in known)
            wide = [(self.spread(x, width), turned) for x, turned in terms]
            return self.wide.fma(*(self.wide.operation("fneg", x) if turned else x for x, turned in wide))
        width = next(known[arg.index].width for arg in args if type(arg) is Traced and arg.index in known)
        vectors = [self.spread(arg, width) for arg in (args[1:] if op == "where" else args)]
        if op == "where":
            return self.wide.select(self.condition(args[0]), *vectors)
        return self.wide.operation(OPERATIONS[op].llvm, *vectors)

    def spread(self, value: Any, width: int) -> Wide:
        """A vector, or a scalar in every entry of one; each is made once."""
        if type(value) is not Traced:
            return self.wide.spread(self.line.number(float(value)), float(value), width)
        if value.index in self.wide_values:
            return self.wide_values[value.index]
        if (value.index, width) not in self.spreads:
            self.spreads[value.index, width] = self.wide.spread(self.operand(value), None, width)
        return self.spreads[value.index, width]

    def simple(self, op: str, args: list[str]) -> str:
        line = self.line
        match op:
            case "neg":
                return line.put(f"fneg {line.type} {args[0]}")
            case "inv":
                return line.operation("fdiv", line.number(1.0), args[0])
            case "sqrt" | "floor" | "abs":
                return line.call(OPERATIONS[op].llvm, args[0])
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
        line, wide, name = self.line, vector_type(lanes), getattr(names(lanes), routine)
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
            for arg in node.args:
                if type(arg) is Traced and arg.index not in early:
                    break
            else:
                if node.op in SHARED:
                    operands = (arg for arg in node.args if type(arg) is Traced)
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
            self.evaluate(node)
        wide, vector, operands = vector_type(pack), "zeroinitializer", [self.operand(node) for node in arguments]
        for i, operand in enumerate(operands):
            vector = line.put(f"insertelement {wide} {vector}, double {operand}, i32 {i}")
        vectors = self.results(routine, pack, vector)
        for i, operand in enumerate(operands):
            self.called[routine, operand] = [line.put(f"extractelement {wide} {x}, i32 {i}") for x in vectors]

    def power(self, base: str, exponent: str) -> str:
        """The power as ``FLOAT_FUNCTIONS`` defines it: a negative power of zero, of whatever sign, is plus infinity."""
        line = self.line
        result = line.each_lane("pow", base, exponent)
        is_minus_infinity = self.compare("oeq", result, line.number(float("-inf")))
        corrected = self.select(is_minus_infinity, line.number(float("inf")), result)
        return self.select(self.compare("oeq", base, line.number(0.0)), corrected, result)


class BufferWriter(Protocol):
    """What a call needs of the kernel that it is part of."""

    line: IrText
    buffers: list[str]


def write_call(writer: BufferWriter, door: str, function: ExternalFunction, arguments: Sequence[str]) -> str:
    """Write the call for the arguments of one lane; the name of the array of its results."""
    line, buffers = writer.line, writer.buffers
    given, results = f"%given{len(buffers)}", f"%results{len(buffers)}"
    buffers.append(
        f"  {given} = alloca [{max(len(arguments), 1)} x double], align 16\n"
        f"  {results} = alloca [{max(function.size, 1)} x double], align 16"
    )
    for k, argument in enumerate(arguments):
        place = line.put(f"getelementptr inbounds double, ptr {given}, i64 {k}")
        line.text.append(f"  store double {argument}, ptr {place}, align 8")
    address, context = (_read_pointer(line, door, k) for k in (0, 1))
    line.text.append(f"  call void {address}(ptr {context}, i64 {function.number}, ptr {given}, ptr {results})")
    return results


def _read_pointer(line: IrText, door: str, k: int) -> str:
    """A pointer from a table of whole numbers that are doubles."""
    place = line.put(f"getelementptr inbounds double, ptr {door}, i64 {k}")
    value = line.put(f"load double, ptr {place}, align 8")
    whole = line.put(f"fptoui double {value} to i64")
    return line.put(f"inttoptr i64 {whole} to ptr")


def read_result(line: IrText, results: Sequence[str], index: int) -> str:
    """A result in all lanes, from the array of each of them."""
    value = "undef"
    for lane, array in enumerate(results):
        place = line.put(f"getelementptr inbounds double, ptr {array}, i64 {index}")
        value = line.with_lane(value, lane, line.put(f"load double, ptr {place}, align 8"))
    return value


class Wide(NamedTuple):
    """A vector of several scalars of a tape: one register, or one for each entry in code of several lanes."""

    width: int
    registers: tuple[str, ...]


class WideText:
    """Writes operations on vectors of scalars, beside the scalar ones of a function."""

    def __init__(self, line: IrText) -> None:
        self.line = line

    def type(self, width: int) -> str:
        """The type of each register."""
        return vector_type(width) if self.line.lanes == 1 else self.line.type

    def pack(self, entries: Sequence[str], constants: Sequence[float | None]) -> Wide:
        """The vector of some operands; ``constants`` has the numbers among them, and None for the others."""
        width, line = len(entries), self.line
        if line.lanes > 1:
            return Wide(width, tuple(entries))
        vector = "<" + ", ".join(f"double {number(0.0 if x is None else x)}" for x in constants) + ">"
        for k, (entry, x) in enumerate(zip(entries, constants, strict=True)):
            if x is None:
                vector = line.put(f"insertelement {self.type(width)} {vector}, double {entry}, i32 {k}")
        return Wide(width, (vector,))

    def entry(self, wide: Wide, k: int) -> str:
        """One scalar of a vector."""
        if self.line.lanes > 1:
            return wide.registers[k]
        return self.line.put(f"extractelement {self.type(wide.width)} {wide.registers[0]}, i32 {k}")

    def spread(self, operand: str, constant_value: float | None, width: int) -> Wide:
        """A scalar in every entry of a vector."""
        line, wide = self.line, self.type(width)
        if line.lanes > 1:
            return Wide(width, (operand,) * width)
        if constant_value is not None:
            return Wide(width, (constant(constant_value, width),))
        first = line.put(f"insertelement {wide} undef, double {operand}, i32 0")
        return Wide(width, (line.put(f"shufflevector {wide} {first}, {wide} undef, <{width} x i32> zeroinitializer"),))

    def operation(self, name: str, *args: Wide) -> Wide:
        """An operation of LLVM, entry by entry."""
        width, entries = args[0].width, zip(*(arg.registers for arg in args), strict=True)
        return Wide(width, tuple(self.line.put(f"{name} {self.type(width)} {', '.join(each)}") for each in entries))

    def fma(self, a: Wide, b: Wide, c: Wide) -> Wide:
        """a*b + c, rounded once, entry by entry."""
        width, kind = a.width, self.type(a.width)
        name = f"llvm.fma.{self.line.suffix if self.line.lanes > 1 else f'v{width}f64'}"
        entries = zip(a.registers, b.registers, c.registers, strict=True)
        texts = (f"call {kind} @{name}({', '.join(f'{kind} {x}' for x in each)})" for each in entries)
        return Wide(width, tuple(self.line.put(text) for text in texts))

    def select(self, condition: str, yes: Wide, no: Wide) -> Wide:
        """One of two vectors, by a condition of scalars."""
        mask, wide = vector_type(self.line.lanes, "i1"), self.type(yes.width)
        pairs = zip(yes.registers, no.registers, strict=True)
        texts = (f"select {mask} {condition}, {wide} {a}, {wide} {b}" for a, b in pairs)
        return Wide(yes.width, tuple(self.line.put(text) for text in texts))
