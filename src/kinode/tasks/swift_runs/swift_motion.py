"""The motions of many runs of one task, from a table of their starts.

Where nothing is to be looked at but the ending, a run goes through a prepared run in the memory of the one before.
Loops, stop conditions, guarded fields and other formulations take the way of single runs.  A run that does not reach
its end is left out: it is made by itself, and says why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_formulations import RECURSIVE_NAME
from kinode.ode.ending import Ending, EndKind
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.method_table import METHODS
from kinode.ode.runs.input_table import Inputs, split_inputs
from kinode.ode.runs.loop_run import OnLong
from kinode.ode.runs.output_room import OutputRoom
from kinode.ode.runs.prepared_run import PreparedRun
from kinode.simulation.after_run import check_run
from kinode.simulation.output_times import find_output_times
from kinode.simulation.parameter_guards import has_guards
from kinode.simulation.run_length import LengthWatch, check_lengths
from kinode.simulation.solver import Solver, check_span, compute_motion, split
from kinode.simulation.task_arguments import read_seconds
from kinode.simulation.time_events import LawTimes, find_common_times
from kinode.tasks.simulate import RunTask
from kinode.tasks.swift_runs.start_table import StartTable

OnProgress = Callable[[float], bool]


class MotionRows(NamedTuple):
    """Times and states of a run that reached its end."""

    t: Array
    y: Array


def fits_swift_runs(task: RunTask) -> bool:
    """Whether the runs of a task end at their time or fail, and are those of its compiled system."""
    return task.stop_when is None and task.dynamics.formulation == RECURSIVE_NAME


class SwiftMotion:
    """Integrates runs of a task whose starts are in a table."""

    def __init__(self, task: RunTask, table: StartTable) -> None:
        self.task, self.dynamics, self.table = task, task.dynamics, table
        self.t0, self.until = table.begin.state.t, read_seconds(task.dynamics, "until", task.until)
        check_span(self.t0, self.until)
        self.times = find_output_times(self.dynamics, task.defaults, task.requested, self.t0, self.until)
        varying = table.changed | table.entries.keys()
        self.laws: LawTimes | None = find_common_times(
            self.dynamics, table.p, table.inputs, self.t0, self.until, varying
        )
        """The times of laws, where they are the same in all runs."""
        self.stiff_kernel: Callable[[], KernelSpec] | None = None
        """The model of a method for stiff systems that may take runs over."""
        self.prepared = self._find_prepared()
        """What the runs share; None where they take the way of single runs."""

    def _find_prepared(self) -> PreparedRun | None:
        task, dynamics, table = self.task, self.dynamics, self.table
        simple = not dynamics.topology.constrained and dynamics.n_u > 0 and not has_guards(dynamics)
        if not simple or self.laws is None or not self.until > self.t0:
            return None
        solver = Solver(dynamics, table.p, table.inputs, task.options, self.laws)
        check_lengths(dynamics, task.options.step, task.options.max_step, self.t0, self.until)
        self.stiff_kernel = solver.stiff_kernel
        return solver.find_prepared(self.t0, self.until, self.times)

    def integrate(self, room: OutputRoom, y: Array, p: Array, inputs: Inputs, goes_on: OnProgress) -> MotionRows | None:
        """The motion from a start; None of a run that did not reach its end."""
        if self.prepared is None:
            return self._integrate_alone(y, p, inputs, goes_on)
        watch: dict[str, tuple[int, OnLong]] = {}
        if self.task.options.step is None:
            length = LengthWatch(self.dynamics, p, inputs, METHODS[self.task.options.method])
            watch = length.watch(0, self.t0, self.until)
        ending, t, states = self.prepared.solve_in(
            room, y, p, split_inputs(inputs)[0], on_progress=goes_on, stiff_kernel=self.stiff_kernel, **watch
        )
        return MotionRows(t, states) if _is_done(ending) else None

    def _integrate_alone(self, y: Array, p: Array, inputs: Inputs, goes_on: OnProgress) -> MotionRows | None:
        start = split(self.dynamics, self.t0, y)
        motion = compute_motion(
            self.dynamics, start, self.until, times=self.times, options=self.task.options, p=p, inputs=inputs,
            on_progress=goes_on,
        )  # fmt: skip
        motion = check_run(motion.dynamics or self.dynamics, motion)
        alike = motion.dynamics is None or motion.dynamics is self.dynamics
        return MotionRows(motion.t, motion.y) if alike and _is_done(motion.ending) else None


def _is_done(ending: Ending) -> bool:
    return ending.kind is EndKind.DONE
