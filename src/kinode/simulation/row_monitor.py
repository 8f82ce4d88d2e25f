"""Checks the choice of independent constraint rows along a run, and makes a better one.

A run integrates with a set of independent rows, or with combinations of groups of rows that follow the position and
last (multibody/loop_constraints.py).  Groups of very many rows, and those of systems in loop code, have a fixed choice.
The redundant rows follow from those in use as long as the set keeps its rank.  Where the set loses rank but all rows
together do not, the choice fails and not the mechanism.  Then another set is chosen, from all positions of the run.
Where a row that was left out becomes violated, no choice helps: the row was not redundant.
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.ode.input_table import Inputs
from kinode.ode.solution import OdeSolution
from kinode.structure.loop_closure import LOST_RANK, choose_rows, surely_serve

OPEN_ERROR = 1e-8  # closure error, share of the characteristic length: a row that was left out is violated
MIN_GAIN = 10.0  # factor in the smallest singular value that justifies another choice
SAMPLES = 12  # states of a run from which another choice is made


class RowMonitor:
    """The independent constraint rows of a compiled system along a run."""

    def __init__(self, dynamics: Dynamics, p: Array, inputs: Inputs) -> None:
        self.dynamics, self.p, self.inputs = dynamics, p, inputs
        self.all_in_use = len(dynamics.closure.used) == dynamics.closure.total
        self.patient = self.all_in_use
        """Whether a run goes on where the rows lose their rank."""
        self.lost = False
        """Whether a run was ended since they did."""

    def _jacobians(self, t: Array, y: Array) -> Array:
        """The finite constraint Jacobians at some states, shape (states, rows, n_u)."""
        G = self.dynamics.loops.evaluate(self.dynamics.point_of(t, y, self.p, self.inputs))[1]
        finite: Array = G[np.isfinite(G).all(axis=(1, 2))]
        return finite

    def keep_rank(self, t: float, y: Array) -> bool:
        """Whether the rows in use stand for all at a state; a run that lingers where they do not is ended."""
        if not self.patient:
            G, closure = self._jacobians(np.array([t]), y[None]), self.dynamics.closure
            self.lost = not _serve(G, closure.used, len(closure.rows))
        return not self.lost

    def find_open_loop(self, solution: OdeSolution) -> tuple[str, float] | None:
        """The joint or constraint violated at the end of a run, and its closure error as a share of the size."""
        if self.all_in_use:
            return None
        end = self.dynamics.point_of(solution.t_end, solution.y_end, self.p, self.inputs)
        errors = self.dynamics.loops.closure_errors(end)
        worst = int(errors.argmax())  # nan, if there is one; it is no open loop
        error = float(errors[worst])
        return (self.dynamics.loops.names[worst][0], error) if error > OPEN_ERROR else None

    def find_better(self, solution: OdeSolution) -> tuple[int, ...] | None:
        """Rows that stay independent where those in use do not; None if there are none."""
        if self.all_in_use:
            return None
        used, rank = self.dynamics.closure.used, len(self.dynamics.closure.rows)
        G = self._jacobians(*_critical_states(solution))
        if _serve(G, used, rank):
            return None
        G = np.concatenate([G, self._jacobians(*_sample_states(solution))])
        smallest = _smallest(_filled(G), rank)
        G = G[smallest > LOST_RANK * smallest.max()]
        better = choose_rows(list(G), self.dynamics.loops.position_rows, rank)
        gains = min(_smallest(G[:, list(better)], rank)) > MIN_GAIN * min(_smallest(G[:, used], rank))
        return better if gains else None


def _serve(G: Array, rows: list[int], rank: int) -> bool:
    """Whether some rows stand for all rows at each position."""
    doubtful = G[[not surely_serve(each, rows) for each in G]]
    if not len(doubtful):
        return True
    return bool((_smallest(doubtful[:, rows], rank) > LOST_RANK * _smallest(_filled(doubtful), rank)).all())


def _filled(G: Array) -> Array:
    """The Jacobians without rows that are zero at each position."""
    return G[:, G.any(axis=(0, 2))]


def _smallest(G: Array, rank: int) -> Array:
    """The smallest singular value that belongs to the rank, for each position."""
    values: Array = np.linalg.svd(G, compute_uv=False)[:, rank - 1]
    return values


def _critical_states(solution: OdeSolution) -> tuple[Array, Array]:
    """Times and states at the end of the run and at the passes of nearly singular positions."""
    t = np.array([solution.t_end, *(singular_pass.t for singular_pass in solution.passes)])
    return t, np.vstack([solution.y_end, *(singular_pass.y for singular_pass in solution.passes)])


def _sample_states(solution: OdeSolution) -> tuple[Array, Array]:
    """Times and states of a run, evenly over its kept samples."""
    samples = np.unique(np.linspace(0, len(solution.t) - 1, min(SAMPLES, len(solution.t))).astype(int))
    return solution.t[samples], solution.y[samples]
