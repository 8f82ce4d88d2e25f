"""LLVM text of the functions that all kernels of one lane count share: sine and cosine, search, batches.

They are compiled once for a host and found by name (``names``), so that a kernel holds nothing but its own code.

Sine and cosine come together.  The argument is reduced by pi/2 in three parts (Cody and Waite, with
products made exact by FMA), which leaves a head and a tail; the polynomials are the minimax ones of
fdlibm.  Below ``GUARD`` the error stays under one unit in the last place; lanes beyond it, and those
that are not finite, go through the C library one by one, and so does everything on a host without FMA.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

GUARD = 1e5
BATCH_ARGUMENTS = "i64 %first, i64 %last, ptr %bases, ptr %strides, ptr %work"

# pi/2 in three doubles: their sum is good to 159 bits.
PI_HALVES = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
ROUNDER = 6755399441055744.0  # 1.5 * 2**52: adding it leaves the nearest integer in the low bits
SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


class Names(NamedTuple):
    """What the shared functions are called."""

    sincos: str
    interval: str
    fetch: str
    batch: str


def names(lanes: int) -> Names:
    """Names of the shared functions for so many lanes."""
    return Names(*(f"kinode_{what}_{lanes}" for what in Names._fields))


def number(x: float) -> str:
    """A double as LLVM writes it without loss."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


def vector_type(lanes: int, scalar: str = "double") -> str:
    """Type of one value in all lanes."""
    return scalar if lanes == 1 else f"<{lanes} x {scalar}>"


def constant(x: float, lanes: int) -> str:
    """A number in all lanes, as an operand."""
    return number(x) if lanes == 1 else "<" + ", ".join([f"double {number(x)}"] * lanes) + ">"


