"""``kn.simulate``: from a model to a trajectory.

The integration itself is in simulation/; here its outcome becomes a ``Trajectory``, or an error that carries one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from kinode.dynamics.compile import compile as compile_system
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.initialization.assembly import Assembly
from kinode.errors import SimulationError
from kinode.kernels.state import State
from kinode.model.system import System
from kinode.ode.compiled_loops import prepare
from kinode.ode.method_table import DEFAULT_METHOD, METHODS
from kinode.ode.ode_arguments import ATOL, RTOL
from kinode.results.trajectory import Trajectory
from kinode.simulation.failures import describe_failure
from kinode.simulation.parameter_guards import end_where_impossible
from kinode.simulation.progress_bar import Progress
from kinode.simulation.solver import Options, check_options, compute_motion, find_start
from kinode.simulation.task_arguments import find_model, read_row, read_seconds
from kinode.simulation.torn_loops import end_where_torn


def simulate(
    model: System | Dynamics | str | os.PathLike[str], until: Any = None, *,
    start: Mapping[str, Any] | State | Assembly | Trajectory | None = None, t0: Any = None, times: Any = None,
    method: str | None = None, step: float | None = None, rtol: float | None = None, atol: Any = None,
    parameters: Any = None, inputs: Any = None, stop_when: str | None = None, max_step: float | None = None,
    progress: bool | Callable[[float], Any] | None = None,
) -> Trajectory:  # fmt: skip
    """Simulate a system (or a compiled one, or a file) from ``t0`` until a time, both in seconds.

    What is left out is taken from the model's ``run_defaults`` (the run section of its file), else as said here.
    ``start`` replaces initial values by name, or is a State, what ``kn.assemble`` gives, or another run, to go on from
    its end; ``t0`` is 0, or the time of that state.  ``times`` says where states are kept: a list of times, a whole
    number of evenly spread samples, or a spacing in seconds (a number with a point); left out, at the method's own
    steps.  ``method`` is "dopri5" (order 5), "dop853" (order 8, for tight tolerances), "rk4" (fixed ``step``) or
    "stiff" (BDF); the tolerances are ``rtol`` 1e-8 and ``atol`` 1e-10.  ``parameters`` and ``inputs`` replace values by
    name; nothing is compiled anew for that.  ``stop_when`` is a law ("lower.position.y < 0"): the run ends when it
    becomes true, or positive.  ``progress`` shows a bar: True, False, by default on a terminal after a second; or a
    function that is given the fraction done and may return False to stop.

    Ctrl-C returns the run so far, its ``status`` "stopped".  A motion that cannot go on raises a SimulationError that
    holds the run so far.
    """
    model = find_model(model)
    known = (model.system if isinstance(model, Dynamics) else model).run_defaults
    options = _options(known, method, step, rtol, atol, max_step)
    prepare(METHODS[options.method].loop)
    dynamics = model if isinstance(model, Dynamics) else compile_system(model)
    until = known.get("until") if until is None else until
    if t0 is None and (start is None or isinstance(start, Mapping)):
        t0 = known.get("t0")
    p, given = read_row(dynamics, "p", parameters), read_row(dynamics, "inputs", inputs)
    begin = find_start(dynamics, start, None if t0 is None else read_seconds(dynamics, "t0", t0), p, given)
    end = read_seconds(dynamics, "until", until)
    if times is None and "times" in known:
        times = [t for t in known["times"] if begin.t <= t <= end] or None
    began = time.perf_counter()
    with Progress(begin.t, end, progress) as bar:
        motion = compute_motion(
            dynamics, begin, end, times=times, options=options, p=p, inputs=given, stop_when=stop_when, on_progress=bar
        )  # fmt: skip
    dynamics = motion.dynamics or dynamics
    message = describe_failure(dynamics, motion) if motion.status == "failed" else None
    whole, motion = motion, end_where_impossible(dynamics, end_where_torn(dynamics, motion))
    message = message if motion is whole else motion.message
    run = Trajectory.from_motion(dynamics, motion, message)
    run.facts = {**_facts(options), **run.facts, "seconds": time.perf_counter() - began}
    if message is not None:
        raise SimulationError(message, run=run)
    return run


def _options(known: Mapping[str, Any], method: Any, step: Any, rtol: Any, atol: Any, max_step: Any) -> Options:
    """How to integrate: as the caller says, else as the model, else as usual."""
    method = known.get("method", DEFAULT_METHOD) if method is None else method
    if method in METHODS and METHODS[method].fixed:
        step = known.get("step") if step is None else step
    elif max_step is None:
        max_step = known.get("step")
    rtol, atol = known.get("rtol", RTOL) if rtol is None else rtol, known.get("atol", ATOL) if atol is None else atol
    return check_options(method, step, rtol, atol, max_step)


def _facts(options: Options) -> dict[str, Any]:
    """The method and what was asked of it."""
    found: dict[str, Any] = {"method": options.method}
    if options.step is not None:
        return {**found, "step": options.step}
    atol = options.atol if isinstance(options.atol, float) else list(options.atol)
    return {**found, "rtol": options.rtol, "atol": atol}
