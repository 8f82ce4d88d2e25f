"""LLVM text of sine, cosine and the exponential function, for any number of lanes.

Sine and cosine are computed together.  The argument is reduced by pi/2 in three parts (Cody and Waite, with products
made exact by FMA) to a head and a tail; the polynomials are the minimax ones of fdlibm.  For |x| up to
``LARGEST_ANGLE`` the error is less than one unit in the last place.  For lanes that are larger or not finite, the C
library is called; on a host without FMA it is called for all.

The exponential function subtracts a multiple of ln(2) in two parts, the first exactly, and sums the power series of the
rest; the first omitted term is below 5e-18.  Its error is less than one unit in the last place for normal results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial

from kinode.jit.llvm_text import IrText, vector_type

LARGEST_ANGLE = 1e5  # rad: up to here the reduction by pi/2 is accurate
LARGEST_EXPONENT = 708.0  # of exp: up to here the result is a normal number
LN_2 = (0.6931471805599453, 2.3190468138462996e-17)
EXP_SERIES = tuple(1.0 / factorial(k) for k in range(2, 14))
# pi/2 in three doubles: their sum is good to 159 bits.
PI_HALVES = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
ROUND_TO_INTEGER = 6755399441055744.0  # 1.5 * 2**52: adding it leaves the nearest integer in the low bits
SINE_COEFFICIENTS = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COSINE_COEFFICIENTS = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


def _reduce(line: IrText) -> tuple[str, str, str]:
    """x minus the nearest multiple n of pi/2, as head and tail, and the integer n (its lowest bits)."""
    near = line.operation("fmul", "%x", line.number(0.6366197723675814), "")
    shifted = line.operation("fadd", near, line.number(ROUND_TO_INTEGER), "")
    quadrant = line.put(f"bitcast {line.type} {shifted} to {vector_type(line.lanes, 'i64')}")
    n = line.operation("fsub", shifted, line.number(ROUND_TO_INTEGER), "")
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


def _polynomials(line: IrText, head: str, tail: str) -> tuple[str, str]:
    """Sine and cosine of head + tail, where |head + tail| is at most pi/4."""
    z = line.operation("fmul", head, head)
    cube = line.operation("fmul", z, head)
    half = line.number(0.5)
    rest = line.polynomial(SINE_COEFFICIENTS[1:], z)
    inner = line.operation("fsub", line.operation("fmul", half, tail), line.operation("fmul", cube, rest))
    inner = line.operation("fsub", line.operation("fmul", z, inner), tail)
    inner = line.operation("fsub", inner, line.operation("fmul", cube, line.number(SINE_COEFFICIENTS[0])))
    sine = line.operation("fsub", head, inner)
    rest = line.operation("fmul", z, line.polynomial(COSINE_COEFFICIENTS, z))
    half_z = line.operation("fmul", half, z, "")
    one = line.number(1.0)
    near = line.operation("fsub", one, half_z, "")
    lost = line.operation("fsub", line.operation("fsub", one, near, ""), half_z, "")
    rest = line.operation("fsub", line.operation("fmul", z, rest), line.operation("fmul", head, tail))
    return sine, line.operation("fadd", near, line.operation("fadd", lost, rest, ""), "")


def _to_quadrant(line: IrText, sine: str, cosine: str, quadrant: str) -> tuple[str, str]:
    """Sine and cosine of the full angle: exchanged in odd quadrants, with the signs of the quadrant."""
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


def _exponential(line: IrText) -> str:
    """exp(x) = 2^n exp(r) with r = head + tail, |r| at most ln(2)/2; the terms of the series are summed in pairs."""
    near = line.operation("fmul", "%x", line.number(1.4426950408889634), "")
    shifted = line.operation("fadd", near, line.number(ROUND_TO_INTEGER), "")
    n = line.operation("fsub", shifted, line.number(ROUND_TO_INTEGER), "")
    minus_n = line.put(f"fneg {line.type} {n}")
    first = line.call("fma", minus_n, line.number(LN_2[0]), "%x")
    head = line.call("fma", minus_n, line.number(LN_2[1]), first)
    tail = line.call("fma", minus_n, line.number(LN_2[1]), line.operation("fsub", first, head, ""))
    terms, power = [line.number(x) for x in EXP_SERIES], head
    while len(terms) > 1:
        pairs = [terms[i : i + 2] for i in range(0, len(terms), 2)]
        terms = [line.call("fma", pair[1], power, pair[0]) if len(pair) == 2 else pair[0] for pair in pairs]
        power = line.operation("fmul", power, power, "")
    rest = line.call("fma", line.operation("fmul", head, head, ""), terms[0], tail)
    value = line.operation("fadd", line.number(1.0), line.operation("fadd", head, rest, ""), "")
    integer = vector_type(line.lanes, "i64")
    mantissa_bits = "52" if line.lanes == 1 else "<" + ", ".join(["i64 52"] * line.lanes) + ">"
    scale = line.put(f"shl {integer} {line.put(f'bitcast {line.type} {shifted} to {integer}')}, {mantissa_bits}")
    scaled = line.put(f"add {integer} {line.put(f'bitcast {line.type} {value} to {integer}')}, {scale}")
    return line.put(f"bitcast {integer} {scaled} to {line.type}")


def _guarded(name: str, lanes: int, limit: float, near: Callable[[IrText], Sequence[str]] | None, *library: str) -> str:
    """A function of x: ``near`` for lanes with |x| up to ``limit``, the named library functions for the others."""
    line, bits = IrText(lanes), vector_type(lanes, "i1")
    result_type = line.type if len(library) == 1 else f"{{ {', '.join([line.type] * len(library))} }}"
    near_results: Sequence[str] = ()
    if near is not None:
        near_results = near(line)
        inside = line.put(f"fcmp ole {line.type} {line.call('fabs', '%x')}, {line.number(limit)}")
        all_inside = inside
        if lanes > 1:
            mask = line.put(f"bitcast {bits} {inside} to i{lanes}")
            all_inside = line.put(f"icmp eq i{lanes} {mask}, -1")
        line.text.append(f"  br i1 {all_inside}, label %good, label %far, !prof !0")
        line.text.append("good:")
        line.write_return(result_type, near_results)
        line.text.append("far:")
    results = [line.each_lane(function, "%x") for function in library]
    if near is not None:
        results = [
            line.put(f"select {bits} {inside}, {line.type} {a}, {line.type} {b}")
            for a, b in zip(near_results, results, strict=True)
        ]
    line.write_return(result_type, results)
    body = "\n".join(line.text)
    return f"define {result_type} @{name}({line.type} %x) noinline nounwind {{\n{body}\n}}\n"


def sine_and_cosine(name: str, lanes: int, fma: bool) -> str:
    """A function that returns the sine and the cosine of its argument."""

    def near(line: IrText) -> Sequence[str]:
        head, tail, quadrant = _reduce(line)
        return _to_quadrant(line, *_polynomials(line, head, tail), quadrant)

    return _guarded(name, lanes, LARGEST_ANGLE, near if fma else None, "sin", "cos")


def exponential(name: str, lanes: int, fma: bool) -> str:
    """A function that returns e to the power of its argument."""
    return _guarded(name, lanes, LARGEST_EXPONENT, (lambda line: [_exponential(line)]) if fma else None, "exp")