class Lines:
    """Text of one function under way: fresh names, and the arithmetic of one vector type."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.type = vector_type(lanes)
        self.suffix = "f64" if lanes == 1 else f"v{lanes}f64"
        self.text: list[str] = []
        self.count = 0

    def put(self, text: str) -> str:
        """Write an instruction that has a result; gives the name of the result."""
        self.count += 1
        self.text.append(f"  %r{self.count} = {text}")
        return f"%r{self.count}"

    def operation(self, name: str, a: str, b: str, flags: str = "contract ") -> str:
        """A binary operation in all lanes."""
        return self.put(f"{name} {flags}{self.type} {a}, {b}")

    def call(self, name: str, *args: str) -> str:
        """An LLVM intrinsic in all lanes."""
        operands = ", ".join(f"{self.type} {arg}" for arg in args)
        return self.put(f"call {self.type} @llvm.{name}.{self.suffix}({operands})")

    def number(self, x: float) -> str:
        """A constant in all lanes."""
        return constant(x, self.lanes)

    def polynomial(self, coefficients: tuple[float, ...], z: str) -> str:
        """Value of a polynomial by Horner's rule."""
        value = self.number(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            value = self.operation("fadd", self.operation("fmul", value, z), self.number(coefficient))
        return value

    def lane(self, value: str, lane: int) -> str:
        """One lane of a value."""
        return value if self.lanes == 1 else self.put(f"extractelement {self.type} {value}, i32 {lane}")

    def with_lane(self, value: str, lane: int, entry: str) -> str:
        """The value with one lane replaced."""
        if self.lanes == 1:
            return entry
        return self.put(f"insertelement {self.type} {value}, double {entry}, i32 {lane}")

    def give_pair(self, pair: str, first: str, second: str) -> None:
        """Return two values."""
        half = self.put(f"insertvalue {pair} undef, {self.type} {first}, 0")
        whole = self.put(f"insertvalue {pair} {half}, {self.type} {second}, 1")
        self.text.append(f"  ret {pair} {whole}")

    def each_lane(self, function: str, *args: str, before: str = "") -> str:
        """A scalar function called lane by lane."""
        result = "undef"
        for lane in range(self.lanes):
            operands = ", ".join(f"double {self.lane(arg, lane)}" for arg in args)
            result = self.with_lane(result, lane, self.put(f"call double @{function}({before}{operands})"))
        return result


def _reduce(line: Lines) -> tuple[str, str, str]:
    """Head and tail of x minus the nearest multiple of pi/2, and that multiple as integer bits."""
    near = line.operation("fmul", "%x", line.number(0.6366197723675814), "")
    shifted = line.operation("fadd", near, line.number(ROUNDER), "")
    quadrant = line.put(f"bitcast {line.type} {shifted} to {vector_type(line.lanes, 'i64')}")
    n = line.operation("fsub", shifted, line.number(ROUNDER), "")
    minus_n = line.put(f"fneg {line.type} {n}")
    first = line.call("fma", minus_n, line.number(PI_HALVES[0]), "%x")
    product = line.operation("fmul", n, line.number(PI_HALVES[1]), "")
    missing = line.call("fma", minus_n, line.number(PI_HALVES[1]), product)
    head = line.operation("fsub", first, product, "")
    back = line.operation("fsub", first, head, "")
    again = line.operation("fadd", head, back, "")
    error = line.operation(
        "fadd",
        line.operation("fsub", first, again, ""),
        line.operation("fsub", back, product, ""),
        "",
    )
    tail = line.operation("fadd", error, missing, "")
    return head, line.call("fma", minus_n, line.number(PI_HALVES[2]), tail), quadrant


def _polynomials(line: Lines, head: str, tail: str) -> tuple[str, str]:
    """Sine and cosine of head + tail, which lie within pi/4."""
    z = line.operation("fmul", head, head)
    cube = line.operation("fmul", z, head)
    half = line.number(0.5)
    rest = line.polynomial(SINE[1:], z)
    inner = line.operation("fsub", line.operation("fmul", half, tail), line.operation("fmul", cube, rest))
    inner = line.operation("fsub", line.operation("fmul", z, inner), tail)
    inner = line.operation("fsub", inner, line.operation("fmul", cube, line.number(SINE[0])))
    sine = line.operation("fsub", head, inner)
    rest = line.operation("fmul", z, line.polynomial(COSINE, z))
    half_z = line.operation("fmul", half, z, "")
    one = line.number(1.0)
    near = line.operation("fsub", one, half_z, "")
    lost = line.operation("fsub", line.operation("fsub", one, near, ""), half_z, "")
    rest = line.operation("fsub", line.operation("fmul", z, rest), line.operation("fmul", head, tail))
    return sine, line.operation("fadd", near, line.operation("fadd", lost, rest, ""), "")


def _to_quadrant(line: Lines, sine: str, cosine: str, quadrant: str) -> tuple[str, str]:
    """Exchange the two where the quadrant is odd, and set their signs."""
    integer = vector_type(line.lanes, "i64")

    def integers(value: int) -> str:
        return str(value) if line.lanes == 1 else "<" + ", ".join([f"i64 {value}"] * line.lanes) + ">"

    odd = line.put(f"trunc {integer} {quadrant} to {vector_type(line.lanes, 'i1')}")
    next_one = line.put(f"add {integer} {quadrant}, {integers(1)}")
    condition = f"{vector_type(line.lanes, 'i1')} {odd}"
    results = []
    for yes, no, bits in ((cosine, sine, quadrant), (sine, cosine, next_one)):
        value = line.put(f"select {condition}, {line.type} {yes}, {line.type} {no}")
        sign = line.put(f"and {integer} {bits}, {integers(2)}")
        sign = line.put(f"shl {integer} {sign}, {integers(62)}")
        value = line.put(f"bitcast {line.type} {value} to {integer}")
        value = line.put(f"xor {integer} {value}, {sign}")
        results.append(line.put(f"bitcast {integer} {value} to {line.type}"))
    return results[0], results[1]


def sine_and_cosine(lanes: int, fma: bool = True) -> str:
    """The function that gives both as a pair."""
    line = Lines(lanes)
    pair = f"{{ {line.type}, {line.type} }}"
    if fma:
        bits = vector_type(lanes, "i1")
        head, tail, quadrant = _reduce(line)
        sine, cosine = _to_quadrant(line, *_polynomials(line, head, tail), quadrant)
        near = line.put(f"fcmp ole {line.type} {line.call('fabs', '%x')}, {line.number(GUARD)}")
        whole = near
        if lanes > 1:
            mask = line.put(f"bitcast {bits} {near} to i{lanes}")
            whole = line.put(f"icmp eq i{lanes} {mask}, -1")
        line.text.append(f"  br i1 {whole}, label %good, label %far, !prof !0")
        line.text.append("good:")
        line.give_pair(pair, sine, cosine)
        line.text.append("far:")
    far_sine, far_cosine = line.each_lane("sin", "%x"), line.each_lane("cos", "%x")
    if fma:
        far_sine = line.put(f"select {bits} {near}, {line.type} {sine}, {line.type} {far_sine}")
        far_cosine = line.put(f"select {bits} {near}, {line.type} {cosine}, {line.type} {far_cosine}")
    line.give_pair(pair, far_sine, far_cosine)
    body = "\n".join(line.text)
    return f"define {pair} @{names(lanes).sincos}({line.type} %x) noinline nounwind {{\n{body}\n}}\n"


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
  %place = getelementptr inbounds double, ptr %table, i64 %middle
  %entry_value = load double, ptr %place, align 8
  %below = fcmp olt double %x, %entry_value
  %after = add i64 %middle, 1
  %low2 = select i1 %below, i64 %low, i64 %after
  %high2 = select i1 %below, i64 %middle, i64 %high
  br label %head
done:
  %found = sub i64 %low, 1
  %negative = icmp slt i64 %found, 0
  %at_least = select i1 %negative, i64 0, i64 %found
  %last = sub i64 %n, 2
  %beyond = icmp sgt i64 %at_least, %last
  %index = select i1 %beyond, i64 %last, i64 %at_least
  %result = sitofp i64 %index to double
  ret double %result
}
"""

# Python's negative indices count from the end; what is out of range takes the nearest entry.
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
  %place = getelementptr inbounds double, ptr %table, i64 %index3
  %result = load double, ptr %place, align 8
  ret double %result
}
"""


