"""The compiled integrator loops: from the cache on disk, or compiled by numba now.

numba's own cache would need numba to be imported and set up at every start (0.5 s and more). The loops need nothing
of it when they run, so only their object code is kept, in the cache of codegen/, and a warm start takes milliseconds.
An entry is named by the source of the loops, the versions of the compilers and the processor; where the cache cannot
be written, the loops are compiled again in each process.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from functools import cache as remember
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kinode.codegen import cache, machine

Loop = Callable[[int], int]
PREFIX = "kinode_"
_ENGINES: list[Any] = []


def _entry(name: str) -> str | None:
    """Name of the entry in the cache, or None where the source cannot be read."""
    here = machine.host()
    total = hashlib.blake2b(digest_size=20)
    try:
        for file in ("records.py", "primitives.py", "adaptive_loops.py", "fixed_loops.py"):
            total.update(Path(__file__).with_name(file).read_bytes())
    except OSError:
        return None
    total.update("\n".join((name, version("numba"), here.version, here.triple, here.cpu, here.features)).encode())
    return total.hexdigest()


def _compile(name: str) -> bytes:
    """Object code of a loop that needs nothing of numba or Python when it runs."""
    import llvmlite.binding as binding
    import numba
    from numba import types
    from numba.core import config

    from kinode.solve import adaptive_loops, fixed_loops, primitives

    wanted: Any = getattr(adaptive_loops if hasattr(adaptive_loops, name) else fixed_loops, name)
    signature: Any = types.int64(primitives.INTS)
    settings: Any = config
    usual = settings.OPT
    settings.OPT = type(usual)(0)  # optimizing each helper apart takes two seconds and is done again below
    try:
        made = numba.cfunc(signature)(lambda layout: wanted(layout))
    finally:
        settings.OPT = usual
    module = binding.parse_assembly(made.inspect_llvm())
    # Seen from outside there is one function only, so that the optimizer finds numba's error handling unreachable.
    for function in module.functions:
        if function.name == made.native_name:
            function.name = PREFIX + name
        elif not function.is_declaration:
            function.linkage = "internal"
    here = machine.host()
    description = binding.Target.from_triple(here.triple)
    target = description.create_target_machine(cpu=here.cpu, features=here.features, opt=2, jit=True)
    passes = binding.create_pass_builder(target, binding.create_pipeline_tuning_options(speed_level=2))
    passes.getModulePassManager().run(module, passes)
    foreign = [f.name for f in module.functions if f.is_declaration and f.name.startswith(("numba", "NRT", "Py"))]
    if foreign:
        raise RuntimeError(f"the loop '{name}' cannot do without {', '.join(foreign)}")
    return bytes(target.emit_object(module))


@remember
def loop(name: str) -> Loop:
    """The loop of that name; it takes the address of the array ``layout`` and releases Python's lock."""
    entry = _entry(name)
    code = None if entry is None else cache.load(entry)
    if code is None:
        code = _compile(name)
        if entry is not None:
            cache.save(entry, code)
    engine = machine.load_object(code)
    _ENGINES.append(engine)
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(engine.get_function_address(PREFIX + name))
