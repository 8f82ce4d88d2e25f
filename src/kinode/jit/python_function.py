"""Kernels as built-in functions of Python, so that a call costs little more than its result array.

One function of the loop language calls every kernel.  It reads the numbers directly from the float and the arrays that
it is given, provided they are exactly what the kernel takes: float64, one dimension, the right length, contiguous,
aligned, no subclass.  All other calls (lists, other shapes, batches, other keywords) go to a Python function, the
fallback, with the same arguments.  The result is a new array, or a tuple of new arrays; a Python function may make
something else of it.  ``self`` of the built-in function is an array of NumPy over the bytes of its record.

Why our own: such a call takes 0.18 us for a leg of two joints, with the result array; through ``ctypes``, with the
pointers of q, u and a new result asked for at each call and all others kept, it takes 5.7 us (2026).  A way of ctypes
or cffi to call an address with NumPy arrays at this cost would make this module obsolete.

It depends on the memory layout of Python's and NumPy's objects: its offsets are those of 64-bit CPython and NumPy 2.
``supported`` checks that layout once; where it differs, the fallback takes all calls.

Other Python code may run, and call the same function, while a tuple is made; so the tuple comes first, and from the
first argument to the last number of the result nothing else runs.
"""

from __future__ import annotations

import ctypes
import struct as binary
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache as remember
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from kinode.jit.loop.memory import Ints, Struct, apart, bits, call, floats, ints_of, invoke, struct, struct_at
from kinode.jit.machine_code import ARGUMENTS, CompiledFunction, Machine, compiled_together, is_kept, key_of, name_of
from kinode.jit.tiers.pending_code import PendingCode

DOUBLE = 12  # NumPy's number of the type float64
NEW_ARRAY = 93  # index of PyArray_New in NumPy's table of functions
PLAIN = 0x101  # flags of an array: contiguous, aligned
WRITEABLE = 0x400  # flag of an array
FASTCALL = 0x82  # METH_FASTCALL | METH_KEYWORDS
LOW = 0xFFFFFFFF  # of a number of 32 bits within a word
# Where the contents of objects are, in words of eight bytes: of all, of floats, of arrays, of tuples.
TYPE, NUMBER = 1, 2
DATA, N_DIMENSIONS, DIMENSIONS, DESCRIPTION, FLAGS = 2, 3, 4, 7, 8
TUPLE_SIZE, TUPLE_ITEMS = 2, 3
INLINED = 200  # instructions of a function that is compiled into its callers: each call costs a nanosecond or two
COPIED = 16  # added to the place of an argument whose first entries alone are given: they are copied
TIME, OUT, HELD = 0, len(ARGUMENTS) - 1, len(ARGUMENTS)  # entries of a table of pointers; the last is an object's
SIZE_BITS = 2**63 - 1  # all but the sign of a real number


@struct
class PythonInterface(Struct):
    """Addresses of types, objects and C functions of Python and NumPy."""

    ndarray: int
    float_type: int
    float64: int
    int_type: int
    double: int
    none: int
    out_name: int
    new_array: int
    new_tuple: int
    find: int
    vectorcall: int
    as_integer: int
    error: int
    clear: int
    keep: int
    release: int


@struct
class CallRecord(Struct):
    """What one built-in function calls.

    ``time`` is that of a call, and the record begins with it.  ``pointers`` are the arguments of the kernel during a
    call, and the number of copied arguments or one object; ``defaults`` those before it.  ``roles`` has for each
    argument of the function its place among them and its size: positional ones, then those by keyword.  ``pieces`` has
    for each array of the result its number of dimensions, their address and the number of its entries.  ``before`` is a
    loop that is called with its own record between the arguments and the kernel; where it does not return 0, or an
    entry of the result exceeds the ``limit``, the fallback takes the call.
    """

    time: float
    interface: int
    kernel: int
    fallback: int
    before: int
    before_record: int
    wrap: int
    least: int
    count: int
    n_keywords: int
    n_copied: int
    n_pieces: int
    looked_at: int
    limit: int
    takes_out: int
    room: int
    table: int
    pointers: Ints
    defaults: Ints
    roles: Ints
    names: Ints
    pieces: Ints


@struct
class FindRecord(Struct):
    """What a built-in function that finds another one by its first argument needs: a dictionary."""

    interface: int
    known: int
    fallback: int