def _transposition(lanes: int) -> str:
    """The functions ``@gather`` and ``@scatter`` between rows of the caller and lane-interleaved scratch."""
    parts = []
    for name in ("gather", "scatter"):
        line = Lines(lanes)
        rows = []
        for lane in range(lanes):
            row = line.put(f"add i64 %first, {lane}")
            beyond = line.put(f"icmp sgt i64 {row}, %final")
            row = line.put(f"select i1 {beyond}, i64 %final, i64 {row}")
            shift = line.put(f"mul i64 {row}, %stride")
            rows.append(line.put(f"getelementptr double, ptr %base, i64 {shift}"))
        line.text += ["  %some = icmp sgt i64 %n, 0", "  br i1 %some, label %loop, label %done"]
        line.text += ["loop:", "  %i = phi i64 [ 0, %0 ], [ %next, %loop ]"]
        place = line.put(f"mul i64 %i, {lanes}")
        place = line.put(f"getelementptr double, ptr %scratch, i64 {place}")
        entries = [line.put(f"getelementptr double, ptr {row}, i64 %i") for row in rows]
        if name == "gather":
            value = "undef"
            for lane, entry in enumerate(entries):
                value = line.with_lane(value, lane, line.put(f"load double, ptr {entry}, align 8"))
            line.text.append(f"  store {line.type} {value}, ptr {place}, align 8")
        else:
            value = line.put(f"load {line.type}, ptr {place}, align 8")
            for lane, entry in enumerate(entries):
                line.text.append(f"  store double {line.lane(value, lane)}, ptr {entry}, align 8")
        line.text += ["  %next = add i64 %i, 1", "  %more = icmp slt i64 %next, %n"]
        line.text += ["  br i1 %more, label %loop, label %done", "done:", "  ret void"]
        arguments = "ptr %base, i64 %stride, i64 %first, i64 %final, i64 %n, ptr %scratch"
        body = "\n".join(line.text)
        parts.append(f"define internal void @{name}({arguments}) noinline nounwind {{\n{body}\n}}\n")
    return "\n".join(parts)


