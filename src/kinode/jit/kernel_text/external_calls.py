"""Calls of external functions in the text of a kernel: arguments and results go through arrays on the stack.

The address of the C function and that of its context are in a table of two doubles, which is filled in when the code is
loaded: addresses of a process are whole numbers below 2^53.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kinode.algebra.named_data import ExternalFunction
from kinode.jit.ir_text import IrText


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
