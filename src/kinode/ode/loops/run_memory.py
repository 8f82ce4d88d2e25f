"""What a run works on, as records that the compiled loops share with Python (kinode.jit.pointers).

`RunMemory` is all of one run. A part that stays the same during a run says so; the others are what the run remembers,
so that a loop may return to Python at any step and go on later with the same bits as if it had not stopped. All arrays
are Python's.
"""

from __future__ import annotations

from kinode.jit.pointers import Floats, Ints, Struct, struct


@struct
class ModelKernels(Struct):
    """The model: machine code at addresses, and the arguments of its calls. Stays the same, but for scratch."""

    rate: int
    """Address of the kernel y' = f(t, y); 0 where a solver beyond the loop has its own."""
    projection: int
    """Address of the kernel that brings a state onto its constraints; 0 for none."""
    n: int
    """Length of a state: all lanes of all components."""
    n_continuous: int
    """Entries that steps change and error control looks at; the discrete states stand behind them."""
    u_at: int
    """Where the speeds begin in a state."""
    z_at: int
    """Where the other states begin."""
    lanes: int
    """Runs that are interleaved in a state."""
    n_quaternions: int
    quaternions: Ints
    """Where quaternions begin, in components."""
    time: Floats
    """The time, for each lane."""
    p: Floats
    """Parameters."""
    inputs: Floats
    x: Floats
    """Further argument, not used by rates."""
    work: Floats
    """Scratch."""
    projected: Floats
    """The result of the projection: a state, then the inverse effective mass of the constraints for each lane."""


@struct
class MethodTable(Struct):
    """The method of integration and its options. Stays the same, but for ``weights``."""

    stepping: int
    """`Stepping`."""
    classical: int
    """1 for the classical Runge-Kutta method, whose formulas are written out."""
    stages: int
    """Stages, with those that only the dense output needs."""
    last: int
    """The stage at the end of a step."""
    powers: int
    """Rows of the dense output."""
    order: int
    """Order of the error estimate."""
    estimates: int
    """Error estimates: 1, or 2 that are combined as in DOP853."""
    table: Floats
    """Rows of as many numbers as there are stages: the stages, the nodes, two error estimates, the dense output."""
    weights: Floats
    """Room for one weight of each stage."""
    damping: float
    """Weight of the previous error in step control."""
    rtol: float
    atol: Floats
    max_step: float
    max_steps: int
    """Steps that are allowed; with steps of fixed length how many there are."""


@struct
class StateRows(Struct):
    """States of the step under way."""

    y: Floats
    """At its start."""
    y_new: Floats
    """At its end."""
    y_stage: Floats
    """At a stage; free between steps."""
    between: Floats
    """At a time within the step."""
    slopes: Floats
    """The rates at the stages, one behind the other."""


@struct
class StepTimes(Struct):
    """Times of the run and of the step under way, in s; and what step control remembers."""

    t: float
    """Start of the step: the present."""
    t_new: float
    """End of the step."""
    h_done: float
    """Length of the step."""
    h: float
    """Length to try next; with steps of fixed length that of all."""
    t_start: float
    t_end: float
    t_asked: float
    """Time within the step for which ``state.between`` is asked or given."""
    previous_error: float
    """Of the step before, relative to the tolerance."""
    end_moved: float
    """How far closing the loops moved the end of the step, relative to what is allowed."""
    failed_time: float
    """When something was not finite."""
    wall_time: float
    """Since when steps are counted that led to what is not finite."""


@struct
class StepCounts(Struct):
    """Counts and flags of the run."""

    budget: int
    """Steps that the loop may take before it returns."""
    pending: int
    """`Pending`."""
    started: int
    """1 once there is a slope to start with."""
    restarted: int
    """1 where the state or its rate has just jumped: a method that remembers steps begins anew."""
    dense_ready: int
    """1 once the slopes are there that the dense output of this step needs."""
    steps: int
    """Accepted steps."""
    rejected: int
    rejected_in_a_row: int
    evaluations: int
    """Calls of the rate."""
    cut: int
    """Steps that ended at an event, or off the grid of fixed steps."""
    off_grid: int
    """1 if a step of fixed length begins off its grid."""
    failed: int
    """The component that was not finite; -1 for none."""
    walls: int
    """Steps of late that led to what is not finite."""


@struct
class OutputRows(Struct):
    """The output so far."""

    sampled: int
    """1 if rows are at given times, 0 if each step is one."""
    n_times: int
    times: Floats
    """The given times."""
    next_time: int
    """The first of them that is not written."""
    room: int
    """Rows in ``t`` and ``y``."""
    written: int
    """Rows that are written."""
    t: Floats
    y: Floats


@struct
class LawBreaks(Struct):
    """Breaks of laws of time, at which the rate jumps or has a corner: steps end there."""

    count: int
    times: Floats
    margin: float
    """How exactly they are known, in s."""
    next: int
    """The first break to come."""
    time: float
    """When that is; infinite if there is none."""
    earliest: float
    """Laws are evaluated from here ..."""
    latest: float
    """... to here, which is between two breaks."""