def _batch(lanes: int) -> str:
    """The driver of all kernels: rows in, lanes through the kernel, rows out.

    ``sizes`` counts the doubles of each of the nine arguments that the kernel reads or, the last, writes;
    ``work``, the eighth, goes to the kernel as it is.  What has stride zero is moved once.
    """
    line = Lines(lanes)
    text = line.text
    text.append("  %final = sub i64 %last, 1")
    bases, strides, sizes, places = [], [], [], []
    place = "%scratch"
    for k in range(9):
        bases.append(line.put(f"load ptr, ptr {line.put(f'getelementptr ptr, ptr %bases, i64 {k}')}, align 8"))
        strides.append(line.put(f"load i64, ptr {line.put(f'getelementptr i64, ptr %strides, i64 {k}')}, align 8"))
        sizes.append(line.put(f"load i64, ptr {line.put(f'getelementptr i64, ptr %sizes, i64 {k}')}, align 8"))
        places.append("%work" if k == 7 else place)
        if k != 7:
            place = line.put(f"getelementptr double, ptr {place}, i64 {line.put(f'mul i64 {sizes[k]}, {lanes}')}")
    text.append("  %some = icmp slt i64 %first, %last\n  br i1 %some, label %loop, label %done\nloop:")
    text.append("  %row = phi i64 [ %first, %0 ], [ %next, %latch ]")
    start = line.put("icmp eq i64 %row, %first")
    for k in range(9):
        if lanes == 1 and k != 7:
            shift = line.put(f"mul i64 %row, {strides[k]}")
            places[k] = line.put(f"getelementptr double, ptr {bases[k]}, i64 {shift}")
        elif k < 7:
            moving = line.put(f"icmp ne i64 {strides[k]}, 0")
            some = line.put(f"icmp ne i64 {sizes[k]}, 0")
            wanted = line.put(f"and i1 {some}, {line.put(f'or i1 {moving}, {start}')}")
            text.append(f"  br i1 {wanted}, label %get{k}, label %got{k}\nget{k}:")
            text.append(f"  call void @gather({_rows(bases[k], strides[k], sizes[k], places[k])})")
            text.append(f"  br label %got{k}\ngot{k}:")
    text.append(f"  call void %kernel({', '.join(f'ptr {place}' for place in places)})")
    if lanes > 1:
        text.append(f"  call void @scatter({_rows(bases[8], strides[8], sizes[8], places[8])})")
    text.append(f"  br label %latch\nlatch:\n  %next = add i64 %row, {lanes}")
    text.append("  %more = icmp slt i64 %next, %last\n  br i1 %more, label %loop, label %done\ndone:\n  ret void")
    head = f"define void @{names(lanes).batch}({BATCH_ARGUMENTS}, ptr %kernel, ptr %sizes, ptr %scratch) nounwind"
    return f"{head} {{\n" + "\n".join(text) + "\n}\n"


def _rows(base: str, stride: str, size: str, place: str) -> str:
    return f"ptr {base}, i64 {stride}, i64 %row, i64 %final, i64 {size}, ptr {place}"


def shared(lanes: int, fma: bool) -> str:
    """All shared functions for so many lanes, as one module.

    ``fma`` says whether the host multiplies and adds in one operation; without it sine and cosine are
    left to the C library.
    """
    line = Lines(lanes)
    parts = [sine_and_cosine(lanes, fma), _batch(lanes), _transposition(lanes) if lanes > 1 else ""]
    parts += [SEARCH.replace("{name}", names(lanes).interval), FETCH.replace("{name}", names(lanes).fetch)]
    parts += ["declare double @sin(double)", "declare double @cos(double)", "declare double @llvm.fabs.f64(double)"]
    if lanes > 1:
        parts.append(f"declare {line.type} @llvm.fabs.{line.suffix}({line.type})")
    parts.append(f"declare {line.type} @llvm.fma.{line.suffix}({line.type}, {line.type}, {line.type})")
    parts.append('!0 = !{!"branch_weights", i32 2000, i32 1}')
    return "\n".join(parts) + "\n"
