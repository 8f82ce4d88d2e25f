"""A kernel that runs bytecode, in memory."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from kinode.jit.bytecode.interpreter_ir import NAME, write_interpreter
from kinode.jit.bytecode.operation_groups import FUNCTIONS, make_bytecode
from kinode.jit.bytecode.operation_list import CODES, OperationList
from kinode.jit.llvm_code import choose_lanes, compile_text
from kinode.jit.machine_code import (
    ARGUMENTS,
    INTERPRETER,
    LoadedCode,
    Machine,
    find_symbol,
    keep,
    load_object,
    names,
    provide_shared,
)
from kinode.jit.tiers.pending_code import once

LEAST, MOST = 300, 100_000  # operations: compiling fewer takes no longer; more are slow, and better code comes late


@once
def find_interpreter() -> tuple[bytes, list[LoadedCode]]:
    """The object code of the interpreter, and what owns the routines that it calls."""
    lanes = _count_lanes()
    shared = [provide_shared("batch", 1), provide_shared("sincos", lanes)]
    return keep(INTERPRETER, lambda: compile_text(write_interpreter(lanes), 2)), shared


def _count_lanes() -> int:
    """Lanes of sines and cosines: as many as most kernels use."""
    return 2 * choose_lanes() if choose_lanes() > 1 else 1


def load_bytecode(listed: OperationList) -> Machine:
    """The kernel of a list of operations."""
    code, owners = find_interpreter()
    bytecode, engine = make_bytecode(listed), load_object(code)
    if "exp" in bytecode.functions:
        owners = [*owners, provide_shared("exp", 1)]
    own = {"exp": names(1).exp}  # a routine of kinode's; the others are the C library's
    table = np.zeros(len(FUNCTIONS), dtype=np.int64)
    for name in bytecode.functions:
        table[FUNCTIONS.index(name)] = find_symbol(own.get(name, name))
    size = bytecode.size + _count_lanes()  # beyond the last group too
    for name, value in (
        ("groups", bytecode.groups.ctypes.data), ("constants", bytecode.constants.ctypes.data),
        ("n_constants", len(bytecode.constants)), ("size", size),
        ("take", find_symbol("malloc")), ("give_back", find_symbol("free")),
    ):  # fmt: skip
        ctypes.c_int64.from_address(engine.get_global_value_address(name)).value = value
    ctypes.memmove(engine.get_global_value_address("functions"), table.ctypes.data, table.nbytes)
    inputs = listed.operands.reshape(-1, 3)[listed.codes == CODES["input"]]
    reads_z, reads_p = (sorted(inputs[inputs[:, 0] == ARGUMENTS.index(name), 1].tolist()) for name in ("z", "p"))
    find: Callable[[str], int] = engine.get_function_address
    program = listed.program
    sizes = {name: int(program.sizes.get(name, 0)) for name in ARGUMENTS}
    owner = (engine, owners, bytecode)
    return Machine(program.name, find(NAME), find(f"{NAME}_batch"), 1, sizes, owner, reads_z, reads_p)
