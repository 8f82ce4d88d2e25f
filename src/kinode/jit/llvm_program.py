"""Writes a program as LLVM text, for any number of lanes.

The same code writes one lane (``double``) and several (``<4 x double>``).  With several lanes the caller's arrays are
lane-interleaved, and the lanes share the constant tables.  There are no fast-math flags: where the host has fused
multiply-add, the text says which products are fused, so that every level of the code generator gives the same numbers.
No optimizer runs on this text.  It therefore contains no unused operation or view, and no table for offsets in
arithmetic progression.  ``llvm_text.py`` says why the text is our own.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from kinode.algebra.named_data import NamedData
from kinode.algebra.scalars import LIBRARY
from kinode.jit import shared_routines
from kinode.jit.llvm_case import CaseWriter
from kinode.jit.llvm_text import IrText, number, numbers, vector_type
from kinode.jit.machine_code import ARGUMENTS, global_name, names, routine_symbol
from kinode.jit.program import Block, Finish, Program

LONG_TABLE = 256  # numbers: from here on a table is written as bytes
LONGEST_BLOCK = 500  # operations of a basic block: with more, the time of the code generator grows faster than linearly


def write(program: Program, lanes: int, pack: int = 1, fuses: bool = False) -> str:
    """LLVM text of the kernel ``program.name`` and of its batch driver ``<name>_batch``.

    With one lane, sines, cosines and exponentials that depend on no other function are computed as vectors of ``pack``
    numbers, or of twice as many if there are enough of them.  ``fuses``: whether the host has fused multiply-add.
    """
    writer = _Writer(program, lanes, pack if lanes == 1 else 1, fuses)
    line = writer.line
    shared = names(lanes)
    parts = [writer.kernel(), shared_routines.batch_driver(program.name, program.sizes, lanes), *writer.tables]
    for count in sorted({lanes, *writer.packs}):
        vector, own = vector_type(count), names(count)
        parts.append(f"declare {{ {vector}, {vector} }} @{own.sincos}({vector}) nounwind")
        parts.append(f"declare {vector} @{own.exp}({vector}) nounwind")
    parts.append(f"declare double @{shared.interval}(ptr, i64, double) nounwind")
    parts.append(f"declare double @{shared.fetch}(ptr, i64, double) nounwind")
    parts.append(f"declare void @{shared.batch}(i64, i64, ptr, ptr, ptr, ptr, ptr, ptr) nounwind")
    for name, count in LIBRARY.items():
        parts.append(f"declare double @{name}({', '.join(['double'] * count)}) nounwind")
    parts += [f"declare {line.type} @llvm.{name}.{line.suffix}({line.type})" for name in ("sqrt", "floor", "fabs")]
    if fuses:
        parts += [_declare_fma(vector_type(lanes), line.suffix), *_declare_wide_fmas(parts[0], lanes)]
    parts.append("!1 = !{}")
    return "\n".join(parts) + "\n"


def _declare_fma(kind: str, suffix: str) -> str:
    return f"declare {kind} @llvm.fma.{suffix}({kind}, {kind}, {kind})"


def _declare_wide_fmas(text: str, lanes: int) -> list[str]:
    """Declarations of the fused operations on vectors that a text has, beside those of all lanes."""
    if "@llvm.fma.v" not in text:
        return []
    widths = sorted({int(width) for width in re.findall(r"@llvm\.fma\.v(\d+)f64", text)} - {lanes})
    return [_declare_fma(vector_type(width), f"v{width}f64") for width in widths]


class _Writer:
    """Writes one kernel: its lines so far, and the constant tables that they use."""

    def __init__(self, program: Program, lanes: int, pack: int, fuses: bool) -> None:
        self.program = program
        self.lanes, self.fuses = lanes, fuses
        self.packs: tuple[int, ...] = (pack, 2 * pack) if pack > 1 else ()
        self.line = IrText(lanes)
        self.tables: list[str] = []
        self.table_names: dict[Any, str] = {}
        self.named: dict[NamedData, str] = {}
        self.label, self.n_blocks = "%entry", 0
        self.buffers: list[str] = []  # arrays on the stack, for calls of external functions
        self.written = {block.view(view)[0] for block in program.blocks for case in block.cases for view, _, _ in case}
        self.written |= set() if program.finish is None else {"work", "out"}

    def kernel(self) -> str:
        """The function of the kernel."""
        for name, table in self.program.constants.items():
            self.table_names[name] = self.add_array(np.asarray(table, dtype=float).ravel())
        for index, block in enumerate(self.program.blocks):
            if block.count == 1:
                case = 0 if block.case_of is None else int(block.case_of[0])
                views = block.views.items()
                bases = {name: (array, "", 0 if at is None else int(at[0])) for name, (array, at) in views}
                CaseWriter(self, bases).write(block.cases[case], LONGEST_BLOCK)
            elif block.count > 1:
                self.loop(index, block)
        if self.program.finish is not None:
            self.finish(self.program.finish)
        arguments = ", ".join(self.argument(name) for name in ARGUMENTS)
        body = "\n".join([*self.buffers, *self.line.text])
        return f"define void @{self.program.name}({arguments}) nounwind {{\nentry:\n{body}\n  ret void\n}}\n"

    def finish(self, finish: Finish) -> None:
        """Call a function of the loop language."""
        symbol, table = routine_symbol(finish.name), self.add_array(np.array(finish.table, dtype=np.int64))
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

    def add_array(self, values: np.ndarray, key: Any = None) -> str:
        """The name of a constant global table of an array; a long one is written by its bytes, which LLVM reads soon.

        A number of its own in the text takes LLVM ten times as long.
        """
        if len(values) < LONG_TABLE or sys.byteorder != "little":
            double = values.dtype == float
            entries = numbers(values) if double else map(str, values.tolist())
            return self.add_table("double" if double else f"i{8 * values.itemsize}", entries, key)
        if key is not None and key in self.table_names:
            return self.table_names[key]
        name, code = f"@table{len(self.tables)}", np.ascontiguousarray(values).tobytes()
        text = code.hex("\\").upper()
        self.tables.append(f'{name} = internal constant [{len(code)} x i8] c"\\{text}", align 64')
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
            table = self.add_array(case_of.astype(np.int32))
            address = line.put(f"getelementptr inbounds i32, ptr {table}, i64 {counter}")
            case_now = line.put(f"load i32, ptr {address}, align 4, !invariant.load !1")
            targets = " ".join(f"i32 {case}, label %case{index}_{case}" for case in taken[1:])
            text.append(f"  switch i32 {case_now}, label %case{index}_{taken[0]} [ {targets} ]")
        for case in taken:
            if len(taken) > 1:
                text.append(f"case{index}_{case}:")
            CaseWriter(self, bases).write(block.cases[case])
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
        table = self.add_array(scaled, ("offsets", scaled.tobytes()))
        address = line.put(f"getelementptr inbounds i64, ptr {table}, i64 {counter}")
        shift = line.put(f"load i64, ptr {address}, align 8, !invariant.load !1")
        return array, line.put(f"getelementptr double, ptr {self.base(array)}, i64 {shift}"), 0
