"""Kernels whose machine code is exchanged while they are in use.

Callers hold the address of a few instructions that jump to where a pointer shows.  To exchange the code is to write
that pointer, in one store: a call that has begun goes on in the old code, which stays in memory, and the next takes the
new.  Both compute the same numbers (``jit/llvm_program.py``), so nobody can tell when it happened.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from kinode.jit.llvm_code import compile_text
from kinode.jit.machine_code import ARGUMENTS, keep, load_object
from kinode.jit.shared_routines import BATCH_ARGUMENTS
from kinode.jit.tiers.pending_code import once

KERNEL_ARGUMENTS = ", ".join(f"ptr %{name}" for name in ARGUMENTS)


class Addresses(NamedTuple):
    """Where a kernel and its batch driver are."""

    kernel: int
    batch: int


@once
def find_jumps() -> bytes:
    """The object code of both jumps."""
    parts = []
    for name, arguments in (("kernel", KERNEL_ARGUMENTS), ("batch", BATCH_ARGUMENTS)):
        parts.append(
            f"@{name}_target = global ptr null, align 8\n"
            f"define void @{name}_jump({arguments}) nounwind {{\n"
            f"  %code = load atomic ptr, ptr @{name}_target monotonic, align 8\n"
            f"  musttail call void %code({arguments})\n  ret void\n}}\n"
        )
    text = "\n".join(parts)
    return keep("jumps to exchanged code", lambda: compile_text(text))


class ExchangedCode:
    """The addresses that callers keep, and the code that they lead to."""

    def __init__(self, code: Addresses, owner: Any) -> None:
        self._engine = load_object(find_jumps())
        find = self._engine.get_function_address
        self.addresses = Addresses(find("kernel_jump"), find("batch_jump"))
        places = (self._engine.get_global_value_address(f"{name}_target") for name in Addresses._fields)
        self._targets = [ctypes.c_uint64.from_address(place) for place in places]
        self._owners: list[Any] = []
        self.n_exchanges = -1
        self.exchange(code, owner)

    def exchange(self, code: Addresses, owner: Any) -> None:
        """Lead callers to other code from now on; ``owner`` keeps it in memory."""
        self._owners.append(owner)
        for target, address in zip(self._targets, code, strict=True):
            target.value = address
        self.n_exchanges += 1
