"""LLVM text of the routines that kernels share: elementary functions, search in tables, the batch driver.

There is one of each for each number of lanes.  It is compiled once for a host, when the first kernel needs it; kernels
call the routines by name (``names``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kinode.jit.llvm_math import exponential, sine_and_cosine
from kinode.jit.llvm_text import IrText
from kinode.jit.machine_code import ARGUMENTS, names

STACK_LIMIT = 16384  # bytes of scratch that the batch driver takes from the stack
BATCH_ARGUMENTS = "i64 %first, i64 %last, ptr %bases, ptr %strides, ptr %work"


# Index of the interval of a table that contains x, by bisection; the first and the last one extend outwards.
SEARCH = """\
define double @{name}(ptr %table, i64 %n, double %x) noinline nounwind {
entry:
  br label %head
head:
  %low = phi i64 [ 0, %entry ], [ %low2, %body ]
  %high = phi i64 [ %n, %entry ], [ %high2, %body ]
  %more = icmp slt i64 %low, %high
  br i1 %more, label %body, label %done
body:
  %sum = add i64 %low, %high
  %middle = lshr i64 %sum, 1
  %address = getelementptr inbounds double, ptr %table, i64 %middle
  %entry_value = load double, ptr %address, align 8
  %below = fcmp olt double %x, %entry_value
  %after = add i64 %middle, 1
  %low2 = select i1 %below, i64 %low, i64 %after
  %high2 = select i1 %below, i64 %middle, i64 %high
  br label %head
done:
  %interval = sub i64 %low, 1
  %negative = icmp slt i64 %interval, 0
  %at_least = select i1 %negative, i64 0, i64 %interval
  %last = sub i64 %n, 2
  %beyond = icmp sgt i64 %at_least, %last
  %index = select i1 %beyond, i64 %last, i64 %at_least
  %result = sitofp i64 %index to double
  ret double %result
}
"""

# Entry of a table.  Negative indices count from the end, as in Python; an index out of range gives the nearest entry.
FETCH = """\
define double @{name}(ptr %table, i64 %n, double %x) noinline nounwind {
  %size = call double @llvm.fabs.f64(double %x)
  %finite = fcmp olt double %size, 0x7FF0000000000000
  br i1 %finite, label %good, label %bad
bad:
  ret double 0x7FF8000000000000
good:
  %low = fcmp ogt double %x, 0xC1E0000000000000
  %clipped = select i1 %low, double %x, double 0xC1E0000000000000
  %high = fcmp olt double %clipped, 0x41E0000000000000
  %safe = select i1 %high, double %clipped, double 0x41E0000000000000
  %given = fptosi double %safe to i64
  %negative = icmp slt i64 %given, 0
  %wrapped = add i64 %given, %n
  %index = select i1 %negative, i64 %wrapped, i64 %given
  %under = icmp slt i64 %index, 0
  %index2 = select i1 %under, i64 0, i64 %index
  %last = sub i64 %n, 1
  %over = icmp sgt i64 %index2, %last
  %index3 = select i1 %over, i64 %last, i64 %index2
  %address = getelementptr inbounds double, ptr %table, i64 %index3
  %result = load double, ptr %address, align 8
  ret double %result
}
"""


def _transposition(lanes: int) -> str:
    """The functions ``@gather`` (rows of the caller to lane-interleaved scratch) and ``@scatter`` (the reverse)."""
    parts = []
    for name in ("gather", "scatter"):
        line = IrText(lanes)
        rows = []
        for lane in range(lanes):
            row = line.put(f"add i64 %first, {lane}")
            beyond = line.put(f"icmp sgt i64 {row}, %final")
            row = line.put(f"select i1 {beyond}, i64 %final, i64 {row}")
            shift = line.put(f"mul i64 {row}, %stride")
            rows.append(line.put(f"getelementptr double, ptr %base, i64 {shift}"))
        line.text += ["  %some = icmp sgt i64 %n, 0", "  br i1 %some, label %loop, label %done"]
        line.text += ["loop:", "  %i = phi i64 [ 0, %0 ], [ %next, %loop ]"]
        shift = line.put(f"mul i64 %i, {lanes}")
        address = line.put(f"getelementptr double, ptr %scratch, i64 {shift}")
        entries = [line.put(f"getelementptr double, ptr {row}, i64 %i") for row in rows]
        if name == "gather":
            value = "undef"
            for lane, entry in enumerate(entries):
                value = line.with_lane(value, lane, line.put(f"load double, ptr {entry}, align 8"))
            line.text.append(f"  store {line.type} {value}, ptr {address}, align 8")
        else:
            value = line.put(f"load {line.type}, ptr {address}, align 8")
            for lane, entry in enumerate(entries):
                line.text.append(f"  store double {line.lane(value, lane)}, ptr {entry}, align 8")
        line.text += ["  %next = add i64 %i, 1", "  %more = icmp slt i64 %next, %n"]
        line.text += ["  br i1 %more, label %loop, label %done", "done:", "  ret void"]
        arguments = "ptr %base, i64 %stride, i64 %first, i64 %final, i64 %n, ptr %scratch"
        body = "\n".join(line.text)
        parts.append(f"define internal void @{name}({arguments}) noinline nounwind {{\n{body}\n}}\n")
    return "\n".join(parts)


def _batch(lanes: int) -> str:
    """The batch driver of all kernels: copies rows into lanes, calls the kernel, and copies its results back.

    ``sizes`` has the number of doubles of each of the nine arguments.  The eighth, ``work``, is passed to the kernel
    unchanged; the ninth is the result.  An argument with stride zero is the same for all rows and is copied once.
    """
    line = IrText(lanes)
    text = line.text
    text.append("  %final = sub i64 %last, 1")
    bases, strides, sizes, addresses = [], [], [], []
    address = "%scratch"
    for k in range(9):
        bases.append(line.put(f"load ptr, ptr {line.put(f'getelementptr ptr, ptr %bases, i64 {k}')}, align 8"))
        strides.append(line.put(f"load i64, ptr {line.put(f'getelementptr i64, ptr %strides, i64 {k}')}, align 8"))
        sizes.append(line.put(f"load i64, ptr {line.put(f'getelementptr i64, ptr %sizes, i64 {k}')}, align 8"))
        addresses.append("%work" if k == 7 else address)
        if k != 7:
            address = line.put(f"getelementptr double, ptr {address}, i64 {line.put(f'mul i64 {sizes[k]}, {lanes}')}")
    text.append("  %some = icmp slt i64 %first, %last\n  br i1 %some, label %loop, label %done\nloop:")
    text.append("  %row = phi i64 [ %first, %0 ], [ %next, %latch ]")
    is_first = line.put("icmp eq i64 %row, %first")
    for k in range(9):
        if lanes == 1 and k != 7:
            shift = line.put(f"mul i64 %row, {strides[k]}")
            addresses[k] = line.put(f"getelementptr double, ptr {bases[k]}, i64 {shift}")
        elif k < 7:
            varies = line.put(f"icmp ne i64 {strides[k]}, 0")
            some = line.put(f"icmp ne i64 {sizes[k]}, 0")
            must_copy = line.put(f"and i1 {some}, {line.put(f'or i1 {varies}, {is_first}')}")
            text.append(f"  br i1 {must_copy}, label %get{k}, label %got{k}\nget{k}:")
            text.append(f"  call void @gather({_rows(bases[k], strides[k], sizes[k], addresses[k])})")
            text.append(f"  br label %got{k}\ngot{k}:")
    text.append(f"  call void %kernel({', '.join(f'ptr {address}' for address in addresses)})")
    if lanes > 1:
        text.append(f"  call void @scatter({_rows(bases[8], strides[8], sizes[8], addresses[8])})")
    text.append(f"  br label %latch\nlatch:\n  %next = add i64 %row, {lanes}")
    text.append("  %more = icmp slt i64 %next, %last\n  br i1 %more, label %loop, label %done\ndone:\n  ret void")
    head = f"define void @{names(lanes).batch}({BATCH_ARGUMENTS}, ptr %kernel, ptr %sizes, ptr %scratch) nounwind"
    return f"{head} {{\n" + "\n".join(text) + "\n}\n"


def _rows(base: str, stride: str, size: str, address: str) -> str:
    """The arguments of ``@gather`` and ``@scatter``."""
    return f"ptr {base}, i64 {stride}, i64 %row, i64 %final, i64 {size}, ptr {address}"


def shared(routine: str, lanes: int, fma: bool) -> str:
    """A shared routine for a number of lanes, as an LLVM module of its own: few kernels need all of them.

    ``fma`` says whether the host has fused multiply-add; without it the elementary functions call the C library.
    """
    name, line = getattr(names(lanes), routine), IrText(lanes)
    match routine:
        case "sincos" | "exp":
            write = sine_and_cosine if routine == "sincos" else exponential
            parts = [write(name, lanes, fma)]
            parts.append(f"declare {line.type} @llvm.fma.{line.suffix}({line.type}, {line.type}, {line.type})")
            parts += [f"declare {line.type} @llvm.fabs.{line.suffix}({line.type})"] * (lanes > 1)
        case "batch":
            parts = [_batch(lanes), _transposition(lanes) if lanes > 1 else ""]
        case _:
            parts = [(SEARCH if routine == "interval" else FETCH).replace("{name}", name)]
    parts += [f"declare double @{function}(double)" for function in ("sin", "cos", "exp", "llvm.fabs.f64")]
    parts.append('!0 = !{!"branch_weights", i32 2000, i32 1}')
    return "\n".join(parts) + "\n"


def find_used(text: str, lanes: Iterable[int]) -> list[tuple[str, int]]:
    """The shared routines that the text of a kernel calls, each with its number of lanes."""
    known = ((routine, count, name) for count in lanes for routine, name in names(count)._asdict().items())
    return [(routine, count) for routine, count, name in known if text.count(f"@{name}(") > 1]  # declared, and called


def batch_work(sizes: Mapping[str, int], lanes: int) -> int:
    """Doubles of ``work`` that the batch driver needs: the kernel's, and scratch that is too large for the stack."""
    scratch = _scratch_size(sizes, lanes)
    return sizes["work"] * lanes + (scratch if scratch * 8 > STACK_LIMIT else 0)


def _scratch_size(sizes: Mapping[str, int], lanes: int) -> int:
    """Doubles of the lane-interleaved copies of all arguments."""
    return 0 if lanes == 1 else lanes * sum(sizes[name] for name in ARGUMENTS if name != "work")


def batch_driver(name: str, sizes: Mapping[str, int], lanes: int) -> str:
    """The batch driver of a kernel: it calls the shared driver with the kernel, its sizes and scratch."""
    scratch = _scratch_size(sizes, lanes)
    allocation = f"alloca [{max(scratch, 1)} x double], align 64"
    if scratch * 8 > STACK_LIMIT:
        allocation = f"getelementptr double, ptr %work, i64 {sizes['work'] * lanes}"
    table = ", ".join(f"i64 {sizes[argument]}" for argument in ARGUMENTS)
    operands = f"{BATCH_ARGUMENTS}, ptr @{name}, ptr @sizes, ptr %scratch"
    return (
        f"@sizes = internal constant [{len(ARGUMENTS)} x i64] [{table}]\n"
        f"define void @{name}_batch({BATCH_ARGUMENTS}) nounwind {{\n"
        f"  %scratch = {allocation}\n"
        f"  call void @{names(lanes).batch}({operands})\n"
        "  ret void\n}\n"
    )
