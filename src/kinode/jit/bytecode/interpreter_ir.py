"""LLVM text of the interpreter of bytecode: one kernel, whose program stands where its variables show.

The text is the same for all programs, so that its code is made once a machine.  Results lie on the stack, one after the
other; where there are many, in memory that each call takes and gives back.  A group of sines and cosines is computed in
lanes, and what the last lanes write beyond the group is written again by the groups behind it.
"""

from __future__ import annotations

from collections.abc import Callable

from kinode.jit.bytecode.operation_groups import FUNCTIONS, HEAD, STORE
from kinode.jit.bytecode.operation_list import CODES, count_operands
from kinode.jit.llvm_text import IrText, number, vector_type
from kinode.jit.machine_code import ARGUMENTS, names
from kinode.jit.shared_routines import BATCH_ARGUMENTS

NAME = "kernel"
COMPARED = {"less": "olt", "less_equal": "ole", "equal": "oeq"}
LANED = ("sin", "cos")
ON_STACK = 16_384  # results: more have no place on the stack of a thread
KERNEL_ARGUMENTS = ", ".join(f"ptr %{name}" for name in ARGUMENTS)

TAKE_MEMORY = f"""\
  %n = load i64, ptr @size, align 8
  %long = icmp ugt i64 %n, {ON_STACK}
  br i1 %long, label %heap, label %stack
heap:
  %bytes = shl i64 %n, 3
  %take = load ptr, ptr @take, align 8
  %taken = call ptr %take(i64 %bytes)
  %lacks = icmp eq ptr %taken, null
  br i1 %lacks, label %stack, label %begin
stack:
  %own = alloca double, i64 %n, align 64
  br label %begin
begin:
  %v = phi ptr [ %taken, %heap ], [ %own, %stack ]
  %borrowed = phi ptr [ %taken, %heap ], [ null, %stack ]"""
END = """\
end:
  %owes = icmp ne ptr %borrowed, null
  br i1 %owes, label %return_memory, label %done
return_memory:
  %give_back = load ptr, ptr @give_back, align 8
  call void %give_back(ptr %borrowed)
  br label %done
done:
  ret void"""


def write_interpreter(lanes: int) -> str:
    """The text; sines and cosines are computed in so many lanes."""
    writer = _InterpreterWriter(lanes)
    batch, wide = names(1).batch, vector_type(lanes)
    return "\n".join(
        [
            "@groups = global ptr null, align 8",
            "@constants = global ptr null, align 8",
            "@n_constants = global i64 0, align 8",
            "@size = global i64 0, align 8",
            "@take = global ptr null, align 8",
            "@give_back = global ptr null, align 8",
            f"@functions = global [{len(FUNCTIONS)} x ptr] zeroinitializer, align 8",
            f"@sizes = internal constant [{len(ARGUMENTS)} x i64] zeroinitializer",
            writer.kernel(),
            f"define void @{NAME}_batch({BATCH_ARGUMENTS}) nounwind {{",
            "  %scratch = alloca double, align 64",
            f"  call void @{batch}({BATCH_ARGUMENTS}, ptr @{NAME}, ptr @sizes, ptr %scratch)",
            "  ret void\n}",
            f"declare void @{batch}(i64, i64, ptr, ptr, ptr, ptr, ptr, ptr) nounwind",
            f"declare {{ {wide}, {wide} }} @{names(lanes).sincos}({wide}) nounwind",
            "declare double @llvm.fma.f64(double, double, double)",
            *(f"declare double @llvm.{name}.f64(double)" for name in ("sqrt", "floor", "fabs")),
        ]
    )