def words(address: int) -> Ints:
    """What is at an address, in words of eight bytes."""
    return bits(floats(address))


def is_array(python: PythonInterface, address: int, flags: int) -> bool:
    """Whether an object is an array of real numbers in a layout with these flags."""
    array = words(address)
    return array[TYPE] == python.ndarray and array[DESCRIPTION] == python.double and array[FLAGS] & flags == flags


def take_time(record: CallRecord, python: PythonInterface, given: int) -> bool:
    """Read a time; False if it is no plain number."""
    kind = words(given)[TYPE]
    if kind == python.float_type or kind == python.float64:
        record.time = floats(given)[NUMBER]
        return True
    if kind != python.int_type:
        return False
    number = invoke(python.as_integer, given)
    if number == -1 and invoke(python.error) != 0:
        invoke(python.clear)
        return False
    record.time = float(number)
    return True


def take(record: CallRecord, python: PythonInterface, role: int, given: int) -> bool:
    """Take an argument; False if it is not exactly what the kernel takes, or was given before.  None is the default."""
    place, size = record.roles[2 * role], record.roles[2 * role + 1]
    if given == python.none and role >= record.least and place <= OUT:
        return True
    if place == TIME:
        return take_time(record, python, given)
    array = words(given)
    if not is_array(python, given, PLAIN) or array[N_DIMENSIONS] & LOW != 1 or words(array[DIMENSIONS])[0] != size:
        return False
    if place > OUT:
        first, values = floats(record.defaults[place - COPIED]), floats(array[DATA])
        for i in range(size):
            first[i] = values[i]
        record.pointers[HELD] += 1
        return True
    if record.pointers[place] != record.defaults[place]:
        return False
    record.pointers[place] = array[DATA]
    return True


def find_keyword(record: CallRecord, name: int) -> int:
    """The role of a keyword; -1 if there is none."""
    for k in range(record.n_keywords):
        if record.names[k] == name:
            return record.count + k
    return -1


def find_out(record: CallRecord, python: PythonInterface, args: int, n: int, keywords: int) -> int:
    """The object given as ``out``, 0 if there is none; -1 if it does not fit, or a keyword has no role."""
    given, names = 0, words(keywords)
    for k in range(names[TUPLE_SIZE]):
        if record.takes_out != 0 and names[TUPLE_ITEMS + k] == python.out_name:
            given = words(args)[n + k]
        elif find_keyword(record, names[TUPLE_ITEMS + k]) < 0:
            return -1
    if given == 0:
        return 0
    array, n_dimensions = words(given), record.pieces[0]
    if not is_array(python, given, PLAIN | WRITEABLE) or array[N_DIMENSIONS] & LOW != n_dimensions:
        return -1
    own, needed = words(array[DIMENSIONS]), words(record.pieces[1])
    for k in range(n_dimensions):
        if own[k] != needed[k]:
            return -1
    return given


def make_array(record: CallRecord, python: PythonInterface, k: int) -> int:
    """A new array for a piece of the result; 0 without memory."""
    n_dimensions, dimensions = record.pieces[3 * k], record.pieces[3 * k + 1]
    return invoke(python.new_array, python.ndarray, n_dimensions, dimensions, DOUBLE, 0, 0, 0, 0, 0)


def make_result(record: CallRecord, python: PythonInterface) -> int:
    """A new array, or a tuple of several; 0 without memory."""
    if record.n_pieces == 1:
        return make_array(record, python, 0)
    result = invoke(python.new_tuple, record.n_pieces)
    for k in range(record.n_pieces if result != 0 else 0):
        array = make_array(record, python, k)
        if array == 0:
            invoke(python.release, result)
            return 0
        words(result)[TUPLE_ITEMS + k] = array
    return result


def take_all(record: CallRecord, python: PythonInterface, args: int, n: int, keywords: int) -> bool:
    """Take all arguments; False if one does not fit."""
    given = words(args)
    for k in range(HELD):
        record.pointers[k] = record.defaults[k]
    record.pointers[HELD] = 0
    for j in range(n):
        if not take(record, python, j, given[j]):
            return False
    if keywords != 0:
        names = words(keywords)
        for k in range(names[TUPLE_SIZE]):
            role = find_keyword(record, names[TUPLE_ITEMS + k])
            if role >= 0 and not take(record, python, role, given[n + k]):
                return False
    if record.pointers[HELD] != record.n_copied:
        return False
    return record.before == 0 or invoke(record.before, record.before_record) == 0


