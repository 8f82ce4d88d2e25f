"""From a compiled system and a start to its motion: checks what was asked for, picks the method, keeps the states.

``compute_motion`` never raises for what happens on the way: a ``StateHistory`` says how far it came and why it ended.
``kn.simulate`` (tasks/simulate.py) makes a trajectory of it.  Stopping conditions are in stop_conditions.py, the words
for failures in failures.py, the methods in integrate.py and cvode.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.initialization.assembly import Assembly
from kinode.errors import ArgumentError, AssemblyError, Error, ModelError
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.state import State
from kinode.kernels.tree_size import is_large
from kinode.model.joints.end_stops import passed_end
from kinode.ode.cvode import integrate_stiff, normalized
from kinode.ode.ending import Ending, EndKind, reached_end
from kinode.ode.event_spec import Fired
from kinode.ode.integrate import integrate
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.method_table import DEFAULT_METHOD, METHODS, name_fixed
from kinode.ode.ode_arguments import ATOL, RTOL
from kinode.ode.solution import OdeSolution, SingularPass
from kinode.simulation.event_functions import find_spec
from kinode.simulation.row_monitor import RowMonitor
from kinode.simulation.run_length import LONG, check_lengths, warn_long
from kinode.simulation.time_events import LawTimes, find_law_times

OPEN = 1e-6
"""Share of a mechanism's size beyond which a start does not count as closed; the first step closes what is less."""
BEYOND = 1e-6
"""Share of an end's position, or m or rad, by which a start may lie beyond a rigid end: a run leaves less than that."""
DRIVEN_SAMPLES = 1000
"""Samples of a run in which nothing is integrated, where no times are given."""
CHOICES = 4
"""Sets of constraint rows that a run is tried with."""

_KNOWN: WeakKeyDictionary[Dynamics, tuple[tuple[Any, ...], LawTimes]] = WeakKeyDictionary()

OnProgress = Callable[[float], bool]


@dataclass(frozen=True)
class Options:
    """How to integrate, checked."""

    method: str = DEFAULT_METHOD
    step: float | None = None
    rtol: float = RTOL
    atol: Any = ATOL
    max_step: float = math.inf


@dataclass(frozen=True, eq=False)
class StateHistory:
    """States over time, a row [q, u, z] for each time, and how the run ended."""

    t: Array
    y: Array
    p: Array
    inputs: Array
    ending: Ending
    t_end: float
    y_end: Array
    steps: int = 0
    evaluations: int = 0
    passes: tuple[SingularPass, ...] = ()
    """Passes near singular positions."""
    fired: tuple[Fired, ...] = ()
    """Times and event functions of events."""
    dynamics: Dynamics | None = None
    """The system as it was compiled for this motion."""


