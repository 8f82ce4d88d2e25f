"""The memory of a run, as records that the compiled loops share with Python (kinode.jit.loop.memory).

`RunMemory` holds all of one run. A record that is constant during a run says so. The others are the state of the loop,
which may return to Python at any step and continue later with the same bits. Python owns all arrays.

Columns are derivatives of the state that follow it in every row. A batch of runs has a record of its own, and so has a
stepper: a run without an end, and the grid of times at which it returns. The records of implicit methods are in
newton_memory.py, those of inputs in courses.py.
"""

from __future__ import annotations

from kinode.jit.loop.memory import Floats, Ints, Struct, struct
from kinode.ode.loops.courses import CourseMemory
from kinode.ode.loops.newton_memory import NewtonMemory, StiffnessWatch


@struct
class ColumnMemory(Struct):
    """The columns of a run, if it has any. Constant, except for work arrays, shifts and what was lost."""

    n_state: int
    """Length of the state itself; the columns follow it, each as long."""
    n_measured: int
    """Entries of the state that steps change: by their number the error of a step is averaged."""
    count: int
    """Number of columns."""
    n_inputs: int
    """Number of inputs of the model."""
    functions: int
    """Address of the kernel that gives the event functions, then their rates along each column and along the motion."""
    x: Floats
    """Work array: the argument of kernels with columns."""
    out: Floats
    """Work array: event functions and their rates."""
    before: Floats
    """Work array: the slope before an instant."""
    shifts: Floats
    """For each column: the rate of the time of the present instant, in s for one unit."""
    break_shifts: Floats
    """For each break and column: the rate of the time of the break."""
    breaks_shift: int
    """1 if any of these is not zero."""
    shifted: int
    """1 while the columns are those of the instant, and not those of its fixed time."""
    lost: int
    """`Lost`: why the columns after some time are no derivatives; 0 while they are."""
    lost_time: float
    """That time in s."""
    lost_function: int
    """The event function to name."""


@struct
class ModelKernels(Struct):
    """The model: addresses of machine code, and the arguments of its calls. Constant, except for work arrays."""

    rate: int
    """Address of the kernel y' = f(t, y); 0 where an external solver has its own."""
    projection: int
    """Address of the kernel that projects a state onto its constraints; 0 for none."""
    completed: int
    """Address of the kernel that tells parts of a completed step; 0 for none."""
    n: int
    """Length of a state: all lanes of all components."""
    n_continuous: int
    """Entries that steps change and error control measures; the discrete states follow them."""
    u_at: int
    """Index of the first speed in a state."""
    z_at: int
    """Index of the first entry of z."""
    lanes: int
    """Runs that are interleaved in a state."""
    n_quaternions: int
    quaternions: Ints
    """Index of the first component of each quaternion in the state of one lane."""
    time: Floats
    """The time, for each lane."""
    p: Floats
    """Parameters."""
    inputs: Floats
    x: Floats
    """Further argument."""
    work: Floats
    """Work array of the kernels."""
    projected: Floats
    """The result of the projection: a state, then the inverse effective mass of the constraints for each lane."""


@struct
class MethodTable(Struct):
    """The method of integration and its options. Constant, except for ``weights``."""

    stepping: int
    """`Stepping`."""
    classical: int
    """1 for the classical Runge-Kutta method, whose formulas are written out."""
    stages: int
    """Number of stages, those of the dense output included."""
    last: int
    """The stage at the end of a step."""
    powers: int
    """Table rows of the dense output."""
    order: int
    """Order of the error estimate."""
    estimates: int
    """Error estimates: 1, or 2 that are combined as in DOP853."""
    table: Floats
    """Table rows, a number for each stage: the stages, the nodes, two error estimates, the dense output."""
    weights: Floats
    """Work array: a weight for each stage."""
    damping: float
    """Weight of the previous error in step control."""
    rtol: float
    atol: Floats
    max_step: float
    max_steps: int
    """Largest number of steps; with steps of fixed length their number."""


@struct
class StateRows(Struct):
    """State vectors of the current step."""

    y: Floats
    """At its start."""
    y_new: Floats
    """At its end."""
    y_stage: Floats
    """At a stage; a work array between steps."""
    between: Floats
    """At a time within the step."""
    slopes: Floats
    """The time derivatives at the stages, one after the other."""


@struct
class StepTimes(Struct):
    """Times of run and step in s, counted from the run's start so that a late one costs no digits; step control."""

    origin: float
    """Time of the start, which expressions of time need."""
    least: float
    """The shortest step, a share of the length of the run."""
    stall_time: float
    """Time at which ``counts.stall_steps`` was zero."""
    t: float
    t_new: float
    """Start of the step, which is the present time, and its end."""
    h_done: float
    """Length of the step."""
    h: float
    """Length to try next; with fixed steps the length of all."""
    t_start: float
    t_end: float
    previous_error: float
    """Error of the step before, relative to the tolerance."""
    end_correction: float
    """How far the projection onto the constraints moved the end of the step, relative to the allowed distance."""
    failed_time: float
    """Time at which a value was not finite."""
    nonfinite_since: float
    """Time since which ``counts.nonfinite_steps`` counts."""