def compute(record: CallRecord, result: int) -> bool:
    """Run the kernel and write the result; False if an entry is beyond the limit, or not finite.

    Without its sign a real number counts up with its bits, and infinity and nan come after all numbers; so bits are
    compared, and a negative difference marks an entry.
    """
    places = record.pointers
    places[OUT] = words(result)[DATA] if record.n_pieces == 1 else record.room
    out = floats(places[OUT])
    call(
        record.kernel, floats(places[0]), floats(places[1]), floats(places[2]), floats(places[3]), floats(places[4]),
        floats(places[5]), floats(places[6]), floats(places[7]), out,
    )  # fmt: skip
    marks = 0
    for i in range(record.looked_at):
        marks = marks | (record.limit - (bits(out)[i] & SIZE_BITS))
    if marks < 0:
        return False
    start = 0
    for k in range(record.n_pieces if record.n_pieces > 1 else 0):
        target = floats(words(words(result)[TUPLE_ITEMS + k])[DATA])
        for i in apart(record.pieces[3 * k + 2]):
            target[i] = out[start + i]
        start += record.pieces[3 * k + 2]
    return True


def kinode_call(owner: Ints, args: int, n: int, keywords: int) -> int:
    """The built-in function of a kernel; ``owner`` is ``self``."""
    record = struct_at(CallRecord, owner[DATA])
    python = struct_at(PythonInterface, record.interface)
    usual = record.least <= n and n <= record.count
    given = find_out(record, python, args, n, keywords) if usual and keywords != 0 else 0
    if not usual or given < 0:
        return invoke(python.vectorcall, record.fallback, args, n, keywords)
    result = given if given != 0 else make_result(record, python)
    if result == 0:
        return 0
    if not take_all(record, python, args, n, keywords) or not compute(record, result):
        if given == 0:
            invoke(python.release, result)
        return invoke(python.vectorcall, record.fallback, args, n, keywords)
    if given != 0:
        invoke(python.keep, given)
    if record.wrap == 0:
        return result
    record.pointers[HELD] = result
    wrapped = invoke(python.vectorcall, record.wrap, record.table + 8 * HELD, 1, 0)
    invoke(python.release, result)
    return wrapped


def kinode_find(owner: Ints, args: int, n: int, keywords: int) -> int:
    """The built-in function that calls the one that its first argument stands for in a dictionary, with the others."""
    record = struct_at(FindRecord, owner[DATA])
    python = struct_at(PythonInterface, record.interface)
    found = invoke(python.find, record.known, words(args)[0]) if n > 0 else 0
    if found == 0:
        invoke(python.clear)  # an argument without a hash
        return invoke(python.vectorcall, record.fallback, args, n, keywords)
    invoke(python.keep, found)
    result = invoke(python.vectorcall, found, args + 8, n - 1, keywords)
    invoke(python.release, found)
    return result


@remember
def find_interface() -> PythonInterface:
    """The addresses of this process."""
    functions = ctypes.pythonapi
    named = {
        "new_tuple": functions.PyTuple_New, "find": functions.PyDict_GetItemWithError,
        "vectorcall": functions.PyObject_Vectorcall, "as_integer": functions.PyLong_AsLongLong,
        "error": functions.PyErr_Occurred, "clear": functions.PyErr_Clear, "keep": functions.Py_IncRef,
        "release": functions.Py_DecRef,
    }  # fmt: skip
    objects: dict[str, object] = {"ndarray": np.ndarray, "float_type": float, "float64": np.float64, "int_type": int}
    objects |= {"none": None, "double": np.dtype(float), "out_name": OUT_NAME}
    return PythonInterface(
        new_array=ctypes.c_void_p.from_address(_array_api() + 8 * NEW_ARRAY).value,
        **{name: ctypes.cast(function, ctypes.c_void_p).value for name, function in named.items()},
        **{name: id(thing) for name, thing in objects.items()},
    )


OUT_NAME = sys.intern("out")  # the keyword, as Python passes it


class _Record(np.ndarray[Any, Any]):
    """The bytes of a record; it is ``self`` of the built-in function, and keeps alive what it points to."""

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
    """Whether Python and NumPy lay out their objects as the built-in functions expect."""
    if sys.implementation.name != "cpython" or binary.calcsize("P") != 8:
        return False
    has_lock, head = getattr(sys, "_is_gil_enabled", lambda: True)(), 8 * NUMBER
    return bool(has_lock) and object.__basicsize__ == head and float.__basicsize__ == head + 8 and _layout_matches()


