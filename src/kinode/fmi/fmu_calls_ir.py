"""LLVM text of the function through which compiled code calls an FMU: no Python runs in it.

``kinode_fmu_call(context, number, arguments, results)`` looks for an instance that is free, has the parameters that the
arguments name, and began no later than their time.  It takes it, does a list of operations (set the time, set states,
set inputs, get derivatives ...) and gives it back.  Only where there is no such instance it calls Python, which makes
one.  Several threads may call it at a time; an instance is used by one of them.

A derivative that the FMU does not give itself is a difference: SHIFT moves an argument by a share of its size, and
COMBINE sums up the results there with weights.

The operations and the instances are tables of 64-bit words, whose places the constants below name.
"""

from __future__ import annotations

# words of a context
N_SLOTS, SLOT_BYTES, SLOTS, KEY_AT, KEY_COUNT, SLOW, PROGRAMS, SIZES = range(8)
# words of a slot, which holds an instance; behind them the parameters that it was made with
(
    LOCK,
    READY,
    COMPONENT,
    FLOOR,
    SET_TIME,
    SET_STATES,
    SET_VALUES,
    GET_RATES,
    GET_VALUES,
    GET_ALONG,
    END_STEP,
    GET_SIGNS,
) = range(12)
FAILED = 12
KEY = 13
# words of an operation: what, how many, references, place in arguments or results, then what it needs alone: for SET
# and GET in word 6 how many numbers the references have together, more than references if there are arrays
WORDS = 8
END, TIME, STATES, SET, RATES, GET, ALONG_2, ALONG_3, STEP, SHIFT, COMBINE, INDICATORS = range(12)

