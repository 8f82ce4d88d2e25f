"""A kernel in memory, with the routines that it calls."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from kinode.jit.loading.kernel_symbols import global_name, names, routine_symbol
from kinode.jit.loading.object_code import LoadedCode, keep, load_object, provide
from kinode.jit.tiers.pending_code import once
from kinode.records import dataclass


@dataclass(frozen=True)
class Machine:
    """A kernel in memory: its address, that of its batch driver, and the sizes of its arguments in doubles.

    ``engine`` owns the code, which lives as long as the engine does.
    """

    name: str
    address: int
    batch_address: int
    lanes: int
    sizes: Mapping[str, int]
    engine: Any = field(repr=False, compare=False)
    reads_z: Sequence[int] | None = None
    """The entries of z that it reads; None for loop code, where they are not determined."""
    reads_p: Sequence[int] | None = None
    """The same of p."""

    @cached_property
    def idle(self) -> list[Any]:
        """Memory of calls from Python that no thread uses."""
        return []

    @property
    def work_size(self) -> int:
        """Doubles of ``work`` that a call of the kernel needs."""
        return self.sizes["work"] * self.lanes

    @cached_property
    def batch_work_size(self) -> int:
        """Doubles of ``work`` that a call of the batch driver needs."""
        from kinode.jit.shared_routines import batch_work

        return batch_work(self.sizes, self.lanes)


@once
def provide_shared(routine: str, lanes: int) -> LoadedCode:
    """Register a shared routine for a number of lanes by name, and return what owns its code."""
    name = getattr(names(lanes), routine)

    def make() -> bytes:
        from kinode.jit.llvm_code import compile_text, host
        from kinode.jit.shared_routines import shared

        return compile_text(shared(routine, lanes, host().fma))

    engine = load_object(keep(name, make))
    provide(name, engine.get_function_address(name))
    return engine


@once
def _provide_routine(name: str) -> LoadedCode:
    """Register a function of the loop language, given by module and name, and return what owns its code."""
    module, _, function = name.partition(":")
    symbol = routine_symbol(name)

    def make() -> bytes:
        from importlib import import_module

        from kinode.jit.llvm_code import compile_text
        from kinode.jit.translator import translate

        return compile_text(translate(getattr(import_module(module), function), symbol), optimize=True)

    engine = load_object(keep(f"routine {name}", make))
    provide(symbol, engine.get_function_address(symbol))
    return engine


def load_kernel(
    about: Mapping[str, Any], code: bytes, lanes: int, data: Mapping[str, Sequence[float]] | None
) -> Machine:
    """The kernel that ``about`` describes, in memory; ``data`` are the numbers of exchangeable tables."""
    name = about["name"]
    shared = [provide_shared(routine, count) for routine, count in about["shared"]]
    if about["routine"] is not None:
        shared.append(_provide_routine(about["routine"]))
    engine = load_object(code)
    used = {} if data is None else {entry: data[entry] for entry in about["data"]}
    _fill_in(engine, used)
    address, batch_address = engine.get_function_address(name), engine.get_function_address(f"{name}_batch")
    reads = about["reads_z"], about["reads_p"]
    return Machine(name, address, batch_address, lanes, about["sizes"], (engine, shared, used), *reads)


def _fill_in(engine: LoadedCode, data: Mapping[str, Sequence[float]]) -> None:
    """Write the numbers of exchangeable tables into the memory of an engine."""
    for name, numbers in data.items():
        array = (ctypes.c_double * len(numbers))(*numbers)
        ctypes.memmove(engine.get_global_value_address(global_name(name)), array, ctypes.sizeof(array))