@struct
class StepCounts(Struct):
    """Counts and flags of the run."""

    budget: int
    """Steps that the loop may take before it returns."""
    pending: int
    """`Pending`."""
    started: int
    """1 once the slope at the start is known."""
    restarted: int
    """1 where the state or its slope has just jumped: an implicit method starts anew."""
    dense_ready: int
    """1 once the slopes that the dense output of this step needs are known."""
    slope_known: int
    """1 if the first slope is that of the present state and inputs."""
    steps: int
    """Accepted steps."""
    goal: int
    """Fixed steps after which the interval of a stepper ends; -1 for a run, which ends at a time."""
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
    stall_steps: int
    """Steps since ``step.stall_time``."""
    slow_windows: int
    """How often in a row very many steps hardly advanced the run."""
    nonfinite_steps: int
    """Rejected steps with values that are not finite, within a short span of time."""


@struct
class OutputRows(Struct):
    """The output so far."""

    sampled: int
    """1 if the output is at given times, 0 if it is at each step."""
    n_times: int
    times: Floats
    """The given times."""
    next_time: int
    """Index of the first given time that is not written."""
    room: int
    """Capacity of ``t`` and ``y``."""
    written: int
    """Number of states written."""
    t: Floats
    y: Floats


@struct
class LawBreaks(Struct):
    """Breaks of expressions of time, at which the rate jumps or has a corner: steps end there."""

    count: int
    times: Floats
    margin: float
    """Accuracy of the times in s."""
    next: int
    """Index of the next break."""
    time: float
    """Time of the next break; infinite if there is none."""
    earliest: float
    """Earliest time at which expressions are evaluated: after the last break."""
    latest: float
    """Latest time at which expressions are evaluated: before the next break."""


@struct
class ClockTicks(Struct):
    """Clocks. All their ticks are integer multiples of one period, the base tick."""

    count: int
    """Number of clocks."""
    sample: int
    """Address of the kernel that gives the state after a tick."""
    ticks: Ints
    """For each clock: its period and phase in base ticks, and its next tick."""
    in_python: Ints
    """For each clock: 1 if it is a function in Python."""
    numerator: int
    denominator: int
    """A base tick lasts numerator / denominator seconds."""
    modes_depend: int
    """1 if event functions depend on states that clocks change."""
    base: int
    base_time: float
    """A base tick, and its time in s: those of the others follow from it."""
    first: int
    """The first base tick to come."""
    due: int
    time: float
    """The next tick of any clock, -1 for none, and its time, infinite for none."""


@struct
class EventFunctions(Struct):
    """Event functions: zero crossings at which the state is reset and modes change.

    One is active while its mode has its value, armed once it was clearly positive, and triggers where it becomes
    negative.
    """

    present: int
    """1 if the model has event functions or clocks."""
    count: int
    functions: int
    """Address of the kernel that gives all event functions, then their time derivatives."""
    cheap: int
    """Address of the kernel that gives the event functions of the state alone; 0 if there are none."""
    reset: int
    """Address of the kernel that gives the state after the event of ``mask``."""
    modes: Ints
    """For each: the index of its mode in the state; -1 for none."""
    values: Floats
    """For each: the value of its mode for which it is active."""
    of_state: Ints
    """For each: 1 if the cheap kernel gives it."""
    g: Floats
    """The functions as evaluated last, then their time derivatives."""
    g_before: Floats
    """The functions at the start of the step."""
    g_half: Floats
    """The functions in the middle of the step."""
    armed: Ints
    triggered: Ints
    """For each: 1 if it triggered at the end of the step."""
    active: Ints
    """Indices of the active ones."""
    n_active: int
    n_costly: int
    """Number of active ones that the cheap kernel does not give."""
    mask: Floats
    """1 for the event function that triggered, or for the clocks that tick; else 0."""
    changed: Floats
    """Work array: the state after an event or a tick."""
    blamed: int
    """The event function to name if the run cannot go on."""
    consistent: int
    """1 if the modes are known to be consistent with the present state."""
    room: int
    """Capacity of the event list."""
    listed: int
    """Events on the list."""
    list_numbers: Floats
    """For each: its time, its mode before and after."""
    list_functions: Ints
    """For each: its event function."""


