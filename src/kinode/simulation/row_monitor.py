"""Whether the constraint rows that a run is made with still stand for all rows, and which would serve better.

Rows that are left out as redundant follow from the others as long as those are independent of each other.  Where the
rows in use lose their rank and the rows together do not, it is the choice that fails and not the mechanism: another is
made, from all positions that the run went through.  Where rows that were left out come apart though, no choice helps:
they were not redundant.
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.ode.solution import OdeSolution
from kinode.structure.loop_closure import choose_rows

TORN = 1e-8  # of the characteristic length: a row that was left out has come apart
LOST = 1e-3  # of the least singular value that all rows have: the rows in use are no good choice
SAMPLES = 12  # states of a run that are looked at


class RowMonitor:
    """The rows of a compiled system along a run."""

    def __init__(self, dynamics: Dynamics, p: Array, inputs: Array) -> None:
        self.dynamics, self.p, self.inputs = dynamics, p, inputs
        self.all = len(dynamics.topology.row_units) == len(dynamics.closure.rows)

    def _jacobians(self, t: Array, y: Array) -> Array:
        G = self.dynamics.loops.evaluate(self.dynamics.point_of(t, y, self.p, self.inputs))[1]
        found: Array = G[np.isfinite(G).all(axis=(1, 2))]
        return found

    def find_torn(self, found: OdeSolution) -> tuple[str, float] | None:
        """The joint or constraint that is open at the end of a run, and by how much of the mechanism's size."""
        if self.all or not np.isfinite(found.y_end).all():
            return None
        end = self.dynamics.point_of(found.t_end, found.y_end, self.p, self.inputs)
        c = self.dynamics.loops.closure_errors(end)
        worst = int(np.argmax(c))
        return (self.dynamics.loops.names[worst][0], float(c[worst])) if c[worst] > TORN else None

    def find_better(self, found: OdeSolution) -> tuple[int, ...] | None:
        """Rows that stay independent where those in use do not; None if there are none."""
        if self.all:
            return None
        rows = self.dynamics.closure.rows
        G = self._jacobians(*_critical(found))
        if (_least(G, rows) > LOST * _whole(G, len(rows))).all():
            return None
        G = np.concatenate([G, self._jacobians(*_sampled(found))])
        whole = _whole(G, len(rows))
        G = G[whole > LOST * whole.max()]
        better = choose_rows(list(G), self.dynamics.loops.position_rows)
        return better if min(_least(G, better)) > 10.0 * min(_least(G, rows)) else None


def _least(G: Array, rows: tuple[int, ...]) -> Array:
    """The least singular value of some rows, in each position."""
    found: Array = np.linalg.svd(G[:, list(rows)], compute_uv=False)[:, -1]
    return found


def _whole(G: Array, rank: int) -> Array:
    """The least singular value of all rows together that is to count."""
    found: Array = np.linalg.svd(G, compute_uv=False)[:, rank - 1]
    return found


def _critical(found: OdeSolution) -> tuple[Array, Array]:
    """Where rows came near to being dependent, and the end of the run."""
    t = np.array([found.t_end, *(one.t for one in found.passes)])
    return t, np.vstack([found.y_end, *(one.y for one in found.passes)])


def _sampled(found: OdeSolution) -> tuple[Array, Array]:
    """Some states of a run."""
    chosen = np.unique(np.linspace(0, len(found.t) - 1, min(SAMPLES, len(found.t))).astype(int))
    return found.t[chosen], found.y[chosen]
