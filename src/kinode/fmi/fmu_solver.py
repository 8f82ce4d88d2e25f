"""An FMU for Model Exchange, taken from one tick to the next by an integrator of ours, with its events.

Such an FMU gives derivatives, and the caller integrates.  The method is the pair of Dormand and Prince of orders 5, 4
(scipy's RK45), since the calls of the FMU cost more than the steps.  An event indicator that changes its sign ends a
step: the instant is bisected on the interpolant, and the FMU gets the first time behind the change.  Time events end
steps exactly.  After every step the FMU is told that it is complete, and may ask for an event there.

Inputs are constant from tick to tick, and every tick is an event of the FMU, as the standard wants it for inputs that
jump.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import LawError
from kinode.fmi.fmu_instance import Entry, FmuInstance

RTOL, ATOL = 1e-8, 1e-10
MOST_EVENTS = 1000  # in one period: more of them come ever faster
MOST_STEPS = 100_000  # in one period
MOST_UPDATES = 1000  # of discrete states at one event
BISECTIONS = 60  # of a step with a change of sign: down to rounding
DOUBLES = ctypes.POINTER(ctypes.c_double)


class SolvedFmu(FmuInstance):
    """An instance for Model Exchange with its solver."""

    x: Array
    next_event: float

    def initialize(self, t: float, fixed: Sequence[Entry], inputs: Sequence[Entry]) -> None:
        """Begin at a time; then it is in continuous time."""
        super().initialize(t, fixed, inputs)
        count = len(self.description.states)
        self.x, self._rates, self._z = np.zeros(count), np.zeros(count), np.zeros(self.description.n_indicators)
        self._call("getContinuousStates", self.x)
        self._update(t)

    def set_inputs(self, values: Sequence[Entry]) -> None:
        """Give it the inputs of a tick, which is an event."""
        self._place(self.time, self.x)
        self._do("enterEventMode")
        self.set(values)
        self._update(self.time)

    def step(self, t: float, h: float) -> None:
        """Integrate, through all events, to the next tick."""
        end, events, steps = t + h, 0, 0
        while t < end:
            until = min(end, max(self.next_event, t))
            t_new, happened, taken = self._integrate(t, until) if until > t else (t, True, 0)
            events, steps = events + happened, steps + taken
            if events > MOST_EVENTS or steps > MOST_STEPS:
                what = f"{MOST_EVENTS} events" if events > MOST_EVENTS else f"{MOST_STEPS} steps"
                raise self.fault(f"takes more than {what} from t = {end - h:.9g} s to {end:.9g} s")
            t = t_new
            if happened or t >= self.next_event:
                self._event(t)
        self.time = end

    # -- between events ----------------------------------------------------------------------------
    def _integrate(self, t: float, end: float) -> tuple[float, bool, int]:
        """Steps to a time, or to the first event before it: the time, whether there is one, and how many steps."""
        if not self.x.size:
            self._place(end, self.x)
            return end, self._completed(), 1
        from scipy.integrate import RK45

        solver: Any = RK45(self._rate, t, self.x.copy(), end, rtol=RTOL, atol=ATOL)
        before, steps = self._signs(t, self.x), 0
        while solver.status == "running":
            told, steps = solver.step(), steps + 1
            if solver.status == "failed":
                raise self.fault(f"cannot be integrated beyond t = {solver.t:.9g} s", ArithmeticError(str(told)))
            if (self._signs(solver.t, solver.y) != before).any():
                at = self._bisect(solver, before)
                self.x = solver.y.copy() if at == solver.t else solver.dense_output()(at)
                return at, True, steps
            self.x = solver.y.copy()
            self._place(solver.t, self.x)
            if self._completed():
                return float(solver.t), True, steps
            if steps > MOST_STEPS:
                break
        return float(solver.t), False, steps

    def _bisect(self, solver: Any, before: Array) -> float:
        """The first time behind a change of sign in the last step, up to rounding."""
        low, high, course = float(solver.t_old), float(solver.t), solver.dense_output()
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            changed = (self._signs(middle, course(middle)) != before).any()
            low, high = (low, middle) if changed else (middle, high)
        return high

    def _rate(self, t: float, x: Array) -> Array:
        self._place(t, x)
        self._call("getDerivatives" if self.version == 2 else "getContinuousStateDerivatives", self._rates)
        if not np.isfinite(self._rates).all():
            k = int(np.flatnonzero(~np.isfinite(self._rates))[0])
            raise self.fault(f"gives {self.description.rates[k]} = {self._rates[k]} at t = {t:.9g} s")
        return self._rates.copy()

    def _signs(self, t: float, x: Array) -> Array:
        """Whether each event indicator is positive."""
        if not self._z.size:
            return self._z > 0
        self._place(t, x)
        self._call("getEventIndicators", self._z)
        return self._z > 0

    # -- at events ---------------------------------------------------------------------------------
    def _event(self, t: float) -> None:
        self._place(t, self.x)
        self.pass_event(t)

    def go_to(self, t: float, x: Sequence[float]) -> None:
        """Set time and states in continuous time."""
        self._place(t, np.array(x, dtype=float))

    def pass_event(self, t: float) -> None:
        """Let an event happen where it is: ``x`` and ``next_event`` are those after it."""
        self._do("enterEventMode")
        self._update(t)

    def find_signs(self) -> tuple[float, ...]:
        """1 for each event indicator that is positive where it is, 0 for the others."""
        self._call("getEventIndicators", self._z)
        return tuple(float(z > 0) for z in self._z)

    def _update(self, t: float) -> None:
        """Find new discrete states in event mode, and go on in continuous time."""
        update = "newDiscreteStates" if self.version == 2 else "updateDiscreteStates"
        for _ in range(MOST_UPDATES):
            again, ends, _, _, timed, at = self._do(update)
            if ends:
                raise self.fault(f"asks for the end of the run at t = {t:.9g} s")
            if not again:
                break
        else:
            raise self.fault(f"finds no discrete states at t = {t:.9g} s")
        self.next_event = float(at) if timed and at > t else math.inf
        self._do("enterContinuousTimeMode")
        self._call("getContinuousStates", self.x)

    def _completed(self) -> bool:
        """Tell it that a step is complete; whether it wants an event there."""
        if not self.kind.steps_matter:
            return False
        wants, ends = self._do("completedIntegratorStep")
        if ends:
            raise self.fault("asks for the end of the run")
        return bool(wants)

    # -- calls -------------------------------------------------------------------------------------
    def _place(self, t: float, x: Array) -> None:
        self._do("setTime", t)
        if x.size:
            self._call("setContinuousStates", np.ascontiguousarray(x))

    def _call(self, name: str, values: Array) -> None:
        if values.size:
            self._do(name, values.ctypes.data_as(DOUBLES), values.size)

    def _do(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self.face, name)(*arguments)
        except LawError:
            raise
        except Exception as error:  # FMPy raises its own
            raise self.fault("fails", error) from None