class _InterpreterWriter:
    """Writes the function: a switch, and a loop for each operation."""

    def __init__(self, lanes: int) -> None:
        self.lanes, self.line = lanes, IrText(1)

    def kernel(self) -> str:
        """The whole function."""
        line, text = self.line, self.line.text
        text.append(f"  %given = alloca [{len(ARGUMENTS)} x ptr], align 8")
        text.append(TAKE_MEMORY)
        for k, name in enumerate(ARGUMENTS):
            text.append(f"  store ptr %{name}, ptr {line.put(f'getelementptr ptr, ptr %given, i64 {k}')}, align 8")
        text.append("  %program = load ptr, ptr @groups, align 8\n  %table = load ptr, ptr @constants, align 8")
        text.append("  %count0 = load i64, ptr @n_constants, align 8\n  %none = icmp eq i64 %count0, 0")
        text.append("  br i1 %none, label %first, label %copy\ncopy:")
        text.append("  %k = phi i64 [ 0, %begin ], [ %k1, %copy ]")
        value = line.put(f"load double, ptr {line.put('getelementptr double, ptr %table, i64 %k')}, align 8")
        text.append(f"  store double {value}, ptr {line.put('getelementptr double, ptr %v, i64 %k')}, align 8")
        text.append("  %k1 = add i64 %k, 1\n  %more = icmp slt i64 %k1, %count0")
        text.append("  br i1 %more, label %copy, label %first\nfirst:\n  br label %head")
        cases = {code: f"case{code}" for code in [*CODES.values(), STORE] if code}
        entries = ", ".join(["[ %program, %first ]", *(f"[ %at{code}, %after{code} ]" for code in cases)])
        text.append(f"head:\n  %pc = phi ptr {entries}")
        for k, name in enumerate(("code", "number", "target", "function")):
            entry = line.put(f"load i32, ptr {line.put(f'getelementptr i32, ptr %pc, i64 {k}')}, align 4")
            text.append(f"  %{name} = zext i32 {entry} to i64")
        text.append(f"  %operands = getelementptr i32, ptr %pc, i64 {HEAD}")
        text.append("  %results = getelementptr double, ptr %v, i64 %target")
        text.append("  %slot = getelementptr ptr, ptr @functions, i64 %function")
        targets = " ".join(f"i64 {code}, label %{label}" for code, label in cases.items())
        text.append(f"  switch i64 %code, label %end [ {targets} ]\n{END}")
        for name, code in CODES.items():
            if code:
                self.loop(code, count_operands(name), self.lanes if name in LANED else 1, self.body_of(name))
        self.loop(STORE, 2, 1, self.store)
        body = "\n".join(text)
        return f"define void @{NAME}({KERNEL_ARGUMENTS}) nounwind {{\nentry:\n{body}\n}}"

    def loop(self, code: int, width: int, step: int, body: Callable[[str, str], None]) -> None:
        """The loop of one operation over a group; ``body`` is given the place of the operands and the counter."""
        text = self.line.text
        text.append(f"case{code}:\n  br label %loop{code}\nloop{code}:")
        text.append(f"  %i{code} = phi i64 [ 0, %case{code} ], [ %next{code}, %loop{code} ]")
        shift = self.line.put(f"mul i64 %i{code}, {width}")
        body(self.line.put(f"getelementptr i32, ptr %operands, i64 {shift}"), f"%i{code}")
        text.append(f"  %next{code} = add i64 %i{code}, {step}\n  %more{code} = icmp slt i64 %next{code}, %number")
        text.append(f"  br i1 %more{code}, label %loop{code}, label %after{code}\nafter{code}:")
        text.append(f"  %length{code} = mul i64 %number, {width}")
        text.append(f"  %at{code} = getelementptr i32, ptr %operands, i64 %length{code}\n  br label %head")

    def index(self, at: str, k: int) -> str:
        """The k-th number of an operation."""
        place = self.line.put(f"getelementptr i32, ptr {at}, i64 {k}") if k else at
        return self.line.put(f"zext i32 {self.line.put(f'load i32, ptr {place}, align 4')} to i64")

    def value(self, at: str, k: int) -> str:
        """The k-th operand."""
        place = self.line.put(f"getelementptr double, ptr %v, i64 {self.index(at, k)}")
        return self.line.put(f"load double, ptr {place}, align 8")

    def put_result(self, i: str, value: str, kind: str = "double") -> None:
        """Store a result of the group."""
        place = self.line.put(f"getelementptr double, ptr %results, i64 {i}")
        self.line.text.append(f"  store {kind} {value}, ptr {place}, align 8")

    def store(self, at: str, i: str) -> None:
        """A result of the program."""
        value = self.value(at, 0)
        place = self.line.put(f"getelementptr double, ptr %out, i64 {self.index(at, 1)}")
        self.line.text.append(f"  store double {value}, ptr {place}, align 8")

    def body_of(self, name: str) -> Callable[[str, str], None]:
        """What writes an operation."""
        if name == "input":
            return self.load
        if name in LANED:
            return lambda at, i: self.sine_or_cosine(at, i, name == "cos")
        count = count_operands(name)
        return lambda at, i: self.put_result(i, self.operation(name, [self.value(at, k) for k in range(count)]))

    def load(self, at: str, i: str) -> None:
        """An entry of an argument."""
        line = self.line
        slot = line.put(f"getelementptr ptr, ptr %given, i64 {self.index(at, 0)}")
        array = line.put(f"load ptr, ptr {slot}, align 8")
        place = line.put(f"getelementptr double, ptr {array}, i64 {self.index(at, 1)}")
        self.put_result(i, line.put(f"load double, ptr {place}, align 8"))

    def sine_or_cosine(self, at: str, i: str, cosine: bool) -> None:
        """Several at a time; lanes beyond the group compute its last one again."""
        line, wide = self.line, vector_type(self.lanes)
        last, vector, argument = line.put("sub i64 %number, 1"), "undef", ""
        for lane in range(self.lanes):
            k = line.put(f"add i64 {i}, {lane}")
            beyond = line.put(f"icmp sgt i64 {k}, {last}")
            k = line.put(f"select i1 {beyond}, i64 {last}, i64 {k}")
            value = self.value(line.put(f"getelementptr i32, ptr %operands, i64 {k}"), 0)
            argument = value
            if self.lanes > 1:
                vector = line.put(f"insertelement {wide} {vector}, double {value}, i32 {lane}")
                argument = vector
        pair = f"{{ {wide}, {wide} }}"
        both = line.put(f"call {pair} @{names(self.lanes).sincos}({wide} {argument})")
        self.put_result(i, line.put(f"extractvalue {pair} {both}, {int(cosine)}"), wide)

    def operation(self, name: str, args: list[str]) -> str:
        """One operation on numbers, as ``jit/llvm_case.py`` writes it."""
        line, zero, one = self.line, number(0.0), number(1.0)
        match name:
            case "add" | "sub" | "mul":
                return line.put(f"f{name} double {args[0]}, {args[1]}")
            case "fused":
                return line.fma(*args)
            case "fused_minus":
                return line.fma(args[0], args[1], line.put(f"fneg double {args[2]}"))
            case "minus_fused":
                return line.fma(line.put(f"fneg double {args[0]}"), args[1], args[2])
            case "neg":
                return line.put(f"fneg double {args[0]}")
            case "inv":
                return line.put(f"fdiv double {one}, {args[0]}")
            case "sqrt" | "floor":
                return line.call(name, args[0])
            case "abs":
                return line.call("fabs", args[0])
            case "min" | "max":
                a, b = args
                return self.choose("olt" if name == "min" else "ogt", a, b, a, b)
            case "sign":
                above, below = (self.choose(how, args[0], zero, one, zero) for how in ("ogt", "olt"))
                return line.put(f"fsub double {above}, {below}")
            case "less" | "less_equal" | "equal":
                return self.choose(COMPARED[name], args[0], args[1], one, zero)
            case "where":
                return self.choose("une", args[0], zero, args[1], args[2])
        return self.called(name, args)

    def choose(self, how: str, a: str, b: str, yes: str, no: str) -> str:
        """One of two numbers by a comparison."""
        test = self.line.put(f"fcmp {how} double {a}, {b}")
        return self.line.put(f"select i1 {test}, double {yes}, double {no}")

    def called(self, name: str, args: list[str]) -> str:
        """A function of a library; its address is in the table."""
        line = self.line
        function = line.put("load ptr, ptr %slot, align 8")
        result = line.put(f"call double {function}({', '.join(f'double {arg}' for arg in args)})")
        if name != "pow":
            return result
        corrected = self.choose("oeq", result, number(float("-inf")), number(float("inf")), result)
        return self.choose("oeq", args[0], number(0.0), corrected, result)  # a negative power of either zero is plus