@struct
class ClockTicks(Struct):
    """Clocks, which tick at whole multiples of one period of time."""

    count: int
    """How many clocks there are."""
    sample: int
    """Address of the kernel that gives the state after a tick."""
    ticks: Ints
    """Of each clock: its period and phase in ticks, and its next tick."""
    in_python: Ints
    """Of each clock: 1 if it is a function in Python."""
    numerator: int
    denominator: int
    """A tick lasts numerator / denominator seconds."""
    modes_depend: int
    """1 if event functions depend on what clocks change."""
    first: int
    """The first tick that is still to come."""
    due: int
    """The next tick that any clock has; -1 for none."""
    time: float
    """When that is; infinite for none."""


@struct
class EventFunctions(Struct):
    """Event functions: zero crossings at which the state is reset and modes change.

    One is active while its mode has its value, armed once it was clearly positive, and triggers where it becomes
    negative.
    """

    present: int
    """1 if anything happens at an instant: event functions or clocks."""
    count: int
    functions: int
    """Address of the kernel that gives all event functions and behind them their rates."""
    cheap: int
    """Address of the kernel that gives those of the state alone; 0 if there are none."""
    reset: int
    """Address of the kernel that gives the state after the event of ``mask``."""
    modes: Ints
    """Of each: where its mode stands in the state; -1 for none."""
    values: Floats
    """Of each: the value of its mode for which it is active."""
    of_state: Ints
    """Of each: 1 if the cheap kernel gives it."""
    g: Floats
    """The functions as they were evaluated last, and behind them their rates."""
    g_before: Floats
    """At the start of the step."""
    g_half: Floats
    """In the middle of the step."""
    armed: Ints
    triggered: Ints
    """Of each: 1 if it triggered at the end of the step."""
    active: Ints
    """List of those that are active."""
    n_active: int
    n_costly: int
    """How many of them the cheap kernel does not give."""
    mask: Floats
    """1 for the event function that triggered, or for the clocks that tick; else 0."""
    changed: Floats
    """Room for the state after an event or a tick."""
    blamed: int
    """The event function to name if the run cannot go on."""
    consistent: int
    """1 if the modes are known to fit the present state."""
    room: int
    """Events that the list can hold."""
    listed: int
    """Events on it."""
    list_numbers: Floats
    """Of each: its time, its mode before and after."""
    list_functions: Ints
    """Of each: its event function."""


@struct
class ChatterCounts(Struct):
    """Events of late, to tell those that never end (chatter.py)."""

    crowd: int
    """Instants with events since ``crowd_time``."""
    crowd_time: float
    idle: int
    """Events in a row that move nothing, since ``idle_time``."""
    idle_time: float
    vain: int
    """Those of them between which nothing happened."""
    seen: float
    """How large the event function was before it triggered."""
    seen_before: float
    """The same at the event before."""


@struct
class SingularityMonitor(Struct):
    """Distances from singular positions (singularity_monitor.py)."""

    watching: int
    """1 once ``distance`` is known."""
    distance: float
    """Of the present state."""
    distance_new: float
    """Of the end of the step."""
    farthest: float
    """The largest so far."""
    trend: float
    """Rate of the distance at the present."""
    steepest: float
    """The largest rate so far."""
    slope: float
    """Mean rate in the step before."""
    span: float
    """Length of the step before."""
    near_time: float
    """When the distance was least, in the step."""
    near_share: float
    """That least distance, as a share of the largest."""


@struct
class RunMemory(Struct):
    """All of one run."""

    model: ModelKernels
    method: MethodTable
    state: StateRows
    step: StepTimes
    counts: StepCounts
    output: OutputRows
    breaks: LawBreaks
    clocks: ClockTicks
    events: EventFunctions
    chatter: ChatterCounts
    monitor: SingularityMonitor


@struct
class BatchMemory(Struct):
    """Runs of fixed step in groups, each as many as there are lanes; stays the same, but for ``run``."""

    run: RunMemory
    """What one thread works on."""
    first_group: int
    last_group: int
    """Groups from the first to the one before the last are done."""
    runs: int
    start: Floats
    """The states that runs begin with, one behind the other."""
    p: Floats
    """Parameters of all runs."""
    n_p: int
    p_stride: int
    """From the parameters of one run to those of the next: 0 if all have the same."""
    inputs: Floats
    n_inputs: int
    inputs_stride: int
    every: int
    """Steps from one sample to the next."""
    samples: int
    """Samples of a run."""
    stop: Ints
    """Nonzero once Python wants all threads to stop."""
    failed_step: Ints
    """Of each run: the step that was not finite first; -1 for none."""
    failed_component: Ints
    """Of each run: its component."""
