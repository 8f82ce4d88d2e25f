"""Kernels as built-in functions of Python, so that a call costs little more than its result array.

One wrapper in machine code calls every kernel.  It reads the numbers directly from the float and the arrays that it is
given, provided they are exactly what the kernel takes: float64, one dimension, the right length, contiguous, aligned,
no subclass.  All other calls (keywords, lists, other shapes, batches) go to a Python function, the fallback, with the
same arguments.  ``self`` of the built-in function is an array of 8-byte entries, the record.

Why our own: such a call takes 0.18 us for a leg of two joints, with the result array; through ``ctypes``, with the
pointers of q, u and a new result asked for at each call and all others kept, it takes 5.7 us (2026).  A way of ctypes
or cffi to call an address with NumPy arrays at this cost would make this module obsolete.

The wrapper depends on the memory layout of Python's and NumPy's objects: its offsets are those of 64-bit CPython and
NumPy 2.  ``supported`` checks that layout once; where it differs, a Python function takes the place of the wrapper.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache as remember
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from kinode.jit.machine_code import ARGUMENTS, Machine, is_kept, keep, load_object
from kinode.jit.tiers.pending_code import PendingCode, once

DOUBLE = 12  # NumPy's number of the type float64
NEW_ARRAY = 93  # index of PyArray_New in NumPy's table of functions
PLAIN = 0x101  # flags of an array: contiguous, aligned
WRITEABLE = 0x400  # flag of an array
FASTCALL = 0x82  # METH_FASTCALL | METH_KEYWORDS
HEAD, DATA, DIMENSIONS, DESCRIPTION, FLAGS = 16, 16, 32, 56, 64  # byte offsets within objects
TUPLE_SIZE, TUPLE_ITEMS = 16, 24  # the same of a tuple

# The first entries of the record, in this order.
FIELDS: tuple[str, ...] = ("kernel", "fallback", "count", "ndarray", "float", "float64", "int", "double")
FIELDS += ("new", "vectorcall", "as_double", "clear", "dimensions", "rows", "columns")
FIELDS += ("least", "out_name", "keep", "release", "looked_at", "limit")
DEFAULTS = len(FIELDS)  # index of the first default pointer, one for each argument of the kernel
ROLES = DEFAULTS + len(ARGUMENTS)  # index of the first pair (argument of the kernel, size)


def load_entry(fields: Sequence[str], name: str, llvm_type: str = "ptr", end: str = "") -> str:
    """Two lines that load an entry of the record into ``%name``, with an ``end`` where it is loaded twice."""
    return (
        f"  %at_{name}{end} = getelementptr i64, ptr %record, i64 {fields.index(name)}\n"
        f"  %{name}{end} = load {llvm_type}, ptr %at_{name}{end}, align 8\n"
    )


_field = partial(load_entry, FIELDS)


def load_array(prefix: str = "", flags: int = PLAIN) -> str:
    """Lines about an array, ``%object`` behind a prefix: ``%data``, ``%nd``, ``%dims``, and ``%usable_layout``.

    That is whether it holds doubles in a layout with these flags; ``%double`` is NumPy's description of the type.
    """
    p = prefix
    return f"""\
  %at_{p}data = getelementptr i8, ptr %{p}object, i64 {DATA}
  %{p}data = load ptr, ptr %at_{p}data, align 8
  %at_{p}nd = getelementptr i8, ptr %{p}object, i64 {DATA + 8}
  %{p}nd = load i32, ptr %at_{p}nd, align 8
  %at_{p}dims = getelementptr i8, ptr %{p}object, i64 {DIMENSIONS}
  %{p}dims = load ptr, ptr %at_{p}dims, align 8
  %at_{p}description = getelementptr i8, ptr %{p}object, i64 {DESCRIPTION}
  %{p}description = load ptr, ptr %at_{p}description, align 8
  %at_{p}flags = getelementptr i8, ptr %{p}object, i64 {FLAGS}
  %{p}flags = load i32, ptr %at_{p}flags, align 8
  %{p}plain_flags = and i32 %{p}flags, {flags}
  %{p}is_plain = icmp eq i32 %{p}plain_flags, {flags}
  %{p}is_double = icmp eq ptr %{p}description, %double
  %{p}usable_layout = and i1 %{p}is_plain, %{p}is_double
"""


def check_vector() -> str:
    """Lines that go on to ``length`` with a vector of doubles, and to the fallback with anything else."""
    return f"""\
{load_array()}  %is_vector = icmp eq i32 %nd, 1
  %is_usable = and i1 %is_vector, %usable_layout
  br i1 %is_usable, label %length, label %to_fallback
"""


def _check_arguments() -> str:
    """The loop over the arguments: puts the address of each number or array into the table of pointers."""
    return f"""\
