"""Runs with a fixed choice of rows that loses its rank: found early, and never the end of a run by itself.

Groups of rows that are small enough are combined instead, so that nothing of this happens to them; here none is.
"""

import numpy as np
import pytest
from mechanisms import bricard

import kinode as kn
from kinode.ode.run import NEAR_STEPS, LoopRun
from kinode.simulation.row_monitor import RowMonitor
from kinode.structure import loop_closure

UNTIL, AT = 5.0, np.linspace(0.0, 5.0, 11)
ROWS = (0, 2, 3, 4)  # of five: independent at the start, and not everywhere on the way


@pytest.fixture(autouse=True)
def no_groups(monkeypatch):
    monkeypatch.setattr(loop_closure, "GROUP_ROWS", 0)


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
    run = kn.simulate(kn.Dynamics(bricard(), rows=ROWS), UNTIL, times=AT)
    assert run.status == "done" and len(steps) > 1
    assert all(count < 20 * NEAR_STEPS for count in steps)
    good = kn.simulate(kn.compile(bricard()), UNTIL, times=AT)
    assert np.abs(run.q - good.q).max() < 1e-9


def test_where_no_other_rows_serve_the_run_is_not_cut_short(steps, monkeypatch):
    """It passes the place where its rows lose their rank, says so, and has the numbers of combined rows."""
    asked, find = [], RowMonitor.find_better
    monkeypatch.setattr(RowMonitor, "find_better", lambda self, solution: asked.append(find(self, solution)))
    run = kn.simulate(kn.Dynamics(bricard(), rows=ROWS), UNTIL, times=AT, rtol=1e-10)
    assert run.status == "done" and asked[0] is not None and steps[0] < 20 * NEAR_STEPS
    assert {event.kind for event in run.events} == {"singular"}
    monkeypatch.undo()
    good = kn.simulate(kn.compile(bricard()), UNTIL, times=AT, rtol=1e-10)
    assert np.abs(run.q - good.q).max() < 1e-6
