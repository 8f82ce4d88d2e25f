"""Kernels as built-in functions of Python, so that a call costs little more than its result array.

One wrapper in machine code (``builtin_ir.py``) calls every kernel.  It reads the numbers directly from the float and
the arrays that it is given, provided they are exactly what the kernel takes: float64, one dimension, the right length,
contiguous, aligned, no subclass.  All other calls (keywords, lists, other shapes, batches) go to a Python function, the
fallback, with the same arguments.

Why our own: such a call takes 0.18 us for a leg of two joints, with the result array; through ``ctypes``, with the
pointers of q, u and a new result asked for at each call and all others kept, it takes 5.7 us (2026).  A way of ctypes
or cffi to call an address with NumPy arrays at this cost would make this module and ``builtin_ir.py`` obsolete.

The wrapper depends on the memory layout of Python's and NumPy's objects.  ``supported`` checks that layout once; where
it differs, a Python function takes the place of the wrapper.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache as remember
from importlib import import_module
from typing import Any

import numpy as np

from kinode.jit.machine_code import ARGUMENTS, Machine, is_kept, keep, load_object
from kinode.jit.python_calls.builtin_ir import (
    DATA,
    DESCRIPTION,
    DIMENSIONS,
    DOUBLE,
    FASTCALL,
    FIELDS,
    FLAGS,
    HEAD,
    NEW_ARRAY,
    PLAIN,
)
from kinode.jit.python_calls.builtin_ir import wrapper_text as write_wrapper
from kinode.jit.tiers.pending_code import PendingCode, once

WRAPPER = "native call"  # the key of the wrapper in the cache
OUT = sys.intern("out")  # the keyword, as Python passes it


class _Record(np.ndarray[Any, Any]):
    """The addresses that the wrapper reads; it is ``self`` of the built-in function, and keeps their targets alive."""

    targets: tuple[Any, ...]
    fallback: Callable[..., Any] | None = None

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        # Python pickles a built-in function as an attribute of its ``self``; addresses mean nothing elsewhere.
        if self.fallback is None:
            raise TypeError("this function runs on memory of its own process and cannot be pickled")
        return _Elsewhere, (self.fallback,)


class _Elsewhere:
    """What stands for the addresses in another process: the built-in function is its fallback there."""

    def __init__(self, fallback: Callable[..., Any]) -> None:
        self.fallback = fallback

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.fallback


class _MethodDef(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@remember
def _array_api() -> int:
    """Address of NumPy's table of C functions."""
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    functions: Any = import_module("numpy._core._multiarray_umath")
    return int(get_pointer(functions._ARRAY_API, None) or 0)


@remember
def supported() -> bool:
    """Whether Python and NumPy lay out their objects as the wrapper expects."""
    if sys.implementation.name != "cpython" or struct.calcsize("P") != 8:
        return False
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    return bool(has_lock) and object.__basicsize__ == HEAD and float.__basicsize__ == HEAD + 8 and _layout_matches()


def _layout_matches() -> bool:
    """Whether sample objects have their contents at the expected offsets."""
    sample = np.arange(6.0).reshape(2, 3)
    number = 1.5
    scalar = np.float64(2.5)

    def at(sample_object: object, offset: int, c_type: Any) -> Any:
        return c_type.from_address(id(sample_object) + offset).value

    try:
        dimensions = at(sample, DIMENSIONS, ctypes.c_void_p)
        return bool(
            at(number, HEAD, ctypes.c_double) == 1.5
            and at(scalar, HEAD, ctypes.c_double) == 2.5
            and at(sample, 8, ctypes.c_void_p) == id(np.ndarray)
            and at(sample, DATA, ctypes.c_void_p) == sample.ctypes.data
            and at(sample, DATA + 8, ctypes.c_int) == 2
            and list((ctypes.c_int64 * 2).from_address(dimensions)) == [2, 3]
            and at(sample, DESCRIPTION, ctypes.c_void_p) == id(np.dtype(float))
            and at(sample, FLAGS, ctypes.c_int) & PLAIN == PLAIN
            and np.dtype(float).num == DOUBLE
            and _array_api() != 0
        )
    except (ImportError, AttributeError):
        return False