check:
  %given = phi ptr [ null, %entry ], [ %out_object, %out_fits ]
  %has_arguments = icmp sgt i64 %n, 0
  br i1 %has_arguments, label %argument, label %ready
argument:
  %j = phi i64 [ 0, %check ], [ %next, %accepted ]
  %at_object = getelementptr ptr, ptr %args, i64 %j
  %object = load ptr, ptr %at_object, align 8
  %at_type = getelementptr i8, ptr %object, i64 8
  %type = load ptr, ptr %at_type, align 8
  %twice = mul i64 %j, 2
  %role_index = add i64 %twice, {ROLES}
  %at_slot = getelementptr i64, ptr %record, i64 %role_index
  %slot = load i64, ptr %at_slot, align 8
  %is_time = icmp eq i64 %slot, 0
  br i1 %is_time, label %scalar, label %array
scalar:
  %is_float = icmp eq ptr %type, %float
  %is_float64 = icmp eq ptr %type, %float64
  %is_real = or i1 %is_float, %is_float64
  br i1 %is_real, label %from_float, label %maybe_int
from_float:
  %at_real = getelementptr i8, ptr %object, i64 {HEAD}
  %real_value = load double, ptr %at_real, align 8
  br label %have_time
maybe_int:
  %is_int = icmp eq ptr %type, %int
  br i1 %is_int, label %from_int, label %to_fallback
from_int:
{_field("as_double")}  %int_value = call double %as_double(ptr %object)
  %maybe_error = fcmp oeq double %int_value, 0xBFF0000000000000
  br i1 %maybe_error, label %clear_error, label %have_time
clear_error:
{_field("clear")}  call void %clear()
  br label %to_fallback
have_time:
  %time_value = phi double [ %real_value, %from_float ], [ %int_value, %from_int ]
  store double %time_value, ptr %time, align 8
  br label %accepted
{_check_array()}accepted:
  %source = phi ptr [ %time, %have_time ], [ %data, %vector ]
  %target = getelementptr ptr, ptr %pointers, i64 %slot
  store ptr %source, ptr %target, align 8
  %next = add i64 %j, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %argument, label %ready
"""


def _check_array() -> str:
    """The check that an argument is an array with the type, layout and length that the kernel takes."""
    return f"""\
array:
  %is_array = icmp eq ptr %type, %ndarray
  br i1 %is_array, label %fields, label %to_fallback
fields:
{check_vector()}length:
  %size = load i64, ptr %dims, align 8
  %at_required = getelementptr i64, ptr %at_slot, i64 1
  %required = load i64, ptr %at_required, align 8
  %fits = icmp eq i64 %size, %required
  br i1 %fits, label %vector, label %to_fallback
vector:
  br label %accepted
"""


def _check_out() -> str:
    """The check of the keyword ``out``: an array of the result's shape that can be written to."""
    return f"""\
keyword:
  %at_keywords = getelementptr i8, ptr %keywords, i64 {TUPLE_SIZE}
  %n_keywords = load i64, ptr %at_keywords, align 8
  %at_name = getelementptr i8, ptr %keywords, i64 {TUPLE_ITEMS}
  %name = load ptr, ptr %at_name, align 8
{_field("out_name")}  %is_out = icmp eq ptr %name, %out_name
  %is_single = icmp eq i64 %n_keywords, 1
  %only_out = and i1 %is_out, %is_single
  br i1 %only_out, label %out_type, label %to_fallback
out_type:
  %at_out_object = getelementptr ptr, ptr %args, i64 %n
  %out_object = load ptr, ptr %at_out_object, align 8
  %at_out_type = getelementptr i8, ptr %out_object, i64 8
  %out_class = load ptr, ptr %at_out_type, align 8
  %out_is_array = icmp eq ptr %out_class, %ndarray
  br i1 %out_is_array, label %out_fields, label %to_fallback
out_fields:
{load_array("out_", PLAIN | WRITEABLE)}{_field("dimensions", "i64")}  %nd_out = trunc i64 %dimensions to i32
  %out_nd_fits = icmp eq i32 %out_nd, %nd_out
  %out_usable = and i1 %out_usable_layout, %out_nd_fits
  br i1 %out_usable, label %out_shape, label %to_fallback
out_shape:
  %out_rows = load i64, ptr %out_dims, align 8
  %last = sub i64 %dimensions, 1
  %at_out_columns = getelementptr i64, ptr %out_dims, i64 %last
  %out_columns = load i64, ptr %at_out_columns, align 8
{_field("rows", "i64")}{_field("columns", "i64")}  %rows_fit = icmp eq i64 %out_rows, %rows
  %columns_fit = icmp eq i64 %out_columns, %columns
  %shape_fits = and i1 %rows_fit, %columns_fit
  br i1 %shape_fits, label %out_fits, label %to_fallback
out_fits:
  br label %check
"""


