"""Writes LLVM text: numbers and types as LLVM spells them, and arithmetic in one or several lanes.

Why our own: a line of text costs 0.8 us an instruction and LLVM's parser 3.3 us, the builder ``llvmlite.ir`` 12.6 us
before the same parser reads its text too (two busy cores, 2026).  A kernel has up to 100,000 instructions.  Bindings
that build LLVM's instructions in memory, without text, would make this module obsolete.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np


def number(x: float) -> str:
    """A double in LLVM's hexadecimal notation, which is exact."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


def numbers(values: np.ndarray) -> list[str]:
    """Many doubles, likewise."""
    return [f"0x{bits:016X}" for bits in np.ascontiguousarray(values, dtype=float).view(np.uint64).tolist()]


def vector_type(lanes: int, scalar: str = "double") -> str:
    """Type of one value in all lanes."""
    return scalar if lanes == 1 else f"<{lanes} x {scalar}>"


def constant(x: float, lanes: int) -> str:
    """A number in all lanes, as an operand."""
    return number(x) if lanes == 1 else "<" + ", ".join([f"double {number(x)}"] * lanes) + ">"


class IrText:
    """The text of one function while it is written: new names for results, and the arithmetic of one vector type."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.type = vector_type(lanes)
        self.suffix = "f64" if lanes == 1 else f"v{lanes}f64"
        self.text: list[str] = []
        self.count = 0

    def put(self, text: str) -> str:
        """Write an instruction that has a result, and return the name of the result."""
        self.count += 1
        name = f"%r{self.count}"
        self.text.append(f"  {name} = {text}")
        return name

    def operation(self, name: str, a: str, b: str, flags: str = "contract ") -> str:
        """A binary operation in all lanes."""
        return self.put(f"{name} {flags}{self.type} {a}, {b}")

    def call(self, name: str, *args: str) -> str:
        """An LLVM intrinsic in all lanes."""
        operands = ", ".join(f"{self.type} {arg}" for arg in args)
        return self.put(f"call {self.type} @llvm.{name}.{self.suffix}({operands})")

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c in all lanes, rounded once."""
        kind = self.type
        return self.put(f"call {kind} @llvm.fma.{self.suffix}({kind} {a}, {kind} {b}, {kind} {c})")

    def number(self, x: float) -> str:
        """A constant in all lanes."""
        return constant(x, self.lanes)

    def polynomial(self, coefficients: tuple[float, ...], z: str) -> str:
        """The value of a polynomial at z by Horner's rule; coefficients from the lowest power."""
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

    def write_return(self, llvm_type: str, values: Sequence[str]) -> None:
        """Write the return of a value, or of several as a structure."""
        result = values[0] if len(values) == 1 else "undef"
        for k, value in enumerate(values if len(values) > 1 else ()):
            result = self.put(f"insertvalue {llvm_type} {result}, {self.type} {value}, {k}")
        self.text.append(f"  ret {llvm_type} {result}")

    def each_lane(self, function: str, *args: str, before: str = "") -> str:
        """A scalar function called lane by lane."""
        result = "undef"
        for lane in range(self.lanes):
            operands = ", ".join(f"double {self.lane(arg, lane)}" for arg in args)
            result = self.with_lane(result, lane, self.put(f"call double @{function}({before}{operands})"))
        return result