@once
def _wrapper() -> tuple[int, Any]:
    """Address of the wrapper, and what owns its code."""

    def make() -> bytes:
        from kinode.jit.llvm_code import compile_text

        return compile_text(write_wrapper())

    engine = load_object(keep(WRAPPER, make))
    return engine.get_function_address("kinode_call"), engine


def prepare_wrapper() -> None:
    """Compile the wrapper while the caller goes on, if it is in no cache."""
    if supported() and not is_kept(WRAPPER):
        PendingCode(_wrapper, at_once=False)


@remember
def _definition(name: str, doc: str, address: int) -> _MethodDef:
    """Name, documentation and code of a built-in function; never freed, because the function refers to it."""
    return _MethodDef(name.encode(), address, FASTCALL, doc.encode())


def address_in_python(*names: str) -> Iterator[int]:
    """The addresses of functions of Python's C interface."""
    for name in names:
        yield int(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0)


def make_builtin_function(
    address: int,
    name: str,
    doc: str,
    values: Sequence[int],
    targets: tuple[Any, ...],
    fallback: Callable[..., Any] | None = None,
) -> Any:
    """The built-in function whose code is at an address; ``self`` is an array of values.

    ``targets`` are kept alive with it: everything that the values are addresses of.  It is pickled as its ``fallback``.
    """
    record = np.array(values, dtype=np.uint64).view(_Record)
    definition = _definition(name, doc, address)
    record.targets, record.fallback = (*targets, definition), fallback
    create = ctypes.pythonapi.PyCFunction_NewEx
    create.restype = ctypes.py_object
    create.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return create(ctypes.addressof(definition), record, None)


def make_callable(
    machine: Machine,
    roles: Sequence[str],
    defaults: Mapping[str, np.ndarray],
    out_shape: tuple[int, ...],
    fallback: Callable[..., Any],
    name: str = "kernel",
    doc: str = "",
    signature: str = "",
    least: int | None = None,
    takes_out: bool = False,
    limit: float | None = None,
) -> Callable[..., Any]:
    """A function of the arguments named by ``roles`` that returns a new array of shape ``out_shape``.

    ``machine`` has one lane and writes every entry of ``out``.  The other arguments of the kernel are read from the
    arrays in ``defaults`` at each call, so a change of such an array in place changes the result.  ``fallback`` is
    called if the arguments are not exactly what the kernel takes.  A call needs ``least`` arguments (all by default);
    those left out are the defaults, or zero.  ``takes_out`` adds the keyword ``out``, an array for the result.
    Where an entry of the result exceeds the ``limit`` or is not finite, ``fallback`` is called too.
    """
    least = len(roles) if least is None else least
    arrays = _default_arrays(machine, roles, defaults)
    size = machine.sizes["out"]
    if machine.lanes != 1 or int(np.prod(out_shape)) != size or not 1 <= len(out_shape) <= 2:
        raise ValueError(f"{machine.name!r} has {machine.lanes} lanes and {size} results, not {out_shape}")
    if not supported():
        return _python_callable(machine, roles, arrays, out_shape, fallback, name, doc, least, takes_out, limit)
    names = ("PyObject_Vectorcall", "PyLong_AsDouble", "PyErr_Clear", "Py_IncRef", "Py_DecRef")
    vectorcall, as_double, clear, keep_alive, release = address_in_python(*names)
    new_array = ctypes.c_void_p.from_address(_array_api() + 8 * NEW_ARRAY).value or 0
    entries = {
        "kernel": machine.address,
        "fallback": id(fallback),
        "count": len(roles),
        "ndarray": id(np.ndarray),
        "float": id(float),
        "float64": id(np.float64),
        "int": id(int),
        "new": new_array,
        "vectorcall": vectorcall,
        "as_double": as_double,
        "clear": clear,
        "double": id(np.dtype(float)),
        "dimensions": len(out_shape),
        "rows": out_shape[0],
        "columns": out_shape[-1],
        "least": least,
        "out_name": id(OUT) if takes_out else 0,
        "keep": keep_alive,
        "release": release,
        "looked_at": 0 if limit is None else size,
        "limit": 0 if limit is None else struct.unpack("<q", struct.pack("<d", limit))[0],
    }
    values = [entries[field] for field in FIELDS] + [arrays[argument].ctypes.data for argument in ARGUMENTS]
    for role in roles:
        values += [ARGUMENTS.index(role), machine.sizes[role]]
    text = f"{name}{signature or '(' + ', '.join(roles) + ')'}\n--\n\n{doc}"
    targets = (machine, arrays, fallback, _wrapper())
    function: Callable[..., Any] = make_builtin_function(_wrapper()[0], name, text, values, targets, fallback)
    return function


