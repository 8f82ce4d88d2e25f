"""LLVM text of the wrapper through which Python calls kernels.

The offsets are those of the objects of 64-bit CPython and NumPy 2; ``builtin_function`` checks them, and says why the
wrapper is our own.  ``self`` of the built-in function is an array of 8-byte entries, the record.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kinode.jit.machine_code import ARGUMENTS

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
