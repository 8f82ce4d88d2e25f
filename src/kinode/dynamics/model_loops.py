"""Loops over many states in machine code: compiled when first used, or found in the cache."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache as remember
from typing import Any

from kinode.jit.loop.memory import Struct
from kinode.jit.machine_code import keep, load_object
from kinode.ode.compiled_loops import CompiledLoop

_ENGINES: list[Any] = []  # keeps the machine code in memory


@remember
def load_loop(source: Callable[[Any], int]) -> Callable[[Struct], int]:
    """The machine code of a loop, a function of its record."""
    symbol = f"kinode_{source.__name__}"

    def compile_loop() -> bytes:
        from kinode.jit.llvm_code import compile_text
        from kinode.jit.loop.translator import translate_together

        return compile_text(translate_together({symbol: source}), optimize=True)

    engine = load_object(keep(f"loop {source.__module__}.{source.__name__}", compile_loop))
    _ENGINES.append(engine)
    return CompiledLoop(engine.get_function_address(symbol))