def check_options(method: str, step: Any, rtol: Any, atol: Any, max_step: Any) -> Options:
    """The options of the method as plain numbers; what cannot work is said in words."""
    if method not in METHODS:
        raise ArgumentError(f"method: there is no {method!r}; the methods are {', '.join(METHODS)}")
    relative = _positive("rtol", rtol)
    try:
        absolute = np.asarray(atol, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(f"atol: a number, or one for each state, is expected, not {atol!r}") from None
    if not np.isfinite(absolute).all() or not (absolute > 0).all():
        raise ArgumentError(f"atol: a positive number is expected, not {atol!r}")
    if not 1e-15 <= relative < 1.0:
        raise ArgumentError(f"rtol: a number from 1e-15 to 1 is expected, not {rtol!r}")
    if METHODS[method].fixed and step is None:
        raise ArgumentError(f'step: method "{method}" needs the length of its steps in seconds')
    if not METHODS[method].fixed and step is not None:
        raise ArgumentError(f'step: "{method}" chooses its steps itself; use max_step=, or method="{name_fixed()}"')
    fixed = None if step is None else _positive("step", step)
    return Options(method, fixed, relative, atol, math.inf if max_step is None else _positive("max_step", max_step))


def _positive(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: a positive number is expected, not {value!r}") from None
    if not (math.isfinite(number) and number > 0):
        raise ArgumentError(f"{name}: a positive number is expected, not {value!r}")
    return number


def find_start(dynamics: Dynamics, start: Any, t0: float | None, p: Array, inputs: Array) -> State:
    """The state to start from: the model's, with values replaced by name, a given one, or the end of a run."""
    start = start.state if isinstance(start, Assembly) else start
    if hasattr(start, "end") and isinstance(start.end, State):
        t0 = start.end.t if t0 is None else t0
        start = start.dynamics.values(start.end)
    if isinstance(start, State):
        state = start if t0 is None else replace(start, t=float(t0))
        sizes = tuple(len(part) for part in (state.q, state.u, state.z))
        if sizes != (dynamics.n_q, dynamics.n_u, dynamics.n_z):
            expected = f"{dynamics.n_q}, {dynamics.n_u}, {dynamics.n_z}"
            raise ArgumentError(f"start: q, u, z of {expected} numbers are expected, not {', '.join(map(str, sizes))}")
    elif start is None or isinstance(start, Mapping):
        state = dynamics.state(start, t=0.0 if t0 is None else float(t0), p=p, inputs=inputs)
    else:
        raise ArgumentError(
            f"start: a mapping of names, a State, an assembly or a run is expected, not {type(start).__name__}"
        )
    y = state.y
    if not math.isfinite(state.t) or not np.isfinite(y).all():
        bad = [c.name for c, value in zip(dynamics.coordinates, y) if not math.isfinite(value)] or ["t"]
        raise ArgumentError(f"start: {bad[0]} is not finite")
    if dynamics.topology.events is not None:
        dynamics.topology.events.check_modes(state.z)
    return split(dynamics, state.t, normalized(y, dynamics.topology.layout.quaternions))


def split(dynamics: Dynamics, t: float, y: Array) -> State:
    """A state from its vector [q, u, z]."""
    return State(float(t), *(part.copy() for part in dynamics.topology.layout.split(y)))


class Solver:
    """A system, its numbers and the options: integrates from any state to any time."""

    def __init__(
        self, dynamics: Dynamics, p: Array, inputs: Array, options: Options, laws: LawTimes | None = None
    ) -> None:
        laws = laws or LawTimes()
        self.p, self.inputs = p, inputs
        self.options = replace(options, max_step=min(options.max_step, laws.longest))
        self.steps, self.told, self.begun = 0, False, math.inf
        self.breaks: dict[str, Any] = {"breaks": laws.breaks, "margin": laws.margin}
        if dynamics.topology.constrained and not METHODS[options.method].keeps_loops_closed:
            others = [name for name, method in METHODS.items() if method.keeps_loops_closed and not method.fixed]
            raise ArgumentError(f"method: '{options.method}' cannot keep loops closed; use {' or '.join(others)}")
        self.quaternions = dynamics.topology.layout.quaternions
        self._use(dynamics)

    def _use(self, dynamics: Dynamics) -> None:
        self.dynamics = dynamics
        self.rows = RowMonitor(dynamics, self.p, self.inputs) if dynamics.topology.constrained else None
        code = dynamics.kernels.machine(Kernel("rate"))
        projection = dynamics.kernels.machine(Kernel("projection")) if dynamics.topology.constrained else None
        work = max(code.sizes["work"], projection.sizes["work"] if projection else 0)
        events, more_work = (None, 0) if dynamics.topology.events is None else find_spec(dynamics, self.p, self.inputs)
        self.kernel = KernelSpec(
            code.address, dynamics.n_q, dynamics.n_u, dynamics.n_z, n_work=max(work, more_work),
            projection=projection.address if projection else 0, events=events,
        )  # fmt: skip

    def check_start(self, start: State) -> None:
        """A start in a singular position, in which loops are open, or beyond a rigid end, is said beforehand."""
        self._check_ends(start)
        if not self.dynamics.topology.constrained:
            return
        gap, missing = self.dynamics.loops.judge(self.dynamics.point(start, self.p, self.inputs), self.dynamics.closure)
        if gap > OPEN:
            raise AssemblyError(f"the loops are not closed at the start: {gap:.1e} of the mechanism's size are missing")
        if missing:
            raise AssemblyError(
                f"the start is a singular position, with {missing} more freedom{'s' * (missing > 1)} than positions "
                "beside it: which way to go is not determined; start a little beside it (kn.mobility tells more)"
            )

    def _check_ends(self, start: State) -> None:
        """Nothing would push a joint back that starts beyond its rigid end."""
        joints = {name: joint for name, joint in self.dynamics.system.joints.items() if joint.ends and joint.ends.rigid}
        if not joints:
            return
        resolve, now = self.dynamics.arguments.resolver(self.p), self.dynamics.snapshot(start, self.p, self.inputs)
        for name, joint in joints.items():
            q = float(now.joint_state(name)[0][0])
            end = passed_end(joint, resolve, q, BEYOND)
            if end is not None:
                field = "stop" if joint.stop is not None else "backlash"
                message = f"the joint starts at {q:g}, beyond its rigid end at {end:g}"
                raise ModelError(message, component=name, field=field)

    def run(
        self, y: Array, t0: float, t1: float, times: Array | None = None, *,
        on_progress: OnProgress | None = None, max_steps: int | None = None, first_step: float | None = None,
        first_tick: int | None = None,
    ) -> OdeSolution:  # fmt: skip
        """One integration; ``max_steps``, ``first_step`` and ``first_tick`` let it be done in parts.

        Where the constraint rows in use fail and others do not, it is done again with those.
        """
        more = {} if max_steps is None else {"max_steps": max_steps}
        self.begun = min(self.begun, t0)
        for _ in range(CHOICES):
            given = {"first_step": first_step, "first_tick": first_tick, "on_progress": on_progress}
            found = self._integrate(y, t0, t1, times, {**more, **given})
            self.steps += found.steps + found.rejected
            torn = None if self.rows is None else self.rows.find_torn(found)
            ended_well = not found.ending.failed and not found.passes
            if self.rows is None or (ended_well and torn is None):
                return found
            better = self.rows.find_better(found)
            if better is None:
                break
            self._use(Dynamics(self.dynamics.system, rows=better))
        if torn is None:
            return found
        said = f"{torn[0]} came apart until t = {found.t_end:.9g} s, by {torn[1]:.1e} of the mechanism's size"
        why = "what it holds was taken for redundant at the start, and is not"
        return replace(found, ending=Ending(EndKind.LOOP_OPEN, found.t_end, f"{said}: {why}", torn[0]))

    def _integrate(self, y: Array, t0: float, t1: float, times: Array | None, more: dict[str, Any]) -> OdeSolution:
        o = self.options
        try:
            if METHODS[o.method].tableau is None:
                return integrate_stiff(
                    self._rate, self._jacobian, y, t0, t1, times=times, rtol=o.rtol, atol=o.atol,
                    quaternions=self.quaternions, max_step=o.max_step, **self.breaks, **more,
                    events=None if self.kernel.events is None else (self.kernel, self.p, self.inputs),
                )  # fmt: skip
            if not self.told and o.step is None:
                more["on_long"] = (max(1, LONG - self.steps), partial(self._tell_long, (self.begun, t1)))
            return integrate(
                self.kernel, y, t0, t1, method=o.method, times=times, step=o.step, rtol=o.rtol, atol=o.atol,
                p=self.p, inputs=self.inputs, quaternions=self.quaternions, max_step=o.max_step, **self.breaks, **more,
            )  # fmt: skip
        except Error:
            raise
        except ValueError as error:
            raise ArgumentError(str(error)) from None

    def _tell_long(self, span: tuple[float, float], t: float) -> None:
        if not self.told:
            self.told = True
            warn_long(self.dynamics, self.p, self.inputs, span, t)

    def _rate(self, t: float, y: Array) -> Array:
        return self.dynamics.rate(t, y, p=self.p, inputs=self.inputs)

    def _jacobian(self, t: float, y: Array) -> Array:
        if is_large(self.dynamics.topology):  # exact columns would be straight-line code for each body
            h = 1e-8 * (1.0 + np.abs(y))
            rates = self.dynamics.rate(t, np.vstack([y, y + np.diag(h)]), p=self.p, inputs=self.inputs)
            found: Array = ((rates[1:] - rates[0]) / h[:, None]).T
            return found
        return self.dynamics.rate_jacobian(t, y, p=self.p, inputs=self.inputs)


def _law_times(dynamics: Dynamics, p: Array, inputs: Array, t0: float, t1: float) -> LawTimes:
    """When laws of time break; one run after another over the same time asks once."""
    key = (t0, t1, p.tobytes(), inputs.tobytes())
    known = _KNOWN.get(dynamics)
    if known is None or known[0] != key:
        known = _KNOWN[dynamics] = key, find_law_times(dynamics, p, inputs, t0, t1)
    return known[1]


def check_span(t0: float, until: float) -> None:
    """A run goes forwards, to a time that is finite."""
    if not math.isfinite(until):
        raise ArgumentError(f"until: a time in seconds is expected, not {until!r}")
    if until < t0:
        raise ArgumentError(f"until: {until:g} s lies before the start at {t0:g} s")


def compute_motion(
    dynamics: Dynamics, start: State, until: float, *, times: Array | None = None, options: Options | None = None,
    p: Array, inputs: Array, stop_when: str | None = None, on_progress: OnProgress | None = None,
) -> StateHistory:  # fmt: skip
    """The states from the start until a time, or until ``stop_when`` becomes true."""
    asked = times
    options = options or Options()
    if asked is None and dynamics.n_u == 0 and until > start.t:  # little or nothing bears on the steps
        if dynamics.n_z == 0:
            asked = np.linspace(start.t, until, DRIVEN_SAMPLES)
        options = replace(options, max_step=min(options.max_step, (until - start.t) / (DRIVEN_SAMPLES - 1)))
    solver = Solver(dynamics, p, inputs, options, _law_times(dynamics, p, inputs, start.t, until))
    solver.check_start(start)
    check_lengths(dynamics, options.step, options.max_step, start.t, until)
    if stop_when is not None:
        from kinode.simulation.stop_conditions import run_until

        return run_until(solver, start, until, asked, stop_when, on_progress)
    return to_motion(solver, solver.run(start.y, start.t, until, asked, on_progress=on_progress), asked)


def to_motion(solver: Solver, found: OdeSolution, asked: Array | None = None) -> StateHistory:
    """What an integration reached, in the terms of a run; without states the times alone are the run."""
    t, y = found.t, found.y
    if solver.kernel.n_y == 0 and asked is not None:
        t, y = asked, np.zeros((len(asked), 0))
    t_end = float(t[-1]) if solver.kernel.n_y == 0 and len(t) else found.t_end
    ending = reached_end(t_end) if found.ending.kind is EndKind.DONE else found.ending
    return StateHistory(
        t, y, solver.p, solver.inputs, ending, t_end, found.y_end,
        found.steps, found.evaluations, found.passes, found.events,
        solver.dynamics,
    )  # fmt: skip
