"""Where things are in the arrays that the compiled loops share with Python."""

from __future__ import annotations

# What a loop returns.
DONE, CHUNK, FULL, NOT_FINITE, TOO_SMALL, TOO_MANY, NOTED, TORN = range(8)
# with events: their list is full; samplers in Python are to be called; no modes fit; events follow without end
LISTED, CALLED, UNSETTLED, CHATTER = range(8, 12)

# ``layout`` (int64): addresses of the arrays, their sizes, and numbers that stay the same between two calls. "N" is the
# length of a row of the state, that is, all lanes of all components.
KERNEL, AT_TIME, AT_P, AT_INPUTS, AT_X, AT_WORK, AT_STATE, AT_MEMORY, AT_COUNTERS, AT_TABLE = range(10)
AT_ATOL, AT_QUATERNIONS, AT_TIMES, AT_OUT_T, AT_OUT_Y = range(10, 15)
N, U_AT, Z_AT, LANES, QUATERNIONS, TIMES, ROOM, LAST, STAGES, POWERS, ORDER = range(15, 26)
SAMPLED, MAX_STEPS, BUDGET, ESTIMATES = range(26, 30)
# for a batch
FIRST_GROUP, LAST_GROUP, RUNS, AT_START, ALL_P, N_P, P_STRIDE, ALL_INPUTS, N_INPUTS, INPUTS_STRIDE = range(30, 40)
EVERY, SAMPLES, AT_STOP, AT_FAILED_STEP, AT_FAILED_COMPONENT = range(40, 45)
# the kernel that brings a state onto its constraints (0: none), and room for what it gives
PROJECTION, AT_PROJECTED = range(45, 47)
# entries that the error control looks at: steps do not change those behind them
CONTROLLED = 47
# events: 1 if there are any; kernels and the table of roots and samplers; room for what kernels give
EVENTS, ROOTS, JUMP, SAMPLE, N_ROOTS, AT_MODES, AT_VALUES, N_SAMPLERS, AT_TICKS, AT_IN_PYTHON = range(48, 58)
NUMERATOR, DENOMINATOR, AT_G, AT_ARMED, AT_FIRED, AT_MASK, AT_BETWEEN, AT_CHANGED = range(58, 66)
AT_EVENT_NUMBERS, AT_EVENT_ROOTS, EVENT_ROOM = range(66, 69)
# the roots that the state alone tells, and the kernel that gives them (0: there are none)
GLANCE, AT_TOLD = range(69, 71)
# the roots at the start and in the middle of a step
AT_G_BEFORE, AT_G_HALF = range(71, 73)
# room for a list of the roots that count
AT_COUNTING = 73
# breaks of laws of time
AT_BREAKS, BREAKS = range(74, 76)
# whether roots depend on what samplers hold
TICKS_SEEN, LAYOUT_SIZE = range(76, 78)

# ``memory`` (float64): what a run remembers, followed by room for one weight of each stage
T, H, T_END, PREVIOUS_ERROR, RTOL, MAX_STEP, DAMPING, T_NEW, H_DONE, FAILED_TIME, T_START = range(11)
# distances from singular positions (singularity_watch.py)
END_MOVED, DISTANCE, DISTANCE_NEW, FARTHEST, TREND, STEEPEST, SLOPE, SPAN, NEAR_TIME, NEAR_SHARE = range(11, 21)
# the next tick, and since when events are counted
TICK_TIME, CROWD_TIME = range(21, 23)
# the next break of laws of time; the times between which kernels see them, and how far from breaks that is
BREAK_TIME, EARLIEST, LATEST, MARGIN = range(23, 27)
# how large the root was that fired, before it did, now and at the event before; since when events are counted that
# move nothing
SEEN, SEEN_BEFORE, IDLE_TIME = range(27, 30)
# since when steps are counted that led to what is not finite
WALL_TIME = 30
MEMORY_SIZE = 31

# ``counters`` (int64)
STARTED, PENDING, EXTRA, STEPS, REJECTED, EVALUATIONS, WRITTEN, NEXT_TIME, FAILED, AFTER_REJECT, WATCHING = range(11)
# events: the first tick to come, the tick that is due, steps that were cut, events in the list, instants of late with
# any, the root to blame; whether a step of fixed length begins beside its grid
TICK, DUE, CUT, LISTED_EVENTS, CROWD, BLAMED, BESIDE = range(11, 18)
# how many roots count, and how many of them the state alone does not tell
COUNTING, UNTOLD = range(18, 20)
# the break that comes next
NEXT_BREAK = 20
# whether the modes are known to fit the present state
FIT = 21
# events in a row that move nothing; those of them between which nothing happened
IDLE, VAIN = range(22, 24)
# steps of late that led to what is not finite
WALLS = 24
COUNTERS_SIZE = 25

# ``counters[PENDING]``: a step may be taken; its rows are to be written, with an event at its end or not; the event, a
# tick, the modes are to be dealt with; the rows after that are to be written
READY, STEPPED, STRUCK, FIRED, TICKED, CHANGED, SETTLED = range(7)

# what events_loops.serve is asked, in ``layout[BUDGET]``
ASK, MARK, CHANGE = range(3)

# rows of the state: with step control the slopes of the stages follow the first three
Y, Y_NEW, Y_STAGE, SLOPES = range(4)
# rows of the state with a fixed step
K1, K2, K3, K4, K_NEXT, FIXED_ROWS = range(3, 9)
