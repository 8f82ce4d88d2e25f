"""The built-in function ``step(inputs)`` of a stepper: one call of a loop on memory that is kept, no new object.

Without an argument, or with an array of the right length, it copies the numbers, calls a loop with its record, and
returns None if the loop returns zero.  Everything else goes to a Python function with the same arguments: other
arguments before the loop is called, and other codes of the loop (``resume``).

A call takes 0.05 us beside the loop; through ``ctypes`` it takes 0.7 us (2026).  Where Python lays out its objects in
another way, the Python function that handles unusual arguments is the function itself.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable

import numpy as np

from kinode.jit.loop.memory import Floats, Ints, Struct, apart, floats, floats_of, invoke, struct, struct_at
from kinode.jit.machine_code import compiled_together
from kinode.jit.python_function import (
    DATA,
    DIMENSIONS,
    INLINED,
    LOW,
    N_DIMENSIONS,
    PLAIN,
    PythonInterface,
    find_interface,
    is_array,
    make_builtin_function,
    supported,
    words,
)


@struct
class StepRecord(Struct):
    """What the function needs: a loop and its record, where the inputs go, whom to call for anything unusual."""

    interface: int
    loop: int
    memory: int
    size: int
    fallback: int
    resume: int
    inputs: Floats


def take_inputs(record: StepRecord, python: PythonInterface, given: int) -> bool:
    """Copy the inputs; False if they are not an array of that size with finite numbers."""
    array = words(given)
    if not is_array(python, given, PLAIN) or array[N_DIMENSIONS] & LOW != 1:
        return False
    if record.size == 0 or words(array[DIMENSIONS])[0] != record.size:
        return False
    values, inputs = floats(array[DATA]), record.inputs
    for i in range(record.size):
        if not math.isfinite(values[i]):
            return False
    for i in apart(record.size):
        inputs[i] = values[i]
    return True


def kinode_step(owner: Ints, args: int, n: int, keywords: int) -> int:
    """The built-in function; ``owner`` is ``self``."""
    record = struct_at(StepRecord, owner[DATA])
    python = struct_at(PythonInterface, record.interface)
    usual = keywords == 0 and n <= 1
    if not usual or (n == 1 and not take_inputs(record, python, words(args)[0])):
        return invoke(python.vectorcall, record.fallback, args, n, keywords)
    if invoke(record.loop, record.memory) != 0:
        return invoke(python.vectorcall, record.resume, 0, 0, 0)
    invoke(python.keep, python.none)
    return python.none


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
    interface, (step_code,) = find_interface(), compiled_together((kinode_step,), inlined=INLINED)
    record = StepRecord(
        interface=ctypes.addressof(interface), loop=loop, memory=ctypes.addressof(memory), size=inputs.size,
        fallback=id(fallback), resume=id(resume), inputs=floats_of(inputs) if inputs.size else None,
    )  # fmt: skip
    targets = (memory, inputs, fallback, resume, interface)
    text = "step", f"step(inputs=None)\n--\n\n{doc}"
    step: Callable[..., None] = make_builtin_function(step_code.address, text, record, targets)
    return step
