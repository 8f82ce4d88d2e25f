"""Real-time stepper: ``dynamics.stepper(dt)``, a system that its caller advances by one interval at a time.

The loop (ode/loops) and its memory are those of ``kn.simulate``, with events, clocks and impacts; the memory
stays from call to call.  A call makes no object: inputs are copied into the memory, and the state is read where it
lies.  Quantities by name are evaluated at the end of each step.  ``dynamics.step`` is one step, from any state, of a
stepper that each thread keeps.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.reactions.sharing_pattern import has_start_pattern, values_kernel
from kinode.dynamics.state_batch import split_values
from kinode.errors import ArgumentError, SimulationError
from kinode.jit.loop.memory import floats_of
from kinode.jit.step_function import make_step
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.state import State
from kinode.model.base.fields import short
from kinode.model.quantities import find_quantity
from kinode.ode import compiled_loops
from kinode.ode.endings import Ending
from kinode.ode.integrate import begin_run
from kinode.ode.loops.run_codes import Outcome, Stepping
from kinode.ode.loops.run_memory import StepperMemory
from kinode.ode.method_table import METHODS, name_fixed
from kinode.ode.ode_arguments import ATOL, RTOL, normalized
from kinode.ode.run import LoopRun
from kinode.ode.run_events import RunEvents
from kinode.simulation.event_log import Event, find_events
from kinode.simulation.failures import explain_failure
from kinode.simulation.run_arguments import read_row, read_seconds
from kinode.simulation.solver import (
    CLOSED_TOLERANCE,
    Solver,
    StateHistory,
    check_options,
    check_start,
    replace_former,
)
from kinode.simulation.time_events import NO_TIMES, LawTimes, find_law_times
from kinode.structure.state_layout import EvaluationPoint
from kinode.tasks.start_argument import find_start

FIRST_INTERVALS = 100_000
"""Intervals for which breaks of laws of time are found before the first, where no end is given."""
ENDLESS = 2**62
"""Intervals of a system without laws of time."""
CHATTER_INTERVALS = 1000
"""Intervals of a run of usual length, of which chatter is a share (ode/loops/instants.py)."""
STEP_LOOPS = {
    Stepping.FIXED: "step_fixed",
    Stepping.ADAPTIVE: "step_adaptive",
    Stepping.IMPLICIT: "step_implicit",
}
"""The compiled loop for each kind of step (ode/compiled_loops.py)."""
CLOSING_TRIES = 20
"""Newton steps in which loops must close after a change of parameters."""


class Stepper:
    """A system in motion, advanced by ``step``; ``dynamics.stepper`` makes it.

    ``q``, ``u``, ``z`` are the present state: arrays that ``step`` writes into and nobody else. ``inputs`` are those of
    the next step; they may be written to.
    """

    def __init__(
        self, dynamics: Dynamics, dt: Any, *, method: str | None = None, start: Any = None, t0: Any = None,
        parameters: Any = None, inputs: Any = None, until: Any = None, rtol: float = RTOL, atol: Any = ATOL,
    ) -> None:  # fmt: skip
        self.dynamics, self.dt = dynamics, read_seconds(dynamics, "dt", dt)
        if not (math.isfinite(self.dt) and self.dt > 0):
            raise ArgumentError(f"dt: a positive time in seconds is expected, not {dt!r}")
        self.method = _find_method(method or name_fixed())
        fixed = METHODS[self.method].fixed
        self._options = check_options(self.method, self.dt if fixed else None, rtol, atol, None)
        self._p = np.array(read_row(dynamics, "p", parameters))
        self._inputs = np.array(read_row(dynamics, "inputs", inputs))
        self.inputs = self._inputs.copy()
        begin = None if t0 is None else read_seconds(dynamics, "t0", t0)
        state = find_start(dynamics, start, begin, self._p, self._inputs)
        self._until = None if until is None else read_seconds(dynamics, "until", until)
        self._begin(state)
        loop = compiled_loops.loop(self._loop_name())
        self._advance = loop
        self.step = make_step(loop.address, self._memory, self.inputs, self._step_by, self._resume, STEP_DOC)

    def _begin(self, state: State) -> None:
        """Lay out the memory for a start."""
        solver = Solver(self.dynamics, self._p, self._inputs, self._options)
        check_start(self.dynamics, state, self._p, self._inputs)
        self.dynamics = solver.dynamics
        options, self._kernel, self._memory = self._options, solver.kernel, StepperMemory()
        if self._kernel.n_y == 0:
            raise ArgumentError("stepper: the system has no states: its drives prescribe all of its motion")
        self._run: LoopRun = begin_run(
            self._kernel, state.y, 0.0, self.dt, method=self.method, times=np.zeros(0), step=options.step,
            rtol=options.rtol, atol=options.atol, p=self._p, inputs=self._inputs, quaternions=solver.quaternions,
            max_steps=ENDLESS, memory=self._memory.run,
        )  # fmt: skip
        run, memory = self._memory.run, self._memory
        run.method.max_steps = run.counts.budget = ENDLESS
        run.model.p, run.model.inputs = floats_of(self._p), floats_of(self._inputs)
        memory.n_inputs, memory.given = self.inputs.size, floats_of(self.inputs)
        memory.spacing = self.dt
        if options.step is not None:
            run.step.t_end = CHATTER_INTERVALS * self.dt  # a scale of time; the run itself has no end
        self._parts = self.dynamics.topology.layout.split(self._run.y)
        self.y = self._run.y.view()
        self.y.flags.writeable = False
        self.q, self.u, self.z = self.dynamics.topology.layout.split(self.y)
        self._step_times, self._address = run.step, ctypes.addressof(memory)
        self._pristine = ctypes.string_at(ctypes.addressof(memory), ctypes.sizeof(memory))
        self._readings: Readings | None = None
        self._listed_at = -1  # the step whose events were read
        self._first = state
        self._restart(state)

    def __reduce__(self) -> tuple[Any, ...]:
        raise ArgumentError("a stepper in motion cannot be copied or pickled; take stepper.dynamics and stepper.state")

    def _loop_name(self) -> str:
        if METHODS[self.method].fixed and self._kernel.events is None:
            return "step_fixed_plain"
        return STEP_LOOPS[METHODS[self.method].stepping]

    def __repr__(self) -> str:
        return f"<Stepper of {self.dynamics.system.name!r}: {self.method}, {self.dt:g} s, t = {self.t:g} s>"

    # -- state -------------------------------------------------------------------------------------
    @property
    def t(self) -> float:
        """The present time, s."""
        t: float = self._step_times.origin + self._step_times.t
        return t

    @property
    def state(self) -> State:
        """The present state in arrays of its own."""
        return State(self.t, self.q.copy(), self.u.copy(), self.z.copy())

    @property
    def parameters(self) -> Array:
        """The present values of the parameters; ``change`` sets them."""
        values = self._p.view()
        values.flags.writeable = False
        return values

    @property
    def events(self) -> tuple[Event, ...]:
        """The events of the last step."""
        if self._run.events is None:
            return ()
        if self._memory.reached != self._listed_at:
            self._run.events.listed.clear()
            self._listed_at = self._memory.reached
        self._run.events.collect()
        return find_events(self.dynamics, self._run.events.listed, (), self._p, self._inputs)

    @property
    def singular_passes(self) -> int:
        """Steps since the start that passed near a singular position of the loops."""
        return int(self._memory.passes)

    def reset(self, state: Any = None) -> None:
        """Begin anew at a state, at initial values by name, at the end of a run, or at the first start.

        Parameters and inputs stay as they are.
        """
        start = self._first if state is None else find_start(self.dynamics, state, None, self._p, self.inputs)
        check_start(self.dynamics, start, self._p, self._inputs)
        self._restart(start)

    def place(self, state: State, dt: float) -> None:
        """Put the system into a state, unchecked, for one step of another length; breaks of laws are not looked for."""
        self.dt = dt
        self._put(state)
        self._memory.horizon = ENDLESS

    def set_values(self, p: Array, inputs: Array) -> None:
        """Set all parameters and inputs, unchecked, before ``place``."""
        self._p[:], self.inputs[:] = p, inputs

    def _restart(self, state: State) -> None:
        """Begin at a state, with the breaks of laws from there on."""
        self._put(state)
        last = FIRST_INTERVALS * self.dt + state.t if self._until is None else max(self._until, state.t + self.dt)
        self._find_breaks(last)
        if self._readings is not None:
            self._apply_watch(self._readings)

    def _put(self, state: State) -> None:
        """Begin at a state with the memory as it was when it was laid out."""
        memory, run, step, (q, u, z) = self._memory, self._run, self._step_times, self._parts
        ctypes.memmove(self._address, self._pristine, len(self._pristine))
        q[:], u[:] = state.q, state.u
        if z.size:
            z[:] = state.z
        step.origin, memory.spacing = state.t, self.dt
        if self._options.step is not None:
            step.h = self.dt
        run.span = (state.t, math.inf)
        if self.inputs.size:
            self._inputs[:] = self.inputs
        if self._kernel.events is not None:
            run.events = RunEvents(self._kernel.events, memory.run, run.y, None, run.span)
            self._listed_at = -1

    # -- laws of time ------------------------------------------------------------------------------
    def _find_breaks(self, last: float) -> None:
        """Find the breaks of laws of time from the start until a time, s."""
        memory, t0 = self._memory, self._memory.run.step.origin
        laws: LawTimes = find_law_times(self.dynamics, self._p, self._inputs, t0, last)
        if laws is NO_TIMES:
            memory.horizon = ENDLESS
            return
        self._run.set_breaks(laws.breaks, laws.margin)
        memory.run.breaks.next, memory.changed = 0, 1
        memory.run.method.max_step = laws.longest
        memory.horizon = max(memory.reached + 1, math.floor((last - t0) / self.dt * (1.0 + 1e-12)))

    # -- steps -------------------------------------------------------------------------------------
    def _step_by(self, *arguments: Any, **keywords: Any) -> None:
        """A step with inputs in another form than an array: by name, as a list, one number."""
        if len(arguments) + len(keywords) > 1 or keywords.keys() - {"inputs"}:
            raise ArgumentError("step: takes one argument, the inputs, by name or as an array")
        given = keywords.get("inputs", arguments[0] if arguments else None)
        if given is not None:
            self.inputs[:] = self._read_inputs(given)
        self._resume(self._advance(self._memory))

    def _read_inputs(self, given: Any) -> Array:
        """Inputs in any form; those that a mapping does not name keep their values."""
        values = np.asarray(read_row(self.dynamics, "inputs", [given] if isinstance(given, float | int) else given))
        if isinstance(given, Mapping):
            named = [self.dynamics.topology.inputs.index(name) for name in given]
            values, read = self.inputs.copy(), values
            values[named] = read[named]
        for name, value in zip(self.dynamics.topology.inputs, values, strict=True):
            if not math.isfinite(value):
                raise ArgumentError(f"inputs: {name} is {value}; a finite number is expected")
        return values

    def _resume(self, code: int | None = None) -> None:
        """Serve the requests of the loop until the step is done; None if the code is not known."""
        run = self._run
        if code is None:
            code = int(self._memory.code)
        while code != Outcome.DONE:
            if code == Outcome.PAUSED:  # the end of the times for which breaks are known
                self._find_breaks(self.t + max(FIRST_INTERVALS * self.dt, self.t - run.span[0]))
            elif code == Outcome.EVENTS_FULL:
                self._memory.run.events.listed = 0
            elif not run.serve(code):
                raise self._failure(run.describe(code))
            code = self._advance(self._memory)

    def _failure(self, ending: Ending) -> SimulationError:
        """The error of a step that is not possible; it names the component and the cause."""
        t, y = np.array([self.t]), self.y.reshape(1, -1)
        motion = StateHistory(t, y, self._p, self._inputs, ending, self.t, y[0])
        return SimulationError(f"step: {explain_failure(self.dynamics, motion).ending.message}")

    # -- changes -----------------------------------------------------------------------------------
    def change(self, parameters: Mapping[str, Any] | Sequence[float] | Array) -> None:
        """Change parameters between two steps.

        Parameters
        ----------
        parameters : mapping or array
            Values by name, in SI units or as text with a unit, the others stay; or all of them.

        Raises
        ------
        ArgumentError
            A name or a value is wrong, or the loops do not close near the present position; nothing is changed then.
        """
        read, before = self.dynamics.arguments, self._p.copy()
        values = np.array(read_row(self.dynamics, "p", parameters))
        if isinstance(parameters, Mapping):
            live, order = read.live_numbers, self.dynamics.topology.parameters
            names = [live[name].parameter if name in live else name for name in parameters]
            places = [order.index(name) for name in names]
            values, given = before.copy(), values
            values[places] = given[places]
            read_row(self.dynamics, "p", values)
        self._p[:] = values
        try:
            self._close_loops()
        except ArgumentError:
            self._p[:] = before
            raise
        self._memory.changed = 1
        if self._memory.horizon != ENDLESS:
            self._find_breaks(self._memory.run.step.origin + self._memory.horizon * self.dt)

    def _close_loops(self) -> None:
        """Close the loops near the present position."""
        if not self.dynamics.topology.constrained:
            return
        y, error = self._run.y.copy(), math.inf
        for _ in range(CLOSING_TRIES):
            point, before = self.dynamics.point_of(self.t, y, self._p, self._inputs), error
            error, _ = self.dynamics.loops.judge(point, self.dynamics.closure)
            if error <= CLOSED_TOLERANCE and error > 0.5 * before:  # rounding is left
                self._run.y[:] = y
                return
            projected = self.dynamics.kernels.call(Kernel("projection"), point)[:-1]
            y = normalized(projected, self.dynamics.topology.layout.quaternions)
        message = f"with these values {error:.1e} of the mechanism's size are missing to close the loops"
        raise ArgumentError(f"parameters: {message} near the present position; reset to a start instead")

    # -- quantities by name ------------------------------------------------------------------------
    def watch(self, names: str | Sequence[str]) -> Readings:
        """Let every step evaluate quantities at its end.

        Parameters
        ----------
        names : str or sequence of str
            Such as ``"lower.position"`` or ``"elbow.reaction.force"``; all that are wanted, since a later call replaces
            the quantities of an earlier one.

        Returns
        -------
        Readings
            Name -> array, into which each step writes.
        """
        texts = (names,) if isinstance(names, str) else tuple(names) if isinstance(names, Iterable) else ()
        if not texts or not all(isinstance(text, str) for text in texts):
            raise ArgumentError(f"watch: names of quantities are expected, not {short(names)}")
        self._readings = readings = Readings(self.dynamics, texts)
        self._apply_watch(readings)
        return readings

    def _apply_watch(self, readings: Readings) -> None:
        """Let the loop evaluate the watched quantities."""
        memory, work = self._memory, readings.machine.sizes["work"]
        if work > self._kernel.n_work:
            memory.run.model.work = floats_of(np.zeros(work))
        memory.watched, memory.watch = floats_of(readings.array), readings.machine.address
        readings.read(self.dynamics.point_of(self.t, self._run.y, self._p, self._inputs))


STEP_DOC = """Advance by one interval, with all events, clock ticks and impacts in it.

