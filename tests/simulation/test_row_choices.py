"""Runs whose independent constraint rows lose their rank: found early, and never the end of a run by itself."""

import numpy as np
import pytest
from mechanisms import bricard

import kinode as kn
from kinode.dynamics.compiled_system import Dynamics
from kinode.ode.runs.loop_run import NEAR_STEPS, LoopRun
from kinode.simulation.row_monitor import RowMonitor

UNTIL, AT = 5.0, np.linspace(0.0, 5.0, 11)
ROWS = (0, 2, 3, 4)  # of five: independent at the start, and not everywhere on the way


@pytest.fixture
def steps(monkeypatch):
    """The steps of every integration, the one of the result last."""
    counted, drive = [], LoopRun.drive

    def count(self, *args):
        ending = drive(self, *args)
        counted.append(self.memory.counts.steps)
        return ending

    monkeypatch.setattr(LoopRun, "drive", count)
    return counted


def test_a_run_does_not_linger_where_its_rows_lose_their_rank(steps):
    """The step control by itself takes more than 100,000 steps there before it gives up."""
    run = kn.simulate(Dynamics(bricard(), rows=ROWS), UNTIL, times=AT)
    assert run.status == "done" and len(steps) > 1
    assert all(count < 20 * NEAR_STEPS for count in steps)
    good = kn.simulate(kn.compile(bricard()), UNTIL, times=AT)
    assert np.abs(run.q - good.q).max() < 1e-9


def test_where_no_other_rows_serve_the_run_is_not_cut_short(steps, monkeypatch):
    """The run that was ended is made once more, and then goes as far as it can."""
    asked, find = [], RowMonitor.find_better
    monkeypatch.setattr(RowMonitor, "find_better", lambda self, solution: asked.append(find(self, solution)))
    with pytest.raises(kn.SimulationError):
        kn.simulate(Dynamics(bricard(), rows=ROWS), UNTIL, times=AT)
    assert len(asked) == len(steps) == 2 and asked[0] is not None
    assert steps[0] < 20 * NEAR_STEPS < steps[1]