TEXT = """
declare double @llvm.fabs.f64(double)

define i64 @kinode_fmu_take(ptr %slot) nounwind {{
  %pair = cmpxchg ptr %slot, i64 0, i64 1 seq_cst seq_cst
  %got = extractvalue {{ i64, i1 }} %pair, 1
  %result = zext i1 %got to i64
  ret i64 %result
}}

define void @kinode_fmu_release(ptr %slot) nounwind {{
  store atomic i64 0, ptr %slot release, align 8
  ret void
}}

define internal i64 @word(ptr %table, i64 %k) alwaysinline nounwind {{
  %place = getelementptr i64, ptr %table, i64 %k
  %value = load i64, ptr %place, align 8
  ret i64 %value
}}

define internal ptr @pointer(ptr %table, i64 %k) alwaysinline nounwind {{
  %place = getelementptr i64, ptr %table, i64 %k
  %value = load ptr, ptr %place, align 8
  ret ptr %value
}}

define i64 @kinode_fmu_run(ptr %context, ptr %slot, i64 %number, ptr %given, ptr %out) nounwind {{
entry:
  %asks = alloca [2 x i64], align 16
  %stops = getelementptr i64, ptr %asks, i64 1
  %kept = alloca [2 x double], align 16
  %kept_size = getelementptr double, ptr %kept, i64 1
  store double 0x7FF8000000000000, ptr %kept, align 8
  store double 1.0, ptr %kept_size, align 8
  %c = call ptr @pointer(ptr %slot, i64 {COMPONENT})
  %programs = call ptr @pointer(ptr %context, i64 {PROGRAMS})
  %first = call ptr @pointer(ptr %programs, i64 %number)
  br label %next
next:
  %op = phi ptr [ %first, %entry ], [ %after, %checked ]
  %what = call i64 @word(ptr %op, i64 0)
  %n = call i64 @word(ptr %op, i64 1)
  %refs = call ptr @pointer(ptr %op, i64 2)
  %at = call i64 @word(ptr %op, i64 3)
  %from = getelementptr double, ptr %given, i64 %at
  %to = getelementptr double, ptr %out, i64 %at
  %known = call ptr @pointer(ptr %op, i64 4)
  %seed = call ptr @pointer(ptr %op, i64 5)
  %count = call i64 @word(ptr %op, i64 6)
  switch i64 %what, label %done [
    i64 {TIME}, label %time
    i64 {STATES}, label %states
    i64 {SET}, label %set
    i64 {RATES}, label %rates
    i64 {GET}, label %get
    i64 {ALONG_2}, label %along2
    i64 {ALONG_3}, label %along3
    i64 {STEP}, label %step
    i64 {SHIFT}, label %shift
    i64 {COMBINE}, label %combine
    i64 {INDICATORS}, label %indicators
  ]
time:
  %t = load double, ptr %given, align 8
  %f1 = call ptr @pointer(ptr %slot, i64 {SET_TIME})
  %s1 = call i32 %f1(ptr %c, double %t)
  br label %checked
states:
  %f2 = call ptr @pointer(ptr %slot, i64 {SET_STATES})
  %s2 = call i32 %f2(ptr %c, ptr %from, i64 %n)
  br label %checked
set:
  %f3 = call ptr @pointer(ptr %slot, i64 {SET_VALUES})
  %s3 = call i32 %f3(ptr %c, ptr %refs, i64 %n, ptr %from, i64 %count)
  br label %checked
rates:
  %f4 = call ptr @pointer(ptr %slot, i64 {GET_RATES})
  %s4 = call i32 %f4(ptr %c, ptr %to, i64 %n)
  br label %checked
get:
  %f5 = call ptr @pointer(ptr %slot, i64 {GET_VALUES})
  %s5 = call i32 %f5(ptr %c, ptr %refs, i64 %n, ptr %to, i64 %count)
  br label %checked
indicators:
  %f9 = call ptr @pointer(ptr %slot, i64 {GET_SIGNS})
  %s9 = call i32 %f9(ptr %c, ptr %to, i64 %n)
  br label %checked
along2:
  %f6 = call ptr @pointer(ptr %slot, i64 {GET_ALONG})
  %s6 = call i32 %f6(ptr %c, ptr %refs, i64 %n, ptr %known, i64 1, ptr %seed, ptr %to)
  br label %checked
along3:
  %f7 = call ptr @pointer(ptr %slot, i64 {GET_ALONG})
  %s7 = call i32 %f7(ptr %c, ptr %refs, i64 %n, ptr %known, i64 1, ptr %seed, i64 1, ptr %to, i64 %n)
  br label %checked
step:
  store i64 0, ptr %asks, align 8
  store i64 0, ptr %stops, align 8
  %f8 = call ptr @pointer(ptr %slot, i64 {END_STEP})
  %s8 = call i32 %f8(ptr %c, i32 1, ptr %asks, ptr %stops)
  %event = load i64, ptr %asks, align 8
  %end = load i64, ptr %stops, align 8
  %asked = icmp ne i64 %event, 0
  %ended = icmp ne i64 %end, 0
  %wish = select i1 %asked, double 1.0, double 0.0
  %flag = select i1 %ended, double 2.0, double %wish
  store double %flag, ptr %out, align 8
  %floor = getelementptr i64, ptr %slot, i64 {FLOOR}
  %t_now = load double, ptr %given, align 8
  store double %t_now, ptr %floor, align 8
  br label %checked
shift:
  %now = load double, ptr %from, align 8
  %old = load double, ptr %kept, align 8
  %new = fcmp uno double %old, 0.0
  br i1 %new, label %keep, label %move
keep:
  store double %now, ptr %kept, align 8
  %size_now = call double @llvm.fabs.f64(double %now)
  %nominal_at = getelementptr double, ptr %op, i64 5
  %nominal = load double, ptr %nominal_at, align 8
  %larger = fcmp ogt double %size_now, %nominal
  %chosen = select i1 %larger, double %size_now, double %nominal
  store double %chosen, ptr %kept_size, align 8
  br label %move
move:
  %base = load double, ptr %kept, align 8
  %size_used = load double, ptr %kept_size, align 8
  %share_at = getelementptr double, ptr %op, i64 4
  %share = load double, ptr %share_at, align 8
  %way = fmul double %share, %size_used
  %there = fadd double %base, %way
  store double %there, ptr %from, align 8
  br label %checked
combine:
  %size_done = load double, ptr %kept_size, align 8
  %w0_at = getelementptr double, ptr %op, i64 4
  %w1_at = getelementptr double, ptr %op, i64 5
  %w2_at = getelementptr double, ptr %op, i64 6
  %w0 = load double, ptr %w0_at, align 8
  %w1 = load double, ptr %w1_at, align 8
  %w2 = load double, ptr %w2_at, align 8
  br label %each
each:
  %i = phi i64 [ 0, %combine ], [ %i2, %one ]
  %left = icmp slt i64 %i, %n
  br i1 %left, label %one, label %summed
one:
  %i_second = add i64 %i, %n
  %i_third = add i64 %i_second, %n
  %a0 = getelementptr double, ptr %out, i64 %i
  %a1 = getelementptr double, ptr %out, i64 %i_second
  %a2 = getelementptr double, ptr %out, i64 %i_third
  %x0 = load double, ptr %a0, align 8
  %x1 = load double, ptr %a1, align 8
  %two = fcmp oeq double %w2, 0.0
  %third = select i1 %two, ptr %a0, ptr %a2
  %x2 = load double, ptr %third, align 8
  %p0 = fmul double %x0, %w0
  %p1 = fmul double %x1, %w1
  %p2 = fmul double %x2, %w2
  %p01 = fadd double %p0, %p1
  %p012 = fadd double %p01, %p2
  %slope = fdiv double %p012, %size_done
  store double %slope, ptr %a0, align 8
  %i2 = add i64 %i, 1
  br label %each
summed:
  br label %checked
checked:
  %status = phi i32 [ %s1, %time ], [ %s2, %states ], [ %s3, %set ], [ %s4, %rates ], [ %s5, %get ],
    [ %s6, %along2 ], [ %s7, %along3 ], [ %s8, %step ], [ 0, %move ], [ 0, %summed ], [ %s9, %indicators ]
  %after = getelementptr i64, ptr %op, i64 {WORDS}
  %bad = icmp ugt i32 %status, 1
  br i1 %bad, label %failed, label %next
failed:
  %code = zext i32 %status to i64
  %high = shl i64 %what, 8
  %result = or i64 %high, %code
  %place = getelementptr i64, ptr %slot, i64 {FAILED}
  store i64 %result, ptr %place, align 8
  %broken = icmp ugt i32 %status, 2
  br i1 %broken, label %break, label %return
break:
  %ready = getelementptr i64, ptr %slot, i64 {READY}
  store i64 0, ptr %ready, align 8
  br label %return
return:
  ret i64 %result
done:
  ret i64 0
}}

define internal i1 @fits(ptr %context, ptr %slot, ptr %given) nounwind {{
entry:
  %ready = call i64 @word(ptr %slot, i64 {READY})
  %is_ready = icmp ne i64 %ready, 0
  br i1 %is_ready, label %timed, label %no
timed:
  %floor_at = getelementptr double, ptr %slot, i64 {FLOOR}
  %floor = load double, ptr %floor_at, align 8
  %t = load double, ptr %given, align 8
  %later = fcmp oge double %t, %floor
  br i1 %later, label %keys, label %no
keys:
  %at = call i64 @word(ptr %context, i64 {KEY_AT})
  %count = call i64 @word(ptr %context, i64 {KEY_COUNT})
  %wanted = getelementptr double, ptr %given, i64 %at
  %own = getelementptr double, ptr %slot, i64 {KEY}
  br label %head
head:
  %k = phi i64 [ 0, %keys ], [ %k2, %body ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %body, label %yes
body:
  %a = getelementptr double, ptr %wanted, i64 %k
  %b = getelementptr double, ptr %own, i64 %k
  %x = load double, ptr %a, align 8
  %y = load double, ptr %b, align 8
  %same = fcmp oeq double %x, %y
  %k2 = add i64 %k, 1
  br i1 %same, label %head, label %no
yes:
  ret i1 true
no:
  ret i1 false
}}

define i64 @kinode_fmu_call(ptr %context, i64 %number, ptr %given, ptr %out) nounwind {{
entry:
  %programs = call ptr @pointer(ptr %context, i64 {PROGRAMS})
  %program = call ptr @pointer(ptr %programs, i64 %number)
  %none = icmp eq ptr %program, null
  %n = call i64 @word(ptr %context, i64 {N_SLOTS})
  %stride = call i64 @word(ptr %context, i64 {SLOT_BYTES})
  %slots = call ptr @pointer(ptr %context, i64 {SLOTS})
  br i1 %none, label %slow, label %head
head:
  %k = phi i64 [ 0, %entry ], [ %k2, %other ]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %try, label %slow
try:
  %shift = mul i64 %k, %stride
  %slot = getelementptr i8, ptr %slots, i64 %shift
  %ready = call i64 @word(ptr %slot, i64 {READY})
  %is_ready = icmp ne i64 %ready, 0
  br i1 %is_ready, label %grab, label %other
grab:
  %got = call i64 @kinode_fmu_take(ptr %slot)
  %taken = icmp ne i64 %got, 0
  br i1 %taken, label %mine, label %other
mine:
  %fits = call i1 @fits(ptr %context, ptr %slot, ptr %given)
  br i1 %fits, label %run, label %back
back:
  call void @kinode_fmu_release(ptr %slot)
  br label %other
other:
  %k2 = add i64 %k, 1
  br label %head
run:
  %told = call i64 @kinode_fmu_run(ptr %context, ptr %slot, i64 %number, ptr %given, ptr %out)
  call void @kinode_fmu_release(ptr %slot)
  br label %end
slow:
  %python = call ptr @pointer(ptr %context, i64 {SLOW})
  %said = call i64 %python(i64 %number, ptr %given, ptr %out)
  br label %end
end:
  %code = phi i64 [ %told, %run ], [ %said, %slow ]
  %good = icmp eq i64 %code, 0
  %filled = icmp slt i64 %code, 0
  %ends = or i1 %good, %filled
  br i1 %ends, label %return, label %bad
bad:
  %sizes = call ptr @pointer(ptr %context, i64 {SIZES})
  %size = call i64 @word(ptr %sizes, i64 %number)
  br label %fill
fill:
  %i = phi i64 [ 0, %bad ], [ %i2, %put ]
  %some = icmp slt i64 %i, %size
  br i1 %some, label %put, label %return
put:
  %place = getelementptr double, ptr %out, i64 %i
  store double 0x7FF8000000000000, ptr %place, align 8
  %i2 = add i64 %i, 1
  br label %fill
return:
  ret i64 %code
}}
"""


def text_of_calls() -> str:
    """The LLVM text."""
    return TEXT.format(**{name: value for name, value in globals().items() if isinstance(value, int)})