Parameters
----------
inputs : array or mapping, optional
    The inputs during the interval, in the order of the model or by name; those of the last step by default.

Raises
------
SimulationError
    The motion cannot go on; the state is that before the step, or within it.
"""


def _find_method(name: str) -> str:
    known = [method.name for method in METHODS.values() if method.then is None]
    name = replace_former(name)
    if name not in known:
        raise ArgumentError(f"method: a stepper takes one of {', '.join(known)}, not {name!r}")
    return name


def make_stepper(dynamics: Dynamics, dt: Any, **options: Any) -> Stepper:
    """The stepper of a compiled system, for ``dynamics.stepper``."""
    return Stepper(dynamics, dt, **options)


class Readings(Mapping[str, Array]):
    """Quantities by name: arrays that each step writes into; ``array`` holds all of them one after the other.

    A value that is not defined at a state, as a direction of no length, is not a number.
    """

    def __init__(self, dynamics: Dynamics, texts: tuple[str, ...]) -> None:
        names = [find_quantity(dynamics.system, text) for text in texts]
        for name in names:
            if not has_start_pattern(dynamics, name):
                message = "equilibrium alone does not determine it, and how it is shared here takes longer than a step"
                raise ArgumentError(f"watch: {name.text}: {message}; dynamics.evaluate gives it")
        self._kernels, self._kernel = dynamics.kernels, values_kernel(dynamics, texts)
        self.machine = self._kernels.machine(self._kernel)
        self.array = np.zeros(self.machine.sizes["out"])
        self._values = dict(split_values(self.array, names))

    def read(self, point: EvaluationPoint) -> None:
        """Evaluate the quantities at a point."""
        self.array[:] = self._kernels.call(self._kernel, point)

    def __getitem__(self, name: str) -> Array:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<Readings: {', '.join(self._values)}>"


class Steppers(threading.local):
    """The stepper of each thread."""

    def __init__(self, dynamics: Dynamics) -> None:
        self.own = SingleStepper(dynamics)


class SingleStepper:
    """Takes single steps of a compiled system."""

    def __init__(self, dynamics: Dynamics) -> None:
        self._stepper = Stepper(dynamics, 1.0, start=dynamics.initial)
        self._arguments, self._changed = dynamics.arguments, False
        self._has_events = dynamics.topology.events is not None
        self._sizes = dynamics.n_q, dynamics.n_u, dynamics.n_z
        self._shapes = tuple((size,) for size in self._sizes)

    def advance(self, state: State, dt: float, p: Any, inputs: Any) -> State:
        """The state a time dt later."""
        q, u, z = state.q, state.u, state.z
        try:
            fits = (q.shape, u.shape, z.shape) == self._shapes
        except AttributeError:  # lists
            q, u, z = (np.array(values, dtype=float) for values in (q, u, z))
            state = State(state.t, q, u, z)
            fits = (q.shape, u.shape, z.shape) == self._shapes
        if not fits:
            expected = ", ".join(map(str, self._sizes))
            raise ArgumentError(f"step: a state with q, u, z of {expected} numbers is expected")
        if dt == 0.0 or not math.isfinite(dt) or (dt < 0.0 and self._has_events):
            raise ArgumentError(f"dt: a positive time in seconds is expected, not {dt!r}")
        stepper = self._stepper
        if p is not None or inputs is not None or self._changed:
            read, self._changed = self._arguments, p is not None or inputs is not None
            stepper.set_values(_row("p", read.read_parameters(p)), _row("inputs", read.read_inputs(inputs)))
        stepper.place(state, dt)
        stepper.step()
        return State(state.t + dt, stepper.q.copy(), stepper.u.copy(), stepper.z.copy())


def _row(name: str, values: Array) -> Array:
    if values.ndim != 1:
        raise ArgumentError(f"step: {name}: one value for each name is expected, not a batch")
    return values


def find_steppers(dynamics: Dynamics) -> Steppers:
    """The steppers of a compiled system, one for each thread."""
    return Steppers(dynamics)