def _result() -> str:
    """The result: the array that was given, or a new one."""
    no_data = "ptr null, ptr null"
    return f"""\
ready:
  %has_out = icmp ne ptr %given, null
  br i1 %has_out, label %compute, label %make
make:
{_field("new")}{_field("dimensions", "i64", "_new")}  %nd_new = trunc i64 %dimensions_new to i32
  %shape = getelementptr i64, ptr %record, i64 {FIELDS.index("rows")}
  %made = call ptr %new(ptr %ndarray, i32 %nd_new, ptr %shape, i32 {DOUBLE}, {no_data}, i32 0, i32 0, ptr null)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %return, label %compute
compute:
  %target_array = phi ptr [ %given, %ready ], [ %made, %make ]
  %at_out = getelementptr i8, ptr %target_array, i64 {DATA}
  %out = load ptr, ptr %at_out, align 8
"""


def _look() -> str:
    """The look at the result: where an entry exceeds the limit, or is not finite, the fallback has the last word.

    Without its sign a double counts up with its bits, and infinity and nan come after all numbers; so bits are
    compared, and a negative difference marks an entry.
    """
    return f"""\
{_field("looked_at", "i64")}  %is_looked_at = icmp sgt i64 %looked_at, 0
  br i1 %is_looked_at, label %look, label %done
look:
{_field("limit", "i64")}  br label %entries
entries:
  %k = phi i64 [ 0, %look ], [ %k_next, %entries ]
  %marks = phi i64 [ 0, %look ], [ %marks_next, %entries ]
  %at_entry = getelementptr i64, ptr %out, i64 %k
  %signed_bits = load i64, ptr %at_entry, align 8
  %bits = and i64 %signed_bits, {2**63 - 1}
  %below = sub i64 %limit, %bits
  %marks_next = or i64 %marks, %below
  %k_next = add i64 %k, 1
  %more_entries = icmp slt i64 %k_next, %looked_at
  br i1 %more_entries, label %entries, label %looked
looked:
  %is_suspicious = icmp slt i64 %marks_next, 0
  br i1 %is_suspicious, label %suspicious, label %done
suspicious:
  br i1 %has_out, label %to_fallback, label %forget
forget:
{_field("release")}  call void %release(ptr %target_array)
  br label %to_fallback
done:
"""


def wrapper_text() -> str:
    """LLVM text of the wrapper."""
    copies = "".join(
        f"  %from{k} = getelementptr i64, ptr %record, i64 {DEFAULTS + k}\n"
        f"  %value{k} = load ptr, ptr %from{k}, align 8\n"
        f"  %to{k} = getelementptr ptr, ptr %pointers, i64 {k}\n"
        f"  store ptr %value{k}, ptr %to{k}, align 8\n"
        for k in range(len(ARGUMENTS))
    )
    loads = "".join(f"  %pointer{k} = load ptr, ptr %to{k}, align 8\n" for k in range(len(ARGUMENTS) - 1))
    operands = ", ".join(f"ptr %pointer{k}" for k in range(len(ARGUMENTS) - 1))
    return f"""\
define ptr @kinode_call(ptr %self, ptr %args, i64 %n, ptr %keywords) nounwind {{
entry:
  %pointers = alloca [{len(ARGUMENTS)} x ptr], align 16
  %time = alloca double, align 8
  %at_record = getelementptr i8, ptr %self, i64 {DATA}
  %record = load ptr, ptr %at_record, align 8
{_field("count", "i64")}{_field("ndarray")}{_field("float")}{_field("float64")}{_field("int")}{_field("double")}\
{copies}
  %no_keywords = icmp eq ptr %keywords, null
{_field("least", "i64")}  %enough = icmp sge i64 %n, %least
  %not_too_many = icmp sle i64 %n, %count
  %count_fits = and i1 %enough, %not_too_many
  %acceptable = and i1 %no_keywords, %count_fits
  br i1 %acceptable, label %check, label %unusual
unusual:
  br i1 %count_fits, label %keyword, label %to_fallback
{_check_out()}{_check_arguments()}{_result()}{loads}{_field("kernel")}  call void %kernel({operands}, ptr %out)
{_look()}  br i1 %has_out, label %keep_given, label %return
keep_given:
{_field("keep")}  call void %keep(ptr %given)
  br label %return
return:
  %result = phi ptr [ null, %make ], [ %target_array, %done ], [ %given, %keep_given ]
  ret ptr %result
to_fallback:
{_field("vectorcall")}{_field("fallback")}\
  %fallback_result = call ptr %vectorcall(ptr %fallback, ptr %args, i64 %n, ptr %keywords)
  ret ptr %fallback_result
}}
"""


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

        return compile_text(wrapper_text())

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