def _layout_matches() -> bool:
    """Whether sample objects have their contents at the expected places."""
    sample, pair = np.arange(6.0).reshape(2, 3), (1.5, np.float64(2.5))

    def at(owner: object, place: int, c_type: Any = ctypes.c_void_p) -> Any:
        return c_type.from_address(id(owner) + 8 * place).value

    try:
        dimensions = at(sample, DIMENSIONS)
        return bool(
            at(pair[0], NUMBER, ctypes.c_double) == 1.5
            and at(pair[1], NUMBER, ctypes.c_double) == 2.5
            and at(sample, TYPE) == id(np.ndarray)
            and at(sample, DATA) == sample.ctypes.data
            and at(sample, N_DIMENSIONS, ctypes.c_int) == 2
            and list((ctypes.c_int64 * 2).from_address(dimensions)) == [2, 3]
            and at(sample, DESCRIPTION) == id(np.dtype(float))
            and at(sample, FLAGS, ctypes.c_int) & PLAIN == PLAIN
            and at(pair, TUPLE_SIZE) == 2
            and at(pair, TUPLE_ITEMS + 1) == id(pair[1])
            and np.dtype(float).num == DOUBLE
            and _array_api() != 0
        )
    except (ImportError, AttributeError):
        return False


def _wrappers() -> tuple[CompiledFunction, ...]:
    """The built-in functions for kernels, and for those found by their first argument."""
    return compiled_together((kinode_call, kinode_find), inlined=INLINED)


def prepare_wrapper() -> None:
    """Compile the built-in functions while the caller goes on, if they are in no cache."""
    if supported() and not is_kept(key_of([name_of(kinode_call), name_of(kinode_find)])):
        PendingCode(_wrappers, at_once=False)


@remember
def _definition(name: str, doc: str, address: int) -> _MethodDef:
    """Name, documentation and code of a built-in function; never freed, because the function refers to it."""
    return _MethodDef(name.encode(), address, FASTCALL, doc.encode())


def make_builtin_function(
    address: int, text: tuple[str, str], record: Struct, targets: tuple[Any, ...],
    fallback: Callable[..., Any] | None = None,
) -> Any:  # fmt: skip
    """The built-in function whose code is at an address; its ``self`` are the bytes of a record.

    ``text`` is its name, and its signature with its documentation as CPython wants them.  ``targets`` are kept alive
    with it: everything that the record has addresses of.  It is pickled as its ``fallback``.
    """
    owner = np.frombuffer(record, dtype=np.uint64).view(_Record)  # type: ignore[call-overload]
    definition = _definition(*text, address)
    owner.targets, owner.fallback = (record, definition, *targets), fallback
    create = ctypes.pythonapi.PyCFunction_NewEx
    create.restype = ctypes.py_object
    create.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return create(ctypes.addressof(definition), owner, None)


