"""A run integrated once more, with its own method and tolerances, and kept at other times (dense output).

The steps are those of the run, so that events, modes, loops and clocks are too.  A run that does not come out the same,
or that must not be repeated because it calls functions of the user, has no repetition.
"""

from __future__ import annotations

import warnings

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import Error
from kinode.hooks import hook
from kinode.kernels.state import State
from kinode.results.run_quantities import RunQuantities
from kinode.simulation.solver import split

SAME_END = 1e-5  # of the range of a state, by which the end of a repeated run may differ


def calls_functions(run: RunQuantities) -> bool:
    """Whether the clocks of a run call functions of the user."""
    events = run.dynamics.topology.events
    return events is not None and any(entry.sampler.call is not None for entry in events.samplers)


def has_own_steps(run: RunQuantities) -> bool:
    """Whether a run was kept at its own steps, and not at other times."""
    return bool(np.count_nonzero(np.diff(run.t)) == run.facts.get("steps"))


def repeat_run(run: RunQuantities, times: Array | None) -> RunQuantities | None:
    """The run kept at some times, or at its own steps; None if it cannot be repeated or does not come out the same."""
    begin = _find_begin(run)
    if "method" not in run.facts or begin is None or calls_functions(run):
        return None
    end = run.end if run.end.t >= run.t[-1] else split(run.dynamics, float(run.t[-1]), run.y[-1])
    facts = dict(run.facts)
    if not run.dynamics.n_u and has_own_steps(run):  # a run without speeds bounds them
        facts["max_step"] = float(np.diff(run.t).max())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the run itself has said it
            motion = hook("repeat_motion")(run.dynamics, begin, end.t, facts, times=times, p=run.p, inputs=run.inputs)
    except Error:
        return None
    repeated = type(run).from_motion(motion.dynamics or run.dynamics, motion)
    scale = np.ptp(np.vstack([run.y, end.y]), axis=0) + 1e-9 * (1.0 + np.abs(run.y).max(axis=0))
    return repeated if (np.abs(repeated.end.y - end.y) <= SAME_END * scale).all() else None


def _find_begin(run: RunQuantities) -> State | None:
    """Where to integrate from: the run's own start; else its first state, unless a clock may have ticked there."""
    events = run.dynamics.topology.events
    if run.begin is not None or (events is not None and len(events.samplers)):
        return run.begin
    return split(run.dynamics, float(run.t[0]), run.y[0])