@struct
class StepBounds(Struct):
    """Bounds of laws and event functions within a step (step_bounds.py)."""

    kernel: int
    """Address of the kernel of bounds for ranges of the arguments: lower, then upper ones; 0 for none."""
    arguments: int
    """Address of the kernel that gives the arguments and their rates."""
    laws: int
    """Address of the kernel that gives the laws for arguments; 0 if there are none."""
    n_arguments: int
    count: int
    """Number of laws and event functions."""
    n_laws: int
    """The laws are the first of them."""
    functions: Ints
    """For each of the others: its event function."""
    covered: Ints
    """For each event function: its position among ``functions``, from 1 on; 0 if it has no bounds."""
    ranges: Floats
    """The range of each argument in the step: the lower ends, then the upper ends."""
    piece: Floats
    """The same in a piece of the step."""
    out: Floats
    """The bounds as evaluated last."""
    before: Floats
    """At the start of the step: the arguments and their rates."""
    after: Floats
    """The same at its end."""
    laws_before: Floats
    laws_after: Floats
    laws_before_known: int
    laws_after_known: int
    """The laws at both ends, where they were needed; 1 if they are known."""
    least: Floats
    most: Floats
    """For each law: its least and its largest value at the stages of the step."""
    known: int
    """1 if ``before`` is known."""
    widths: Floats
    """For each argument: the longest range in which it hides nothing of a law; 0 where a law may have corners."""
    tame: int
    """1 if the range of each argument in the step is within its width."""
    box: Floats
    """Ranges of the arguments that are wider than those of a step."""
    box_out: Floats
    """The bounds in the box."""
    laws_settled: int
    """1 if the step is in the box, and no law changes there."""
    functions_settled: int
    """1 if event functions with bounds stay positive there, 2 if all active ones do; valid until modes change."""
    reach: float
    """Size of the next box."""
    wait: int
    """Steps before another box is tried."""
    left: float
    share: float
    """Where something hides in the step, as a share of it; it does not before the share ``left``."""


@struct
class ChatterCounts(Struct):
    """Counts of recent events, to detect chatter (instants.py)."""

    cluster: int
    cluster_time: float
    """Instants with events since that time."""
    idle: int
    """Events in a row that change modes only, since ``idle_time``."""
    idle_time: float
    stalled: int
    """Those of them whose event function did not leave zero since the event before."""
    peak: float
    previous_peak: float
    """The largest value of the event function before it triggered, and the same at the event before."""


@struct
class SingularityMonitor(Struct):
    """Distances from singular positions (singularity_monitor.py)."""

    known: int
    """1 once ``distance`` is known."""
    distance: float
    distance_new: float
    """Distances of the present state and of the end of the step."""
    farthest: float
    """The largest distance so far."""
    trend: float
    """Time derivative of the distance at the present."""
    steepest: float
    """The largest magnitude of the time derivative so far."""
    slope: float
    span: float
    """Mean time derivative in the step before, and its length in s."""
    near_time: float
    near_share: float
    """Time of the smallest distance in the step, and that distance as a share of ``farthest``."""


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
    bounds: StepBounds
    chatter: ChatterCounts
    monitor: SingularityMonitor
    newton: NewtonMemory
    stiffness: StiffnessWatch
    columns: ColumnMemory
    courses: CourseMemory


@struct
class BatchMemory(Struct):
    """Runs of fixed step, in groups of as many runs as lanes. Constant, except for ``run``."""

    run: RunMemory
    """The memory of one thread."""
    first_group: int
    last_group: int
    """The thread works on the groups from the first up to, without, the last."""
    runs: int
    start: Floats
    """The initial states of the runs, one after the other."""
    p: Floats
    """Parameters of all runs."""
    n_p: int
    p_stride: int
    """Offset from the parameters of one run to those of the next: 0 if all share them."""
    inputs: Floats
    n_inputs: int
    inputs_stride: int
    every: int
    """Steps from one sample to the next."""
    samples: int
    """Samples of a run."""
    stop: Ints
    """Nonzero once all threads are to stop."""
    failed_step: Ints
    """For each run: the first step that was not finite; -1 for none."""
    failed_component: Ints
    """For each run: the first component that was not finite then."""


@struct
class StepperMemory(Struct):
    """A run that is advanced from one grid time to the next. Grid times are multiples of ``spacing`` from the start."""

    run: RunMemory
    spacing: float
    """Length of an interval in s."""
    reached: int
    """Grid times that were reached since the start."""
    horizon: int
    """Grid times for which breaks of expressions of time are known."""
    code: int
    """`Outcome` with which the loop returned last."""
    under_way: int
    """1 while an interval is not finished: the loop returned with a request."""
    changed: int
    """1 if parameters have changed since the last interval."""
    passes: int
    """Steps near singular positions."""
    n_inputs: int
    given: Floats
    """The inputs of the caller; ``run.model.inputs`` are those of the last interval."""
    watch: int
    """Address of the kernel of watched quantities; 0 for none."""
    watched: Floats
    """Their values at the end of the interval."""
