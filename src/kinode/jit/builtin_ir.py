"""LLVM text of the one wrapper through which Python calls kernels.

It follows the layout of the objects of 64-bit CPython and of NumPy 2, given by the offsets here; whether
they hold is checked by ``builtin_function``, which also says why this is our own.  ``self`` of the built-in function is
an array of 8-byte entries.
"""

from __future__ import annotations

from kinode.jit.program import ARGUMENTS

DOUBLE = 12  # NumPy's number of the type float64
NEW_ARRAY = 93  # place of PyArray_New in NumPy's table of functions
PLAIN = 0x101  # flags of an array: contiguous, aligned
FASTCALL = 0x82  # METH_FASTCALL | METH_KEYWORDS
HEAD, DATA, DIMENSIONS, DESCRIPTION, FLAGS = 16, 16, 32, 56, 64  # offsets within objects

# What the wrapper finds in the record behind ``self``, by index of an 8-byte entry.
FIELDS: tuple[str, ...] = ("kernel", "fallback", "count", "ndarray", "float", "float64", "int", "double")
FIELDS += ("new", "vectorcall", "as_double", "clear", "dimensions", "rows", "columns")
DEFAULTS = len(FIELDS)
ROLES = DEFAULTS + len(ARGUMENTS)


def _field(name: str, kind: str = "ptr") -> str:
    """Two lines that load an entry of the record into ``%name``."""
    return (
        f"  %at_{name} = getelementptr i64, ptr %record, i64 {FIELDS.index(name)}\n"
        f"  %{name} = load {kind}, ptr %at_{name}, align 8\n"
    )


def _check_arguments() -> str:
    """The loop over the arguments: a number's value, or the data of an array, into its place."""
    return f"""\
check:
  %rest = icmp sgt i64 %n, 0
  br i1 %rest, label %argument, label %ready
argument:
  %j = phi i64 [ 0, %check ], [ %next, %taken ]
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
  %either = or i1 %is_float, %is_float64
  br i1 %either, label %real, label %maybe_int
real:
  %at_real = getelementptr i8, ptr %object, i64 {HEAD}
  %real_value = load double, ptr %at_real, align 8
  br label %have_time
maybe_int:
  %is_int = icmp eq ptr %type, %int
  br i1 %is_int, label %whole, label %other
whole:
{_field("as_double")}  %whole_value = call double %as_double(ptr %object)
  %doubtful = fcmp oeq double %whole_value, 0xBFF0000000000000
  br i1 %doubtful, label %clearing, label %have_time
clearing:
{_field("clear")}  call void %clear()
  br label %other
have_time:
  %time_value = phi double [ %real_value, %real ], [ %whole_value, %whole ]
  store double %time_value, ptr %time, align 8
  br label %taken
{_check_array()}taken:
  %source = phi ptr [ %time, %have_time ], [ %data, %vector ]
  %target = getelementptr ptr, ptr %places, i64 %slot
  store ptr %source, ptr %target, align 8
  %next = add i64 %j, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %argument, label %ready
"""


def _check_array() -> str:
    """One argument that must be an array just as the kernel wants it."""
    return f"""\
array:
  %is_array = icmp eq ptr %type, %ndarray
  br i1 %is_array, label %fields, label %other
fields:
  %at_data = getelementptr i8, ptr %object, i64 {DATA}
  %data = load ptr, ptr %at_data, align 8
  %at_nd = getelementptr i8, ptr %object, i64 {DATA + 8}
  %nd = load i32, ptr %at_nd, align 8
  %at_description = getelementptr i8, ptr %object, i64 {DESCRIPTION}
  %description = load ptr, ptr %at_description, align 8
  %at_flags = getelementptr i8, ptr %object, i64 {FLAGS}
  %flags = load i32, ptr %at_flags, align 8
  %plain_flags = and i32 %flags, {PLAIN}
  %is_plain = icmp eq i32 %plain_flags, {PLAIN}
  %is_vector = icmp eq i32 %nd, 1
  %is_double = icmp eq ptr %description, %double
  %both = and i1 %is_plain, %is_vector
  %good = and i1 %both, %is_double
  br i1 %good, label %length, label %other
length:
  %at_dims = getelementptr i8, ptr %object, i64 {DIMENSIONS}
  %dims = load ptr, ptr %at_dims, align 8
  %size = load i64, ptr %dims, align 8
  %at_wanted = getelementptr i64, ptr %at_slot, i64 1
  %wanted = load i64, ptr %at_wanted, align 8
  %fits = icmp eq i64 %size, %wanted
  br i1 %fits, label %vector, label %other
vector:
  br label %taken
"""


def wrapper_text() -> str:
    """LLVM text of the wrapper."""
    copies = "".join(
        f"  %from{k} = getelementptr i64, ptr %record, i64 {DEFAULTS + k}\n"
        f"  %value{k} = load ptr, ptr %from{k}, align 8\n"
        f"  %to{k} = getelementptr ptr, ptr %places, i64 {k}\n"
        f"  store ptr %value{k}, ptr %to{k}, align 8\n"
        for k in range(len(ARGUMENTS))
    )
    loads = "".join(f"  %place{k} = load ptr, ptr %to{k}, align 8\n" for k in range(len(ARGUMENTS) - 1))
    operands = ", ".join(f"ptr %place{k}" for k in range(len(ARGUMENTS) - 1))
    no_data = "ptr null, ptr null"
    return f"""\
define ptr @kinode_call(ptr %self, ptr %args, i64 %n, ptr %keywords) nounwind {{
entry:
  %places = alloca [{len(ARGUMENTS)} x ptr], align 16
  %time = alloca double, align 8
  %at_record = getelementptr i8, ptr %self, i64 {DATA}
  %record = load ptr, ptr %at_record, align 8
{_field("count", "i64")}{_field("ndarray")}{_field("float")}{_field("float64")}{_field("int")}{_field("double")}\
{copies}
  %without = icmp eq ptr %keywords, null
  %all = icmp eq i64 %n, %count
  %proper = and i1 %without, %all
  br i1 %proper, label %check, label %other
{_check_arguments()}ready:
{_field("new")}{_field("dimensions", "i64")}  %nd_out = trunc i64 %dimensions to i32
  %shape = getelementptr i64, ptr %record, i64 {FIELDS.index("rows")}
  %result = call ptr %new(ptr %ndarray, i32 %nd_out, ptr %shape, i32 {DOUBLE}, {no_data}, i32 0, i32 0, ptr null)
  %failed = icmp eq ptr %result, null
  br i1 %failed, label %give, label %compute
compute:
  %at_out = getelementptr i8, ptr %result, i64 {DATA}
  %out = load ptr, ptr %at_out, align 8
{loads}{_field("kernel")}  call void %kernel({operands}, ptr %out)
  br label %give
give:
  ret ptr %result
other:
{_field("vectorcall")}{_field("fallback")}\
  %passed = call ptr %vectorcall(ptr %fallback, ptr %args, i64 %n, ptr %keywords)
  ret ptr %passed
}}
"""
