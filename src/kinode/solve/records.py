"""Where things are in the arrays that the compiled loops share with Python."""

from __future__ import annotations

# What a loop returns.
DONE, CHUNK, FULL, NOT_FINITE, TOO_SMALL, TOO_MANY, NOTED, TORN = range(8)

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
PROJECTION, AT_PROJECTED, LAYOUT_SIZE = range(45, 48)

# ``memory`` (float64): what a run remembers, followed by room for one weight of each stage
T, H, T_END, PREVIOUS_ERROR, RTOL, MAX_STEP, DAMPING, T_NEW, H_DONE, FAILED_TIME, T_START = range(11)
# distances from singular positions (watch_loops.py)
END_MOVED, DISTANCE, DISTANCE_NEW, FARTHEST, TREND, STEEPEST, SLOPE, SPAN, NEAR_TIME, NEAR_SHARE = range(11, 21)
MEMORY_SIZE = 21

# ``counters`` (int64)
STARTED, PENDING, EXTRA, STEPS, REJECTED, EVALUATIONS, WRITTEN, NEXT_TIME, FAILED, AFTER_REJECT, WATCHING = range(11)
COUNTERS_SIZE = 11

# rows of the state: with step control the slopes of the stages follow the first three
Y, Y_NEW, Y_STAGE, SLOPES = range(4)
# rows of the state with a fixed step
K1, K2, K3, K4, K_NEXT, FIXED_ROWS = range(3, 9)
