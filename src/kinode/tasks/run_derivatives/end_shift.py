"""How the end of a run with a stop condition moves with what the run is differentiated by.

The condition g(t, y(t, p), p) = 0 holds at the end T for every p, so that dT/dp = -(dg/dp at a fixed time)/(dg/dt).
"""

from __future__ import annotations

import math

import numpy as np

from kinode.ode.ending import EndKind
from kinode.results.trajectory import Trajectory
from kinode.simulation.stop_conditions import Condition

TIME_SHARE = 1e-6  # of the run's length, over which the rate of the condition is found


def find_end_shifts(run: Trajectory, stop_when: str) -> dict[str, float]:
    """The derivative of the end of a run, in s, by each name; empty where it did not end by its condition.

    It is not a number where the condition just touches zero, or derivatives ended before.
    """
    columns = run.columns
    if columns is None or run.ending.kind is not EndKind.CONDITION or not len(run):
        return {}
    if columns.lost_time is not None:
        return dict.fromkeys(columns.request.names, math.nan)
    condition, t = Condition(run.dynamics, stop_when), float(run.t[-1])
    y, rate = run.y[-1], run.dynamics.rate(t, run.y[-1], p=run.p, inputs=run.inputs)
    h = TIME_SHARE * max(t - float(run.t[0]), 1e-9)
    near = np.array([t - h, t + h])
    before, after = condition(near, np.stack([y - h * rate, y + h * rate]), run.p, run.inputs)
    speed = float(after - before) / (2.0 * h)
    changes = {name: float(run.sensitivity(condition.law, name)[-1]) for name in columns.request.names}
    return {name: -change / speed if speed > 0.0 else math.nan for name, change in changes.items()}
