"""The built-in function ``step(inputs)``: one call of a loop on memory that is kept, without any new object.

A call takes 0.05 us beside the loop; through ``ctypes`` it takes 0.7 us (2026). Where Python lays out its objects in
another way, the Python function that handles unusual arguments is the function itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache as remember
from typing import Any

import numpy as np

from kinode.jit.llvm_code import compile_text
from kinode.jit.machine_code import keep, load_object
from kinode.jit.pointers import Struct
from kinode.jit.python_calls.builtin_function import address_in_python, make_builtin_function, supported
from kinode.jit.python_calls.step_ir import STEP_FIELDS, step_text


@remember
def _code() -> tuple[int, Any]:
    """Address of the function, and the LLVM engine that owns its code."""
    engine = load_object(keep("native step", lambda: compile_text(step_text())))
    return engine.get_function_address("kinode_step"), engine


def make_step(
    loop: int, memory: Struct, inputs: np.ndarray, fallback: Callable[..., None], resume: Callable[[], None], doc: str
) -> Callable[..., None]:
    """The function ``step(inputs=None)``.

    Parameters
    ----------
    loop : int
        Address of a loop, a function of the memory; it returns zero when the step is done.
    memory : Struct
    inputs : array
        Contiguous float64 numbers, into which those of the caller are copied.
    fallback : callable
        Called with the arguments where they are not an array of that size with finite numbers.
    resume : callable
        Called without arguments where the loop returns another code than zero.
    doc : str
        Documentation.
    """
    if not supported():
        return fallback
    vectorcall, incref = address_in_python("PyObject_Vectorcall", "Py_IncRef")
    entries = {
        "loop": loop,
        "memory": ctypes.addressof(memory),
        "inputs": inputs.ctypes.data,
        "size": inputs.size,
        "fallback": id(fallback),
        "resume": id(resume),
        "none": id(None),
        "ndarray": id(np.ndarray),
        "double": id(np.dtype(float)),
        "vectorcall": vectorcall,
        "incref": incref,
    }
    address, engine = _code()
    targets = (memory, inputs, fallback, resume, engine)
    values = [entries[field] for field in STEP_FIELDS]
    step: Callable[..., None] = make_builtin_function(
        address, "step", f"step(inputs=None)\n--\n\n{doc}", values, targets
    )
    return step