def redirect(function: Callable[..., Any], fallback: Callable[..., Any]) -> None:
    """Give a function of ``make_callable`` another fallback."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, _Record):
        owner.targets[0].fallback = id(fallback)
        owner.targets += (fallback,)


class Before(NamedTuple):
    """A loop to be called before a kernel, with its record; it reads the arguments of the call from ``pointers``.

    ``defaults`` are arrays that it writes, and that the kernel reads in place of others.  ``kept`` is what the record
    has addresses of.
    """

    loop: Any
    record: Struct
    pointers: np.ndarray
    defaults: Mapping[str, np.ndarray]
    kept: tuple[Any, ...]


def make_callable(
    machine: Machine,
    roles: Sequence[str | None],
    defaults: Mapping[str, np.ndarray],
    shape: tuple[int, ...] | list[tuple[int, ...]],
    fallback: Callable[..., Any],
    name: str = "kernel",
    doc: str = "",
    signature: str = "",
    least: int | None = None,
    takes_out: bool = False,
    limit: float | None = None,
    keywords: Mapping[str, str | tuple[str, int] | None] | None = None,
    wrap: Callable[[Any], Any] | None = None,
    before: Before | None = None,
) -> Callable[..., Any]:
    """A function of the arguments named by ``roles`` that returns a new array of a shape, or a tuple by several shapes.

    ``machine`` has one lane and writes every entry of ``out``.  The other arguments of the kernel are read from the
    arrays in ``defaults`` at each call, so a change of such an array in place changes the result.  ``fallback`` is
    called if the arguments are not exactly what the kernel takes.  A call needs ``least`` arguments (all by default);
    those left out are the defaults, or zero.  ``keywords`` are further arguments, or other names of those at the end,
    with the role of each; an argument without a role may only be None.  A role with a number is needed in each call,
    and its array has so many entries of the kernel's.  ``takes_out`` adds the keyword ``out``, an array for the result.
    Where an entry of the result exceeds the ``limit`` or is not finite, ``fallback`` is called too.  ``wrap`` makes
    what is returned of the result.  ``before`` is called before the kernel.
    """
    shapes = shape if isinstance(shape, list) else [shape]
    arrays = _default_arrays(machine, roles, {**defaults, **before.defaults} if before else defaults)
    size, sizes = machine.sizes["out"], [int(np.prod(each)) for each in shapes]
    if machine.lanes != 1 or sum(sizes) != size:
        raise ValueError(f"{machine.name!r} has {machine.lanes} lanes and {size} results, not {shape}")
    if not supported():
        return fallback
    interface, (wrapper, _) = find_interface(), _wrappers()
    by_name = {sys.intern(key): role for key, role in (keywords or {}).items()}
    room, dimensions = np.empty(size + 1), [np.array([*each, 0]) for each in shapes]
    pointers = np.zeros(HELD + 1, dtype=np.int64) if before is None else before.pointers
    record = CallRecord(
        interface=ctypes.addressof(interface), kernel=machine.address, fallback=id(fallback), room=room.ctypes.data,
        wrap=0 if wrap is None else id(wrap), least=len(roles) if least is None else least, count=len(roles),
        n_keywords=len(by_name), n_pieces=len(shapes), takes_out=takes_out, table=pointers.ctypes.data,
        n_copied=sum(isinstance(role, tuple) for role in by_name.values()),
        looked_at=0 if limit is None else size,
        limit=0 if limit is None else binary.unpack("<q", binary.pack("<d", limit))[0],
    )  # fmt: skip
    if before is not None:
        record.before, record.before_record = before.loop.address, ctypes.addressof(before.record)
    own = [ctypes.addressof(record), *(arrays[argument].ctypes.data for argument in ARGUMENTS[1:])]
    places = []
    for role in (*roles, *by_name.values()):
        if isinstance(role, tuple):
            places += [ARGUMENTS.index(role[0]) + COPIED, role[1]]
        else:
            places += [OUT, -1] if role is None else [ARGUMENTS.index(role), machine.sizes[role]]
    pieces = [x for d, n in zip(dimensions, sizes, strict=True) for x in (len(d) - 1, d.ctypes.data, n)]
    record.pointers, record.defaults, record.roles = ints_of(pointers), _integers(own), _integers(places)
    record.names, record.pieces = _integers(map(id, by_name)), _integers(pieces)
    text = f"{name}{signature or '(' + ', '.join(role or '_' for role in roles) + ')'}\n--\n\n{doc}"
    targets = (machine, arrays, fallback, wrap, before, interface, by_name, room, dimensions)
    function: Callable[..., Any] = make_builtin_function(wrapper.address, (name, text), record, targets, fallback)
    return function


def make_finder(
    known: Mapping[Any, Callable[..., Any]], fallback: Callable[..., Any], name: str, signature: str, doc: str
) -> Callable[..., Any]:
    """A function that calls what its first argument stands for in a dictionary, else the ``fallback``."""
    if not supported():
        return fallback
    interface, (_, finder) = find_interface(), _wrappers()
    record = FindRecord(interface=ctypes.addressof(interface), known=id(known), fallback=id(fallback))
    targets = (known, fallback, interface)
    text = f"{name}{signature}\n--\n\n{doc}"
    function: Callable[..., Any] = make_builtin_function(finder.address, (name, text), record, targets, fallback)
    return function


def _integers(values: Iterable[int]) -> Ints:
    """Integers in memory, which the record that they are assigned to keeps alive."""
    return ints_of(np.array([*values, 0], dtype=np.int64))


def _default_arrays(
    machine: Machine, roles: Sequence[str | None], defaults: Mapping[str, np.ndarray]
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
