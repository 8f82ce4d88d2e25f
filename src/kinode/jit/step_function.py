"""The built-in function ``step(inputs)`` of a stepper: one call of a loop on memory that is kept, no new object.

Without an argument, or with an array of the right length, it copies the numbers, calls a loop with its record, and
returns None if the loop returns zero.  Everything else goes to a Python function with the same arguments: other
arguments before the loop is called, and other codes of the loop (``resume``).

A call takes 0.05 us beside the loop; through ``ctypes`` it takes 0.7 us (2026).  Where Python lays out its objects in
another way, the Python function that handles unusual arguments is the function itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache as remember
from functools import partial
from typing import Any

import numpy as np

from kinode.jit.llvm_code import compile_text
from kinode.jit.loop.memory import Struct
from kinode.jit.machine_code import keep, load_object
from kinode.jit.python_function import (
    DATA,
    address_in_python,
    check_vector,
    load_entry,
    make_builtin_function,
    supported,
)

STEP_FIELDS: tuple[str, ...] = ("loop", "memory", "inputs", "size", "fallback", "resume", "none", "ndarray", "double")
STEP_FIELDS += ("vectorcall", "incref")
"""The entries of the record, of eight bytes each, in this order."""


_load = partial(load_entry, STEP_FIELDS)


def _take_array() -> str:
    """The check of the argument, an array of finite numbers, and its copy."""
    return f"""\
array:
{_load("ndarray")}{_load("double")}{_load("size", "i64")}  %object = load ptr, ptr %args, align 8
  %at_type = getelementptr i8, ptr %object, i64 8
  %type = load ptr, ptr %at_type, align 8
  %is_array = icmp eq ptr %type, %ndarray
  br i1 %is_array, label %fields, label %to_fallback
fields:
{check_vector()}length:
  %given = load i64, ptr %dims, align 8
  %fits = icmp eq i64 %given, %size
  %some = icmp sgt i64 %size, 0
  %usable = and i1 %fits, %some
{_load("inputs")}  br i1 %usable, label %check, label %to_fallback
check:
  %j = phi i64 [ 0, %length ], [ %after, %check_next ]
  %at_checked = getelementptr double, ptr %data, i64 %j
  %checked = load double, ptr %at_checked, align 8
  %difference = fsub double %checked, %checked
  %finite = fcmp oeq double %difference, 0.0
  br i1 %finite, label %check_next, label %to_fallback
check_next:
  %after = add i64 %j, 1
  %unchecked = icmp slt i64 %after, %size
  br i1 %unchecked, label %check, label %copy
copy:
  %i = phi i64 [ 0, %check_next ], [ %next, %copy ]
  %source = getelementptr double, ptr %data, i64 %i
  %value = load double, ptr %source, align 8
  %target = getelementptr double, ptr %inputs, i64 %i
  store double %value, ptr %target, align 8
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %size
  br i1 %more, label %copy, label %run
"""


def step_text() -> str:
    """LLVM text of the function."""
    return f"""\
define ptr @kinode_step(ptr %self, ptr %args, i64 %n, ptr %keywords) nounwind {{
entry:
  %at_record = getelementptr i8, ptr %self, i64 {DATA}
  %record = load ptr, ptr %at_record, align 8
  %no_keywords = icmp eq ptr %keywords, null
  br i1 %no_keywords, label %count, label %to_fallback
count:
  switch i64 %n, label %to_fallback [ i64 0, label %run
                                      i64 1, label %array ]
{_take_array()}run:
{_load("loop")}{_load("memory")}  %code = call i64 %loop(ptr %memory)
  %done = icmp eq i64 %code, 0
  br i1 %done, label %return_none, label %to_resume
return_none:
{_load("none")}{_load("incref")}  call void %incref(ptr %none)
  ret ptr %none
to_resume:
{_load("vectorcall", end="_resume")}{_load("resume")}\
  %resumed = call ptr %vectorcall_resume(ptr %resume, ptr null, i64 0, ptr null)
  ret ptr %resumed
to_fallback:
{_load("vectorcall")}{_load("fallback")}\
  %fallback_result = call ptr %vectorcall(ptr %fallback, ptr %args, i64 %n, ptr %keywords)
  ret ptr %fallback_result
}}
"""


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
