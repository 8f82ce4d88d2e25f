"""Another method takes a run over where stability bounds the steps of its own (ode/loops/stiffness_watch.py).

The run goes on in the same memory, from the state that it has reached: events, clocks, breaks and output are those of
the run. Where the other method cannot go on, the first one continues, and keeps the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from kinode.jit.loop.memory import floats_of
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.loops.run_codes import Outcome, Stepping
from kinode.ode.method_table import METHODS, IntegrationMethod
from kinode.ode.run import LoopRun
from kinode.ode.tableaus import Tableau

TRIAL_STEPS = 200
"""Steps over which the cost of a method is measured."""
WORTH_STEPS = 5_000
"""Steps that the run would still take: with fewer the other method does not earn its preparation."""
SIZE_SQUARED = 400.0
"""The square of the number of states for which the matrices of the other method double its cost."""
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

    It takes over where stability bounds the steps.  Its cost, in evaluations of the rate for a second of the run, is
    then compared with that of the first method at the edge of stability.  Where it is higher, the first method takes
    some steps for comparison, and the cheaper of the two goes on.

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
        self.time: float | None = None  # of the first change
        self._begun: tuple[float, int, int] | None = None  # of the trial: time, steps and evaluations
        self._cost = 0.0  # of the method that does not run now
        run.memory.stiffness.worth = WORTH_STEPS

    @property
    def _is_other(self) -> bool:
        return bool(self.run.memory.method.stepping == Stepping.IMPLICIT)

    def take_over(self) -> None:
        """Go on with the other method, where the loop asks for it."""
        memory = self.run.memory
        self.time = self.run.now
        self._cost = memory.method.last / abs(memory.step.h_done) if memory.step.h_done else math.inf
        self._use_other()

    def _use_other(self) -> None:
        from kinode.ode.newton_setup import set_newton  # few runs need it

        kernel = self.find_kernel()
        set_newton(self.run, kernel, self._change_to(self.other), self.run.memory.method.rtol)
        self.run.memory.counts.restarted = 1

    def limit(self, budget: int) -> int:
        """The number of steps to take at once: at most to the end of a trial."""
        if self._begun is None:
            return budget
        return min(budget, max(1, self._begun[1] + TRIAL_STEPS - self.run.memory.counts.steps))

    def changes(self, code: int) -> bool:
        """Change the method where the present one failed, or costs more; False where it stays."""
        if self._is_other and code in FAILURES:
            self._use_first()
            self._begun = None
            return True
        counts = self.run.memory.counts
        if code == Outcome.STEP_TOO_SMALL and self.time is None and counts.steps == 0:  # too stiff for any first step
            self.take_over()
            self.run.memory.step.h = 0.0
            return True
        if code != Outcome.PAUSED or self._begun is None or counts.steps < self._begun[1] + TRIAL_STEPS:
            return False
        cost, other = self._measure(), self._cost
        if self._is_other and cost > other:
            self._cost = cost
            self._use_first()
            return True
        if not self._is_other:
            self._cost, self._begun = cost, None  # the decision
            if other < cost:
                self._use_other()
                self._begun = None
                return True
        return False

    def _measure(self) -> float:
        """The cost of the trial that is over, in evaluations for a second; the next one begins."""
        memory = self.run.memory
        assert self._begun is not None
        t, _, evaluations = self._begun
        self._begin_trial()
        cost = (memory.counts.evaluations - evaluations) / max(abs(memory.step.t - t), 1e-300)
        return cost * (1.0 + memory.model.n_continuous**2 / SIZE_SQUARED) if self._is_other else cost

    def _begin_trial(self) -> None:
        counts = self.run.memory.counts
        self._begun = self.run.memory.step.t, counts.steps, counts.evaluations

    def _use_first(self) -> None:
        self._change_to(self.method)
        self.run.memory.newton.hold = 0.0
        self.run.memory.step.h = 0.0

    def _change_to(self, method: IntegrationMethod) -> Tableau:
        """Set another method; the slope of the present state is its first one."""
        run, memory = self.run, self.run.memory
        table, n = method.tableau(), run.y.size
        rows = run.provide(len(table.nodes) * n)[0].reshape(-1, n)
        rows[0] = run.slopes[0]
        run.slopes, memory.state.slopes = rows, floats_of(rows)
        memory.method.weights = floats_of(np.zeros(len(table.nodes)))
        set_method(run, method, table)
        memory.stiffness.worth = memory.stiffness.wanted = memory.stiffness.suspected = memory.stiffness.clear = 0
        memory.step.previous_error, memory.counts.rejected_in_a_row, memory.counts.failed = 1e-4, 0, -1
        run.loop = method.find_loop(run.events is not None or memory.bounds.count != 0)
        self._begin_trial()
        return table