def _default_arrays(
    machine: Machine, roles: Sequence[str], defaults: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """One array for each argument of the kernel; those of ``roles`` and of results are placeholders."""
    arrays = {}
    for argument in ARGUMENTS:
        size = machine.sizes[argument]
        array = defaults.get(argument)
        if array is None and (argument in roles or argument in ("work", "out") or size == 0):
            array = np.zeros(max(size, 1))
        if array is None:
            raise ValueError(f"{machine.name!r} reads {argument!r}, which is neither a role nor a default")
        if array.dtype != np.dtype(float) or not array.flags.c_contiguous or array.size < size:
            raise ValueError(f"the default of {argument!r} must be {size} contiguous float64 numbers")
        arrays[argument] = array
    return arrays


def _python_callable(
    machine: Machine,
    roles: Sequence[str],
    arrays: Mapping[str, np.ndarray],
    out_shape: tuple[int, ...],
    fallback: Callable[..., Any],
    name: str,
    doc: str,
    least: int,
    takes_out: bool,
    limit: float | None,
) -> Callable[..., Any]:
    """The built-in function in Python, for interpreters with another layout of objects."""
    kernel = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * len(ARGUMENTS))(machine.address)
    addresses = [arrays[argument].ctypes.data for argument in ARGUMENTS]
    slots = [ARGUMENTS.index(role) for role in roles]

    def fits(slot: int, value: Any) -> bool:
        if slot == 0:
            return type(value) in (float, np.float64, int)
        if type(value) is not np.ndarray or value.dtype != np.dtype(float):
            return False
        plain = value.flags.c_contiguous and value.flags.aligned
        return plain and value.shape == (machine.sizes[ARGUMENTS[slot]],)

    def usable(out: Any) -> bool:
        plain = type(out) is np.ndarray and out.dtype == np.dtype(float) and out.shape == out_shape
        return plain and bool(out.flags.carray)

    def function(*args: Any, **keywords: Any) -> Any:
        into = keywords.get(OUT)
        named = not keywords or (takes_out and len(keywords) == 1 and usable(into))
        if not named or not least <= len(args) <= len(slots) or not all(map(fits, slots, args)):
            return fallback(*args, **keywords)
        pointers = list(addresses)
        time = ctypes.c_double()
        for slot, value in zip(slots, args, strict=False):
            if slot == 0:
                try:
                    time.value = value
                except OverflowError:
                    return fallback(*args, **keywords)
            pointers[slot] = ctypes.addressof(time) if slot == 0 else value.ctypes.data
        result = np.empty(out_shape) if into is None else into
        pointers[-1] = result.ctypes.data
        kernel(*pointers)
        if limit is not None and not (abs(result) <= limit).all():
            return fallback(*args, **keywords)
        return result

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    function.__dict__["targets"] = (machine, arrays)
    return function
