"""Integrations of one model that differ in start, parameters and inputs alone.

What they have in common is checked and laid out in memory once. A run in the memory of an earlier one begins in a
tenth of the time that it takes to lay one out, and gives the same numbers to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from kinode.ode.ending import Ending, reached_end
from kinode.ode.integrate import allow_takeover, begin_run
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.method_table import DEFAULT_METHOD, METHODS
from kinode.ode.ode_arguments import Array, check_start, flat
from kinode.ode.runs.loop_run import LoopRun, OnLong, OnNear
from kinode.ode.runs.output_room import OutputRoom
from kinode.ode.solution import OdeSolution


class PreparedRun:
    """Runs of a model from t0 to t1; several threads may use it at a time.

    Parameters
    ----------
    kernel : KernelSpec
        The model.
    t0, t1 : float
        Start and end in s.
    **options
        Arguments of ``integrate`` that all runs have in common: method, times, step, tolerances, breaks and the like.
    """

    def __init__(self, kernel: KernelSpec, t0: float, t1: float, **options: Any) -> None:
        self.kernel, self.t0, self.t1, self.options = kernel, t0, t1, options
        self._idle: list[LoopRun] = []
        self._sizes: tuple[int, ...] | None = None  # of parameters and inputs

    @property
    def loop_name(self) -> str:
        """The name of the compiled loop."""
        eventful = self.kernel.events is not None or self.kernel.bounds is not None
        return METHODS[self.options.get("method", DEFAULT_METHOD)].find_loop(eventful)

    def begin(
        self, y0: npt.ArrayLike, p: npt.ArrayLike | None = None, inputs: npt.ArrayLike | None = None,
        room: OutputRoom | None = None,
    ) -> LoopRun:  # fmt: skip
        """A run before its first step, whose output may go into a room."""
        start = check_start(y0, self.kernel.n_row, self.t0, self.t1)
        arguments = flat("p", p), flat("inputs", inputs)
        sizes = tuple(map(len, arguments))
        if self._sizes not in (None, sizes):
            raise ValueError(f"p, inputs: {self._sizes} numbers are expected as in the runs before, not {sizes}")
        try:
            run = self._idle.pop()
        except IndexError:
            run = begin_run(self.kernel, start, self.t0, self.t1, p=arguments[0], inputs=arguments[1], **self.options)
            run.keep_layout()
            self._sizes = sizes
            return run
        run.begin_again(start, arguments, room)
        return run

    def solve(
        self, y0: npt.ArrayLike, p: npt.ArrayLike | None = None, inputs: npt.ArrayLike | None = None, *,
        on_progress: Callable[[float], bool] | None = None, on_long: tuple[int, OnLong] | None = None,
        stiff_kernel: Callable[[], KernelSpec] | None = None, on_near: OnNear | None = None,
    ) -> OdeSolution:  # fmt: skip
        """The run from a start with some parameters and inputs; the arguments are those of ``integrate``."""
        run = self.begin(y0, p, inputs)
        allow_takeover(run, self.options.get("method", DEFAULT_METHOD), stiff_kernel)
        run.on_near = on_near
        solution = run.complete(on_progress, None, on_long)
        self._keep(run)
        return solution

    def solve_in(
        self, room: OutputRoom, y0: npt.ArrayLike, p: npt.ArrayLike, inputs: npt.ArrayLike, *,
        on_progress: Callable[[float], bool] | None = None, on_long: tuple[int, OnLong] | None = None,
        stiff_kernel: Callable[[], KernelSpec] | None = None,
    ) -> tuple[Ending, Array, Array]:  # fmt: skip
        """How a run ends, its times and its states; they hold until the room has the output of another run."""
        run = self.begin(y0, p, inputs, room)
        allow_takeover(run, self.options.get("method", DEFAULT_METHOD), stiff_kernel)
        ending = run.drive(on_progress, None, on_long) if self.t1 != self.t0 else reached_end(self.t1)
        t, y = run.rows_in(room)
        self._keep(run)
        return ending, t, y

    def _keep(self, run: LoopRun) -> None:
        """Keep the memory of a run for others, unless it is laid out for another method."""
        if run.takeover is None or run.takeover.time is None:
            run.release_output()
            self._idle.append(run)
