"""Vectors of several scalars of a tape in straight-line code: directions of derivatives that are computed together.

One instruction does the work of several, and the code is shorter by as much: beyond the size of the processor's caches
for instructions that is what counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinode.jit.ir_text import IrText, constant, number, vector_type


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
