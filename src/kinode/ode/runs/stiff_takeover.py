"""Another method takes a run over where stability bounds the steps of its own (loops/implicit/stiffness_watch.py).

The run goes on in the same memory, from the state that it has reached: events, clocks, breaks and output are those of
the run. Where the other method cannot go on, the first one continues, and keeps the run.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinode.jit.pointers import floats_of
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.loops.run_codes import Outcome, Stepping
from kinode.ode.method_table import METHODS, IntegrationMethod
from kinode.ode.newton_setup import set_newton
from kinode.ode.runs.loop_run import LoopRun
from kinode.ode.tableaus import Tableau

TRIAL_STEPS = 200
"""Steps after which the other method must have proved faster."""
WORTH_STEPS = 5_000
"""Steps that the run would still take: with fewer the other method does not earn its preparation."""
LEAST_GAIN = 10.0
"""How many times the steps before it a step of the other method is at least, since it takes as much longer."""
FAILURES = frozenset({Outcome.STEP_TOO_SMALL, Outcome.NOT_FINITE, Outcome.STALLED})
"""Endings of the other method after which the first one tries to go on."""


def set_method(run: LoopRun, method: IntegrationMethod, table: Tableau) -> None:
    """Give the loop the coefficients of its method."""
    numbers = run.memory.method
    numbers.stepping, numbers.classical = method.stepping, table.classical
    numbers.last, numbers.stages, numbers.powers = table.last, len(table.nodes), len(table.dense)
    numbers.order, numbers.damping, numbers.estimates = table.error_order, table.damping, table.estimates
    numbers.table = floats_of(table.packed)
    run.memory.stiffness.limit = table.stability


class StiffTakeover:
    """The change of a run to a method for stiff problems.

    Parameters
    ----------
    run : LoopRun
        The run of a method that names another one.
    find_kernel : callable
        The model with its derivatives, found when they are needed.
    """

    def __init__(self, run: LoopRun, method: IntegrationMethod, find_kernel: Callable[[], KernelSpec]) -> None:
        assert method.then is not None
        self.run, self.method, self.other, self.find_kernel = run, method, METHODS[method.then], find_kernel
        self.time: float | None = None  # of the change
        self._trial: tuple[float, int, float] | None = None  # time and steps at its start, length of a step before it
        run.memory.stiffness.worth = WORTH_STEPS

    def take_over(self) -> None:
        """Go on with the other method."""
        step, counts = self.run.memory.step, self.run.memory.counts
        self.time, self._trial = self.run.now, (step.t, counts.steps, abs(step.h_done))
        kernel = self.find_kernel()
        table = self._change_to(self.other)
        set_newton(self.run, kernel, table, self.run.memory.method.rtol)
        self.run.memory.counts.restarted = 1

    def limit(self, budget: int) -> int:
        """The number of steps to take at once: at most to the end of the trial."""
        if self._trial is None:
            return budget
        return min(budget, max(1, self._trial[1] + TRIAL_STEPS - self.run.memory.counts.steps))

    def give_back(self, code: int) -> bool:
        """Go on with the first method where the other one failed, or is no faster; False where it goes on."""
        if self.run.memory.method.stepping != Stepping.IMPLICIT:
            return False
        if code not in FAILURES and not (code == Outcome.PAUSED and self._is_slow()):
            return False
        self._trial = None
        self._change_to(self.method)
        self.run.memory.newton.hold = 0.0
        self.run.memory.step.h = 0.0
        return True

    def _is_slow(self) -> bool:
        """Whether the trial is over, and steps have hardly become longer for all that they cost."""
        memory = self.run.memory
        if self._trial is None or memory.counts.steps < self._trial[1] + TRIAL_STEPS:
            return False
        (t, _, h), self._trial = self._trial, None
        cost = LEAST_GAIN + memory.model.n_continuous / 2
        return abs(memory.step.t - t) < TRIAL_STEPS * cost * h

    def _change_to(self, method: IntegrationMethod) -> Tableau:
        """Set another method; the slope of the present state is its first one."""
        run, memory = self.run, self.run.memory
        assert method.tableau is not None
        table, n = method.tableau(), run.y.size
        rows = run.provide(len(table.nodes) * n)[0].reshape(-1, n)
        rows[0] = run.slopes[0]
        run.slopes, memory.state.slopes = rows, floats_of(rows)
        memory.method.weights = floats_of(np.zeros(len(table.nodes)))
        set_method(run, method, table)
        memory.stiffness.worth = memory.stiffness.wanted = 0
        memory.step.previous_error, memory.counts.rejected_in_a_row, memory.counts.failed = 1e-4, 0, -1
        run.loop = method.find_loop(run.events is not None or memory.bounds.count != 0)
        return table
